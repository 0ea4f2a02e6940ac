//! Counting in the place of a workload's command and of its services: valgrind runs them with our tool, and what the tool wrote
//! is added up when the trial is over. Of a service only what it does while the command runs.

use super::cachegrind;
use super::dump::Dump;
use super::functions::add_up;
use super::tool::Tool;
use crate::counts::Counted;
use crate::probing;
use crate::trace::{named_by, places};
use bakeoff_host::{Command, End};
use bakeoff_lab::{Counter, Error, IntrusiveProbe, Unseen};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The tool takes ten times as long as the program, and four tenths of a second for each process.
const SLOWER: f64 = 100.0;

/// What files are called in the scratch folder, and the file that is there while the trial lasts.
const FILES: &str = "counts-of-";
const COMMAND: &str = "the-command";
const DURING: &str = "during";

/// What the tool prints if it cannot count a process.
const REFUSED: &str = "blockcount: cannot";

/// Why cachegrind counts no services.
const WHOLE: &str = "cachegrind counts only whole processes, and a service outlasts the command";

/// What programs draw at random, and what they draw then: the same each time.
const FIXED: [(&str, &str); 3] = [("PERL_HASH_SEED", "0"), ("PERL_PERTURB_KEYS", "0"), ("PYTHONHASHSEED", "0")];

/// The length of the workload.
pub(crate) const LENGTH: &str = "LENGTH";

/// The probe.
#[derive(Debug)]
pub(crate) struct Counting {
    tool: Tool,
    /// The value of `$LENGTH`, if there is one.
    pub(crate) length: Option<String>,
    scratch: PathBuf,
    command: Place,
    services: BTreeMap<String, Place>,
    /// Why services are not counted, if they are not.
    pub(crate) without_services: Option<String>,
    /// What was counted of the command.
    pub(crate) seen: Counted,
    /// What was counted of each service, or why nothing was.
    pub(crate) seen_of_services: BTreeMap<String, Result<Counted, String>>,
}

/// Where something is counted into, and folders that are other ones in each variant.
#[derive(Debug, Default)]
struct Place {
    stem: String,
    folders: Vec<(PathBuf, &'static str)>,
}

impl Counting {
    /// Counts by this tool.
    pub(crate) fn with(tool: &Tool) -> Self {
        Self {
            tool: tool.clone(),
            length: None,
            scratch: PathBuf::new(),
            command: Place::default(),
            services: BTreeMap::new(),
            without_services: tool.instead.as_ref().map(|_| WHOLE.to_owned()),
            seen: Counted::default(),
            seen_of_services: BTreeMap::new(),
        }
    }

    /// Counts commands, and no services.
    pub(crate) fn of_commands(tool: &Tool) -> Self {
        Self { without_services: Some("services are not counted".to_owned()), ..Self::with(tool) }
    }

    fn during(&self) -> PathBuf {
        self.scratch.join(format!("{FILES}{DURING}"))
    }

    /// What was counted into a place.
    fn counted(&self, place: &Place) -> Result<Counted, Unseen> {
        let files = probing::files(&self.scratch, &format!("{}.", place.stem));
        let (said, counts): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| file.extension().is_some_and(|end| end == "said"));
        // One that cannot be read is as one that was not written.
        let written = |file: PathBuf| {
            let bytes = fs::read(&file).unwrap_or_default();
            (file, String::from_utf8_lossy(&bytes).into_owned())
        };
        let [said, counts] = [said, counts].map(|files| files.into_iter().map(written).collect::<Vec<_>>());
        if self.tool.instead.is_some() {
            return Ok(Counted { length: self.length.clone(), ..cachegrind::add_up(&said, &counts)? });
        }
        let dumps: Vec<Dump> = counts.iter().map(|(_, text)| Dump::of(text)).collect();
        let said: String = said.into_iter().map(|(_, text)| text).collect();
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
        let counted = add_up(&dumps, |path| named_by(&path.to_string_lossy(), &place.folders));
        Ok(Counted { length: self.length.clone(), ..counted })
    }
}

impl Counter for Counting {
    fn counted(&self) -> f64 {
        self.seen.instructions() as f64
    }
}

impl IntrusiveProbe for Counting {
    fn times_slower(&self) -> f64 {
        SLOWER
    }

    fn begin(&mut self, scratch: &Path) -> Result<(), Error> {
        self.forget(scratch);
        self.scratch = probing::absolute(scratch)?;
        self.seen = Counted::default();
        self.services.clear();
        self.seen_of_services.clear();
        Ok(())
    }

    fn take_over(&mut self, command: &mut Command, service: Option<&str>) -> Result<(), Error> {
        if let Some((name, why)) = service.zip(self.without_services.clone()) {
            self.seen_of_services.insert(name.to_owned(), Err(why));
            return Ok(());
        }
        let stem = service.map_or_else(|| format!("{FILES}{COMMAND}"), |name| format!("{FILES}service-{name}"));
        let place = Place { folders: places(&command.env), stem };
        let during = service.map(|_| self.during());
        let argv = std::mem::take(&mut command.argv);
        let words = self.tool.words(&self.scratch.join(&place.stem), during.as_deref());
        command.argv = words.into_iter().chain(argv).collect();
        command.env.extend(self.tool.variable());
        for (name, value) in FIXED {
            // Who has set it has chosen.
            command.env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
        command.env.extend(self.length.iter().map(|length| (LENGTH.to_owned(), length.clone())));
        match service {
            Some(name) => drop(self.services.insert(name.to_owned(), place)),
            None => self.command = place,
        }
        Ok(())
    }

    /// From now on services are counted.
    fn trial_begins(&mut self) -> Result<(), Error> {
        probing::begin(&self.during())
    }

    /// From now on only what they have begun.
    fn trial_ended(&mut self) -> Result<(), Error> {
        probing::end(&self.during())
    }

    fn see(&mut self, _: &End) -> Result<(), Unseen> {
        self.seen = self.counted(&self.command)?;
        Ok(())
    }

    fn see_services(&mut self) {
        let services = std::mem::take(&mut self.services).into_iter();
        let seen = services.map(|(name, place)| {
            (name, self.counted(&place).map_err(|unseen| probing::in_words(&unseen, "nothing was counted")))
        });
        let seen: BTreeMap<_, _> = seen.collect();
        self.seen_of_services.extend(seen);
    }

    fn forget(&mut self, scratch: &Path) {
        probing::forget(scratch, FILES);
    }
}
