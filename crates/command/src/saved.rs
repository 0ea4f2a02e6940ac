//! Comparisons saved under a name: each is a journal, `saved/NAME.jsonl` in the user's state folder, there whole or not
//! at all. The last comparison of all is `last.jsonl`. What a later comparison makes of them is not decided here.

use crate::error::{Code, CommandError};
use crate::user_state;
use bakeoff_model::plain::clean;
use bakeoff_model::problem::did_you_mean;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The folder in that of the user's state.
const FOLDER: &str = "saved";
const ENDING: &str = ".jsonl";
/// Next to that folder: the last comparison that was kept nowhere else.
const LAST: &str = "last.jsonl";
/// With the ending, and what a temporary file needs, any file system takes it.
const NAME_BYTES: usize = 100;

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(
        "there is no folder for saved comparisons because none of BAKEOFF_STATE, XDG_STATE_HOME and HOME is an \
            absolute path"
    )]
    NoPlace,
    /// No comparison was run yet.
    #[error("there is no last comparison in {}", .0.display())]
    NoLast(PathBuf),
    /// It cannot be used.
    #[error("cannot use {}", path.display())]
    File { path: PathBuf, source: io::Error },
}

/// Keeps a journal as the last comparison, and says whether it could: without a place for it, the screen has it.
pub fn keep_last(journal: &Path) -> bool {
    let kept = |folder: PathBuf| -> io::Result<()> {
        fs::create_dir_all(&folder)?;
        copied(journal, &folder)?.persist(folder.join(LAST))?;
        Ok(())
    };
    user_state::folder().is_some_and(|folder| kept(folder).is_ok())
}

/// The journal of the last comparison.
pub fn last() -> Result<PathBuf, CommandError> {
    let folder = user_state::folder().ok_or_else(|| CommandError::usage(Error::NoPlace))?;
    let journal = folder.join(LAST);
    if journal.exists() {
        return Ok(journal);
    }
    Err(CommandError::usage(Error::NoLast(folder))
        .hint("run `bakeoff compare`; it keeps its trials there until the next comparison"))
}

/// The folder of saved comparisons.
#[derive(Debug)]
pub struct Saved(PathBuf);

impl Saved {
    /// That of the user; it need not be there.
    pub fn of_user() -> Result<Self, CommandError> {
        let folder = user_state::folder().ok_or_else(|| {
            CommandError::usage(Error::NoPlace).hint("set BAKEOFF_STATE to the absolute path of a folder")
        })?;
        Ok(Self(folder.join(FOLDER)))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The names in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> =
            files.filter_map(|file| Some(file.strip_suffix(ENDING)?.to_owned())).filter(|name| is_name(name)).collect();
        names.sort();
        names
    }

