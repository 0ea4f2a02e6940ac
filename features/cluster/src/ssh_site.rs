//! A run on machines that ssh reaches: shard K is run by machine K modulo their number, one at a time on each, by processes that
//! go on if the connection is cut. Each machine has a folder with the same files as here, and builds for itself.

mod bring;
mod far;
mod send;

use crate::machines::{Host, Machines};
use crate::order::Order;
use crate::run_folder::{self, BUILD, BUILDS, HOSTS, RunFolder, STUDY, unreadable, write, write_bytes};
use crate::site::{CannotAsk, Job, JobState, Site};
use bakeoff_command::CommandError;
use bakeoff_host::lock::{Lock, LockMode};
use bakeoff_model::plain::clean;
use bring::{Listed, bring, built};
use far::{Failure, Far, fatal};
use send::{Sent, send};
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Runs one shard over there.
const RUNNER: &str = include_str!("ssh_site/runner.sh");
/// What to do about a machine that does not answer.
const AWAY: &str = "if it stays away, use --on with a section without it";
/// Held by the command that brings files here: two that append to one file would spoil it.
const BRINGS: &str = "brings.lock";

/// Machines that ssh reaches.
pub(crate) struct SshSite {
    hosts: Vec<Host>,
    machines: Machines,
    id: String,
    /// The sockets of shared connections. Their names must be short, so the folder is not below the user's TMPDIR.
    control: Option<TempDir>,
}

impl SshSite {
    pub(crate) fn of(hosts: Vec<Host>, machines: Machines, id: &str) -> Self {
        let control = tempfile::Builder::new().prefix("bakeoff-ssh.").tempdir_in("/tmp").ok();
        Self { hosts, machines, id: id.to_owned(), control }
    }

    /// The machines of a run. They stay the same, whatever machines.toml says later: a shard belongs to one of them.
    fn hosts(&self, run: &RunFolder) -> Result<Vec<Host>, CommandError> {
        let known = run_folder::read(&run.dir.join(HOSTS))?;
        Ok(known.unwrap_or_else(|| self.hosts.iter().take(self.machines.nodes as usize).cloned().collect()))
    }

    fn far<'a>(&'a self, host: &'a Host) -> Far<'a> {
        Far::of(host, &self.machines.folder, &self.id, self.control.as_ref().map(TempDir::path))
    }

