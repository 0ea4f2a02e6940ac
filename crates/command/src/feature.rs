//! The points at which a slice may register: [`Registry`], whose fields hold values and nothing else. The core knows no
//! slice by name. A command of the core is the same [`Subcommand`] as one of a feature.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use crate::asked::FeatureArgs;
use crate::check::Check;
use crate::elsewhere::Elsewhere;
use crate::error::{Code, CommandError};
use crate::exits::{self, Exit};
use crate::explaining::{EXPLAIN, Explainer};
use crate::maker::{Maker, MakerRegistration};
use crate::remote_place::RemotePlace;
use crate::source::{Prepared, SourceRequest, VariantSource};
use bakeoff_judge::findings::{Findings, Remarks, Sections};
use bakeoff_judge::side_by_side::SideBySide;
use bakeoff_lab::{Counter, Ending, Executor};
use bakeoff_model::metric::Metric;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{FeatureLine, Record};
use bakeoff_model::study::Study;
use bakeoff_model::study_file::{Extension, RecipeReader};
use bakeoff_model::suite::Harnesses;
use bakeoff_report::{Cause, SectionPage, TimeUnit};
use clap::ArgMatches;
use serde_json::Value;
use std::path::PathBuf;

/// A slice: what one capability needs from all floors, in one folder.
pub trait Feature {
    /// Registers its values, each at one of the points.
    fn register(&self, to: &mut Registry);
}

/// What features register, in their order. Each field is a point; `docs/dev/points.md` is generated from these comments.
#[derive(Default)]
pub struct Registry {
    /// A command, and the group of the help in which it is shown.
    pub commands: Vec<Subcommand>,
    /// Options for a command of others. They change its plan, or take it over.
    pub modes: Vec<CommandMode>,
    /// The parser of a section of the study file, or of a key of a workload. Its problems are shown together with those
    /// of the core's sections. A change of the section makes no trials incomparable.
    pub sections: Vec<&'static dyn Extension>,
    /// What it gathers when the trials of a study are over, perhaps with trials of its own, and its kind of journal
    /// line. The core keeps such lines as text, in their order, and does not parse them.
    pub gatherings: Vec<Gathering>,
    /// A place for trials that is not this host: its clock and its executor, and a check for `doctor`.
    ///
    /// Only one feature uses this point: `vm` needs it because a kernel can be measured only where it was booted.
    pub places: Vec<Reach>,
    /// Runs the trials of a study on other machines, each with a part of its passes: its options for `run`, and what does it.
    /// The core shows what came back.
    ///
    /// Only one feature uses this point: `cluster`. A place is asked trial by trial; these machines get whole blocks.
    pub elsewhere: Vec<Elsewhere>,
    /// What makes the variants of a study, where it says how.
    ///
    /// Only one feature uses this point: without `building`, variants are commands, and nothing has to be made.
    pub makers: Vec<MakerRegistration>,
    /// Variants for `compare` that its commands do not name: options, and what prepares the variants.
    ///
    /// Only one feature uses this point: only `building` can make a variant that no command line names.
    pub sources: Vec<VariantSource>,
    /// A reader of the files that the harness of a workload leaves behind: the values of its benchmarks.
    ///
    /// Only one feature uses this point: the values are part of the trial, so no later point can add them.
    pub harnesses: Vec<&'static dyn Harnesses>,
    /// An instrument that counts a metric where the machine does not: in the place of the commands of trials, of which nothing
    /// else is measured then.
    ///
    /// Only one feature uses this point: `why` has the tool that counts. It is needed while trials run, and its other points
    /// come after them.
    pub instruments: Vec<Instrument>,
    /// A section of the findings, as data; how it is drawn below the tables; and causes in a few words for the screen.
    pub findings: Vec<FindingsSection>,
    /// Options of every command that comes to findings. They are checked before anything runs; at the end they write
    /// the findings, or judge them for a pipeline. The worst exit code wins.
    pub conclusions: Vec<Conclusion>,
    /// Work after each block of a study, while no trial is in flight and outside the measured time; the next block
    /// waits for it. It returns the file that it wrote, if any.
    ///
    /// Only one feature uses this point: `page` shows a study that runs for hours; a conclusion comes only at its end.
    pub between_blocks: Vec<BetweenBlocks>,
    /// Explains differences: its options for `explain`, what it needs gathered, and the explanation.
    ///
    /// Only one feature uses this point: `why`. The core runs the study, and knows no cause.
    pub explainers: Vec<Explainer>,
    /// What options do with two findings that `report --against` has put next to each other.
    ///
    /// Only one feature uses this point: nothing is judged across two journals, so a conclusion has nothing to work on.
    pub against: Vec<ConcludeAgainst>,
}

