//! Places that are not this host: what the core asks of a feature that reaches one. How it is reached is the feature's.

use crate::error::CommandError;
use bakeoff_lab::Executor;
use bakeoff_lab::local::{Setup, Watch};
use bakeoff_lab::on_demand::OnDemand;
use bakeoff_model::metric::Clock;
use bakeoff_model::plan::Plan;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// A place that is not this host.
pub trait RemotePlace {
    /// What seconds are there; found out when everything is built, before the journal is chosen.
    fn clock(&mut self, plan: &Plan, setup: &Setup) -> Result<Clock, CommandError>;

    /// The programs of this host that reach it: trials depend on them.
    fn programs(&self) -> Vec<PathBuf>;

    /// Makes it ready for trials.
    fn executor<'a>(&'a self, setting: PlaceSetting<'a>) -> Result<Box<dyn Executor + 'a>, CommandError>;
}

/// What an executor needs that reaches another place.
pub struct PlaceSetting<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The study's file.
    pub study_file: PathBuf,
    /// The study's folder, and what of it trials need.
    pub setup: Setup,
    /// Files of the study's folder that trials depend on, by their names there.
    pub files: Vec<String>,
    /// What is looked at between boots.
    pub watch: Watch<'a>,
    /// Who relinks, where that is varied.
    pub on_demand: Option<Box<dyn OnDemand + 'a>>,
    /// Kept open by everything that is started.
    pub keep: OwnedFd,
}
