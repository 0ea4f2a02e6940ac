//! A study of two conditions, with ops, a load, void trials and metrics that could not be had. Plausible, not computed.

use super::*;
use bakeoff_model::record::{Held, Unavailable};

fn under(variant: &str, comparison: Comparison) -> Effect {
    let (condition, against) = ("busy".to_owned(), "idle".to_owned());
    effect(Subject::Condition { variant: variant.to_owned(), condition, against }, comparison)
}

fn changed(variant: &str, comparison: Comparison) -> Effect {
    effect(Subject::Variant { variant: variant.to_owned(), against: "baseline".to_owned() }, comparison)
}

fn effects() -> Vec<Effects> {
    let family = |kind, effects| Effects { first_condition: Some("idle".to_owned()), ..family("busy", kind, effects) };
    let open = Verdict::Undecided { more_blocks: Some(9) };
    vec![
        family(
            EffectKind::Condition,
            vec![
                under("baseline", comparison(2.021, 1.981, 2.062, Verdict::Slower)),
                under("preload=all", comparison(1.834, 1.802, 1.871, Verdict::Slower)),
                under("preload=core", comparison(1.992, 1.953, 2.033, Verdict::Slower)),
            ],
        ),
        family(
            EffectKind::ConditionChange,
            vec![
                changed("preload=all", comparison(0.9081, 0.8851, 0.9311, Verdict::Faster)),
                changed("preload=core", comparison(0.9861, 0.9631, 1.0091, open)),
            ],
        ),
    ]
}

fn latencies(variant: &str, factor: f64) -> LatencyRow {
    let typical = |ms: f64| {
        let median = 1e-3 * factor * ms;
        Typical { median, interval: Some([0.97 * median, 1.05 * median]) }
    };
    LatencyRow {
        variant: variant.to_owned(),
        trials: 12,
        ops: Typical { median: 178.0, interval: Some([178.0, 178.0]) },
        rate_per_s: Some(Typical { median: 37.4 / factor, interval: Some([36.1 / factor, 38.5 / factor]) }),
        mean_s: typical(26.42),
        min_s: typical(9.881),
        p50_s: typical(24.11),
        p90_s: typical(39.8),
        p99_s: typical(71.23),
        p999_s: typical(112.4),
        max_s: typical(112.4),
        pooled: Pooled { ops: 2136, mean_s: 0.02651 * factor, min_s: 0.00912 * factor, max_s: 0.1311 * factor },
    }
}

/// Too few for any interval.
fn of_three_trials(row: LatencyRow) -> LatencyRow {
    let bare = |figure: Typical| Typical { interval: None, ..figure };
    LatencyRow {
        trials: 3,
        ops: bare(row.ops),
        rate_per_s: row.rate_per_s.map(bare),
        mean_s: bare(row.mean_s),
        min_s: bare(row.min_s),
        p50_s: bare(row.p50_s),
        p90_s: bare(row.p90_s),
        p99_s: bare(row.p99_s),
        p999_s: bare(row.p999_s),
        max_s: bare(row.max_s),
        ..row
    }
}

fn table_of_ops(condition: &str, op: &str, factor: f64) -> LatencyTable {
    LatencyTable {
        workload: "loop".to_owned(),
        condition: condition.to_owned(),
        phase: Some("serve".to_owned()),
        op: Some(op.to_owned()),
        rows: vec![
            latencies("baseline", factor),
            latencies("preload=all", 0.26 * factor),
            of_three_trials(latencies("preload=core", 0.5 * factor)),
        ],
        twin: Some(latencies("twin", 1.003 * factor)),
    }
}

