//! `bakeoff compare --git`: revisions of a Git repository as variants, without a study file. Each is built by the path of
//! `bakeoff run`, and runs in its own tree; the race is that of commands.

mod options;
mod path;
mod same;

use crate::Cache;
use crate::alike::groups;
use crate::journal::{BuildLine, BuildOutcome};
use crate::maker::have_layouts;
use crate::same_code::{SameCode, judge};
use bakeoff_code::{Difference, What};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::study_folder::words;
use bakeoff_command::{Made, Merged, Prepared, SourceRequest, VariantSource, screen};
use bakeoff_lab::local::Absent;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{SameIn, SharedLine};
use bakeoff_model::study::Vary;
use clap::{ArgMatches, Args as _, FromArgMatches as _};
use options::{Options, TOOLS};
pub use path::{Commit, Commits, Subject};
use same::Use;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// How many files that differ are named.
const FILES_SHOWN: usize = 4;

/// How many functions that differ are named.
pub(crate) const SYMBOLS_SHOWN: usize = 10;

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
    let made = Made { lines: BuildLine::made(&lines)?, digests, has_layouts: have_layouts(&lines), ..Made::default() };
    let is_built = options.build.is_some() && !builds_again(command);
    let seen = Use { command, inner: &revisions.inner, is_built };
    let is_about_code = made.has_layouts && is_built && !request.in_one_layout;
    let alike = match options.anyway {
        true => Alike::default(),
        false => Alike::of(&cache, &mut plan, &made, seen, is_about_code)?,
    };
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
    /// Files that have the same code at other addresses.
    moved: Vec<PathBuf>,
    /// What differs where it is known.
    differences: Vec<Difference>,
}

impl Alike {
    /// Takes the variants out of the plan that give the same program as one before them.
    fn of(
        cache: &Cache,
        plan: &mut Plan,
        made: &Made,
        seen: Use<'_>,
        is_about_code: bool,
    ) -> Result<Self, CommandError> {
        let mut alike = Self::default();
        let builds = BuildLine::all(&made.lines);
        let build = |variant: &Variant| builds.iter().find(|line| line.digest == made.digests[&variant.name]);
        let mut kept: Vec<Variant> = vec![];
        for variant in &plan.variants {
            let mut with = None;
            for first in &kept {
                let (Some(one), Some(other)) = (build(first), build(variant)) else { continue };
                if let Some(same_in) = alike.same(cache, [one, other], seen, is_about_code)? {
                    with = Some((first.name.clone(), same_in));
                    break;
                }
            }
            match with {
                None => kept.push(variant.clone()),
                Some((with, same_in)) => {
                    alike.shared.push(SharedLine { variant: variant.line(&made.digests), with, same_in });
                }
            }
        }
        for files in [&mut alike.differing, &mut alike.moved] {
            files.sort();
            files.dedup();
        }
        plan.variants = kept;
        Ok(alike)
    }

