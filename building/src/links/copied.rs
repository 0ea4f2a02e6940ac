//! The words of a link, with copies in the place of all files that do not belong to the system. What the words mean is the
//! linker's business: whether they do the same is seen by the bytes that they make.

use super::recorded::{Copies, Word, neutral};
use crate::error::Error;
use crate::site::Site;
use crate::wrapper::{Call, kept_name};
use crate::wrappers::{kept_in, plain};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Words whose value is the next one, and no file that a link loads.
const VALUED: [&str; 14] = [
    "-soname",
    "-h",
    "-rpath",
    "--rpath",
    "-z",
    "-m",
    "-e",
    "-u",
    "-y",
    "-dynamic-linker",
    "--dynamic-linker",
    "--hash-style",
    "--sysroot",
    "-a",
];

/// Options of linkers whose value is a file that they write besides the program; each may also be followed by `=`.
const MORE_OUTPUTS: [&str; 4] = ["-Map", "--Map", "--dependency-file", "--out-implib"];

/// What is the same on every day: it is not copied.
const SYSTEM: [&str; 3] = ["/usr", "/lib", "/lib64"];

/// What a link loaded, member by member.
type Trace = [(PathBuf, Option<String>)];

/// Objects that take the place of others.
#[derive(Debug, Default)]
pub(super) struct Instead {
    /// The others.
    pub(super) of: BTreeSet<PathBuf>,
    /// They stand where the first of the others did.
    pub(super) by: Vec<PathBuf>,
}

/// The words, and the copies that they need.
pub(super) fn words(
    call: &Call,
    site: &Site,
    copies: &mut Copies,
    trace: &Trace,
    takes_apart: bool,
    instead: &Instead,
) -> Result<Vec<Word>, Error> {
    let (known, words) = (BTreeMap::new(), vec![]);
    let mut copying = Copying { call, site, copies, trace, takes_apart, instead, known, words };
    let all = without_outputs(&call.texts());
    let mut rest = all.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-plugin" | "-L" | "--library-path" => drop(rest.next()),
            "-l" | "--library" => {
                if let Some(name) = rest.next() {
                    copying.library(name)?;
                }
            }
            "-rpath-link" | "--rpath-link" => drop(rest.next()),
            valued if VALUED.contains(&valued) => {
                copying.words.push(Word::Text(word.clone()));
                copying.words.extend(rest.next().cloned().map(Word::Text));
            }
            _ => copying.word(word)?,
        }
    }
    copying.needed_by_libraries()?;
    Ok(copying.words)
}

struct Copying<'c> {
    call: &'c Call,
    site: &'c Site,
    copies: &'c mut Copies,
    trace: &'c Trace,
    takes_apart: bool,
    instead: &'c Instead,
    /// How many parts have each name.
    known: BTreeMap<String, u32>,
    words: Vec<Word>,
}

