//! Slurm, by `sbatch`, `squeue`, `scancel`, `sinfo` and `scontrol show config`: writes job scripts, submits them, and asks
//! for what is in the queue. Jobs are known by our name and a number, never by Slurm's ids, which are used again. A queue
//! without a job does not say that the job is done: only the job's own files do.

mod call;
mod queue;
mod script;

use crate::machines::SlurmSettings;
use bakeoff_command::CommandError;
use call::Calls;
pub(crate) use call::CannotAsk;
pub(crate) use queue::{Drained, Queued, State, never_ends};
pub(crate) use script::Job;
use script::Surroundings;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Slurm's own default, for a script that is written where Slurm cannot be asked.
const DEFAULT_MOST_NUMBERS: u32 = 1001;
/// The search path of jobs, if the caller has none.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("Slurm refuses {}: {why}", script.display())]
    Refused { script: PathBuf, why: String },
    #[error("Slurm would let {} wait for ever: it needs {asked} min, and {partition} allows {most} min", script.display())]
    TooLong { script: PathBuf, partition: String, asked: u64, most: u64 },
}

/// A Slurm cluster, as seen from a host where its commands work.
#[derive(Debug)]
pub(crate) struct Slurm {
    settings: SlurmSettings,
    calls: Calls,
    /// Options that the caller's environment has for Slurm's commands.
    ignored: Vec<String>,
    most_numbers: Cell<Option<u32>>,
}

/// One call of sbatch: the job's name, the numbers of its tasks, and the script's argument.
struct Array {
    name: String,
    numbers: Option<String>,
    argument: Option<String>,
}

impl Slurm {
    /// The cluster that this process's environment leads to, with these settings for jobs.
    pub(crate) fn new(settings: &SlurmSettings) -> Self {
        Self::within(settings, std::env::vars_os())
    }

    fn within(settings: &SlurmSettings, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let variables: Vec<_> = variables.into_iter().collect();
        let options = variables.iter().map(|(name, _)| name).filter(|name| call::is_option(name));
        let ignored = options.map(|name| name.to_string_lossy().into_owned()).collect();
        Self { settings: settings.clone(), calls: Calls::with(variables), ignored, most_numbers: Cell::new(None) }
    }

    /// The names of variables that would be options for sbatch, and are not used: to be shown.
    pub(crate) fn ignored_variables(&self) -> Vec<&str> {
        self.ignored.iter().map(String::as_str).filter(|name| name.starts_with("SBATCH_")).collect()
    }

    /// The text of a job's script, which also works by hand. It asks for the largest array only if Slurm answers.
    pub(crate) fn script(&self, job: &Job) -> String {
        let text = |name: &str| self.calls.variable(name).and_then(OsStr::to_str).filter(|text| !text.is_empty());
        let path = text("PATH").unwrap_or(DEFAULT_PATH).to_owned();
        let home = text("HOME").unwrap_or("/").to_owned();
        let most = if job.array.is_some() { self.most_numbers().ok() } else { None };
        job.script(&self.settings, &Surroundings { path, home }, most.unwrap_or(DEFAULT_MOST_NUMBERS))
    }

    /// Submits a job's script, with the tasks that the job has, which may be fewer than those in the script. Returns Slurm's
    /// ids, for people. More tasks than an array can have are several arrays, one after the other.
    ///
    /// # Errors
    /// Slurm refuses it, or gives no answer; tasks may have been submitted: the queue has them.
    pub(crate) fn submit(&self, script: &Path, job: &Job) -> Result<Vec<String>, CommandError> {
        let mut ids: Vec<String> = vec![];
        for array in self.arrays(job)? {
            let mut after: Vec<String> = job.after.iter().map(|id| format!("afterok:{id}")).collect();
            // So the limit on tasks at a time holds for all arrays together.
            after.extend(ids.last().map(|id| format!("afterany:{id}")));
            let mut words = vec!["--parsable".to_owned()];
            if !after.is_empty() {
                words.extend([format!("--dependency={}", after.join(",")), "--kill-on-invalid-dep=yes".to_owned()]);
            }
            let out = self.sbatch(script, words, array)?;
            // On several clusters: `ID;CLUSTER`.
            ids.push(out.trim().split(';').next().unwrap_or_default().to_owned());
        }
        Ok(ids)
    }

    /// Tests a job's script without submitting it.
    ///
    /// # Errors
    /// Slurm refuses it, or would let it wait for ever because it needs more time than the partition allows.
    pub(crate) fn test_only(&self, script: &Path, job: &Job) -> Result<(), CommandError> {
        for array in self.arrays(job)? {
            self.sbatch(script, vec!["--test-only".to_owned()], array)?;
        }
        let Some(asked_s) = job.time_s.or(self.settings.time_s) else { return Ok(()) };
        let partitions = self.partitions()?;
        // One that has no limit, or a high one, is enough.
        let most = partitions.iter().max_by_key(|partition| partition.most_s.unwrap_or(u64::MAX));
        let Some(most) = most else { return Ok(()) };
        match most.most_s {
            Some(most_s) if script::minutes(asked_s) * 60 > most_s => {
                let (asked, partition) = (script::minutes(asked_s), format!("partition {}", most.name));
                let error = Error::TooLong { script: script.to_owned(), partition, asked, most: most_s / 60 };
                Err(CommandError::usage(error).hint("use a shorter `time`, or another `partition`, in machines.toml"))
            }
            _ => Ok(()),
        }
    }

