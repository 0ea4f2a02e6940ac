//! What this host grants of the conditions that a plan asks for: each part is held, observed or unavailable. What is
//! unavailable is left out of the trials, so that they execute all the same; the journal says so.

use bakeoff_host::{Launcher, Limits};
use bakeoff_model::record::{Held, Surrounding, Unavailable};
use bakeoff_model::study::{Condition, LoadOf, LoadSpec};

/// What is granted of one condition.
#[derive(Debug, Clone)]
pub(super) struct Granted {
    /// The condition.
    pub(super) condition: String,
    /// What trials are confined to.
    pub(super) limits: Limits,
    /// What the load is confined to.
    pub(super) load: Limits,
    /// Whether caches are dropped.
    pub(super) drop_caches: bool,
    /// All parts, as they stand in the journal.
    pub(super) parts: Vec<Surrounding>,
}

impl Granted {
    /// Asks a launcher what it refuses of all parts together: some exclude each other.
    pub(super) fn of(condition: &Condition, launcher: &Launcher) -> Self {
        let mut granted = Self {
            condition: condition.name.clone(),
            limits: Limits::default(),
            load: Limits::default(),
            drop_caches: false,
            parts: vec![],
        };
        if let Some(load) = &condition.load {
            granted.hold(load_in_words(load));
            if let Some(cpus) = &load.cpus {
                let limits = Limits { cpus: Some(cpus.clone()), ..Limits::default() };
                let state = state("cpus", &launcher.refused(&limits));
                if state == Held::Held {
                    granted.load = limits;
                }
                granted.tell(format!("the load on {}", processors(cpus)), state);
            }
        }
        if condition.processes > 1 {
            granted.hold(format!("{} processes at once", condition.processes));
        }
        let all = parts(condition).into_iter().fold(Limits::default(), |all, (_, _, limits)| united(&all, limits));
        let refused = launcher.refused(&all);
        for (name, what, limits) in parts(condition) {
            let mut state = state(name, &refused);
            match &mut state {
                // The launcher has something else then, which is better than nothing.
                Held::Unavailable(why) if name == MEMORY => why.push_str("; each process's address space is limited"),
                Held::Unavailable(_) => {
                    granted.tell(what, state);
                    continue;
                }
                _ => {}
            }
            granted.limits = united(&granted.limits, limits);
            granted.tell(what, state);
        }
        for (name, value) in &condition.environment {
            granted.hold(format!("{name}={value}"));
        }
        if condition.drop_caches {
            let state = match bakeoff_host::disk::can_drop_caches() {
                Ok(()) => Held::Held,
                Err(error) => Held::Unavailable(format!("/proc/sys/vm/drop_caches: {error}")),
            };
            granted.drop_caches = state == Held::Held;
            granted.tell("the file systems' caches dropped before each trial".to_owned(), state);
        }
        granted
    }

    fn hold(&mut self, what: String) {
        self.tell(what, Held::Held);
    }

    fn tell(&mut self, what: String, state: Held) {
        self.parts.push(Surrounding { condition: self.condition.clone(), what, state });
    }

    /// The parts for the journal. A condition that asks for nothing is the idle machine: nobody can hold that.
    pub(super) fn told(&self, unavailable: &[Unavailable]) -> Vec<Surrounding> {
        if !self.parts.is_empty() {
            return self.parts.clone();
        }
        let metric = "foreign_cpu";
        let without = unavailable.iter().find(|group| group.metrics.iter().any(|name| name == metric));
        let state = match without {
            Some(group) => Held::Unavailable(group.why.clone()),
            None => Held::Observed(metric.to_owned()),
        };
        let what = "nothing else uses the processors".to_owned();
        vec![Surrounding { condition: self.condition.clone(), what, state }]
    }
}

/// The name of the memory limit among [`Limits`].
const MEMORY: &str = "memory_bytes";

/// Whether a part of that name is among what was refused.
fn state(name: &str, refused: &[(String, String)]) -> Held {
    match refused.iter().find(|(what, _)| what == name) {
        Some((_, why)) => Held::Unavailable(why.clone()),
        None => Held::Held,
    }
}

/// The limits of a condition, one by one, each with its name in [`Limits`] and in words.
fn parts(condition: &Condition) -> Vec<(&'static str, String, Limits)> {
    let none = Limits::default;
    let mut parts = vec![];
    if let Some(cpus) = &condition.cpus {
        parts.push(("cpus", format!("trials on {}", processors(cpus)), Limits { cpus: Some(cpus.clone()), ..none() }));
    }
    if let Some(priority) = condition.realtime {
        let what = format!("real-time priority {priority} (SCHED_FIFO)");
        parts.push(("realtime", what, Limits { realtime: Some(priority), ..none() }));
    }
    if let Some(aslr) = condition.aslr {
        let what = if aslr { "addresses randomised" } else { "addresses not randomised" };
        parts.push(("aslr", what.to_owned(), Limits { aslr: Some(aslr), ..none() }));
    }
    if let Some(bytes) = condition.memory_bytes {
        let what = format!("at most {} of memory", mebibytes(bytes));
        parts.push((MEMORY, what, Limits { memory_bytes: Some(bytes), ..none() }));
    }
    if let Some(cpu_limit) = condition.cpu_limit {
        let what = format!("at most {cpu_limit} of a processor's time");
        parts.push(("cpu_limit", what, Limits { cpu_limit: Some(cpu_limit), ..none() }));
    }
    parts
}

fn united(one: &Limits, other: Limits) -> Limits {
    Limits {
        cpus: other.cpus.or_else(|| one.cpus.clone()),
        realtime: other.realtime.or(one.realtime),
        aslr: other.aslr.or(one.aslr),
        memory_bytes: other.memory_bytes.or(one.memory_bytes),
        cpu_limit: other.cpu_limit.or(one.cpu_limit),
        timeout_s: other.timeout_s.or(one.timeout_s),
    }
}

fn load_in_words(load: &LoadSpec) -> String {
    let copies = if load.copies == 1 { "a copy".to_owned() } else { format!("{} copies", load.copies) };
    let of = match &load.of {
        LoadOf::Baseline => "the baseline".to_owned(),
        LoadOf::Itself => "the variant itself".to_owned(),
        LoadOf::Command(command) => format!("`{command}`"),
    };
    match load.pace_s {
        Some(pace_s) => format!("{copies} of {of} beside it, each started every {pace_s} s"),
        None => format!("{copies} of {of} beside it"),
    }
}

fn processors(cpus: &[u32]) -> String {
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    format!("processor{} {}", if cpus.len() == 1 { "" } else { "s" }, list.join(","))
}

fn mebibytes(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib >= 1.0 { format!("{mib:.0} MiB") } else { format!("{bytes} B") }
}
