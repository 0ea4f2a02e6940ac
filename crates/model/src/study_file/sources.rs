//! `[sources.x]`: what to fetch, from where, and the hash that it must have. It checks what can be seen in the
//! text; whether a fetch works is found out by the `build` crate.

use super::section::Section;
use crate::study::{Source, SourceFrom};

/// The keys that say where a source is had from; each source has one of them.
const ORIGINS: &str = "`fetch`, `path`, `url` or `git`";

pub(super) fn sources(file: &Section<'_>) -> Vec<Source> {
    let mut sources = vec![];
    for section in file.named_sections("sources") {
        let from = origin(&section);
        let sha256 = section.string("sha256");
        if let Some((sum, span)) = &sha256
            && !is_sha256(sum)
        {
            let message = "`sha256` must be 64 lower-case hexadecimal digits";
            let remedy = "leave it out and execute `bakeoff lock`, which finds it; or `sha256sum FILE` prints it";
            section.sink.report(span.clone(), message, &format!("{} characters", sum.chars().count()), remedy);
        }
        let unpack = section.boolean("unpack").unwrap_or(true);
        let disk_bytes = section.size("disk");
        section.finish();
        let sha256 = sha256.map(|(sum, _)| sum);
        sources.push(Source { name: section.name.clone(), from, sha256, unpack, disk_bytes });
    }
    sources
}

/// Whether a text can be a SHA-256 as this program writes them.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
}

pub(super) fn origin(section: &Section<'_>) -> SourceFrom {
    let fetch = section.string("fetch").map(|(command, span)| (SourceFrom::Fetch(command), span));
    let path = section.string("path").map(|(path, span)| (SourceFrom::Path(path), span));
    let url = section.string("url").map(|(url, span)| (SourceFrom::Url(url), span));
    let revision = section.string("revision");
    let git = section.string("git").map(|(url, span)| {
        if !section.has("revision") {
            let message = format!("{} has no `revision`", section.title);
            section.sink.report(span.clone(), &message, "", "a commit, tag or branch: `revision = \"v1.0\"`");
        }
        let revision = revision.as_ref().map(|(revision, _)| revision.clone()).unwrap_or_default();
        (SourceFrom::Git { url, revision }, span)
    });
    if let (Some((_, span)), None) = (&revision, &git) {
        section.sink.report(span.clone(), "`revision` belongs to `git`", "", "add `git = \"URL\"`, or leave it out");
    }
    let given: Vec<_> = [fetch, path, url, git].into_iter().flatten().collect();
    for (_, span) in given.iter().skip(1) {
        let message = format!("{} has more than one origin", section.title);
        section.sink.report(span.clone(), &message, "", &format!("keep one of {ORIGINS}"));
    }
    match given.into_iter().next() {
        Some((from, _)) => from,
        None => {
            if !["fetch", "path", "url", "git"].iter().any(|key| section.has(key)) {
                let message = format!("{} says nowhere to have it from", section.title);
                let remedy =
                    format!("add one of {ORIGINS}: `fetch` is a command that leaves a file in the folder $DOWNLOAD");
                section.sink.report(section.span.clone(), &message, "", &remedy);
            }
            SourceFrom::Fetch(String::new())
        }
    }
}
