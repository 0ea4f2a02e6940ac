//! Builds the plain level and one changed level of a study that was just written, as `bakeoff run` will, and says how far the
//! change came. The words of doubts are those of every report.

use crate::plain::{failure, tell};
use crate::progress::watched;
use bakeoff_builds::{Cache, build_all};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{CommandError, Features, screen};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{BuildLine, BuildOutcome};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was proven.
pub(crate) struct Proven {
    /// Where the plain level is installed.
    pub(crate) own: PathBuf,
    /// The changed level could be built.
    pub(crate) is_built: bool,
}

/// Builds both.
///
/// # Errors
/// If the plain level cannot be built.
pub(crate) fn prove(cache: &Cache, dir: &Path, features: Features) -> Result<Proven, CommandError> {
    let folder = StudyFolder::open(dir, features)?;
    let mut plan = Plan::of(&folder.study, "default")?;
    let baseline = plan.baseline().name.clone();
    let changed = plan.variants.iter().map(|variant| variant.name.clone()).find(|name| *name != baseline);
    plan.only(changed.as_slice())?;
    let lines = watched(|| build_all(cache, &folder.request(&plan, 1), &tell))?;
    let of = |name: &String| lines.iter().find(|line| line.variants.contains(name));
    let own = of(&baseline).ok_or_else(|| CommandError::usage("there is nothing to build"))?;
    if own.outcome != BuildOutcome::Built {
        return Err(failure(own));
    }
    let is_built = match changed.as_ref().and_then(|name| of(name).map(|line| (name, line))) {
        Some((name, line)) if line.outcome == BuildOutcome::Built => {
            arrived(name, line).iter().for_each(|line| screen::out(line));
            true
        }
        Some((name, line)) => {
            screen::err(&failure(line).render());
            screen::out(&format!("{name} cannot be built; `bakeoff run` leaves it out and says so\n"));
            false
        }
        None => true,
    };
    let study = plan.study_line(&BTreeMap::new(), "", None);
    let doubts = bakeoff_judge::doubts_about_builds(&study, &lines);
    screen::out(&bakeoff_report::build_doubts(&doubts, screen::style().width, false));
    Ok(Proven { own: cache.prefix_of(&own.digest), is_built })
}

/// How far the words of a level came, a line each.
fn arrived(name: &str, line: &BuildLine) -> Vec<String> {
    let of = |flag: &bakeoff_model::record::FlagSeen| {
        if flag.variable == "profile" {
            return format!("{name}: {}\n", bakeoff_report::used(flag));
        }
        let won = flag.reached - flag.overridden;
        format!("{name}: {} arrived in {} of {} calls, and won in {won}\n", flag.flag, flag.reached, flag.of)
    };
    line.proof.flags.iter().filter(|flag| flag.of > 0).map(of).collect()
}
