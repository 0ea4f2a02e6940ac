//! Planning from a pilot: how much a journal's contrasts spread from block to block, how many blocks it takes to see a
//! difference or to show equivalence, how long that takes, and what its blocks could have seen. It judges nothing.

use super::contrasts::Contrasts;
use super::ids::Place;
use super::metric_spec::MetricSpec;
use super::study::variants;
use super::trials::Trials;
use crate::findings::Scale;
use bakeoff_model::record::{Record, StudyLine, TWIN};
use bakeoff_stats::blocks::least;
use bakeoff_stats::describe::{mean, sd};
use bakeoff_stats::equivalence::Zone;
use bakeoff_stats::power::{Design, sd_upper};
use serde::{Deserialize, Serialize};

/// A pilot has at least this many blocks.
pub const PILOT_MIN: u32 = 6;

/// Of the sd of a pilot, the upper bound of this confidence is planned with: a few blocks often spread less than many.
const BOUND: f64 = 0.8;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Aim {
    /// Differences to be seen, as fractions: 0.01 is 1 %.
    pub see: Vec<f64>,
    /// The probability of seeing them.
    pub power: f64,
    /// Half-width of the zone of equivalence, as a fraction.
    pub margin: f64,
    /// Confidence of the study's verdicts.
    pub confidence: f64,
    /// Comparisons that the correction is made over.
    pub family: u32,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Planning {
    /// What was asked.
    pub aim: Aim,
    /// The study of the pilot; none if the spread was given.
    pub study: Option<String>,
    /// One for every workload × condition × metric × variant, or one for the spread that was given.
    pub rows: Vec<Outlook>,
}

/// One comparison.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outlook {
    /// The workload; empty if the spread was given.
    pub workload: String,
    /// The condition.
    pub condition: String,
    /// The metric's name.
    pub metric: String,
    /// The variant's display name.
    pub variant: String,
    /// Blocks of the pilot that count.
    pub pilot_blocks: u32,
    /// Standard deviation of ln(variant ÷ baseline) between blocks. None for too few blocks, or if a value is not positive.
    pub sd: Option<f64>,
    /// What is planned with: its upper bound of 80 % confidence; the sd itself if it was given.
    pub planned_sd: Option<f64>,
    /// Blocks to see each of the differences asked for; none beyond a million.
    pub to_see: Vec<Option<u32>>,
    /// Blocks to show equivalence within the margin, if there is no difference; none beyond a million.
    pub to_show_equivalent: Option<u32>,
    /// The smallest difference, as a fraction, that the pilot's blocks could have seen with that probability, if any.
    pub seen: Option<f64>,
    /// How long a block takes, in seconds: the sum over all variants and the twin. None if the spread was given.
    pub block_s: Option<f64>,
}

/// Plans from a journal, finished or not. The margin, confidence and family are its own.
pub fn from_pilot(record: &Record, see: &[f64], power: f64) -> Planning {
    let whole = Trials::of(record);
    let record = &*record.in_parts();
    let study = &record.study;
    let variants = || variants(study).map(|variant| variant.name.as_str());
    let aim = Aim {
        see: see.to_vec(),
        power,
        margin: study.decide.margin,
        confidence: study.decide.confidence,
        family: (variants().count().saturating_sub(1) * record.most_benchmarks()) as u32,
    };
    let trials = Trials::of(record);
    let mut rows = vec![];
    for place in trials.ids.places(study) {
        let (workload, condition) = trials.ids.names(place);
        let block_s = block_s(&whole, study, whole.ids.place(record.suite_of(workload), condition));
        for known in study.decide.metrics.iter().filter_map(|name| study.metric(name)) {
            let known = &known;
            let values = trials.values(place, &known.name);
            for variant in variants().skip(1) {
                let baseline = trials.ids.variant(variants().next().unwrap_or_default());
                let pairs = values.pairs(baseline, trials.ids.variant(variant));
                let contrasts = Contrasts::of_pairs(&pairs, MetricSpec::of(known, None), aim.margin);
                let n = contrasts.values.len() as u32;
                let usable = n >= PILOT_MIN && contrasts.scale == Scale::Ratio;
                let sd = sd(&contrasts.values).filter(|_| usable);
                let mut row = outlook(&aim, sd, sd.and_then(|sd| sd_upper(sd, n, BOUND)));
                row.seen = sd.and_then(|sd| seen(&aim, sd, n));
                let [workload, condition] = [workload, condition].map(str::to_owned);
                let (metric, variant) = (known.name.to_string(), variant.to_owned());
                rows.push(Outlook { workload, condition, metric, variant, pilot_blocks: n, block_s, ..row });
            }
        }
    }
    Planning { aim, study: Some(study.study.clone()), rows }
}

/// The spread of a ratio whose two programs have layouts of their own in each block: each has the spread of layouts.
#[must_use]
pub fn with_layouts(sd: f64, layouts: f64) -> f64 {
    (sd * sd + 2.0 * layouts * layouts).sqrt()
}

/// Plans from a spread.
pub fn from_sd(aim: Aim, sd: f64) -> Planning {
    let row = outlook(&aim, Some(sd), Some(sd));
    Planning { aim, study: None, rows: vec![row] }
}

/// The blocks that a spread asks for.
fn outlook(aim: &Aim, sd: Option<f64>, planned_sd: Option<f64>) -> Outlook {
    let alpha = 1.0 - aim.confidence;
    let corrected = alpha / f64::from(aim.family.max(1));
    let to_see = |difference: &f64| {
        let design = Design { sd: planned_sd?, alpha: corrected };
        Some(design.blocks_for_difference(difference.ln_1p(), aim.power)?.max(least(alpha)))
    };
    let to_show_equivalent = planned_sd.and_then(|sd| {
        let zone = Zone::of_log_ratios(aim.margin);
        let blocks = Design { sd, alpha }.blocks_for_equivalence(zone.half_width, 0.0, aim.power)?;
        // Without an interval at the study's own confidence there is no verdict of equivalence either.
        Some(blocks.max(least(alpha)))
    });
    let to_see = aim.see.iter().map(to_see).collect();
    Outlook { sd, planned_sd, to_see, to_show_equivalent, ..Outlook::default() }
}

/// The smallest difference that this many blocks could have seen, as a fraction.
fn seen(aim: &Aim, sd: f64, blocks: u32) -> Option<f64> {
    let alpha = 1.0 - aim.confidence;
    let design = Design { sd, alpha: alpha / f64::from(aim.family.max(1)) };
    let enough = blocks >= least(alpha);
    enough.then(|| design.detectable(blocks, aim.power)).flatten().map(f64::exp_m1)
}

/// How long the trials of a block take together, on average; none if some variant has none that counts.
fn block_s(trials: &Trials<'_>, study: &StudyLine, place: Place) -> Option<f64> {
    let values = trials.values(place, "wall");
    let of = |variant: &str| Some(mean(&values.of(trials.ids.variant(variant)))).filter(|wall_s| wall_s.is_finite());
    let variants: Option<f64> = study.variants.iter().map(|variant| of(&variant.name)).sum();
    Some(variants? + of(TWIN).unwrap_or(0.0))
}
