//! `[[build]]`: the layers, brought into the order in which they are built. It checks what can be seen in the text;
//! whether a script works is found out when it is built.

use crate::nouns::{CompilerCache, Layer, Source};
use bakeoff_model::problem::suggest;
use bakeoff_model::study_file::{Section, check_inside, check_name};
use std::collections::BTreeMap;
use std::ops::Range;

/// Programs whose identity goes into a build's name where the layer does not list its own.
const DEFAULT_TOOLS: &[&str] = &["cc", "ld", "make"];

/// A layer, where it stands, and the one that it comes after, if it says so.
struct Placed {
    layer: Layer,
    span: Range<usize>,
    after: Option<(String, Range<usize>)>,
}

pub(super) fn layers(file: &Section<'_>, sources: &[Source]) -> Vec<Layer> {
    let mut layers: Vec<Placed> = vec![];
    for section in file.section_list("build") {
        let name = section.required_string("name", "add a short name for this layer, such as `name = \"perl\"`");
        if let Some((name, span)) = &name {
            check_name(section.sink, name, span.clone(), "a layer's name");
            if layers.iter().any(|placed| placed.layer.name == *name) {
                section.sink.report(span.clone(), &format!("two layers are named `{name}`"), "", "rename one of them");
            }
        }
        let (name, span) = name.unwrap_or((String::new(), section.span.clone()));
        let after = section.string("after");
        let layer = layer(&section, name, sources);
        section.finish();
        layers.push(Placed { layer, span, after });
    }
    in_order(file, layers)
}

fn layer(section: &Section<'_>, name: String, sources: &[Source]) -> Layer {
    let source = section.string("source");
    if let Some((wanted, span)) = &source
        && !sources.iter().any(|s| s.name == *wanted)
    {
        let known = sources.iter().map(|s| s.name.as_str());
        let message = format!("there is no source `{wanted}`");
        section.sink.report(span.clone(), &message, "", &suggest(wanted, known));
    }
    let script = section.required_string("script", "add a `sh -e` script that installs into $PREFIX");
    let tools = match section.has("tools") {
        true => texts(section, "tools"),
        false => DEFAULT_TOOLS.iter().map(|&tool| tool.to_owned()).collect(),
    };
    let _ = section.strings("tools");
    Layer {
        name,
        source: source.map(|(source, _)| source),
        script: script.map(|(script, _)| script).unwrap_or_default(),
        verify: texts(section, "verify"),
        files: inside(section, "files"),
        tools,
        takes_s: section.duration("takes"),
        disk_bytes: section.size("disk"),
        patches: inside(section, "patches"),
        flags: texts(section, "flags"),
        describe: texts(section, "describe"),
        implied: implied(section),
        sizes: inside(section, "sizes"),
        relink: section.string("relink").map(|(script, _)| script),
        compiler_cache: compiler_cache(section),
        compiles_nothing: section.boolean("compiles") == Some(false),
        timeout_s: section.duration("timeout"),
        keeps_tree: false,
        rewrites: false,
    }
}

fn texts(section: &Section<'_>, key: &'static str) -> Vec<String> {
    section.strings(key).into_iter().map(|(text, _)| text).collect()
}

/// Paths below a folder.
fn inside(section: &Section<'_>, key: &'static str) -> Vec<String> {
    let paths = section.strings(key);
    paths.iter().for_each(|(path, span)| check_inside(section.sink, path, span.clone()));
    paths.into_iter().map(|(path, _)| path).collect()
}

/// `implied = { threads = ["d_*_r"] }`; whether there are such factors is checked when these are known.
fn implied(section: &Section<'_>) -> BTreeMap<String, Vec<String>> {
    let Some(table) = section.section("implied") else { return BTreeMap::new() };
    let mut implied = BTreeMap::new();
    for (factor, _, value) in table.entries() {
        let patterns: Option<Vec<String>> = value.get_ref().as_array().and_then(|list| {
            list.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        match patterns {
            Some(patterns) => drop(implied.insert(factor.to_owned(), patterns)),
            None => {
                let remedy = format!("for example `implied = {{ {factor} = [\"d_*_r\"] }}`");
                table.sink.report(value.span(), &format!("`{factor}` must be a list of strings"), "", &remedy);
            }
        }
    }
    implied
}

fn compiler_cache(section: &Section<'_>) -> Option<CompilerCache> {
    let (word, span) = section.string("cache")?;
    match word.as_str() {
        "ccache" => Some(CompilerCache::Ccache),
        "sccache" => Some(CompilerCache::Sccache),
        _ => {
            let remedy = suggest(&word, ["ccache", "sccache"]);
            section.sink.report(span, &format!("`{word}` is not a supported compiler cache"), "", &remedy);
            None
        }
    }
}

/// The order in which layers are built: that of the file, but that a layer with `after` follows the one it names. All
/// install into one prefix, one after the other.
fn in_order(file: &Section<'_>, layers: Vec<Placed>) -> Vec<Layer> {
    for placed in &layers {
        let Some((after, span)) = &placed.after else { continue };
        let known = layers.iter().map(|other| other.layer.name.as_str());
        if !known.clone().any(|name| name == after) {
            file.sink.report(span.clone(), &format!("there is no layer `{after}`"), "", &suggest(after, known));
        }
    }
    let names: Vec<String> = layers.iter().map(|placed| placed.layer.name.clone()).collect();
    let mut waiting = layers;
    let mut ordered: Vec<Layer> = vec![];
    while !waiting.is_empty() {
        let may_follow = |placed: &Placed| match &placed.after {
            Some((after, _)) => !names.contains(after) || ordered.iter().any(|done| done.name == *after),
            None => true,
        };
        match waiting.iter().position(may_follow) {
            Some(place) => ordered.push(waiting.remove(place).layer),
            None => {
                // Each of these waits for another one of these.
                for placed in waiting {
                    let after = placed.after.as_ref().map(|(after, _)| after.as_str()).unwrap_or_default();
                    let message = format!(
                        "layer `{}` is built after `{after}`, and following `after` from there leads into a cycle",
                        placed.layer.name
                    );
                    let remedy = "layers are built one after another; remove one `after` to break the cycle";
                    let span = placed.after.as_ref().map_or(placed.span.clone(), |(_, span)| span.clone());
                    file.sink.report(span, &message, "circular layers", remedy);
                    ordered.push(placed.layer);
                }
                break;
            }
        }
    }
    ordered
}
