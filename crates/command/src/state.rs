//! Where journals are kept: in the study's folder under `.bakeoff/`, one for each plan whose trials are comparable.
//! Journals are never overwritten; a study that changed gets a new one beside the old.

use crate::error::{Code, CommandError};
use crate::screen;
use crate::target::replace;
use bakeoff_host::disk::read_text;
use bakeoff_host::lock::Lock;
use bakeoff_model::study::STATE_FOLDER as FOLDER;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const STUDY_FILE: &str = "study.toml";
const LATEST: &str = "latest";
/// No name of a file is longer.
const NAME_BYTES: u64 = 4096;
/// Below [`FOLDER`]: what came in a parcel. Its journals are reported on, and never continued.
const IMPORTED: &str = "imported";
/// Hexadecimal digits of the plan's identity in a journal's name.
const IDENTITY_DIGITS: usize = 12;
/// How long what is left of a killed command may need to end.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot use the folder {}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot report on {}", path.display())]
    Nothing { path: PathBuf, source: io::Error },
    #[error("no journal in {}; this study has not run yet", path.display())]
    NoJournal { path: PathBuf },
    #[error("there is no study.toml in {}", path.display())]
    NoStudy { path: PathBuf },
    #[error("nothing was imported into {}", path.display())]
    NothingImported { path: PathBuf },
}

/// The folder of a study's journals; there, and writable.
pub struct StateFolder(PathBuf);

impl StateFolder {
    /// Makes it, if it is not there.
    pub fn of(study_dir: &Path) -> Result<Self, CommandError> {
        let folder = study_dir.join(FOLDER);
        let failed = |source| {
            CommandError::usage(Error::Folder { path: folder.clone(), source }).hint(
                "copy the study to a folder that you can write to; Bakeoff keeps the journal in the study's folder",
            )
        };
        let is_new = !folder.exists();
        std::fs::create_dir_all(&folder).map_err(failed)?;
        if is_new {
            // Its name, too, is to survive a crash of the machine.
            File::open(study_dir).and_then(|dir| dir.sync_all()).map_err(failed)?;
        }
        // A study is often part of a repository; the measurements made here are not.
        // One that is there stays as it is, and a link is not followed.
        match File::create_new(folder.join(".gitignore")) {
            Ok(mut file) => file.write_all(b"*\n").map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        Ok(Self(folder))
    }

    /// All journals in it.
    pub fn journals(&self) -> Vec<PathBuf> {
        journals_in(&self.0)
    }

    /// The one that was run last.
    pub fn latest(&self) -> Option<PathBuf> {
        read_text(&self.0.join(LATEST), NAME_BYTES).ok().map(|name| self.0.join(name.trim()))
    }

    /// The place of a journal that is there.
    pub fn at(&self, journal: &Path) -> State {
        State { folder: self.0.clone(), journal: journal.to_owned() }
    }

    /// The place for a plan of that identity.
    pub fn journal(&self, plan: &str, identity: &str) -> State {
        let journal = self.0.join(format!("{plan}-{}.jsonl", &identity[..IDENTITY_DIGITS]));
        State { folder: self.0.clone(), journal }
    }
}

/// The place of one journal.
pub struct State {
    folder: PathBuf,
    /// The journal; it need not be there.
    pub journal: PathBuf,
}

impl State {
    /// The place of a journal that the user named.
    pub fn at(journal: &Path) -> Self {
        let folder = journal.parent().map(Path::to_owned).unwrap_or_default();
        Self { folder, journal: journal.to_owned() }
    }

    /// Locks the journal against a second command. It waits for the remains of a killed one.
    pub fn lock(&self) -> Result<Lock, CommandError> {
        self.lock_within(Duration::ZERO)
    }

