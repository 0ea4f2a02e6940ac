//! Which contrasts there are beyond the pairs: main effects and interactions where the factors are crossed, suites where
//! there are several workloads, and conditions against the first one. Each is a set of weights, and from there on is
//! judged like a pair; and is corrected within its family.

use super::conclude::conclude_effect;
use super::contrasts::{Cell, Contrasts, Passes, Weights};
use super::fraction::Fraction;
use super::infer;
use super::trials::Trials;
use super::{Rule, Yardstick};
use crate::findings::{Caveat, Effect, Effects, Kind};
use bakeoff_model::metric::{self, Metric};
use bakeoff_model::record::{Record, StudyLine, TWIN, VariantLine};
use bakeoff_model::study::Levels;
use std::collections::{BTreeMap, BTreeSet};

/// A contrast before it is judged.
struct Planned<'a> {
    name: String,
    against: String,
    weights: Weights<'a>,
}

/// All families of a study.
pub(super) fn effects(record: &Record, trials: &Trials<'_>, rule: Rule) -> Vec<Effects> {
    let study = &record.study;
    let factors = Factors::of(study);
    let crossed = factors.are_crossed(study);
    if !crossed && study.workloads.len() < 2 && study.conditions.len() < 2 {
        return vec![];
    }
    let mut families = vec![];
    for known in study.decide.metrics.iter().filter_map(|name| metric::by_name(name, &study.metrics)) {
        let passes = trials.passes(&known.name);
        let decides = study.decide.metrics.first().is_some_and(|name| *name == known.name);
        if crossed {
            for place in places(study) {
                families.extend(factorial(study, &factors, place, (known, decides), &passes, rule));
            }
        }
        if study.workloads.len() > 1 {
            for condition in &study.conditions {
                let place = (None, Some(condition.as_str()));
                families.push(judge(Kind::Suite, place, suite(study, condition), known, &passes, rule));
            }
        }
        for (workload, condition) in places(study).filter(|(_, condition)| *condition != study.conditions[0]) {
            for (kind, planned) in [
                (Kind::Condition, conditions(study, workload, condition)),
                (Kind::ConditionChange, condition_changes(study, workload, condition)),
            ] {
                families.push(judge(kind, (Some(workload), Some(condition)), planned, known, &passes, rule));
            }
        }
    }
    families.retain(|family| !family.effects.is_empty());
    families
}

/// More pairs than these are a wall of numbers; what they say together, the ranking says.
const PAIRS_MAX: usize = 10;

/// Levels of one factor against each other, on the deciding metric: pairs of variants that differ from the baseline in
/// the same single factor. The pairs with the baseline itself stand in the tables. Evidence may need all of them; without
/// it they are told where one factor is all that is varied, and has not too many levels.
pub(super) fn levels(record: &Record, trials: &Trials<'_>, rule: Rule) -> Vec<Effects> {
    let study = &record.study;
    let is_told = match Factors::of(study).0.as_slice() {
        [(_, levels)] => (levels.len() - 1) * levels.len().saturating_sub(2) / 2 <= PAIRS_MAX,
        _ => false,
    };
    if record.evidence.is_empty() && !is_told {
        return vec![];
    }
    let deciding = study.decide.metrics.first().and_then(|name| metric::by_name(name, &study.metrics));
    let Some((known, baseline)) = deciding.zip(variants(study).next()) else { return vec![] };
    let single = |variant: &VariantLine| {
        let mut factors = baseline.levels.iter().filter(|(f, level)| variant.levels.get(*f) != Some(*level));
        factors.next().filter(|_| factors.next().is_none()).map(|(factor, _)| factor.as_str())
    };
    let singles: Vec<(&VariantLine, &str)> = variants(study).filter_map(|v| Some((v, single(v)?))).collect();
    let passes = trials.passes(&known.name);
    let family = |(workload, condition)| {
        let pairs = singles.iter().enumerate().flat_map(|(i, (against, factor))| {
            let others = singles[i + 1..].iter().filter(move |(_, other)| other == factor);
            others.map(move |(variant, _)| (variant.name.as_str(), against.name.as_str()))
        });
        let planned = pairs.map(|(name, against)| Planned {
            name: name.to_owned(),
            against: against.to_owned(),
            weights: [((name, workload, condition), 1.0), ((against, workload, condition), -1.0)].into(),
        });
        judge(Kind::Levels, (Some(workload), Some(condition)), planned.collect(), known, &passes, rule)
    };
    let mut families: Vec<Effects> = places(study).map(family).collect();
    families.retain(|family| !family.effects.is_empty());
    families
}

