//! Variants whose finished builds are the same thing race once: between the builds and the plan's blocks, all but the
//! first of each group leave the plan, and the journal says with whom they share a row. Which are the same is judged
//! elsewhere.

use crate::cache::Cache;
use crate::journal::{BuildLine, BuildOutcome};
use crate::judged;
use crate::same_code::{SameCode, judge};
use crate::spec::Spec;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::{Merged, screen};
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{SameIn, SharedLine, StudyLine, TWIN, VariantLine};
use bakeoff_model::study::{Factor, Levels, Vary};

/// Does that, and finds what to say of it.
pub(crate) fn merged(
    cache: &Cache,
    plan: &mut Plan,
    all: &StudyLine,
    builds: &[BuildLine],
    factors: &[Factor],
) -> Merged {
    let is_same_code = |both: [&BuildLine; 2]| {
        let differing = cache.differences(both.map(|build| build.digest.as_str())).ok().flatten();
        differing.is_some_and(|files| judge(cache, both, &files) == SameCode::Same)
    };
    let shared = merge(plan, all, builds, factors, &is_same_code);
    if let Some(answer) = same_revisions(plan, &shared, builds, factors) {
        return Merged { shared, notes: String::new(), nothing_left: Some(Ok(answer)) };
    }
    let doubts = || {
        let doubts = judged::doubts(all, builds);
        judged::build_doubts(&doubts, screen::style().width, false)
    };
    let left = something_is_left(plan, &shared, builds, doubts);
    Merged { notes: notes(&shared), nothing_left: left.err().map(Err), shared }
}

/// Takes the variants out of the plan that are the same thing as one before them, and returns them. `study` is the
/// plan's line with all variants.
///
/// Not where every pass is relinked, or where building itself is measured: there the study does not compare the builds
/// that were made before the first trial.
fn merge(
    plan: &mut Plan,
    study: &StudyLine,
    builds: &[BuildLine],
    factors: &[Factor],
    is_same_code: &dyn Fn([&BuildLine; 2]) -> bool,
) -> Vec<SharedLine> {
    if plan.vary.contains(&Vary::LinkOrder) || plan.building.is_some() {
        return vec![];
    }
    let groups = judged::same_files(study, builds);
    let mut shared = vec![];
    for variant in &study.variants {
        let group = groups.iter().find(|group| group.contains(&variant.name));
        if let Some(first) = group.and_then(|group| group.first()).filter(|first| **first != variant.name) {
            shared.push(SharedLine { variant: variant.clone(), with: first.clone(), same_in: SameIn::Files });
        }
    }
    // As they were built, files are compared, and their addresses are a part of them.
    if plan.vary.contains(&Vary::Layouts) {
        let is_same_code = |variants: [&VariantLine; 2], both: [&BuildLine; 2]| {
            // An option may be about addresses: how functions and loops are aligned.
            differ_in_revisions(variants.map(|variant| &variant.levels), factors) && is_same_code(both)
        };
        merge_code(&mut shared, study, builds, &is_same_code);
    }
    plan.variants.retain(|variant| shared.iter().all(|one| one.variant.name != variant.name));
    shared
}

/// Finds those that have the same code as one before them.
fn merge_code(
    shared: &mut Vec<SharedLine>,
    study: &StudyLine,
    builds: &[BuildLine],
    is_same_code: &dyn Fn([&VariantLine; 2], [&BuildLine; 2]) -> bool,
) {
    let build = |variant: &VariantLine| {
        let mut built = builds.iter().filter(|build| build.outcome == BuildOutcome::Built);
        built.find(|build| build.variants.contains(&variant.name))
    };
    let mut kept: Vec<(&VariantLine, &BuildLine)> = vec![];
    for variant in study.variants.iter().filter(|variant| variant.name != TWIN) {
        let Some(of) = build(variant) else { continue };
        if shared.iter().any(|one| one.variant.name == variant.name) {
            continue;
        }
        let is_same = |(first, built): &&(&VariantLine, &BuildLine)| {
            judged::run_alike(study, [first, variant]) && is_same_code([first, variant], [built, of])
        };
        let Some(with) = kept.iter().find(is_same).map(|(first, _)| first.name.clone()) else {
            kept.push((variant, of));
            continue;
        };
        // Those that are the same as this one, file for file, follow it.
        for one in shared.iter_mut().filter(|one| one.with == variant.name) {
            (one.with, one.same_in) = (with.clone(), SameIn::Code);
        }
        shared.push(SharedLine { variant: variant.clone(), with, same_in: SameIn::Code });
    }
}

