//! Findings for the tests: small builders, and whole studies made with them. The numbers are plausible, not computed:
//! nothing here knows statistics.

#![allow(missing_docs, reason = "plain builders, each called after what it builds")]

mod conditions;
mod doubtful;

pub use conditions::conditions;
pub use doubtful::doubtful;

use bakeoff_judge::findings::*;
use bakeoff_model::metric::{Direction, METRICS, Metric, Unit};
use bakeoff_model::record::{Excluded, Failure, Place, VariantLine};
use serde_json::{Value, json};

const MIB: f64 = 1_048_576.0;

/// Twelve values around a median.
pub fn summary(median: f64, mean: f64, max: f64) -> Summary {
    Summary {
        n: 12,
        min: median * 0.99,
        q1: median * 0.995,
        median,
        median_interval: Some([median * 0.993, median * 1.006]),
        q3: median * 1.004,
        max,
        mean,
        sd: Some(median * 0.008),
        geomean: Some(mean * 0.9999),
        mad: median * 0.006,
        lag1: Some(0.12),
    }
}

/// A ratio over 12 blocks, by the exact test.
pub fn comparison(estimate: f64, low: f64, high: f64, verdict: Verdict) -> Comparison {
    Comparison {
        blocks: 12,
        scale: Scale::Ratio,
        confidence: 0.95,
        estimate,
        inferred: Inferred::Tested(Tested {
            test: Test::SignFlip,
            p: Some(0.004_882_812_5),
            p_corrected: Some(0.019_531_25),
            interval: Some([low, high]),
            equivalence_interval: Some([low + (estimate - low) * 0.16, high - (high - estimate) * 0.16]),
        }),
        resolution: 0.0,
        verdict,
        detectable: matches!(verdict, Verdict::Undecided { .. }).then_some(1.021_43),
        ratio_of_means: Some(RatioOfMeans { estimate: estimate * 1.001, interval: Some([low * 0.999, high * 1.004]) }),
        ratio_of_max: Some(estimate * 1.01),
        better_in: None,
        caveats: vec![],
    }
}

/// What its test infers, to be changed.
///
/// # Panics
/// If there was none.
pub fn tested(comparison: &mut Comparison) -> &mut Tested {
    match &mut comparison.inferred {
        Inferred::Tested(tested) => tested,
        other => panic!("no test: {other:?}"),
    }
}

pub fn baseline(summary: Summary) -> Row {
    Row { variant: "baseline".to_owned(), summary: Some(summary), comparison: None }
}

pub fn row(variant: &str, summary: Summary, comparison: Comparison) -> Row {
    Row { variant: variant.to_owned(), summary: Some(summary), comparison: Some(comparison) }
}

pub fn absent(variant: &str) -> Row {
    Row { variant: variant.to_owned(), summary: None, comparison: None }
}

/// A table of the workload `loop` on the idle machine.
pub fn table(metric: &str, unit: Unit, rows: Vec<Row>, twin: Comparison) -> Table {
    let own = rows.first().and_then(|row| row.summary.clone());
    let noise_floor = Some(Row { variant: "twin".to_owned(), summary: own, comparison: Some(twin) });
    let [workload, condition, metric] = ["loop", "idle", metric].map(str::to_owned);
    let better = if unit == Unit::PerSecond { Direction::More } else { Direction::Less };
    Table { workload, condition, metric, unit, better, rows, noise_floor, ranking: None }
}

pub fn quiet_twin() -> Comparison {
    comparison(0.9991, 0.9942, 1.0043, Verdict::Equivalent)
}

pub fn place() -> Place {
    Place {
        host: "ash".to_owned(),
        os: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        kernel: "6.1.0-28-amd64".to_owned(),
        cpu: "AMD EPYC 7763".to_owned(),
        cpus: 2,
        memory_bytes: 8_323_072_000,
        virtualisation: Some("kvm".to_owned()),
        ..Place::default()
    }
}

