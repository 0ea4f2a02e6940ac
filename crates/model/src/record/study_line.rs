//! What was planned: the head of a journal, and what of it is another thing in the study as it is now, so that one who comes
//! back later can go on or learn why not. It forms no plan.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use super::basis::{Basis, Change, VARIANT_KEY};
use super::building::Building;
use super::factor_line::FactorLine;
use crate::metric::{self, Clock, Metric};
use crate::study::{Decide, Levels, OutputUse, Vary, VoidRule};
use crate::until::Until;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was planned: the head of a journal.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StudyLine {
    /// [`super::FORMAT`] of the writer.
    pub format: u32,
    /// The version of Bakeoff that wrote it.
    pub bakeoff: String,
    pub study: String,
    pub question: Option<String>,
    pub plan: String,
    /// Digest of all that makes trials comparable: variants and their builds, workloads, seed. A journal is only
    /// ever continued by a plan of the same identity, or of the same [`Basis`].
    pub identity: String,
    /// The same, part by part; none in journals of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// The seed of every order.
    pub seed: u64,
    /// The baseline first, then the others as planned; the twin is not among them.
    pub variants: Vec<VariantLine>,
    /// The combinations that the study leaves out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<Excluded>,
    pub workloads: Vec<String>,
    /// What becomes of the standard output of workloads, where it is not compared with the baseline's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, OutputUse>,
    pub conditions: Vec<String>,
    pub decide: Decide,
    /// When there are blocks enough, as fixed before the first one. A journal is never continued under another rule.
    #[serde(default)]
    pub until: Until,
    /// Where the rule looks a few times only: the number of blocks of its last look, from which the others follow.
    #[serde(default)]
    pub looks_until: Option<u32>,
    /// The study's own metrics among those that it decides on and shows: of phases, ops and values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// Nuisances that were drawn afresh for every block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vary: Vec<Vary>,
    /// How many layouts its programs have, where each is one of several passes: each layout then counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layouts: Option<u32>,
    /// When a trial does not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub void_if: Vec<VoidRule>,
    /// The build factors, where anything is built: what builds are compared with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub build_factors: Vec<FactorLine>,
    /// Variants that are not run, because another one is the same thing: the two share a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedLine>,
    /// Set if building is measured too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub building: Option<Building>,
    /// What seconds are in this journal.
    #[serde(default, skip_serializing_if = "Clock::is_of_seconds")]
    pub clock: Clock,
    /// Set if the trials were simulated: the planted truth, as the user gave it.
    pub simulated: Option<String>,
}

impl StudyLine {
    /// A metric by its name, in the unit that it has in this study.
    pub fn metric(&self, name: &str) -> Option<Metric> {
        let known = metric::by_name(name, &self.metrics)?;
        Some(Metric { unit: self.clock.unit(known.unit), ..known.clone() })
    }

    /// What of a journal's study is another thing in the study as it is now: nothing, if its trials can be continued. None if
    /// that is unknown, because a version that did not write it down began the journal.
    pub fn changes(&self, now: &Self) -> Option<Vec<Change>> {
        let changes = self.basis.as_ref()?.changes(now.basis.as_ref()?);
        let mut changes: Vec<Change> = changes.into_iter().filter_map(|change| self.of_rows(now, change)).collect();
        let build_of = |study: &Self, name: &str| study.variants.iter().find(|v| v.name == name)?.build.clone();
        for (place, variant) in self.variants.iter().enumerate() {
            let builds = (&variant.build, build_of(now, &variant.name));
            // What could not be built has no trials, so nothing was compared with it. The baseline is always built.
            let differ = match &builds {
                (Some(then), Some(now)) => then != now,
                (then, now) => place == 0 && then.is_some() != now.is_some(),
            };
            changes.extend(differ.then(|| Change::Build(variant.name.clone())));
        }
        Some(changes)
    }

    /// What a change amounts to where a variant's key came or went because it shares a row, or does so no more. A variant
    /// without trials, because its build fails, changes nothing by that.
    fn of_rows(&self, now: &Self, change: Change) -> Option<Change> {
        let row = |study: &Self, name: &str| study.shared.iter().find(|one| one.variant.name == name).cloned();
        let has = |study: &Self, name: &str| study.variants.iter().any(|variant| variant.name == name);
        let (key, shares, alone) = match &change {
            Change::NoKey(key) => (key, now, self),
            Change::NewKey(key) => (key, self, now),
            _ => return Some(change),
        };
        let found = key.strip_prefix(VARIANT_KEY).and_then(|name| Some((name.to_owned(), row(shares, name)?)));
        let Some((name, shared)) = found else { return Some(change) };
        let is_shared = matches!(change, Change::NoKey(_));
        has(alone, &name).then_some(if is_shared { Change::Shared(name, shared.with) } else { Change::Apart(name) })
    }

    /// Goes on from a journal's study: under its identity, from what it depends on, and with the variants that are in it
    /// besides those of now, because they have trials.
    pub fn go_on_from(&mut self, known: &Self) {
        self.identity.clone_from(&known.identity);
        if let Some(basis) = &known.basis {
            self.basis = Some(basis.clone());
        }
        let now = std::mem::take(&mut self.variants);
        let is_now = |name: &str| now.iter().any(|variant| variant.name == name);
        let gone = known.variants.iter().filter(|variant| !is_now(&variant.name)).cloned();
        self.variants = now.iter().cloned().chain(gone).collect();
    }
}

