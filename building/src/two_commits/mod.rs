//! `bakeoff compare --git`: revisions of a Git repository as variants, without a study file. Each is built by the path of
//! `bakeoff run`, and executed in its own tree by that of `bakeoff compare`.

mod asked;
mod same;

use super::options::{Compared, Extent, Showing};
use crate::here;
use crate::race::{Keep, Race};
use crate::{executed, programs};
pub(super) use asked::Asked;
use asked::Revisions;
use bakeoff_building::Cache;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::scratch::Scratch;
use bakeoff_command::state::State;
use bakeoff_command::study_folder::words;
use bakeoff_command::{Registry, saved, screen};
use bakeoff_lab::local::{Setup, absent};
use bakeoff_model::plain::clean;
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{BuildLine, BuildOutcome, Record, SharedLine, StudyLine};
use same::Use;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What else the command line says.
pub(super) struct Given<'a> {
    /// The plan, with the variants of the command line in place of revisions.
    pub(super) plan: Plan,
    /// The command.
    pub(super) command: &'a str,
    /// Where the journal is kept, if it is.
    pub(super) journal: Option<&'a Path>,
    /// Whether nothing is drawn.
    pub(super) quiet: bool,
    /// Whether what the command prints is shown.
    pub(super) is_shown: bool,
    /// How findings are shown.
    pub(super) showing: &'a Showing,
    /// How long it is, and whether files are traced.
    pub(super) extent: &'a Extent,
    /// That of each trial.
    pub(super) environment: BTreeMap<String, String>,
}

/// How many files that differ are named.
const FILES_SHOWN: usize = 4;

pub(super) fn execute(asked: &Asked, given: Given<'_>, features: &Registry) -> Result<Code, CommandError> {
    bakeoff_host::interrupt::install()?;
    let scratch = Scratch::new("bakeoff-compare-", &std::env::temp_dir()).map_err(|error| {
        CommandError::new(Code::Internal, error).hint("TMPDIR names the folder for temporary files")
    })?;
    let cache = Cache::open(Cache::default_root()?)?;
    let revisions = asked.find(&cache, given.command, given.quiet)?;
    let mut plan = Plan {
        variants: revisions.variants.clone(),
        build_factors: vec![revisions.factor.clone()],
        ..given.plan.clone()
    };
    plan.decide.baseline = plan.variants[0].levels.clone();
    let folder = revisions.study(&plan, scratch.path());
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let builds = cache.build(&folder.order(&plan, jobs, given.quiet))?;
    let digests = built(&mut plan, &builds)?;
    let alike = match asked.anyway {
        true => Alike::default(),
        false => Alike::of(&cache, &mut plan, (&digests, &builds), seen_by(asked, &given, &revisions))?,
    };
    if plan.variants.len() < 2 {
        return same_program(&alike, &plan, (&digests, &builds), &given, features);
    }
    screen::err(&if given.quiet { String::new() } else { alike.notes(&plan.variants) });
    let prepared = Prepared { plan, builds, digests, shared: alike.shared, inner: revisions.inner };
    prepared.execute(&cache, asked, scratch.path(), &given, features)
}

fn seen_by<'a>(asked: &Asked, given: &Given<'a>, revisions: &'a Revisions) -> Use<'a> {
    Use { command: given.command, inner: &revisions.inner, is_built: asked.is_built() && !builds_again(given.command) }
}

/// Whether a command may compile what the tree has, as `go test` does: then what was built is not what is executed.
fn builds_again(command: &str) -> bool {
    let tool = |word: &str| asked::TOOLS.contains(&word.rsplit('/').next().unwrap_or(word));
    words(command).any(tool)
}

