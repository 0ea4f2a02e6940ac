//! Builds the plain level and one changed level of a study that was just written, as `bakeoff run` will, and says how far the
//! change came. The words of doubts are those of every report.

use crate::plain::{failure, tell};
use crate::progress::{as_plain, step, watched};
use bakeoff_building::{Building, Cache, Request, Spec, Wanted};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{CommandError, Registry, screen};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{BuildLine, BuildOutcome, FlagSeen};
use std::collections::{BTreeMap, BTreeSet};
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
            arrived(name, line).iter().for_each(|line| screen::out(line));
            true
        }
        Some((name, line)) => {
            screen::err(&failure(line, None).render());
            screen::out(&format!("{name} cannot be built; `bakeoff run` leaves it out and says so\n"));
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

/// How far the words of a level came, a line each; and which came nowhere, because nothing was there to take them.
fn arrived(name: &str, line: &BuildLine) -> Vec<String> {
    let of = |flag: &FlagSeen| {
        if let Some(used) = Building::used(flag) {
            return format!("{name}: {used}\n");
        }
        let is_rust = flag.variable == "rustflags";
        if flag.of == 0 {
            let (who, other) = match is_rust {
                true => ("rustc", "words for C compilers begin with -O, -m or -f"),
                false => ("a C compiler", "words for rustc begin with -C or -Z, as in `-C opt-level=2`"),
            };
            return format!("{name}: {} arrived nowhere: no call of {who} was seen ({other})\n", flag.flag);
        }
        let (won, rustc) = (flag.reached - flag.overridden, if is_rust { " of rustc" } else { "" });
        let left = line.proof.left_before.get(&flag.layer).filter(|_| !is_rust).map_or(0, BTreeSet::len);
        let left = match left {
            0 => String::new(),
            1 => "; not proven: 1 part of the program was not compiled".to_owned(),
            more => format!("; not proven: {more} parts of the program were not compiled"),
        };
        let FlagSeen { flag, reached, of, .. } = flag;
        format!("{name}: {flag} arrived in {reached} of {of} calls{rustc}, and won in {won}{left}\n")
    };
    // Of variables that other compilers read, nothing is known.
    line.proof.flags.iter().filter(|flag| flag.of > 0 || flag.is_appended()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_the_wrong_compiler_arrive_nowhere() {
        let check = |variable: &str, flag: &str, (reached, of, overridden): (u64, u64, u64), expect: &str| {
            let flag = FlagSeen {
                variable: variable.to_owned(),
                flag: flag.to_owned(),
                reached,
                of,
                overridden,
                ..FlagSeen::default()
            };
            let mut line = BuildLine::default();
            line.proof.flags.push(flag);
            assert_eq!(arrived("x", &line).concat(), expect);
        };
        check("append", "-O3", (3, 4, 1), "x: -O3 arrived in 3 of 4 calls, and won in 2\n");
        let rustc = "x: -C opt-level=2 arrived in 46 of 46 calls of rustc, and won in 46\n";
        check("rustflags", "-C opt-level=2", (46, 46, 0), rustc);
        let nowhere = "x: -O3 arrived nowhere: no call of a C compiler was seen (words for rustc begin with -C or -Z, as in \
                       `-C opt-level=2`)\n";
        check("append", "-O3", (0, 0, 0), nowhere);
        check("CFLAGS", "-O3", (0, 0, 0), "");
    }
}
