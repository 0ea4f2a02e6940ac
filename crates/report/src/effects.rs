//! What factors, suites and conditions do, on the deciding metric: a table for each family. Of interactions only those
//! that are shown are listed; the others are counted. Effects on other metrics are in the JSON.

use crate::caveats::{self, caveats};
use crate::draw::grid::{Flush, Grid};
use crate::draw::notes::Notes;
use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::rendered::Rendered;
use crate::draw::text::{clean, glue};
use crate::format::percent;
use crate::words::{self, Change, Wording, named};
use bakeoff_judge::findings::{Effect, EffectKind, Effects, Findings, Level, Over, Step, Subject, Verdict};
use bakeoff_model::grouped::grouped;
use bakeoff_model::metric::Unit;

/// More families of simple effects than these are not printed.
const SIMPLE_MAX: usize = 12;

/// What an effect is called, and what it is compared with: `malloc=perl × threads=on` and `malloc=system, threads=off`.
pub fn effect_names(family: &Effects, effect: &Effect) -> [String; 2] {
    let change = family.condition.as_ref().zip(family.first_condition.as_ref());
    match (&effect.subject, change) {
        (Subject::Levels(steps), _) => {
            let each = |of: fn(&Step) -> &String| steps.iter().map(move |step| format!("{}={}", step.factor, of(step)));
            let levels: Vec<String> = each(|step| &step.level).collect();
            let against: Vec<String> = each(|step| &step.against).collect();
            [levels.join(" × "), against.join(", ")]
        }
        (Subject::Steps { factor }, _) => [format!("{factor}, each step"), "the step before".to_owned()],
        (Subject::Condition { variant, condition, against }, _) => [format!("{variant}: {condition}"), against.clone()],
        (Subject::Variant { variant, .. }, Some((condition, first))) => {
            [format!("{variant} × {condition}"), first.clone()]
        }
        (Subject::Variant { variant, against }, None) => [variant.clone(), against.clone()],
    }
}

/// Draws the levels of one factor against each other, neither of them the baseline's.
pub fn levels(findings: &Findings, page: &mut Page, notes: &mut Notes, columns: usize) {
    print(findings, true, page, notes, columns);
}

/// The families on the deciding metric: pairs of levels of one factor, or all others.
pub(crate) fn print(findings: &Findings, of_levels: bool, page: &mut Page, notes: &mut Notes, columns: usize) {
    let deciding = |family: &&Effects| {
        family.metric == findings.method.deciding_metric && (family.kind == EffectKind::Levels) == of_levels
    };
    let simple: Vec<&Effects> =
        findings.effects.iter().filter(deciding).filter(|f| f.kind == EffectKind::Simple).collect();
    for family in findings.effects.iter().filter(deciding) {
        if family.kind == EffectKind::Simple {
            continue;
        }
        page.gap();
        page.paragraph(heading(family), columns, 2, Ink::Heading);
        let shown: Vec<&Effect> = family.effects.iter().filter(|effect| is_listed(family.kind, effect)).collect();
        if !shown.is_empty() {
            table(findings, family, &shown, notes).print(page, columns);
        }
        if let Some(sentence) = unlisted(findings, family) {
            page.paragraph(&sentence, columns, 2, Ink::Plain);
        }
        if let Some(sentence) = averaged(family, &shown) {
            page.paragraph(&sentence, columns, 2, Ink::Plain);
        }
        for alias in &family.aliases {
            page.paragraph(text!["cannot be distinguished: ", caveats::alias(alias)], columns, 2, Ink::Open);
        }
        if family.kind == EffectKind::Interaction {
            let here = |f: &&&Effects| (&f.workload, &f.condition) == (&family.workload, &family.condition);
            print_simple(&simple.iter().filter(here).copied().collect::<Vec<_>>(), page, notes, columns);
        }
    }
}

/// Over which combinations the effects of a table are averaged, where that is not all of them.
fn averaged(family: &Effects, shown: &[&Effect]) -> Option<String> {
    let compared = shown.iter().filter(|effect| effect.comparison.is_some());
    let parts = grouped(compared.filter_map(|effect| Some((over(effect.over.as_ref()?), name(family, effect)))));
    let parts: Vec<String> = parts.into_iter().map(|(over, names)| format!("{} {over}", named(names))).collect();
    (!parts.is_empty()).then(|| format!("averaged only over complete combinations: the effect of {}", parts.join("; ")))
}

/// `over opt=O0, O2`, or how many of the combinations where they are not all of some levels.
fn over(over: &Over) -> String {
    let of = |(factor, levels): (&String, &Vec<String>)| {
        let levels: Vec<String> = levels.iter().map(|level| glue(&clean(level))).collect();
        format!("{}={}", clean(factor), levels.join(", "))
    };
    if over.levels.is_empty() {
        let (some, all) = (over.combinations.len(), over.of);
        return format!("over {some} of {all} combinations of the other options");
    }
    format!("over {}", over.levels.iter().map(of).collect::<Vec<_>>().join(" and "))
}

