//! Diagnoses in sentences: what a difference is consistent with, which pair of variants isolates that, and what nothing
//! explains. A cause is never called more than consistent; the numbers beside it let the reader judge.

use crate::findings::{Cause, CauseKind, Diagnosis, Gathered, Isolation};
use bakeoff_judge::findings::{Claim, Comparison, Findings, Verdict};
use bakeoff_model::plan::BASELINE;
use bakeoff_report::draw::paint::{Ink, Page};
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::{count, duration, percent};
use bakeoff_report::words::named;
use bakeoff_report::words::{Change, Wording};

/// All of them: first what there is a cause for, then what there is none for.
pub(super) fn print(findings: &Findings, gathered: &Gathered, page: &mut Page, columns: usize) {
    for diagnosis in &gathered.diagnoses {
        for cause in &diagnosis.causes {
            page.paragraph(explained(findings, diagnosis, cause), columns, 2, Ink::Plain);
        }
    }
    let open = |is_same: bool| {
        let open = gathered.diagnoses.iter().filter(move |d| d.causes.is_empty() && d.is_same == is_same);
        let open = open.filter(|diagnosis| gathered.account_of(diagnosis).is_none());
        open.map(|diagnosis| difference(findings, &diagnosis.claim, &clean(&diagnosis.variant))).collect::<Vec<_>>()
    };
    for (what, open) in [
        ("not explained by the evidence", open(false)),
        ("not explained, because the evidence is identical", open(true)),
    ] {
        if !open.is_empty() {
            page.paragraph(format!("{what}: {}", open.join("; ")), columns, 2, Ink::Open);
        }
    }
}

/// Where a difference is, if there is more than one place.
fn place(findings: &Findings, claim: &Claim) -> String {
    let is_other = |of: fn(&bakeoff_judge::findings::Table) -> &String, own: &String| {
        findings.tables.iter().any(|table| of(table) != own)
    };
    let condition = if is_other(|table| &table.condition, &claim.condition) {
        format!(" ({})", clean(&claim.condition))
    } else {
        String::new()
    };
    format!("{}{condition}", clean(&claim.workload))
}

/// `libperl=shared 12.1 % slower on loop (10.2 … 14.0 %)`.
fn difference(findings: &Findings, claim: &Claim, variant: &str) -> String {
    let (amount, word, range) = in_words(claim, &claim.comparison);
    format!("{variant} {amount} {word} on {}{range}", place(findings, claim))
}

/// How much, which way, and the interval in brackets.
fn in_words(claim: &Claim, comparison: &Comparison) -> (String, &'static str, String) {
    let change = Change::of(comparison, claim.unit);
    let range = change.range().map_or(String::new(), |range| format!(" ({})", glue(&range)));
    (glue(&change.amount()), Wording::of(claim.unit, claim.better).direction(&change), range)
}

fn who(name: &str) -> String {
    if name == BASELINE { "the baseline".to_owned() } else { clean(name) }
}

fn explained(findings: &Findings, diagnosis: &Diagnosis, cause: &Cause) -> String {
    let claim = &diagnosis.claim;
    let (amount, word, range) = in_words(claim, &claim.comparison);
    let [before, after] = cause.numbers.map(count);
    let about = cause.about.iter().map(|name| clean(name)).collect::<Vec<_>>();
    let what = match cause.kind {
        CauseKind::OwnSlots => format!(
            "{after} of its own functions that {} calls through the PLT, compared with {before} in {}",
            if about.is_empty() { "it".to_owned() } else { named(about) },
            who(&diagnosis.against)
        ),
        CauseKind::Relocations => {
            format!("{after} relocations at start, compared with {before} in {}", who(&diagnosis.against))
        }
        kind => {
            let of = if kind == CauseKind::SystemCalls { "" } else { " per op in the workload and its services" };
            let most = if about.is_empty() { String::new() } else { format!(", mainly {}", named(about)) };
            format!("{after} system calls{of}{most}, compared with {before} in {}", who(&diagnosis.against))
        }
    };
    let rest = cause.most_of_it.map_or(String::new(), |most| {
        let share = glue(&percent((most.share * 100.0).ceil() / 100.0));
        let each = glue(&duration(most.each_s));
        format!(
            " Even if each took {each} (a long time), they would account for {share} of the difference; the evidence \
             does not explain the rest."
        )
    });
    let pairs: String = cause.isolated.iter().map(|pair| isolation(diagnosis, pair)).collect();
    format!(
        "{} is {amount} {word} than {} on {}{range}: consistent with {what}.{rest}{pairs}",
        clean(&diagnosis.variant),
        who(&diagnosis.against),
        place(findings, claim)
    )
}

/// A cause in a few words: `898 calls to itself through the PLT (130 before)`.
pub(super) fn in_short(cause: &Cause) -> String {
    let [before, after] = cause.numbers.map(count);
    let what = match cause.kind {
        CauseKind::OwnSlots => "own functions called through the PLT",
        CauseKind::Relocations => "relocations at start",
        CauseKind::SystemCalls => "system calls",
        CauseKind::CallsOfAnOp => "system calls per op",
    };
    let about = cause.about.first().filter(|_| cause.kind != CauseKind::OwnSlots);
    let about = about.map_or(String::new(), |name| format!(", mainly {}", clean(name)));
    let part = cause.most_of_it.map_or(String::new(), |most| {
        format!(" (at most {} of the difference)", percent((most.share * 100.0).ceil() / 100.0))
    });
    let isolated =
        cause.isolated.first().map_or(String::new(), |pair| format!("; {} isolates this cause", clean(&pair.variant)));
    format!("{after} {what} instead of {before}{part}{about}{isolated}")
}

/// What the pair says that isolates the cause. That it contradicts it was ruled out before.
fn isolation(diagnosis: &Diagnosis, pair: &Isolation) -> String {
    let claim = &diagnosis.claim;
    let (with, factor) = (clean(&diagnosis.variant), clean(&diagnosis.factor));
    let (without, number) = (clean(&pair.variant), count(pair.number));
    let change = Change::of(&pair.comparison, claim.unit);
    let opening = format!(" {without} has {number} and differs from {with} only in {factor};");
    match pair.comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            let (amount, word, range) = in_words(claim, &pair.comparison);
            format!("{opening} it is {amount} {word}{range}.")
        }
        _ => {
            let range = change.signed_range().map_or(String::new(), |range| format!(" ({})", glue(&range)));
            format!("{opening} no difference between the two was shown: {}{range}.", glue(&change.signed()))
        }
    }
}
