//! Links of Go programs. Each is made in a folder that is gone afterwards, and by the same name; then `go build` changes the
//! last part of the identity in it. So the rest of the identity tells which call made a program. The link is repeated from copies
//! only: what it loads is in a list of archives.

use super::copied::without_outputs;
use super::link::{Installed, LIST, Link, Repetition, Work};
use super::recorded::{Copies, Go, Recorded, Word, plain_words};
use crate::error::{At as _, Error};
use crate::files::wipe;
use crate::journal::Repeated;
use crate::proof::loaded;
use object::{Object as _, ObjectSection as _};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What has functions put into an order that is drawn from this number.
pub(crate) const SEED: &str = "-randlayout";

/// The identity that the words of a link ask for.
pub(super) fn given(words: &[String]) -> String {
    words.iter().rev().find_map(|word| word.strip_prefix("-buildid=")).unwrap_or_default().to_owned()
}

/// That of a program of Go; empty if it has none.
pub(super) fn identity(content: &[u8]) -> Option<String> {
    let file = object::File::parse(content).ok()?;
    let Some(note) = file.section_by_name(".note.go.buildid") else {
        return file.section_by_name(".go.buildinfo").map(|_| String::new());
    };
    // The lengths of name and value, a kind, and the name `Go`.
    let note = note.data().ok()?;
    let length = u32::from_ne_bytes(note.get(4..8)?.try_into().ok()?) as usize;
    String::from_utf8(note.get(16..)?.get(..length)?.to_vec()).ok()
}

/// What stays the same of an identity.
pub(super) fn group(identity: &str) -> String {
    identity.rsplit_once('/').map_or(identity, |(group, _)| group).to_owned()
}

/// Performs it again, and compares.
pub(super) fn repeat(link: &Link<'_>, work: &mut Work<'_>, installed: &Installed<'_>) -> Result<Repetition, Error> {
    let tool = link.call.tool.clone();
    let (words, gone) = copied(link, work)?;
    if let Some(input) = gone {
        return Ok((Repeated::Gone { input }, 0.0, None));
    }
    let [again, printed] = ["relinked", "relinked.printed"].map(|name| work.site.work.join(name));
    let identity = [given(&link.words), identity(&installed.content).unwrap_or_default()];
    let mut recorded = Recorded { tool, words, loaded: installed.loaded.clone(), ..Recorded::default() };
    let folder = work.copies.folder.clone();
    let mut took_s = 0.0;
    // With `-trimpath`, the linker is not told where Go is.
    for root in [link.call.tool.ancestors().nth(4), None] {
        let env = env(&recorded, &folder, root.unwrap_or(Path::new("")));
        recorded.go = Some(Go { identity: identity.clone(), env });
        let words = plain_words(&recorded.words, &folder);
        let ended = recorded.link(words, [&again, Path::new("")], work.shell, &folder)?;
        let seconds = ended.measurements.get("wall").copied().unwrap_or(0.0);
        took_s += seconds;
        if let Some(why) = work.shell.complaint(&ended.end) {
            return Ok((Repeated::Failed { why }, took_s, None));
        }
        let mut content = fs::read(&again).at("read", &again)?;
        wipe(&again)?;
        recorded.go.iter().for_each(|go| go.finish(&mut content));
        let is_changed_later = content != installed.content;
        if is_changed_later && loaded(&content, work.digest) != installed.loaded {
            continue;
        }
        let asked = vec![format!("{SEED}=1"), "-V".to_owned()];
        let ended = recorded.link(asked, [&again, &printed], work.shell, &folder)?;
        if work.shell.complaint(&ended.end).is_some() {
            return Ok((Repeated::Failed { why: format!("does not know {SEED}") }, took_s, None));
        }
        return Ok((Repeated::Same { seconds, is_changed_later }, took_s, Some(recorded)));
    }
    Ok((Repeated::Differs, took_s, None))
}

/// The words with copies of all that the link loads, and the first of these files that is gone.
fn copied(link: &Link<'_>, work: &mut Work<'_>) -> Result<(Vec<Word>, Option<String>), Error> {
    let (mut copied, mut gone) = (vec![], None);
    let found = |file: &str| link.call.dir.join(link.kept(file, work.site));
    let mut keep = |copies: &mut Copies, file: &str| -> Result<PathBuf, Error> {
        let path = found(file);
        if path.is_file() {
            return copies.keep(&path, Path::new(file));
        }
        gone.get_or_insert_with(|| file.to_owned());
        Ok(PathBuf::new())
    };
    let words = without_outputs(&link.words);
    for (number, word) in words.iter().enumerate() {
        let copy = if number + 1 == words.len() {
            keep(work.copies, word)?
        } else if number > 0 && words[number - 1] == LIST {
            let list = fs::read_to_string(found(word)).unwrap_or_default();
            let lines = list.lines().map(|line| {
                let archive = line.strip_prefix("packagefile ").and_then(|rest| rest.split_once('='));
                let Some((name, file)) = archive else { return Ok(format!("{line}\n")) };
                // The link is performed in the folder of the copies.
                Ok(format!("packagefile {name}={}\n", keep(work.copies, file)?.display()))
            });
            let lines = lines.collect::<Result<String, Error>>()?;
            work.copies.keep_content(lines.as_bytes(), Path::new(word))?
        } else {
            copied.push(Word::Text(word.clone()));
            continue;
        };
        copied.push(Word::File { before: String::new(), copy });
    }
    Ok((copied, gone))
}

/// What the linker has to find in its environment: where Go is, and for what the program was compiled, as its archive says.
fn env(recorded: &Recorded, folder: &Path, root: &Path) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    let mut set = |name: &str, value: &str| drop(env.insert(name.to_owned(), value.to_owned()));
    set("GOROOT", &root.to_string_lossy());
    let content = match recorded.words.last() {
        Some(Word::File { copy, .. }) => fs::read(folder.join(copy)).unwrap_or_default(),
        _ => vec![],
    };
    // `go object linux amd64 go1.26.8 GOAMD64=v1 X:…`
    let start = memchr::memmem::find(&content, b"go object ").unwrap_or(content.len());
    let line = content[start..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    for (number, word) in String::from_utf8_lossy(line).split(' ').enumerate() {
        match (number, word.split_once(['=', ':'])) {
            (2, _) => set("GOOS", word),
            (3, _) => set("GOARCH", word),
            (_, Some(("X", enabled))) => set("GOEXPERIMENT", enabled),
            (_, Some((name, value))) => set(name, value),
            _ => {}
        }
    }
    env
}
