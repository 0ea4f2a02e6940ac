//! A place that does not exist: trials whose durations follow a planted truth. It rehearses a plan without waiting
//! for it, and it lets tests ask whether the driver and the analysis find what was planted. It never touches the
//! host, and what it yields is marked as simulated wherever it is shown.

use crate::{Error, Execution, Executor, Task};
use bakeoff_model::metric::Measurements;
use bakeoff_model::problem::suggest;
use bakeoff_model::record::{Failure, Outcome, TWIN};
use bakeoff_model::shuffle::Stream;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is planted. All durations are in seconds; noise belongs to the time slot, the effect to the variant in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// Duration of the baseline, in seconds.
    pub base_s: f64,
    /// Duration of a variant as a ratio to the baseline's; 1 where none is given.
    pub effects: BTreeMap<String, f64>,
    /// Standard deviation of ln(duration).
    pub noise: f64,
    /// Change of ln(duration) from the first block to the last.
    pub drift: f64,
    /// Probability of a trial that fails.
    pub failing: f64,
    /// How long a trial really takes, in seconds.
    pub pause_s: f64,
    /// Seed of the noise.
    pub seed: u64,
}

impl Default for Truth {
    fn default() -> Self {
        let effects = BTreeMap::new();
        Self { base_s: 1.0, effects, noise: 0.01, drift: 0.0, failing: 0.0, pause_s: 0.0, seed: 1 }
    }
}

/// What is wrong with a planted truth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("in the planted truth, {what}")]
pub struct BadTruth {
    what: String,
}

impl Truth {
    /// Reads `NAME:NUMBER` with commas between: a setting (`base`, `noise`, `drift`, `failing`, `pause`, `seed`), or
    /// the display name of one of `variants` with its ratio to the baseline.
    pub fn parse<'a>(text: &str, variants: impl Iterator<Item = &'a str> + Clone) -> Result<Self, BadTruth> {
        const SETTINGS: [&str; 6] = ["base", "noise", "drift", "failing", "pause", "seed"];
        let mut truth = Self::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let bad = |what: String| BadTruth { what };
            let (name, number) = item
                .rsplit_once(':')
                .ok_or_else(|| bad(format!("`{item}` is not NAME:NUMBER, such as `noise:0.01`")))?;
            let number: f64 = number
                .trim()
                .parse()
                .ok()
                .filter(|n: &f64| *n >= 0.0)
                .ok_or_else(|| bad(format!("`{number}` in `{item}` is no number from 0 up")))?;
            let name = name.trim();
            let most = match name {
                "seed" => u32::MAX.into(),
                "failing" => 1.0,
                "noise" | "drift" => 10.0,
                _ => 3600.0,
            };
            if number > most {
                return Err(bad(format!("`{number}` in `{item}` is more than {most}")));
            }
            match name {
                "base" if number > 0.0 => truth.base_s = number,
                "noise" => truth.noise = number,
                "drift" => truth.drift = number,
                "failing" => truth.failing = number,
                "pause" => truth.pause_s = number,
                "seed" => truth.seed = number as u64,
                variant if number > 0.0 && variants.clone().any(|v| v == variant) => {
                    truth.effects.insert(variant.to_owned(), number);
                }
                _ if number == 0.0 => return Err(bad(format!("`{item}` must be above 0"))),
                other => {
                    let known = SETTINGS.into_iter().chain(variants.clone());
                    return Err(bad(format!(
                        "`{other}` is neither a setting nor a variant; {}",
                        suggest(other, known)
                    )));
                }
            }
        }
        Ok(truth)
    }
}

/// Executes trials by drawing their durations.
#[derive(Debug)]
pub struct Simulated {
    truth: Truth,
    blocks: u32,
}

impl Simulated {
    /// A place with that truth, for a study of that many blocks.
    pub fn new(truth: Truth, blocks: u32) -> Self {
        Self { truth, blocks }
    }

    /// ln(duration) of a time slot: the same for whatever executes in it, and the same in every session.
    fn slot(&self, task: Task<'_>, stream: &mut Stream) -> f64 {
        let slots = task.block.order.len() as f64 * f64::from(self.blocks);
        let slot = f64::from(task.block.block - 1) * task.block.order.len() as f64 + f64::from(task.position);
        self.truth.drift * slot / slots + self.truth.noise * stream.normal()
    }
}

impl Executor for Simulated {
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        let place =
            [&task.block.block.to_string(), &task.block.workload, &task.block.condition, &task.position.to_string()];
        let mut stream = Stream::of(self.truth.seed, &place.map(String::as_str));
        let effect = if task.variant == TWIN { None } else { self.truth.effects.get(task.variant) };
        let wall_s = self.truth.base_s * effect.copied().unwrap_or(1.0) * self.slot(task, &mut stream).exp();
        let fails = stream.chance(self.truth.failing);
        if self.truth.pause_s > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(self.truth.pause_s));
        }
        let failure = || Outcome::Failed(Failure::Exit { code: 1, stderr: vec!["simulated failure".to_owned()] });
        let measurements = Measurements::from([
            ("wall".to_owned(), wall_s),
            ("user".to_owned(), 0.9 * wall_s),
            ("sys".to_owned(), 0.05 * wall_s),
            ("maxrss".to_owned(), 4_194_304.0),
        ]);
        let outcome = if fails { failure() } else { Outcome::Ok };
        Ok(Some(Execution {
            started_unix_s: bakeoff_host::now_unix_s(),
            outcome,
            measurements,
            ..Execution::default()
        }))
    }
}
