//! `bakeoff compare './old/prog x' './new/prog x'`: two files that Bakeoff did not build, before the first trial. If they have the same code
//! at other addresses, and nothing else differs between the commands, there is nothing to measure. On any doubt they race.

use crate::two_commits::{SYMBOLS_SHOWN, differing_symbols};
use bakeoff_code::{Answer, compare_files};
use bakeoff_command::error::CommandError;
use bakeoff_command::{Merged, Prepared, SourceRequest, VariantSource};
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Variant;
use bakeoff_model::record::{SameIn, SharedLine};
use clap::ArgMatches;
use memchr::memmem;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Larger files are not read: it would take seconds.
const LARGEST: u64 = 64 << 20;

/// Two programs, as `compare` gets them.
pub(crate) const PROGRAMS: VariantSource = VariantSource { options: |command| command, prepare };

fn prepare(matches: &ArgMatches, request: &SourceRequest<'_>) -> Option<Result<Prepared, CommandError>> {
    let [one, other] = &request.plan.variants[..] else { return None };
    let folder = request.folder.filter(|_| !request.in_one_layout && differ_in_programs(one, other))?;
    if matches.try_get_one::<bool>("anyway").ok().flatten().is_some_and(|anyway| *anyway) {
        return None;
    }
    let paths = [program(one)?, program(other)?];
    let merged = match compared(folder, paths)? {
        Answer::Same => same([one, other], paths),
        Answer::Differs(differences) => {
            let notes = differing_symbols(&differences).filter(|(number, _)| *number <= SYMBOLS_SHOWN);
            let notes = notes.filter(|_| !request.quiet).map(|(_, note)| note).unwrap_or_default();
            Merged { notes, ..Merged::default() }
        }
        Answer::Unknown(_) => return None,
    };
    let mut plan = request.plan.clone();
    plan.variants.truncate(2 - merged.shared.len());
    Some(Ok(Prepared { plan, merged, ..Prepared::default() }))
}

/// The program that a command starts, if the command is nothing but words.
fn program(variant: &Variant) -> Option<&str> {
    let command = variant.run.as_deref()?;
    let is_plain = command.chars().all(|c| c.is_alphanumeric() || " _@%+:,./-=".contains(c));
    let first = command.split_whitespace().next()?;
    (is_plain && first.contains('/') && !first.contains('=')).then_some(first)
}

/// Whether two variants are the same but for the paths of the programs that they start.
fn differ_in_programs(one: &Variant, other: &Variant) -> bool {
    let words = |variant: &Variant| {
        let run = variant.run.as_deref().unwrap_or_default();
        run.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let nameless =
        |variant: &Variant| Variant { name: String::new(), levels: BTreeMap::new(), run: None, ..variant.clone() };
    words(one) == words(other) && nameless(one) == nameless(other)
}

/// What is known of two files; none if they are the same, or if they might do something else by how they are called.
fn compared(folder: &Path, paths: [&str; 2]) -> Option<Answer> {
    let [one, other] = paths.map(|path| read(&folder.join(path)));
    let ((one, mode), (other, same_mode)) = (one?, other?);
    let [name, same] = paths.map(|path| path.rsplit('/').next().unwrap_or(path));
    let knows = |content: &[u8]| [name, same].iter().any(|name| memmem::find(content, name.as_bytes()).is_some());
    if one == other || mode != same_mode || name != same && (knows(&one) || knows(&other)) {
        return None;
    }
    Some(compare_files(&one, &other))
}

/// A file's content and rights.
fn read(path: &Path) -> Option<(Vec<u8>, u32)> {
    let about = fs::metadata(path).ok().filter(|about| about.is_file() && about.len() <= LARGEST)?;
    Some((fs::read(path).ok()?, about.permissions().mode()))
}

/// That nothing is left to race is an answer, and no mistake of the user's.
fn same([one, other]: [&Variant; 2], paths: [&str; 2]) -> Merged {
    let answer = format!(
        "{}, {}: both commands run the same program; only addresses differ, so there is nothing to measure\nall \
         functions and data that both programs have are equal in {} and {}, and nothing refers to the others\n\
         hint: use --layouts one to compare the files as built, with their addresses\n",
        clean(&one.name),
        clean(&other.name),
        clean(paths[0]),
        clean(paths[1])
    );
    let shared = SharedLine { variant: other.line(&BTreeMap::new()), with: one.name.clone(), same_in: SameIn::Code };
    Merged { shared: vec![shared], notes: String::new(), nothing_left: Some(Ok(answer)) }
}
