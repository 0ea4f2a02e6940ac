//! Builds the plain level and one changed level of a study that was just written, as `bakeoff run` will, and says how far the
//! change came. The words of doubts are those of every report.

use crate::plain::{failure, failure_of_level, tell};
use crate::progress::{as_plain, step, watched};
use bakeoff_building::BuildOutcome;
use bakeoff_building::{Building, Cache, Request, Spec, Wanted};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{CommandError, Registry, screen};
use bakeoff_model::plan::Plan;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was proven.
pub(crate) struct Proven {
    /// Where the plain level is installed.
    pub(crate) own: PathBuf,
    /// The changed level could be built.
    pub(crate) is_built: bool,
}

/// Builds both, as the step before the last. The file `expected` will be the study's; an earlier study may have left it.
///
/// # Errors
/// If the plain level cannot be built.
pub(crate) fn prove(
    cache: &Cache,
    dir: &Path,
    expected: PathBuf,
    features: &Registry,
    steps: usize,
    plain_s: f64,
) -> Result<Proven, CommandError> {
    let mut folder = StudyFolder::open(dir, features)?;
    folder.own.push(expected);
    let mut plan = Plan::of(&folder.study, "default")?;
    let baseline = plan.baseline().name.clone();
    let changed = plan.variants.iter().map(|variant| variant.name.clone()).find(|name| *name != baseline);
    plan.only(changed.as_slice())?;
    let request = Request::of(&folder.order(&plan, 1, true));
    let builds = missing(&cache.survey(&request)?, &plan);
    let level = changed.as_deref().unwrap_or(&baseline);
    step(steps - 1, steps, &format!("building one level, {level}{}", as_plain(builds, plain_s)));
    let lines = watched(f64::from(builds) * plain_s, || cache.build_all(&request, &tell))?;
    let of = |name: &String| lines.iter().find(|line| line.variants.contains(name));
    let own = of(&baseline).ok_or_else(|| CommandError::usage("there is nothing to build"))?;
    if own.outcome != BuildOutcome::Built {
        return Err(failure(own, None));
    }
    let is_built = match changed.as_ref().and_then(|name| of(name).map(|line| (name, line))) {
        Some((name, line)) if line.outcome == BuildOutcome::Built => {
            line.arrived(name).iter().for_each(|line| screen::out(line));
            true
        }
        Some((name, line)) => {
            screen::err(&failure_of_level(line).render());
            screen::out(&format!("{name} cannot be built; `bakeoff run` will report and omit it\n"));
            false
        }
        None => true,
    };
    let study = plan.study_line(&BTreeMap::new(), "", None);
    screen::out(&Building::doubts(&study, &lines, screen::style().width));
    Ok(Proven { own: cache.prefix_of(&own.digest), is_built })
}

/// How often the program is built. What is optimised by a profile is built twice.
fn missing(wanted: &[Wanted], plan: &Plan) -> u32 {
    let is_trained =
        |name: &String| plan.variants.iter().any(|v| v.name == *name && !Spec::of(v).tuning.training.is_empty());
    let builds = |one: &Wanted| if one.variants.iter().any(is_trained) { 2 } else { 1 };
    wanted.iter().filter(|one| one.missing().next().is_some()).map(builds).sum()
}
