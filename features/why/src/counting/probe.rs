//! Counting in the place of a workload's command: valgrind runs the command with our tool, and what the tool wrote is added up
//! when the trial is over. Services are left as they are.

use super::dump::Dump;
use super::functions::add_up;
use super::tool::Tool;
use crate::counts::Counted;
use crate::trace::{named_by, places};
use bakeoff_host::{Command, End};
use bakeoff_lab::{Error, IntrusiveProbe, Unseen};
use std::fs;
use std::path::{Path, PathBuf};

/// The tool takes ten times as long as the program, and four tenths of a second for each process.
const SLOWER: f64 = 100.0;

/// What files are called in the scratch folder.
const FILES: &str = "counts";

/// What the tool prints if it cannot count a process.
const REFUSED: &str = "blockcount: cannot";

/// What programs draw at random, and what they draw then: the same each time.
const FIXED: [(&str, &str); 3] = [("PERL_HASH_SEED", "0"), ("PERL_PERTURB_KEYS", "0"), ("PYTHONHASHSEED", "0")];

/// The length of the workload.
pub(crate) const LENGTH: &str = "LENGTH";

/// The probe.
#[derive(Debug)]
pub(crate) struct Counting<'t> {
    tool: &'t Tool,
    length: Option<String>,
    scratch: PathBuf,
    places: Vec<(PathBuf, &'static str)>,
    /// What was counted.
    pub(crate) seen: Counted,
}

impl<'t> Counting<'t> {
    /// Counts at that value of `$LENGTH`, if there is one.
    pub(crate) fn with(tool: &'t Tool, length: Option<String>) -> Self {
        Self { tool, length, scratch: PathBuf::new(), places: vec![], seen: Counted::default() }
    }

    /// The files that it wrote.
    fn files(scratch: &Path) -> Vec<PathBuf> {
        let files = fs::read_dir(scratch).into_iter().flatten().flatten();
        let is_of_it = |file: &fs::DirEntry| file.file_name().to_string_lossy().starts_with(FILES);
        let mut files: Vec<PathBuf> = files.filter(is_of_it).map(|file| file.path()).collect();
        files.sort();
        files
    }
}

impl IntrusiveProbe for Counting<'_> {
    fn times_slower(&self) -> f64 {
        SLOWER
    }

    fn begin(&mut self, scratch: &Path) -> Result<(), Error> {
        self.forget(scratch);
        self.scratch =
            std::path::absolute(scratch).map_err(|source| Error::Folder { path: scratch.to_owned(), source })?;
        self.seen = Counted::default();
        Ok(())
    }

    fn take_over(&mut self, command: &mut Command, service: Option<&str>) -> Result<(), Error> {
        if service.is_some() {
            return Ok(());
        }
        self.places = places(&command.env);
        let argv = std::mem::take(&mut command.argv);
        command.argv = self.tool.words(&self.scratch.join(FILES)).into_iter().chain(argv).collect();
        command.env.extend([self.tool.variable()]);
        for (name, value) in FIXED {
            // Who has set it has chosen.
            command.env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
        command.env.extend(self.length.iter().map(|length| (LENGTH.to_owned(), length.clone())));
        Ok(())
    }

    fn trial_begins(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn trial_ended(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn see(&mut self, _: &End) -> Result<(), Unseen> {
        let (said, counts): (Vec<_>, Vec<_>) =
            Self::files(&self.scratch).into_iter().partition(|file| file.extension().is_some_and(|end| end == "said"));
        // One that cannot be read is as one that was not written.
        let text = |file: &PathBuf| fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let dumps: Vec<Dump> = counts.iter().map(|file| Dump::of(&text(file).unwrap_or_default())).collect();
        let said: String = said.iter().filter_map(|file| text(file).ok()).collect();
        let mut words = said.lines().map(str::trim).filter(|line| !line.is_empty());
        // A process without a file is missed only by what it printed.
        let refused = if dumps.is_empty() { words.next_back() } else { words.find(|line| line.contains(REFUSED)) };
        if let Some(refused) = refused {
            return Err(Unseen::Refused(refused.to_owned()));
        }
        if dumps.is_empty() {
            return Err(Unseen::Silent);
        }
        let broken = dumps.iter().filter(|dump| !dump.is_whole).count();
        if broken > 0 {
            return Err(Unseen::Refused(format!(
                "{broken} of {} processes were killed before they wrote their counts",
                dumps.len()
            )));
        }
        let places = &self.places;
        self.seen =
            Counted { length: self.length.clone(), ..add_up(&dumps, |path| named_by(&path.to_string_lossy(), places)) };
        Ok(())
    }

    fn see_services(&mut self) {}

    fn forget(&mut self, scratch: &Path) {
        for file in Self::files(scratch) {
            let _ = fs::remove_file(file);
        }
    }
}
