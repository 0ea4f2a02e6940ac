//! `bakeoff run`: a study from its file to its report. Build, execute what is missing, judge, print; nothing else.

use super::options::{Extent, Kept, Showing};
use super::plan::takes;
use crate::race::{Keep, Race, Wanted};
use crate::session::Raced;
use crate::share::Share;
use crate::{executed, instrument, place, programs};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::estimates::{at_most, trials_s};
use bakeoff_command::selection::{Jobs, Selection};
use bakeoff_command::shard::Built;
use bakeoff_command::study_folder::{Inputs, StudyFolder};
use bakeoff_command::target::Target;
use bakeoff_command::{
    Elsewhere, ElsewhereOrder, FeatureArgs, Foreseen, Made, Maker, Order, PlaceSetting, Registry, Returned, locale,
    screen,
};
use bakeoff_lab::Ending;
use bakeoff_lab::local::Setup;
use bakeoff_lab::simulated::{Simulated, Truth};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Basis, MadeLine, Record, SharedLine, StudyLine};
use bakeoff_model::study::Study;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Build, run and judge a study, or resume it
///
/// Ctrl-C stops after the current trial; a second Ctrl-C kills that trial. Finished trials are kept either way: run the
/// same command again to resume. The journal is in the study's folder, under .bakeoff/.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    showing: Showing,
    /// Rehearse the plan: build and run nothing, but draw random durations according to TRUTH
    ///
    /// TRUTH is a comma-separated list of NAME:NUMBER. NAME is the display name of a variant (NUMBER is its ratio to
    /// the baseline), the name of a condition (NUMBER is its ratio to the idle machine), or a setting. The settings are
    /// base (seconds), noise (standard deviation of the logarithm), drift (change of the logarithm), failing and void
    /// (probabilities), pause (seconds that a trial really takes), and seed.
    #[arg(long, value_name = "TRUTH", conflicts_with_all = ["jobs", "anyway", "no_trace", "user_namespace"])]
    simulate: Option<String>,
}

/// What runs, and how.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    kept: Kept,
    /// Run variants separately even if every file in their builds is identical
    ///
    /// By default, identical variants run once and share a row; if all are identical, nothing runs. If you run
    /// identical variants separately, their differences show this machine's noise.
    #[arg(long)]
    anyway: bool,
    /// Run the missing blocks of a study here although other machines ran the ones before
    #[arg(long)]
    here: bool,
    /// Run only what this file asks for, and keep it in a journal of its own
    #[arg(long, value_name = "FILE", hide = true)]
    shard: Option<PathBuf>,
    /// Only build, and write into this file which build each variant has
    #[arg(long, value_name = "FILE", hide = true, conflicts_with = "shard")]
    build_for: Option<PathBuf>,
    /// With `--build-for`, succeed whatever could be built
    #[arg(long, hide = true, requires = "build_for")]
    partly: bool,
    /// Show no progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

impl RunArgs {
    /// The study and its plan, before anything is done for them.
    pub(super) fn open(&self, features: &Registry) -> Result<(StudyFolder, Plan), CommandError> {
        self.kept.apply()?;
        let folder = self.folder(features)?;
        let plan = self.plan(&folder.study)?;
        bakeoff_host::interrupt::install()?;
        Ok((folder, plan))
    }

    pub(super) fn folder(&self, features: &Registry) -> Result<StudyFolder, CommandError> {
        StudyFolder::open(&self.selection.study, features)
    }

    /// The plan of a study.
    pub(super) fn plan(&self, study: &Study) -> Result<Plan, CommandError> {
        let mut plan = self.selection.plan(study)?;
        self.extent.apply(&mut plan, None)?;
        self.extent.apply_layouts(&mut plan)?;
        Ok(plan)
    }

    /// The options that ask for the same trials, but for the number of blocks.
    fn words(&self) -> Vec<String> {
        let switches = [("--anyway", self.anyway), ("--user-namespace", self.kept.is_asked())];
        let switches = switches.into_iter().filter(|(_, is_set)| *is_set).map(|(word, _)| word.to_owned());
        self.selection.words().into_iter().chain(self.extent.words()).chain(switches).collect()
    }

