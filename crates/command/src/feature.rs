//! The points at which a slice may register. The core asks every feature at each of them and knows none by name; a
//! point that no feature needs is not here. A command of the core is the same [`Subcommand`] as one of a feature.

use crate::error::{Code, CommandError};
use bakeoff_host::doctor::Check;
use bakeoff_judge::findings::Findings;
use bakeoff_lab::local::{Setup, Watch};
use bakeoff_lab::on_demand::OnDemand;
use bakeoff_lab::{Ending, Executor};
use bakeoff_model::metric::Clock;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{FeatureLine, Record};
use bakeoff_model::study::Study;
use bakeoff_model::study_file::Extension;
use bakeoff_report::SectionPage;
use clap::ArgMatches;
use serde_json::Value;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

/// A slice: what one capability needs from all floors, in one folder. Each point is empty by default.
pub trait Feature: Sync {
    /// The commands that it adds.
    fn commands(&self) -> Vec<Subcommand> {
        vec![]
    }

    /// The forms that it adds to commands of others.
    fn forms(&self) -> Vec<Form> {
        vec![]
    }

    /// Its section of the study file. What it holds makes no trials incomparable.
    fn section(&self) -> Option<&'static dyn Extension> {
        None
    }

    /// The kind of its lines in a journal.
    fn line(&self) -> Option<&'static str> {
        None
    }

    /// The trials of a study are over: gathers what needs no other ones.
    fn gather(&self, _study: &mut dyn Finished) -> Result<(), CommandError> {
        Ok(())
    }

    /// Whether it still needs trials of its own, which come after the measured ones.
    fn has_trials(&self, _study: &dyn Finished) -> bool {
        false
    }

    /// Executes them.
    fn gather_by_trials(
        &self,
        _study: &mut dyn Finished,
        _executor: &mut dyn Executor,
    ) -> Result<Ending, CommandError> {
        Ok(Ending::Complete)
    }

    /// The place of a plan's trials, if it is one that this feature reaches; found before anything is built.
    ///
    /// # Errors
    /// If the place cannot be reached here.
    fn place(&self, _study: &Study, _plan: &Plan) -> Result<Option<Box<dyn Elsewhere>>, CommandError> {
        Ok(None)
    }

    /// What it has to say of this machine.
    fn checks(&self) -> Vec<Check> {
        vec![]
    }

    /// Whether levels of one factor are to be compared with each other for it, however many there are.
    fn needs_levels(&self, _record: &Record) -> bool {
        false
    }

    /// Adds its section to what was found of a record. It changes nothing else of it.
    fn find(&self, _record: &Record, _findings: &mut Findings) {}

    /// How its section is drawn.
    fn page(&self) -> Option<SectionPage> {
        None
    }
}

/// Another form of a command: more options, and what is done instead where one of them asks for it.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The command's name.
    pub of: &'static str,
    /// Adds the options.
    pub options: fn(clap::Command) -> clap::Command,
    /// Does what they ask for; none if they ask for nothing.
    pub execute: fn(&ArgMatches) -> Option<Result<Code, CommandError>>,
}

/// What it does with its arguments.
type Execute = Box<dyn Fn(&ArgMatches, Features) -> Result<Code, CommandError>>;

/// A command of `bakeoff`.
pub struct Subcommand {
    /// Its name and options.
    pub clap: clap::Command,
    /// The command that it stands behind, in the help and in the manual; the last of them, if none.
    pub after: Option<&'static str>,
    execute: Execute,
}

