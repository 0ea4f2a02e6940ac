//! Whether two finished builds are the same program at other addresses: what [`bakeoff_code`] finds in their recorded links,
//! and in the objects and archives that were installed, too. Any other file that differs makes them differ.

use crate::cache::Cache;
use crate::journal::BuildLine;
use crate::links::recorded::{Recorded, Word};
use crate::proof::{loaded, without_digits};
use bakeoff_code::{Answer, Difference, Part, Program, compare};
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectKind};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What is known of two builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SameCode {
    Same,
    /// They differ in these.
    Differs(Vec<Difference>),
    /// Not all links were recorded, or something cannot be compared.
    Unknown,
}

/// Compares two builds that differ in these files.
pub(crate) fn judge(cache: &Cache, both: [&BuildLine; 2], files: &[PathBuf]) -> SameCode {
    // All of them are read before the first one is compared: one that is no program decides.
    let pairs = files.iter().map(|file| match both.map(|build| Held::of(cache, build, file)) {
        [Some(one), Some(other)] if one.mode == other.mode => Some([one, other]),
        _ => None,
    });
    let Some(pairs) = pairs.collect::<Option<Vec<_>>>() else { return SameCode::Unknown };
    let mut differences: Vec<Difference> = vec![];
    for [one, other] in &pairs {
        match compare(&one.program(), &other.program()) {
            Answer::Same => {}
            Answer::Unknown(_) => return SameCode::Unknown,
            Answer::Differs(found) => differences.extend(found),
        }
    }
    // What an object differs in, its program does, too.
    let mut known = BTreeSet::new();
    differences.retain(|difference| known.insert((difference.what, difference.name.clone())));
    match differences.is_empty() {
        true => SameCode::Same,
        false => SameCode::Differs(differences),
    }
}

/// A file that a build installed, and what it was linked from, without the digits of layers.
struct Held {
    mode: u32,
    parts: Vec<(String, Vec<u8>)>,
    words: Vec<Vec<u8>>,
    linked: Option<Vec<u8>>,
}

impl Held {
    /// None, if there is no such file, if it is no program, or if its link was not recorded.
    fn of(cache: &Cache, build: &BuildLine, file: &Path) -> Option<Self> {
        let path = cache.prefix_of(&build.digest).join(file);
        let about = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let content = fs::read(&path).ok()?;
        let mut held = Self { mode: about.permissions().mode(), parts: vec![], words: vec![], linked: None };
        let plain = without_digits(&content, &build.digest);
        if let Ok(archive) = ArchiveFile::parse(&*plain) {
            for member in archive.members() {
                let member = member.ok()?;
                let name = String::from_utf8_lossy(member.name()).into_owned();
                if held.parts.iter().any(|(known, _)| *known == name) {
                    return None;
                }
                held.parts.push((name, member.data(&*plain).ok()?.to_vec()));
            }
            return Some(held);
        }
        if object::File::parse(&*plain).ok()?.kind() == ObjectKind::Relocatable {
            held.parts.push((file.display().to_string(), plain.into_owned()));
            return Some(held);
        }
        let of_now = loaded(&content, &build.digest);
        for layer in &build.layers {
            let folder = cache.paths.links_of(&layer.digest);
            let all = Recorded::all(&folder).unwrap_or_default();
            // A later layer may have put something else there.
            let is_it = |recorded: &&Recorded| Path::new(&recorded.file) == file && recorded.loaded == of_now;
            // What archives of Go hold cannot be compared.
            if let Some(recorded) = all.iter().find(is_it).filter(|recorded| recorded.go.is_none()) {
                held.linked = Some(plain.into_owned());
                held.words.push(recorded.tool.as_os_str().as_encoded_bytes().to_vec());
                held.take(&recorded.words, &folder, &layer.digest)?;
                return Some(held);
            }
        }
        None
    }

    fn take(&mut self, words: &[Word], folder: &Path, layer: &str) -> Option<()> {
        let read = |copy: &Path| Some(without_digits(&fs::read(folder.join(copy)).ok()?, layer).into_owned());
        for word in words {
            match word {
                Word::Text(text) => self.words.push(without_digits(text.as_bytes(), layer).into_owned()),
                Word::Part { name, copy } => self.parts.push((name.clone(), read(copy)?)),
                Word::File { before, copy } => {
                    let content = read(copy)?;
                    let is_library = object::File::parse(&*content).is_ok_and(|f| f.kind() == ObjectKind::Dynamic);
                    let name = copy.file_name()?.as_encoded_bytes().to_vec();
                    // What a link takes of a library is in the dynamic symbols of the program.
                    self.words.push([before.as_bytes(), if is_library { &name } else { &content }].concat());
                }
            }
        }
        Some(())
    }

    fn program(&self) -> Program<'_> {
        Program {
            parts: self.parts.iter().map(|(name, content)| Part { name, content }).collect(),
            words: self.words.iter().map(Vec::as_slice).collect(),
            linked: self.linked.as_deref(),
        }
    }
}
