//! What it costs to look at what trials run, after each block: `cargo bench -p bakeoff --bench looks`. Two places
//! run the same blocks in a random order, one of them looking at 16 files, or at 100; then the trial right after a look is held
//! against one without a look before it. Ratios come with intervals of our own analysis, and with the goals.
//! Nothing is asserted: a busy machine is not a failure.
//!
//! `BLOCKS` changes the number of blocks; `BAKEOFF_BENCH_QUICK=1` makes it small, to see whether it runs.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it ends where something is not as it should be")]

use bakeoff_judge::judge_samples;
use bakeoff_judge::samples::Terms;
use bakeoff_lab::local::{Local, Setup, Watch};
use bakeoff_lab::watched::Watched;
use bakeoff_lab::{Executor as _, Task};
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{Block, Outcome};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::{Condition, Workload};
use bakeoff_readers::Sample;
use std::path::Path;
use std::time::Instant;

const SEED: u64 = 178;
/// Beyond the first number, something that nobody measures follows each look.
const FILES: [usize; 2] = [16, 100];
/// Trials in a block: six variants and the twin.
const TRIALS: u32 = 7;

fn place(folder: &Path, run: &str, files: usize) -> Local<'static> {
    std::fs::create_dir_all(folder).unwrap();
    let plan = Plan {
        variants: vec![Variant { name: "a".to_owned(), ..Variant::default() }],
        workloads: vec![Workload { name: "w".to_owned(), run: run.to_owned(), ..Workload::default() }],
        conditions: vec![Condition { name: "c".to_owned(), ..Condition::default() }],
        ..Plan::default()
    };
    let setup = Setup {
        dir: folder.to_owned(),
        scratch: folder.join("scratch"),
        environment: [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())].into(),
        ..Setup::default()
    };
    let local = Local::new(&plan, setup, None).unwrap();
    if files == 0 {
        return local;
    }
    let file = |number: usize| {
        let path = folder.join(format!("folder-{}/file-{number}", number % 17));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, number.to_string()).unwrap();
        Watched::of(&number.to_string(), &path)
    };
    local.watching(Watch { files: (0..files).map(file).collect(), ..Watch::default() })
}

/// Runs one trial; its elapsed time.
fn trial(local: &mut Local<'_>, block: &Block, position: u32) -> f64 {
    let execution = local.execute(Task { block, position, variant: "a", attempt: 0 }).unwrap().unwrap();
    assert_eq!(execution.outcome, Outcome::Ok);
    execution.measurements["wall"]
}

fn block(number: u32) -> Block {
    let order = vec!["a".to_owned(); TRIALS as usize];
    Block { block: number, workload: "w".to_owned(), condition: "c".to_owned(), order, ..Block::default() }
}

/// A whole block, with its look if there is one: elapsed time of all of it, and the first trial's own.
fn execute(local: &mut Local<'_>, number: u32) -> (f64, f64) {
    let block = block(number);
    let clock = Instant::now();
    let first_s = trial(local, &block, 1);
    for position in 2..=TRIALS {
        trial(local, &block, position);
    }
    local.block_ended().unwrap();
    let look = local.look().unwrap();
    assert!(look.changed.is_empty() && look.touched.is_empty());
    (clock.elapsed().as_secs_f64(), first_s)
}

fn compare(what: &str, run: &str, files: usize, blocks: u32, goals: [&str; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let mut places = [place(&folder.path().join("without"), run, 0), place(&folder.path().join("with"), run, files)];
    let mut spent: [Vec<(f64, f64)>; 2] = [vec![], vec![]];
    // The first blocks are for warming up.
    for number in 0..blocks + 2 {
        let mut order = [0, 1];
        Stream::of(SEED, &[what, &number.to_string()]).shuffle(&mut order);
        for which in order {
            let block = execute(&mut places[which], number);
            if number >= 2 {
                spent[which].push(block);
            }
        }
    }
    for (name, goal, value) in [
        ("a whole block", goals[0], (|block: &(f64, f64)| block.0) as fn(&(f64, f64)) -> f64),
        ("the trial after a look", goals[1], |block| block.1),
    ] {
        let sample = |col: &str, values: &[(f64, f64)]| Sample {
            col: col.to_owned(),
            unit: "sec".to_owned(),
            values: values.iter().map(value).collect(),
            ..Sample::default()
        };
        let terms = Terms { confidence: 0.95, margin: 0.01, paired: true, baseline: None };
        let samples = vec![sample("without", &spent[0]), sample("with", &spent[1])];
        let findings = judge_samples(samples, &terms).unwrap();
        let comparison = findings.tables[0].samples[1].comparison.clone().unwrap();
        let interval = comparison.interval().map_or("–".to_owned(), |[low, high]| format!("{low:.4} … {high:.4}"));
        println!(
            "{files} files, {what}, {name}: {:.4} ({interval}) with looks ÷ without, n = {blocks}; goal: {goal}",
            comparison.estimate
        );
    }
}

fn main() {
    let is_quick = std::env::var("BAKEOFF_BENCH_QUICK").is_ok_and(|word| word == "1");
    let given = std::env::var("BLOCKS").ok().and_then(|text| text.parse().ok());
    let blocks = given.unwrap_or(if is_quick { 6 } else { 200 });
    println!("a look after each block of {TRIALS} trials, seed {SEED}");
    for files in FILES {
        compare("trials of 10 ms", "sleep 0.01", files, blocks, ["below 1.01", "covers 1"]);
        compare("/bin/true", "/bin/true", files, 5 * blocks, ["none", "covers 1"]);
    }
}
