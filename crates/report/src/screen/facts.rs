//! The lines below the rows that are no doubts: in how many blocks, what the winner costs, which workloads and
//! conditions disagree, what each option does, what may be the cause, and how to decide what is open.

use super::amounts::Amount;
use super::view::{Stand, View, deciding, families};
use crate::draw::rendered::Rendered;
use crate::draw::text::{clean, glue, middle};
use crate::effects;
use crate::format::{bytes, quantity};
use crate::words::{Wording, counted, is_same_program, named};
use bakeoff_judge::findings::{Comparison, Effect, EffectKind, Effects, Findings, Inferred, Scale, Table, Verdict};
use bakeoff_model::grouped::unique;
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::plan::BASELINE;

/// Names in these lines are shortened to this.
const NAME: usize = 28;

/// From this number of workloads on, those that lie far from their mean are named too, and the farthest ones first.
const MANY: usize = 3;

/// More blocks are proposed up to this multiple of those there are: beyond that, they are not worth their time.
const WORTH: u32 = 3;

/// What a feature found to explain a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The variant that differs from the baseline.
    pub variant: String,
    /// What it is, in a few words.
    pub what: String,
}

/// The name of a variant, as lines of the screen have it.
pub fn name(variant: &str) -> String {
    if variant == BASELINE { "the baseline".to_owned() } else { middle(&clean(variant), NAME) }
}

/// `zstd is faster in 20 of 20 blocks`, of a pair.
pub(super) fn blocks(view: &View<'_>) -> Option<String> {
    let [(variant, comparison)] = view.compared().collect::<Vec<_>>().try_into().ok()?;
    let better = comparison.better_in?;
    let wording = Wording::of(view.unit, view.better);
    let (verb, word) = (wording.verb()[0], wording.verdict(Verdict::Faster));
    if !comparison.differs() {
        return None;
    }
    let is_worse = 2 * better < comparison.blocks;
    let (who, blocks) = if is_worse { (view.baseline(), comparison.blocks - better) } else { (variant, better) };
    let of = counted(comparison.blocks, "block");
    (view.lines.len() == 2).then(|| format!("{} {verb} {word} in {blocks} of {of}", name(who)))
}

/// How many of all pairs are shown to differ.
pub(super) fn pairs(view: &View<'_>) -> Option<String> {
    let ranking = view.ranking?;
    Some(match ranking.differ {
        differ if differ == ranking.pairs => format!("shown to differ: all {differ} pairs"),
        differ => format!("shown to differ: {differ} of {}", counted(ranking.pairs, "pair")),
    })
}

/// What the best variant takes besides, where it is not the baseline: memory, size, the time to make it.
pub(super) fn costs(findings: &Findings, view: &View<'_>) -> Vec<Rendered> {
    let Some(best) = view.lines.first() else { return vec![] };
    let Stand::Compared(comparison) = best.stand else { return vec![] };
    if !matches!(comparison.verdict, Verdict::Faster) {
        return vec![];
    }
    let mut costs: Vec<Rendered> = vec![];
    let memory = findings.tables.iter().find(|table| {
        matches!(table.metric.as_str(), "maxrss" | "peak" | "cgroup_peak") && table.condition == view.condition
    });
    costs.extend(memory.and_then(|table| memory_of(table, best.variant)));
    if let Some(cost) = findings.besides.costs.iter().find(|one| one.variant == best.variant) {
        let amount = Amount::of(&cost.time, Unit::Seconds, Direction::Less);
        costs.push(text![&cost.verb, " ", amount.claim]);
        costs.extend(cost.bytes.map(|[before, after]| size(before, after).into()));
    } else {
        let size_of = |variant: &str| findings.besides.sizes.get(variant).copied();
        let sizes = size_of(view.baseline()).zip(size_of(best.variant)).filter(|(before, after)| before != after);
        costs.extend(sizes.map(|(before, after)| size(before, after).into()));
    }
    costs.into_iter().map(|cost| text![clean(best.variant), " ", cost]).collect()
}

fn size(before: u64, after: u64) -> String {
    format!("takes {} on disk instead of {}", glue(&bytes(after as f64)), glue(&bytes(before as f64)))
}

