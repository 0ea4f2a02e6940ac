//! Which option mattered: what each option does on average over the others, drawn like the forest plot, one panel for each
//! workload and condition; interactions and everything else follow in the report's own words.

use crate::forest::{NARROW, Panel, WIDE};
use crate::items::items;
use crate::text::{class_of, name, plain};
use bakeoff_judge::findings::{Effect, EffectKind, Effects, Findings};
use bakeoff_report::draw::paint::Item;
use bakeoff_report::{Amount, effect_names, words};
use maud::{Markup, html};

/// More places have the tables only.
const PANELS: usize = 4;

/// The drawing and the tables; nothing where no factors are crossed and nothing is summed up.
pub(crate) fn effects(findings: &Findings, of_section: &[Item]) -> Markup {
    let is_main = |family: &&Effects| {
        matches!(family.kind, EffectKind::Main | EffectKind::Trend) && family.metric == findings.method.deciding_metric
    };
    let mains: Vec<&Effects> = findings.effects.iter().filter(is_main).collect();
    html! {
        @for kind in [EffectKind::Main, EffectKind::Trend] {
            @let families: Vec<&Effects> = mains.iter().copied().filter(|family| family.kind == kind).collect();
            @if !families.is_empty() && families.len() <= PANELS && families.iter().any(|f| is_estimated(f)) { (drawing(findings, &families, kind)) }
        }
        @if !of_section.is_empty() {
            details open[mains.is_empty()] { summary { "Effects and interactions, all figures" } (items(of_section)) }
        }
    }
}

fn drawing(findings: &Findings, families: &[&Effects], kind: EffectKind) -> Markup {
    let several = |of: fn(&Effects) -> Option<&String>| families.iter().any(|f| of(f) != of(families[0]));
    let title = |family: &Effects| {
        let workload = family.workload.as_ref().filter(|_| several(|f| f.workload.as_ref()));
        let condition = family.condition.as_ref().filter(|_| several(|f| f.condition.as_ref()));
        workload.into_iter().chain(condition).cloned().collect::<Vec<_>>().join(", ")
    };
    let margin = findings.method.margin;
    let ticks = if families.len() > 1 { NARROW } else { WIDE };
    let panels =
        families.iter().enumerate().map(|(at, family)| panel(family, at, title(family), margin).with_ticks(ticks));
    let both: Vec<(&Effects, Panel<'_>)> = families.iter().copied().zip(panels).collect();
    let mut options: Vec<(&Effect, [String; 2])> = vec![];
    for family in families {
        for effect in &family.effects {
            if options.iter().all(|(known, _)| known.subject != effect.subject) {
                options.push((effect, effect_names(family, effect)));
            }
        }
    }
    html! {
        svg.defs aria-hidden="true" { defs { @for (_, panel) in &both { (panel.behind()) } } }
        table.eff {
            thead { tr {
                th scope="col" { @if kind == EffectKind::Main { "option" } @else { "step" } }
                @for (_, panel) in &both {
                    th.num scope="col" { (name(&panel.title)) }
                    th.pl.e scope="col" { span.sr { (name(&panel.title)) " drawn" } (panel.scale()) }
                }
            } }
            tbody {
                @for (option, [label, against]) in &options {
                    tr {
                        th scope="row" { (name(label)) small { "instead of " (name(against)) } }
                        @for (family, panel) in &both { (cells(family, panel, option)) }
                    }
                }
            }
        }
    }
}

fn is_estimated(family: &Effects) -> bool {
    family.effects.iter().any(|effect| effect.comparison.is_some())
}

fn panel(family: &Effects, at: usize, title: String, margin: f64) -> Panel<'_> {
    let rows = family.effects.iter().filter_map(|effect| Some(("", effect.comparison.as_ref()?)));
    let kind = if family.kind == EffectKind::Main { "me" } else { "te" };
    Panel::new(format!("{kind}{at}"), title, margin, None, rows.collect())
}

fn cells(family: &Effects, panel: &Panel<'_>, option: &Effect) -> Markup {
    let same = family.effects.iter().find(|effect| effect.subject == option.subject);
    let comparison = same.and_then(|effect| effect.comparison.as_ref());
    html! {
        td.num {
            @match comparison {
                Some(comparison) => {
                    @let Amount { claim, interval, .. } = Amount::of(comparison, family.unit, family.better);
                    b class=(class_of(words::ink(comparison.verdict))) { (plain(&claim)) } " " small { (plain(&interval)) }
                }
                None => { span.quiet { "not estimated" } }
            }
        }
        td.pl.e { (panel.row(comparison, "")) }
    }
}
