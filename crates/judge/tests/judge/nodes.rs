//! Blocks that ran on several machines: what is said of each of them, what is no longer said of all, and which doubts are not
//! raised because of it. The studies are simulated with 1 % of noise in each trial; the seeds are fixed.

use bakeoff_judge::findings::{Caveat, Comparison, EffectKind, Findings, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::record::{Attempt, Failure, Outcome, Record, Session, TWIN, Trial};
use bakeoff_model::shuffle::Stream;
use bakeoff_testkit::records::{execute, kinds, measure, sentence, study};

/// What a trial takes, as a logarithm, beside its noise; and how large that is.
struct Slot<'a> {
    node: usize,
    variant: &'a str,
    /// The number of its block on its node, from 0.
    nth: u32,
}

/// A study of these variants with so many blocks on each of so many nodes, in turns as shards have them.
fn record_of(variants: &[&str], nodes: usize, blocks: u32, value: impl Fn(&Slot<'_>) -> [f64; 2]) -> Record {
    let mut record = study(variants, &["idle"], &["wall"]);
    let mut stream = Stream::of(178, &["several nodes"]);
    execute(&mut record, nodes as u32 * blocks, |trial| {
        let (node, nth) = ((trial.block as usize - 1) % nodes, (trial.block - 1) / nodes as u32);
        let [level, noise] = value(&Slot { node, variant: &trial.variant, nth });
        measure(trial, "wall", (level + 0.01 * noise * stream.normal()).exp());
    });
    on_nodes(&mut record, nodes as u32);
    record
}

/// Deals the passes to nodes in turn.
fn on_nodes(record: &mut Record, nodes: u32) {
    for block in &record.blocks {
        let key = (block.block, block.workload.clone(), block.condition.clone());
        let shard = (block.block - 1) % nodes;
        record.away.insert(key, Attempt { node: format!("n{:02}", shard + 1), shard, attempt: 0 });
    }
}

fn of_pair(nodes: usize, blocks: u32, value: impl Fn(&Slot<'_>) -> [f64; 2]) -> Findings {
    judge(&record_of(&["a", "b"], nodes, blocks, value))
}

fn compared(findings: &Findings) -> &Comparison {
    findings.tables[0].rows[1].comparison.as_ref().unwrap()
}

fn caveat<'f>(findings: &'f Findings, kind: &str) -> Option<&'f Caveat> {
    findings.caveats.iter().find(|caveat| caveat.kind() == kind)
}

/// 3 % slower on the third node, and a little faster on the others.
fn one_deviates(slot: &Slot<'_>) -> [f64; 2] {
    [
        if slot.variant != "b" {
            0.0
        } else if slot.node == 2 {
            0.03
        } else {
            -0.003
        },
        1.0,
    ]
}

#[test]
fn nothing_is_said_of_nodes_where_all_blocks_ran_here() {
    let mut record = record_of(&["a", "b"], 8, 12, one_deviates);
    record.away.clear();
    let findings = judge(&record);
    assert_eq!((findings.by_place.len(), compared(&findings).verdict), (0, Verdict::Equivalent));
    let json = serde_json::to_value(&findings).unwrap();
    assert!(json.get("by_place").is_none() && json.get("run_again").is_none());
}

#[test]
fn a_node_that_is_unlike_the_others_is_named_and_takes_equivalence_back() {
    let findings = of_pair(8, 12, one_deviates);
    let names: Vec<&str> = findings.by_place.iter().map(|row| row.variant.as_str()).collect();
    assert_eq!(names, ["b", TWIN]);
    let row = &findings.by_place[0];
    assert_eq!(row.places.len(), 8);
    assert!(row.places.iter().all(|one| one.blocks == 12 && one.interval.is_some()));
    let unlike = row.unlike.as_ref().unwrap();
    assert_eq!(unlike.place, "n03");
    assert!((1.02..1.04).contains(&unlike.there) && (0.995..1.005).contains(&unlike.elsewhere), "{unlike:?}");
    assert_eq!((compared(&findings).verdict, row.everywhere), (Verdict::Undecided { more_blocks: None }, None));
    let told = compared(&findings).on_the_whole().map(|unlike| sentence(&Caveat::PlacesDiffer(unlike.clone())));
    let told = told.unwrap();
    assert!(told.starts_with("n03 differs from the other nodes (3.") && told.contains("% slower there, 0."), "{told}");
    assert_eq!(findings.by_place[1].unlike, None);
    assert!(caveat(&findings, "several-places").is_none(), "{:?}", findings.caveats);
}

/// Far from the margin the difference stays, on the whole; within it, it becomes one on the whole.
#[test]
fn a_difference_holds_on_the_whole() {
    let verdict = |all: f64, by: f64| {
        let findings = of_pair(8, 24, |slot| {
            let there = if slot.node == 2 { by } else { 0.0 };
            [if slot.variant == "b" { all + there } else { 0.0 }, 0.5]
        });
        (compared(&findings).verdict, compared(&findings).on_the_whole().is_some())
    };
    assert_eq!(verdict(0.05, 0.03), (Verdict::Slower, true));
    assert_eq!(verdict(0.05, 0.0), (Verdict::Slower, false));
    assert_eq!(verdict(0.004, 0.0), (Verdict::Negligible, false));
    assert_eq!(verdict(0.004, 0.03), (Verdict::Slower, true));
}

