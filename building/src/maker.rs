//! Building as the core sees it: a [`Maker`].

use crate::during::During;
use crate::journal::{BuildLine, BuildOutcome};
use crate::nouns::{Chain, Source, SourceFrom};
use crate::{Cache, DamageKind, Request, Wanted, alike, relinking, takes};
use bakeoff_command::alone::{tell_who_is_waited_for, tell_why_not_alone};
use bakeoff_command::{Code, CommandError, Foreseen, Made, Maker, Merged, Order};
use bakeoff_lab::on_demand::OnDemand;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{MadeLine, StudyLine};
use bakeoff_model::study::Study;
use bakeoff_report::words::counted;
use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::path::{Path, PathBuf};

/// How many changed files of a prefix are named.
const CHANGES_SHOWN: usize = 3;

impl Maker for Cache {
    fn foresee(&self, order: &Order<'_>) -> Result<Foreseen, CommandError> {
        let Order { study, plan, jobs, .. } = *order;
        let builds = self.survey(&Request::of(order))?;
        let missing = builds.iter().filter(|build| build.missing().next().is_some()).count();
        let (takes, takes_s) = takes::text(&builds, self, jobs);
        Ok(Foreseen {
            variants: builds_text(plan, &builds) + &commits_text(&Chain::of(study).sources),
            missing: (missing > 0).then(|| {
                let (builds, are) = (counted(builds.len() as u32, "build"), if missing == 1 { "is" } else { "are" });
                format!("{missing} of {builds} {are} not in the cache")
            }),
            takes,
            takes_s,
            during: relinking::text(plan, self, &Chain::of(study).layers, &builds),
            has_one_layout: relinking::have_one_layout(self, &builds),
        })
    }

    fn make(&self, order: &Order<'_>) -> Result<Made, CommandError> {
        let lines = self.build(order, false)?;
        let built = if lines.is_empty() { Made::default() } else { built(order, &lines)? };
        Ok(Made { lines: BuildLine::made(&lines)?, has_layouts: have_layouts(&lines), ..built })
    }

    fn merge(&self, study: &Study, plan: &mut Plan, all: &StudyLine, lines: &[MadeLine]) -> Merged {
        alike::merged(self, plan, all, &BuildLine::all(lines), &study.build_factors)
    }

    fn prefix_of(&self, digest: &str) -> PathBuf {
        Self::prefix_of(self, digest)
    }

    fn root(&self) -> &Path {
        Self::root(self)
    }

    fn is_restated(&self, known: &MadeLine, now: &MadeLine) -> bool {
        let [known, now] = [known, now].map(|line| line.fields::<BuildLine>().ok().map(|build| build.foreseen));
        known != now
    }

    fn changed(&self, lines: &[MadeLine]) -> Vec<String> {
        let mut changed = vec![];
        for line in BuildLine::all(lines).iter().filter(|line| line.outcome == BuildOutcome::Built) {
            // What is new changes no trial before.
            for damage in self.damage_of(&line.digest).iter().filter(|damage| damage.kind != DamageKind::Added) {
                changed.push(format!("{} of {}", damage.path.display(), line.variants.join(", ")));
            }
        }
        changed
    }

    fn added(&self, lines: &[MadeLine]) -> String {
        let mut text = String::new();
        for line in BuildLine::all(lines).iter().filter(|line| line.outcome == BuildOutcome::Built) {
            // What was changed has ended the session.
            let mut damage = self.damage_of(&line.digest);
            damage.retain(|damage| damage.kind == DamageKind::Added);
            if damage.is_empty() {
                continue;
            }
            let shown: Vec<String> = damage.iter().take(CHANGES_SHOWN).map(ToString::to_string).collect();
            let more = damage.len() - shown.len();
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            text.push_str(&format!(
                "note: a workload or a user changed the finished build of {}: {}{more}; the next command rebuilds \
                 it. Workloads should write only to their own folder\n",
                line.variants.join(", "),
                shown.join(", ")
            ));
        }
        text
    }

    fn hold(&self, quiet: bool) -> Result<Box<dyn Debug + '_>, CommandError> {
        let held = self.quiet(|process| tell_who_is_waited_for(process, quiet))?;
        tell_why_not_alone(self.why_not_whole_machine());
        Ok(Box::new(held))
    }

    fn on_demand<'a>(&'a self, order: &Order<'a>) -> Result<Option<Box<dyn OnDemand + 'a>>, CommandError> {
        let request = Request::of(order);
        let during = During::of(self, &request, order.plan, order.quiet)?;
        Ok(during.map(|during| -> Box<dyn OnDemand> { Box::new(during) }))
    }
}

