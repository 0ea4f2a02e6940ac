//! `[services.x]`: processes that workloads need. It checks names, signals and what a command mentions.

use super::factors::{PORT, PlacedFactor};
use super::section::{Section, Sink, check_inside};
use crate::problem::{did_you_mean, suggest};
use crate::study::{Per, Ready, Service, mentioned};
use std::ops::Range;

/// How long a service may take to be ready, where the study does not say.
const READY_WITHIN_S: f64 = 10.0;
/// How long it may take to end after the request to.
const STOP_WITHIN_S: f64 = 5.0;
const SIGTERM: i32 = 15;

/// Signals that can be asked for, by the numbers that they have on Linux (signal(7); x86, ARM and most others).
const SIGNALS: &[(&str, i32)] =
    &[("TERM", SIGTERM), ("INT", 2), ("HUP", 1), ("QUIT", 3), ("USR1", 10), ("USR2", 12), ("KILL", 9)];

/// A service, where it is named, and its commands with their places.
pub(super) struct PlacedService {
    pub(super) service: Service,
    pub(super) span: Range<usize>,
    commands: Vec<(String, Range<usize>)>,
}

pub(super) fn services(file: &Section<'_>, run_factors: &[PlacedFactor<'_>]) -> Vec<PlacedService> {
    let sections = file.named_sections("services");
    let known: Vec<&str> = sections.iter().map(|section| section.name.as_str()).collect();
    let placed: Vec<PlacedService> = sections.iter().map(|section| service(section, &known)).collect();
    for one in placed.iter().filter(|placed| placed.service.per == Per::Block) {
        check_shared_by_variants(file.sink, one, &placed, run_factors);
    }
    placed
}

fn service(section: &Section<'_>, known: &[&str]) -> PlacedService {
    let name = section.name.clone();
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        let message = format!("`{name}` cannot name a service, because `{PORT}{name}` is not a valid variable name");
        section.sink.report(section.span.clone(), &message, "", "use only letters, digits and `_`");
    }
    let run = section.required_string("run", "add the command that starts the service and stays in the foreground");
    let mut commands: Vec<_> = run.iter().cloned().collect();
    let (ready, ready_within_s) = ready(section, known, &mut commands);
    let per = per(section);
    let (stop_signal, stop_within_s) = stop(section);
    let files = section.strings("files");
    for (path, span) in &files {
        check_inside(section.sink, path, span.clone());
    }
    section.finish();
    for (text, span) in &commands {
        ports_are_known(section.sink, text, span, known, None);
    }
    let service = Service {
        name,
        run: run.map(|(run, _)| run).unwrap_or_default(),
        ready,
        ready_within_s,
        per,
        stop_signal,
        stop_within_s,
        files: files.into_iter().map(|(path, _)| path).collect(),
    };
    PlacedService { service, span: section.span.clone(), commands }
}

/// When it is ready, and how long that may take.
fn ready(service: &Section<'_>, known: &[&str], commands: &mut Vec<(String, Range<usize>)>) -> (Ready, f64) {
    let Some(section) = service.section("ready") else { return (Ready::Started, READY_WITHIN_S) };
    let tcp = section.any("tcp");
    let command = section.string("command");
    let log = section.string("log");
    let within_s = section.duration("within").unwrap_or(READY_WITHIN_S);
    section.finish();
    let given = ["tcp", "command", "log"].into_iter().filter(|key| section.has(key)).count();
    if given != 1 {
        let message = format!("`ready` of service `{}` must have one check, not {given}", service.name);
        let remedy = format!(
            "use `{{ tcp = \"${PORT}{}\" }}`, `{{ command = \"…\" }}` with a command that exits with 0, or `{{ log = \
             \"…\" }}` with text that the service prints",
            service.name
        );
        section.sink.report(section.span.clone(), &message, "", &remedy);
    }
    let ready = match (tcp, command, log) {
        (Some((value, span)), ..) => {
            let text = match value {
                toml::de::DeValue::Integer(number) => number.as_str().to_owned(),
                other => other.as_str().unwrap_or_default().to_owned(),
            };
            if !is_port(&text, known) {
                let remedy = format!("use `tcp = \"${PORT}{}\"`, or a number from 1 to 65535", service.name);
                section.sink.report(span, "`tcp` of `ready` must be a port", "", &remedy);
            }
            Ready::Tcp(text)
        }
        (None, Some((text, span)), _) => {
            commands.push((text.clone(), span));
            Ready::Command(text)
        }
        (None, None, Some((text, _))) => Ready::Log(text),
        (None, None, None) => Ready::Started,
    };
    (ready, within_s)
}

