//! The relocated copy: a finished prefix becomes the start of the next layer's prefix, under that one's path. It is
//! not a package manager's relocation: it knows no file formats.
//!
//! Two prefixes of one cache differ in nothing but the 32 hexadecimal digits of the layer's name, and these digits do
//! not occur by chance. So the copy replaces them wherever they stand: in every regular file, in the target of every
//! symbolic link, and in names. Because old and new digits are of *equal length*, no byte of a file moves: the offsets
//! inside an ELF file, the lengths stored before strings, the sizes of sections all stay true. This is what makes it
//! safe for binary files (where to look for libraries, debugging information, compiled-in folders), and it is how Spack and Conda
//! relocate too, who pad where we have equal lengths from the start.
//!
//! What it cannot reach: a path inside *compressed* data (`.gz`, `.zip`, `.jar`, compressed debugging sections), a
//! path stored in another encoding than bytes, and whatever was computed from the path: a checksum of a file's
//! content, a hash table keyed by it, an order sorted by it. A layer that makes such things should be the last one, or
//! its `verify` lines should look.

use crate::error::{At, Error};
use memchr::memmem::Finder;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// Copies the finished prefix `from` to `to`, which must not exist yet. Permissions, times and hard links are kept.
pub(crate) fn relocated_copy(from: &Path, to: &Path) -> Result<(), Error> {
    Copy::between(from, to).folder(from, to)
}

/// Copies a folder inside of `from` to the same place inside of `to`, which is there; the names of these two are replaced.
pub(crate) fn relocated_copy_of(from: &Path, to: &Path, inside: &Path) -> Result<(), Error> {
    Copy::between(from, to).folder(&from.join(inside), &to.join(inside))
}

/// Replaces a layer's digits in the content of a file, as the copy does.
pub(crate) fn relocate(content: &mut [u8], old: &str, new: &str) {
    replace(content, &Finder::new(old), new.as_bytes());
}

fn replace(content: &mut [u8], old: &Finder<'_>, new: &[u8]) {
    let places: Vec<usize> = old.find_iter(content).collect();
    places.into_iter().for_each(|place| content[place..place + new.len()].copy_from_slice(new));
}

struct Copy<'a> {
    old: Finder<'a>,
    new: &'a [u8],
    /// The copy of each file that has several names, by device and inode.
    hard_links: HashMap<(u64, u64), PathBuf>,
}

impl<'a> Copy<'a> {
    fn between(from: &'a Path, to: &'a Path) -> Self {
        let [old, new] = [from, to].map(|path| path.file_name().unwrap_or_default().as_bytes());
        debug_assert_eq!(old.len(), new.len(), "prefixes are of equal length");
        Self { old: Finder::new(old), new, hard_links: HashMap::new() }
    }

    fn folder(&mut self, from: &Path, to: &Path) -> Result<(), Error> {
        fs::create_dir(to).at("create the folder", to)?;
        for path in crate::files::entries(from)? {
            let target = to.join(self.renamed(path.file_name().unwrap_or_default().to_owned()));
            let meta = fs::symlink_metadata(&path).at("inspect", &path)?;
            if meta.is_dir() {
                self.folder(&path, &target)?;
            } else if meta.is_symlink() {
                let points_at = fs::read_link(&path).at("read", &path)?;
                symlink(self.renamed(points_at.into_os_string()), &target).at("create the link", &target)?;
            } else if meta.is_file() {
                self.file(&path, &meta, target)?;
            } else {
                let kind = io::Error::other("it is not a file, folder or symbolic link");
                return Err(kind).at("copy", &path);
            }
        }
        let meta = fs::metadata(from).at("inspect", from)?;
        let times = File::open(to).and_then(|folder| keep_times(&folder, &meta));
        times.and_then(|()| fs::set_permissions(to, meta.permissions())).at("set the times and permissions of", to)
    }

    fn file(&mut self, from: &Path, meta: &fs::Metadata, to: PathBuf) -> Result<(), Error> {
        let identity = (meta.dev(), meta.ino());
        if let Some(first) = self.hard_links.get(&identity) {
            return fs::hard_link(first, &to).at("create the link", &to);
        }
        let mut bytes = fs::read(from).at("read", from)?;
        self.relocate(&mut bytes);
        let write = || -> io::Result<()> {
            let mut file = File::create_new(&to)?;
            file.write_all(&bytes)?;
            keep_times(&file, meta)?;
            file.set_permissions(meta.permissions())
        };
        write().at("write", &to)?;
        if meta.nlink() > 1 {
            self.hard_links.insert(identity, to);
        }
        Ok(())
    }

    fn relocate(&self, bytes: &mut [u8]) {
        replace(bytes, &self.old, self.new);
    }

    fn renamed(&self, name: OsString) -> OsString {
        let mut bytes = name.into_vec();
        self.relocate(&mut bytes);
        OsString::from_vec(bytes)
    }
}

/// Compiled Python modules and `make` look at the time of last change.
fn keep_times(file: &File, meta: &fs::Metadata) -> io::Result<()> {
    file.set_times(FileTimes::new().set_accessed(meta.accessed()?).set_modified(meta.modified()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn everything_but_the_name_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("builds").join("a".repeat(32));
        let new = folder.path().join("builds").join("b".repeat(32));
        fs::create_dir_all(old.join("bin")).unwrap();

        let content = |prefix: &Path| [b"\0\xff", prefix.as_os_str().as_bytes(), b"\0", &[b'a'; 31], b"\x01"].concat();
        fs::write(old.join("bin/tool"), content(&old)).unwrap();
        fs::set_permissions(old.join("bin/tool"), fs::Permissions::from_mode(0o555)).unwrap();
        fs::hard_link(old.join("bin/tool"), old.join("bin/tool-1.0")).unwrap();
        symlink(old.join("bin/tool"), old.join("absolute")).unwrap();
        symlink("bin/tool", old.join("relative")).unwrap();
        fs::write(old.join(format!("cache-of-{}", "a".repeat(32))), "").unwrap();
        fs::set_permissions(old.join("bin"), fs::Permissions::from_mode(0o555)).unwrap();

        relocated_copy(&old, &new).unwrap();

        let (before, after) =
            (fs::metadata(old.join("bin/tool")).unwrap(), fs::metadata(new.join("bin/tool")).unwrap());
        assert_eq!(fs::read(new.join("bin/tool")).unwrap(), content(&new));
        assert_eq!(after.len(), before.len());
        assert_eq!(after.mode(), before.mode());
        assert_eq!(after.modified().unwrap(), before.modified().unwrap());
        assert_eq!(after.ino(), fs::metadata(new.join("bin/tool-1.0")).unwrap().ino());
        assert_eq!(fs::metadata(new.join("bin")).unwrap().mode() & 0o777, 0o555);
        assert_eq!(fs::read_link(new.join("absolute")).unwrap(), new.join("bin/tool"));
        assert_eq!(fs::read_link(new.join("relative")).unwrap(), Path::new("bin/tool"));
        assert!(new.join(format!("cache-of-{}", "b".repeat(32))).exists());
        assert_eq!(fs::read(old.join("bin/tool")).unwrap(), content(&old), "the original is untouched");
    }

    #[test]
    fn what_cannot_be_copied_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("a".repeat(32));
        fs::create_dir(&old).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(old.join("socket")).unwrap();
        let error = relocated_copy(&old, &folder.path().join("b".repeat(32))).unwrap_err();
        assert!(error.to_string().contains("socket"), "{error}");
    }
}
