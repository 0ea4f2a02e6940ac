//! `bakeoff compare --git`: revisions of a Git repository as variants, without a study file. Each is built by the path of
//! `bakeoff run`, and runs in its own tree; the race is that of commands.

mod options;
mod same;

use crate::Cache;
use crate::alike::groups;
use crate::journal::{BuildLine, BuildOutcome};
use crate::maker::have_layouts;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::study_folder::words;
use bakeoff_command::{Made, Merged, Prepared, SourceRequest, VariantSource, screen};
use bakeoff_lab::local::Absent;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::SharedLine;
use bakeoff_model::study::Vary;
use clap::{ArgMatches, Args as _, FromArgMatches as _};
use options::{Options, TOOLS};
use same::Use;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many files that differ are named.
const FILES_SHOWN: usize = 4;

/// Revisions, as `compare` gets them.
pub(crate) const REVISIONS: VariantSource = VariantSource { options: Options::augment_args, prepare };

fn prepare(matches: &ArgMatches, request: &SourceRequest<'_>) -> Option<Result<Prepared, CommandError>> {
    let options = Options::from_arg_matches(matches).ok()?;
    (!options.revisions.is_empty()).then(|| prepared(&options, request))
}

fn prepared(options: &Options, request: &SourceRequest<'_>) -> Result<Prepared, CommandError> {
    let command = only_command(request)?;
    let cache = Cache::open(Cache::default_root()?)?;
    let revisions = options.find(&cache, command, request.quiet)?;
    let mut plan = Plan {
        variants: revisions.variants.clone(),
        build_factors: vec![revisions.factor.clone()],
        ..request.plan.clone()
    };
    plan.decide.baseline = plan.variants[0].levels.clone();
    let folder = revisions.study(&plan, request.scratch);
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let lines = cache.build(&folder.order(&plan, jobs, request.quiet), false)?;
    let digests = built(&mut plan, &lines)?;
    let made = Made { lines: BuildLine::made(&lines)?, digests, has_layouts: have_layouts(&lines) };
    let is_built = options.build.is_some() && !builds_again(command);
    let seen = Use { command, inner: &revisions.inner, is_built };
    let alike = if options.anyway { Alike::default() } else { Alike::of(&cache, &mut plan, &made, seen)? };
    Ok(Prepared {
        merged: alike.merged(&plan, request.quiet),
        plan: Plan { vary: [plan.vary, vec![Vary::Layouts]].concat(), ..plan },
        maker: Some(Box::new(cache)),
        made,
        folder: Some(revisions.inner),
        study: Some(folder.study),
        explain: options.build.is_none().then_some(not_in_the_tree),
    })
}

/// The command that each revision runs.
fn only_command<'a>(request: &SourceRequest<'a>) -> Result<&'a str, CommandError> {
    let [command] = request.commands else {
        let error = format!("--git takes exactly one command, not {}", request.commands.len());
        return Err(CommandError::usage(error).hint("give one command; Bakeoff runs it in each revision"));
    };
    if request.plan.variants.len() > 1 {
        let error = "cannot combine --git with parameters";
        return Err(CommandError::usage(error).hint("remove --git, or write one value into the command"));
    }
    Ok(command)
}

/// A tree that was not built lacks what a build would leave.
fn not_in_the_tree(absent: &Absent) -> Option<CommandError> {
    let Absent { variant, program, why, .. } = absent;
    program.contains('/').then(|| {
        CommandError::usage(clean(&format!("`{program}` {why} in the tree of {variant}")))
            .hint("build each revision first, for example with --build make")
    })
}

/// Whether a command may compile what the tree has, as `go test` does: then what was built is not what is run.
fn builds_again(command: &str) -> bool {
    let tool = |word: &str| TOOLS.contains(&word.rsplit('/').next().unwrap_or(word));
    words(command).any(tool)
}

/// Leaves out the variants that could not be built, and returns the digest of each other's build. Without the baseline,
/// or with nothing else to compare, the command ends.
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
        log.iter().for_each(|log| text.push_str(&format!("hint: the full log is in {log}\n")));
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
    fn of(cache: &Cache, plan: &mut Plan, made: &Made, seen: Use<'_>) -> Result<Self, CommandError> {
        let mut alike = Self::default();
        let builds = BuildLine::all(&made.lines);
        let mut kept: Vec<Variant> = vec![];
        for variant in &plan.variants {
            let mut with = None;
            for first in &kept {
                let both = [&made.digests[&first.name], &made.digests[&variant.name]].map(String::as_str);
                // What is loaded of a program is never for people; so trees need not be read where that differs.
                let [one, other] = both.map(|digest| binaries(&builds, digest));
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
                    alike.shared.push(SharedLine { variant: variant.line(&made.digests), with });
                }
            }
        }
        alike.differing.sort();
        alike.differing.dedup();
        plan.variants = kept;
        Ok(alike)
    }

    /// What `compare` has to know of them. That nothing is left to race is an answer, and no mistake of the user's: a
    /// pipeline goes on.
    fn merged(self, plan: &Plan, quiet: bool) -> Merged {
        let nothing_left = (plan.variants.len() < 2).then(|| Ok(self.answer(plan)));
        let notes = if quiet || nothing_left.is_some() { String::new() } else { self.notes() };
        Merged { shared: self.shared, notes, nothing_left }
    }

    fn answer(&self, plan: &Plan) -> String {
        let shared = self.shared.iter().map(|one| one.variant.name.as_str());
        let names: Vec<&str> = std::iter::once(plan.baseline().name.as_str()).chain(shared).collect();
        let all = if names.len() == 2 { "both revisions" } else { "all revisions" };
        format!(
            "{}: {all} produce the same program, so there is nothing to measure\n{}\nhint: use --anyway to run each \
             revision\n",
            clean(&names.join(", ")),
            self.differing()
        )
    }

    /// A line for each group that races once.
    fn notes(&self) -> String {
        let note = |names: Vec<&str>| {
            let names = clean(&names.join(", "));
            format!(
                "note: {names} produce the same program, so Bakeoff runs it only once; use --anyway to run each of \
                them\n"
            )
        };
        groups(&self.shared).into_iter().map(note).collect()
    }

    /// What differs although the program is the same.
    fn differing(&self) -> String {
        let shown: Vec<String> =
            self.differing.iter().take(FILES_SHOWN).map(|file| clean(&file.display().to_string())).collect();
        let more = self.differing.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        match shown.is_empty() {
            true => "their trees are the same, file for file".to_owned(),
            false => {
                format!(
                    "their trees differ only in {}{more}, which the command neither runs nor names",
                    shown.join(", ")
                )
            }
        }
    }
}

/// The digest of what is loaded of the programs of a build, if it is known.
fn binaries<'a>(lines: &'a [BuildLine], digest: &str) -> Option<&'a String> {
    lines.iter().find(|line| line.digest == digest)?.proof.binaries.as_ref()
}
