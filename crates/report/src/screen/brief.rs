//! What the screen says, for pages that are no screen: the same question, answer, rows and doubts, whole and without columns,
//! so that a verdict that is sent to somebody is the one that was seen. It lays nothing out.

use super::doubts::alarms;
use super::rows::{Cells, cells};
use super::view::{Stand, View, deciding};
use super::{Context, Extra, extras, last, question, status_parts};
use crate::draw::text::unglue;
use crate::words::metric_in;
use bakeoff_judge::findings::{Comparison, Findings};
use bakeoff_model::metric::Unit;

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
}

/// A variant.
#[derive(Debug, Clone)]
pub struct BriefRow<'a> {
    /// Its name, and those of the variants that share its row.
    pub name: String,
    /// What is claimed of it: `16.1 % faster`, `undecided`.
    pub claim: String,
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
    let (doubts, facts): (Vec<Extra>, Vec<Extra>) = extras(findings, view, context).into_iter().partition(is_doubt);
    let text = |extra: Extra| unglue(extra.text.strip_prefix(DOUBT).unwrap_or(&extra.text).trim_start());
    let alarms = alarms.into_iter().map(|alarm| unglue(&alarm.line));
    Brief {
        question: question(findings, view),
        answer: unglue(&answer.join(" ")),
        status: status_parts(findings, view).iter().map(|part| unglue(part)).collect(),
        metric: view.map(|view| (metric_in(view.metric, view.unit).to_owned(), view.unit)),
        rows: view.map_or(vec![], |view| rows(findings, view)),
        facts: facts.into_iter().map(text).collect(),
        doubts: alarms.chain(doubts.into_iter().map(text)).collect(),
    }
}

fn rows<'a>(findings: &'a Findings, view: &View<'a>) -> Vec<BriefRow<'a>> {
    let baseline = deciding(findings).find(|table| table.condition == view.condition);
    let baseline = baseline.filter(|_| view.workloads.len() == 1).and_then(|table| table.rows.first());
    let of_baseline = baseline.and_then(|row| row.summary.as_ref()).map(|summary| summary.n);
    let row = |line| {
        let Cells { name, claim, .. } = cells(findings, view, line);
        let (comparison, n) = match line.stand {
            Stand::Baseline(_) => (None, of_baseline),
            Stand::Compared(comparison) => (Some(comparison), Some(comparison.blocks)),
            Stand::Absent(_) => (None, None),
        };
        BriefRow { name, claim: unglue(&claim.text), comparison, n }
    };
    view.lines.iter().map(row).collect()
}
