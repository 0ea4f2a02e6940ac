//! Findings: everything that the analysis says about a study, as plain serialisable values. A report prints them
//! and computes nothing; `bakeoff report --json` is this file's types. Nothing here knows how to draw.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

mod by_place;
mod caveat;
mod comparison;
mod effects;
mod others;
mod outputs;
mod refusal;
mod remarks;
mod verdict;

pub use bakeoff_stats::describe::Description as Summary;
pub use by_place::*;
pub use caveat::*;
pub use comparison::*;
pub use effects::*;
pub use others::*;
pub use outputs::*;
pub use refusal::*;
pub use remarks::*;
pub use verdict::*;

use bakeoff_model::metric::{Direction, Metric, Unit};
use bakeoff_model::record::{Excluded, Place, SharedLine, TWIN, Unavailable, VariantLine};
use bakeoff_model::until::Until;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of this format.
pub const FORMAT: u32 = 3;

/// Sections of features: data, by name.
pub type Sections = serde_json::Map<String, Value>;

/// All that the analysis says of a study.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Findings {
    /// [`FORMAT`].
    pub format: u32,
    pub study: String,
    /// Its question, in its author's words.
    pub question: Option<String>,
    /// What was asked instead of the study's own question, if something was; part by part, in words of the command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    pub plan: String,
    pub seed: u64,
    /// The planted truth, if the trials were simulated.
    pub simulated: Option<String>,
    pub method: Method,
    /// Where: one entry for each different machine.
    pub places: Vec<Place>,
    /// How many commands took part in running it.
    pub sessions: u32,
    /// Blocks wanted for every workload × condition.
    pub blocks_wanted: u32,
    /// Blocks begun and finished, over all workloads and conditions.
    pub blocks_finished: u32,
    /// Total of blocks wanted over all workloads and conditions.
    pub blocks_total: u32,
    /// When the first session began, in seconds since 1970-01-01 UTC.
    pub started_unix_s: f64,
    /// The baseline first; without the twin.
    pub variants: Vec<VariantLine>,
    /// The combinations that the study leaves out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<Excluded>,
    /// Variants that were not run, because one of [`Self::variants`] is the same thing: they share its rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedLine>,
    /// Whether no trial was needed because all variants are one program. JSON shows it by [`Self::shared`].
    #[serde(skip)]
    pub is_one_program: bool,
    /// One table for every workload × condition × metric; the deciding metric first within each.
    pub tables: Vec<Table>,
    /// The rows of the deciding metric machine by machine, if blocks of other machines were collected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_place: Vec<ByPlace>,
    /// Blocks of other machines that were run more than once: how many of these executions are ignored.
    #[serde(default, skip_serializing_if = "is_none_again")]
    pub run_again: u32,
    /// What factors, suites of workloads and conditions do; empty where there is nothing beyond the tables.
    pub effects: Vec<Effects>,
    /// What the tables' metrics are and where they come from, each once. Of `peak` it says which of its two sources.
    #[serde(default)]
    pub metrics: Vec<Metric>,
    /// Latencies of ops, where workloads mark them: one table for every workload × condition × phase × op.
    #[serde(default)]
    pub latencies: Vec<LatencyTable>,
    /// The conditions, as far as the record tells of them.
    #[serde(default)]
    pub conditions: Vec<ConditionParts>,
    /// Metrics that could not be measured, by the reason.
    #[serde(default)]
    pub unavailable: Vec<Unavailable>,
    /// Those of them that the study asks for: to decide on, to show or to void trials by.
    #[serde(default)]
    pub missing: Vec<Unavailable>,
    /// What features add, by the name of their section.
    #[serde(flatten)]
    pub sections: Sections,
    /// What features say of variants besides.
    #[serde(skip)]
    pub besides: Besides,
    /// The same of building, where it was measured: a study of its own in the same passes, which has no say in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub building: Option<Box<Findings>>,
    /// How far the order of linking was varied, if it was to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layouts: Option<Layouts>,
    /// What was printed, where not all variants printed the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Outputs>,
    /// Trials that failed or are void, one entry for each variant × workload × condition that has any.
    pub failures: Vec<FailedTrials>,
    /// Doubts about the study as a whole.
    pub caveats: Vec<Caveat>,
}

impl Findings {
    /// Leaves what is said of these variants and of the baseline, corrected for all as before, and doubts about the whole
    /// study. No names leave everything; the first unknown one is returned, and nothing is changed.
    pub fn retain(&mut self, only: &[String]) -> Option<String> {
        if let Some(unknown) = only.iter().find(|name| self.variants.iter().all(|variant| variant.name != **name)) {
            return Some(unknown.clone());
        }
        if !only.is_empty() {
            self.keep(only);
        }
        None
    }

