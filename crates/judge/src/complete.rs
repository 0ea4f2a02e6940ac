//! What crossed factors can be asked by contrasts inside blocks, and over which combinations: every contrast takes the
//! combinations of the other factors' levels that were run with all levels that it compares, each with the same
//! weight. So a gap is lost to the contrasts that need it, and to no other. Nothing is judged here.
//!
//! A variant is there if it has a value in at least half of the passes that have any; so a variant that hardly ever
//! succeeds does not take its blocks from the others. Which contrasts a family has, and so its size, is fixed by the plan.
//! Of a level that was run with a single combination, the baseline's, there is only the pair that has its row in the
//! table. What has no combination at all is left to the linear model ([`super::fraction`]).

use super::contrasts::{Planned, Weights};
use super::factors::Factors;
use super::ids::{Cell, Ids, Place, VariantId};
use super::study::with_shared;
use super::trials::Passes;
use crate::findings::{Level, Over, Refusal, Subject};
use bakeoff_model::record::StudyLine;
use bakeoff_stats::linear::Step;
use std::collections::{BTreeMap, BTreeSet};

/// A place of every factor's level.
type Places = Vec<usize>;

/// The levels of some factors, by place: factor, level.
type Corner = Vec<(usize, usize)>;

/// The combinations of a study's levels, at one place and of one metric.
pub(super) struct Design<'a> {
    factors: &'a Factors,
    place: Place,
    /// All that the plan has.
    planned: BTreeMap<Places, VariantId>,
    /// Those that have values enough.
    there: BTreeMap<Places, VariantId>,
    /// For each pass with any value, the variants that have one.
    passes: Vec<BTreeSet<VariantId>>,
}

/// A contrast before it is judged, with what is known of it besides.
pub(super) struct Outline {
    planned: Planned,
    detail: Detail,
}

/// What a judged contrast does not say.
#[derive(Default)]
pub(super) struct Detail {
    pub(super) within: Option<Level>,
    pub(super) over: Option<Over>,
    /// Why there is none, and the linear model need not be asked.
    pub(super) refused: Option<Refusal>,
}

impl Outline {
    pub(super) fn split(self) -> (Planned, Detail) {
        (self.planned, self.detail)
    }
}

impl<'a> Design<'a> {
    pub(super) fn new(study: &StudyLine, factors: &'a Factors, ids: &Ids<'_>, place: Place, passes: &Passes) -> Self {
        let planned: BTreeMap<Places, VariantId> = with_shared(study)
            .filter_map(|(variant, row)| Some((factors.places_of(variant)?, ids.variant(row))))
            .collect();
        let of_pass = |cells: &BTreeMap<Cell, f64>| -> BTreeSet<VariantId> {
            planned.values().copied().filter(|id| cells.contains_key(&Cell { variant: *id, place })).collect()
        };
        let mut passes: Vec<BTreeSet<VariantId>> = passes.values().map(of_pass).collect();
        passes.retain(|pass| !pass.is_empty());
        let mut there = planned.clone();
        there.retain(|_, variant| is_usual(&passes, |pass| pass.contains(variant)));
        Self { factors, place, planned, there, passes }
    }

    /// Every level but the baseline's against it.
    pub(super) fn mains(&self) -> Vec<Outline> {
        self.factors.steps().map(|Step(f, level, _)| self.main(f, level)).collect()
    }

    fn main(&self, f: usize, level: usize) -> Outline {
        let corners = [(vec![(f, level)], 1.0), (vec![(f, 0)], -1.0)];
        let mut outline = self.outline(&corners, &[(f, level)]);
        let rests = Self::common(&self.there, &corners);
        if let [rest] = rests.as_slice()
            && rest.iter().all(|place| *place == 0)
            && outline.detail.over.is_some()
        {
            (outline.planned.weights, outline.detail) =
                (Weights::new(), Detail { refused: Some(Refusal::InTheTable), ..Detail::default() });
        }
        outline
    }

    /// What two levels do together beyond what each does alone.
    pub(super) fn interactions(&self) -> Vec<Outline> {
        let outline = |(Step(f, a, _), Step(g, b, _))| {
            let corner = |a, b| vec![(f, a), (g, b)];
            let corners = [(corner(a, b), 1.0), (corner(0, 0), 1.0), (corner(a, 0), -1.0), (corner(0, b), -1.0)];
            self.outline(&corners, &[(f, a), (g, b)])
        };
        self.factors.pairs().into_iter().map(outline).collect()
    }

    /// Each level but the baseline's, within each level of each other factor: a family for level and factor. Those that the
    /// plan has no combination for do not take part, nor those that are a pair of the table and no more.
    pub(super) fn simples(&self) -> Vec<Vec<Outline>> {
        let mut families = vec![];
        for Step(f, a, _) in self.factors.steps() {
            for (g, (_, g_levels)) in self.factors.0.iter().enumerate().filter(|(g, _)| *g != f) {
                let simple = |b: usize| {
                    let corners = [(vec![(f, a), (g, b)], 1.0), (vec![(f, 0), (g, b)], -1.0)];
                    let rests = Self::common(&self.planned, &corners);
                    let is_baseline = b == 0 && rests.iter().all(|rest| rest.iter().all(|place| *place == 0));
                    if rests.is_empty() || is_baseline && rests.len() < self.combinations(&corners) {
                        return None;
                    }
                    let mut outline = self.outline(&corners, &[(f, a)]);
                    outline.detail.within = Some(self.level(g, b));
                    Some(outline)
                };
                families.push((0..g_levels.len()).filter_map(simple).collect());
            }
        }
        families
    }

