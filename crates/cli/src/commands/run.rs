//! `bakeoff run`: a study from its file to its report. Build, execute what is missing, judge, print; nothing else.

use super::build::{Jobs, Telling, build};
use super::estimates::at_most;
use super::options::{Extent, Kept, Selection, Showing};
use super::plan::takes;
use crate::on_demand::Maker;
use crate::race::{Keep, Race, Wanted};
use crate::session::Raced;
use crate::{alike, continued, executed, place, programs};
use bakeoff_building::{Cache, DamageKind, Request, survey};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::state::StateFolder;
use bakeoff_command::study_folder::{Inputs, StudyFolder};
use bakeoff_command::{PlaceSetting, Registry, locale, screen};
use bakeoff_lab::Ending;
use bakeoff_lab::local::Setup;
use bakeoff_lab::simulated::{Simulated, Truth};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Basis, BuildLine, BuildOutcome, SharedLine, StudyLine};
use bakeoff_model::study::Factor;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Build, run and judge a study; repeat the command to go on where it stopped
///
/// Ctrl-C stops after the current trial, a second Ctrl-C kills that trial; nothing is lost either way, and the same
/// command goes on. The journal is kept in the study's folder, under .bakeoff/.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    showing: Showing,
    #[command(flatten)]
    kept: Kept,
    /// Show no progress on standard error
    #[arg(long, short)]
    quiet: bool,
    /// Build and run nothing: rehearse the plan with durations drawn from a planted truth
    ///
    /// TRUTH is a comma-separated list of NAME:NUMBER. NAME is the display name of a variant (with its ratio to the
    /// baseline), the name of a condition (with its ratio to the idle machine), or one of these settings: base
    /// (seconds), noise (standard deviation of the logarithm), drift (change of the logarithm), failing and void
    /// (probabilities), pause (seconds that a trial really takes), and seed.
    #[arg(long, value_name = "TRUTH")]
    simulate: Option<String>,
    /// Run variants separately even if their builds are the same program, file for file
    ///
    /// Otherwise such variants run once and share a row. Separately, they show this machine's noise.
    #[arg(long)]
    anyway: bool,
}

impl Args {
    /// Whether no progress is to be drawn.
    fn is_quiet(&self) -> bool {
        self.quiet || self.showing.is_quiet()
    }
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    args.kept.apply()?;
    args.showing.check(features)?;
    let folder = StudyFolder::open(&args.selection.study, features)?;
    let mut plan = args.selection.plan(&folder.study)?;
    args.extent.apply(&mut plan)?;
    bakeoff_host::interrupt::install()?;
    match &args.simulate {
        Some(truth) => rehearse(args, &folder, &plan, truth, features),
        None => execute_here(args, &folder, plan, features),
    }
}

fn rehearse(
    args: &Args,
    folder: &StudyFolder,
    plan: &Plan,
    truth: &str,
    features: &Registry,
) -> Result<Code, CommandError> {
    let planted = Truth::parse(truth, plan)?;
    let mut study = plan.study_line(&BTreeMap::new(), truth, Some(truth));
    let identity = study.identity.clone();
    let state = continued::choose(&StateFolder::of(&folder.dir)?, &mut study, &identity);
    let race = Race {
        keep: Keep::Study,
        quiet: args.is_quiet(),
        guess_s: Some(planted.pause_s),
        ..Race::of(plan, study, &state, (features, args.showing.asked()))
    };
    let raced = race.run(|| Ok(()), |_, _| Ok(Box::new(Simulated::new(planted, plan))))?;
    finish(args, &raced, features)
}

