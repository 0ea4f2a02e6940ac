//! Factors, their levels, and references to them: `[build_factors.x]`, `[run_factors.x]`, `[[exclude]]`, and the
//! tables that pick levels by factor. It checks names, not whether a combination makes sense.

mod instructions;
mod tuning;

pub(super) use instructions::Buildable;

use super::section::{Section, Sink, check_level_name};
use crate::problem::suggest;
use crate::study::{Exclude, Factor, Level, Levels};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A factor, where it is named, and where each of its variables is.
pub(super) struct PlacedFactor {
    pub(super) factor: Factor,
    pub(super) span: Range<usize>,
    pub(super) variables: Vec<(String, Range<usize>)>,
    /// Where its levels name a kernel.
    pub(super) kernels: Vec<Range<usize>>,
    /// Where its levels name a compiler.
    pub(super) compilers: Vec<Range<usize>>,
    /// Where its levels have a profile.
    pub(super) profiles: Vec<Range<usize>>,
    /// The levels that say `revision`, whether what they say is one or not.
    pub(super) revised: Vec<String>,
}

/// What builds set themselves.
const OF_BUILDS: &[&str] = &["PREFIX", "JOBS", "PATH", "HOME", "TMPDIR", "DOWNLOAD"];
/// What trials set themselves; beside these, the ports of services.
const OF_TRIALS: &[&str] = &["PREFIX", "PATH", "HOME", "TMPDIR"];
/// What the variable with a service's port begins with.
pub(super) const PORT: &str = "PORT_";

pub(super) fn build_factors(file: &Section<'_>, buildable: &Buildable<'_>) -> Vec<PlacedFactor> {
    read(file, "build_factors", OF_BUILDS, Some(buildable))
}

pub(super) fn run_factors(file: &Section<'_>) -> Vec<PlacedFactor> {
    read(file, "run_factors", OF_TRIALS, None)
}

fn read(
    file: &Section<'_>,
    key: &'static str,
    reserved: &[&str],
    buildable: Option<&Buildable<'_>>,
) -> Vec<PlacedFactor> {
    let mut factors: Vec<PlacedFactor> = vec![];
    let services = file.any("services").filter(|_| buildable.is_none()).and_then(|(services, _)| services.as_table());
    let services: Vec<&str> = services.into_iter().flat_map(DeTable::keys).map(|name| &**name.get_ref()).collect();
    for section in file.named_sections(key) {
        let mut levels = vec![];
        let mut variables = vec![];
        for (name, span, value) in section.entries() {
            check_level_name(section.sink, name, span.clone());
            let Some(table) = value.get_ref().as_table() else {
                let remedy = "a level is a table of variables, such as `{ CC = \"gcc\" }`; an empty one is `{}`";
                section.sink.report(value.span(), &format!("level `{name}` must be a table"), "", remedy);
                continue;
            };
            // `v1.2 = {}` is the key `2` of a table `v1`.
            let is_part = |key: &str, value| !services.contains(&key) && is_part_of_name(key, value);
            if let Some((key, _)) = table.iter().find(|(key, value)| is_part(key.get_ref(), value)) {
                let message = format!("to TOML, `{name}.{}` is a key of a table `{name}`", key.get_ref());
                let mut remedy = format!("write the name in quotes: `\"{name}.{}\" = {{ … }}`", key.get_ref());
                if !services.is_empty() {
                    remedy += &format!("; of services: {}", suggest(key.get_ref(), services.iter().copied()));
                }
                section.sink.report(span, &message, "", &remedy);
                continue;
            }
            levels.push(level(section.sink, name, table, reserved, (buildable, &services), &mut variables));
        }
        if levels.is_empty() {
            let remedy = "add a level, such as `on = { FLAG = \"-Don\" }`";
            section.sink.report(section.span.clone(), &format!("factor `{}` has no level", section.name), "", remedy);
        }
        let [kernels, compilers, profiles] = ["kernel", "compiler", "profile"].map(|key| places(&section, key));
        let revised = revised(&section);
        let factor = Factor { name: section.name.clone(), levels };
        let span = section.span.clone();
        factors.push(PlacedFactor { factor, span, variables, kernels, compilers, profiles, revised });
    }
    factors
}

/// Where the levels have this key.
fn places(factor: &Section<'_>, key: &str) -> Vec<Range<usize>> {
    let levels = factor.entries().into_iter().filter_map(|(_, _, value)| value.get_ref().as_table());
    let keys = levels.flat_map(|level| level.keys().filter(|known| known.get_ref() == key));
    keys.map(Spanned::span).collect()
}

fn revised(factor: &Section<'_>) -> Vec<String> {
    let says =
        |value: &Spanned<DeValue<'_>>| value.get_ref().as_table().is_some_and(|level| level.contains_key("revision"));
    factor.entries().into_iter().filter(|(_, _, value)| says(value)).map(|(name, _, _)| name.to_owned()).collect()
}

