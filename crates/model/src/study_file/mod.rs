//! The study file: TOML text in, a [`Study`] or all of its [`Problem`]s out. The tree is walked by hand, because only
//! so can every problem of a file be shown at once, each at its place. It reads text, not files.

mod check;
mod conditions;
mod decide;
mod extension;
mod factors;
mod plans;
mod quantity;
pub use plans::MOST_BLOCKS;
pub use quantity::cpus;
mod section;
mod services;
mod unquoted;
mod workloads;

use crate::problem::Problem;
use crate::study::Study;
pub use extension::{Extension, RecipeReader, Referred, SectionContext};
pub use factors::{Instruction, PlacedFactor};
pub use section::{Placed, Section, Sink, Title, check_below_prefix, check_inside, check_name};

use toml::de::DeTable;

/// The version of the study file's format.
pub const FORMAT: i64 = 1;

/// Reads a study file, in which these features may have sections, and building its parts, if anything builds.
pub fn parse_with(
    text: &str,
    extensions: &[&dyn Extension],
    reader: Option<&dyn RecipeReader>,
) -> Result<Study, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let sink = Sink::default();
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        let remedy =
            unquoted::unquoted(text, span.start).unwrap_or_else(|| "see https://toml.io for the syntax".to_owned());
        sink.report(span, &format!("this is not valid TOML: {}", error.message()), "", &remedy);
    }
    // A tree that was recovered from broken text has gaps; what seems to be missing may only be misread.
    if !errors.is_empty() {
        return Err(sink.into_list());
    }
    let span = table.span();
    let study = read(
        &Section::new(Title::File("the study"), table.get_ref(), span.start..span.start, &sink),
        extensions,
        reader,
    );
    let problems = sink.into_list();
    if problems.is_empty() { Ok(study) } else { Err(problems) }
}

fn read(file: &Section<'_>, extensions: &[&dyn Extension], reader: Option<&dyn RecipeReader>) -> Study {
    if let Some((format, span)) = file.required_integer("format", "write `format = 1` as the first line")
        && format != FORMAT
    {
        let remedy = "use a newer version of Bakeoff, or write `format = 1`";
        file.sink.report(span, &format!("unknown format {format}"), "this version reads 1", remedy);
    }
    let name = file.required_string("name", "add a name, such as `name = \"perl-options\"`");
    if let Some((name, span)) = &name {
        section::check_name(file.sink, name, span.clone(), "the study's name");
    }
    let question = file.string("question").map(|(text, _)| text);
    check::BUILT.iter().for_each(|key| _ = file.any(key));
    let keys = reader.map(RecipeReader::keys);
    let mut build_factors = factors::build_factors(file, keys);
    let run_factors = factors::run_factors(file, keys);
    let factors: Vec<&PlacedFactor<'_>> = build_factors.iter().chain(&run_factors).collect();
    let excludes = factors::excludes(file, &factors);
    let services = services::services(file, &run_factors);
    let workloads = workloads::workloads(file, &services, extensions);
    let conditions = conditions::conditions(file, &run_factors, &services);
    let decide = decide::decide(file, &factors, &workloads);
    let (factors, decided) = (&factors[..], &decide.metrics[..]);
    let plans =
        plans::plans(file, &plans::Choices { factors, workloads: &workloads, conditions: &conditions, decided });
    let recipe = match reader {
        Some(reader) => Some(reader.read(file, &mut build_factors, Referred { plans: &plans, workloads: &workloads })),
        None => check::nothing_is_built(file, &plans),
    };
    let kernel = check::every_level_boots(file.sink, &build_factors);
    let builds = recipe.as_ref().is_some_and(|recipe| !recipe.steps().is_empty());
    let known = SectionContext { workloads: &workloads, builds, kernel: kernel.as_ref() };
    let sections = extension::sections(file, extensions, known);
    let sections_of_trials = extension::of_trials(extensions, &sections);
    check::boots_allow_it(file, &plans, kernel.as_ref());
    check::variables_have_one_factor(file.sink, &build_factors);
    check::variables_have_one_factor(file.sink, &run_factors);
    file.finish();
    Study {
        name: name.map(|(name, _)| name).unwrap_or_default(),
        question,
        build_factors: build_factors.into_iter().map(|f| f.factor).collect(),
        run_factors: run_factors.into_iter().map(|f| f.factor).collect(),
        excludes,
        recipe,
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
pub(crate) mod tests;
