//! `bakeoff stat`: samples that somebody else measured, judged. It reads files, hands them on, and prints what comes
//! back.

use crate::{input, page};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use bakeoff_judge::findings::Verdict;
use bakeoff_judge::samples::{SampleFindings, Terms};
use bakeoff_model::plain::clean;
use bakeoff_readers::columns::Columns;
use bakeoff_readers::keys::{Filter, Projection};
use bakeoff_readers::{Error, Format, Gathered, Options};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

/// The confidence of `bakeoff compare`.
const CONFIDENCE: f64 = 0.95;

/// The margin of `bakeoff compare`.
const MARGIN: &str = "1%";

/// Compare samples from files or benchmark output the way ministat and benchstat do, but with verdicts
///
/// Each file is a sample: numbers, one per line, with # before comments; or the output of `go test -bench`, hyperfine
/// (--export-json), pyperf (-o), JMH (-rf json) or pytest-benchmark (--benchmark-json). Bakeoff recognises the format,
/// and unpacks gzip files. The first sample is the baseline. Bakeoff does not know in which order the samples were
/// measured. If a sample drifts over time, Bakeoff gives no verdict on differences that the drift could explain.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The files; the first is the baseline [default: `-`, standard input]
    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
    /// Name a sample; repeat the option for each file, in order
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// Compare with this sample [default: the first one]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Compare line by line; use this only if the values on the same line of all files were measured together, in
    /// random order
    #[arg(long)]
    paired: bool,
    /// Read the numbers from this column, counting from 1
    #[arg(short = 'C', long = "column", value_name = "N", allow_hyphen_values = true, help_heading = "Input")]
    columns: Vec<OsString>,
    /// The characters that separate columns [default: blank and tab]
    #[arg(short = 'd', long, value_name = "CHARS", allow_hyphen_values = true, help_heading = "Input")]
    delimiters: Vec<OsString>,
    /// Read the files in this format [default: recognised from the content]
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    format: Option<Named>,
    /// Never compare values that differ in these keys (separated by commas): .name, .fullname, .unit, .file, /PART of a
    /// name, the KEY of a line `KEY: value`, or .config for all such lines [default: .config]
    #[arg(long, value_name = "KEYS", help_heading = "Grouping and selection")]
    table: Option<String>,
    /// Create a table for each value of these keys [default: .fullname]
    #[arg(long, value_name = "KEYS", help_heading = "Grouping and selection")]
    row: Option<String>,
    /// In each table, create a sample for each value of these keys [default: usually .file]
    #[arg(long, value_name = "KEYS", help_heading = "Grouping and selection")]
    col: Option<String>,
    /// Ignore differences in these keys
    #[arg(long, value_name = "KEYS", help_heading = "Grouping and selection")]
    ignore: Option<String>,
    /// Use only values that match: `KEY:VALUE`, `KEY:(A OR B)`, `-X`, `X Y`, `X OR Y`, `(X)`
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true, help_heading = "Grouping and selection")]
    filter: Option<String>,
    /// The largest difference that does not matter, in percent; samples that differ by less, either way, are equivalent
    #[arg(long, value_name = "PERCENT", default_value = MARGIN, value_parser = bakeoff_command::arguments::margin)]
    margin: f64,
    /// Confidence level of intervals and verdicts, as a fraction or a percentage; --ministat allows only 80, 90, 95,
    /// 98, 99 and 99.5 [default: 0.95]
    #[arg(short = 'c', long, value_name = "C", allow_hyphen_values = true)]
    confidence: Vec<OsString>,
    /// Print all findings as JSON
    #[arg(long)]
    json: bool,
    /// Exit with 3 unless every comparison has a verdict
    #[arg(long)]
    require_verdict: bool,
}

/// The formats by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Named {
    Columns,
    Go,
    Json,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    let confidence = confidence(&args.confidence)?;
    let gathered = gather(args)?;
    let terms = Terms { confidence, margin: args.margin, paired: args.paired, baseline: args.baseline.clone() };
    let findings = bakeoff_judge::judge_samples(gathered.samples, &terms)
        .map_err(|error| CommandError::usage(clean(&error.to_string())).hint(clean(&error.remedy)))?;
    let mut remarks = gathered.notes;
    if let Some(example) = gathered.rounded.example {
        let count = gathered.rounded.count;
        remarks.push(format!("integers too large to be exact as 64-bit floating-point numbers: {count} ({example})"));
    }
    if args.json {
        screen::json(&bakeoff_report::pretty_json(&findings)?);
        remarks.iter().for_each(|remark| screen::err(&format!("note: {}\n", clean(remark))));
    } else {
        screen::out(&page::stat(&findings, &remarks, screen::style()));
    }
    let undecided = args.require_verdict && !all_decided(&findings);
    Ok(if undecided { Code::Undecided } else { Code::Done })
}

