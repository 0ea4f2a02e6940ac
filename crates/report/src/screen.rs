//! The default report: one screen of 24 lines. The question first, then a row for each variant, the best first, what matters
//! besides, and in the last line the answer. What does not fit is left out by its weight, and the screen says how to see all.
//! It is made in one walk: the lines are made whole where their facts are known, and only put together here.

mod amounts;
mod answer;
mod brief;
mod doubts;
mod facts;
mod grounds;
mod rows;
mod view;

use crate::draw::Style;
use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::text::{clean, middle, width, wrap};
use crate::format::TimeUnit;
use crate::words::{self, Change, counted};
pub use amounts::Amount;
use bakeoff_judge::findings::{Findings, Scale};
pub(crate) use brief::conclusion;
pub use brief::{About, Brief, BriefRow, brief};
use doubts::Weight;
pub use facts::Cause;
pub use grounds::{Ground, grounds, margin};
use view::View;

/// Lines of a screen.
const LINES: usize = 24;
/// More variants than these get a line each beyond that.
const VARIANTS: usize = 12;
/// Lines of a question.
const QUESTION: usize = 2;
/// Alarms that are printed; the others are counted.
const ALARMS: usize = 2;

/// What the screen needs and the findings do not know.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The command that prints more of this: `bakeoff report STUDY`.
    pub more: &'a str,
    /// What features found to be consistent with differences.
    pub causes: &'a [Cause],
    /// Whether the rows stand in the order of the variants, and not the best first.
    pub as_typed: bool,
    /// The unit of times, if one is asked for.
    pub time_unit: Option<TimeUnit>,
}

/// A line that may be left out.
struct Extra {
    text: String,
    ink: Ink,
    /// The least is left out last.
    weight: u8,
}

/// The screen; it ends in a line feed.
pub fn screen(findings: &Findings, context: Context<'_>, style: Style) -> String {
    let columns = style.width;
    let view = View::of(findings).map(|view| View { time_unit: context.time_unit, ..view });
    let mut page = Page::default();
    head(findings, view.as_ref(), &mut page, columns);
    let alarms = doubts::alarms(findings, view.as_ref());
    let rows = view.as_ref().map_or(0, |view| view.lines.len());
    let budget = LINES + rows.saturating_sub(VARIANTS);
    let (answer, rest) = last(findings, view.as_ref(), &alarms, columns);
    let mut extras = extras(findings, view.as_ref(), context);
    extras.iter_mut().for_each(|extra| extra.text = shortened(&extra.text, columns));
    let titles = usize::from(rows > 0);
    let fixed = page.len() + alarms.len().min(ALARMS) + titles + rows + rest + answer.len();
    let room = budget.saturating_sub(fixed);
    let kept = keep(&extras, room);
    let left_out = extras.len() - kept.iter().filter(|kept| **kept).count() + alarms.len().saturating_sub(ALARMS);
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
        page.line(vec![Piece::new(middle(&format!("▲ {}", alarm.line), columns), Ink::Worse)]);
    }
    status(findings, view.as_ref(), &mut page, columns);
    if let Some(view) = &view {
        gap(&mut page);
        let lines = if context.as_typed { view.as_typed(findings) } else { view.lines.clone() };
        rows::print(findings, view, &lines, &mut page, columns);
        gap(&mut page);
    }
    for (extra, _) in extras.into_iter().zip(kept).filter(|(_, kept)| *kept) {
        page.line(vec![Piece::new(extra.text, extra.ink)]);
    }
    page.line(vec![Piece::new(middle(&more(context, left_out), columns), Ink::Aside)]);
    gap(&mut page);
    answer.into_iter().for_each(|line| page.line(vec![Piece::new(line, Ink::Heading)]));
    page.print(style.colour)
}

