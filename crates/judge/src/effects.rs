//! Contrasts beyond the pairs: main effects and interactions of crossed factors, suites of workloads, and conditions
//! against the first one. Each is a set of weights, judged like a pair, and corrected within its family.

use super::complete::{Design, Outline};
use super::conclude::{conclude_effect, incomplete_blocks};
use super::contrasts::{Contrasts, Planned, Weights};
use super::factors::Factors;
use super::fraction::Fraction;
use super::ids::{Cell, Ids, Place, VariantId};
use super::metric_spec::MetricSpec;
use super::pairs::{EffectInputs, Pairs};
use super::rule::DecisionRule;
use super::study::variants;
use super::trends::trends;
use super::trials::{Passes, Trials};
use super::{infer, outputs, ranking};
use crate::findings::{Caveat, Comparison, Effect, EffectKind, Effects, Ranking, Scale, Subject};
use bakeoff_model::metric::Metric;
use bakeoff_model::record::{Record, StudyLine, TWIN, VariantLine};

/// All families of a study, but for [`levels`].
pub(super) fn families(
    record: &Record,
    trials: &Trials<'_>,
    pairs: EffectInputs<'_>,
    rule: DecisionRule,
) -> Vec<Effects> {
    let study = &record.study;
    let factors = Factors::of(study);
    let crossed = factors.are_crossed(study);
    if !crossed && study.workloads.len() < 2 && study.conditions.len() < 2 && study.decide.trends.is_empty() {
        return vec![];
    }
    let mut families = vec![];
    for known in study.decide.metrics.iter().filter_map(|name| study.metric(name)) {
        let (ids, passes) = (&trials.ids, &trials.passes(&known.name));
        let known = &known;
        let judge = Judge { known, passes, ids, pairs, rule };
        let decides = study.decide.metrics.first().is_some_and(|name| *name == known.name);
        if crossed {
            for place in ids.places(study) {
                families.extend(judge.factorial(study, &factors, place, decides));
            }
        }
        for place in ids.places(study) {
            let (workload, condition) = ids.names(place);
            let planned = trends(study, ids, place);
            families.push(judge.family(EffectKind::Trend, 0, Some(workload), Some(condition), planned));
        }
        for condition in &study.conditions {
            // A workload that does not have the metric says nothing of it.
            let has = |name: &&String| !trials.lacks(ids.place(name, condition), &known.name);
            let workloads: Vec<&str> = study.workloads.iter().filter(has).map(String::as_str).collect();
            if workloads.len() > 1 {
                let planned = suite(study, &workloads, ids, condition);
                let mut family = judge.family(EffectKind::Suite, 0, None, Some(condition), planned);
                let whole = Whole { study, workloads: &workloads, ids, condition, known, passes, seen: pairs.seen };
                family.twin = whole.twin(rule);
                family.ranking = whole.ranking(&family.effects, rule).filter(|_| decides);
                families.push(family);
            }
        }
        let places = ids.places(study).map(|place| ids.names(place));
        for (workload, condition) in places.filter(|(_, condition)| *condition != study.conditions[0]) {
            for (kind, planned) in [
                (EffectKind::Condition, conditions(study, ids, workload, condition)),
                (EffectKind::ConditionChange, condition_changes(study, ids, workload, condition)),
            ] {
                let family = judge.family(kind, 0, Some(workload), Some(condition), planned);
                families.push(Effects { first_condition: study.conditions.first().cloned(), ..family });
            }
        }
    }
    families.retain(|family| !family.effects.is_empty());
    families
}

/// More pairs than these are a wall of numbers; what they say together, the ranking says.
const PAIRS_MAX: usize = 10;

