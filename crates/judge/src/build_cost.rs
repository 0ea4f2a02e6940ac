//! The cost of building, which is measured together with the trials: what building each variant takes and what that
//! gains, where both are decided. A variant is built from the first layer on that is another one than the baseline's;
//! the time of these layers is summed by pass and judged like any pair. A single layer has the verdict of its own table.
//! Doubts about builds are in [`super::builds`].

use super::conclude;
use super::contrasts::Contrasts;
use super::ids::Cell;
use super::infer::{self, Inference};
use super::interim_view::InterimView;
use super::metric_spec::MetricSpec;
use super::rule::DecisionRule;
use super::trials::{Pairs, Trials};
use crate::findings::{BuiltAndExecuted, Claim, Comparison, Findings, Table, Verdict};
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::record::{BuildLine, BuildOutcome, Building, Record};

/// What building is judged by.
const WALL: &str = "wall";

/// One entry for each variant of which both are decided. `building` is the record of building alone, `judged` what its
/// tables say, `findings` what is said of the workloads.
pub(super) fn built_and_executed(building: &Record, judged: &Findings, findings: &Findings) -> Vec<BuiltAndExecuted> {
    let deciding = &findings.method.deciding_metric;
    let Some(table) = findings.tables.iter().find(|table| table.metric == *deciding) else { return vec![] };
    let Some((baseline, others)) = table.rows.split_first() else { return vec![] };
    let layers: Vec<Vec<&str>> =
        others.iter().map(|row| differing(building, findings, &baseline.variant, &row.variant)).collect();
    let variants: Vec<&str> = others.iter().map(|row| row.variant.as_str()).collect();
    let sums = sums(building, &baseline.variant, &variants, &layers);
    let mut all = vec![];
    for ((row, layers), sum) in others.iter().zip(&layers).zip(sums) {
        let cost = match layers.as_slice() {
            [only] => of_layer(judged, only, &row.variant),
            _ => sum,
        };
        let Some((cost, speed)) = cost.zip(row.comparison.as_ref()) else { continue };
        let is_open =
            |comparison: &Comparison| matches!(comparison.verdict, Verdict::Undecided { .. } | Verdict::Withheld);
        if is_open(&cost) || is_open(speed) {
            continue;
        }
        let Table { workload, condition, metric, unit, better, .. } = table.clone();
        let comparison = Comparison { caveats: vec![], ..speed.clone() };
        let size = |name: &str| build_of(findings, name)?.prefix_bytes;
        all.push(BuiltAndExecuted {
            variant: row.variant.clone(),
            layers: layers.iter().map(|layer| layer_name(layer)).collect(),
            building: cost,
            speed: Claim { workload, condition, metric, unit, better, comparison },
            prefix_bytes: size(&baseline.variant).zip(size(&row.variant)).map(|(before, after)| [before, after]),
        });
    }
    all
}

fn build_of<'f>(findings: &'f Findings, variant: &str) -> Option<&'f BuildLine> {
    let mut built = findings.builds.iter().filter(|build| build.outcome == BuildOutcome::Built);
    built.find(|build| build.variants.iter().any(|name| name == variant))
}

/// The name of a layer under which its building is measured, without what says so.
fn layer_name(workload: &str) -> String {
    workload.strip_prefix(&Building::workload_of("")).unwrap_or(workload).to_owned()
}

/// The layers of a variant that are other ones than the baseline's, by the names under which building them is measured;
/// all, if the record does not tell.
fn differing<'r>(building: &'r Record, findings: &Findings, baseline: &str, variant: &str) -> Vec<&'r str> {
    let digest = |variant: &str, layer: &str| {
        let layers = &build_of(findings, variant)?.layers;
        layers.iter().find(|line| Building::workload_of(&line.name) == layer).map(|line| line.digest.clone())
    };
    let is_other = |layer: &&str| match digest(baseline, layer).zip(digest(variant, layer)) {
        Some((before, after)) => before != after,
        None => true,
    };
    building.study.workloads.iter().map(String::as_str).filter(is_other).collect()
}

/// What the table of a layer says of a variant.
fn of_layer(judged: &Findings, layer: &str, variant: &str) -> Option<Comparison> {
    let table = judged.tables.iter().find(|table| table.workload == layer && table.metric == WALL)?;
    let comparison = table.rows.iter().find(|row| row.variant == variant)?.comparison.as_ref()?;
    Some(Comparison { caveats: vec![], ..comparison.clone() })
}

/// What several layers take together, for each of these variants; none where there is but one, or none.
fn sums(building: &Record, baseline: &str, variants: &[&str], layers: &[Vec<&str>]) -> Vec<Option<Comparison>> {
    let view = InterimView::of(building);
    let rule = DecisionRule::of(&building.study, view.mode);
    let trials = Trials::until(building, view.last_pass);
    let (ids, passes) = (&trials.ids, trials.passes(WALL));
    let Some(condition) = building.study.conditions.first() else { return vec![None; variants.len()] };
    let pairs = |variant: &str, layers: &[&str]| {
        let mut pairs = Pairs::default();
        for (number, cells) in &passes {
            let sum = |name: &str| {
                let cell = |layer: &&str| Cell { variant: ids.variant(name), place: ids.place(layer, condition) };
                layers.iter().map(|layer| cells.get(&cell(layer))).sum::<Option<f64>>()
            };
            match sum(baseline).zip(sum(variant)) {
                Some((before, after)) => {
                    pairs.blocks.push(*number);
                    pairs.baseline.push(before);
                    pairs.variant.push(after);
                }
                None => pairs.lost += 1,
            }
        }
        pairs
    };
    let spec = MetricSpec { unit: Some(Unit::Seconds), better: Direction::Less, exact: false, floor: 0.0, step: None };
    // One layer is no sum: there are no pairs, and so nothing is inferred.
    let sums = |(variant, layers): (&&str, &Vec<&str>)| {
        if layers.len() > 1 { pairs(variant, layers) } else { Pairs::default() }
    };
    let all: Vec<Pairs> = variants.iter().zip(layers).map(sums).collect();
    let contrasts: Vec<Contrasts> = all.iter().map(|pairs| Contrasts::of_pairs(pairs, spec, rule.margin)).collect();
    let conclude = |(pairs, inference): (&Pairs, Option<Inference>)| {
        let comparison = conclude::conclude(pairs, &inference?, spec, rule);
        Some(Comparison { caveats: vec![], ..comparison })
    };
    all.iter().zip(infer::family(&contrasts, rule)).map(conclude).collect()
}
