//! The answer in a sentence: what was shown about the deciding metric, what was not, and nothing that the findings do
//! not support. Where there are several workloads or conditions there is a statement for each.

mod build_cost;

use crate::builds::unbuilt;
use crate::draw::text::{clean, glue, unglue};
use crate::format::percent;
use crate::words::{self, Change, NAMED_MAX, Wording, counted, listed, named, subject};
use crate::{effects, failures, outputs};
use bakeoff_judge::findings::{Comparison, FailedTrials, Findings, Method, Row, Same, Table, Verdict};
use bakeoff_model::metric::Direction;
use bakeoff_model::record::{BuildOutcome, SharedLine};
use std::collections::BTreeSet;

/// The answer as one line of text, without a line feed. Trials that were simulated are called so first of all.
pub fn answer(findings: &Findings) -> String {
    clean(&unglue(&paragraphs(findings).join(" ")))
}

/// The answer as paragraphs to be wrapped: one, or an opening and one for each workload and condition; then what building
/// the variants takes, and what that gains.
pub(crate) fn paragraphs(findings: &Findings) -> Vec<String> {
    let mut paragraphs = same_programs(findings);
    paragraphs.extend(outputs::opening(findings));
    paragraphs.extend(of_workloads(findings));
    paragraphs.extend(failures::reasons(&findings.failures).into_iter().map(|reason| format!("{reason}.")));
    paragraphs.extend(build_cost::sentences(findings));
    paragraphs
}

/// Which variants are one program: between them there is nothing to find out, so it is said first.
fn same_programs(findings: &Findings) -> Vec<String> {
    let mut said: Vec<String> = vec![];
    for variant in &findings.variants {
        let of = |one: &&SharedLine| one.with == variant.name;
        let others: Vec<String> = findings.shared.iter().filter(of).map(|one| clean(&one.variant.name)).collect();
        if let Some(are) = same_as(others, &variant.name) {
            said.push(format!("{are}: they were executed once and share a row."));
        }
    }
    for group in findings.build_doubts.identical.iter().filter(|group| group.same != Same::Binaries) {
        let Some((first, others)) = group.variants.split_first() else { continue };
        if let Some(are) = same_as(others.iter().map(|name| clean(name)).collect(), first) {
            said.push(format!("{are}: what differs between them is this machine's noise."));
        }
    }
    said
}

/// `b and c are the same program as the baseline, file for file`; none without any.
fn same_as(names: Vec<String>, as_what: &str) -> Option<String> {
    let verb = if names.len() == 1 { "is" } else { "are" };
    (!names.is_empty()).then(|| format!("{} {verb} {}", named(names), same_program(as_what)))
}

fn same_program(as_what: &str) -> String {
    format!("the same program as {}, file for file", subject(&clean(as_what)))
}

fn of_workloads(findings: &Findings) -> Vec<String> {
    let deciding = &findings.method.deciding_metric;
    let tables: Vec<&Table> = findings.tables.iter().filter(|table| table.metric == *deciding).collect();
    let mut opening = vec![];
    if let Some(truth) = &findings.simulated {
        opening.push(format!("SIMULATED, not measured (planted: {}).", clean(truth)));
    }
    if tables.iter().all(|table| table.rows.iter().all(|row| row.summary.is_none())) {
        opening.push(nothing_yet(findings));
        return vec![opening.join(" ")];
    }
    if findings.blocks_finished < findings.blocks_total {
        let of = counted(findings.blocks_total, "block");
        opening.push(format!("So far: {} of {of}.", findings.blocks_finished));
    }
    let mains = tables.iter().filter_map(|table| {
        let mains = effects::sentence(findings, &table.workload, &table.condition)?;
        Some(if tables.len() > 1 { format!("{}: {mains}", label(&tables, table)) } else { mains })
    });
    let mains: Vec<String> = mains.collect();
    if !mains.is_empty() {
        let opening = (!opening.is_empty()).then(|| opening.join(" "));
        let variants = tables.iter().map(|table| {
            let label = if tables.len() > 1 { format!("{}: ", label(&tables, table)) } else { String::new() };
            format!("{label}Variant by variant: {}", statement(findings, table))
        });
        return opening.into_iter().chain(mains).chain(variants).chain(effects::conditions(findings)).collect();
    }
    match tables.as_slice() {
        [only] => {
            opening.push(statement(findings, only));
            vec![opening.join(" ")]
        }
        several => {
            let labelled =
                several.iter().map(|table| format!("{}: {}", label(several, table), statement(findings, table)));
            let opening = (!opening.is_empty()).then(|| opening.join(" "));
            opening.into_iter().chain(labelled).chain(effects::conditions(findings)).collect()
        }
    }
}

