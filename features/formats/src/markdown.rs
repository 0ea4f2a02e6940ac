//! Findings in Markdown, for a pull request: the answer, a line for each variant, the doubts, and everything else folded. What
//! it claims is what the screen claims (`bakeoff_report::brief`). Names and values of others are text and nothing else.

mod details;
mod escape;

use bakeoff_command::Concluded;
use bakeoff_judge::findings::{Findings, Scale, Verdict};
use bakeoff_model::metric::Unit;
use bakeoff_report::draw::rendered::Rendered;
use bakeoff_report::draw::text::unglue;
use bakeoff_report::format::{asked_or_fitting, percent};
use bakeoff_report::{Brief, BriefRow, Context, TimeUnit, brief, text, words};
use escape::{code, inline, line};

/// The whole page.
pub(crate) fn page(concluded: &Concluded<'_>) -> String {
    let Concluded { record, findings, causes, time_unit, .. } = *concluded;
    let brief = brief(findings, Context { causes, time_unit, ..Context::default() });
    let mut out = format!("### {}\n\n**{}**\n\n", line(&brief.question), line(&brief.answer));
    out += &rows(findings, &brief, time_unit);
    out += &format!("{}\n", line(&Rendered::joined(brief.status.iter().cloned(), "; ")));
    let doubts: Vec<&Rendered> = brief.doubts.iter().map(|doubt| &doubt.text).collect();
    let facts: Vec<&Rendered> = brief.facts.iter().map(|fact| &fact.text).collect();
    for (title, lines) in [("Doubts", doubts), ("Also", facts)] {
        if !lines.is_empty() {
            out += &format!("\n{title}:\n\n");
            lines.iter().for_each(|text| out += &format!("- {}\n", line(text)));
        }
    }
    out + &details::folded(record, findings, time_unit)
}

/// A row for each variant, the best first.
fn rows(findings: &Findings, brief: &Brief<'_>, time_unit: Option<TimeUnit>) -> String {
    let Some((metric, unit)) = &brief.metric else { return String::new() };
    let is_difference =
        |row: &BriefRow<'_>| row.comparison.is_some_and(|comparison| comparison.scale == Scale::Difference);
    let what = if brief.rows.iter().any(is_difference) { "change" } else { "ratio" };
    let amount_title = format!("{what} [{} interval]", percent(findings.method.confidence));
    let titles = [metric, &amount_title].map(|title| inline(&unglue(title))).join(" | ");
    let mut out = format!("| variant | {titles} | n |\n|:--|:--|:--|--:|\n");
    for row in &brief.rows {
        let n = row.n.map_or_else(|| "–".to_owned(), |n| n.to_string());
        out +=
            &format!("| {} | {} | {} | {n} |\n", code(&row.name), claim(row), inline(&amount(row, *unit, time_unit)));
    }
    out + "\n"
}

/// What is claimed; a difference that is shown stands out.
fn claim(row: &BriefRow<'_>) -> String {
    let Some(comparison) = row.comparison else {
        let baseline = if row.n.is_some() { "baseline, " } else { "" };
        return line(&text![baseline, &row.claim]);
    };
    let text = line(&text![&row.claim, words::more_blocks(comparison.verdict)]);
    if matches!(comparison.verdict, Verdict::Faster | Verdict::Slower) { format!("**{text}**") } else { text }
}

/// The ratio with its interval, or the difference in the unit that is asked for, or in one that fits.
fn amount(row: &BriefRow<'_>, unit: Unit, time_unit: Option<TimeUnit>) -> String {
    let Some(comparison) = row.comparison else { return if row.n.is_some() { "1" } else { "–" }.to_owned() };
    if comparison.scale == Scale::Ratio {
        return words::against_baseline(comparison, 1.0);
    }
    let ends = comparison.printed_interval().into_iter().flatten();
    let largest = ends.chain([comparison.estimate]).map(f64::abs).fold(0.0, f64::max);
    let (size, unit) = asked_or_fitting(largest, unit, time_unit);
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    format!("{}{unit}", words::against_baseline(comparison, size))
}
