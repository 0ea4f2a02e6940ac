//! Building against speed: a sentence for each variant of which both were decided, with the interval of each. The rest
//! stands in the tables only.

use crate::draw::text::{clean, glue};
use crate::format::{bytes, percent};
use crate::words::{self, Change, Wording, counted, listed, subject};
use bakeoff_judge::findings::{BuiltAndExecuted, Claim, Comparison, Findings, Scale, Verdict};
use bakeoff_model::metric::Unit;

/// Of more variants than this, the rest is only counted.
const VARIANTS_MAX: usize = 8;

/// One paragraph with all of them; none if building was not measured, or nothing was decided.
pub(super) fn sentences(findings: &Findings) -> Option<String> {
    let all = &findings.built_and_executed;
    let shown = if all.len() > VARIANTS_MAX + 1 { VARIANTS_MAX } else { all.len() };
    let mut sentences: Vec<String> = all[..shown].iter().map(|one| sentence(findings, one)).collect();
    if shown < all.len() {
        sentences.push(format!("Of {} more the tables tell.", counted((all.len() - shown) as u32, "variant")));
    }
    (!sentences.is_empty()).then(|| {
        let confidence = glue(&percent(findings.method.confidence));
        format!("Built and executed (intervals at {confidence}): {}", sentences.join(" "))
    })
}

fn sentence(findings: &Findings, one: &BuiltAndExecuted) -> String {
    let baseline = findings.variants.first().map_or(String::new(), |variant| subject(&clean(&variant.name)));
    let size = one.prefix_bytes.map_or(String::new(), |[before, after]| {
        let [before, after] = [before, after].map(|size| glue(&bytes(size as f64)));
        if before == after {
            format!("; both take {after}")
        } else {
            format!("; it takes {after}, {baseline} {before}")
        }
    });
    let name = clean(&one.variant);
    format!("{name} {} and {}{size}.", built(findings, one, &baseline), executed(findings, &one.speed))
}

fn range(range: Option<String>) -> String {
    range.map_or(String::new(), |range| format!(" ({})", glue(&range)))
}

fn margin(findings: &Findings) -> String {
    glue(&format!("±{}", percent(findings.method.margin)))
}

/// `builds in 52.0 % of the baseline's time (50.1 … 54.0 %)`; where it is built upon layers of the baseline, which of them
/// that is about.
fn built(findings: &Findings, one: &BuiltAndExecuted, baseline: &str) -> String {
    let comparison = &one.building;
    let measured = findings.building.iter().flat_map(|building| &building.tables).map(|table| &table.workload);
    let mut layers: Vec<&String> = measured.collect();
    layers.dedup();
    let is_part = one.layers.len() < layers.len();
    let of = listed(&one.layers.iter().map(|layer| clean(layer)).collect::<Vec<_>>());
    let what = if is_part { format!("builds ({of})") } else { "builds".to_owned() };
    let change = Change::of(comparison, Unit::Seconds);
    match (comparison.verdict, comparison.scale) {
        (Verdict::Equivalent, _) => format!("{what} in {baseline}'s time within {}", margin(findings)),
        (_, Scale::Ratio) => {
            let (share, interval) = change.share();
            format!("{what} in {} of {baseline}'s time{}", glue(&share), range(interval))
        }
        (_, Scale::Difference) => {
            let word = Wording::of(Unit::Seconds, bakeoff_model::metric::Direction::Less).direction(&change);
            format!("{what} {} {word}{}", glue(&change.amount()), range(change.range()))
        }
    }
}

/// `is 17.0 % faster in wall time on loop (15.3 … 18.9 %)`.
fn executed(findings: &Findings, claim: &Claim) -> String {
    let Claim { workload, metric, unit, better, comparison, .. } = claim;
    let Comparison { verdict, .. } = comparison;
    let (wording, change) = (Wording::of(*unit, *better), Change::of(comparison, *unit));
    let (metric, place) = (words::metric(metric), clean(workload));
    if *verdict == Verdict::Equivalent {
        return format!("is equivalent in {metric} on {place} within {}", margin(findings));
    }
    let (amount, word, [verb, _]) = (glue(&change.amount()), wording.direction(&change), wording.verb());
    let what = if wording.takes_is() { format!("{word} in {metric}") } else { format!("{word} {metric}") };
    let remark = if *verdict == Verdict::Negligible { ", which is negligible," } else { "" };
    format!("{verb} {amount} {what}{remark} on {place}{}", range(change.range()))
}
