//! The instructions of a build factor's level: `patches`, `source` and `revision`, each of one layer: of the only one
//! that has a source, or of the layer that it names; and `fails` and `kernel`, of the whole build.

use super::buildable::{Buildable, by_layer};
use super::sources::wrong_revision;
use super::words;
use crate::spec::Spec;
use bakeoff_model::problem::suggest;
use bakeoff_model::study_file::{Instruction, PlacedFactor, Sink, check_below_prefix, check_inside};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::DeValue;

/// The lower-case keys of a level.
pub(super) const KEYS: [&str; 13] = [
    "patches",
    "source",
    "revision",
    "fails",
    "kernel",
    "append",
    "append_c",
    "append_cxx",
    "append_link",
    "rustflags",
    "compiler",
    "profile",
    "bolt",
];

/// A build factor, and what its levels say.
pub(super) struct Said<'a> {
    pub(super) placed: &'a PlacedFactor<'a>,
    pub(super) levels: Vec<SaidLevel>,
}

/// What a level says, and whether it has the key `revision`, whatever that says.
pub(super) struct SaidLevel {
    pub(super) spec: Spec,
    pub(super) is_revised: bool,
}

impl<'a> Said<'a> {
    pub(super) fn read(sink: &Sink, placed: &'a PlacedFactor<'a>, buildable: &Buildable<'_>) -> Self {
        let levels = placed.instructions.iter().map(|all| SaidLevel {
            spec: spec(sink, all, buildable),
            is_revised: all.iter().any(|instruction| instruction.key == "revision"),
        });
        Self { placed, levels: levels.collect() }
    }

    pub(super) fn specs(&self) -> impl Iterator<Item = &Spec> {
        self.levels.iter().map(|level| &level.spec)
    }
}

