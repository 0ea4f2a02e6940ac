//! How fast the analysis is: `cargo bench -p bakeoff --bench analysis`.
//!
//! 1. A study of 24 variants × 15 metrics × 40 blocks, all tests and intervals, on one processor; in randomised blocks
//!    beside scipy's `permutation_test`, which gets as many resamples and finds p alone, of one comparison. The ratio is
//!    scipy's time for as many comparisons to ours. scipy comes from the environment that `tools/oracles` makes.
//! 2. Studies of two variants and 10⁴ to 10⁷ trials: seconds and peak memory for each trial, which must stay the same.
//!
//! It uses the sign-flip test itself to say how sure the ratio is. Nothing is asserted: a busy machine is not a failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a bench, for people to read")]

use bakeoff_judge::judge;
use bakeoff_model::record::{Block, Outcome, Place, Record, Session, StudyLine, TWIN, Trial, VariantLine};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::Decide;
use bakeoff_stats::signflip::SignFlip;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const VARIANTS: usize = 24;
const METRICS: [&str; 15] = [
    "wall", "user", "sys", "cpu", "maxrss", "minflt", "majflt", "inblock", "oublock", "nvcsw", "nivcsw", "rchar",
    "wchar", "syscr", "syscw",
];
const BLOCKS: u32 = 40;
const REPEATS: usize = 10;
/// Names the number of trials, in a process of its own.
const SIZE: &str = "BAKEOFF_BENCH_TRIALS";

/// One p of one comparison of 40 blocks, with as many resamples, on the same statistic; each line of input asks for one,
/// and is answered by its seconds.
const SCIPY: &str = r"
import sys, time
import numpy as np
from scipy import stats
rng = np.random.default_rng(178)
x = 0.005 + 0.01 * rng.standard_normal(40)
psi = np.clip(x, -1.5 * np.median(abs(x)), 1.5 * np.median(abs(x)))
for line in sys.stdin:
    begin = time.perf_counter()
    stats.permutation_test((psi,), lambda a, axis: a.sum(axis=axis), permutation_type='samples', vectorized=True,
                           n_resamples=199_999, rng=rng)
    print(time.perf_counter() - begin, flush=True)
";

fn main() {
    if let Ok(trials) = std::env::var(SIZE) {
        one_size(trials.parse().expect("a number of trials"));
        return;
    }
    beside_scipy();
    for trials in [10_000u32, 100_000, 1_000_000, 10_000_000] {
        let itself = std::env::current_exe().unwrap();
        let status = Command::new(itself).env(SIZE, trials.to_string()).status().unwrap();
        if !status.success() {
            println!("{trials} trials: {status}");
        }
    }
}

/// A record with 1 % of noise.
fn record(variants: &[String], metrics: &[&str], blocks: u32) -> Record {
    let line = |name: &String| VariantLine { name: name.clone(), levels: [].into(), build: None, run: None };
    let (workload, condition) = ("loop".to_owned(), "idle".to_owned());
    let mut record = Record::new(StudyLine {
        format: 1,
        bakeoff: "0".to_owned(),
        study: "bench".to_owned(),
        question: None,
        plan: "default".to_owned(),
        identity: "0".to_owned(),
        seed: 178,
        variants: variants.iter().filter(|name| *name != TWIN).map(line).collect(),
        workloads: vec![workload.clone()],
        conditions: vec![condition.clone()],
        decide: Decide {
            baseline: [].into(),
            metrics: metrics.iter().map(|m| (*m).to_owned()).collect(),
            margin: 0.01,
            confidence: 0.95,
            ..Decide::default()
        },
        until: bakeoff_model::until::Until::Blocks,
        looks_until: None,
        simulated: None,
        ..StudyLine::default()
    });
    let (session, place) = (1, Place::default());
    record.sessions.push(Session {
        session,
        started_unix_s: 1e9,
        blocks,
        place,
        memory_floor_bytes: None,
        ..Session::default()
    });
    let mut chance = Stream::of(178, &["bench"]);
    let mut noise = || 1.0 + 0.04 * ((0..4).map(|_| chance.unit()).sum::<f64>() / 4.0 - 0.5);
    for block in 1..=blocks {
        for (index, variant) in variants.iter().enumerate() {
            let value = 2.0 * (1.0 + 0.0005 * index as f64);
            record.trials.push(Trial {
                block,
                workload: workload.clone(),
                condition: condition.clone(),
                position: index as u32 + 1,
                variant: variant.clone(),
                session,
                started_unix_s: 1e9,
                outcome: Outcome::Ok,
                measurements: metrics.iter().map(|m| ((*m).to_owned(), value * noise())).collect(),
                leftovers: 0,
                ..Trial::default()
            });
        }
        let (workload, condition) = (workload.clone(), condition.clone());
        record.blocks.push(Block { block, workload, condition, order: variants.to_vec(), ..Block::default() });
    }
    record
}

