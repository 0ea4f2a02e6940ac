//! The statistics, as functions of plain numbers: description, the sign-flip test, intervals by Student's t, Holm's
//! correction, equivalence, and the number of blocks that a question needs. Nothing here knows a study, a unit or a
//! variant, and nothing here imports from the rest of the crate.
//!
//! Everything inferential is a one-sample problem: each block gives one *contrast*, such as the logarithm of
//! variant ÷ baseline, and the question is where the contrasts are centred.

pub mod blocks;
pub mod describe;
pub mod equivalence;
pub mod holm;
pub mod signflip;
pub mod student;

mod flips;
mod subsets;
