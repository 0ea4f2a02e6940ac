//! Studies of several variants: how often any of those that are the same is called different, by the method that corrects real
//! studies.

use super::levels::ALPHA;
use super::orders::{Order, Simulated};
use super::simulate::{Sample, flag};
use super::worlds::World;
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::maxt::MaxT;

/// Six variants that are the same, 12 blocks: [any differs from the baseline, any pair among the others does].
pub(super) fn same(world: World, stream: &mut Stream) -> Sample {
    let study = Simulated::new(world, Order::Randomised, 12, &[0.0; 6], stream);
    let baseline: Vec<(usize, usize)> = (1..6).map(|variant| (0, variant)).collect();
    let others: Vec<(usize, usize)> = (1..6).flat_map(|a| (a + 1..6).map(move |b| (a, b))).collect();
    let any = |p: &[f64]| flag(p.iter().any(|p| *p <= ALPHA));
    [any(&corrected(&study, &baseline)), any(&corrected(&study, &others)), 0.0, 0.0]
}

/// Thirteen variants that are the same, 8 blocks: [any differs from the baseline].
pub(super) fn of_12(world: World, stream: &mut Stream) -> Sample {
    let study = Simulated::new(world, Order::Randomised, 8, &[0.0; 13], stream);
    let pairs: Vec<(usize, usize)> = (1..13).map(|variant| (0, variant)).collect();
    [flag(corrected(&study, &pairs).iter().any(|p| *p <= ALPHA)), 0.0, 0.0, 0.0]
}

/// A baseline, three variants that are the same and three that are slower, 12 blocks: [any of the same differs].
pub(super) fn some_slower(world: World, stream: &mut Stream) -> Sample {
    let slower = 1.03f64.ln();
    let effects = [0.0, 0.0, 0.0, 0.0, slower, slower, slower];
    let study = Simulated::new(world, Order::Randomised, 12, &effects, stream);
    let pairs: Vec<(usize, usize)> = (1..effects.len()).map(|variant| (0, variant)).collect();
    [flag(corrected(&study, &pairs)[..3].iter().any(|p| *p <= ALPHA)), 0.0, 0.0, 0.0]
}

/// The same variants, 10 blocks: [any interval misses the truth].
pub(super) fn intervals(world: World, stream: &mut Stream) -> Sample {
    let slower = 1.03f64.ln();
    let effects = [0.0, 0.0, 0.0, 0.0, slower, slower, slower];
    let study = Simulated::new(world, Order::Randomised, 10, &effects, stream);
    let columns: Vec<Vec<Option<f64>>> =
        (1..effects.len()).map(|variant| study.contrasts(0, variant).into_iter().map(Some).collect()).collect();
    let Some(mut test) = MaxT::new(&columns, ALPHA, 0) else { return [1.0; 4] };
    let misses = |(column, truth): (usize, &f64)| {
        test.interval(column, ALPHA).is_none_or(|[low, high]| !(low..=high).contains(truth))
    };
    [flag(effects[1..].iter().enumerate().any(misses)), 0.0, 0.0, 0.0]
}

/// The p of these pairs, corrected as those of one family. Simulated values are finite, so there always are some; without
/// them everything would be counted as a false difference.
fn corrected(study: &Simulated, pairs: &[(usize, usize)]) -> Vec<f64> {
    let column = |(a, b): &(usize, usize)| study.contrasts(*a, *b).into_iter().map(Some).collect();
    let columns: Vec<Vec<Option<f64>>> = pairs.iter().map(column).collect();
    match MaxT::new(&columns, ALPHA, 0) {
        Some(mut test) => (0..pairs.len()).map(|column| test.p(column, 0.0)).collect(),
        None => vec![0.0; pairs.len()],
    }
}
