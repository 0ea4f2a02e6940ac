//! Where blocks and boots were run.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// How it is set up, by names: `governor`, `turbo`, `smt` and `microcode`, as the kernel words them; `allowed`, the processors
    /// that trials may use where that is not all; `enclosure`, what keeps the processes of a trial together; `programs` and
    /// `scratch`, the file systems on which programs and the folders of trials are. What a machine does not tell is not there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// Metrics that cannot be measured at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unavailable {
    pub metrics: Vec<String>,
    pub why: String,
}
