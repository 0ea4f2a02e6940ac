//! The paragraph, whole, for each of the things that a gate may come to.

use super::*;
use crate::decision::FORMAT;

fn seen(slowdown: f64, interval: [f64; 2]) -> Option<JudgedSlowdown> {
    Some(JudgedSlowdown { slowdown, interval: Some(interval), confidence: 0.95, blocks: 12 })
}

fn case(variant: &str, workload: &str, seen: Option<JudgedSlowdown>, decision: Decision) -> Case {
    let [variant, workload, condition] = [variant, workload, "idle"].map(str::to_owned);
    Case { variant, workload, condition, limit: 0.02, seen, decision, prints_otherwise: false }
}

fn gate(cases: Vec<Case>) -> Gate {
    Gate {
        format: FORMAT,
        outcome: cases.iter().map(|case| case.decision.outcome()).max().unwrap(),
        study: "s".to_owned(),
        plan: "default".to_owned(),
        baseline: "before".to_owned(),
        metric: "wall".to_owned(),
        unit: Some(Unit::Seconds),
        better: Direction::Less,
        confidence: 0.95,
        confidence_to_fail: 0.95,
        more_blocks: None,
        blocks: [12, 12],
        cases,
    }
}

fn passed() -> Decision {
    Decision::Passes(Passed::Interval)
}

#[track_caller]
fn says(gate: &Gate, expect: &str) {
    assert_eq!(text(gate), expect);
}

#[test]
fn one_that_passes() {
    says(
        &gate(vec![case("b", "loop", seen(0.001, [-0.004, 0.0061]), passed())]),
        "The gate passes: in wall time, b is at most 0.6 % slower than before (95 % interval −0.4 … +0.6 %; limit +2 %).",
    );
    says(
        &gate(vec![case("b", "loop", seen(-0.2, [-0.21, -0.19]), passed())]),
        "The gate passes: in wall time, b is at least 19.0 % faster than before (95 % interval −21.0 … −19.0 %; limit +2 %).",
    );
    // Near the limit there are decimals enough to see on which side it is.
    says(
        &gate(vec![case("b", "loop", seen(0.019, [0.018, 0.019_97]), passed())]),
        "The gate passes: in wall time, b is at most 1.997 % slower than before (95 % interval +1.800 … +1.997 %; limit +2 %).",
    );
    let exact = JudgedSlowdown { slowdown: 0.01, interval: None, confidence: 1.0, blocks: 12 };
    let mut bytes = gate(vec![case("b", "loop", Some(exact), passed())]);
    (bytes.metric, bytes.unit) = ("size".to_owned(), Some(Unit::Bytes));
    says(&bytes, "The gate passes: in size, b needs 1.0 % more than before (exact; limit +2 %).");
}

#[test]
fn several_that_pass() {
    let cases = vec![
        case("b", "loop", seen(0.0, [-0.004, 0.004]), passed()),
        case("b", "sort", seen(0.01, [0.007, 0.013]), passed()),
        case("c", "loop", None, Decision::Passes(Passed::SameProgram)),
        case("c", "sort", None, Decision::Passes(Passed::SameProgram)),
    ];
    says(
        &gate(cases),
        "The gate passes: in wall time, a slowdown beyond the limit is excluded in 2 of 4 comparisons. Closest to its limit: b on sort \
         is at most 1.3 % slower than before (95 % interval +0.7 … +1.3 %; limit +2 %). Of the rest, c is the same program as \
         before, file for file, so it cannot be slower.",
    );
}

#[test]
fn what_fails() {
    says(
        &gate(vec![case("b", "loop", seen(0.03, [0.023, 0.041]), Decision::Fails)]),
        "The gate fails: in wall time, b is at least 2.3 % slower than before (95 % interval +2.3 … +4.1 %; limit +2 %).",
    );
    let mut several = vec![case("b", "loop", seen(0.0, [-0.004, 0.004]), passed())];
    let beyond = |n: u32| case("c", &format!("w{n}"), seen(0.03, [0.023, 0.041]), Decision::Fails);
    several.extend((1..=6).map(beyond));
    let said = text(&gate(several));
    let third = "c on w3 is at least 2.3 % slower than before (95 % interval +2.3 … +4.1 %; limit +2 %) and 3 more.";
    assert!(said.contains(third), "{said}");
    assert!(said.ends_with("Across all 7 comparisons, a gate fails by mistake in at most 5 % of studies."), "{said}");
}

#[test]
fn a_condition_is_named_where_there_are_several() {
    let mut busy = case("b", "loop", seen(0.03, [0.023, 0.041]), Decision::Fails);
    busy.condition = "busy".to_owned();
    let said = text(&gate(vec![case("b", "loop", seen(0.0, [-0.004, 0.004]), passed()), busy]));
    assert!(
        said.starts_with("The gate fails: in wall time, b under busy is at least 2.3 % slower than before"),
        "{said}"
    );
}

#[test]
fn what_is_undecided() {
    let open = |more_blocks: Option<u32>| {
        let decision = Decision::Undecided(Open::Interval { more_blocks });
        let gate = gate(vec![case("b", "loop", seen(0.01, [-0.005, 0.026]), decision)]);
        Gate { more_blocks, ..gate }
    };
    says(
        &open(Some(14)),
        "The gate is undecided: in wall time, b may or may not be slower than before by more than the limit (95 % \
         interval −0.5 … +2.6 %; limit +2 %). About 14 more blocks would probably suffice.",
    );
    let never = "More blocks would probably not help, because the noise is too large or the slowdown is too close to \
                 the limit.";
    assert!(text(&open(None)).ends_with(never));
    let unfinished = gate(vec![case("b", "loop", None, Decision::Undecided(Open::Unfinished))]);
    says(
        &Gate { blocks: [11, 12], ..unfinished },
        "The gate is undecided: 1 block of the plan is missing (11 of 12 done). Run the study again to resume it.",
    );
}

#[test]
fn what_is_broken() {
    let broken = |broken: Broken| text(&gate(vec![case("b", "loop", None, Decision::Broken(broken))]));
    assert_eq!(broken(Broken::NotBuilt), "The gate does not pass: b could not be built (`bakeoff build` shows why).");
    assert_eq!(
        broken(Broken::OtherOutput),
        "The gate does not pass: b prints different output, so it may not do the same work."
    );
    assert_eq!(
        broken(Broken::FlagWithoutEffect { flag: "-O3".to_owned() }),
        "The gate does not pass: the flag -O3 had no effect, although it should distinguish b from before."
    );
    let variant = "b".to_owned();
    assert_eq!(
        broken(Broken::TrialsFailed { variant, failed: 1, of: 12 }),
        "The gate does not pass: 1 of 12 trials of b failed."
    );
}

#[test]
fn names_of_others_steer_no_terminal() {
    let evil = "\u{1b}[2Jb\nx";
    let mut gate = gate(vec![case(evil, evil, seen(0.03, [0.023, 0.041]), Decision::Fails)]);
    gate.baseline = evil.to_owned();
    gate.metric = evil.to_owned();
    let said = text(&gate);
    assert!(!said.contains(['\u{1b}', '\n']), "{said:?}");
    assert!(paragraph(&gate, 60).lines().all(|line| line.chars().count() <= 60));
}
