//! Stopping rules and power, against their oracles.

use crate::support::Case;

pub(crate) const CASES: &[Case] = &[];