fn memory_of(table: &Table, variant: &str) -> Option<Rendered> {
    let baseline = table.rows.first()?.summary.as_ref()?.median;
    let row = table.rows.iter().find(|row| row.variant == variant)?;
    let (own, comparison) = (row.summary.as_ref()?.median, row.comparison.as_ref()?);
    let amount = Amount::of(comparison, table.unit, table.better);
    amount.size?;
    let [own, baseline] = [own, baseline].map(|value| glue(&bytes(value)));
    Some(text!["needs ", own, " of memory instead of ", baseline, ": ", amount.claim])
}

/// What each service uses in a trial of the baseline: no other metric has a name of these two parts.
pub(super) fn services(findings: &Findings, view: &View<'_>) -> Vec<String> {
    let tables: Vec<&Table> = findings.tables.iter().filter(|table| table.condition == view.condition).collect();
    let typical = |table: &Table| Some(glue(&quantity(table.rows.first()?.summary.as_ref()?.median, table.unit)));
    let of_service = |table: &&Table| {
        let service = table.metric.strip_suffix(".cpu")?;
        let mut here = tables.iter().filter(|other| other.workload == table.workload);
        let peak = here.find(|other| other.metric.strip_suffix(".maxrss") == Some(service)).and_then(|it| typical(it));
        let peak = peak.map_or(String::new(), |peak| format!(", maxrss {peak}"));
        let of = if view.workloads.len() > 1 { format!(" of {}", name(&table.workload)) } else { String::new() };
        Some(format!("service {}: cpu {}{peak} in a trial{of}", name(service), typical(table)?))
    };
    tables.iter().filter_map(of_service).collect()
}

/// Workloads on which a variant does not do what it does over all of them.
pub(super) fn disagreeing(findings: &Findings, view: &View<'_>) -> Vec<Rendered> {
    if view.workloads.len() < 2 {
        return vec![];
    }
    let mut lines: Vec<(f64, Rendered)> = vec![];
    for (variant, whole) in view.compared() {
        let cells = deciding(findings).filter(|table| table.condition == view.condition).filter_map(|table| {
            let row = table.rows.iter().find(|row| row.variant == variant)?;
            let own = row.comparison.as_ref()?;
            let is_far = view.workloads.len() >= MANY && is_beyond(own, whole);
            (is_far || disagrees(own, whole)).then_some((table, own))
        });
        let mut cells: Vec<(&Table, &Comparison)> = cells.collect();
        // Of many, the first few are all that is read.
        if view.workloads.len() >= MANY {
            cells.sort_by(|(_, one), (_, other)| departure(other).total_cmp(&departure(one)));
        }
        let farthest = cells.iter().map(|(_, own)| departure(own)).fold(0.0, f64::max);
        if !cells.is_empty() {
            let cells = cells.iter().map(|(table, own)| text![clean(&table.workload), " ", short(own, table)]);
            lines.push((farthest, text![name(variant), ": ", Rendered::joined(cells, ", ")]));
        }
    }
    // Where there is no room for all, the largest difference stays.
    lines.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    lines.into_iter().map(|(_, line)| line).collect()
}

/// Whether a cell is shown to lie on the other side; or to differ where the whole does not, or the other way round.
fn disagrees(own: &Comparison, whole: &Comparison) -> bool {
    match (own.verdict, whole.verdict) {
        (Verdict::Faster, Verdict::Faster) | (Verdict::Slower, Verdict::Slower) => false,
        (Verdict::Faster | Verdict::Slower, _) => true,
        (Verdict::Equivalent | Verdict::Negligible, Verdict::Faster | Verdict::Slower) => true,
        _ => false,
    }
}

/// Whether a cell is shown to differ by more than the whole does, which then is mostly its doing.
fn is_beyond(own: &Comparison, whole: &Comparison) -> bool {
    let differs = matches!(own.verdict, Verdict::Faster | Verdict::Slower);
    let apart = own.interval().zip(whole.interval()).is_some_and(|(own, whole)| own[0] > whole[1] || own[1] < whole[0]);
    differs && apart && departure(own) > departure(whole)
}

