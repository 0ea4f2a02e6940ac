//! The machine as a whole: one lock for each host and boot, for all users and caches. The lock is advisory.
//!
//! The lock is flock(2) on a file that is never written: who can read it can lock it, and every user can. Its name has the
//! boot's id, so hosts that share a folder do not wait for each other. There is one in each of [`PLACES`] that belongs to
//! everybody (mode 1777), and a command takes all of them that it can use, in this order: so two commands meet in one folder
//! even if one of them may not write in the others. Such a folder is also everybody's to spoil: links are not followed, only
//! a plain file that all may read counts, and a folder where another user put something else under the name is left out. What
//! cannot be prevented is that another user holds a lock; `waiting` gets that process's number.
//!
//! Containers have such folders of their own. `BAKEOFF_LOCKS` names one that several of them share.

use crate::Error;
use crate::files::Files;
use crate::lock::{LockMode, when_free};
use rustix::fs::{Mode, OFlags, fchmod, open};
use std::cell::Cell;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Where the files lie: folders that every user may make files in. The order is the same for all, or two could wait for each other.
const PLACES: [&str; 3] = ["/run/lock", "/dev/shm", "/tmp"];
/// Names another folder.
const VARIABLE: &str = "BAKEOFF_LOCKS";
/// How often a file is looked for that others make and remove.
const TRIES: u32 = 100;
/// The mode of a folder in which everybody may make files, and nobody may remove another's.
const EVERYBODYS: u32 = 0o1777;
/// All may read it, and so lock it.
const READABLE: u32 = 0o444;

/// Where the machine's lock is.
#[derive(Debug, Clone)]
pub struct Machine {
    paths: Result<Vec<PathBuf>, String>,
}

/// The machine, alone or together with others, until the value is dropped.
#[derive(Debug)]
pub struct Held {
    /// None where a process that we come from holds them: what a trial starts is a part of that trial.
    _files: Vec<File>,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        match std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
            Some(folder) => Self::in_folder(Path::new(&folder)),
            None => Self::all_of(&PLACES.map(Path::new), EVERYBODYS),
        }
    }

    /// The lock lies in this folder, whether or not all users may write there.
    pub fn in_folder(folder: &Path) -> Self {
        Self::all_of(&[folder], 0)
    }

    fn all_of(places: &[&Path], mode: u32) -> Self {
        let Some(boot) = Files::here().read("proc/sys/kernel/random/boot_id") else {
            return Self { paths: Err("this system has no boot ID".to_owned()) };
        };
        let (mut paths, mut whys) = (vec![], vec![]);
        for folder in places {
            let path = folder.join(format!("bakeoff-{boot}.lock"));
            match usable(folder, mode).and_then(|()| lock_file(&path)) {
                Ok(_) => paths.push(path),
                Err(error) => whys.push(format!("{}: {error}", folder.display())),
            }
        }
        Self { paths: if paths.is_empty() { Err(whys.join("; ")) } else { Ok(paths) } }
    }

    /// Why there is no lock for the whole machine; none if there is one. Without it, [`Self::claim`] always succeeds.
    pub fn why_not(&self) -> Option<&str> {
        self.paths.as_ref().err().map(String::as_str)
    }

    /// Takes the machine, and sleeps until it is free; `waiting` gets the holder, if known. None if interrupted.
    pub fn claim(&self, how: LockMode, waiting: impl Fn(Option<u32>)) -> Result<Option<Held>, Error> {
        let mut files = vec![];
        let has_said = Cell::new(false);
        let tell = |holder| {
            if !has_said.replace(true) {
                waiting(holder);
            }
        };
        for path in self.paths.iter().flatten() {
            match claim_one(path, how, &tell)? {
                Claimed::Held(file) => files.push(file),
                Claimed::ByOurs => return Ok(Some(Held { _files: vec![] })),
                Claimed::Interrupted => return Ok(None),
            }
        }
        Ok(Some(Held { _files: files }))
    }
}

/// What came of one file.
enum Claimed {
    Held(File),
    /// A process that we come from holds it.
    ByOurs,
    Interrupted,
}

fn claim_one(path: &Path, how: LockMode, waiting: &dyn Fn(Option<u32>)) -> Result<Claimed, Error> {
    let failed = |source| Error::Lock { path: path.to_owned(), source };
    for _ in 0..TRIES {
        let file = lock_file(path).map_err(failed)?;
        let file = match how.try_now(&file) {
            Ok(()) => file,
            Err(TryLockError::Error(source)) => return Err(failed(source)),
            Err(TryLockError::WouldBlock) => {
                let (holders, files) = (holders(&file).unwrap_or_default(), Files::here());
                // Between us and a command that runs us as a trial is its launcher.
                if ancestors(&files).skip(1).any(|above| holders.contains(&above)) || is_within(&files) {
                    return Ok(Claimed::ByOurs);
                }
                waiting(holders.first().copied());
                let Some(file) = when_free(file, how).map_err(failed)? else { return Ok(Claimed::Interrupted) };
                file
            }
        };
        // Something that tidies the folder up may have removed the file meanwhile: then others lock another one.
        if is_at(&file, path) {
            return Ok(Claimed::Held(file));
        }
    }
    Err(failed(io::Error::other("another process keeps removing the lock file")))
}

