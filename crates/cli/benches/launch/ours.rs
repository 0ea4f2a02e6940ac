//! Bakeoff's own loop, in this process: driver, executor, launcher, record, and the journal where there is to be one. It
//! is what `bakeoff compare` does between its first trial and its last.

use crate::common::{PATH, PROGRAM, Spent};
use bakeoff_host::{Command, End, Job, Launcher, Patience};
use bakeoff_lab::local::{Local, Setup};
use bakeoff_lab::{Ending, Error, Event, drive};
use bakeoff_model::metric::METRICS;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Line, Outcome, Record, Session};
use bakeoff_stats::describe::median;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Two variants and the twin: three executions in each block. Nothing is built.
const STUDY: &str = r#"
format = 1
name = "true"
[build_factors.is]
a = { IS = "a" }
b = { IS = "b" }
[[build]]
name = "none"
script = 'exit $IS'
[workloads.w]
run = "/bin/true"
output = "OUTPUT"
[decide]
baseline = { is = "a" }
metrics = ["wall"]
"#;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Journal {
    None,
    /// Each line is written, and left to the kernel.
    Written,
    /// And each block is forced to the disk, as of a study.
    Durable,
}

pub(crate) struct Ours {
    plan: Plan,
    local: Local<'static>,
    journal: Journal,
    path: PathBuf,
}

impl Ours {
    /// `output` is what becomes of what trials print, as a study has it.
    pub(crate) fn new(folder: &Path, journal: Journal, output: &str, probes: bool, executions: u32) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let study = STUDY.replace("OUTPUT", output);
        let mut plan = Plan::of(
            &bakeoff_model::study_file::parse_with(&study, &[], Some(&bakeoff_building::Building)).unwrap(),
            "default",
        )
        .unwrap();
        plan.blocks = (executions / 3).max(1);
        let setup = Setup {
            dir: folder.to_owned(),
            scratch: folder.join("scratch"),
            environment: [("PATH".to_owned(), PATH.to_owned())].into(),
            ..Setup::default()
        };
        assert_eq!(plan.workloads[0].run, PROGRAM);
        if probes {
            // Counters of perf events count only where they are asked for.
            plan.decide.metrics = METRICS.iter().map(|metric| metric.name.to_string()).collect();
        }
        let local = Local::new(&plan, setup, None).unwrap();
        Self { plan, local, journal, path: folder.join("journal.jsonl") }
    }

    pub(crate) fn execute(&mut self) -> Spent {
        let _ = std::fs::remove_file(&self.path);
        let study = self.plan.study_line(&BTreeMap::new(), "", None);
        let clock = Instant::now();
        let opened =
            (self.journal != Journal::None).then(|| bakeoff_journal::Journal::open(&self.path, &study).unwrap());
        let mut journal = opened.map(|(journal, _)| journal);
        let mut record = Record::new(study);
        record.push(Line::Session(Session { session: 1, ..Session::default() }));
        let before = record.clone();
        let is_durable = self.journal == Journal::Durable;
        let mut emit = |event: Event| -> Result<(), Error> {
            let line = match event {
                Event::BlockBegins(block) => Line::Block(block),
                Event::TrialEnded(trial) => Line::Trial(*trial),
                Event::BlockEnded => {
                    journal.iter_mut().filter(|_| is_durable).for_each(|journal| journal.sync().unwrap());
                    return Ok(());
                }
                _ => return Ok(()),
            };
            journal.iter_mut().for_each(|journal| journal.append(&line).unwrap());
            record.push(line);
            Ok(())
        };
        let ending = drive(&self.plan, &before, 1, &mut self.local, &mut emit, &|| false, &|| false).unwrap();
        let elapsed_s = clock.elapsed().as_secs_f64();
        assert_eq!(ending, Ending::Complete);
        assert!(record.trials.iter().all(|trial| trial.outcome == Outcome::Ok), "{:?}", record.trials);
        let walls: Vec<f64> = record.trials.iter().map(|trial| trial.measurements["wall"]).collect();
        assert_eq!(walls.len(), 3 * self.plan.blocks as usize);
        Spent { each_s: elapsed_s / walls.len() as f64, median_s: median(&walls) }
    }
}

/// The launcher by itself: no plan, no probe, nothing but one job after another.
pub(crate) struct Bare {
    launcher: Launcher,
    job: Job,
    executions: u32,
}

impl Bare {
    pub(crate) fn new(folder: &Path, executions: u32) -> Self {
        let command = Command {
            argv: vec![PROGRAM.to_owned()],
            dir: folder.to_owned(),
            env: [("PATH".to_owned(), PATH.to_owned())].into(),
            stdin: None,
            stdout: "/dev/null".into(),
            stderr: "/dev/null".into(),
        };
        let job = Job { commands: vec![command.into()], ..Job::default() };
        Self { launcher: Launcher::start(None).unwrap(), job, executions }
    }

    pub(crate) fn execute(&mut self) -> Spent {
        let mut walls = vec![];
        let clock = Instant::now();
        for _ in 0..self.executions {
            self.launcher.launch(&self.job).unwrap();
            let ended = self.launcher.wait(Patience::SecondInterrupt).unwrap();
            assert_eq!(ended.processes[0].end, End::Exited(0), "{ended:?}");
            walls.push(ended.measurements["wall"]);
        }
        Spent { each_s: clock.elapsed().as_secs_f64() / walls.len() as f64, median_s: median(&walls) }
    }
}
