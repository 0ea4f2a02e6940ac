//! `[workloads.x]`: what runs, what it reports, and what must hold afterwards, as far as the text shows it.

use super::extension::Extension;
use super::section::{Section, check_inside};
use super::services::{PlacedService, ports_are_known};
use crate::marks::{is_name, is_op_name};
use crate::metric::{Direction, METRICS, Unit};
use crate::study::{Around, ExitCodes, OpSpec, OutputUse, Take, ValueSource, ValueSpec, Workload, mentions};
use crate::values;
use std::ops::Range;
use toml::de::DeValue;

const COLUMN_REMEDY: &str = "use the column's name from the heading line, such as `csv = \"usec\"`, or its number, \
    counted from 1";
/// The most ops that a trial is believed to have.
const MOST_OPS: i64 = 1 << 40;
/// The most trials that warm up.
const MOST_WARMUP: u32 = 10_000;

pub(super) fn workloads(
    file: &Section<'_>,
    services: &[PlacedService],
    extensions: &[&dyn Extension],
) -> Vec<Workload> {
    let mut workloads = vec![];
    let mut values: Vec<(ValueSpec, Range<usize>)> = vec![];
    for section in file.named_sections("workloads") {
        workloads.push(workload(&section, services, extensions, &mut values));
    }
    if workloads.is_empty() {
        let remedy = "add `[workloads.NAME]` with `run = \"…\"`: the command to run and measure";
        file.sink.report(file.span.clone(), "the study has no workload", "", remedy);
    }
    values_are_one_metric(file, &values);
    for PlacedService { service, span, .. } in services {
        if !workloads.iter().any(|workload| workload.services.contains(&service.name)) && !workloads.is_empty() {
            let message = format!("no workload uses the service `{}`", service.name);
            let remedy = "add the service to a workload's `services`, or remove it";
            file.sink.report(span.clone(), &message, "never started", remedy);
        }
        if let Some(workload) = workloads.iter().find(|workload| workload.phases.contains(&service.name)) {
            let message =
                format!("`{}` is both a service and a phase of the workload `{}`", service.name, workload.name);
            let remedy = "rename the service or the phase, because metrics of both begin with that name";
            file.sink.report(span.clone(), &message, "ambiguous metrics", remedy);
        }
    }
    workloads
}

fn workload(
    section: &Section<'_>,
    services: &[PlacedService],
    extensions: &[&dyn Extension],
    values: &mut Vec<(ValueSpec, Range<usize>)>,
) -> Workload {
    let run = section.required_string("run", "add the command to run and measure");
    let expect = section.string("expect");
    let files = section.strings("files");
    for (path, span) in expect.iter().chain(&files) {
        check_inside(section.sink, path, span.clone());
    }
    let takes_s = section.duration("takes");
    let divided = section.boolean("divided").unwrap_or_default();
    let phases = section.names("phases", "a phase's name");
    let ops = section.section("ops").map(|ops| op_spec(&ops));
    let own = value_specs(section);
    let known: Vec<&str> = services.iter().map(|placed| placed.service.name.as_str()).collect();
    let needed = section.chosen("services", "service", &known);
    let needed = needed.unwrap_or_else(|| known.iter().map(|&name| name.to_owned()).collect());
    let oracle = section.string("oracle");
    for (text, span) in run.iter().chain(&oracle) {
        ports_are_known(section.sink, text, span, &known, Some(&needed));
    }
    let timeout_s = section.duration("timeout");
    let harness = extensions.iter().find_map(|extension| extension.harness(section));
    // What a harness prints has times in it.
    let varies = divided || (harness.is_some() && expect.is_none());
    let output = output_use(section, expect.is_some(), &own, [divided, varies]);
    let input = section.string("input");
    if let Some((path, span)) = &input {
        check_inside(section.sink, path, span.clone());
    }
    let exit_codes = exit_codes(section);
    let warmup = warmup(section);
    let around = around(section, &known, &needed);
    let lengths = lengths(section, run.as_ref().map_or("", |(run, _)| run));
    section.finish();
    values.extend(own.iter().cloned());
    Workload {
        name: section.name.clone(),
        run: run.map(|(run, _)| run).unwrap_or_default(),
        expect: expect.map(|(path, _)| path),
        files: files.into_iter().map(|(path, _)| path).collect(),
        takes_s,
        phases,
        ops,
        values: own.into_iter().map(|(value, _)| value).collect(),
        divided,
        services: needed,
        oracle: oracle.map(|(command, _)| command),
        timeout_s,
        output,
        harness,
        input: input.map(|(path, _)| path),
        exit_codes,
        warmup,
        lengths,
        around,
    }
}

