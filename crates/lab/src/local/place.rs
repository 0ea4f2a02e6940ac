//! This host as a place: what it consists of, and what it is given before the first trial. Trials are run elsewhere.

use super::load::Load;
use super::printed::Printed;
use super::ready::WhatIsReady;
use super::services::Services;
use super::show::Shower;
use super::stage::{Setup, Stage};
use super::tools::Tools;
use super::trial::JobCache;
use super::watch::{Watch, Watching};
use crate::Error;
use crate::on_demand::OnDemand;
use bakeoff_host::Launcher;
use bakeoff_model::plan::Plan;
use std::os::fd::BorrowedFd;

/// Runs trials on this host.
pub struct Local<'a> {
    pub(super) stage: Stage,
    pub(super) launcher: Launcher,
    pub(super) services: Services,
    pub(super) load: Load,
    pub(super) tools: Tools,
    pub(super) known: JobCache,
    pub(super) printed: Printed,
    /// The block whose services are kept: number, workload, condition.
    pub(super) block: Option<(u32, String, String)>,
    /// Builds what trials need, where any need that.
    pub(super) on_demand: Option<Box<dyn OnDemand + 'a>>,
    pub(super) watching: Watching<'a>,
    pub(super) around: WhatIsReady,
    pub(super) show: Option<Shower<'a>>,
}

impl<'a> Local<'a> {
    /// Prepares this host for the trials of a plan. Everything that is started keeps `keep` open until it has ended.
    pub fn new(plan: &Plan, setup: Setup, keep: Option<BorrowedFd<'_>>) -> Result<Self, Error> {
        let (stage, launcher) = Stage::new(plan, setup, keep)?;
        Ok(Self {
            stage,
            launcher,
            services: Services::default(),
            load: Load::default(),
            tools: Tools::default(),
            known: JobCache::default(),
            printed: Printed::default(),
            block: None,
            on_demand: None,
            watching: Watching::default(),
            around: WhatIsReady::default(),
            show: None,
        })
    }

    /// With somebody who builds what trials need: layouts, and what trials of building run.
    pub fn with(self, on_demand: Option<Box<dyn OnDemand + 'a>>) -> Self {
        Self { on_demand, ..self }
    }

    /// With somebody who shows what trials print.
    pub fn showing(self, show: Shower<'a>) -> Self {
        Self { show: Some(show), ..self }
    }

    /// With what is to be looked at between blocks.
    pub fn watching(self, watch: Watch<'a>) -> Self {
        Self { watching: Watching::new(watch), ..self }
    }
}
