//! A task of the calibration: studies of one kind, the worlds that they are simulated in, and what is promised of them. The
//! promises themselves are in [`super::goals`] and [`super::node_goals`].

use super::promise::{Goal, Options};
use super::simulate::{Reduce, Sample};
use super::worlds::{WORLDS, World};
use bakeoff_model::shuffle::Stream;

/// Studies of one kind, and the promises that are measured on them.
pub(super) struct Task {
    /// Names the stream of chance.
    pub(super) name: &'static str,
    /// Blocks, variants, effect, for people.
    pub(super) design: &'static str,
    pub(super) worlds: &'static [World],
    /// Of the studies asked for, one in this many is simulated.
    pub(super) one_in: u32,
    /// Processor time of one study in microseconds, roughly: for the time that is left.
    pub(super) cost: f64,
    pub(super) study: fn(World, &mut Stream) -> Sample,
    pub(super) promises: &'static [Promise],
}

pub(super) struct Promise {
    /// Behind the task's name, if it begins with a dash.
    pub(super) name: &'static str,
    pub(super) property: &'static str,
    pub(super) goal: Goal,
    pub(super) reduce: Reduce,
}

pub(super) const fn between(least: f64, most: f64) -> Goal {
    Goal { least: Some(least), most: Some(most) }
}

pub(super) const fn at_most(most: f64) -> Goal {
    Goal { least: None, most: Some(most) }
}

pub(super) const fn at_least(least: f64) -> Goal {
    Goal { least: Some(least), most: None }
}

pub(super) const fn promise(name: &'static str, property: &'static str, goal: Goal, reduce: Reduce) -> Promise {
    Promise { name, property, goal, reduce }
}

/// Studies in every world, all that are asked for.
pub(super) const fn task(
    name: &'static str,
    design: &'static str,
    cost: f64,
    study: fn(World, &mut Stream) -> Sample,
    promises: &'static [Promise],
) -> Task {
    Task { name, design, worlds: &WORLDS, one_in: 1, cost, study, promises }
}

impl Task {
    pub(super) const fn in_worlds(self, worlds: &'static [World]) -> Self {
        Self { worlds, ..self }
    }

    /// Fewer of them, because each takes long or is clear.
    pub(super) const fn one_in(self, one_in: u32) -> Self {
        Self { one_in, ..self }
    }

    pub(super) fn studies(&self, options: Options) -> u32 {
        (options.studies / self.one_in).max(1)
    }
}
