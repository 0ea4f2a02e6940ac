//! Ordinary least squares of one value per trial on categorical factors, for designs in which not every combination
//! of levels run or blocks are incomplete: robust errors, and the aliases of terms that cannot be distinguished. Complete
//! factorials do not need it: their effects are contrasts within a block, judged by the sign-flip test.
//!
//! y = block + main effects (+ two-way interactions) + error: the blocks as fixed effects, every factor coded to sum to
//! zero over its levels, so that a main effect is an average over the levels of the other factors, each level counting
//! alike. Errors by HC3, t with N − rank degrees of freedom. It assumes independent errors of
//! mean 0 that need not be normal nor vary equally, and no interactions of three or more factors; if it is fitted
//! without two-way interactions, none of these either.

mod alias;
mod basis;
mod ols;
mod terms;

pub use ols::{Estimate, Gap, Ols};
pub use terms::Term;

use alias::Model;
use terms::Columns;

/// A model with more numbers than this, observations × columns, is refused.
const NUMBERS_MAX: usize = 1 << 26;

/// One value, at one level of every factor.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// Any name of its block.
    pub block: usize,
    /// Its level of each factor, counted from 0.
    pub levels: &'a [usize],
    /// The value: the logarithm of a metric, if effects are to be ratios.
    pub y: f64,
}

/// Why an effect is not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The model has no such effect: no such factor or level, a level against itself, or a model without interactions.
    Unknown,
    /// The trials that were run do not tell it apart from these; never empty.
    Aliased {
        /// In the order of the model.
        with: Vec<Term>,
    },
    /// There are too few trials to judge its error by.
    NoError,
}

/// A level of a factor and the level that it is compared with: (factor, level, reference).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step(pub usize, pub usize, pub usize);

/// A fitted model.
#[derive(Debug, Clone)]
pub struct Fit {
    ols: Ols,
    levels: Vec<usize>,
    /// Every term but the blocks, with the place of its first column and their number, in the order of the columns.
    terms: Vec<Columns>,
}

impl Fit {
    /// Fits the model. `levels_per_factor` gives the number of levels of every factor, run or not. None if there
    /// are no observations, one has a level that its factor has not or a value that is not finite (or so large that
    /// sums overflow), or the model is larger than 2²⁶ numbers.
    pub fn new(observations: &[Observation<'_>], levels_per_factor: &[usize], interactions: bool) -> Option<Self> {
        let known = |o: &Observation<'_>| {
            o.levels.len() == levels_per_factor.len() && o.levels.iter().zip(levels_per_factor).all(|(l, n)| l < n)
        };
        let terms = terms(levels_per_factor, interactions)?;
        let width: usize = terms.last().map_or(0, |last| last.first + last.number);
        if !observations.iter().all(known) || observations.len().checked_mul(width)? > NUMBERS_MAX {
            return None;
        }
        let mut columns = vec![Vec::with_capacity(observations.len()); width];
        for observation in observations {
            let row = terms.iter().flat_map(|columns| match columns.term {
                Term::Blocks => Vec::new(),
                Term::Main(f) => code(observation.levels[f], levels_per_factor[f]),
                Term::TwoWay(f, g) => product(
                    &code(observation.levels[f], levels_per_factor[f]),
                    &code(observation.levels[g], levels_per_factor[g]),
                ),
            });
            columns.iter_mut().zip(row).for_each(|(column, x)| column.push(x));
        }
        let blocks: Vec<usize> = observations.iter().map(|o| o.block).collect();
        let y: Vec<f64> = observations.iter().map(|o| o.y).collect();
        let ols = Ols::new(&blocks, &columns, &y)?;
        Some(Self { ols, levels: levels_per_factor.to_vec(), terms })
    }

    /// Main effect: `level` − `reference` of `factor`, averaged over the levels of the other factors.
    pub fn main(&self, step: Step) -> Result<Estimate, Refused> {
        let weights = self.step(step).ok_or(Refused::Unknown)?;
        self.effect(Term::Main(step.0), &weights)
    }

    /// Two-way interaction, a difference of differences: (`a.level` − `a.reference` at `b.level`) − (the same at
    /// `b.reference`), averaged over the levels of the other factors.
    pub fn interaction(&self, a: Step, b: Step) -> Result<Estimate, Refused> {
        let (a, b) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        let weights = self.step(a).zip(self.step(b)).map(|(a, b)| product(&a, &b)).ok_or(Refused::Unknown)?;
        self.effect(Term::TwoWay(a.0, b.0), &weights)
    }

    /// Every term with an effect that cannot be distinguished, and the terms that it cannot be distinguished from.
    /// Empty if all effects can be estimated.
    pub fn aliases(&self) -> Vec<(Term, Vec<Term>)> {
        let with = |columns: &Columns| (columns.term, self.model().aliased_with(columns.term));
        self.terms.iter().map(with).filter(|(_, with)| !with.is_empty()).collect()
    }

    fn model(&self) -> Model<'_> {
        Model { basis: &self.ols.basis, terms: &self.terms }
    }

    fn effect(&self, term: Term, weights: &[f64]) -> Result<Estimate, Refused> {
        let columns = self.terms.iter().find(|columns| columns.term == term).ok_or(Refused::Unknown)?;
        let mut all = vec![0.0; self.ols.basis.coordinates.len()];
        all[columns.first..][..columns.number].copy_from_slice(weights);
        self.ols.combination(&all).map_err(|gap| match gap {
            Gap::NotEstimable => Refused::Aliased { with: self.model().aliased_with(term) },
            Gap::NoError => Refused::NoError,
        })
    }

    /// Weights of the coefficients of a factor for one level − another.
    fn step(&self, Step(factor, level, reference): Step) -> Option<Vec<f64>> {
        let levels = *self.levels.get(factor)?;
        let known = level < levels && reference < levels && level != reference;
        let difference = || code(level, levels).iter().zip(code(reference, levels)).map(|(l, r)| l - r).collect();
        known.then(difference)
    }
}

/// The terms of a model, mains first; none if their number of columns is beyond counting.
fn terms(levels: &[usize], interactions: bool) -> Option<Vec<Columns>> {
    let width = |factor: usize| levels[factor].saturating_sub(1);
    let mains = (0..levels.len()).map(|f| (Term::Main(f), Some(width(f))));
    let pairs = (0..levels.len()).flat_map(|f| (f + 1..levels.len()).map(move |g| (f, g)));
    let two_ways = pairs.map(|(f, g)| (Term::TwoWay(f, g), width(f).checked_mul(width(g))));
    let mut first = 0usize;
    let mut terms = Vec::new();
    for (term, number) in mains.chain(two_ways.filter(|_| interactions)) {
        let number = number?;
        terms.push(Columns { term, first, number });
        first = first.checked_add(number).filter(|columns| *columns <= NUMBERS_MAX)?;
    }
    Some(terms)
}

/// Sum-to-zero code of a level: one column for each level but the last, which has −1 in all of them.
fn code(level: usize, levels: usize) -> Vec<f64> {
    let last = levels.saturating_sub(1);
    (0..last).map(|column| if level == last { -1.0 } else { f64::from(u8::from(level == column)) }).collect()
}

/// All products of one of `a` and one of `b`.
fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().flat_map(|a| b.iter().map(move |b| a * b)).collect()
}
