//! Why metrics are missing, as the record has it. This file knows no probe.

use bakeoff_model::grouped::grouped;
use bakeoff_model::record::Unavailable;

/// Metrics with their reasons, as a list of reasons with their metrics.
pub(super) fn by_reason<'a>(each: impl IntoIterator<Item = (&'a str, String)>) -> Vec<Unavailable> {
    let reasons = grouped(each.into_iter().map(|(metric, why)| (why, metric.to_owned())));
    reasons.into_iter().map(|(why, metrics)| Unavailable { metrics, why }).collect()
}