    /// The journal, if one was named instead of a study.
    pub(super) fn journal(&self) -> Option<&Path> {
        let path = self.selection.study.as_path();
        path.extension().is_some_and(|end| end == "jsonl").then_some(path)
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub(super) fn study(&self) -> String {
        bakeoff_model::plain::clean(&self.selection.study.display().to_string())
    }
}

/// Shows that nothing is left to compare, or says why that is an error.
type WithoutTrials<'a> = dyn Fn(&Record, Result<String, CommandError>) -> Result<Code, CommandError> + 'a;

/// What becomes of a study that was run.
pub(super) struct Use<'a> {
    pub(super) features: &'a Registry,
    /// Options of features that work between blocks.
    pub(super) asked: Option<&'a FeatureArgs>,
    pub(super) quiet: bool,
    /// Of a study whose variants are all one program.
    pub(super) without_trials: &'a WithoutTrials<'a>,
    pub(super) finish: &'a dyn Fn(&Raced<'_>) -> Result<Code, CommandError>,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    args.showing.check(features)?;
    let (folder, plan) = args.run.open(features)?;
    let of = Use {
        features,
        asked: Some(&args.showing.asked),
        quiet: args.run.quiet || args.showing.is_quiet(),
        without_trials: &|record, otherwise| args.showing.without_trials(record, otherwise, features),
        finish: &|raced| finish(args, raced, features),
    };
    let StudyFolder { dir, file, study, .. } = &folder;
    let (words, jobs) = (args.run.words(), args.run.jobs.jobs);
    let wanted = ElsewhereOrder { dir, file, study, plan: &plan, words, jobs, quiet: of.quiet };
    if let Some(returned) = Elsewhere::run_any(&features.elsewhere, &args.showing.asked, &wanted)? {
        return show_returned(args, &returned, features);
    }
    match &args.simulate {
        Some(truth) => rehearse(&args.run, &of, &folder, &plan, truth),
        None => run_here(&args.run, &folder, plan, &of),
    }
}

/// Shows what other machines have run.
fn show_returned(args: &Args, returned: &Returned, features: &Registry) -> Result<Code, CommandError> {
    let mut worst = returned.ending.unwrap_or(Code::Done);
    for (number, (said, journal)) in returned.journals.iter().enumerate() {
        screen::err(said);
        let record = bakeoff_journal::read(journal)?.record;
        // The first is the study's latest.
        let named = || bakeoff_model::plain::clean(&journal.display().to_string());
        let more = format!("bakeoff report {}", if number == 0 { args.run.study() } else { named() });
        worst = worst.worst(args.showing.show_new(&record, &more, features)?);
    }
    Ok(worst)
}

fn rehearse(
    args: &RunArgs,
    of: &Use<'_>,
    folder: &StudyFolder,
    plan: &Plan,
    truth: &str,
) -> Result<Code, CommandError> {
    let mut plan = plan.clone();
    // What is simulated has no layouts.
    plan.keep_layouts();
    let whole = plan.clone();
    let mut planted = Truth::parse(truth, &whole).map_err(CommandError::usage)?;
    let share = Share::of(args.shard.as_deref(), &folder.dir, &mut plan, true)?;
    // A variant that a search runs again is as fast as it is.
    for variant in &plan.variants {
        let same = whole.variants.iter().find(|other| other.levels == variant.levels);
        if let Some(effect) = same.and_then(|same| planted.effects.get(&same.name).copied()) {
            planted.effects.insert(variant.name.clone(), effect);
        }
    }
    let mut study = plan.study_line(&BTreeMap::new(), truth, Some(truth));
    let identity = study.identity.clone();
    let state = share.state(&mut study, &identity);
    let race = share.shape(Race {
        keep: Keep::Study,
        quiet: of.quiet,
        guess_s: Some(planted.pause_s),
        ..Race::of(&plan, study, &state, (of.features, of.asked))
    });
    let raced = race.run(|| Ok(()), |_, _| Ok(Box::new(Simulated::new(planted, &plan))))?;
    (of.finish)(&raced)
}

