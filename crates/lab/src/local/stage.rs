//! What stays the same over all trials of a plan: the plan, folders, and grants. Makes environments and commands.

use super::command::By;
use super::conditions::Granted;
use crate::on_demand::Layouts;
use crate::{Error, Task};
use bakeoff_host::disk::wipe;
use bakeoff_host::{Command, Enclosure, Launcher, Options};
use bakeoff_model::metric::RUN_DELAY;
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::is_baseline_again;
use bakeoff_model::study::{Condition, Workload};
use bakeoff_model::suite::Harnesses;
use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// With less than this, a disk is full: what most file systems hand out at the least.
const LEAST_FREE_BYTES: u64 = 4096;

/// Where a plan's trials run, and what they are given.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The folder in which trials run: the study's own.
    pub dir: PathBuf,
    /// Where they run instead, if this is set: in this folder of what was built for their variant.
    pub below_prefix: Option<PathBuf>,
    /// A folder of ours for output and for the trials' scratch folders; created where missing.
    pub scratch: PathBuf,
    /// Whether every process gets an empty folder as `HOME` and `TMPDIR`.
    pub fresh_home: bool,
    /// The environment of every trial, before what variants and conditions add.
    pub environment: BTreeMap<String, String>,
    /// The prefix of each variant that has a build, handed to it as `PREFIX`.
    pub prefixes: BTreeMap<String, PathBuf>,
    /// What each workload must print on standard output, if that is checked.
    pub expected: BTreeMap<String, Vec<u8>>,
    /// The only variant that has trials here, where a place is for one: no other is set up.
    pub only: Option<String>,
    /// Who reads what the harnesses of workloads leave.
    pub harnesses: Option<&'static dyn Harnesses>,
}

/// How much work a workload does, where it can be asked for more or less.
pub(super) const LENGTH: &str = "LENGTH";

impl Setup {
    /// The folder in which trials run for which this was built.
    pub fn dir_of(&self, prefix: Option<&Path>) -> PathBuf {
        match prefix.zip(self.below_prefix.as_ref()) {
            Some((prefix, below)) => prefix.join(below),
            None => self.dir.clone(),
        }
    }

    /// The environment of whatever belongs to a trial: what all have, the condition's, the variant's, which win over
    /// the condition's because they are what is compared, then the prefix, the ports and the folder.
    pub(super) fn environment_of(
        &self,
        cell: Cell<'_>,
        ports: &Ports,
        home: Option<&Path>,
    ) -> BTreeMap<String, String> {
        let mut env = self.environment.clone();
        env.extend(cell.workload.lengths.last().map(|length| (LENGTH.to_owned(), length.clone())));
        env.extend(cell.condition.environment.clone());
        let of_all = cell.variant.run_variables.iter().filter(|(name, _)| !name.contains('.'));
        env.extend(of_all.map(|(name, value)| (name.clone(), value.clone())));
        if let Some(prefix) = cell.prefix {
            env.insert("PREFIX".to_owned(), prefix.to_string_lossy().into_owned());
        }
        env.extend(ports.iter().map(|(service, port)| (port_variable(service), port.to_string())));
        for name in ["HOME", "TMPDIR"] {
            if let Some(home) = home {
                env.insert(name.to_owned(), home.to_string_lossy().into_owned());
            }
        }
        env
    }
}

/// Ports of services, by the services' names.
pub(super) type Ports = BTreeMap<String, u16>;

/// What a trial is of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) variant: &'a Variant,
    pub(super) workload: &'a Workload,
    pub(super) condition: &'a Condition,
    /// What it runs, if anything was built for it.
    pub(super) prefix: Option<&'a Path>,
    /// Bytes that the environment is padded with.
    pub(super) padding: u32,
}

pub(super) fn processes(cell: Cell<'_>) -> u32 {
    cell.condition.processes.max(1)
}

/// The file or folder of a process; the first one's has no number.
pub(super) fn numbered(name: &str, number: u32) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}-{number}") }
}

#[derive(Debug)]
pub(super) struct Stage {
    pub(super) plan: Plan,
    pub(super) setup: Setup,
    /// What every launcher keeps open.
    keep: Option<OwnedFd>,
    /// What everything is started in.
    enclosure: Enclosure,
    /// What runs the commands of trials.
    by: By,
    /// The prefixes of the present pass, where everything is relinked for each.
    pub(super) layouts: Layouts,
    /// What this host grants of each condition, in the plan's order.
    pub(super) granted: Vec<Granted>,
    pub(super) cpus: u32,
}

impl Stage {
    /// Prepares the folder; the launcher for trials comes with it.
    pub(super) fn new(plan: &Plan, setup: Setup, keep: Option<BorrowedFd<'_>>) -> Result<(Self, Launcher), Error> {
        std::fs::create_dir_all(&setup.scratch).map_err(|source| folder_error(&setup.scratch, source))?;
        let keep = keep.map(|fd| fd.try_clone_to_owned()).transpose();
        let keep = keep.map_err(|source| folder_error(&setup.scratch, source))?;
        let enclosure = Enclosure::open(keep.as_ref().map(|fd| fd.as_fd()));
        let launcher = watched_launcher(plan, keep.as_ref(), &enclosure)?;
        let granted = plan.conditions.iter().map(|condition| Granted::of(condition, &launcher)).collect();
        let by = By::of(plan);
        let cpus = bakeoff_host::place::fingerprint().cpus;
        let layouts = Layouts::new();
        Ok((Self { plan: plan.clone(), setup, keep, enclosure, by, layouts, granted, cpus }, launcher))
    }

