//! From a record to a page: what the analysis finds in a study of two conditions, with a load, ops and void trials, is
//! what the page says. The statistics are tested in the analysis; the words, one by one, in the other files here.

use bakeoff_judge::findings::Findings;
use bakeoff_judge::judge;
use bakeoff_model::marks::{Latencies, Marks, OpLatencies};
use bakeoff_model::record::{
    Attempt, Building, Held, Outcome, Record, Surrounding, TWIN, Trial, UNMATCHED, Unavailable,
};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::{Vary, VoidRule};
use bakeoff_report::{Context, Style, screen, terminal, terminal_with, to_pass_on};
use bakeoff_testkit::records::{execute, measure, noise, study};

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
        told("idle", "processor time of other programs", Held::Observed("foreign_cpu".to_owned())),
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
        "b is 10.01 % faster (9.94 … 10.08 %): 450 ms instead of 500 ms under idle [",
        "under busy: b 19.0 % faster\n",
        "loop (busy): how each variant's wall ratio to the baseline changes under this condition\n",
        "1.2345 [1.2323, 1.2366]  ",
        "For throughput, more is better.",
        "loop (idle): latency of op set, phase serve, in ms; medians over trials",
        "all ops of all trials together: baseline avg 1.00 ms, min 1.00 µs, max 2.00 ms (24,000 ops); b avg 900 µs",
        "observed, not enforced: processor time of other programs: foreign_cpu 1.20 % [1.20, 1.20], n 36",
        "held: 4 copies of the baseline",
        "loop: load_rate, copies of the load completed per second: baseline 8.00 /s",
        "the load was not the same for all variants: it finished more or less often during the trials of some \
            variants than during the baseline's (b on loop under busy: 11.",
        "b on loop (idle): 1 of 13 trials was void; the void trial was repeated\n  \
            1 trial was void because of foreign_cpu (foreign_cpu 40 % > 20 %)",
        "peak by wait4: ru_maxrss",
        "not measured here: cycles (no hardware counters here)\n",
    ] {
        assert!(page.contains(piece), "{piece}\nis not in\n{page}");
    }
}

/// A study of builds: 6 passes of a workload, of which the first `anew` were linked anew, and 4 of building, where `b`
/// takes twice as long; and in the workload no longer than the baseline.
fn built(anew: u32) -> Record {
    let mut record = study(&["baseline", "b"], &["idle"], &["wall"]);
    record.study.variants.iter_mut().for_each(|variant| variant.build = Some("5e1f09".to_owned()));
    let only_workloads = record.clone();
    execute(&mut record, 6, |trial| {
        let wall_s = 0.5 * noise(trial);
        measure(trial, "wall", wall_s);
    });
    if anew > 0 {
        record.study.vary = vec![Vary::LinkOrder];
    }
    record.blocks.iter_mut().filter(|block| block.block <= anew).for_each(|block| block.layout = Some(block.block));
    let mut building = only_workloads;
    execute(&mut building, 4, |trial| {
        let wall_s = if trial.variant == "b" { 4.0 } else { 2.0 } * noise(trial);
        measure(trial, "wall", wall_s);
        measure(trial, "installed", 12_345.0);
        trial.workload = "build-perl".to_owned();
    });
    building.blocks.iter_mut().for_each(|block| block.workload = "build-perl".to_owned());
    record.blocks.extend(building.blocks);
    record.trials.extend(building.trials);
    record.study.building =
        Some(Building { workloads: vec!["build-perl".to_owned()], condition: "idle".to_owned(), blocks: 4 });
    record
}

#[test]
fn building_is_judged_apart_and_has_no_say_in_the_answer() {
    let findings = judge(&built(0));
    let mut plain = built(0).without_building().into_owned();
    plain.study.building = None;
    assert_eq!(Findings { building: None, ..findings.clone() }, judge(&plain));
    let building = findings.building.as_ref().unwrap();
    assert_eq!((building.blocks_finished, building.blocks_total), (4, 4));

    let page = terminal(&findings, Style { width: 1000, colour: false });
    let (answer, rest) = page.split_once("\n\n").unwrap();
    assert!(!answer.contains("build-perl") && !answer.contains("slower"), "{answer}");
    for piece in [
        "building, also measured: the baseline is faster: b is 99.9 % slower",
        "build-perl (idle): wall, elapsed time",
        "installed",
    ] {
        assert!(rest.contains(piece), "{piece}\nis not in\n{page}");
    }
}