fn surroundings() -> Vec<ConditionParts> {
    let part = |what: &str, state, [sessions, of]: [u32; 2], observed| Part {
        what: what.to_owned(),
        state,
        sessions,
        of,
        observed,
    };
    let watched = |metric: &str, what: &str, unit, all: Summary, variants: &[(&str, f64)]| Watched {
        workload: "loop".to_owned(),
        metric: metric.to_owned(),
        what: what.to_owned(),
        unit,
        better: Direction::Less,
        all,
        variants: variants
            .iter()
            .map(|(variant, median)| WatchedVariant {
                variant: (*variant).to_owned(),
                summary: summary(*median, *median, *median * 1.02),
            })
            .collect(),
    };
    let rates = [("baseline", 8.02), ("preload=all", 9.73), ("preload=core", 8.11)];
    let aslr = "addresses not randomised";
    vec![
        ConditionParts {
            condition: "idle".to_owned(),
            parts: vec![part(
                "processor time of other programs",
                Held::Observed("foreign_cpu".to_owned()),
                [2, 2],
                Some(Summary { n: 48, ..summary(0.0214, 0.03, 0.19) }),
            )],
            watched: vec![],
        },
        ConditionParts {
            condition: "busy".to_owned(),
            parts: vec![
                part("4 copies of the baseline", Held::Held, [2, 2], None),
                part(aslr, Held::Held, [1, 2], None),
                part(aslr, Held::Unavailable("personality: not permitted".to_owned()), [1, 2], None),
            ],
            watched: vec![
                watched(
                    "load_rate",
                    "copies of the load completed per second",
                    Unit::PerSecond,
                    summary(8.2, 8.3, 9.9),
                    &rates,
                ),
                watched(
                    "load_cpu",
                    "CPU time of the load during the trial",
                    Unit::Seconds,
                    summary(3.41, 3.4, 3.9),
                    &[],
                ),
            ],
        },
    ]
}

fn lost() -> FailedTrials {
    let by = |metric: Option<&str>, trials, example: &str| VoidBy {
        metric: metric.map(str::to_owned),
        trials,
        example: example.to_owned(),
    };
    FailedTrials {
        variant: "preload=core".to_owned(),
        workload: "loop".to_owned(),
        condition: "busy".to_owned(),
        failed: 1,
        void: 4,
        repeated: 3,
        void_by: vec![
            by(Some("foreign_cpu"), 3, "foreign_cpu 34 % > 20 %"),
            by(None, 1, "words.txt was changed during the block"),
        ],
        of: 16,
        example: Some(Failure::Surroundings {
            part: "oracle".to_owned(),
            why: "exited with code 1".to_owned(),
            tail: vec!["debited 2134, charged 2136".to_owned()],
        }),
    }
}

fn three(scale: f64, own: [f64; 3], others: [([f64; 3], Comparison); 2]) -> Vec<Row> {
    let of = |[median, mean, max]: [f64; 3]| summary(median * scale, mean * scale, max * scale);
    let [all, core] = others;
    vec![baseline(of(own)), row("preload=all", of(all.0), all.1), row("preload=core", of(core.0), core.1)]
}

fn times(scale: f64) -> Table {
    let all = comparison(0.26, 0.257, 0.2631, Verdict::Faster);
    let core = comparison(0.5, 0.491, 0.508, Verdict::Faster);
    let rows = three(scale, [4.2431, 4.2513, 4.412], [([1.1, 1.11, 1.3], all), ([2.1, 2.11, 2.4], core)]);
    table("wall", Unit::Seconds, rows, quiet_twin())
}

fn rates(scale: f64) -> Table {
    let all = comparison(3.861, 3.8, 3.92, Verdict::Faster);
    let core = comparison(2.02, 1.98, 2.06, Verdict::Faster);
    let rows = three(scale, [41.9, 41.8, 43.0], [([161.8, 161.0, 166.0], all), ([84.7, 84.1, 86.0], core)]);
    table("throughput", Unit::PerSecond, rows, quiet_twin())
}

/// Three variants on the idle machine and beside a load.
pub fn conditions() -> Findings {
    let busy = |table: Table| Table { condition: "busy".to_owned(), ..table };
    let tables = vec![times(1.0), rates(1.0), busy(times(2.0)), busy(rates(0.5))];
    let mut findings = study(&["baseline", "preload=all", "preload=core"], tables);
    findings.variants.iter_mut().for_each(|variant| variant.build = None);
    findings.effects = effects();
    findings.latencies = vec![
        table_of_ops("idle", "charge", 1.0),
        table_of_ops("idle", "quote", 0.31),
        table_of_ops("busy", "charge", 2.1),
    ];
    findings.conditions = surroundings();
    findings.missing = vec![
        Unavailable {
            metrics: vec!["instructions".to_owned(), "cycles".to_owned()],
            why: "no hardware counters here".to_owned(),
        },
        Unavailable { metrics: vec!["pressure_cpu".to_owned()], why: "no cgroup with pressure".to_owned() },
    ];
    findings.failures = vec![lost()];
    let load = LoadSeen {
        variant: "preload=all".to_owned(),
        workload: "loop".to_owned(),
        condition: "busy".to_owned(),
        verdict: Verdict::Faster,
        ratio: Some(1.213),
    };
    findings.caveats = vec![Caveat::UnequalLoad { seen: vec![load] }];
    (findings.sessions, findings.blocks_finished, findings.blocks_total) = (2, 24, 24);
    findings
}
