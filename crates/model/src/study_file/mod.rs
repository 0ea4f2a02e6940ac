//! The study file: TOML text in, a [`Study`] or all of its [`Problem`]s out. The tree is walked by hand, because only
//! so can every problem of a file be shown at once, each at its place. It reads text, not
//! files.

mod check;
mod conditions;
mod decide;
mod extension;
mod factors;
mod layers;
pub mod lock;
mod plans;
mod quantity;
mod revisions;
mod section;
mod services;
mod sources;
mod tuned;
mod workloads;

use crate::problem::Problem;
use crate::study::Study;
pub use extension::{Extension, Known};
pub use section::{Placed, Section, Sink, check_below_prefix};

use toml::de::DeTable;

/// The version of the study file's format.
pub const FORMAT: i64 = 1;

/// Reads a study file that has no section of a feature.
///
/// # Errors
/// All of its problems.
pub fn parse(text: &str) -> Result<Study, Vec<Problem>> {
    parse_with(text, &[])
}

/// Reads a study file, in which these features may have sections of their own.
///
/// # Errors
/// All of its problems, those of the features' sections among them.
pub fn parse_with(text: &str, extensions: &[&dyn Extension]) -> Result<Study, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let sink = Sink::default();
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        let remedy =
            revisions::unquoted(text, span.start).unwrap_or_else(|| "see https://toml.io for the format".to_owned());
        sink.report(span, &format!("this is not TOML: {}", error.message()), "", &remedy);
    }
    // A tree that was recovered from broken text has gaps; what seems to be missing may only be misread.
    if !errors.is_empty() {
        return Err(sink.into_list());
    }
    let span = table.span();
    let study = read(&Section::new("the study", table.get_ref(), span.start..span.start, &sink), extensions);
    let problems = sink.into_list();
    if problems.is_empty() { Ok(study) } else { Err(problems) }
}

fn read(file: &Section<'_>, extensions: &[&dyn Extension]) -> Study {
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
    let placed = sources::sources(file);
    let sources: Vec<_> = placed.iter().map(|placed| placed.source.clone()).collect();
    let layers = layers::layers(file, &sources);
    let mut build_factors = factors::build_factors(file, &factors::Buildable { sources: &sources, layers: &layers });
    let sources = revisions::sources(file.sink, placed, &layers, &mut build_factors);
    let run_factors = factors::run_factors(file);
    let excludes = factors::excludes(file, &build_factors, &run_factors);
    let services = services::services(file, &run_factors);
    let workloads = workloads::workloads(file, &services, extensions);
    let conditions = conditions::conditions(file, &run_factors, &services);
    let decide = decide::decide(file, &build_factors, &run_factors, &workloads);
    let kernel = check::every_level_boots(file.sink, &build_factors);
    let known = Known { workloads: &workloads, layers: &layers, kernel: kernel.as_ref() };
    let sections = extension::sections(file, extensions, known);
    let sections_of_trials = extension::of_trials(extensions, &sections);
    let (build, run, decided) = (&build_factors[..], &run_factors[..], &decide.metrics[..]);
    let plans =
        plans::plans(file, &plans::Known { build, run, workloads: &workloads, conditions: &conditions, decided });
    check::variables_are_used(file.sink, &build_factors, &layers);
    check::layers_name_what_there_is(file, &build_factors, &layers);
    check::plans_build_what_there_is(file, &plans, &layers);
    check::building_can_be_measured(file, &plans, &layers, &workloads);
    check::boots_allow_it(file, &plans, kernel.as_ref());
    check::variables_have_one_factor(file.sink, &build_factors);
    check::variables_have_one_factor(file.sink, &run_factors);
    tuned::one_factor_chooses_the_compiler(file.sink, &build_factors);
    tuned::no_cache_comes_between(file, &build_factors, &layers);
    tuned::one_factor_profiles(file.sink, &build_factors);
    tuned::profiled_layers_compile(file.sink, &build_factors, &layers);
    tuned::plans_allow_a_profile(file.sink, &plans, &build_factors);
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
        services: services.into_iter().map(|placed| placed.service).collect(),
        conditions,
        plans,
        decide,
        sections,
        sections_of_trials,
    }
}

#[cfg(test)]
mod tests;
