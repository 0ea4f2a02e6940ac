//! The points at which a slice may register. The core asks every feature at each of them and knows none by name; a
//! point that no feature needs is not here. A command of the core is the same [`Subcommand`] as one of a feature.

use crate::elsewhere::Elsewhere;
use crate::error::{Code, CommandError};
use crate::exits::{self, Exit};
use bakeoff_host::doctor::Check;
use bakeoff_judge::findings::Findings;
use bakeoff_judge::side_by_side::SideBySide;
use bakeoff_lab::{Ending, Executor};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{FeatureLine, Record};
use bakeoff_model::study::Study;
use bakeoff_model::study_file::Extension;
use bakeoff_model::suite::Harnesses;
use bakeoff_report::{Cause, SectionPage, TimeUnit};
use clap::ArgMatches;
use serde_json::Value;
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

    /// Runs after each block of a study, while no trial is in flight and outside the measured time; the next block waits for it.
    /// Returns the file that it wrote, if it did.
    fn between_blocks(&self, _asked: &ArgMatches, _record: &Record, _features: Features) -> Option<PathBuf> {
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

    /// Who reads what the harnesses of workloads leave, if it does.
    fn harnesses(&self) -> Option<&'static dyn Harnesses> {
        None
    }

    /// What it adds to the options of `compare`, to change what is planned.
    fn planning(&self) -> Option<Planning> {
        None
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

    /// What it does with findings, in every command that comes to some.
    fn conclusion(&self) -> Option<Conclusion> {
        None
    }

    /// Whether its conclusion is asked for on standard output, where it takes the place of the report.
    fn takes_output(&self, _asked: &ArgMatches) -> bool {
        false
    }

    /// What it does with two findings next to each other.
    ///
    /// # Errors
    /// If something of it cannot be done.
    fn conclude_against(&self, _asked: &ArgMatches, _against: &Against<'_>) -> Result<(), CommandError> {
        Ok(())
    }

    /// Its conclusion where all variants are one program, so that nothing was executed: the exit code, if that answers what is
    /// asked for.
    ///
    /// # Errors
    /// If something of it cannot be done.
    fn conclude_alike(&self, _asked: &ArgMatches, _concluded: &Concluded<'_>) -> Result<Option<Code>, CommandError> {
        Ok(None)
    }
}

/// Another form of a command: more options, and what is done instead where one of them asks for it.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The command's name.
    pub of: &'static str,
    /// Adds the options.
    pub options: fn(clap::Command) -> clap::Command,
    /// The exit codes that it adds.
    pub exits: &'static [Exit],
    /// Does what they ask for; none if they ask for nothing.
    pub execute: fn(&ArgMatches) -> Option<Result<Code, CommandError>>,
}

/// What of a command line changes the plan that is made of it.
#[derive(Debug, Clone, Copy)]
pub struct Planning {
    /// Adds its options.
    pub options: fn(clap::Command) -> clap::Command,
    /// Changes the plan as they ask.
    pub plan: fn(&ArgMatches, &mut Plan) -> Result<(), CommandError>,
}

/// What a feature does with findings: writes them into a file, or says what they are worth to a pipeline.
#[derive(Debug, Clone, Copy)]
pub struct Conclusion {
    /// Adds its options to a command that comes to findings.
    pub options: fn(clap::Command) -> clap::Command,
    /// Whether what they ask for can be done at all; called before anything is executed.
    pub check: fn(&ArgMatches) -> Result<(), CommandError>,
    /// The exit codes that it adds.
    pub exits: &'static [Exit],
    /// Does what they ask for, after the report was printed. The worst exit code of all wins.
    pub conclude: fn(&ArgMatches, &Concluded<'_>) -> Result<Code, CommandError>,
}

/// What a command has come to.
#[derive(Debug, Clone, Copy)]
pub struct Concluded<'a> {
    /// What was executed.
    pub record: &'a Record,
    /// What it means.
    pub findings: &'a Findings,
    /// What features found to be consistent with differences.
    pub causes: &'a [Cause],
    /// How the sections of features are drawn.
    pub pages: &'a [SectionPage],
    /// Whether JSON was asked for: then nothing else goes to standard output.
    pub is_json: bool,
    /// The unit of times that people read, if one is asked for.
    pub time_unit: Option<TimeUnit>,
}

/// Two findings next to each other: nothing is judged across them.
#[derive(Debug, Clone, Copy)]
pub struct Against<'a> {
    /// What both compared.
    pub pairs: &'a SideBySide,
    /// The findings here.
    pub here: &'a Findings,
    /// Those of the other journal.
    pub there: &'a Findings,
}

/// What the options of features ask for, in a command that comes to findings: flatten it into the command's own options.
#[derive(Debug, Clone)]
pub struct Asked(ArgMatches);

impl clap::FromArgMatches for Asked {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        matches.clone_into(&mut self.0);
        Ok(())
    }
}

impl clap::Args for Asked {
    // The options are those of features, of which this crate knows none: they are added where the commands are put together.
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}

/// What it does with its arguments.
type Execute = Box<dyn Fn(&ArgMatches, Features) -> Result<Code, CommandError>>;