/// Why there is no answer at all.
fn nothing_yet(findings: &Findings) -> String {
    if !findings.builds.is_empty() && findings.builds.iter().all(|build| build.outcome != BuildOutcome::Built) {
        return format!("No answer: of {}, none succeeded.", counted(findings.builds.len() as u32, "build"));
    }
    let deciding = &findings.method.deciding_metric;
    if let Some(group) = findings.missing.iter().find(|group| group.metrics.contains(deciding)) {
        return format!("No answer: the deciding metric, {deciding}, was not measured: {}.", clean(&group.why));
    }
    if findings.tables.iter().any(|table| table.rows.iter().any(|row| row.summary.is_some())) {
        return format!("No answer: the deciding metric, {}, was not measured.", findings.method.deciding_metric);
    }
    if !findings.failures.is_empty() {
        return "No answer: of all trials so far, none counts; every one of them failed or is void.".to_owned();
    }
    let wanted = counted(findings.blocks_total, "block");
    format!("No answer yet: no trial of the {wanted} has ended; `bakeoff run` executes the study.")
}

/// What tells a table from the others: the workload, the condition, or both.
fn label(tables: &[&Table], table: &Table) -> String {
    let several = |name: fn(&Table) -> &str| tables.iter().map(|t| name(t)).collect::<BTreeSet<_>>().len() > 1;
    let name = match (several(|t| &t.workload), several(|t| &t.condition)) {
        (_, false) => table.workload.clone(),
        (false, true) => table.condition.clone(),
        (true, true) => format!("{} ({})", table.workload, table.condition),
    };
    clean(&name)
}

/// What is claimed of one table, as a sentence.
fn statement(findings: &Findings, table: &Table) -> String {
    let Some((baseline, others)) = table.rows.split_first() else { return "Nothing was measured.".to_owned() };
    if baseline.summary.is_none() {
        return format!("No comparison is possible: the baseline {}.", absence(findings, baseline, false));
    }
    let twin = table.noise_floor.as_ref().and_then(|row| row.comparison.as_ref());
    let doubt = twin.filter(|twin| matches!(twin.verdict, Verdict::Faster | Verdict::Slower));
    let warning = doubt
        .map_or_else(String::new, |twin| warning(table, "the baseline's twin, which is the same thing again", twin));
    let warning = warning + &others.iter().filter_map(|row| identical_build_warning(table, row)).collect::<String>();
    let mut clauses = match others {
        [] => vec!["Only the baseline was measured: there is nothing to compare it with".to_owned()],
        [Row { variant, comparison: Some(comparison), .. }] if is_settled(comparison) => {
            same_as(vec![clean(variant)], &baseline.variant).into_iter().collect()
        }
        [Row { variant, comparison: Some(comparison), .. }] => {
            vec![pair(&findings.method, table, &clean(variant), &clean(&baseline.variant), comparison)]
        }
        several => clauses(findings, table, baseline, several),
    };
    clauses.extend(lost(findings, table));
    format!("{warning}{}.", clauses.join("; "))
}

/// Whether there is nothing to decide, and nothing is claimed: it is the same program.
fn is_settled(comparison: &Comparison) -> bool {
    words::is_same_program(comparison) && words::is_open(comparison)
}

/// The baseline's twin was judged different from it. At 95 % confidence that happens to one study in twenty by chance
/// alone, so the claims stand, but not before their reader is warned.
fn warning(table: &Table, who: &str, twin: &Comparison) -> String {
    let change = Change::of(twin, table.unit);
    let wording = wording(table);
    let (amount, word) = (glue(&change.amount()), wording.verdict(twin.verdict));
    let [_, verb] = wording.verb();
    let judged = if wording.takes_is() {
        format!("judged {amount} {word} than it in {}", words::metric_in(&table.metric, table.unit))
    } else {
        format!("judged to {verb} {amount} {word} {} than it", table.metric)
    };
    format!("Beware: {who}, was {judged}; believe no difference of that size. ")
}

