//! The options: the page, and single charts. The files are looked at before anything is run, and written as a whole.

use crate::page::{Content, page};
use crate::{against, svg};
use bakeoff_command::target::Target;
use bakeoff_command::{Against, Code, CommandError, Concluded, Registry};
use bakeoff_model::record::Record;
use bakeoff_report::to_pass_on;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const HTML: &str = "html";
const SVG: &str = "svg";
const CHART: &str = "chart";
/// Of `report`: what prints something other than findings.
const NO_FINDINGS: [&str; 2] = ["provenance", "trial"];
/// Of `report`: two journals next to each other, of which there is a page and no chart.
const AGAINST: &str = "against";

/// A page is at least this old before a command that measures writes it again.
const SELDOM: Duration = Duration::from_secs(30);

/// The first words of a page that is written while trials run.
const NOTE: &str = "Trials are still running. Bakeoff updates this page between blocks, and the page reloads itself. A \
                    browser on the measuring machine disturbs the measurement, so open the page on another machine.";

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
            .help_heading("Exports")
            .conflicts_with_all(&others)
    };
    command
        .arg(file(
            HTML,
            "Write a self-contained HTML page with the answer, all charts and the figures. While trials run, \
             Bakeoff updates the page between blocks, at most once every 30 seconds",
        ))
        .arg(file(SVG, "Write one chart as SVG, for light and dark backgrounds").conflicts_with_all(&of_two))
        .arg(
            Arg::new(CHART)
                .long(CHART)
                .value_name("NAME")
                .value_parser(PossibleValuesParser::new(svg::CHARTS))
                .default_value(svg::CHARTS[0])
                .requires(SVG)
                .help(
                    "With --svg: the chart to write. `trials` (in chronological order) and `distributions` show only \
                     the first workload and condition",
                )
                .help_heading("Exports"),
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
        return Err(CommandError::usage("--html and --svg name the same file").hint("name a different file for each"));
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

/// Writes the page of a study whose trials still run, unless it was written a moment ago. A failure must not end the
/// study; at its end the page is written again, and the failure reported.
pub(crate) fn rewrite(matches: &ArgMatches, record: &Record, features: &Registry) -> Option<PathBuf> {
    let Ok(Target::Replaced(path)) = Target::of(file(matches, HTML)?) else { return None };
    if is_old(&path) {
        let _ = snapshot(record, features).and_then(|page| Target::Replaced(path.clone()).write(page.as_bytes()));
    }
    Some(path)
}

fn is_old(path: &Path) -> bool {
    let written = std::fs::metadata(path).and_then(|about| about.modified());
    written.is_ok_and(|at: SystemTime| at.elapsed().is_ok_and(|age| age >= SELDOM)) || !path.exists()
}

fn snapshot(record: &Record, features: &Registry) -> Result<String, CommandError> {
    let findings = to_pass_on(&features.judge(record));
    let (pages, causes) = (features.pages(), features.causes(&findings));
    let concluded = Concluded {
        record,
        findings: &findings,
        causes: &causes,
        pages: &pages,
        is_raced: false,
        is_json: false,
        time_unit: None,
    };
    page(&concluded, Some(NOTE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_testkit::records::{execute, measure, study};
    use std::fs;

    #[test]
    fn a_page_is_written_between_blocks_and_not_again_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        let mut record = study(&["baseline", "b"], &["idle"], &["wall"]);
        execute(&mut record, 6, |trial| measure(trial, "wall", 1.0 + f64::from(trial.block)));
        let asked = |words: &[&str]| add(Command::new("run")).get_matches_from([&["run"], words].concat());
        rewrite(&asked(&[]), &record, &Registry::default());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nobody asked for a page");
        let asked = asked(&["--html", path.to_str().unwrap()]);
        rewrite(&asked, &record, &Registry::default());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("http-equiv=\"refresh\"") && text.contains("still run") && text.ends_with("</html>"));
        fs::write(&path, "the last one").unwrap();
        rewrite(&asked, &record, &Registry::default());
        assert_eq!(fs::read_to_string(&path).unwrap(), "the last one", "it is not old enough");
        fs::File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now() - SELDOM).unwrap();
        rewrite(&asked, &record, &Registry::default());
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left next to it");
    }
}