/// A condition that changes nothing on the whole may change something on one node.
#[test]
fn no_contrast_is_equivalent_where_a_node_contradicts() {
    let verdict = |by: f64| {
        let mut record = study(&["a", "b"], &["idle", "busy"], &["wall"]);
        let mut stream = Stream::of(178, &["conditions"]);
        execute(&mut record, 8 * 12, |trial| {
            let level = match (&*trial.condition, &*trial.variant, trial.block % 8) {
                ("busy", "b", 3) => by,
                ("busy", "b", _) => -by / 7.0,
                _ => 0.0,
            };
            measure(trial, "wall", (level + 0.005 * stream.normal()).exp());
        });
        on_nodes(&mut record, 8);
        let findings = judge(&record);
        let family = findings.effects.iter().find(|family| family.kind == EffectKind::Condition).unwrap();
        let of_b = family.effects.iter().find(|effect| effect.variant() == Some("b")).unwrap();
        of_b.comparison.as_ref().unwrap().verdict
    };
    assert_eq!(verdict(0.0), Verdict::Equivalent);
    assert_eq!(verdict(0.03), Verdict::Undecided { more_blocks: None });
}

#[test]
fn what_all_nodes_show_is_claimed_of_each() {
    let everywhere = |nodes, blocks, but: usize| {
        let faster = |slot: &Slot<'_>| [if slot.variant == "b" && slot.node != but { -0.08 } else { 0.0 }, 1.0];
        of_pair(nodes, blocks, faster).by_place[0].everywhere
    };
    assert_eq!(everywhere(8, 8, 8), Some(Verdict::Faster));
    assert_eq!(everywhere(8, 6, 8), Some(Verdict::Faster));
    assert_eq!(everywhere(8, 8, 5), None, "one node has no difference");
    assert_eq!(everywhere(8, 5, 8), None, "five blocks a node are too few");
    // Nor where one of them has nothing to say.
    let mut record = record_of(&["a", "b"], 4, 12, |slot| [if slot.variant == "b" { -0.08 } else { 0.0 }, 1.0]);
    assert_eq!(judge(&record).by_place[0].everywhere, Some(Verdict::Faster));
    let fails = |trial: &&mut Trial| trial.variant == "b" && trial.block % 4 == 3;
    record
        .trials
        .iter_mut()
        .filter(fails)
        .for_each(|trial| trial.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] }));
    assert_eq!(judge(&record).by_place[0].everywhere, None, "one node has none of b");
    // Two rows of six blocks a node cannot both be shown, and so neither is.
    let two = judge(&record_of(&["a", "b", "c"], 4, 6, |slot| [if slot.variant == "a" { 0.0 } else { -0.08 }, 1.0]));
    assert!(two.by_place.iter().all(|row| row.everywhere.is_none()));
}

#[test]
fn a_noisy_node_is_a_doubt_and_is_not_called_unlike() {
    let findings = of_pair(8, 12, |slot| [0.0, if slot.node == 6 { 4.0 } else { 1.0 }]);
    assert_eq!(findings.by_place[0].unlike, None);
    let Some(Caveat::NoisyPlaces { seen }) = caveat(&findings, "noisy-places") else {
        panic!("{:?}", findings.caveats)
    };
    assert_eq!((seen.len(), seen[0].place.as_str()), (1, "n07"));
    assert!(seen[0].there > 1.02 && seen[0].elsewhere < 1.02, "{seen:?}");
}

#[test]
fn few_blocks_a_node_give_estimates_and_say_so() {
    let findings = of_pair(8, 6, one_deviates);
    assert_eq!((findings.by_place[0].places.len(), &findings.by_place[0].unlike), (8, &None));
    let told = caveat(&findings, "few-on-places").map(sentence);
    let expect = "too few blocks to tell nodes apart: 8 of 8 nodes have fewer than 12 blocks of some workload";
    assert_eq!(told.as_deref(), Some(expect));
    assert!(caveat(&of_pair(8, 12, one_deviates), "few-on-places").is_none());
}

/// Every node is another machine: their speeds are no drift, no succession, no carry-over and no modes.
#[test]
fn nodes_of_different_speed_raise_no_doubt_about_time() {
    let about_time = ["drift", "autocorrelation", "position", "carry-over", "modes"];
    let speed = |slot: &Slot<'_>| [0.3 * slot.node as f64, 1.0];
    let mut record = record_of(&["a", "b", "c"], 4, 15, speed);
    let doubts = |record: &Record| -> Vec<String> {
        kinds(&judge(record).caveats).into_iter().filter(|kind| about_time.contains(&&**kind)).collect()
    };
    assert_eq!(doubts(&record), Vec::<String>::new());
    record.away.clear();
    assert!(!doubts(&record).is_empty(), "the same on one machine is not independent");
    let drifting = record_of(&["a", "b", "c"], 4, 15, |slot| {
        [0.3 * slot.node as f64 + if slot.node == 1 { 0.01 * f64::from(slot.nth) } else { 0.0 }, 1.0]
    });
    assert_eq!(doubts(&drifting), ["drift"], "one node drifts");
}

#[test]
fn blocks_of_this_machine_are_those_of_its_name() {
    let mut record = record_of(&["a", "b"], 3, 12, |_| [0.0, 1.0]);
    record.away.retain(|_, from| from.node != "n02");
    record.sessions = vec![Session { session: 1, blocks: 36, ..Session::default() }];
    record.sessions[0].place.host = "login".to_owned();
    record.run_again = [1, 2].map(|pass| ((pass, String::new(), String::new()), Default::default())).into();
    let findings = judge(&record);
    let names: Vec<&str> = findings.by_place[0].places.iter().map(|one| one.place.as_str()).collect();
    assert_eq!((names, findings.run_again), (vec!["login", "n01", "n03"], 2));
}

#[test]
fn what_is_passed_on_has_numbers_for_names() {
    let mut findings = of_pair(8, 12, one_deviates);
    findings.number_places();
    assert!(!serde_json::to_string(&findings).unwrap().contains("n03"));
    assert_eq!(findings.by_place[0].unlike.as_ref().map(|unlike| unlike.place.as_str()), Some("node 3"));
}
