//! What becomes of each claim, in words: the outcome first, then why, with the interval that decides.

use super::written::{both, decimals_for, in_unit, intervals, needs, percents, ranged, signed};
use crate::check::{ClaimFinding, Estimate, Outcome, SummaryFindings, Why};
use crate::published::claim::{Amount, Says};
use bakeoff_report::draw::notes::Notes;
use bakeoff_report::draw::paint::{Ink, Page};
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::percent;
use bakeoff_report::text;

/// All claims; nothing if there are none.
pub(super) fn print(findings: &SummaryFindings, page: &mut Page, notes: &mut Notes, columns: usize) {
    for finding in &findings.claims {
        page.gap();
        let (word, ink) = match finding.outcome {
            Outcome::Supported => ("supported", Ink::Better),
            Outcome::Contradicted => ("contradicted", Ink::Worse),
            Outcome::NotShown => ("not shown", Ink::Open),
            Outcome::Impossible => ("impossible", Ink::Worse),
        };
        let mark = notes.mark(finding.comparison.caveats.iter().map(|caveat| caveat.text()));
        let heading = text![format!("claim \"{}\": {word}", clean(&finding.claim.text)), mark];
        page.paragraph(heading, columns, 2, ink);
        page.paragraph(format!("  {}", why(finding, findings)), columns, 2, Ink::Plain);
    }
}

/// `clang against gcc is +1.4 % [+0.9, +1.9]`.
fn measured(finding: &ClaimFinding) -> String {
    let comparison = &finding.comparison;
    let pair = both(&comparison.pair);
    let absolute = matches!(&finding.claim.says, Says::Differs { amount: Some(Amount::Absolute(..)), .. });
    let unit = in_unit(comparison.pair.unit.as_deref());
    let (estimate, unit) = match (comparison.ratio_interval, comparison.welch) {
        (Some(ratio), _) if !absolute => (ratio.map(|ratio| (ratio - 1.0) * 100.0), " %".to_owned()),
        (_, Some(test)) => (test.estimate, unit),
        _ => return pair,
    };
    let Estimate { estimate, low, high } = estimate;
    let decimals = decimals_for(high[1] - low[0]);
    let shown = |x: f64| signed(x, decimals);
    let middle = shown(estimate[0] / 2.0 + estimate[1] / 2.0);
    glue(&format!("{pair} is {middle}{unit} {}", intervals(low, high, shown)))
}

fn why(finding: &ClaimFinding, findings: &SummaryFindings) -> String {
    let measured = measured(finding);
    let width = finding.margin.map_or(String::new(), percent);
    let margin = glue(&format!("±{width}"));
    let confidence = percent(findings.terms.confidence);
    match &finding.why {
        Why::ImpossibleFigures(name) => format!("the figures of {} are impossible, so they show nothing.", clean(name)),
        Why::TooLittleKnown => {
            let missing: Vec<&str> = finding.comparison.missing.iter().map(String::as_str).collect();
            let needs =
                format!("the claim cannot be judged without an interval, and an interval needs {}.", needs(&missing));
            match means_give(finding) {
                Some(given) => format!("the published means give {given}; {needs}"),
                None => needs,
            }
        }
        Why::OtherUnit(claimed, known) => {
            let claimed = clean(claimed);
            match known {
                Some(known) => format!("the claim's unit is {claimed}, but the figures' unit is {}.", clean(known)),
                None => format!("the claim's unit is {claimed}, but the figures have no unit."),
            }
        }
        Why::Shows => format!("{measured}; the interval excludes zero."),
        Why::IncludesNoDifference => format!(
            "{measured}: at {confidence} confidence, these figures are consistent with no difference. That does not \
             show equality."
        ),
        Why::DependsOnDigits => {
            format!("{measured}: the answer depends on unpublished digits or an unpublished spread.")
        }
        Why::OtherWay => format!("{measured}: this is the opposite of the claim."),
        Why::SizeOutside => format!(
            "{measured}: a difference in this direction is shown, but the claimed size is outside the interval."
        ),
        Why::OtherSize => format!(
            "{measured}: a difference in this direction is shown, and the claimed size is possible, but the figures \
             give a different size."
        ),
        Why::WithinMargin => format!("{measured}; the interval for equivalence is within {margin}."),
        Why::WithinMarginButDifferent if finding.outcome == Outcome::Supported => {
            format!("{measured}: they are shown to differ, but by less than {margin}, as claimed.")
        }
        Why::WithinMarginButDifferent => format!(
            "{measured}: they are shown to differ, but by less than {margin}. \"Equal within {width}\" would be \
             supported, but \"no difference\" is not."
        ),
        Why::OutsideMargin => format!("{measured}; the interval is entirely beyond {margin}."),
        Why::BeyondMargin => format!(
            "{measured}; the interval reaches beyond {margin}, so equality is not shown. A test that finds no \
             difference does not show that there is none."
        ),
        Why::Differ => format!("{measured}; the interval excludes zero, so they differ."),
        Why::Arithmetic => {
            let given = means_give(finding).unwrap_or_default();
            format!("the published means give {given}, not the claimed difference.")
        }
        Why::NotSignificant => format!(
            "{measured}: no difference is shown, as claimed. This does not show equality; for that, claim `equal \
             within …%`."
        ),
    }
}

/// The change of the means, or their difference.
fn means_give(finding: &ClaimFinding) -> Option<String> {
    let change = finding.comparison.ratio.map(|ratio| format!("{} %", ranged(percents(ratio), signed)));
    let difference = || finding.comparison.difference.map(|range| ranged(range, signed));
    change.or_else(difference).map(|given| glue(&given))
}