fn spec(sink: &Sink, instructions: &[Instruction<'_>], buildable: &Buildable<'_>) -> Spec {
    let mut spec = Spec::default();
    let mut given = vec![];
    for Instruction { key, value, .. } in instructions {
        match *key {
            "patches" => spec.patches = patches(sink, value, buildable),
            "source" => spec.sources = sources(sink, value, buildable),
            "revision" => given = by_layer(sink, value, key, buildable),
            "fails" => spec.fails.extend(fails(sink, value)),
            // The core has it.
            "kernel" => {}
            key => words::read(sink, key, value, buildable, &mut spec.tuning),
        }
    }
    // Of the source that the level chooses, wherever that stands.
    spec.revisions = revisions(sink, &given, &spec.sources, buildable);
    spec
}

/// Puts the instruction `kernel` into the levels.
pub(super) fn kernels(sink: &Sink, factors: &mut [PlacedFactor<'_>]) {
    for placed in factors {
        for (level, all) in placed.factor.levels.iter_mut().zip(&placed.instructions) {
            let found = all.iter().find(|instruction| instruction.key == "kernel");
            level.kernel = found.and_then(|instruction| kernel(sink, instruction.value));
        }
    }
}

/// `patches = ["fix.patch"]`, or `patches = { perl = ["fix.patch"] }` where several layers have a source.
fn patches(sink: &Sink, value: &Spanned<DeValue<'_>>, buildable: &Buildable<'_>) -> BTreeMap<String, Vec<String>> {
    let mut patches = BTreeMap::new();
    for (layer, value) in by_layer(sink, value, "patches", buildable) {
        let Some(list) = value.get_ref().as_array() else {
            sink.report(
                value.span(),
                "`patches` must be a list of files",
                "",
                "for example `patches = [\"fix.patch\"]`",
            );
            continue;
        };
        let mut files = vec![];
        for item in list.iter() {
            match item.get_ref().as_str() {
                Some(file) => {
                    check_inside(sink, file, item.span());
                    files.push(file.to_owned());
                }
                None => sink.report(
                    item.span(),
                    "a patch must be a file in the study's folder",
                    "",
                    "put its name in quotes",
                ),
            }
        }
        patches.insert(layer, files);
    }
    patches
}

/// `source = "perl-5.40"`, or `source = { perl = "perl-5.40" }` where several layers have a source.
fn sources(sink: &Sink, value: &Spanned<DeValue<'_>>, buildable: &Buildable<'_>) -> BTreeMap<String, String> {
    let known = || buildable.sources.iter().map(|source| source.name.as_str());
    let mut sources = BTreeMap::new();
    for (layer, value) in by_layer(sink, value, "source", buildable) {
        match value.get_ref().as_str() {
            Some(name) if known().any(|source| source == name) => drop(sources.insert(layer, name.to_owned())),
            Some(name) => {
                sink.report(value.span(), &format!("there is no source `{name}`"), "", &suggest(name, known()));
            }
            None => sink.report(value.span(), "the name of a source must be a string in quotes", "", ""),
        }
    }
    sources
}

/// `revision = "HEAD~1"`, or `revision = { perl = "v5.40" }` where several layers have a source: of the source that the
/// layer takes at this level.
fn revisions(
    sink: &Sink,
    given: &[(String, &Spanned<DeValue<'_>>)],
    sources: &BTreeMap<String, String>,
    buildable: &Buildable<'_>,
) -> BTreeMap<String, String> {
    let mut revisions = BTreeMap::new();
    for (layer, value) in given {
        let own = buildable.layers.iter().find(|known| known.name == *layer);
        let name = sources.get(layer).or(own.and_then(|own| own.source.as_ref()));
        let source = buildable.sources.iter().find(|source| Some(&source.name) == name);
        let Some(revision) = value.get_ref().as_str() else {
            let remedy = "for example `revision = \"HEAD~1\"`";
            sink.report(value.span(), "a revision must be a string in quotes", "", remedy);
            continue;
        };
        match source.map(|source| (source, source.from.repository())) {
            Some((_, Some(url))) => match wrong_revision(url, revision) {
                Some((message, remedy)) => sink.report(value.span(), &message, "", remedy),
                None => drop(revisions.insert(layer.clone(), revision.to_owned())),
            },
            Some((source, None)) => {
                let message = format!("source `{}` is not a Git repository, so it has no revisions", source.name);
                let remedy = format!("name the repository in [sources.{}]: `git = \"URL or folder\"`", source.name);
                sink.report(value.span(), &message, "", &remedy);
            }
            // That the layer has no source, or an unknown one, is a problem elsewhere.
            None if name.is_some() => {}
            None => {
                let message = format!("layer `{layer}` has no source, so it has no revisions");
                sink.report(value.span(), &message, "", "add `source` to the [[build]]");
            }
        }
    }
    revisions
}

/// `fails = "R_X86_64_PC32"`: what the log of a build says that cannot succeed.
fn fails(sink: &Sink, value: &Spanned<DeValue<'_>>) -> Option<String> {
    let text = value.get_ref().as_str().filter(|text| !text.trim().is_empty() && !text.contains('\n'));
    if text.is_none() {
        let remedy = "use a few words from that line, such as `fails = \"undefined reference\"`";
        sink.report(value.span(), "`fails` must be text from one line of the failing build's log", "", remedy);
    }
    text.map(str::to_owned)
}

/// `kernel = "boot/vmlinuz"`: a file below the prefix of the finished build.
fn kernel(sink: &Sink, value: &Spanned<DeValue<'_>>) -> Option<String> {
    let Some(file) = value.get_ref().as_str().filter(|file| !file.is_empty()) else {
        let remedy = "for example `kernel = \"boot/vmlinuz\"`, relative to $PREFIX";
        sink.report(value.span(), "`kernel` must be the quoted path of a file in the finished build", "", remedy);
        return None;
    };
    check_below_prefix(sink, file, value.span());
    Some(file.to_owned())
}
