//! `[conditions.x]`: the surroundings that are asked for, and whether they make sense together; places grant them.

use super::factors::PlacedFactor;
use super::section::Section;
use super::services::{PlacedService, ports_are_known};
use crate::problem::suggest;
use crate::study::{Condition, LoadOf, LoadSpec};
use std::collections::BTreeMap;

/// The most copies, and the most processes, that make sense on one machine.
const MOST_AT_ONCE: u32 = 256;
/// The real-time priority of `realtime = true`: the lowest is above all that is not real-time.
const LEAST_PRIORITY: u32 = 1;
const MOST_PRIORITY: u32 = 99;
/// What a load is made of where the study does not say.
const OF: &[&str] = &["baseline", "self"];

pub(super) fn conditions(
    file: &Section<'_>,
    run_factors: &[PlacedFactor<'_>],
    services: &[PlacedService],
) -> Vec<Condition> {
    let mut conditions = vec![];
    for section in file.named_sections("conditions") {
        conditions.push(condition(&section, run_factors, services));
    }
    if conditions.is_empty() {
        conditions.push(Condition { name: "idle".to_owned(), ..Condition::default() });
    }
    conditions
}

fn condition(section: &Section<'_>, run_factors: &[PlacedFactor<'_>], services: &[PlacedService]) -> Condition {
    let cpu_limit = |(limit, span): (f64, _)| {
        let fits = limit.is_finite() && limit > 0.0;
        if !fits {
            let remedy = "use a number above 0; for example, `cpu = 0.5` allows half of one processor";
            section.sink.report(span, &format!("cannot limit trials to {limit} processors"), "", remedy);
        }
        fits.then_some(limit)
    };
    let condition = Condition {
        name: section.name.clone(),
        load: load(section, services),
        processes: section.number_of("processes", "processes", MOST_AT_ONCE).unwrap_or(1),
        cpus: section.cpus("cpus"),
        realtime: realtime(section),
        aslr: section.boolean("aslr"),
        environment: environment(section, run_factors),
        drop_caches: section.boolean("drop_caches").unwrap_or(false),
        memory_bytes: section.size("memory"),
        cpu_limit: section.float("cpu").and_then(cpu_limit),
        as_built: false,
    };
    section.finish();
    condition
}

fn load(section: &Section<'_>, services: &[PlacedService]) -> Option<LoadSpec> {
    let copies = section.number_of("copies", "copies", MOST_AT_ONCE);
    let of = load_of(section, services);
    let pace_s = section.pace("pace");
    let cpus = section.cpus("load_cpus");
    if !section.has("copies") {
        for key in ["of", "pace", "load_cpus"] {
            if let Some(span) = section.place_of(key) {
                let message = format!("condition `{}` has `{key}` but no `copies`", section.name);
                section.sink.report(span, &message, "no effect", "add `copies = 1`, or remove this key");
            }
        }
    }
    Some(LoadSpec { copies: copies?, of, pace_s, cpus })
}

fn load_of(section: &Section<'_>, services: &[PlacedService]) -> LoadOf {
    let remedy = "use `of = \"baseline\"`, `of = \"self\"`, or a command: `of = { command = \"…\" }`";
    let Some((value, span)) = section.any("of") else { return LoadOf::Baseline };
    match value.as_str() {
        Some("baseline") => LoadOf::Baseline,
        Some("self") => LoadOf::Itself,
        Some(other) => {
            let meant = crate::problem::did_you_mean(other, OF.iter().copied());
            let remedy = if meant.is_some() { suggest(other, OF.iter().copied()) } else { remedy.to_owned() };
            section.sink.report(span, &format!("cannot run copies of {other:?}"), "", &remedy);
            LoadOf::Baseline
        }
        None if value.as_table().is_some() => {
            let Some(own) = section.section("of") else { return LoadOf::Baseline };
            let command = own.required_string("command", "add the command to run as load");
            own.finish();
            let known: Vec<&str> = services.iter().map(|placed| placed.service.name.as_str()).collect();
            if let Some((text, span)) = &command {
                ports_are_known(section.sink, text, span, &known, None);
            }
            LoadOf::Command(command.map(|(command, _)| command).unwrap_or_default())
        }
        None => {
            section.sink.report(span, "`of` must be a string, or a table with `command`", "", remedy);
            LoadOf::Baseline
        }
    }
}

fn realtime(section: &Section<'_>) -> Option<u32> {
    let (value, span) = section.any("realtime")?;
    let number = match value {
        toml::de::DeValue::Boolean(true) => return Some(LEAST_PRIORITY),
        toml::de::DeValue::Boolean(false) => return None,
        toml::de::DeValue::Integer(number) => number.as_str().parse::<u32>().ok(),
        _ => None,
    };
    let fits = number.filter(|n| (LEAST_PRIORITY..=MOST_PRIORITY).contains(n));
    if fits.is_none() {
        let remedy = format!("use `true`, or a priority from {LEAST_PRIORITY} to {MOST_PRIORITY} (SCHED_FIFO)");
        section.sink.report(span, "`realtime` must be a valid priority", "", &remedy);
    }
    fits
}

fn environment(section: &Section<'_>, run_factors: &[PlacedFactor<'_>]) -> BTreeMap<String, String> {
    let Some((locale, span)) = section.string("locale") else { return BTreeMap::new() };
    let sets =
        |factor: &&PlacedFactor<'_>| factor.variables.iter().any(|(name, _)| name.rsplit('.').next() == Some("LC_ALL"));
    if let Some(factor) = run_factors.iter().find(sets) {
        let message = format!("run factor `{}` also sets `LC_ALL`", factor.factor.name);
        let remedy = "set the locale either in a factor, to compare locales, or in a condition";
        section.sink.report(span, &message, "only one of these can take effect", remedy);
    }
    BTreeMap::from([("LC_ALL".to_owned(), locale)])
}
