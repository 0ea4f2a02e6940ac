//! What makes the trials of a journal comparable, part by part, so that one who comes back later can be told which part is
//! another one now. The identity of a plan is one digest of the same; it names a journal, and this explains it.

use super::StudyLine;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How the key of a variant begins.
pub(crate) const VARIANT_KEY: &str = "the variant ";

/// The parts. Builds are not among them: they stand with the variants ([`super::VariantLine::build`]).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Basis {
    /// A digest of each key of the study, by its name there.
    pub keys: BTreeMap<String, String>,
    /// A digest of each file of the study that trials depend on, as it was before the first session.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Files that were among those until a trial changed them: nothing depends on them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub written: BTreeSet<String>,
}

/// A part that is another one now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A key of the study was changed.
    Key(String),
    /// A key of the study came.
    NewKey(String),
    /// A key of the study went.
    NoKey(String),
    /// A file was changed.
    File(String),
    /// A file is no longer there.
    NoFile(String),
    /// What a variant executes is another build.
    Build(String),
    /// A variant that had trials of its own shares the row of another one, which is the same program.
    Shared(String, String),
    /// A variant that shared a row has trials of its own.
    Apart(String),
}

impl Basis {
    /// Takes a file out of what trials depend on; false if it was not in it.
    pub fn is_written(&mut self, file: &str) -> bool {
        let known = self.files.remove(file).is_some();
        known && self.written.insert(file.to_owned())
    }

    fn changes(&self, now: &Self) -> Vec<Change> {
        let key = |(name, digest): (&String, &String)| match now.keys.get(name) {
            None => Some(Change::NoKey(name.clone())),
            Some(other) => (other != digest).then(|| Change::Key(name.clone())),
        };
        let new = now.keys.keys().filter(|name| !self.keys.contains_key(*name));
        // A file that was not there before the first session is made by trials: they did without it.
        let file = |(name, digest): (&String, &String)| match now.files.get(name) {
            None => Some(Change::NoFile(name.clone())),
            Some(other) => (other != digest).then(|| Change::File(name.clone())),
        };
        let keys = self.keys.iter().filter_map(key).chain(new.map(|name| Change::NewKey(name.clone())));
        keys.chain(self.files.iter().filter_map(file)).collect()
    }
}

impl StudyLine {
    /// What of a journal's study is another thing in the study as it is now: nothing, if its trials can be continued. None if
    /// that cannot be told, because the journal was begun by a version that did not write it down.
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
        match &change {
            Change::NoKey(key) => match key.strip_prefix(VARIANT_KEY).map(|name| (name, row(now, name))) {
                Some((name, Some(_))) if !has(self, name) => None,
                Some((name, Some(shared))) => Some(Change::Shared(name.to_owned(), shared.with)),
                _ => Some(change),
            },
            Change::NewKey(key) => match key.strip_prefix(VARIANT_KEY).map(|name| (name, row(self, name))) {
                Some((name, Some(_))) if !has(now, name) => None,
                Some((name, Some(_))) => Some(Change::Apart(name.to_owned())),
                _ => Some(change),
            },
            _ => Some(change),
        }
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

#[cfg(test)]
mod tests {
    use super::super::{SharedLine, VariantLine};
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
            StudyLine { shared: vec![SharedLine { variant, with: "baseline".to_owned() }], ..study }
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
        assert!(known.basis.as_mut().is_some_and(|basis| basis.is_written("log") && !basis.is_written("log")));
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