/// Builds and runs what is missing on this machine, or where the study says, and gathers what its sections ask for.
pub(super) fn run_here(
    args: &RunArgs,
    folder: &StudyFolder,
    mut plan: Plan,
    of: &Use<'_>,
) -> Result<Code, CommandError> {
    let features = of.features;
    // Before the builds: what cannot be read or written must not be found out an hour later.
    folder.inputs(&folder.expected()?)?;
    let share = Share::of(args.shard.as_deref(), &folder.dir, &mut plan, args.here)?;
    let maker = features.maker(&folder.study)?;
    let maker = maker.as_deref();
    let mut place = features.place(&folder.study, &plan)?;
    let counter = instrument::choose(&mut plan, features, of.quiet)?;
    let order = Order { partly: args.partly, ..folder.order(&plan, args.jobs.at_a_time(), of.quiet) };
    let made = maker.map(|maker| share.make(maker, &order, make)).transpose()?;
    let Made { lines: builds, digests, failed, has_layouts } = made.unwrap_or_default();
    if let Some(file) = &args.build_for {
        return tell_built(file, &Built { digests, failed });
    }
    args.extent.keep_layouts_without(has_layouts, &mut plan)?;
    let mut whole = plan.clone();
    if !builds.is_empty() {
        plan.variants.retain(|variant| digests.contains_key(&variant.name));
    }
    // As they are now, after the builds.
    let expected = folder.expected()?;
    let mut inputs = inputs(folder, &expected, &place::locale(&place))?;
    let mut setup = setup(folder, maker, &digests, expected, place::locale(&place));
    place::set_clock(&mut place, &setup, [&mut plan, &mut whole])?;
    let programs = place::programs(&place, &plan, &setup, inputs.files.keys());
    let files: Vec<String> = inputs.files.keys().cloned().collect();
    inputs.take_programs(programs.system);
    inputs.watched.extend(programs.built);
    let all = plan.study_line(&digests, &inputs.digest(), None);
    let merger = maker.filter(|_| !args.anyway);
    let merged = merger.map(|maker| maker.merge(&folder.study, &mut plan, &all, &builds)).unwrap_or_default();
    let shared = merged.shared;
    // Raced apart, they are another study.
    whole.variants.retain(|variant| shared.iter().all(|one| one.variant.name != variant.name));
    screen::err(if of.quiet { "" } else { &merged.notes });
    if let Some(otherwise) = merged.nothing_left {
        return (of.without_trials)(&record_of(all, shared, builds), otherwise);
    }
    let (mut study, older) = study_line(&whole, &plan, &digests, &inputs);
    study.shared = shared;
    let state = share.state(&mut study, &older);
    let guess_s = trials_s(&folder.dir, &plan).map(|all_s| all_s / trials(&plan));
    setup.scratch = share.scratch(&state);
    setup.harnesses = features.harnesses.first().copied();
    let apart: Vec<&Path> = std::iter::once(setup.scratch.as_path()).chain(maker.map(Maker::root)).collect();
    let race = share.shape(Race {
        made: &builds,
        watched: inputs.watched,
        keep: Keep::Study,
        maker,
        quiet: of.quiet,
        guess_s,
        trace: args.extent.trace(&apart),
        evidence: Some(Wanted { sections: &folder.study.sections, digests: &digests }),
        counter,
        ..Race::of(&plan, study, &state, (features, of.asked))
    });
    let check = || place::check(&place, &plan, &setup);
    let raced = race.run(check, |watched, keep| {
        let order = folder.order(&plan, args.jobs.at_a_time(), of.quiet);
        let on_demand = maker.map(|maker| maker.on_demand(&order)).transpose()?.flatten();
        let setting = PlaceSetting {
            plan: &plan,
            study_file: folder.file.clone(),
            setup: setup.clone(),
            files,
            watch: executed::watch(watched, &setup, maker, &builds),
            on_demand,
            keep: keep.try_clone_to_owned().map_err(|error| CommandError::new(Code::Internal, error))?,
        };
        place::executor(&place, setting)
    })?;
    (of.finish)(&raced.release(|| screen::err(&maker.map(|maker| maker.added(&builds)).unwrap_or_default())))
}

