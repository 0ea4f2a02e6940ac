//! The terms of a linear model, and which columns of the design are whose. What the columns hold is in [`super`].

/// A part of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// What is constant within every block: the blocks, and the general mean.
    Blocks,
    /// The main effect of a factor, by its place.
    Main(usize),
    /// The interaction of two factors, by their places, the smaller one first.
    TwoWay(usize, usize),
}

/// A term but the blocks, with the place of its first column and their number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) term: Term,
    pub(super) first: usize,
    pub(super) number: usize,
}
