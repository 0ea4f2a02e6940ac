//! Explaining, of all features together. What one of them does is theirs.

use crate::asked::FeatureArgs;
use crate::error::CommandError;
use crate::explaining::{Confirmation, Explainer, StudySections};
use crate::feature::Registry;
use bakeoff_judge::findings::Findings;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::Record;

impl Registry {
    /// Adds what has to be gathered to explain differences.
    pub fn gather_to_explain(
        &self,
        asked: &FeatureArgs,
        plan: &Plan,
        sections: &mut StudySections,
    ) -> Result<(), CommandError> {
        self.explainers.iter().try_for_each(|explainer| (explainer.gather)(&asked.0, plan, sections))
    }

    /// Prints the explanations.
    pub fn explain(&self, asked: &FeatureArgs, record: &Record, findings: &Findings) -> Result<(), CommandError> {
        self.explainers.iter().try_for_each(|explainer| (explainer.print)(&asked.0, record, findings))
    }

    /// What is to be run to show causes, if that is asked for.
    pub fn to_confirm(
        &self,
        asked: &FeatureArgs,
        record: &Record,
        findings: &Findings,
    ) -> Result<Vec<Confirmation>, CommandError> {
        let of = |explainer: &Explainer| (explainer.to_confirm)(&asked.0, record, findings);
        Ok(self.explainers.iter().map(of).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Adds what has to be gathered of a confirmation.
    pub fn gather_confirming(
        &self,
        confirmation: &Confirmation,
        plan: &Plan,
        sections: &mut StudySections,
    ) -> Result<(), CommandError> {
        self.explainers.iter().try_for_each(|explainer| (explainer.gather_confirming)(confirmation, plan, sections))
    }

    /// Prints what came of a confirmation.
    pub fn confirmed(&self, confirmation: &Confirmation, record: &Record, findings: &Findings) {
        self.explainers.iter().for_each(|explainer| (explainer.confirmed)(confirmation, record, findings));
    }
}
