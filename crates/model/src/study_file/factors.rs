//! Factors, their levels, and references to them: `[build_factors.x]`, `[run_factors.x]`, `[[exclude]]`, and the
//! tables that pick levels by factor. It checks names, not whether a combination makes sense.

use super::section::{Section, Sink, check_level_name};
use crate::problem::suggest;
use crate::study::{Exclude, Factor, Level, Levels};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A factor, where it is named, and where each of its variables is.
#[derive(Debug)]
pub struct PlacedFactor<'a> {
    /// The factor.
    pub factor: Factor,
    /// Where it is named.
    pub span: Range<usize>,
    /// Its variables, and where levels set them.
    pub variables: Vec<(String, Range<usize>)>,
    /// The instructions of each of its levels, for the [`super::RecipeReader`] to read.
    pub instructions: Vec<Vec<Instruction<'a>>>,
}

/// A lower-case key of a level.
#[derive(Debug)]
pub struct Instruction<'a> {
    /// The key, which is one of [`super::RecipeReader::keys`].
    pub key: &'a str,
    /// Where it is.
    pub span: Range<usize>,
    /// Its value.
    pub value: &'a Spanned<DeValue<'a>>,
}

impl PlacedFactor<'_> {
    /// Where its levels have this instruction.
    pub fn places(&self, key: &str) -> Vec<Range<usize>> {
        let all = self.instructions.iter().flatten().filter(|instruction| instruction.key == key);
        all.map(|instruction| instruction.span.clone()).collect()
    }
}

/// What builds set themselves.
const OF_BUILDS: &[&str] = &["PREFIX", "JOBS", "PATH", "HOME", "TMPDIR", "DOWNLOAD"];
/// What trials set themselves; beside these, the ports of services.
const OF_TRIALS: &[&str] = &["PREFIX", "PATH", "HOME", "TMPDIR"];
/// What the variable with a service's port begins with.
pub(super) const PORT: &str = "PORT_";

#[derive(Clone, Copy)]
struct Keys<'a> {
    /// Variables that no level sets.
    reserved: &'a [&'a str],
    /// Instructions; unknown if nobody reads them.
    instructions: Option<&'a [&'a str]>,
    /// Whether instructions may be there.
    builds: bool,
    /// Services, which have variables of their own.
    services: &'a [&'a str],
}

pub(super) fn build_factors<'a>(file: &Section<'a>, instructions: Option<&[&str]>) -> Vec<PlacedFactor<'a>> {
    read(file, "build_factors", Keys { reserved: OF_BUILDS, instructions, builds: true, services: &[] })
}

pub(super) fn run_factors<'a>(file: &Section<'a>, instructions: Option<&[&str]>) -> Vec<PlacedFactor<'a>> {
    let services = file.any("services").and_then(|(services, _)| services.as_table());
    let services: Vec<&str> = services.into_iter().flat_map(DeTable::keys).map(|name| &**name.get_ref()).collect();
    read(file, "run_factors", Keys { reserved: OF_TRIALS, instructions, builds: false, services: &services })
}

fn read<'a>(file: &Section<'a>, key: &'static str, keys: Keys<'_>) -> Vec<PlacedFactor<'a>> {
    let mut factors: Vec<PlacedFactor<'_>> = vec![];
    for section in file.named_sections(key) {
        let (mut levels, mut variables, mut instructions) = (vec![], vec![], vec![]);
        for (name, span, value) in section.entries() {
            check_level_name(section.sink, name, span.clone());
            let Some(table) = value.get_ref().as_table() else {
                let remedy = "write a table of variables, such as `{ CC = \"gcc\" }`, or `{}` for none";
                section.sink.report(value.span(), &format!("level `{name}` must be a table"), "", remedy);
                continue;
            };
            // `v1.2 = {}` is the key `2` of a table `v1`.
            let is_part = |key: &str, value| !keys.services.contains(&key) && keys.is_part_of_name(key, value);
            if let Some((key, _)) = table.iter().find(|(key, value)| is_part(key.get_ref(), value)) {
                let message = format!("TOML reads `{name}.{}` as a key in a table `{name}`", key.get_ref());
                let mut remedy = format!("write the name in quotes: `\"{name}.{}\" = {{ … }}`", key.get_ref());
                if !keys.services.is_empty() {
                    let services = keys.services.iter().copied();
                    remedy += &format!("; or name a service ({})", suggest(key.get_ref(), services));
                }
                section.sink.report(span, &message, "", &remedy);
                continue;
            }
            let mut own = vec![];
            levels.push(level(section.sink, name, table, keys, &mut variables, &mut own));
            instructions.push(own);
        }
        if levels.is_empty() {
            let remedy = "add a level, such as `on = { OPTION = \"-Don\" }`";
            section.sink.report(section.span.clone(), &format!("factor `{}` has no levels", section.name), "", remedy);
        }
        let factor = Factor { name: section.name.clone(), levels };
        factors.push(PlacedFactor { factor, span: section.span.clone(), variables, instructions });
    }
    factors
}

