//! What a search is about: the variants of a plan as points of a space of levels, the budget, and what does not matter.

use crate::budget::Budget;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::{Factor, Study};
use bakeoff_searching::space::Space;

/// The same in all phases of a search. Functions number variants and factors by their places.
pub(crate) struct Task<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) budget: Budget,
    /// Differences of logarithms up to this one do not matter.
    pub(crate) margin: f64,
    /// The factors in which variants differ, in the order of the study: each name, and the levels that occur.
    pub(crate) factors: Vec<(String, Vec<String>)>,
    /// Of each variant: the place of its level of each factor.
    points: Vec<Vec<usize>>,
    /// The build of each variant: those that differ in run factors only have the same one. Empty if nothing is built.
    pub(crate) builds: Vec<usize>,
}

impl<'a> Task<'a> {
    /// If trials are simulated, nothing is built.
    pub(crate) fn of(study: &Study, plan: &'a Plan, budget: Budget, margin: f64, is_simulated: bool) -> Self {
        let (points, builds) = (vec![vec![]; plan.variants.len()], vec![]);
        let mut task = Self { plan, budget, margin, factors: vec![], points, builds };
        task.take_factors(&study.build_factors);
        if study.builds() && !is_simulated {
            let build = |own: &Vec<usize>| task.points.iter().position(|first| first == own).unwrap_or(0);
            task.builds = task.points.iter().map(build).collect();
        }
        task.take_factors(&study.run_factors);
        task
    }

    fn take_factors(&mut self, factors: &[Factor]) {
        for Factor { name, .. } in factors {
            let own: Vec<&String> = self.plan.variants.iter().filter_map(|variant| variant.levels.get(name)).collect();
            let mut levels: Vec<String> = vec![];
            for level in &own {
                if !levels.contains(level) {
                    levels.push((*level).clone());
                }
            }
            if levels.len() > 1 {
                for (point, level) in self.points.iter_mut().zip(own) {
                    point.extend(levels.iter().position(|known| known == level));
                }
                self.factors.push((name.clone(), levels));
            }
        }
    }

    /// The variants as a space, and which variant each of its combinations is.
    pub(crate) fn space(&self) -> (Space, Vec<usize>) {
        let mut variants: Vec<usize> = (0..self.points.len()).collect();
        variants.sort_by(|one, other| self.points[*one].cmp(&self.points[*other]));
        let combinations = variants.iter().map(|variant| self.points[*variant].clone()).collect();
        (Space { levels: self.factors.iter().map(|(_, levels)| levels.len()).collect(), combinations }, variants)
    }

    /// The factors in which a variant differs from the baseline.
    pub(crate) fn changed(&self, variant: usize) -> Vec<usize> {
        let [own, baseline] = [variant, 0].map(|variant| &self.points[variant]);
        (0..self.factors.len()).filter(|factor| own[*factor] != baseline[*factor]).collect()
    }

    /// The variant that has the baseline's level of these factors; none if the plan has no such variant.
    pub(crate) fn reverted(&self, variant: usize, factors: &[usize]) -> Option<usize> {
        let mut point = self.points[variant].clone();
        factors.iter().for_each(|factor| point[*factor] = self.points[0][*factor]);
        self.points.iter().position(|other| *other == point)
    }

    /// `factor=level` of a variant.
    pub(crate) fn term(&self, variant: usize, factor: usize) -> String {
        let (name, levels) = &self.factors[factor];
        format!("{name}={}", levels[self.points[variant][factor]])
    }

    pub(crate) fn name(&self, variant: usize) -> &str {
        &self.plan.variants[variant].name
    }

    /// How often a variant runs in a block: once for each workload and condition.
    pub(crate) fn cells(&self) -> u64 {
        (self.plan.workloads.len() * self.plan.conditions.len()) as u64
    }
}
