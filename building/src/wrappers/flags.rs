//! How far the flags of a level came: which calls of compilers and linkers had them, and which of these had another
//! flag later that overrides them. It looks at words; whether a flag does anything is not known here.
//!
//! Only calls that build something count: not those that ask for a version or only preprocess, nor the probes of
//! `configure` and its like, nor linkers that a compiler called, because the compiler got the same.

mod call;
mod family;
mod rust;

use crate::journal::FlagSeen;
use crate::nouns::Layer;
use crate::tuning::Tuning;
use crate::wrapper::{Call, Language, is_for_linking, takes_value};
use call::bare;
pub(super) use call::{Build, builds};
pub(super) use rust::{crates_of_rust, of_rust};
use std::collections::BTreeMap;
use std::path::Path;

/// Variables whose words are flags wherever they are used as make's built-in rules use them, and for what.
const VARIABLES: [(&str, For); 8] = [
    ("CFLAGS", For::Compiling(Some(Language::C))),
    ("CXXFLAGS", For::Compiling(Some(Language::Cxx))),
    ("OBJCFLAGS", For::Compiling(Some(Language::ObjectiveC))),
    ("FFLAGS", For::Compiling(Some(Language::Fortran))),
    ("CPPFLAGS", For::Compiling(None)),
    ("TARGET_ARCH", For::Compiling(None)),
    ("LDFLAGS", For::Linking),
    ("LDLIBS", For::Linking),
];

/// Variables whose first word is a tool.
const TOOLS: [(&str, For); 3] =
    [("CC", For::Compiling(Some(Language::C))), ("CXX", For::Compiling(Some(Language::Cxx))), ("LD", For::Linking)];

/// What a flag is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    /// Compiling this language, or any.
    Compiling(Option<Language>),
    Linking,
}

/// A flag that a level declares.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared<'a> {
    variable: &'a str,
    flag: &'a str,
    purpose: For,
}

/// The flags that the level variables of a layer declare, each once for each variable.
pub(super) fn declared<'a>(layer: &'a Layer, variables: &BTreeMap<&'a str, &'a str>) -> Vec<Declared<'a>> {
    let mut all = vec![];
    for (&variable, &value) in variables {
        let usual = VARIABLES.iter().find(|(name, _)| *name == variable).map(|(_, purpose)| (*purpose, 0));
        let tool = TOOLS.iter().find(|(name, _)| *name == variable).map(|(_, purpose)| (*purpose, 1));
        let listed = layer.flags.iter().any(|name| name == variable).then_some((For::Compiling(None), 0));
        let Some((purpose, first)) = usual.or(tool).or(listed) else { continue };
        for flag in value.split_whitespace().skip(first).filter(|word| word.starts_with('-') && word.len() > 1) {
            declare(&mut all, variable, flag, purpose);
        }
    }
    all
}

fn declare<'a>(all: &mut Vec<Declared<'a>>, variable: &'a str, flag: &'a str, purpose: For) {
    let purpose = if is_for_linking(flag.as_bytes()) { For::Linking } else { purpose };
    let declared = Declared { variable, flag, purpose };
    if !all.contains(&declared) {
        all.push(declared);
    }
}

/// The flags that the layer's levels append to the words of C compilers, each once for each key of the study file. Of an option whose value is the
/// next word nothing is claimed.
pub(super) fn appended(tuning: &Tuning) -> Vec<Declared<'_>> {
    let mut all = vec![];
    for (variable, words) in tuning.words().into_iter().filter(|(variable, _)| variable.starts_with("append")) {
        let purpose = match variable {
            "append_c" => For::Compiling(Some(Language::C)),
            "append_cxx" => For::Compiling(Some(Language::Cxx)),
            "append_link" => For::Linking,
            _ => For::Compiling(None),
        };
        let mut words = words.iter();
        while let Some(flag) = words.next() {
            if takes_value(flag.as_bytes()) {
                words.next();
                continue;
            }
            declare(&mut all, variable, flag, purpose);
        }
    }
    all
}

/// How far each flag came in these calls, and how many of them compile something. `temporary` is the layer's folder for
/// temporary files, where only probes are compiled.
pub(super) fn seen(layer: &str, declared: &[Declared<'_>], calls: &[Call], temporary: &Path) -> (Vec<FlagSeen>, u64) {
    let builds = builds(calls, temporary);
    let compilations = builds.iter().filter(|build| build.task.compiles_code()).count();
    (declared.iter().map(|declared| flag_seen(layer, declared, &builds)).collect(), compilations as u64)
}

fn flag_seen(layer: &str, declared: &Declared<'_>, builds: &[Build]) -> FlagSeen {
    let mut seen = FlagSeen {
        layer: layer.to_owned(),
        variable: declared.variable.to_owned(),
        flag: declared.flag.to_owned(),
        ..FlagSeen::default()
    };
    let flag = bare(declared.flag);
    let concerned = |build: &&Build| match declared.purpose {
        For::Compiling(None) => build.task.compiles_code(),
        For::Compiling(Some(language)) => build.task.compiles(language),
        For::Linking => build.task.links && (!build.is_linker || is_of_linkers(&flag)),
    };
    for build in builds.iter().filter(concerned) {
        seen.of += 1;
        if !build.has(&flag) {
            continue;
        }
        seen.reached += 1;
        if let Some(by) = family::overriding(&flag, &build.words) {
            seen.overridden += 1;
            seen.overridden_by.get_or_insert_with(|| by.to_owned());
        }
    }
    seen
}

/// Whether a linker that is called directly takes it.
fn is_of_linkers(flag: &str) -> bool {
    const WHOLE: [&str; 4] = ["-shared", "-static", "-pie", "-s"];
    WHOLE.contains(&flag) || ["-Wl,", "-l", "-L"].iter().any(|start| flag.starts_with(start))
}

#[cfg(test)]
mod tests;