#[test]
fn the_claim_is_about_programs_only_where_every_block_was_linked_anew() {
    let claim_of = |record: &Record| {
        let page = terminal(&judge(record), Style { width: 1000, colour: false });
        let line = page.lines().find(|line| line.trim_start().starts_with("method: ")).unwrap().to_owned();
        line.split("confidence 95 %.").nth(1).unwrap().trim().to_owned()
    };
    let claim = |anew| claim_of(&built(anew));
    assert_eq!(claim(0), "The claims are about these builds: one build is one sample of memory layout.");
    assert_eq!(
        claim(6),
        "For each block, the programs were linked again in random layouts that do not match: the claims are about the programs in \
         typical layouts, averaged over 6 layouts."
    );
    assert_eq!(
        claim(2),
        "In 2 of 6 passes, the programs were linked again in random layouts that do not match: the claims are partly about these builds and \
         partly about the programs in typical layouts."
    );
    let mut record = built(6);
    record.study.vary = vec![Vary::Layouts];
    assert!(claim_of(&record).contains("linked again in a random layout, the same for all variants"));
    record.blocks[0].linked = [("b".to_owned(), format!("{UNMATCHED}0123"))].into();
    assert_eq!(claim_of(&record), claim(6));
}

/// 8 nodes with 12 blocks each: `b` is 8 % faster but on n03, where it is 4 % faster; `c` is nothing anywhere; n07 is noisy.
fn on_nodes() -> Record {
    let mut record = study(&["baseline", "b", "c"], &["idle"], &["wall"]);
    let mut stream = Stream::of(178, &["nodes"]);
    execute(&mut record, 96, |trial| {
        let node = (trial.block - 1) % 8 + 1;
        let level: f64 = match (trial.variant.as_str(), node) {
            ("b", 3) => -0.04,
            ("b", _) => -0.08,
            _ => 0.0,
        };
        let noise = if node == 7 { 0.02 } else { 0.003 };
        measure(trial, "wall", 0.5 * (level + noise * stream.normal()).exp());
    });
    for block in &record.blocks {
        let shard = (block.block - 1) % 8;
        let key = (block.block, block.workload.clone(), block.condition.clone());
        record.away.insert(key, Attempt { node: format!("n{:02}", shard + 1), shard, attempt: 0 });
    }
    record.run_again = [1, 2].map(|pass| ((pass, String::new(), String::new()), Default::default())).into();
    record
}

#[test]
fn the_screen_tells_nodes_apart() {
    let findings = judge(&on_nodes());
    let context = Context { more: "bakeoff report x", ..Context::default() };
    let screen = screen(&findings, context, Style { width: 80, colour: false });
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    for piece in [
        "96 blocks on 8 nodes; noise −0.",
        "b           7.6 % faster on the whole",
        "b is faster on 8 of 8 nodes\n",
        "▲ b on n03: 3.",
        " % faster there, 7.",
        " % elsewhere\n",
        "▲ n07 is noisy: its twin differs by 2.",
        "2 blocks were run twice; the first attempts were used\n",
    ] {
        assert!(screen.contains(piece), "{piece}\nis not in\n{screen}");
    }
    let page = terminal(&findings, Style { width: 80, colour: false });
    let nodes = terminal_with(&findings, &[], Some("nodes"), Style { width: 80, colour: false }, None);
    assert!(nodes.lines().all(|line| line.chars().count() <= 80) && nodes.contains("n03 ▲"), "{nodes}");
    for piece in
        ["loop (idle): wall of b, node by node\n", "n03 ▲", "the verdict holds on the whole and not on each node"]
    {
        assert!(page.contains(piece), "{piece}\nis not in\n{page}");
    }
    let passed = to_pass_on(&findings);
    let passed = terminal(&passed, Style { width: 80, colour: false });
    assert!(passed.contains("b on node 3: ") && !passed.contains("n03"), "{passed}");
}
