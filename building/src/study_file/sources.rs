//! `[sources.x]`: what to fetch, from where, and the hash that it must have. It checks what can be seen in the
//! text; whether a fetch works is found out when it is built.

use crate::files::is_sha256;
use crate::nouns::{Source, SourceFrom, WORKTREE};
use bakeoff_model::study_file::Section;
use std::ops::Range;

/// The keys that say where a source is had from; each source has one of them.
const ORIGINS: &str = "`fetch`, `path`, `url` or `git`";

/// A source, and where it is named.
pub(super) struct PlacedSource {
    pub(super) source: Source,
    pub(super) span: Range<usize>,
}

pub(super) fn sources(file: &Section<'_>) -> Vec<PlacedSource> {
    let mut sources = vec![];
    for section in file.named_sections("sources") {
        let from = origin(&section);
        let sha256 = section.string("sha256");
        if let Some((sum, span)) = &sha256
            && !is_sha256(sum)
        {
            let message = "`sha256` must be 64 lower-case hexadecimal digits";
            let remedy = "remove it and run `bakeoff lock STUDY` to add the right hash, or use the output of \
                `sha256sum FILE`";
            section.sink.report(span.clone(), message, &format!("{} characters", sum.chars().count()), remedy);
        }
        if let (Some((_, span)), Some(what)) = (&sha256, why_no_hash(&from)) {
            section.sink.report(span.clone(), &format!("`sha256` is not allowed here: {what}"), "", "remove it");
        }
        let unpack = section.boolean("unpack").unwrap_or(true);
        let disk_bytes = section.size("disk");
        section.finish();
        let sha256 = sha256.map(|(sum, _)| sum);
        let source = Source { name: section.name.clone(), from, sha256, unpack, disk_bytes };
        sources.push(PlacedSource { source, span: section.span.clone() });
    }
    sources
}

/// Why a source can have no hash, if that is so.
fn why_no_hash(from: &SourceFrom) -> Option<&'static str> {
    match from {
        SourceFrom::Git { revision, .. } if revision.is_empty() => {
            Some("no revision is named, so there is nothing to hash")
        }
        SourceFrom::Worktree(_) => Some("Bakeoff always uses the current working tree"),
        _ => None,
    }
}

/// Whether a repository can be a folder of this machine, whose working tree can be looked at.
pub(super) fn may_be_folder(url: &str) -> bool {
    let is_of_host = url.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
    url.starts_with("file://") || !is_of_host
}

/// What is wrong with a revision, and the remedy.
pub(super) fn wrong_revision(url: &str, revision: &str) -> Option<(String, &'static str)> {
    if revision.trim().is_empty() || revision.starts_with('-') || revision.contains(char::is_control) {
        let message = format!("{revision:?} is not a revision");
        return Some((message, "use a branch, a tag or a commit, such as \"HEAD~1\""));
    }
    (revision == WORKTREE && !may_be_folder(url)).then(|| {
        let message = format!("`{url}` is not a folder on this machine, so it has no working tree");
        (message, "name a branch, tag or commit, or set `git` to a local clone")
    })
}

pub(super) fn origin(section: &Section<'_>) -> SourceFrom {
    let fetch = section.string("fetch").map(|(command, span)| (SourceFrom::Fetch(command), span));
    let path = section.string("path").map(|(path, span)| (SourceFrom::Path(path), span));
    let url = section.string("url").map(|(url, span)| (SourceFrom::Url(url), span));
    let revision = section.string("revision");
    // Without a revision of its own, it needs one of each level: that is checked when these are known.
    let git = section.string("git").map(|(url, span)| {
        if let Some((revision, span)) = &revision
            && let Some((message, remedy)) = wrong_revision(&url, revision)
        {
            section.sink.report(span.clone(), &message, "", remedy);
        }
        let revision = revision.as_ref().map(|(revision, _)| revision.as_str()).unwrap_or_default();
        (SourceFrom::git(&url, revision), span)
    });
    if let (Some((_, span)), None) = (&revision, &git) {
        section.sink.report(span.clone(), "`revision` needs `git`", "", "add `git = \"URL\"`, or omit `revision`");
    }
    let given: Vec<_> = [fetch, path, url, git].into_iter().flatten().collect();
    for (_, span) in given.iter().skip(1) {
        let message = format!("{} has more than one origin", section.title);
        section.sink.report(span.clone(), &message, "", &format!("keep only one of {ORIGINS}"));
    }
    match given.into_iter().next() {
        Some((from, _)) => from,
        None => {
            if !["fetch", "path", "url", "git"].iter().any(|key| section.has(key)) {
                let message = format!("{} has no origin", section.title);
                let remedy = format!("add {ORIGINS}; `fetch` is a command that puts files into the folder $DOWNLOAD");
                section.sink.report(section.span.clone(), &message, "", &remedy);
            }
            SourceFrom::Fetch(String::new())
        }
    }
}
