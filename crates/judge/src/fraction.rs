//! Main effects and interactions where not every combination of levels has values: by the linear model, with the
//! terms that cannot be distinguished. Where contrasts suffice, [`super::complete`] judges by these instead.
//!
//! The model has main effects and two-way interactions. A main effect that the variants run do not separate from
//! interactions is given under the assumption that there are none, and says so; one that they do not tell apart
//! from another main effect is refused, and so are such interactions.

use super::conclude::conclude_effect;
use super::factors::Factors;
use super::ids::{Ids, Place, VariantId};
use super::infer::{self, Inference};
use super::metric_spec::MetricSpec;
use super::rule::DecisionRule;
use super::trials::Passes;
use crate::findings::{
    Alias, Caveat, Effect, EffectKind, Inferred, Level, Refusal, Scale, Step as LevelStep, Subject, Term, Test, Tested,
};
use bakeoff_model::metric::Unit;
use bakeoff_model::record::StudyLine;
use bakeoff_stats::describe::median;
use bakeoff_stats::equivalence::Zone;
use bakeoff_stats::linear::{self, Estimate, Fit, Observation, Refused, Step};
use bakeoff_stats::student::two_sided_p;
use std::collections::{BTreeMap, BTreeSet};

/// The linear model of one metric of one workload under one condition.
pub(super) struct Fraction<'a> {
    factors: &'a Factors,
    /// Of each factor, the levels that have a value: of another one the model knows nothing, and must not ask for it.
    seen: Vec<Vec<usize>>,
    full: Option<Fit>,
    mains_only: Option<Fit>,
    blocks: u32,
    scale: Scale,
    zone: Option<Zone>,
    spec: MetricSpec,
    /// The step of the grid that a clock has put the values on, and by how much it may have moved one, on the scale of y.
    step: f64,
    wrong_by: f64,
}

struct Estimated {
    subject: Subject,
    estimate: Result<Estimate, Refusal>,
    caveat: Option<Caveat>,
}

impl<'a> Fraction<'a> {
    pub(super) fn new(
        factors: &'a Factors,
        study: &StudyLine,
        passes: &Passes,
        ids: &Ids<'_>,
        place: Place,
        spec: MetricSpec,
        margin: f64,
    ) -> Self {
        let levels: BTreeMap<VariantId, Vec<usize>> =
            study.variants.iter().filter_map(|v| Some((ids.variant(&v.name), factors.places_of(v)?))).collect();
        let mut cells: Vec<(usize, &[usize], f64)> = vec![];
        for (pass, values) in passes {
            let here = values.iter().filter(|(cell, _)| cell.place == place);
            cells.extend(here.filter_map(|(c, y)| Some((*pass as usize, levels.get(&c.variant)?.as_slice(), *y))));
        }
        let (scale, zone) = if cells.iter().all(|(.., y)| *y > 0.0) {
            (Scale::Ratio, Some(Zone::of_log_ratios(margin)))
        } else {
            let baseline: Vec<f64> =
                cells.iter().filter(|(_, levels, _)| levels.iter().all(|l| *l == 0)).map(|(.., y)| *y).collect();
            let half_width = margin * median(&baseline).unwrap_or(0.0).abs();
            (Scale::Difference, (half_width > 0.0).then_some(Zone { half_width }))
        };
        let y = |y: f64| if scale == Scale::Ratio { y.ln() } else { y };
        let values: Vec<f64> = cells.iter().map(|(.., y)| *y).collect();
        let step = spec.grid_step(&values);
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let wrong_by = if scale == Scale::Ratio { (step / least).ln_1p() } else { step };
        let seen: Vec<Vec<usize>> = (0..factors.0.len())
            .map(|factor| {
                cells.iter().map(|(_, levels, _)| levels[factor]).collect::<BTreeSet<_>>().into_iter().collect()
            })
            .collect();
        let place = |(seen, level): (&Vec<usize>, &usize)| seen.binary_search(level).unwrap_or_default();
        let places: Vec<Vec<usize>> =
            cells.iter().map(|(_, levels, _)| seen.iter().zip(*levels).map(place).collect()).collect();
        let observations: Vec<Observation<'_>> = cells
            .iter()
            .zip(&places)
            .map(|((block, _, value), levels)| Observation { block: *block, levels, y: y(*value) })
            .collect();
        let counts: Vec<usize> = seen.iter().map(Vec::len).collect();
        let mut blocks: Vec<usize> = observations.iter().map(|o| o.block).collect();
        blocks.dedup();
        Self {
            factors,
            seen,
            full: Fit::new(&observations, &counts, true),
            mains_only: Fit::new(&observations, &counts, false),
            blocks: blocks.len() as u32,
            scale,
            zone,
            spec,
            step,
            wrong_by: if wrong_by.is_finite() { wrong_by } else { 0.0 },
        }
    }

