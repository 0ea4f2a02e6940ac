//! What a search has found, in one line and as JSON. It knows no file, and decides nothing.

use super::confirm::Confirmed;
use super::levels::{Factors, reverted, term};
use super::phases::{Aim, Raced};
use super::work::Work;
use crate::race::{DROP_ALPHA, PARK_ALPHA, Standing, State};
use bakeoff_judge::findings::Comparison;
use bakeoff_model::percent::percent;
use bakeoff_model::plan::Plan;
use bakeoff_report::words::{listed, named, subject};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Keys of levels whose builds are trained.
const TRAINED: [&str; 2] = ["profile", "bolt"];

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    /// Whether a model chose what raced.
    pub(crate) has_model: bool,
    /// None if the budget ended before it began.
    pub(crate) raced: Option<Raced>,
    /// Factors of the winner that can have the baseline's level; none if that is not known.
    pub(crate) left_out: Option<Vec<String>>,
    pub(crate) confirmed: Option<Confirmed>,
}

impl Found {
    fn standing(&self) -> Standing {
        self.raced.as_ref().map_or(Standing::Open(vec![]), |raced| raced.race.standing())
    }

    /// The winner of a race that has finished.
    pub(crate) fn winner(&self) -> Option<usize> {
        match self.standing() {
            Standing::Finished(at) => self.raced.as_ref().map(|raced| raced.racers[at]),
            Standing::Open(_) => None,
        }
    }

    /// The winner, or the one that the others were held against when the budget ended.
    pub(crate) fn best(&self) -> Option<usize> {
        let incumbent = || self.raced.as_ref().and_then(|raced| Some(raced.racers[raced.race.incumbent()?]));
        self.winner().or_else(incumbent)
    }

    /// Those that may be the best.
    fn candidates(&self) -> Vec<usize> {
        match (self.standing(), &self.raced) {
            (Standing::Open(set), Some(raced)) => set.into_iter().map(|at| raced.racers[at]).collect(),
            (Standing::Finished(_), _) => self.winner().into_iter().collect(),
            (Standing::Open(_), None) => vec![],
        }
    }

    /// The winner without what can be left out, if that is another variant.
    pub(crate) fn reduced(&self, plan: &Plan) -> Option<usize> {
        let factors: Vec<&String> = self.left_out.iter().flatten().collect();
        reverted(plan, self.winner()?, &factors).filter(|reduced| Some(*reduced) != self.winner())
    }
}

/// All that an answer is made of.
pub(crate) struct Answer<'a> {
    pub(crate) work: &'a Work<'a>,
    pub(crate) factors: &'a Factors,
    pub(crate) aim: Aim,
    pub(crate) found: &'a Found,
    /// Whether anything was built.
    pub(crate) builds: bool,
}