/// At least two, so that work at the start and the rest can be separated.
fn lengths(section: &Section<'_>, run: &str) -> Vec<String> {
    let all = section.strings("lengths");
    let Some((_, first)) = all.first() else { return vec![] };
    let numbers: Vec<f64> = all.iter().filter_map(|(text, _)| text.parse().ok()).collect();
    let grow = numbers.windows(2).all(|pair| pair[0] < pair[1]) && numbers.first().is_some_and(|first| *first > 0.0);
    if all.len() < 2 || numbers.len() < all.len() || !grow {
        let remedy = "write two or more numbers, the smaller first: lengths = [\"500\", \"5000\"]";
        section.sink.report(first.clone(), "these are not valid workload lengths", "", remedy);
    } else if !mentions(run, "LENGTH") {
        let remedy = "use $LENGTH in `run`, for example: run = 'perl loop.pl $LENGTH'";
        section.sink.report(first.clone(), "the command does not depend on $LENGTH", "", remedy);
    }
    all.into_iter().map(|(text, _)| text).collect()
}

fn around(section: &Section<'_>, known: &[&str], needed: &[String]) -> Around {
    let command = |key: &'static str| {
        let (command, span) = section.string(key)?;
        ports_are_known(section.sink, &command, &span, known, Some(needed));
        Some(command)
    };
    Around {
        setup: command("setup"),
        prepare: command("prepare"),
        conclude: command("conclude"),
        cleanup: command("cleanup"),
    }
}

fn warmup(section: &Section<'_>) -> u32 {
    let Some((number, span)) = section.integer("warmup") else { return 0 };
    u32::try_from(number).ok().filter(|number| *number <= MOST_WARMUP).unwrap_or_else(|| {
        let remedy = format!(
            "use a number from 0 to {MOST_WARMUP}; each variant runs that many unmeasured trials before the first block"
        );
        section.sink.report(span, &format!("cannot run {number} warmup trials"), "", &remedy);
        0
    })
}

/// The exit codes of a trial that has not failed.
fn exit_codes(section: &Section<'_>) -> ExitCodes {
    const REMEDY: &str = "write `exit_codes = [0, 1]` to accept these, or `exit_codes = \"any\"` to accept all";
    let report = |span, message: &str| section.sink.report(span, message, "", REMEDY);
    let place = section.place_of("exit_codes").unwrap_or_else(|| section.span.clone());
    match section.any("exit_codes") {
        None => return ExitCodes::default(),
        Some((DeValue::String(word), span)) if word != "any" => report(span, &format!("`{word}` is not an exit code")),
        Some((DeValue::String(_), _)) => return ExitCodes::Any,
        Some((DeValue::Array(codes), _)) if !codes.is_empty() => {
            let code = |code: &DeValue<'_>| match code {
                DeValue::Integer(number) => number.as_str().parse::<u8>().ok(),
                _ => None,
            };
            match codes.iter().map(|item| code(item.get_ref())).collect::<Option<Vec<u8>>>() {
                Some(codes) => return ExitCodes::Only(codes),
                None => report(place, "an exit code must be a number from 0 to 255"),
            }
        }
        Some((_, span)) => report(span, "`exit_codes` must be a list of numbers, or \"any\""),
    }
    ExitCodes::default()
}

