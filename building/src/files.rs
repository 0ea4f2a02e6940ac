//! Files and folders: written whole or not at all, listed in order, hashed, removed. It knows nothing of a cache, and what
//! lies where is the business of `paths.rs`.

use crate::error::{At, Error};
use bakeoff_model::digest::hex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Writes a file so that it is there whole or not at all, also after a crash of the machine. One at a time may do so:
/// the one that holds the lock of its subject.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), Error> {
    write_by(&path.with_extension("aside"), path, content)
}

/// The same by way of the file `aside`, which must be nobody else's.
pub(crate) fn write_by(aside: &Path, path: &Path, content: &[u8]) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        let mut file = File::create(aside)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(aside, path)?;
        // The name, too: what is written after this must not be there without it.
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    };
    write().inspect_err(|_| drop(fs::remove_file(aside))).at("write", path)
}

/// The same of a value, as JSON.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    write_whole(path, &serde_json::to_vec_pretty(value).map_err(io::Error::from).at("write", path)?)
}

/// A value that was written as JSON; none if the file is not there, or does not hold one.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Removes a file or a whole folder, also one that builds have made read-only; nothing there is fine.
pub(crate) fn wipe(path: &Path) -> Result<(), Error> {
    bakeoff_host::disk::wipe(path).at("remove", path)
}

/// Makes a folder that is empty, whatever was there.
pub(crate) fn fresh_folder(path: &Path) -> Result<(), Error> {
    wipe(path)?;
    fs::create_dir_all(path).at("create the folder", path)
}

/// The names in a folder, sorted.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = list().at("list", folder)?;
    paths.sort();
    Ok(paths)
}

/// All that is below a folder, by path, and what it is: a folder before what is in it. No link is followed.
pub(crate) fn below(folder: &Path) -> Result<Vec<(PathBuf, Metadata)>, Error> {
    let mut all = vec![];
    for path in entries(folder)? {
        let meta = fs::symlink_metadata(&path).at("inspect", &path)?;
        let inner = if meta.is_dir() { below(&path)? } else { vec![] };
        all.push((path, meta));
        all.extend(inner);
    }
    Ok(all)
}

/// The size of all files below a folder, in bytes. A file with several names counts once for each.
pub(crate) fn folder_bytes(folder: &Path) -> Result<u64, Error> {
    Ok(below(folder)?.iter().filter(|(_, meta)| !meta.is_dir()).map(|(_, meta)| meta.len()).sum())
}

/// Whether this is a SHA-256 in lower-case hexadecimal digits, and so cannot lead anywhere.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The SHA-256 of a file, and its size in bytes.
pub(crate) fn sha256_of(path: &Path) -> Result<(String, u64), Error> {
    hashed(path).map(|(sha256, bytes)| (hex(&sha256), bytes))
}

/// The same, as bytes.
pub(crate) fn hashed(path: &Path) -> Result<([u8; 32], u64), Error> {
    let mut file = File::open(path).at("read", path)?;
    let mut sha256 = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut bytes = 0;
    loop {
        let n = file.read(&mut buffer).at("read", path)?;
        if n == 0 {
            return Ok((sha256.finalize().into(), bytes));
        }
        sha256.update(&buffer[..n]);
        bytes += n as u64;
    }
}
