//! A study whose builds are not what they are called.

use super::{baseline, built, comparison, quiet_twin, row, study, summary, table};
use bakeoff_judge::findings::*;
use bakeoff_model::metric::Unit;

const NAMES: [&str; 4] = ["baseline", "optimize=O3", "threads=on", "optimize=O3 threads=on"];

/// Every kind of doubt: a flag that never arrived, one that was overridden, one that came through in part; three kinds
/// of identity; settings that follow one factor, two, or none.
pub fn doubtful() -> Findings {
    let same = Caveat::Identical { same: Same::Files, as_what: Other::Baseline };
    let itself = Comparison { caveats: vec![same], ..comparison(1.0211, 1.0123, 1.0302, Verdict::Slower) };
    let values = ["undef", "define"].map(|value| Some(value.to_owned())).to_vec();
    let settings = vec![SettingChange { setting: "d_fork".to_owned(), values }];
    let names = Caveat::AlsoChanges { factor: "threads".to_owned(), settings };
    let threads = Comparison { caveats: vec![names], ..comparison(1.2041, 1.1893, 1.2166, Verdict::Slower) };
    let rows = vec![
        baseline(summary(4.2431, 4.2513, 4.412)),
        row(NAMES[1], summary(4.332, 4.341, 4.51), itself),
        row(NAMES[2], summary(5.102, 5.131, 5.66), threads.clone()),
        row(NAMES[3], summary(5.109, 5.139, 5.67), threads),
    ];
    let mut findings = study(&NAMES, vec![table("wall", Unit::Seconds, rows, quiet_twin())]);
    findings.builds = NAMES.iter().map(|name| built(&[name], false, 149.2)).collect();
    for (build, size) in findings.builds.iter_mut().zip([3_901_234, 3_901_234, 4_100_000, 4_100_000]) {
        build.proof.sizes = [("bin/perl".to_owned(), size), ("lib/strict.pm".to_owned(), 4711)].into();
    }
    findings.build_doubts = doubts();
    findings
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn doubts() -> BuildDoubts {
    let flag = |flag: &str, fate, reached, of| FlagDoubt {
        variants: owned(&[NAMES[1], NAMES[3]]),
        factor: Some("optimize".to_owned()),
        layer: "perl".to_owned(),
        variable: "OPTIMIZE".to_owned(),
        flag: flag.to_owned(),
        fate,
        reached,
        of,
        unseen: 0,
    };
    let value = |value: Option<&str>, levels: &[&str], variants: &[&str]| SettingValue {
        value: value.map(str::to_owned),
        levels: owned(levels),
        variants: owned(variants),
    };
    let setting = |name: &str, follows: &[&str], values: Vec<SettingValue>| Confounded {
        setting: name.to_owned(),
        follows: owned(follows),
        together: false,
        named_by: vec![],
        values,
    };
    let of_threads = |name: &str| {
        let values = vec![
            value(Some("undef"), &["off"], &[NAMES[0], NAMES[1]]),
            value(Some("define"), &["on"], &[NAMES[2], NAMES[3]]),
        ];
        setting(name, &["threads"], values)
    };
    let each = NAMES.iter().enumerate().map(|(i, name)| value(Some(&format!("Sun {i}")), &[], &[name]));
    let mut confounded = vec![setting("cf_time", &[], each.collect())];
    confounded.extend(
        ["d_fork", "d_gethbyname_r", "d_ctime_r", "i_db", "libs", "useperlio", "uselongdouble"].map(of_threads),
    );
    let both = vec![value(None, &["off"], &[NAMES[0]]), value(Some(""), &["on"], &[NAMES[3]])];
    confounded.push(setting("LTO", &["optimize", "threads"], both));
    let identical = |same, variants: &[&str]| Identical { variants: owned(variants), same, unproven: vec![] };
    let costs =
        vec![CostDoubt { layer: "perl".to_owned(), compiler_cache: "ccache".to_owned(), variants: owned(&NAMES) }];
    BuildDoubts {
        flags: vec![
            flag("-O3", FlagFate::NeverArrived, 0, 213),
            flag("-fno-plt", FlagFate::Overridden { by: Some("-fplt".to_owned()) }, 12, 213),
            flag("-flto", FlagFate::Partly, 1, 213),
        ],
        lost: vec![Lost {
            variants: owned(&[NAMES[1], NAMES[3]]),
            against: NAMES[0].to_owned(),
            words: vec![
                LostWord { word: "-DPERL_CORE".to_owned(), files: 34 },
                LostWord { word: "-std=c99".to_owned(), files: 1 },
            ],
        }],
        identical: vec![
            identical(Same::Files, &[NAMES[0], NAMES[1]]),
            identical(Same::Build, &[NAMES[2], NAMES[3]]),
            identical(Same::Binaries, &NAMES),
        ],
        confounded,
        costs,
    }
}