/// A port's number, or the variable of a service's port and nothing else.
fn is_port(text: &str, known: &[&str]) -> bool {
    let variable = text
        .strip_prefix('$')
        .map(|name| name.strip_prefix('{').and_then(|braced| braced.strip_suffix('}')).unwrap_or(name));
    match variable.and_then(|name| name.strip_prefix(PORT)) {
        Some(service) => known.contains(&service),
        None => text.parse::<u16>().is_ok_and(|port| port > 0),
    }
}

fn per(service: &Section<'_>) -> Per {
    let remedy = "use `trial` (a new one for each trial) or `block` (one for all trials of a block)";
    let wrong = |word: &str| format!("cannot start a service per `{word}`");
    service.word("per", &[("trial", Per::Trial), ("block", Per::Block)], wrong, remedy).unwrap_or_default()
}

/// The signal that ends it, and how long it may take.
fn stop(service: &Section<'_>) -> (i32, f64) {
    let Some(section) = service.section("stop") else { return (SIGTERM, STOP_WITHIN_S) };
    let signal = section.string("signal").map_or(SIGTERM, |(word, span)| {
        let bare = word.strip_prefix("SIG").unwrap_or(&word);
        SIGNALS.iter().find(|(name, _)| *name == bare).map(|&(_, number)| number).unwrap_or_else(|| {
            let remedy = suggest(bare, SIGNALS.iter().map(|(name, _)| *name));
            section.sink.report(span, &format!("unknown signal `{word}`"), "", &remedy);
            SIGTERM
        })
    });
    let within_s = section.duration("within").unwrap_or(STOP_WITHIN_S);
    section.finish();
    (signal, within_s)
}

/// One service for all trials of a block cannot be one variant's, nor know what is fresh for every trial.
fn check_shared_by_variants(
    sink: &Sink,
    placed: &PlacedService,
    all: &[PlacedService],
    run_factors: &[PlacedFactor<'_>],
) {
    let placed_variables = || run_factors.iter().flat_map(|factor| &factor.variables);
    let is_its_own = |name: &str| name.split_once('.').is_some_and(|(service, _)| service == placed.service.name);
    for (_, span) in placed_variables().filter(|(name, _)| is_its_own(name)) {
        let message =
            format!("the service `{}` starts once per block, so levels cannot change it", placed.service.name);
        sink.report(span.clone(), &message, "no effect", "use `per = \"trial\"`");
    }
    let of_factors = placed_variables().map(|(variable, _)| variable.clone());
    let fresh = all.iter().filter(|other| other.service.per == Per::Trial);
    let ports = fresh.map(|other| format!("{PORT}{}", other.service.name));
    let changing: Vec<String> = of_factors.chain(ports).chain(["PREFIX".to_owned()]).collect();
    for (text, span) in &placed.commands {
        if let Some(variable) = mentioned(text).find(|variable| changing.iter().any(|name| name == variable)) {
            let message = format!("a service per block cannot use `${variable}`, which differs between trials");
            let remedy = "use `per = \"trial\"`, or a command that is the same for all trials";
            sink.report(span.clone(), &message, "", remedy);
        }
    }
}

/// A port that is mentioned is one of a service, and of one that is there. `needed` are the services of a workload.
pub(super) fn ports_are_known(sink: &Sink, text: &str, span: &Range<usize>, known: &[&str], needed: Option<&[String]>) {
    for service in mentioned(text).filter_map(|variable| variable.strip_prefix(PORT)) {
        if !known.contains(&service) {
            let port = |name: &str| format!("${PORT}{name}");
            let remedy = match (known, did_you_mean(service, known.iter().copied())) {
                ([], _) => format!("add `[services.{service}]`"),
                (_, Some(meant)) => format!("did you mean `{}`?", port(meant)),
                _ => format!("available: {}", known.iter().map(|name| port(name)).collect::<Vec<_>>().join(", ")),
            };
            let message = format!("`${PORT}{service}` is not the port of a service");
            sink.report(span.clone(), &message, "", &remedy);
        } else if needed.is_some_and(|needed| !needed.iter().any(|name| name == service)) {
            let message = format!("`${PORT}{service}` is the port of a service that this workload does not use");
            sink.report(span.clone(), &message, "", &format!("add \"{service}\" to the workload's `services`"));
        }
    }
}
