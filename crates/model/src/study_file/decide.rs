//! `[plan]`, `[plans.NAME]` and `[decide]`: how many blocks of which variants, and how they are judged.

use super::factors::{PlacedFactor, levels};
use super::section::{Section, Sink};
use crate::metric::METRICS;
use crate::problem::suggest;
use crate::study::{Decide, Levels, PlanSpec, VariantRule};
use crate::until::{self, Until};
use std::ops::Range;
use toml::de::DeValue;

/// The name of `[plan]`.
pub(super) const DEFAULT_PLAN: &str = "default";

const MOST_BLOCKS: i64 = 10_000;
const DEFAULT_METRICS: &[&str] = &["wall", "cpu", "maxrss"];

/// The plans: `[plan]` first, and each named one with `[plan]`'s keys where it has none of its own.
pub(super) fn plans(file: &Section<'_>, build: &[PlacedFactor], run: &[PlacedFactor]) -> Vec<PlanSpec> {
    let until = Until::default();
    let (name, blocks) = (DEFAULT_PLAN.to_owned(), until.default_blocks());
    let mut default = Base {
        spec: PlanSpec { name, blocks, until, seed: 1, variants: VariantRule::All, vary: vec![], void_if: vec![] },
        counted: false,
    };
    if let Some(section) = file.section("plan") {
        default = plan(&section, default, build, run);
    }
    let mut plans = vec![default.spec.clone()];
    for section in file.named_sections("plans") {
        if section.name == DEFAULT_PLAN {
            let message = "the plan `default` is `[plan]` itself";
            section.sink.report(section.span.clone(), message, "", "write `[plan]`, or choose another name");
        }
        let spec = PlanSpec { name: section.name.clone(), ..default.spec.clone() };
        plans.push(plan(&section, Base { spec, ..default }, build, run).spec);
    }
    plans
}

/// A plan as far as it was read, and whether its number of blocks was named or is a rule's own.
struct Base {
    spec: PlanSpec,
    counted: bool,
}

fn plan(section: &Section<'_>, base: Base, build: &[PlacedFactor], run: &[PlacedFactor]) -> Base {
    let Base { mut spec, mut counted } = base;
    extent(section, &mut spec, &mut counted);
    if let Some((seed, span)) = section.integer("seed") {
        match u64::try_from(seed) {
            Ok(seed) => spec.seed = seed,
            Err(_) => section.sink.report(span, "a seed is not negative", "", "any whole number from 0 up will do"),
        }
    }
    if let Some((value, span)) = section.any("variants") {
        spec.variants = variant_rule(section.sink, value, span, build, run);
    }
    section.not_yet("vary", "varied nuisances");
    section.finish();
    Base { spec, counted }
}

/// `until` and `blocks`: when there are blocks enough, and how many there may be.
fn extent(section: &Section<'_>, spec: &mut PlanSpec, counted: &mut bool) {
    let mut at = section.span.clone();
    if let Some((text, span)) = section.string("until") {
        match Until::parse(&text) {
            Some(until) => spec.until = until,
            None => {
                let bare = text.trim().trim_end_matches('%').trim().parse::<f64>().is_ok_and(|n| n > 0.0 && n < 100.0);
                let remedy = match bare {
                    true => format!("a precision has its sign: `until = \"±{}%\"`", text.trim().trim_end_matches('%')),
                    false => until::REMEDY.to_owned(),
                };
                section.sink.report(span.clone(), &format!("{text:?} is no rule for stopping"), "", &remedy);
            }
        }
        at = span;
        if !*counted {
            spec.blocks = spec.until.default_blocks();
        }
    }
    if let Some((blocks, span)) = section.integer("blocks") {
        if !(1..=MOST_BLOCKS).contains(&blocks) {
            let remedy = "10 or more are needed for most verdicts; at most 10,000 are possible";
            section.sink.report(span.clone(), &format!("{blocks} blocks are not possible"), "", remedy);
            return;
        }
        spec.blocks = u32::try_from(blocks).unwrap_or(spec.blocks);
        *counted = true;
        at = span;
    }
    if let Err(why) = spec.until.check(spec.blocks) {
        let default = spec.until.default_blocks();
        section.sink.report(at, &why, "", &format!("more `blocks`; without any, {default} are the most"));
    }
}

