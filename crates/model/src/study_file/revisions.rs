//! Revisions of Git repositories as levels: each one that a level names becomes a source of its own, which is locked,
//! kept and built as any other. What a revision is now is found out by the `builds` crate.

use super::factors::PlacedFactor;
use super::section::Sink;
use super::sources::PlacedSource;
use crate::study::{Layer, Level, Source, SourceFrom};

/// All sources of the study: those of the file that can be had as they stand there, and one for each revision that a level
/// names, which that level takes from now on.
pub(super) fn sources(
    sink: &Sink,
    placed: Vec<PlacedSource>,
    layers: &[Layer],
    factors: &mut [PlacedFactor],
) -> Vec<Source> {
    one_factor_chooses(sink, layers, factors);
    every_level_names_one(sink, &placed, layers, factors);
    let mut sources: Vec<Source> = placed.into_iter().map(|placed| placed.source).collect();
    for level in factors.iter_mut().flat_map(|placed| &mut placed.factor.levels) {
        for (layer, revision) in level.revisions.clone() {
            let name = level.sources.get(&layer).or(source_of(layers, &layer));
            let Some(of) = sources.iter().find(|source| Some(&source.name) == name).cloned() else { continue };
            let source = at_revision(of, &revision);
            level.sources.insert(layer, source.name.clone());
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
    }
    sources.retain(|source| !needs_revision(source));
    sources
}

/// A source at a revision. Its name is none that a file can give to a source.
fn at_revision(of: Source, revision: &str) -> Source {
    let Some(url) = of.from.repository() else { return of };
    let from = SourceFrom::git(url, revision);
    if from == of.from {
        return of;
    }
    Source { name: format!("{}@{revision}", of.name), from, sha256: None, ..of }
}

fn source_of<'a>(layers: &'a [Layer], layer: &str) -> Option<&'a String> {
    layers.iter().find(|known| known.name == layer)?.source.as_ref()
}

fn needs_revision(source: &Source) -> bool {
    matches!(&source.from, SourceFrom::Git { revision, .. } if revision.is_empty())
}

/// Of two factors that choose what a layer is built from, one would silently win.
fn one_factor_chooses(sink: &Sink, layers: &[Layer], factors: &[PlacedFactor]) {
    let names = |placed: &PlacedFactor, layer: &str| {
        placed.factor.levels.iter().any(|level| level.revisions.contains_key(layer))
    };
    let chooses = |placed: &PlacedFactor, layer: &str| {
        names(placed, layer) || placed.factor.levels.iter().any(|level| level.sources.contains_key(layer))
    };
    for layer in layers {
        let mut choosing = factors.iter().filter(|placed| chooses(placed, &layer.name));
        let Some(first) = choosing.next() else { continue };
        for other in choosing.filter(|other| names(first, &layer.name) || names(other, &layer.name)) {
            let message = format!("factor `{}` chooses what `{}` is built from too", first.factor.name, layer.name);
            let remedy = "name source and revision in the levels of one factor";
            sink.report(other.span.clone(), &message, "only one could win", remedy);
        }
    }
}

/// A repository without a revision of its own needs one of every level that takes it.
fn every_level_names_one(sink: &Sink, placed: &[PlacedSource], layers: &[Layer], factors: &[PlacedFactor]) {
    for PlacedSource { source, span } in placed.iter().filter(|placed| needs_revision(&placed.source)) {
        let is_it = |name: Option<&String>| name == Some(&source.name);
        // One that is wrong is a problem of its own.
        let names_one = |layer: &Layer, factor: &PlacedFactor, level: &Level| {
            level.revisions.contains_key(&layer.name)
                || level.revisions.is_empty() && factor.revised.contains(&level.name)
        };
        let lacks = |layer: &Layer, factor: &PlacedFactor, level: &Level| {
            let taken = level.sources.get(&layer.name);
            is_it(taken.or(layer.source.as_ref())) && !names_one(layer, factor, level)
        };
        let is_settled = |layer: &Layer| {
            factors.iter().any(|factor| factor.factor.levels.iter().all(|level| !lacks(layer, factor, level)))
        };
        let is_chosen = |which: &dyn Fn(&Layer, &PlacedFactor, &Level) -> bool| {
            let by = |factor: &PlacedFactor, level: &Level| {
                layers.iter().any(|layer| is_it(level.sources.get(&layer.name)) && which(layer, factor, level))
            };
            factors.iter().any(|factor| factor.factor.levels.iter().any(|level| by(factor, level)))
        };
        let own = || layers.iter().filter(|layer| is_it(layer.source.as_ref()));
        let is_unused = own().next().is_none() && !is_chosen(&|_, _, _| true);
        let is_left = own().any(|layer| !is_settled(layer));
        let is_chosen_bare = is_chosen(&lacks);
        if is_unused || is_left || is_chosen_bare {
            let message = format!("[sources.{}] has no `revision`", source.name);
            let remedy = "a commit, tag or branch, `revision = \"v1.0\"`; or one in each level of a build factor";
            sink.report(span.clone(), &message, "", remedy);
        }
    }
}

/// What stands without quotes in the line at this place and needs them: the name of a level, or a text behind `=`, such as
/// that of a revision; or what is more than a name. As a remedy.
pub(super) fn unquoted(text: &str, at: usize) -> Option<String> {
    let before = text.get(..at)?;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next()?;
    let (key, _) = line.split_once('=')?;
    let key = key.trim();
    let needs_them = |word: &str| word.contains(|c: char| "/~^@+".contains(c));
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-+./~^@".contains(c);
    if key.contains(' ') && key.chars().all(|c| fits(c) || c == ' ') {
        let word: Vec<&str> = key.split([' ', '-']).filter(|part| !part.is_empty()).collect();
        return Some(format!("a name is one word: `{} = …`", word.join("-")));
    }
    if needs_them(key) && key.chars().all(fits) {
        return Some(format!("write the name in quotes: `\"{key}\" = …`"));
    }
    // A number or a word of TOML needs none, so that something else is wrong with it.
    let is_text = |text: &&str| {
        text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| fits(c) || c == ' ' || c == '=')
    };
    let values = line.split(" = ").skip(1).map(|rest| rest.split([',', '}', '#']).next().unwrap_or_default().trim());
    let value = values.filter(is_text).find(|word| !["true", "false", "inf", "nan"].contains(word))?;
    Some(format!("write the text in quotes: `\"{value}\"`"))
}