fn execute_here(args: &Args, folder: &StudyFolder, mut plan: Plan, features: &Registry) -> Result<Code, CommandError> {
    // Before the builds: what cannot be read or written must not be found out an hour later.
    folder.inputs(&folder.expected()?)?;
    let state_folder = StateFolder::of(&folder.dir)?;
    let cache = Cache::open(Cache::default_root()?)?;
    let mut place = features.place(&folder.study, &plan)?;
    if !args.is_quiet() {
        announce(&cache, folder, &plan, &args.jobs)?;
    }
    let telling = Telling { quiet: args.is_quiet(), announce: false };
    let builds = build(&cache, folder, &plan, &args.jobs, telling)?;
    let mut whole = plan.clone();
    let digests = built(&mut plan, folder.study.layers.is_empty(), &builds)?;
    // As they are now, after the builds.
    let expected = folder.expected()?;
    let mut inputs = inputs(folder, &expected, &place::locale(&place))?;
    let mut setup = setup(folder, &cache, &digests, expected, place::locale(&place));
    place::set_clock(&mut place, &setup, [&mut plan, &mut whole])?;
    let programs = place::programs(&place, &plan, &setup, inputs.files.keys());
    let files: Vec<String> = inputs.files.keys().cloned().collect();
    inputs.take_programs(programs.system);
    inputs.watched.extend(programs.built);
    let all = plan.study_line(&digests, &inputs.digest(), None);
    let shared = if args.anyway { vec![] } else { alike::merge(&mut plan, &all, &builds) };
    // Raced apart, they are another study.
    whole.variants.retain(|variant| shared.iter().all(|one| one.variant.name != variant.name));
    let left = nothing_left(args.is_quiet(), (&plan, &all), &shared, (&builds, &folder.study.build_factors));
    if let Some(otherwise) = left {
        return args.showing.without_trials(&alike::record(all, shared, builds), otherwise, features);
    }
    let (mut study, older) = study_line(&whole, &plan, &digests, &inputs);
    study.shared = shared;
    let state = continued::choose(&state_folder, &mut study, &older);
    let guess_s = takes::trials_s(&plan, &takes::known_walls(folder)).map(|all_s| all_s / trials(&plan));
    setup.scratch = state.scratch();
    setup.harnesses = features.harnesses.first().copied();
    let race = Race {
        builds: &builds,
        watched: inputs.watched,
        keep: Keep::Study,
        cache: Some(&cache),
        quiet: args.is_quiet(),
        guess_s,
        trace: args.extent.trace(&[&setup.scratch, cache.root()]),
        evidence: Some(Wanted { sections: &folder.study.sections, digests: &digests }),
        ..Race::of(&plan, study, &state, (features, args.showing.asked()))
    };
    let maker = OnceCell::new();
    let check = || place::check(&place, &plan, &setup);
    let raced = race.run(check, |watched, keep| {
        let request = Request::of(folder, &plan, args.jobs.at_a_time());
        let made = Maker::of(&cache, &request, &plan, args.is_quiet())?.map(|made| maker.get_or_init(|| made).calls());
        let setting = PlaceSetting {
            plan: &plan,
            study_file: folder.file.clone(),
            setup: setup.clone(),
            files,
            watch: executed::watch(watched, &setup, &cache, &builds),
            on_demand: made,
            keep: keep.try_clone_to_owned().map_err(|error| CommandError::new(Code::Internal, error))?,
        };
        place::executor(&place, setting)
    })?;
    // Nothing of it is left when others may build again.
    drop(maker);
    let raced = raced.release(|| warn_of_changed_prefixes(&cache, &builds));
    finish(args, &raced, features)
}

/// Says which variants share a row. If none are left to race: the answer that this is, or the error.
fn nothing_left(
    quiet: bool,
    (plan, all): (&Plan, &StudyLine),
    shared: &[SharedLine],
    (builds, factors): (&[BuildLine], &[Factor]),
) -> Option<Result<String, CommandError>> {
    if let Some(answer) = alike::same_revisions(plan, shared, builds, factors) {
        return Some(Ok(answer));
    }
    screen::err(&if quiet { String::new() } else { alike::notes(shared) });
    let left = alike::something_is_left(plan, shared, builds, || {
        let doubts = bakeoff_judge::doubts_about_builds(all, builds);
        bakeoff_report::build_doubts(&doubts, screen::style().width, false)
    });
    left.err().map(Err)
}

/// How many changed files of a prefix are named.
const CHANGES_SHOWN: usize = 3;

/// The head of a journal, and the identity that versions before gave it where a build fails. That a variant cannot be built
/// today is no part of what makes the trials of the others comparable.
fn study_line(whole: &Plan, plan: &Plan, digests: &BTreeMap<String, String>, inputs: &Inputs) -> (StudyLine, String) {
    let mut study = plan.study_line(digests, &inputs.digest(), None);
    let older = std::mem::replace(&mut study.identity, whole.identity(digests, &inputs.digest()));
    let mut keys = whole.keys();
    keys.extend(inputs.locale.iter().map(|locale| (locale::KEY.to_owned(), locale.clone())));
    study.basis = Some(Basis { keys, files: inputs.files.clone(), ..Basis::default() });
    (study, older)
}

