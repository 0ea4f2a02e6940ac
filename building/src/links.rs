//! Which call of a linker made each program and library that a layer installed, and whether that link can be repeated:
//! the ground for other layouts of the same objects. Each is repeated once, where it was made, and its bytes are
//! compared. Nothing is judged here, and no other layout is made.

use crate::error::{At, Error};
use crate::files::{entries, wipe};
use crate::journal::{LinkSeen, Repeated};
use crate::judged;
use crate::proof::loaded;
use crate::shell::Shell;
use crate::site::Site;
use crate::wrapper::{Call, ToolKind, kept_name};
use crate::wrappers::{is_linked, kept_in, plain};
use memchr::memmem;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Repeating links may cost this share of what the script took, and a second on top of it.
const SHARE: f64 = 0.1;
const ALWAYS_S: f64 = 1.0;

/// Options of linkers whose value is a file that they write besides the program; each may also be followed by `=`.
const MORE_OUTPUTS: [&str; 4] = ["-Map", "--Map", "--dependency-file", "--out-implib"];

/// How objects begin that hold no machine code: those of LLVM, and a section of gcc's.
const BITCODE: &[u8] = b"BC\xc0\xde";
const GCC_LTO: &[u8] = b".gnu.lto_";

/// Repeats the link of everything that the layer installed, but not of what it found there.
pub(crate) fn repeat(
    shell: &mut Shell,
    site: &Site,
    below: Option<&Path>,
    digest: &str,
    script_s: f64,
) -> Result<Vec<LinkSeen>, Error> {
    let Some(calls) = site.around.calls_if_seen()? else { return Ok(vec![]) };
    let mut links: BTreeMap<PathBuf, Link<'_>> = BTreeMap::new();
    for link in calls.iter().filter_map(Link::of) {
        // The last one counts.
        links.insert(link.output.clone(), link);
    }
    // Each output is read once, however many files are installed.
    let outputs = links.values().filter_map(|link| Some((loaded(&fs::read(&link.output).ok()?, digest), link)));
    let by_loaded: BTreeMap<String, &Link<'_>> = outputs.collect();
    let by_name: BTreeMap<&OsStr, &Link<'_>> =
        links.values().filter_map(|link| Some((link.output.file_name()?, link))).collect();
    let mut spent_s = 0.0;
    let mut seen = vec![];
    for path in linked_files(&site.prefix)? {
        let name = path.strip_prefix(&site.prefix).unwrap_or(&path);
        let content = fs::read(&path).at("read", &path)?;
        let installed = Installed { path: &path, loaded: loaded(&content, digest), content };
        if below.is_some_and(|below| was_there(below, name, &installed.loaded)) {
            continue;
        }
        // A link that made what is loaded, or at least one whose output had that name.
        let made = links.get(&path).or_else(|| by_loaded.get(&installed.loaded).copied());
        let repeated = match made.or_else(|| by_name.get(path.file_name()?).copied()) {
            None => Repeated::Unseen,
            Some(_) if spent_s > SHARE * script_s + ALWAYS_S => Repeated::Untried,
            Some(link) => {
                let (repeated, took_s) = link.repeat(shell, site, &installed, digest)?;
                spent_s += took_s;
                repeated
            }
        };
        let link = LinkSeen { file: name.display().to_string(), repeated };
        shell.note(&judged::sentence_on_link(&link))?;
        seen.push(link);
    }
    Ok(seen)
}

/// Whether the layer below had installed that file.
fn was_there(below: &Path, name: &Path, of_now: &str) -> bool {
    let digits = below.file_name().unwrap_or_default().to_string_lossy();
    fs::read(below.join(name)).is_ok_and(|content| loaded(&content, &digits) == of_now)
}

/// A file that a layer installed.
struct Installed<'a> {
    path: &'a Path,
    content: Vec<u8>,
    /// The digest of what is loaded of it.
    loaded: String,
}

