//! Tests and intervals by ranks: signed ranks of paired contrasts (`signed_rank`), and Mann and Whitney's for two
//! unpaired lists (`mann_whitney`). Neither is for blocks, which have the winsorised sign-flip test: the one is for lists
//! that somebody else measured, and the other is measured beside ours by `bakeoff calibrate`.
//!
//! The shift (Hodges & Lehmann 1963) and both intervals are order statistics of all pairwise differences or sums, which
//! `select` finds without forming them; `null` counts how often each statistic occurs if nothing differs.

mod mann_whitney;
mod null;
mod select;
mod signed_rank;

pub use mann_whitney::MannWhitney;
pub use signed_rank::SignedRank;
