//! Aliases: which parts of a model the run trials do not tell apart (Box & Hunter 1961). It looks at the design
//! only, never at a value.

use super::basis::Basis;
use super::terms::{Columns, Term};

/// The design of a model: the basis of its columns, and its terms in their order.
pub(super) struct Model<'a> {
    pub(super) basis: &'a Basis,
    pub(super) terms: &'a [Columns],
}

impl Model<'_> {
    /// The terms that `term` cannot be distinguished from, in the order of the model; empty if all of its effects can be
    /// estimated.
    ///
    /// The blocks, if the term's own columns are dependent once they are centred within blocks: it is constant within
    /// every block, or one of its levels was not run. Each other term with which it makes a dependent pair. And, if
    /// the rest of the model still hides it, the terms that do so together: those that share with it a smallest set of
    /// dependent columns. That is exact for factors of two levels; for terms of several columns such sets are taken column
    /// by column, and the list may depend on the coding.
    pub(super) fn aliased_with(&self, term: Term) -> Vec<Term> {
        let Some(own) = self.terms.iter().find(|columns| columns.term == term) else { return Vec::new() };
        let own_rank = self.rank(&[own]);
        let mut with = Vec::new();
        if own_rank < own.number {
            with.push(Term::Blocks);
        }
        let others: Vec<&Columns> = self.terms.iter().filter(|columns| columns.term != term).collect();
        let pairs = |other: &&Columns| self.rank(&[own, other]) < own_rank + self.rank(&[other]);
        let (paired, rest): (Vec<&Columns>, Vec<&Columns>) = others.into_iter().partition(pairs);
        with.extend(paired.iter().map(|columns| columns.term));
        with.extend(self.circle(own, &rest));
        with.sort_unstable();
        with
    }

    /// The dimension of what some terms span.
    fn rank(&self, terms: &[&Columns]) -> usize {
        self.span(terms).rank()
    }

    /// The terms of `rest` that share a smallest set of dependent columns with `own`.
    fn circle(&self, own: &Columns, rest: &[&Columns]) -> Vec<Term> {
        let all: Vec<&Columns> = std::iter::once(own).chain(rest.iter().copied()).collect();
        let circles = self.span(&all).circles();
        let (own_circles, mut others) = circles.split_at(own.number);
        let mut found = Vec::new();
        for columns in rest {
            let (circles, later) = others.split_at(columns.number);
            others = later;
            if circles.iter().any(|circle| own_circles.contains(circle)) {
                found.push(columns.term);
            }
        }
        found
    }

    /// The columns of some terms, in coordinates of the whole model's basis: short vectors of length 1 or 0.
    fn span(&self, terms: &[&Columns]) -> Basis {
        let basis = self.basis;
        let place = |column: usize| {
            let mut vector = basis.coordinates[column].clone();
            vector.resize(basis.rank(), 0.0);
            vector
        };
        Basis::of(terms.iter().flat_map(|columns| (columns.first..columns.first + columns.number).map(place)))
    }
}
