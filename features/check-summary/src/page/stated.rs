//! What ministat printed with the figures, and whether it follows from them, in words.

use super::written::{both, decimals_for, in_unit, intervals, signed};
use crate::check::{Follows, StatedFinding, SummaryFindings};
use bakeoff_report::draw::paint::{Ink, Page};
use bakeoff_report::draw::text::glue;
use bakeoff_report::format::percent;

/// All of it; nothing if nothing was stated.
pub(super) fn print(findings: &SummaryFindings, page: &mut Page, columns: usize) {
    if findings.stated.is_empty() {
        return;
    }
    page.gap();
    page.paragraph("conclusions printed with the figures, checked by ministat's method", columns, 2, Ink::Heading);
    for finding in &findings.stated {
        let (word, ink) = match finding.follows {
            Follows::Yes => ("follows", Ink::Better),
            Follows::Unknown => ("cannot be checked", Ink::Open),
            Follows::OtherOutcome | Follows::OtherDifference | Follows::OtherWidth => ("does not follow", Ink::Worse),
        };
        let pair = both(&finding.pair);
        let text = format!("line {}, {pair}: \"{}\" {word}{}", finding.stated.line, said(finding), why(finding));
        page.paragraph(&text, columns, 2, ink);
    }
}

/// What was printed, on one line.
fn said(finding: &StatedFinding) -> String {
    let stated = &finding.stated;
    let confidence = percent(stated.confidence.value / 100.0);
    let Some(difference) = &stated.difference else { return format!("No difference proven at {confidence}") };
    let absolute = difference.absolute.as_ref().map(|[d, e]| format!("{} +/- {}", d.text, e.text));
    let part = difference.percent.as_ref().map(|[d, e]| format!("{}% +/- {}%", d.text, e.text));
    let all: Vec<String> =
        [Some(format!("Difference at {confidence}")), absolute, part].into_iter().flatten().map(|t| glue(&t)).collect();
    all.join(", ")
}

fn why(finding: &StatedFinding) -> String {
    let given = finding.difference.map_or(String::new(), |difference| {
        let decimals = decimals_for(difference.high[1] - difference.low[0]);
        let shown = |x: f64| signed(x, decimals);
        let [low, high] = difference.estimate;
        let interval = intervals(difference.low, difference.high, shown);
        glue(&format!("{}{} {interval}", shown(low / 2.0 + high / 2.0), in_unit(finding.pair.unit.as_deref())))
    });
    let proven = finding.stated.difference.is_some();
    match finding.follows {
        Follows::Yes if !proven => format!(": {given}. That does not show equality."),
        Follows::Yes => String::new(),
        Follows::OtherOutcome if !proven => format!(": the figures give {given} and show a difference."),
        Follows::OtherOutcome => format!(": the figures give {given}; the interval includes zero."),
        Follows::OtherDifference => format!(": the figures give {given}."),
        Follows::OtherWidth => format!(": the half-width is wrong; the figures give {given}."),
        Follows::Unknown => ": the n, mean or sd of at least one summary is missing or impossible.".to_owned(),
    }
}