    fn keep(&mut self, only: &[String]) {
        let Some(baseline) = self.variants.first().map(|variant| variant.name.clone()) else { return };
        let stays = |name: &str| name == baseline || only.iter().any(|known| known == name);
        self.variants.retain(|variant| stays(&variant.name));
        self.shared.retain(|one| stays(&one.with));
        for table in &mut self.tables {
            table.rows.retain(|row| stays(&row.variant));
            table.ranking.iter_mut().for_each(|ranking| ranking.keep(stays));
        }
        self.by_place.retain(|row| row.variant == TWIN || stays(&row.variant));
        for family in &mut self.effects {
            family.effects.retain(|effect| effect.is_about(&self.variants));
            family.ranking.iter_mut().for_each(|ranking| ranking.keep(stays));
        }
        self.effects.retain(|family| !family.effects.is_empty());
        self.latencies.iter_mut().for_each(|table| table.rows.retain(|row| stays(&row.variant)));
        let watched = self.conditions.iter_mut().flat_map(|condition| &mut condition.watched);
        watched.for_each(|watched| watched.variants.retain(|one| stays(&one.variant)));
        self.outputs.iter_mut().for_each(|outputs| outputs.others.retain(|other| stays(&other.variant)));
        self.outputs.retain(|outputs| !outputs.others.is_empty());
        self.building.iter_mut().for_each(|building| building.keep(only));
        self.failures.retain(|lost| stays(&lost.variant));
        let shared: Vec<&String> = self.shared.iter().map(|one| &one.variant.name).collect();
        let stays = |name: &str| stays(name) || shared.iter().any(|known| *known == name);
        self.sections.values_mut().for_each(|section| keep_items(section, &stays));
    }
}

/// Leaves the items of a section that are about some variants, where they name any.
fn keep_items(section: &mut Value, stays: &impl Fn(&str) -> bool) {
    let Value::Array(items) = section else { return };
    let is_left = |name: &Value| name.as_str().is_some_and(stays);
    items.retain_mut(|item| match item.get_mut("variants") {
        Some(Value::Array(names)) => {
            names.retain(is_left);
            !names.is_empty()
        }
        _ => item.get("variant").is_none_or(is_left),
    });
}

fn is_none_again(number: &u32) -> bool {
    *number == 0
}

/// How the study was judged; one choice for all tables.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Method {
    /// The metric that the answer is about.
    pub deciding_metric: String,
    /// Confidence of intervals and verdicts, between 0 and 1.
    pub confidence: f64,
    /// Half-width of the zone of equivalence, as a fraction.
    pub margin: f64,
    /// Comparisons in each family that the correction is made over (variants against the baseline, twin apart).
    pub family: u32,
    /// The rule by which the study stops; none if the number of blocks was fixed.
    #[serde(default)]
    pub stopping: Option<Stopping>,
}

/// The rule by which a study stops, and where it stands. p, intervals and verdicts account for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// The rule, as fixed before the first block.
    pub until: Until,
    /// Numbers of blocks at which it is looked at; empty if it is looked at after each.
    pub looks: Vec<u32>,
    /// The blocks, of each workload and condition, that verdicts are based on: those of the last look.
    pub judged_blocks: u32,
    /// The most blocks of each workload and condition.
    pub most_blocks: u32,
    pub enough: bool,
}

/// One metric of one workload under one condition, over all variants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub workload: String,
    pub condition: String,
    pub metric: String,
    pub unit: Unit,
    #[serde(default)]
    pub better: Direction,
    /// The baseline first (it has no comparison), then the other variants as planned.
    pub rows: Vec<Row>,
    /// The twin against the baseline: what this machine calls a difference between a thing and itself.
    pub noise_floor: Option<Row>,
    /// All pairs, on the deciding metric of three variants or more.
    pub ranking: Option<Ranking>,
}

/// All pairs of a table's variants: those with the baseline are the rows', the others a family with its own level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The best first: from the least of a cost to the most, and from the most of a yield to the least.
    pub variants: Vec<Ranked>,
    pub pairs: u32,
    /// How many of them are shown to differ.
    pub differ: u32,
    /// The pairs that are shown to be equivalent, by name.
    pub equivalent: Vec<[String; 2]>,
    /// Variants with values that are not among them: they have too few, or their clock is too coarse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Ranking {
    /// Leaves some variants; the numbers of pairs stay those of all.
    fn keep(&mut self, stays: impl Fn(&str) -> bool) {
        self.variants.retain(|ranked| stays(&ranked.variant));
        self.equivalent.retain(|pair| pair.iter().all(|name| stays(name)));
        self.left_out.retain(|name| stays(name));
    }
}

/// One variant among all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    pub variant: String,
    /// Two variants share a letter if and only if they are not shown to differ.
    pub letters: String,
    /// Against the first of the ranking; none for that one itself.
    pub against_best: Option<f64>,
    /// Its interval, of the family that the pair is in: so being the best by chance is allowed for.
    pub against_best_interval: Option<[f64; 2]>,
    /// What these numbers are.
    pub scale: Scale,
}

/// One variant in one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The variant's display name.
    pub variant: String,
    /// Its own values; none if it has no valid trial.
    pub summary: Option<Summary>,
    /// Against the baseline; none for the baseline itself, or where there is no block with both.
    pub comparison: Option<Comparison>,
}