/// What counts a metric in the place of the machine.
#[derive(Debug, Clone, Copy)]
pub struct Instrument {
    /// The metric's name.
    pub metric: &'static str,
    /// Makes it ready.
    pub open: fn() -> OpenedInstrument,
}

/// What the metric then is, and what counts it; an error if the instrument is missing.
pub type OpenedInstrument = Result<(Metric, Box<dyn Counter>), CommandError>;

/// Works after a block, and returns the file that it wrote.
type BetweenBlocks = fn(&ArgMatches, &Record, &Registry) -> Option<PathBuf>;

/// Does what options ask for with two findings.
type ConcludeAgainst = fn(&ArgMatches, &Against<'_>) -> Result<(), CommandError>;

/// A place that is not this host; `None` if the place is another one, an error if it cannot be reached here.
pub type Reached = Result<Option<Box<dyn RemotePlace>>, CommandError>;

/// A mode of a command: more options, and what they do.
#[derive(Debug, Clone, Copy)]
pub struct CommandMode {
    /// The command's name.
    pub of: &'static str,
    /// Adds the options.
    pub options: fn(clap::Command) -> clap::Command,
    /// The exit codes that it adds.
    pub exits: &'static [Exit],
    /// Takes the command over; `None` if the options do not ask for it.
    pub execute: fn(&ArgMatches) -> Option<Result<Code, CommandError>>,
    /// Changes the plan that is made of the command line.
    pub plan: fn(&ArgMatches, &mut Plan) -> Result<(), CommandError>,
}

/// What a feature gathers when the trials of a study are over.
#[derive(Debug, Clone, Copy)]
pub struct Gathering {
    /// The kind of the journal lines that keep it.
    pub line: &'static str,
    /// Gathers what needs no other trials.
    pub gather: fn(&mut dyn Finished) -> Result<(), CommandError>,
    /// Trials of its own, which come after the measured ones.
    pub trials: Option<OwnTrials>,
}

/// Trials that a feature runs for itself.
#[derive(Debug, Clone, Copy)]
pub struct OwnTrials {
    /// Whether the journal lacks some of them.
    pub are_missing: fn(&dyn Finished) -> bool,
    /// Runs those that are missing.
    pub execute: fn(&mut dyn Finished, &mut dyn Executor) -> Result<Ending, CommandError>,
}

/// How a feature reaches a place that is not this host.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// Finds the place of a plan's trials, before anything is built.
    pub find: fn(&Study, &Plan) -> Reached,
    /// What `doctor` shows about such places on this machine.
    pub check: fn() -> Check,
}

/// A section of the findings.
#[derive(Debug, Clone, Copy)]
pub struct FindingsSection {
    /// Its name, and how it is drawn.
    pub page: SectionPage,
    /// Whether it needs the levels of one factor compared with each other, however many there are.
    pub needs_levels: fn(&Record) -> bool,
    /// Returns what it has found in a whole record.
    pub find: fn(&Record, &Findings) -> FeatureFindings,
}

/// What a feature has found.
#[derive(Debug, Default)]
pub struct FeatureFindings {
    /// Its sections of the findings, by name; the one of [`SectionPage::name`] is drawn.
    pub sections: Sections,
    /// What it says of variants besides.
    pub remarks: Remarks,
}

impl FeatureFindings {
    /// One section, if there is any data.
    pub fn section(name: &str, data: Option<Value>) -> Self {
        Self { sections: data.map(|data| (name.to_owned(), data)).into_iter().collect(), ..Self::default() }
    }
}

/// What a feature does with findings: writes them into a file, or decides for a pipeline.
#[derive(Debug, Clone, Copy)]
pub struct Conclusion {
    /// Adds its options to a command that comes to findings.
    pub options: fn(clap::Command) -> clap::Command,
    /// Whether what they ask for can be done at all; called before anything is executed.
    pub check: fn(&ArgMatches) -> Result<(), CommandError>,
    /// The exit codes that it adds.
    pub exits: &'static [Exit],
    /// Whether it is asked for on standard output, where it takes the place of the report.
    pub takes_output: fn(&ArgMatches) -> bool,
    /// Whether it is asked for a decision. A study with nothing to compare then ends with that, not with an error.
    pub decides: fn(&ArgMatches) -> bool,
    /// Does what they ask for, after the report was printed. The worst exit code of all wins.
    pub conclude: fn(&ArgMatches, &Concluded<'_>) -> Result<Code, CommandError>,
}

/// What a command has come to.
#[derive(Debug, Clone, Copy)]
pub struct Concluded<'a> {
    pub record: &'a Record,
    pub findings: &'a Findings,
    /// Whether the command has run its trials, or would have if they had not been there; false for a look at a journal.
    pub is_raced: bool,
    /// What features found to explain differences.
    pub causes: &'a [Cause],
    pub pages: &'a [SectionPage],
    /// Whether JSON was asked for: then nothing else goes to standard output.
    pub is_json: bool,
    /// The unit of times that people read, if one is asked for.
    pub time_unit: Option<TimeUnit>,
}