/// Main effects, and on the deciding metric the interactions and the simple effects: by contrasts where enough passes have all combinations of
/// levels, else by the linear model, without simple effects.
fn factorial(
    study: &StudyLine,
    factors: &Factors,
    (workload, condition): (&str, &str),
    (known, decides): (&Metric, bool),
    passes: &Passes<'_>,
    rule: Rule,
) -> Vec<Effects> {
    let place = (Some(workload), Some(condition));
    if factors.are_complete(study) && mostly_whole(study, (workload, condition), passes) {
        let mains = judge(Kind::Main, place, factors.mains(study, workload, condition), known, passes, rule);
        if !decides {
            return vec![mains];
        }
        let interactions = factors.interactions(study, workload, condition);
        let mut families = vec![mains, judge(Kind::Interaction, place, interactions, known, passes, rule)];
        for (planned, within) in factors.simples(study, workload, condition) {
            let mut family = judge(Kind::Simple, place, planned, known, passes, rule);
            family.effects.iter_mut().zip(within).for_each(|(effect, within)| effect.within = Some(within));
            families.push(family);
        }
        return families;
    }
    let fraction = Fraction::new(factors, study, passes, (workload, condition), rule.margin);
    let family = |kind, effects, aliases| Effects {
        kind,
        workload: Some(workload.to_owned()),
        condition: Some(condition.to_owned()),
        metric: known.name.to_string(),
        unit: known.unit,
        better: known.better,
        aliases,
        effects,
    };
    let mains = family(Kind::Main, fraction.mains(known.better, rule), vec![]);
    let interactions = || family(Kind::Interaction, fraction.interactions(known.better, rule), fraction.aliases());
    if decides { vec![mains, interactions()] } else { vec![mains] }
}

/// Whether at least half of the passes with any value have one of every variant.
fn mostly_whole(study: &StudyLine, (workload, condition): (&str, &str), passes: &Passes<'_>) -> bool {
    let count = |cells: &BTreeMap<Cell<'_>, f64>| {
        variants(study).filter(|v| cells.contains_key(&(v.name.as_str(), workload, condition))).count()
    };
    let counts: Vec<usize> = passes.values().map(count).filter(|count| *count > 0).collect();
    let whole = counts.iter().filter(|count| **count == variants(study).count()).count();
    2 * whole >= counts.len()
}

pub(super) fn places(study: &StudyLine) -> impl Iterator<Item = (&str, &str)> {
    let conditions = |workload| study.conditions.iter().map(move |condition| (workload, condition.as_str()));
    study.workloads.iter().map(String::as_str).flat_map(conditions)
}

pub(super) fn variants(study: &StudyLine) -> impl Iterator<Item = &VariantLine> {
    study.variants.iter().filter(|variant| variant.name != TWIN)
}

/// Infers and concludes a family.
fn judge(
    kind: Kind,
    (workload, condition): (Option<&str>, Option<&str>),
    planned: Vec<Planned<'_>>,
    known: &Metric,
    passes: &Passes<'_>,
    rule: Rule,
) -> Effects {
    let rule = Rule { family: planned.len().max(1) as u32, ..rule };
    let of = |planned: &Planned<'_>| Contrasts::of_cells(passes, &planned.weights, Yardstick::of(known), rule.margin);
    let contrasts: Vec<Contrasts> = planned.iter().map(of).collect();
    let inferences = infer::family(&contrasts, rule);
    let effects = planned.into_iter().zip(contrasts.iter().zip(inferences)).map(|(planned, (contrasts, inference))| {
        let comparison = inference.map(|inference| {
            let mut comparison = conclude_effect(&inference, known.better, rule);
            comparison.caveats.extend([incomplete(contrasts), symmetric(kind)].into_iter().flatten());
            comparison
        });
        Effect { name: planned.name, against: planned.against, within: None, comparison, refused: None }
    });
    let owned = |name: Option<&str>| name.map(str::to_owned);
    Effects {
        kind,
        workload: owned(workload),
        condition: owned(condition),
        metric: known.name.to_string(),
        unit: known.unit,
        better: known.better,
        aliases: vec![],
        effects: effects.collect(),
    }
}

