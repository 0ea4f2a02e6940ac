//! The folder that an archive becomes. Whatever an archive says, nothing is written outside of it: names are taken
//! apart before they are used, every folder on the way to a file was made here, and symbolic links are made when all
//! else is done, so that nothing can be written through one. It knows nothing of archive formats.

use super::error::{Fault, Refusal, shown};
use super::limits::Meter;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, FileTimes};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// A path with more links than this leads nowhere: the kernel says ELOOP.
const MAX_LINKS: usize = 40;

/// A longer target cannot be made (PATH_MAX).
pub(super) const MAX_TARGET_BYTES: u64 = 4095;

/// What an archive says of one entry.
pub(super) struct Entry<'a> {
    /// As it stands in the archive.
    pub(super) name: &'a [u8],
    pub(super) modified: Option<SystemTime>,
    pub(super) kind: EntryKind<'a>,
}

/// What an entry is.
pub(super) enum EntryKind<'a> {
    Folder,
    File {
        content: &'a mut dyn Read,
        executable: bool,
    },
    /// To a path relative to the folder that the link is in.
    SymbolicLink(&'a [u8]),
    /// To an entry that came before.
    HardLink(&'a [u8]),
}

/// Which folder is the outermost that a symbolic link may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// The one that is unpacked into.
    Itself,
    /// If there is one folder in it and nothing else, then that one.
    OnlyFolder,
}

/// What was made of an entry.
enum Made {
    Folder(Option<SystemTime>),
    File,
    /// Not made yet; its target.
    Link(Vec<u8>),
}

/// A folder that is being filled.
pub(super) struct Tree<'a> {
    folder: &'a Path,
    meter: &'a Meter,
    /// All that there is, by its path relative to the folder.
    made: BTreeMap<PathBuf, Made>,
}

impl<'a> Tree<'a> {
    /// `folder` must be empty, and nobody else's.
    pub(super) fn new(folder: &'a Path, meter: &'a Meter) -> Self {
        Self { folder, meter, made: BTreeMap::new() }
    }

    /// Adds an entry; one of the same name that came before is replaced, as `tar` does it.
    pub(super) fn add(&mut self, entry: Entry<'_>) -> Result<(), Fault> {
        let Entry { name, modified, kind } = entry;
        self.put(name, modified, kind).map_err(|why| Fault::from(why).of(name))
    }

    fn put(&mut self, name: &[u8], modified: Option<SystemTime>, kind: EntryKind<'_>) -> Result<(), Refusal> {
        let path = inner_path(name)?;
        if path.as_os_str().is_empty() {
            return match kind {
                EntryKind::Folder => Ok(()),
                _ => Err(Refusal::Name("is the name of the top folder")),
            };
        }
        self.parents(&path)?;
        let place = self.folder.join(&path);
        if matches!(kind, EntryKind::Folder) {
            match self.made.get(&path) {
                None => make_folder(&place)?,
                Some(Made::Folder(_)) => {}
                Some(_) => return Err(Refusal::Name("is also the name of an earlier file or link")),
            }
            self.made.insert(path, Made::Folder(modified));
            return Ok(());
        }
        // Before the earlier one of the name is removed: it may be what the link leads to.
        let linked = match kind {
            EntryKind::HardLink(target) => Some(self.linked(target, &path)?),
            _ => None,
        };
        match self.made.get(&path) {
            Some(Made::Folder(_)) => return Err(Refusal::Name("is also the name of an earlier folder")),
            Some(Made::File) => fs::remove_file(&place)?,
            Some(Made::Link(_)) | None => {}
        }
        self.made.remove(&path);
        let made = match kind {
            EntryKind::Folder => return Ok(()),
            EntryKind::File { content, executable } => self.write(&place, modified, content, executable)?,
            EntryKind::SymbolicLink(target) => Made::Link(checked_target(target)?.to_vec()),
            EntryKind::HardLink(_) => match linked {
                Some((_, Some(target))) => Made::Link(target),
                Some((from, None)) => {
                    fs::hard_link(self.folder.join(from), &place)?;
                    Made::File
                }
                None => return Ok(()),
            },
        };
        self.made.insert(path, made);
        Ok(())
    }

