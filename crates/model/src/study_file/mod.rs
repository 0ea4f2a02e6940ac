//! The study file: TOML text in, a [`Study`] or all of its [`Problem`]s out. The tree is walked by hand, because only
//! so can every problem of a file be shown at once, each at its place. What the format knows but this version does
//! not execute is refused with "not yet", never ignored. It reads text, not files.

mod build;
mod check;
mod decide;
mod factors;
mod section;

use crate::problem::Problem;
use crate::study::{Condition, Study, Workload};
use section::{Section, Sink};
use toml::de::DeTable;

/// The version of the study file's format.
pub const FORMAT: i64 = 1;

/// Reads a study file.
pub fn parse(text: &str) -> Result<Study, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let sink = Sink::default();
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        sink.report(span, &format!("this is not TOML: {}", error.message()), "", "see https://toml.io for the format");
    }
    // A tree that was recovered from broken text has gaps; what seems to be missing may only be misread.
    if !errors.is_empty() {
        return Err(sink.into_list());
    }
    let span = table.span();
    let study = read(&Section::new("the study", table.get_ref(), span.start..span.start, &sink));
    let problems = sink.into_list();
    if problems.is_empty() { Ok(study) } else { Err(problems) }
}

fn read(file: &Section<'_>) -> Study {
    if let Some((format, span)) = file.required_integer("format", "write `format = 1` as the first line")
        && format != FORMAT
    {
        let remedy = "use a newer bakeoff, or write `format = 1`";
        file.sink.report(span, &format!("format {format} is not known"), "this version reads 1", remedy);
    }
    let name = file.required_string("name", "for example `name = \"perl-options\"`");
    if let Some((name, span)) = &name {
        section::check_name(file.sink, name, span.clone(), "the study's name");
    }
    let question = file.string("question").map(|(text, _)| text);
    let build_factors = factors::read(file, "build_factors");
    let run_factors = factors::read(file, "run_factors");
    if let Some(factor) = run_factors.first() {
        file.sink.not_yet(factor.span.clone(), "run factors");
    }
    let sources = build::sources(file);
    let layers = build::layers(file, &sources);
    let excludes = factors::excludes(file, &build_factors, &run_factors);
    let workloads = workloads(file);
    let conditions = conditions(file);
    services(file);
    let plans = decide::plans(file, &build_factors, &run_factors);
    let decide = decide::decide(file, &build_factors, &run_factors);
    check::variables_are_used(file.sink, &build_factors, &layers);
    check::variables_have_one_factor(file.sink, &build_factors);
    file.finish();
    Study {
        name: name.map(|(name, _)| name).unwrap_or_default(),
        question,
        build_factors: build_factors.into_iter().map(|f| f.factor).collect(),
        run_factors: run_factors.into_iter().map(|f| f.factor).collect(),
        excludes,
        sources,
        layers,
        workloads,
        services: vec![],
        conditions,
        plans,
        decide,
    }
}

fn workloads(file: &Section<'_>) -> Vec<Workload> {
    let mut workloads = vec![];
    for section in file.named_sections("workloads") {
        let run = section.required_string("run", "the command that is executed and measured");
        let expect = section.string("expect");
        if let Some((path, span)) = &expect {
            section::check_inside(section.sink, path, span.clone());
        }
        let files = section.strings("files");
        for (path, span) in &files {
            section::check_inside(section.sink, path, span.clone());
        }
        let takes_s = section.duration("takes");
        section.not_yet("phases", "phases");
        if let Some(ops) = section.section("ops") {
            let _ = (ops.string("unit"), ops.integer("count"));
            ops.finish();
            section.not_yet("ops", "ops");
        }
        section.finish();
        workloads.push(Workload {
            name: section.name.clone(),
            run: run.map(|(run, _)| run).unwrap_or_default(),
            expect: expect.map(|(path, _)| path),
            files: files.into_iter().map(|(path, _)| path).collect(),
            takes_s,
            ..Workload::default()
        });
    }
    if workloads.is_empty() {
        let remedy = "add `[workloads.NAME]` with `run = \"…\"`: the command that is executed and measured";
        file.sink.report(file.span.clone(), "the study has no workload", "", remedy);
    }
    workloads
}

fn conditions(file: &Section<'_>) -> Vec<Condition> {
    let mut conditions = vec![];
    for section in file.named_sections("conditions") {
        section.not_yet("copies", "background copies");
        section.not_yet("of", "background copies");
        section.not_yet("processes", "several processes at once");
        section.finish();
        conditions.push(Condition { name: section.name.clone(), ..Condition::default() });
    }
    if conditions.is_empty() {
        conditions.push(Condition { name: "idle".to_owned(), ..Condition::default() });
    }
    conditions
}

fn services(file: &Section<'_>) {
    for section in file.named_sections("services") {
        let _ = section.required_string("run", "the command that starts the service");
        if let Some(ready) = section.section("ready") {
            let _ = ready.string("tcp");
            ready.finish();
        }
        section.finish();
        file.sink.not_yet(section.span.clone(), "services");
    }
}

#[cfg(test)]
mod tests;
