//! Building as something that is measured: its blocks stand in the same journal as those of the workloads, under names of
//! their own, and are judged apart from them. What a build was made of is [`super::BuildLine`]'s.

use serde::{Deserialize, Serialize};

/// What a layer's name follows in the name under which building it is measured.
const PREFIX: &str = "build-";

/// The metrics that building is judged by, where it is measured; the deciding one first.
pub const BUILDING_METRICS: [&str; 5] = ["wall", "user", "sys", "maxrss", "installed"];

/// How building is measured: one execution of a layer's script is a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Building {
    /// Names in place of a workload's, one for each layer, in the order of the layers.
    pub workloads: Vec<String>,
    /// The name in place of a condition's: nothing else is at work.
    pub condition: String,
    /// The passes that have such blocks, from the first on; fewer if the study has fewer.
    pub blocks: u32,
}

impl Building {
    /// The name under which building a layer is measured.
    pub fn workload_of(layer: &str) -> String {
        format!("{PREFIX}{layer}")
    }

    /// The layer whose building is measured under that name, if it is one of these.
    pub fn layer<'a>(&self, workload: &'a str) -> Option<&'a str> {
        workload.strip_prefix(PREFIX).filter(|_| self.workloads.iter().any(|known| known == workload))
    }
}
