//! What the screen says, for pages that are no screen: the same question, answer, rows and doubts, whole and without columns,
//! so that a verdict that is sent to somebody is the one that was seen. It lays nothing out.

use super::doubts::alarms;
use super::rows::{Cells, cells};
use super::view::{Stand, View, deciding};
use super::{Context, Extra, extras, last, question, status_parts};
use crate::draw::paint::Ink;
use crate::draw::text::unglue;
use crate::words::{self, metric_in};
use bakeoff_judge::findings::{Comparison, Findings, Verdict};
use bakeoff_model::metric::{Direction, Unit};

/// Room enough for every sentence.
const COLUMNS: usize = 10_000;
/// What a doubt begins with on the screen.
const DOUBT: char = '▲';

/// The screen without its layout. Names of others are in it as they may be shown on a terminal; a format has to escape them.
#[derive(Debug, Clone)]
pub struct Brief<'a> {
    /// The question.
    pub question: String,
    /// The answer, in a sentence.
    pub answer: String,
    /// What was measured how often, and the machine's noise.
    pub status: Vec<String>,
    /// The deciding metric, as a sentence names it, and its unit; none if it has no values.
    pub metric: Option<(String, Unit)>,
    /// A row for each variant, the best first.
    pub rows: Vec<BriefRow<'a>>,
    /// What else is worth saying.
    pub facts: Vec<String>,
    /// Doubts that matter, the gravest first.
    pub doubts: Vec<String>,
    /// How many of them may make the claims wrong; the rest say that they hold in part.
    pub grave: usize,
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
    pub name: String,
    /// What is claimed of it: `16.1 % faster`, `undecided`.
    pub claim: String,
    /// What the claim is, as an ink.
    pub ink: Ink,
    /// The interval that the claim rests on, in the claim's unit; empty if there is none.
    pub interval: String,
    /// Against the baseline; none for the baseline itself, or where there is nothing to compare.
    pub comparison: Option<&'a Comparison>,
    /// Trials of the baseline that count; blocks with both of a comparison.
    pub n: Option<u32>,
}

/// What the screen of these findings says.
pub fn brief<'a>(findings: &'a Findings, context: Context<'_>) -> Brief<'a> {
    let view = View::of(findings).map(|view| View { time_unit: context.time_unit, ..view });
    let view = view.as_ref();
    let alarms = alarms(findings, view);
    let (answer, _) = last(findings, view, &alarms, COLUMNS);
    let is_doubt = |extra: &Extra| extra.text.starts_with(DOUBT);
    let is_grave = |extra: &&Extra| extra.ink == Ink::Worse;
    let (doubts, facts): (Vec<Extra>, Vec<Extra>) = extras(findings, view, context).into_iter().partition(is_doubt);
    let text = |extra: Extra| unglue(extra.text.strip_prefix(DOUBT).unwrap_or(&extra.text).trim_start());
    let grave = alarms.len() + doubts.iter().filter(is_grave).count();
    let alarms = alarms.into_iter().map(|alarm| unglue(&alarm.line));
    Brief {
        question: question(findings, view),
        answer: unglue(&answer.join(" ")),
        status: status_parts(findings, view).iter().map(|part| unglue(part)).collect(),
        metric: view.map(|view| (metric_in(view.metric, view.unit).to_owned(), view.unit)),
        rows: view.map_or(vec![], |view| rows(findings, view)),
        facts: facts.into_iter().map(text).collect(),
        doubts: alarms.chain(doubts.into_iter().map(text)).collect(),
        grave,
        about: view.map(|view| About {
            unit: view.unit,
            better: view.better,
            condition: view.condition,
            workloads: view.workloads.clone(),
            twin: view.twin,
        }),
    }
}

/// The answer's sentence, and the verdict on the study in a word: `faster` if a variant is shown to be better than the baseline,
/// `slower` if all are shown to be worse, `equivalent` if all are within the margin, `withheld` where the comparison has no
/// meaning, `none` without a comparison, else `undecided`.
pub(crate) fn conclusion(findings: &Findings) -> (String, &'static str) {
    let view = View::of(findings);
    let alarms = alarms(findings, view.as_ref());
    let (answer, _) = last(findings, view.as_ref(), &alarms, COLUMNS);
    let compared: Vec<&Comparison> = view.iter().flat_map(View::compared).map(|(_, comparison)| comparison).collect();
    let all = |is: fn(&Comparison) -> bool| compared.iter().all(|comparison| is(comparison));
    let verdict = match compared.as_slice() {
        [] if words::one_program(findings).is_some() => "equivalent",
        [] => "none",
        _ if all(|c| c.verdict == Verdict::Withheld) => "withheld",
        _ if !all(|c| c.verdict != Verdict::Faster) => "faster",
        _ if all(|c| c.verdict == Verdict::Slower) => "slower",
        _ if all(Comparison::is_within) => "equivalent",
        _ => "undecided",
    };
    (unglue(&answer.join(" ")), verdict)
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
        let (ink, claim) = (claim.ink, unglue(&claim.text));
        BriefRow { variant: line.variant, name, claim, ink, interval: unglue(&interval), comparison, n }
    };
    view.lines.iter().map(row).collect()
}
