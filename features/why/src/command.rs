//! `bakeoff facts`: what builds are, read from their files: of a study's variants in the cache, of folders, of single
//! files. It builds and runs nothing.

use crate::facts::FileFacts;
use crate::facts::subject::{Subject, is_meant, matters};
use crate::facts_page;
use crate::reading::{Depth, Error, facts_below, facts_of, in_one_line};
use bakeoff_building::{Cache, Request, Wanted};
use bakeoff_command::Registry;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_model::plan::{BASELINE, Plan};
use std::path::{Path, PathBuf};

/// Describe builds and their differences: libraries, relocations, sections, compiler and flags
///
/// For a study, the command describes the build of the baseline and shows, file by file, how the build of each other
/// variant differs from it. The builds must be in the cache. If you name files or folders instead, the command
/// describes the first one and shows how the others differ from it. All facts come from the files themselves.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// A study, and the variants to show [default: all]; or ELF files, static archives, or folders that contain such
    /// files
    #[arg(required = true, value_name = "STUDY [VARIANT]... | FILE")]
    what: Vec<String>,
    /// The plan to use: `default` is [plan] in the study file; any other NAME is [plans.NAME]
    #[arg(long, value_name = "NAME", default_value = "default")]
    plan: String,
    /// Show only files with this name or path (`*` matches anything); repeat the option for several
    #[arg(long = "file", value_name = "PATTERN")]
    files: Vec<String>,
    /// Show everything, including sections, program headers and all names
    #[arg(long)]
    all: bool,
    /// Only count relocations (faster); with --all, also list the slots for symbols that the same file defines
    #[arg(long)]
    relocations: bool,
    /// Print all facts as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
Examples:
  bakeoff facts perl-options                        all variants that are in the cache
  bakeoff facts perl-options libperl=shared         the baseline and one other variant
  bakeoff facts /usr/bin/perl                       one file
  bakeoff facts old/lib/libx.so new/lib/libx.so     two files
  bakeoff facts old new --file 'lib*.so'            two folders, file by file

`bakeoff studies copy perl-options` creates the study of the first example. For a study, `facts` shows the executables
and shared objects in bin and lib; --file selects other files.";

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let (subjects, missing) = match args.what.split_first() {
        Some((study, variants)) if is_study(Path::new(study)) => of_study(args, Path::new(study), variants, features)?,
        _ => (args.what.iter().map(|path| named(args, Path::new(path))).collect::<Result<_, _>>()?, vec![]),
    };
    let text = if args.json {
        facts_page::facts_json(&subjects, &missing)?
    } else {
        facts_page::facts(&subjects, &missing, args.all, screen::style())
    };
    screen::page(&text, args.json);
    Ok(Code::Done)
}

fn is_study(path: &Path) -> bool {
    path.join("study.toml").is_file() || path.extension().is_some_and(|e| e == "toml")
}

impl Args {
    fn depth(&self) -> Depth {
        match (self.relocations, self.all) {
            (true, false) => Depth::Counts,
            (true, true) => Depth::Relocations,
            (false, _) => Depth::All,
        }
    }

    fn is_wanted(&self, path: &str) -> bool {
        self.files.iter().any(|pattern| is_meant(pattern, path))
    }
}

/// A file or folder that was named itself.
fn named(args: &Args, path: &Path) -> Result<Subject, CommandError> {
    let name = path.display().to_string();
    if path.is_dir() {
        return below(args, name, path, |file| args.files.is_empty() || args.is_wanted(&file.path));
    }
    let facts = facts_of(path, args.depth())?;
    Ok(Subject { place: name.clone(), name, is_file: true, files: vec![facts], ..Subject::default() })
}

fn below(
    args: &Args,
    name: String,
    folder: &Path,
    wanted: impl Fn(&FileFacts) -> bool,
) -> Result<Subject, CommandError> {
    let (mut files, unreadable) = facts_below(folder, args.depth())?;
    files.retain(wanted);
    let unreadable = unreadable.iter().map(in_one_line).collect();
    Ok(Subject { name, place: folder.display().to_string(), files, unreadable, ..Subject::default() })
}

/// The builds of a study's variants, the baseline's first, and what is missing.
fn of_study(
    args: &Args,
    path: &Path,
    variants: &[String],
    features: &Registry,
) -> Result<(Vec<Subject>, Vec<String>), CommandError> {
    let folder = StudyFolder::open(path, features)?;
    let mut plan = Plan::of(&folder.study, &args.plan)?;
    plan.only(variants)?;
    let cache = Cache::open(Cache::default_root()?)?;
    let builds = cache.survey(&Request::of(&folder.order(&plan, 1, true)))?;
    if builds.is_empty() {
        let hint = "name files or folders instead: bakeoff facts FILE...";
        return Err(CommandError::usage("this study builds nothing").hint(hint));
    }
    let is_baseline = |build: &&Wanted| build.variants.iter().any(|name| name == BASELINE);
    let (mut subjects, mut missing) = (vec![], vec![]);
    // The baseline's build comes first, whatever the order.
    let ordered = builds.iter().filter(is_baseline).chain(builds.iter().filter(|build| !is_baseline(build)));
    for build in ordered {
        let names = build.variants.join(", ");
        if build.failed_before.is_some() {
            missing.push(format!("cannot be built, as the study expects: {names}"));
            continue;
        }
        if build.missing().next().is_some() {
            if is_baseline(&build) || !variants.is_empty() {
                let error = CommandError::usage(format!("the build of {names} is not in the cache"));
                return Err(error.hint(format!("build it first: {}", how_to_build(path, build, args))));
            }
            missing.push(format!("not in the cache: {names}; to build: `{}`", how_to_build(path, build, args)));
            continue;
        }
        let matters = |file: &FileFacts| if args.files.is_empty() { matters(file) } else { args.is_wanted(&file.path) };
        subjects.push(below(args, names, &build.prefix, matters)?);
    }
    Ok((subjects, missing))
}

fn how_to_build(study: &Path, build: &Wanted, args: &Args) -> String {
    let plan = if args.plan == "default" { String::new() } else { format!(" --plan {}", args.plan) };
    let only = build.variants.first().filter(|name| *name != BASELINE);
    let only = only.map(|name| format!(" --only '{name}'")).unwrap_or_default();
    format!("bakeoff build {}{plan}{only}", PathBuf::from(study).display())
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        Self::usage(error)
    }
}