/// What becomes of its standard output. Processes that divide the work print what falls to them, which varies.
fn output_use(
    section: &Section<'_>,
    is_expected: bool,
    values: &[(ValueSpec, Range<usize>)],
    [divided, varies]: [bool; 2],
) -> OutputUse {
    const WORDS: &[(&str, OutputUse)] =
        &[("compared", OutputUse::Compared), ("varies", OutputUse::Varies), ("null", OutputUse::Null)];
    let usual = if varies { OutputUse::Varies } else { OutputUse::default() };
    let Some((word, span)) = section.string("output") else { return usual };
    let Some(&(_, output)) = WORDS.iter().find(|(known, _)| *known == word) else {
        let remedy = "use `compared` (no verdict on a variant if its output differs from the baseline's), `varies` \
                      (the output may differ) or `null` (the output is discarded)";
        section.sink.report(span, &format!("`{word}` is not a valid value for `output`"), "", remedy);
        return usual;
    };
    let reads = |(value, _): &&(ValueSpec, Range<usize>)| value.from != ValueSource::Mark;
    let reader = values.iter().find(reads).map(|(value, _)| format!("the value `{}`", value.name));
    match (output, is_expected, reader) {
        (OutputUse::Null, true, _) => {
            let message = "the output is discarded, but `expect` needs it";
            section.sink.report(span, message, "", "remove either `output` or `expect`");
        }
        (OutputUse::Null, _, Some(reader)) => {
            let message = format!("{reader} is read from the output, but the output is discarded");
            section.sink.report(span, &message, "", "remove `output`, or report the value with a mark");
        }
        (OutputUse::Varies, true, _) if !divided => {
            let message = "`expect` requires output that does not vary";
            section.sink.report(span, message, "", "remove either `output` or `expect`");
        }
        _ => {}
    }
    output
}

fn op_spec(section: &Section<'_>) -> OpSpec {
    let unit = section.required_string("unit", "name one op in the singular, such as `unit = \"message\"`");
    let count = section.integer("count").and_then(|(count, span)| {
        let fits = u64::try_from(count).ok().filter(|_| (1..=MOST_OPS).contains(&count));
        if fits.is_none() {
            let remedy = "use the number of ops in a trial (at least 1), or remove `count` to accept any number";
            section.sink.report(span, &format!("invalid number of ops: {count}"), "", remedy);
        }
        fits
    });
    let names = section.names("names", "an op's name");
    // A mark `op 12` is an op without a name that took 12 seconds.
    let is_number = |name: &str| is_name(name.as_bytes()) && !is_op_name(name.as_bytes());
    for (name, span) in section.strings("names").into_iter().filter(|(name, _)| is_number(name)) {
        let remedy = "begin the name with a letter; in a mark `op NUMBER`, the number is the latency";
        section.sink.report(span, &format!("the name of an op cannot be a number: {name:?}"), "", remedy);
    }
    section.finish();
    OpSpec { unit: unit.map(|(unit, _)| unit).unwrap_or_default(), count, names }
}

fn value_specs(section: &Section<'_>) -> Vec<(ValueSpec, Range<usize>)> {
    let mut values = vec![];
    for value in section.named_sections("values") {
        if METRICS.iter().any(|metric| metric.name == value.name) {
            let remedy = "choose another name; `bakeoff help metrics` lists the reserved ones";
            let message = format!("`{}` is already a Bakeoff metric", value.name);
            value.sink.report(value.span.clone(), &message, "", remedy);
        }
        let (unit, scale) = value_unit(&value);
        let better = better(&value, unit);
        let exact = is_exact(&value, unit);
        let from = value_source(&value);
        value.finish();
        values.push((ValueSpec { name: value.name.clone(), from, unit, scale, better, exact }, value.span));
    }
    values
}

/// Whether the value is declared to be exact. A time varies by chance, and so does a rate.
fn is_exact(value: &Section<'_>, unit: Unit) -> bool {
    let exact = value.boolean("exact").unwrap_or(false);
    if let (true, Unit::Seconds | Unit::PerSecond, Some(place)) = (exact, unit, value.place_of("exact")) {
        let remedy =
            "remove `exact`; use it only for sizes, and for counts that never vary between runs of the same program";
        value.sink.report(place, "times and rates vary by chance", "never exact", remedy);
    }
    exact
}

