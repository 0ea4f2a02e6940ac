//! Tests by ranks, unpaired t, tails, against their oracles.

use crate::support::Case;

pub(crate) const CASES: &[Case] = &[];
