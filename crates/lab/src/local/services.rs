//! Services: started before a trial or a block, ready when their check passes, watched, stopped in reverse order and
//! verified gone. Each has a launcher, which outlives it and kills what it leaves behind.

use super::command::{argv, is_plain};
use super::outcome::{in_words, last_lines, surroundings};
use super::stage::{Cell, Ports, Stage};
use super::tools::Tools;
use super::waiting::{Growing, Waiting};
use crate::IntrusiveProbe;
use crate::on_demand::Halt;
use bakeoff_host::{End, Job, JobEnded, Launcher};
use bakeoff_model::metric::{self, Measurements};
use bakeoff_model::study::{Per, Ready, Service};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// How often a service is started again because its port was taken meanwhile.
const MORE_PORTS: u32 = 2;
/// How long a connection to the loopback address may take.
const CONNECT: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Services {
    /// In the order in which they were started.
    running: Vec<Running>,
    /// Launchers that have nothing to run.
    idle: Vec<Launcher>,
}

#[derive(Debug)]
struct Running {
    service: Service,
    launcher: Launcher,
    port: u16,
    log: PathBuf,
    cpu_before_s: Option<f64>,
    /// Where the peaks of one that stays for a block begin.
    peaks: Option<u64>,
    /// Set if it has ended on its own.
    ended: Option<JobEnded>,
}

impl Services {
    /// Starts what a cell's workload needs and is not there yet, in the workload's order, watched by the probe if there
    /// is one; the ports of all of it.
    pub(super) fn start(
        &mut self,
        stage: &Stage,
        tools: &mut Tools,
        cell: Cell<'_>,
        mut probe: Option<&mut dyn IntrusiveProbe>,
    ) -> Result<Ports, Halt> {
        let wanted = cell.workload.services.iter();
        let wanted: Vec<&Service> =
            wanted.filter_map(|name| stage.plan.services.iter().find(|service| service.name == *name)).collect();
        let mut ports = Ports::new();
        for service in &wanted {
            let known = self.running.iter().find(|running| running.service.name == service.name);
            let port = known.map_or_else(|| free_port(service), |running| Ok(running.port))?;
            ports.insert(service.name.clone(), port);
        }
        for service in wanted {
            if let Some(running) = self.running.iter_mut().find(|running| running.service.name == service.name) {
                if running.take_end()? {
                    return Err(running.because("it ended between two trials".to_owned()));
                }
                continue;
            }
            let probe = probe.as_mut().map(|probe| &mut **probe as &mut dyn IntrusiveProbe);
            self.start_one(stage, tools, cell, service, &mut ports, probe)?;
        }
        Ok(ports)
    }

    fn start_one(
        &mut self,
        stage: &Stage,
        tools: &mut Tools,
        cell: Cell<'_>,
        service: &Service,
        ports: &mut Ports,
        mut probe: Option<&mut dyn IntrusiveProbe>,
    ) -> Result<(), Halt> {
        // One that stays for a block cannot be each variant's own.
        let cell = if service.per == Per::Block { Cell { variant: stage.plan.baseline(), ..cell } } else { cell };
        let log = stage.setup.scratch.join(format!("{}.log", folder(service)));
        for others in 0.. {
            let home = stage.fresh_home(&folder(service))?;
            let given = cell.variant.run_variables.iter().filter_map(|(name, value)| {
                Some((name.strip_prefix(&service.name)?.strip_prefix('.')?.to_owned(), value.clone()))
            });
            let with_own = |env: BTreeMap<String, String>| env.into_iter().chain(given.clone()).collect();
            let env: BTreeMap<_, _> = with_own(stage.setup.environment_of(cell, ports, home.as_deref()));
            let mut command = stage.helper(argv(&service.run, !is_plain(&service.run)), env, &log);
            let mut own = service.clone();
            if let Some(probe) = probe.as_deref_mut() {
                probe.take_over(&mut command, Some(&service.name))?;
                own.ready_within_s *= probe.times_slower();
                own.stop_within_s *= probe.times_slower();
            }
            let mut launcher = self.idle.pop().map_or_else(|| stage.launcher(), Ok)?;
            launcher.launch(&Job { commands: vec![command.into()], ..Job::default() })?;
            let port = ports.get(&service.name).copied().unwrap_or_default();
            // From here on it is stopped, whatever comes.
            self.running.push(Running {
                service: own,
                launcher,
                port,
                log: log.clone(),
                cpu_before_s: None,
                peaks: None,
                ended: None,
            });
            let env = with_own(stage.setup.environment_of(cell, ports, None));
            let Some(running) = self.running.last_mut() else { return Ok(()) };
            match running.become_ready(stage, tools, env) {
                Err(Halt::Failed(_)) if running.ended.is_some() && others < MORE_PORTS && running.port_was_taken() => {
                    self.stop_last(stage, &mut Measurements::new())?;
                    ports.insert(service.name.clone(), free_port(service)?);
                }
                ready => return ready,
            }
        }
        Ok(())
    }

