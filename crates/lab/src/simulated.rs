//! A place that does not exist: trials whose durations follow a planted truth, to rehearse a plan and to test driver
//! and analysis. It never touches the host, and what it yields is marked as simulated wherever it is shown.

use crate::{Error, Execution, Executor, Task};
use bakeoff_model::marks::{Latencies, Marks, OpLatencies, Phase};
use bakeoff_model::metric::{self, Measurements};
use bakeoff_model::plan::Plan;
use bakeoff_model::problem::suggest;
use bakeoff_model::record::{Failure, Outcome, is_baseline_again};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::OpSpec;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is planted. All durations are in seconds; noise belongs to the time slot, the effect to the variant in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// Duration of the baseline, in seconds.
    pub base_s: f64,
    /// Duration of a variant as a ratio to the baseline's; 1 where none is given.
    pub effects: BTreeMap<String, f64>,
    /// Duration under a condition as a ratio to that without it, the same for all variants; 1 where none is given.
    pub conditions: BTreeMap<String, f64>,
    /// Standard deviation of ln(duration).
    pub noise: f64,
    /// Change of ln(duration) from the first block to the last.
    pub drift: f64,
    /// Probability of a trial that fails.
    pub failing: f64,
    /// Probability of a trial that the first void rule of the plan applies to.
    pub void: f64,
    /// How long a trial really takes, in seconds.
    pub pause_s: f64,
    /// Seed of the noise.
    pub seed: u64,
}

impl Default for Truth {
    fn default() -> Self {
        Self {
            base_s: 1.0,
            effects: BTreeMap::new(),
            conditions: BTreeMap::new(),
            noise: 0.01,
            drift: 0.0,
            failing: 0.0,
            void: 0.0,
            pause_s: 0.0,
            seed: 1,
        }
    }
}

/// What can be planted besides the ratios of variants and conditions.
const SETTINGS: [&str; 7] = ["base", "noise", "drift", "failing", "void", "pause", "seed"];

/// Ops of a trial whose workload does not say how many there are.
const SIMULATED_OPS: u64 = 100;

/// What is wrong with a planted truth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("in --simulate, {what}")]
pub struct BadTruth {
    what: String,
}

impl Truth {
    /// Reads `NAME:NUMBER` with commas between: a setting (`base`, `noise`, `drift`, `failing`, `void`, `pause`,
    /// `seed`), the display name of one of the plan's variants with its ratio to the baseline, or the name of one of
    /// its conditions with its ratio to the idle machine.
    pub fn parse(text: &str, plan: &Plan) -> Result<Self, BadTruth> {
        let is_variant = |name: &str| plan.variants.iter().any(|variant| variant.name == name);
        let mut truth = Self::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let bad = |what: String| BadTruth { what };
            let (name, number) = item
                .rsplit_once(':')
                .ok_or_else(|| bad(format!("`{item}` must be NAME:NUMBER, such as `noise:0.01`")))?;
            let number: f64 = number
                .trim()
                .parse()
                .ok()
                .filter(|n: &f64| *n >= 0.0)
                .ok_or_else(|| bad(format!("`{number}` in `{item}` must be a non-negative number")))?;
            let name = name.trim();
            let most = match name {
                "seed" => u32::MAX.into(),
                "failing" | "void" => 1.0,
                "noise" | "drift" => 10.0,
                _ => 3600.0,
            };
            if number > most {
                return Err(bad(format!("`{number}` in `{item}` must be at most {most}")));
            }
            match name {
                "base" if number > 0.0 => truth.base_s = number,
                "noise" => truth.noise = number,
                "drift" => truth.drift = number,
                "failing" => truth.failing = number,
                "void" if number > 0.0 && plan.void_if.is_empty() => {
                    return Err(bad(format!("`{item}` needs a `void_if` rule in the plan")));
                }
                "void" => truth.void = number,
                "pause" => truth.pause_s = number,
                "seed" => truth.seed = number as u64,
                variant if number > 0.0 && is_variant(variant) => {
                    truth.effects.insert(variant.to_owned(), number);
                }
                condition if number > 0.0 && plan.conditions.iter().any(|known| known.name == condition) => {
                    truth.conditions.insert(condition.to_owned(), number);
                }
                _ if number == 0.0 => return Err(bad(format!("the number in `{item}` must be above 0"))),
                other => {
                    let conditions = plan.conditions.iter().map(|condition| condition.name.as_str());
                    let variants = plan.variants.iter().map(|variant| variant.name.as_str());
                    let remedy = suggest(other, SETTINGS.into_iter().chain(variants).chain(conditions));
                    return Err(bad(format!("`{other}` is not a setting, variant or condition; {remedy}")));
                }
            }
        }
        Ok(truth)
    }
}

/// Runs trials by drawing their durations.
#[derive(Debug)]
pub struct Simulated {
    truth: Truth,
    plan: Plan,
}