/// Levels of one factor against each other, on the deciding metric: pairs of variants that differ from the baseline in
/// the same single factor. The pairs with the baseline itself stand in the tables. Who looks for causes may need all of
/// them; the report shows them where the study varies one factor only, with few levels.
pub(super) fn levels(
    record: &Record,
    trials: &Trials<'_>,
    pairs: EffectInputs<'_>,
    rule: DecisionRule,
    are_wanted: bool,
) -> Vec<Effects> {
    let study = &record.study;
    let is_listed = match Factors::of(study).0.as_slice() {
        [(_, levels)] => (levels.len() - 1) * levels.len().saturating_sub(2) / 2 <= PAIRS_MAX,
        _ => false,
    };
    if !are_wanted && !is_listed {
        return vec![];
    }
    let deciding = study.decide.metrics.first().and_then(|name| study.metric(name));
    let Some((known, baseline)) = deciding.zip(variants(study).next()) else { return vec![] };
    let singles: Vec<(&VariantLine, &str)> =
        variants(study).filter_map(|variant| Some((variant, only_factor(baseline, variant)?))).collect();
    let (ids, passes) = (&trials.ids, &trials.passes(&known.name));
    let judge = Judge { known: &known, passes, ids, pairs, rule };
    let family = |(workload, condition)| {
        let cell = |name: &str| Cell { variant: ids.variant(name), place: ids.place(workload, condition) };
        let both = singles.iter().enumerate().flat_map(|(i, (against, factor))| {
            let others = singles[i + 1..].iter().filter(move |(_, other)| other == factor);
            others.map(move |(variant, _)| (variant.name.as_str(), against.name.as_str()))
        });
        let planned = both.map(|(name, against)| Planned {
            subject: Subject::Variant { variant: name.to_owned(), against: against.to_owned() },
            weights: [(cell(name), 1.0), (cell(against), -1.0)].into(),
        });
        judge.family(EffectKind::Levels, 0, Some(workload), Some(condition), planned.collect())
    };
    let mut families: Vec<Effects> = ids.places(study).map(|place| family(ids.names(place))).collect();
    families.retain(|family| !family.effects.is_empty());
    families
}

/// The factor by which a variant differs from the baseline; none if there are several.
fn only_factor<'a>(baseline: &'a VariantLine, variant: &VariantLine) -> Option<&'a str> {
    let mut factors = baseline.levels.iter().filter(|(f, level)| variant.levels.get(*f) != Some(*level));
    factors.next().filter(|_| factors.next().is_none()).map(|(factor, _)| factor.as_str())
}

/// What the contrasts of one metric are judged with.
#[derive(Clone, Copy)]
struct Judge<'a> {
    known: &'a Metric,
    passes: &'a Passes,
    ids: &'a Ids<'a>,
    pairs: EffectInputs<'a>,
    rule: DecisionRule,
}

