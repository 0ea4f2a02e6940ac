//! A study's folder, as named on the command line: reads `study.toml` and expected outputs, or shows all problems.

use crate::error::{Code, CommandError};
use crate::feature::Registry;
use crate::maker::Order;
use crate::screen;
use bakeoff_host::disk::{read_file, read_text};
use bakeoff_lab::watched::Watched;
use bakeoff_model::digest::Digest;
use bakeoff_model::plan::Plan;
use bakeoff_model::problem::{Problem, Problems};
use bakeoff_model::study::{LoadOf, Ready, Study};
use bakeoff_model::study_file;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// No study file and no lock file is larger.
const STUDY_BYTES: u64 = 16 << 20;

/// A study and where it lies.
pub struct StudyFolder {
    /// The folder, absolute.
    pub dir: PathBuf,
    /// Its file, absolute.
    pub file: PathBuf,
    /// The files that only the study has a use for, links followed: no source that surrounds it contains them.
    pub own: Vec<PathBuf>,
    /// The study.
    pub study: Study,
}

/// A study as its file has it, and what is locked of it.
pub struct Unlocked {
    /// The folder, and the study without the hashes of the lock file.
    pub folder: StudyFolder,
    /// Where the lock file is or would be: beside the study's, and called like it.
    pub lock_path: PathBuf,
    /// Its text, if it is there.
    pub lock: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot read the study {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot read the lock file {}", path.display())]
    Lock { path: PathBuf, source: io::Error },
    #[error("cannot read {}, a file of {of}", path.display())]
    File { path: PathBuf, of: String, source: io::Error },
    #[error("cannot read {}, the expected output of workload `{workload}`", path.display())]
    Expected { path: PathBuf, workload: String, source: io::Error },
}

/// The files of a study that its trials depend on, as they were read.
pub struct Inputs {
    digest: Digest,
    /// A digest of each, by its name in the study.
    pub files: BTreeMap<String, String>,
    /// The same files, each as it was before it was read.
    pub watched: Vec<Watched>,
    /// The user's locale, unless it is C.
    pub locale: Option<String>,
}

impl Inputs {
    /// Adds the locale that trials have.
    pub fn take_locale(&mut self, shown: Option<String>) {
        if let Some(shown) = &shown {
            self.digest.field("the locale", shown.as_bytes());
        }
        self.locale = shown;
    }

    /// The digest of all of them, for the plan's identity.
    pub fn digest(&self) -> String {
        self.digest.hex()
    }

    fn take(&mut self, file: Watched, bytes: &[u8]) {
        self.digest.field(&file.name, bytes);
        self.know(file);
    }

    fn know(&mut self, file: Watched) {
        let digest = file.content().unwrap_or_default().to_owned();
        if self.files.insert(file.name.clone(), digest).is_none() {
            self.watched.push(file);
        }
    }

    /// Adds what trials run and is not the study's.
    pub fn take_programs(&mut self, programs: Vec<Watched>) {
        for program in programs {
            self.digest.field(&program.name, program.content().unwrap_or_default().as_bytes());
            self.know(program);
        }
    }
}

impl StudyFolder {
    /// Reads the study in a folder, or in a file that is named directly; with the hashes of the lock file beside it.
    pub fn open(path: &Path, features: &Registry) -> Result<Self, CommandError> {
        let Unlocked { mut folder, lock_path, lock } = Self::open_unlocked(path, features)?;
        if let (Some(reader), Some(recipe), Some(text)) = (features.recipe_reader(), &folder.study.recipe, lock) {
            let locked = reader.locked(recipe.as_ref(), &text);
            folder.study.recipe = Some(locked.map_err(|list| problems(&lock_path, &text, list))?);
        }
        Ok(folder)
    }

