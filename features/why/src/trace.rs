//! Tracers in the place of what they trace: a trial's command and its services become the orders of tracers, which are
//! launched as they would have been; afterwards each tells what it saw, with paths that are the same in all variants.
//! The lab runs the trial; others decide what to trace, and what becomes of it.

use crate::probing;
use bakeoff_host::tracer::{Census, Mapped, Opened, Order};
use bakeoff_host::{Command, End};
use bakeoff_lab::{Error, IntrusiveProbe, Unseen};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A stop at every system call takes many times as long; time limits are then multiplied by this.
const SLOWER: f64 = 100.0;

/// Set for a traced trial and for no other, so that a workload that makes very many calls may do less of the same.
const TRACED: &str = "BAKEOFF_TRACED";

/// What orders and answers are called in the scratch folder, and the file that is there while the trial lasts.
const FILES: &str = "trace-";
const DURING: &str = "during";

const SILENT: &str = "it was killed before its tracer recorded anything";

/// The probe: what is traced in one trial, and what was seen of it.
#[derive(Debug, Default)]
pub(crate) struct Tracing {
    /// The words that start a tracer; an order follows.
    tracer: Vec<String>,
    /// Absolute, because services may be run elsewhere.
    scratch: PathBuf,
    /// Where the tracer of the command tells what it saw.
    command: Option<Watched>,
    /// The services that were started, by name, and where their tracers tell what they saw.
    services: BTreeMap<String, Watched>,
    /// What the command did.
    pub(crate) seen: Census,
    /// What each service did, or why nobody knows.
    pub(crate) seen_of_services: BTreeMap<String, Result<Census, String>>,
}

/// Where a tracer tells what it saw.
#[derive(Debug)]
struct Watched {
    output: PathBuf,
    /// Folders that are other ones for each variant, or each trial, and their names.
    places: Vec<(PathBuf, &'static str)>,
}

impl Tracing {
    /// With the words that start a tracer.
    pub(crate) fn with(tracer: &[String]) -> Self {
        Self { tracer: tracer.to_vec(), ..Self::default() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.join(format!("{FILES}{name}"))
    }
}

impl IntrusiveProbe for Tracing {
    fn times_slower(&self) -> f64 {
        SLOWER
    }

    /// No file of an earlier one is left.
    fn begin(&mut self, scratch: &Path) -> Result<(), Error> {
        self.forget(scratch);
        self.scratch = probing::absolute(scratch)?;
        (self.command, self.seen) = (None, Census::default());
        self.services.clear();
        self.seen_of_services.clear();
        Ok(())
    }

    fn forget(&mut self, scratch: &Path) {
        probing::forget(scratch, FILES);
    }

    /// Makes a command the tracer's order and puts the tracer in its place, with nothing in its environment. Of a
    /// service it is counted what it does while the trial lasts.
    fn take_over(&mut self, command: &mut Command, service: Option<&str>) -> Result<(), Error> {
        if service.is_none() {
            command.env.insert(TRACED.to_owned(), "1".to_owned());
        }
        let name = service.map_or_else(|| "of-the-command".to_owned(), |service| format!("of-service-{service}"));
        let (file, output) = (self.file(&format!("order-{name}")), self.file(&format!("seen-{name}")));
        let places = places(&command.env);
        let during = service.map(|_| self.file(DURING));
        let order = Order { output: output.clone(), during, ..Order::default() };
        probing::order(command, &self.tracer, &file, order)?;
        let watched = Watched { output, places };
        match service {
            Some(service) => drop(self.services.insert(service.to_owned(), watched)),
            None => self.command = Some(watched),
        }
        Ok(())
    }

    /// From now on the tracers of services count.
    fn trial_begins(&mut self) -> Result<(), Error> {
        probing::begin(&self.file(DURING))
    }

    /// From now on they count only what has begun.
    fn trial_ended(&mut self) -> Result<(), Error> {
        probing::end(&self.file(DURING))
    }

    fn see_services(&mut self) {
        let services = std::mem::take(&mut self.services).into_iter();
        let seen = services
            .map(|(name, watched)| (name, watched.census().map_err(|unseen| probing::in_words(&unseen, SILENT))));
        self.seen_of_services = seen.collect();
    }

