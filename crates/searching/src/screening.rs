//! The way from a big space to the few that race: which combinations the next block runs, and at last the finalists. It runs
//! and builds nothing; the same seed and the same outcomes give the same blocks.
//!
//! First all of a subset, then the best by the model together with some anchors, which tie the blocks to those before; then
//! the best by the model are the finalists. Some of them were never run.

use crate::space::{Measured, Model, Space};
use bakeoff_model::shuffle::Stream;
use std::collections::BTreeSet;

/// Blocks of the subset, and again of the best.
pub const BLOCKS: usize = 3;

/// How many race, and anchors of the blocks before.
pub const FINALISTS: usize = 12;
pub const ANCHORS: usize = 4;

/// A screening in progress.
#[derive(Debug, Clone)]
pub struct Screening {
    space: Space,
    seed: u64,
    /// What the blocks of this stage hold; at last the finalists.
    pub stage: Vec<usize>,
    failed: BTreeSet<usize>,
    pub blocks: Vec<Vec<Measured>>,
}

impl Screening {
    /// Before its first block.
    pub fn new(space: Space, seed: u64) -> Self {
        Self { stage: space.subset(seed), space, seed, failed: BTreeSet::new(), blocks: vec![] }
    }

    /// The combinations of the next block in their order; none if the finalists are known.
    pub fn plan(&self) -> Vec<usize> {
        let mut plan = if self.finalists().is_some() { vec![] } else { self.stage.clone() };
        Stream::of(self.seed, &["screening", &self.blocks.len().to_string()]).shuffle(&mut plan);
        plan
    }

    /// The combinations that are to race, the best by the model first.
    pub fn finalists(&self) -> Option<&[usize]> {
        (self.blocks.len() >= 2 * BLOCKS).then_some(&self.stage[..])
    }

    /// Takes the outcomes of the planned block, in its order: logarithms, or none where a run failed or timed out.
    pub fn take(&mut self, outcomes: &[Option<f64>]) {
        let plan = self.plan();
        if plan.is_empty() || outcomes.len() != plan.len() {
            return;
        }
        let run = |(combination, ln): (&usize, &Option<f64>)| Some(Measured { combination: *combination, ln: (*ln)? });
        self.blocks.push(plan.iter().zip(outcomes).filter_map(run).collect());
        if self.blocks.len() == BLOCKS {
            let best = self.best();
            let mut anchors = std::mem::replace(&mut self.stage, best);
            anchors.retain(|anchor| !self.stage.contains(anchor));
            Stream::of(self.seed, &["anchors"]).shuffle(&mut anchors);
            self.stage.extend(anchors.iter().take(ANCHORS));
        } else if self.blocks.len() == 2 * BLOCKS {
            self.stage = self.best();
        }
    }

    /// Strikes out a combination whose build failed. In the first stage another one takes its place.
    pub fn build_failed(&mut self, combination: usize) {
        self.failed.insert(combination);
        self.stage.retain(|other| *other != combination);
        if self.blocks.len() < BLOCKS {
            self.stage.extend(self.space.replacement(&self.stage, &self.failed));
        }
    }

    /// What the runs say of all combinations; none if there was no run.
    pub fn model(&self) -> Option<Model> {
        Model::of(&self.space, &self.blocks)
    }

    fn best(&self) -> Vec<usize> {
        let ranked = self.model().map(|model| model.ranked()).unwrap_or_default();
        ranked.into_iter().filter(|combination| !self.failed.contains(combination)).take(FINALISTS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Screens 72 combinations with the costs of their levels; some builds and runs fail.
    fn screen(killed_after: Option<usize>) -> Screening {
        let space = || Space::of_levels(&[3, 3, 2, 2, 2], &|levels| levels[0] == 1 && levels[1] == 1);
        let begin = || Screening::new(space(), 7);
        let (mut screening, mut journal) = (begin(), vec![]);
        while screening.finalists().is_none() {
            if killed_after == Some(screening.blocks.len()) && !journal.is_empty() {
                screening = begin();
                screening.build_failed(screening.plan()[0]);
                journal.iter().for_each(|outcomes: &Vec<Option<f64>>| screening.take(outcomes));
            } else if journal.is_empty() {
                screening.build_failed(screening.plan()[0]);
            }
            let plan = screening.plan();
            let cost =
                |c: &usize| screening.space.combinations[*c].iter().map(|level| 0.02 * *level as f64).sum::<f64>();
            let outcomes: Vec<Option<f64>> = plan.iter().map(|c| Some(cost(c)).filter(|_| c % 11 != 3)).collect();
            screening.take(&outcomes);
            journal.push(outcomes);
        }
        screening
    }

    #[test]
    fn the_best_combination_is_a_finalist_and_a_failed_one_is_not() {
        let screening = screen(None);
        let finalists = screening.finalists().unwrap();
        assert_eq!((finalists.len(), screening.blocks.len()), (12, 6));
        assert_eq!(screening.space.combinations[finalists[0]], [0; 5]);
        assert!(finalists.iter().all(|c| !screening.failed.contains(c)));
        assert!(screening.plan().is_empty());
    }

    #[test]
    fn a_journal_replays() {
        let expect = screen(None);
        for killed_after in 1..6 {
            assert_eq!(screen(Some(killed_after)).finalists(), expect.finalists(), "after {killed_after}");
        }
    }
}