    /// The trial is about to be launched.
    pub(super) fn trial_begins(&mut self) {
        for running in &mut self.running {
            running.peaks =
                Some(&running.launcher).filter(|_| running.service.per == Per::Block).and_then(Launcher::peaks_begin);
            running.cpu_before_s = running.launcher.cpu_so_far_s();
        }
    }

    /// The trial has just ended: the processor time of each service meanwhile, as `NAME.cpu`, and the peak memory of
    /// those of its processes that are alive, as `NAME.maxrss`; the sum of the times, in seconds.
    pub(super) fn trial_ended(&mut self, into: &mut Measurements) -> f64 {
        let mut sum_s = 0.0;
        for running in &self.running {
            if let (Some(before_s), Some(after_s)) = (running.cpu_before_s, running.launcher.cpu_so_far_s()) {
                let cpu_s = (after_s - before_s).max(0.0);
                sum_s += cpu_s;
                into.insert(format!("{}.cpu", running.service.name), cpu_s);
            }
            let can_tell = running.service.per == Per::Trial || running.peaks.is_some();
            if let Some(peak) = running.launcher.peak_bytes(running.peaks).filter(|_| can_tell) {
                into.insert(format!("{}.maxrss", running.service.name), peak);
            }
        }
        sum_s
    }

    /// Fails if one of them has ended.
    pub(super) fn expect_all_alive(&mut self) -> Result<(), Halt> {
        for running in &mut self.running {
            if running.take_end()? {
                let how = running.ended.as_ref().and_then(|ended| ended.processes.first());
                let how = how.map_or_else(String::new, |process| format!(": {}", in_words(&process.end)));
                return Err(running.because(format!("it ended during the trial{how}")));
            }
        }
        Ok(())
    }

    /// Stops those that are for one trial only, the last one first, and measures them over their whole lives:
    /// `NAME.user`,
    /// `NAME.sys`, `NAME.maxrss` and `NAME.peak`.
    pub(super) fn trial_is_over(&mut self, stage: &Stage, into: &mut Measurements) -> Result<(), Halt> {
        let kept = |running: &Running| running.service.per == Per::Block && running.ended.is_none();
        // The order of stopping is that of all of them; those that stay are put back.
        let mut staying = vec![];
        let mut verdict = Ok(());
        while let Some(last) = self.running.last() {
            if kept(last) {
                staying.extend(self.running.pop());
            } else {
                let stopped = self.stop_last(stage, into);
                verdict = verdict.and(stopped);
            }
        }
        self.running.extend(staying.into_iter().rev());
        verdict
    }

    /// Stops all of them, the last one first.
    pub(super) fn stop_all(&mut self, stage: &Stage) -> Result<(), Halt> {
        let mut verdict = Ok(());
        while !self.running.is_empty() {
            let stopped = self.stop_last(stage, &mut Measurements::new());
            verdict = verdict.and(stopped);
        }
        verdict
    }

    fn stop_last(&mut self, stage: &Stage, into: &mut Measurements) -> Result<(), Halt> {
        let Some(mut running) = self.running.pop() else { return Ok(()) };
        let ended = match running.ended.take() {
            Some(ended) => ended,
            None => running.launcher.stop(running.service.stop_signal, running.service.stop_within_s)?,
        };
        let name = &running.service.name;
        let mut measured = ended.measurements;
        // A process that it started and did not wait for is not in its own peak.
        if let Some(seen) = into.get(format!("{name}.maxrss").as_str()).copied() {
            measured.insert(metric::MAXRSS, measured.get(metric::MAXRSS).map_or(seen, |own| own.max(seen)));
        }
        for metric in [metric::USER, metric::SYS, metric::MAXRSS, "peak"] {
            if let Some(value) = metric::value(metric, &measured) {
                into.insert(format!("{name}.{metric}"), value);
            }
        }
        stage.wipe_home(&folder(&running.service))?;
        // All its processes were killed; the one that listens now is no child of ours.
        if matches!(running.service.ready, Ready::Tcp(_)) && accepts(running.port) {
            let why = format!("port {} is still in use after the service was stopped", running.port);
            return Err(running.because(why));
        }
        self.idle.push(running.launcher);
        Ok(())
    }
}

