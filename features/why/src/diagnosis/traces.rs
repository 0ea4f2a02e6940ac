//! What running a workload under observation showed of all variants, side by side: system calls, files that were
//! really run, paths that were looked for; likewise what its services did meanwhile. It is counted once, so that
//! a difference may be chance; it is shown, and not judged.

use super::pieces::{Pieces, keys};
use crate::evidence::Traced;
use crate::findings::{Executed, PathDifference, PerChild, Profile, TraceTable};
use bakeoff_host::tracer::{Calls, Census};
use bakeoff_model::grouped::grouped;
use std::collections::{BTreeMap, BTreeSet};

/// How a path below the variant's own prefix begins.
const PREFIX: &str = "$PREFIX/";

/// A variant and what was seen of it.
type Of<'a> = (&'a str, &'a Census);

/// One table for each workload that was traced, and one for each of its services.
pub(super) fn tables(pieces: &Pieces<'_>, workloads: &[String]) -> Vec<TraceTable> {
    let mut tables = vec![];
    for workload in workloads {
        let all: Vec<(&str, &Traced)> =
            pieces.variants.iter().filter_map(|v| Some((v.name.as_str(), pieces.trace(&v.name, workload)?))).collect();
        tables.extend(table(workload, None, all.iter().map(|(name, traced)| (*name, &traced.command)).collect()));
        let services: BTreeSet<&String> = all.iter().flat_map(|(_, traced)| traced.services.keys()).collect();
        for service in services {
            let seen = all.iter().filter_map(|&(name, traced)| Some((name, traced.services.get(service)?)));
            tables.extend(table(workload, Some(service), seen.collect()));
        }
    }
    tables
}

/// None if nothing was seen of it.
fn table(workload: &str, service: Option<&String>, all: Vec<Of<'_>>) -> Option<TraceTable> {
    let differing = differing(&all);
    (!all.is_empty()).then(|| TraceTable {
        workload: workload.to_owned(),
        service: service.cloned(),
        profiles: profiles(&all, &differing, service.is_some()),
        differing,
        executed: executed(&all),
        paths: paths(&all),
    })
}

/// All calls together.
pub(super) fn total(census: &Census) -> Calls {
    let mut total = Calls::default();
    census.syscalls.values().for_each(|calls| total += *calls);
    total
}

fn calls(census: &Census, name: &str) -> Calls {
    census.syscalls.get(name).copied().unwrap_or_default()
}

/// Names of calls whose counts differ, that with the largest difference from the first variant first.
fn differing(all: &[Of<'_>]) -> Vec<String> {
    let Some((_, first)) = all.first() else { return vec![] };
    let names: BTreeSet<&String> = all.iter().flat_map(|(_, census)| census.syscalls.keys()).collect();
    let distance = |name: &str| {
        let own = calls(first, name);
        let of = |(_, census): &Of<'_>| {
            let other = calls(census, name);
            other.count.abs_diff(own.count).max(other.errors.abs_diff(own.errors))
        };
        all.iter().map(of).max().unwrap_or(0)
    };
    let mut distances: Vec<(u64, &String)> = names.into_iter().map(|name| (distance(name), name)).collect();
    distances.retain(|(distance, _)| *distance > 0);
    distances.sort_by_key(|(distance, _)| std::cmp::Reverse(*distance));
    distances.into_iter().map(|(_, name)| name.clone()).collect()
}

fn profiles(all: &[Of<'_>], differing: &[String], of_service: bool) -> Vec<Profile> {
    let mut profiles: Vec<Profile> = vec![];
    for (variant, census) in all {
        let calls = differing.iter().map(|name| (name.clone(), calls(census, name))).collect();
        let children = if of_service { per_child(census, differing) } else { None };
        let (variants, total) = (vec![], total(census));
        let profile = Profile { variants, tasks: census.tasks, total, calls, children };
        match profiles.iter_mut().find(|known| Profile { variants: vec![], ..(*known).clone() } == profile) {
            Some(known) => known.variants.push((*variant).to_owned()),
            None => profiles.push(Profile { variants: vec![(*variant).to_owned()], ..profile }),
        }
    }
    profiles
}

/// None if no process began.
fn per_child(census: &Census, differing: &[String]) -> Option<PerChild> {
    let children = &census.children;
    let mean = |count: u64| count as f64 / children.processes as f64;
    let of = |name: &String| mean(children.syscalls.get(name).map_or(0, |calls| calls.count));
    (children.processes > 0).then(|| PerChild {
        processes: children.processes,
        all: mean(children.syscalls.values().map(|calls| calls.count).sum()),
        calls: differing.iter().map(|name| (name.clone(), of(name))).collect(),
    })
}

/// The files that were mapped to be run, those of the prefix first.
pub(super) fn executable(census: &Census) -> Vec<&str> {
    let mut paths: Vec<&str> =
        census.mapped.iter().filter(|mapped| mapped.executable).map(|mapped| mapped.path.as_str()).collect();
    paths.sort_by_key(|path| !path.starts_with(PREFIX));
    paths.dedup();
    paths
}

/// Which variants run the same files. Those of the prefix are matched as [`keys`] says, others by their path.
fn executed(all: &[Of<'_>]) -> Vec<Executed> {
    let paths: Vec<Vec<&str>> = all.iter().map(|(_, census)| executable(census)).collect();
    let mut own = paths.clone();
    own.iter_mut().for_each(|own| own.retain(|path| path.starts_with(PREFIX)));
    let groups = grouped(all.iter().zip(keys(&own)).zip(&paths).map(|(((variant, _), keys), paths)| {
        let keys: BTreeSet<&str> = keys.into_iter().collect();
        let outside = paths.iter().filter(|path| !path.starts_with(PREFIX)).map(|path| (*path).to_owned());
        ((keys, outside.collect::<Vec<String>>()), (*variant).to_owned())
    }));
    let Some(first) = groups.first().map(|((_, outside), _)| outside.clone()) else { return vec![] };
    let without = |of: &[String], other: &[String]| of.iter().filter(|path| !other.contains(path)).cloned().collect();
    let row = |((_, outside), variants): ((BTreeSet<&str>, Vec<String>), Vec<String>)| {
        let place = all.iter().position(|(variant, _)| variants.first().is_some_and(|first| first == variant));
        let files = place.map_or(vec![], |place| paths[place].iter().map(|path| (*path).to_owned()).collect());
        Executed { files, more: without(&outside, &first), fewer: without(&first, &outside), variants }
    };
    groups.into_iter().map(row).collect()
}

/// Paths that some variants opened, or looked for in vain, and others did not.
fn paths(all: &[Of<'_>]) -> Vec<PathDifference> {
    let mut known: BTreeMap<&str, PathDifference> = BTreeMap::new();
    for (variant, census) in all {
        for opened in census.opened.iter().filter(|opened| opened.found + opened.missed > 0) {
            let path = known.entry(&opened.path).or_insert_with(|| PathDifference {
                path: opened.path.clone(),
                found_by: vec![],
                missed_by: vec![],
                times: opened.found + opened.missed,
            });
            let who = if opened.found > 0 { &mut path.found_by } else { &mut path.missed_by };
            who.push((*variant).to_owned());
        }
    }
    let is_alike = |path: &PathDifference| path.found_by.len() == all.len() || path.missed_by.len() == all.len();
    known.into_values().filter(|path| !is_alike(path)).collect()
}
