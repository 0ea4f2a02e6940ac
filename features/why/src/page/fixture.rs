//! A study of which evidence was gathered, and in which building was measured: every kind of cause, files that
//! variants have in different places, traces that differ, what could not be had; and names that fill a page.

use crate::account;
use crate::account::result::{Interval, KernelWork, Mechanism};
use crate::account::time::{TimeInput, Times};
use crate::counts::{CodeKind, Counted, FunctionCount};
use crate::findings::*;
use bakeoff_host::tracer::Calls;
use bakeoff_judge::findings::*;
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_testkit::findings::{baseline, built, comparison, quiet_twin, row, study, summary, table};
use serde_json::json;

const SHARED: &str = "libperl=shared";
const SYMBOLIC: &str = "libperl=shared+bsymbolic";
const INTERPOSED: &str = "libperl=shared+no-interposition";
const MALLOC: &str = "malloc=perl";
const LOCALE: &str = "locale=C.UTF-8";
const NAMES: [&str; 6] = ["baseline", SHARED, SYMBOLIC, INTERPOSED, MALLOC, LOCALE];

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

pub(crate) fn evidence() -> Findings {
    let shared = comparison(1.1214, 1.1021, 1.1402, Verdict::Slower);
    let malloc = comparison(0.83912, 0.83121, 0.8466, Verdict::Faster);
    let locale = comparison(1.0313, 1.0201, 1.0422, Verdict::Slower);
    let rows = vec![
        baseline(summary(4.2431, 4.2513, 4.412)),
        row(SHARED, summary(4.76, 4.77, 4.9), shared.clone()),
        row(SYMBOLIC, summary(4.251, 4.26, 4.41), comparison(1.0031, 0.9951, 1.0102, Verdict::Equivalent)),
        row(INTERPOSED, summary(4.69, 4.7, 4.91), comparison(1.1052, 1.0922, 1.1193, Verdict::Slower)),
        row(MALLOC, summary(3.561, 3.5702, 3.702), malloc.clone()),
        row(LOCALE, summary(4.376, 4.38, 4.5), locale.clone()),
    ];
    let mut findings = study(&NAMES, vec![table("wall", Unit::Seconds, rows, quiet_twin())]);
    let cured = comparison(0.8941, 0.8821, 0.9062, Verdict::Faster);
    let pair = |name: &str, comparison: Comparison| Effect {
        subject: Subject::Variant { variant: name.to_owned(), against: SHARED.to_owned() },
        comparison: Some(comparison),
        refused: None,
        within: None,
        over: None,
    };
    findings.effects = vec![Effects {
        kind: EffectKind::Levels,
        workload: Some("loop".to_owned()),
        condition: Some("idle".to_owned()),
        first_condition: None,
        metric: "wall".to_owned(),
        unit: Unit::Seconds,
        better: Direction::Less,
        aliases: vec![],
        twin: None,
        ranking: None,
        effects: vec![
            pair(SYMBOLIC, cured.clone()),
            pair(INTERPOSED, comparison(0.9861, 0.9702, 1.0033, Verdict::Undecided { more_blocks: Some(9) })),
        ],
    }];
    let gathered = gathered([shared, malloc], cured);
    findings.sections.insert(SECTION.to_owned(), serde_json::to_value(gathered).unwrap());
    with_building(&mut findings);
    findings
}

fn function(name: &str, file: &str, calls: u64, instructions: u64) -> FunctionCount {
    FunctionCount { name: name.to_owned(), file: file.to_owned(), calls, instructions, ..FunctionCount::default() }
}

/// The account of a variant, with a speed of its own.
fn account_of(variant: &str, stubs: u64, allocator: u64, times_s: [f64; 2]) -> PairAccount {
    let program = "$PREFIX/lib/libperl.so";
    let counted = |code: u64, stubs: u64, allocator: u64| Counted {
        workload: "loop".to_owned(),
        functions: vec![
            function("Perl_pp_mapwhile", program, 2_000_000, code),
            FunctionCount { kind: CodeKind::OwnStub, ..function("Perl_sv_clear", program, stubs, stubs) },
            function("_int_malloc", "/lib/x86_64-linux-gnu/libc.so.6", 13_000, allocator),
        ],
        ..Counted::default()
    };
    let [baseline_s, variant_s] = times_s;
    let user = Times { baseline_s, variant_s, interval_s: Some([variant_s * 0.99, variant_s * 1.01]) };
    let time = TimeInput { length: None, user, sys: None, wall: None };
    let code = if stubs > 0 { 343_800_000 } else { 317_800_000 };
    let (a, b) = (counted(317_800_000, 0, 60_000_000), counted(code, stubs, allocator));
    let account = account::of(&[a], &[b], Some(time));
    PairAccount { variant: variant.to_owned(), against: "baseline".to_owned(), account }
}

fn cause(what: What, permille: i64) -> Cause {
    Cause { what, permille: Some(permille), time: None, counts: None, standing: Standing::Consistent, isolated: vec![] }
}

