//! From a record to a page: what the analysis finds in a study of two conditions, with a load, ops and void trials, is
//! what the page says. The statistics are tested in the analysis; the words, one by one, in the other files here.

#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

#[path = "../../analysis/tests/common/mod.rs"]
mod records;

use bakeoff_analysis::judge;
use bakeoff_model::marks::{Latencies, Marks, OpLatencies};
use bakeoff_model::record::{Held, Outcome, Record, Surrounding, TWIN, Trial, Unavailable};
use bakeoff_model::study::VoidRule;
use bakeoff_report::{Style, terminal};
use records::{execute, measure, noise, study};

fn told(condition: &str, what: &str, state: Held) -> Surrounding {
    Surrounding { condition: condition.to_owned(), what: what.to_owned(), state }
}

fn ops(factor: f64) -> Marks {
    let latencies = Latencies::of((1..=2000).map(|i| 1e-6 * factor * f64::from(i))).unwrap();
    let (phase, name) = (Some("serve".to_owned()), Some("set".to_owned()));
    Marks { ops: vec![OpLatencies { phase, name, latencies }], ..Marks::default() }
}

/// `b` takes 0.9 times as long; beside four copies all take twice as long, and `b` another tenth less.
fn record() -> Record {
    let mut record = study(&["baseline", "b"], &["idle", "busy"], &["wall", "throughput", "peak", "cycles"]);
    record.study.void_if = vec![VoidRule { metric: "foreign_cpu".to_owned(), above: 0.2 }];
    let session = &mut record.sessions[0];
    session.unavailable =
        vec![Unavailable { metrics: vec!["cycles".to_owned()], why: "no hardware counters here".to_owned() }];
    session.surroundings = vec![
        told("idle", "nothing else uses the processors", Held::Observed("foreign_cpu".to_owned())),
        told("busy", "4 copies of the baseline", Held::Held),
    ];
    execute(&mut record, 12, |trial| {
        let (is_b, is_busy) = (trial.variant == "b", trial.condition == "busy");
        let factor = if is_b { 0.9 } else { 1.0 };
        let of_condition = if is_busy && is_b {
            1.8
        } else if is_busy {
            2.0
        } else {
            1.0
        };
        let wall_s = 0.5 * factor * of_condition * noise(trial);
        measure(trial, "wall", wall_s);
        measure(trial, "maxrss", 3e6);
        measure(trial, "foreign_cpu", 0.012);
        if is_busy {
            let rate = 8.0 / factor * noise(trial);
            measure(trial, "load_rate", rate);
        }
        trial.marks = ops(factor * of_condition);
    });
    let first = record.trials.iter().position(|trial| trial.variant == "b" && trial.block == 5).unwrap();
    let void = Outcome::Void("foreign_cpu 40 % > 20 %".to_owned());
    let mut void = Trial { outcome: void, ..record.trials[first].clone() };
    measure(&mut void, "foreign_cpu", 0.4);
    record.trials[first].attempt = 1;
    record.trials.insert(first, void);
    record
}

#[test]
fn the_page_tells_what_was_found() {
    let findings = judge(&record());
    assert!(findings.tables.iter().all(|table| table.noise_floor.as_ref().is_some_and(|row| row.variant == TWIN)));
    let page = terminal(&findings, Style { width: 1000, colour: false });
    for piece in [
        "idle: b is 10.01 % faster than the baseline in wall time (",
        "busy: b is 19.0 % faster than the baseline in wall time (",
        "busy instead of idle: baseline 99.9 % slower (99.4 … 100.4 %) and b 80.0 % slower (",
        "Their ratios to the baseline change: b 10.0 % less (",
        "1.2345 [1.2323, 1.2366]     higher",
        "Of throughput more is better.",
        "loop (idle): latency of op set, phase serve; in ms; medians over trials",
        "all ops of all trials together: baseline avg 1.00 ms, min 1.00 µs, max 2.00 ms of 24,000; b avg 900 µs",
        "observed: nothing else uses the processors: foreign_cpu 1.20 % [1.20, 1.20], n 36",
        "held: 4 copies of the baseline",
        "loop: load_rate, copies of the load that ended in a second: baseline 8.00 /s",
        "the load was not the same for all variants: it ended more or less often beside them than beside the baseline \
         (b on loop under busy: 11.",
        "b on loop (idle): 1 void of 13 trials; what is void was repeated\n  1 void by foreign_cpu (foreign_cpu 40 % > 20 %)",
        "peak by wait4: ru_maxrss",
        "not measured here: cycles (no hardware counters here)\n",
    ] {
        assert!(page.contains(piece), "{piece}\nis not in\n{page}");
    }
}
