//! Studies whose clock ticks: times are cut off at a multiple of 4 or 10 ms, near the tick or far above it. They go through
//! the whole analysis, as records. What it prints must hold; where it refuses to print, that is counted apart.

use super::simulate::Sample;
use super::studies::ALPHA;
use super::whole::{Design, record};
use super::worlds::World;
use crate::findings::{Comparison, Test, Verdict};
use crate::judge;
use bakeoff_model::shuffle::Stream;

/// A clock, and how long the baseline takes by it, in seconds.
#[derive(Debug, Clone, Copy)]
struct Clock {
    tick: f64,
    baseline: f64,
}

pub(super) fn near_4_ms(world: World, stream: &mut Stream) -> Sample {
    studies(Clock { tick: 0.004, baseline: 0.062 }, world, stream)
}

pub(super) fn near_10_ms(world: World, stream: &mut Stream) -> Sample {
    studies(Clock { tick: 0.010, baseline: 0.105 }, world, stream)
}

pub(super) fn far_4_ms(world: World, stream: &mut Stream) -> Sample {
    studies(Clock { tick: 0.004, baseline: 0.535 }, world, stream)
}

pub(super) fn far_10_ms(world: World, stream: &mut Stream) -> Sample {
    studies(Clock { tick: 0.010, baseline: 1.523 }, world, stream)
}

/// Three studies: [two that are the same are called different, a ratio of 1.02 is outside the interval, a difference as large as
/// the margin is called equivalent]; not a number where nothing was printed.
fn studies(clock: Clock, world: World, stream: &mut Stream) -> Sample {
    let mut said = |blocks: u32, effect: f64, is_wrong: &dyn Fn(&Comparison) -> bool| {
        let comparison = compare(clock, world, blocks, effect, stream);
        let printed = comparison.filter(|comparison| comparison.test != Test::TooCoarse);
        printed.map_or(f64::NAN, |comparison| f64::from(u8::from(is_wrong(&comparison))))
    };
    let differs = said(10, 0.0, &Comparison::differs);
    let misses = said(10, 1.02f64.ln(), &|comparison| {
        comparison.interval.is_none_or(|[low, high]| !(low..=high).contains(&1.02))
    });
    let equivalent =
        said(20, 1.01f64.ln(), &|comparison| matches!(comparison.verdict, Verdict::Equivalent | Verdict::Negligible));
    [differs, misses, equivalent, 0.0]
}

fn compare(clock: Clock, world: World, blocks: u32, effect: f64, stream: &mut Stream) -> Option<Comparison> {
    let cut = |log: f64| ((clock.baseline * log.exp()) / clock.tick).floor() * clock.tick;
    let design = Design { blocks, variants: &[("baseline", 0.0), ("second", effect)], alpha: ALPHA };
    let findings = judge(&record(world, design, &cut, stream));
    findings.tables.into_iter().next()?.rows.into_iter().nth(1)?.comparison
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_the_tick_nothing_is_said_and_far_above_it_something() {
        let mut stream = Stream::of(1, &[]);
        assert!(near_10_ms(World::Normal, &mut stream)[..3].iter().all(|said| said.is_nan()));
        assert!(far_10_ms(World::Normal, &mut stream)[..3].iter().all(|said| !said.is_nan()));
    }
}
