//! A study, as it was written down: factors and their levels, workloads, conditions, plans and how to decide.
//! [`crate::study_file`] makes it of a `study.toml` without problems; it is not yet a plan.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use crate::kept::Kept;
use crate::metric::{Direction, Unit};
use crate::record::FactorLine;
use crate::until::Until;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fmt::Debug;
use std::sync::Arc;

mod mentioned;
mod words;

/// The folder of journals, in the folder of a study. It is no part of a source that a study takes from its own project.
pub const STATE_FOLDER: &str = ".bakeoff";
pub(crate) use mentioned::mentioned;
pub use mentioned::mentions;
pub use words::Part;

/// One question written down.
#[derive(Debug, Clone)]
pub struct Study {
    /// Short name; used in file names and headings.
    pub name: String,
    /// The question in the author's words.
    pub question: Option<String>,
    pub build_factors: Vec<Factor>,
    pub run_factors: Vec<Factor>,
    /// Combinations of levels that are left out, each with its reason.
    pub excludes: Vec<Exclude>,
    /// What is built, and how; none if nothing is.
    pub recipe: Option<Arc<dyn Recipe>>,
    pub workloads: Vec<Workload>,
    /// Processes that workloads need.
    pub services: Vec<Service>,
    pub conditions: Vec<Condition>,
    /// The default plan first, then the named ones in the order of the file.
    pub plans: Vec<PlanSpec>,
    pub decide: Decide,
    /// What features have read, by the name of the section.
    pub sections: BTreeMap<String, serde_json::Value>,
    /// The names of those sections that make trials comparable.
    pub sections_of_trials: BTreeSet<String>,
}

/// What is built for the variants of a study, as far as a plan must know it: only its reader looks into it.
pub trait Recipe: Any + Debug + Send + Sync {
    /// The names of its steps, in their order.
    fn steps(&self) -> Vec<String>;

    /// What the build factors say that they change: what builds are compared with.
    fn factors(&self, factors: &[Factor]) -> Vec<FactorLine>;

    /// What a variant is built by that has these levels of the build factors, in the order of the factors.
    fn spec(&self, levels: &[&Level]) -> Kept;
}

impl Study {
    /// Whether anything is built.
    pub fn builds(&self) -> bool {
        self.recipe.as_ref().is_some_and(|recipe| !recipe.steps().is_empty())
    }
}

/// Something varied on purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    pub name: String,
    /// Its settings, in the order of the file.
    pub levels: Vec<Level>,
}

/// One setting of a factor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Level {
    pub name: String,
    /// Environment variables: the UPPER-CASE keys. A build factor's are for the scripts, a run factor's for trials.
    pub variables: BTreeMap<String, String>,
    /// A file of the finished build, relative to its prefix, that is booted to run the trials in it: the key `kernel`.
    pub kernel: Option<String>,
    /// What else it says about what is built: its instructions, as the crate that builds has read them.
    pub spec: Kept,
}

/// Levels by factor: a point, or a corner, of the space of variants.
pub type Levels = BTreeMap<String, String>;

/// A combination that is not built and not run.
#[derive(Debug, Clone, PartialEq)]
pub struct Exclude {
    /// Every variant is left out that has, of each of these factors, one of the levels that are listed.
    pub when: BTreeMap<String, Vec<String>>,
    /// Why; printed with the plan.
    pub reason: String,
}

/// One repeatable way to exercise the program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Workload {
    pub name: String,
    /// The command; see `docs/reference/study-file.md` for its folder and environment.
    pub run: String,
    /// A file of the study's folder: the standard output that every trial must print.
    pub expect: Option<String>,
    /// Files of the study's folder that the command needs, beside those that it names: a trial on changed ones is not
    /// comparable with one on the old.
    pub files: Vec<String>,
    /// About how long a trial takes, in seconds, as the author saw it; for estimates before anything was timed here.
    pub takes_s: Option<f64>,
    /// The phases that it marks, in their order; a trial that lacks one of them failed.
    pub phases: Vec<String>,
    pub ops: Option<OpSpec>,
    /// Numbers that it reports, by marks or in its output.
    pub values: Vec<ValueSpec>,
    /// Names of the services that it needs, in the order in which they are started.
    pub services: Vec<String>,
    /// Whether processes that run at once divide the work: what they print and mark is expected of all together.
    pub divided: bool,
    /// A command that is run after it, while the services are still there: the trial failed unless it exits 0.
    pub oracle: Option<String>,
    /// A trial that takes longer is killed and failed, in seconds.
    pub timeout_s: Option<f64>,
    pub output: OutputUse,
    /// The harness that times the benchmarks of which its trials consist, if they do.
    pub harness: Option<String>,
    /// A file of the study's folder: its standard input, which is empty without.
    pub input: Option<String>,
    /// The exit codes of a trial that has not failed.
    pub exit_codes: ExitCodes,
    /// Unmeasured trials of each variant before the first block of a session.
    pub warmup: u32,
    /// How much work it can be asked for, by `$LENGTH`, from little to much; trials do as much as the last one says.
    pub lengths: Vec<String>,
    pub around: Around,
}

