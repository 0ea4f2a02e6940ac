//! Why an effect is not estimated, though its blocks may be there; and which effects no trial tells apart.

use super::caveat::Term;
use serde::{Deserialize, Serialize};

/// Why an effect is not estimated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// It would be a comparison that a table has: with the other factors as in the baseline only.
    InTheTable,
    /// Both sides are the same program.
    SameProgram,
    /// A variant that it needs printed something other than the baseline.
    OtherOutput { variant: String, workload: String },
    /// No trial that counts has one of its levels.
    NoTrial,
    /// There are too few trials to judge its error by.
    NoError,
    /// The variants that were run do not tell it apart from these.
    Aliased { with: Vec<Term> },
}

/// Effects that the variants that were run do not tell apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    pub term: Term,
    pub with: Vec<Term>,
}