fn incomplete(contrasts: &Contrasts) -> Option<Caveat> {
    let (lost, all) = (contrasts.lost, contrasts.lost as usize + contrasts.values.len());
    (lost > 0).then(|| Caveat {
        kind: "incomplete-blocks".to_owned(),
        text: format!(
            "{lost} of {all} blocks are left out: a trial that the contrast needs failed, is void or is missing"
        ),
    })
}

/// The randomisation makes the two labels of a pair interchangeable; it does not do so for four cells at once.
fn symmetric(kind: Kind) -> Option<Caveat> {
    matches!(kind, Kind::Interaction | Kind::ConditionChange).then(|| Caveat {
        kind: "symmetric-errors".to_owned(),
        text:
            "the test of an interaction assumes that its errors are as often up as down; the random order alone does \
               not see to that"
                .to_owned(),
    })
}

/// The factors that vary, each with its levels; the baseline's first.
pub(super) struct Factors(pub(super) Vec<(String, Vec<String>)>);

impl Factors {
    fn of(study: &StudyLine) -> Self {
        let Some(baseline) = variants(study).next() else { return Self(vec![]) };
        let levels = |factor: &String, reference: &String| {
            let others = variants(study).filter_map(|v| v.levels.get(factor)).filter(|level| *level != reference);
            let mut levels = vec![reference.clone()];
            others.for_each(|level| {
                if !levels.contains(level) {
                    levels.push(level.clone());
                }
            });
            levels
        };
        let all = baseline.levels.iter().map(|(factor, reference)| (factor.clone(), levels(factor, reference)));
        Self(all.filter(|(_, levels)| levels.len() > 1).collect())
    }

    /// Whether some variant differs from the baseline in more than one factor: else the pairs are all there is to say.
    fn are_crossed(&self, study: &StudyLine) -> bool {
        let Some(baseline) = variants(study).next() else { return false };
        let differs = |variant: &VariantLine| {
            self.0.iter().filter(|(factor, _)| variant.levels.get(factor) != baseline.levels.get(factor)).count()
        };
        variants(study).any(|variant| differs(variant) > 1)
    }

    /// Whether every combination of levels takes part.
    fn are_complete(&self, study: &StudyLine) -> bool {
        let there: BTreeSet<&Levels> = variants(study).map(|variant| &variant.levels).collect();
        there.len() == self.0.iter().map(|(_, levels)| levels.len()).product::<usize>()
    }