impl Judge<'_> {
    /// Main effects, and on the deciding metric the interactions and the simple effects: by contrasts of the combinations that
    /// are there ([`super::complete`]), and by the linear model what these cannot tell.
    fn factorial(self, study: &StudyLine, factors: &Factors, place: Place, decides: bool) -> Vec<Effects> {
        let Self { known, passes, ids, pairs, rule } = self;
        let (workload, condition) = ids.names(place);
        let design = Design::new(study, factors, ids, place, passes);
        let mut fraction = None;
        let mut family = |kind: EffectKind, outlines: Vec<Outline>| {
            let (planned, details): (Vec<_>, Vec<_>) = outlines.into_iter().map(Outline::split).unzip();
            let judged = |elsewhere| self.family(kind, elsewhere, Some(workload), Some(condition), planned.clone());
            let mut family = judged(0);
            let open: Vec<Subject> = family
                .effects
                .iter()
                .zip(&details)
                .filter(|(effect, detail)| effect.comparison.is_none() && detail.refused.is_none())
                .filter(|_| kind != EffectKind::Simple)
                .map(|(effect, _)| effect.subject.clone())
                .collect();
            if !open.is_empty() {
                let spec = MetricSpec::of(known, pairs.seen);
                let fraction = fraction
                    .get_or_insert_with(|| Fraction::new(factors, study, passes, ids, place, spec, rule.margin));
                // What neither can tell takes no part of alpha from the others.
                let estimable = fraction.estimable(kind, &open);
                if estimable > 0 {
                    family = judged(estimable);
                }
                let size = family.effects.iter().filter(|effect| effect.comparison.is_some()).count() + estimable;
                let modelled = fraction.effects(kind, DecisionRule { family: size as u32, ..rule }, &open);
                for effect in modelled {
                    let same = family.effects.iter_mut().filter(|known| known.subject == effect.subject);
                    same.for_each(|known| *known = effect.clone());
                }
                if kind == EffectKind::Interaction {
                    family.aliases = fraction.aliases();
                }
            }
            for (effect, detail) in family.effects.iter_mut().zip(details) {
                (effect.within, effect.over) = (detail.within, detail.over);
                if effect.refused.is_none() {
                    effect.refused = detail.refused.filter(|_| effect.comparison.is_none());
                }
            }
            family
        };
        let mut families = vec![family(EffectKind::Main, design.mains())];
        if decides {
            families.push(family(EffectKind::Interaction, design.interactions()));
            families.extend(design.simples().into_iter().map(|outlines| family(EffectKind::Simple, outlines)));
        }
        families
    }

    /// Infers and concludes a family. A contrast that is a pair has its verdict already, and is no member of it.
    ///
    /// `elsewhere` is the number of members that are judged by other means.
    fn family(
        self,
        kind: EffectKind,
        elsewhere: usize,
        workload: Option<&str>,
        condition: Option<&str>,
        planned: Vec<Planned>,
    ) -> Effects {
        let Self { known, passes, ids, pairs, rule } = self;
        let as_pair = |planned: &Planned| {
            let (place, variant, against) = planned.pair()?;
            pairs.get(&known.name, ids, place, variant, against)
        };
        let as_pairs: Vec<Option<Comparison>> = planned.iter().map(as_pair).collect();
        let members: Vec<&Planned> =
            planned.iter().zip(&as_pairs).filter(|(_, pair)| pair.is_none()).map(|(planned, _)| planned).collect();
        let size = members.iter().filter(|planned| !planned.weights.is_empty()).count() + elsewhere;
        let rule = DecisionRule { family: size.max(1) as u32, ..rule };
        let all: Vec<f64> = passes.values().flat_map(|pass| pass.values().copied()).collect();
        let spec = MetricSpec::of(known, pairs.seen).on_grid_of(&all);
        let of = |planned: &&Planned| Contrasts::of_cells(passes, &planned.weights, spec, rule.margin);
        let contrasts: Vec<Contrasts> = members.iter().map(of).collect();
        let inferences = infer::infer_family(&contrasts, elsewhere, rule);
        let mut judged = contrasts.iter().zip(inferences).map(|(contrasts, inference)| {
            let mut comparison = conclude_effect(&inference?, spec, rule);
            comparison.caveats.extend(
                [incomplete_blocks(contrasts.lost, contrasts.values.len(), false), symmetric(kind)]
                    .into_iter()
                    .flatten(),
            );
            Some(comparison)
        });
        let of_variants = matches!(
            kind,
            EffectKind::Suite | EffectKind::Levels | EffectKind::Condition | EffectKind::ConditionChange
        );
        let effects = planned.into_iter().zip(as_pairs).map(|(planned, pair)| {
            let comparison = pair.or_else(|| judged.next().flatten());
            let is_open = comparison.is_none() && of_variants;
            let refused = is_open.then(|| outputs::lacking(pairs.outputs, ids, &planned.weights)).flatten();
            Effect { subject: planned.subject, within: None, over: None, comparison, refused }
        });
        let effects = effects.collect();
        Effects {
            kind,
            workload: workload.map(str::to_owned),
            condition: condition.map(str::to_owned),
            first_condition: None,
            metric: known.name.to_string(),
            unit: known.unit,
            better: known.better,
            aliases: vec![],
            effects,
            twin: None,
            ranking: None,
        }
    }
}

/// The randomisation makes the two labels of a pair interchangeable; it does not do so for four cells at once.
fn symmetric(kind: EffectKind) -> Option<Caveat> {
    matches!(kind, EffectKind::Interaction | EffectKind::ConditionChange).then_some(Caveat::SymmetricErrors)
}

/// Every variant but the baseline against it, over all workloads.
fn suite(study: &StudyLine, workloads: &[&str], ids: &Ids<'_>, condition: &str) -> Vec<Planned> {
    let share = 1.0 / workloads.len() as f64;
    against_baseline(study, ids, |variant, sign, weights| {
        for workload in workloads {
            weights.insert(Cell { variant, place: ids.place(workload, condition) }, sign * share);
        }
    })
}

/// The condition against the first, for every variant.
fn conditions(study: &StudyLine, ids: &Ids<'_>, workload: &str, condition: &str) -> Vec<Planned> {
    let reference = study.conditions[0].as_str();
    let planned = |variant: &VariantLine| {
        let name = variant.name.as_str();
        let cell = |condition: &str| Cell { variant: ids.variant(name), place: ids.place(workload, condition) };
        let weights = [(cell(condition), 1.0), (cell(reference), -1.0)].into();
        let (variant, condition, against) = (name.to_owned(), condition.to_owned(), reference.to_owned());
        Planned { subject: Subject::Condition { variant, condition, against }, weights }
    };
    variants(study).map(planned).collect()
}

