//! Findings as CSV: a line for each variant, workload, condition and metric, with everything that a table has, in base units
//! and unrounded. The verdicts are the words of the JSON, whatever the metric.

use crate::cells::{Lines, number, text};
use bakeoff_command::CommandError;
use bakeoff_judge::findings::{Comparison, Findings, Inferred, Row, Summary, Table, Verdict};
use bakeoff_model::metric::Direction;
use bakeoff_model::record::SharedLine;
use bakeoff_report::words;

/// In the place of a verdict, where there is nothing to compare.
const SAME_PROGRAM: &str = "same_program";

/// The whole file.
pub(crate) fn csv(findings: &Findings) -> Result<String, CommandError> {
    let mut lines = Lines::new(&cells(findings, None, None).map(|(title, _)| title.to_owned()))?;
    if words::one_program(findings).is_some() {
        findings.shared.iter().try_for_each(|one| lines.push(&same_program(findings, one)))?;
    }
    // What building takes is judged apart.
    for findings in std::iter::once(findings).chain(findings.building.as_deref()) {
        for table in &findings.tables {
            for row in table.rows.iter().chain(&table.noise_floor) {
                lines.push(&cells(findings, Some(table), Some(row)).map(|(_, cell)| cell))?;
            }
        }
    }
    lines.finish()
}

/// A variant that is the same program as another one, where nothing was run.
fn same_program(findings: &Findings, one: &SharedLine) -> [String; COLUMNS] {
    cells(findings, None, None).map(|(title, cell)| match title {
        "metric" => text(&findings.method.deciding_metric),
        "deciding" => "true".to_owned(),
        "variant" => text(&one.variant.name),
        "baseline" => text(&one.with),
        "n" | "failed" | "void" => "0".to_owned(),
        "verdict" => SAME_PROGRAM.to_owned(),
        _ => cell,
    })
}

/// The word that a value has in JSON.
fn word(value: impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    match &value {
        serde_json::Value::Object(fields) => fields.keys().next().cloned().unwrap_or_default(),
        value => value.as_str().unwrap_or_default().to_owned(),
    }
}

const COLUMNS: usize = 34;

/// The cells of a row, each with its title; those of what is not known are empty.
fn cells(findings: &Findings, table: Option<&Table>, row: Option<&Row>) -> [(&'static str, String); COLUMNS] {
    let lost = row.zip(table).map(|(row, table)| {
        let lost = findings.failures.iter().find(|lost| {
            (&lost.variant, &lost.workload, &lost.condition) == (&row.variant, &table.workload, &table.condition)
        });
        lost.map_or([0, 0], |lost| [lost.failed, lost.void])
    });
    let summary = row.and_then(|row| row.summary.as_ref());
    let comparison = row.and_then(|row| row.comparison.as_ref());
    let median = summary.and_then(|summary| summary.median_interval);
    let interval = comparison.and_then(Comparison::printed_interval);
    let more_blocks = match comparison.map(|comparison| comparison.verdict) {
        Some(Verdict::Undecided { more_blocks }) => more_blocks,
        _ => None,
    };
    let doubts = comparison.map(|comparison| comparison.caveats.iter().map(|c| c.kind()).collect::<Vec<_>>().join(" "));
    let better = table.map(|table| if table.better == Direction::More { "more" } else { "less" });
    let baseline = table.map(|table| table.rows.first().map_or("", |row| row.variant.as_str()));
    let seen = |of: fn(&Summary) -> f64| number(summary.map(of));
    [
        ("study", text(&findings.study)),
        ("plan", text(&findings.plan)),
        ("workload", any(table.map(|table| text(&table.workload)))),
        ("condition", any(table.map(|table| text(&table.condition)))),
        ("metric", any(table.map(|table| text(&table.metric)))),
        ("unit", any(table.map(|table| word(table.unit)))),
        ("better", any(better)),
        ("deciding", any(table.map(|table| table.metric == findings.method.deciding_metric))),
        ("variant", any(row.map(|row| text(&row.variant)))),
        ("baseline", any(baseline.map(text))),
        ("n", any(row.map(|_| summary.map_or(0, |summary| summary.n)))),
        ("failed", any(lost.map(|[failed, _]| failed))),
        ("void", any(lost.map(|[_, void]| void))),
        ("median", seen(|summary| summary.median)),
        ("median_low", number(median.map(|ends| ends[0]))),
        ("median_high", number(median.map(|ends| ends[1]))),
        ("mean", seen(|summary| summary.mean)),
        ("sd", number(summary.and_then(|summary| summary.sd))),
        ("min", seen(|summary| summary.min)),
        ("q1", seen(|summary| summary.q1)),
        ("q3", seen(|summary| summary.q3)),
        ("max", seen(|summary| summary.max)),
        ("blocks", any(comparison.map(|comparison| comparison.blocks))),
        ("scale", any(comparison.map(|comparison| word(comparison.scale)))),
        ("estimate", number(comparison.map(|comparison| comparison.estimate))),
        ("low", number(interval.map(|ends| ends[0]))),
        ("high", number(interval.map(|ends| ends[1]))),
        ("confidence", number(comparison.filter(|_| interval.is_some()).map(Comparison::shown_confidence))),
        ("p", number(comparison.and_then(Comparison::p_corrected))),
        ("exact", any(comparison.map(|comparison| comparison.inferred == Inferred::Exact))),
        ("verdict", any(comparison.map(|comparison| word(comparison.verdict)))),
        ("more_blocks", any(more_blocks)),
        ("better_in", any(comparison.and_then(|comparison| comparison.better_in))),
        ("doubts", doubts.unwrap_or_default()),
    ]
}

/// A cell of something; empty for nothing.
fn any(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