/// What is said of them before the first trial: a line for each group.
fn notes(shared: &[SharedLine]) -> String {
    let note = |names: Vec<&str>| {
        let how = how(shared.iter().filter(|one| one.with == names[0]));
        let names = names.join(", ");
        format!(
            "note: {names} are the same program{how}, so Bakeoff runs it only once; use --anyway to run each of them\n"
        )
    };
    groups(shared).into_iter().map(note).collect()
}

/// How variants are the same program.
fn how<'a>(mut shared: impl Iterator<Item = &'a SharedLine>) -> &'static str {
    if shared.any(|one| one.same_in == SameIn::Code) { "; only addresses differ" } else { ", file for file" }
}

/// The names of variants that are the same thing, group by group: first the one that races.
pub(crate) fn groups(shared: &[SharedLine]) -> Vec<Vec<&str>> {
    let mut groups: Vec<Vec<&str>> = vec![];
    for SharedLine { variant, with, .. } in shared {
        match groups.iter_mut().find(|group| group[0] == with) {
            Some(group) => group.push(&variant.name),
            None => groups.push(vec![with, &variant.name]),
        }
    }
    groups
}

/// The answer where nothing is left to compare and the variants are revisions of one program: that these are the same
/// is no mistake of the study, and a pipeline goes on. None, where that is not so.
fn same_revisions(plan: &Plan, shared: &[SharedLine], builds: &[BuildLine], factors: &[Factor]) -> Option<String> {
    let is_built = builds.iter().all(|build| build.outcome == BuildOutcome::Built);
    let baseline = plan.baseline();
    let differ_in_revisions =
        shared.iter().all(|one| differ_in_revisions([&baseline.levels, &one.variant.levels], factors));
    let is_answer = plan.variants.len() == 1 && !shared.is_empty() && is_built && differ_in_revisions;
    is_answer.then(|| {
        let others = shared.iter().map(|one| one.variant.name.as_str());
        let names: Vec<&str> = std::iter::once(baseline.name.as_str()).chain(others).collect();
        format!(
            "{}: all revisions produce the same program{}, so there is nothing to measure\nhint: use --anyway to run \
             each of them\n",
            clean(&names.join(", ")),
            how(shared.iter())
        )
    })
}

/// Whether variants differ in revisions of their sources alone.
fn differ_in_revisions([one, other]: [&Levels; 2], factors: &[Factor]) -> bool {
    let names_revisions = |name: &String| {
        let factor = factors.iter().find(|factor| factor.name == *name);
        factor.is_some_and(|factor| factor.levels.iter().any(|level| !Spec::of_level(level).revisions.is_empty()))
    };
    let mut differ = other.iter().filter(|(factor, level)| one.get(*factor) != Some(level));
    differ.all(|(factor, _)| names_revisions(factor))
}