    fn see(&mut self, end: &End) -> Result<(), Unseen> {
        match self.command.as_ref().map_or(Err(Unseen::Silent), Watched::census) {
            Ok(census) => {
                self.seen = census;
                Ok(())
            }
            // It was killed before it could tell anything.
            Err(Unseen::Silent) if matches!(end, End::TimedOut | End::OutOfMemory) => Ok(()),
            Err(unseen) => Err(unseen),
        }
    }
}

impl Watched {
    /// What was seen, to be asked when the tracer has ended.
    fn census(&self) -> Result<Census, Unseen> {
        Ok(with_names(probing::seen(&self.output)?, &self.places))
    }
}

/// Folders that are other ones for each variant, or each trial, and their names; the kernel tells some without links.
pub(crate) fn places(env: &BTreeMap<String, String>) -> Vec<(PathBuf, &'static str)> {
    let mut places = vec![];
    for (variable, name) in [("PREFIX", "$PREFIX"), ("HOME", "$HOME")] {
        let Some(folder) = env.get(variable).map(PathBuf::from).filter(|folder| folder.is_absolute()) else { continue };
        if let Ok(real) = folder.canonicalize()
            && real != folder
        {
            places.push((real, name));
        }
        places.push((folder, name));
    }
    places
}

/// What the kernel tells of a process is in a folder that is called after its number, which chance gives.
fn of_any_process(path: &str) -> String {
    let below = path.strip_prefix("/proc/").map(|rest| rest.split_at(rest.find('/').unwrap_or(rest.len())));
    match below {
        Some((number, rest)) if number.parse::<u32>().is_ok() => format!("/proc/PID{rest}"),
        _ => path.to_owned(),
    }
}

/// A path with the name of its place in front, as it is in every variant.
pub(crate) fn named_by(path: &str, places: &[(PathBuf, &'static str)]) -> String {
    let path = &of_any_process(path);
    let below = |(folder, name): &(PathBuf, &str)| {
        let rest = Path::new(path).strip_prefix(folder).ok()?;
        let rest = rest.to_string_lossy();
        Some(if rest.is_empty() { (*name).to_owned() } else { format!("{name}/{rest}") })
    };
    places.iter().find_map(below).unwrap_or_else(|| path.to_owned())
}

/// Puts the names of places into all paths, and adds up those that are the same then.
fn with_names(mut census: Census, places: &[(PathBuf, &'static str)]) -> Census {
    let named = |path: &str| named_by(path, places);
    let mut mapped: BTreeMap<String, bool> = BTreeMap::new();
    for file in &census.mapped {
        *mapped.entry(named(&file.path)).or_default() |= file.executable;
    }
    census.mapped = mapped.into_iter().map(|(path, executable)| Mapped { path, executable }).collect();
    let mut opened: BTreeMap<String, Opened> = BTreeMap::new();
    for path in &census.opened {
        let name = named(&path.path);
        let sum = opened.entry(name.clone()).or_insert(Opened { path: name, found: 0, missed: 0 });
        sum.found += path.found;
        sum.missed += path.missed;
    }
    census.opened = opened.into_values().collect();
    census
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_named_by_their_places_and_added_up() {
        let opened = |path: &str, found, missed| Opened { path: path.to_owned(), found, missed };
        let mapped = |path: &str, executable| Mapped { path: path.to_owned(), executable };
        let census = Census {
            mapped: vec![
                mapped("/c/p/lib/x.so", false),
                mapped("/link/p/lib/x.so", true),
                mapped("/lib/libc.so", true),
            ],
            opened: vec![
                opened("/c/p", 1, 0),
                opened("/c/p/lib/x.so", 1, 2),
                opened("/proc/12/stat", 1, 0),
                opened("/proc/345/stat", 1, 0),
                opened("/proc/self/stat", 1, 0),
                opened("/c/prefix", 0, 1),
                opened("/h/file", 0, 1),
                opened("/link/p/lib/x.so", 3, 0),
                opened("p/lib", 1, 0),
            ],
            ..Census::default()
        };
        let place = |folder: &str, name| (PathBuf::from(folder), name);
        let census = with_names(census, &[place("/c/p", "$PREFIX"), place("/link/p", "$PREFIX"), place("/h", "$HOME")]);
        assert_eq!(census.mapped, [mapped("$PREFIX/lib/x.so", true), mapped("/lib/libc.so", true)]);
        let expected = [
            opened("$HOME/file", 0, 1),
            opened("$PREFIX", 1, 0),
            opened("$PREFIX/lib/x.so", 4, 2),
            opened("/c/prefix", 0, 1),
            opened("/proc/PID/stat", 2, 0),
            opened("/proc/self/stat", 1, 0),
            opened("p/lib", 1, 0),
        ];
        assert_eq!(census.opened, expected);
    }
}
