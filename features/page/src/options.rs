//! The options: the page, and single charts. The files are looked at before anything is executed, and written as a whole.

use crate::page::{Content, page};
use crate::{against, svg};
use bakeoff_command::target::Target;
use bakeoff_command::{Against, Code, CommandError, Concluded};
use bakeoff_report::to_pass_on;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::path::PathBuf;

const HTML: &str = "html";
const SVG: &str = "svg";
const CHART: &str = "chart";
/// Of `report`: what prints something other than findings.
const NO_FINDINGS: [&str; 2] = ["provenance", "trial"];
/// Of `report`: two journals next to each other, of which there is a page and no chart.
const AGAINST: &str = "against";

/// Adds the options.
pub(crate) fn add(command: Command) -> Command {
    let known = |name: &&str| command.get_arguments().any(|arg| arg.get_id() == name);
    let others: Vec<&str> = NO_FINDINGS.into_iter().filter(known).collect();
    let of_two: Vec<&str> = [AGAINST].into_iter().filter(known).collect();
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help(help)
            .help_heading("Findings for others")
            .conflicts_with_all(&others)
    };
    command
        .arg(file(
            HTML,
            "Write a page for a browser: one file with the answer, every chart and every figure, which needs nothing else; \
             `-` is standard output, in place of the report",
        ))
        .arg(
            file(SVG, "Write one chart as SVG, for light and for dark surroundings; `-` is standard output")
                .conflicts_with_all(&of_two),
        )
        .arg(
            Arg::new(CHART)
                .long(CHART)
                .value_name("NAME")
                .value_parser(PossibleValuesParser::new(svg::CHARTS))
                .default_value(svg::CHARTS[0])
                .requires(SVG)
                .help("Which chart --svg writes: all variants, trials in the order of time, or distributions")
                .help_heading("Findings for others"),
        )
}

fn file<'m>(matches: &'m ArgMatches, name: &str) -> Option<&'m PathBuf> {
    matches.try_get_one(name).ok()?
}

/// Both targets, if they are asked for.
fn targets(matches: &ArgMatches) -> Result<[Option<Target>; 2], CommandError> {
    let [html, svg] = [HTML, SVG].map(|name| file(matches, name).map(|file| Target::of(file)).transpose());
    let targets = [html?, svg?];
    if targets[0].is_some() && targets[0] == targets[1] {
        return Err(CommandError::usage("--html and --svg name the same file").hint("give each a file of its own"));
    }
    Ok(targets)
}

/// Whether the files can be written.
pub(crate) fn check(matches: &ArgMatches) -> Result<(), CommandError> {
    targets(matches).map(drop)
}

/// Whether one of the files is standard output.
pub(crate) fn take_output(matches: &ArgMatches) -> bool {
    [HTML, SVG].into_iter().filter_map(|name| file(matches, name)).any(|file| Target::is_output(file))
}

/// Writes the page of two journals.
pub(crate) fn write_against(matches: &ArgMatches, against: &Against<'_>) -> Result<(), CommandError> {
    match targets(matches)? {
        [Some(target), _] => target.write(against::page(against).as_bytes()),
        [None, _] => Ok(()),
    }
}

/// Writes the files.
pub(crate) fn write(matches: &ArgMatches, concluded: &Concluded<'_>) -> Result<Code, CommandError> {
    let [html, svg] = targets(matches)?;
    if html.is_none() && svg.is_none() {
        return Ok(Code::Done);
    }
    // A page is sent on: who gets it need not know what the machine is called.
    let findings = to_pass_on(concluded.findings);
    let concluded = &Concluded { findings: &findings, ..*concluded };
    if let Some(target) = html {
        target.write(page(concluded, None)?.as_bytes())?;
    }
    if let Some(target) = svg {
        let chart = matches.get_one::<String>(CHART).map_or(svg::CHARTS[0], String::as_str);
        let record = concluded.record.in_parts();
        let concluded = &Concluded { record: &record, ..*concluded };
        target.write(svg::chart(&Content::of(concluded), chart)?.as_bytes())?;
    }
    Ok(Code::Done)
}