fn pair(variant: &str, against: &str, claim: Claim) -> Isolation {
    Isolation { variant: variant.to_owned(), against: against.to_owned(), permille: 986, confirms: true, claim }
}

fn gathered([shared, malloc]: [Comparison; 2], cured: Comparison) -> Gathered {
    let shown = |cause: Cause, pair: Isolation| Cause { standing: Standing::Shown, isolated: vec![pair], ..cause };
    let by_speed = Interval { estimate_s: 0.25, interval_s: Some([0.1, 0.4]) };
    let causes_of_shared = vec![
        shown(cause(What::Mechanism(Mechanism::OwnStubs), 686), pair(SYMBOLIC, SHARED, claim(cured))),
        Cause { standing: Standing::Unexplained, time: Some(by_speed), permille: None, ..cause(What::Speed, 0) },
        cause(What::Function("Perl_pp_mapwhile".to_owned()), 314),
        Cause { standing: Standing::Withdrawn, ..cause(What::Mechanism(Mechanism::Loader), 120) },
        Cause {
            counts: Some([31, 10_031]),
            time: Some(Interval { estimate_s: 0.011, interval_s: None }),
            permille: None,
            ..cause(What::Kernel(KernelWork::Call("newfstatat".to_owned())), 0)
        },
    ];
    let of_malloc = cause(What::Mechanism(Mechanism::Allocator), 1000);
    let causes_of_malloc = vec![shown(of_malloc, pair(MALLOC, "baseline", claim(malloc.clone())))];
    let diagnosis = |variant: &str, comparison: Comparison, causes| Diagnosis {
        variant: variant.to_owned(),
        against: "baseline".to_owned(),
        workload: "loop".to_owned(),
        claim: Some(claim(comparison)),
        causes,
    };
    Gathered {
        files: files(),
        traces: vec![trace(), service(), idle_service()],
        missing: vec![
            NotGathered {
                workload: Some("start-up".to_owned()),
                service: None,
                variants: owned(&NAMES),
                why: "ptrace: Operation not permitted; see `bakeoff doctor`".to_owned(),
                what: Unseen::Trace,
            },
            NotGathered {
                workload: Some("locale".to_owned()),
                service: Some("daemon".to_owned()),
                variants: owned(&[MALLOC]),
                why: "it was killed before its tracer recorded anything".to_owned(),
                what: Unseen::Trace,
            },
        ],
        diagnoses: vec![diagnosis(SHARED, shared, causes_of_shared), diagnosis(MALLOC, malloc, causes_of_malloc)],
        accounts: vec![
            account_of(SHARED, 56_708_096, 60_000_000, [4.0, 4.5]),
            account_of(MALLOC, 0, 2_000_000, [4.0, 3.4]),
        ],
    }
}

fn claim(comparison: Comparison) -> Claim {
    Claim {
        workload: "loop".to_owned(),
        condition: "idle".to_owned(),
        metric: "wall".to_owned(),
        unit: Unit::Seconds,
        better: Direction::Less,
        comparison,
    }
}

fn files() -> Vec<FileTable> {
    let row = |variants: &[&str], path: &str, slots: [u64; 2], symbolic| FileRow {
        variants: owned(variants),
        path: path.to_owned(),
        numbers: FileNumbers {
            size_bytes: 3_901_234,
            text_bytes: Some(1_700_123),
            relocations: 7687 + slots[0],
            relative: 7687,
            jump_slots: slots[0],
            own_jump_slots: slots[1],
            glob_dat: 91,
            symbolic: Some(symbolic),
            textrel: Some(false),
            ..FileNumbers::default()
        },
    };
    let library = "lib/5.36.0/x86_64-linux/CORE/libperl.so";
    vec![
        FileTable {
            name: "bin/perl".to_owned(),
            rows: vec![
                row(&["baseline", LOCALE], "bin/perl", [281, 0], false),
                row(&[SHARED, SYMBOLIC, INTERPOSED], "bin/perl", [18, 0], false),
                row(&[MALLOC], "bin/perl", [279, 0], false),
            ],
            absent: vec![],
        },
        FileTable {
            name: "libperl.so".to_owned(),
            rows: vec![
                row(&[SHARED], library, [1137, 897], false),
                row(&[SYMBOLIC], library, [239, 0], true),
                row(&[INTERPOSED], library, [966, 726], false),
            ],
            absent: owned(&["baseline", MALLOC, LOCALE]),
        },
    ]
}