    /// Reads the same, and keeps apart what each of the two files says.
    pub fn open_unlocked(path: &Path, features: &Registry) -> Result<Unlocked, CommandError> {
        let file = if path.is_dir() { path.join("study.toml") } else { path.to_owned() };
        let unreadable = |source| {
            CommandError::usage(Error::Read { path: file.clone(), source }).hint(
                "name a folder with a study.toml; `bakeoff init` writes one, and `bakeoff studies` lists studies to \
                    copy",
            )
        };
        let text = read_text(&file, STUDY_BYTES).map_err(unreadable)?;
        let study = study_file::parse_with(&text, &features.sections, features.recipe_reader());
        let study = study.map_err(|list| problems(&file, &text, list))?;
        let file = std::path::absolute(&file).map_err(unreadable)?;
        let dir = file.parent().map(Path::to_owned).unwrap_or_default();
        let lock_path = file.with_extension("lock");
        let lock = read_lock(&lock_path)?;
        let own = own_files(&[&file, &lock_path], &dir, &study);
        Ok(Unlocked { folder: Self { dir, file, own, study }, lock_path, lock })
    }

    /// What is to be made of this study, so much at a time.
    pub fn order<'a>(&'a self, plan: &'a Plan, jobs: usize, quiet: bool) -> Order<'a> {
        Order { study: &self.study, dir: &self.dir, own: &self.own, plan, jobs, partly: false, quiet }
    }

    /// What each workload is expected to print, where the study says so.
    pub fn expected(&self) -> Result<BTreeMap<String, Vec<u8>>, CommandError> {
        let mut expected = BTreeMap::new();
        for workload in &self.study.workloads {
            let Some(name) = &workload.expect else { continue };
            let path = self.dir.join(name);
            let bytes = read_file(&path, u64::MAX).map_err(|source| {
                let workload = workload.name.clone();
                CommandError::usage(Error::Expected { path: path.clone(), workload, source })
                    .hint("create the file, for example from the output of the baseline, or omit `expect`")
            })?;
            expected.insert(workload.name.clone(), bytes);
        }
        Ok(expected)
    }

    /// The folder's files that trials depend on: the expected outputs, the `files` of workloads and services, and every
    /// file of the folder that is named by a word of a command: of a workload, its oracle and what stands around its
    /// trials, a service, its ready check, or a load; or by a word of a run factor's variable. A trial on a changed
    /// script is not comparable with one on the old.
    pub fn inputs(&self, expected: &BTreeMap<String, Vec<u8>>) -> Result<Inputs, CommandError> {
        let mut inputs = Inputs { digest: Digest::of("inputs"), files: BTreeMap::new(), watched: vec![], locale: None };
        for (workload, bytes) in expected {
            inputs.digest.field(workload, bytes);
        }
        for workload in &self.study.workloads {
            if let (Some(name), Some(_)) = (&workload.expect, expected.get(&workload.name)) {
                inputs.know(Watched::of_study(&self.dir, name));
            }
        }
        for workload in &self.study.workloads {
            self.listed(&mut inputs, &workload.files, &format!("workload `{}`", workload.name))?;
            self.listed(&mut inputs, workload.input.as_slice(), &format!("`input` of workload `{}`", workload.name))?;
            self.named(&mut inputs, &workload.run);
            let around = workload.around.named();
            around.iter().filter_map(|(_, command)| *command).for_each(|command| self.named(&mut inputs, command));
            workload.oracle.iter().for_each(|oracle| self.named(&mut inputs, oracle));
        }
        for service in &self.study.services {
            self.listed(&mut inputs, &service.files, &format!("service `{}`", service.name))?;
            self.named(&mut inputs, &service.run);
            if let Ready::Command(command) = &service.ready {
                self.named(&mut inputs, command);
            }
        }
        for load in self.study.conditions.iter().filter_map(|condition| condition.load.as_ref()) {
            if let LoadOf::Command(command) = &load.of {
                self.named(&mut inputs, command);
            }
        }
        for level in self.study.run_factors.iter().flat_map(|factor| &factor.levels) {
            level.variables.values().for_each(|value| self.named(&mut inputs, value));
        }
        Ok(inputs)
    }

    /// Files that the study lists; `of` is what needs them.
    fn listed(&self, inputs: &mut Inputs, files: &[String], of: &str) -> Result<(), CommandError> {
        for name in files {
            let path = self.dir.join(name);
            let watched = Watched::of_study(&self.dir, name);
            let unreadable =
                |source| CommandError::usage(Error::File { path: path.clone(), of: of.to_owned(), source });
            inputs.take(watched, &read_file(&path, u64::MAX).map_err(unreadable)?);
        }
        Ok(())
    }

