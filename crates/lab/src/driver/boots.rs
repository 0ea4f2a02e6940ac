//! Passes of variants that boot: in each pass every variant, and the twin, boots once, in random order, and one boot has all
//! workloads × conditions of that variant, in one order for all boots of the pass. A boot counts as a whole: it is emitted
//! when it has ended, so that one that was cut off has left nothing, and is repeated alone.

use super::event::{Ending, Event};
use super::held::Missing;
use super::session::{Looked, Session, trial};
use crate::{BootTask, Booted, Task};
use bakeoff_model::plan::{BASELINE, drawn};
use bakeoff_model::record::{Boot, MOST_REPEATS, Outcome, TWIN, Trial};

impl<E: From<crate::Error>> Session<'_, E> {
    /// Boots of one pass what the record does not hold yet.
    pub(super) fn boot_pass(&mut self, pass: u32) -> Result<Ending, E> {
        let whole = self.plan.pass(pass);
        let order: Vec<String> = whole.first().map(|block| block.order.clone()).unwrap_or_default();
        let planned = self.failing.without(whole);
        let blocks: Vec<Missing<'_>> = planned.iter().map(|planned| self.held.of_block(planned)).collect();
        self.in_pass(pass, &blocks, |session| session.boot_each(pass, &order, &blocks))
    }

    /// `order` is that of all variants, also of those that stopped.
    fn boot_each(&mut self, pass: u32, order: &[String], blocks: &[Missing<'_>]) -> Result<Ending, E> {
        if !self.begun && self.look()? == Looked::Changed {
            return Ok(Ending::Changed);
        }
        self.begun = true;
        let mut is_announced = false;
        let takes_part = |missing: &&Missing<'_>, variant: &String| missing.block.order.contains(variant);
        for (position, variant) in (1..).zip(order) {
            let attempts = || blocks.iter().filter_map(|missing| missing.next.get(variant.as_str()));
            let mut attempt = attempts().filter_map(|next| *next).max();
            while let Some(number) = attempt {
                if (self.stop)() {
                    return Ok(Ending::Stopped);
                }
                if !is_announced {
                    is_announced = true;
                    for missing in blocks.iter().filter(|missing| !missing.is_begun) {
                        let begun = self.begun(missing.block);
                        (self.emit)(begun)?;
                    }
                }
                let tasks: Vec<Task<'_>> = blocks
                    .iter()
                    .filter(|missing| takes_part(missing, variant))
                    .map(|missing| Task { block: missing.block, position, variant, attempt: number })
                    .collect();
                let (ending, is_void) = self.boot(pass, &tasks)?;
                if ending != Ending::Complete {
                    return Ok(ending);
                }
                attempt = (is_void && number < MOST_REPEATS).then_some(number + 1);
            }
        }
        for missing in blocks {
            self.stop_failing_variants(missing.block)?;
            (self.emit)(Event::BlockEnded)?;
        }
        Ok(Ending::Complete)
    }

    /// One boot, and whether it is void: then it is to be repeated.
    fn boot(&mut self, pass: u32, tasks: &[Task<'_>]) -> Result<(Ending, bool), E> {
        let Some(Task { variant, attempt, .. }) = tasks.first().copied() else { return Ok((Ending::Complete, false)) };
        (self.emit)(Event::TrialBegins { variant: variant.to_owned() })?;
        let drawn = drawn(self.plan.seed, pass, variant, attempt);
        let Some(booted) = self.executor.boot(&BootTask { pass, variant, attempt, drawn, tasks })? else {
            return Ok((Ending::Stopped, false));
        };
        let Booted { place, cost, unavailable, executions } = booted;
        let mut trials: Vec<Trial> =
            tasks.iter().zip(executions).map(|(task, execution)| trial(*task, self.session, execution)).collect();
        trials.iter_mut().for_each(|trial| self.judge(trial));
        self.judge_boot(&mut trials);
        let is_void = trials.iter().any(|trial| matches!(trial.outcome, Outcome::Void(_)));
        trials.iter().for_each(|trial| self.failing.take(trial));
        self.booted.extend(trials.iter().cloned());
        let variant = variant.to_owned();
        let boot = Boot { session: self.session, pass, variant, attempt, place, drawn, cost, unavailable, trials };
        (self.emit)(Event::BootEnded(Box::new(boot)))?;
        Ok(match self.look()? {
            Looked::Changed => (Ending::Changed, true),
            Looked::Touched => (Ending::Complete, true),
            Looked::Good => (Ending::Complete, is_void),
        })
    }

    /// A boot is one sample, so it is void as a whole; and one that is equal to another one is the same sample.
    fn judge_boot(&self, trials: &mut [Trial]) {
        let equal = (!self.plan.clock.is_of_seconds()).then(|| self.equal_boot(trials)).flatten();
        let why = match equal {
            Some(pass) => {
                format!("this boot and that of pass {pass} gave identical measurements, so they are the same sample")
            }
            None if trials.iter().any(|trial| matches!(trial.outcome, Outcome::Void(_))) => {
                "another trial of this boot is void".to_owned()
            }
            None => return,
        };
        for trial in trials.iter_mut().filter(|trial| trial.outcome == Outcome::Ok) {
            trial.outcome = Outcome::Void(why.clone());
        }
    }

    /// The pass of an earlier boot of the same kernel whose trials measured the same to the bit.
    fn equal_boot(&self, trials: &[Trial]) -> Option<u32> {
        let first = trials.first()?;
        if trials.iter().any(|trial| trial.outcome != Outcome::Ok || trial.measurements.is_empty()) {
            return None;
        }
        // The twin boots the kernel of the baseline.
        let kernel = |variant: &str| if variant == TWIN { BASELINE.to_owned() } else { variant.to_owned() };
        let known = || self.held.trials.iter().chain(&self.booted);
        let mut candidates = known().filter(|other| {
            kernel(&other.variant) == kernel(&first.variant) && other.outcome == Outcome::Ok && is_same(first, other)
        });
        let equal = candidates.find(|of| {
            let boot =
                known().filter(|one| (one.block, &one.variant, one.attempt) == (of.block, &of.variant, of.attempt));
            let boot: Vec<&Trial> = boot.collect();
            trials.iter().all(|trial| boot.iter().any(|other| is_same(trial, other)))
        });
        equal.map(|equal| equal.block)
    }
}

fn is_same(one: &Trial, other: &Trial) -> bool {
    (&one.workload, &one.condition, &one.measurements) == (&other.workload, &other.condition, &other.measurements)
}
