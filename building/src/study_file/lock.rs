//! `study.lock`: the hashes of those sources that the study file gives none for, as `bakeoff lock` found them. It reads
//! and writes the text, and says what of it holds for a study; nothing is fetched here.

use super::sources::origin;
use crate::Building;
use crate::files::is_sha256;
use crate::nouns::{Source, SourceFrom};
use bakeoff_model::problem::Problem;
use bakeoff_model::study_file::{Section, Sink, Title};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use toml::de::DeTable;

/// The version of the format.
const FORMAT: i64 = 1;

/// The head of the file.
const HEAD: &str = "\
# The hashes of the sources, as found by `bakeoff lock`. Bakeoff refuses sources that do not match.
# Written by bakeoff: do not edit it, but keep it under version control, next to study.toml.
";

/// The locked sources of a study, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    /// The sources.
    pub sources: BTreeMap<String, Locked>,
}

/// What was found of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// Where it was had from. It holds as long as the study says the same.
    pub from: SourceFrom,
    /// The SHA-256 of its file, or of its folder's tree.
    pub sha256: String,
    /// Of a Git repository: the whole name of the commit.
    pub commit: Option<String>,
}

/// How a source comes by its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockState<'a> {
    /// The study file says it.
    Pinned,
    /// It is a path, or the working tree of a repository, and counts as it is.
    Path,
    /// The lock file says it.
    Locked(&'a Locked),
    /// The lock file says it of another origin than the study's, so that it does not hold.
    Stale(&'a Locked),
    /// Nobody says it.
    Unlocked,
}

impl Lock {
    /// How a source of the study comes by its hash.
    pub fn state(&self, source: &Source) -> LockState<'_> {
        if source.from.is_as_it_is_now() {
            return LockState::Path;
        }
        if source.sha256.is_some() {
            return LockState::Pinned;
        }
        match self.sources.get(&source.name) {
            None => LockState::Unlocked,
            Some(locked) if locked.from == source.from => LockState::Locked(locked),
            Some(locked) => LockState::Stale(locked),
        }
    }

    /// Fills in the hashes that hold, and in place of a tag or branch the commit that it was.
    pub(super) fn apply(&self, sources: &mut [Source]) {
        for source in sources {
            let LockState::Locked(locked) = self.state(source) else { continue };
            source.sha256 = Some(locked.sha256.clone());
            if let (SourceFrom::Git { revision, .. }, Some(commit)) = (&mut source.from, &locked.commit) {
                revision.clone_from(commit);
            }
        }
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        let mut out = format!("{HEAD}format = {FORMAT}\n");
        for (name, locked) in &self.sources {
            let _ = writeln!(out, "\n[sources.{}]", key(name));
            let keys = match &locked.from {
                SourceFrom::Fetch(command) => vec![("fetch", command)],
                SourceFrom::Path(path) => vec![("path", path)],
                SourceFrom::Url(url) => vec![("url", url)],
                SourceFrom::Git { url, revision } => vec![("git", url), ("revision", revision)],
                // Never locked.
                SourceFrom::Worktree(url) => vec![("git", url)],
            };
            let commit = locked.commit.iter().map(|commit| ("commit", commit));
            for (key, text) in keys.into_iter().chain(commit).chain([("sha256", &locked.sha256)]) {
                let _ = writeln!(out, "{key} = {}", quoted(text));
            }
        }
        out
    }
}

impl Building {
    /// Reads a lock file.
    ///
    /// # Errors
    /// All that is wrong in it.
    pub fn parse_lock(text: &str) -> Result<Lock, Vec<Problem>> {
        const REMEDY: &str = "restore the file from version control, or remove it and run `bakeoff lock STUDY`";
        let (table, errors) = DeTable::parse_recoverable(text);
        let sink = Sink::default();
        for error in &errors {
            sink.report(
                error.span().unwrap_or(0..0),
                &format!("this is not valid TOML: {}", error.message()),
                "",
                REMEDY,
            );
        }
        if !errors.is_empty() {
            return Err(sink.into_list());
        }
        let span = table.span();
        let file = Section::new(Title::File("the lock file"), table.get_ref(), span.start..span.start, &sink);
        if let Some((format, span)) = file.required_integer("format", REMEDY)
            && format != FORMAT
        {
            sink.report(
                span,
                &format!("unknown format {format}"),
                "this version reads 1",
                "use a newer version of Bakeoff",
            );
        }
        let mut lock = Lock::default();
        for section in file.sections_of_any_name("sources") {
            let from = origin(&section);
            if matches!(&from, SourceFrom::Git { revision, .. } if revision.is_empty()) {
                sink.report(section.span.clone(), &format!("{} has no `revision`", section.title), "", REMEDY);
            }
            let commit = section.string("commit").map(|(commit, _)| commit);
            let sha256 = section.required_string("sha256", REMEDY);
            section.finish();
            match sha256 {
                Some((sha256, _)) if is_sha256(&sha256) => {
                    lock.sources.insert(section.name.clone(), Locked { from, sha256, commit });
                }
                Some((_, span)) => {
                    sink.report(span, "`sha256` must be 64 lower-case hexadecimal digits", "", REMEDY);
                }
                None => {}
            }
        }
        file.finish();
        let problems = sink.into_list();
        if problems.is_empty() { Ok(lock) } else { Err(problems) }
    }
}

