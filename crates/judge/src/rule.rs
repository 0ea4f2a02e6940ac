//! The decision rule of a study, in words in [`super`]: α, margin, size of the family, seed and mode of inference.

use super::mode::InferenceMode;
use super::study::variants;
use bakeoff_model::record::StudyLine;
use bakeoff_model::study::Vary;

/// What every comparison of a family is decided by.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecisionRule {
    pub(super) alpha: f64,
    pub(super) margin: f64,
    /// Comparisons that the correction is made over.
    pub(super) family: u32,
    /// Tables that are judged together, because their workloads are benchmarks of one suite.
    pub(super) tables: u32,
    /// The seed of the flips, where there are too many to enumerate.
    pub(super) seed: u64,
    pub(super) mode: InferenceMode,
    pub(super) units: Units,
}

/// What a contrast is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Units {
    Blocks,
    /// Each has a layout of its own.
    LaidOutBlocks,
    /// Each is of several blocks, and more blocks are no more of them.
    Layouts,
}

impl Units {
    fn of(study: &StudyLine) -> Self {
        match study.layouts {
            Some(_) => Self::Layouts,
            None if study.vary.contains(&Vary::Layouts) => Self::LaidOutBlocks,
            None => Self::Blocks,
        }
    }
}

impl DecisionRule {
    /// The rule of a study's tables: the family is all variants but the baseline and its twin.
    pub(super) fn of(study: &StudyLine, mode: InferenceMode) -> Self {
        Self {
            alpha: 1.0 - study.decide.confidence,
            margin: study.decide.margin,
            family: variants(study).count().saturating_sub(1) as u32,
            tables: 1,
            seed: study.seed,
            mode,
            units: Units::of(study),
        }
    }
}
