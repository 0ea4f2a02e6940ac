//! The page of published figures that were checked: the figures and whether they are possible, what they show against
//! the baseline, and what becomes of each claim. Every number is shown with what its digits leave. Nothing is
//! computed here.

mod claims;
mod stated;
mod written;

use crate::check::{Comparison, Estimate, SdFrom, Shown, SummaryFinding, SummaryFindings};
use crate::published::{Figure, Printing, Summary};
use bakeoff_report::draw::Style;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::notes::Notes;
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::percent;
use bakeoff_report::text;
use written::{both, decimals_for, fixed, in_unit, needs, of, p_value, percents, ranged, signed};

/// The findings about published figures as a page of text; it ends in a line feed.
pub(crate) fn check_summary(findings: &SummaryFindings, style: Style) -> String {
    let Style { width, colour } = style;
    let (mut page, mut notes) = (Page::default(), Notes::default());
    let doubts = notes.mark(findings.caveats.iter().map(|caveat| caveat.text()));
    figures(findings, &mut page, width);
    let (with, without): (Vec<&Comparison>, Vec<&Comparison>) =
        findings.comparisons.iter().partition(|comparison| comparison.welch.is_some());
    for comparison in with {
        against(comparison, findings, &mut page, &mut notes, width);
    }
    means_alone(&without, &mut page, width);
    stated::print(findings, &mut page, width);
    claims::print(findings, &mut page, &mut notes, width);
    page.gap();
    let terms = &findings.terms;
    let digits = match findings.printing {
        Printing::AsShown => "figures read to the digits shown",
        Printing::EightDigits => "figures read as ministat output, to eight digits",
    };
    let confidence = percent(terms.confidence);
    let margin = glue(&format!("±{}", percent(terms.margin)));
    let how = text![format!("{digits}; confidence {confidence}, margin {margin}"), doubts];
    page.paragraph(how, width, 2, Ink::Aside);
    for text in unread(findings) {
        page.paragraph(&text, width, 2, Ink::Aside);
    }
    notes.print(&mut page, width);
    page.print(colour)
}

/// The findings as pretty-printed JSON with a final line feed.
///
/// # Errors
/// Passes on the serialiser's word, should a value ever have no form in JSON.
pub(crate) fn check_summary_json(findings: &SummaryFindings) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(findings).map(|text| text + "\n")
}

/// What of the text was not read, one sentence each.
fn unread(findings: &SummaryFindings) -> Vec<String> {
    let SummaryFindings { lines_left_out, lines_unread, columns_unread, .. } = findings;
    let plural = |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
    let mut said = vec![];
    if !lines_unread.is_empty() {
        let numbers = ranges(lines_unread);
        let lines =
            plural(lines_unread.len(), "line was taken as a title or remark", "lines were taken as titles or remarks");
        said.push(format!("{lines} and ignored: {}", bakeoff_report::words::listed(&numbers)));
    }
    if !columns_unread.is_empty() {
        let titles: Vec<String> = columns_unread.iter().map(|title| format!("`{}`", clean(title))).collect();
        said.push(format!(
            "columns ignored because their titles do not name a figure: {}",
            bakeoff_report::words::listed(&titles)
        ));
    }
    if *lines_left_out > 0 {
        let lines = plural(*lines_left_out, "line was not needed", "lines were not needed");
        said.push(format!("{lines} (pictures, rules)"));
    }
    said
}

