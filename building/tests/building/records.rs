//! A record for tests that has builds as values, not as lines.

use crate::journal::BuildLine;
use bakeoff_model::record::Record;
use std::ops::{Deref, DerefMut};

#[derive(Clone)]
pub(super) struct BuiltRecord {
    record: Record,
    pub(super) builds: Vec<BuildLine>,
}

impl BuiltRecord {
    pub(super) fn of(record: Record, builds: Vec<BuildLine>) -> Self {
        Self { record, builds }
    }

    /// As a journal would hold it.
    pub(super) fn whole(&self) -> Record {
        let mut record = self.record.clone();
        record.made = BuildLine::made(&self.builds).unwrap();
        record
    }
}

impl Deref for BuiltRecord {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.record
    }
}

impl DerefMut for BuiltRecord {
    fn deref_mut(&mut self) -> &mut Record {
        &mut self.record
    }
}
