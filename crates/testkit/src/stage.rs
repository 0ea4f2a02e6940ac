//! What the tests of this host as a place share: a plan of two variants made by hand, in a folder of its own.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use bakeoff_lab::local::{Local, Setup};
use bakeoff_lab::{Execution, Executor as _, Task};
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{Block, Failure, Outcome};
use bakeoff_model::study::{Condition, LoadOf, LoadSpec, Per, Ready, Service, Workload};
use std::path::Path;

pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A plan and where it runs: one workload `w` under one condition `c`, for the variants `a` (the baseline) and `b`.
pub struct Stage {
    pub folder: tempfile::TempDir,
    pub plan: Plan,
    pub setup: Setup,
}

impl Stage {
    pub fn new(run: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let variant = |name: &str| Variant { name: name.to_owned(), ..Variant::default() };
        let plan = Plan {
            variants: vec![variant("a"), variant("b")],
            workloads: vec![Workload { name: "w".to_owned(), run: run.to_owned(), ..Workload::default() }],
            conditions: vec![Condition { name: "c".to_owned(), ..Condition::default() }],
            ..Plan::default()
        };
        let prefix = |name: &str| (name.to_owned(), format!("/prefix/{name}").into());
        let setup = Setup {
            dir: folder.path().to_owned(),
            scratch: folder.path().join("scratch"),
            fresh_home: true,
            environment: [("PATH".to_owned(), PATH.to_owned())].into(),
            prefixes: [prefix("a"), prefix("b")].into(),
            ..Setup::default()
        };
        Self { folder, plan, setup }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn expect(mut self, output: &str) -> Self {
        self.setup.expected.insert("w".to_owned(), output.as_bytes().to_vec());
        self
    }

    pub fn workload(mut self, change: impl FnOnce(&mut Workload)) -> Self {
        change(&mut self.plan.workloads[0]);
        self
    }

    pub fn condition(mut self, change: impl FnOnce(&mut Condition)) -> Self {
        change(&mut self.plan.conditions[0]);
        self
    }

    /// With a service that the workload needs.
    pub fn service(mut self, service: Service) -> Self {
        self.plan.workloads[0].services.push(service.name.clone());
        self.plan.services.push(service);
        self
    }

    pub fn load(self, copies: u32, command: &str) -> Self {
        let of = LoadOf::Command(command.to_owned());
        self.condition(|c| c.load = Some(LoadSpec { copies, of, pace_s: None, cpus: None }))
    }

    pub fn local(&self) -> Local<'static> {
        Local::new(&self.plan, self.setup.clone(), None).unwrap()
    }

    pub fn execute(&self, variant: &str) -> Execution {
        execute_in(&mut self.local(), 1, variant)
    }

    pub fn outcome(&self) -> Outcome {
        self.execute("a").outcome
    }
}

/// Runs one trial of that block.
pub fn execute_in(local: &mut Local<'_>, block: u32, variant: &str) -> Execution {
    let (workload, condition) = ("w".to_owned(), "c".to_owned());
    let block = Block { block, workload, condition, order: vec![variant.to_owned()], ..Block::default() };
    local.execute(Task { block: &block, position: 1, variant, attempt: 0 }).unwrap().unwrap()
}

/// A service that is ready as soon as it is started.
pub fn service(name: &str, run: &str, ready: Ready) -> Service {
    Service {
        name: name.to_owned(),
        run: run.to_owned(),
        ready,
        ready_within_s: 20.0,
        per: Per::Trial,
        stop_signal: 15,
        stop_within_s: 5.0,
        files: vec![],
    }
}

/// What failed beside the trial, and why; and the last lines of its log.
#[track_caller]
pub fn failed_part(outcome: &Outcome) -> (String, String, Vec<String>) {
    match outcome {
        Outcome::Failed(Failure::Surroundings { part, why, tail }) => (part.clone(), why.clone(), tail.clone()),
        other => panic!("nothing beside the trial failed: {other:?}"),
    }
}

/// Command lines of the processes that hold this text in theirs.
pub fn alive(marker: &str) -> Vec<String> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(marker))
        .collect()
}

/// A text that no other process has in its command line: a number of seconds.
pub fn marker() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("9{}.{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst))
}
