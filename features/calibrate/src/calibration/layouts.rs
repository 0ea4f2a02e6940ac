//! Whole studies of programs that are linked again for each pass: each study draws how much layouts are worth, whether they
//! match, whether their tails are heavy, and whether one program depends on them more than another. A layout is worth the same to
//! all trials of its pass. [`bakeoff_judge::judge`] judges the records.

use super::levels::ALPHA;
use super::simulate::{Sample, flag};
use super::whole::{Design, begun, differs, plan, trial};
use super::worlds::World;
use bakeoff_judge::findings::Comparison;
use bakeoff_judge::judge;
use bakeoff_model::metric;
use bakeoff_model::plan::number_of_layout;
use bakeoff_model::record::{Line, RELAID, Record, TWIN};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::Vary;
use bakeoff_stats::signflip::SignFlip;
use bakeoff_stats::spending;
use std::collections::BTreeMap;

const PASSES: u32 = 12;
const NAMES: [&str; 3] = ["baseline", "second", "third"];

/// The true ratio of the last program where it is slower.
const SLOWER: f64 = 1.02;

/// Standard deviations between layouts, on the logarithm: the least and the greatest.
const SPREAD: [f64; 2] = [0.003, 0.03];

/// What matching leaves of it, at most.
const LEFT: f64 = 0.005;

/// The last program has such layouts once in twelve, where it has rare bad ones.
const BAD: f64 = 0.05;

/// Layouts that take turns.
const FEW: u32 = 6;

/// Which layouts the passes of a study have.
#[derive(Clone, Copy, PartialEq)]
enum Passes {
    /// Each one of its own.
    Fresh,
    /// All the same.
    One,
    /// Each of a few is that of several passes.
    Few,
    /// Each one of its own, and rare ones of the last program are bad.
    Rare,
}

/// How layouts act on the programs of a study.
struct Layouts {
    /// One for each program.
    spreads: [f64; 3],
    are_matched: bool,
    have_tails: bool,
}

impl Layouts {
    fn drawn(stream: &mut Stream) -> Self {
        let spread = SPREAD[0] * (SPREAD[1] / SPREAD[0]).powf(stream.unit());
        let is_unequal = stream.chance(0.5);
        let spreads = NAMES.map(|_| if is_unequal { spread * (0.5 + 1.5 * stream.unit()) } else { spread });
        Self { spreads, are_matched: stream.chance(0.5), have_tails: stream.chance(0.5) }
    }

    /// What the layouts of one pass are worth, by name.
    fn pass(&self, stream: &mut Stream) -> BTreeMap<&'static str, f64> {
        let mut one = |spread: f64| {
            // One in twelve is three times as far from the middle, on either side.
            let far = if self.have_tails && stream.chance(1.0 / 12.0) { 3.0 } else { 1.0 };
            far * spread * stream.normal()
        };
        let common = one(1.0);
        let mut worth = BTreeMap::new();
        for (name, spread) in NAMES.into_iter().zip(self.spreads) {
            let value = if self.are_matched { self.spreads[0] * common + one(spread.min(LEFT)) } else { one(spread) };
            worth.insert(name, value);
        }
        worth.insert(TWIN, worth[NAMES[0]]);
        worth.insert(RELAID, one(self.spreads[0]));
        worth
    }
}

/// Three programs that are the same, or the last of which is slower.
fn simulated(world: World, ratio: f64, passes: Passes, stream: &mut Stream) -> Record {
    let variants = NAMES.map(|name| (name, if name == NAMES[2] { ratio.ln() } else { 0.0 }));
    let design = Design { blocks: PASSES, variants: &variants, alpha: ALPHA };
    let mut plan = plan(design, stream.next_u64());
    plan.vary = vec![Vary::Layouts];
    plan.layouts = (passes == Passes::Few).then_some(FEW);
    let layouts = Layouts::drawn(stream);
    let per_block = plan.trials_of_block(&plan.conditions[0]) as usize;
    let noise = world.noise(per_block * PASSES as usize, stream);
    let mut record = begun(&plan, world);
    let number = match passes {
        Passes::Fresh | Passes::Rare => PASSES,
        Passes::One => 1,
        Passes::Few => FEW,
    };
    let mut worths: Vec<_> = (0..number).map(|_| layouts.pass(stream)).collect();
    for worth in worths.iter_mut().filter(|_| passes == Passes::Rare) {
        let bad = if stream.chance(1.0 / 12.0) { BAD } else { 0.0 };
        *worth.entry(NAMES[2]).or_default() += bad;
    }
    for (pass, slots) in (1..=PASSES).zip(noise.chunks(per_block)) {
        let worth = &worths[number_of_layout(pass, number) as usize - 1];
        for block in plan.pass(pass) {
            for (position, (name, noise)) in (1..).zip(block.order.iter().zip(slots)) {
                let effect = variants.iter().find(|(other, _)| other == name).map_or(0.0, |(_, effect)| *effect);
                let seconds = (noise + effect + worth.get(name.as_str()).copied().unwrap_or(0.0)).exp();
                record.trials.push(trial(&block, position, name, seconds));
            }
            record.push(Line::Block(block));
        }
    }
    record
}