/// A variant that is the same thing as the baseline, file for file, is another twin of it.
fn identical_build_warning(table: &Table, row: &Row) -> Option<String> {
    let comparison = row.comparison.as_ref()?;
    let is_same = words::is_same_program(comparison);
    let is_claimed = matches!(comparison.verdict, Verdict::Faster | Verdict::Slower);
    let who = format!("{}, which is the same program as the baseline, file for file", clean(&row.variant));
    (is_same && is_claimed).then(|| warning(table, &who, comparison))
}

/// Why a row has no values.
fn absence(findings: &Findings, row: &Row, plural: bool) -> &'static str {
    match (&row.summary, unbuilt(findings, &row.variant), plural) {
        (Some(_), _, false) => "shares no block with the baseline",
        (Some(_), _, true) => "share no block with the baseline",
        (None, true, false) => "was not built",
        (None, true, true) => "were not built",
        (None, false, false) => "has no trial that counts",
        (None, false, true) => "have no trial that counts",
    }
}

/// Some, but not all trials of a variant failed: a reader of this sentence alone must know.
fn lost(findings: &Findings, table: &Table) -> Vec<String> {
    let here = |lost: &&FailedTrials| (&lost.workload, &lost.condition) == (&table.workload, &table.condition);
    let counts = |name: &str| table.rows.iter().any(|row| row.variant == name && row.summary.is_some());
    let failed = findings.failures.iter().filter(here).filter(|lost| lost.failed > 0 && counts(&lost.variant));
    failed
        .map(|lost| {
            let of = counted(lost.of, "trial");
            format!("{} of {of} of {} failed", lost.failed, subject(&clean(&lost.variant)))
        })
        .collect()
}

fn wording(table: &Table) -> Wording {
    Wording::of(table.unit, table.better)
}

/// The sentence about the only variant, with its interval.
fn pair(method: &Method, table: &Table, variant: &str, baseline: &str, comparison: &Comparison) -> String {
    let change = Change::with(comparison, comparison.printed_interval(), table.unit);
    let confidence = comparison.shown_confidence();
    let basis = |range: Option<String>| {
        let at = range.map(|range| format!("{} at {} confidence", glue(&range), glue(&percent(confidence))));
        at.into_iter().chain([counted(comparison.blocks, "block")]).collect::<Vec<_>>().join(", ")
    };
    let margin = glue(&format!("±{}", percent(method.margin)));
    let (metric, baseline) = (words::metric_in(&table.metric, table.unit), subject(baseline));
    let wording = wording(table);
    let (amount, [verb, _], word) = (glue(&change.amount()), wording.verb(), wording.direction(&change));
    let differs = if wording.takes_is() {
        format!("{variant} {verb} {amount} {word} than {baseline} in {metric}")
    } else {
        format!("{variant} {verb} {amount} {word} {metric} than {baseline}")
    };
    let signed = glue(&change.signed());
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => format!("{differs} ({})", basis(change.range())),
        Verdict::Negligible => {
            format!("{differs}, which is negligible: within {margin} ({})", basis(change.range()))
        }
        Verdict::Equivalent => format!(
            "{variant} is equivalent to {baseline} in {metric}, within {margin}: {signed} ({})",
            basis(change.signed_range())
        ),
        Verdict::Withheld => format!("There is no verdict on {variant}: it printed something other than {baseline}"),
        undecided @ Verdict::Undecided { .. } => format!(
            "Nothing was decided about {variant} against {baseline} in {metric}{}: {signed} ({})",
            words::more_blocks(undecided),
            basis(change.signed_range())
        ),
    }
}

/// A variant's name, and its comparison with the baseline.
type Compared<'a> = (String, &'a Comparison);

/// What is claimed of a group of variants.
enum Claim {
    Different,
    Negligible,
    Equivalent,
    Undecided,
    /// They are the same program as the baseline.
    Same,
    Withheld,
}

