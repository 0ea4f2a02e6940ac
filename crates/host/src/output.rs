//! Files in memory for what trials print: nameless, empty before each trial, with pages for as much as is expected, so
//! that a trial neither waits for them nor is charged for them. Others read their contents.

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, fchmod, fstatfs, fstatvfs, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// All that is kept in a file system of our own; what is beyond gets "no space left on device".
pub const LIMIT_BYTES: u64 = 256 << 20;
/// The bytes that are prepared for all processes of a trial together. Each process has its own part of them.
pub const PREPARED_BYTES: u64 = LIMIT_BYTES / 4;
/// The same as [`LIMIT_BYTES`], as tmpfs(5) wants it.
const LIMIT: &str = "256m";
/// What a file system in memory says that it is (statfs(2)).
const TMPFS_MAGIC: u64 = 0x0102_1994;
/// Folders that are often in memory.
const IN_MEMORY: &[&str] = &["/dev/shm", "/run", "/tmp"];
/// Our open files, by the numbers of their descriptors.
const OURS: &str = "/proc/self/fd";
/// Anybody may open it again, whatever its user has become: `/dev/stdout` is such a name.
const FOR_ALL: u32 = 0o666;
/// The unit of `st_blocks` (stat(2)).
const SECTOR: u64 = 512;

/// Whether a path names an open file of ours, which is opened as it is.
pub(crate) fn is_ours(path: &Path) -> bool {
    path.starts_with(OURS)
}

/// Where the files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// In a file system of our own, in memory, which nobody sees and which holds [`LIMIT_BYTES`].
    Apart,
    /// In memory, with whatever else is there.
    InMemory,
    /// On a disk.
    OnDisk,
}

/// One file for each process that runs at once; they serve one trial after the other.
#[derive(Debug)]
pub struct OutputFiles {
    folder: OwnedFd,
    /// What the folder is called; in a file system of our own it has no name.
    path: PathBuf,
    kept: Kept,
    files: Vec<File>,
}

impl OutputFiles {
    /// In a file system of our own, where that is allowed; else where there is memory, else in this folder.
    ///
    /// # Errors
    /// The system's word, where not even a file in that folder can be made.
    pub fn new(otherwise: &Path) -> io::Result<Self> {
        let apart = || Self::first(own_file_system()?, PathBuf::new(), Kept::Apart);
        let in_memory = |path: &&str| Self::in_memory(folder(path.as_ref())?, path.into());
        let found = apart().ok().or_else(|| IN_MEMORY.iter().find_map(|path| in_memory(path).ok()));
        found.map_or_else(|| Self::first(folder(otherwise)?, otherwise.to_owned(), Kept::OnDisk), Ok)
    }