fn level<'a>(
    sink: &Sink,
    name: &str,
    table: &'a DeTable<'a>,
    keys: Keys<'_>,
    placed: &mut Vec<(String, Range<usize>)>,
    instructions: &mut Vec<Instruction<'a>>,
) -> Level {
    // Ports are handed out to trials only; a build may call a variable as it likes.
    let is_port = |word: &str| !keys.builds && word.starts_with(PORT);
    let mut level = Level { name: name.to_owned(), ..Level::default() };
    for (key, value) in table.iter() {
        let (word, span) = (key.get_ref().as_ref(), key.span());
        match word {
            _ if keys.services.contains(&word) && (value.get_ref().is_table() || !is_variable(word)) => {
                let Some(table) = value.get_ref().as_table() else {
                    let message = format!("the service `{word}` needs a table of variables");
                    sink.report(span, &message, "", "for example `{ SIZE = \"64\" }`");
                    continue;
                };
                let mut of_service = vec![];
                let of = Keys { services: &[], ..keys };
                let own = self::level(sink, name, table, of, &mut of_service, instructions);
                let qualified = |variable: String| format!("{word}.{variable}");
                level.variables.extend(own.variables.into_iter().map(|(name, value)| (qualified(name), value)));
                placed.extend(of_service.into_iter().map(|(name, span)| (qualified(name), span)));
            }
            _ if keys.has(word) && !keys.builds => {
                let message = format!("`{word}` is not allowed in a run factor, because run factors build nothing");
                sink.report(span, &message, "", "move the factor to [build_factors]");
            }
            _ if keys.has(word) => instructions.push(Instruction { key: word, span, value }),
            // That nobody could read it is a problem of the whole section.
            _ if !is_variable(word) && keys.builds && keys.instructions.is_none() => {}
            _ if !is_variable(word) => {
                let known = keys.instructions.filter(|known| keys.builds && !known.is_empty());
                let known = known.map(|known| format!("; {}", suggest(word, known.iter().copied())));
                let remedy = format!("write variables in UPPER CASE{}", known.unwrap_or_default());
                sink.report(span, &format!("unknown key `{word}` in level `{name}`"), "unknown key", &remedy);
            }
            _ if keys.reserved.contains(&word) || word.starts_with("BAKEOFF_") || is_port(word) => {
                let ports = if keys.builds { "" } else { ", PORT_…" };
                let remedy = format!("choose another name; reserved: {}{ports}, BAKEOFF_…", keys.reserved.join(", "));
                sink.report(span, &format!("the variable `{word}` is reserved"), "", &remedy);
            }
            _ => match value.get_ref() {
                DeValue::String(text) => {
                    placed.push((word.to_owned(), span));
                    level.variables.insert(word.to_owned(), text.clone().into_owned());
                }
                _ => sink.report(value.span(), &format!("`{word}` must be a string in quotes"), "", ""),
            },
        }
    }
    level
}

impl Keys<'_> {
    fn has(&self, key: &str) -> bool {
        self.instructions.is_some_and(|known| known.contains(&key))
    }

    /// Whether a key of a level is what comes behind a dot in the level's name.
    fn is_part_of_name(&self, key: &str, value: &Spanned<DeValue<'_>>) -> bool {
        value.get_ref().is_table() && !self.has(key) && !is_variable(key)
    }
}

