//! Links as they can be performed again after the folder of the build is gone: the words of each, and copies of all that it
//! loaded. A copy keeps the name of its file. What belongs to the system is not copied; how a link is changed for another
//! layout is not known here.

use crate::error::{At, Error};
use crate::files::{read_json, write_json};
use crate::relocate::relocate;
use crate::shell::Shell;
use bakeoff_model::digest::hex;
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSection as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The list of links, in the folder of the copies.
const LIST: &str = "links.json";

/// A link that makes the same bytes from the copies alone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Recorded {
    /// The file, relative to the prefix.
    pub(crate) file: String,
    /// What is loaded of it as it was installed.
    pub(crate) loaded: String,
    /// The linker.
    pub(crate) tool: PathBuf,
    pub(crate) words: Vec<Word>,
    /// By object, the sections that it left out because nothing needs them.
    #[serde(default)]
    pub(crate) dropped: BTreeMap<PathBuf, BTreeSet<String>>,
    /// A string that the build replaced in the file after the link, as CMake does for `rpath`, and what by.
    #[serde(default)]
    pub(crate) replaced: Option<[String; 2]>,
    /// Whether the objects are what a link compiled.
    #[serde(default)]
    pub(crate) optimised: bool,
    /// Set if the linker is that of Go.
    #[serde(default)]
    pub(crate) go: Option<Go>,
}

/// What a link by the linker of Go needs besides its words.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Go {
    /// The identity that the linker puts into the file, and the one that `go build` put in its place.
    pub(crate) identity: [String; 2],
    pub(crate) env: BTreeMap<String, String>,
}

impl Go {
    /// Does what `go build` does after the link.
    pub(crate) fn finish(&self, content: &mut [u8]) {
        let [old, new] = &self.identity;
        if !old.is_empty() && old.len() == new.len() {
            relocate(content, old, new);
        }
    }
}

/// A word of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Word {
    Text(String),
    /// A file other than an object, by its copy; these letters are in front of it.
    File {
        before: String,
        copy: PathBuf,
    },
    /// An object, by its copy. Its name is the same in every build of the program.
    Part {
        name: String,
        copy: PathBuf,
    },
}

impl Recorded {
    /// The links of a folder of copies.
    pub(crate) fn all(folder: &Path) -> Option<Vec<Self>> {
        read_json(&folder.join(LIST))
    }

    pub(crate) fn keep(all: &[Self], folder: &Path) -> Result<(), Error> {
        write_json(&folder.join(LIST), &all)
    }

    /// Links again by these words into that file. What the linker prints goes to that other file, if there is one.
    pub(crate) fn link(
        &self,
        words: Vec<String>,
        [into, printed]: [&Path; 2],
        shell: &mut Shell,
        dir: &Path,
    ) -> Result<bakeoff_host::Ended, Error> {
        let output = ["-o".to_owned(), into.display().to_string()];
        let to_file = ["sh", "-c", "exec \"$@\" > \"$0\" 2>&1"].map(str::to_owned).into_iter();
        let to_file = to_file.chain([printed.display().to_string()]).filter(|_| !printed.as_os_str().is_empty());
        let mut argv: Vec<String> = to_file.chain([self.tool.display().to_string()]).collect();
        let mut env = crate::shell::basic_environment();
        // The linker of Go reads no options behind its file.
        match &self.go {
            None => argv.extend(words.into_iter().chain(output)),
            Some(go) => {
                argv.extend(output.into_iter().chain(words));
                env.extend(go.env.clone());
            }
        }
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        shell.execute(&argv, dir, &env)
    }
}

/// The words as a linker takes them, where the copies are in that folder.
pub(crate) fn plain_words(words: &[Word], folder: &Path) -> Vec<String> {
    let word = |word: &Word| match word {
        Word::Text(text) => text.clone(),
        Word::File { before, copy } => format!("{before}{}", folder.join(copy).display()),
        Word::Part { copy, .. } => folder.join(copy).display().to_string(),
    };
    words.iter().map(word).collect()
}

