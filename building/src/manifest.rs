//! The manifest of a prefix: every file, folder and link of it as it was when its layer was finished, so that what
//! somebody changes by hand is noticed before it is used. It is compared by what stat(2) tells; content is read only
//! where that differs from what was recorded. It protects from accidents, not from those who forge times. What is done
//! about damage is decided elsewhere.
//!
//! One line for each path, parts separated by tabs: the kind (`d` folder, `f` file, `x` executable file, `l` link), size
//! in bytes, times of last change of content and of inode in nanoseconds, inode, SHA-256 of the content (of a link: what
//! it points at; of a folder: `-`), and the path. Bytes of paths that are not printable, and `%`, are written as in addresses.

use crate::error::{At, Error};
use crate::files::{below, entries, sha256_of};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The first line.
const HEAD: &str = "bakeoff manifest 1";

/// Begins the last line, which says how many there are before it: a manifest without it is torn.
const END: &str = "end ";

/// Nanoseconds of a second.
const SECOND_NS: i128 = 1_000_000_000;

/// A path below a prefix that is not as its layer left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damage {
    /// The path, relative to the prefix; empty for the prefix as a whole.
    pub(crate) path: PathBuf,
    pub(crate) kind: DamageKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DamageKind {
    Missing,
    Added,
    /// It has other content, is of another kind, or is executable where it was not, or the other way round.
    Changed,
    /// Nobody knows: the manifest cannot be read.
    Unknown,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.kind {
            DamageKind::Missing => write!(f, "{path} is missing"),
            DamageKind::Added => write!(f, "{path} was added"),
            DamageKind::Changed => write!(f, "{path} was changed"),
            DamageKind::Unknown => write!(f, "the manifest cannot be read"),
        }
    }
}

/// What is recorded of one path.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    kind: char,
    size: u64,
    mtime_ns: i128,
    ctime_ns: i128,
    inode: u64,
    content: String,
    path: PathBuf,
}

/// What a comparison found.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// All that is not as it was, in the order of paths.
    pub(crate) damage: Vec<Damage>,
    /// Set if nothing is damaged but times or inodes differ: a manifest that spares the next one the reading.
    pub(crate) renewed: Option<String>,
}

/// The manifest of a prefix as it is now.
pub(crate) fn of(prefix: &Path) -> Result<String, Error> {
    let paths = below(prefix)?.into_par_iter().map(|(path, _)| path.strip_prefix(prefix).unwrap_or(&path).to_owned());
    let entries = rayon::iter::once(PathBuf::new()).chain(paths).map(|path| Entry::read(prefix, path));
    let entries: Vec<Entry> = entries.collect::<Result<_, _>>()?;
    Ok(text(&entries))
}

/// Compares a prefix with its manifest.
pub(crate) fn compare(prefix: &Path, manifest: &str) -> Compared {
    let Some(recorded) = parse(manifest) else {
        let unknown = Damage { path: PathBuf::new(), kind: DamageKind::Unknown };
        return Compared { damage: vec![unknown], renewed: None };
    };
    let states: Vec<PathState> = recorded.par_iter().with_min_len(64).map(|entry| entry.state(prefix)).collect();
    let mut damage = vec![];
    let mut renewed = false;
    for (entry, state) in recorded.iter().zip(&states) {
        match state {
            PathState::Same => {}
            PathState::Touched(_) => renewed = true,
            PathState::Damaged(kind) => damage.push(Damage { path: entry.path.clone(), kind: *kind }),
        }
    }
    // A folder whose times are as they were has got no new names.
    let changed = recorded
        .iter()
        .zip(&states)
        .filter(|(entry, state)| entry.kind == 'd' && matches!(state, PathState::Touched(_)));
    let folders: Vec<&Path> = changed.map(|(entry, _)| entry.path.as_path()).collect();
    if !folders.is_empty() {
        let known: BTreeSet<&Path> = recorded.iter().map(|entry| entry.path.as_path()).collect();
        for folder in folders {
            let names = entries(&prefix.join(folder)).unwrap_or_default();
            let paths = names.iter().map(|path| folder.join(path.file_name().unwrap_or_default()));
            let added = paths.filter(|path| !known.contains(path.as_path()));
            damage.extend(added.map(|path| Damage { path, kind: DamageKind::Added }));
        }
    }
    damage.sort_by(|a, b| a.path.cmp(&b.path));
    let renew = || {
        let now = recorded.iter().zip(states).map(|(entry, state)| match state {
            PathState::Touched(now) => *now,
            _ => entry.clone(),
        });
        text(&now.collect::<Vec<_>>())
    };
    let renewed = (renewed && damage.is_empty()).then(renew);
    Compared { damage, renewed }
}

