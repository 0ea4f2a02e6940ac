//! Where the trials of a study run: on this host, or at a place that a feature reaches.

use crate::executed::{self, Programs};
use crate::programs;
use bakeoff_command::error::CommandError;
use bakeoff_command::{PlaceSetting, RemotePlace, locale};
use bakeoff_lab::Executor;
use bakeoff_lab::local::{Local, Setup, absent};
use bakeoff_model::plan::Plan;
use std::collections::BTreeMap;
use std::os::fd::AsFd as _;

/// The place; none: this host.
pub(crate) type Place = Option<Box<dyn RemotePlace>>;

/// The locale of trials there: the user's, and C in a guest.
pub(crate) fn locale(place: &Place) -> BTreeMap<String, String> {
    place.as_ref().map_or_else(locale::of_user, |_| BTreeMap::new())
}

pub(crate) fn set_clock(place: &mut Place, setup: &Setup, plans: [&mut Plan; 2]) -> Result<(), CommandError> {
    let Some(place) = place else { return Ok(()) };
    let clock = place.clock(plans[0], setup)?;
    plans.into_iter().for_each(|plan| plan.clock = clock);
    Ok(())
}

/// The programs of this host that trials depend on; `own` are the files of the study.
pub(crate) fn programs<'a>(
    place: &Place,
    plan: &Plan,
    setup: &Setup,
    own: impl IntoIterator<Item = &'a String>,
) -> Programs {
    match place {
        None => executed::programs(plan, setup, own),
        Some(place) => executed::of_place(place.programs()),
    }
}

/// Whether the commands of trials can be started, as far as that is known before.
pub(crate) fn check(place: &Place, plan: &Plan, setup: &Setup) -> Result<(), CommandError> {
    match place {
        None => programs::processors(plan).and_then(|()| {
            programs::locales(plan, setup);
            programs::pointers_in_builds(plan, setup)?;
            programs::of_study(&absent(plan, setup), &plan.baseline().name)
        }),
        Some(_) => Ok(()),
    }
}

pub(crate) fn executor<'a>(
    place: &'a Place,
    setting: PlaceSetting<'a>,
) -> Result<Box<dyn Executor + 'a>, CommandError> {
    let Some(place) = place else {
        let PlaceSetting { plan, setup, watch, on_demand, keep, .. } = setting;
        return Ok(Box::new(Local::new(plan, setup, Some(keep.as_fd()))?.watching(watch).with(on_demand)));
    };
    place.executor(setting)
}