    /// A contrast of corners over the combinations of the rest that have all of them; without weights if there is none, or
    /// if most passes lack some trial of them.
    fn outline(&self, corners: &[(Corner, f64)], of: &[(usize, usize)]) -> Outline {
        let rests = Self::common(&self.there, corners);
        let mut weights = Weights::new();
        for (corner, weight) in corners {
            for rest in &rests {
                if let Some(variant) = self.there.get(&joined(corner, rest)) {
                    *weights.entry(Cell { variant: *variant, place: self.place }).or_default() +=
                        weight / rests.len() as f64;
                }
            }
        }
        // Two combinations that are the same program share a row, and differ in nothing.
        weights.retain(|_, weight| weight.abs() > CANCELLED);
        let is_nothing = weights.is_empty() && !rests.is_empty();
        if !is_usual(&self.passes, |pass| weights.keys().all(|cell| pass.contains(&cell.variant))) {
            weights.clear();
        }
        let over =
            (!weights.is_empty() && rests.len() < self.combinations(corners)).then(|| self.over(corners, &rests));
        let refused = is_nothing.then_some(Refusal::SameProgram);
        let step = |(factor, level): &(usize, usize)| self.factors.named(Step(*factor, *level, 0));
        let planned = Planned { subject: Subject::Levels(of.iter().map(step).collect()), weights };
        Outline { planned, detail: Detail { over, refused, ..Detail::default() } }
    }

    /// The levels of the other factors with which every corner is there, in the order of the factors.
    fn common(there: &BTreeMap<Places, VariantId>, corners: &[(Corner, f64)]) -> Vec<Places> {
        let Some(((first, _), others)) = corners.split_first() else { return vec![] };
        let has_first = |places: &&Places| first.iter().all(|(factor, level)| places[*factor] == *level);
        let rests = there.keys().filter(has_first).map(|places| rest(first, places));
        rests.filter(|rest| others.iter().all(|(corner, _)| there.contains_key(&joined(corner, rest)))).collect()
    }

    /// How many combinations of the other factors there would be.
    fn combinations(&self, corners: &[(Corner, f64)]) -> usize {
        self.others(corners).iter().map(|factor| self.factors.0[*factor].1.len()).product()
    }

    /// The factors that a contrast does not compare.
    fn others(&self, corners: &[(Corner, f64)]) -> Vec<usize> {
        let compared = |factor: &usize| corners.iter().any(|(corner, _)| corner.iter().any(|(f, _)| f == factor));
        (0..self.factors.0.len()).filter(|factor| !compared(factor)).collect()
    }

    fn over(&self, corners: &[(Corner, f64)], rests: &[Places]) -> Over {
        let others = self.others(corners);
        let of_rest = |rest: &Places| {
            let levels = others.iter().zip(rest).map(|(factor, level)| {
                let (name, levels) = &self.factors.0[*factor];
                (name.clone(), levels[*level].clone())
            });
            levels.collect()
        };
        let kept = |at: usize| -> BTreeSet<usize> { rests.iter().map(|rest| rest[at]).collect() };
        let kept: Vec<BTreeSet<usize>> = (0..others.len()).map(kept).collect();
        let mut levels = BTreeMap::new();
        if kept.iter().map(BTreeSet::len).product::<usize>() == rests.len() {
            for (factor, kept) in others.iter().zip(&kept) {
                let (name, all) = &self.factors.0[*factor];
                if kept.len() < all.len() {
                    levels.insert(name.clone(), kept.iter().map(|level| all[*level].clone()).collect());
                }
            }
        }
        Over {
            combinations: rests.iter().map(of_rest).collect(),
            of: u32::try_from(self.combinations(corners)).unwrap_or(u32::MAX),
            levels,
        }
    }

    fn level(&self, factor: usize, level: usize) -> Level {
        let (factor, levels) = &self.factors.0[factor];
        Level { factor: factor.clone(), level: levels[level].clone() }
    }
}

/// What is left of weights that cancel each other, by rounding.
const CANCELLED: f64 = 1e-12;

/// The levels of the factors that a corner does not name.
fn rest(corner: &Corner, places: &Places) -> Places {
    let named = |factor: usize| corner.iter().any(|(f, _)| *f == factor);
    places.iter().enumerate().filter(|(factor, _)| !named(*factor)).map(|(_, level)| *level).collect()
}

/// A combination from a corner and the levels of the rest.
fn joined(corner: &Corner, rest: &Places) -> Places {
    let mut rest = rest.iter();
    let level = |factor: usize| corner.iter().find(|(f, _)| *f == factor).map(|(_, level)| *level);
    let all = corner.len() + rest.len();
    (0..all).filter_map(|factor| level(factor).or_else(|| rest.next().copied())).collect()
}

/// Whether something is so in at least half of the passes.
fn is_usual(passes: &[BTreeSet<VariantId>], is_so: impl Fn(&BTreeSet<VariantId>) -> bool) -> bool {
    2 * passes.iter().filter(|pass| is_so(pass)).count() >= passes.len()
}
