//! Starts the launcher: a program that stands in this executable as bytes, and is executed from memory. Nothing has to
//! be installed beside us, and nobody can replace it.

use crate::Error;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The program, compiled by `build.rs`.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));

/// The process and our end of its socket.
pub(super) fn start(keep: Option<BorrowedFd<'_>>) -> Result<(Child, UnixStream), Error> {
    let (ours, theirs) = UnixStream::pair().map_err(Error::Start)?;
    let (theirs, kept) = (OwnedFd::from(theirs), keep.map(|keep| keep.try_clone_to_owned()).transpose());
    let kept = kept.map_err(Error::Start)?;
    let from_memory = in_memory().and_then(|program| {
        let path = PathBuf::from(format!("/proc/self/fd/{}", program.as_raw_fd()));
        command(&path, &theirs, kept.as_ref())?.spawn()
    });
    // Some systems execute nothing from memory (vm.memfd_noexec).
    let process = from_memory.or_else(|_| from_file(&theirs, kept.as_ref())).map_err(Error::Start)?;
    Ok((process, ours))
}

/// Its standard input is the control socket and its standard output the kept descriptor: so nothing but these has to be
/// open across an exec. Its standard error, to which it never writes, becomes the standard input of all that it launches:
/// the null device, opened for reading.
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

/// From a file in the folder for such files, or in ours if nothing there may be executed; it is gone as soon as it has begun.
fn from_file(control: &OwnedFd, keep: Option<&OwnedFd>) -> io::Result<Child> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for folder in [std::env::temp_dir(), PathBuf::from("/var/tmp"), PathBuf::from(".")] {
        match from_folder(&folder, control, keep) {
            Ok(process) => return Ok(process),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn from_folder(folder: &Path, control: &OwnedFd, keep: Option<&OwnedFd>) -> io::Result<Child> {
    let unique = format!(".bakeoff-launcher-{}-{:x}", std::process::id(), crate::now_unix_s().to_bits());
    let path = std::path::absolute(folder.join(unique))?;
    let write = || -> io::Result<()> {
        OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path)?.write_all(PROGRAM)
    };
    // A process that another thread of ours has just started may hold the file open for writing until it executes its
    // program; that ends by itself.
    let spawn = || -> io::Result<Child> {
        for _ in 0..100 {
            match command(&path, control, keep)?.spawn() {
                Err(busy) if busy.kind() == io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
                other => return other,
            }
        }
        command(&path, control, keep)?.spawn()
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
        let mut process = from_folder(dir.path(), &theirs.into(), None).unwrap();
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
