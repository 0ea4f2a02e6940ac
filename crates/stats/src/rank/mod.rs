//! Tests and intervals by ranks: signed ranks of paired contrasts (`signed_rank`), and Mann and Whitney's for two
//! unpaired lists (`mann_whitney`). Neither is this program's first choice for blocks, which is the winsorised
//! sign-flip test; they are for imported data, and for those who ask for them by name.
//!
//! Both centres (Hodges & Lehmann 1963) and both intervals are order statistics of all pairwise differences or sums,
//! which `select` finds without forming them; `null` counts how often each statistic occurs if nothing differs.

mod mann_whitney;
mod null;
mod select;
mod signed_rank;

pub use mann_whitney::MannWhitney;
pub use signed_rank::{EXACT_MAX, SignedRank};
