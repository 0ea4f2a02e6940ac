//! What was made ready in a session: workloads that were set up, and those with warm variants (see `around`).

use super::stage::Cell;
use bakeoff_model::record::Failure;
use std::collections::{BTreeMap, BTreeSet};

/// Failures by the variant's name.
pub(super) type Failed = BTreeMap<String, Failure>;

#[derive(Debug, Default)]
pub(super) struct WhatIsReady {
    /// Workloads that were set up, with the variants whose setup failed.
    pub(super) set_up: BTreeMap<String, Failed>,
    /// Workloads and conditions whose variants are warm.
    pub(super) warm: BTreeSet<(String, String)>,
    /// Files that were written by trials that warm up.
    pub(super) written: Vec<String>,
}

impl WhatIsReady {
    /// Why a cell cannot be run, if its setup failed.
    pub(super) fn failure_of(&self, cell: Cell<'_>) -> Option<Failure> {
        self.set_up.get(&cell.workload.name)?.get(&cell.variant.name).cloned()
    }
}
