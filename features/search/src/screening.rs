//! The way from a big space to the few that race: which combinations the next block runs, and at last the finalists. It runs
//! and builds nothing; the same seed and the same outcomes give the same blocks.
//!
//! First all of a subset, then the best by the model together with some anchors, which tie the blocks to those before; then
//! the best by the model are the finalists. Some of them were never run.

use crate::space::{Measured, Space, Subset, rank};
use bakeoff_model::shuffle::Stream;

/// Blocks of the subset, and again of the best.
const BLOCKS: u32 = 3;

/// How many race, and anchors of the blocks before.
const FINALISTS: usize = 12;
const ANCHORS: usize = 4;

/// A screening in progress.
#[derive(Debug, Clone)]
pub struct Screening {
    space: Space,
    subset: Subset,
    seed: u64,
    /// What the blocks of this stage hold.
    stage: Vec<usize>,
    blocks: Vec<Vec<Measured>>,
    taken: u32,
    finalists: Option<Vec<usize>>,
}

impl Screening {
    /// Before its first block.
    pub fn new(space: Space, seed: u64) -> Self {
        let subset = space.subset(seed);
        let stage = subset.chosen().to_vec();
        Self { space, subset, seed, stage, blocks: vec![], taken: 0, finalists: None }
    }

    /// The combinations of the next block in their order; none if the finalists are known.
    pub fn plan(&self) -> Vec<usize> {
        let mut plan = if self.finalists.is_some() { vec![] } else { self.stage.clone() };
        Stream::of(self.seed, &["screening", &self.taken.to_string()]).shuffle(&mut plan);
        plan
    }

    /// The combinations that are to race, the best by the model first.
    pub fn finalists(&self) -> Option<&[usize]> {
        self.finalists.as_deref()
    }

    /// How many combinations the space has: those that were not built were judged by the model only.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Takes the outcomes of the planned block, in its order: logarithms, or none where a run failed or timed out.
    pub fn take(&mut self, outcomes: &[Option<f64>]) {
        let plan = self.plan();
        if plan.is_empty() || outcomes.len() != plan.len() {
            return;
        }
        let run = |(combination, ln): (&usize, &Option<f64>)| Some(Measured { combination: *combination, ln: (*ln)? });
        self.blocks.push(plan.iter().zip(outcomes).filter_map(run).collect());
        self.taken += 1;
        if self.taken == BLOCKS {
            self.stage = self.best();
            let mut anchors: Vec<usize> =
                self.subset.chosen().iter().filter(|anchor| !self.stage.contains(anchor)).copied().collect();
            Stream::of(self.seed, &["anchors"]).shuffle(&mut anchors);
            self.stage.extend(anchors.iter().take(ANCHORS));
        } else if self.taken == 2 * BLOCKS {
            self.finalists = Some(self.best());
        }
    }

    /// Strikes out a combination whose build failed. In the first stage another one takes its place.
    pub fn build_failed(&mut self, combination: usize) {
        let next = self.subset.replace(combination, &self.space);
        let is_first = self.taken < BLOCKS;
        for list in [Some(&mut self.stage), self.finalists.as_mut()].into_iter().flatten() {
            list.retain(|other| *other != combination);
        }
        self.stage.extend(next.filter(|_| is_first));
    }

    fn best(&self) -> Vec<usize> {
        let ranked = rank(&self.space, &self.blocks).unwrap_or_default();
        let can_be_built = ranked.iter().map(|one| one.combination).filter(|c| !self.subset.has_failed(*c));
        can_be_built.take(FINALISTS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Screens 72 combinations with the costs of their levels; some builds and runs fail.
    fn screen(killed_after: Option<u32>) -> Screening {
        let space = || Space::new(&[3, 3, 2, 2, 2], &|levels| levels[0] == 1 && levels[1] == 1);
        let begin = || Screening::new(space(), 7);
        let (mut screening, mut journal) = (begin(), vec![]);
        while screening.finalists().is_none() {
            if killed_after == Some(screening.taken) && !journal.is_empty() {
                screening = begin();
                screening.build_failed(screening.plan()[0]);
                journal.iter().for_each(|outcomes: &Vec<Option<f64>>| screening.take(outcomes));
            } else if journal.is_empty() {
                screening.build_failed(screening.plan()[0]);
            }
            let plan = screening.plan();
            let cost =
                |c: &usize| screening.space.combinations()[*c].iter().map(|level| 0.02 * *level as f64).sum::<f64>();
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
        assert_eq!((finalists.len(), screening.taken), (12, 6));
        assert_eq!(screening.space.combinations()[finalists[0]], [0; 5]);
        assert!(finalists.iter().all(|c| !screening.subset.has_failed(*c)));
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
