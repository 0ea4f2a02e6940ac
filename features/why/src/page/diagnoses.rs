//! The causes of a difference below its account: a table, the largest first, and a sentence for each pair of variants that
//! isolates one. What is not isolated is never called more than consistent.

use crate::account::page::{kernel_name, mechanism_name, signed_time};
use crate::account::result::{Cause as RowCause, Mechanism};
use crate::diagnosis::Outcome;
use crate::findings::{Cause, Diagnosis, Isolation, Standing, What};
use bakeoff_command::Confirmation;
use bakeoff_judge::findings::{Claim, Verdict};
use bakeoff_model::plan::BASELINE;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::{count, fixed, signed};
use bakeoff_report::words::{Change, Wording};

/// Nothing, if no cause is known.
pub(crate) fn print(diagnosis: &Diagnosis, page: &mut Page, columns: usize) {
    if diagnosis.causes.is_empty() {
        return;
    }
    page.gap();
    page.paragraph(heading(diagnosis), columns, 2, Ink::Heading);
    let titles = ["share of instructions", "time"].map(|title| (title, Flush::Right));
    let mut grid = Grid::new([("standing", Flush::Left), ("cause", Flush::Left)].into_iter().chain(titles));
    for cause in &diagnosis.causes {
        let share = cause.permille.map_or_else(String::new, percent);
        let time = cause.time.map_or_else(String::new, |time| signed_time(time.estimate_s));
        let cells = [standing(cause.standing).to_owned(), name(cause), share, time];
        grid.row(cells.map(Piece::plain).to_vec());
    }
    grid.print(page, columns);
    for cause in &diagnosis.causes {
        let which = clean(&short(cause));
        cause.isolated.iter().for_each(|pair| page.paragraph(isolation(&which, pair), columns, 2, Ink::Plain));
    }
}

/// `causes of libperl=shared being 12.1 % slower than the baseline on loop (10.2 … 14.0 %), the largest first`.
fn heading(diagnosis: &Diagnosis) -> String {
    let difference = match &diagnosis.claim {
        Some(claim) => format!(
            "{} is {} than {} on {}",
            clean(&diagnosis.variant),
            in_words(claim),
            who(&diagnosis.against),
            clean(&claim.workload)
        ),
        None => format!(
            "{} is not shown to differ from {} on {}",
            clean(&diagnosis.variant),
            who(&diagnosis.against),
            clean(&diagnosis.workload)
        ),
    };
    format!("{difference}; causes, the largest first")
}

fn who(name: &str) -> String {
    if name == BASELINE { "the baseline".to_owned() } else { clean(name) }
}

/// `12.1 % slower (10.2 … 14.0 %)`.
fn in_words(claim: &Claim) -> String {
    let change = Change::of(&claim.comparison, claim.unit);
    let range = change.range().map_or(String::new(), |range| format!(" ({})", glue(&range)));
    let word = Wording::of(claim.unit, claim.better).direction(&change);
    format!("{} {word}{range}", glue(&change.amount()))
}

fn percent(permille: i64) -> String {
    glue(&format!("{} %", signed(permille as f64 / 10.0, 1)))
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Shown => "shown",
        Standing::Consistent => "consistent",
        Standing::Withdrawn => "withdrawn",
        Standing::Unexplained => "unexplained",
    }
}

/// What it is, with how often the kernel did it.
fn name(cause: &Cause) -> String {
    let counts =
        cause.counts.map_or_else(String::new, |counts| format!(": {} → {}", count(counts[0]), count(counts[1])));
    format!("{}{counts}", short(cause))
}

fn short(cause: &Cause) -> String {
    match &cause.what {
        What::Mechanism(mechanism) => mechanism_name(*mechanism).to_owned(),
        What::Function(name) => clean(name),
        What::Kernel(work) => kernel_name(work),
        What::Speed => "the same work at another speed".to_owned(),
    }
}

/// The first shown cause in a few words, or that of the kernel if it comes first; nothing, if the account says as much.
/// `largest` is the one that the account names.
pub(super) fn in_short(diagnosis: &Diagnosis, largest: Option<&RowCause>) -> Option<String> {
    let first = diagnosis.causes.first()?;
    if let (What::Kernel(_), Some(time)) = (&first.what, first.time) {
        return Some(format!("{} ({})", name(first), signed_time(time.estimate_s)));
    }
    let shown = diagnosis.causes.iter().find(|cause| cause.standing == Standing::Shown)?;
    let pair = shown.isolated.first()?;
    let by = if pair.variant == diagnosis.variant { &pair.against } else { &pair.variant };
    let by = if *by == diagnosis.against { String::new() } else { format!(" by the comparison with {}", who(by)) };
    let is_named =
        matches!((&shown.what, largest), (What::Mechanism(one), Some(RowCause::Mechanism(other))) if one == other);
    let what = if is_named { "this cause is".to_owned() } else { format!("{} are", short(shown)) };
    Some(format!("{what} shown{by}"))
}

/// What a pair says that isolates a cause.
fn isolation(which: &str, pair: &Isolation) -> String {
    let (variant, against) = (clean(&pair.variant), who(&pair.against));
    let share = glue(&format!("{} %", fixed(pair.permille as f64 / 10.0, 1)));
    let opening = format!("{which}: {share} of the difference in instructions between {variant} and {against}");
    match pair.claim.comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            format!("{opening}, and {variant} is {}.", in_words(&pair.claim))
        }
        _ => format!("{opening}, but the two are equally fast within the margin."),
    }
}

/// How a cause could be shown.
pub(crate) fn hint(mechanism: Mechanism, confirmation: &Confirmation, page: &mut Page, columns: usize) {
    let text = format!(
        "To show or refute {}, add --confirm: it runs {} with and without {}.",
        mechanism_name(mechanism),
        who(&confirmation.changed),
        clean(&confirmation.level.says)
    );
    page.paragraph(text, columns, 2, Ink::Aside);
}

/// Why a level that was run to isolate a cause did not decide; nothing if it did.
pub(crate) fn outcome(
    outcome: &Outcome,
    confirmation: &Confirmation,
    mechanism: Mechanism,
    page: &mut Page,
    columns: usize,
) {
    let (changed, says) = (who(&confirmation.changed), clean(&confirmation.level.says));
    let text = if !outcome.isolates {
        let share = glue(&format!("{} %", fixed(outcome.permille as f64 / 10.0, 1)));
        format!(
            "{says} does not isolate {}, so nothing is shown: that is {share} of the difference in instructions that it makes to \
             {changed}.",
            mechanism_name(mechanism)
        )
    } else if matches!(outcome.claim.comparison.verdict, Verdict::Undecided { .. }) {
        let change = Change::of(&outcome.claim.comparison, outcome.claim.unit);
        let range = change.signed_range().map_or(String::new(), |range| format!(" ({})", glue(&range)));
        format!(
            "Undecided: {changed} with {says} is not shown to differ from {changed} alone{range}. Use more --blocks."
        )
    } else {
        return;
    };
    page.paragraph(text, columns, 2, Ink::Open);
}
