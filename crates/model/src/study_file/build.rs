//! `[sources.x]` and `[[build]]`: what is fetched, and the layers that are built of it. It checks what can be seen in
//! the text; whether a fetch or a script works is found out by the `build` crate.

use super::section::{Section, check_inside, check_name};
use crate::problem::suggest;
use crate::study::{Layer, Source};

/// Programs whose identity goes into a build's name where the layer does not list its own.
const DEFAULT_TOOLS: &[&str] = &["cc", "ld", "make"];

pub(super) fn sources(file: &Section<'_>) -> Vec<Source> {
    let mut sources = vec![];
    for section in file.named_sections("sources") {
        let fetch = section.required_string("fetch", "a command that leaves one file in the folder $DOWNLOAD");
        let remedy = "the SHA-256 that the fetched file must have; `sha256sum FILE` prints it";
        let sha256 = section.required_string("sha256", remedy);
        if let Some((sum, span)) = &sha256
            && !(sum.len() == 64 && sum.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')))
        {
            let message = "`sha256` must be 64 lower-case hexadecimal digits";
            section.sink.report(span.clone(), message, &format!("{} characters", sum.chars().count()), remedy);
        }
        section.finish();
        sources.push(Source {
            name: section.name.clone(),
            fetch: fetch.map(|(fetch, _)| fetch).unwrap_or_default(),
            sha256: sha256.map(|(sum, _)| sum).unwrap_or_default(),
        });
    }
    sources
}

pub(super) fn layers(file: &Section<'_>, sources: &[Source]) -> Vec<Layer> {
    let mut layers: Vec<Layer> = vec![];
    for section in file.section_list("build") {
        let name = section.required_string("name", "a short name for this layer, such as `name = \"perl\"`");
        if let Some((name, span)) = &name {
            check_name(section.sink, name, span.clone(), "a layer's name");
            if layers.iter().any(|l| l.name == *name) {
                section.sink.report(span.clone(), &format!("there are two layers `{name}`"), "", "rename one of them");
            }
        }
        let source = section.string("source");
        if let Some((wanted, span)) = &source
            && !sources.iter().any(|s| s.name == *wanted)
        {
            let known = sources.iter().map(|s| s.name.as_str());
            let message = format!("there is no source `{wanted}`");
            section.sink.report(span.clone(), &message, "", &suggest(wanted, known));
        }
        let script = section.required_string("script", "a `sh -e` script that installs into $PREFIX");
        let verify = section.strings("verify").into_iter().map(|(line, _)| line).collect();
        let files = section.strings("files");
        for (path, span) in &files {
            check_inside(section.sink, path, span.clone());
        }
        let tools = if section.has("tools") {
            section.strings("tools").into_iter().map(|(tool, _)| tool).collect()
        } else {
            DEFAULT_TOOLS.iter().map(|&tool| tool.to_owned()).collect()
        };
        let _ = section.strings("tools");
        let takes_s = section.duration("takes");
        section.finish();
        layers.push(Layer {
            name: name.map(|(name, _)| name).unwrap_or_default(),
            source: source.map(|(source, _)| source),
            script: script.map(|(script, _)| script).unwrap_or_default(),
            verify,
            files: files.into_iter().map(|(path, _)| path).collect(),
            tools,
            takes_s,
        });
    }
    layers
}
