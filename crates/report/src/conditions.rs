//! The conditions: whether each of their parts was held, observed or not to be had, with load and throughput.

use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::text::{clean, glue};
use crate::format::{decimals_of, fitting, fixed, percent, units};
use crate::words::counted;
use bakeoff_judge::findings::{ConditionParts, Findings, Part, Summary, Watched};
use bakeoff_model::metric::{Unit, by_name};
use bakeoff_model::record::Held;

/// Metrics that are shares of a whole: shown in percent.
const SHARES: &[&str] = &["steal", "foreign_cpu"];
const DIGITS: usize = 3;

pub(crate) fn print(findings: &Findings, page: &mut Page, columns: usize) {
    if findings.conditions.is_empty() {
        return;
    }
    page.gap();
    let confidence = percent(findings.method.confidence);
    page.line(vec![Piece::new(format!("conditions; medians [{confidence} intervals]"), Ink::Heading)]);
    for condition in &findings.conditions {
        let ConditionParts { condition, parts, watched } = condition;
        page.line(vec![Piece::plain(clean(condition))]);
        for part in parts {
            let (text, ink) = of_part(findings, part);
            page.paragraph(format!("  {text}"), columns, 4, ink);
        }
        for one in watched {
            page.paragraph(format!("  {}", measured(one)), columns, 4, Ink::Plain);
        }
    }
}

/// What a part of a condition was, in a sentence, and its ink.
pub fn of_part(findings: &Findings, part: &Part) -> (String, Ink) {
    let what = clean(&part.what);
    let in_some = if part.sessions == part.of {
        String::new()
    } else {
        format!(" in {} of {}", part.sessions, counted(part.of, "session"))
    };
    match &part.state {
        Held::Held => (format!("held{in_some}: {what}"), Ink::Plain),
        Held::Observed(metric) => {
            let own = findings.metrics.iter().find(|known| known.name == *metric);
            let unit = own.or_else(|| by_name(metric, &[])).map_or(Unit::Count, |known| known.unit);
            let value = part.observed.as_ref().map_or("not measured".to_owned(), |seen| typical(seen, metric, unit));
            (format!("observed{in_some}, not enforced: {what}: {} {value}", clean(metric)), Ink::Plain)
        }
        Held::Unavailable(why) => {
            (format!("unavailable{in_some}: {what} ({}); trials ran without it", clean(why)), Ink::Open)
        }
    }
}

fn measured(watched: &Watched) -> String {
    let Watched { workload, metric, what, unit, all, variants, .. } = watched;
    let values: Vec<String> = match variants.as_slice() {
        [] => vec![typical(all, metric, *unit)],
        several => several
            .iter()
            .map(|one| format!("{} {}", clean(&one.variant), typical(&one.summary, metric, *unit)))
            .collect(),
    };
    format!("{}: {}, {}: {}", clean(workload), clean(metric), clean(what), values.join("; "))
}

/// Median, interval and number of trials: `8.00 /s [7.98, 8.03], n 36`.
fn typical(summary: &Summary, metric: &str, unit: Unit) -> String {
    let (size, name) = if SHARES.contains(&metric) { (0.01, "%") } else { fitting(summary.median, units(unit)) };
    let ends = summary.median_interval.into_iter().flatten();
    let largest = ends.chain([summary.median]).map(|x| (x / size).abs()).fold(0.0, f64::max);
    let decimals = if largest == 0.0 { 0 } else { decimals_of(largest, DIGITS) };
    let write = |value: f64| fixed(value / size, decimals);
    let interval =
        summary.median_interval.map_or("[none]".to_owned(), |[low, high]| format!("[{}, {}]", write(low), write(high)));
    let unit = if name.is_empty() { String::new() } else { format!(" {name}") };
    glue(&format!("{}{unit} {interval}, n {}", write(summary.median), summary.n))
}
