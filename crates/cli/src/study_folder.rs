//! A study's folder, as named on the command line: finds `study.toml`, reads it, and reads the expected outputs. Its
//! problems end the command with all of them shown.

use crate::error::{Code, CommandError};
use crate::screen;
use bakeoff_model::digest::Digest;
use bakeoff_model::problem::Problems;
use bakeoff_model::study::Study;
use bakeoff_model::study_file;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// A study and where it lies.
pub(crate) struct StudyFolder {
    /// The folder, absolute.
    pub(crate) dir: PathBuf,
    pub(crate) study: Study,
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot read the study {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot read {}, a file of workload `{workload}`", path.display())]
    File { path: PathBuf, workload: String, source: io::Error },
    #[error("cannot read {}, the expected output of workload `{workload}`", path.display())]
    Expected { path: PathBuf, workload: String, source: io::Error },
}

impl StudyFolder {
    /// Reads the study in a folder, or in a file that is named directly.
    pub(crate) fn open(path: &Path) -> Result<Self, CommandError> {
        let file = if path.is_dir() { path.join("study.toml") } else { path.to_owned() };
        let unreadable = |source| {
            CommandError::usage(Error::Read { path: file.clone(), source })
                .hint("name a folder that holds a study.toml, such as studies/perl-options")
        };
        let text = std::fs::read_to_string(&file).map_err(unreadable)?;
        let study = study_file::parse(&text).map_err(|list| {
            let problems = Problems::new(&file.display().to_string(), &text, list);
            CommandError::text(Code::Usage, problems.render(screen::err_colour()))
        })?;
        let file = std::path::absolute(&file).map_err(unreadable)?;
        let dir = file.parent().map(Path::to_owned).unwrap_or_default();
        Ok(Self { dir, study })
    }

    /// What each workload is expected to print, where the study says so.
    pub(crate) fn expected(&self) -> Result<BTreeMap<String, Vec<u8>>, CommandError> {
        let mut expected = BTreeMap::new();
        for workload in &self.study.workloads {
            let Some(name) = &workload.expect else { continue };
            let path = self.dir.join(name);
            let bytes = std::fs::read(&path).map_err(|source| {
                let workload = workload.name.clone();
                CommandError::usage(Error::Expected { path: path.clone(), workload, source })
                    .hint("make the file, for example from the output of the baseline, or leave `expect` out")
            })?;
            expected.insert(workload.name.clone(), bytes);
        }
        Ok(expected)
    }

    /// Digest of the folder's files that trials depend on: the expected outputs, the workloads' `files`, and every file
    /// of the folder that is named by a word of a workload's command. A trial on a changed script is not comparable with
    /// one on the old.
    pub(crate) fn inputs(&self, expected: &BTreeMap<String, Vec<u8>>) -> Result<String, CommandError> {
        let mut digest = Digest::of("inputs");
        for (workload, bytes) in expected {
            digest.field(workload, bytes);
        }
        for workload in &self.study.workloads {
            for name in &workload.files {
                let path = self.dir.join(name);
                let bytes = std::fs::read(&path).map_err(|source| {
                    let workload = workload.name.clone();
                    CommandError::usage(Error::File { path: path.clone(), workload, source })
                })?;
                digest.field(name, &bytes);
            }
            for word in workload.run.split(|c: char| c.is_whitespace() || "\"';&|()<>=".contains(c)) {
                let path = self.dir.join(word);
                // A device may never end, and what lies elsewhere is not the study's.
                let inside = Path::new(word).is_relative() && !word.split('/').any(|part| part == "..");
                if inside
                    && path.is_file()
                    && let Ok(bytes) = std::fs::read(&path)
                {
                    digest.field(word, &bytes);
                }
            }
        }
        Ok(digest.hex())
    }
}