    /// The jobs of this name that wait or run, a task of an array each.
    ///
    /// # Errors
    /// Slurm gives no answer; then nothing is known about the jobs.
    pub(crate) fn queue(&self, name: &str) -> Result<Vec<Queued>, CannotAsk> {
        // By user, because a further array has a longer name.
        let text = self.calls.ask("squeue", &["--me", "-h", "-r", "-o", queue::JOBS])?;
        Ok(queue::jobs(&text, name))
    }

    /// Cancels all jobs of this name; returns how many there were.
    ///
    /// # Errors
    /// Slurm gives no answer; then some of them may still be there.
    pub(crate) fn cancel(&self, name: &str) -> Result<usize, CannotAsk> {
        let found = self.queue(name)?;
        for name in found.iter().map(|one| &*one.name).collect::<BTreeSet<_>>() {
            self.calls.ask("scancel", &["-n", name])?;
        }
        Ok(found.len())
    }

    /// The nodes of the partition that get no more jobs.
    ///
    /// # Errors
    /// Slurm gives no answer.
    pub(crate) fn drained_nodes(&self) -> Result<Vec<Drained>, CannotAsk> {
        let mut words = vec!["-h", "-N", "-t", "drain", "-o", queue::NODES];
        words.extend(self.settings.partition.iter().flat_map(|name| ["-p", name.as_str()]));
        Ok(queue::drained(&self.calls.ask("sinfo", &words)?))
    }

    /// Numbers of an array's tasks are smaller than this: Slurm's MaxArraySize, which is asked for once.
    fn most_numbers(&self) -> Result<u32, CannotAsk> {
        if let Some(most) = self.most_numbers.get() {
            return Ok(most);
        }
        let text = self.calls.ask("scontrol", &["show", "config"])?;
        let value = |line: &str| {
            let (key, value) = line.split_once('=')?;
            if key.trim() == "MaxArraySize" { value.trim().parse().ok() } else { None }
        };
        let most = text.lines().find_map(value).unwrap_or(DEFAULT_MOST_NUMBERS);
        self.most_numbers.set(Some(most));
        Ok(most)
    }

    /// The partitions that the settings name, or else the default.
    fn partitions(&self) -> Result<Vec<queue::Partition>, CannotAsk> {
        let mut words = vec!["-h", "-o", queue::PARTITIONS];
        words.extend(self.settings.partition.iter().flat_map(|name| ["-p", name.as_str()]));
        let found = queue::partitions(&self.calls.ask("sinfo", &words)?);
        let is_meant = |one: &queue::Partition| self.settings.partition.is_some() || one.is_default;
        Ok(found.into_iter().filter(is_meant).collect())
    }

    /// The arrays of a job; a job without tasks is one as well.
    fn arrays(&self, job: &Job) -> Result<Vec<Array>, CannotAsk> {
        if job.array.is_none() {
            return Ok(vec![Array { name: job.name.clone(), numbers: None, argument: None }]);
        }
        let chunks = job.chunks(self.most_numbers()?);
        let array = |chunk: &script::Chunk| {
            let argument = (chunk.offset > 0).then(|| chunk.offset.to_string());
            Array { name: job.name_of(chunk), numbers: Some(job.array_of(chunk)), argument }
        };
        Ok(chunks.iter().map(array).collect())
    }

    fn sbatch(&self, script: &Path, mut words: Vec<String>, array: Array) -> Result<String, CommandError> {
        words.push(format!("--job-name={}", array.name));
        words.extend(array.numbers.map(|numbers| format!("--array={numbers}")));
        let words =
            words.iter().map(OsStr::new).chain([script.as_os_str()]).chain(array.argument.iter().map(OsStr::new));
        let words: Vec<&OsStr> = words.collect();
        let answer = self.calls.call("sbatch", &words)?;
        if answer.status.success() {
            return Ok(answer.out);
        }
        // sbatch fails in one way if Slurm refuses a job and if slurmctld is away; this tells them apart, without retries.
        if self.calls.ask("scontrol", &["ping"]).is_err() {
            return Err(CannotAsk::of("sbatch", &words, answer.err).into());
        }
        let error = Error::Refused { script: script.to_owned(), why: answer.err };
        Err(CommandError::usage(error).hint("change the section in machines.toml; `sinfo` lists partitions and nodes"))
    }
}

#[cfg(test)]
mod tests;
