//! What the screen says, for pages that are no screen: the same question, answer, rows and doubts, whole and without columns,
//! so that a verdict that is sent to somebody is the one that was seen. It lays nothing out.

use super::amounts::{Amount, Size};
use super::facts::Cause;
use super::remark::{Doubt, Fact};
use super::remarks::Remarks;
use super::rows::{Cells, cells};
use super::view::{Stand, View, deciding};
use super::{Context, answer, question, status_parts};
use crate::draw::paint::Ink;
use crate::draw::rendered::{Rendered, Role};
use crate::draw::text::unglue;
use crate::words::{self, metric_in};
use bakeoff_judge::findings::{Comparison, Findings, Verdict};
use bakeoff_model::metric::{Direction, Unit};

/// Room enough for every sentence.
const COLUMNS: usize = 10_000;

/// The screen without its layout. Names of others are in it as they may be shown on a terminal; a format has to escape them.
#[derive(Debug, Clone)]
pub struct Brief<'a> {
    /// The question.
    pub question: Rendered,
    /// The answer, in a sentence.
    pub answer: Rendered,
    /// What was measured how often, and the machine's noise.
    pub status: Vec<Rendered>,
    /// The deciding metric, as a sentence names it, and its unit; none if it has no values.
    pub metric: Option<(String, Unit)>,
    /// A row for each variant, the best first.
    pub rows: Vec<BriefRow<'a>>,
    /// What else is worth saying.
    pub facts: Vec<Fact>,
    /// Doubts that matter, the gravest first.
    pub doubts: Vec<Doubt>,
    /// What the rows are about; none if the deciding metric has no values.
    pub about: Option<About<'a>>,
}

/// What the rows are about.
#[derive(Debug, Clone)]
pub struct About<'a> {
    /// The unit of the deciding metric.
    pub unit: Unit,
    /// Which way is better.
    pub better: Direction,
    /// The condition: the study's first.
    pub condition: &'a str,
    /// The workloads: one, or those that the rows are the mean of.
    pub workloads: Vec<&'a str>,
    /// The baseline against its twin, over the same.
    pub twin: Option<&'a Comparison>,
}

/// A variant.
#[derive(Debug, Clone)]
pub struct BriefRow<'a> {
    /// The variant, as the findings name it.
    pub variant: &'a str,
    /// Its name, and those of the variants that share its row.
    pub name: Rendered,
    /// What is claimed of it: `16.1 % faster`, `undecided`.
    pub claim: Rendered,
    /// What the claim is, as an ink.
    pub ink: Ink,
    /// The interval that the claim rests on, in the claim's unit; empty if there is none.
    pub interval: Rendered,
    /// How large the difference is that is claimed; none where none is.
    pub size: Option<Size>,
    /// Against the baseline; none for the baseline itself, or where there is nothing to compare.
    pub comparison: Option<&'a Comparison>,
    /// Trials of the baseline that count; blocks with both of a comparison.
    pub n: Option<u32>,
}

/// What the screen of these findings says.
pub fn brief<'a>(findings: &'a Findings, context: Context<'_>) -> Brief<'a> {
    let view = View::of(findings).map(|view| View { time_unit: context.time_unit, ..view });
    let view = view.as_ref();
    let remarks = Remarks::of(findings, view, context.causes);
    let unglued = |fact: Fact| Fact { text: fact.text.unglued(), ..fact };
    Brief {
        question: question(findings, view).unglued(),
        answer: answer(findings, view, &remarks, COLUMNS).unglued(),
        status: status_parts(findings, view, false).into_iter().map(|part| Rendered::from(unglue(&part))).collect(),
        metric: view.map(|view| (metric_in(view.metric, view.unit).to_owned(), view.unit)),
        rows: view.map_or(vec![], |view| rows(findings, view)),
        facts: remarks.facts.into_iter().chain(remarks.advice).map(unglued).collect(),
        doubts: remarks.doubts.into_iter().map(|doubt| Doubt { text: doubt.text.unglued(), ..doubt }).collect(),
        about: view.map(|view| About {
            unit: view.unit,
            better: view.better,
            condition: view.condition,
            workloads: view.workloads.clone(),
            twin: view.twin,
        }),
    }
}

/// The verdict on the study in a word: `faster` if a variant is shown to be better than the baseline, `slower` if all are shown to
/// be worse, `equivalent` if all are within the margin, `withheld` where the comparison has no meaning, `none` without a
/// comparison, else `undecided`.
pub(crate) fn verdict(findings: &Findings) -> &'static str {
    let view = View::of(findings);
    let compared: Vec<&Comparison> = view.iter().flat_map(View::compared).map(|(_, comparison)| comparison).collect();
    let all = |is: fn(&Comparison) -> bool| compared.iter().all(|comparison| is(comparison));
    match compared.as_slice() {
        [] if words::one_program(findings).is_some() => "equivalent",
        [] => "none",
        _ if all(|c| c.verdict == Verdict::Withheld) => "withheld",
        _ if !all(|c| c.verdict != Verdict::Faster) => "faster",
        _ if all(|c| c.verdict == Verdict::Slower) => "slower",
        _ if all(Comparison::is_within) => "equivalent",
        _ => "undecided",
    }
}

/// The answer, and lines of facts and doubts: what the screen says, for a page that has room for all of it.
pub(crate) fn said(findings: &Findings, causes: &[Cause]) -> (Rendered, Vec<(Rendered, Ink)>) {
    let view = View::of(findings);
    let remarks = Remarks::of(findings, view.as_ref(), causes);
    let alarms = remarks.alarms().map(|doubt| (doubt.line(), doubt.ink()));
    let lines = alarms.chain(remarks.lines().map(|(text, ink, _)| (text, ink))).collect();
    (answer(findings, view.as_ref(), &remarks, COLUMNS).with_whole_claims(), lines)
}

fn rows<'a>(findings: &'a Findings, view: &View<'a>) -> Vec<BriefRow<'a>> {
    let baseline = deciding(findings).find(|table| table.condition == view.condition);
    let baseline = baseline.filter(|_| view.workloads.len() == 1).and_then(|table| table.rows.first());
    let of_baseline = baseline.and_then(|row| row.summary.as_ref()).map(|summary| summary.n);
    let row = |line| {
        let Cells { name, claim, interval, .. } = cells(findings, view, line);
        let (comparison, n) = match line.stand {
            Stand::Baseline(_) => (None, of_baseline),
            Stand::Compared(comparison) => (Some(comparison), Some(comparison.blocks)),
            Stand::Absent(_) => (None, None),
        };
        let (ink, claim) = (claim.ink, claim.text.unglued());
        let name = Rendered::new(Role::Name, name);
        let size = comparison.and_then(|comparison| Amount::of(comparison, view.unit, view.better).size);
        BriefRow { variant: line.variant, name, claim, ink, size, interval: interval.unglued(), comparison, n }
    };
    view.lines.iter().map(row).collect()
}
