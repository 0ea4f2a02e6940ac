//! A block as a journal has it when it begins: its order is fixed from there on. Its trials are lines of their own.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use super::trial::is_zero;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A block begins.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Block {
    /// Number of the pass that it belongs to, from 1.
    pub block: u32,
    pub workload: String,
    pub condition: String,
    /// Every variant and the twin, in the order in which they run.
    pub order: Vec<String>,
    /// Bytes that the environment of its trials was padded with.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub padding: u32,
    /// Set if what its trials run was linked again for its pass: what the layouts were drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<u32>,
    /// A digest of what was linked for it, by variant; none of those that ran what was built. It begins with [`super::UNMATCHED`] if
    /// what the variants share may lie elsewhere in each of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub linked: BTreeMap<String, String>,
}

/// Pass, workload, condition.
pub type AwayKey = (u32, String, String);

impl Block {
    /// What tells it from other blocks.
    pub fn key(&self) -> AwayKey {
        (self.block, self.workload.clone(), self.condition.clone())
    }
}
