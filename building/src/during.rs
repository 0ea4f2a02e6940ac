//! What the lab has built on demand while a study is run, between `lab`, which asks for it, and `on_demand.rs`, which makes it:
//! layouts of a pass, and trials of building.

use crate::{Cache, Request};
use bakeoff_command::alone::tell_who_is_waited_for;
use bakeoff_command::error::CommandError;
use bakeoff_command::screen;
use bakeoff_lab::on_demand::{Layouts, OnDemand, Prepared, Stop};
use bakeoff_lab::{Pass, Task};
use bakeoff_model::metric::Measurements;
use bakeoff_model::plan::{Plan, link_seed};
use bakeoff_model::record::{Building, Failure, TWIN};
use bakeoff_model::study::Vary;
use std::cell::RefCell;
use std::rc::Rc;

/// Who builds on demand, and for what.
pub(crate) struct During<'a> {
    builder: RefCell<crate::OnDemand<'a>>,
    /// The twin is linked as the baseline is.
    baseline: String,
    building: Building,
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
        if plan.building.is_none() && !plan.vary.contains(&Vary::LinkOrder) {
            return Ok(None);
        }
        Ok(Some(Self {
            builder: RefCell::new(crate::OnDemand::open(cache, request, |process| {
                tell_who_is_waited_for(process, quiet)
            })?),
            baseline: plan.baseline().name.clone(),
            building: plan.building.clone().unwrap_or_default(),
            quiet,
        }))
    }

    /// What the lab may ask of it.
    pub(crate) fn calls(self) -> OnDemand<'a> {
        let [layouts, prepare, finish] = [(); 3].map({
            let all = Rc::new(self);
            move |()| Rc::clone(&all)
        });
        OnDemand {
            layouts: Box::new(move |pass| layouts.layouts(pass)),
            prepare: Box::new(move |task| prepare.prepare(task)),
            finish: Box::new(move |_, succeeded| finish.finish(succeeded)),
        }
    }

    fn variant<'v>(&'v self, name: &'v str) -> &'v str {
        if name == TWIN { &self.baseline } else { name }
    }

    fn layouts(&self, pass: &Pass<'_>) -> Result<Layouts, Stop> {
        let mut builder = self.builder.borrow_mut();
        builder.clear().map_err(crate::error::Stop::from)?;
        let mut layouts = Layouts::new();
        for (number, name) in (1..).zip(pass.variants) {
            self.tell(&format!("pass {}: relinking, {number} of {}", pass.pass, pass.variants.len()));
            let seed = link_seed(pass.layout.unwrap_or_default(), name);
            let made = match builder.layout(self.variant(name), name, seed).map_err(Stop::from) {
                Err(Stop::Failed(failure)) => Err(failure),
                made => Ok(made?),
            };
            layouts.insert((*name).to_owned(), made);
        }
        self.tell("");
        Ok(layouts)
    }

    fn prepare(&self, task: Task<'_>) -> Result<Prepared, Stop> {
        let layer = self.building.step(&task.block.workload).unwrap_or_default();
        Ok(self.builder.borrow_mut().prepare(layer, self.variant(task.variant))?)
    }

    fn finish(&self, succeeded: bool) -> Result<Measurements, Stop> {
        let bytes = self.builder.borrow_mut().finish(succeeded)?;
        Ok(bytes.map(|bytes| ("installed".to_owned(), bytes as f64)).into_iter().collect())
    }

    /// Where lines can be drawn again: nothing else is shown meanwhile.
    fn tell(&self, what: &str) {
        if !self.quiet && screen::err_is_terminal() {
            screen::draw(what);
        }
    }
}

impl From<crate::error::Stop<Failure>> for Stop {
    fn from(stop: crate::error::Stop<Failure>) -> Self {
        use crate::error::Stop::{Error, Failure};
        match stop {
            Failure(failure) => Self::Failed(failure),
            Error(crate::Error::Interrupted) => Self::Interrupted,
            Error(error) => Self::Error(bakeoff_lab::Error::Building(Box::new(CommandError::from(error)))),
        }
    }
}
