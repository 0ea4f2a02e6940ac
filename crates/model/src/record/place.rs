//! Where blocks and boots were run.

use serde::{Deserialize, Serialize};

/// What distinguishes the machine that a block ran on from others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Place {
    /// Host name.
    pub host: String,
    /// Operating system, as it names itself.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// Processor model.
    pub cpu: String,
    /// Number of processors online.
    pub cpus: u32,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// The hypervisor or container, if one shows itself.
    pub virtualisation: Option<String>,
}

/// Metrics that cannot be measured at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unavailable {
    /// Their names.
    pub metrics: Vec<String>,
    /// Why.
    pub why: String,
}
