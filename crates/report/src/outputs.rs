//! What the variants printed, where it was not the same: the first difference of each. What follows from it was decided by the analysis.

use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::text::{clean, foreign, glue};
use crate::format::fixed;
use crate::words::counted;
use bakeoff_judge::findings::{Findings, OtherOutput, Outputs};
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::OutputDifference;
use bakeoff_model::study::OutputUse;

pub(crate) fn print(findings: &Findings, page: &mut Page, columns: usize) {
    if findings.outputs.is_empty() {
        return;
    }
    page.gap();
    page.line(vec![Piece::new("what was printed", Ink::Heading)]);
    let own = baseline(findings);
    for outputs in &findings.outputs {
        let place = format!("{} ({})", clean(&outputs.workload), clean(&outputs.condition));
        if outputs.varies {
            let text = format!(
                "{place}: the output of {own} varies from trial to trial, so the outputs of the other variants are \
                 not compared"
            );
            page.paragraph(&text, columns, 2, Ink::Plain);
            let sides = ["before".to_owned(), "then".to_owned()];
            outputs.first.iter().for_each(|first| difference(first, &sides, page, columns));
        }
        for other in &outputs.others {
            let ink = if outputs.output == OutputUse::Noted { Ink::Open } else { Ink::Worse };
            page.paragraph(format!("{place}: {}", sentence(outputs, other, &own)), columns, 2, ink);
            let sides = [own.clone(), clean(&other.variant)];
            other.first.iter().for_each(|first| difference(first, &sides, page, columns));
        }
    }
    if findings.outputs.iter().any(|o| o.output == OutputUse::Compared && !o.others.is_empty()) {
        let remedy = "If variants may print different output, set `output = \"varies\"` in the workload.";
        page.paragraph(remedy, columns, 2, Ink::Aside);
    }
}

/// `b printed something other than the baseline in 20 of 20 trials (12 B, not 14 B), so it has no verdict`.
fn sentence(outputs: &Outputs, other: &OtherOutput, baseline: &str) -> String {
    let of = counted(other.of, "trial");
    let bytes = match (size(other.bytes), size(outputs.baseline_bytes)) {
        (own, usual) if own == usual => format!("also {usual}"),
        (own, usual) => format!("{own}, not {usual}"),
    };
    let name = clean(&other.variant);
    let end = if outputs.output == OutputUse::Noted { "" } else { ", so it has no verdict" };
    format!("{name} did not print the same output as {baseline} in {} of {of} ({bytes}){end}", other.trials)
}

fn size([least, most]: [u64; 2]) -> String {
    let number = |bytes: u64| fixed(bytes as f64, 0);
    let digits = if least == most { number(least) } else { format!("{} … {}", number(least), number(most)) };
    glue(&format!("{digits} B"))
}

fn difference(first: &OutputDifference, sides: &[String; 2], page: &mut Page, columns: usize) {
    let OutputDifference { process, byte, line, baseline, printed } = first;
    let process = if *process > 1 { format!(" of process {process}") } else { String::new() };
    if baseline.is_none() && printed.is_none() {
        let text = format!("  first at byte {}{process} (not text)", fixed(*byte as f64, 0));
        page.paragraph(&text, columns, 4, Ink::Plain);
        return;
    }
    page.paragraph(format!("  first in line {}{process}:", fixed(*line as f64, 0)), columns, 4, Ink::Plain);
    for (side, text) in sides.iter().zip([baseline, printed]) {
        let text = text.as_deref().unwrap_or("(nothing: the output ends here)");
        let line = foreign(&format!("{side}: {text}"), columns.saturating_sub(4));
        page.quote(line);
    }
}

/// A study calls it so; commands have names.
fn baseline(findings: &Findings) -> String {
    match findings.variants.first() {
        Some(first) if first.name != BASELINE => clean(&first.name),
        _ => "the baseline".to_owned(),
    }
}