impl Answer<'_> {
    /// The answer, in one line.
    pub(crate) fn line(&self) -> String {
        let plan = self.work.plan;
        let name = |variant: usize| subject(&plan.variants[variant].name);
        let text = match (self.found.winner(), self.found.candidates()) {
            (Some(0), _) => {
                let margin = percent(self.aim.margin.exp_m1());
                format!("{}: the baseline; with {}, no other is better by more than {margin}", self.best_of(), sure())
            }
            (Some(winner), _) => {
                let margin = percent(self.aim.margin.exp_m1());
                let best = if self.found.has_model { "best of them" } else { "best" };
                let within = format!("within {margin} of the {best} with {}", sure());
                format!("{}: {}{}, {within}{}", self.best_of(), name(winner), self.gain(winner), self.enough(winner))
            }
            (None, candidates) if candidates.is_empty() => {
                let built = self.work.built();
                format!("budget used: {built} of {} were built, and none raced; raise --budget", plan.variants.len())
            }
            (None, candidates) => {
                let names = named(candidates.iter().map(|variant| name(*variant)).collect());
                let best = self.found.best().filter(|best| *best != 0);
                let gain = best.map(|best| self.gain(best)).filter(|gain| !gain.is_empty());
                let gain = gain.zip(best).map(|(gain, best)| format!("; so far {}{gain}", name(best)));
                let gain = gain.unwrap_or_default();
                format!("budget used: the best is one of these {}: {names}{gain}", candidates.len())
            }
        };
        text + &self.limits()
    }

    /// `best of 24`.
    fn best_of(&self) -> String {
        let raced = self.found.raced.as_ref().map_or(0, |raced| raced.racers.len());
        if !self.found.has_model {
            return format!("best of {raced}");
        }
        let run = self.work.run.len();
        let all = 0..self.work.plan.variants.len();
        let failed = all.clone().filter(|variant| self.work.is_built(*variant) == Some(false)).count();
        let rest = all.len().saturating_sub(run + failed);
        let what = if self.builds { "built" } else { "run" };
        format!("best of {raced}, chosen from {run} {what}; {rest} were judged by a model")
    }

    fn gain(&self, variant: usize) -> String {
        let gains = self.found.confirmed.as_ref().map(|confirmed| &confirmed.gains);
        let gain = gains.and_then(|gains| gains.get(&self.work.plan.variants[variant].name));
        gain.map(|gain| format!(", {}", gain.shown())).unwrap_or_default()
    }

    /// Which of the winner's options give all of it.
    fn enough(&self, winner: usize) -> String {
        let left_out: BTreeSet<&String> = self.found.left_out.iter().flatten().collect();
        if left_out.is_empty() {
            return String::new();
        }
        let changed = self.factors.changed(self.work.plan, winner);
        let kept = changed.iter().filter(|factor| !left_out.contains(factor));
        let kept: Vec<String> = kept.map(|factor| term(self.work.plan, winner, factor)).collect();
        match &kept[..] {
            [] => "; the baseline is within the margin of it".to_owned(),
            [only] => format!("; {only} alone gives all of it"),
            several => format!("; {} of {} options give all of it: {}", several.len(), changed.len(), listed(several)),
        }
    }

    /// What the answer is not about.
    fn limits(&self) -> String {
        let mut out = String::new();
        if self.builds && self.work.is_laid_out == Some(false) {
            out += "; this is about these files as built";
        }
        for variant in self.found.best().iter() {
            for factor in self.factors.changed(self.work.plan, *variant) {
                out += &self.training(*variant, &factor).unwrap_or_default();
            }
        }
        out
    }

    /// On what a level was trained, if it was.
    fn training(&self, variant: usize, factor: &str) -> Option<String> {
        let plan = self.work.plan;
        let lines = plan.build_factors.iter().find(|line| line.name == factor)?;
        let said = lines.levels.get(plan.variants[variant].levels.get(factor)?)?;
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let command = TRAINED.iter().find_map(|key| said.get(*key))?;
        let is_measured = plan.workloads.iter().any(|workload| words(&workload.run) == words(command));
        let on = if is_measured { "the measured workload itself" } else { "another command than the measured one" };
        Some(format!("; {} was trained on {on}", term(plan, variant, factor)))
    }

    /// All of it. `kept` are the trials' files, relative to the study.
    pub(crate) fn json(&self, kept: &str) -> Value {
        let (plan, spent, found) = (self.work.plan, &self.work.spent, self.found);
        let name = |variant: usize| plan.variants[variant].name.clone();
        let confirmed = found.confirmed.as_ref().map(|confirmed| {
            let gain = |one: &Comparison| json!({ "estimate": one.estimate, "interval": one.interval(), "verdict": one.verdict });
            let gains: serde_json::Map<String, Value> =
                confirmed.gains.iter().map(|(variant, of)| (variant.clone(), gain(&of.comparison))).collect();
            let journal = confirmed.journal.file_name().unwrap_or_default().to_string_lossy();
            json!({ "journal": format!(".bakeoff/{journal}"), "blocks": confirmed.blocks, "gains": gains })
        });
        json!({
            "format": 1,
            "study": plan.study,
            "plan": plan.name,
            "seed": self.aim.seed,
            "margin": self.aim.margin.exp_m1(),
            "budget": self.work.budget.shown(),
            "has_model": found.has_model,
            "finished": found.winner().is_some(),
            "winner": found.winner().map(name),
            "candidates": found.candidates().into_iter().map(name).collect::<Vec<_>>(),
            "left_out": found.left_out,
            "reduced": found.reduced(plan).map(name),
            "confirmation": confirmed,
            "blocks": self.work.taken,
            "trials": spent.trials,
            "builds": spent.builds,
            "seconds": spent.seconds(),
            "folder": kept,
            "variants": (0..plan.variants.len()).map(|variant| self.variant(variant)).collect::<Vec<_>>(),
            "answer": self.line(),
        })
    }

    fn variant(&self, variant: usize) -> Value {
        let known = &self.work.plan.variants[variant];
        let state = self.found.raced.as_ref().and_then(|raced| raced.state(variant));
        let is_built = self.work.is_built(variant);
        let state = match (state, is_built) {
            (_, Some(false)) | (Some(State::Failed), _) => "failed",
            (Some(State::Alive), _) => "left",
            (Some(State::Dropped), _) => "dropped",
            (Some(State::Parked), _) => "parked",
            (None, _) if self.work.run.contains(&variant) => "screened",
            (None, _) if self.found.has_model => "judged by a model",
            (None, _) => "not run",
        };
        let why = match is_built {
            Some(false) => Some(self.work.why(variant).to_owned()),
            _ if self.work.print_other.contains(&variant) => {
                Some("it prints something other than the baseline".to_owned())
            }
            _ => None,
        };
        json!({ "name": known.name, "levels": known.levels, "state": state, "why": why })
    }
}

/// With what probability the race is right.
fn sure() -> String {
    percent(1.0 - DROP_ALPHA - PARK_ALPHA)
}
