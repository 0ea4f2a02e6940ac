//! Folders on a disk: how much space is left, how one is removed, and how caches are dropped.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Bytes that an unprivileged process can still write below `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Whether files can be made in a folder by this process, as its effective user.
pub fn writable(folder: &Path) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    Ok(accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?)
}

/// The content of a regular file of at most `most_bytes`: a pipe would wait for its writer, and a device may never end.
///
/// # Errors
/// The system's word, or that it is no regular file, or too large.
pub fn read_file(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let too_large = |bytes: u64| {
        let why = format!("it has {bytes} bytes, more than the limit of {most_bytes}");
        io::Error::new(io::ErrorKind::FileTooLarge, why)
    };
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if about.len() > most_bytes {
        return Err(too_large(about.len()));
    }
    let mut bytes = vec![];
    fs::File::open(path)?.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

/// The text of such a file.
///
/// # Errors
/// Those of [`read_file`], or the first place at which it is not UTF-8.
pub fn read_text(path: &Path, most_bytes: u64) -> io::Result<String> {
    String::from_utf8(read_file(path, most_bytes)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not UTF-8"))
    })
}

/// Waits until everything is on the disk that was written to the file system of this folder.
pub fn sync(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(fs::File::open(folder)?)?)
}

/// Removes a file or a whole folder, also one with read-only folders in it; nothing there is fine. Links are removed,
/// never followed.
pub fn wipe(path: &Path) -> io::Result<()> {
    let gone = match fs::symlink_metadata(path) {
        Err(error) => Err(error),
        Ok(meta) if !meta.is_dir() => fs::remove_file(path),
        Ok(_) => fs::remove_dir_all(path).or_else(|_| {
            make_writable(path)?;
            fs::remove_dir_all(path)
        }),
    };
    match gone {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// What drops the caches of all file systems when a 3 is written to it (proc_sys_vm(5)).
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Whether the caches of the file systems can be dropped.
pub fn can_drop_caches() -> io::Result<()> {
    fs::File::options().write(true).open(DROP_CACHES).map(drop)
}

/// Writes everything to the disks and drops the caches of all file systems.
pub fn drop_caches() -> io::Result<()> {
    rustix::fs::sync();
    fs::write(DROP_CACHES, "3")
}

fn make_writable(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_only_folders_go_away_and_what_links_point_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, gone) = (folder.path().join("kept"), folder.path().join("gone"));
        fs::create_dir_all(gone.join("deep")).unwrap();
        fs::write(gone.join("deep/file"), "x").unwrap();
        fs::write(&kept, "x").unwrap();
        std::os::unix::fs::symlink(&kept, gone.join("link")).unwrap();
        fs::set_permissions(gone.join("deep"), fs::Permissions::from_mode(0o555)).unwrap();
        wipe(&gone).unwrap();
        assert!(!gone.exists() && kept.exists());
        wipe(&gone).unwrap();
    }
}
