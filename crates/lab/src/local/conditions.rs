//! What this host grants of the conditions that a plan asks for: each part is held, observed or unavailable. What is
//! unavailable is left out of the trials, so that they run all the same; the journal says so.

use bakeoff_host::{Launcher, Limits};
use bakeoff_model::record::{Held, Surrounding, Unavailable};
use bakeoff_model::study::{Condition, Part};

#[derive(Debug, Clone, Default)]
pub(super) struct Granted {
    pub(super) condition: String,
    pub(super) limits: Limits,
    pub(super) load: Limits,
    pub(super) drop_caches: bool,
    /// All parts, as they stand in the journal.
    pub(super) parts: Vec<Surrounding>,
}

impl Granted {
    /// Asks a launcher what it refuses of all parts together: some exclude each other.
    pub(super) fn of(condition: &Condition, launcher: &Launcher) -> Self {
        let mut granted = Self { condition: condition.name.clone(), ..Self::default() };
        let wanted = limits(condition);
        let refused = launcher.refused(&wanted);
        for (part, what) in condition.parts() {
            let state = match part {
                Part::Load | Part::Processes | Part::Environment => Held::Held,
                Part::LoadCpus => granted.cpus_of_load(condition, launcher),
                Part::DropCaches => granted.dropped_caches(),
                Part::Cpus => granted.limit("cpus", &refused, |limits| limits.cpus.clone_from(&wanted.cpus)),
                Part::Realtime => granted.limit("realtime", &refused, |limits| limits.realtime = wanted.realtime),
                Part::Aslr => granted.limit("aslr", &refused, |limits| limits.aslr = wanted.aslr),
                Part::Memory => granted.memory(&refused, wanted.memory_bytes),
                Part::CpuLimit => granted.limit("cpu_limit", &refused, |limits| limits.cpu_limit = wanted.cpu_limit),
            };
            granted.parts.push(Surrounding { condition: condition.name.clone(), what, state });
        }
        granted
    }

    /// Sets a limit of trials, by its name in [`Limits`], unless it is refused.
    fn limit(&mut self, name: &str, refused: &[(String, String)], set: impl FnOnce(&mut Limits)) -> Held {
        let state = state(name, refused);
        if state == Held::Held {
            set(&mut self.limits);
        }
        state
    }

    /// Where it is refused the launcher has something else, which is better than nothing.
    fn memory(&mut self, refused: &[(String, String)], bytes: Option<u64>) -> Held {
        self.limits.memory_bytes = bytes;
        match state("memory_bytes", refused) {
            Held::Unavailable(why) => Held::Unavailable(why + "; each process's address space is limited instead"),
            state => state,
        }
    }

    fn cpus_of_load(&mut self, condition: &Condition, launcher: &Launcher) -> Held {
        let cpus = condition.load.as_ref().and_then(|load| load.cpus.clone());
        let limits = Limits { cpus, ..Limits::default() };
        let state = state("cpus", &launcher.refused(&limits));
        if state == Held::Held {
            self.load = limits;
        }
        state
    }

    fn dropped_caches(&mut self) -> Held {
        match bakeoff_host::disk::can_drop_caches() {
            Ok(()) => {
                self.drop_caches = true;
                Held::Held
            }
            Err(error) => Held::Unavailable(format!("/proc/sys/vm/drop_caches: {error}")),
        }
    }

    /// The parts for the journal. Nobody can hold an idle machine, so the words say what is looked at, and claim nothing.
    pub(super) fn surroundings(&self, unavailable: &[Unavailable]) -> Vec<Surrounding> {
        if !self.parts.is_empty() {
            return self.parts.clone();
        }
        let metric = "foreign_cpu";
        let without = unavailable.iter().find(|group| group.metrics.iter().any(|name| name == metric));
        let state = match without {
            Some(group) => Held::Unavailable(group.why.clone()),
            None => Held::Observed(metric.to_owned()),
        };
        let what = "processor time of other programs".to_owned();
        vec![Surrounding { condition: self.condition.clone(), what, state }]
    }
}

/// Whether a part of that name is among what was refused.
fn state(name: &str, refused: &[(String, String)]) -> Held {
    match refused.iter().find(|(what, _)| what == name) {
        Some((_, why)) => Held::Unavailable(why.clone()),
        None => Held::Held,
    }
}

/// All limits that a condition asks for: some exclude each other, so they are asked for together.
fn limits(condition: &Condition) -> Limits {
    Limits {
        cpus: condition.cpus.clone(),
        realtime: condition.realtime,
        aslr: condition.aslr,
        memory_bytes: condition.memory_bytes,
        cpu_limit: condition.cpu_limit,
        timeout_s: None,
    }
}
