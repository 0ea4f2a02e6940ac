//! What one simulated study gives: a few numbers, each from the code that judges real studies. What they are promised to
//! be on average is in [`super::goals`].

use super::levels::{ALPHA, MARGIN};
use super::orders::{Order, Simulated};
use super::peer::Peer;
use super::simulate::{Sample, flag};
use super::worlds::World;
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::describe::mean;
use bakeoff_stats::equivalence::Zone;
use bakeoff_stats::signflip::SignFlip;

/// A true difference of 2 %.
const EFFECT: f64 = 1.02;

/// The test of a study of two variants in randomised blocks, one slower by `effect` on the logarithm. Simulated values are
/// finite, so there always is one; without it nothing would be counted, which no goal forgives.
fn test(world: World, blocks: usize, effect: f64, stream: &mut Stream) -> Option<(Simulated, SignFlip)> {
    let study = Simulated::new(world, Order::Randomised, blocks, &[0.0, effect], stream);
    let test = SignFlip::new(&study.contrasts(0, 1), 0)?;
    Some((study, test))
}

/// Two variants that are the same, 10 blocks: [differs at 5 %, differs at 1 %].
pub(super) fn same(world: World, stream: &mut Stream) -> Sample {
    let p = test(world, 10, 0.0, stream).map_or(f64::NAN, |(_, mut test)| test.p(0.0));
    [flag(p <= ALPHA), flag(p <= 0.01), 0.0, 0.0]
}

/// A ratio of 1.02, 10 blocks: [the 95 % interval covers it].
pub(super) fn coverage(world: World, stream: &mut Stream) -> Sample {
    let truth = EFFECT.ln();
    let interval = test(world, 10, truth, stream).and_then(|(_, mut test)| test.interval(ALPHA));
    [flag(interval.is_some_and(|[low, high]| low <= truth && truth <= high)), 0.0, 0.0, 0.0]
}

/// A ratio of 1.02, 10 blocks: [we see it, ministat's t sees it, error of our estimate, error of the mean's].
pub(super) fn power(world: World, stream: &mut Stream) -> Sample {
    let truth = EFFECT.ln();
    let Some((study, mut test)) = test(world, 10, truth, stream) else { return [f64::NAN; 4] };
    let theirs = Peer::PooledT.judge(&study);
    let errors = [test.estimate() - truth, mean(&study.contrasts(0, 1)) - truth];
    [flag(test.p(0.0) <= ALPHA), flag(theirs.differs), errors[0], errors[1]]
}

/// Two variants that are the same, 20 blocks: [width of our 95 % interval, of ministat's], as parts of the value.
pub(super) fn width(world: World, stream: &mut Stream) -> Sample {
    let study = Simulated::new(world, Order::Randomised, 20, &[0.0, 0.0], stream);
    let width = |peer: Peer| peer.judge(&study).width.unwrap_or(f64::NAN);
    [width(Peer::SignFlip), width(Peer::PooledT), 0.0, 0.0]
}

/// A difference as large as the margin, 20 blocks: [equivalence is claimed].
pub(super) fn margin(world: World, stream: &mut Stream) -> Sample {
    let zone = Zone::of_log_ratios(MARGIN);
    let interval = test(world, 20, zone.half_width, stream).and_then(|(_, mut test)| test.interval(2.0 * ALPHA));
    [flag(interval.is_some_and(|interval| zone.contains(interval))), 0.0, 0.0, 0.0]
}
