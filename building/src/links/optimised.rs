//! Links that compile (`-flto`), by gcc. Its driver performs the whole call once more, and leaves the objects with machine code
//! that it makes on the way. A link of these takes the place of the first one: it compiles nothing, so layouts cost no more
//! than others do. Other compilers leave no such objects, and a linker that was called without a driver has none.

use super::copied::{self, Instead, without_outputs};
use super::link::{Installed, Link, Repetition, Work, as_installed, holds_bitcode};
use super::recorded::{Recorded, plain_words, traced};
use crate::error::Error;
use crate::files::{entries, wipe};
use crate::journal::Repeated;
use crate::wrapper::{Call, ToolKind};
use crate::wrappers::plain;
use object::{Object as _, ObjectSection as _};
use std::fs;
use std::path::{Path, PathBuf};

/// What objects with machine code end in: of each part, or of all of it.
const ENDINGS: [&str; 2] = [".ltrans.o", ".lto.o"];

/// What the driver writes in the folder where it was called, and how all begins that it leaves: gcc 12 misreads `-dumpdir`.
const OUTPUT: &str = "linked-again";

/// What must be equal in both: the same code and data in the same places. Names of symbols and their order are not.
const SECTIONS: [&str; 7] = [".text", ".rodata", ".data", ".data.rel.ro", ".init_array", ".fini_array", ".eh_frame"];

/// Performs it again, and compares; the call of the driver is among these, if it is known.
pub(super) fn repeat(
    link: &Link<'_>,
    calls: &[Call],
    inputs: &[PathBuf],
    work: &mut Work<'_>,
    installed: &Installed<'_>,
) -> Result<Repetition, Error> {
    let unknown = Ok((Repeated::LinkTimeOptimised, 0.0, None));
    let driver = calls.iter().rev().find(|call| is_driver_of(call, link));
    let Some(driver) = driver.filter(|_| !inputs.iter().any(|path| holds_bitcode(path))) else { return unknown };
    let site = work.site;
    let trace = site.work.join("relinked.trace");
    let mut argv = vec![driver.tool.display().to_string()];
    argv.extend(without_outputs(&driver.texts()).iter().map(|word| link.kept(word, site)));
    argv.extend(["-Wl,--trace,--trace", "-save-temps", "-o", OUTPUT].map(str::to_owned));
    let ended = site.relink(work.shell, &argv, &driver.dir, &trace)?;
    let mut took_s = ended.measurements.get("wall").copied().unwrap_or(0.0);
    if let Some(why) = work.shell.complaint(&ended.end) {
        return Ok((Repeated::Failed { why }, took_s, None));
    }
    let left = left(&driver.dir)?;
    let content = fs::read(driver.dir.join(OUTPUT)).unwrap_or_default();
    let found = match as_installed(&content, work.digest, installed) {
        Ok(found) => found,
        Err(repeated) => return Ok((repeated, took_s, None)),
    };
    let text = fs::read_to_string(&trace).unwrap_or_default();
    let trace: Vec<(PathBuf, Option<String>)> =
        traced(&text).into_iter().map(|(path, member)| (link.call.dir.join(path), member)).collect();
    let instead = Instead { of: inputs.iter().map(|path| plain(path)).collect(), by: with_code(&left) };
    let words = copied::words(link.call, site, work.copies, &trace, false, &instead)?;
    left.iter().try_for_each(|path| wipe(path))?;
    let again = site.work.join("relinked");
    let recorded = Recorded { tool: link.call.tool.clone(), words, optimised: true, ..Recorded::default() };
    let words = plain_words(&recorded.words, &work.copies.folder);
    let ended = recorded.link(words, [&again, Path::new("")], work.shell, &site.work)?;
    let seconds = ended.measurements.get("wall").copied().unwrap_or(0.0);
    took_s += seconds;
    let is_same = fs::read(&again).is_ok_and(|made| !instead.by.is_empty() && code_of(&made) == code_of(&content));
    wipe(&again)?;
    if !is_same {
        return Ok((Repeated::NotFromCopies, took_s, None));
    }
    let recorded = Recorded { loaded: installed.loaded.clone(), replaced: found.replaced, ..recorded };
    Ok((Repeated::Same { seconds, is_changed_later: found.is_changed_later }, took_s, Some(recorded)))
}

/// Whether a call had that link performed.
fn is_driver_of(call: &Call, link: &Link<'_>) -> bool {
    let output = call.output().map_or_else(|| "a.out".into(), PathBuf::from);
    let stops_before = |word: &String| ["-c", "-S", "-E", "-r"].contains(&word.as_str());
    call.kind() == ToolKind::Driver
        && plain(&call.dir.join(output)) == link.output
        && !call.texts().iter().any(stops_before)
}

/// The files that a driver has written.
fn left(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let is_of_it = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(OUTPUT));
    Ok(entries(folder)?.into_iter().filter(is_of_it).collect())
}

/// Those with machine code, in the order of their numbers.
fn with_code(left: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<(usize, PathBuf)> = vec![];
    for path in left {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            let digits: String = name.chars().filter(char::is_ascii_digit).collect();
            found.push((digits.parse().unwrap_or(0), path.clone()));
        }
    }
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The code and data of a file with their addresses.
fn code_of(content: &[u8]) -> Option<Vec<(String, u64, Vec<u8>)>> {
    let file = object::File::parse(content).ok()?;
    let sections = file.sections().filter_map(|section| {
        let name = section.name().ok().filter(|name| SECTIONS.contains(name))?;
        Some((name.to_owned(), section.address(), section.data().ok()?.to_vec()))
    });
    Some(sections.collect())
}