/// What a service did that forks for each connection, and in one variant for none.
fn service() -> TraceTable {
    let calls = |count, errors| Calls { count, errors };
    let names = ["newfstatat", "read", "openat"];
    let profile = |variants: &[&str], each: [(u64, u64); 3], children: Option<[f64; 4]>| Profile {
        variants: owned(variants),
        tasks: 153,
        total: calls(each.iter().map(|(all, _)| all).sum::<u64>() + 4_711, each.iter().map(|(_, errors)| errors).sum()),
        calls: names.iter().zip(each).map(|(name, (all, errors))| ((*name).to_owned(), calls(all, errors))).collect(),
        children: children.map(|[all, each @ ..]| PerChild {
            processes: 152,
            all,
            calls: names.iter().zip(each).map(|(name, mean)| ((*name).to_owned(), mean)).collect(),
        }),
    };
    TraceTable {
        workload: "locale".to_owned(),
        service: Some("daemon".to_owned()),
        differing: owned(&names),
        profiles: vec![
            profile(&["baseline"], [(82_384, 70_020), (38_000, 0), (12_160, 3)], Some([1550.25, 542.0, 250.0, 80.0])),
            profile(&[SHARED, SYMBOLIC], [(152, 0), (152, 0), (2, 0)], Some([128.5, 1.0, 1.0, 0.013])),
            profile(&[LOCALE], [(3, 0), (152, 0), (2, 0)], None),
        ],
        executed: vec![],
        paths: vec![],
    }
}

fn idle_service() -> TraceTable {
    let profiles = vec![Profile { variants: owned(&NAMES), ..Profile::default() }];
    TraceTable { workload: "locale".to_owned(), service: Some("store".to_owned()), profiles, ..TraceTable::default() }
}

fn executed(variants: &[&str], files: &[&str], more: &[&str]) -> Executed {
    Executed { variants: owned(variants), files: owned(files), more: owned(more), fewer: vec![] }
}

fn path(path: &str, found_by: &[&str], missed_by: &[&str]) -> PathDifference {
    PathDifference { path: path.to_owned(), found_by: owned(found_by), missed_by: owned(missed_by), times: 2 }
}

fn trace() -> TraceTable {
    let calls = |count, errors| Calls { count, errors };
    let names = ["openat", "newfstatat", "mmap", "pread64", "rt_sigprocmask", "brk"];
    let profile = |variants: &[&str], total, each: [(u64, u64); 6]| Profile {
        variants: owned(variants),
        tasks: 1,
        total,
        calls: names.iter().zip(each).map(|(name, (all, errors))| ((*name).to_owned(), calls(all, errors))).collect(),
        children: None,
    };
    let library = "$PREFIX/lib/5.36.0/x86_64-linux/CORE/libperl.so";
    let locale = "/usr/share/locale/C.UTF-8/LC_MESSAGES/libc.mo";
    let mut paths = vec![path(locale, &[], &[LOCALE])];
    paths.extend(('a'..='k').map(|c| {
        let deep = format!("$PREFIX/lib/perl5/site_perl/5.36.0/x86_64-linux/{c}");
        path(&deep, &[SHARED, SYMBOLIC, INTERPOSED], &[])
    }));
    TraceTable {
        workload: "locale".to_owned(),
        service: None,
        differing: owned(&names),
        profiles: vec![
            profile(&["baseline", MALLOC], calls(1_234, 12), [(42, 10), (31, 1), (28, 0), (2, 0), (8, 0), (4, 0)]),
            profile(
                &[SHARED, SYMBOLIC, INTERPOSED],
                calls(1_251, 12),
                [(44, 10), (32, 1), (33, 0), (4, 0), (8, 0), (4, 0)],
            ),
            profile(&[LOCALE], calls(1_262, 20), [(52, 18), (31, 1), (28, 0), (2, 0), (20, 0), (4, 0)]),
        ],
        executed: vec![
            executed(&["baseline", MALLOC, LOCALE], &["$PREFIX/bin/perl", "/lib/libc.so.6"], &[]),
            executed(&[SHARED, SYMBOLIC, INTERPOSED], &["$PREFIX/bin/perl", library], &["/lib/libdl.so.2"]),
        ],
        paths,
    }
}

/// Building, measured; and many variants of one build.
fn with_building(findings: &mut Findings) {
    let mut builds = vec![
        built(&["baseline", LOCALE], true, 149.2),
        built(&NAMES[1..4], true, 171.0),
        built(&[MALLOC], false, 151.0),
    ];
    for build in &mut builds[..2] {
        build["proof"] = json!({ "sizes": { "lib/5.36.0/x86_64-linux/CORE/libperl.so": 3_901_234 } });
    }
    findings.sections.insert("builds".to_owned(), builds.into());
    let rows = vec![
        baseline(summary(149.2, 149.9, 160.0)),
        row(MALLOC, summary(77.6, 77.9, 80.1), comparison(0.5201, 0.5012, 0.5402, Verdict::Faster)),
    ];
    let cost = rows[1].comparison.clone();
    let mut building = study(&NAMES, vec![table("wall", Unit::Seconds, rows, quiet_twin())]);
    building.tables[0].workload = "build-perl".to_owned();
    findings.building = Some(Box::new(building));
    findings.besides.costs = cost
        .map(|time| Cost {
            variant: MALLOC.to_owned(),
            verb: "builds".to_owned(),
            time,
            bytes: Some([67_108_864, 64_172_851]),
        })
        .into_iter()
        .collect();
}
