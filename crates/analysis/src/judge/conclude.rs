//! From an inference to a claim: the verdict, the number of blocks that an undecided comparison still needs, and the
//! comparison's doubts. The rule for verdicts is written down in [`super`].

use super::infer::Inference;
use super::trials::Pairs;
use super::{Rule, Yardstick};
use crate::findings::{Caveat, Comparison, RatioOfMeans, Scale, Test, Verdict};
use crate::stats::blocks::Outlook;
use crate::stats::describe::{mean, median};
use crate::stats::student::fieller_interval;
use crate::stopping::Reading;
use bakeoff_model::metric::{Direction, Unit};

/// Fewer blocks than this are too few to tell whether values repeat.
const COARSE_MIN: usize = 6;

/// Concludes one comparison of a pair; `p_holm` is the p that decides.
pub(super) fn conclude(
    pairs: &Pairs,
    inference: &Inference,
    p_holm: Option<f64>,
    yardstick: Yardstick,
    rule: Rule,
) -> Comparison {
    let mut comparison = conclude_effect(inference, p_holm, yardstick.better, rule);
    comparison.ratio_of_means = ratio_of_means(pairs, inference, rule.alpha);
    comparison.ratio_of_max = ratio_of_max(pairs);
    let differs = differs(inference, p_holm, rule);
    let caveats = [
        means_disagree(pairs, inference, comparison.ratio_of_means, differs),
        incomplete_blocks(pairs),
        zero_median(pairs, inference),
        coarse_values(pairs, inference, yardstick.unit),
        at_the_floor(pairs, yardstick),
    ];
    comparison.caveats.extend(caveats.into_iter().flatten());
    let shown_within = matches!(comparison.verdict, Verdict::Equivalent | Verdict::Negligible);
    if shown_within && touches_floor(pairs, yardstick) {
        comparison.verdict = Verdict::Undecided { more_blocks: None };
    }
    comparison
}

/// Concludes any contrast, as far as the contrasts alone allow.
pub(super) fn conclude_effect(inference: &Inference, p_holm: Option<f64>, better: Direction, rule: Rule) -> Comparison {
    let outward = |x: f64| match inference.scale {
        Scale::Ratio => x.exp(),
        Scale::Difference => x,
    };
    let differs = differs(inference, p_holm, rule);
    let verdict = verdict(inference, differs, better, rule);
    let caveats = [
        too_few_blocks(inference, rule),
        model_based(inference),
        corrected_away(inference, p_holm, rule),
        no_direction(inference, differs),
    ];
    Comparison {
        blocks: inference.blocks,
        scale: inference.scale,
        estimate: outward(inference.estimate),
        interval: inference.interval.map(|ends| ends.map(outward)),
        equivalence_interval: inference.equivalence_interval.map(|ends| ends.map(outward)),
        simultaneous_interval: inference.simultaneous_interval.map(|ends| ends.map(outward)),
        p: inference.p,
        p_holm,
        test: inference.test,
        verdict,
        detectable: matches!(verdict, Verdict::Undecided { .. })
            .then(|| detectable(inference, rule))
            .flatten()
            .map(outward),
        ratio_of_means: None,
        ratio_of_max: None,
        caveats: caveats.into_iter().flatten().collect(),
    }
}

/// Whether a difference is shown.
fn differs(inference: &Inference, p_holm: Option<f64>, rule: Rule) -> bool {
    match inference.test {
        Test::Deterministic => inference.estimate != 0.0,
        _ => p_holm.is_some_and(|p| p <= rule.alpha),
    }
}

/// The verdict; see [`super`].
fn verdict(inference: &Inference, differs: bool, better: Direction, rule: Rule) -> Verdict {
    let estimate = inference.estimate;
    let is_deterministic = inference.test == Test::Deterministic;
    if is_deterministic && !differs {
        return Verdict::Equivalent;
    }
    let shown = if is_deterministic { Some([estimate; 2]) } else { inference.equivalence_interval };
    let within = inference.zone.zip(shown).is_some_and(|(zone, interval)| zone.contains(interval));
    let can_decide = is_deterministic || inference.interval.is_some();
    match (differs, within) {
        (true, true) => Verdict::Negligible,
        (false, true) if can_decide => Verdict::Equivalent,
        (true, false) if estimate != 0.0 => match better {
            Direction::Less if estimate < 0.0 => Verdict::Faster,
            Direction::More if estimate > 0.0 => Verdict::Faster,
            _ => Verdict::Slower,
        },
        _ => Verdict::Undecided { more_blocks: more_blocks(inference, rule) },
    }
}

/// Blocks that are still needed by [`Outlook::blocks`]; at least one, because those there were did not suffice.
fn more_blocks(inference: &Inference, rule: Rule) -> Option<u32> {
    let outlook = Outlook { estimate: inference.estimate, sd: inference.sd?, zone: inference.zone };
    let blocks = outlook.blocks(rule.family, rule.level(rule.alpha))?;
    (inference.test != Test::TooFew).then(|| blocks.saturating_sub(inference.blocks).max(1))
}