/// Leaves the variants out that could not be built, and returns the digest of each other's build. Without the baseline, or
/// with nothing beside it, the command ends.
fn built(plan: &mut Plan, builds: &[BuildLine]) -> Result<BTreeMap<String, String>, CommandError> {
    let mut digests = BTreeMap::new();
    let mut failures: Vec<(bool, String)> = vec![];
    for line in builds {
        let BuildOutcome::Failed { why, tail, log, .. } = &line.outcome else {
            digests.extend(line.variants.iter().map(|variant| (variant.clone(), line.digest.clone())));
            continue;
        };
        let mut text = format!("{} cannot be built: {}\n", clean(&line.variants.join(", ")), clean(why));
        tail.iter().for_each(|line| text.push_str(&format!("    {}\n", clean(line))));
        log.iter().for_each(|log| text.push_str(&format!("hint: the whole log is {log}\n")));
        failures.push((line.variants.contains(&plan.baseline().name), text));
    }
    plan.variants.retain(|variant| digests.contains_key(&variant.name));
    let ends = failures.iter().any(|(is_baseline, _)| *is_baseline) || plan.variants.len() < 2;
    match failures.iter().find(|(is_baseline, _)| *is_baseline).or(failures.first()) {
        Some((_, text)) if ends => Err(CommandError::text(Code::VariantFailed, format!("error: {text}"))),
        _ => {
            failures.iter().for_each(|(_, text)| screen::err(&format!("note: {text}")));
            Ok(digests)
        }
    }
}

/// Which revisions give the same program as another one, which races for both.
#[derive(Default)]
struct Alike {
    shared: Vec<SharedLine>,
    /// Files that differ nevertheless.
    differing: Vec<PathBuf>,
}

impl Alike {
    /// Takes the variants out of the plan that give the same program as one before them.
    fn of(
        cache: &Cache,
        plan: &mut Plan,
        (digests, builds): (&BTreeMap<String, String>, &[BuildLine]),
        seen: Use<'_>,
    ) -> Result<Self, CommandError> {
        let binaries = |digest: &str| {
            let line = builds.iter().find(|line| line.digest == digest);
            line.and_then(|line| line.proof.binaries.as_ref())
        };
        let mut alike = Self::default();
        let mut kept: Vec<Variant> = vec![];
        for variant in &plan.variants {
            let mut with = None;
            for first in &kept {
                let both = [&digests[&first.name], &digests[&variant.name]].map(String::as_str);
                // What is loaded of a program is never for people; so trees need not be read where that differs.
                let [one, other] = both.map(binaries);
                let differing = match both[0] == both[1] {
                    true => Some(vec![]),
                    false if one.is_some() && other.is_some() && one != other => None,
                    false => cache.differences(both)?,
                };
                if let Some(differing) = differing.filter(|files| files.iter().all(|file| seen.does_not_meet(file))) {
                    with = Some((first.name.clone(), differing));
                    break;
                }
            }
            match with {
                None => kept.push(variant.clone()),
                Some((with, differing)) => {
                    alike.differing.extend(differing);
                    alike.shared.push(SharedLine { variant: variant.line(digests), with });
                }
            }
        }
        alike.differing.sort();
        alike.differing.dedup();
        plan.variants = kept;
        Ok(alike)
    }

    /// A line for each group that races once.
    fn notes(&self, kept: &[Variant]) -> String {
        let mut text = String::new();
        for first in kept {
            let others = self.shared.iter().filter(|one| one.with == first.name);
            let others: Vec<&str> = others.map(|one| one.variant.name.as_str()).collect();
            if !others.is_empty() {
                let names = clean(&[&[first.name.as_str()][..], &others].concat().join(", "));
                text.push_str(&format!(
                    "note: {names} give the same program and race once; --anyway races them apart\n"
                ));
            }
        }
        text
    }

    /// What differs although the program is the same.
    fn differing(&self) -> String {
        let shown: Vec<String> =
            self.differing.iter().take(FILES_SHOWN).map(|file| clean(&file.display().to_string())).collect();
        let more = self.differing.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        match shown.is_empty() {
            true => "their trees are the same, file for file".to_owned(),
            false => format!("they differ in {}{more}, which the command neither executes nor names", shown.join(", ")),
        }
    }
}