/// Ends the command where nothing is left to compare, with all that is doubtful about the builds: the reason may be
/// there.
fn something_is_left(
    plan: &Plan,
    shared: &[SharedLine],
    builds: &[BuildLine],
    doubts: impl FnOnce() -> String,
) -> Result<(), CommandError> {
    if plan.variants.len() > 1 || shared.is_empty() {
        return Ok(());
    }
    let failed = builds.iter().any(|build| build.outcome != BuildOutcome::Built);
    let (code, of, hint) = match failed {
        false => (Code::Usage, "", "use --anyway to run each of them"),
        true => (
            Code::VariantFailed,
            " that could be built",
            "`bakeoff build` shows why the others failed; use --anyway to run those that were built",
        ),
    };
    let error = format!("all variants{of} are the same program{}, so there is nothing to compare", how(shared.iter()));
    Err(CommandError::text(code, format!("{}error: {error}\nhint: {hint}\n", doubts())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Proof;
    use bakeoff_model::kept::Kept;
    use bakeoff_model::plan::Variant;
    use bakeoff_model::record::FactorLine;
    use bakeoff_model::study::{Level, Levels};
    use std::collections::BTreeMap;

    /// Variants of these build and run levels, with these files; none if it failed to build.
    fn planned(variants: &[(&str, &str, Option<&str>)]) -> (Plan, Vec<BuildLine>) {
        let levels = |opt: &str, locale: &str| -> Levels {
            [("opt".to_owned(), opt.to_owned()), ("locale".to_owned(), locale.to_owned())].into()
        };
        let name = |opt: &str, locale: &str| format!("opt={opt} locale={locale}");
        let plan = Plan {
            variants: variants
                .iter()
                .map(|(opt, locale, _)| Variant {
                    name: name(opt, locale),
                    levels: levels(opt, locale),
                    ..Variant::default()
                })
                .collect(),
            build_factors: vec![FactorLine { name: "opt".to_owned(), ..FactorLine::default() }],
            ..Plan::default()
        };
        let build = |(opt, locale, files): &(&str, &str, Option<&str>)| BuildLine {
            digest: format!("build {opt}"),
            variants: vec![name(opt, locale)],
            outcome: match files {
                Some(_) => BuildOutcome::Built,
                None => BuildOutcome::Failed { layer: String::new(), why: String::new(), tail: vec![], log: None },
            },
            proof: Proof { files: files.map(str::to_owned), ..Proof::default() },
            ..BuildLine::default()
        };
        (plan, variants.iter().map(build).collect())
    }

    #[track_caller]
    fn check(variants: &[(&str, &str, Option<&str>)], change: impl FnOnce(&mut Plan), expect: &[(&str, &str)]) {
        let (mut plan, builds) = planned(variants);
        change(&mut plan);
        let study = plan.study_line(&BTreeMap::new(), "", None);
        let shared = merge(&mut plan, &study, &builds, &[], &|_| false);
        let found: Vec<(&str, &str)> =
            shared.iter().map(|one| (one.variant.levels["opt"].as_str(), one.with.as_str())).collect();
        assert_eq!(found, expect);
        assert_eq!(plan.variants.len() + shared.len(), variants.len());
        assert_eq!(notes(&shared).lines().count(), usize::from(!expect.is_empty()));
    }

    #[test]
    fn variants_that_are_the_same_thing_race_once() {
        let own = ("own", "C", Some("1"));
        check(&[own, ("O2", "C", Some("1")), ("O3", "C", Some("2"))], |_| {}, &[("O2", "opt=own locale=C")]);
        check(&[own, ("O2", "C", Some("2")), ("O3", "C", Some("2"))], |_| {}, &[("O3", "opt=O2 locale=C")]);
        // Run in another way, they are not the same thing; what failed to build is like nothing.
        check(&[own, ("O2", "UTF-8", Some("1"))], |_| {}, &[]);
        check(&[own, ("O2", "C", None), ("O3", "C", None)], |_| {}, &[]);
    }

    #[test]
    fn variants_with_the_same_code_race_once_where_layouts_are_varied() {
        let all = [("own", "C", Some("1")), ("O2", "C", Some("2")), ("O3", "C", Some("3")), ("O1", "C", Some("3"))];
        let found = |vary: &[Vary], of_revisions: bool, same: &[&str]| {
            let (mut plan, builds) = planned(&all);
            plan.vary = vary.to_vec();
            let study = plan.study_line(&BTreeMap::new(), "", None);
            let is_same = |both: [&BuildLine; 2]| both.iter().all(|build| same.contains(&build.digest.as_str()));
            let revisions = [("layer".to_owned(), "main".to_owned())].into();
            let levels = vec![Level { spec: Kept::new(Spec { revisions, ..Spec::default() }), ..Level::default() }];
            let factors = [Factor { name: if of_revisions { "opt" } else { "other" }.to_owned(), levels }];
            let shared = merge(&mut plan, &study, &builds, &factors, &is_same);
            let of = |one: &SharedLine| format!("{} {} {:?}", one.variant.levels["opt"], one.with, one.same_in);
            shared.iter().map(of).collect::<Vec<_>>()
        };
        let both = ["build own", "build O3"];
        assert_eq!(found(&[], true, &both), ["O1 opt=O3 locale=C Files"], "files are compared");
        let expect = ["O1 opt=own locale=C Code", "O3 opt=own locale=C Code"];
        assert_eq!(found(&[Vary::Layouts], true, &both), expect);
        assert_eq!(
            found(&[Vary::Layouts], false, &both),
            ["O1 opt=O3 locale=C Files"],
            "options may be about addresses"
        );
        assert_eq!(found(&[Vary::Layouts], true, &[]), ["O1 opt=O3 locale=C Files"]);
    }

    #[test]
    fn what_is_built_again_for_each_pass_is_not_merged() {
        let same = [("own", "C", Some("1")), ("O2", "C", Some("1"))];
        check(&same, |plan| plan.vary = vec![Vary::LinkOrder], &[]);
        check(&same, |plan| plan.building = Some(bakeoff_model::record::Building::default()), &[]);
    }

    #[test]
    fn nothing_is_raced_against_itself_alone() {
        let (mut plan, builds) = planned(&[("own", "C", Some("1")), ("O2", "C", Some("1"))]);
        let study = plan.study_line(&BTreeMap::new(), "", None);
        let shared = merge(&mut plan, &study, &builds, &[], &|_| false);
        let code =
            |builds: &[BuildLine]| something_is_left(&plan, &shared, builds, String::new).map_err(|error| error.code);
        assert_eq!(code(&builds), Err(Code::Usage));
        let (_, failed) = planned(&[("own", "C", Some("1")), ("O2", "C", Some("1")), ("O3", "C", None)]);
        assert_eq!(code(&failed), Err(Code::VariantFailed));
        assert!(something_is_left(&plan, &[], &builds, String::new).is_ok());
    }

    #[test]
    fn revisions_that_are_the_same_program_are_an_answer() {
        let (mut plan, builds) = planned(&[("own", "C", Some("1")), ("O2", "C", Some("1"))]);
        let study = plan.study_line(&BTreeMap::new(), "", None);
        let shared = merge(&mut plan, &study, &builds, &[], &|_| false);
        let factor = |revision: Option<&str>| {
            let revisions = revision.map(|revision| ("layer".to_owned(), revision.to_owned())).into_iter().collect();
            let spec = Kept::new(Spec { revisions, ..Spec::default() });
            [Factor { name: "opt".to_owned(), levels: vec![Level { spec, ..Level::default() }] }]
        };
        let text = same_revisions(&plan, &shared, &builds, &factor(Some("main")));
        assert!(text.is_some_and(|text| text.starts_with("opt=own locale=C, opt=O2 locale=C: all revisions")));
        assert_eq!(same_revisions(&plan, &shared, &builds, &factor(None)), None, "these are other things");
        assert_eq!(same_revisions(&plan, &[], &builds, &factor(Some("main"))), None);
        let (_, failed) = planned(&[("own", "C", Some("1")), ("O2", "C", Some("1")), ("O3", "C", None)]);
        assert_eq!(same_revisions(&plan, &shared, &failed, &factor(Some("main"))), None);
    }
}