/// Numbers of lines, with those that follow each other as `7–9`.
fn ranges(lines: &[usize]) -> Vec<String> {
    let runs = lines.chunk_by(|a, b| a + 1 == *b);
    let range = |run: &[usize]| match run {
        [first, _, .., last] => format!("{first}–{last}"),
        few => few.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    runs.map(range).collect()
}

/// The figures as published, and whether they are possible; those of one quantity below each other.
fn figures(findings: &SummaryFindings, page: &mut Page, columns: usize) {
    let summaries: Vec<&Summary> = findings.summaries.iter().map(|finding| &finding.published).collect();
    let is_one_unit = summaries.windows(2).all(|pair| pair[0].unit == pair[1].unit);
    let unit = summaries.first().and_then(|summary| summary.unit.as_deref()).filter(|_| is_one_unit);
    let unit = unit.map_or("published".to_owned(), |unit| format!("published, in {}", clean(unit)));
    let has_quantities = !is_one_unit || summaries.iter().any(|summary| summary.quantity.is_some());
    let quantity = has_quantities.then(|| ("quantity".to_owned(), Flush::Left));
    let titles = [&unit, "n", "min", "median", "avg", "max", "sd"].map(str::to_owned);
    let titles = titles.into_iter().enumerate();
    let titles = titles.map(|(i, title)| (title, if i == 0 { Flush::Left } else { Flush::Right }));
    let mut grid = Grid::new(quantity.into_iter().chain(titles).chain([(String::new(), Flush::Left)]));
    let first = |at: usize| summaries.iter().position(|other| other.is_comparable(summaries[at])).unwrap_or(at);
    let mut order: Vec<usize> = (0..summaries.len()).collect();
    order.sort_by_key(|at| (first(*at), *at));
    for at in order {
        let (finding, published) = (&findings.summaries[at], summaries[at]);
        let figure = |figure: &Option<Figure>| Piece::plain(figure.as_ref().map_or("–", |figure| figure.text.as_str()));
        let verdict = match finding.impossible {
            Some(_) => Piece::new("impossible", Ink::Worse),
            None => Piece::new("possible", Ink::Same),
        };
        let parts = [published.quantity.as_deref(), published.unit.as_deref().filter(|_| !is_one_unit)];
        let parts = parts.into_iter().flatten().map(clean).collect::<Vec<_>>().join(", ");
        // The quantity stands at its first row.
        let quantity = if first(at) == at { Piece::plain(parts) } else { Piece::plain("") };
        let name = Piece::plain(clean(&published.name));
        let n = Piece::plain(published.n.map_or("–".to_owned(), |n| n.to_string()));
        let [min, median, mean, max] = [&published.min, &published.median, &published.mean, &published.max].map(figure);
        let row = vec![name, n, min, median, mean, max, figure(&published.sd), verdict];
        grid.row(has_quantities.then_some(quantity).into_iter().chain(row).collect());
    }
    grid.print(page, columns);
    for finding in &findings.summaries {
        remarks(finding, page, columns);
    }
}

/// Why a summary is impossible, or what follows from it.
fn remarks(finding: &SummaryFinding, page: &mut Page, columns: usize) {
    let name = of(finding.published.quantity.as_deref(), &clean(&finding.published.name));
    if let Some(why) = &finding.impossible {
        page.paragraph(format!("{name} is impossible: {}.", clean(why)), columns, 2, Ink::Worse);
    }
    if let Some(values) = finding.values.as_ref().filter(|values| values.len() > 1) {
        let values: Vec<String> = values.iter().map(|value| glue(&ranged(*value, fixed))).collect();
        let text = format!("{name}: only the values {} fit these figures.", bakeoff_report::words::listed(&values));
        page.paragraph(&text, columns, 2, Ink::Plain);
    }
    if let (SdFrom::Bounds, Some(sd)) = (finding.sd_from, finding.sd) {
        let text =
            format!("{name}: the sd was not published; the other figures limit it to {}.", glue(&ranged(sd, fixed)));
        page.paragraph(&text, columns, 2, Ink::Plain);
    }
}

/// One summary against the baseline.
fn against(comparison: &Comparison, findings: &SummaryFindings, page: &mut Page, notes: &mut Notes, columns: usize) {
    page.gap();
    let mark = notes.mark(comparison.caveats.iter().map(|caveat| caveat.text()));
    page.paragraph(text![both(&comparison.pair), mark], columns, 2, Ink::Heading);
    let interval = format!("{} interval", percent(findings.terms.confidence));
    let titles = ["", "estimate", "from digits", &interval, "p"].map(str::to_owned);
    let mut grid = Grid::new(titles.into_iter().map(|title| (title, Flush::Left)));
    let mut row = |what: &str, estimate: Estimate, scale: fn(f64) -> f64, unit: &str, p: Option<[f64; 2]>| {
        let Estimate { estimate, low, high } = estimate.map(scale);
        let decimals = decimals_for(high[1] - low[0]);
        let shown = |x: f64| signed(x, decimals);
        let cells = [
            what.to_owned(),
            format!("{}{unit}", shown(estimate[0] / 2.0 + estimate[1] / 2.0)),
            ranged(estimate, signed),
            format!("[{}, {}]", shown(low[0]), shown(high[1])),
            p.map_or(String::new(), p_value),
        ];
        grid.row(cells.map(Piece::plain).to_vec());
    };
    let unit = in_unit(comparison.pair.unit.as_deref());
    if let Some(estimate) = comparison.ratio_interval {
        row("change", estimate, |ratio| (ratio - 1.0) * 100.0, " %", None);
    }
    if let Some(test) = comparison.welch {
        row("difference", test.estimate, |x| x, &unit, Some(test.p));
    }
    if let Some(test) = comparison.pooled {
        row("by pooled t", test.estimate, |x| x, &unit, Some(test.p));
    }
    grid.print(page, columns);
    let margin = glue(&format!("±{}", percent(findings.terms.margin)));
    let differ = format!("shown to differ: {}", word(comparison.differ));
    let equivalent = format!("shown to be equal within {margin}: {}", word(comparison.equivalent));
    page.paragraph(format!("{differ}; {equivalent}"), columns, 2, Ink::Plain);
}

/// All pairs of which nothing is known but the means, and what an interval would need.
fn means_alone(comparisons: &[&Comparison], page: &mut Page, columns: usize) {
    if comparisons.is_empty() {
        return;
    }
    page.gap();
    let titles = ["means only", "difference", "change"].map(str::to_owned);
    let mut grid = Grid::new(titles.into_iter().map(|title| (title, Flush::Left)));
    let mut missing: Vec<&str> = vec![];
    for comparison in comparisons {
        let unit = in_unit(comparison.pair.unit.as_deref());
        let unknown = || "–".to_owned();
        let difference = comparison.difference.map_or_else(unknown, |range| format!("{}{unit}", ranged(range, signed)));
        let change = comparison.ratio.map_or_else(unknown, |ratio| format!("{} %", ranged(percents(ratio), signed)));
        grid.row([both(&comparison.pair), difference, change].map(Piece::plain).to_vec());
        missing.extend(comparison.missing.iter().map(String::as_str));
    }
    grid.print(page, columns);
    let text = format!("there is no interval, so there is no verdict; an interval needs {}", needs(&missing));
    page.paragraph(&text, columns, 2, Ink::Plain);
}

fn word(shown: Shown) -> &'static str {
    match shown {
        Shown::Yes => "yes",
        Shown::No => "no",
        Shown::Open => "depends on unpublished digits or an unpublished spread",
        Shown::Unknown => "unknown",
    }
}