/// A name as TOML has it in a header: most need no quotes.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if bare { name.to_owned() } else { quoted(name) }
}

/// A text as TOML has it within quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ if c.is_control() => drop(write!(out, "\\u{:04X}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, from: SourceFrom) -> Source {
        Source { name: name.to_owned(), from, sha256: None, unpack: true, disk_bytes: None }
    }

    fn git(revision: &str) -> SourceFrom {
        SourceFrom::Git { url: "https://example.org/x.git".to_owned(), revision: revision.to_owned() }
    }

    fn lock() -> Lock {
        let locked = |from, commit: Option<&str>| {
            let sha256 = "0123456789abcdef".repeat(4);
            Locked { from, sha256, commit: commit.map(str::to_owned) }
        };
        let odd = "cp 'a \"b\" \\ \t\u{1}\u{7f}é' \"$DOWNLOAD\"\nsecond line\r\n";
        let sources = [
            ("fetched", locked(SourceFrom::Fetch(odd.to_owned()), None)),
            ("repository", locked(git("main"), Some("c0ffee"))),
            ("loaded+1", locked(SourceFrom::Url("https://example.org/x.tar".to_owned()), None)),
        ];
        Lock { sources: sources.into_iter().map(|(name, locked)| (name.to_owned(), locked)).collect() }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let text = lock().render();
        assert_eq!(Building::parse_lock(&text).unwrap(), lock(), "{text}");
        assert!(text.starts_with("# ") && text.contains("version control"), "{text}");
        assert_eq!(Building::parse_lock(&Lock::default().render()).unwrap(), Lock::default());
    }

    #[test]
    fn a_hash_holds_for_the_origin_that_it_was_found_of() {
        let lock = lock();
        let locked = &lock.sources["repository"];
        assert_eq!(lock.state(&source("repository", git("main"))), LockState::Locked(locked));
        assert_eq!(lock.state(&source("repository", git("v2"))), LockState::Stale(locked));
        assert_eq!(lock.state(&source("other", git("main"))), LockState::Unlocked);
        assert_eq!(lock.state(&source("loaded+1", SourceFrom::Path("x".to_owned()))), LockState::Path);
        let pinned = Source { sha256: Some("0".repeat(64)), ..source("repository", git("main")) };
        assert_eq!(lock.state(&pinned), LockState::Pinned);

        let mut sources = [source("repository", git("main")), source("repository", git("v2")), pinned.clone()];
        lock.apply(&mut sources);
        assert_eq!(sources[0].sha256.as_ref(), Some(&locked.sha256));
        assert_eq!(sources[0].from, git("c0ffee"), "a branch moves, the commit does not");
        assert_eq!(sources[1], source("repository", git("v2")));
        assert_eq!(sources[2], pinned);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let check = |text: &str, expect: &str| {
            let problems = Building::parse_lock(text).unwrap_err();
            assert!(problems.iter().any(|problem| problem.message.contains(expect)), "{text}: {problems:?}");
        };
        check("format = 2", "unknown format 2");
        check("", "no `format`");
        check("format = 1\n[sources.x]\nurl = \"u\"", "no `sha256`");
        check("format = 1\n[sources.x]\nurl = \"u\"\nsha256 = \"1\"", "64 lower-case");
        check("format = 1\n[sources.x]\nsha256 = \"1\"", "has no origin");
        check("format = 1\nother = 2", "has no key `other`");
        check("format = ", "not valid TOML");
        check("<<<<<<< HEAD", "not valid TOML");
    }
}
