//! Building as something that is measured: its blocks stand in the same journal as those of the workloads, under names of
//! their own, and are judged apart from them. What a build was made of is [`super::BuildLine`]'s.

use super::Record;
use crate::until::Until;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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

impl Record {
    /// The record without what it holds of building: what a study's question is about.
    pub fn without_building(&self) -> Cow<'_, Self> {
        match &self.study.building {
            None => Cow::Borrowed(self),
            Some(building) => {
                let mut record = self.parted(|workload| building.layer(workload).is_none());
                record.study.building = None;
                Cow::Owned(record)
            }
        }
    }

    /// What the record holds of building, as a study of its own: so many blocks, judged by [`BUILDING_METRICS`].
    pub fn of_building(&self) -> Option<Self> {
        let building = self.study.building.clone()?;
        let mut record = self.parted(|workload| building.layer(workload).is_some());
        for session in &mut record.sessions {
            session.blocks = session.blocks.min(building.blocks);
        }
        record.builds.clear();
        record.evidence.clear();
        let study = &mut record.study;
        study.building = None;
        (study.until, study.looks_until) = (Until::Blocks, None);
        study.decide.metrics = BUILDING_METRICS.map(str::to_owned).to_vec();
        (study.workloads, study.conditions) = (building.workloads, vec![building.condition]);
        study.vary = vec![];
        Some(record)
    }

    fn parted(&self, takes: impl Fn(&str) -> bool) -> Self {
        Self {
            sessions: self.sessions.clone(),
            builds: self.builds.clone(),
            blocks: self.blocks.iter().filter(|block| takes(&block.workload)).cloned().collect(),
            trials: self.trials.iter().filter(|trial| takes(&trial.workload)).cloned().collect(),
            evidence: self.evidence.clone(),
            ..Self::new(self.study.clone())
        }
    }
}