fn usable(folder: &Path, mode: u32) -> io::Result<()> {
    let meta = fs::metadata(folder)?;
    if !meta.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    if meta.mode() & mode != mode {
        return Err(io::Error::other("not all users may create files there"));
    }
    Ok(())
}

/// The file, made if there is none. Opened first: with O_CREAT the kernel refuses files of others (fs.protected_regular).
fn lock_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    for _ in 0..TRIES {
        match open(path, flags, Mode::empty()) {
            Ok(file) => return plain(File::from(file)),
            Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mode = Mode::from_raw_mode(READABLE);
        match open(path, flags | OFlags::CREATE | OFlags::EXCL, mode) {
            Ok(file) => {
                // Whatever our mask for new files says.
                fchmod(&file, mode)?;
                return Ok(File::from(file));
            }
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("another process keeps creating and removing the lock file"))
}

/// Refuses what cannot be a lock for all, the same for every user: also for one who may open anything.
fn plain(file: File) -> io::Result<File> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("the lock file is not a regular file"));
    }
    if meta.permissions().mode() & READABLE != READABLE {
        return Err(io::Error::other("the lock file belongs to another user, and not all users may read it"));
    }
    Ok(file)
}

fn is_at(file: &File, path: &Path) -> bool {
    let id = |meta: &fs::Metadata| (meta.dev(), meta.ino());
    matches!((file.metadata(), fs::symlink_metadata(path)), (Ok(ours), Ok(there)) if id(&ours) == id(&there))
}

/// The processes that hold a lock on a file, as the kernel has it; a process of another container shows as 0 and is left out.
fn holders(file: &File) -> io::Result<Vec<u32>> {
    let meta = file.metadata()?;
    let device = [rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev())];
    Ok(holders_in(&fs::read_to_string("/proc/locks")?, device, meta.ino()))
}

/// Inode numbers are a device's own, but btrfs shows another device there than stat(2): then the inode has to do.
fn holders_in(locks: &str, [major, minor]: [u32; 2], inode: u64) -> Vec<u32> {
    let (device, inode) = (format!("{major:02x}:{minor:02x}"), inode.to_string());
    let of_line = |line| {
        // `1: FLOCK ADVISORY WRITE 4711 fe:00:6135810 0 EOF` (proc_locks(5)); one that waits has `->` before its kind.
        let words: Vec<&str> = str::split_whitespace(line).collect();
        let [_, "FLOCK", _, _, pid, place, ..] = words[..] else { return None };
        let (on, number) = place.rsplit_once(':')?;
        Some((pid.parse::<u32>().ok()?, on, number))
    };
    let known = locks.lines().any(|line| line.contains(&format!(" {device}:")));
    let holds = |(pid, on, number): &(u32, &str, &str)| *pid > 0 && *number == inode && (!known || *on == device);
    locks.lines().filter_map(of_line).filter(holds).map(|(pid, ..)| pid).collect()
}

/// Whether we are what a trial starts in a PID namespace of its own: who runs us cannot be seen from here, and holds the
/// machine. Above us there is its launcher, whose parent is outside.
fn is_within(files: &Files) -> bool {
    let is_ours = |top: u32| files.field(&format!("proc/{top}/status"), "Name").is_some_and(|name| name == "bakeoff");
    ancestors(files).last().is_some_and(|top| top > 1 && is_ours(top))
}

