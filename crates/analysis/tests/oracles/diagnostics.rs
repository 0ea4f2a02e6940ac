//! Drift, modes, outliers, counts, against their oracles.

use crate::support::Case;

pub(crate) const CASES: &[Case] = &[];
