//! Findings as CSV: a line for each variant, workload, condition and metric, with everything that a table has, in base units
//! and unrounded. The verdicts are the words of the JSON, whatever the metric.

use crate::cells::{Lines, number, text};
use bakeoff_command::CommandError;
use bakeoff_judge::findings::{Comparison, Findings, Inferred, Row, Table, Verdict};
use bakeoff_model::metric::Direction;
use bakeoff_model::record::SharedLine;
use bakeoff_report::words;

const TITLES: [&str; 34] = [
    "study",
    "plan",
    "workload",
    "condition",
    "metric",
    "unit",
    "better",
    "deciding",
    "variant",
    "baseline",
    "n",
    "failed",
    "void",
    "median",
    "median_low",
    "median_high",
    "mean",
    "sd",
    "min",
    "q1",
    "q3",
    "max",
    "blocks",
    "scale",
    "estimate",
    "low",
    "high",
    "confidence",
    "p",
    "exact",
    "verdict",
    "more_blocks",
    "better_in",
    "doubts",
];

/// In the place of a verdict, where there is nothing to compare.
const SAME_PROGRAM: &str = "same_program";

/// The whole file.
pub(crate) fn csv(findings: &Findings) -> Result<String, CommandError> {
    let mut lines = Lines::new(&TITLES.map(str::to_owned))?;
    if words::one_program(findings).is_some() {
        findings.shared.iter().try_for_each(|one| lines.push(&same_program(findings, one)))?;
    }
    // What building takes is judged apart.
    for findings in std::iter::once(findings).chain(findings.building.as_deref()) {
        for table in &findings.tables {
            for row in table.rows.iter().chain(&table.noise_floor) {
                let mut cells = place(findings, table, row);
                cells.extend(values(findings, table, row));
                cells.extend(compared(row.comparison.as_ref()));
                lines.push(&cells)?;
            }
        }
    }
    lines.finish()
}

/// A variant that is the same program as another one, where nothing was executed.
fn same_program(findings: &Findings, one: &SharedLine) -> Vec<String> {
    let cell = |title: &&str| match *title {
        "study" => text(&findings.study),
        "plan" => text(&findings.plan),
        "metric" => text(&findings.method.deciding_metric),
        "deciding" => "true".to_owned(),
        "variant" => text(&one.variant.name),
        "baseline" => text(&one.with),
        "n" | "failed" | "void" => "0".to_owned(),
        "verdict" => SAME_PROGRAM.to_owned(),
        _ => String::new(),
    };
    TITLES.iter().map(cell).collect()
}

/// The word that a value has in JSON.
fn word(value: impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    match &value {
        serde_json::Value::Object(fields) => fields.keys().next().cloned().unwrap_or_default(),
        value => value.as_str().unwrap_or_default().to_owned(),
    }
}

fn place(findings: &Findings, table: &Table, row: &Row) -> Vec<String> {
    let baseline = table.rows.first().map_or("", |row| row.variant.as_str());
    let is_deciding = table.metric == findings.method.deciding_metric;
    vec![
        text(&findings.study),
        text(&findings.plan),
        text(&table.workload),
        text(&table.condition),
        text(&table.metric),
        word(table.unit),
        if table.better == Direction::More { "more" } else { "less" }.to_owned(),
        is_deciding.to_string(),
        text(&row.variant),
        text(baseline),
    ]
}

fn values(findings: &Findings, table: &Table, row: &Row) -> Vec<String> {
    let lost = findings.failures.iter().find(|lost| {
        (&lost.variant, &lost.workload, &lost.condition) == (&row.variant, &table.workload, &table.condition)
    });
    let [failed, void] = lost.map_or([0, 0], |lost| [lost.failed, lost.void]);
    let summary = row.summary.as_ref();
    let end = |at: usize| number(summary.and_then(|s| s.median_interval).map(|interval| interval[at]));
    vec![
        summary.map_or(0, |summary| summary.n).to_string(),
        failed.to_string(),
        void.to_string(),
        number(summary.map(|s| s.median)),
        end(0),
        end(1),
        number(summary.map(|s| s.mean)),
        number(summary.and_then(|s| s.sd)),
        number(summary.map(|s| s.min)),
        number(summary.map(|s| s.q1)),
        number(summary.map(|s| s.q3)),
        number(summary.map(|s| s.max)),
    ]
}

fn compared(comparison: Option<&Comparison>) -> Vec<String> {
    let Some(comparison) = comparison else { return vec![String::new(); 12] };
    let interval = comparison.printed_interval();
    let more_blocks = match comparison.verdict {
        Verdict::Undecided { more_blocks } => more_blocks,
        _ => None,
    };
    let doubts: Vec<&str> = comparison.caveats.iter().map(|caveat| caveat.kind()).collect();
    let count = |count: Option<u32>| count.map_or_else(String::new, |count| count.to_string());
    vec![
        comparison.blocks.to_string(),
        word(comparison.scale),
        comparison.estimate.to_string(),
        number(interval.map(|interval| interval[0])),
        number(interval.map(|interval| interval[1])),
        interval.map_or_else(String::new, |_| comparison.shown_confidence().to_string()),
        number(comparison.p_corrected()),
        (comparison.inferred == Inferred::Exact).to_string(),
        word(comparison.verdict),
        count(more_blocks),
        count(comparison.better_in),
        doubts.join(" "),
    ]
}
