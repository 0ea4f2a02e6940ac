//! Slurm, by `sbatch`, `squeue`, `scancel`, `sinfo` and `scontrol show config`. Jobs are known by our
//! name and a number, never by Slurm's ids, which are used again. Only a job's own files say that it is done.

mod call;
mod queue;
mod script;

use crate::machines::SlurmSettings;
use crate::site::{self, CannotAsk};
use bakeoff_command::CommandError;
use call::{Calls, no_answer};
use queue::Partition;
use script::Array;
pub(crate) use script::Job;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Slurm's own default, for a script that is written where Slurm cannot be asked.
const DEFAULT_MOST_NUMBERS: u32 = 1001;
/// The search path of jobs, if the caller has none.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A Slurm cluster, as seen from a host where its commands work.
#[derive(Debug)]
pub(crate) struct Slurm {
    pub(crate) settings: SlurmSettings,
    calls: Calls,
    /// Variables of the caller that would be options for sbatch, and are not used: to be shown.
    pub(crate) ignored: RefCell<Vec<String>>,
    most_numbers: OnceCell<u32>,
}

impl Slurm {
    /// The cluster that an environment leads to, with these settings for jobs.
    pub(crate) fn new(settings: SlurmSettings, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let variables: Vec<_> = variables.into_iter().collect();
        let names = variables.iter().map(|(name, _)| name.to_string_lossy().into_owned());
        let ignored = RefCell::new(names.filter(|name| name.starts_with("SBATCH_")).collect());
        Self { settings, calls: Calls::with(variables), ignored, most_numbers: OnceCell::new() }
    }

    /// The text of a job's script, which also works by hand. It asks for the largest array only if Slurm answers.
    pub(crate) fn script(&self, job: &Job) -> String {
        let text = |name: &str| self.calls.variable(name).and_then(OsStr::to_str).filter(|text| !text.is_empty());
        let (path, home) = (text("PATH").unwrap_or(DEFAULT_PATH), text("HOME").unwrap_or("/"));
        let login = format!("export PATH={} HOME={}\n", shell_words::quote(path), shell_words::quote(home));
        job.script(&self.settings, &login, self.most_numbers().unwrap_or(DEFAULT_MOST_NUMBERS))
    }

    /// Submits a job's script, with the tasks that the job has, which may be fewer than those in the script. Returns Slurm's
    /// ids, for people. More tasks than an array can have are several arrays, one after the other. If Slurm gives no answer, tasks
    /// may have been submitted: the queue has them.
    pub(crate) fn submit(&self, script: &Path, job: &Job) -> Result<Vec<String>, CommandError> {
        let mut ids: Vec<String> = vec![];
        for array in job.arrays(self.most_numbers()?) {
            let mut words = vec!["--parsable".to_owned()];
            // So the limit on tasks at a time holds for all arrays together.
            words.extend(ids.last().map(|id| format!("--dependency=afterany:{id}")));
            let out = self.sbatch(script, words, &array)?;
            // On several clusters: `ID;CLUSTER`.
            ids.push(out.trim().split(';').next().unwrap_or_default().to_owned());
        }
        Ok(ids)
    }

    /// Tests a job's script without submitting it. While no node takes jobs, Slurm would refuse each, and is not asked.
    /// More time than the partition allows is refused too: it would wait for ever.
    pub(crate) fn test_only(&self, script: &Path, job: &Job) -> Result<(), CommandError> {
        if matches!(self.nodes()?, [all, 0] if all > 0) {
            return Ok(());
        }
        for array in job.arrays(self.most_numbers()?) {
            self.sbatch(script, vec!["--test-only".to_owned()], &array)?;
        }
        let Some(asked) = self.settings.time_s.map(script::minutes) else { return Ok(()) };
        // A partition that has no limit, or a high one, is enough.
        let most = self.partitions()?.into_iter().max_by_key(|partition| partition.most_s);
        let Some(Partition { name, most_s, .. }) = most.filter(|most| asked * 60 > most.most_s) else { return Ok(()) };
        let error = format!(
            "Slurm would let {} wait for ever: it needs {asked} min, and partition {name} allows {} min",
            script.display(),
            most_s / 60
        );
        Err(CommandError::usage(error).hint("use a shorter `time`, or another `partition`, in machines.toml"))
    }