/// What a path is now, compared with what was recorded.
enum PathState {
    Same,
    /// Its content is what it was; times or inode are not.
    Touched(Box<Entry>),
    Damaged(DamageKind),
}

impl Entry {
    fn read(prefix: &Path, path: PathBuf) -> Result<Self, Error> {
        let full = prefix.join(&path);
        let meta = fs::symlink_metadata(&full).at("inspect", &full)?;
        let mut entry = Self::of_meta(&meta, path);
        entry.content = match entry.kind {
            'l' => escaped(fs::read_link(&full).at("read", &full)?.as_os_str().as_bytes()),
            'd' | 'o' => "-".to_owned(),
            _ => sha256_of(&full)?.0,
        };
        Ok(entry)
    }

    fn of_meta(meta: &fs::Metadata, path: PathBuf) -> Self {
        let kind = match meta {
            meta if meta.is_dir() => 'd',
            meta if meta.is_symlink() => 'l',
            meta if meta.is_file() && meta.mode() & 0o111 != 0 => 'x',
            meta if meta.is_file() => 'f',
            _ => 'o',
        };
        Self {
            kind,
            // That of a folder is the file system's own affair.
            size: if kind == 'd' { 0 } else { meta.size() },
            mtime_ns: i128::from(meta.mtime()) * SECOND_NS + i128::from(meta.mtime_nsec()),
            ctime_ns: i128::from(meta.ctime()) * SECOND_NS + i128::from(meta.ctime_nsec()),
            inode: meta.ino(),
            content: String::new(),
            path,
        }
    }