impl Running {
    /// Waits until the check passes.
    fn become_ready(&mut self, stage: &Stage, tools: &mut Tools, env: BTreeMap<String, String>) -> Result<(), Halt> {
        let within_s = self.service.ready_within_s;
        let mut waiting = Waiting::of(within_s);
        let port = match &self.service.ready {
            Ready::Tcp(text) => Some(port_of(text, &env).map_err(|why| self.because(why))?),
            _ => None,
        };
        let mut log = Growing::of(&self.log);
        // Another's answer at the same port is none of it: it must be alive after its check as well.
        let mut last_words = String::new();
        loop {
            let passed = match &self.service.ready {
                Ready::Started => true,
                Ready::Tcp(_) => port.is_some_and(accepts),
                Ready::Log(text) => log.shows(text),
                Ready::Command(command) => {
                    let log = stage.setup.scratch.join("ready.log");
                    let command = stage.helper(argv(command, true), env.clone(), &log);
                    let end = tools.execute(stage, &command, waiting.left_s().max(0.01))?;
                    last_words = last_lines(&log).pop().map_or_else(|| in_words(&end), |line| format!("`{line}`"));
                    end == End::Exited(0)
                }
            };
            if self.take_end()? {
                let how = self.ended.as_ref().and_then(|ended| ended.processes.first());
                let how = how.map_or_else(String::new, |process| format!(": {}", in_words(&process.end)));
                return Err(self.because(format!("it ended before it was ready{how}")));
            }
            if passed {
                return Ok(());
            }
            if !waiting.pause()? {
                return Err(
                    self.because(format!("it was not ready within {within_s} s: {}", self.missing(&last_words)))
                );
            }
        }
    }

    /// What the check still waits for.
    fn missing(&self, last_words: &str) -> String {
        match &self.service.ready {
            Ready::Started => "it was not started".to_owned(),
            Ready::Tcp(text) => format!("nothing listens on port {text} ({})", self.port),
            Ready::Log(text) => format!("no line of its output contains `{text}`"),
            Ready::Command(command) => format!("`{command}`: {last_words}"),
        }
    }

    /// Takes note of it if it has ended by itself, and says so.
    fn take_end(&mut self) -> Result<bool, Halt> {
        if self.ended.is_none() {
            self.ended = self.launcher.ended()?;
        }
        Ok(self.ended.is_some())
    }

    /// Whether it says so: the words of EADDRINUSE, as strerror(3) and others put it.
    fn port_was_taken(&self) -> bool {
        let text = last_lines(&self.log).join("\n").to_ascii_lowercase();
        text.contains("in use") || text.contains("eaddrinuse")
    }

    fn because(&self, why: String) -> Halt {
        surroundings(&format!("service {}", self.service.name), why, &self.log)
    }
}

/// The name of a service's files and folder.
fn folder(service: &Service) -> String {
    format!("service-{}", service.name)
}

/// A port that nobody has now. Another may take it before the service does; then the service says so and gets another.
fn free_port(service: &Service) -> Result<u16, Halt> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    bound.map(|address| address.port()).map_err(|error| {
        let why = format!("no free port: {error}");
        surroundings(&format!("service {}", service.name), why, std::path::Path::new(""))
    })
}

/// Whether someone listens at this port of the loopback address.
fn accepts(port: u16) -> bool {
    TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), CONNECT).is_ok()
}

/// The port that a check names: a number, or a variable that holds one.
fn port_of(text: &str, env: &BTreeMap<String, String>) -> Result<u16, String> {
    let word = text.trim();
    let variable = word.strip_prefix('$').map(|name| name.trim_start_matches('{').trim_end_matches('}'));
    let number = match variable {
        Some(name) => env.get(name).ok_or_else(|| format!("its check uses the undefined variable `{word}`"))?,
        None => word,
    };
    number.parse().map_err(|_| format!("`{word}` in its check is not a port"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_a_number_or_a_variable_that_holds_one() {
        let env = BTreeMap::from([("PORT_cache".to_owned(), "4242".to_owned())]);
        let check = |text: &str, expect: Result<u16, &str>| match (port_of(text, &env), expect) {
            (Ok(port), Ok(expect)) => assert_eq!(port, expect, "{text}"),
            (Err(why), Err(expect)) => assert!(why.contains(expect), "{text}: {why}"),
            (got, expect) => panic!("{text}: {got:?}, not {expect:?}"),
        };
        check("$PORT_cache", Ok(4242));
        check(" ${PORT_cache} ", Ok(4242));
        check("8080", Ok(8080));
        check("$PORT_cash", Err("undefined variable"));
        check("http", Err("not a port"));
        check("70000", Err("not a port"));
    }
}