    /// The effects on these subjects, in a family of the rule's size: the others are judged elsewhere, and count.
    pub(super) fn effects(&self, kind: EffectKind, rule: DecisionRule, subjects: &[Subject]) -> Vec<Effect> {
        // Weights of a main effect are 1 on either side, those of an interaction 2.
        let (mut all, weight) = match kind {
            EffectKind::Interaction => (self.interactions(), 2.0),
            _ => (self.mains(), 1.0),
        };
        all.retain(|one| subjects.contains(&one.subject));
        self.judged(all, weight * self.wrong_by, rule)
    }

    /// How many of these the model can estimate.
    pub(super) fn estimable(&self, kind: EffectKind, subjects: &[Subject]) -> usize {
        let all = if kind == EffectKind::Interaction { self.interactions() } else { self.mains() };
        all.iter().filter(|one| subjects.contains(&one.subject) && one.estimate.is_ok()).count()
    }

    fn mains(&self) -> Vec<Estimated> {
        let of = |step: Step| {
            let LevelStep { factor, level, against } = self.factors.named(step);
            let effect = Level { factor: factor.clone(), level: level.clone() };
            let subject = Subject::Levels(vec![LevelStep { factor, level, against }]);
            let main = |fit: &Option<Fit>| match (self.modelled(step), fit) {
                (None, _) => Err(Refused::Unknown),
                (_, None) => Err(Refused::NoError),
                (Some(step), Some(fit)) => fit.main(step),
            };
            let (full, alone) = (main(&self.full), || main(&self.mains_only));
            match full {
                Err(Refused::Aliased { with }) if with.iter().all(|term| matches!(term, linear::Term::TwoWay(..))) => {
                    let caveat = Some(Caveat::Aliased { effect, with: self.named(&with) });
                    Estimated { subject, estimate: self.refused(alone()), caveat }
                }
                other => Estimated { subject, estimate: self.refused(other), caveat: None },
            }
        };
        self.factors.steps().map(of).collect()
    }

    fn interactions(&self) -> Vec<Estimated> {
        let of = |(a, b): (Step, Step)| {
            let subject = Subject::Levels(vec![self.factors.named(a), self.factors.named(b)]);
            let full = match (self.modelled(a).zip(self.modelled(b)), &self.full) {
                (None, _) => Err(Refused::Unknown),
                (_, None) => Err(Refused::NoError),
                (Some((a, b)), Some(fit)) => fit.interaction(a, b),
            };
            Estimated { subject, estimate: self.refused(full), caveat: None }
        };
        self.factors.pairs().into_iter().map(of).collect()
    }

    pub(super) fn aliases(&self) -> Vec<Alias> {
        let aliases = self.full.as_ref().map(Fit::aliases).unwrap_or_default();
        let alias =
            |(term, with): (linear::Term, Vec<linear::Term>)| Alias { term: self.term(term), with: self.named(&with) };
        aliases.into_iter().map(alias).collect()
    }