fn is_variable(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

pub(super) fn excludes(file: &Section<'_>, factors: &[&PlacedFactor<'_>]) -> Vec<Exclude> {
    let mut excludes = vec![];
    for section in file.section_list("exclude") {
        let when = section.any("when");
        let reason = section.required_string("reason", "add `reason = \"…\"`; `bakeoff plan` prints the reason");
        let levels = match when {
            Some((value, span)) => any_levels(section.sink, value, span, factors),
            None => {
                let remedy = "write, for example, `when = { malloc = \"perl\", threads = \"on\" }`";
                section.sink.report(section.span.clone(), "[[exclude]] has no `when`", "", remedy);
                BTreeMap::new()
            }
        };
        section.finish();
        excludes.push(Exclude { when: levels, reason: reason.map(|(reason, _)| reason).unwrap_or_default() });
    }
    excludes
}

/// A table that picks a level of some factors.
pub(super) fn levels(sink: &Sink, value: &DeValue<'_>, span: Range<usize>, factors: &[&PlacedFactor<'_>]) -> Levels {
    let one =
        |(factor, value): (&Factor, &Spanned<DeValue<'_>>)| Some((factor.name.clone(), level_of(sink, factor, value)?));
    picked(sink, value, span, factors).into_iter().filter_map(one).collect()
}

/// A table that picks some levels of some factors: for each factor a level, or a list of them.
fn any_levels(
    sink: &Sink,
    value: &DeValue<'_>,
    span: Range<usize>,
    factors: &[&PlacedFactor<'_>],
) -> BTreeMap<String, Vec<String>> {
    let several = |(factor, value): (&Factor, &Spanned<DeValue<'_>>)| {
        let levels = match value.get_ref().as_array() {
            None => Vec::from_iter(level_of(sink, factor, value)),
            Some(list) => {
                if list.is_empty() {
                    let message = format!("the list of levels of `{}` is empty", factor.name);
                    sink.report(value.span(), &message, "", "add a level, or remove the factor to match any level");
                }
                list.iter().filter_map(|value| level_of(sink, factor, value)).collect()
            }
        };
        (factor.name.clone(), levels)
    };
    picked(sink, value, span, factors).into_iter().map(several).collect()
}

fn picked<'a>(
    sink: &Sink,
    value: &'a DeValue<'a>,
    span: Range<usize>,
    factors: &[&'a PlacedFactor<'_>],
) -> Vec<(&'a Factor, &'a Spanned<DeValue<'a>>)> {
    let Some(table) = value.as_table() else {
        let remedy = "write, for example, `{ malloc = \"perl\" }`";
        sink.report(span, "this must be a table of factors and levels", "", remedy);
        return vec![];
    };
    if table.is_empty() {
        sink.report(span, "this table is empty", "", "write, for example, `{ malloc = \"perl\" }`");
    }
    let factors = || factors.iter().map(|placed| &placed.factor);
    let known = |(key, value): (&Spanned<_>, &'a Spanned<DeValue<'a>>)| {
        let name: &str = AsRef::as_ref(key.get_ref());
        let factor = factors().find(|factor| factor.name == name);
        if factor.is_none() {
            let remedy = suggest(name, factors().map(|factor| factor.name.as_str()));
            sink.report(key.span(), &format!("there is no factor `{name}`"), "", &remedy);
        }
        Some((factor?, value))
    };
    table.iter().filter_map(known).collect()
}

/// The level that is named, if the factor has it.
fn level_of(sink: &Sink, factor: &Factor, value: &Spanned<DeValue<'_>>) -> Option<String> {
    let Some(level) = value.get_ref().as_str() else {
        sink.report(value.span(), &format!("the level of `{}` must be a string in quotes", factor.name), "", "");
        return None;
    };
    if !factor.levels.iter().any(|known| known.name == level) {
        let known = factor.levels.iter().map(|known| known.name.as_str());
        let message = format!("factor `{}` has no level `{level}`", factor.name);
        sink.report(value.span(), &message, "", &suggest(level, known));
        return None;
    }
    Some(level.to_owned())
}
