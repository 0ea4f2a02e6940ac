//! Starts the launcher: a program that stands in this executable as bytes, and is run from memory. Nothing has to
//! be installed beside us, and nobody can replace it. It may be started in a PID namespace, and then has a /proc of its own.
#![allow(unsafe_code, reason = "rustix cannot run code between fork and exec")]

use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create, open};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::ffi::{CStr, CString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The program, compiled by `build.rs`.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));

/// The PID namespace in which it is started.
#[derive(Debug, Clone, Copy)]
pub(super) enum PidNamespace<'a> {
    /// In ours.
    Ours,
    /// As the first process of a new one.
    New,
    /// In this one.
    Existing(&'a File),
}

impl PidNamespace<'_> {
    /// From now on what this thread starts begins there. No thread can be started by it any more.
    fn enter(self) -> io::Result<()> {
        match self {
            Self::Ours => Ok(()),
            // SAFETY: it concerns what is started from now on, and nothing of ours.
            Self::New => unsafe { unshare_unsafe(UnshareFlags::NEWPID) }.map_err(io::Error::from),
            Self::Existing(namespace) => {
                let process_ids = Some(LinkNameSpaceType::ProcessID);
                move_into_link_name_space(namespace.as_fd(), process_ids).map_err(io::Error::from)
            }
        }
    }
}

/// Mounts from elsewhere are visible here, mounts from here are not visible elsewhere, and /proc has the processes of the
/// namespace that we are in. System calls and nothing more: it is executed between fork and exec.
fn own_proc(last: Option<&CStr>) -> io::Result<()> {
    // SAFETY: we are the only thread here, and share nothing.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
    mount_change(c"/", MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM)?;
    mount(c"proc", c"/proc", c"proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None::<&CStr>)?;
    if let Some(last) = last {
        // Where it cannot be had, numbers of processes are small, and the same in each session.
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let file = open(c"/proc/sys/kernel/ns_last_pid", flags, Mode::empty());
        let _ = file.and_then(|file| rustix::io::write(file, last.to_bytes()));
    }
    Ok(())
}

/// The process and our end of its socket.
pub(super) fn start(keep: Option<BorrowedFd<'_>>, place: PidNamespace<'_>) -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let (theirs, kept) = (OwnedFd::from(theirs), keep.map(|keep| keep.try_clone_to_owned()).transpose()?);
    let from_memory = in_memory().and_then(|program| {
        let path = PathBuf::from(format!("/proc/self/fd/{}", program.as_raw_fd()));
        spawn(command(&path, &theirs, kept.as_ref())?, place)
    });
    // Some systems execute nothing from memory (vm.memfd_noexec).
    let process = from_memory.or_else(|_| from_file(&theirs, kept.as_ref(), place))?;
    Ok((process, ours))
}

/// A namespace is entered by a thread of its own: it is for what that one starts.
fn spawn(mut command: Command, place: PidNamespace<'_>) -> io::Result<Child> {
    let last = match place {
        PidNamespace::Ours => return command.spawn(),
        // Numbers go on from ours: small ones, the same in each session, would fit what the one before wrote down.
        PidNamespace::New => CString::new(std::process::id().to_string()).ok(),
        PidNamespace::Existing(_) => None,
    };
    // SAFETY: it makes system calls and nothing more.
    unsafe { command.pre_exec(move || own_proc(last.as_deref())) };
    let entered = || place.enter().and_then(|()| command.spawn());
    std::thread::scope(|scope| scope.spawn(entered).join()).unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

/// Its standard input is the control socket and its standard output the kept descriptor, so only these stay open across
/// an exec. Its standard error is what all that it launches gets as standard input: the null device, opened for reading.
fn command(program: &Path, control: &OwnedFd, keep: Option<&OwnedFd>) -> io::Result<Command> {
    let mut command = Command::new(program);
    let kept = keep.map_or_else(|| Ok(Stdio::null()), |keep| keep.try_clone().map(Stdio::from))?;
    command.arg0("bakeoff").env_clear().current_dir("/");
    command.stdin(control.try_clone()?).stdout(kept).stderr(File::open("/dev/null")?);
    // The terminal sends its interrupts to our process group; the launcher must not get them.
    command.process_group(0);
    Ok(command)
}

fn in_memory() -> io::Result<File> {
    let created = match memfd_create("bakeoff", MemfdFlags::CLOEXEC | MemfdFlags::EXEC) {
        // Before Linux 6.3 there is no such flag, and no need of it.
        Err(Errno::INVAL) => memfd_create("bakeoff", MemfdFlags::CLOEXEC),
        created => created,
    };
    let mut file = File::from(created?);
    file.write_all(PROGRAM)?;
    Ok(file)
}

/// From a file in the folder for such files, or in ours if nothing there may be run; it is gone as soon as it has begun.
fn from_file(control: &OwnedFd, keep: Option<&OwnedFd>, place: PidNamespace<'_>) -> io::Result<Child> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for folder in [std::env::temp_dir(), PathBuf::from("/var/tmp"), PathBuf::from(".")] {
        match from_folder(&folder, control, keep, place) {
            Ok(process) => return Ok(process),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn from_folder(folder: &Path, control: &OwnedFd, keep: Option<&OwnedFd>, place: PidNamespace<'_>) -> io::Result<Child> {
    let unique = format!(".bakeoff-launcher-{}-{:x}", std::process::id(), crate::now_unix_s().to_bits());
    let path = std::path::absolute(folder.join(unique))?;
    let write = || -> io::Result<()> {
        OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path)?.write_all(PROGRAM)
    };
    // Another thread's new process may hold the file open for writing until it runs its program; that ends by itself.
    let spawn = || -> io::Result<Child> {
        for _ in 0..100 {
            match spawn(command(&path, control, keep)?, place) {
                Err(busy) if busy.kind() == io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
                other => return other,
            }
        }
        spawn(command(&path, control, keep)?, place)
    };
    let process = write().and_then(|()| spawn());
    let _ = std::fs::remove_file(&path);
    process
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn it_starts_from_a_file_too() {
        let dir = tempfile::tempdir().unwrap();
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let mut process = from_folder(dir.path(), &theirs.into(), None, PidNamespace::Ours).unwrap();
        let mut ready = [0; 16];
        ours.read_exact(&mut ready).unwrap();
        assert_eq!(
            super::super::wire::read::<super::super::wire::Head>(&ready, 0).unwrap().kind,
            super::super::wire::READY
        );
        drop(ours);
        assert!(process.wait().unwrap().success());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