    /// The jobs of this name that wait or run, a task of an array each.
    pub(crate) fn queue(&self, name: &str) -> Result<Vec<site::Job>, CannotAsk> {
        // By user, because a further array has a longer name.
        let text = self.calls.ask("squeue", &["--me", "-h", "-r", "-o", queue::JOBS])?;
        Ok(queue::jobs(&text, name))
    }

    /// Cancels all jobs of this name. If Slurm gives no answer, some of them may still be there.
    pub(crate) fn cancel(&self, name: &str) -> Result<(), CannotAsk> {
        let text = self.calls.ask("squeue", &["--me", "-h", "-o", "%j"])?;
        let names: BTreeSet<&str> = text.lines().filter(|known| queue::offset(known, name).is_some()).collect();
        names.into_iter().try_for_each(|name| self.calls.ask("scancel", &["-n", name]).map(drop))
    }

    /// The nodes of the partition that get no more jobs, each with the reason.
    pub(crate) fn drained_nodes(&self) -> Result<BTreeSet<String>, CannotAsk> {
        Ok(queue::drained(&self.sinfo(&["-h", "-N", "-t", "drain", "-o", queue::NODES])?))
    }

    /// How many nodes the partition has, and how many of them take jobs.
    pub(crate) fn nodes(&self) -> Result<[usize; 2], CannotAsk> {
        Ok(queue::nodes(&self.sinfo(&["-h", "-N", "-o", queue::STATES])?))
    }

    /// Numbers of an array's tasks are smaller than this: Slurm's MaxArraySize, which is read once.
    fn most_numbers(&self) -> Result<u32, CannotAsk> {
        if let Some(most) = self.most_numbers.get() {
            return Ok(*most);
        }
        let text = self.calls.ask("scontrol", &["show", "config"])?;
        let value =
            text.lines().find_map(|line| line.strip_prefix("MaxArraySize")?.split_once('=')?.1.trim().parse().ok());
        Ok(*self.most_numbers.get_or_init(|| value.unwrap_or(DEFAULT_MOST_NUMBERS)))
    }

    /// The partitions that the settings name, or else the default.
    fn partitions(&self) -> Result<Vec<Partition>, CannotAsk> {
        let mut found = queue::partitions(&self.sinfo(&["-h", "-o", queue::PARTITIONS])?);
        found.retain(|one| self.settings.partition.is_some() || one.is_default);
        Ok(found)
    }

    /// What sinfo prints of the partition, or of all if the settings name none.
    fn sinfo(&self, words: &[&str]) -> Result<String, CannotAsk> {
        let partition = self.settings.partition.iter().flat_map(|name| ["-p", name.as_str()]);
        self.calls.ask("sinfo", &words.iter().copied().chain(partition).collect::<Vec<_>>())
    }

    fn sbatch(&self, script: &Path, mut words: Vec<String>, array: &Array) -> Result<String, CommandError> {
        words.push(format!("--job-name={}", array.name));
        words.extend(array.option());
        words.push(script.display().to_string());
        words.extend((array.offset > 0).then(|| array.offset.to_string()));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = self.calls.call("sbatch", &words)?;
        if said.is_success() {
            return Ok(said.text());
        }
        // sbatch fails in one way if Slurm refuses a job and if slurmctld is away; this tells them apart, without retries.
        if self.calls.ask("scontrol", &["ping"]).is_err() {
            return Err(no_answer("sbatch", &words, &said.err).into());
        }
        let error = format!("Slurm refuses {}: {}", script.display(), said.err);
        Err(CommandError::usage(error).hint("change the section in machines.toml; `sinfo` lists partitions and nodes"))
    }
}

#[cfg(test)]
mod tests;
