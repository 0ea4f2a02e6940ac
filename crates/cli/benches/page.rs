//! How fast the page of many trials is: `cargo bench -p bakeoff --bench page`.
//!
//! A journal of 24 variants and a twin × 2 conditions × 2,000 passes, 100,000 trials. It times `bakeoff report` without and with
//! `--html`, one after the other in turns, and prints medians, the quickest and the slowest; the difference is the page's own. Then
//! headless Chromium opens the page, and says itself how long the first paint and the slowest filter took; without it this part is
//! skipped. Nothing is asserted: a busy machine is not a failure.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench, for people to read")]

use bakeoff_journal::Journal;
use bakeoff_model::record::{Block, FORMAT, Line, Session, StudyLine, TWIN, Trial, VariantLine};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::Decide;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const VARIANTS: usize = 24;
const PASSES: u32 = 2000;
const CONDITIONS: [&str; 2] = ["idle", "busy"];
const METRICS: [&str; 2] = ["wall", "maxrss"];
const REPEATS: usize = 9;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("large.jsonl");
    let trials = write(&journal);
    let page = folder.path().join("large.html");
    let mut times = [vec![], vec![]];
    for _ in 0..REPEATS {
        times[0].push(seconds(&journal, &[]));
        times[1].push(seconds(&journal, &["--html", page.to_str().unwrap()]));
    }
    let own = times[1].iter().zip(&times[0]).map(|(with, without)| with - without).collect();
    let [without, with] = times;
    let bytes = std::fs::metadata(&page).unwrap().len();
    println!("{trials} trials; the page has {:.2} MB", bytes as f64 / 1e6);
    for (what, seconds) in [("bakeoff report", without), ("bakeoff report --html", with), ("the page alone", own)] {
        println!("{what}: {}", spread(seconds));
    }
    browser(folder.path());
}

/// The median, the quickest and the slowest.
fn spread(mut seconds: Vec<f64>) -> String {
    seconds.sort_by(f64::total_cmp);
    let (median, last) = (seconds[seconds.len() / 2], seconds[seconds.len() - 1]);
    format!("{median:.2} s ({:.2} … {last:.2} s, n = {})", seconds[0], seconds.len())
}

fn seconds(journal: &Path, more: &[&str]) -> f64 {
    let began = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
    command.arg("report").arg(journal).args(more).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
    began.elapsed().as_secs_f64()
}

/// Writes the journal, and says how many trials it has.
fn write(path: &Path) -> u32 {
    let names: Vec<String> =
        (0..VARIANTS).map(|n| if n == 0 { "baseline".to_owned() } else { format!("opt=O{n}") }).collect();
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let study = StudyLine {
        format: FORMAT,
        study: "large".to_owned(),
        plan: "default".to_owned(),
        identity: "large".to_owned(),
        variants: names.iter().map(|name| VariantLine { name: name.clone(), ..VariantLine::default() }).collect(),
        workloads: owned(&["loop"]),
        conditions: owned(&CONDITIONS),
        decide: Decide { metrics: owned(&METRICS), margin: 0.01, confidence: 0.95, ..Decide::default() },
        ..StudyLine::default()
    };
    let (mut journal, _) = Journal::open(path, &study).unwrap();
    let session = Session { session: 1, started_unix_s: 1e9, blocks: PASSES, ..Session::default() };
    journal.append(&Line::Session(session)).unwrap();
    let mut noise = Stream::of(178, &["page"]);
    let order: Vec<String> = names.into_iter().chain([TWIN.to_owned()]).collect();
    let mut trials = 0;
    for block in 1..=PASSES {
        for condition in CONDITIONS {
            let (workload, condition) = ("loop".to_owned(), condition.to_owned());
            let line = Block { block, workload, condition, order: order.clone(), ..Block::default() };
            journal.append(&Line::Block(line.clone())).unwrap();
            for (place, variant) in order.iter().enumerate() {
                let factor = if variant == TWIN { 1.0 } else { 1.0 + 0.003 * place as f64 };
                let wall = 0.086 * factor * (1.0 + 0.02 * (noise.next_u64() as f64 / u64::MAX as f64 - 0.5));
                let trial = Trial {
                    block,
                    workload: line.workload.clone(),
                    condition: line.condition.clone(),
                    position: place as u32 + 1,
                    variant: variant.clone(),
                    session: 1,
                    started_unix_s: 1e9 + f64::from(block),
                    measurements: [("wall".to_owned(), wall), ("maxrss".to_owned(), 1e7 * factor)].into(),
                    ..Trial::default()
                };
                journal.append(&Line::Trial(trial)).unwrap();
                trials += 1;
            }
        }
    }
    trials
}

fn browser(folder: &Path) {
    let can = |python: &&str| {
        Command::new(python).args(["-c", "import selenium"]).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(can) else {
        println!("browser: skipped, there is no python3-selenium");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../features/page/tests/browser.py");
    let output = Command::new(python).arg(script).arg(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("browser, in milliseconds: {}", said.trim().lines().last().unwrap_or("it did not start"));
}
