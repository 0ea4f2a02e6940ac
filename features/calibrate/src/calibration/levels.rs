//! The level and the margin of every simulated study. The goals, which say what is promised at them, are in
//! [`super::goals`].

/// Level of what is tested at 5 %.
pub(super) const ALPHA: f64 = 0.05;

/// The margin of equivalence.
pub(super) const MARGIN: f64 = 0.01;