impl Copying<'_> {
    fn word(&mut self, word: &str) -> Result<(), Error> {
        let dir = &self.call.dir;
        if word.starts_with("-plugin-opt") || word.starts_with("-L") || word.starts_with("--library-path=") {
            // Where a folder of the system is looked through, the order of the folders counts.
            let folder = word.strip_prefix("-L").filter(|folder| is_of_system(Path::new(folder)));
            self.words.extend(folder.map(|_| Word::Text(word.to_owned())));
            return Ok(());
        }
        if let Some(name) = word.strip_prefix("-l") {
            return self.library(name);
        }
        if let Some((before, value)) = word.split_once('=').filter(|_| word.starts_with('-')) {
            let path = dir.join(value);
            let is_name = ["-soname", "--soname", "-rpath", "--rpath", "-rpath-link"].contains(&before);
            if !is_name && path.is_file() && !is_of_system(&path) {
                let copy = self.copies.keep(&path, &path)?;
                self.words.push(Word::File { before: format!("{before}="), copy });
                return Ok(());
            }
        }
        let path = dir.join(word);
        if word.starts_with('-') || is_of_system(&path) {
            self.words.push(Word::Text(word.to_owned()));
            return Ok(());
        }
        self.file(&path)
    }

    /// A library that is looked for: by the file that was found.
    fn library(&mut self, name: &str) -> Result<(), Error> {
        let names = match name.strip_prefix(':') {
            Some(name) => vec![name.to_owned()],
            None => vec![format!("lib{name}.so"), format!("lib{name}.a")],
        };
        let has_name = |path: &Path| names.iter().any(|name| path.ends_with(name));
        match self.trace.iter().find(|(path, _)| has_name(path)).map(|(path, _)| path.clone()) {
            // Without a name of its own, a shared library is needed by the name by which it was looked for.
            Some(path) if !is_of_system(&path) && path.extension().is_some_and(|ending| ending == "so") => {
                let copy = self.copies.keep(&path, &path)?;
                let folder = copy.parent().unwrap_or(Path::new("")).to_owned();
                self.words.push(Word::File { before: "-L".to_owned(), copy: folder });
                self.words.push(Word::Text(format!("-l{name}")));
                Ok(())
            }
            Some(path) if !is_of_system(&path) => self.file(&path),
            _ => {
                self.words.push(Word::Text(format!("-l{name}")));
                Ok(())
            }
        }
    }

    /// A file among the words, or found for one.
    fn file(&mut self, path: &Path) -> Result<(), Error> {
        let kept = kept_in(&self.site.work).join(kept_name(path));
        if [path, &kept].iter().any(|path| self.instead.of.contains(&plain(path))) {
            return self.others();
        }
        let content = if kept.exists() { &kept } else { path };
        if !content.is_file() {
            self.words.push(Word::Text(path.display().to_string()));
            return Ok(());
        }
        let name = self.name(path);
        if is_object(path) && path.extension().is_some_and(|ending| ending == "o") {
            let copy = self.copies.keep(content, path)?;
            let name = self.once(name);
            self.words.push(Word::Part { name, copy });
            return Ok(());
        }
        let members: Vec<String> = self
            .trace
            .iter()
            .filter(|(of, _)| plain(of) == plain(path) || plain(of) == plain(content))
            .filter_map(|(_, member)| member.clone())
            .collect();
        if self.takes_apart
            && !members.is_empty()
            && let Some(parts) = self.copies.members(content, &name, &members)?
        {
            for part in parts {
                if let Word::Part { name, copy } = part {
                    let name = self.once(name);
                    self.words.push(Word::Part { name, copy });
                }
            }
            if self.is_whole() {
                return Ok(());
            }
        }
        let copy = self.copies.keep(content, path)?;
        self.words.push(Word::File { before: String::new(), copy });
        Ok(())
    }

    /// What stands in the place of objects, once.
    fn others(&mut self) -> Result<(), Error> {
        const NAME: &str = "optimised";
        if !self.known.contains_key(NAME) {
            for path in &self.instead.by {
                let copy = self.copies.keep(path, path)?;
                let name = self.once(NAME.to_owned());
                self.words.push(Word::Part { name, copy });
            }
        }
        Ok(())
    }

    /// Whether all members of an archive would be loaded here.
    fn is_whole(&self) -> bool {
        let says = |word: &Word, what: &str| matches!(word, Word::Text(text) if text.trim_start_matches('-') == what);
        let last = |what: &str| self.words.iter().rposition(|word| says(word, what));
        last("whole-archive") > last("no-whole-archive")
    }

    /// What an object is called in every build of the program: by its path in the tree.
    fn name(&self, path: &Path) -> String {
        let path = plain(path);
        if path.starts_with(self.site.work.join("tmp")) || path.starts_with(std::env::temp_dir()) {
            // Compilers draw such names.
            return "tmp".to_owned();
        }
        let inner = path.strip_prefix(&self.site.tree).or_else(|_| path.strip_prefix(&self.site.prefix));
        neutral(&inner.unwrap_or(&path).display().to_string())
    }

    fn once(&mut self, name: String) -> String {
        let number = self.known.entry(name.clone()).or_default();
        *number += 1;
        if *number == 1 { name } else { format!("{name} {number}") }
    }

    /// Shared libraries that other shared libraries need were looked for in folders that may be gone.
    fn needed_by_libraries(&mut self) -> Result<(), Error> {
        let is_library = |path: &Path| path.to_string_lossy().contains(".so");
        for (path, _) in self.trace.iter().filter(|(path, _)| is_library(path) && !is_of_system(path)) {
            if path.is_file() {
                let copy = self.copies.keep(path, path)?;
                let folder = copy.parent().unwrap_or(Path::new("")).to_owned();
                self.words.push(Word::File { before: "-rpath-link=".to_owned(), copy: folder });
            }
        }
        Ok(())
    }
}

fn is_of_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// The words without those that name a file to write.
pub(super) fn without_outputs(words: &[String]) -> Vec<String> {
    let (mut left, mut words) = (vec![], words.iter());
    while let Some(word) = words.next() {
        let is_apart = |name: &&str| word == name;
        if word == "-o" || word == "--output" || MORE_OUTPUTS.iter().any(is_apart) {
            words.next();
            continue;
        }
        let is_joined = |name: &&str| word.strip_prefix(*name).is_some_and(|rest| rest.starts_with('='));
        let is_output = word.strip_prefix("-o").is_some_and(|rest| !rest.is_empty()) || word.starts_with("--output=");
        if !is_output && !MORE_OUTPUTS.iter().any(is_joined) {
            left.push(word.clone());
        }
    }
    left
}

/// Whether it is called like an object, or an archive of such.
pub(super) fn is_object(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "o" || ending == "a")
}
