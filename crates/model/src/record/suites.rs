//! A record in which every benchmark of a suite is a workload of its own, so that whatever is said of workloads is said
//! of benchmarks: tables, suites, cells that disagree. Nothing is judged here.
//!
//! The benchmarks are those of the baseline and its twin. A trial that lacks one of them, or in which it failed, is a
//! trial of it that failed; one that only another variant has is compared with nothing, and is left out. What was
//! measured of the whole process (its elapsed time, its memory) belongs to no benchmark: where a study asks for it, the
//! workload itself stays before its benchmarks.

use super::{Block, Failure, Outcome, Record, TWIN, Trial};
use crate::metric::Measurements;
use crate::suite::Part;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

impl Record {
    /// The record with a workload for each benchmark; the same where no trial has any.
    pub fn in_parts(&self) -> Cow<'_, Self> {
        let suites: Vec<(&String, Vec<&String>)> =
            self.study.workloads.iter().map(|workload| (workload, self.benchmarks(workload))).collect();
        if suites.iter().all(|(_, names)| names.is_empty()) {
            return Cow::Borrowed(self);
        }
        let is_only = suites.len() == 1;
        let mut record = Self { blocks: vec![], trials: vec![], ..self.clone() };
        record.study.workloads.clear();
        for (workload, names) in suites {
            let stays = names.is_empty() || self.asks_of_whole(workload);
            if stays {
                record.study.workloads.push(workload.clone());
            }
            let parts: Vec<(&String, String)> =
                names.into_iter().map(|name| (name, name_of(workload, name, is_only))).collect();
            for (_, own) in &parts {
                record.study.workloads.push(own.clone());
                record.suites.insert(own.clone(), workload.clone());
            }
            if let Some(output) = record.study.outputs.get(workload).copied() {
                record.study.outputs.extend(parts.iter().map(|(_, own)| (own.clone(), output)));
            }
            for block in self.blocks.iter().filter(|block| block.workload == *workload) {
                record.blocks.extend(stays.then(|| block.clone()));
                let of = |(_, own): &(&String, String)| Block { workload: own.clone(), ..block.clone() };
                record.blocks.extend(parts.iter().map(of));
            }
            for trial in self.trials.iter().filter(|trial| trial.workload == *workload) {
                record.trials.extend(stays.then(|| Trial { parts: BTreeMap::new(), ..trial.clone() }));
                let kept = self.surroundings_of(trial);
                record.trials.extend(parts.iter().map(|(name, own)| of_part(trial, &kept, name, own)));
            }
        }
        Cow::Owned(record)
    }

    /// The record in which every trial is once: of a suite in parts, one benchmark stands for all of them, unless the
    /// workload itself is still there. What is counted in trials or blocks, and not judged, is counted here.
    pub fn once(&self) -> Cow<'_, Self> {
        if self.suites.is_empty() {
            return Cow::Borrowed(self);
        }
        let workloads = &self.study.workloads;
        let is_kept = |workload: &String| match self.suites.get(workload) {
            None => true,
            Some(suite) => {
                let first = workloads.iter().find(|other| self.suites.get(*other) == Some(suite));
                let is_whole = workloads.iter().any(|other| other == suite && !self.suites.contains_key(other));
                !is_whole && first == Some(workload)
            }
        };
        let kept: BTreeSet<&String> = workloads.iter().filter(|workload| is_kept(workload)).collect();
        let mut record = self.clone();
        record.trials.retain(|trial| kept.contains(&trial.workload));
        record.blocks.retain(|block| kept.contains(&block.workload));
        Cow::Owned(record)
    }

    /// The suite that a benchmark is of; a workload that is none is itself.
    pub fn suite_of<'a>(&'a self, workload: &'a str) -> &'a str {
        self.suites.get(workload).map_or(workload, String::as_str)
    }

    /// The benchmarks of the baseline, in alphabetical order.
    pub fn benchmarks(&self, workload: &str) -> Vec<&String> {
        let baseline = self.study.variants.first().map_or("", |variant| variant.name.as_str());
        let is_own =
            |trial: &&Trial| trial.workload == workload && (trial.variant == baseline || trial.variant == TWIN);
        let names: BTreeSet<&String> = self.trials.iter().filter(is_own).flat_map(|trial| trial.parts.keys()).collect();
        names.into_iter().collect()
    }

    /// How many workloads are judged together, as benchmarks of one suite: the most of any.
    pub fn most_benchmarks(&self) -> usize {
        let count = |suite: &String| self.suites.values().filter(|known| *known == suite).count();
        self.suites.values().collect::<BTreeSet<_>>().into_iter().map(count).max().unwrap_or(1)
    }

    /// Whether the study asks for something that was measured of the process and not of its benchmarks.
    fn asks_of_whole(&self, workload: &str) -> bool {
        let mut trials = self.trials.iter().filter(|trial| trial.workload == workload);
        trials.any(|trial| self.study.decide.metrics.iter().any(|metric| trial.value(metric).is_some()))
    }

    /// What was measured of a whole trial that doubts and rules are about, but not what the study asks for.
    fn surroundings_of(&self, trial: &Trial) -> Measurements {
        let rules = self.study.void_if.iter().map(|rule| rule.metric.as_str());
        let names = rules.chain(["load", "steal", "foreign_cpu"]);
        let asked = |name: &&str| self.study.decide.metrics.iter().any(|metric| metric == name);
        names.filter(|name| !asked(name)).filter_map(|name| Some((name.to_owned(), trial.value(name)?))).collect()
    }
}

