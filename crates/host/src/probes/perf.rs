//! Counters of perf events, for everything that comes of a launcher. They are opened once, on the launcher itself,
//! whose children inherit them and count from when they run their program; what a job counted is the difference
//! of two readings. The launcher never runs a program again, so that nothing of its own is counted.

use super::reasons::by_reason;
use crate::files::Files;
use crate::job::Job;
use crate::perf_event::{Count, Counter, EVENTS, Event, Guard, Of};
use crate::probe::{Confinement, JobObserved, Probe};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Unavailable;
use std::io;

#[derive(Debug)]
pub(super) struct Counters {
    open: Vec<(&'static Event, Counter, Count)>,
    refused: Vec<(&'static str, String)>,
    /// Held for as long as the counters are.
    guards: Vec<Guard>,
}

impl Counters {
    /// Opens those that are wanted.
    pub(super) fn open(launcher: u32, wanted: &[&str]) -> Self {
        let mut counters = Self { open: vec![], refused: vec![], guards: vec![] };
        for event in EVENTS.iter().filter(|event| wanted.contains(&event.metric)) {
            let opened = Guard::on(launcher, event)
                .and_then(|guard| Ok((guard, Counter::open(event, Of::ChildrenOf(launcher))?)));
            match opened {
                Ok((guard, counter)) => {
                    counters.guards.push(guard);
                    counters.open.push((event, counter, Count::default()));
                }
                Err(error) => counters.refused.push((event.metric, event.why_not(&error, &Files::here()))),
            }
        }
        counters
    }
}

impl Probe for Counters {
    fn before(&mut self, _: &Job, _: &mut Confinement) -> io::Result<()> {
        for (_, counter, before) in &mut self.open {
            *before = counter.read()?;
        }
        Ok(())
    }

    fn after(&mut self, _: &JobObserved<'_>, into: &mut Measurements) -> io::Result<()> {
        for (event, counter, before) in &self.open {
            if let Some(count) = counter.read()?.since(*before) {
                into.insert(event.metric, count * event.unit);
            }
        }
        Ok(())
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        by_reason(self.refused.iter().cloned())
    }
}
