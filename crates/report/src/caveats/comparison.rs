//! Sentences of doubts about one comparison or effect, but for those of its builds.

use super::terms::terms;
use crate::format::{percent, short};
use crate::words::counted;
use bakeoff_judge::findings::{Caveat, Lack, Model, Scale, Ticks};

pub(super) fn sentence(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        Caveat::TooFewBlocks { blocks, lack } => too_few(*blocks, lack),
        Caveat::ModelBased { model, scale } => model_based(*model, *scale),
        Caveat::AmongOthers { p, corrected, family } => {
            format!(
                "on its own, this difference would be shown (p = {p:.4}); as one of {family} comparisons, it is not \
                    (p = {corrected:.4})"
            )
        }
        Caveat::ClockTooCoarse(ticks) => too_coarse(ticks),
        Caveat::ClockTicks(ticks) => widened(ticks),
        Caveat::TypicalAndMeanDisagree { ratios } => means(*ratios),
        Caveat::IncompleteBlocks { lost, of, pair } => {
            let why = if *pair {
                "a trial of either variant failed, is void or lacks the metric"
            } else {
                "a trial needed for the contrast failed, is void or is missing"
            };
            format!("the estimate leaves out {lost} of {of} blocks, because {why}")
        }
        Caveat::Unvaried { runs, confidence, most } => format!(
            "the values did not vary in {runs} runs, so there is no interval; with {} confidence, at most {} of all \
             runs have a different value",
            percent(*confidence),
            percent((most * 1000.0).ceil() / 1000.0)
        ),
        Caveat::ZeroMedian => "the baseline's median is 0, so the margin is undefined".to_owned(),
        Caveat::MemoryFloor { bytes } => {
            let mib = bytes / f64::from(1 << 20);
            format!("below {mib:.1} MiB, the program's memory cannot be distinguished from the launcher's")
        }
        Caveat::UnseenTime { share, least } => format!(
            "instruction counts cover only {} of the run time of these commands; below {}, they cannot show equality",
            share_of_time(*share),
            share_of_time(*least)
        ),
        Caveat::CountsDiffer { by } => format!(
            "two counts of one variant differ by {}, so they are not exact and are judged like measurements",
            part(*by)
        ),
        Caveat::SymmetricErrors => {
            "the test for an interaction assumes symmetric errors, which random order alone does not ensure".to_owned()
        }
        Caveat::Aliased { effect, with } => format!(
            "{effect} is estimated as if there were no interaction {}, because the variants that ran cannot separate \
                the effect from an interaction",
            terms(with)
        ),
        _ => return None,
    })
}

/// A small part, with two digits: `0.0023 %`.
pub(crate) fn part(part: f64) -> String {
    format!("{} %", short(100.0 * part, 2))
}

/// In whole percents, and never more than it is.
pub(crate) fn share_of_time(share: f64) -> String {
    format!("{} %", (100.0 * share).floor())
}

fn too_few(blocks: u32, lack: &Lack) -> String {
    let blocks = counted(blocks, "block");
    match lack {
        Lack::FirstLook { needed } => {
            format!("no verdict after {blocks}: the stopping rule first checks after {needed}")
        }
        Lack::Inference { needed } => {
            format!("{blocks} cannot support any inference; at least {needed} are needed")
        }
        Lack::Interval { confidence, needed } => {
            let percent = percent(*confidence);
            let rest = needed.map_or_else(
                || " here; more are needed".to_owned(),
                |needed| format!("; at least {needed} are needed"),
            );
            format!("{blocks} cannot show a difference at {percent} confidence{rest}")
        }
    }
}

fn model_based(model: Model, scale: Scale) -> String {
    let what = match scale {
        Scale::Ratio => "logarithms of ratios",
        Scale::Difference => "differences",
    };
    match model {
        Model::PairedT => {
            format!(
                "with so few blocks, the interval and p come from Student's t and assume normally distributed {what}"
            )
        }
        Model::Linear { df } => format!(
            "not every combination of levels has values, so this estimate comes from a linear model of {what}. The \
             model has robust (HC3) standard errors (df = {df}), and assumes independent errors and no three-factor \
             interactions"
        ),
    }
}

/// By how much ticks may be wrong.
fn how_far(ticks: &Ticks) -> String {
    match ticks.scale {
        Scale::Ratio => format!("{} %", short(100.0 * ticks.by.exp_m1(), 2)),
        Scale::Difference => short(ticks.by, 2),
    }
}

fn too_coarse(ticks: &Ticks) -> String {
    format!(
        "no verdict: the clock is too coarse. Different values are at least {} s apart, so the comparison may be wrong \
            by {}. That is more than the margin. Use a longer workload or another metric",
        short(ticks.step, 3),
        how_far(ticks)
    )
}

fn widened(ticks: &Ticks) -> String {
    let step = short(ticks.step, 3);
    format!(
        "the interval is wider by {} on each side, because different values are at least {step} apart",
        how_far(ticks)
    )
}

fn means(ratios: Option<[f64; 2]>) -> String {
    let Some(ratios) = ratios else {
        return "the typical trial and the mean disagree; look at the ratio of means and at the largest values"
            .to_owned();
    };
    let change = |ratio: f64| match ratio {
        0.1..=10.0 => format!("{:+.1} %", 100.0 * (ratio - 1.0)),
        _ => format!("a factor of {}", short(ratio, 2)),
    };
    let [typical, mean] = ratios.map(change);
    format!("the typical value and the mean disagree: the former changes by {typical}, the latter by {mean}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_plain_numbers() {
        let of = |step: f64| Ticks { step, by: (step / 0.5).ln_1p(), scale: Scale::Ratio };
        assert_eq!(
            too_coarse(&of(0.1 + 0.2 - 0.2)),
            "no verdict: the clock is too coarse. Different values are at least 0.1 s apart, so the comparison may be \
                wrong by 20 %. That is more than the margin. Use a longer workload or another metric"
        );
        assert_eq!(
            widened(&of(1.0 / 300.0)),
            "the interval is wider by 0.67 % on each side, because different values are at least 0.00333 apart"
        );
    }
}
