//! What the lab has built on demand while a study is run, between `lab`, which asks for it, and `on_demand.rs`, which
//! makes it: layouts of a pass, and trials of building.

use crate::error::At as _;
use crate::{Cache, Request};
use bakeoff_command::alone::tell_who_is_waited_for;
use bakeoff_command::error::CommandError;
use bakeoff_command::screen;
use bakeoff_host::disk;
use bakeoff_lab::on_demand::{Halt, Layout, Layouts, OnDemand, Prepared};
use bakeoff_lab::{Pass, Task};
use bakeoff_model::metric::Measurements;
use bakeoff_model::plan::{Plan, link_seed};
use bakeoff_model::record::{Building, Failure, RELAID, is_baseline_again};
use std::path::PathBuf;

/// Who builds on demand, and for what.
pub(crate) struct During<'a> {
    builder: crate::OnDemand<'a>,
    /// The twin is linked as the baseline is.
    baseline: String,
    building: Building,
    /// Whether the variants of a pass have matched layouts.
    matches: bool,
    /// Whether other passes have the same layouts.
    are_few: bool,
    /// The folder of the cache.
    root: PathBuf,
    quiet: bool,
}

impl<'a> During<'a> {
    /// None if a plan needs nothing built on demand.
    pub(crate) fn of(
        cache: &'a Cache,
        request: &Request<'a>,
        plan: &Plan,
        quiet: bool,
    ) -> Result<Option<Self>, CommandError> {
        if plan.building.is_none() && !plan.relinks() {
            return Ok(None);
        }
        Ok(Some(Self {
            builder: crate::OnDemand::open(cache, request, |process| tell_who_is_waited_for(process, quiet))?,
            baseline: plan.baseline().name.clone(),
            building: plan.building.clone().unwrap_or_default(),
            matches: plan.matches(),
            are_few: plan.layouts.is_some(),
            root: cache.root().to_owned(),
            quiet,
        }))
    }

    /// Where lines can be drawn again: nothing else is shown meanwhile.
    fn tell(&self, what: &str) {
        if !self.quiet && screen::err_is_terminal() {
            screen::draw(what);
        }
    }
}

fn variant<'v>(name: &'v str, baseline: &'v str) -> &'v str {
    if is_baseline_again(name) { baseline } else { name }
}

impl OnDemand for During<'_> {
    fn layouts(&mut self, pass: &Pass<'_>) -> Result<Layouts, Halt> {
        if !self.are_few {
            self.builder.clear().map_err(crate::error::Stop::from)?;
        }
        let mut layouts = Layouts::new();
        let seed = pass.layout.unwrap_or_default();
        for (number, name) in (1..).zip(pass.variants) {
            self.tell(&format!("pass {}: relinking {number} of {}", pass.pass, pass.variants.len()));
            let of = variant(name, &self.baseline);
            let made = if !self.matches {
                let made = self.builder.layout(of, name, link_seed(seed, name));
                made.map(|prefix| Layout { prefix, digest: None })
            } else if *name == RELAID {
                self.builder.matched(of, link_seed(seed, name))
            } else if let Some(Ok(known)) = layouts.get(of) {
                // The twin is what the baseline is, and so it shows the machine's noise alone.
                Ok(Layout::clone(known))
            } else {
                self.builder.matched(of, seed)
            };
            let made = match made.map_err(Halt::from) {
                Err(Halt::Failed(failure)) => Err(failure),
                made => Ok(made?),
            };
            layouts.insert((*name).to_owned(), made);
        }
        // Nothing of it is to be written while trials run.
        disk::sync(&self.root).at("write", &self.root).map_err(crate::error::Stop::from)?;
        self.tell("");
        Ok(layouts)
    }

    fn prepare(&mut self, task: Task<'_>) -> Result<Prepared, Halt> {
        let layer = self.building.step(&task.block.workload).unwrap_or_default();
        Ok(self.builder.prepare(layer, variant(task.variant, &self.baseline))?)
    }

    fn finish(&mut self, succeeded: bool) -> Result<Measurements, Halt> {
        let bytes = self.builder.finish(succeeded)?;
        Ok(bytes.map(|bytes| ("installed".to_owned(), bytes as f64)).into_iter().collect())
    }
}

impl From<crate::error::Stop<Failure>> for Halt {
    fn from(stop: crate::error::Stop<Failure>) -> Self {
        use crate::error::Stop::{Error, Failure};
        match stop {
            Failure(failure) => Self::Failed(failure),
            Error(crate::Error::Interrupted) => Self::Interrupted,
            Error(error) => Self::Error(bakeoff_lab::Error::Building(Box::new(CommandError::from(error)))),
        }
    }
}
