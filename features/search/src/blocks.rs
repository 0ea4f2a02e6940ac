//! The blocks of a search, for real. Each is a shard of the study that the search wrote down, so it is run as any block is,
//! by this program, and has a journal of its own: FOLDER/N.jsonl. What was built, and what could not be, is in
//! FOLDER/builds.json. From these files and the seed everything else follows; a command that was killed goes on from them.
//! It decides nothing.

use bakeoff_command::alone::wait_until_free;
use bakeoff_command::shard::{Built, Shard};
use bakeoff_command::state::State;
use bakeoff_command::target::replace;
use bakeoff_command::{Code, CommandError};
use bakeoff_host::interrupt;
use bakeoff_host::lock::Lock;
use bakeoff_journal::read;
use bakeoff_model::metric::{Direction, WALL};
use bakeoff_model::plain::clean;
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::{Outcome, Record, Session, Trial};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often the command looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(20);
/// Looks between two calls of those who show progress.
const LOOKS: u32 = 50;
/// How long a search waits for the trials of a killed one.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3600);

/// Digits of a search's name.
pub(crate) const NAME_DIGITS: usize = 12;
/// The lock of a search, in its folder.
pub(crate) const LOCK: &str = "search.lock";

/// What a block takes besides its trials: it is a command of this program.
const BLOCK_S: f64 = 0.1;

/// Why a search cannot go on now.
pub(crate) enum Stop {
    Interrupted,
    /// The budget is used.
    Budget,
    Failed(CommandError),
}

impl From<CommandError> for Stop {
    fn from(error: CommandError) -> Self {
        Self::Failed(error)
    }
}

/// Creates the folder of a search, and locks it against a second command.
pub(crate) fn lock(folder: &Path) -> Result<Lock, CommandError> {
    interrupt::install()?;
    fs::create_dir_all(folder).map_err(unwritten("create", folder))?;
    let path = folder.join(LOCK);
    State::at(&path).lock().map_err(|error| match error.code {
        Code::Usage => at_work(fs::read_to_string(&path).ok().and_then(|owner| owner.trim().parse().ok())),
        _ => error,
    })
}

/// The error of a second command on a search, whose first one has this process id.
fn at_work(pid: Option<u32>) -> CommandError {
    let [process, stop] =
        pid.map_or_else(Default::default, |pid| [format!(" (process {pid})"), format!(" with `kill -INT {pid}`")]);
    CommandError::usage(format!("another command{process} is at work on this search"))
        .hint(format!("wait for it to end, or stop it{stop}; then run the same command again to resume"))
}

/// Makes the error of a file that cannot be written, created or removed.
pub(crate) fn unwritten(verb: &str, path: &Path) -> impl FnOnce(io::Error) -> CommandError {
    let what = format!("cannot {verb} {}", path.display());
    move |error| CommandError::unwritten(&what, &error)
}

/// Whether a search ended by itself or by its budget. The error of one that was interrupted tells how to resume.
pub(crate) fn ended(searched: Result<(), Stop>) -> Result<(), CommandError> {
    let stopped = "stopped, but nothing is lost; run the same command again to resume\n";
    match searched {
        Ok(()) | Err(Stop::Budget) => Ok(()),
        Err(Stop::Interrupted) => Err(CommandError::text(Code::Interrupted, stopped.to_owned())),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// What was built, and what could not be.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Builds {
    /// By variant; none of one that failed.
    digests: BTreeMap<String, Option<String>>,
    /// Why a build failed, as far as that was said.
    why: BTreeMap<String, String>,
    /// How long all of it took.
    seconds: f64,
}

/// A run of a block: the variant, and 0, or 1, 2, … where it runs again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) variant: String,
    pub(crate) repeat: u32,
}

impl Run {
    /// What a journal calls it.
    fn name(&self) -> String {
        if self.repeat == 0 { self.variant.clone() } else { format!("{} again {}", self.variant, self.repeat) }
    }
}

/// Where blocks are run, and what was built for them.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// The search's own folder.
    folder: PathBuf,
    /// The study, and the options of `run` that every block has.
    study: PathBuf,
    pub(crate) words: Vec<String>,
    /// Whether anything has to be built.
    builds: bool,
    built: Builds,
    /// The part of a block that is run now.
    pub(crate) part: Part,
}

