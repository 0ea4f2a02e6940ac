//! A study with one factor more, whose level isolates a cause. The variant in question takes part with the level and
//! without, and nothing else but the baseline does.

use bakeoff_command::error::CommandError;
use bakeoff_command::{CONFIRM, Confirmation, IsolatingLevel, Registry};
use bakeoff_model::plan::Plan;
use bakeoff_model::study::{Factor, Level, Levels, Study, VariantRule};
use bakeoff_model::study_file;

/// Its level that changes nothing.
const NONE: &str = "none";

/// Adds that to a study, in the place of the plan's own variants.
pub(super) fn add(
    study: &mut Study,
    plan: &Plan,
    confirmation: &Confirmation,
    features: &Registry,
) -> Result<(), CommandError> {
    let Confirmation { changed, workload, level, .. } = confirmation;
    let is_taken = study.build_factors.iter().chain(&study.run_factors).any(|factor| factor.name == CONFIRM);
    if is_taken {
        let error = CommandError::usage(format!("the study already has a factor `{CONFIRM}`"));
        return Err(error.hint("rename it, because the level that isolates a cause needs this name"));
    }
    let unknown = || CommandError::usage(format!("the plan has no variant `{changed}`"));
    let levels = plan.variants.iter().find(|variant| variant.name == *changed).ok_or_else(unknown)?.levels.clone();
    if level.built.is_some() && study.builds() {
        study.build_factors.push(built(level, features)?);
    } else {
        study.run_factors.push(executed(level));
    }
    study.decide.baseline.insert(CONFIRM.to_owned(), NONE.to_owned());
    let with = |name: &str| -> Levels {
        let mut levels = levels.clone();
        levels.insert(CONFIRM.to_owned(), name.to_owned());
        levels
    };
    for spec in study.plans.iter_mut().filter(|spec| spec.name == plan.name) {
        spec.variants = VariantRule::Listed(vec![with(NONE), with(&level.name)]);
        spec.workloads = Some(vec![workload.clone()]);
        spec.rebuild = 0;
    }
    Ok(())
}

/// A factor of trials.
fn executed(level: &IsolatingLevel) -> Factor {
    let with = Level { name: level.name.clone(), variables: level.variables.clone(), ..Level::default() };
    let none = Level { name: NONE.to_owned(), ..Level::default() };
    Factor { name: CONFIRM.to_owned(), levels: vec![none, with] }
}

/// A factor of builds. What the keys of its level mean, the reader of studies knows.
fn built(level: &IsolatingLevel, features: &Registry) -> Result<Factor, CommandError> {
    let (key, value) = level.built.clone().unwrap_or_default();
    // Both are Bakeoff's own, and have no quote in them.
    let quoted = |text: &str| format!("'{text}'");
    let text = format!(
        "format = 1\nname = \"confirm\"\n[build_factors.{CONFIRM}]\n{NONE} = {{}}\n{} = {{ {key} = {} }}\n[[build]]\nname = \
         \"x\"\nscript = \"true\"\n[workloads.x]\nrun = \"true\"\n[plan]\nblocks = 3\n[decide]\nbaseline = {{ {CONFIRM} = \
         \"{NONE}\" }}\n",
        quoted(&level.name),
        quoted(&value)
    );
    let internal = |why: String| CommandError::new(bakeoff_command::error::Code::Internal, std::io::Error::other(why));
    let study = study_file::parse_with(&text, &features.sections, features.recipe_reader())
        .map_err(|problems| internal(format!("{problems:?}")))?;
    study.build_factors.into_iter().next().ok_or_else(|| internal("a study without a factor".to_owned()))
}