/// The folder of copies that is being filled.
pub(crate) struct Copies {
    pub(crate) folder: PathBuf,
    known: BTreeMap<(OsString, String), PathBuf>,
}

impl Copies {
    pub(crate) fn into(folder: PathBuf) -> Self {
        Self { folder, known: BTreeMap::new() }
    }

    /// Copies a file: where the copy is, in the folder.
    pub(crate) fn keep(&mut self, path: &Path, named: &Path) -> Result<PathBuf, Error> {
        self.keep_content(&fs::read(path).at("read", path)?, named)
    }

    pub(super) fn keep_content(&mut self, content: &[u8], named: &Path) -> Result<PathBuf, Error> {
        let name = named.file_name().unwrap_or_default().to_owned();
        let key = (name.clone(), hex(&Sha256::digest(content)));
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let folder = PathBuf::from(self.known.len().to_string());
        let (whole, copy) = (self.folder.join(&folder), folder.join(name));
        fs::create_dir_all(&whole).at("create the folder", &whole)?;
        let path = self.folder.join(&copy);
        fs::write(&path, content).at("write", &path)?;
        self.known.insert(key, copy.clone());
        Ok(copy)
    }

    /// The members of an archive that a link loaded, in the order in which it did, as objects of their own; none if two of
    /// them have the same name.
    pub(crate) fn members(
        &mut self,
        archive: &Path,
        name: &str,
        loaded: &[String],
    ) -> Result<Option<Vec<Word>>, Error> {
        let content = fs::read(archive).at("read", archive)?;
        let Ok(file) = ArchiveFile::parse(&*content) else { return Ok(None) };
        let mut found: BTreeMap<&[u8], Vec<&[u8]>> = BTreeMap::new();
        for member in file.members().filter_map(Result::ok) {
            // Of a thin archive the members are elsewhere.
            let Ok(data) = member.data(&*content) else { return Ok(None) };
            found.entry(member.name()).or_default().push(data);
        }
        let mut parts = vec![];
        for member in loaded {
            let Some([data]) = found.get(member.as_bytes()).map(Vec::as_slice) else { return Ok(None) };
            let copy = self.keep_content(data, Path::new(member))?;
            parts.push(Word::Part { name: format!("{name}({})", neutral(member)), copy });
        }
        Ok(Some(parts))
    }
}

/// The name of an object without what a compiler draws at random.
pub(crate) fn neutral(name: &str) -> String {
    let is_of_rust = name.ends_with(".rcgu.o") || name.ends_with(".rlib");
    let is_drawn = |word: &str| {
        let is_hex = word.len() >= 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let has = |kind: fn(&u8) -> bool| word.as_bytes().iter().any(kind);
        is_hex || is_of_rust && word.len() >= 6 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    };
    let words = name.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let neutral = words.map(|word| {
        let end = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len();
        if is_drawn(&word[..end]) { format!("#{}", &word[end..]) } else { word.to_owned() }
    });
    neutral.collect()
}

/// What a linker says that it left out (`--print-gc-sections`), of what is code or data: sections, by object.
pub(super) fn dropped(text: &str, folder: &Path) -> BTreeMap<PathBuf, BTreeSet<String>> {
    let mut dropped: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines() {
        let Some((_, rest)) = line.split_once("removing unused section ") else { continue };
        // GNU ld has `'.text.x' in file 'y.o'`, gold puts `from` in front, others have `y.o:(.text.x)`.
        let quoted = rest.strip_prefix("from ").unwrap_or(rest).strip_prefix('\'');
        let found = match quoted {
            Some(rest) => rest.strip_suffix('\'').and_then(|rest| rest.split_once("' in file '")),
            None => {
                rest.strip_suffix(')').and_then(|rest| rest.split_once(":(")).map(|(file, section)| (section, file))
            }
        };
        if let Some((section, file)) = found
            && let Ok(copy) = Path::new(file).strip_prefix(folder)
        {
            dropped.entry(copy.to_owned()).or_default().insert(section.to_owned());
        }
    }
    dropped
}