    /// Does something on all machines at the same time; none waits for another one. `work` gets a machine's number.
    fn on_each<T: Send>(&self, hosts: &[Host], work: impl Fn(usize, &Far<'_>) -> T + Sync) -> Vec<T> {
        let work = &work;
        std::thread::scope(|scope| {
            let start = |(number, host)| scope.spawn(move || work(number, &self.far(host)));
            let started: Vec<_> = hosts.iter().enumerate().map(start).collect();
            // A thread that panics has said why.
            started.into_iter().filter_map(|thread| thread.join().ok()).collect()
        })
    }
}

impl Drop for SshSite {
    fn drop(&mut self) {
        // Connections end by themselves after a while; this is tidier. The name of the host does not matter to a socket.
        let sockets =
            self.control.iter().flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
        for socket in sockets {
            let mut end = Command::new("ssh");
            end.arg("-o").arg(format!("ControlPath={}", socket.path().display())).args(["-O", "exit", "any"]);
            let _ = end.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

/// The shards of a machine that are not complete here.
fn shards_of(run: &RunFolder, order: &Order, number: usize, machines: usize) -> Vec<u32> {
    let is_open = |shard: &u32| !matches!(run.done(*shard), Ok(Some(_)));
    order.numbers().filter(|shard| *shard as usize % machines == number).filter(is_open).collect()
}

impl Site for SshSite {
    fn pause(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn scripts(&self, run: &RunFolder, order: &Order) -> Result<String, CommandError> {
        let (hosts, here) = (self.hosts(run)?, shell_words::quote(&run.shown()).into_owned());
        let there = format!("{}/runs/{}", self.machines.folder, self.id);
        let there = shell_words::quote(&there);
        let program = format!("{there}/{}", order.program);
        let mut out = String::new();
        for (number, host) in hosts.iter().enumerate() {
            let port = host.port.map(|port| format!("-p {port} ")).unwrap_or_default();
            let ssh = |line: &str| format!("ssh {port}{} {}", host.destination, shell_words::quote(line));
            let files = format!("{} order.json {STUDY}", order.program);
            let unpack = format!("mkdir -p {there} && tar -C {there} -xf -");
            let _ = writeln!(out, "# {host}\ntar -C {here} -cf - {files} | {}", ssh(&unpack));
            let builds = order.builds.then(|| "--build".to_owned());
            for what in builds.into_iter().chain(shards_of(run, order, number, hosts.len()).iter().map(u32::to_string))
            {
                let prelude = self.machines.prelude();
                let line = format!("{prelude}{program} shard {there} {what} --node {}", host.machine());
                let _ = writeln!(out, "{}", ssh(&line));
            }
            let _ = writeln!(out, "{} | tar -C {here} -xf -\n", ssh(&format!("tar -C {there} -cf - shards")));
        }
        let _ = writeln!(out, "# and then: bakeoff jobs STUDY --collect");
        Ok(out)
    }

    fn send(&self, run: &RunFolder, order: &Order) -> Result<(), CommandError> {
        let (hosts, program) = (self.hosts(run)?, Sent::of(run.dir.join(&order.program))?);
        self.on_each(&hosts, |_, far| send(far, run, &program)).into_iter().collect::<Result<(), _>>()?;
        let file = run.dir.join(HOSTS);
        if file.exists() { Ok(()) } else { write(&file, &hosts) }
    }

    /// A connection that is cut is no error: the next question shows what runs.
    fn submit(&self, run: &RunFolder, order: &Order, shards: Option<&[u32]>) -> Result<(), CommandError> {
        let (hosts, program) = (self.hosts(run)?, Sent::of(run.dir.join(&order.program))?);
        let runner = self.machines.prelude() + RUNNER;
        let started = self.on_each(&hosts, |number, far| {
            let is_of = |shard: &&u32| **shard as usize % hosts.len() == number;
            let names: Vec<String> = match shards {
                Some(shards) => shards.iter().filter(is_of).map(u32::to_string).collect(),
                None if built(run, number).exists() => vec![],
                None => vec![BUILD.to_owned()],
            };
            let fixed = vec![program.sha256.clone(), runner.clone(), far.host.machine()];
            match if names.is_empty() { Ok(vec![]) } else { far.ask("start", &[fixed, names].concat(), None) } {
                Err(failure @ Failure::Refused(_)) => Err(fatal(far, &failure)),
                _ => Ok(()),
            }
        });
        started.into_iter().collect()
    }

    fn jobs(&self, run: &RunFolder, order: &Order) -> Result<Vec<Job>, CannotAsk> {
        let hosts = self.hosts(run)?;
        let jobs = self.on_each(&hosts, |number, far| {
            let shards = shards_of(run, order, number, hosts.len());
            match Listed::of(far, &shards) {
                Ok(listed) => [listed.coming(run, number, &far.name()), listed.jobs].concat(),
                Err(failure) => unknown(run, far, &shards, failure.why()),
            }
        });
        Ok(jobs.into_iter().flatten().collect())
    }

    fn fetch(&self, run: &RunFolder, order: &Order) -> Result<(), CannotAsk> {
        let hosts = self.hosts(run)?;
        let lock = Lock::wait(&run.dir.join(BRINGS), LockMode::Exclusive, |_| ());
        let Some(_lock) = lock.map_err(CommandError::from)? else { return Ok(()) };
        let brought = self.on_each(&hosts, |number, far| {
            let brought = bring(far, run, number, &shards_of(run, order, number, hosts.len()));
            brought.map_err(|failure| CannotAsk(format!("{}: {}", far.name(), failure.why())))
        });
        // The builds are there once they are there on all machines.
        let (file, first) = (run.dir.join(BUILDS), built(run, 0));
        if !file.exists() && (0..hosts.len()).all(|number| built(run, number).exists()) {
            write_bytes(&file, &fs::read(&first).map_err(|error| unreadable(&first, &error))?)?;
        }
        // Those that are there must not wait for those that are not; `jobs` shows the others.
        if brought.iter().any(Result::is_ok) { Ok(()) } else { brought.into_iter().collect() }
    }

    fn cancel(&self, run: &RunFolder, order: &Order) -> Result<(), CommandError> {
        let hosts = self.hosts(run)?;
        let ended = self.on_each(&hosts, |number, far| {
            let shards = shards_of(run, order, number, hosts.len());
            let left = far.ask("cancel", &shards, None).map_err(|failure| fatal(far, &failure))?;
            match String::from_utf8_lossy(&left).lines().next() {
                None => Ok(()),
                Some(name) => Err(CommandError::usage(format!("{name} does not end on {}", far.name()))
                    .hint("it was asked to; a trial that cannot be killed keeps it, so look there")),
            }
        });
        ended.into_iter().collect()
    }
}

/// The jobs of a machine that gives no answer: its shards may run, so none of them is to be started again.
fn unknown(run: &RunFolder, far: &Far<'_>, shards: &[u32], why: &str) -> Vec<Job> {
    let of = |shard: Option<u32>| Job {
        shard,
        state: JobState::Waiting { reason: format!("{}: {}; {AWAY}", far.name(), clean(why)), remedy: None },
        node: Some(far.name()),
        since: String::new(),
    };
    let builds = matches!(run.builds(), Ok(None)).then_some(None);
    builds.into_iter().chain(shards.iter().copied().map(Some)).map(of).collect()
}
