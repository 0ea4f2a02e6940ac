//! What a factor of the study changes in what is made, to be compared with what was made. Nothing is compared here.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A factor that changes what is made, as far as that can be checked against it: what its levels say that they change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FactorLine {
    /// Its name in the study.
    pub name: String,
    /// The variables and instructions of each level, by the level's name.
    pub levels: BTreeMap<String, BTreeMap<String, String>>,
    /// What it implies among the settings that are described: patterns with `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implied: Vec<String>,
    /// Whether its levels take different sources: then every setting may differ because of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_sources: bool,
}