fn beside_scipy() {
    let variants: Vec<String> = (0..VARIANTS).map(|i| format!("v{i:02}")).collect();
    let record = record(&variants, &METRICS, BLOCKS);
    let comparisons = ((VARIANTS - 1) * METRICS.len()) as f64;
    let ours = || {
        let began = Instant::now();
        let findings = std::hint::black_box(judge(&record));
        assert_eq!(findings.tables.len(), METRICS.len());
        began.elapsed().as_secs_f64()
    };
    let mut scipy = Scipy::start();
    ours();
    let mut chance = Stream::of(1, &["order"]);
    let (mut seconds, mut contrasts) = (vec![], vec![]);
    for _ in 0..REPEATS {
        let first = chance.unit() < 0.5;
        let theirs = first.then(|| scipy.as_mut().map(Scipy::seconds)).flatten();
        let ours = ours();
        let theirs = theirs.or_else(|| scipy.as_mut().map(Scipy::seconds));
        seconds.push(ours);
        contrasts.extend(theirs.map(|theirs| (theirs * comparisons / ours).ln()));
    }
    seconds.sort_by(f64::total_cmp);
    let (low, middle, high) = (seconds[0], seconds[REPEATS / 2], seconds[REPEATS - 1]);
    println!(
        "{VARIANTS} variants × {} metrics × {BLOCKS} blocks, all tests and intervals: {low:.3} … {middle:.3} … {high:.3} s (n = {REPEATS})",
        METRICS.len()
    );
    let Some(mut test) = SignFlip::new(&contrasts, 1) else {
        println!("scipy: skipped, sh tools/oracles installs it");
        return;
    };
    let ratio = test.estimate().exp();
    let [low, high] = test.interval(0.05).unwrap_or([f64::NAN; 2]).map(f64::exp);
    println!(
        "scipy.stats.permutation_test takes {ratio:.0} times as long [{low:.0}, {high:.0}] for p alone (n = {REPEATS}, 95 %)"
    );
}

struct Scipy {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Scipy {
    /// None if it is not installed.
    fn start() -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let made = std::env::var_os("BAKEOFF_ORACLES").map_or(root.join("target/oracles"), PathBuf::from);
        let mut command = Command::new(made.join("bin/python"));
        command.args(["-c", SCIPY]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let answers = BufReader::new(child.stdout.take()?);
        let mut scipy = Self { child, answers };
        scipy.ask()?;
        Some(scipy)
    }

    fn ask(&mut self) -> Option<f64> {
        self.child.stdin.as_mut()?.write_all(b"\n").ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        line.trim().parse().ok()
    }

    fn seconds(&mut self) -> f64 {
        self.ask().expect("scipy answers")
    }
}

impl Drop for Scipy {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Two variants, this many trials, and what they cost.
fn one_size(trials: u32) {
    let record = record(&["a".to_owned(), "b".to_owned()], &["wall"], trials / 2);
    let before = peak_bytes();
    let began = Instant::now();
    let findings = std::hint::black_box(judge(&record));
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(findings.blocks_finished, trials / 2);
    let bytes = (peak_bytes() - before) / f64::from(trials);
    let nanoseconds = 1e9 * seconds / f64::from(trials);
    println!(
        "{trials:>9} trials: {seconds:.3} s; {nanoseconds:.0} ns and {bytes:.0} B a trial, beside the record's own"
    );
}

/// Peak resident memory of this process.
fn peak_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    1024.0 * kibibytes.unwrap_or(f64::NAN)
}
