//! Where blocks and boots were run.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use serde::{Deserialize, Serialize};

/// What distinguishes the machine that a block ran on from others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Place {
    pub host: String,
    /// Operating system, as it names itself.
    pub os: String,
    pub kernel: String,
    /// Processor model.
    pub cpu: String,
    /// Number of processors online.
    pub cpus: u32,
    pub memory_bytes: u64,
    /// The hypervisor or container, if one shows itself.
    pub virtualisation: Option<String>,
}

/// Metrics that cannot be measured at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unavailable {
    pub metrics: Vec<String>,
    pub why: String,
}