/// The clauses about several variants, one for each claim that is made; then the variants of which nothing can be said.
fn clauses(findings: &Findings, table: &Table, baseline: &Row, rows: &[Row]) -> Vec<String> {
    let of = |wanted: fn(Verdict) -> bool| {
        let rows = rows.iter().filter_map(|row| Some((clean(&row.variant), row.comparison.as_ref()?)));
        rows.filter(|(_, comparison)| wanted(comparison.verdict)).collect::<Vec<_>>()
    };
    let mut faster = of(|v| v == Verdict::Faster);
    let mut slower = of(|v| v == Verdict::Slower);
    // The farthest from the baseline first.
    faster.sort_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
    slower.sort_by(|a, b| b.1.estimate.total_cmp(&a.1.estimate));
    if table.better == Direction::More {
        faster.reverse();
        slower.reverse();
    }
    let (same, open): (Vec<_>, Vec<_>) =
        of(|v| matches!(v, Verdict::Undecided { .. })).into_iter().partition(|(_, comparison)| is_settled(comparison));
    let groups = [
        (Claim::Different, faster),
        (Claim::Different, slower),
        (Claim::Negligible, of(|v| v == Verdict::Negligible)),
        (Claim::Equivalent, of(|v| v == Verdict::Equivalent)),
        (Claim::Undecided, open),
        (Claim::Same, same),
        (Claim::Withheld, of(|v| v == Verdict::Withheld)),
    ];
    let made = groups.iter().filter(|(_, rows)| !rows.is_empty()).enumerate();
    let clauses = made.map(|(i, (claim, rows))| clause(&findings.method, table, baseline, claim, rows, i == 0));
    clauses.chain(missing(findings, rows)).collect()
}

/// One claim about some variants, at least one. Only the first clause says what they are compared with, and in what.
fn clause(
    method: &Method,
    table: &Table,
    baseline: &Row,
    claim: &Claim,
    rows: &[Compared<'_>],
    is_first: bool,
) -> String {
    let names = || named(rows.iter().map(|(name, _)| name.clone()).collect());
    let [is, has] = if rows.len() == 1 { ["is", "has"] } else { ["are", "have"] };
    let margin = glue(&format!("±{}", percent(method.margin)));
    let metric = words::metric_in(&table.metric, table.unit);
    match claim {
        Claim::Different => different(table, rows, is_first, true),
        Claim::Negligible => format!("{} (negligible: within {margin})", different(table, rows, is_first, false)),
        Claim::Equivalent if is_first => {
            format!("{} {is} equivalent to the baseline in {metric} within {margin}", names())
        }
        Claim::Equivalent => format!("{} {is} equivalent within {margin}", names()),
        Claim::Undecided => {
            let each = rows.iter().map(|(name, comparison)| name.clone() + &words::more_blocks(comparison.verdict));
            let about = named(each.collect());
            match is_first {
                true => format!("In {metric} nothing was decided about {about}"),
                false => format!("nothing was decided about {about}"),
            }
        }
        Claim::Same => format!("{} {is} {}", names(), same_program(&baseline.variant)),
        Claim::Withheld => format!("{} {has} no verdict, having printed something other than the baseline", names()),
    }
}

/// `b is 3.0 % faster than the baseline in wall, c 2.0 % faster and 2 others less so`; the others are less so only where
/// the rows are ordered.
fn different(table: &Table, rows: &[Compared<'_>], is_first: bool, is_ordered: bool) -> String {
    let wording = wording(table);
    let than = match wording.takes_is() {
        _ if !is_first => String::new(),
        true => format!(" than the baseline in {}", words::metric_in(&table.metric, table.unit)),
        false => format!(" {} than the baseline", table.metric),
    };
    let part = |(i, (name, comparison)): (usize, &Compared<'_>)| {
        let change = Change::of(comparison, table.unit);
        let by = format!("{} {}", glue(&change.amount()), wording.direction(&change));
        if i == 0 { format!("{name} {} {by}{than}", wording.verb()[0]) } else { format!("{name} {by}") }
    };
    let mut parts: Vec<String> = rows.iter().take(NAMED_MAX).enumerate().map(part).collect();
    if rows.len() > NAMED_MAX {
        let less = if is_ordered { " less so" } else { "" };
        parts.push(format!("{}{less}", counted((rows.len() - NAMED_MAX) as u32, "other")));
    }
    listed(&parts)
}

/// Variants of which nothing can be said, by reason.
fn missing(findings: &Findings, rows: &[Row]) -> Vec<String> {
    let absent: Vec<&Row> = rows.iter().filter(|row| row.comparison.is_none()).collect();
    let reasons: BTreeSet<&str> = absent.iter().map(|row| absence(findings, row, false)).collect();
    let clause = |reason: &str| {
        let same: Vec<&&Row> = absent.iter().filter(|row| absence(findings, row, false) == reason).collect();
        let names = named(same.iter().map(|row| clean(&row.variant)).collect());
        let words = same.first().map_or("", |row| absence(findings, row, same.len() > 1));
        format!("{names} {words}")
    };
    reasons.into_iter().map(clause).collect()
}
