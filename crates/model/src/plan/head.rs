//! The head of the journal that a plan's trials go into: what of the plan is written down there. Nothing is planned here.

use super::{Plan, Variant};
use crate::grouped::unique;
use crate::metric::{self, Metric};
use crate::record::{Basis, FORMAT, StudyLine, VariantLine};
use crate::study::OutputUse;
use std::collections::BTreeMap;

impl Variant {
    /// Itself in the head of a journal. `builds` has the digest of each variant's build.
    pub fn line(&self, builds: &BTreeMap<String, String>) -> VariantLine {
        VariantLine {
            name: self.name.clone(),
            levels: self.levels.clone(),
            build: builds.get(&self.name).cloned(),
            run: self.run.clone(),
        }
    }
}

impl Plan {
    /// The head of this plan's journal. `builds` has the digest of each variant's build; `inputs` and `simulated` are as
    /// for [`Self::identity`] and [`StudyLine`].
    pub fn study_line(&self, builds: &BTreeMap<String, String>, inputs: &str, simulated: Option<&str>) -> StudyLine {
        StudyLine {
            format: FORMAT,
            bakeoff: env!("CARGO_PKG_VERSION").to_owned(),
            study: self.study.clone(),
            question: self.question.clone(),
            plan: self.name.clone(),
            identity: self.identity(builds, inputs),
            basis: Some(Basis { keys: self.keys(), ..Basis::default() }),
            seed: self.seed,
            variants: self.variants.iter().map(|variant| variant.line(builds)).collect(),
            excluded: self.excluded.clone(),
            workloads: self.workloads.iter().map(|workload| workload.name.clone()).collect(),
            outputs: self.outputs(),
            conditions: self.conditions.iter().map(|condition| condition.name.clone()).collect(),
            decide: self.decide.clone(),
            until: self.until,
            looks_until: self.looks_until(),
            metrics: self.own_metrics(),
            vary: self.vary.clone(),
            layouts: self.layouts,
            void_if: self.void_if.clone(),
            build_factors: self.build_factors.clone(),
            shared: vec![],
            building: self.building.clone(),
            clock: self.clock,
            simulated: simulated.map(str::to_owned),
        }
    }

    /// What becomes of the workloads' outputs, where that is not the usual.
    fn outputs(&self) -> BTreeMap<String, OutputUse> {
        let unusual = self.workloads.iter().filter(|workload| workload.output != OutputUse::default());
        unusual.map(|workload| (workload.name.clone(), workload.output)).collect()
    }

    /// The study's own metrics among those that it decides on, and those that its rules for void trials look at.
    fn own_metrics(&self) -> Vec<Metric> {
        let named = self.decide.metrics.iter().chain(self.void_if.iter().map(|rule| &rule.metric));
        // What is of the table is none of them; and reading the study has refused what is of neither.
        let own = named.filter_map(|name| metric::own(name, &self.workloads).ok());
        let mut own = unique(self.counted.iter().cloned().chain(own));
        own.extend(self.building.as_ref().map(|_| metric::installed()));
        own
    }
}
