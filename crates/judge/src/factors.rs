//! The factors that vary in a study, each with its levels, and the steps from level to level. Which contrasts they make
//! is in [`super::effects`].

use super::study::{variants, with_shared};
use crate::findings::Step as LevelStep;
use bakeoff_model::grouped::unique;
use bakeoff_model::record::{StudyLine, VariantLine};
use bakeoff_stats::linear::Step;

pub(super) struct Factors(pub(super) Vec<(String, Vec<String>)>);

impl Factors {
    pub(super) fn of(study: &StudyLine) -> Self {
        let Some(baseline) = variants(study).next() else { return Self(vec![]) };
        let levels = |factor: &String, reference: &String| {
            let others =
                with_shared(study).filter_map(|(v, _)| v.levels.get(factor)).filter(|level| *level != reference);
            unique(std::iter::once(reference).chain(others).cloned())
        };
        let all = baseline.levels.iter().map(|(factor, reference)| (factor.clone(), levels(factor, reference)));
        Self(all.filter(|(_, levels)| levels.len() > 1).collect())
    }

    /// Whether some variant differs from the baseline in more than one factor: else the pairs are all there is to say.
    pub(super) fn are_crossed(&self, study: &StudyLine) -> bool {
        let Some(baseline) = variants(study).next() else { return false };
        let differs = |variant: &VariantLine| {
            self.0.iter().filter(|(factor, _)| variant.levels.get(factor) != baseline.levels.get(factor)).count()
        };
        variants(study).any(|variant| differs(variant) > 1)
    }

    /// Every level but the first of every factor, against the first.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step> {
        let of = |(factor, (_, levels)): (usize, &(String, Vec<String>))| {
            (1..levels.len()).map(move |level| Step(factor, level, 0)).collect::<Vec<_>>()
        };
        self.0.iter().enumerate().flat_map(of)
    }

    /// Every two steps of different factors, by factors first.
    pub(super) fn pairs(&self) -> Vec<(Step, Step)> {
        let steps: Vec<Step> = self.steps().collect();
        let all = steps.iter().enumerate().flat_map(|(i, a)| steps[i + 1..].iter().map(move |b| (*a, *b)));
        let mut pairs: Vec<(Step, Step)> = all.filter(|(a, b)| a.0 != b.0).collect();
        pairs.sort_by_key(|(a, b)| (a.0, b.0));
        pairs
    }

    /// A step by its names.
    pub(super) fn named(&self, Step(factor, level, reference): Step) -> LevelStep {
        let (factor, levels) = &self.0[factor];
        LevelStep { factor: factor.clone(), level: levels[level].clone(), against: levels[reference].clone() }
    }

    /// A variant's level of every factor, by its place.
    pub(super) fn places_of(&self, variant: &VariantLine) -> Option<Vec<usize>> {
        let place = |(factor, levels): &(String, Vec<String>)| {
            levels.iter().position(|level| variant.levels.get(factor) == Some(level))
        };
        self.0.iter().map(place).collect()
    }
}