/// A block as a whole, or a part of it with its own journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Part {
    /// What tells its journal from that of the first part.
    pub(crate) name: &'static str,
    /// The cells that are not its: workloads and conditions.
    pub(crate) without: BTreeSet<[String; 2]>,
}

impl Blocks {
    /// The blocks of a search that keeps its files in that folder.
    pub(crate) fn open(folder: &Path, study: &Path, words: Vec<String>, builds: bool) -> Result<Self, CommandError> {
        fs::create_dir_all(folder).map_err(unwritten("create", folder))?;
        let built = match fs::read(folder.join(BUILDS)) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| unreadable(&folder.join(BUILDS), &error))?,
            Err(_) => Builds::default(),
        };
        Ok(Self { folder: folder.to_owned(), study: study.to_owned(), words, builds, built, part: Part::default() })
    }

    /// Blocks of a study that has the same builds, with files in another folder.
    #[cfg(feature = "building")]
    pub(crate) fn of_study(&self, folder: &Path, study: &Path) -> Result<Self, CommandError> {
        let blocks = Self::open(folder, study, self.words.clone(), self.builds)?;
        Ok(Self { built: self.built.clone(), ..blocks })
    }

    /// Whether that variant was built, or failed to; none if nobody tried.
    pub(crate) fn is_built(&self, variant: &str) -> Option<bool> {
        if self.builds { self.built.digests.get(variant).map(Option::is_some) } else { Some(true) }
    }

    /// How many were built.
    pub(crate) fn built(&self) -> usize {
        self.built.digests.values().flatten().count()
    }

    /// Why a build failed.
    pub(crate) fn why(&self, variant: &str) -> &str {
        self.built.why.get(variant).map_or("", String::as_str)
    }

    /// How long all builds took.
    pub(crate) fn building_s(&self) -> f64 {
        self.built.seconds
    }

    /// Builds those that nobody tried to build; false if that was interrupted. What they share is built once. `watch`
    /// gets, now and then, how many seconds all builds took so far.
    pub(crate) fn build(
        &mut self,
        variants: &BTreeSet<String>,
        watch: &mut dyn FnMut(f64),
    ) -> Result<bool, CommandError> {
        let missing: Vec<&String> = variants.iter().filter(|name| self.is_built(name).is_none()).collect();
        if missing.is_empty() {
            return Ok(true);
        }
        let file = self.folder.join("building.json");
        let only = missing.iter().flat_map(|name| ["--only".to_owned(), (*name).clone()]);
        let to = ["--partly".to_owned(), "--build-for".to_owned(), file.display().to_string()];
        let words: Vec<String> = only.chain(to).collect();
        let log = self.folder.join("building.log");
        if !self.wait()? {
            return Ok(false);
        }
        let began = Instant::now();
        let before_s = self.built.seconds;
        let status = self.execute(&words, &log, &mut || watch(before_s + began.elapsed().as_secs_f64()))?;
        if interrupt::count() > 0 {
            return Ok(false);
        }
        if !status.success() {
            return Err(failed(status, &log, "the builds failed"));
        }
        let text = fs::read(&file).map_err(|error| unreadable(&file, &error))?;
        let Built { digests, failed } = serde_json::from_slice(&text).map_err(|error| unreadable(&file, &error))?;
        // The baseline is built along with any of them.
        self.built.digests.extend(missing.into_iter().chain(failed.keys()).map(|name| (name.clone(), None)));
        self.built.digests.extend(digests.into_iter().map(|(name, digest)| (name, Some(digest))));
        self.built.why.extend(failed);
        self.built.seconds += began.elapsed().as_secs_f64();
        self.write(BUILDS, &self.built)?;
        Ok(true)
    }

    /// Whether what a block holds is fixed, because some of it was run.
    pub(crate) fn has_begun(&self, number: u32) -> bool {
        read(&self.folder.join(format!("{number:05}.jsonl"))).is_ok_and(|contents| !contents.record.blocks.is_empty())
    }

    /// The record of a block that is whole; none if it is not there, or was cut off.
    pub(crate) fn record(&self, number: u32, runs: &[Run]) -> Option<Record> {
        let record = read(&self.journal(number)).ok()?.record;
        let is_whole = |block: &bakeoff_model::record::Block| {
            runs.iter().all(|run| final_trial(&record, &block.workload, &block.condition, &run.name()).is_some())
        };
        let cells = record.study.workloads.len() * record.study.conditions.len() - self.part.without.len();
        (record.blocks.len() == cells && record.blocks.iter().all(is_whole)).then_some(record)
    }

    /// Runs what is missing of a block; none if it was interrupted. All of its variants must be built.
    pub(crate) fn run(&self, number: u32, runs: &[Run]) -> Result<Option<Record>, CommandError> {
        if let Some(record) = self.record(number, runs) {
            return Ok(Some(record));
        }
        // What a killed search began may still be at work.
        drop(State::at(&self.journal(number)).lock_within(PATIENCE)?);
        if let Some(record) = self.record(number, runs) {
            return Ok(Some(record));
        }
        if !self.wait()? {
            return Ok(None);
        }
        let again = runs.iter().filter(|run| run.repeat > 0).map(|run| (run.name(), run.variant.clone())).collect();
        let digest = |run: &Run| Some((run.name(), self.built.digests.get(&run.variant)?.clone()?));
        // A study has two variants at least, even if one of them does not run.
        let second = Run { variant: BASELINE.to_owned(), repeat: 0 };
        let known = runs.iter().chain((runs.len() == 1).then_some(&second));
        let shard = Shard {
            node: "here".to_owned(),
            journal: self.journal(number),
            passes: [number].into(),
            done: self.part.without.iter().map(|[workload, c]| (number, workload.clone(), c.clone())).collect(),
            digests: known.filter_map(digest).collect(),
            order: runs.iter().map(Run::name).collect(),
            again,
            ..Shard::default()
        };
        self.write("block.json", &shard)?;
        let file = self.folder.join("block.json").display().to_string();
        let log = self.folder.join("block.log");
        // What is simulated is never the same program.
        let anyway = self.is_real().then(|| "--anyway".to_owned());
        let words: Vec<String> = anyway.into_iter().chain(["--shard".to_owned(), file]).collect();
        let status = self.execute(&words, &log, &mut || {})?;
        match self.record(number, runs) {
            Some(record) => Ok(Some(record)),
            None if interrupt::count() > 0 => Ok(None),
            None => Err(failed(status, &log, "a block could not be run")),
        }
    }

    fn is_real(&self) -> bool {
        self.words.iter().all(|word| word != "--simulate")
    }

    /// Waits until the machine is free, where people see for whom, and at nobody's cost; false if that was interrupted.
    fn wait(&self) -> Result<bool, CommandError> {
        Ok(!self.is_real() || wait_until_free()?)
    }

    /// Forgets what kept a search from its end: the next command tries again.
    pub(crate) fn forget_failed_builds(&mut self) -> Result<(), CommandError> {
        self.keep_builds(|digest| digest.is_some())
    }

    /// Forgets builds; those that are needed are built again.
    pub(crate) fn keep_builds(&mut self, is_kept: impl Fn(&Option<String>) -> bool) -> Result<(), CommandError> {
        let before = self.built.digests.len();
        self.built.digests.retain(|_, digest| is_kept(digest));
        self.built.why.retain(|variant, _| self.built.digests.contains_key(variant));
        if self.built.digests.len() < before { self.write(BUILDS, &self.built) } else { Ok(()) }
    }

    /// Forgets blocks from that number on.
    pub(crate) fn forget_blocks(&self, from: u32) -> Result<(), CommandError> {
        for path in fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let number = name.strip_suffix(".jsonl").and_then(|stem| stem.split('-').next()?.parse::<u32>().ok());
            if number.is_some_and(|number| number >= from) {
                fs::remove_file(&path).map_err(unwritten("remove", &path))?;
            }
        }
        Ok(())
    }

    fn journal(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{number:05}{}.jsonl", self.part.name))
    }

    pub(crate) fn write(&self, name: &str, what: &impl Serialize) -> Result<(), CommandError> {
        let path = self.folder.join(name);
        let bytes = serde_json::to_vec_pretty(what).map_err(|error| CommandError::new(Code::Internal, error))?;
        replace(&path, &bytes).map_err(unwritten("write", &path))
    }

    /// Runs `bakeoff run` on the study, and hands interrupts on.
    fn execute(&self, words: &[String], log: &Path, watch: &mut dyn FnMut()) -> Result<ExitStatus, CommandError> {
        let own = std::env::current_exe().map_err(|error| CommandError::new(Code::Internal, error))?;
        let out = fs::File::create(log).map_err(unwritten("write", log))?;
        let mut command = Command::new(own);
        command.arg("run").arg(&self.study).args(&self.words).args(words).arg("--quiet");
        execute(command.stderr(out.try_clone().map_err(unwritten("write", log))?).stdout(out), watch)
    }
}

