//! What a search has found, in one line and as JSON. It knows no file, and decides nothing.

use super::confirm::Confirmed;
use super::phases::Raced;
use super::task::Task;
use super::work::Work;
use crate::budget::LARGER;
use bakeoff_judge::findings::Comparison;
use bakeoff_model::percent::percent;
use bakeoff_report::words::{listed, named, subject};
use bakeoff_searching::race::{DROP_ALPHA, PARK_ALPHA, State};
use serde_json::{Map, Value, json};

/// Keys of levels with builds that are trained.
const TRAINED: [&str; 2] = ["profile", "bolt"];

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    /// Whether a model chose what raced.
    pub(crate) has_model: bool,
    /// None if the budget ended before it began.
    pub(crate) raced: Option<Raced>,
    /// Factors of the winner that can have the baseline's level; none if that is not known.
    pub(crate) left_out: Option<Vec<usize>>,
    pub(crate) confirmed: Option<Confirmed>,
}

impl Found {
    /// The winner of a race that has finished.
    pub(crate) fn winner(&self) -> Option<usize> {
        self.raced.as_ref().and_then(|raced| Some(raced.racers[raced.race.winner()?]))
    }

    /// The winner, or the one that the others were held against when the budget ended.
    pub(crate) fn best(&self) -> Option<usize> {
        self.raced.as_ref().and_then(|raced| Some(raced.racers[raced.race.incumbent?]))
    }

    /// Those that may be the best.
    fn candidates(&self) -> Vec<usize> {
        let of_race = |raced: &Raced| raced.race.candidates().into_iter().map(|at| raced.racers[at]).collect();
        self.raced.as_ref().map(of_race).unwrap_or_default()
    }

    /// The winner without what can be left out, if that is another variant.
    pub(crate) fn reduced(&self, task: &Task<'_>) -> Option<usize> {
        let left_out = self.left_out.as_ref().filter(|left_out| !left_out.is_empty())?;
        task.reverted(self.winner()?, left_out)
    }
}

/// All that an answer is made of.
pub(crate) struct Answer<'a> {
    pub(crate) work: &'a Work<'a>,
    pub(crate) found: &'a Found,
}

