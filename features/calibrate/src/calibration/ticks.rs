//! Studies whose clock ticks: times are cut off at a multiple of 4 or 10 ms, near the tick or far above it. They go through
//! the whole analysis, as records, or as numbers measured elsewhere, which are never refused. What it prints must hold; where it
//! refuses to print, that is counted apart.

use super::levels::{ALPHA, MARGIN};
use super::simulate::{Sample, flag};
use super::stopping::of_seconds;
use super::whole::{Design, differs, record};
use super::worlds::World;

use bakeoff_judge::findings::{Comparison, Verdict};
use bakeoff_judge::judge;
use bakeoff_judge::samples::{Terms, judge_samples};
use bakeoff_model::metric;
use bakeoff_model::record::Record;
use bakeoff_model::shuffle::Stream;

/// A clock, and how long the baseline takes by it, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    tick: f64,
    baseline: f64,
}

pub(super) const NEAR_4_MS: Clock = Clock { tick: 0.004, baseline: 0.062 };
pub(super) const NEAR_10_MS: Clock = Clock { tick: 0.010, baseline: 0.105 };
pub(super) const FAR_4_MS: Clock = Clock { tick: 0.004, baseline: 0.535 };
pub(super) const FAR_10_MS: Clock = Clock { tick: 0.010, baseline: 1.523 };

/// Three studies by this clock, as records.
pub(super) fn studies(clock: Clock, world: World, stream: &mut Stream) -> Sample {
    three(&mut |blocks, effect| compare(&pair(clock, world, blocks, effect, stream)))
}

/// The same, as numbers measured elsewhere.
pub(super) fn numbers(clock: Clock, world: World, stream: &mut Stream) -> Sample {
    three(&mut |blocks, effect| compare_numbers(&pair(clock, world, blocks, effect, stream)))
}

/// Seven variants that are the same, in three blocks: [any is called different].
pub(super) fn seven_in_three_blocks(world: World, stream: &mut Stream) -> Sample {
    const NAMES: [&str; 7] = ["baseline", "second", "third", "fourth", "fifth", "sixth", "seventh"];
    let design = Design { blocks: 3, variants: &NAMES.map(|name| (name, 0.0)), alpha: ALPHA };
    let findings = judge(&record(world, design, &|log| FAR_10_MS.cut(log), stream));
    [flag(findings.tables.iter().flat_map(|table| &table.rows).any(|row| differs(&row.comparison))), 0.0, 0.0, 0.0]
}

/// Three studies, each of the given blocks and effect: [two that are the same are called different, a ratio of 1.02 is outside
/// the interval, a difference as large as the margin is called equivalent]; not a number where nothing was printed.
fn three(compare: &mut dyn FnMut(u32, f64) -> Option<Comparison>) -> Sample {
    let mut said = |blocks: u32, effect: f64, is_wrong: &dyn Fn(&Comparison) -> bool| {
        let printed = compare(blocks, effect).filter(|comparison| comparison.interval().is_some());
        printed.map_or(f64::NAN, |comparison| flag(is_wrong(&comparison)))
    };
    let differs = said(10, 0.0, &Comparison::differs);
    let misses = said(10, 1.02f64.ln(), &|comparison| {
        comparison.interval().is_none_or(|[low, high]| !(low..=high).contains(&1.02))
    });
    let equivalent =
        said(20, 1.01f64.ln(), &|comparison| matches!(comparison.verdict, Verdict::Equivalent | Verdict::Negligible));
    [differs, misses, equivalent, 0.0]
}

impl Clock {
    /// The time of a logarithm, as this clock gives it.
    fn cut(self, log: f64) -> f64 {
        ((self.baseline * log.exp()) / self.tick).floor() * self.tick
    }
}

/// The record of a study of two variants.
fn pair(clock: Clock, world: World, blocks: u32, effect: f64, stream: &mut Stream) -> Record {
    let design = Design { blocks, variants: &[("baseline", 0.0), ("second", effect)], alpha: ALPHA };
    record(world, design, &|log| clock.cut(log), stream)
}

fn compare(record: &Record) -> Option<Comparison> {
    let findings = judge(record);
    findings.tables.into_iter().next()?.rows.into_iter().nth(1)?.comparison
}

fn compare_numbers(record: &Record) -> Option<Comparison> {
    let sample = |name: &str| {
        let of = record.trials.iter().filter(|trial| trial.variant == name);
        let values = of.filter_map(|trial| trial.value(metric::WALL)).collect();
        bakeoff_readers::Sample { col: name.to_owned(), ..of_seconds(values) }
    };
    let terms = Terms { confidence: 1.0 - ALPHA, margin: MARGIN, paired: true, baseline: None };
    let mut findings = judge_samples(vec![sample("baseline"), sample("second")], &terms).ok()?;
    findings.tables.pop()?.samples.pop()?.comparison
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_the_tick_nothing_is_said_and_far_above_it_something() {
        let mut stream = Stream::of(1, &[]);
        assert!(studies(NEAR_10_MS, World::Normal, &mut stream)[..3].iter().all(|said| said.is_nan()));
        // Numbers are refused only where none of them varies.
        let said = (0..20).map(|_| numbers(NEAR_10_MS, World::Mixed, &mut stream)[1]);
        assert!(said.filter(|said| !said.is_nan()).count() > 10);
        assert!(studies(FAR_10_MS, World::Normal, &mut stream)[..3].iter().all(|said| !said.is_nan()));
    }
}
