//! Mann and Whitney's test by ranks for two unpaired lists (`mann_whitney`). It is not for blocks, which have the
//! winsorised sign-flip test, but for lists that somebody else measured.
//!
//! The shift (Hodges & Lehmann 1963) and the interval are order statistics of all pairwise differences, which `select`
//! finds without forming them; `null` counts how often each statistic occurs if nothing differs.

mod mann_whitney;
mod null;
mod select;

pub use mann_whitney::MannWhitney;