/// By [`Outlook::detectable`], on the scale of the contrasts. Not for a bet: its power is not that of a t test.
fn detectable(inference: &Inference, rule: Rule) -> Option<f64> {
    let outlook = Outlook { estimate: inference.estimate, sd: inference.sd?, zone: inference.zone };
    let tested = !matches!(inference.test, Test::TooFew | Test::Deterministic | Test::SignFlipEvidence);
    tested.then(|| outlook.detectable(inference.blocks, rule.family, rule.level(rule.alpha))).flatten()
}

fn ratio_of_means(pairs: &Pairs, inference: &Inference, alpha: f64) -> Option<RatioOfMeans> {
    let (variant, baseline) = (mean(&pairs.variant), mean(&pairs.baseline));
    let has_interval = !matches!(inference.test, Test::TooFew | Test::Deterministic);
    (variant > 0.0 && baseline > 0.0).then(|| RatioOfMeans {
        estimate: variant / baseline,
        interval: has_interval.then(|| fieller_interval(&pairs.variant, &pairs.baseline, alpha)).flatten(),
    })
}

fn ratio_of_max(pairs: &Pairs) -> Option<f64> {
    let max = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (variant, baseline) = (max(&pairs.variant), max(&pairs.baseline));
    (variant > 0.0 && baseline > 0.0).then(|| variant / baseline)
}

fn caveat(kind: &str, text: String) -> Option<Caveat> {
    Some(Caveat { kind: kind.to_owned(), text })
}

/// Too few for any inference, for an interval, or for a difference that survives Holm's correction.
fn too_few_blocks(inference: &Inference, rule: Rule) -> Option<Caveat> {
    let (blocks, percent) = (inference.blocks, 100.0 * (1.0 - rule.alpha));
    let needed = rule.reading.least_blocks(rule.family, rule.alpha);
    let is_exact = matches!(inference.test, Test::SignFlip | Test::SignFlipEvidence);
    let text = match inference.test {
        Test::TooFew if matches!(rule.reading, Reading::Early { .. }) => {
            format!("{blocks} blocks: the stopping rule looks at them for the first time when there are {needed}")
        }
        Test::TooFew => format!("{blocks} of at least {needed} blocks: too few to infer anything"),
        _ if is_exact && inference.interval.is_none() => {
            format!(
                "{blocks} blocks are too few for an interval at {percent} % confidence; at least {needed} are needed"
            )
        }
        _ if is_exact && blocks < needed => format!(
            "{blocks} blocks cannot show a difference at {percent} % confidence among {} comparisons; at least {needed} \
             are needed",
            rule.family
        ),
        _ => return None,
    };
    caveat("too-few-blocks", text)
}

fn model_based(inference: &Inference) -> Option<Caveat> {
    let what = match inference.scale {
        Scale::Ratio => "logarithms of ratios",
        Scale::Difference => "differences",
    };
    let text = match inference.test {
        Test::PairedLogT => {
            format!("with so few blocks, interval and p are Student's t and assume normally distributed {what}")
        }
        Test::LinearModel { df } => format!(
            "not every combination of levels has values, so this is from a linear model of {what} with robust (HC3) \
             errors and {df} degrees of freedom; it assumes independent errors, and no interaction of three factors"
        ),
        _ => return None,
    };
    caveat("model-based", text)
}

fn corrected_away(inference: &Inference, p_holm: Option<f64>, rule: Rule) -> Option<Caveat> {
    let (p, p_holm) = inference.p.zip(p_holm)?;
    if p > rule.alpha || p_holm <= rule.alpha {
        return None;
    }
    let family = rule.family;
    caveat(
        "holm",
        format!("alone it would differ (p = {p:.4}); among {family} comparisons it does not (p = {p_holm:.4})"),
    )
}

/// Possible if most blocks show no difference at all and the others all point the same way.
fn no_direction(inference: &Inference, differs: bool) -> Option<Caveat> {
    if !differs || inference.estimate != 0.0 {
        return None;
    }
    caveat("no-direction", "the two differ, but in most blocks by nothing: the typical difference is 0".to_owned())
}

/// The robust centre hides a variant that sometimes stalls; the mean does not. They disagree if they differ by more
/// than the margin, or in sign where at least one of them shows a difference.
fn means_disagree(
    pairs: &Pairs,
    inference: &Inference,
    ratio_of_means: Option<RatioOfMeans>,
    differs: bool,
) -> Option<Caveat> {
    let of_means = match inference.scale {
        Scale::Ratio => ratio_of_means?.estimate.ln(),
        Scale::Difference => mean(&pairs.variant) - mean(&pairs.baseline),
    };
    let apart = inference.zone.is_some_and(|zone| (of_means - inference.estimate).abs() > zone.half_width);
    let means_differ = ratio_of_means.and_then(|r| r.interval).is_some_and(|[low, high]| low > 1.0 || high < 1.0);
    let opposed = of_means * inference.estimate < 0.0 && (differs || means_differ);
    if !apart && !opposed {
        return None;
    }
    let text =
        "the typical trial and the mean tell different stories: look at the ratio of means and at the largest values";
    caveat("typical-and-mean-disagree", text.to_owned())
}

