//! Contrasts beyond the pairs of the tables, in families: what factors, suites and conditions do, as a [`Subject`] says.

use super::{Alias, Comparison, Level, Ranking, Refusal};
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::record::VariantLine;
use bakeoff_model::study::Levels;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A family of contrasts beyond the pairs of a table: the correction is made within it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effects {
    pub kind: EffectKind,
    /// The workload; none if over all of them.
    pub workload: Option<String>,
    /// The condition; where conditions are compared, the one that is compared with the first.
    pub condition: Option<String>,
    /// The study's first condition, of contrasts between the two.
    #[serde(skip)]
    pub first_condition: Option<String>,
    /// The metric's name.
    pub metric: String,
    pub unit: Unit,
    #[serde(default)]
    pub better: Direction,
    /// Terms that cannot be distinguished, because not every combination of levels ran; empty if all did.
    pub aliases: Vec<Alias>,
    pub effects: Vec<Effect>,
    /// Of a suite: the baseline's twin against it over all workloads, uncorrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<Comparison>,
    /// Of a suite on the deciding metric, with three variants or more: all pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Ranking>,
}

/// What contrasts are contrasts of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectKind {
    /// A level of a factor against the baseline's, averaged over all levels of the other factors.
    Main,
    /// How much two levels together do beyond what each does alone: (both ÷ one) ÷ (other ÷ neither).
    Interaction,
    /// A level of a factor against the baseline's, within each level of another factor: a family for level and factor.
    Simple,
    /// What one step of a factor does whose levels rise step by step, averaged over all levels of the other factors: the slope
    /// of ln y on the number of the step.
    Trend,
    /// A level of a factor against another one, neither of them the baseline's, while all other factors are as in the
    /// baseline. Only where evidence was gathered, which such pairs isolate, or where it is the only factor.
    Levels,
    /// A variant against the baseline over all workloads, of equal weight: the geometric mean of the ratios.
    Suite,
    /// A condition against the study's first, for one variant, paired by pass.
    Condition,
    /// How much a variant's ratio to the baseline under a condition is its ratio under the study's first.
    ConditionChange,
}

/// One contrast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    pub subject: Subject,
    /// Of a simple effect: the level within which it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Level>,
    /// Over which combinations of the other factors it is averaged, where that is not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
    /// What the blocks say; none if no block has all that is needed.
    pub comparison: Option<Comparison>,
    /// Why it cannot be estimated, if so and if it is not that blocks are missing.
    pub refused: Option<Refusal>,
}

impl Effect {
    /// The variant that it is about, if it is about one.
    pub fn variant(&self) -> Option<&str> {
        match &self.subject {
            Subject::Variant { variant, .. } | Subject::Condition { variant, .. } => Some(variant),
            Subject::Levels(_) | Subject::Steps { .. } => None,
        }
    }

    /// Whether it is about some of these variants, the first being the baseline, against each other, or by their levels.
    pub(super) fn is_about(&self, variants: &[VariantLine]) -> bool {
        let is_there = |name: &str| variants.iter().any(|variant| variant.name == name);
        let has = |variant: &VariantLine, factor: &str, level: &str| {
            variant.levels.get(factor).is_some_and(|own| own == level)
        };
        match &self.subject {
            Subject::Variant { variant, against } => is_there(variant) && is_there(against),
            Subject::Condition { variant, .. } => is_there(variant),
            Subject::Levels(steps) => variants.iter().any(|variant| {
                let within = self.within.iter().map(|level| (&level.factor, &level.level));
                let steps = steps.iter().map(|step| (&step.factor, &step.level));
                steps.chain(within).all(|(factor, level)| has(variant, factor, level))
            }),
            Subject::Steps { factor } => {
                let baseline = variants.first().and_then(|baseline| baseline.levels.get(factor));
                variants.iter().any(|variant| variant.levels.get(factor) != baseline)
            }
        }
    }
}

/// What a contrast is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A level of a factor against another one; two of them in an interaction.
    Levels(Vec<Step>),
    /// Each step of a factor whose levels rise.
    Steps { factor: String },
    /// A variant against another one.
    Variant { variant: String, against: String },
    /// A variant under a condition against itself under another one.
    Condition { variant: String, condition: String, against: String },
}

/// A level of a factor against another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub factor: String,
    pub level: String,
    pub against: String,
}

/// The combinations of other factors' levels that an effect is averaged over: those with every level that it compares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Over {
    pub combinations: Vec<Levels>,
    /// How many there would be if all were run.
    pub of: u32,
    /// The same by factor, if they are all combinations of these levels: factors with a level left out, and the others.
    pub levels: BTreeMap<String, Vec<String>>,
}