    fn judged(&self, all: Vec<Estimated>, resolution: f64, rule: DecisionRule) -> Vec<Effect> {
        let effect = |one: Estimated| {
            let (comparison, refused) = match one.estimate {
                Ok(estimate) => {
                    let inference = self.inference(&estimate, resolution, rule);
                    let mut comparison = conclude_effect(&inference, self.spec, rule);
                    comparison.caveats.extend(one.caveat);
                    (Some(comparison), None)
                }
                Err(why) => (None, Some(why)),
            };
            Effect { subject: one.subject, within: None, over: None, comparison, refused }
        };
        all.into_iter().map(effect).collect()
    }

    fn inference(&self, estimate: &Estimate, resolution: f64, rule: DecisionRule) -> Inference {
        let nothing = Inference {
            blocks: self.blocks,
            scale: self.scale,
            zone: self.zone,
            estimate: estimate.estimate,
            inferred: Inferred::TooCoarse,
            resolution,
            step: self.step,
            at_floor: false,
            agree: 0.0,
            sd: None,
        };
        let is_time = self.spec.unit == Some(Unit::Seconds);
        if is_time && self.zone.is_some_and(|zone| resolution > zone.half_width) {
            return nothing;
        }
        // What never varies, though chance has a part in it, has no interval without width.
        let varies = estimate.se > 0.0 || self.spec.exact;
        let takes = rule.mode.takes_p() && varies;
        let interval = |alpha: f64| {
            let [low, high] = takes.then(|| estimate.interval(rule.mode.level(alpha))).flatten()?;
            Some([low - resolution, high + resolution])
        };
        let p = if varies { overall(&beyond(estimate, resolution), rule) } else { 1.0 };
        let tested = Tested {
            test: Test::LinearModel { df: estimate.df as u32 },
            p: Some(p),
            // Bonferroni's: the model has no flips.
            p_corrected: Some((p * f64::from(rule.family)).min(1.0)),
            interval: interval(rule.alpha / f64::from(rule.family)),
            equivalence_interval: interval(2.0 * rule.alpha),
        };
        Inference { inferred: Inferred::Tested(tested), ..nothing }
    }

    fn refused(&self, estimate: Result<Estimate, Refused>) -> Result<Estimate, Refusal> {
        estimate.map_err(|refused| match refused {
            Refused::Unknown => Refusal::NoTrial,
            Refused::NoError => Refusal::NoError,
            Refused::Aliased { with } => Refusal::Aliased { with: self.named(&with) },
        })
    }

    /// A step as the model counts levels; none if one of them has no value.
    fn modelled(&self, Step(factor, level, reference): Step) -> Option<Step> {
        let place = |level| self.seen[factor].binary_search(&level).ok();
        Some(Step(factor, place(level)?, place(reference)?))
    }

    fn term(&self, term: linear::Term) -> Term {
        let name = |factor: usize| self.factors.0[factor].0.clone();
        match term {
            linear::Term::Blocks => Term::Blocks,
            linear::Term::Main(factor) => Term::Main(name(factor)),
            linear::Term::TwoWay(one, other) => Term::TwoWay(name(one), name(other)),
        }
    }

    fn named(&self, terms: &[linear::Term]) -> Vec<Term> {
        terms.iter().map(|term| self.term(*term)).collect()
    }
}

/// What of an estimate is beyond what ticks could have made of no difference, with its p.
fn beyond(estimate: &Estimate, resolution: f64) -> Estimate {
    if resolution == 0.0 {
        return *estimate;
    }
    let left = estimate.estimate - infer::nearest_null(estimate.estimate, resolution);
    let p = two_sided_p(left / estimate.se, estimate.df as f64).unwrap_or(1.0);
    Estimate { estimate: left, p, ..*estimate }
}

/// The p of an estimate under the stopping rule; 1 where the rule has no use for a p of Student's.
fn overall(estimate: &Estimate, rule: DecisionRule) -> f64 {
    if rule.mode.takes_p() { rule.mode.overall(estimate.p) } else { 1.0 }
}