/// Runs a command of this program to its end, and hands interrupts on. Calls `watch` about once a second.
pub(crate) fn execute(command: &mut Command, watch: &mut dyn FnMut()) -> Result<ExitStatus, CommandError> {
    // A terminal would interrupt it too, and a second interrupt kills the trial.
    command.process_group(0).stdin(Stdio::null());
    let mut child = command.spawn().map_err(|error| CommandError::new(Code::Internal, error))?;
    let (mut told, mut looks) = (0, 0_u32);
    loop {
        if let Some(status) = child.try_wait().map_err(|error| CommandError::new(Code::Internal, error))? {
            return Ok(status);
        }
        if interrupt::count() > told {
            told = interrupt::count();
            interrupt::send(&child);
        }
        looks += 1;
        if looks.is_multiple_of(LOOKS) {
            watch();
        }
        std::thread::sleep(LOOK);
    }
}

/// The file of what was built.
const BUILDS: &str = "builds.json";

/// The last attempt of a run in a cell.
fn final_trial<'a>(record: &'a Record, workload: &str, condition: &str, name: &str) -> Option<&'a Trial> {
    let is_of_run = |trial: &&Trial| {
        trial.workload == workload && trial.condition == condition && trial.variant == name && trial.is_final()
    };
    record.trials.iter().rev().find(is_of_run)
}

