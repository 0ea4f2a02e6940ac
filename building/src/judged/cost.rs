//! The cost of building, which is measured together with the trials: what building each variant takes and what that
//! gains, where both are decided. A variant is built from the first layer on that is another one than the baseline's;
//! the time of these layers is summed by pass and judged like any pair. A single layer has the verdict of its own table.

use crate::journal::{BuildLine, BuildOutcome};
use bakeoff_judge::findings::{Claim, Comparison, Findings, Table, Verdict};
use bakeoff_judge::sums;
use bakeoff_model::record::{Building, Record};
use serde::{Deserialize, Serialize};

/// What building is judged by.
const WALL: &str = "wall";

/// What building a variant takes and what it gains, both against the baseline, and both decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct BuiltAndExecuted {
    pub variant: String,
    /// The layers that are other ones than the baseline's, in their order.
    pub layers: Vec<String>,
    /// Elapsed time of building these layers, summed by pass.
    pub building: Comparison,
    /// The deciding metric on the first workload, under the first condition.
    pub speed: Claim,
    /// Sizes of the finished prefixes in bytes, the baseline's first; none if the record does not tell.
    pub prefix_bytes: Option<[u64; 2]>,
}

/// One entry for each variant of which both are decided. `builds` are the latest of the record.
pub(super) fn built_and_executed(record: &Record, builds: &[BuildLine], findings: &Findings) -> Vec<BuiltAndExecuted> {
    let Some((building, judged)) = record.of_building().zip(findings.building.as_deref()) else { return vec![] };
    let deciding = &findings.method.deciding_metric;
    let Some(table) = findings.tables.iter().find(|table| table.metric == *deciding) else { return vec![] };
    let Some((baseline, others)) = table.rows.split_first() else { return vec![] };
    let layers: Vec<Vec<&str>> =
        others.iter().map(|row| differing(&building, builds, &baseline.variant, &row.variant)).collect();
    let variants: Vec<&str> = others.iter().map(|row| row.variant.as_str()).collect();
    let sums = sums(&building, &baseline.variant, &variants, &layers);
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
        let size = |name: &str| build_of(builds, name)?.prefix_bytes;
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

fn build_of<'b>(builds: &'b [BuildLine], variant: &str) -> Option<&'b BuildLine> {
    let mut built = builds.iter().filter(|build| build.outcome == BuildOutcome::Built);
    built.find(|build| build.variants.iter().any(|name| name == variant))
}

/// The name of a layer under which its building is measured, without what says so.
fn layer_name(workload: &str) -> String {
    workload.strip_prefix(&Building::workload_of("")).unwrap_or(workload).to_owned()
}

/// The layers of a variant that are other ones than the baseline's, by the names under which building them is measured;
/// all, if the record does not tell.
fn differing<'r>(building: &'r Record, builds: &[BuildLine], baseline: &str, variant: &str) -> Vec<&'r str> {
    let digest = |variant: &str, layer: &str| {
        let layers = &build_of(builds, variant)?.layers;
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