/// Trials that write into what was built may have executed another program than those before them.
fn warn_of_changed_prefixes(cache: &Cache, builds: &[BuildLine]) {
    for line in builds.iter().filter(|line| line.outcome == BuildOutcome::Built) {
        // What was changed has ended the session.
        let mut damage = cache.damage_of(&line.digest);
        damage.retain(|damage| damage.kind == DamageKind::Added);
        if damage.is_empty() {
            continue;
        }
        let shown: Vec<String> = damage.iter().take(CHANGES_SHOWN).map(ToString::to_string).collect();
        let more = damage.len() - shown.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        screen::err(&format!(
            "note: the build of {} was changed after it was made, by a workload or by hand: {}{more}; the next command builds \
             it again. A workload should write into its own folder\n",
            line.variants.join(", "),
            shown.join(", ")
        ));
    }
}

/// Says how long it may take, if something has to be built first.
fn announce(cache: &Cache, folder: &StudyFolder, plan: &Plan, jobs: &Jobs) -> Result<(), CommandError> {
    let wanted = survey(cache, &Request::of(folder, plan, jobs.at_a_time()))?;
    let missing = wanted.iter().filter(|build| build.missing().next().is_some()).count();
    if missing > 0 {
        screen::err(&format!(
            "{missing} of {} builds are not in the cache, {}{} trials follow\n",
            wanted.len(),
            at_most(plan),
            plan.trials()
        ));
        screen::err(&takes::text(folder, plan, &wanted, cache, jobs.at_a_time()));
    }
    Ok(())
}

/// Those that are not of building.
fn trials(plan: &Plan) -> f64 {
    (plan.trials() - plan.building_trials()).max(1) as f64
}

fn finish(args: &Args, raced: &Raced<'_>, features: &Registry) -> Result<Code, CommandError> {
    let study = bakeoff_model::plain::clean(&args.selection.study.display().to_string());
    let code = args.showing.show_new(&raced.record, &format!("bakeoff report {study}"), features)?;
    match raced.ending {
        Ending::Complete => Ok(code),
        Ending::Changed => Ok(Code::Usage),
        Ending::Stopped => {
            screen::err("stopped; nothing is lost: execute the command again to go on\n");
            Ok(Code::Interrupted)
        }
    }
}

/// Leaves the variants out that could not be built, and returns the digest of each other's build.
fn built(
    plan: &mut Plan,
    nothing_to_build: bool,
    builds: &[BuildLine],
) -> Result<BTreeMap<String, String>, CommandError> {
    if nothing_to_build {
        return Ok(BTreeMap::new());
    }
    let failed = |error: &str, line: &BuildLine| {
        let BuildOutcome::Failed { layer, why, tail, log } = &line.outcome else { return String::new() };
        let mut text = format!("error: {error}: layer {layer}: {why}\n");
        tail.iter().for_each(|line| text.push_str(&format!("    {line}\n")));
        log.iter().for_each(|log| text.push_str(&format!("hint: the whole log is {log}\n")));
        text
    };
    let mut digests = BTreeMap::new();
    for line in builds {
        match &line.outcome {
            BuildOutcome::Built => {
                digests.extend(line.variants.iter().map(|v| (v.clone(), line.digest.clone())));
            }
            BuildOutcome::Failed { .. } if line.variants.contains(&plan.baseline().name) => {
                return Err(CommandError::text(Code::VariantFailed, failed("the baseline cannot be built", line)));
            }
            BuildOutcome::Failed { .. } => {}
        }
    }
    plan.variants.retain(|v| digests.contains_key(&v.name));
    if plan.variants.len() < 2 {
        let error = "no variant but the baseline could be built, so there is nothing to compare";
        let first = builds.iter().find(|line| line.outcome != BuildOutcome::Built);
        let text = first.map(|line| failed(&format!("{error}; {}", line.variants.join(", ")), line));
        return Err(text.map_or_else(
            || CommandError::new(Code::VariantFailed, error).hint("bakeoff build shows why"),
            |text| CommandError::text(Code::VariantFailed, text),
        ));
    }
    Ok(digests)
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
    cache: &Cache,
    digests: &BTreeMap<String, String>,
    expected: BTreeMap<String, Vec<u8>>,
    locale: BTreeMap<String, String>,
) -> Setup {
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    Setup {
        dir: folder.dir.clone(),
        fresh_home: true,
        environment: std::iter::once(("PATH".to_owned(), path)).chain(locale).collect(),
        prefixes: digests.iter().map(|(variant, digest)| (variant.clone(), cache.prefix_of(digest))).collect(),
        expected,
        ..Setup::default()
    }
}