/// The processes that we come from, our parent first, as far as they can be seen from here.
fn ancestors(files: &Files) -> impl Iterator<Item = u32> {
    let parent = |pid: &u32| files.field(&format!("proc/{pid}/status"), "PPid")?.parse().ok().filter(|&pid| pid > 0);
    std::iter::successors(Some(std::process::id()), parent).skip(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::assert_released;
    use std::os::unix::fs::symlink;
    use std::sync::mpsc;

    fn nobody(holder: Option<u32>) {
        panic!("{holder:?} was waited for");
    }

    fn file_in(folder: &Path) -> PathBuf {
        Machine::in_folder(folder).paths.unwrap().remove(0)
    }

    #[test]
    fn who_measures_is_alone_and_those_who_build_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::in_folder(folder.path());
        assert_eq!(machine.why_not(), None);
        let built = [LockMode::Shared, LockMode::Shared].map(|how| machine.claim(how, nobody).unwrap().unwrap());
        let (tells, hears) = mpsc::channel();
        let other = machine.clone();
        let measures = std::thread::spawn(move || {
            let tell = |holder| tells.send(holder).unwrap();
            other.claim(LockMode::Exclusive, tell).unwrap().unwrap()
        });
        assert_eq!(hears.recv().unwrap(), Some(std::process::id()));
        drop(built);
        let measures = measures.join().unwrap();
        assert!(File::open(file_in(folder.path())).unwrap().try_lock_shared().is_err());
        drop(measures);
        assert_released(&file_in(folder.path()), LockMode::Exclusive);
    }

    #[test]
    fn every_user_can_lock_the_file_and_its_name_is_of_this_boot() {
        let folder = tempfile::tempdir().unwrap();
        let path = file_in(folder.path());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, READABLE);
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        assert!(path.to_string_lossy().contains(boot.trim()), "{path:?}");
    }

    #[test]
    fn what_another_put_in_its_place_is_not_used_and_other_folders_are() {
        let next = tempfile::tempdir().unwrap();
        let victim = next.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let check = |what: &str, spoil: &dyn Fn(&Path)| {
            let folder = tempfile::tempdir().unwrap();
            let path = file_in(folder.path());
            fs::remove_file(&path).unwrap();
            spoil(&path);
            let alone = Machine::in_folder(folder.path());
            assert!(alone.why_not().is_some_and(|why| !why.is_empty()), "{what}");
            assert!(alone.claim(LockMode::Exclusive, nobody).unwrap().is_some(), "{what}: it goes on without a lock");
            let machine = Machine::all_of(&[folder.path(), next.path()], 0);
            assert_eq!(machine.paths.unwrap(), [file_in(next.path())], "{what}");
        };
        check("a link", &|path| symlink(&victim, path).unwrap());
        check("a link to nothing", &|path| symlink("/nonexistent/lock", path).unwrap());
        check("a folder", &|path| fs::create_dir(path).unwrap());
        check("a pipe", &|path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        });
        check("a file of somebody's own", &|path| {
            fs::write(path, "").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        });
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn a_folder_that_is_not_everybodys_is_passed_over() {
        let (ours, everybodys) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::set_permissions(everybodys.path(), fs::Permissions::from_mode(EVERYBODYS)).unwrap();
        let places = [Path::new("/nonexistent"), ours.path(), everybodys.path()];
        assert_eq!(Machine::all_of(&places, EVERYBODYS).paths.unwrap(), [file_in(everybodys.path())]);
        let why = Machine::all_of(&places[..2], EVERYBODYS).why_not().map(str::to_owned).unwrap();
        assert!(why.contains("/nonexistent: No such file") && why.contains("not all users may create files"), "{why}");
    }

    #[test]
    fn a_file_that_was_removed_while_it_was_waited_for_is_not_taken_for_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::in_folder(folder.path());
        let path = file_in(folder.path());
        let held = machine.claim(LockMode::Exclusive, nobody).unwrap().unwrap();
        let remove = |_| {
            fs::remove_file(&path).unwrap();
            let _ = file_in(folder.path());
        };
        let (tells, hears) = mpsc::channel();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                let tell = |holder| {
                    remove(holder);
                    tells.send(()).unwrap();
                };
                machine.claim(LockMode::Exclusive, tell).unwrap().unwrap()
            });
            hears.recv().unwrap();
            drop(held);
            let taken = waits.join().unwrap();
            assert!(is_at(&taken._files[0], &path));
        });
    }

    #[test]
    fn who_cannot_use_one_folder_meets_the_others_in_the_next() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [first, second] = folders.each_ref().map(|folder| folder.path());
        let held = Machine::all_of(&[first, second], 0).claim(LockMode::Exclusive, nobody).unwrap().unwrap();
        for folder in [first, second] {
            let other = File::open(file_in(folder)).unwrap();
            assert!(other.try_lock_shared().is_err(), "{}", folder.display());
        }
        drop(held);
        assert_released(&file_in(second), LockMode::Shared);
    }

    #[test]
    fn a_lock_on_another_device_is_another_lock() {
        let locks = "1: FLOCK  ADVISORY  WRITE 41 00:19:7 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 42 00:19:7 0 EOF\n\
                     3: FLOCK  ADVISORY  READ 43 00:1a:7 0 EOF\n4: POSIX  ADVISORY  WRITE 44 00:19:7 0 EOF\n\
                     5: FLOCK  ADVISORY  READ 0 00:19:7 0 EOF\n6: FLOCK  ADVISORY  READ 46 00:19:8 0 EOF\n";
        let check = |device, inode, expect: &[u32]| assert_eq!(holders_in(locks, device, inode), expect, "{device:?}");
        check([0, 0x19], 7, &[41]);
        check([0, 0x1a], 7, &[43]);
        check([0, 0x1a], 8, &[]);
        check([0, 0x77], 8, &[46]);
        check([0, 0x77], 9, &[]);
    }

    #[test]
    fn the_processes_beyond_our_parent_are_neither_we_nor_it() {
        let above: Vec<u32> = ancestors(&Files::here()).skip(1).collect();
        assert!(!above.contains(&std::process::id()) && !above.contains(&std::os::unix::process::parent_id()));
        assert!(above.iter().all(|pid| Path::new(&format!("/proc/{pid}")).exists()), "{above:?}");
    }
}