    /// In a folder that many use, if it is in memory and has room.
    fn in_memory(folder: OwnedFd, path: PathBuf) -> io::Result<Self> {
        if fstatfs(&folder)?.f_type as u64 != TMPFS_MAGIC {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // In a container it is often smaller than an output.
        if free_bytes(&folder)? < LIMIT_BYTES {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Self::first(folder, path, Kept::InMemory)
    }

    /// Shows with the first file that they can be made there, and opened again.
    fn first(folder: OwnedFd, path: PathBuf, kept: Kept) -> io::Result<Self> {
        let mut files = Self { folder, path, kept, files: vec![] };
        files.add()?;
        files.path_of(0).map_or(Ok(()), |path| File::options().write(true).open(path).map(drop))?;
        Ok(files)
    }

    fn add(&mut self) -> io::Result<()> {
        let unnamed = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = match openat(&self.folder, ".", unnamed, Mode::from_raw_mode(FOR_ALL)) {
            // Not all file systems on disks have files without a name.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) if self.kept == Kept::OnDisk => {
                let path = self.path.join(format!("output-{}", self.files.len() + 1));
                let named = File::options().read(true).write(true).create_new(true).mode(FOR_ALL).open(&path)?;
                std::fs::remove_file(&path)?;
                named
            }
            made => File::from(made?),
        };
        // Whatever the umask says.
        fchmod(&file, Mode::from_raw_mode(FOR_ALL))?;
        self.files.push(file);
        Ok(())
    }

    /// Where they are.
    pub fn kept(&self) -> Kept {
        self.kept
    }

    /// Makes a file ready for each of these processes: empty, with pages for as many bytes as stand here, of
    /// [`PREPARED_BYTES`] each its part at most; the others are emptied. To be called before each trial, and never while one is run.
    pub fn ready(&mut self, expected: &[u64]) -> io::Result<()> {
        while self.files.len() < expected.len() {
            self.add()?;
        }
        let most = PREPARED_BYTES / expected.len().max(1) as u64;
        for (number, file) in self.files.iter().enumerate() {
            let meta = file.metadata()?;
            let wanted = expected.get(number).copied().unwrap_or(0).min(most);
            if wanted == 0 && meta.len() == 0 && meta.blocks() == 0 {
                continue;
            }
            file.set_len(0)?;
            if wanted > 0 && self.kept != Kept::OnDisk {
                // Where there is no room for it, the trial will find out by itself.
                let _ = fallocate(file, FallocateFlags::KEEP_SIZE, 0, wanted);
            }
        }
        Ok(())
    }

    /// By which name a command gets the file of a process, counted from 0, as its output; see [`crate::Command`].
    pub fn path_of(&self, process: usize) -> Option<PathBuf> {
        self.files.get(process).map(|file| Path::new(OURS).join(file.as_raw_fd().to_string()))
    }

    /// The file of a process, counted from 0.
    pub fn file(&self, process: usize) -> Option<&File> {
        self.files.get(process)
    }

    /// How much of a file would have to be there before a trial that writes the same again.
    pub fn used(&self, process: usize) -> io::Result<u64> {
        let Some(file) = self.files.get(process) else { return Ok(0) };
        let meta = file.metadata()?;
        // A file with holes is longer than what it holds.
        Ok(meta.len().min(meta.blocks() * SECTOR))
    }

    /// Gives back what was prepared and not written, and says whether there is no room even so: then the trial may have
    /// written less than it would have.
    pub fn trim_and_check_full(&self) -> io::Result<bool> {
        if free_bytes(&self.folder)? > 0 {
            return Ok(false);
        }
        self.files.iter().try_for_each(|file| file.set_len(file.metadata()?.len()))?;
        Ok(free_bytes(&self.folder)? == 0)
    }
}

fn free_bytes(folder: &OwnedFd) -> io::Result<u64> {
    let stat = fstatvfs(folder)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn folder(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(rustix::fs::CWD, path, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// The root of a file system in memory that is mounted nowhere. Huge pages are none of it: they would change the size of
/// the blocks that a C library writes.
fn own_file_system() -> io::Result<OwnedFd> {
    let made = with_options(&[("size", LIMIT), ("mode", "0700"), ("huge", "never")]);
    // A kernel without huge pages does not know the word.
    Ok(made.or_else(|_| with_options(&[("size", LIMIT), ("mode", "0700")]))?)
}

fn with_options(options: &[(&str, &str)]) -> rustix::io::Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(&context, *key, *value)?;
    }
    fsconfig_create(&context)?;
    let attributes =
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, Write as _};

    fn on_disk(folder_of: &Path) -> OutputFiles {
        OutputFiles::first(folder(folder_of).unwrap(), folder_of.to_owned(), Kept::OnDisk).unwrap()
    }

    #[test]
    fn they_are_empty_before_each_trial_wherever_they_are() {
        let dir = tempfile::tempdir().unwrap();
        for mut files in [OutputFiles::new(dir.path()).unwrap(), on_disk(dir.path())] {
            for expected in [[0, 0], [10, 9000], [0, 1 << 20], [5, 0]] {
                files.ready(&expected).unwrap();
                for (number, expected) in expected.into_iter().enumerate() {
                    let meta = files.file(number).unwrap().metadata().unwrap();
                    assert_eq!(meta.len(), 0);
                    assert_eq!(meta.mode() & 0o777, FOR_ALL);
                    if files.kept() != Kept::OnDisk {
                        assert!(meta.blocks() * SECTOR >= expected, "{files:?}");
                    }
                    let mut again = File::options().write(true).open(files.path_of(number).unwrap()).unwrap();
                    again.write_all(b"hello").unwrap();
                    assert_eq!(again.stream_position().unwrap(), 5);
                    assert_eq!(files.used(number).unwrap(), 5);
                }
            }
            assert!(files.path_of(2).is_none());
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn memory_that_holds_less_than_an_output_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let on_disk = OutputFiles::in_memory(folder(Path::new("/proc")).unwrap(), PathBuf::new());
        assert_eq!(on_disk.unwrap_err().kind(), io::ErrorKind::Unsupported);
        let sized = |size| with_options(&[("size", size), ("mode", "0700")]);
        let (Ok(small), Ok(large)) = (sized("1m"), sized("512m")) else {
            println!("skipped: no file system of our own: {:?}", own_file_system().err());
            return;
        };
        let made = |folder| OutputFiles::in_memory(folder, dir.path().to_owned());
        assert_eq!(made(small).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(made(large).unwrap().kept(), Kept::InMemory);
    }

    #[test]
    fn a_hole_is_not_expected_again() {
        let dir = tempfile::tempdir().unwrap();
        let files = OutputFiles::new(dir.path()).unwrap();
        let mut file = files.file(0).unwrap();
        file.seek(io::SeekFrom::Start(1 << 40)).unwrap();
        if let Err(why) = file.write_all(b"x") {
            println!("skipped: no file of 1 TiB: {why}");
            return;
        }
        assert!(files.used(0).unwrap() < 1 << 20);
    }

    #[test]
    fn what_never_ends_finds_no_space() {
        let dir = tempfile::tempdir().unwrap();
        let files = OutputFiles::new(dir.path()).unwrap();
        if files.kept() != Kept::Apart {
            println!("skipped: no file system of our own: {:?}", own_file_system().err());
            return;
        }
        let mut file = files.file(0).unwrap();
        let piece = vec![b'x'; 1 << 20];
        let mut written = 0_u64;
        let why = loop {
            assert!(!files.trim_and_check_full().unwrap() || written > 0);
            match file.write(&piece) {
                Ok(more) => written += more as u64,
                Err(why) => break why,
            }
        };
        assert_eq!(why.kind(), io::ErrorKind::StorageFull);
        assert_eq!((written, files.trim_and_check_full().unwrap()), (LIMIT_BYTES, true));
    }
}
