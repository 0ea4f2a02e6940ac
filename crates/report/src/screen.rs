//! The default report: one screen of 24 lines. The question first, then a row for each variant, the best first, what matters
//! besides, and in the last line the answer. What does not fit is left out by its weight, and the screen says how to see all.
//! It is made in one walk: the lines are made whole where their facts are known, and only put together here.

mod amounts;
mod answer;
mod brief;
mod doubts;
mod facts;
mod remark;
mod remarks;
mod rows;
mod view;

use crate::draw::Style;
use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::rendered::Rendered;
use crate::draw::text::{clean, middle, width};
use crate::format::{TimeUnit, percent};
use crate::places;
use crate::words::{self, Change, counted};
pub use amounts::{Amount, As, Size, not_apart};
use answer::Names;
use bakeoff_judge::findings::{Findings, Scale};
use bakeoff_model::metric::Unit;
pub use brief::{About, Brief, BriefRow, brief};
pub(crate) use brief::{said, verdict};
pub use facts::{Cause, name};
pub use remark::{Doubt, Fact, Weight};
pub(crate) use remarks::Remarks;
use std::iter::repeat;
use view::View;

const LINES: usize = 24;
/// More variants than these get a line each beyond that.
const VARIANTS: usize = 12;
/// Lines of a question.
const QUESTION: usize = 2;
/// Lines after the remarks: the status line and the one that names more.
const FOLLOWING: usize = 2;
/// Alarms that are printed; the others are counted.
const ALARMS: usize = 2;

/// What the screen needs and the findings do not know.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The command that prints more of this: `bakeoff report STUDY`.
    pub more: &'a str,
    /// What features found to explain differences.
    pub causes: &'a [Cause],
    /// Whether the rows stand in the order of the variants, and not the best first.
    pub as_typed: bool,
    /// The unit of times, if one is asked for.
    pub time_unit: Option<TimeUnit>,
}

/// The screen; it ends in a line feed.
pub fn screen(findings: &Findings, context: Context<'_>, style: Style) -> String {
    let columns = style.width;
    let view = View::of(findings).map(|view| View { time_unit: context.time_unit, ..view });
    let mut page = Page::default();
    head(findings, view.as_ref(), &mut page, columns);
    let remarks = Remarks::of(findings, view.as_ref(), context.causes);
    let alarms: Vec<&Doubt> = remarks.alarms().collect();
    let rows = view.as_ref().map_or(0, |view| view.lines.len());
    let budget = LINES + rows.saturating_sub(VARIANTS);
    let answer = answer(findings, view.as_ref(), &remarks, columns).wrapped(columns, 0);
    let lines: Vec<(Rendered, Ink, u32)> = remarks.lines().collect();
    let titles = usize::from(rows > 0);
    let fixed = page.len() + alarms.len().min(ALARMS) + titles + rows + FOLLOWING + answer.len();
    let kept = keep(&lines, budget.saturating_sub(fixed));
    let left_out = lines.len() - kept.iter().filter(|kept| **kept).count() + alarms.len().saturating_sub(ALARMS);
    let shown = kept.iter().filter(|kept| **kept).count();
    // Empty lines are a luxury: before the rows, after them, and before the answer.
    let mut gaps = budget.saturating_sub(fixed + shown);
    let mut gap = |page: &mut Page| {
        if gaps > 0 {
            gaps -= 1;
            page.gap();
        }
    };
    for alarm in alarms.iter().take(ALARMS) {
        page.line(vec![Piece::new(alarm.line().middle(columns), Ink::Worse)]);
    }
    status(findings, view.as_ref(), &mut page, columns);
    if let Some(view) = &view {
        gap(&mut page);
        let lines = if context.as_typed { view.as_typed(findings) } else { view.lines.clone() };
        rows::print(findings, view, &lines, &mut page, columns);
        gap(&mut page);
    }
    for ((text, ink, _), _) in lines.into_iter().zip(kept).filter(|(_, kept)| *kept) {
        page.line(vec![Piece::new(text.shortened(columns), ink)]);
    }
    page.line(vec![Piece::new(middle(&more(context, left_out), columns), Ink::Aside)]);
    gap(&mut page);
    answer.into_iter().for_each(|line| page.line(vec![Piece::new(line, Ink::Heading)]));
    page.print(style.colour)
}

/// The answer, behind a few words of each alarm; in one line of that many columns if it can be.
fn answer(findings: &Findings, view: Option<&View<'_>>, remarks: &Remarks, columns: usize) -> Rendered {
    let shorts: Vec<&[Rendered]> = remarks.alarms().map(|a| a.short.as_slice()).filter(|s| !s.is_empty()).collect();
    let most = shorts.iter().map(|short| short.len()).max().unwrap_or(1);
    let nth = |at: usize| shorts.iter().map(|short| short[at.min(short.len() - 1)].clone()).collect::<Vec<_>>();
    let only_first: Vec<Rendered> = nth(most).into_iter().take(1).collect();
    let forms = || (0..most).map(nth).chain([only_first.clone()]);
    let mut text = Rendered::default();
    // Words of alarms give way before names do.
    for (words, names) in forms().zip(repeat(Names::Exact)).chain(forms().zip(repeat(Names::Cut))) {
        let before = if words.is_empty() { Rendered::default() } else { text![Rendered::joined(words, ", "), "; "] };
        let answer = answer::answer(findings, view, columns.saturating_sub(before.width()), names);
        text = text![before, answer];
        if text.width() <= columns {
            break;
        }
    }
    text
}

