//! The variants of a plan as points of a space of levels, and the way back.

use crate::space::Space;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::{Levels, Study};

/// A space with more combinations than this, excluded ones included, is not looked at as a whole.
const MOST_COMBINATIONS: usize = 1 << 16;

/// The factors of a plan's variants, each with the levels that occur.
#[derive(Debug, Clone)]
pub(crate) struct Factors(pub(crate) Vec<(String, Vec<String>)>);

impl Factors {
    /// In the order of the study; factors of which all variants have the same level are left out.
    pub(crate) fn of(study: &Study, plan: &Plan) -> Self {
        let levels = |factor: &String| {
            let mut levels: Vec<String> = vec![];
            for level in plan.variants.iter().filter_map(|variant| variant.levels.get(factor)) {
                if !levels.contains(level) {
                    levels.push(level.clone());
                }
            }
            levels
        };
        let names = study.build_factors.iter().chain(&study.run_factors).map(|factor| factor.name.clone());
        Self(names.map(|name| (name.clone(), levels(&name))).filter(|(_, levels)| levels.len() > 1).collect())
    }

    /// All combinations but those that are no variant of the plan, and which variant each of them is. None if there are too
    /// many to look at.
    pub(crate) fn space(&self, plan: &Plan) -> Option<(Space, Vec<usize>)> {
        let counts: Vec<usize> = self.0.iter().map(|(_, levels)| levels.len()).collect();
        let all = counts.iter().try_fold(1_usize, |all, count| all.checked_mul(*count))?;
        if all > MOST_COMBINATIONS {
            return None;
        }
        let point = |levels: &Levels| -> Vec<usize> {
            let place =
                |(name, known): &(String, Vec<String>)| known.iter().position(|level| levels.get(name) == Some(level));
            self.0.iter().filter_map(place).collect()
        };
        let points: std::collections::BTreeMap<Vec<usize>, usize> =
            plan.variants.iter().enumerate().map(|(at, variant)| (point(&variant.levels), at)).collect();
        let space = Space::new(&counts, &|levels| !points.contains_key(levels));
        let variants = space.combinations().iter().filter_map(|combination| points.get(combination).copied()).collect();
        Some((space, variants))
    }

    /// The factors in which a variant differs from the baseline.
    pub(crate) fn changed(&self, plan: &Plan, variant: usize) -> Vec<String> {
        let [own, baseline] = [&plan.variants[variant], plan.baseline()].map(|variant| &variant.levels);
        let names = self.0.iter().map(|(name, _)| name);
        names.filter(|name| own.get(*name) != baseline.get(*name)).cloned().collect()
    }
}

/// The build of each variant of a plan: those that differ in run factors only have the same one.
pub(crate) fn builds(study: &Study, plan: &Plan) -> Vec<usize> {
    let levels = |levels: &Levels| -> Levels {
        let is_built = |factor: &String| study.build_factors.iter().any(|known| known.name == *factor);
        levels.iter().filter(|(factor, _)| is_built(factor)).map(|(f, l)| (f.clone(), l.clone())).collect()
    };
    let all: Vec<Levels> = plan.variants.iter().map(|variant| levels(&variant.levels)).collect();
    all.iter().map(|own| all.iter().position(|first| first == own).unwrap_or(0)).collect()
}

/// The variant that has the baseline's level of these factors; none if the plan has no such variant.
pub(crate) fn reverted(plan: &Plan, variant: usize, factors: &[&String]) -> Option<usize> {
    let mut levels = plan.variants[variant].levels.clone();
    for factor in factors {
        levels.insert((*factor).clone(), plan.baseline().levels.get(*factor)?.clone());
    }
    plan.variants.iter().position(|other| other.levels == levels)
}

/// `factor=level` of a variant.
pub(crate) fn term(plan: &Plan, variant: usize, factor: &str) -> String {
    let level = plan.variants[variant].levels.get(factor).map_or("", String::as_str);
    format!("{factor}={level}")
}