/// The only suite of a study needs no name.
fn name_of(workload: &str, benchmark: &str, is_only: bool) -> String {
    if is_only { benchmark.to_owned() } else { format!("{workload}: {benchmark}") }
}

/// One benchmark of a trial, as a trial.
fn of_part(trial: &Trial, kept: &Measurements, name: &str, own: &str) -> Trial {
    let part = trial.parts.get(name);
    let failed = |why: String| Outcome::Failed(Failure::NoBenchmark { why });
    let outcome = match (&trial.outcome, part) {
        (Outcome::Ok, None) => failed("the trial did not report this benchmark".to_owned()),
        (Outcome::Ok, Some(Part { failed: Some(why), .. })) => failed(why.clone()),
        (outcome, _) => outcome.clone(),
    };
    let mut measurements = kept.clone();
    measurements.extend(part.into_iter().flat_map(|part| part.values.clone()));
    Trial {
        block: trial.block,
        workload: own.to_owned(),
        condition: trial.condition.clone(),
        position: trial.position,
        variant: trial.variant.clone(),
        session: trial.session,
        started_unix_s: trial.started_unix_s,
        outcome,
        measurements,
        attempt: trial.attempt,
        leftovers: trial.leftovers,
        ..Trial::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{StudyLine, VariantLine};

    fn part(seconds: f64) -> Part {
        Part { values: [("sec/op".to_owned(), seconds)].into(), failed: None }
    }

    fn trial(variant: &str, parts: &[(&str, Part)]) -> Trial {
        Trial {
            block: 1,
            workload: "bench".to_owned(),
            condition: "idle".to_owned(),
            variant: variant.to_owned(),
            measurements: [("wall".to_owned(), 9.0), ("steal".to_owned(), 0.5)].into(),
            parts: parts.iter().map(|(name, part)| (name.to_string(), part.clone())).collect(),
            ..Trial::default()
        }
    }

    fn record(metrics: &[&str], workloads: &[&str], trials: Vec<Trial>) -> Record {
        let variant = |name: &&str| VariantLine { name: name.to_string(), ..VariantLine::default() };
        let mut record = Record::new(StudyLine {
            variants: ["baseline", "new"].iter().map(variant).collect(),
            workloads: workloads.iter().map(|name| name.to_string()).collect(),
            conditions: vec!["idle".to_owned()],
            ..StudyLine::default()
        });
        record.study.decide.metrics = metrics.iter().map(|name| name.to_string()).collect();
        record.blocks.push(Block { block: 1, workload: "bench".to_owned(), ..Block::default() });
        record.trials = trials;
        record
    }

    fn outcome<'a>(record: &'a Record, workload: &str, variant: &str) -> &'a Outcome {
        let is_it = |trial: &&Trial| trial.workload == workload && trial.variant == variant;
        &record.trials.iter().find(is_it).unwrap().outcome
    }

    #[test]
    fn each_benchmark_of_the_baseline_is_a_workload_and_what_a_trial_lacks_has_failed_there() {
        let broken = Part { failed: Some("it broke".to_owned()), ..Part::default() };
        let trials = vec![
            trial("baseline", &[("a", part(1.0)), ("b", part(2.0)), ("c", part(3.0))]),
            trial("new", &[("a", part(0.5)), ("b", broken), ("only here", part(1.0))]),
        ];
        let whole = record(&["sec/op"], &["bench"], trials);
        let parted = whole.in_parts();
        assert_eq!(parted.study.workloads, ["a", "b", "c"]);
        assert_eq!((parted.blocks.len(), parted.trials.len(), parted.most_benchmarks()), (3, 6, 3));
        assert_eq!(parted.suites.get("a").map(String::as_str), Some("bench"));
        assert_eq!(*outcome(&parted, "a", "new"), Outcome::Ok);
        let why = |workload: &str| match outcome(&parted, workload, "new") {
            Outcome::Failed(Failure::NoBenchmark { why }) => why.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(why("b"), "it broke");
        assert!(why("c").contains("not report"));
        let of_a = parted.trials.iter().find(|trial| trial.workload == "a" && trial.variant == "new").unwrap();
        assert_eq!((of_a.value("sec/op"), of_a.value("wall"), of_a.value("steal")), (Some(0.5), None, Some(0.5)));
        // Once is enough.
        assert_eq!(*parted.in_parts(), *parted);
        let once = parted.once();
        assert_eq!((once.blocks.len(), once.trials.len(), once.suite_of("c")), (1, 2, "bench"));
    }

    #[test]
    fn a_failed_trial_failed_for_all_of_its_benchmarks() {
        let mut failed = trial("new", &[]);
        failed.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] });
        let whole = record(&["sec/op"], &["bench"], vec![trial("baseline", &[("a", part(1.0))]), failed.clone()]);
        assert_eq!(*outcome(&whole.in_parts(), "a", "new"), failed.outcome);
    }

    #[test]
    fn the_workload_stays_where_something_is_asked_of_the_whole_process() {
        let trials = || vec![trial("baseline", &[("a", part(1.0))])];
        let parted = record(&["sec/op", "wall"], &["bench"], trials()).in_parts().into_owned();
        assert_eq!(parted.study.workloads, ["bench", "a"]);
        let value = |workload: &str, metric: &str| {
            parted.trials.iter().find(|trial| trial.workload == workload).unwrap().value(metric)
        };
        assert_eq!([value("bench", "wall"), value("a", "wall")], [Some(9.0), None]);
        assert_eq!([value("bench", "sec/op"), value("a", "sec/op")], [None, Some(1.0)]);
        assert_eq!(parted.once().trials.iter().map(|trial| trial.workload.as_str()).collect::<Vec<_>>(), ["bench"]);
        // One of several workloads gives its benchmarks its name.
        let parted = record(&["sec/op"], &["bench", "plain"], trials()).in_parts().into_owned();
        assert_eq!(parted.study.workloads, ["bench: a", "plain"]);
    }

    #[test]
    fn a_record_without_benchmarks_is_itself() {
        assert!(matches!(record(&["wall"], &["bench"], vec![trial("baseline", &[])]).in_parts(), Cow::Borrowed(_)));
    }
}