    fn state(&self, prefix: &Path) -> PathState {
        let full = prefix.join(&self.path);
        let Ok(meta) = fs::symlink_metadata(&full) else { return PathState::Damaged(DamageKind::Missing) };
        let now = Self::of_meta(&meta, PathBuf::new());
        if (now.kind, now.size) != (self.kind, self.size) {
            return PathState::Damaged(DamageKind::Changed);
        }
        if (now.mtime_ns, now.ctime_ns, now.inode) == (self.mtime_ns, self.ctime_ns, self.inode) {
            return PathState::Same;
        }
        match Self::read(prefix, self.path.clone()) {
            Ok(now) if now.content == self.content => PathState::Touched(Box::new(now)),
            _ => PathState::Damaged(DamageKind::Changed),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split('\t');
        let mut next = || parts.next();
        let entry = Self {
            kind: next()?.parse().ok()?,
            size: next()?.parse().ok()?,
            mtime_ns: next()?.parse().ok()?,
            ctime_ns: next()?.parse().ok()?,
            inode: next()?.parse().ok()?,
            content: next()?.to_owned(),
            path: unescaped(next()?)?,
        };
        next().is_none().then_some(entry)
    }
}

fn text(entries: &[Entry]) -> String {
    let mut text = format!("{HEAD}\n");
    for e in entries {
        let path = escaped(e.path.as_os_str().as_bytes());
        let Entry { kind, size, mtime_ns, ctime_ns, inode, content, .. } = e;
        let _ = writeln!(text, "{kind}\t{size}\t{mtime_ns}\t{ctime_ns}\t{inode}\t{content}\t{path}");
    }
    let _ = writeln!(text, "{END}{}", entries.len());
    text
}

fn parse(text: &str) -> Option<Vec<Entry>> {
    let body = text.strip_prefix(HEAD)?.strip_prefix('\n')?;
    let (body, end) = body.strip_suffix('\n')?.rsplit_once('\n')?;
    let count: usize = end.strip_prefix(END)?.parse().ok()?;
    let entries: Vec<Entry> = body.lines().map(Entry::parse).collect::<Option<_>>()?;
    (entries.len() == count).then_some(entries)
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if (b' '..=b'~').contains(&byte) && byte != b'%' {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

fn unescaped(text: &str) -> Option<PathBuf> {
    if !text.contains('%') {
        return Some(PathBuf::from(text));
    }
    let mut bytes = vec![];
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn prefix() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::create_dir_all(path.join("lib/empty")).unwrap();
        fs::write(path.join("lib/one"), "one").unwrap();
        fs::write(path.join("lib/two"), "two").unwrap();
        symlink("lib/one", path.join("link")).unwrap();
        let odd = OsString::from_vec(b"tab\tnew\nline 100%\xff".to_vec());
        fs::write(path.join(odd), "odd").unwrap();
        folder
    }

    #[test]
    fn whatever_is_changed_by_hand_is_damage() {
        let check = |change: &dyn Fn(&Path), expect: &[&str]| {
            let folder = prefix();
            let manifest = of(folder.path()).unwrap();
            change(folder.path());
            let found = compare(folder.path(), &manifest);
            let found: Vec<String> = found.damage.iter().map(Damage::to_string).collect();
            assert_eq!(found, expect);
        };
        let mode = |path: PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        check(&|_| {}, &[]);
        check(&|p| fs::write(p.join("lib/one"), "longer").unwrap(), &["lib/one was changed"]);
        check(&|p| fs::write(p.join("lib/one"), "ONE").unwrap(), &["lib/one was changed"]);
        check(&|p| fs::remove_file(p.join("lib/two")).unwrap(), &["lib/two is missing"]);
        check(&|p| fs::write(p.join("lib/empty/new"), "").unwrap(), &["lib/empty/new was added"]);
        check(&|p| fs::create_dir(p.join("new")).unwrap(), &["new was added"]);
        check(&|p| fs::remove_dir(p.join("lib/empty")).unwrap(), &["lib/empty is missing"]);
        check(&|p| mode(p.join("lib/one"), 0o755), &["lib/one was changed"]);
        let relink = |p: &Path| {
            fs::remove_file(p.join("link")).unwrap();
            symlink("lib/two", p.join("link")).unwrap();
        };
        check(&relink, &["link was changed"]);
        check(&|p| fs::rename(p.join("lib/one"), p.join("one")).unwrap(), &["lib/one is missing", "one was added"]);
        let to_folder = |p: &Path| {
            fs::remove_file(p.join("lib/two")).unwrap();
            fs::create_dir(p.join("lib/two")).unwrap();
        };
        check(&to_folder, &["lib/two was changed"]);
    }

    #[test]
    fn what_is_only_touched_is_none_and_is_read_but_once() {
        let folder = prefix();
        let manifest = of(folder.path()).unwrap();
        let file = fs::File::options().append(true).open(folder.path().join("lib/one")).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        fs::set_permissions(folder.path().join("lib"), fs::Permissions::from_mode(0o700)).unwrap();
        let found = compare(folder.path(), &manifest);
        assert!(found.damage.is_empty(), "{found:?}");
        let renewed = found.renewed.unwrap();
        assert_ne!(renewed, manifest);
        let found = compare(folder.path(), &renewed);
        assert!(found.damage.is_empty() && found.renewed.is_none(), "{found:?}");
    }

    #[test]
    fn a_manifest_that_is_torn_or_none_vouches_for_nothing() {
        let folder = prefix();
        let manifest = of(folder.path()).unwrap();
        let damaged = |text: &str| compare(folder.path(), text).damage.iter().any(|d| d.kind == DamageKind::Unknown);
        assert!(!damaged(&manifest));
        for cut in 0..manifest.len() {
            assert!(damaged(&manifest[..cut]), "cut at {cut}");
        }
        assert!(damaged(&manifest.replace('\t', " ")));
    }
}