/// How far a cell that is shown to differ lies from no difference; 0 for one that is not.
fn departure(comparison: &Comparison) -> f64 {
    let is_shown = matches!(comparison.verdict, Verdict::Faster | Verdict::Slower) && comparison.scale == Scale::Ratio;
    if is_shown { comparison.departure().abs() } else { 0.0 }
}

/// `+4.1 %`, or the verdict where that is no difference.
fn short(comparison: &Comparison, table: &Table) -> Rendered {
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => Amount::of(comparison, table.unit, table.better).claim.glued(),
        Verdict::Equivalent | Verdict::Negligible => "the same".into(),
        _ => "undecided".into(),
    }
}

/// What other conditions change, a line for each that changes something.
pub(super) fn conditions(findings: &Findings, view: &View<'_>) -> Vec<Rendered> {
    let others = unique(deciding(findings).map(|table| &*table.condition).filter(|other| *other != view.condition));
    let line = |condition: &&str| {
        let label = clean(condition);
        let changed = changed_under(findings, view, condition)?;
        Some(match changed.is_empty() {
            true if is_open(view) => text!["under ", label, ": undecided as well"],
            true => text!["under ", label, ": the same verdicts"],
            false => text!["under ", label, ": ", Rendered::joined(changed, ", ")],
        })
    };
    others.iter().filter_map(line).collect()
}

/// Whether the answer is another one under another condition.
pub(super) fn depends_on_condition(findings: &Findings, view: &View<'_>) -> bool {
    let mut others = deciding(findings).map(|table| &*table.condition).filter(|condition| *condition != view.condition);
    others.any(|other| changed_under(findings, view, other).is_some_and(|changed| !changed.is_empty()))
}

/// Whether nothing is decided.
fn is_open(view: &View<'_>) -> bool {
    view.compared().all(|(_, comparison)| matches!(comparison.verdict, Verdict::Undecided { .. }))
}

/// What is claimed under another condition of variants of which that is something else; none where nothing was
/// inferred.
fn changed_under(findings: &Findings, view: &View<'_>, condition: &str) -> Option<Vec<Rendered>> {
    let condition = findings.tables.iter().map(|table| table.condition.as_str()).find(|name| *name == condition)?;
    let there = View::under(findings, condition)?;
    if there.compared().all(|(_, comparison)| comparison.inferred == Inferred::TooFew) {
        return None;
    }
    let changed = view
        .compared()
        .filter_map(|(variant, here)| {
            let other = there.compared().find(|(name, _)| *name == variant).map(|(_, comparison)| comparison)?;
            let is_shown = |c: &Comparison| matches!(c.verdict, Verdict::Faster | Verdict::Slower);
            let is_other = here.verdict != other.verdict && (is_shown(here) || is_shown(other))
                || has_changed(findings, condition, variant);
            let amount = Amount::of(other, there.unit, there.better);
            is_other.then(|| text![name(variant), " ", amount.claim.glued()])
        })
        .collect();
    Some(changed)
}

/// Whether a variant's ratio under the condition is shown to be another one.
fn has_changed(findings: &Findings, condition: &str, variant: &str) -> bool {
    let families = families(findings, EffectKind::ConditionChange, condition);
    let is_it = |effect: &&Effect| effect.variant() == Some(variant);
    families.flat_map(|family| &family.effects).filter(is_it).any(|effect| {
        effect.comparison.as_ref().is_some_and(|c| matches!(c.verdict, Verdict::Faster | Verdict::Slower))
    })
}