    /// The cells whose variants have these levels, each with this weight altogether.
    fn weigh<'a>(study: &'a StudyLine, place: (&'a str, &'a str), corners: &[(&[(&str, &str)], f64)]) -> Weights<'a> {
        let mut weights = Weights::new();
        for (levels, weight) in corners {
            let has = |v: &&VariantLine| levels.iter().all(|(f, level)| v.levels.get(*f).is_some_and(|l| l == level));
            let cells: Vec<Cell<'a>> =
                variants(study).filter(has).map(|v| (v.name.as_str(), place.0, place.1)).collect();
            cells.iter().for_each(|cell| *weights.entry(*cell).or_default() += weight / cells.len() as f64);
        }
        weights
    }

    fn mains<'a>(&self, study: &'a StudyLine, workload: &'a str, condition: &'a str) -> Vec<Planned<'a>> {
        let mut planned = vec![];
        for (factor, levels) in &self.0 {
            let Some((reference, others)) = levels.split_first() else { continue };
            for level in others {
                let corners: [(&[(&str, &str)], f64); 2] = [(&[(factor, level)], 1.0), (&[(factor, reference)], -1.0)];
                planned.push(Planned {
                    name: format!("{factor}={level}"),
                    against: format!("{factor}={reference}"),
                    weights: Self::weigh(study, (workload, condition), &corners),
                });
            }
        }
        planned
    }

    /// Each level but the baseline's, within each level of each other factor: a family for level and factor.
    fn simples<'a>(
        &self,
        study: &'a StudyLine,
        workload: &'a str,
        condition: &'a str,
    ) -> Vec<(Vec<Planned<'a>>, Vec<String>)> {
        let mut families = vec![];
        for (f, f_levels) in &self.0 {
            for a in &f_levels[1..] {
                for (g, g_levels) in self.0.iter().filter(|(g, _)| g != f) {
                    let planned = |b: &String| {
                        let corners: [(&[(&str, &str)], f64); 2] =
                            [(&[(f, a), (g, b)], 1.0), (&[(f, &f_levels[0]), (g, b)], -1.0)];
                        Planned {
                            name: format!("{f}={a}"),
                            against: format!("{f}={}", f_levels[0]),
                            weights: Self::weigh(study, (workload, condition), &corners),
                        }
                    };
                    let within = g_levels.iter().map(|b| format!("{g}={b}")).collect();
                    families.push((g_levels.iter().map(planned).collect(), within));
                }
            }
        }
        families
    }

    fn interactions<'a>(&self, study: &'a StudyLine, workload: &'a str, condition: &'a str) -> Vec<Planned<'a>> {
        let mut planned = vec![];
        for (i, (f, f_levels)) in self.0.iter().enumerate() {
            for (g, g_levels) in &self.0[i + 1..] {
                for a in &f_levels[1..] {
                    for b in &g_levels[1..] {
                        let (r, s) = (&f_levels[0], &g_levels[0]);
                        let corners: [(&[(&str, &str)], f64); 4] = [
                            (&[(f, a), (g, b)], 1.0),
                            (&[(f, r), (g, s)], 1.0),
                            (&[(f, a), (g, s)], -1.0),
                            (&[(f, r), (g, b)], -1.0),
                        ];
                        planned.push(Planned {
                            name: format!("{f}={a} × {g}={b}"),
                            against: format!("{f}={r}, {g}={s}"),
                            weights: Self::weigh(study, (workload, condition), &corners),
                        });
                    }
                }
            }
        }
        planned
    }
}

/// Every variant but the baseline against it, over all workloads.
fn suite<'a>(study: &'a StudyLine, condition: &'a str) -> Vec<Planned<'a>> {
    let share = 1.0 / study.workloads.len() as f64;
    against_baseline(study, |variant, sign, weights| {
        for workload in &study.workloads {
            weights.insert((variant, workload.as_str(), condition), sign * share);
        }
    })
}

/// The condition against the first, for every variant.
fn conditions<'a>(study: &'a StudyLine, workload: &'a str, condition: &'a str) -> Vec<Planned<'a>> {
    let reference = study.conditions[0].as_str();
    let planned = |variant: &'a VariantLine| {
        let name = variant.name.as_str();
        let weights = [((name, workload, condition), 1.0), ((name, workload, reference), -1.0)].into();
        Planned { name: format!("{name}: {condition}"), against: reference.to_owned(), weights }
    };
    variants(study).map(planned).collect()
}

/// How far what a variant does to the baseline depends on the condition.
fn condition_changes<'a>(study: &'a StudyLine, workload: &'a str, condition: &'a str) -> Vec<Planned<'a>> {
    let reference = study.conditions[0].as_str();
    let mut planned = against_baseline(study, |variant, sign, weights| {
        weights.insert((variant, workload, condition), sign);
        weights.insert((variant, workload, reference), -sign);
    });
    planned.iter_mut().for_each(|planned| {
        planned.name = format!("{} × {condition}", planned.name);
        planned.against = reference.to_owned();
    });
    planned
}

fn against_baseline<'a>(
    study: &'a StudyLine,
    mut weigh: impl FnMut(&'a str, f64, &mut Weights<'a>),
) -> Vec<Planned<'a>> {
    let mut names = variants(study).map(|variant| variant.name.as_str());
    let Some(baseline) = names.next() else { return vec![] };
    let mut planned = vec![];
    for name in names {
        let mut weights = Weights::new();
        weigh(baseline, -1.0, &mut weights);
        weigh(name, 1.0, &mut weights);
        planned.push(Planned { name: name.to_owned(), against: baseline.to_owned(), weights });
    }
    planned
}
