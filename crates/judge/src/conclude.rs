//! From an inference to a claim: the verdict by the rule in [`super`], the blocks still needed, and the doubts.

use super::contrasts::spread;
use super::infer::Inference;
use super::metric_spec::MetricSpec;
use super::mode::InferenceMode;
use super::rule::{DecisionRule, Units};
use super::trials::Pairs;
use crate::findings::{Caveat, Comparison, Inferred, Lack, Model, RatioOfMeans, Scale, Test, Tested, Ticks, Verdict};
use bakeoff_model::metric::Direction;
use bakeoff_stats::blocks::Outlook;
use bakeoff_stats::describe::{mean, median};
use bakeoff_stats::student::fieller_interval;

/// Of this share of the time a count must know, or nothing is shown to be equal by it.
const LEAST_SEEN: f64 = 0.8;

pub(super) fn conclude(pairs: &Pairs, inference: &Inference, spec: MetricSpec, rule: DecisionRule) -> Comparison {
    let mut comparison = conclude_effect(inference, spec, rule);
    comparison.ratio_of_means = ratio_of_means(pairs, inference, rule.alpha);
    comparison.ratio_of_max = ratio_of_max(pairs);
    comparison.better_in = better_in(pairs, spec.better);
    let caveats = [
        means_disagree(pairs, inference, comparison.ratio_of_means),
        incomplete_blocks(pairs.lost, pairs.baseline.len(), true),
        zero_median(pairs, inference),
        is_constant(&pairs.variant)
            .then(|| unvaried(pairs.baseline.len(), is_constant(&pairs.baseline), inference, rule))
            .flatten(),
        counts_differ(pairs, spec),
    ];
    comparison.caveats.extend(caveats.into_iter().flatten());
    comparison
}