/// Simple effects of one place, a paragraph for each family; nothing where there are too many: the JSON has all.
fn print_simple(families: &[&Effects], page: &mut Page, notes: &mut Notes, columns: usize) {
    if families.is_empty() || families.len() > SIMPLE_MAX {
        return;
    }
    page.gap();
    page.paragraph(heading(families[0]), columns, 2, Ink::Heading);
    for family in families {
        let each = family.effects.iter().map(|effect| {
            let within = clean(&effect.within.as_ref().map(Level::to_string).unwrap_or_default());
            let Some(comparison) = &effect.comparison else { return text![within, " not estimated"] };
            let change = Change::of(comparison, family.unit);
            let range = change.signed_range().map_or(String::new(), |range| format!(" ({})", glue(&range)));
            let mark = notes.mark(caveats(&comparison.caveats));
            let part = effect.over.as_ref().map_or(String::new(), |part| format!(", {}", over(part)));
            let by = format!("{within}{part} {}{range} ", glue(&change.signed()));
            text![by, word(family, comparison.verdict), mark]
        });
        let Some(first) = family.effects.first() else { continue };
        let opening = clean(&effect_names(family, first).join(" against "));
        page.paragraph(text![opening, ": ", Rendered::joined(each, "; ")], columns, 2, Ink::Plain);
    }
}

/// The first of them.
pub(crate) fn name(family: &Effects, effect: &Effect) -> String {
    clean(&effect_names(family, effect)[0])
}

fn heading(family: &Effects) -> String {
    let place = match (&family.workload, &family.condition) {
        (Some(workload), Some(condition)) => format!("{workload} ({condition})"),
        (Some(workload), None) => workload.clone(),
        (None, Some(condition)) => format!("all workloads ({condition})"),
        (None, None) => "all workloads".to_owned(),
    };
    let metric = &family.metric;
    let what = match family.kind {
        EffectKind::Main if family.effects.iter().any(|effect| effect.over.is_some()) => {
            format!("effect of each option on {metric}, on average over the others")
        }
        EffectKind::Main => format!("effect of each option on {metric}, over all levels of the others"),
        EffectKind::Simple => format!("effect of each option on {metric} within each level of another option"),
        EffectKind::Interaction => format!("combined effect of two options on {metric}, beyond their separate effects"),
        EffectKind::Levels => {
            format!("levels of one factor compared by {metric}, with all other factors as in the baseline")
        }
        EffectKind::Trend => format!("effect of each step on {metric}, over all steps"),
        EffectKind::Suite => format!("{metric}, geometric mean of the workloads' ratios"),
        EffectKind::Condition => format!("effect of this condition on {metric}"),
        EffectKind::ConditionChange => {
            format!("how each variant's {metric} ratio to the baseline changes under this condition")
        }
    };
    format!("{}: {what}", clean(&place))
}

fn is_shown(effect: &Effect) -> bool {
    let verdict = effect.comparison.as_ref().map(|comparison| comparison.verdict);
    matches!(verdict, Some(Verdict::Faster | Verdict::Slower | Verdict::Negligible))
}

/// Of interactions there are many, and most are nothing.
fn is_listed(kind: EffectKind, effect: &Effect) -> bool {
    kind != EffectKind::Interaction || is_shown(effect)
}

fn table(findings: &Findings, family: &Effects, shown: &[&Effect], notes: &mut Notes) -> Grid {
    let interval = format!("ratio [{} interval]", percent(findings.method.confidence));
    let left = |title: &str| (title.to_owned(), Flush::Left);
    let n = ("n".to_owned(), Flush::Right);
    let mut grid = Grid::new([left("effect"), left("against"), left(&interval), left("verdict"), n]);
    for effect in shown {
        let [name, against] = effect_names(family, effect).map(|name| clean(&name));
        let mut cells = vec![Piece::plain(name), Piece::new(against, Ink::Aside)];
        match &effect.comparison {
            Some(comparison) => {
                cells.push(Piece::plain(words::against_baseline(comparison, 1.0)));
                let mark = notes.mark(caveats(&comparison.caveats));
                let word = word(family, comparison.verdict);
                cells.push(Piece::new(text![word, mark], words::ink(comparison.verdict)));
                cells.push(Piece::plain(comparison.blocks.to_string()));
            }
            None => {
                let why = effect.refused.as_ref().map(caveats::refusal);
                let why = why.unwrap_or_else(|| "no block has all required trials".into());
                cells.push(Piece::new("–", Ink::Aside));
                cells.push(Piece::new(text!["not estimated", notes.mark([why])], Ink::Worse));
                cells.push(Piece::plain("0"));
            }
        }
        grid.row(cells);
    }
    grid
}

/// An interaction is not faster or slower; it is there.
fn word(family: &Effects, verdict: Verdict) -> &'static str {
    let is_interaction = matches!(family.kind, EffectKind::Interaction | EffectKind::ConditionChange);
    let unit = if is_interaction { Unit::Count } else { family.unit };
    Wording::of(unit, family.better).verdict(verdict)
}

/// The interactions that are not listed.
fn unlisted(findings: &Findings, family: &Effects) -> Option<String> {
    if family.kind != EffectKind::Interaction {
        return None;
    }
    let of = |wanted: fn(&Verdict) -> bool| {
        let has = |e: &&Effect| e.comparison.as_ref().is_some_and(|c| wanted(&c.verdict));
        family.effects.iter().filter(has).map(|e| name(family, e)).collect::<Vec<_>>()
    };
    let (absent, open) = (of(|v| *v == Verdict::Equivalent), of(|v| matches!(v, Verdict::Undecided { .. })));
    let refused: Vec<String> =
        family.effects.iter().filter(|e| e.comparison.is_none()).map(|e| name(family, e)).collect();
    let margin = glue(&format!("±{}", percent(findings.method.margin)));
    let mut parts = vec![];
    if !absent.is_empty() {
        parts.push(format!("shown to be within {margin}: {}", named(absent)));
    }
    if !open.is_empty() {
        parts.push(format!("undecided: {}", named(open)));
    }
    if !refused.is_empty() {
        parts.push(format!("not estimated: {}", named(refused)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}
