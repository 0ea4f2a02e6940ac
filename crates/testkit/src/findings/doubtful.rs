//! A study whose builds are not what they are called.

use super::{baseline, built, comparison, objection, quiet_twin, row, study, summary, table, with_builds};
use bakeoff_judge::findings::*;
use bakeoff_model::metric::Unit;
use serde_json::{Value, json};

const NAMES: [&str; 4] = ["baseline", "optimize=O3", "threads=on", "optimize=O3 threads=on"];

/// Every kind of doubt: a flag that never arrived, one that was overridden, one that came through in part; three kinds
/// of identity; settings that follow one factor, two, or none.
pub fn doubtful() -> Findings {
    let same = objection(
        "identical-build",
        "built separately, but identical to the baseline, file for file, so any difference is noise",
    );
    let same = Caveat::Of(Objection { same_program: true, ..same });
    let itself = Comparison { caveats: vec![same], ..comparison(1.0211, 1.0123, 1.0302, Verdict::Slower) };
    let names = Caveat::Of(objection("also-changes", "threads also changes d_fork (undef → define)"));
    let threads = Comparison { caveats: vec![names], ..comparison(1.2041, 1.1893, 1.2166, Verdict::Slower) };
    let rows = vec![
        baseline(summary(4.2431, 4.2513, 4.412)),
        row(NAMES[1], summary(4.332, 4.341, 4.51), itself),
        row(NAMES[2], summary(5.102, 5.131, 5.66), threads.clone()),
        row(NAMES[3], summary(5.109, 5.139, 5.67), threads),
    ];
    let findings = study(&NAMES, vec![table("wall", Unit::Seconds, rows, quiet_twin())]);
    let sizes = [3_901_234, 3_901_234, 4_100_000, 4_100_000];
    let build = |(name, size): (&&str, u64)| {
        let mut build = built(&[name], false, 149.2);
        build["proof"] = json!({ "sizes": { "bin/perl": size, "lib/strict.pm": 4711 } });
        build
    };
    let mut findings = with_builds(findings, NAMES.iter().zip(sizes).map(build).collect());
    findings.sections.insert("build_doubts".to_owned(), doubts());
    let alarm = |kind: &str, text: &str, short: &str| {
        let [kind, text, short] = [kind, text, short].map(str::to_owned);
        Alarm { kind, text, short, idle: None }
    };
    findings.besides.alarms = vec![
        alarm(
            "flag-never-arrived",
            "-O3 reached none of 213 compilations and links of optimize=O3 and 1 other",
            "-O3 reached nothing",
        ),
        alarm(
            "flag-overridden",
            "-fno-plt of optimize=O3 and 1 other was overridden by -fplt wherever it arrived",
            "-fno-plt was overridden",
        ),
        alarm(
            "words-lost",
            "optimize=O3 and optimize=O3 threads=on lack -DPERL_CORE (34 source files) and -std=c99 (1 source file), \
             which baseline has",
            "flags were lost",
        ),
    ];
    findings
}

fn value(value: Option<&str>, levels: &[&str], variants: &[&str]) -> Value {
    json!({ "value": value, "levels": levels, "variants": variants })
}

fn setting(name: &str, follows: &[&str], values: &[Value]) -> Value {
    json!({ "setting": name, "follows": follows, "named_by": [], "values": values })
}

/// The same as data.
fn doubts() -> Value {
    let both = [NAMES[1], NAMES[3]];
    let flag = |flag: &str, fate: Value, reached: u64| {
        json!({
            "variants": both, "factor": "optimize", "layer": "perl", "variable": "OPTIMIZE", "flag": flag, "fate": fate,
            "reached": reached, "of": 213,
        })
    };
    let of_threads = |name: &str| {
        let values = vec![value(Some("undef"), &["off"], &NAMES[..2]), value(Some("define"), &["on"], &NAMES[2..])];
        setting(name, &["threads"], &values)
    };
    let each = NAMES.iter().enumerate().map(|(i, name)| value(Some(&format!("Sun {i}")), &[], &[name]));
    let mut confounded = vec![setting("cf_time", &[], &each.collect::<Vec<_>>())];
    confounded.extend(
        ["d_fork", "d_gethbyname_r", "d_ctime_r", "i_db", "libs", "useperlio", "uselongdouble"].map(of_threads),
    );
    let ends = vec![value(None, &["off"], &NAMES[..1]), value(Some(""), &["on"], &NAMES[3..])];
    confounded.push(setting("LTO", &["optimize", "threads"], &ends));
    let lost = json!({
        "variants": both, "against": NAMES[0],
        "words": [{ "word": "-DPERL_CORE", "files": 34 }, { "word": "-std=c99", "files": 1 }],
    });
    json!({
        "flags": [
            flag("-O3", json!("never-arrived"), 0),
            flag("-fno-plt", json!({ "overridden": { "by": "-fplt" } }), 12),
            flag("-flto", json!("partly"), 1),
        ],
        "lost": [lost],
        "identical": [
            { "variants": NAMES[..2], "same": "files" },
            { "variants": NAMES[2..], "same": "build" },
            { "variants": NAMES, "same": "binaries" },
        ],
        "confounded": confounded,
        "costs": [{ "layer": "perl", "compiler_cache": "ccache", "variants": NAMES }],
    })
}