fn incomplete_blocks(pairs: &Pairs) -> Option<Caveat> {
    let (lost, all) = (pairs.lost, pairs.lost as usize + pairs.baseline.len());
    let why = "a trial of one or the other failed, is void or lacks the metric";
    (lost > 0).then(|| caveat("incomplete-blocks", format!("{lost} of {all} blocks are left out: {why}")))?
}

fn zero_median(pairs: &Pairs, inference: &Inference) -> Option<Caveat> {
    if inference.scale == Scale::Ratio || median(&pairs.baseline)? != 0.0 {
        return None;
    }
    caveat("zero-median", "the baseline's median is 0, so there is no margin to be within".to_owned())
}

/// Times that take only a few different values have been rounded to the tick of some clock. Deterministic values are
/// not judged by chance, so for them it does not matter.
fn coarse_values(pairs: &Pairs, inference: &Inference, unit: Unit) -> Option<Caveat> {
    let mut levels: Vec<f64> = pairs.baseline.iter().chain(&pairs.variant).copied().collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let different = levels.len();
    let is_coarse = pairs.baseline.len() >= COARSE_MIN && different <= pairs.baseline.len();
    if unit != Unit::Seconds || !is_coarse || inference.test == Test::Deterministic {
        return None;
    }
    let text =
        format!("all times are one of {different} different values: the clock is too coarse for such short times");
    caveat("near-clock-resolution", text)
}

/// Values this close to the floor may be the launcher's: it grows a little while it works.
const FLOOR_ROOM: f64 = 1.05;

/// Whether values of either side may be those of the launcher.
fn touches_floor(pairs: &Pairs, yardstick: Yardstick) -> bool {
    let mut values = pairs.baseline.iter().chain(&pairs.variant);
    yardstick.floor > 0.0 && values.any(|value| *value <= FLOOR_ROOM * yardstick.floor)
}

/// Two programs that both need less than their launcher are not shown to need the same.
fn at_the_floor(pairs: &Pairs, yardstick: Yardstick) -> Option<Caveat> {
    let mib = yardstick.floor / f64::from(1 << 20);
    let text = format!("less than {mib:.1} MiB cannot be told from the launcher's own memory");
    touches_floor(pairs, yardstick).then(|| caveat("memory-floor", text))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::equivalence::Zone;

    const RULE: Rule = Rule { alpha: 0.05, margin: 0.01, family: 1, seed: 1, reading: Reading::Fixed };

    fn check(differs: bool, interval: Option<[f64; 2]>, estimate: f64, zone: Option<f64>, expect: &str) {
        check_of(Direction::Less, differs, interval, estimate, zone, expect);
    }

    fn check_of(
        better: Direction,
        differs: bool,
        interval: Option<[f64; 2]>,
        estimate: f64,
        zone: Option<f64>,
        expect: &str,
    ) {
        let inference = Inference {
            blocks: 10,
            scale: Scale::Ratio,
            zone: zone.map(|half_width| Zone { half_width }),
            estimate,
            interval,
            equivalence_interval: interval,
            simultaneous_interval: None,
            p: Some(0.5),
            test: Test::SignFlip,
            sd: Some(0.02),
        };
        let name = match verdict(&inference, differs, better, RULE) {
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
        check(true, Some([-0.03, -0.012]), -0.02, zone, "faster");
        check(true, Some([-0.03, -0.002]), -0.01, zone, "faster");
        check(true, Some([0.002, 0.03]), 0.01, zone, "slower");
        check(true, Some([0.002, 0.008]), 0.005, zone, "negligible");
        check(true, Some([-0.008, -0.002]), -0.005, zone, "negligible");
        check(false, Some([-0.008, 0.002]), -0.003, zone, "equivalent");
        check(false, Some([0.002, 0.008]), 0.005, zone, "equivalent");
        check(false, Some([-0.008, 0.012]), 0.002, zone, "undecided");
        check(false, Some([0.002, 0.012]), 0.007, zone, "undecided");
        check(false, Some([-0.001, 0.001]), 0.0, None, "undecided");
        check(true, Some([0.0, 0.02]), 0.0, zone, "undecided");
        check(false, None, 0.0, zone, "undecided");
    }

    #[test]
    fn of_a_yield_more_is_better() {
        let check = |differs, interval, estimate, expect| {
            check_of(Direction::More, differs, Some(interval), estimate, Some(0.01), expect);
        };
        check(true, [-0.03, -0.012], -0.02, "slower");
        check(true, [0.002, 0.03], 0.01, "faster");
        check(true, [0.002, 0.008], 0.005, "negligible");
        check(false, [-0.008, 0.002], -0.003, "equivalent");
        check(true, [0.0, 0.02], 0.0, "undecided");
    }
}