/// The question, in its author's words or in ours.
fn question(findings: &Findings, view: Option<&View<'_>>) -> Rendered {
    let names = words::one_program(findings);
    let all = names.as_ref().filter(|_| view.is_none()).map_or(findings.variants.len(), Vec::len);
    let metric = findings.method.deciding_metric.as_str();
    let is_time = metric == "wall" || view.is_none_or(|view| view.unit == Unit::Seconds);
    let [faster, fastest] = match is_time {
        true => ["faster", "fastest"].map(str::to_owned),
        false => ["better", "best"].map(|word| format!("{word} in {}", clean(words::metric(metric)))),
    };
    let question = match (&findings.question, view.map(|view| view.lines.as_slice())) {
        (Some(question), _) => clean(question),
        (None, None) if all == 2 && names.is_some() => {
            format!("{}: which is {faster}?", names.unwrap_or_default().join(" or "))
        }
        (None, Some([one, other])) => {
            let first = findings.variants.first().map_or(one.variant, |variant| variant.name.as_str());
            let second = if one.variant == first { other.variant } else { one.variant };
            format!("{} or {}: which is {faster}?", clean(first), clean(second))
        }
        (None, _) if all == 1 => match metric {
            "wall" => format!("{}: how long does it take?", clean(&findings.variants[0].name)),
            metric => format!("{}: what is its {}?", clean(&findings.variants[0].name), words::metric(metric)),
        },
        (None, _) => {
            format!("{}: which of {} is {fastest}?", clean(&findings.study), counted(all as u32, "variant"))
        }
    };
    question.into()
}

/// The question, in a few lines.
fn head(findings: &Findings, view: Option<&View<'_>>, page: &mut Page, columns: usize) {
    let mut lines = question(findings, view).wrapped(columns, 0);
    if lines.len() > QUESTION {
        lines.truncate(QUESTION);
        lines[QUESTION - 1] += " …";
    }
    lines.into_iter().for_each(|line| page.line(vec![Piece::new(line.middle(columns), Ink::Heading)]));
}

/// What was measured how often, and the machine's noise; in fewer words if it is terse.
fn status_parts(findings: &Findings, view: Option<&View<'_>>, is_terse: bool) -> Vec<String> {
    let mut parts = vec![];
    if let Some(view) = view {
        let metric = clean(words::metric_in(view.metric, view.unit));
        parts.push(match view.workloads.len() {
            0 | 1 => metric,
            several if is_terse => format!("{metric}, {several} workloads"),
            several => format!("{metric}, mean over {several} workloads"),
        });
    }
    let cells = findings.blocks_total / findings.blocks_wanted.max(1);
    let blocks = match (findings.blocks_finished < findings.blocks_total, cells) {
        (true, _) => format!("{} of {}", findings.blocks_finished, counted(findings.blocks_total, "block")),
        (false, 0 | 1) => counted(findings.blocks_wanted, "block"),
        (false, cells) => format!("{cells} × {}", counted(findings.blocks_wanted, "block")),
    };
    parts.push(blocks + &places::on_nodes(findings));
    let twin = view.and_then(|view| Some((view.twin.filter(|twin| twin.scale == Scale::Ratio)?, view.unit)));
    let noise = twin
        .and_then(|(twin, unit)| Change::interval_alone(twin, twin.interval().filter(|[low, high]| low < high), unit));
    let of_nodes = view.and_then(|view| places::noise(findings, view.condition, is_terse));
    let of_all = noise.map(|noise| format!("machine's noise {noise}"));
    parts.extend(of_nodes.filter(|parts| !parts.is_empty()).unwrap_or_else(|| of_all.into_iter().collect()));
    if view.is_some_and(|view| view.lines.len() > 2) {
        parts.push(margin(findings));
    }
    parts
}

/// The margin, as it is drawn: `margin ±1 %`.
pub fn margin(findings: &Findings) -> String {
    format!("margin ±{}", percent(findings.method.margin))
}

/// The same in a line; the last parts give way where there is no room.
fn status(findings: &Findings, view: Option<&View<'_>>, page: &mut Page, columns: usize) {
    let mut parts = status_parts(findings, view, false);
    // The noise and the margin are worth more than two words.
    if width(&parts.join("; ")) > columns {
        parts = status_parts(findings, view, true);
    }
    while parts.len() > 1 && width(&parts.join("; ")) > columns {
        parts.pop();
    }
    page.line(vec![Piece::new(middle(&parts.join("; "), columns), Ink::Aside)]);
}

/// Which of them are kept: those of the lowest priorities are the first to stay.
fn keep(lines: &[(Rendered, Ink, u32)], room: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|at| lines[*at].2);
    let mut kept = vec![false; lines.len()];
    order.into_iter().take(room).for_each(|at| kept[at] = true);
    kept
}

fn more(context: Context<'_>, left_out: usize) -> String {
    match left_out {
        0 => format!("more: {} --all", context.more),
        n => format!("for {n} more {} and all tables: {} --all", if n == 1 { "line" } else { "lines" }, context.more),
    }
}
