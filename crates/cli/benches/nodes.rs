//! How fast blocks from many nodes are collected and judged: `cargo bench -p bakeoff --bench nodes`.
//!
//! 64 nodes have run 10,000 blocks of two variants, or of 61, as the journals of their shards say; one node is 3 % slower in one
//! variant. It times `bakeoff jobs --collect` and `bakeoff report --json`, as a user would type them, and prints whether that node
//! is named, and how many others are. The goals are 10 s with one row and 60 s with 60 rows. Nothing is asserted: a busy machine is
//! not a failure. There is no scheduler: what waits and runs cannot be told, and nothing does.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench, for people to read")]

use bakeoff_journal::Journal;
use bakeoff_model::record::{Block, Checked, FORMAT, Line, Place, Session, StudyLine, TWIN, Trial, VariantLine};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::Decide;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const NODES: u32 = 64;
const BLOCKS: u32 = 10_000;
const SLOW_NODE: u32 = 17;
const SLOW_VARIANT: &str = "opt=O1";

/// What the study says is not asked: blocks were run, and are only collected.
const STUDY: &str = "format = 1\nname = \"nodes\"\n[run_factors.opt]\nO0 = {}\nO1 = {}\n[workloads.loop]\nrun = \"true\"\n[plan]\nblocks = 6\n[decide]\nbaseline = { opt = \"O0\" }\n";

fn main() {
    for rows in [1, 60] {
        let folder = tempfile::tempdir().unwrap();
        let study = folder.path().join("study");
        write_run(folder.path(), &study, rows);
        let (collected, _) = seconds(folder.path(), &["jobs", "study", "--collect"]);
        let (reported, findings) = seconds(folder.path(), &["report", "study", "--json"]);
        let findings: Value = serde_json::from_slice(&findings).unwrap();
        let named = |row: &Value| Some(row.get("unlike")?.get("place")?.as_str()?.to_owned());
        let named: Vec<String> = findings["by_place"].as_array().unwrap().iter().filter_map(named).collect();
        let slow = named.iter().filter(|node| **node == node_of(SLOW_NODE)).count();
        println!(
            "{BLOCKS} blocks on {NODES} nodes, rows: {rows}; collected in {collected:.1} s, read and judged in {reported:.1} s; the slow \
             node is named in {slow} of 1 rows, others in {} of {rows}",
            named.len() - slow
        );
    }
}

/// Seconds of a command, and what it printed.
fn seconds(folder: &Path, words: &[&str]) -> (f64, Vec<u8>) {
    let began = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
    command.args(words).current_dir(folder).env("HOME", folder).env("PATH", "/nowhere").stderr(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{words:?}");
    (began.elapsed().as_secs_f64(), output.stdout)
}

fn node_of(shard: u32) -> String {
    format!("n{shard:02}")
}

/// Writes a run as `run --on` and its shards leave it.
fn write_run(folder: &Path, study: &Path, rows: u32) {
    let run = folder.join("runs/bench");
    let away = study.join(".bakeoff/away");
    [&run, &away].into_iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
    fs::write(study.join("study.toml"), STUDY).unwrap();
    let machines =
        format!("[lab]\nslurm = {{ partition = \"p\" }}\nnodes = {NODES}\nfolder = \"{}\"\n", folder.display());
    fs::write(study.join("machines.toml"), machines).unwrap();
    write(&away.join("bench.json"), &json!({ "machines": "lab", "dir": run }));
    let passes = |shard: u32| (1..=BLOCKS).filter(|pass| pass % NODES == shard).collect::<Vec<_>>();
    let order = json!({
        "format": 1, "bakeoff": env!("CARGO_PKG_VERSION"), "program": "", "study": "study.toml", "words": [], "blocks": BLOCKS,
        "builds": false, "cache": "", "scratch": null, "locale": {}, "shards": (0..NODES).map(passes).collect::<Vec<_>>(),
    });
    write(&run.join("order.json"), &order);
    for shard in 0..NODES {
        let attempt = run.join(format!("shards/{shard}/0"));
        fs::create_dir_all(&attempt).unwrap();
        let journal = attempt.join("journal.jsonl");
        write_journal(&journal, shard, &passes(shard), rows);
        let status = json!({ "code": 0, "node": node_of(shard), "ended_unix_s": 1e9, "last": "", "complete": true });
        write(&attempt.join("status"), &status);
        let sum = Command::new("sha256sum").arg(&journal).output().unwrap();
        let sha256 = String::from_utf8(sum.stdout).unwrap().chars().take(64).collect::<String>();
        write(
            &attempt.with_file_name("done"),
            &json!({ "attempt": 0, "blocks": passes(shard).len(), "sha256": sha256 }),
        );
    }
}

fn write(path: &Path, value: &Value) {
    fs::write(path, value.to_string()).unwrap();
}

/// The journal of a shard, with 1 % of noise.
fn write_journal(path: &Path, shard: u32, passes: &[u32], rows: u32) {
    let name = |n: u32| if n == 0 { "baseline".to_owned() } else { format!("opt=O{n}") };
    let names: Vec<String> = (0..=rows).map(name).collect();
    let study = StudyLine {
        format: FORMAT,
        study: "nodes".to_owned(),
        plan: "default".to_owned(),
        identity: "0".repeat(64),
        variants: names.iter().map(|name| VariantLine { name: name.clone(), ..VariantLine::default() }).collect(),
        workloads: vec!["loop".to_owned()],
        conditions: vec!["idle".to_owned()],
        decide: Decide { metrics: vec!["wall".to_owned()], margin: 0.01, confidence: 0.95, ..Decide::default() },
        ..StudyLine::default()
    };
    let (mut journal, _) = Journal::open(path, &study).unwrap();
    let place = Place { host: node_of(shard), ..Place::default() };
    journal.append(&Line::Session(Session { session: 1, blocks: BLOCKS, place, ..Session::default() })).unwrap();
    let order: Vec<String> = names.into_iter().chain([TWIN.to_owned()]).collect();
    let mut chance = Stream::of(178, &["nodes", &shard.to_string()]);
    for &block in passes {
        let (workload, condition) = ("loop".to_owned(), "idle".to_owned());
        let line = Block { block, workload, condition, order: order.clone(), ..Block::default() };
        journal.append(&Line::Block(line.clone())).unwrap();
        for (position, variant) in (1..).zip(&order) {
            let is_slow = shard == SLOW_NODE && variant == SLOW_VARIANT;
            let value = if is_slow { 2.06 } else { 2.0 } * (0.01 * chance.normal()).exp();
            let trial = Trial {
                block,
                workload: line.workload.clone(),
                condition: line.condition.clone(),
                position,
                variant: variant.clone(),
                session: 1,
                started_unix_s: 1e9 + f64::from(block),
                measurements: [("wall".to_owned(), value)].into(),
                ..Trial::default()
            };
            journal.append(&Line::Trial(trial)).unwrap();
        }
    }
    journal.append(&Line::Checked(Checked { session: 1, files: "f".to_owned() })).unwrap();
}