impl Subcommand {
    /// A command of that name, whose options are `A`.
    pub fn new<A>(name: &'static str, execute: fn(&A) -> Result<Code, CommandError>) -> Self
    where
        A: clap::Args + 'static,
    {
        Self::of(name, move |args: &A, _| execute(args))
    }

    /// The same, of one that asks the features for something.
    pub fn with_features<A>(name: &'static str, execute: fn(&A, Features) -> Result<Code, CommandError>) -> Self
    where
        A: clap::Args + 'static,
    {
        Self::of(name, execute)
    }

    fn of<A>(name: &'static str, execute: impl Fn(&A, Features) -> Result<Code, CommandError> + 'static) -> Self
    where
        A: clap::Args + 'static,
    {
        let parsed = move |matches: &ArgMatches, features: Features| {
            let args =
                A::from_arg_matches(matches).map_err(|error| CommandError::text(Code::Usage, error.to_string()))?;
            execute(&args, features)
        };
        Self { clap: A::augment_args(clap::Command::new(name)), after: None, execute: Box::new(parsed) }
    }

    /// The same, behind that command.
    #[must_use]
    pub fn after(self, command: &'static str) -> Self {
        Self { after: Some(command), ..self }
    }

    /// The same, in no help: it is not for people.
    #[must_use]
    pub fn hidden(self) -> Self {
        Self { clap: self.clap.hide(true), ..self }
    }

    /// Does what the arguments ask for.
    ///
    /// # Errors
    /// Whatever ends the command.
    pub fn execute(&self, matches: &ArgMatches, features: Features) -> Result<Code, CommandError> {
        (self.execute)(matches, features)
    }
}

/// A place that is not this host.
pub trait Elsewhere {
    /// What seconds are there; found out when everything is built, before the journal is chosen.
    ///
    /// # Errors
    /// If the place turns out to be out of reach.
    fn clock(&mut self, plan: &Plan, setup: &Setup) -> Result<Clock, CommandError>;

    /// The programs of this host that reach it: trials depend on them.
    fn programs(&self) -> Vec<PathBuf>;

    /// Makes it ready for trials.
    ///
    /// # Errors
    /// If that cannot be done.
    fn executor<'a>(&'a self, setting: PlaceSetting<'a>) -> Result<Box<dyn Executor + 'a>, CommandError>;
}

/// What an executor needs that reaches another place.
pub struct PlaceSetting<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The study's file.
    pub study_file: PathBuf,
    /// The study's folder, and what of it trials need.
    pub setup: Setup,
    /// Files of the study's folder that trials depend on, by their names there.
    pub files: Vec<String>,
    /// What is looked at between boots.
    pub watch: Watch<'a>,
    /// Who relinks, where that is varied.
    pub on_demand: Option<OnDemand<'a>>,
    /// Kept open by everything that is started.
    pub keep: BorrowedFd<'a>,
}

/// A study whose trials are over, as a feature sees it that gathers more about it.
pub trait Finished {
    /// Its plan.
    fn plan(&self) -> &Plan;
    /// All that its journal holds.
    fn record(&self) -> &Record;
    /// What a feature has read of its own section.
    fn section(&self, name: &str) -> Option<&Value>;
    /// Where a variant's build is.
    fn prefix_of(&self, variant: &str) -> Option<PathBuf>;
    /// Whether nothing is drawn.
    fn quiet(&self) -> bool;
    /// Whether the user wants it to end.
    fn is_interrupted(&self) -> bool;
    /// The number of this session, which begins with this if it has not begun.
    fn session(&mut self) -> Result<u32, CommandError>;
    /// Keeps a line in the journal.
    fn keep(&mut self, line: FeatureLine) -> Result<(), CommandError>;
}

/// All features.
#[derive(Clone, Copy)]
pub struct Features(pub &'static [&'static dyn Feature]);

impl Features {
    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = &'static dyn Feature> {
        self.0.iter().copied()
    }

    /// The place of a plan's trials, if it is not this host.
    ///
    /// # Errors
    /// Those of [`Feature::place`]; and if the plan asks for a place that no feature reaches.
    pub fn place(self, study: &Study, plan: &Plan) -> Result<Option<Box<dyn Elsewhere>>, CommandError> {
        for feature in self.iter() {
            if let Some(place) = feature.place(study, plan)? {
                return Ok(Some(place));
            }
        }
        if plan.boots() { Err(CommandError::usage("this bakeoff cannot boot a kernel")) } else { Ok(None) }
    }

    /// Their sections of the study file.
    pub fn sections(self) -> Vec<&'static dyn Extension> {
        self.iter().filter_map(|feature| feature.section()).collect()
    }

    /// How their sections of the findings are drawn.
    pub fn pages(self) -> Vec<SectionPage> {
        self.iter().filter_map(|feature| feature.page()).collect()
    }

    /// Whether a line of this kind is one of theirs.
    pub fn has_line(self, kind: &str) -> bool {
        self.iter().any(|feature| feature.line() == Some(kind))
    }

    /// Judges a record, with their sections.
    pub fn judge(self, record: &Record) -> Findings {
        let mut findings = match self.iter().any(|feature| feature.needs_levels(record)) {
            true => bakeoff_judge::judge_with_levels(record),
            false => bakeoff_judge::judge(record),
        };
        let of_workloads = record.without_building();
        self.iter().for_each(|feature| feature.find(&of_workloads, &mut findings));
        findings
    }
}

impl std::fmt::Debug for Features {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} features", self.0.len())
    }
}
