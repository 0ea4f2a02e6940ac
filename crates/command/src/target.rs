//! Where a file that is made of findings goes. Whether it can be written is found out before anything is run; it is
//! written as a whole at the end, so that a reader never sees a part of it. What is in it is not known here.

use crate::error::CommandError;
use crate::screen;
use bakeoff_model::plain::clean;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What every journal begins with.
const JOURNAL: &[u8] = b"{\"line\":\"study\"";
/// New files are readable as the user's umask says.
const MODE: u32 = 0o666;
/// What is there is no file that could be replaced, whatever it is called.
const OF_THE_SYSTEM: [&str; 2] = ["/dev", "/proc"];

/// Where a file goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Output,
    /// Into what is there: a pipe, a device.
    InPlace(PathBuf),
    /// In the place of what may be there, all at once.
    Replaced(PathBuf),
}

impl Target {
    /// Where this name leads, if something can be written there.
    pub fn of(file: &Path) -> Result<Self, CommandError> {
        if Self::is_output(file) {
            return Ok(Self::Output);
        }
        let target = match fs::metadata(file) {
            Ok(about) if about.is_dir() => {
                let error = format!("{} is a folder", shown(file));
                return Err(CommandError::usage(error).hint("name a file in it"));
            }
            Ok(about) if about.is_file() => Self::of_file(file)?,
            Ok(_) => Self::InPlace(file.to_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::of_new(file)?,
            Err(error) => return Err(cannot(file, &error)),
        };
        if let Self::Replaced(path) = &target {
            temporary(path).map_err(|error| cannot(file, &error))?;
        }
        Ok(target)
    }

    /// Whether this name means standard output.
    pub fn is_output(file: &Path) -> bool {
        file.as_os_str() == "-" || file == Path::new("/dev/stdout")
    }

    fn of_file(file: &Path) -> Result<Self, CommandError> {
        OpenOptions::new().write(true).open(file).map_err(|error| cannot(file, &error))?;
        if OF_THE_SYSTEM.iter().any(|folder| file.starts_with(folder)) {
            return Ok(Self::InPlace(file.to_owned()));
        }
        if is_journal(file) {
            let error = format!("{} is a journal; Bakeoff never replaces journals", shown(file));
            return Err(CommandError::usage(error).hint("name another file"));
        }
        fs::canonicalize(file).map(Self::Replaced).map_err(|error| cannot(file, &error))
    }

    fn of_new(file: &Path) -> Result<Self, CommandError> {
        let is_link = file.symlink_metadata().is_ok();
        let ends_in_a_name = !file.as_os_str().as_encoded_bytes().ends_with(b"/");
        let name = file.file_name().filter(|_| ends_in_a_name && !is_link);
        let Some(name) = name else {
            let why = if is_link { "it is a broken symbolic link" } else { "it does not name a file" };
            return Err(CommandError::usage(format!("cannot write {}: {why}", shown(file))).hint(NAME_ANOTHER));
        };
        let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match fs::canonicalize(folder) {
            Ok(folder) => Ok(Self::Replaced(folder.join(name))),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let error = format!("cannot write {}: there is no folder {}", shown(file), shown(folder));
                Err(CommandError::usage(error).hint("create the folder first, or name another file"))
            }
            Err(error) => Err(cannot(file, &error)),
        }
    }

    /// Writes all of it, or nothing.
    pub fn write(&self, bytes: &[u8]) -> Result<(), CommandError> {
        let written = match self {
            Self::Output => {
                screen::out_bytes(bytes);
                return Ok(());
            }
            Self::InPlace(path) => in_place(path, bytes),
            // Since it was looked at, a journal may have come to be there.
            Self::Replaced(path) if is_journal(path) => Err(io::Error::other("it is now a journal")),
            Self::Replaced(path) => replace(path, bytes),
        };
        let (Self::InPlace(path) | Self::Replaced(path)) = self else { return Ok(()) };
        written.map_err(|error| cannot(path, &error))
    }
}

/// What helps where a name is none.
const NAME_ANOTHER: &str = "name a file in a folder that you can write to, or `-` for standard output";

fn shown(file: &Path) -> String {
    clean(&file.display().to_string())
}

fn cannot(file: &Path, error: &io::Error) -> CommandError {
    CommandError::unwritten(&format!("cannot write {}", shown(file)), error).hint(NAME_ANOTHER)
}

fn is_journal(file: &Path) -> bool {
    let mut beginning = vec![];
    let read = File::open(file).and_then(|file| file.take(JOURNAL.len() as u64).read_to_end(&mut beginning));
    read.is_ok() && beginning == JOURNAL
}

/// A file next to that one, which is gone unless it takes that one's place.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    tempfile::Builder::new().prefix(".bakeoff-").permissions(Permissions::from_mode(MODE)).tempfile_in(folder)
}

/// Writes a file as a whole, or leaves the one that is there.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary(path)?;
    file.write_all(bytes)?;
    if let Ok(about) = fs::metadata(path) {
        file.as_file().set_permissions(about.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// A reader that goes away has seen enough.
fn in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What a descriptor leads to may be a file that others write into as well.
    match OpenOptions::new().append(true).open(path)?.write_all(bytes) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_refused_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("journal.jsonl"), "{\"line\":\"study\",\"format\":2}\n").unwrap();
        std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
        let check = |file: PathBuf, part: &str| {
            let said = Target::of(&file).unwrap_err().render();
            assert!(said.starts_with("error: ") && said.contains(part) && said.contains("hint: "), "{said}");
        };
        check(folder.path().to_owned(), "is a folder");
        check(at("no/such/file"), "there is no folder");
        check(at("journal.jsonl"), "is a journal");
        check(at("journal.jsonl/file"), "cannot write");
        check(at("link"), "is a broken symbolic link");
        check(at("new/"), "does not name a file");
        check(PathBuf::new(), "does not name a file");
        check(PathBuf::from("/proc/no-such-file"), "cannot write");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 2, "a look leaves nothing: {left:?}");
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_stays_what_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "a longer text that was there").unwrap();
        fs::set_permissions(at("file"), Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        let target = Target::of(&at("link")).unwrap();
        assert_eq!(fs::read_to_string(at("file")).unwrap(), "a longer text that was there", "not touched before");
        target.write(b"new").unwrap();
        assert_eq!(fs::read_to_string(at("file")).unwrap(), "new");
        assert_eq!(fs::metadata(at("file")).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(at("link").symlink_metadata().unwrap().is_symlink());
        Target::of(&at("another")).unwrap().write(b"x").unwrap();
        // It is not for its owner alone, as temporary files are.
        let plain = at("plain");
        fs::write(&plain, "").unwrap();
        assert_eq!(fs::metadata(at("another")).unwrap().permissions(), fs::metadata(&plain).unwrap().permissions());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn a_device_is_written_into_and_a_journal_that_came_meanwhile_stays() {
        let null = Target::of(Path::new("/dev/null")).unwrap();
        assert_eq!(null, Target::InPlace("/dev/null".into()));
        null.write(b"x").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let target = Target::of(&file).unwrap();
        fs::write(&file, JOURNAL).unwrap();
        assert!(target.write(b"x").unwrap_err().render().contains("journal"));
        assert_eq!(fs::read(&file).unwrap(), JOURNAL);
        fs::remove_file(&file).unwrap();
        fs::remove_dir(folder.path()).unwrap();
        assert!(target.write(b"x").unwrap_err().render().contains("cannot write"));
    }
}
