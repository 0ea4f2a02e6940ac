//! Small ids for the names of a record: the judge compares numbers. Names are in records and findings only.

use bakeoff_model::record::{Record, StudyLine, TWIN};
use std::collections::BTreeSet;

/// A variant, or the twin. Ids are ordered like the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VariantId(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WorkloadId(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConditionId(u32);

/// A workload under a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) workload: WorkloadId,
    pub(super) condition: ConditionId,
}

/// A variant on a workload under a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) variant: VariantId,
    pub(super) place: Place,
}

/// The names of a record, each kind in alphabetical order: an id is a place in its list.
#[derive(Debug, Clone)]
pub(super) struct Ids<'a> {
    variants: Vec<&'a str>,
    workloads: Vec<&'a str>,
    conditions: Vec<&'a str>,
}

impl<'a> Ids<'a> {
    /// Of all names that the study or a trial has, and of the twin.
    pub(super) fn of(record: &'a Record) -> Self {
        let StudyLine { variants, workloads, conditions, .. } = &record.study;
        let trials = || record.trials.iter();
        let planned = variants.iter().map(|variant| variant.name.as_str()).chain([TWIN]);
        Self {
            variants: sorted(planned.chain(trials().map(|trial| trial.variant.as_str()))),
            workloads: sorted(names(workloads).chain(trials().map(|trial| trial.workload.as_str()))),
            conditions: sorted(names(conditions).chain(trials().map(|trial| trial.condition.as_str()))),
        }
    }

    /// The id of a variant's name; one that no trial has, if it is unknown.
    pub(super) fn variant(&self, name: &str) -> VariantId {
        VariantId(found(&self.variants, name))
    }

    pub(super) fn workload(&self, name: &str) -> WorkloadId {
        WorkloadId(found(&self.workloads, name))
    }

    pub(super) fn condition(&self, name: &str) -> ConditionId {
        ConditionId(found(&self.conditions, name))
    }

    pub(super) fn place(&self, workload: &str, condition: &str) -> Place {
        Place { workload: self.workload(workload), condition: self.condition(condition) }
    }

    /// Every workload under every condition, in the study's order.
    pub(super) fn places<'s>(&'s self, study: &'s StudyLine) -> impl Iterator<Item = Place> + use<'s, 'a> {
        let conditions =
            move |workload: &'s String| study.conditions.iter().map(move |condition| self.place(workload, condition));
        study.workloads.iter().flat_map(conditions)
    }

    /// A variant's name; empty if it is unknown.
    pub(super) fn name(&self, VariantId(id): VariantId) -> &'a str {
        self.variants.get(id as usize).copied().unwrap_or_default()
    }

    pub(super) fn names(&self, place: Place) -> (&'a str, &'a str) {
        let Place { workload: WorkloadId(workload), condition: ConditionId(condition) } = place;
        let name = |names: &[&'a str], id: u32| names.get(id as usize).copied().unwrap_or_default();
        (name(&self.workloads, workload), name(&self.conditions, condition))
    }
}

fn names(names: &[String]) -> impl Iterator<Item = &str> {
    names.iter().map(String::as_str)
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // Few names stand in many trials: a set compares each with few.
    names.collect::<BTreeSet<&str>>().into_iter().collect()
}

fn found(names: &[&str], name: &str) -> u32 {
    names.binary_search(&name).map_or(u32::MAX, |at| at as u32)
}
