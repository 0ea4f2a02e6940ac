//! Which call of a linker made each program and library that a layer installed, and whether that link can be repeated:
//! the ground for other layouts of the same objects. Each is repeated once where it was made, and once from copies of all
//! that it loaded, which stay in the cache; each time its bytes are compared. Nothing is judged here, and no other layout
//! is made.

mod copied;
pub(crate) mod go;
mod link;
mod optimised;
pub(crate) mod recorded;

use crate::error::{At, Error};
use crate::files::{entries, wipe};
use crate::journal::{LinkSeen, Repeated};
use crate::judged;
use crate::paths::LINKS;
use crate::proof::loaded;
use crate::shell::Shell;
use crate::site::Site;
use crate::wrapper::{Call, ToolKind};
use crate::wrappers::is_linked;
use copied::{Instead, is_object, without_outputs};
use link::{AsInstalled, Installed, Link, Repetition, Work, as_installed, holds_bitcode};
use memchr::memmem;
use recorded::{Copies, Recorded, plain_words, traced};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Repeating links may cost this share of what the script took, and a second on top of it.
const SHARE: f64 = 0.1;
const ALWAYS_S: f64 = 1.0;

/// The sections of objects of gcc that hold no machine code.
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
    let mut of_go: BTreeMap<String, Link<'_>> = BTreeMap::new();
    for link in calls.iter().filter_map(Link::of) {
        // The last one counts.
        match link.call.kind() {
            ToolKind::GoLinker => of_go.insert(go::group(&go::given(&link.words)), link),
            _ => links.insert(link.output.clone(), link),
        };
    }
    // Each output is read once, however many files are installed.
    let outputs = links.values().filter_map(|link| Some((loaded(&fs::read(&link.output).ok()?, digest), link)));
    let by_loaded: BTreeMap<String, &Link<'_>> = outputs.collect();
    let by_name: BTreeMap<&OsStr, &Link<'_>> =
        links.values().filter_map(|link| Some((link.output.file_name()?, link))).collect();
    let mut spent_s = 0.0;
    let (mut seen, mut kept) = (vec![], vec![]);
    let mut copies = Copies::into(site.work.join(LINKS));
    for path in linked_files(&site.prefix)? {
        let name = path.strip_prefix(&site.prefix).unwrap_or(&path);
        let content = fs::read(&path).at("read", &path)?;
        let installed = Installed { path: &path, loaded: loaded(&content, digest), content };
        if below.is_some_and(|below| was_there(below, name, &installed.loaded)) {
            continue;
        }
        // A link that made what is loaded, or at least one whose output had that name.
        let of_go = go::identity(&installed.content).and_then(|identity| of_go.get(&go::group(&identity)));
        let made = of_go.or_else(|| links.get(&path)).or_else(|| by_loaded.get(&installed.loaded).copied());
        let repeated = match made.or_else(|| by_name.get(path.file_name()?).copied()) {
            None => Repeated::Unseen,
            Some(_) if spent_s > SHARE * script_s + ALWAYS_S => Repeated::Untried,
            Some(link) => {
                let mut work = Work { shell, site, copies: &mut copies, digest };
                let (repeated, took_s, again) = match link.call.kind() {
                    ToolKind::GoLinker => go::repeat(link, &mut work, &installed)?,
                    _ => link.repeat(&calls, &mut work, &installed)?,
                };
                spent_s += took_s;
                kept.extend(again.map(|again| Recorded { file: name.display().to_string(), ..again }));
                repeated
            }
        };
        let link = LinkSeen { file: name.display().to_string(), repeated };
        shell.note(&judged::sentence_on_link(&link))?;
        seen.push(link);
    }
    if kept.is_empty() {
        wipe(&copies.folder)?;
    } else {
        Recorded::keep(&kept, &copies.folder)?;
    }
    Ok(seen)
}

/// Whether the layer below had installed that file.
fn was_there(below: &Path, name: &Path, of_now: &str) -> bool {
    let digits = below.file_name().unwrap_or_default().to_string_lossy();
    fs::read(below.join(name)).is_ok_and(|content| loaded(&content, &digits) == of_now)
}