impl Simulated {
    /// A place with that truth, for the trials of that plan.
    pub fn new(truth: Truth, plan: &Plan) -> Self {
        Self { truth, plan: plan.clone() }
    }

    /// ln(duration) of a time slot: the same for whatever runs in it, and the same in every session.
    fn slot(&self, task: Task<'_>, stream: &mut Stream) -> f64 {
        let slots = task.block.order.len() as f64 * f64::from(self.plan.blocks);
        let slot = f64::from(task.block.block - 1) * task.block.order.len() as f64 + f64::from(task.position);
        self.truth.drift * slot / slots + self.truth.noise * stream.normal()
    }

    /// The numbers of a trial's slot. An attempt that is repeated draws again.
    fn stream(&self, task: Task<'_>) -> Stream {
        let mut place = vec![
            task.block.block.to_string(),
            task.block.workload.clone(),
            task.block.condition.clone(),
            task.position.to_string(),
        ];
        if task.attempt > 0 {
            place.push(task.attempt.to_string());
        }
        Stream::of(self.truth.seed, &place.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// What the workload marks, if it says so: phases of equal length, and ops that fill the trial, of latencies that
    /// follow the exponential distribution.
    fn marks(&self, task: Task<'_>, wall_s: f64) -> Marks {
        let Some(workload) = self.plan.workloads.iter().find(|workload| workload.name == task.block.workload) else {
            return Marks::default();
        };
        let names = &workload.phases;
        let each_s = wall_s / names.len().max(1) as f64;
        let phase = |(k, name): (u32, &String)| Phase {
            name: name.clone(),
            began_s: f64::from(k) * each_s,
            ended_s: f64::from(k + 1) * each_s,
        };
        let ops = workload.ops.as_ref().map(|spec| self.ops(task, spec, names, wall_s));
        Marks { phases: (0..).zip(names).map(phase).collect(), ops: ops.unwrap_or_default() }
    }

    /// Ops of every phase and name in turn.
    fn ops(&self, task: Task<'_>, spec: &OpSpec, phases: &[String], wall_s: f64) -> Vec<OpLatencies> {
        let count = spec.count.unwrap_or(SIMULATED_OPS).max(1);
        let phases: Vec<Option<String>> = or_none(phases);
        let names: Vec<Option<String>> = or_none(&spec.names);
        let kinds: Vec<_> = phases.iter().flat_map(|phase| names.iter().map(move |name| (phase, name))).collect();
        let place = [task.block.block.to_string(), task.position.to_string(), task.attempt.to_string()];
        let cell = [task.block.workload.as_str(), task.block.condition.as_str()];
        let place: Vec<&str> = ["ops"].into_iter().chain(cell).chain(place.iter().map(String::as_str)).collect();
        let mut stream = Stream::of(self.truth.seed, &place);
        let all = kinds.len() as u64;
        let of_kind = |(k, (phase, name)): (u64, &(&Option<String>, &Option<String>))| {
            let ops = count / all + u64::from(k < count % all);
            let latencies = Latencies::of((0..ops).map(|_| stream.exponential(wall_s / count as f64)))?;
            Some(OpLatencies { phase: (*phase).clone(), name: (*name).clone(), latencies })
        };
        (0..).zip(&kinds).filter_map(of_kind).collect()
    }
}

/// The names, or one thing without a name.
fn or_none(names: &[String]) -> Vec<Option<String>> {
    if names.is_empty() { vec![None] } else { names.iter().cloned().map(Some).collect() }
}

impl Executor for Simulated {
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        let mut stream = self.stream(task);
        let effect = if is_baseline_again(task.variant) { None } else { self.truth.effects.get(task.variant) };
        let of_condition = self.truth.conditions.get(&task.block.condition);
        let ratio = effect.copied().unwrap_or(1.0) * of_condition.copied().unwrap_or(1.0);
        let wall_s = self.truth.base_s * ratio * self.slot(task, &mut stream).exp();
        let fails = stream.chance(self.truth.failing);
        let void = stream.chance(self.truth.void);
        if self.truth.pause_s > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(self.truth.pause_s));
        }
        let failure = || Outcome::Failed(Failure::Exit { code: 1, stderr: vec!["simulated failure".to_owned()] });
        let mut measurements = Measurements::from([
            (metric::WALL.to_owned(), wall_s),
            (metric::USER.to_owned(), 0.9 * wall_s),
            (metric::SYS.to_owned(), 0.05 * wall_s),
            (metric::MAXRSS.to_owned(), 4_194_304.0),
        ]);
        if let Some(rule) = self.plan.void_if.first().filter(|_| void) {
            measurements.insert(rule.metric.clone(), 2.0 * rule.above + f64::MIN_POSITIVE);
        }
        let outcome = if fails { failure() } else { Outcome::Ok };
        Ok(Some(Execution {
            started_unix_s: bakeoff_host::now_unix_s(),
            outcome,
            measurements,
            marks: self.marks(task, wall_s),
            ..Execution::default()
        }))
    }
}