/// Commands around trials, which nobody measures. Where a variant has one of its own, it stands in place of the workload's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Around {
    /// Before the first block of a session, once for each variant.
    pub setup: Option<String>,
    pub prepare: Option<String>,
    pub conclude: Option<String>,
    /// After the last block of a session, once for each variant.
    pub cleanup: Option<String>,
}

impl Around {
    /// Each of them, by its name in a study file.
    pub fn named(&self) -> [(&'static str, Option<&str>); 4] {
        let Self { setup, prepare, conclude, cleanup } = self;
        let commands = [("setup", setup), ("prepare", prepare), ("conclude", conclude), ("cleanup", cleanup)];
        commands.map(|(name, command)| (name, command.as_deref()))
    }
}

/// Exit codes that are no failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitCodes {
    /// Only these; usually only 0.
    Only(Vec<u8>),
    /// All of them.
    Any,
}

impl Default for ExitCodes {
    fn default() -> Self {
        Self::Only(vec![0])
    }
}

impl ExitCodes {
    /// Whether a process that exits with this code has not failed.
    pub fn has(&self, code: i32) -> bool {
        match self {
            Self::Only(codes) => codes.iter().any(|known| i32::from(*known) == code),
            Self::Any => true,
        }
    }
}

/// What becomes of what a workload prints on its standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputUse {
    /// It is recorded. A variant that prints something other than the baseline is another program, and is not judged.
    #[default]
    Compared,
    /// It is recorded. A variant that prints something other than the baseline is judged all the same, and the report says so.
    Noted,
    /// It is recorded. It may differ.
    Varies,
    /// It is thrown away, unseen.
    Null,
}

/// The ops of a workload.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpSpec {
    /// What one is, in the singular: `message`, `set`.
    pub unit: String,
    /// How many there must be in a trial, of all names together; of each process, where
    /// several run at once and do not divide the work.
    pub count: Option<u64>,
    /// Their names, where there are several kinds; empty if ops have no name.
    pub names: Vec<String>,
}

/// A number that a workload reports.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSpec {
    pub name: String,
    /// Where the workload reports it.
    pub from: ValueSource,
    pub unit: Unit,
    /// What a printed number is multiplied with to be in the base unit: 0.001 for milliseconds.
    pub scale: f64,
    pub better: Direction,
    /// It cannot vary by chance; never so for a time.
    pub exact: bool,
}

/// Where a workload reports a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    /// A mark: `value NAME NUMBER [UNIT]`.
    Mark,
    /// The first group (or else all) of this regular expression's last match in the standard output.
    Regex(String),
    /// This field of the standard output, which is one JSON value: names and array indices with dots between.
    Json(String),
    /// This column of the standard output, which is CSV with a heading line: by name, or by number from 1.
    Csv { column: String, take: Take },
}

/// What is taken of the rows of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Take {
    #[default]
    Last,
    Sum,
    Mean,
    Max,
}

/// A process that workloads need: started fresh, ready when its check passes, its own resources measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Service {
    /// Its name in the study file; its port is in `$PORT_name`.
    pub name: String,
    /// The command; it stays in the foreground.
    pub run: String,
    pub ready: Ready,
    /// How long it may take until it is, in seconds.
    pub ready_within_s: f64,
    /// How often it is started.
    pub per: Per,
    pub stop_signal: i32,
    /// How long it may take to end before it is killed, in seconds.
    pub stop_within_s: f64,
    /// Files of the study's folder that it needs.
    pub files: Vec<String>,
}

/// When a service is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// As soon as it is started.
    Started,
    /// When this port of the loopback address accepts a connection; as in the file, with `$PORT_name`.
    Tcp(String),
    /// When this shell command exits 0.
    Command(String),
    /// When its output has a line that holds this text.
    Log(String),
}

/// How often something is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Per {
    /// For every trial.
    #[default]
    Trial,
    /// Once for all trials of a block.
    Block,
}

/// The surroundings of a trial. A part that is not named stays as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Condition {
    pub name: String,
    pub load: Option<LoadSpec>,
    /// How many processes of the workload run at once; 0 and 1 are the same.
    pub processes: u32,
    /// The processors that a trial may use.
    pub cpus: Option<Vec<u32>>,
    /// The real-time priority (SCHED_FIFO, 1 to 99).
    pub realtime: Option<u32>,
    /// Whether addresses are randomised.
    pub aslr: Option<bool>,
    /// Added to the environment of trial, load and services: `LC_ALL` for `locale`.
    pub environment: BTreeMap<String, String>,
    /// Whether the caches of the file system are dropped before every trial.
    pub drop_caches: bool,
    /// The most memory that a trial may use, in bytes.
    pub memory_bytes: Option<u64>,
    /// The most processors that a trial may use at once, such as 0.5.
    pub cpu_limit: Option<f64>,
    /// Whether programs are run as they were built, although others of the plan are linked again for each pass.
    pub as_built: bool,
}

