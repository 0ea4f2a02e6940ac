//! Samples, end to end: of two functions with the same instructions in both variants, that is named first which waits for memory
//! in one of them. No time is compared.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use super::why_counting::cannot_count;
use crate::common::Sandbox;
use bakeoff_why::samples::SamplesLine;
use serde_json::Value;

const STUDY: &str = r#"
format = 1
name = "speeds"
[build_factors.memory]
near = { MASK = "0xfff" }
far = { MASK = "0x7fffff" }
[[build]]
name = "p"
tools = ["cc"]
files = ["speeds.c"]
script = '''
mkdir -p "$PREFIX/bin"
cc -O1 -fcf-protection=none "-DMASK=$MASK" -o "$PREFIX/bin/p" speeds.c
'''
[workloads.work]
run = '"$PREFIX/bin/p"'
[plan]
blocks = 8
layouts = "one"
[decide]
baseline = { memory = "near" }
metrics = ["user"]
"#;

#[test]
fn the_function_that_waits_for_memory_is_named_first() {
    if cannot_count() {
        return;
    }
    let sandbox = Sandbox::new(STUDY);
    sandbox.write("speeds.c", include_str!("planted/speeds.c"));
    let explained = sandbox.execute(&["explain", "STUDY", "memory=far"]);
    explained.expect(0, &[]);
    let lines = SamplesLine::of(&sandbox.record());
    let shown = sandbox.execute(&["explain", "STUDY", "memory=far", "--json", "--quiet"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    let found: Value = serde_json::from_str(&shown.out).unwrap();
    let samples = &found["accounts"][0]["samples"];
    if let Some(why) = lines.first().and_then(|line| line.missing.as_deref()) {
        println!("skipped: user time by function: {why}");
        assert!(explained.out.contains("not gathered: user time by function of work"), "{}", explained.out);
        assert!(samples.is_null() && lines.len() == 1);
        return;
    }
    assert!(explained.err.contains("sampling the user time by function in 40 runs takes about "), "{}", explained.err);
    assert_eq!(found["accounts"][0]["difference"], 0);
    assert_eq!((&samples["blocks"], &samples["lost"]), (&Value::from(20), &Value::from(0)));
    let first = &samples["rows"][0];
    assert_eq!((&first["what"]["function"]["name"], &first["is_shown"]), (&"walk".into(), &true.into()), "{samples:#}");
    assert!(explained.out.contains("user time by function, sampled in 20 further runs of each"), "{}", explained.out);

    // Each run is in the journal with its functions, and no block is sampled twice.
    assert_eq!(lines.iter().map(|line| line.block).collect::<Vec<u32>>(), (1..=20).collect::<Vec<u32>>());
    let has = |name: &str| lines.iter().all(|line| line.runs[1].functions.iter().any(|one| one.name == name));
    assert!(has("walk") && has("add"), "{lines:?}");
    assert!(lines.iter().all(|line| line.runs[0].period_ns == line.runs[1].period_ns));
    let journal = std::fs::read_to_string(sandbox.journal()).unwrap();
    sandbox.execute(&["explain", "STUDY", "memory=far", "--quiet"]).expect(0, &["walk"]);
    assert_eq!(std::fs::read_to_string(sandbox.journal()).unwrap(), journal);

    // What was interrupted goes on after the last whole block.
    let is_late =
        |line: &&str| line.contains("\"samples\"") && (line.contains("\"block\":20") || line.contains("\"block\":19"));
    let kept: Vec<&str> = journal.lines().filter(|line| !is_late(line)).collect();
    assert_eq!(journal.lines().count() - kept.len(), 2, "{journal}");
    std::fs::write(sandbox.journal(), kept.join("\n") + "\n").unwrap();
    let resumed = sandbox.execute(&["explain", "STUDY", "memory=far"]);
    resumed.expect(0, &["walk"]);
    assert!(resumed.err.contains("in 4 runs takes about "), "{}", resumed.err);
    assert_eq!(SamplesLine::of(&sandbox.record()).len(), 20);
}
