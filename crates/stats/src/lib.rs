//! The statistics, as functions of plain numbers: description, the sign-flip test, intervals by Student's t, Holm's
//! correction, equivalence, and the number of blocks that a question needs. Nothing here knows a study, a unit or a
//! variant, and this crate imports nothing of ours.
//!
//! Everything inferential is a one-sample problem: each block gives one *contrast*, such as the logarithm of
//! variant ÷ baseline, and the question is where the contrasts are centred.

pub mod blocks;
pub mod cholesky;
pub mod describe;
pub mod eprocess;
pub mod equivalence;
pub mod grid;
pub mod groups;
pub mod holm;
pub mod letters;
pub mod linear;
pub mod maxt;
pub mod ministat;
pub mod modes;
pub mod outliers;
pub mod power;
pub mod proportion;
pub mod rank;
pub mod signflip;
pub mod spending;
pub mod student;
pub mod trend;
pub mod welch;

mod edgeworth;
mod flips;
mod quadrature;
mod roots;
mod signs;
mod splitmix;
mod subsets;