/// The lines of the answer, and how many others come after the extras: the status line and the one that names more.
fn last(
    findings: &Findings,
    view: Option<&View<'_>>,
    alarms: &[doubts::Alarm],
    columns: usize,
) -> (Vec<String>, usize) {
    let shorts: Vec<&[String]> = alarms.iter().map(|a| a.short.as_slice()).filter(|short| !short.is_empty()).collect();
    let most = shorts.iter().map(|short| short.len()).max().unwrap_or(1);
    let nth = |at: usize| shorts.iter().map(|short| short[at.min(short.len() - 1)].as_str()).collect::<Vec<_>>();
    let only_first = nth(most).into_iter().take(1).collect();
    let mut text = String::new();
    for words in (0..most).map(nth).chain([only_first]) {
        let before = if words.is_empty() { String::new() } else { format!("{}; ", words.join(", ")) };
        let answer = answer::answer(findings, view, columns.saturating_sub(width(&before)));
        text = format!("{before}{answer}");
        if width(&text) <= columns {
            break;
        }
    }
    (wrap(&text, columns, 0), 2)
}

/// The question, in its author's words or in ours.
fn question(findings: &Findings, view: Option<&View<'_>>) -> String {
    match (&findings.question, view.map(|view| view.lines.as_slice())) {
        (Some(question), _) => clean(question),
        (None, None) if words::one_program(findings).is_some_and(|all| all.len() == 2) => {
            let names = words::one_program(findings).unwrap_or_default();
            format!("{}: which is faster?", names.join(" or "))
        }
        (None, Some([one, other])) => {
            let first = findings.variants.first().map_or(one.variant, |variant| variant.name.as_str());
            let second = if one.variant == first { other.variant } else { one.variant };
            format!("{} or {}: which is faster?", clean(first), clean(second))
        }
        (None, Some([one])) if findings.variants.len() == 1 => match findings.method.deciding_metric.as_str() {
            "wall" => format!("{}: how long does it take?", clean(one.variant)),
            metric => format!("{}: how much is its {}?", clean(one.variant), words::metric(metric)),
        },
        (None, _) => format!(
            "{}: which of {} is fastest?",
            clean(&findings.study),
            counted(findings.variants.len() as u32, "variant")
        ),
    }
}

/// The question, in a few lines.
fn head(findings: &Findings, view: Option<&View<'_>>, page: &mut Page, columns: usize) {
    let mut lines = wrap(&question(findings, view), columns, 0);
    if lines.len() > QUESTION {
        lines.truncate(QUESTION);
        lines[QUESTION - 1] = middle(&format!("{} …", lines[QUESTION - 1]), columns);
    }
    lines.into_iter().for_each(|line| page.line(vec![Piece::new(middle(&line, columns), Ink::Heading)]));
}

/// What was measured how often, and the machine's noise.
fn status_parts(findings: &Findings, view: Option<&View<'_>>) -> Vec<String> {
    let mut parts = vec![];
    if let Some(view) = view {
        let metric = clean(words::metric_in(view.metric, view.unit));
        parts.push(match view.workloads.len() {
            0 | 1 => metric,
            several => format!("{metric}, mean over {several} workloads"),
        });
    }
    let cells = findings.blocks_total / findings.blocks_wanted.max(1);
    parts.push(match (findings.blocks_finished < findings.blocks_total, cells) {
        (true, _) => format!("{} of {}", findings.blocks_finished, counted(findings.blocks_total, "block")),
        (false, 0 | 1) => counted(findings.blocks_wanted, "block"),
        (false, cells) => format!("{cells} × {}", counted(findings.blocks_wanted, "block")),
    });
    let twin = view.and_then(|view| Some((view.twin.filter(|twin| twin.scale == Scale::Ratio)?, view.unit)));
    let noise = twin
        .and_then(|(twin, unit)| Change::interval_alone(twin, twin.interval().filter(|[low, high]| low < high), unit));
    parts.extend(noise.map(|noise| format!("machine's noise {noise}")));
    if view.is_some_and(|view| view.lines.len() > 2) {
        parts.push(margin(findings));
    }
    parts
}

/// The same in a line; the last parts give way where there is no room.
fn status(findings: &Findings, view: Option<&View<'_>>, page: &mut Page, columns: usize) {
    let mut parts = status_parts(findings, view);
    // The noise and the margin are worth more than two words.
    if width(&parts.join("; ")) > columns {
        parts[0] = parts[0].replacen("mean over ", "", 1);
    }
    while parts.len() > 1 && width(&parts.join("; ")) > columns {
        parts.pop();
    }
    page.line(vec![Piece::new(middle(&parts.join("; "), columns), Ink::Aside)]);
}

