//! The goals of searching, measured on simulated truths: how often the answer is wrong, and what it costs in trials, builds
//! and seconds. A goal is held to the median over the nine worlds; the worst world is always shown. It judges no real study.
//!
//! Run r of a world has the stream of chance of the seed, the world and r, whatever the method: all methods meet the same
//! truths. The same options give the same table, on however many threads.

#![allow(missing_docs, reason = "the names of fields and variants say what they are; where not, a comment does")]

mod bisections;
mod promise;
mod races;
mod spaces;
mod table;

pub use promise::{Measure, Row};
pub(crate) use promise::{Options, PARTS, Part};
pub(crate) use table::page;

use bakeoff_model::shuffle::Stream;
use bakeoff_searching::worlds::{WORLDS, World};
use bakeoff_stats::describe::{mean, median, sd};
use bakeoff_stats::proportion::binomial_interval;
use bakeoff_stats::student::t_quantile;
use promise::{Promise, Sample, Task};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Confidence of the intervals that are shown, and of those that decide in the short form.
const SHOWN_ALPHA: f64 = 0.05;
const SHORT_ALPHA: f64 = 0.001;

/// Groups of runs that tell how well a median is known.
const BATCHES: usize = 10;

/// All that was found of searches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Searches {
    /// The format of this object.
    pub format: u32,
    /// Searches in each world, where a row does not say otherwise.
    pub searches: u32,
    pub seed: u64,
    /// Whether a goal counts as reached unless the interval of the measured number, at 99.9 % confidence, excludes it.
    pub short: bool,
    pub rows: Vec<Row>,
}

impl Searches {
    /// Whether every goal is reached.
    pub fn hold(&self) -> bool {
        self.rows.iter().all(|row| row.holds)
    }
}

/// Simulates and measures these parts, on the threads of the present rayon pool. `watch` learns which part of all is done, and
/// says whether to go on; none if it said no.
pub(crate) fn measure(parts: &[Part], options: Options, watch: &(dyn Fn(f64) -> bool + Sync)) -> Option<Searches> {
    let tasks = [races::tasks(), spaces::tasks(), bisections::tasks()].into_iter().flatten();
    let tasks: Vec<Task> = tasks.filter(|task| parts.contains(&task.part)).collect();
    let (mut rows, mut done) = (vec![], 0.0);
    for task in &tasks {
        let next = done + 1.0 / tasks.len() as f64;
        rows.extend(rows_of(task, options, &|part| watch(done + part * (next - done)))?);
        done = next;
    }
    let Options { runs, seed, short } = options;
    Some(Searches { format: 1, searches: runs, seed, short, rows })
}

fn rows_of(task: &Task, options: Options, watch: &(dyn Fn(f64) -> bool + Sync)) -> Option<Vec<Row>> {
    let runs = (options.runs / task.one_in).max(1);
    let all = WORLDS.len() * runs as usize;
    let finished = AtomicUsize::new(0);
    let one = |number: usize| {
        let (world, run) = (WORLDS[number / runs as usize], number % runs as usize);
        let sample = (task.search)(world, Stream::of(options.seed, &["search", world.name(), &run.to_string()]));
        let part = (1 + finished.fetch_add(1, Ordering::Relaxed)) as f64 / all as f64;
        watch(part).then_some(sample)
    };
    let samples: Vec<Sample> = (0..all).into_par_iter().map(one).collect::<Option<Vec<Sample>>>()?;
    let worlds: Vec<&[Sample]> = samples.chunks(runs as usize).collect();
    let row = |promise: &Promise| {
        let Promise { measure, most } = *promise;
        let measured = overall(measure, &worlds);
        let decisive = if options.short { interval(measure, &worlds, SHORT_ALPHA) } else { None };
        let [low, _] = decisive.unwrap_or([measured; 2]);
        let each = worlds.iter().map(|samples| measure.of(samples));
        // Of parts that should be large, the smallest is the worst.
        let sign = if matches!(measure, Measure::Named | Measure::Within) { -1.0 } else { 1.0 };
        let worst = each.zip(WORLDS).max_by(|(one, _), (other, _)| (sign * one).total_cmp(&(sign * other)));
        let (worst_measured, worst) = worst.unwrap_or((f64::NAN, World::Normal));
        Row {
            design: task.design.clone(),
            measure,
            most,
            runs,
            measured,
            interval: interval(measure, &worlds, SHOWN_ALPHA),
            worst: worst.name().to_owned(),
            worst_measured,
            holds: most.is_none_or(|most| low <= most),
        }
    };
    Some(task.promises.iter().map(row).collect())
}

/// Over the worlds: of a rate the mean, else the median.
fn overall(measure: Measure, worlds: &[&[Sample]]) -> f64 {
    let each: Vec<f64> = worlds.iter().map(|samples| measure.of(samples)).collect();
    if measure.is_rate() { mean(&each) } else { median(&each).unwrap_or(f64::NAN) }
}

fn interval(measure: Measure, worlds: &[&[Sample]], alpha: f64) -> Option<[f64; 2]> {
    if measure.is_rate() {
        let n: usize = worlds.iter().map(|samples| samples.len()).sum();
        let hits = (overall(measure, worlds) * n as f64).round();
        return binomial_interval(hits as u32, n as u32, alpha);
    }
    let size = worlds.first()?.len() / BATCHES;
    if size == 0 {
        return None;
    }
    let batch = |number: usize| {
        let of_worlds: Vec<&[Sample]> =
            worlds.iter().map(|samples| &samples[number * size..(number + 1) * size]).collect();
        overall(measure, &of_worlds)
    };
    let batches: Vec<f64> = (0..BATCHES).map(batch).collect();
    let half = t_quantile(1.0 - alpha / 2.0, BATCHES as f64 - 1.0)? * sd(&batches)? / (BATCHES as f64).sqrt();
    let centre = overall(measure, worlds);
    Some([centre - half, centre + half])
}