impl Link<'_> {
    /// Performs it again, and compares. The calls are all that were seen.
    fn repeat(&self, calls: &[Call], work: &mut Work<'_>, installed: &Installed<'_>) -> Result<Repetition, Error> {
        let site = work.site;
        let words: Vec<String> = self.words.iter().map(|word| self.kept(word, site)).collect();
        let inputs = words.iter().filter(|word| !word.starts_with('-')).map(|word| self.call.dir.join(word));
        let inputs: Vec<PathBuf> = inputs.filter(|path| is_object(path)).collect();
        if let Some(gone) = inputs.iter().find(|path| !path.exists()) {
            return Ok((Repeated::Gone { input: gone.display().to_string() }, 0.0, None));
        }
        let without_code: Vec<PathBuf> = inputs.iter().filter(|path| holds_no_code(path)).cloned().collect();
        if !without_code.is_empty() {
            return optimised::repeat(self, calls, &without_code, work, installed);
        }
        let [again, trace] = ["relinked", "relinked.trace"].map(|name| site.work.join(name));
        let mut argv = vec![self.call.tool.display().to_string()];
        argv.extend(without_outputs(&words));
        argv.extend(["--trace", "--trace", "-o"].map(str::to_owned));
        argv.push(again.display().to_string());
        let ended = site.relink(work.shell, &argv, &self.call.dir, &trace)?;
        let mut took_s = ended.measurements.get("wall").copied().unwrap_or(0.0);
        if let Some(why) = work.shell.complaint(&ended.end) {
            return Ok((Repeated::Failed { why }, took_s, None));
        }
        // Whatever is wrong with it, the build itself has succeeded.
        let Ok(content) = fs::read(&again) else { return Ok((Repeated::Differs, took_s, None)) };
        wipe(&again)?;
        let is_of_output = || fs::read(&self.output).is_ok_and(|made| made == content);
        let AsInstalled { replaced, is_changed_later } = match as_installed(&content, work.digest, installed) {
            Ok(found) => found,
            Err(_) if self.output != installed.path && is_of_output() => {
                return Ok((Repeated::ChangedLater, took_s, None));
            }
            Err(repeated) => return Ok((repeated, took_s, None)),
        };
        let recorded = self.record(work, &fs::read_to_string(&trace).unwrap_or_default(), &content, &mut took_s)?;
        match recorded {
            Some(recorded) => {
                let recorded = Recorded { loaded: installed.loaded.clone(), replaced, ..recorded };
                Ok((Repeated::Same { seconds: took_s / 2.0, is_changed_later }, took_s, Some(recorded)))
            }
            None => Ok((Repeated::NotFromCopies, took_s, None)),
        }
    }

    /// The link from copies that makes those bytes, with the members of archives as parts where that is possible.
    fn record(
        &self,
        work: &mut Work<'_>,
        trace: &str,
        content: &[u8],
        took_s: &mut f64,
    ) -> Result<Option<Recorded>, Error> {
        let trace: Vec<(PathBuf, Option<String>)> =
            traced(trace).into_iter().map(|(path, member)| (self.call.dir.join(path), member)).collect();
        let [again, printed] = ["relinked", "relinked.dropped"].map(|name| work.site.work.join(name));
        let drops = self.words.iter().any(|word| word.trim_start_matches('-') == "gc-sections");
        for takes_apart in [true, false] {
            let words = copied::words(self.call, work.site, work.copies, &trace, takes_apart, &Instead::default())?;
            let recorded = Recorded { tool: self.call.tool.clone(), words, ..Recorded::default() };
            let mut plain = plain_words(&recorded.words, &work.copies.folder);
            plain.extend(drops.then(|| "--print-gc-sections".to_owned()));
            let to = [again.as_path(), if drops { &printed } else { Path::new("") }];
            let ended = recorded.link(plain, to, work.shell, &work.site.work)?;
            *took_s += ended.measurements.get("wall").copied().unwrap_or(0.0);
            let is_same = fs::read(&again).is_ok_and(|made| made == content);
            wipe(&again)?;
            if is_same {
                let text = if drops { fs::read(&printed).unwrap_or_default() } else { vec![] };
                let dropped = recorded::dropped(&String::from_utf8_lossy(&text), &work.copies.folder);
                return Ok(Some(Recorded { dropped, ..recorded }));
            }
        }
        Ok(None)
    }
}

/// Whether the code of an object is made in the link.
fn holds_no_code(path: &Path) -> bool {
    holds_bitcode(path) || memmem::find(&fs::read(path).unwrap_or_default(), GCC_LTO).is_some()
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
