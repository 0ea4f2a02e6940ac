//! `--gate` and `--junit` of the commands that come to findings: what users ask for there, and the file that it leaves. What
//! a gate is, is decided elsewhere.

use crate::decide::{NoGate, Wanted, gate};
use crate::decision::Gate;
use crate::junit::{junit, not_reached};
use crate::page::paragraph;
use crate::spec::Limits;
use bakeoff_command::arguments::slowdown;
use bakeoff_command::target::Target;
use bakeoff_command::{Code, CommandError, Concluded, screen};
use bakeoff_model::plain::clean;
use clap::{Arg, ArgMatches, value_parser};
use std::path::{Path, PathBuf};

const GATE: &str = "gate";
const JUNIT: &str = "junit";

/// What stands for the study's own limits.
const OF_STUDY: &str = "study";

/// The largest slowdown, as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    OfStudy,
    Of(f64),
}

fn limit(text: &str) -> Result<Limit, String> {
    if text == OF_STUDY {
        return Ok(Limit::OfStudy);
    }
    let or = |why: String| format!("{why}; or use `{OF_STUDY}` for the limits in [gate] of the study file");
    slowdown(text).map(Limit::Of).map_err(or)
}

/// Adds the options.
pub(crate) fn options(command: clap::Command) -> clap::Command {
    let has = |name: &str| command.get_arguments().any(|known| known.get_id() == name);
    let mut gate = Arg::new(GATE).long(GATE).visible_alias("max-slowdown").value_name("LIMIT").help_heading("Gate");
    const HELP: &str = "Exit with 1 if a variant is shown to be slower than the baseline by more than LIMIT (such as \
        2%). Exit with 3 if such a slowdown is neither shown nor excluded";
    gate = match has("study") {
        true => {
            let of_study = "Give `study` to use the limits that [gate] of the study file had when the study ran";
            gate.value_parser(limit).help(format!("{HELP}. {of_study}"))
        }
        false => gate.value_parser(|text: &str| slowdown(text).map(Limit::Of)).help(HELP),
    };
    // What prints no findings has nothing to hold against a limit; and a check that is left out must not look like one that held.
    for other in ["provenance", "trial", "against"].into_iter().filter(|name| has(name)) {
        gate = gate.conflicts_with(other);
    }
    let junit = Arg::new(JUNIT)
        .long(JUNIT)
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .requires(GATE)
        .help_heading("Gate");
    command.arg(gate).arg(junit.help("With --gate: write the result to this file as JUnit XML"))
}

/// Whether what they ask for can be done at all. A file of an earlier run must not look like the result of one that ends
/// before its gate, so an error stands there until then. A new file would be a change of the tree that is compared.
pub(crate) fn check(asked: &ArgMatches) -> Result<(), CommandError> {
    match asked.get_one::<PathBuf>(JUNIT) {
        Some(path) if path.is_file() => {
            let bytes = not_reached().map_err(|error| CommandError::new(Code::Internal, error))?;
            Target::of(path)?.write(&bytes)
        }
        Some(path) => Target::of(path).map(drop),
        None => Ok(()),
    }
}

/// Whether JUnit's XML goes to standard output.
pub(crate) fn take_output(asked: &ArgMatches) -> bool {
    asked.try_get_one::<PathBuf>(JUNIT).is_ok_and(|path| path.is_some_and(|path| Target::is_output(path)))
}

/// Whether a gate is asked for.
pub(crate) fn is_asked(asked: &ArgMatches) -> bool {
    asked.contains_id(GATE)
}

/// Holds findings against the limit, and prints what that comes to.
pub(crate) fn conclude(asked: &ArgMatches, concluded: &Concluded<'_>) -> Result<Code, CommandError> {
    let Some(limit) = asked.get_one::<Limit>(GATE) else { return Ok(Code::Done) };
    let limits = match limit {
        Limit::Of(limit) => Limits::of_all(*limit),
        // One program keeps any limit, and no line of a journal has this one.
        Limit::OfStudy if concluded.findings.is_one_program => Limits::of_all(0.0),
        Limit::OfStudy => Limits::of_record(concluded.record).ok_or_else(|| {
            CommandError::usage("the study had no limits when it ran").hint(
                "add [gate] with `max_slowdown = \"2%\"` to the study file and run the study again, or use --gate 2%",
            )
        })?,
    };
    let say = if concluded.is_json || take_output(asked) { screen::err } else { screen::out };
    let wanted = Wanted { limits, variants: vec![] };
    let gate = gate(concluded.record, concluded.findings, &wanted).map_err(no_gate)?;
    say(&format!("\n{}", paragraph(&gate, screen::style().width)));
    asked.get_one::<PathBuf>(JUNIT).map_or(Ok(()), |path| write_junit(&gate, path))?;
    Ok(gate.outcome.code())
}

/// Writes a gate as JUnit's XML.
pub(crate) fn write_junit(gate: &Gate, path: &Path) -> Result<(), CommandError> {
    let bytes = junit(gate).map_err(|error| CommandError::new(Code::Internal, error))?;
    Target::of(path)?.write(&bytes)
}

/// What cannot be gated on, with the remedy.
pub(crate) fn no_gate(why: NoGate) -> CommandError {
    let error = CommandError::usage(clean(&why.to_string()));
    match why {
        NoGate::UnknownVariant { known, .. } | NoGate::Baseline { known, .. } => {
            let known: Vec<String> = known.iter().map(|name| clean(name)).collect();
            error.hint(format!("available: {}", known.join(", ")))
        }
        NoGate::NoLimit => {
            error.hint("to limit all workloads, use --max-slowdown 2% or `max_slowdown` in [gate] of the study file")
        }
        NoGate::NoVariant => error.hint(
            "a gate needs two programs: add a second command, use --git twice, or add another level to the study. Note \
                that --save records a command, not its files, so keep a copy of the old program under another name (cp \
                prog prog-1.2)",
        ),
    }
}