/// A build, as a journal and the findings have it.
pub fn built(variants: &[&str], cached: bool, wall_s: f64) -> Value {
    json!({
        "digest": format!("{:064x}", variants.len()),
        "variants": variants,
        "outcome": "built",
        "cached": cached,
        "cost": { "wall": wall_s, "user": wall_s * 1.43, "sys": wall_s * 0.21, "maxrss": 181.3 * MIB },
        "tools": {},
        "prefix_bytes": 67_108_864,
    })
}

/// One that failed.
pub fn unbuilt(variant: &str) -> Value {
    let mut build = built(&[variant], false, 61.0);
    build["prefix_bytes"] = Value::Null;
    build["outcome"] = json!({ "failed": {
        "layer": "perl",
        "why": "`make` exited with code 2",
        "tail": [
            "/usr/bin/ld: libperl.a(op.o): relocation R_X86_64_PC32 against symbol `PL_opargs' can not be used when making a shared object; recompile with -fPIC",
            "collect2: error: ld returned 1 exit status",
            "make: *** [makefile:352: libperl.so] \u{1b}[31mError 1\u{1b}[0m",
        ],
        "log": "logs/5e1f09.log",
    }});
    build
}

/// Findings of a study with these builds.
pub fn with_builds(mut findings: Findings, builds: Vec<Value>) -> Findings {
    for build in builds.iter().filter(|build| build["outcome"] != "built") {
        let names = build["variants"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let unmade = names.map(|name| Unmade { variant: name.to_owned(), is_foreseen: false });
        findings.besides.unmade.extend(unmade);
    }
    findings.sections.insert("builds".to_owned(), builds.into());
    findings
}

/// A feature's doubt of which the screen shows nothing.
pub fn objection(kind: &str, text: &str) -> Objection {
    Objection { kind: kind.to_owned(), text: text.to_owned(), line: None, same_program: false }
}

/// The metrics of these tables, as the table of all metrics describes them.
fn shown(tables: &[Table]) -> Vec<Metric> {
    METRICS.iter().filter(|metric| tables.iter().any(|table| table.metric == metric.name)).cloned().collect()
}

/// A finished study of these tables, judged by wall time.
pub fn study(variants: &[&str], tables: Vec<Table>) -> Findings {
    let line = |name: &&str| VariantLine {
        name: (*name).to_owned(),
        levels: [("libperl", "static"), ("malloc", "system"), ("optimize", "O2"), ("threads", "off")]
            .map(|(factor, level)| (factor.to_owned(), level.to_owned()))
            .into(),
        build: Some("5e1f09".to_owned()),
        run: None,
    };
    Findings {
        format: FORMAT,
        study: "perl-options".to_owned(),
        question: Some("What do Perl's build options cost at run time?".to_owned()),
        plan: "default".to_owned(),
        seed: 178,
        method: Method {
            deciding_metric: "wall".to_owned(),
            confidence: 0.95,
            margin: 0.01,
            family: variants.len() as u32 - 1,
            stopping: None,
        },
        places: vec![place()],
        sessions: 1,
        blocks_wanted: 12,
        blocks_finished: 12,
        blocks_total: 12,
        started_unix_s: 1_795_294_381.5,
        variants: variants.iter().map(line).collect(),
        metrics: shown(&tables),
        tables,
        sections: [("builds".to_owned(), json!([]))].into_iter().collect(),
        ..Findings::default()
    }
}

const FIVE: [&str; 6] = ["baseline", "malloc=perl", "threads=on", "libperl=shared", "optimize=O", "libperl=symbolic"];

/// Five variants, and each of the five verdicts; wall time only.
pub fn five_verdicts() -> Findings {
    let rows = vec![
        baseline(summary(4.2431, 4.2513, 4.412)),
        row("malloc=perl", summary(3.561, 3.5702, 3.702), comparison(0.83912, 0.83121, 0.8466, Verdict::Faster)),
        row("threads=on", summary(5.102, 5.131, 5.66), comparison(1.2041, 1.1893, 1.2166, Verdict::Slower)),
        row("libperl=shared", summary(4.263, 4.2711, 4.43), comparison(1.00461, 1.0021, 1.0073, Verdict::Negligible)),
        row("optimize=O", summary(4.2414, 4.2502, 4.4), comparison(1.0004, 0.9951, 1.0056, Verdict::Equivalent)),
        row(
            "libperl=symbolic",
            summary(4.291, 4.33, 4.87),
            comparison(1.0122, 0.9925, 1.0314, Verdict::Undecided { more_blocks: Some(14) }),
        ),
    ];
    let findings = study(&FIVE, vec![table("wall", Unit::Seconds, rows, quiet_twin())]);
    let builds = vec![
        built(&["baseline"], true, 149.2),
        built(&["malloc=perl"], false, 152.9),
        built(&["threads=on"], false, 0.52),
    ];
    with_builds(findings, builds)
}

/// Two variants of one workload, by wall time, memory and page faults.
pub fn pair() -> Findings {
    let wall = vec![
        baseline(summary(0.18113, 0.18211, 0.1951)),
        row("fix=with", summary(0.1992, 0.2001, 0.2101), comparison(1.1002, 1.098, 1.1031, Verdict::Slower)),
    ];
    let maxrss = vec![
        baseline(summary(11.31 * MIB, 11.32 * MIB, 11.4 * MIB)),
        row("fix=with", summary(9.84 * MIB, 9.85 * MIB, 9.91 * MIB), comparison(0.87, 0.8688, 0.8711, Verdict::Faster)),
    ];
    let few = |estimate: f64, low: f64, high: f64, verdict| Comparison {
        scale: Scale::Difference,
        ratio_of_means: None,
        ratio_of_max: None,
        ..comparison(estimate, low, high, verdict)
    };
    let constant =
        |ratio: f64, verdict| Comparison { inferred: Inferred::Exact, ..comparison(ratio, ratio, ratio, verdict) };
    let undecided = Verdict::Undecided { more_blocks: None };
    let majflt = vec![
        baseline(summary(0.0, 0.4167, 3.0)),
        row("fix=with", summary(3.0, 2.75, 6.0), few(2.5, 1.0, 4.0, Verdict::Slower)),
    ];
    let minflt = vec![
        baseline(summary(1832.0, 1832.0, 1832.0)),
        row("fix=with", summary(1771.0, 1771.0, 1771.0), constant(1771.0 / 1832.0, Verdict::Faster)),
    ];
    let tables = vec![
        table("wall", Unit::Seconds, wall, quiet_twin()),
        table("maxrss", Unit::Bytes, maxrss, comparison(1.0001, 0.9994, 1.0007, Verdict::Equivalent)),
        table("majflt", Unit::Count, majflt, few(0.0, -0.5, 0.5, undecided)),
        table("minflt", Unit::Count, minflt, constant(1.0, Verdict::Equivalent)),
    ];
    study(&["baseline", "fix=with"], tables)
}

/// The five verdicts again, from simulated trials, two blocks short.
pub fn simulated() -> Findings {
    let mut findings = with_builds(five_verdicts(), vec![]);
    findings.simulated = Some("malloc=perl=0.84 threads=on=1.2 noise=spiky".to_owned());
    findings.variants.iter_mut().for_each(|variant| variant.build = None);
    findings.blocks_finished = 10;
    findings
}

/// A study in which much went wrong: a failed build, failed trials, doubts of its own and of single comparisons.
pub fn troubled() -> Findings {
    let drift = Caveat::Drift(OverTime { metrics: vec![("wall".to_owned(), 1)], of: 1 });
    let late = Caveat::IncompleteBlocks { lost: 3, of: 12, pair: true };
    let tail = Caveat::TypicalAndMeanDisagree { ratios: None };
    let with = |caveats: &[&Caveat], comparison: Comparison| Comparison {
        caveats: caveats.iter().map(|c| (*c).clone()).collect(),
        ..comparison
    };
    let stalls = Comparison {
        ratio_of_means: Some(RatioOfMeans { estimate: 1.371, interval: Some([1.104, 1.692]) }),
        blocks: 11,
        ..comparison(1.2041, 1.1893, 1.2166, Verdict::Slower)
    };
    let fragile = Comparison { blocks: 9, ..comparison(0.83912, 0.83121, 0.8466, Verdict::Faster) };
    let rows = vec![
        baseline(Summary { n: 11, ..summary(4.2431, 4.2513, 4.412) }),
        row("malloc=perl", Summary { n: 9, ..summary(3.561, 3.5702, 3.702) }, with(&[&late], fragile)),
        row("threads=on", summary(5.102, 5.83, 12.61), with(&[&late, &tail], stalls)),
        absent("libperl=shared cccdlflags=none"),
        absent("malloc=perl threads=on"),
    ];
    let names = ["baseline", "malloc=perl", "threads=on", "libperl=shared cccdlflags=none", "malloc=perl threads=on"];
    let twin = Comparison { blocks: 11, ..quiet_twin() };
    let findings = study(&names, vec![table("wall", Unit::Seconds, rows, twin)]);
    let builds = vec![built(&["baseline", "malloc=perl"], true, 149.2), unbuilt("libperl=shared cccdlflags=none")];
    let mut findings = with_builds(findings, builds);
    let failed = |variant: &str, failed, void, example| FailedTrials {
        variant: variant.to_owned(),
        workload: "loop".to_owned(),
        condition: "idle".to_owned(),
        failed,
        void,
        of: 12,
        example,
        ..FailedTrials::default()
    };
    let signal =
        Failure::Signal { signal: 11, stderr: vec!["panic: free from wrong pool at loop.pl line 3.".to_owned()] };
    let wrong = Failure::WrongOutput { line: 7, expected: Some("700".to_owned()), printed: None };
    let exit = Failure::Exit { code: 2, stderr: vec![] };
    findings.failures = vec![
        failed("baseline", 1, 0, Some(exit)),
        failed("malloc=perl", 2, 1, Some(signal)),
        failed("malloc=perl threads=on", 12, 0, Some(wrong)),
    ];
    findings.caveats = vec![drift];
    findings.sessions = 2;
    findings
}

/// Two workloads; on one of them the twin itself was judged different.
pub fn two_workloads() -> Findings {
    let mut findings = five_verdicts();
    let rows = findings.tables[0].rows.clone();
    let second = table("wall", Unit::Seconds, rows, comparison(1.021, 1.012, 1.0302, Verdict::Slower));
    findings.tables.push(Table { workload: "mails".to_owned(), ..second });
    findings.blocks_finished = 24;
    findings.blocks_total = 24;
    findings
}

fn effect(subject: Subject, comparison: Comparison) -> Effect {
    Effect { subject, within: None, over: None, comparison: Some(comparison), refused: None }
}

/// Levels of factors against others.
fn levels(name: &str, against: &str, comparison: Comparison) -> Effect {
    let step = |(level, against): (&str, &str)| {
        let [(factor, level), (_, against)] = [level, against].map(|text| text.split_once('=').unwrap_or((text, "")));
        Step { factor: factor.to_owned(), level: level.to_owned(), against: against.to_owned() }
    };
    let steps = name.split(" × ").zip(against.split(", ")).map(step).collect();
    effect(Subject::Levels(steps), comparison)
}

/// Effects on one workload's wall time.
fn family(condition: &str, kind: EffectKind, effects: Vec<Effect>) -> Effects {
    Effects {
        kind,
        workload: Some("loop".to_owned()),
        condition: Some(condition.to_owned()),
        first_condition: None,
        metric: "wall".to_owned(),
        unit: Unit::Seconds,
        better: Direction::Less,
        aliases: vec![],
        effects,
        twin: None,
        ranking: None,
    }
}

/// Two factors, crossed: main effects, an interaction, and a suite over two workloads.
pub fn factorial() -> Findings {
    let within = |level: &str, effect: Effect| {
        let (factor, level) = level.split_once('=').unwrap_or((level, ""));
        Effect { within: Some(Level { factor: factor.to_owned(), level: level.to_owned() }), ..effect }
    };
    let family = |kind, effects| family("idle", kind, effects);
    let malloc = comparison(0.8533, 0.8461, 0.8602, Verdict::Faster);
    let threads = comparison(1.0441, 1.0352, 1.0533, Verdict::Slower);
    let symmetric = Caveat::SymmetricErrors;
    let both = Comparison { caveats: vec![symmetric], ..comparison(1.0312, 1.0122, 1.0498, Verdict::Slower) };
    let optimize = comparison(1.0004, 0.9951, 1.0056, Verdict::Equivalent);
    let open = comparison(1.0122, 0.9925, 1.0314, Verdict::Undecided { more_blocks: Some(14) });
    let doubt = Caveat::AmongOthers { p: 0.0213, corrected: 0.0831, family: 4 };
    let uncorrected = Comparison { caveats: vec![doubt], ..open.clone() };
    let mut findings = five_verdicts();
    findings.effects = vec![
        family(
            EffectKind::Main,
            vec![
                levels("malloc=perl", "malloc=system", malloc.clone()),
                Effect { over: Some(part()), ..levels("optimize=O", "optimize=O2", optimize.clone()) },
                levels("threads=on", "threads=off", threads.clone()),
                Effect {
                    comparison: None,
                    refused: Some(Refusal::Aliased { with: vec![Term::Main("threads".to_owned())] }),
                    ..levels("libperl=shared", "libperl=static", optimize.clone())
                },
            ],
        ),
        family(
            EffectKind::Interaction,
            vec![
                levels("malloc=perl × threads=on", "malloc=system, threads=off", both),
                levels("malloc=perl × optimize=O", "malloc=system, optimize=O2", optimize),
                levels("optimize=O × threads=on", "optimize=O2, threads=off", open),
            ],
        ),
        family(
            EffectKind::Simple,
            vec![
                within("threads=off", levels("malloc=perl", "malloc=system", malloc.clone())),
                within("threads=on", levels("malloc=perl", "malloc=system", uncorrected)),
            ],
        ),
        family(EffectKind::Simple, vec![within("malloc=system", levels("threads=on", "threads=off", threads))]),
    ];
    findings.excluded = ["libperl=shared optimize=O", "libperl=symbolic optimize=O"]
        .map(|name| Excluded { name: name.to_owned(), reason: "does not link".to_owned() })
        .to_vec();
    findings.tables[0].ranking = Some(ranking());
    let whole = Subject::Variant { variant: "malloc=perl".to_owned(), against: "baseline".to_owned() };
    let suite = family(EffectKind::Suite, vec![effect(whole, malloc)]);
    findings.effects.push(Effects { workload: None, ..suite });
    findings
}

/// All combinations but those of one level.
fn part() -> Over {
    let level = |factor: &str, level: &str| (factor.to_owned(), level.to_owned());
    let with = |malloc: &str| [level("libperl", "static"), level("malloc", malloc)].into();
    let levels = [("libperl".to_owned(), vec!["static".to_owned()])].into();
    Over { combinations: vec![with("system"), with("perl")], of: 6, levels }
}

/// Who differs from whom, and who is equivalent.
fn ranking() -> Ranking {
    let ranked = |variant: &str, letters: &str, distance: Option<[f64; 3]>| Ranked {
        variant: variant.to_owned(),
        letters: letters.to_owned(),
        against_best: distance.map(|[estimate, ..]| estimate),
        against_best_interval: distance.map(|[_, low, high]| [low, high]),
        scale: Scale::Ratio,
    };
    Ranking {
        variants: vec![
            ranked("malloc=perl", "a", None),
            ranked("optimize=O", "b", Some([1.191, 1.18, 1.2043])),
            ranked("baseline", "b", Some([1.192, 1.181, 1.2031])),
            ranked("libperl=symbolic", "bc", Some([1.205, 1.186, 1.2219])),
        ],
        pairs: 6,
        differ: 3,
        equivalent: vec![["optimize=O".to_owned(), "baseline".to_owned()]],
        left_out: vec![],
    }
}

/// A study that was planned, and nothing more.
pub fn empty() -> Findings {
    Findings { sessions: 0, blocks_finished: 0, places: vec![], ..study(&FIVE, vec![]) }
}

/// All of them, by name.
pub fn all() -> Vec<(&'static str, Findings)> {
    vec![
        ("conditions", conditions()),
        ("doubtful", doubtful()),
        ("five-verdicts", five_verdicts()),
        ("pair", pair()),
        ("simulated", simulated()),
        ("troubled", troubled()),
        ("two-workloads", two_workloads()),
        ("factorial", factorial()),
        ("empty", empty()),
    ]
}
