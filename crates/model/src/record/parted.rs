//! A record in parts: what a study's question is about, and what was measured besides. Each is a record again, and
//! neither is judged here.

use super::building::BUILDING_METRICS;
use super::{RELAID, Record};
use crate::study::Vary;
use crate::until::Until;
use std::borrow::Cow;

impl Record {
    /// The record without what it holds of building: what a study's question is about.
    pub fn without_building(&self) -> Cow<'_, Self> {
        match &self.study.building {
            None => Cow::Borrowed(self),
            Some(building) => {
                let mut record = self.parted(|workload| building.step(workload).is_none());
                record.study.building = None;
                Cow::Owned(record)
            }
        }
    }

    /// What the record holds of building, as a study of its own: its blocks, judged by [`BUILDING_METRICS`].
    pub fn of_building(&self) -> Option<Self> {
        let building = self.study.building.clone()?;
        let mut record = self.parted(|workload| building.step(workload).is_some());
        for session in &mut record.sessions {
            session.blocks = session.blocks.min(building.blocks);
        }
        record.made.clear();
        record.features.clear();
        let study = &mut record.study;
        study.building = None;
        (study.until, study.looks_until) = (Until::Blocks, None);
        study.decide.metrics = BUILDING_METRICS.map(str::to_owned).to_vec();
        (study.workloads, study.conditions) = (building.workloads, vec![building.condition]);
        study.vary = vec![];
        Some(record)
    }

    /// The record without the trials of the baseline in another layout: they are compared with nothing.
    pub fn without_relaid(&self) -> Cow<'_, Self> {
        if !self.study.vary.contains(&Vary::Layouts) {
            return Cow::Borrowed(self);
        }
        let mut record = self.clone();
        record.trials.retain(|trial| trial.variant != RELAID);
        record.stopped.retain(|stopped| stopped.variant != RELAID);
        record.blocks.iter_mut().for_each(|block| block.order.retain(|name| name != RELAID));
        Cow::Owned(record)
    }

    fn parted(&self, takes: impl Fn(&str) -> bool) -> Self {
        Self {
            sessions: self.sessions.clone(),
            made: self.made.clone(),
            blocks: self.blocks.iter().filter(|block| takes(&block.workload)).cloned().collect(),
            trials: self.trials.iter().filter(|trial| takes(&trial.workload)).cloned().collect(),
            features: self.features.clone(),
            away: self
                .away
                .iter()
                .filter(|(key, _)| takes(&key.1))
                .map(|(key, from)| (key.clone(), from.clone()))
                .collect(),
            run_again: self.run_again.clone(),
            ..Self::new(self.study.clone())
        }
    }
}
