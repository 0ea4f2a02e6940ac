//! Revisions of Git repositories as levels: each one that a level names becomes a source of its own, which is locked,
//! kept and built as any other. What a revision is now is found out elsewhere.

use super::levels::{Said, SaidLevel};
use super::sources::PlacedSource;
use crate::nouns::{Layer, Source, SourceFrom};
use bakeoff_model::study_file::Sink;

/// All sources of the study: those of the file that can be had as they stand there, and one for each revision that a level
/// names, which that level takes from now on.
pub(super) fn sources(
    sink: &Sink,
    placed: Vec<PlacedSource>,
    layers: &[Layer],
    factors: &mut [Said<'_>],
) -> Vec<Source> {
    one_factor_chooses(sink, layers, factors);
    every_level_names_one(sink, &placed, layers, factors);
    let mut sources: Vec<Source> = placed.into_iter().map(|placed| placed.source).collect();
    for SaidLevel { spec, .. } in factors.iter_mut().flat_map(|said| &mut said.levels) {
        for (layer, revision) in spec.revisions.clone() {
            let name = spec.sources.get(&layer).or(source_of(layers, &layer));
            let Some(of) = sources.iter().find(|source| Some(&source.name) == name).cloned() else { continue };
            let source = at_revision(of, &revision);
            spec.sources.insert(layer, source.name.clone());
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
fn one_factor_chooses(sink: &Sink, layers: &[Layer], factors: &[Said<'_>]) {
    let names = |said: &Said<'_>, layer: &str| said.specs().any(|spec| spec.revisions.contains_key(layer));
    let chooses =
        |said: &Said<'_>, layer: &str| names(said, layer) || said.specs().any(|spec| spec.sources.contains_key(layer));
    for layer in layers {
        let mut choosing = factors.iter().filter(|said| chooses(said, &layer.name));
        let Some(first) = choosing.next() else { continue };
        for other in choosing.filter(|other| names(first, &layer.name) || names(other, &layer.name)) {
            let message = format!(
                "factor `{}` also chooses the source or revision of `{}`",
                first.placed.factor.name, layer.name
            );
            let remedy = "name the source and the revision in the levels of one factor";
            sink.report(other.placed.span.clone(), &message, "only one of these can take effect", remedy);
        }
    }
}

/// A repository without a revision of its own needs one of every level that takes it.
fn every_level_names_one(sink: &Sink, placed: &[PlacedSource], layers: &[Layer], factors: &[Said<'_>]) {
    for PlacedSource { source, span } in placed.iter().filter(|placed| needs_revision(&placed.source)) {
        let levels = factors.iter().flat_map(|said| &said.levels);
        let all = levels.flat_map(|level| layers.iter().map(move |layer| (layer, level)));
        let chosen = all.filter(|(layer, level)| level.spec.sources.get(&layer.name) == Some(&source.name));
        let chosen: Vec<(&Layer, &SaidLevel)> = chosen.collect();
        let own: Vec<&Layer> = layers.iter().filter(|layer| layer.source.as_ref() == Some(&source.name)).collect();
        let is_settled = |layer: &&Layer| {
            factors.iter().any(|said| said.levels.iter().all(|level| !lacks_revision(source, layer, level)))
        };
        let is_unused = own.is_empty() && chosen.is_empty();
        let is_chosen_bare = chosen.iter().any(|(layer, level)| lacks_revision(source, layer, level));
        if is_unused || is_chosen_bare || !own.iter().all(is_settled) {
            let message = format!("[sources.{}] has no `revision`", source.name);
            let remedy = "add a commit, tag or branch, such as `revision = \"v1.0\"`, here or in each level of a build \
                          factor";
            sink.report(span.clone(), &message, "", remedy);
        }
    }
}

/// Whether a layer takes the source at this level, which names no revision. A wrong one is reported separately.
fn lacks_revision(source: &Source, layer: &Layer, level: &SaidLevel) -> bool {
    let revisions = &level.spec.revisions;
    let names_one = revisions.contains_key(&layer.name) || revisions.is_empty() && level.is_revised;
    level.spec.sources.get(&layer.name).or(layer.source.as_ref()) == Some(&source.name) && !names_one
}