fn value_unit(value: &Section<'_>) -> (Unit, f64) {
    let remedy = format!("use the unit in which the workload reports the number: {}", Unit::KNOWN);
    let Some((word, span)) = value.required_string("unit", &remedy) else { return (Unit::Count, 1.0) };
    Unit::of(&word).unwrap_or_else(|| {
        value.sink.report(span, &format!("unknown unit `{word}`"), "", &remedy);
        (Unit::Count, 1.0)
    })
}

/// Less is better, but for rates.
fn better(value: &Section<'_>, unit: Unit) -> Direction {
    let usual = if unit == Unit::PerSecond { Direction::More } else { Direction::Less };
    let words = [("more", Direction::More), ("less", Direction::Less)];
    let wrong = |word: &str| format!("`better` must be \"less\" or \"more\", not `{word}`");
    value.word("better", &words, wrong, "write `better = \"less\"` or `better = \"more\"`").unwrap_or(usual)
}

/// Where the workload reports it: in one way, or by a mark.
fn value_source(value: &Section<'_>) -> ValueSource {
    let regex = value.string("regex");
    let json = value.string("json");
    let csv = value.any("csv");
    let take = take(value, csv.is_some());
    let given: Vec<&str> = ["regex", "json", "csv"].into_iter().filter(|key| value.has(key)).collect();
    if let [first, .., last] = given[..] {
        let message = format!("the value `{}` has both `{first}` and `{last}`", value.name);
        value.sink.report(value.span.clone(), &message, "only one is allowed", "keep one of them");
    }
    let (source, span) = match (regex, json, csv) {
        (Some((pattern, span)), ..) => (ValueSource::Regex(pattern), span),
        (None, Some((path, span)), _) => (ValueSource::Json(path), span),
        (None, None, Some((column, span))) => match column_name(column) {
            Some(column) => (ValueSource::Csv { column, take }, span),
            None => {
                value.sink.report(span, "`csv` must name a column", "", COLUMN_REMEDY);
                return ValueSource::Mark;
            }
        },
        (None, None, None) => return ValueSource::Mark,
    };
    if let Err(why) = values::check(&source) {
        let remedy = match source {
            ValueSource::Regex(_) => {
                "see https://docs.rs/regex for the syntax; write the regex in '…' to keep backslashes"
            }
            ValueSource::Json(_) => "separate names and indices with dots, such as `json = \"latency.p99\"`",
            ValueSource::Csv { .. } | ValueSource::Mark => COLUMN_REMEDY,
        };
        value.sink.report(span, &why, "", remedy);
    }
    source
}

/// A column's name, or its number from 1.
fn column_name(column: &DeValue<'_>) -> Option<String> {
    match column {
        DeValue::String(name) => Some(name.clone().into_owned()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

fn take(value: &Section<'_>, has_rows: bool) -> Take {
    const WORDS: &[(&str, Take)] =
        &[("last", Take::Last), ("sum", Take::Sum), ("mean", Take::Mean), ("max", Take::Max)];
    if has_rows {
        let wrong = |word: &str| format!("`{word}` is not a way to combine rows");
        return value.word("take", WORDS, wrong, "").unwrap_or_default();
    }
    if let Some((_, span)) = value.string("take") {
        value.sink.report(span, "`take` applies only to `csv`", "no effect", "remove it");
    }
    Take::default()
}

/// A name is one metric in all workloads: comparing needs one unit and one direction.
fn values_are_one_metric(file: &Section<'_>, values: &[(ValueSpec, Range<usize>)]) {
    for (place, (value, span)) in values.iter().enumerate() {
        let differs = |(other, _): &&(ValueSpec, _)| {
            other.name == value.name
                && (other.unit, other.better, other.exact) != (value.unit, value.better, value.exact)
        };
        if values[..place].iter().any(|other| differs(&other)) {
            let message = format!("`{}` has a different unit, direction or exactness in another workload", value.name);
            file.sink.report(span.clone(), &message, "one metric", "declare both values the same way, or rename one");
        }
    }
}