/// Writes what there is for those who run the trials.
fn tell_built(file: &Path, built: &Built) -> Result<Code, CommandError> {
    Target::of(file)?.write(&serde_json::to_vec_pretty(built)?)?;
    Ok(Code::Done)
}

/// The record of a study of which nothing is left to compare.
fn record_of(all: StudyLine, shared: Vec<SharedLine>, builds: Vec<MadeLine>) -> Record {
    let mut study = all;
    study.variants.retain(|variant| shared.iter().all(|one| one.variant.name != variant.name));
    let mut record = Record::new(StudyLine { shared, ..study });
    record.made = builds;
    record
}

/// The head of a journal, and the identity that versions before gave it where a build fails. That a variant cannot be
/// built today is no part of what makes the trials of the others comparable.
fn study_line(whole: &Plan, plan: &Plan, digests: &BTreeMap<String, String>, inputs: &Inputs) -> (StudyLine, String) {
    let mut study = plan.study_line(digests, &inputs.digest(), None);
    let older = std::mem::replace(&mut study.identity, whole.identity(digests, &inputs.digest()));
    let mut keys = whole.keys();
    keys.extend(inputs.locale.iter().map(|locale| (locale::KEY.to_owned(), locale.clone())));
    study.basis = Some(Basis { keys, files: inputs.files.clone(), ..Basis::default() });
    (study, older)
}

/// Makes the variants, after a note of how long it may take.
fn make(maker: &dyn Maker, order: &Order<'_>) -> Result<Made, CommandError> {
    let foreseen = if order.quiet { Foreseen::default() } else { maker.foresee(order)? };
    if let Some(missing) = &foreseen.missing {
        let (most, trials) = (at_most(order.plan), order.plan.trials());
        screen::err(&format!("{missing}; {most}{trials} trials follow\n"));
        screen::err(&takes(order, &foreseen));
    }
    maker.make(order)
}

/// Those that are not of building.
fn trials(plan: &Plan) -> f64 {
    (plan.trials() - plan.building_trials()).max(1) as f64
}

fn finish(args: &Args, raced: &Raced<'_>, features: &Registry) -> Result<Code, CommandError> {
    let more = format!("bakeoff report {}", args.run.study());
    let code = args.showing.show_new(&raced.record, &more, features)?;
    Ok(ended(raced.ending).unwrap_or(code))
}

/// What the ending of a race means for the exit code, if it was not completed.
pub(super) fn ended(ending: Ending) -> Option<Code> {
    match ending {
        Ending::Complete => None,
        Ending::Changed => Some(Code::Usage),
        Ending::Stopped => {
            screen::err("stopped, but nothing is lost; run the same command again to resume\n");
            Some(Code::Interrupted)
        }
    }
}

/// What trials depend on besides builds: the study's files, all of them as they should be, and the locale.
fn inputs(
    folder: &StudyFolder,
    expected: &BTreeMap<String, Vec<u8>>,
    locale: &BTreeMap<String, String>,
) -> Result<Inputs, CommandError> {
    let mut inputs = folder.inputs(expected)?;
    inputs.take_locale(locale::shown(locale));
    programs::pointers(inputs.watched.iter().filter(|file| file.is_lfs_pointer()).map(|file| file.name.clone()))?;
    Ok(inputs)
}

fn setup(
    folder: &StudyFolder,
    maker: Option<&dyn Maker>,
    digests: &BTreeMap<String, String>,
    expected: BTreeMap<String, Vec<u8>>,
    locale: BTreeMap<String, String>,
) -> Setup {
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    Setup {
        dir: folder.dir.clone(),
        fresh_home: true,
        environment: std::iter::once(("PATH".to_owned(), path)).chain(locale).collect(),
        prefixes: maker.map(|maker| prefixes(maker, digests)).unwrap_or_default(),
        expected,
        ..Setup::default()
    }
}

fn prefixes(maker: &dyn Maker, digests: &BTreeMap<String, String>) -> BTreeMap<String, PathBuf> {
    digests.iter().map(|(variant, digest)| (variant.clone(), maker.prefix_of(digest))).collect()
}
