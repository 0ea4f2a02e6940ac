//! All figures: a row for each variant in each table, with the cells that the report's own tables have. The page's
//! script sorts and filters them by numbers that stand next to the text; without it all of them are there.

use crate::look::Look;
use crate::mark::{Mark, sign};
use crate::text::{markup, name, variant_id};
use bakeoff_judge::findings::{Findings, Row, Table};
use bakeoff_report::TableText;
use bakeoff_report::draw::rendered::Rendered;
use maud::{Markup, html};

/// With more rows, only the deciding metric's are here.
const MOST: usize = 4000;

/// The table, and what it leaves out.
pub(crate) fn figures(look: &Look<'_>, texts: &[TableText]) -> Markup {
    let all: Vec<(&Table, &TableText)> = look.findings.tables.iter().zip(texts).collect();
    let rows: usize = all.iter().map(|(table, _)| table.rows.len()).sum();
    let is_whole = rows <= MOST;
    let shown = all.into_iter().filter(|(table, _)| is_whole || table.metric == look.findings.method.deciding_metric);
    let shown: Vec<(&Table, &TableText)> = shown.collect();
    let Some((_, first)) = shown.first() else { return html! { p.quiet { "Nothing was measured." } } };
    let conditions = look.conditions.len() > 1;
    html! {
        @if !is_whole {
            p.quiet { "Only the deciding metric is shown, because all metrics would need " (rows) " rows. \
                `bakeoff report --export-csv FILE` writes all metrics." }
        }
        div.scroll tabindex="0" role="region" aria-label="All figures" {
            table.data #figures {
                thead { tr {
                    th scope="col" { "variant" }
                    th scope="col" { "workload" }
                    @if conditions { th scope="col" { "condition" } }
                    th scope="col" { "metric" }
                    th scope="col" { "verdict" }
                    th scope="col" { (markup(&first.titles[2])) }
                    th.num scope="col" { "median" }
                    th.num scope="col" { "mean" }
                    th.num scope="col" { "max" }
                    th.num scope="col" { "n" }
                    @if has_letters(look.findings) { th scope="col" { "letters" } }
                } }
                tbody { @for (table, text) in &shown { (of_table(look, table, text, conditions)) } }
            }
        }
        @if has_letters(look.findings) {
            p.quiet { "No difference was shown between variants that share a letter, but they may differ." }
        }
    }
}

fn has_letters(findings: &Findings) -> bool {
    findings.tables.iter().any(|table| table.ranking.is_some())
}

fn of_table(look: &Look<'_>, table: &Table, text: &TableText, conditions: bool) -> Markup {
    let is_deciding = table.metric == look.findings.method.deciding_metric;
    let unit = if text.unit.is_empty() { String::new() } else { [", ", text.unit].concat() };
    html! {
        @for (cells, variant) in text.rows.iter().zip(&text.variants) {
            @let row = table.rows.iter().find(|row| row.variant == *variant);
            tr.also[!is_deciding] data-v=[variant_id(look.findings, variant)] data-w=[look.workload(&table.workload)]
                data-c=[look.condition(&table.condition)] data-m=(table.metric) {
                th scope="row" { (markup(&cells[0])) }
                td { (name(&table.workload)) }
                @if conditions { td { (name(&table.condition)) } }
                td { (name(&text.metric)) (unit) }
                (verdict(row, &cells[3]))
                td data-k=[row.and_then(|row| row.comparison.as_ref()).map(|c| c.estimate)] { (markup(&cells[2])) }
                @let summary = row.and_then(|row| row.summary.as_ref());
                td.num data-k=[summary.map(|s| s.median)] { b { (markup(&cells[1])) } }
                td.num data-k=[summary.map(|s| s.mean)] { (markup(&cells[4])) }
                td.num data-k=[summary.map(|s| s.max)] { (markup(&cells[5])) }
                td.num data-k=[summary.map(|s| s.n)] { (markup(&cells[6])) }
                @if has_letters(look.findings) { td { (letters(table, variant)) } }
            }
        }
    }
}

fn verdict(row: Option<&Row>, text: &Rendered) -> Markup {
    let mark = row.and_then(|row| row.comparison.as_ref()).map(Mark::of);
    html! {
        td class=[mark.map(|mark| mark.class)] {
            @if let Some(Mark { class, shape }) = mark { (sign(shape, class)) }
            (markup(text))
        }
    }
}

fn letters<'t>(table: &'t Table, variant: &str) -> &'t str {
    let ranked = table.ranking.iter().flat_map(|ranking| &ranking.variants).find(|ranked| ranked.variant == variant);
    ranked.map_or("", |ranked| ranked.letters.as_str())
}