    /// The same, and waits this long for another command to release it.
    pub fn lock_within(&self, wait: Duration) -> Result<Lock, CommandError> {
        let path = self.journal.with_extension("lock");
        let began = Instant::now();
        let has_ended = |pid| !Path::new(&format!("/proc/{pid}")).exists();
        loop {
            match Lock::take(&path) {
                Ok(lock) => return Ok(lock),
                Err(bakeoff_host::Error::Locked { owner, .. })
                    if began.elapsed() < wait || (began.elapsed() < PATIENCE && owner.is_some_and(has_ended)) =>
                {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(error @ bakeoff_host::Error::Locked { .. }) => {
                    let hint = "another command is running this study; only one can write to a journal";
                    return Err(CommandError::usage(error).hint(hint));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Remembers this journal as the study's latest.
    pub fn remember_as_latest(&self) -> Result<(), CommandError> {
        let name = self.journal.file_name().unwrap_or_default();
        remember_latest(&self.folder, name.as_encoded_bytes())
    }

    /// The folder for the output and scratch folders of trials.
    pub fn scratch(&self) -> PathBuf {
        self.journal.with_extension("trial")
    }
}

/// Writes which journal is the latest: whole or not at all, also after a crash. The last of several commands wins.
fn remember_latest(folder: &Path, name: &[u8]) -> Result<(), CommandError> {
    let path = folder.join(LATEST);
    let written = replace(&path, name).and_then(|()| File::open(folder)?.sync_all());
    written.map_err(|source| CommandError::new(Code::Internal, Error::Folder { path, source }))
}

/// The latest journal of a plan in a study's folder: the plan's name begins the journal's.
pub fn journal_of_plan(path: &Path, plan: &str) -> Result<PathBuf, CommandError> {
    let dir = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let of_plan = |journal: &PathBuf| {
        let name = journal.file_stem().and_then(|name| name.to_str());
        name.and_then(|name| name.rsplit_once('-')).is_some_and(|(own, _)| own == plan)
    };
    let written = |journal: &PathBuf| std::fs::metadata(journal).and_then(|data| data.modified()).ok();
    let latest = journals_of(dir).into_iter().filter(of_plan).max_by_key(written);
    latest.ok_or_else(|| {
        let plan = bakeoff_model::plain::clean(plan);
        CommandError::usage(format!("no journal for plan `{plan}` in {}", dir.join(FOLDER).display()))
            .hint(format!("run the plan: bakeoff run {} --plan {plan}", path.display()))
    })
}

/// The journal that is meant by a study's folder, its `study.toml`, or a journal itself.
pub fn journal_of(path: &Path) -> Result<PathBuf, CommandError> {
    if let Err(source) = std::fs::metadata(path) {
        let hint = "name a study's folder, its study.toml, or a journal";
        return Err(CommandError::usage(Error::Nothing { path: path.to_owned(), source }).hint(hint));
    }
    if !path.is_dir() && path.file_name().is_none_or(|name| name != STUDY_FILE) {
        return Ok(path.to_owned());
    }
    let dir = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let folder = dir.join(FOLDER);
    let Ok(name) = read_text(&folder.join(LATEST), NAME_BYTES) else {
        if !dir.join(STUDY_FILE).exists() {
            let hint = "name a journal (.jsonl), or a folder with a study.toml";
            return Err(CommandError::usage(Error::NoStudy { path: dir.to_owned() }).hint(hint));
        }
        let hint = format!("run the study: bakeoff run {}", path.display());
        return Err(CommandError::usage(Error::NoJournal { path: folder }).hint(hint));
    };
    let journals = journals_of(dir).len();
    if journals > 1 {
        let (name, folder) = (bakeoff_model::plain::clean(name.trim()), folder.display());
        screen::err(&format!("note: this is {name}, the latest of {journals} journals in {folder}\n"));
    }
    Ok(folder.join(name.trim()))
}

/// The folder of what came with a study in a parcel, which may not be there.
pub fn imported_in(study_dir: &Path) -> PathBuf {
    study_dir.join(FOLDER).join(IMPORTED)
}

/// The name of a study's latest journal, without its folder, and whether it was imported; none if it has not been run.
pub fn latest_of(study_dir: &Path) -> Option<(String, bool)> {
    let text = read_text(&study_dir.join(FOLDER).join(LATEST), NAME_BYTES).ok()?;
    let name = text.trim();
    Some(match name.strip_prefix(IMPORTED).and_then(|rest| rest.strip_prefix('/')) {
        Some(imported) => (imported.to_owned(), true),
        None => (name.to_owned(), false),
    })
}

/// Makes what was imported a study's latest journal, until it is run here.
pub fn remember_imported_as_latest(study_dir: &Path, journal: &str) -> Result<(), CommandError> {
    let imported = imported_in(study_dir);
    State { folder: imported.clone(), journal: imported.join(journal) }.remember_as_latest()?;
    remember_latest(&StateFolder::of(study_dir)?.0, format!("{IMPORTED}/{journal}").as_bytes())
}

/// The journal that was the latest where an imported study came from.
pub fn imported_journal(study: &Path) -> Result<PathBuf, CommandError> {
    let dir = if study.is_dir() { study } else { study.parent().unwrap_or(study) };
    let path = imported_in(dir);
    let name = read_text(&path.join(LATEST), NAME_BYTES).ok().map(|name| path.join(name.trim()));
    let hint = "instead of `imported`, name a journal (.jsonl) or another study";
    name.ok_or_else(|| CommandError::usage(Error::NothingImported { path }).hint(hint))
}

/// All journals of a study, for estimates of how long its trials take.
pub fn journals_of(study_dir: &Path) -> Vec<PathBuf> {
    journals_in(&study_dir.join(FOLDER))
}

/// All journals that came with a study.
pub fn imported_journals(study_dir: &Path) -> Vec<PathBuf> {
    journals_in(&imported_in(study_dir))
}

fn journals_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_the_place_of_our_files_is_not_followed() {
        let study = tempfile::tempdir().unwrap();
        let precious = study.path().join("precious");
        std::fs::write(&precious, "precious").unwrap();
        let state = study.path().join(FOLDER);
        std::fs::create_dir(&state).unwrap();
        std::os::unix::fs::symlink(&precious, state.join(".gitignore")).unwrap();
        std::os::unix::fs::symlink(study.path().join("nowhere"), state.join(LATEST)).unwrap();
        StateFolder::of(study.path()).unwrap().journal("plan", "0123456789abcdef").remember_as_latest().unwrap();
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
        assert!(!study.path().join("nowhere").exists());
    }

    #[test]
    fn many_commands_at_once_may_say_which_journal_is_the_latest() {
        let study = tempfile::tempdir().unwrap();
        let folder = StateFolder::of(study.path()).unwrap();
        let plans: Vec<String> = (0..8).map(|number| format!("plan{number}")).collect();
        std::thread::scope(|scope| {
            for plan in &plans {
                let state = folder.journal(plan, "0123456789abcdef");
                scope.spawn(move || (0..50).for_each(|_| state.remember_as_latest().unwrap()));
            }
        });
        let (name, imported) = latest_of(study.path()).unwrap();
        assert!(!imported && plans.iter().any(|plan| name == format!("{plan}-0123456789ab.jsonl")), "{name}");
        let left = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name());
        let mut left: Vec<_> = left.collect();
        left.sort();
        assert_eq!(left, [".gitignore", LATEST]);
    }
}