/// The last attempts of a run, one for each workload and condition.
pub(crate) fn trials<'a>(record: &'a Record, run: &Run) -> impl Iterator<Item = &'a Trial> {
    let name = run.name();
    record.blocks.iter().filter_map(move |block| final_trial(record, &block.workload, &block.condition, &name))
}

/// The workload and the condition of a trial.
pub(crate) fn cell(trial: &Trial) -> [String; 2] {
    [trial.workload.clone(), trial.condition.clone()]
}

/// The logarithm of what decides, less being better; none if the trial failed.
pub(crate) fn logarithm(record: &Record, trial: &Trial) -> Option<f64> {
    let metric = record.study.decide.metrics.first().map_or(WALL, String::as_str);
    let ln = trial.value(metric).filter(|value| trial.outcome == Outcome::Ok && *value > 0.0)?.ln();
    let better = record.study.metric(metric).map(|metric| metric.better);
    Some(if better == Some(Direction::More) { -ln } else { ln })
}

/// How long a block took: from the beginning of each session to the end of its last trial. Of simulated trials: what they would
/// have taken.
pub(crate) fn seconds(record: &Record) -> f64 {
    if record.study.simulated.is_some() {
        return record.trials.iter().filter_map(|trial| trial.value(WALL)).sum();
    }
    let of_session = |session: &Session| {
        let own = record.trials.iter().filter(|trial| trial.session == session.session);
        let ended = own.map(Trial::ended_unix_s).fold(session.started_unix_s, f64::max);
        ended - session.started_unix_s + BLOCK_S
    };
    record.sessions.iter().map(of_session).sum()
}

fn unreadable(path: &Path, error: &dyn std::error::Error) -> CommandError {
    CommandError::usage(format!("cannot read {}: {error}", path.display()))
        .hint("remove the folder of the search to begin it again")
}

/// The error of a variant without which there is no search.
pub(crate) fn failure(error: &str, hint: &str) -> CommandError {
    CommandError::text(Code::VariantFailed, format!("error: {}\n", clean(error))).hint(hint)
}

/// What a command said last.
fn failed(status: ExitStatus, log: &Path, what: &str) -> CommandError {
    let said = fs::read_to_string(log).unwrap_or_default();
    CommandError::text(Code::of(status), format!("error: {what}\n{said}"))
}
