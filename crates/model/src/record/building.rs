//! Building as something that is measured: its blocks stand in the same journal as those of the workloads, under names of
//! their own, and are judged apart from them. What was made, and of what, is another line ([`super::MadeLine`]).

use serde::{Deserialize, Serialize};

/// What the name of a step follows in the name under which it is measured.
const PREFIX: &str = "build-";

/// The metrics that building is judged by, where it is measured; the deciding one first.
pub const BUILDING_METRICS: [&str; 5] = ["wall", "user", "sys", "maxrss", "installed"];

/// How building is measured: one execution of a step's script is a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Building {
    /// Names in place of a workload's, one for each step, in the order of the steps.
    pub workloads: Vec<String>,
    /// The name in place of a condition's: nothing else is at work.
    pub condition: String,
    /// The passes that have such blocks, from the first on; fewer if the study has fewer.
    pub blocks: u32,
}

impl Building {
    /// The name under which a step is measured.
    pub fn workload_of(step: &str) -> String {
        format!("{PREFIX}{step}")
    }

    /// The step that is measured under that name, if it is one of these.
    pub fn step<'a>(&self, workload: &'a str) -> Option<&'a str> {
        workload.strip_prefix(PREFIX).filter(|_| self.workloads.iter().any(|known| known == workload))
    }
}
