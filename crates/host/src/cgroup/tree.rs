//! Folders of control groups as files: writing, killing what lives in one, and removing one with all groups below.
//! Children may have made groups, frozen them, and taken away permissions; all that is undone on the way.

use crate::files::at_once;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long what was killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_micros(500);

/// An open folder. What is done between trials goes by way of it, because the way from the root costs time.
#[derive(Debug)]
pub(super) struct Dir(OwnedFd);

impl Dir {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        Ok(Self(fs::File::open(folder)?.into()))
    }

    pub(super) fn create(&self, name: &str) -> io::Result<()> {
        Ok(mkdirat(&self.0, name, Mode::from_raw_mode(0o755))?)
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub(super) fn open_folder(&self, path: &str) -> io::Result<OwnedFd> {
        Ok(openat(&self.0, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    }

    pub(super) fn open_for_writing(&self, path: &str) -> io::Result<OwnedFd> {
        Ok(openat(&self.0, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?)
    }

    pub(super) fn read(&self, path: &str) -> io::Result<String> {
        let file = openat(&self.0, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        at_once(&file.into())
    }
}

/// Writes to a file of the kernel's; it is never created.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    use io::Write as _;
    fs::File::options().write(true).open(path)?.write_all(text.as_bytes())
}

/// Reads one, and restores the permission if a child took it away.
pub(super) fn read(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            if let Some(folder) = path.parent() {
                fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
            }
            fs::set_permissions(path, fs::Permissions::from_mode(0o644))?;
            fs::read_to_string(path)
        }
        read => read,
    }
}

pub(super) fn below(folder: &Path) -> Vec<PathBuf> {
    let list = || fs::read_dir(folder);
    let entries = list().or_else(|_| {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
        list()
    });
    let entries = entries.into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

/// Kills everything in a group and in those below. It does not wait.
pub(super) fn kill(folder: &Path) {
    // Version 2 since Linux 5.14: at once, whatever forks meanwhile, frozen or not.
    let file = folder.join("cgroup.kill");
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
    if write(&file, "1").is_ok() {
        return;
    }
    let _ = write(&folder.join("freezer.state"), "THAWED");
    let _ = write(&folder.join("cgroup.freeze"), "0");
    let processes = read(&folder.join("cgroup.procs")).unwrap_or_default();
    for pid in processes.split_whitespace().filter_map(|pid| rustix::process::Pid::from_raw(pid.parse().ok()?)) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    below(folder).iter().for_each(|folder| kill(folder));
}

/// Removes a group and those below; kills what still lives there. Nothing there is fine.
///
/// # Errors
/// The system's word, where something stays: a process that cannot die, or the permission.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    if gone(fs::remove_dir(folder)).is_ok() {
        return Ok(());
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        below(folder).iter().for_each(|folder| drop(remove_quietly(folder)));
        match gone(fs::remove_dir(folder)) {
            Ok(()) => return Ok(()),
            // A process that has ended is in its group for some µs more.
            Err(error) if error.kind() != ErrorKind::ResourceBusy || Instant::now() > deadline => return Err(error),
            Err(_) => kill(folder),
        }
        std::thread::sleep(PAUSE);
    }
}

/// One attempt for all groups below, deepest first.
fn remove_quietly(folder: &Path) -> io::Result<()> {
    below(folder).iter().for_each(|folder| drop(remove_quietly(folder)));
    fs::remove_dir(folder)
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