/// The digest of the build of each variant that could be built, and why others could not.
fn built(order: &Order<'_>, builds: &[BuildLine]) -> Result<Made, CommandError> {
    let Order { plan, partly, .. } = *order;
    let failed = |error: &str, line: &BuildLine| {
        let BuildOutcome::Failed { layer, why, tail, log } = &line.outcome else { return String::new() };
        let mut text = format!("error: {error}: layer {layer}: {why}\n");
        tail.iter().for_each(|line| text.push_str(&format!("    {line}\n")));
        log.iter().for_each(|log| text.push_str(&format!("hint: the full log is in {log}\n")));
        text
    };
    let (mut digests, mut reasons) = (BTreeMap::new(), BTreeMap::new());
    for line in builds {
        match &line.outcome {
            BuildOutcome::Built => {
                digests.extend(line.variants.iter().map(|v| (v.clone(), line.digest.clone())));
            }
            BuildOutcome::Failed { .. } if !partly && line.variants.contains(&plan.baseline().name) => {
                return Err(CommandError::text(Code::VariantFailed, failed("the baseline cannot be built", line)));
            }
            BuildOutcome::Failed { layer, why, tail, log } => {
                let last = tail.last().map(|last| format!(": {}", last.trim())).unwrap_or_default();
                let log = log.as_ref().map(|log| format!("; the log is {log}")).unwrap_or_default();
                let reason = format!("layer {layer}: {why}{last}{log}");
                reasons.extend(line.variants.iter().map(|v| (v.clone(), reason.clone())));
            }
        }
    }
    if !partly && plan.variants.iter().filter(|variant| digests.contains_key(&variant.name)).count() < 2 {
        let error = "only the baseline could be built, so there is nothing to compare";
        let first = builds.iter().find(|line| line.outcome != BuildOutcome::Built);
        let text = first.map(|line| failed(&format!("{error}; {}", line.variants.join(", ")), line));
        return Err(text.map_or_else(
            || CommandError::new(Code::VariantFailed, error).hint("`bakeoff build` shows why"),
            |text| CommandError::text(Code::VariantFailed, text),
        ));
    }
    Ok(Made { digests, failed: reasons, ..Made::default() })
}

/// Whether something of each build can be linked again.
pub(crate) fn have_layouts(lines: &[BuildLine]) -> bool {
    let has = |line: &BuildLine| line.proof.links.iter().any(|link| link.repeated.same_in_s().is_some());
    lines.iter().filter(|line| line.outcome == BuildOutcome::Built).all(has)
}

fn builds_text(plan: &Plan, builds: &[Wanted]) -> String {
    if builds.is_empty() {
        return "\nBuilds: none\n".to_owned();
    }
    let cached = builds.iter().filter(|b| b.layers.iter().all(|l| l.cached)).count();
    let mut out = format!("\nBuilds: {} ({cached} in the cache)\n", builds.len());
    for build in builds {
        let variants = build.variants.join(", ");
        let digest = &build.digest[..12];
        let state = match (&build.missing_tool, build.missing().next()) {
            _ if build.failed_before.is_some() => "cannot be built, as the study expects".to_owned(),
            (Some(missing), _) => format!("will fail: layer {} {}", missing.layer, missing.why()),
            (None, None) => "in the cache".to_owned(),
            (None, Some(layer)) => format!("to be built from layer {} on", layer.name),
        };
        let _ = writeln!(out, "  {digest}  {variants}: {state}");
    }
    if builds.iter().any(|build| is_same_twice(plan, build)) {
        out.push_str("  Variants that share a build are the same program, so comparing them shows only noise.\n");
    }
    out
}

/// Which commit each revision is, as it is locked.
fn commits_text(sources: &[Source]) -> String {
    let mut out = String::new();
    for source in sources {
        let (name, what) = match &source.from {
            SourceFrom::Git { revision, .. } => (&source.name, format!("commit {revision}")),
            SourceFrom::Worktree(_) => (&source.name, "the current files".to_owned()),
            _ => continue,
        };
        let _ = writeln!(out, "  source {}: {}", clean(name), clean(&what));
    }
    out
}

/// Whether two variants run this build, and no run factor tells them apart.
fn is_same_twice(plan: &Plan, build: &Wanted) -> bool {
    let of_build: Vec<_> = plan.variants.iter().filter(|variant| build.variants.contains(&variant.name)).collect();
    let same =
        |former: &&Variant, latter: &&Variant| former.run == latter.run && former.run_variables == latter.run_variables;
    of_build.iter().enumerate().any(|(at, variant)| of_build[..at].iter().any(|before| same(before, variant)))
}