    fn named(&self, inputs: &mut Inputs, command: &str) {
        for word in words(command) {
            let path = self.dir.join(word);
            // A device may never end, and what lies elsewhere is not the study's.
            let inside = Path::new(word).is_relative() && !word.split('/').any(|part| part == "..");
            if inside
                && path.is_file()
                && let Ok(bytes) = std::fs::read(&path)
            {
                inputs.take(Watched::of_study(&self.dir, word), &bytes);
            }
        }
    }
}

/// The study's file, its lock, and what its workloads are expected to print. What else it names may be the program's.
fn own_files(files: &[&Path], dir: &Path, study: &Study) -> Vec<PathBuf> {
    let expected = study.workloads.iter().filter_map(|workload| workload.expect.as_ref()).map(|name| dir.join(name));
    let real = |path: PathBuf| {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        folder.zip(path.file_name()).map(|(folder, name)| folder.join(name))
    };
    files.iter().map(|file| file.to_path_buf()).chain(expected).filter_map(real).collect()
}

/// The words of a command that could be names of files; what a shell would make of them is not known.
pub fn words(command: &str) -> impl Iterator<Item = &str> {
    command.split(|c: char| c.is_whitespace() || "\"';&|()<>=".contains(c)).filter(|word| !word.is_empty())
}

fn read_lock(path: &Path) -> Result<Option<String>, CommandError> {
    match read_text(path, STUDY_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CommandError::usage(Error::Lock { path: path.to_owned(), source })),
    }
}

/// The problems of a file, as the error of a command.
pub fn problems(file: &Path, text: &str, list: Vec<Problem>) -> CommandError {
    let problems = Problems::new(&file.display().to_string(), text, list);
    CommandError::text(Code::Usage, problems.render(screen::err_colour()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::{Registry, StudyFolder};
    use bakeoff_lab::watched::State;
    use std::collections::BTreeMap;
    use std::fs;

    const STUDY: &str = r#"
format = 1
name = "t"
[run_factors.script]
old = { SCRIPT = "old.pl" }
new = { SCRIPT = "new.pl" }
[services.store]
run = "sh store.sh"
ready = { command = "sh ready.sh" }
files = ["store.conf"]
[workloads.ask]
run = 'perl "$SCRIPT" < questions'
files = ["words"]
oracle = "cmp answers"
[conditions.busy]
copies = 1
of = { command = "sh load.sh" }
[decide]
baseline = { script = "old" }
"#;

    #[test]
    fn every_file_that_a_trial_depends_on_counts_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let counted =
            ["old.pl", "new.pl", "store.sh", "ready.sh", "store.conf", "questions", "words", "answers", "load.sh"];
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        counted.iter().chain(&["notes"]).for_each(|name| write(name, "1"));
        write("study.toml", STUDY);
        let study = StudyFolder::open(folder.path(), &Registry::default())
            .unwrap_or_else(|_| panic!("the study has a problem"));
        let inputs = || study.inputs(&BTreeMap::new()).unwrap_or_else(|_| panic!("a file cannot be read")).digest();
        let before = inputs();
        for name in counted {
            write(name, "2");
            assert_ne!(inputs(), before, "{name}");
            write(name, "1");
            let mut watched =
                study.inputs(&BTreeMap::new()).unwrap_or_else(|_| panic!("a file cannot be read")).watched;
            assert_eq!(watched.len(), counted.len());
            write(name, "1, and more");
            let changed = watched.iter_mut().filter_map(|file| (file.look() != State::Same).then_some(&file.name));
            assert_eq!(changed.collect::<Vec<_>>(), [name]);
            write(name, "1");
        }
        write("notes", "2");
        assert_eq!(inputs(), before);
        fs::remove_file(folder.path().join("store.conf")).unwrap();
        assert!(study.inputs(&BTreeMap::new()).is_err(), "a file that is listed must be there");
    }
}