/// Programs that are the same, in a fresh layout for each pass: [any is judged different, the twin is].
pub(super) fn same(world: World, stream: &mut Stream) -> Sample {
    alike(Passes::Fresh, world, stream)
}

/// The same in a few layouts, each of which counts once.
pub(super) fn few(world: World, stream: &mut Stream) -> Sample {
    alike(Passes::Few, world, stream)
}

/// The same where the last program has rare bad layouts: typical ones are equal, means are not.
pub(super) fn rare(world: World, stream: &mut Stream) -> Sample {
    alike(Passes::Rare, world, stream)
}

fn alike(passes: Passes, world: World, stream: &mut Stream) -> Sample {
    let findings = judge(&simulated(world, 1.0, passes, stream));
    let rows = || findings.tables.iter().flat_map(|table| &table.rows);
    let twins = findings.tables.iter().filter_map(|table| table.noise_floor.as_ref());
    let is_twin = twins.into_iter().any(|row| differs(&row.comparison));
    [flag(rows().any(|row| differs(&row.comparison))), flag(is_twin), 0.0, 0.0]
}

/// The same in one layout each, as builds are: [any is judged different].
pub(super) fn one(world: World, stream: &mut Stream) -> Sample {
    let findings = judge(&simulated(world, 1.0, Passes::One, stream));
    let any = findings.tables.iter().flat_map(|table| &table.rows).any(|row| differs(&row.comparison));
    [flag(any), 0.0, 0.0, 0.0]
}

/// The same in a fresh layout for each pass, looked at up to five times: [the second differs at any look by the levels of the
/// looks].
pub(super) fn looks(world: World, stream: &mut Stream) -> Sample {
    let record = simulated(world, 1.0, Passes::Fresh, stream);
    let value = |pass: u32, name: &str| {
        let mut trials = record.trials.iter().filter(|trial| trial.block == pass && trial.variant == name);
        trials.next().and_then(|trial| trial.value(metric::WALL)).map_or(f64::NAN, f64::ln)
    };
    let contrasts: Vec<f64> = (1..=PASSES).map(|pass| value(pass, NAMES[1]) - value(pass, NAMES[0])).collect();
    let looks = spending::looks(PASSES);
    let levels = spending::levels(&looks, ALPHA).unwrap_or_else(|| vec![1.0; looks.len()]);
    let differs = |(&look, level): (&u32, f64)| {
        SignFlip::new(&contrasts[..look as usize], 0).is_none_or(|mut test| test.p(0.0) <= level)
    };
    [flag(looks.iter().zip(levels).any(differs)), 0.0, 0.0, 0.0]
}

/// The last one is slower: [any interval misses the truth].
pub(super) fn slower(world: World, stream: &mut Stream) -> Sample {
    let findings = judge(&simulated(world, SLOWER, Passes::Fresh, stream));
    let others = findings.tables.iter().flat_map(|table| &table.rows).filter(|row| row.variant != NAMES[0]);
    let misses = |name: &str, comparison: &Option<Comparison>| {
        let truth = if name == NAMES[2] { SLOWER } else { 1.0 };
        comparison.as_ref().and_then(Comparison::interval).is_none_or(|[low, high]| !(low..=high).contains(&truth))
    };
    let any = others.into_iter().any(|row| misses(&row.variant, &row.comparison));
    [flag(any), 0.0, 0.0, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_shows_what_layouts_are_worth() {
        let mut spreads = vec![];
        for number in 0..40 {
            let record = simulated(World::Normal, 1.0, Passes::Fresh, &mut Stream::of(number, &["layouts"]));
            assert_eq!(record.trials.len(), 5 * PASSES as usize);
            let findings = judge(&record);
            assert_eq!(findings.tables[0].rows.len(), 3, "the baseline in another layout is no variant");
            let layouts = findings.layouts.unwrap();
            assert!(layouts.matched);
            spreads.push(layouts.spread.unwrap());
        }
        let mean = spreads.iter().sum::<f64>() / 40.0;
        assert!((0.004..0.03).contains(&mean), "{mean}");
    }
}
