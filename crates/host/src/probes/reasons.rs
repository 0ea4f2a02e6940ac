//! Why metrics are missing, as the record has it. This file knows no probe.

use bakeoff_model::record::Unavailable;

/// Metrics with their reasons, as a list of reasons with their metrics.
pub(super) fn by_reason<'a>(each: impl IntoIterator<Item = (&'a str, String)>) -> Vec<Unavailable> {
    let mut reasons: Vec<Unavailable> = vec![];
    for (metric, why) in each {
        match reasons.iter_mut().find(|reason| reason.why == why) {
            Some(reason) => reason.metrics.push(metric.to_owned()),
            None => reasons.push(Unavailable { metrics: vec![metric.to_owned()], why }),
        }
    }
    reasons
}