/// How far what a variant does to the baseline depends on the condition.
fn condition_changes(study: &StudyLine, ids: &Ids<'_>, workload: &str, condition: &str) -> Vec<Planned> {
    let reference = study.conditions[0].as_str();
    against_baseline(study, ids, |variant, sign, weights| {
        weights.insert(Cell { variant, place: ids.place(workload, condition) }, sign);
        weights.insert(Cell { variant, place: ids.place(workload, reference) }, -sign);
    })
}

/// A suite under one condition, beyond its variants against the baseline.
struct Whole<'a> {
    study: &'a StudyLine,
    workloads: &'a [&'a str],
    ids: &'a Ids<'a>,
    condition: &'a str,
    known: &'a Metric,
    passes: &'a Passes,
    seen: Option<f64>,
}

impl Whole<'_> {
    /// A variant against another one over all workloads.
    fn contrasts(&self, variant: VariantId, against: VariantId, margin: f64) -> Contrasts {
        let share = 1.0 / self.workloads.len() as f64;
        let mut weights = Weights::new();
        for workload in self.workloads {
            let place = self.ids.place(workload, self.condition);
            weights.insert(Cell { variant, place }, share);
            weights.insert(Cell { variant: against, place }, -share);
        }
        Contrasts::of_cells(self.passes, &weights, self.spec(), margin)
    }

    fn spec(&self) -> MetricSpec {
        let all: Vec<f64> = self.passes.values().flat_map(|pass| pass.values().copied()).collect();
        MetricSpec::of(self.known, self.seen).on_grid_of(&all)
    }

    /// The baseline's twin against it, like the twin of a table: alone.
    fn twin(&self, rule: DecisionRule) -> Option<Comparison> {
        let baseline = variants(self.study).next()?;
        let contrasts = self.contrasts(self.ids.variant(TWIN), self.ids.variant(&baseline.name), rule.margin);
        let rule = DecisionRule { family: 1, ..rule };
        let inference = infer::infer_family(&[contrasts], 0, rule).pop().flatten()?;
        Some(conclude_effect(&inference, self.spec(), rule))
    }

    /// All pairs, those with the baseline as the suite has them.
    fn ranking(&self, effects: &[Effect], rule: DecisionRule) -> Option<Ranking> {
        let baseline = self.ids.variant(&variants(self.study).next()?.name);
        let others = effects.iter().filter_map(|effect| Some((effect.variant()?, Some(effect.comparison.as_ref()?))));
        let others = others.map(|(variant, comparison)| (self.ids.variant(variant), comparison));
        let rows: Vec<(VariantId, Option<&Comparison>)> = [(baseline, None)].into_iter().chain(others).collect();
        let contrasts = |first: VariantId, second: VariantId| self.contrasts(second, first, rule.margin);
        let pairs = Pairs::of(&rows, &contrasts, self.ids, self.spec(), rule)?;
        let estimate = |variant: VariantId| {
            let own = rows.iter().find(|(id, _)| *id == variant).and_then(|(_, comparison)| *comparison);
            own.map_or(1.0, |comparison| comparison.estimate)
        };
        let is_ratio = rows.iter().all(|(_, c)| c.is_none_or(|comparison| comparison.scale == Scale::Ratio));
        is_ratio.then(|| ranking::ranking(&pairs, &estimate, self.ids, self.known.better)).flatten()
    }
}

fn against_baseline(
    study: &StudyLine,
    ids: &Ids<'_>,
    mut weigh: impl FnMut(VariantId, f64, &mut Weights),
) -> Vec<Planned> {
    let mut names = variants(study).map(|variant| variant.name.as_str());
    let Some(baseline) = names.next() else { return vec![] };
    let mut planned = vec![];
    for name in names {
        let mut weights = Weights::new();
        let (variant, against) = (ids.variant(name), ids.variant(baseline));
        weigh(against, -1.0, &mut weights);
        weigh(variant, 1.0, &mut weights);
        let subject = Subject::Variant { variant: name.to_owned(), against: baseline.to_owned() };
        planned.push(Planned { subject, weights });
    }
    planned
}