/// What runs beside a trial, for as long as it lasts.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSpec {
    pub copies: u32,
    pub of: LoadOf,
    /// Seconds from one start of a copy to its next one; none if it is started again as soon as it ends (closed loop).
    pub pace_s: Option<f64>,
    /// The processors that the load may use.
    pub cpus: Option<Vec<u32>>,
}

/// What the copies are of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadOf {
    /// The workload as the baseline runs it: the same load for every variant.
    Baseline,
    /// The workload as the variant in question runs it: a test of throughput.
    Itself,
    /// A command of its own.
    Command(String),
}

/// A rule, fixed beforehand, by which a trial does not count: it is repeated within its block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VoidRule {
    pub metric: String,
    /// It does not count if the metric is above this, in the metric's base unit.
    pub above: f64,
}

/// A nuisance that is drawn afresh for every block, so that a claim is not about one accident of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vary {
    /// The size of the environment, which shifts the stack (Mytkowicz et al. 2009).
    EnvSize,
    /// The order in which object files are linked, which moves code and data.
    LinkOrder,
    /// Where the objects of a program lie: it is linked again with random pads between them, the same for all variants.
    Layouts,
}

/// How many blocks, of which variants, in which order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanSpec {
    /// `default` for `[plan]`; otherwise the name of `[plans.NAME]`.
    pub name: String,
    /// Number of blocks for every workload × condition; the most of them, if there is a rule for stopping earlier.
    pub blocks: u32,
    /// When there are blocks enough.
    pub until: Until,
    /// The seed from which every order is drawn.
    pub seed: u64,
    /// Which of the possible variants take part.
    pub variants: VariantRule,
    /// Nuisances that are drawn afresh for every block.
    pub vary: Vec<Vary>,
    /// Whether programs that are built are linked again for each pass; none: wherever that is possible.
    pub layouts: Option<Layouts>,
    /// How many blocks of building are measured, like a workload; 0: none.
    pub rebuild: u32,
    /// When a trial does not count.
    pub void_if: Vec<VoidRule>,
    /// Names of the workloads that take part; none: all of them.
    pub workloads: Option<Vec<String>>,
    /// Names of the conditions that take part; none: all of them.
    pub conditions: Option<Vec<String>>,
}

/// In how many layouts a program that was built is measured.
///
/// Few are for programs whose links are dear. Passes of one layout say little more than one of them about layouts, so the
/// layout is then what is counted, in the place of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layouts {
    /// The one that the build happened to give it.
    One,
    /// A fresh one for each pass.
    Fresh,
    /// That many, each in the same number of passes.
    Few(u32),
    /// A fresh one for each pass, and the one that the build gave it beside that.
    Both,
}

impl fmt::Display for Layouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("one"),
            Self::Fresh => f.write_str("fresh"),
            Self::Both => f.write_str("both"),
            Self::Few(few) => write!(f, "{few}"),
        }
    }
}

impl Layouts {
    /// Fewer than these say nothing about others.
    pub const FEWEST: u32 = 3;

    /// Reads `one`, `fresh`, `both` or a number.
    ///
    /// # Errors
    /// What it may be.
    pub fn parse(word: &str) -> Result<Self, String> {
        match word {
            "one" => Ok(Self::One),
            "fresh" => Ok(Self::Fresh),
            "both" => Ok(Self::Both),
            number => match number.parse() {
                Ok(few) if few >= Self::FEWEST => Ok(Self::Few(few)),
                Ok(_) => Err(format!("use at least {} layouts, or `one`", Self::FEWEST)),
                Err(_) => Err("use `fresh`, `one`, `both` or a number of layouts".to_owned()),
            },
        }
    }
}

/// Which variants a plan takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum VariantRule {
    /// Every combination of levels.
    #[default]
    All,
    /// The baseline, and every other level of every factor alone.
    OneAtATime,
    /// The baseline and these; levels that are not named are the baseline's.
    Listed(Vec<Levels>),
}

/// How the measurements are judged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Decide {
    /// The levels of the baseline: one for every factor.
    pub baseline: Levels,
    /// Names of metrics ([`crate::metric`]); the first one is the one that the answer is about.
    pub metrics: Vec<String>,
    /// Half-width of the zone of equivalence, as a fraction: 0.01 is 1 %.
    pub margin: f64,
    /// Confidence of intervals and verdicts, between 0 and 1.
    pub confidence: f64,
    /// Negative controls: metrics in which no variant should differ. One that does raises a doubt about all the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<String>,
    /// Factors whose levels rise step by step: of each, what a step does is judged as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trends: Vec<String>,
}