/// The answer where nothing is left to race. It is one, and no mistake of the user's: a pipeline goes on.
fn same_program(
    alike: &Alike,
    plan: &Plan,
    (digests, builds): (&BTreeMap<String, String>, &[BuildLine]),
    given: &Given<'_>,
    features: &Registry,
) -> Result<Code, CommandError> {
    let study = StudyLine { shared: alike.shared.clone(), ..plan.study_line(digests, "", None) };
    let mut record = Record::new(study);
    record.builds = builds.to_vec();
    let names: Vec<&str> = std::iter::once(plan.baseline().name.as_str())
        .chain(alike.shared.iter().map(|one| one.variant.name.as_str()))
        .collect();
    let all = if names.len() == 2 { "both commits" } else { "all commits" };
    let answer = format!(
        "{}: {all} give the same program, so that there is no difference to measure\n{}\n\
         hint: --anyway races them all the same\n",
        clean(&names.join(", ")),
        alike.differing()
    );
    given.showing.without_trials(&record, Ok(answer), features)
}

/// Everything is built.
struct Prepared {
    plan: Plan,
    builds: Vec<BuildLine>,
    digests: BTreeMap<String, String>,
    shared: Vec<SharedLine>,
    inner: PathBuf,
}

impl Prepared {
    fn setup(&self, cache: &Cache, scratch: &Path, given: &Given<'_>, features: &Registry) -> Setup {
        Setup {
            // Of the current folder nothing counts: a trial is executed in the tree of its revision.
            dir: scratch.join("nothing"),
            below_prefix: Some(self.inner.clone()),
            scratch: scratch.to_owned(),
            environment: given.environment.clone(),
            harnesses: features.harnesses.first().copied(),
            prefixes: self.digests.iter().map(|(name, digest)| (name.clone(), cache.prefix_of(digest))).collect(),
            ..Setup::default()
        }
    }

    fn execute(
        &self,
        cache: &Cache,
        asked: &Asked,
        scratch: &Path,
        given: &Given<'_>,
        features: &Registry,
    ) -> Result<Code, CommandError> {
        let (plan, setup) = (&self.plan, self.setup(cache, scratch, given, features));
        let state = State::at(&given.journal.map_or_else(|| scratch.join("journal.jsonl"), Path::to_owned));
        let folder = self.inner.as_os_str().as_encoded_bytes();
        let (mut study, watched) = here::head(plan, &setup, &self.digests, folder, None);
        study.shared.clone_from(&self.shared);
        let race = Race {
            builds: &self.builds,
            watched,
            keep: if given.journal.is_some() { Keep::Named } else { Keep::Scratch },
            maker: Some(cache),
            quiet: given.quiet,
            trace: given.extent.trace(&[scratch, cache.root()]),
            ..Race::of(plan, study, &state, (features, given.showing.asked()))
        };
        let check = || can_start(plan, &setup, asked);
        let raced = race.run(check, |watched, keep| {
            let watch = executed::watch(watched, &setup, Some(cache), &self.builds);
            here::executor(plan, &setup, watch, keep, given.is_shown)
        })?;
        let raced = raced.release(|| {});
        let findings = features.judge(&raced.record);
        let is_last = given.journal.is_none() && saved::keep_last(&state.journal);
        let (record, ending) = (&raced.record, raced.ending);
        let compared = Compared { journal: given.journal, is_last, record, findings, ending, has_unpaired: false };
        given.showing.show_compared(&compared, features)
    }
}

/// Whether every revision has the program that the command names.
fn can_start(plan: &Plan, setup: &Setup, asked: &Asked) -> Result<(), CommandError> {
    programs::processors(plan)?;
    programs::locales(plan, setup);
    programs::pointers_in_builds(plan, setup)?;
    let absent = absent(plan, setup);
    match absent.first() {
        Some(first) if first.program.contains('/') && !asked.is_built() => {
            let error = format!("`{}` {} in the tree of {}", first.program, first.why, first.variant);
            Err(CommandError::usage(clean(&error))
                .hint("--build COMMAND builds each revision first, such as --build make"))
        }
        _ => programs::of_commands(&absent),
    }
}