/// What each option does on average over the others, the largest first; none unless factors are crossed.
pub(super) fn options(findings: &Findings, view: &View<'_>) -> Option<Rendered> {
    let family = families(findings, EffectKind::Main, view.condition).next()?;
    let mut shown: Vec<(&Effect, &Comparison)> = family
        .effects
        .iter()
        .filter_map(|effect| Some((effect, effect.comparison.as_ref()?)))
        .filter(|(_, comparison)| matches!(comparison.verdict, Verdict::Faster | Verdict::Slower))
        .collect();
    shown.sort_by(|a, b| b.1.estimate.ln().abs().total_cmp(&a.1.estimate.ln().abs()));
    let each = shown.iter().map(|(effect, comparison)| {
        let amount = Amount::of(comparison, family.unit, family.better).claim;
        text![effects::name(family, effect), " ", amount.glued()]
    });
    let each: Vec<Rendered> = each.collect();
    let place = family.workload.as_deref().filter(|_| view.workloads.len() > 1);
    let place = place.map_or(String::new(), |workload| format!(" on {}", clean(workload)));
    let interact = families(findings, EffectKind::Interaction, view.condition).flat_map(|family| &family.effects);
    let interact = interact.filter_map(|effect| effect.comparison.as_ref()).any(Comparison::differs);
    let average = if interact { " on average (some interact)" } else { " on average" };
    Some(match each.is_empty() {
        true => text!["options", place, average, ": none is shown to matter"],
        false => text!["options", place, average, ": ", Rendered::joined(each, ", ")],
    })
}

pub(super) fn trends(findings: &Findings, view: &View<'_>) -> Vec<Rendered> {
    let families = families(findings, EffectKind::Trend, view.condition);
    let line = |(family, effect): (&Effects, &Effect)| {
        let comparison = effect.comparison.as_ref()?;
        let Amount { claim, interval, .. } = Amount::of(comparison, family.unit, family.better);
        let place = family.workload.as_deref().filter(|_| view.workloads.len() > 1);
        let place = place.map_or(String::new(), |workload| format!(" on {}", clean(workload)));
        Some(text![effects::name(family, effect), place, ": ", claim, interval.bracketed()])
    };
    families.flat_map(|family| family.effects.iter().map(move |effect| (family, effect))).filter_map(line).collect()
}

/// Causes, a line for each variant.
pub(super) fn causes(findings: &Findings, causes: &[Cause]) -> Vec<String> {
    let tables = || findings.tables.iter().filter(|table| table.metric == findings.method.deciding_metric);
    let differs = |variant: &str| {
        let mut rows = tables().flat_map(|table| &table.rows).filter(|row| row.variant == variant);
        rows.any(|row| row.comparison.as_ref().is_some_and(Comparison::differs))
    };
    let mut lines: Vec<String> = vec![];
    let mut explained: Vec<&str> = vec![];
    for Cause { variant, what } in causes.iter().filter(|cause| differs(&cause.variant)) {
        // Of several workloads or conditions the first speaks for all; the section has each.
        if !explained.contains(&variant.as_str()) {
            explained.push(variant);
            lines.push(format!("why {}: {}", name(variant), clean(what)));
        }
    }
    lines
}

/// How to decide the open ones, where that is worth the time.
pub(super) fn to_decide(findings: &Findings, view: &View<'_>) -> Option<String> {
    if findings.method.stopping.is_some() || findings.simulated.is_some() {
        return None;
    }
    let open: Vec<(&str, &Comparison)> = view
        .compared()
        .filter(|(_, comparison)| {
            !is_same_program(comparison) && matches!(comparison.verdict, Verdict::Undecided { .. })
        })
        .collect();
    let within = |(variant, comparison): &(&str, &Comparison)| match comparison.verdict {
        Verdict::Undecided { more_blocks: Some(more) } if more <= WORTH * comparison.blocks => {
            Some((more, name(variant)))
        }
        _ => None,
    };
    let near: Vec<(u32, String)> = open.iter().filter_map(within).collect();
    let most = counted(near.iter().map(|(more, _)| *more).max()?, "more block");
    if near.len() < open.len() {
        let names = named(near.into_iter().map(|(_, name)| name).collect());
        return Some(format!("about {most} would settle {names}, but not the rest"));
    }
    Some(format!("about {most} would settle this; to use --until decided, start over"))
}

/// A difference in the metric's unit, where that is a time and the row a ratio: `+0.100 s`.
pub(super) fn in_seconds(view: &View<'_>, comparison: &Comparison) -> Option<String> {
    let before = view.typical().filter(|_| view.unit == Unit::Seconds && comparison.scale == Scale::Ratio)?;
    let by = before * (comparison.estimate - 1.0);
    let sign = if by < 0.0 { "−" } else { "+" };
    Some(format!("{sign}{}", view.duration(by.abs())))
}