/// Everything that may be left out, in the order in which it is printed.
fn extras(findings: &Findings, view: Option<&View<'_>>, context: Context<'_>) -> Vec<Extra> {
    let mut extras: Vec<Extra> = vec![];
    let mut add = |texts: Vec<String>, ink: Ink, weight: u8| {
        extras.extend(texts.into_iter().enumerate().map(|(at, text)| Extra {
            text,
            ink,
            weight: weight.saturating_add(u8::try_from(at).unwrap_or(u8::MAX)),
        }));
    };
    if let Some(view) = view {
        add(facts::blocks(view).into_iter().collect(), Ink::Plain, 60);
        add(facts::pairs(view).into_iter().collect(), Ink::Plain, 65);
        let best = view.lines.first().map_or(String::new(), |line| clean(line.variant));
        let costs = facts::costs(findings, view);
        add(costs.into_iter().map(|cost| format!("{best} {cost}")).collect(), Ink::Plain, 50);
        add(facts::services(findings, view), Ink::Plain, 45);
        add(facts::trends(findings, view), Ink::Plain, 25);
        add(facts::options(findings, view).into_iter().collect(), Ink::Plain, 30);
        add(facts::disagreeing(findings, view), Ink::Plain, 15);
        add(facts::conditions(findings, view), Ink::Plain, 10);
        add(facts::causes(findings, context.causes), Ink::Plain, 20);
    }
    if !findings.asked.is_empty() {
        let asked = findings.asked.iter().map(|part| clean(part)).collect::<Vec<_>>().join(", ");
        add(vec![format!("asked again of the same trials: {asked}; the study fixed another question")], Ink::Open, 1);
    }
    let mut doubts = doubts::doubts(findings, view);
    doubts.dedup();
    let (look, part): (Vec<_>, Vec<_>) = doubts.into_iter().partition(|(weight, _)| *weight == Weight::Look);
    let marked = |(_, text): (Weight, String)| format!("▲ {text}");
    add(look.into_iter().map(marked).collect(), Ink::Worse, 0);
    let reasons = doubts::reasons(findings, view).into_iter().map(|reason| format!("▲ {reason}"));
    add(reasons.collect(), Ink::Worse, 3);
    let lost = doubts::lost(findings, view).map(|lost| format!("▲ {lost}"));
    add(lost.into_iter().collect(), Ink::Worse, 5);
    add(part.into_iter().map(marked).collect(), Ink::Open, 40);
    if let Some(view) = view {
        add(facts::to_decide(findings, view).into_iter().collect(), Ink::Open, 35);
    }
    extras
}

/// Which of them are kept: the lightest weights are the first to stay.
fn keep(extras: &[Extra], room: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..extras.len()).collect();
    order.sort_by_key(|at| extras[*at].weight);
    let mut kept = vec![false; extras.len()];
    order.into_iter().take(room).for_each(|at| kept[at] = true);
    kept
}

/// A line that is too long loses its end: between clauses, or else between words.
fn shortened(text: &str, columns: usize) -> String {
    let text = clean(&crate::draw::text::unglue(text));
    if width(&text) <= columns {
        return text;
    }
    let fits = text.char_indices().map_while(|(at, _)| (width(&text[..at]) + 2 <= columns).then_some(at)).last();
    let clauses = fits.and_then(|end| text[..end].rfind(", ").into_iter().chain(text[..end].rfind("; ")).max());
    if let Some(end) = clauses.filter(|end| width(&text[..*end]) > columns / 2) {
        return format!("{} …", &text[..end]);
    }
    let first = wrap(&text, columns.saturating_sub(2), 0).into_iter().next().unwrap_or_default();
    middle(&format!("{first} …"), columns)
}

fn more(context: Context<'_>, left_out: usize) -> String {
    match left_out {
        0 => format!("more: {} --all", context.more),
        n => format!("{n} more {}, and all tables: {} --all", if n == 1 { "line" } else { "lines" }, context.more),
    }
}
