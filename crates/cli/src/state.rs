//! Where journals are kept: in the study's folder under `.bakeoff/`, one for each plan whose trials are comparable.
//! Journals are never overwritten; a study that changed gets a new one beside the old.

use crate::error::{Code, CommandError};
use bakeoff_host::lock::Lock;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const FOLDER: &str = ".bakeoff";
const LATEST: &str = "latest";
/// Hexadecimal digits of the plan's identity in a journal's name.
const IDENTITY_DIGITS: usize = 12;
/// How long what is left of a killed command may need to end.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot use the folder {}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("no journal in {}: this study has not been executed yet", path.display())]
    NoJournal { path: PathBuf },
}

/// The place of one journal.
pub(crate) struct State {
    folder: PathBuf,
    pub(crate) journal: PathBuf,
}

impl State {
    /// The place for a plan of that identity.
    pub(crate) fn of(study_dir: &Path, plan: &str, identity: &str) -> Result<Self, CommandError> {
        let folder = study_dir.join(FOLDER);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| {
                CommandError::new(Code::Internal, Error::Folder { path, source })
                    .hint("the journal is kept beside the study; copy the study to a folder that you can write to")
            }
        };
        std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
        // A study is often a part of somebody's repository; what is measured here is not.
        let ignore = folder.join(".gitignore");
        if !ignore.exists() {
            std::fs::write(&ignore, "*\n").map_err(failed(&ignore))?;
        }
        let journal = folder.join(format!("{plan}-{}.jsonl", &identity[..IDENTITY_DIGITS]));
        Ok(Self { folder, journal })
    }

    /// Locks the journal against a second command. What is left of a killed one is waited for.
    pub(crate) fn lock(&self) -> Result<Lock, CommandError> {
        let path = self.journal.with_extension("lock");
        let began = Instant::now();
        loop {
            match Lock::take(&path) {
                Ok(lock) => return Ok(lock),
                Err(bakeoff_host::Error::Locked { owner: Some(pid), .. })
                    if began.elapsed() < PATIENCE && !Path::new(&format!("/proc/{pid}")).exists() =>
                {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(error @ bakeoff_host::Error::Locked { .. }) => {
                    let hint = "the same study is being executed by another command; its journal has one writer";
                    return Err(CommandError::usage(error).hint(hint));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Remembers this journal as the study's latest.
    pub(crate) fn is_latest(&self) -> Result<(), CommandError> {
        let path = self.folder.join(LATEST);
        let name = self.journal.file_name().unwrap_or_default();
        std::fs::write(&path, name.as_encoded_bytes())
            .map_err(|source| CommandError::new(Code::Internal, Error::Folder { path: path.clone(), source }))
    }

    /// The folder for the output and scratch folders of trials.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.journal.with_extension("trial")
    }
}

/// The journal that is meant by a study's folder, its `study.toml`, or a journal itself.
pub(crate) fn journal_of(path: &Path) -> Result<PathBuf, CommandError> {
    if path.extension().is_some_and(|e| e == "jsonl") {
        return Ok(path.to_owned());
    }
    let dir = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let folder = dir.join(FOLDER);
    match std::fs::read_to_string(folder.join(LATEST)) {
        Ok(name) => Ok(folder.join(name.trim())),
        Err(_) => {
            let hint = format!("execute it: bakeoff run {}", path.display());
            Err(CommandError::usage(Error::NoJournal { path: folder }).hint(hint))
        }
    }
}

/// All journals of a study, for estimates of how long its trials take.
pub(crate) fn journals_of(study_dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(study_dir.join(FOLDER)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect()
}
