//! The options: one for each format, with a file. All files are looked at before anything is run; no text is made here.

use crate::{go, hyperfine, markdown, trials, wide};
use bakeoff_command::target::Target;
use bakeoff_command::{Code, CommandError, Concluded};
use bakeoff_model::plain::escaped;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::path::PathBuf;

/// A format, and what writes it.
struct Format {
    option: &'static str,
    help: &'static str,
    write: fn(&Concluded<'_>) -> Result<String, CommandError>,
}

const FORMATS: [Format; 6] = [
    Format {
        option: "export-markdown",
        help: "Write a Markdown summary for a pull request: question, answer, verdicts and doubts, with the details \
               folded. For this and every other export, give `-` as FILE to print the export instead of the report",
        write: |concluded| Ok(markdown::page(concluded)),
    },
    Format {
        option: "export-csv",
        help: "Write a CSV file with a row for each variant, workload, condition and metric",
        write: |concluded| wide::csv(concluded.findings),
    },
    Format {
        option: "export-trials",
        help: "Write a CSV file with a row for each trial: all measurements, including those of failed and void trials",
        write: trials::csv,
    },
    Format {
        option: "export-json",
        help: "Write JSON in hyperfine's format; --export-findings uses Bakeoff's format",
        write: hyperfine::json,
    },
    Format {
        option: "export-findings",
        help: "Write the JSON that --json prints; `bakeoff help findings-schema` prints its schema",
        write: findings,
    },
    Format {
        option: "export-go",
        help: "Write a line for each valid trial in the format of `go test -bench`, for `benchstat -col /variant FILE`",
        write: |concluded| Ok(go::lines(concluded)),
    },
];

/// Formats of hyperfine that Bakeoff does not write. Their options exist so that an error can name the remedy.
const NOT_WRITTEN: [(&str, &str); 2] = [("export-asciidoc", "AsciiDoc"), ("export-orgmode", "Org")];

/// Of `report`: what prints something other than findings.
const NO_FINDINGS: [&str; 3] = ["provenance", "trial", "against"];

/// Adds the options.
pub(crate) fn add(command: Command) -> Command {
    let known = |name: &&str| command.get_arguments().any(|arg| arg.get_id() == name);
    let others: Vec<&str> = NO_FINDINGS.into_iter().filter(known).collect();
    let arg = |format: &Format| {
        Arg::new(format.option)
            .long(format.option)
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help(format.help)
            .help_heading("Exports")
            .conflicts_with_all(&others)
    };
    let args: Vec<Arg> = FORMATS.iter().map(arg).collect();
    let refused = NOT_WRITTEN.map(|(option, _)| Arg::new(option).long(option).value_name("FILE").hide(true));
    command.args(args).args(refused)
}

/// What is asked for.
fn asked(matches: &ArgMatches) -> impl Iterator<Item = (&'static Format, &PathBuf)> {
    let file = |format: &'static Format| Some((format, matches.try_get_one(format.option).ok()??));
    FORMATS.iter().filter_map(file)
}

/// The targets, each once.
fn targets(matches: &ArgMatches) -> Result<Vec<(&'static Format, Target)>, CommandError> {
    let mut targets: Vec<(&Format, Target)> = vec![];
    for (format, file) in asked(matches) {
        let target = Target::of(file)?;
        let taken = targets.iter().find(|(_, known)| *known == target && !matches!(target, Target::InPlace(_)));
        if let Some((other, _)) = taken {
            let error = format!("--{} and --{} name the same file", other.option, format.option);
            return Err(CommandError::usage(error).hint("name a different file for each"));
        }
        targets.push((format, target));
    }
    Ok(targets)
}

/// Whether all files can be written.
pub(crate) fn check(matches: &ArgMatches) -> Result<(), CommandError> {
    if let Some((option, format)) = NOT_WRITTEN.iter().find(|(option, _)| matches.contains_id(option)) {
        let error = format!("--{option}: Bakeoff cannot write {format}");
        return Err(CommandError::usage(error).hint(
            "use --export-markdown, --export-csv or --export-json; pandoc converts Markdown to AsciiDoc and Org",
        ));
    }
    targets(matches).map(drop)
}

/// Whether one of the files is standard output.
pub(crate) fn take_output(matches: &ArgMatches) -> bool {
    asked(matches).any(|(_, file)| Target::is_output(file))
}

/// Writes the files: all that can be written, whatever becomes of the others.
pub(crate) fn write(matches: &ArgMatches, concluded: &Concluded<'_>) -> Result<Code, CommandError> {
    let mut failed = None;
    for (format, target) in targets(matches)? {
        let written = (format.write)(concluded).and_then(|text| target.write(text.as_bytes()));
        failed = failed.or(written.err());
    }
    failed.map_or(Ok(Code::Done), Err)
}

fn findings(concluded: &Concluded<'_>) -> Result<String, CommandError> {
    let home = std::env::var("HOME").ok();
    let text = bakeoff_report::json(concluded.findings, home.as_deref())?;
    Ok(escaped(&text).into_owned())
}