    /// In what two builds are the same, if they are.
    fn same(
        &mut self,
        cache: &Cache,
        both: [&BuildLine; 2],
        seen: Use<'_>,
        is_about_code: bool,
    ) -> Result<Option<SameIn>, CommandError> {
        let [one, other] = both.map(|build| &build.digest);
        if one == other {
            return Ok(Some(SameIn::Files));
        }
        // What is loaded of a program is never for people; so trees need not be read where that differs.
        let differ = both[0].proof.binaries.is_some()
            && both[1].proof.binaries.is_some()
            && both[0].proof.binaries != both[1].proof.binaries;
        if differ && !is_about_code {
            return Ok(None);
        }
        let Some(files) = cache.differences([one, other])? else { return Ok(None) };
        let (unmet, met): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| seen.does_not_meet(file));
        let same_in = match met.is_empty() {
            true => SameIn::Files,
            false if !is_about_code => return Ok(None),
            false => match judge(cache, both, &met) {
                SameCode::Same => SameIn::Code,
                SameCode::Unknown => return Ok(None),
                SameCode::Differs(differences) => {
                    self.differences.extend(differences);
                    return Ok(None);
                }
            },
        };
        self.differing.extend(unmet);
        self.moved.extend(met);
        Ok(Some(same_in))
    }

    /// What `compare` has to know of them. That nothing is left to race is an answer, and no mistake of the user's: a
    /// pipeline goes on.
    fn merged(self, plan: &Plan, quiet: bool) -> Merged {
        let nothing_left = (plan.variants.len() < 2).then(|| Ok(self.answer(plan)));
        let notes = match quiet || nothing_left.is_some() {
            true => String::new(),
            false => self.notes() + &differing_symbols(&self.differences).map(|(_, note)| note).unwrap_or_default(),
        };
        Merged { shared: self.shared, notes, nothing_left }
    }

    fn answer(&self, plan: &Plan) -> String {
        let shared = self.shared.iter().map(|one| one.variant.name.as_str());
        let names: Vec<&str> = std::iter::once(plan.baseline().name.as_str()).chain(shared).collect();
        let all = if names.len() == 2 { "both revisions" } else { "all revisions" };
        let (how, hint) = match self.moved.is_empty() {
            true => ("", "use --anyway to run each revision"),
            false => {
                ("; only addresses differ", "use --layouts one to compare the files as built, with their addresses")
            }
        };
        format!(
            "{}: {all} produce the same program{how}, so there is nothing to measure\n{}\nhint: {hint}\n",
            clean(&names.join(", ")),
            self.differing()
        )
    }

    /// A line for each group that races once.
    fn notes(&self) -> String {
        let is_code = |first: &str| self.shared.iter().any(|one| one.with == first && one.same_in == SameIn::Code);
        let note = |names: Vec<&str>| {
            let how = if is_code(names[0]) { "; only addresses differ" } else { "" };
            let names = clean(&names.join(", "));
            format!(
                "note: {names} produce the same program{how}, so Bakeoff runs it only once; use --anyway to run each of \
                them\n"
            )
        };
        groups(&self.shared).into_iter().map(note).collect()
    }

    /// What differs although the program is the same.
    fn differing(&self) -> String {
        if !self.moved.is_empty() {
            return format!(
                "all functions and data that both programs have are equal in {}, and nothing refers to the others",
                listed(&self.moved)
            );
        }
        match self.differing.is_empty() {
            true => "their trees are the same, file for file".to_owned(),
            false => {
                let files = listed(&self.differing);
                format!("their trees differ only in {files}, which the command neither runs nor names")
            }
        }
    }
}

/// How many functions and data differ, and a note of them, where that is known.
pub(crate) fn differing_symbols(differences: &[Difference]) -> Option<(usize, String)> {
    let of_symbols = differences.iter().filter(|one| one.what == What::Symbol && !one.name.is_empty());
    let all: BTreeSet<String> = of_symbols.map(described).collect();
    let shown: Vec<&str> = all.iter().take(SYMBOLS_SHOWN).map(String::as_str).collect();
    let more = all.len() - shown.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let note = format!("note: these functions or data differ: {}{more}\n", clean(&shown.join(", ")));
    (!shown.is_empty()).then_some((all.len(), note))
}

/// The first of these files, and how many more there are.
fn listed(files: &[PathBuf]) -> String {
    let shown: Vec<String> = files.iter().take(FILES_SHOWN).map(|file| clean(&file.display().to_string())).collect();
    let more = files.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// A function with its sizes: `main (120 and 128 bytes)`.
fn described(difference: &Difference) -> String {
    let name = &difference.name;
    match difference.sizes {
        [Some(one), Some(other)] if one == other => format!("{name} ({one} bytes)"),
        [Some(one), Some(other)] => format!("{name} ({one} and {other} bytes)"),
        [Some(one), None] | [None, Some(one)] => format!("{name} ({one} bytes, in one of them)"),
        [None, None] => name.clone(),
    }
}
