//! `[decide]`: the baseline, and how the measurements are judged.

use super::factors::{PlacedFactor, levels};
use super::quantity::percent;
use super::section::Section;
use crate::metric;
use crate::problem::suggest;
use crate::study::{Decide, Levels, Workload};
use std::ops::Range;
use toml::de::DeValue;

const DEFAULT_METRICS: &[&str] = &["wall", "cpu", "maxrss"];
const HARNESS_METRICS: &[&str] = &["sec/op"];

pub(super) fn decide(file: &Section<'_>, factors: &[&PlacedFactor<'_>], workloads: &[Workload]) -> Decide {
    // How long a harness runs is mostly its own choice.
    let all_have_harness = !workloads.is_empty() && workloads.iter().all(|workload| workload.harness.is_some());
    let usual = if all_have_harness { HARNESS_METRICS } else { DEFAULT_METRICS };
    let mut metrics: Vec<String> = usual.iter().map(|&m| m.to_owned()).collect();
    for service in workloads.iter().flat_map(|workload| &workload.services) {
        if !metrics.contains(&format!("{service}.cpu")) {
            metrics.extend(["cpu", "maxrss"].map(|part| format!("{service}.{part}")));
        }
    }
    let mut decide = Decide { metrics, margin: 0.01, confidence: 0.95, ..Decide::default() };
    let Some(section) = file.section("decide") else {
        let remedy =
            "add `[decide]` with `baseline = { factor = \"level\", … }`: the variant to compare the others with";
        file.sink.report(file.span.clone(), "the study names no baseline", "", remedy);
        return decide;
    };
    match section.any("baseline") {
        Some((value, span)) => decide.baseline = baseline(&section, value, span, factors),
        None => {
            let remedy = "name one level of each factor, such as `baseline = { malloc = \"system\" }`";
            section.sink.report(section.span.clone(), "[decide] has no `baseline`", "", remedy);
        }
    }
    if section.has("metrics") {
        decide.metrics = read_metrics(&section, "metrics", workloads);
    }
    if section.has("control") {
        decide.control = controls(&section, workloads, &mut decide.metrics);
    }
    if let Some((text, span)) = section.string("margin") {
        match percent(&text) {
            Some(margin) => decide.margin = margin,
            None => {
                let remedy = "use a percentage above 0 and below 100, such as `margin = \"1%\"`";
                section.sink.report(span, &format!("{text:?} is not a valid margin"), "", remedy);
            }
        }
    }
    if let Some((confidence, span)) = section.float("confidence") {
        if confidence > 0.5 && confidence < 1.0 {
            decide.confidence = confidence;
        } else {
            let remedy = "use a number above 0.5 and below 1, such as `confidence = 0.99`";
            section.sink.report(span, &format!("{confidence} is not a valid confidence"), "", remedy);
        }
    }
    decide.trends = trends(&section, factors);
    let _ = (section.strings("metrics"), section.strings("control"));
    section.finish();
    decide
}

/// One level of every factor: the baseline is always named, never implied by order.
fn baseline(section: &Section<'_>, value: &DeValue<'_>, span: Range<usize>, factors: &[&PlacedFactor<'_>]) -> Levels {
    let named: Vec<&str> =
        value.as_table().map(|t| t.keys().map(|k| k.get_ref().as_ref()).collect()).unwrap_or_default();
    for factor in factors.iter().map(|f| &f.factor).filter(|f| !named.contains(&f.name.as_str())) {
        let known: Vec<&str> = factor.levels.iter().map(|l| l.name.as_str()).collect();
        let remedy = format!("add `{} = \"…\"`, one of {}", factor.name, known.join(", "));
        let message = format!("the baseline has no level for factor `{}`", factor.name);
        section.sink.report(span.clone(), &message, "", &remedy);
    }
    levels(section.sink, value, span, factors)
}

/// Negative controls: they are judged like the others, so they are listed with them.
fn controls(section: &Section<'_>, workloads: &[Workload], metrics: &mut Vec<String>) -> Vec<String> {
    let controls = read_metrics(section, "control", workloads);
    if let Some(first) = metrics.first().filter(|first| controls.contains(first)) {
        let message = format!("`{first}` cannot be both the deciding metric and a control");
        let remedy = "decide on another metric; a control is a metric that should be the same in all variants";
        section.sink.report(section.place_of("control").unwrap_or_default(), &message, "", remedy);
    }
    metrics.extend(controls.iter().filter(|control| !metrics.contains(control)).cloned().collect::<Vec<_>>());
    controls
}

/// Factors whose levels rise: at least three numbers, each above the one before.
fn trends(section: &Section<'_>, factors: &[&PlacedFactor<'_>]) -> Vec<String> {
    let mut trends = vec![];
    for (name, span) in section.strings("trends") {
        let factors = || factors.iter().map(|placed| &placed.factor);
        let Some(factor) = factors().find(|factor| factor.name == name) else {
            let remedy = suggest(&name, factors().map(|factor| factor.name.as_str()));
            section.sink.report(span, &format!("there is no factor `{name}`"), "", &remedy);
            continue;
        };
        let numbers: Option<Vec<f64>> = factor.levels.iter().map(|level| level.name.parse().ok()).collect();
        match numbers {
            Some(numbers) if numbers.len() > 2 && numbers.windows(2).all(|pair| pair[0] < pair[1]) => trends.push(name),
            _ => {
                let remedy = "use at least three levels named by increasing numbers, such as 1, 2 and 4, or remove \
                    the factor from `trends`";
                section.sink.report(span, &format!("cannot show a trend over factor `{name}`"), "", remedy);
            }
        }
    }
    trends
}

fn read_metrics(section: &Section<'_>, key: &'static str, workloads: &[Workload]) -> Vec<String> {
    let mut metrics: Vec<String> = vec![];
    let list = section.strings(key);
    if list.is_empty() {
        let remedy = match key {
            "control" => "write, for example, `control = [\"user\"]`, or remove `control`".to_owned(),
            _ => format!("write, for example, `metrics = {DEFAULT_METRICS:?}`; the first metric decides"),
        };
        section.sink.report(section.span.clone(), &format!("`{key}` needs at least one metric"), "", &remedy);
    }
    for (name, span) in list {
        if let Err(unknown) = metric::find(&name, workloads) {
            section.sink.report(span, &unknown.why, "", &unknown.remedy);
        } else if metrics.contains(&name) {
            section.sink.report(span, &format!("the metric `{name}` is listed twice"), "", "remove one");
        } else {
            metrics.push(name);
        }
    }
    metrics
}