fn variant_rule(
    sink: &Sink,
    value: &DeValue<'_>,
    span: Range<usize>,
    build: &[PlacedFactor],
    run: &[PlacedFactor],
) -> VariantRule {
    const RULES: &[&str] = &["all", "one-at-a-time"];
    match value {
        DeValue::String(rule) if rule == "all" => VariantRule::All,
        DeValue::String(rule) if rule == "one-at-a-time" => VariantRule::OneAtATime,
        DeValue::String(rule) => {
            let remedy = suggest(rule, RULES.iter().copied());
            sink.report(span, &format!("there is no rule `{rule}` for variants"), "", &remedy);
            VariantRule::All
        }
        DeValue::Array(list) => {
            let one = |item: &toml::Spanned<DeValue<'_>>| levels(sink, item.get_ref(), item.span(), build, run);
            if list.is_empty() {
                sink.report(span, "no variant is listed", "", "for example `variants = [{ malloc = \"perl\" }]`");
            }
            VariantRule::Listed(list.iter().map(one).collect())
        }
        _ => {
            let remedy = "`\"all\"`, `\"one-at-a-time\"`, or a list such as `[{ malloc = \"perl\" }]`";
            sink.report(span, "`variants` must be a rule or a list of levels", "", remedy);
            VariantRule::All
        }
    }
}

pub(super) fn decide(file: &Section<'_>, build: &[PlacedFactor], run: &[PlacedFactor]) -> Decide {
    let metrics = || DEFAULT_METRICS.iter().map(|&m| m.to_owned()).collect();
    let mut decide = Decide { baseline: Levels::new(), metrics: metrics(), margin: 0.01, confidence: 0.95 };
    let Some(section) = file.section("decide") else {
        let remedy =
            "add `[decide]` with `baseline = { factor = \"level\", … }`: the variant that others are compared with";
        file.sink.report(file.span.clone(), "the study names no baseline", "", remedy);
        return decide;
    };
    match section.any("baseline") {
        Some((value, span)) => decide.baseline = baseline(&section, value, span, build, run),
        None => {
            let remedy = "one level of every factor, such as `baseline = { malloc = \"system\" }`";
            section.sink.report(section.span.clone(), "[decide] has no `baseline`", "", remedy);
        }
    }
    if section.has("metrics") {
        decide.metrics = read_metrics(&section);
    }
    if let Some((text, span)) = section.string("margin") {
        match percent(&text) {
            Some(margin) => decide.margin = margin,
            None => {
                let remedy = "a percentage above 0 and below 100, such as `margin = \"1%\"`";
                section.sink.report(span, &format!("{text:?} is no margin"), "", remedy);
            }
        }
    }
    if let Some((confidence, span)) = section.float("confidence") {
        if confidence > 0.5 && confidence < 1.0 {
            decide.confidence = confidence;
        } else {
            let remedy = "a number above 0.5 and below 1, such as `confidence = 0.99`";
            section.sink.report(span, &format!("{confidence} is no confidence"), "", remedy);
        }
    }
    let _ = section.strings("metrics");
    section.finish();
    decide
}

/// One level of every factor: the baseline is always named, never implied by order.
fn baseline(
    section: &Section<'_>,
    value: &DeValue<'_>,
    span: Range<usize>,
    build: &[PlacedFactor],
    run: &[PlacedFactor],
) -> Levels {
    let named: Vec<&str> =
        value.as_table().map(|t| t.keys().map(|k| k.get_ref().as_ref()).collect()).unwrap_or_default();
    // Run factors are refused as a whole; asking for their baseline as well would be noise.
    for factor in build.iter().map(|f| &f.factor).filter(|f| !named.contains(&f.name.as_str())) {
        let known: Vec<&str> = factor.levels.iter().map(|l| l.name.as_str()).collect();
        let remedy = format!("add `{} = \"…\"`, one of {}", factor.name, known.join(", "));
        let message = format!("the baseline names no level of factor `{}`", factor.name);
        section.sink.report(span.clone(), &message, "", &remedy);
    }
    levels(section.sink, value, span, build, run)
}

fn read_metrics(section: &Section<'_>) -> Vec<String> {
    let mut metrics: Vec<String> = vec![];
    let list = section.strings("metrics");
    if list.is_empty() {
        let remedy = format!("for example `metrics = {DEFAULT_METRICS:?}`; the first one is decided on");
        section.sink.report(section.span.clone(), "`metrics` lists no metric", "", &remedy);
    }
    for (name, span) in list {
        if name.contains('.') {
            section.sink.not_yet(span, "metrics of phases and ops");
        } else if !METRICS.iter().any(|m| m.name == name) {
            let remedy = suggest(&name, METRICS.iter().map(|m| &*m.name));
            section.sink.report(span, &format!("there is no metric `{name}`"), "", &remedy);
        } else if metrics.contains(&name) {
            section.sink.report(span, &format!("the metric `{name}` is listed twice"), "", "leave one out");
        } else {
            metrics.push(name);
        }
    }
    metrics
}

/// `"1%"` as 0.01.
fn percent(text: &str) -> Option<f64> {
    let percent: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}