fn level(
    sink: &Sink,
    name: &str,
    table: &DeTable<'_>,
    reserved: &[&str],
    (buildable, services): (Option<&Buildable<'_>>, &[&str]),
    placed: &mut Vec<(String, Range<usize>)>,
) -> Level {
    // Ports are handed out to trials only; a build may call a variable as it likes.
    let is_port = |word: &str| reserved == OF_TRIALS && word.starts_with(PORT);
    let mut level = Level { name: name.to_owned(), ..Level::default() };
    let mut revisions = vec![];
    for (key, value) in table.iter() {
        let (word, span) = (key.get_ref().as_ref(), key.span());
        match word {
            _ if services.contains(&word) && (value.get_ref().is_table() || !is_variable(word)) => {
                let Some(table) = value.get_ref().as_table() else {
                    let message = format!("the service `{word}` needs a table of variables");
                    sink.report(span, &message, "", "for example `{ SIZE = \"64\" }`");
                    continue;
                };
                let mut of_service = vec![];
                let own = self::level(sink, name, table, reserved, (None, &[]), &mut of_service);
                let qualified = |variable: String| format!("{word}.{variable}");
                level.variables.extend(own.variables.into_iter().map(|(name, value)| (qualified(name), value)));
                placed.extend(of_service.into_iter().map(|(name, span)| (qualified(name), span)));
            }
            _ if is_instruction(word) && buildable.is_none() => {
                let message = format!("a run factor has no `{word}`: nothing is built for its levels");
                sink.report(span, &message, "", "move the factor to [build_factors]");
            }
            "patches" => level.patches = instructions::patches(sink, value, buildable),
            "source" => level.sources = instructions::sources(sink, value, buildable),
            "revision" => revisions = instructions::by_layer(sink, value, "revision", buildable),
            "fails" => level.fails = instructions::fails(sink, value),
            "kernel" => level.kernel = instructions::kernel(sink, value),
            _ if tuning::KEYS.contains(&word) => tuning::read(sink, word, value, buildable, &mut level.tuning),
            _ if !is_variable(word) => {
                let remedy = format!("{}; variables are UPPER-CASE", suggest(word, instructions()));
                sink.report(span, &format!("level `{name}` has no instruction `{word}`"), "unknown key", &remedy);
            }
            _ if reserved.contains(&word) || word.starts_with("BAKEOFF_") || is_port(word) => {
                let remedy = format!("choose another name; bakeoff sets {} itself", reserved.join(", "));
                sink.report(span, &format!("the variable `{word}` is taken"), "", &remedy);
            }
            _ => match value.get_ref() {
                DeValue::String(text) => {
                    placed.push((word.to_owned(), span));
                    level.variables.insert(word.to_owned(), text.clone().into_owned());
                }
                _ => sink.report(value.span(), &format!("`{word}` must be text in quotes"), "", ""),
            },
        }
    }
    // Of the source that the level chooses, wherever that stands.
    level.revisions = instructions::revisions(sink, &revisions, &level, buildable);
    level
}

/// The lower-case keys of a level.
fn instructions() -> impl Iterator<Item = &'static str> {
    ["patches", "source", "revision", "fails", "kernel"].into_iter().chain(tuning::KEYS)
}

fn is_instruction(key: &str) -> bool {
    instructions().any(|known| known == key)
}

/// Whether a key of a level is what comes behind a dot in the level's name.
fn is_part_of_name(key: &str, value: &Spanned<DeValue<'_>>) -> bool {
    value.get_ref().is_table() && !is_instruction(key) && !is_variable(key)
}

fn is_variable(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

pub(super) fn excludes(file: &Section<'_>, build: &[PlacedFactor], run: &[PlacedFactor]) -> Vec<Exclude> {
    let mut excludes = vec![];
    for section in file.section_list("exclude") {
        let when = section.any("when");
        let reason = section.required_string("reason", "say why; it is printed with the plan");
        let levels = match when {
            Some((value, span)) => any_levels(section.sink, value, span, build, run),
            None => {
                let remedy = "for example `when = { malloc = \"perl\", threads = \"on\" }`";
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
pub(super) fn levels(
    sink: &Sink,
    value: &DeValue<'_>,
    span: Range<usize>,
    build: &[PlacedFactor],
    run: &[PlacedFactor],
) -> Levels {
    let one =
        |(factor, value): (&Factor, &Spanned<DeValue<'_>>)| Some((factor.name.clone(), level_of(sink, factor, value)?));
    picked(sink, value, span, build, run).into_iter().filter_map(one).collect()
}

/// A table that picks some levels of some factors: for each factor a level, or a list of them.
fn any_levels(
    sink: &Sink,
    value: &DeValue<'_>,
    span: Range<usize>,
    build: &[PlacedFactor],
    run: &[PlacedFactor],
) -> BTreeMap<String, Vec<String>> {
    let several = |(factor, value): (&Factor, &Spanned<DeValue<'_>>)| {
        let levels = match value.get_ref().as_array() {
            None => Vec::from_iter(level_of(sink, factor, value)),
            Some(list) => {
                if list.is_empty() {
                    let message = format!("no level of `{}` is picked", factor.name);
                    sink.report(value.span(), &message, "", "leave the factor out if its level does not matter");
                }
                list.iter().filter_map(|value| level_of(sink, factor, value)).collect()
            }
        };
        (factor.name.clone(), levels)
    };
    picked(sink, value, span, build, run).into_iter().map(several).collect()
}

/// The factors that a table names, and what it says of each.
fn picked<'a>(
    sink: &Sink,
    value: &'a DeValue<'a>,
    span: Range<usize>,
    build: &'a [PlacedFactor],
    run: &'a [PlacedFactor],
) -> Vec<(&'a Factor, &'a Spanned<DeValue<'a>>)> {
    let Some(table) = value.as_table() else {
        let remedy = "for example `{ malloc = \"perl\" }`";
        sink.report(span, "levels are picked by a table of factor and level", "", remedy);
        return vec![];
    };
    if table.is_empty() {
        sink.report(span, "this names no level", "", "for example `{ malloc = \"perl\" }`");
    }
    let factors = || build.iter().chain(run).map(|f| &f.factor);
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
        sink.report(value.span(), &format!("the level of `{}` must be text in quotes", factor.name), "", "");
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