/// Two findings next to each other: nothing is judged across them.
#[derive(Debug, Clone, Copy)]
pub struct Against<'a> {
    pub pairs: &'a SideBySide,
    pub here: &'a Findings,
    pub there: &'a Findings,
}

/// What it does with its arguments.
type Execute = Box<dyn Fn(&ArgMatches, &Registry) -> Result<Code, CommandError>>;

/// A group of commands in the help, in its order; a group begins with the core's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Measure,
    Report,
    Build,
    Share,
    Maintain,
    Learn,
}

/// A command of `bakeoff`.
pub struct Subcommand {
    /// Its name and options.
    pub clap: clap::Command,
    /// Where the help shows it.
    pub group: Group,
    /// Whether it comes to findings, and has [`FeatureArgs`] among its options.
    pub concludes: bool,
    /// With this option, its exit codes are answers.
    pub script: Option<&'static str>,
    exits: Vec<Exit>,
    /// Adds the options that the help lists after those of the features.
    last: Option<fn(clap::Command) -> clap::Command>,
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
    pub fn with_features<A>(name: &'static str, execute: fn(&A, &Registry) -> Result<Code, CommandError>) -> Self
    where
        A: clap::Args + 'static,
    {
        Self::of(name, execute)
    }

    fn of<A>(name: &'static str, execute: impl Fn(&A, &Registry) -> Result<Code, CommandError> + 'static) -> Self
    where
        A: clap::Args + 'static,
    {
        let parsed = move |matches: &ArgMatches, features: &Registry| {
            let args =
                A::from_arg_matches(matches).map_err(|error| CommandError::text(Code::Usage, error.to_string()))?;
            execute(&args, features)
        };
        Self {
            clap: A::augment_args(clap::Command::new(name)),
            group: Group::Measure,
            concludes: false,
            script: None,
            exits: vec![],
            last: None,
            execute: Box::new(parsed),
        }
    }

    /// The same, in that group.
    #[must_use]
    pub fn group(self, group: Group) -> Self {
        Self { group, ..self }
    }

    /// The same, with options that the help lists last.
    #[must_use]
    pub fn last(self, options: fn(clap::Command) -> clap::Command) -> Self {
        Self { last: Some(options), ..self }
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
    pub fn execute(&self, matches: &ArgMatches, features: &Registry) -> Result<Code, CommandError> {
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

impl Registry {
    /// Collects what these features register.
    pub fn of(features: &[&dyn Feature]) -> Self {
        let mut all = Self::default();
        features.iter().for_each(|feature| feature.register(&mut all));
        all
    }

    /// The reader of what a study file says about making variants.
    pub fn recipe_reader(&self) -> Option<&'static dyn RecipeReader> {
        self.makers.first().map(|making| making.reader)
    }

    /// What makes the variants of a study; `None` if nothing has to be made, and nobody could.
    pub fn maker(&self, study: &Study) -> Result<Option<Box<dyn Maker>>, CommandError> {
        match self.makers.first() {
            Some(making) => (making.open)().map(Some),
            None if !study.builds() => Ok(None),
            None => Err(CommandError::usage("this bakeoff binary cannot build programs, but the study has [[build]]")
                .hint("recompile Bakeoff with the default feature `building`")),
        }
    }

    /// The place of a plan's trials, if it is not this host.
    ///
    /// # Errors
    /// Those of [`Reach::find`]; and if the plan asks for a place that no feature reaches.
    pub fn place(&self, study: &Study, plan: &Plan) -> Reached {
        for reach in &self.places {
            if let Some(place) = (reach.find)(study, plan)? {
                return Ok(Some(place));
            }
        }
        if plan.boots() { Err(CommandError::usage("this bakeoff binary cannot boot a kernel")) } else { Ok(None) }
    }

    /// Prepares the variants of `compare` that its options ask for; `None` if its commands are the variants.
    pub fn prepare(&self, asked: &FeatureArgs, request: &SourceRequest<'_>) -> Result<Option<Prepared>, CommandError> {
        self.sources.iter().find_map(|source| (source.prepare)(&asked.0, request)).transpose()
    }

    /// Changes the plan of a command as the options of its modes ask.
    pub fn plan(&self, command: &str, asked: &FeatureArgs, plan: &mut Plan) -> Result<(), CommandError> {
        self.modes_of(command).try_for_each(|mode| (mode.plan)(&asked.0, plan))
    }

    /// Does what a mode of a command asks for in its place.
    pub fn take_over(&self, command: &str, matches: &ArgMatches) -> Option<Result<Code, CommandError>> {
        self.modes_of(command).find_map(|mode| (mode.execute)(matches))
    }

    fn modes_of(&self, command: &str) -> impl Iterator<Item = &CommandMode> {
        self.modes.iter().filter(move |mode| mode.of == command)
    }

    /// How sections of the findings are drawn.
    pub fn pages(&self) -> Vec<SectionPage> {
        self.findings.iter().map(|section| section.page).collect()
    }

    /// What features found to explain differences.
    pub fn causes(&self, findings: &Findings) -> Vec<Cause> {
        let has = |page: &SectionPage| findings.sections.contains_key(page.name);
        self.pages().into_iter().filter(has).flat_map(|page| (page.causes)(findings)).collect()
    }

    /// Whether features keep lines of this kind.
    pub fn has_line(&self, kind: &str) -> bool {
        self.gatherings.iter().any(|gathering| gathering.line == kind)
    }

    /// Adds the options and exit codes of conclusions and modes to a command.
    pub fn add_options(&self, command: &mut Subcommand) {
        let name = command.clap.get_name().to_owned();
        let conclusions = self.conclusions.iter().filter(|_| command.concludes);
        let all = conclusions.map(|conclusion| (conclusion.options, conclusion.exits));
        for (options, exits) in all.chain(self.modes_of(&name).map(|mode| (mode.options, mode.exits))) {
            command.clap = options(std::mem::take(&mut command.clap).next_help_heading(None));
            command.exits.extend(exits);
        }
        for elsewhere in self.elsewhere.iter().filter(|_| name == "run") {
            command.clap = (elsewhere.options)(std::mem::take(&mut command.clap).next_help_heading(None));
        }
        for explainer in self.explainers.iter().filter(|_| name == EXPLAIN) {
            command.clap = (explainer.options)(std::mem::take(&mut command.clap));
        }
        if let Some(options) = command.last.take() {
            command.clap = options(std::mem::take(&mut command.clap));
        }
    }

    /// Whether all that is asked for can be done; to be called before anything is executed.
    pub fn check(&self, asked: &FeatureArgs) -> Result<(), CommandError> {
        self.conclusions.iter().try_for_each(|conclusion| (conclusion.check)(&asked.0))
    }

    /// Whether something of it is asked for on standard output, in the place of the report.
    pub fn take_output(&self, asked: &FeatureArgs) -> bool {
        self.conclusions.iter().any(|conclusion| (conclusion.takes_output)(&asked.0))
    }

    /// Gives every feature its turn between two blocks, and returns the files that they wrote.
    pub fn work_between_blocks(&self, asked: &FeatureArgs, record: &Record) -> Vec<PathBuf> {
        self.between_blocks.iter().filter_map(|work| work(&asked.0, record, self)).collect()
    }

    /// Does what is asked for with findings, and returns the worst exit code, that of the command included.
    pub fn conclude(&self, asked: &FeatureArgs, concluded: &Concluded<'_>, code: Code) -> Result<Code, CommandError> {
        self.conclusions
            .iter()
            .try_fold(code, |worst, conclusion| Ok(worst.worst((conclusion.conclude)(&asked.0, concluded)?)))
    }

    /// Does what is asked for with two findings next to each other.
    pub fn conclude_against(&self, asked: &FeatureArgs, against: &Against<'_>) -> Result<(), CommandError> {
        self.against.iter().try_for_each(|conclude| conclude(&asked.0, against))
    }

    /// Decides what is asked for, and writes nothing else: the worst exit code, or `None` if no decision is asked for.
    pub fn decide(&self, asked: &FeatureArgs, concluded: &Concluded<'_>) -> Result<Option<Code>, CommandError> {
        let mut deciding = self.conclusions.iter().filter(|conclusion| (conclusion.decides)(&asked.0));
        deciding.try_fold(None, |worst: Option<Code>, conclusion| {
            let code = (conclusion.conclude)(&asked.0, concluded)?;
            Ok(Some(worst.map_or(code, |worst| worst.worst(code))))
        })
    }

    /// Judges a record, with the sections of features.
    pub fn judge(&self, record: &Record) -> Findings {
        let needs_levels = self.findings.iter().any(|section| (section.needs_levels)(record));
        let mut findings = bakeoff_judge::judge_with_levels(record, needs_levels);
        for section in &self.findings {
            let FeatureFindings { sections, remarks } = (section.find)(record, &findings);
            findings.sections.extend(sections);
            findings.take(remarks);
        }
        findings
    }
}