/// A call of a linker that makes a program or a library.
struct Link<'a> {
    call: &'a Call,
    output: PathBuf,
    words: Vec<String>,
}

impl<'a> Link<'a> {
    fn of(call: &'a Call) -> Option<Self> {
        let words = call.texts();
        let is_partial = |word: &String| ["-r", "-Ur", "-i", "--relocatable"].contains(&word.as_str());
        if call.kind() != ToolKind::Linker || words.iter().any(is_partial) {
            return None;
        }
        let output = call.output().map_or_else(|| "a.out".into(), PathBuf::from);
        Some(Self { call, output: plain(&call.dir.join(output)), words })
    }

    /// Performs it again, and compares; also the seconds that took.
    fn repeat(
        &self,
        shell: &mut Shell,
        site: &Site,
        installed: &Installed<'_>,
        digest: &str,
    ) -> Result<(Repeated, f64), Error> {
        let words: Vec<String> = self.words.iter().map(|word| self.kept(word, site)).collect();
        let inputs = words.iter().filter(|word| !word.starts_with('-')).map(|word| self.call.dir.join(word));
        let inputs: Vec<PathBuf> = inputs.filter(|path| is_object(path)).collect();
        if let Some(gone) = inputs.iter().find(|path| !path.exists()) {
            return Ok((Repeated::Gone { input: gone.display().to_string() }, 0.0));
        }
        if inputs.iter().any(|path| holds_no_code(path)) {
            return Ok((Repeated::LinkTimeOptimised, 0.0));
        }
        let again = site.work.join("relinked");
        let mut argv = vec![self.call.tool.display().to_string()];
        argv.extend(without_outputs(&words));
        argv.extend(["-o".to_owned(), again.display().to_string()]);
        let ended = site.relink(shell, &argv, &self.call.dir)?;
        let took_s = ended.measurements.get("wall").copied().unwrap_or(0.0);
        if let Some(why) = shell.complaint(&ended.end) {
            return Ok((Repeated::Failed { why }, took_s));
        }
        // Whatever is wrong with it, the build itself has succeeded.
        let Ok(content) = fs::read(&again) else { return Ok((Repeated::Differs, took_s)) };
        wipe(&again)?;
        let is_of_output = || fs::read(&self.output).is_ok_and(|made| made == content);
        let repeated = if content == installed.content {
            Repeated::Same { seconds: took_s, is_changed_later: false }
        } else if loaded(&content, digest) == installed.loaded {
            Repeated::Same { seconds: took_s, is_changed_later: true }
        } else if self.output != installed.path && is_of_output() {
            Repeated::ChangedLater
        } else {
            Repeated::Differs
        };
        Ok((repeated, took_s))
    }

    /// The word as it can be used now: an object has the name by which it was kept, as it may be gone or another one.
    fn kept(&self, word: &str, site: &Site) -> String {
        let path = self.call.dir.join(word);
        if word.starts_with('-') {
            return word.to_owned();
        }
        let kept = kept_in(&site.work).join(kept_name(&path));
        if kept.exists() { kept.display().to_string() } else { word.to_owned() }
    }
}

/// The words without those that name a file to write.
fn without_outputs(words: &[String]) -> Vec<String> {
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
fn is_object(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "o" || ending == "a")
}

/// Whether the code of an object is made in the link.
fn holds_no_code(path: &Path) -> bool {
    let content = fs::read(path).unwrap_or_default();
    content.starts_with(BITCODE) || memmem::find(&content, GCC_LTO).is_some()
}

/// The programs and shared libraries below a folder, each once.
fn linked_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (mut folders, mut files) = (vec![folder.to_owned()], vec![]);
    while let Some(next) = folders.pop() {
        for path in entries(&next)? {
            let about = fs::symlink_metadata(&path).at("inspect", &path)?;
            if about.is_dir() {
                folders.push(path);
            } else if about.is_file() && is_linked(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