impl Answer<'_> {
    /// The answer, in one line.
    pub(crate) fn line(&self) -> String {
        let task = self.work.task;
        let name = |variant: usize| subject(task.name(variant));
        let (margin, sure) = (percent(task.margin.exp_m1()), percent(1.0 - DROP_ALPHA - PARK_ALPHA));
        let text = match (self.found.winner(), self.found.candidates()) {
            (Some(0), _) => {
                format!("{}: the baseline; with {sure}, no other is better by more than {margin}", self.best_of())
            }
            (Some(winner), _) => {
                let best = if self.found.has_model { "best of them" } else { "best" };
                let gain = self.gain(winner).unwrap_or_default();
                let within = format!("within {margin} of the {best} with {sure}");
                format!("{}: {}{gain}, {within}{}", self.best_of(), name(winner), self.enough(winner))
            }
            (None, candidates) if candidates.is_empty() => {
                let (built, all) = (self.work.blocks.built(), task.plan.variants.len());
                format!("budget used: {built} of {all} were built, and none raced{LARGER}")
            }
            (None, candidates) => {
                let names = named(candidates.iter().map(|variant| name(*variant)).collect());
                let best = self.found.best();
                let so_far = best.and_then(|best| Some(format!("; so far {}{}", name(best), self.gain(best)?)));
                let (n, so_far) = (candidates.len(), so_far.unwrap_or_default());
                format!("budget used: the best is one of these {n}: {names}{so_far}{LARGER}")
            }
        };
        text + &self.limits()
    }

    /// `best of 24`.
    fn best_of(&self) -> String {
        let states = self.found.raced.iter().flat_map(|raced| &raced.race.states);
        let raced = states.filter(|state| **state != State::Failed).count();
        if !self.found.has_model {
            return format!("best of {raced}");
        }
        let run = &self.work.run;
        let is_rest = |variant: &usize| !run.contains(variant) && self.work.is_built(*variant) != Some(false);
        let rest = (0..self.work.task.plan.variants.len()).filter(is_rest).count();
        let what = if self.work.task.builds.is_empty() { "run" } else { "built" };
        format!("best of {raced}, chosen from {} {what}; {rest} were judged by a model", run.len())
    }

    /// The gain that was confirmed, with a comma before it.
    fn gain(&self, variant: usize) -> Option<String> {
        let gains = &self.found.confirmed.as_ref()?.gains;
        Some(format!(", {}", gains.get(self.work.task.name(variant))?.shown))
    }

    /// Which of the winner's options give all of it.
    fn enough(&self, winner: usize) -> String {
        let left_out = self.found.left_out.as_deref().unwrap_or_default();
        let changed = self.work.task.changed(winner);
        let kept = changed.iter().filter(|factor| !left_out.contains(factor));
        let kept: Vec<String> = kept.map(|factor| self.work.task.term(winner, *factor)).collect();
        match &kept[..] {
            _ if left_out.is_empty() => String::new(),
            [] => "; the baseline is within the margin of it".to_owned(),
            [only] => format!("; {only} alone gives all of it"),
            several => format!("; {} of {} options give all of it: {}", several.len(), changed.len(), listed(several)),
        }
    }

    /// What the answer is not about.
    fn limits(&self) -> String {
        let is_fixed = !self.work.task.builds.is_empty() && self.work.is_laid_out == Some(false);
        let mut out = if is_fixed { "; this is about these files as built" } else { "" }.to_owned();
        if let Some(best) = self.found.best() {
            let changed = self.work.task.changed(best).into_iter();
            out.extend(changed.filter_map(|factor| self.training(best, factor)));
        }
        out
    }

    /// On what a level was trained, if it was.
    fn training(&self, variant: usize, factor: usize) -> Option<String> {
        let task = self.work.task;
        let (plan, name) = (task.plan, &task.factors[factor].0);
        let lines = plan.build_factors.iter().find(|line| line.name == *name)?;
        let level = lines.levels.get(plan.variants[variant].levels.get(name)?)?;
        let command = TRAINED.iter().find_map(|key| level.get(*key))?;
        let is_measured = |run: &str| run.split_whitespace().eq(command.split_whitespace());
        let on = match plan.workloads.iter().any(|workload| is_measured(&workload.run)) {
            true => "the measured workload itself",
            false => "another command than the measured one",
        };
        Some(format!("; {} was trained on {on}", task.term(variant, factor)))
    }

    /// All of it. `kept` are the trials' files, relative to the study.
    pub(crate) fn json(&self, kept: &str) -> Value {
        let (task, spent, found) = (self.work.task, &self.work.spent, self.found);
        let plan = task.plan;
        let name = |variant: usize| plan.variants[variant].name.clone();
        let confirmed = found.confirmed.as_ref().map(|confirmed| {
            let gain = |one: &Comparison| json!({ "estimate": one.estimate, "interval": one.interval(), "verdict": one.verdict });
            let gains = confirmed.gains.iter().map(|(variant, of)| (variant.clone(), gain(&of.comparison)));
            let gains: Map<String, Value> = gains.collect();
            let blocks = confirmed.gains.values().map(|gain| gain.comparison.blocks).max();
            json!({ "journal": confirmed.journal, "blocks": blocks, "gains": gains })
        });
        let left_out = found.left_out.as_ref();
        let left_out = left_out.map(|all| all.iter().map(|factor| &task.factors[*factor].0).collect::<Vec<_>>());
        json!({
            "format": 1,
            "study": plan.study,
            "plan": plan.name,
            "seed": plan.seed,
            "margin": task.margin.exp_m1(),
            "budget": task.budget.shown(),
            "has_model": found.has_model,
            "finished": found.winner().is_some(),
            "winner": found.winner().map(name),
            "candidates": found.candidates().into_iter().map(name).collect::<Vec<_>>(),
            "left_out": left_out,
            "reduced": found.reduced(task).map(name),
            "confirmation": confirmed,
            "trials": spent.trials,
            "builds": spent.builds,
            "seconds": spent.seconds(),
            "folder": kept,
            "variants": (0..plan.variants.len()).map(|variant| self.variant(variant)).collect::<Vec<_>>(),
            "answer": self.line(),
        })
    }

    /// How a variant ended in the race.
    fn state(&self, variant: usize) -> Option<State> {
        let raced = self.found.raced.as_ref()?;
        Some(raced.race.states[raced.racers.iter().position(|racer| *racer == variant)?])
    }

    /// Why a variant left, unless for its speed.
    pub(crate) fn why(&self, variant: usize) -> Option<String> {
        let is_failed = self.state(variant) == Some(State::Failed);
        self.work.why(variant).or_else(|| self.work.failure(variant).filter(|_| is_failed))
    }

    fn variant(&self, variant: usize) -> Value {
        let known = &self.work.task.plan.variants[variant];
        let state = match (self.state(variant), self.work.is_built(variant)) {
            (_, Some(false)) | (Some(State::Failed), _) => "failed",
            (Some(State::Alive), _) => "left",
            (Some(State::Dropped), _) => "dropped",
            (Some(State::Parked), _) => "parked",
            (None, _) if self.work.run.contains(&variant) => "screened",
            (None, _) if self.found.has_model => "judged by a model",
            (None, _) => "not run",
        };
        json!({ "name": known.name, "levels": known.levels, "state": state, "why": self.why(variant) })
    }
}