    /// Makes the folders above a path that are not there yet. What is there must be a folder: never a link to one.
    fn parents(&mut self, path: &Path) -> Result<(), Refusal> {
        let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return Ok(()) };
        // Nearly always it is there, and so are those above it.
        match self.made.get(parent) {
            Some(Made::Folder(_)) => return Ok(()),
            Some(Made::File) => return Err(Refusal::Name("goes through a file")),
            Some(Made::Link(_)) => return Err(Refusal::Name("goes through a symbolic link")),
            None => {}
        }
        self.parents(parent)?;
        make_folder(&self.folder.join(parent))?;
        self.made.insert(parent.to_owned(), Made::Folder(None));
        Ok(())
    }

    fn write(
        &self,
        place: &Path,
        modified: Option<SystemTime>,
        content: &mut dyn Read,
        executable: bool,
    ) -> Result<Made, Refusal> {
        // Neither setuid nor anybody's special wishes: executable or not is all that a source needs.
        let mode = if executable { 0o755 } else { 0o644 };
        let mut file = File::options().write(true).create_new(true).mode(mode).open(place)?;
        io::copy(content, &mut file)?;
        file.flush()?;
        if let Some(modified) = modified {
            file.set_times(FileTimes::new().set_modified(modified))?;
        }
        Ok(Made::File)
    }

    /// What a hard link of that path leads to: an entry's path and, if that is a symbolic link, its target.
    fn linked(&self, target: &[u8], path: &Path) -> Result<(PathBuf, Option<Vec<u8>>), Refusal> {
        let refused = |why| Refusal::Link { target: shown(target), why };
        let from = inner_path(target).map_err(|_| refused("which is not a valid entry name"))?;
        match self.made.get(&from) {
            Some(_) if from == path => Err(refused("which is itself")),
            Some(Made::File) => Ok((from, None)),
            Some(Made::Link(target)) => Ok((from, Some(target.clone()))),
            Some(Made::Folder(_)) => Err(refused("which is a folder")),
            None => Err(refused("which is not an earlier entry")),
        }
    }

    /// Makes the symbolic links, all of which must stay inside, and sets the times of folders.
    pub(super) fn finish(self, root: Root) -> Result<(), Fault> {
        let root = match root {
            Root::Itself => Path::new(""),
            Root::OnlyFolder => self.only_folder().unwrap_or(Path::new("")),
        };
        for (path, made) in &self.made {
            let Made::Link(target) = made else { continue };
            let of = |fault: Fault| fault.of(path.as_os_str().as_bytes());
            self.meter.bytes(0).map_err(|why| of(why.into()))?;
            self.stays_inside(root, path, target).map_err(|why| of(why.into()))?;
        }
        for (path, made) in &self.made {
            let Made::Link(target) = made else { continue };
            let made = symlink(OsStr::from_bytes(target), self.folder.join(path));
            made.map_err(|error| Fault::from(error).of(path.as_os_str().as_bytes()))?;
        }
        for (path, made) in self.made.iter().rev() {
            let Made::Folder(Some(modified)) = made else { continue };
            let set = || File::open(self.folder.join(path))?.set_times(FileTimes::new().set_modified(*modified));
            set().map_err(|error| Fault::from(error).of(path.as_os_str().as_bytes()))?;
        }
        Ok(())
    }

    /// The one thing at the top, if there is only one and it is a folder.
    fn only_folder(&self) -> Option<&Path> {
        // In the order of paths, what is in a folder follows it.
        let (first, made) = self.made.first_key_value()?;
        let alone = self.made.keys().all(|path| path.starts_with(first));
        (alone && matches!(made, Made::Folder(_))).then_some(first)
    }

    /// Follows a link by what the archive says, step by step, as the kernel will do it; `root` is the outermost folder
    /// that it may reach. What is not there counts as a folder: it may become one.
    fn stays_inside(&self, root: &Path, link: &Path, target: &[u8]) -> Result<(), Refusal> {
        let refused = || Refusal::Link { target: shown(target), why: "which is outside the archive" };
        let inside = link.strip_prefix(root).ok().and_then(Path::parent).ok_or_else(refused)?;
        let mut here: Vec<&OsStr> = inside.iter().collect();
        let mut steps: VecDeque<&OsStr> = split(target).collect();
        let mut links = 0;
        while let Some(step) = steps.pop_front() {
            match step.as_bytes() {
                b"" | b"." => {}
                b".." => {
                    here.pop().ok_or_else(refused)?;
                }
                _ => {
                    here.push(step);
                    let path: PathBuf = root.iter().chain(here.iter().copied()).collect();
                    let Some(Made::Link(next)) = self.made.get(&path) else { continue };
                    links += 1;
                    if links > MAX_LINKS {
                        return Ok(());
                    }
                    here.pop();
                    split(next).rev().for_each(|step| steps.push_front(step));
                }
            }
        }
        Ok(())
    }
}

fn split(target: &[u8]) -> impl DoubleEndedIterator<Item = &OsStr> {
    target.split(|&byte| byte == b'/').map(OsStr::from_bytes)
}

fn make_folder(place: &Path) -> Result<(), Refusal> {
    Ok(DirBuilder::new().mode(0o755).create(place)?)
}

/// A name as a path that cannot leave the folder that it is joined to. Empty: it is that folder.
fn inner_path(name: &[u8]) -> Result<PathBuf, Refusal> {
    if name.is_empty() {
        return Err(Refusal::Name("is empty"));
    }
    if name.contains(&0) {
        return Err(Refusal::Name("contains a NUL"));
    }
    let mut path = PathBuf::new();
    for component in Path::new(OsStr::from_bytes(name)).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => return Err(Refusal::Name("contains `..`")),
            Component::RootDir | Component::Prefix(_) => return Err(Refusal::Name("is absolute")),
        }
    }
    Ok(path)
}

/// A target that can be that of a link inside. Where it leads to is found out when all links are known.
fn checked_target(target: &[u8]) -> Result<&[u8], Refusal> {
    let refused = |why| Err(Refusal::Link { target: shown(target), why });
    match target {
        [] => refused("which is empty"),
        [b'/', ..] => refused("which is absolute"),
        _ if target.contains(&0) => refused("which contains a NUL"),
        _ if target.len() as u64 > MAX_TARGET_BYTES => refused("which is too long"),
        _ => Ok(target),
    }
}