    /// A launcher for trials, in the place of one that was killed.
    pub(super) fn another_launcher(&mut self) -> Result<Launcher, bakeoff_host::Error> {
        let keep = self.keep.as_ref();
        watched_launcher(&self.plan, keep, &self.enclosure).or_else(|_| {
            // What keeps the enclosure may have been killed too.
            self.enclosure = Enclosure::open(keep.map(|fd| fd.as_fd()));
            watched_launcher(&self.plan, keep, &self.enclosure)
        })
    }

    /// What keeps the processes of a trial together.
    pub(super) fn enclosure(&self) -> &'static str {
        if self.enclosure.why_no_namespace().is_none() { "PID namespace" } else { "environment variable" }
    }

    /// Another launcher, whose jobs no probe watches.
    pub(super) fn launcher(&self) -> Result<Launcher, bakeoff_host::Error> {
        let keep = self.keep.as_ref().map(|fd| fd.as_fd());
        Launcher::start_with(&Options { keep, watched: None, within: Some(&self.enclosure) })
    }

    /// The cell of a task. The twin is what the baseline is.
    pub(super) fn cell(&self, task: Task<'_>) -> Result<Cell<'_>, Error> {
        let name = if is_baseline_again(task.variant) { &self.plan.baseline().name } else { task.variant };
        let unplanned = |what: &str, name: &str| Error::Unplanned { what: format!("{what} `{name}`") };
        let variant = self.plan.variants.iter().find(|variant| variant.name == *name);
        let workload = self.plan.workloads.iter().find(|workload| workload.name == task.block.workload);
        let condition = self.plan.conditions.iter().find(|condition| condition.name == task.block.condition);
        let prefix = match task.block.layout {
            None => self.prefix_of(name),
            Some(_) => self.layouts.get(task.variant).and_then(|made| Some(made.as_ref().ok()?.prefix.as_path())),
        };
        Ok(Cell {
            prefix,
            variant: variant.ok_or_else(|| unplanned("variant", name))?,
            workload: workload.ok_or_else(|| unplanned("workload", &task.block.workload))?,
            condition: condition.ok_or_else(|| unplanned("condition", &task.block.condition))?,
            padding: task.block.padding,
        })
    }

    /// The variants that have trials here.
    pub(super) fn variants(&self) -> impl Iterator<Item = &Variant> {
        let only = self.setup.only.as_ref();
        self.plan.variants.iter().filter(move |variant| only.is_none_or(|only| *only == variant.name))
    }

    /// What was built for a variant before the first trial.
    pub(super) fn prefix_of(&self, variant: &str) -> Option<&Path> {
        self.setup.prefixes.get(variant).map(PathBuf::as_path)
    }

    pub(super) fn granted(&self, condition: &Condition) -> Option<&Granted> {
        self.granted.iter().find(|granted| granted.condition == condition.name)
    }

    pub(super) fn argv(&self, variant: &Variant, workload: &Workload) -> Vec<String> {
        self.by.argv(variant.run.as_deref().unwrap_or(&workload.run))
    }

    /// An empty folder of that name, if processes get folders of their own. What a killed trial left in it is gone.
    pub(super) fn fresh_home(&self, name: &str) -> Result<Option<PathBuf>, Error> {
        let Some(home) = self.home(name) else { return Ok(None) };
        let emptied = wipe(&home).and_then(|()| std::fs::create_dir_all(&home));
        emptied.map_err(|source| folder_error(&home, source))?;
        Ok(Some(home))
    }

    /// Where such a folder is, if there are any.
    pub(super) fn home(&self, name: &str) -> Option<PathBuf> {
        self.setup.fresh_home.then(|| self.setup.scratch.join(name))
    }

    pub(super) fn wipe_home(&self, name: &str) -> Result<(), Error> {
        let Some(home) = self.home(name) else { return Ok(()) };
        wipe(&home).map_err(|source| folder_error(&home, source))
    }

    /// A command that is no trial, with all that it prints in one log.
    pub(super) fn helper(&self, argv: Vec<String>, env: BTreeMap<String, String>, log: &Path) -> Command {
        Command { argv, dir: self.setup.dir.clone(), env, stdin: None, stdout: log.to_owned(), stderr: log.to_owned() }
    }

    /// A trial that fails because its output finds no space says nothing about the program: it is not one of its trials.
    pub(super) fn disk_is_not_full(&self) -> Result<(), Error> {
        match bakeoff_host::disk::free_bytes(&self.setup.scratch) {
            Ok(free) if free < LEAST_FREE_BYTES => {
                Err(folder_error(&self.setup.scratch, std::io::ErrorKind::StorageFull.into()))
            }
            _ => Ok(()),
        }
    }
}

/// A launcher whose jobs the probes watch that a plan asks for.
fn watched_launcher(
    plan: &Plan,
    keep: Option<&OwnedFd>,
    enclosure: &Enclosure,
) -> Result<Launcher, bakeoff_host::Error> {
    let wanted = plan.decide.metrics.iter().chain(plan.void_if.iter().map(|rule| &rule.metric));
    // How much of its time a count can see is known only if waiting for a processor is.
    let of_counted = plan.counted.iter().map(|_| RUN_DELAY);
    let watched: Vec<&str> = wanted.map(String::as_str).chain(of_counted).collect();
    Launcher::start_with(&Options { keep: keep.map(|fd| fd.as_fd()), watched: Some(&watched), within: Some(enclosure) })
}

/// The variable that holds a service's port: `PORT_` and its name. A name may have characters that no variable has.
fn port_variable(service: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("PORT_{}", service.chars().map(fit).collect::<String>())
}

pub(super) fn folder_error(path: &Path, source: std::io::Error) -> Error {
    Error::Folder { path: path.to_owned(), source }
}