    /// The journal of that name.
    ///
    /// # Errors
    /// If there is none; the hint has those that there are, or the one that may be meant.
    pub fn journal(&self, name: &str) -> Result<PathBuf, CommandError> {
        let names = self.names();
        if names.iter().any(|known| known == name) {
            return Ok(self.path(name));
        }
        let shown = |name: &String| clean(name);
        let hint = match did_you_mean(name, names.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{}`?", clean(meant)),
            None if names.is_empty() => "nothing is saved yet; `compare --save NAME` saves a comparison".to_owned(),
            None => format!("there are: {}", names.iter().map(shown).collect::<Vec<_>>().join(", ")),
        };
        Err(CommandError::usage(format!("there is no saved comparison `{}`", clean(name))).hint(hint))
    }

    /// Whether something can be saved under that name; to be called before anything is run.
    ///
    /// # Errors
    /// If it is none, if it is taken and not to be replaced, or if nothing can be written there.
    pub fn check(&self, name: &str, replace: bool) -> Result<(), CommandError> {
        if !is_name(name) {
            let error = format!("`{}` cannot be the name of a saved comparison", clean(name));
            let hint = format!("use 1 to {NAME_BYTES} bytes, no `/`, no control characters, and no `.` at the start");
            return Err(CommandError::usage(error).hint(hint));
        }
        if !replace && self.path(name).exists() {
            let error = format!("a comparison is already saved as `{}`", clean(name));
            return Err(CommandError::usage(error).hint("choose another name, or add --replace"));
        }
        fs::create_dir_all(&self.0).and_then(|()| tempfile::tempfile_in(&self.0)).map(drop).map_err(|e| self.failed(e))
    }

    /// Saves a journal, and returns the name that it got: another one, where somebody took it since it was checked.
    pub fn save(&self, name: &str, journal: &Path, replace: bool) -> Result<String, CommandError> {
        let on_disk = |new: NamedTempFile| new.as_file().sync_all().map(|()| new);
        let mut new = copied(journal, &self.0).and_then(on_disk).map_err(|error| self.failed(error))?;
        for number in 1.. {
            let name = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
            let path = self.path(&name);
            let done = if replace { new.persist(&path) } else { new.persist_noclobber(&path) };
            match done {
                Ok(_) => {
                    File::open(&self.0).and_then(|folder| folder.sync_all()).map_err(|error| self.failed(error))?;
                    return Ok(name);
                }
                Err(taken) if taken.error.kind() == ErrorKind::AlreadyExists => new = taken.file,
                Err(other) => return Err(self.failed(other.error)),
            }
        }
        Ok(name.to_owned())
    }

    /// Removes what was saved under that name.
    pub fn remove(&self, name: &str) -> Result<(), CommandError> {
        let path = self.journal(name)?;
        fs::remove_file(&path).map_err(|source| CommandError::usage(Error::File { path, source }))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}{ENDING}"))
    }

    fn failed(&self, source: io::Error) -> CommandError {
        CommandError::new(Code::Usage, Error::File { path: self.0.clone(), source })
            .hint("set BAKEOFF_STATE to another folder for saved comparisons")
    }
}

/// A copy of a journal in that folder, which has no name of its own yet.
fn copied(journal: &Path, folder: &Path) -> io::Result<NamedTempFile> {
    let mut new = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    io::copy(&mut File::open(journal)?, &mut new)?;
    Ok(new)
}

/// Whether it can be the name of a file, and of nothing else.
fn is_name(name: &str) -> bool {
    let is_odd = |c: char| c == '/' || c.is_control();
    !name.is_empty() && name.len() <= NAME_BYTES && !name.starts_with('.') && !name.contains(is_odd)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_a_file_in_the_folder() {
        for name in ["main", "v1.2", "before the fix", "-", "é", &"x".repeat(100)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", ".x", "a/b", "../x", "/x", "a\nb", "a\0b", "\u{1b}[2J", &"x".repeat(101)] {
            assert!(!is_name(name), "{name:?}");
        }
    }

    #[test]
    fn nothing_is_lost_where_two_save_under_one_name() {
        let place = tempfile::tempdir().unwrap();
        let saved = Saved(place.path().join("saved"));
        saved.check("a", false).unwrap();
        let journal = place.path().join("j");
        let save = |text: &str, replace: bool| {
            fs::write(&journal, text).unwrap();
            saved.save("a", &journal, replace).unwrap()
        };
        assert_eq!((save("1", false), save("2", false), save("3", true)), ("a".into(), "a-2".into(), "a".into()));
        assert_eq!(saved.names(), ["a", "a-2"]);
        let text = |name: &str| fs::read_to_string(saved.journal(name).unwrap()).unwrap();
        assert_eq!((text("a"), text("a-2")), ("3".into(), "2".into()));
        assert!(saved.check("a", false).is_err() && saved.check("a", true).is_ok());
        saved.remove("a").unwrap();
        assert_eq!(saved.names(), ["a-2"]);
        assert!(saved.remove("a").unwrap_err().render().contains("there are: a-2"));
        assert_eq!(fs::read_dir(saved.folder()).unwrap().count(), 1, "no temporary file is left");
    }
}