fn is_constant(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

/// By how much the counts of one variant differ, if they do not agree.
fn counts_differ(pairs: &Pairs, spec: MetricSpec) -> Option<Caveat> {
    let of = |values: &[f64]| spread(values.iter().copied());
    let by = of(&pairs.baseline).max(of(&pairs.variant));
    (spec.seen.is_some() && by > spec.agree).then_some(Caveat::CountsDiffer { by })
}

/// A part q of all runs that differ is not seen in n of them with probability (1 − q)^n.
pub(super) fn unvaried(runs: usize, is_constant: bool, inference: &Inference, rule: DecisionRule) -> Option<Caveat> {
    let is_point = inference.interval().is_some_and(|[low, high]| low == high);
    let most = 1.0 - rule.alpha.powf(1.0 / runs.max(1) as f64);
    (is_constant && is_point).then_some(Caveat::Unvaried { runs: runs as u32, confidence: 1.0 - rule.alpha, most })
}

/// Concludes any contrast, as far as the contrasts alone allow.
pub(super) fn conclude_effect(inference: &Inference, spec: MetricSpec, rule: DecisionRule) -> Comparison {
    let mut verdict = verdict(inference, spec.better, rule);
    let mut inferred = inference.inferred;
    // Two programs that both need less than their launcher are not shown to need the same, nor a little more.
    if inference.at_floor && matches!(verdict, Verdict::Equivalent | Verdict::Negligible) {
        verdict = Verdict::Undecided { more_blocks: None };
        if let Inferred::Tested(tested) = &mut inferred {
            tested.interval = tested.interval.map(|[low, high]| [low.min(0.0), high.max(0.0)]);
        }
    }
    // Equal counts say nothing of the time that they do not see.
    let unseen = spec.seen.filter(|seen| *seen < LEAST_SEEN);
    if unseen.is_some() && matches!(verdict, Verdict::Equivalent | Verdict::Negligible) {
        verdict = Verdict::Undecided { more_blocks: None };
    }
    let outward = |x: f64| match inference.scale {
        Scale::Ratio => x.exp(),
        Scale::Difference => x,
    };
    if let Inferred::Tested(tested) = &mut inferred {
        for interval in [&mut tested.interval, &mut tested.equivalence_interval] {
            *interval = interval.map(|ends| ends.map(outward));
        }
    }
    let caveats = [
        too_few_blocks(inference, rule),
        model_based(inference),
        among_others(inference, rule),
        ticks(inference),
        inference.at_floor.then_some(Caveat::MemoryFloor { bytes: spec.floor }),
        unseen.map(|share| Caveat::UnseenTime { share, least: LEAST_SEEN }),
    ];
    Comparison {
        blocks: inference.blocks,
        scale: inference.scale,
        confidence: 1.0 - rule.alpha,
        estimate: outward(inference.estimate),
        inferred,
        resolution: inference.resolution,
        verdict,
        detectable: matches!(verdict, Verdict::Undecided { .. })
            .then(|| detectable(inference, rule))
            .flatten()
            .map(outward),
        ratio_of_means: None,
        ratio_of_max: None,
        better_in: None,
        caveats: caveats.into_iter().flatten().collect(),
    }
}

/// Whether a difference is shown: by the interval, so that the two cannot contradict each other.
fn differs(inference: &Inference) -> bool {
    match inference.inferred {
        Inferred::Exact => inference.estimate.abs() > inference.agree,
        _ => inference.interval().is_some_and(|[low, high]| low > 0.0 || high < 0.0),
    }
}

fn verdict(inference: &Inference, better: Direction, rule: DecisionRule) -> Verdict {
    let (estimate, differs) = (inference.estimate, differs(inference));
    let shown = match inference.inferred {
        Inferred::Exact if !differs => return Verdict::Equivalent,
        Inferred::Exact => Some([estimate; 2]),
        _ => inference.inferred.tested().and_then(|tested| tested.equivalence_interval),
    };
    let within = inference.zone.zip(shown).is_some_and(|(zone, interval)| zone.contains(interval));
    let can_decide = inference.inferred == Inferred::Exact || inference.interval().is_some();
    match (differs, within) {
        (true, true) => Verdict::Negligible,
        (false, true) if can_decide => Verdict::Equivalent,
        (true, false) => side(estimate, better),
        _ => Verdict::Undecided { more_blocks: more_blocks(inference, rule) },
    }
}

/// The verdict on a difference that is shown, by its sign on the scale of the contrasts.
pub(super) fn side(departure: f64, better: Direction) -> Verdict {
    match better {
        Direction::Less if departure < 0.0 => Verdict::Faster,
        Direction::More if departure > 0.0 => Verdict::Faster,
        _ => Verdict::Slower,
    }
}

fn outlook(inference: &Inference) -> Option<Outlook> {
    let Inference { estimate, sd, zone, resolution, .. } = *inference;
    Some(Outlook { estimate, sd: sd?, zone, resolution })
}

/// Blocks that are still needed by [`Outlook::blocks`]; at least one, because those there were did not suffice.
fn more_blocks(inference: &Inference, rule: DecisionRule) -> Option<u32> {
    if rule.units == Units::Layouts {
        return None;
    }
    let outlook = outlook(inference)?;
    let blocks = outlook.blocks(rule.family, rule.mode.level(rule.alpha))?;
    (!matches!(inference.inferred, Inferred::TooFew | Inferred::TooCoarse))
        .then(|| blocks.saturating_sub(inference.blocks).max(1))
}

/// By [`Outlook::detectable`], on the scale of the contrasts. Not for a bet: its power is not that of a t test.
fn detectable(inference: &Inference, rule: DecisionRule) -> Option<f64> {
    let outlook = outlook(inference)?;
    inference.test().filter(|test| *test != Test::SignFlipEvidence)?;
    outlook.detectable(inference.blocks, rule.family, rule.mode.level(rule.alpha))
}

fn ratio_of_means(pairs: &Pairs, inference: &Inference, alpha: f64) -> Option<RatioOfMeans> {
    let (variant, baseline) = (mean(&pairs.variant), mean(&pairs.baseline));
    let has_interval = inference.test().is_some();
    (variant > 0.0 && baseline > 0.0).then(|| RatioOfMeans {
        estimate: variant / baseline,
        interval: has_interval.then(|| fieller_interval(&pairs.variant, &pairs.baseline, alpha)).flatten(),
    })
}

/// Blocks in which the variant was the better one; equal values count for neither.
fn better_in(pairs: &Pairs, better: Direction) -> Option<u32> {
    let both = pairs.variant.iter().zip(&pairs.baseline);
    let is_better = |(variant, baseline): &(&f64, &f64)| match better {
        Direction::Less => variant < baseline,
        Direction::More => variant > baseline,
    };
    Some(both.filter(is_better).count() as u32)
}

fn ratio_of_max(pairs: &Pairs) -> Option<f64> {
    let max = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (variant, baseline) = (max(&pairs.variant), max(&pairs.baseline));
    (variant > 0.0 && baseline > 0.0).then(|| variant / baseline)
}

/// Too few for any inference, or for an interval.
fn too_few_blocks(inference: &Inference, rule: DecisionRule) -> Option<Caveat> {
    let (blocks, confidence) = (inference.blocks, 1.0 - rule.alpha);
    let needed = rule.mode.least_blocks(rule.family, rule.alpha);
    let lack = match inference.inferred {
        Inferred::TooFew if matches!(rule.mode, InferenceMode::Early { .. }) => Lack::FirstLook { needed },
        Inferred::TooFew => Lack::Inference { needed },
        Inferred::Tested(Tested { interval: None, .. }) if blocks < needed => {
            Lack::Interval { confidence, needed: Some(needed) }
        }
        // It has a part of alpha only, because others of its family are judged in another way.
        Inferred::Tested(Tested { interval: None, test: Test::SignFlip | Test::SignFlipMonteCarlo { .. }, .. }) => {
            Lack::Interval { confidence, needed: None }
        }
        _ => return None,
    };
    Some(Caveat::TooFewBlocks { blocks, lack })
}

fn model_based(inference: &Inference) -> Option<Caveat> {
    let model = match inference.test()? {
        Test::PairedLogT => Model::PairedT,
        Test::LinearModel { df } => Model::Linear { df },
        _ => return None,
    };
    Some(Caveat::ModelBased { model, scale: inference.scale })
}

fn among_others(inference: &Inference, rule: DecisionRule) -> Option<Caveat> {
    let Tested { p, p_corrected, interval, .. } = inference.inferred.tested()?;
    let (p, corrected) = p.zip(*p_corrected)?;
    // What ticks of a clock take away is not taken by others.
    let p = p.max(corrected / f64::from(rule.family.max(1)));
    if p > rule.alpha || differs(inference) || interval.is_none() || corrected <= rule.alpha {
        return None;
    }
    Some(Caveat::AmongOthers { p, corrected, family: rule.family })
}

/// The ticks of a clock are worth a word if they take this part of the margin.
const TICKS_MATTER: f64 = 0.1;

/// The ticks of a clock: too coarse to say anything, or coarse enough to widen the interval.
fn ticks(inference: &Inference) -> Option<Caveat> {
    let ticks = Ticks { step: inference.step, by: inference.resolution, scale: inference.scale };
    if inference.inferred == Inferred::TooCoarse {
        return Some(Caveat::ClockTooCoarse(ticks));
    }
    // Without a margin, it is a part of the interval.
    let [low, high] = inference.interval()?;
    let least = TICKS_MATTER * inference.zone.map_or((high - low) / 2.0, |zone| zone.half_width);
    (ticks.by > 0.0 && ticks.by > least).then_some(Caveat::ClockTicks(ticks))
}

/// The relative gap at which mean and centre still agree: +379 % and +374 % say the same.
const MEAN_TOLERANCE: f64 = 0.1;

/// The robust centre hides a variant that sometimes stalls; the mean does not. They disagree if the mean lies outside of
/// the centre's interval, and they differ by more than the margin and a tenth of the effect; or in sign.
fn means_disagree(pairs: &Pairs, inference: &Inference, ratio_of_means: Option<RatioOfMeans>) -> Option<Caveat> {
    let of_means = match inference.scale {
        Scale::Ratio => ratio_of_means?.estimate.ln(),
        Scale::Difference => mean(&pairs.variant) - mean(&pairs.baseline),
    };
    let by = (of_means - inference.estimate).abs();
    let least = inference.zone.map_or(0.0, |zone| zone.half_width).max(MEAN_TOLERANCE * inference.estimate.abs());
    let left_out = inference.interval().is_some_and(|[low, high]| of_means < low || of_means > high);
    let means_differ =
        ratio_of_means.and_then(|means| means.interval).is_some_and(|[low, high]| low > 1.0 || high < 1.0);
    let opposed = of_means * inference.estimate < 0.0 && differs(inference) && means_differ;
    (left_out && by > least || opposed).then_some(Caveat::TypicalAndMeanDisagree { ratios: None })
}

/// Of blocks of which that number is compared.
pub(super) fn incomplete_blocks(lost: u32, compared: usize, pair: bool) -> Option<Caveat> {
    (lost > 0).then_some(Caveat::IncompleteBlocks { lost, of: lost + compared as u32, pair })
}

fn zero_median(pairs: &Pairs, inference: &Inference) -> Option<Caveat> {
    let is_zero = inference.scale != Scale::Ratio && median(&pairs.baseline)? == 0.0;
    is_zero.then_some(Caveat::ZeroMedian)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_stats::equivalence::Zone;

    const RULE: DecisionRule = DecisionRule {
        alpha: 0.05,
        margin: 0.01,
        family: 1,
        tables: 1,
        seed: 1,
        mode: InferenceMode::Fixed,
        units: Units::Blocks,
    };

    fn tested(interval: Option<[f64; 2]>, equivalence_interval: Option<[f64; 2]>) -> Inferred {
        let (p, p_corrected) = (Some(0.5), Some(0.5));
        Inferred::Tested(Tested { test: Test::SignFlip, p, p_corrected, interval, equivalence_interval })
    }

    fn inference() -> Inference {
        Inference {
            blocks: 10,
            scale: Scale::Ratio,
            zone: Some(Zone { half_width: 0.01 }),
            estimate: 0.005,
            inferred: tested(None, None),
            resolution: 0.0,
            step: 0.0,
            at_floor: false,
            agree: 0.0,
            sd: Some(0.02),
        }
    }

    /// The interval that decides, and the one that is compared with the margin.
    fn check(interval: Option<[f64; 2]>, within: Option<[f64; 2]>, estimate: f64, zone: Option<f64>, expect: &str) {
        check_of(Direction::Less, interval, within, estimate, zone, expect);
    }

    fn check_of(
        better: Direction,
        interval: Option<[f64; 2]>,
        within: Option<[f64; 2]>,
        estimate: f64,
        zone: Option<f64>,
        expect: &str,
    ) {
        let zone = zone.map(|half_width| Zone { half_width });
        let inference = Inference { zone, estimate, inferred: tested(interval, within), ..inference() };
        let name = match verdict(&inference, better, RULE) {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Equivalent => "equivalent",
            Verdict::Negligible => "negligible",
            Verdict::Undecided { .. } => "undecided",
            Verdict::Withheld => "withheld",
        };
        assert_eq!(name, expect, "{inference:?}");
    }

    #[test]
    fn verdict_table() {
        let zone = Some(0.01);
        let same = |interval: [f64; 2], estimate, expect| check(Some(interval), Some(interval), estimate, zone, expect);
        same([-0.03, -0.012], -0.02, "faster");
        same([-0.03, -0.002], -0.01, "faster");
        same([0.002, 0.03], 0.01, "slower");
        same([0.002, 0.008], 0.005, "negligible");
        same([-0.008, -0.002], -0.005, "negligible");
        same([-0.008, 0.002], -0.003, "equivalent");
        same([-0.008, 0.012], 0.002, "undecided");
        same([0.0, 0.02], 0.0, "undecided");
        check(Some([-0.012, 0.02]), Some([0.002, 0.008]), 0.005, zone, "equivalent");
        check(Some([-0.002, 0.02]), Some([0.002, 0.012]), 0.007, zone, "undecided");
        check(Some([-0.001, 0.001]), Some([-0.001, 0.001]), 0.0, None, "undecided");
        check(None, None, 0.0, zone, "undecided");
        check(None, Some([-0.001, 0.001]), 0.0, zone, "undecided");
    }

    #[test]
    fn at_the_launchers_floor_nothing_is_equal_and_the_interval_says_so() {
        let spec = MetricSpec { floor: 65536.0, ..MetricSpec::measured(None, Direction::Less, false) };
        let near = Inference { inferred: tested(Some([0.003, 0.007]), Some([0.003, 0.007])), ..inference() };
        for (at_floor, expect) in [(false, Verdict::Negligible), (true, Verdict::Undecided { more_blocks: None })] {
            let comparison = conclude_effect(&Inference { at_floor, ..near.clone() }, spec, RULE);
            assert_eq!(comparison.verdict, expect);
            assert_eq!(comparison.interval().unwrap()[0] > 1.0, !at_floor);
            assert_eq!(comparison.caveats.iter().any(|caveat| caveat.kind() == "memory-floor"), at_floor);
        }
    }

    #[test]
    fn of_a_yield_more_is_better() {
        let check = |interval: [f64; 2], estimate, expect| {
            check_of(Direction::More, Some(interval), Some(interval), estimate, Some(0.01), expect);
        };
        check([-0.03, -0.012], -0.02, "slower");
        check([0.002, 0.03], 0.01, "faster");
        check([0.002, 0.008], 0.005, "negligible");
        check([-0.008, 0.002], -0.005, "equivalent");
        check([0.0, 0.02], 0.0, "undecided");
    }
}