/// A command of `bakeoff`.
pub struct Subcommand {
    /// Its name and options.
    pub clap: clap::Command,
    /// The command that it stands behind, in the help and in the manual; the last of them, if none.
    pub after: Option<&'static str>,
    /// Whether it comes to findings, and has [`Asked`] among its options.
    pub concludes: bool,
    exits: Vec<Exit>,
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
        Self {
            clap: A::augment_args(clap::Command::new(name)),
            after: None,
            concludes: false,
            exits: vec![],
            execute: Box::new(parsed),
        }
    }

    /// The same, behind that command.
    #[must_use]
    pub fn after(self, command: &'static str) -> Self {
        Self { after: Some(command), ..self }
    }

    /// The same, of one that comes to findings.
    #[must_use]
    pub fn concludes(self) -> Self {
        Self { concludes: true, ..self }
    }

    /// The same, in no help: it is not for people.
    #[must_use]
    pub fn hidden(self) -> Self {
        Self { clap: self.clap.hide(true), ..self }
    }

    /// The same, of one that may also end with these exit codes.
    #[must_use]
    pub fn exits(mut self, with: &[Exit]) -> Self {
        self.exits.extend(with);
        self
    }

    /// Whether it may end with that exit code.
    pub fn may_end(&self, code: Code) -> bool {
        exits::has(&self.exits, code)
    }

    /// Its name and options, and in its help its exit codes.
    pub fn explained(&self) -> clap::Command {
        exits::explained(self.clap.clone(), &self.exits)
    }

    /// Does what the arguments ask for.
    ///
    /// # Errors
    /// Whatever exits the command.
    pub fn execute(&self, matches: &ArgMatches, features: Features) -> Result<Code, CommandError> {
        (self.execute)(matches, features)
    }
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

    /// Who reads what the harnesses of workloads leave.
    pub fn harnesses(self) -> Option<&'static dyn Harnesses> {
        self.iter().find_map(|feature| feature.harnesses())
    }

    /// Adds the options that change a plan.
    pub fn with_planning(self, command: clap::Command) -> clap::Command {
        self.iter().filter_map(|feature| feature.planning()).fold(command, |command, by| (by.options)(command))
    }

    /// Changes a plan as the options ask.
    ///
    /// # Errors
    /// The first of them that cannot be done.
    pub fn plan(self, asked: &Asked, plan: &mut Plan) -> Result<(), CommandError> {
        self.iter().filter_map(|feature| feature.planning()).try_for_each(|by| (by.plan)(&asked.0, plan))
    }

    /// Their sections of the study file.
    pub fn sections(self) -> Vec<&'static dyn Extension> {
        self.iter().filter_map(|feature| feature.section()).collect()
    }

    /// How their sections of the findings are drawn.
    pub fn pages(self) -> Vec<SectionPage> {
        self.iter().filter_map(|feature| feature.page()).collect()
    }

    /// What they found to be consistent with differences.
    pub fn causes(self, findings: &Findings) -> Vec<Cause> {
        let has = |page: &SectionPage| findings.sections.contains_key(page.name);
        self.pages().into_iter().filter(has).flat_map(|page| (page.causes)(findings)).collect()
    }

    /// Whether a line of this kind is one of theirs.
    pub fn has_line(self, kind: &str) -> bool {
        self.iter().any(|feature| feature.line() == Some(kind))
    }

    /// Adds what they do with findings: options and exit codes.
    pub fn add_conclusions(self, command: &mut Subcommand) {
        for conclusion in self.conclusions() {
            command.clap = (conclusion.options)(std::mem::take(&mut command.clap));
            command.exits.extend(conclusion.exits);
        }
    }

    /// Adds their forms of a command: options and exit codes.
    pub fn add_forms(self, command: &mut Subcommand) {
        let name = command.clap.get_name().to_owned();
        let forms = self.iter().flat_map(|feature| feature.forms());
        for form in forms.filter(|form| form.of == name) {
            command.clap = (form.options)(std::mem::take(&mut command.clap));
            command.exits.extend(form.exits);
        }
    }

    fn conclusions(self) -> impl Iterator<Item = Conclusion> {
        self.iter().filter_map(|feature| feature.conclusion())
    }

    /// Whether all that is asked for can be done; to be called before anything is executed.
    ///
    /// # Errors
    /// The first thing that cannot be done.
    pub fn check(self, asked: &Asked) -> Result<(), CommandError> {
        self.conclusions().try_for_each(|conclusion| (conclusion.check)(&asked.0))
    }

    /// Whether something of it is asked for on standard output, in the place of the report.
    pub fn take_output(self, asked: &Asked) -> bool {
        self.iter().any(|feature| feature.takes_output(&asked.0))
    }

    /// Gives every feature its turn between two blocks, and returns the files that they wrote.
    pub fn between_blocks(self, asked: &Asked, record: &Record) -> Vec<PathBuf> {
        self.iter().filter_map(|feature| feature.between_blocks(&asked.0, record, self)).collect()
    }

    /// Does what is asked for with findings, and returns the worst exit code, that of the command included.
    ///
    /// # Errors
    /// If something of it cannot be done.
    pub fn conclude(self, asked: &Asked, concluded: &Concluded<'_>, code: Code) -> Result<Code, CommandError> {
        self.conclusions()
            .try_fold(code, |worst, conclusion| Ok(worst.worst((conclusion.conclude)(&asked.0, concluded)?)))
    }

    /// Does what is asked for with two findings next to each other.
    ///
    /// # Errors
    /// If something of it cannot be done.
    pub fn conclude_against(self, asked: &Asked, against: &Against<'_>) -> Result<(), CommandError> {
        self.iter().try_for_each(|feature| feature.conclude_against(&asked.0, against))
    }

    /// Whether it answers what is asked for that all variants are one program, and with which exit code.
    ///
    /// # Errors
    /// Those of [`Feature::conclude_alike`].
    pub fn conclude_alike(self, asked: &Asked, concluded: &Concluded<'_>) -> Result<Option<Code>, CommandError> {
        self.iter().try_fold(None, |worst: Option<Code>, feature| {
            let code = feature.conclude_alike(&asked.0, concluded)?;
            Ok(worst.into_iter().chain(code).reduce(Code::worst))
        })
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
