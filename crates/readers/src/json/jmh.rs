//! JMH's JSON (`-rf json`): its primary score, one value for each fork. What profilers add is not read.

use super::place::{Labels, in_a_second, means, with_parameters};
use super::{Better, Error, Gathered, Options, Origin};
use serde::Deserialize;
use std::collections::BTreeMap;

/// One method with one set of parameters.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an entry of JMH's JSON")]
pub(super) struct Entry {
    // Spelled so because the word itself is not used here (docs/understanding/terms.md).
    #[serde(rename = "\u{62}enchmark")]
    name: String,
    mode: String,
    #[serde(default)]
    threads: Option<u32>,
    #[serde(default)]
    params: BTreeMap<String, String>,
    primary_metric: Metric,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    score_unit: String,
    /// A list for each fork.
    #[serde(default)]
    raw_data: Option<Vec<Vec<f64>>>,
}

/// The unit in base units, and what a value in it is divided by.
fn base(unit: &str) -> (String, f64) {
    match unit.split_once('/') {
        Some(("ops", time)) => in_a_second(time).map(|parts| ("ops/s".to_owned(), 1.0 / parts)),
        Some((time, "op")) => in_a_second(time).map(|parts| ("sec/op".to_owned(), parts)),
        _ => None,
    }
    .unwrap_or_else(|| (unit.to_owned(), 1.0))
}

pub(super) fn read(entry: Entry, origin: &Origin<'_>, options: &Options, gathered: &mut Gathered) -> Result<(), Error> {
    let Entry { name, mode, threads, params, primary_metric } = entry;
    let (unit, divisor) = base(&primary_metric.score_unit);
    let better = if mode == "thrpt" { Better::More } else { Better::Less };
    let threads = threads.map(|threads| ("threads".to_owned(), threads.to_string()));
    let settings = [("mode".to_owned(), mode.clone())].into_iter().chain(threads).collect();
    let full = with_parameters(&name, params.iter());
    let place =
        Labels { name: &name, full, stem: Some(&name), file: origin.label, unit: &unit, parameters: params, settings };
    if !options.wants(&place) {
        return Ok(());
    }
    let forks: Vec<Vec<f64>> = primary_metric.raw_data.unwrap_or_default();
    if forks.iter().all(Vec::is_empty) {
        let message = format!("`{}` has no values from its forks (mode {mode})", place.full);
        return Err(origin.whole(&message, "use mode thrpt, avgt or ss (-bm); JMH keeps the values in these modes"));
    }
    let forks: Vec<&[f64]> = forks.iter().map(Vec::as_slice).collect();
    for mean in means("JMH", "fork", &forks, gathered) {
        gathered.add(options, &place, &unit, better, mean / divisor);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_base_units() {
        let check = |unit: &str, expect: &str, divisor: f64| {
            assert_eq!(base(unit), (expect.to_owned(), divisor), "{unit}");
        };
        check("ops/ms", "ops/s", 1e-3);
        check("ops/s", "ops/s", 1.0);
        check("us/op", "sec/op", 1e6);
        check("min/op", "sec/op", 1.0 / 60.0);
        check("#/op", "#/op", 1.0);
        check("MB/sec", "MB/sec", 1.0);
    }
}