/// Whether there is a comparison, and every one has a verdict.
fn all_decided(findings: &SampleFindings) -> bool {
    let mut comparisons =
        findings.tables.iter().flat_map(|table| &table.samples).filter_map(|row| row.comparison.as_ref()).peekable();
    comparisons.peek().is_some() && comparisons.all(|c| !matches!(c.verdict, Verdict::Undecided { .. }))
}

/// A fraction, or a percentage.
fn confidence(given: &[OsString]) -> Result<f64, CommandError> {
    let Some(text) = given.last() else { return Ok(CONFIDENCE) };
    let text = text.to_string_lossy();
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let fraction = number.map(|number| if number < 1.0 && !text.contains('%') { number } else { number / 100.0 });
    fraction.filter(|fraction| (0.5..1.0).contains(fraction)).ok_or_else(|| {
        CommandError::usage(format!("`{text}` is not a confidence level"))
            .hint("use a value of at least 50% and less than 100%, such as 0.95 or 95%")
    })
}

/// Reads all files, several at a time; of what goes wrong, the first file's counts.
fn gather(args: &Args) -> Result<Gathered, CommandError> {
    let stdin = [OsString::from("-")];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    if files.iter().filter(|file| *file == "-").count() > 1 {
        return Err(CommandError::usage("standard input (`-`) can be named only once"));
    }
    let options = options(args)?;
    let labels = labels(files, &args.names)?;
    let is_alone = files.len() == 1;
    let read: Vec<Result<Gathered, Error>> = std::thread::scope(|scope| {
        let mut readers = vec![];
        for (file, label) in files.iter().zip(&labels) {
            let options = &options;
            readers.push(scope.spawn(move || input::read(file, label, is_alone, options)));
        }
        let failed = || Error {
            place: String::new(),
            message: "an internal error occurred while reading".to_owned(),
            remedy: String::new(),
        };
        readers.into_iter().map(|reader| reader.join().unwrap_or_else(|_| Err(failed()))).collect()
    });
    let mut all = Gathered::default();
    for read in read {
        all.append(read.map_err(|error| {
            // Names of files and parts of lines are somebody else's text.
            let (message, remedy) = (clean(&error.to_string()), clean(&error.remedy));
            let error = CommandError::usage(message);
            if remedy.is_empty() { error } else { error.hint(remedy) }
        })?);
    }
    all.settle([&args.table, &args.row, &args.col].into_iter().any(Option::is_some));
    Ok(all)
}

fn options(args: &Args) -> Result<Options, CommandError> {
    let projection = |option: &str, text: &Option<String>| {
        let parse = |text: &String| Projection::parse(text);
        let parsed = text.as_ref().map(parse).transpose();
        parsed.map_err(|error| CommandError::usage(format!("--{option}: {error}")))
    };
    let mut columns = Columns::default();
    if let Some(text) = args.columns.last() {
        let column = text.to_str().and_then(|text| text.parse().ok()).filter(|column| *column > 0);
        columns.is_chosen = true;
        columns.column = column.ok_or_else(|| {
            CommandError::usage(format!("`{}` is not a column", text.to_string_lossy()))
                .hint("columns are numbered from 1")
        })?;
    }
    if let Some(text) = args.delimiters.last() {
        if text.is_empty() {
            return Err(CommandError::usage("-d needs at least one character"));
        }
        columns.delimiters = text.as_bytes().to_vec();
    }
    let filter = args.filter.as_deref().map(Filter::parse).transpose();
    Ok(Options {
        format: args.format.map(|named| match named {
            Named::Columns => Format::Columns,
            Named::Go => Format::Go,
            Named::Json => Format::Json,
        }),
        columns,
        table: projection("table", &args.table)?,
        row: projection("row", &args.row)?,
        col: projection("col", &args.col)?,
        ignore: projection("ignore", &args.ignore)?,
        filter: filter.map_err(|error| CommandError::usage(format!("--filter: {error}")))?.unwrap_or_default(),
    })
}

/// What the files are called in reports: no two alike, or their values would become one sample.
fn labels(files: &[OsString], names: &[String]) -> Result<Vec<String>, CommandError> {
    if !names.is_empty() && names.len() != files.len() {
        let message = format!("{} names for {} files", names.len(), files.len());
        return Err(CommandError::usage(message).hint("give --name once for each file, or not at all"));
    }
    let label = |(i, file): (usize, &OsString)| match names.get(i) {
        Some(name) => name.clone(),
        None if file == "-" => "<stdin>".to_owned(),
        None => file.to_string_lossy().into_owned(),
    };
    let plain: Vec<String> = files.iter().enumerate().map(label).collect();
    let unique = plain.iter().enumerate().map(|(i, label)| match plain[..i].iter().filter(|l| *l == label).count() {
        0 => label.clone(),
        before => format!("{label} ({})", before + 1),
    });
    Ok(unique.collect())
}