/// Where the strings of a file are that a loader reads.
fn strings(content: &[u8]) -> Option<std::ops::Range<usize>> {
    let file = object::File::parse(content).ok()?;
    let (start, size) = file.section_by_name(".dynstr")?.file_range()?;
    let (start, size) = (start as usize, size as usize);
    content.get(start..start + size).map(|_| start..start + size)
}

/// The one string of these that differs between two files of the same link, as it is in both.
pub(super) fn replaced(linked: &[u8], installed: &[u8]) -> Option<[String; 2]> {
    let (old, new) = (&linked[strings(linked)?], &installed[strings(installed)?]);
    let differs = |at: &usize| old[*at] != new[*at];
    let first = (0..old.len().min(new.len())).find(differs).filter(|_| old.len() == new.len())?;
    let start = old[..first].iter().rposition(|&byte| byte == 0)? + 1;
    let end = start + old[start..].iter().position(|&byte| byte == 0)?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let new_text = text(&new[start..end])?.trim_end_matches('\0').to_owned();
    (old[end..] == new[end..]).then_some([text(&old[start..end])?, new_text])
}

/// Puts the one string in the place of the other: whether it is there once.
pub(crate) fn replace(content: &mut [u8], [old, new]: &[String; 2]) -> bool {
    let Some(range) = strings(content) else { return false };
    let strings = &mut content[range];
    let whole = [b"\0", old.as_bytes(), b"\0"].concat();
    let all: Vec<usize> = memchr::memmem::find_iter(strings, &whole).map(|at| at + 1).collect();
    let [at] = all[..] else { return false };
    let place = &mut strings[at..at + old.len()];
    place.fill(0);
    place.iter_mut().zip(new.bytes()).for_each(|(byte, new)| *byte = new);
    true
}

/// What a linker says that it loaded (`--trace`, twice): files, and members of archives.
pub(crate) fn traced(text: &str) -> Vec<(PathBuf, Option<String>)> {
    let one = |line: &str| {
        let line = line.trim();
        // mold's lines begin with this word.
        let line = line.strip_prefix("trace: ").unwrap_or(line);
        // GNU ld has `(archive)member`, others have `archive(member)`.
        if let Some((archive, member)) = line.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            return (PathBuf::from(archive), Some(member.to_owned()));
        }
        match line.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
            Some((archive, member)) => (PathBuf::from(archive), Some(member.to_owned())),
            None => (PathBuf::from(line), None),
        }
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linkers_say_what_they_left_out() {
        let text = "/usr/bin/ld: removing unused section '.text.a' in file '/c/0/x.o'\n\
            ld.gold: removing unused section from '.text.b' in file '/c/0/x.o'\n\
            removing unused section /c/1/x.o:(.text.c)\nremoving unused section /usr/lib/crt1.o:(.text)\nelse\n";
        let of = |copy: &str, names: &[&str]| (copy.into(), names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(
            dropped(text, Path::new("/c")),
            [of("0/x.o", &[".text.a", ".text.b"]), of("1/x.o", &[".text.c"])].into()
        );
    }

    #[test]
    fn names_have_nothing_random() {
        let check = |name: &str, expect: &str| assert_eq!(neutral(name), expect);
        check("src/main.o", "src/main.o");
        check("sha256.o", "sha256.o");
        check("libregex-0123456789abcdef.rlib", "libregex-#.rlib");
        check("p-0123456789abcdef.p.7rcbfp3g-cgu.0.rcgu.o", "p-#.p.#-cgu.0.rcgu.o");
    }

    #[test]
    fn a_trace_has_files_and_members() {
        let of = |path: &str, member: Option<&str>| (PathBuf::from(path), member.map(str::to_owned));
        let text = "/usr/lib/crt1.o\n(libx.a)a.o\n\nlibx.a(b.o)\ntrace: ./libc.so\n";
        let expect =
            [of("/usr/lib/crt1.o", None), of("libx.a", Some("a.o")), of("libx.a", Some("b.o")), of("./libc.so", None)];
        assert_eq!(traced(text), expect);
    }
}
