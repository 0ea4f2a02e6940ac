//! The linear model, letters and max-T, against their oracles.

use crate::support::Case;

pub(crate) const CASES: &[Case] = &[];