/// A combination of levels that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    pub name: String,
    pub reason: String,
}

/// One variant, as planned.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct VariantLine {
    /// The display name; unique within the study.
    pub name: String,
    /// Its level of every factor.
    pub levels: Levels,
    /// Digest of the build that it runs; none if nothing is built.
    pub build: Option<String>,
    /// The command that it runs in place of the workload's, if any.
    pub run: Option<String>,
}

/// A variant that is the same thing as another one, which is run for both.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SharedLine {
    /// The variant that is not run, as planned.
    #[serde(flatten)]
    pub variant: VariantLine,
    /// The display name of the one that is.
    pub with: String,
    /// In what they are the same.
    #[serde(default, skip_serializing_if = "SameIn::is_files")]
    pub same_in: SameIn,
}

/// In what two variants are the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameIn {
    /// In all files, or in all that the command meets.
    #[default]
    Files,
    /// In all code and data of their programs, which are at other addresses; and in all other files.
    Code,
}

impl SameIn {
    fn is_files(&self) -> bool {
        *self == Self::Files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(keys: &[(&str, &str)], files: &[(&str, &str)], builds: &[(&str, Option<&str>)]) -> StudyLine {
        let map = |pairs: &[(&str, &str)]| pairs.iter().map(|(n, d)| (n.to_string(), d.to_string())).collect();
        let basis = Basis { keys: map(keys), files: map(files), ..Basis::default() };
        let variant = |(name, build): &(&str, Option<&str>)| VariantLine {
            name: name.to_string(),
            build: build.map(str::to_owned),
            ..VariantLine::default()
        };
        StudyLine { basis: Some(basis), variants: builds.iter().map(variant).collect(), ..StudyLine::default() }
    }

    #[test]
    fn every_part_that_is_another_one_is_named_and_nothing_else() {
        let then =
            study(&[("seed", "1"), ("vary", "2")], &[("a.sh", "1")], &[("baseline", Some("1")), ("x", Some("2"))]);
        let check = |now: &StudyLine, expect: &[Change]| assert_eq!(then.changes(now).unwrap(), expect);
        check(&then, &[]);
        let now =
            study(&[("seed", "2"), ("until", "3")], &[("a.sh", "2")], &[("baseline", Some("1")), ("x", Some("3"))]);
        let named = |of: fn(String) -> Change, name: &str| of(name.to_owned());
        check(
            &now,
            &[
                named(Change::Key, "seed"),
                named(Change::NoKey, "vary"),
                named(Change::NewKey, "until"),
                named(Change::File, "a.sh"),
                named(Change::Build, "x"),
            ],
        );
        let keys = [("seed", "1"), ("vary", "2")];
        check(
            &study(&keys, &[], &[("baseline", None)]),
            &[named(Change::NoFile, "a.sh"), named(Change::Build, "baseline")],
        );
        // A file that trials made, and a variant that cannot be built today.
        check(&study(&keys, &[("a.sh", "1"), ("out", "1")], &[("baseline", Some("1"))]), &[]);
        let older = StudyLine { basis: None, ..then.clone() };
        assert_eq!((older.changes(&then), then.changes(&older)), (None, None));
    }

    #[test]
    fn a_variant_that_shares_a_row_is_named_only_if_it_had_or_gets_trials() {
        let [base, key] = ["the variant baseline", "the variant x"].map(|name| (name, "1"));
        let sharing = |study: StudyLine| {
            let variant = VariantLine { name: "x".to_owned(), ..VariantLine::default() };
            StudyLine {
                shared: vec![SharedLine { variant, with: "baseline".to_owned(), ..SharedLine::default() }],
                ..study
            }
        };
        let alone = [("baseline", Some("1"))];
        let failed = || study(&[base, key], &[], &alone);
        let raced = || study(&[base, key], &[], &[alone[0], ("x", Some("2"))]);
        let shared = || sharing(study(&[base], &[], &alone));
        let check =
            |then: StudyLine, now: StudyLine, expect: &[Change]| assert_eq!(then.changes(&now).unwrap(), expect);
        check(failed(), shared(), &[]);
        check(shared(), failed(), &[]);
        check(raced(), shared(), &[Change::Shared("x".to_owned(), "baseline".to_owned())]);
        check(shared(), raced(), &[Change::Apart("x".to_owned())]);
        check(shared(), shared(), &[]);
    }

    #[test]
    fn what_failed_to_build_joins_and_what_trials_wrote_stays_out() {
        let then = StudyLine { identity: "then".to_owned(), ..study(&[], &[("log", "1")], &[("baseline", Some("1"))]) };
        let mut now = study(&[], &[("log", "2")], &[("baseline", Some("1")), ("x", Some("2"))]);
        let mut known = then.clone();
        assert!(known.basis.as_mut().is_some_and(|basis| basis.mark_written("log") && !basis.mark_written("log")));
        assert_eq!(known.changes(&now), Some(vec![]));
        now.go_on_from(&known);
        assert_eq!((now.identity.as_str(), &now.basis), ("then", &known.basis));
        assert_eq!(now.variants.len(), 2);
        // And it keeps its build while it cannot be built.
        let mut again = study(&[], &[], &[("baseline", Some("1"))]);
        again.go_on_from(&now);
        assert_eq!(again.variants, now.variants);
    }
}
