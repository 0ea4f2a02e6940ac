//! `[plan]` and `[plans.NAME]`: how many blocks of what, until when, with which nuisances, and what makes a trial void.

use super::factors::{PlacedFactor, levels};
use super::quantity::quantity;
use super::section::{Section, Sink};
use crate::metric::{self, Metric, Unit};
use crate::problem::suggest;
use crate::study::{Condition, Layouts, PlanSpec, VariantRule, Vary, VoidRule, Workload};
use crate::until::{self, Until};
use std::ops::Range;
use toml::de::DeValue;

/// The name of `[plan]`.
pub(super) const DEFAULT_PLAN: &str = "default";

/// Who builds more often has a build that is a workload.
const MOST_REBUILDS: u32 = 1000;
/// The most blocks of a plan, for each workload and condition.
pub const MOST_BLOCKS: i64 = 10_000;
/// More variants than these are a typing error, or a search; all of their pairs are compared.
const MOST_VARIANTS: u64 = 1000;
/// Metrics that are shares of all processors' time; only they can be given in percent.
const SHARES: &[&str] = &["steal", "foreign_cpu"];

/// What a plan can choose from.
pub(super) struct Choices<'a> {
    pub(super) factors: &'a [&'a PlacedFactor<'a>],
    pub(super) workloads: &'a [Workload],
    pub(super) conditions: &'a [Condition],
    /// The metrics that are judged.
    pub(super) decided: &'a [String],
}

/// The plans: `[plan]` first, and each named one with `[plan]`'s keys where it has none of its own.
pub(super) fn plans(file: &Section<'_>, known: &Choices<'_>) -> Vec<PlanSpec> {
    let blocks = Until::default().default_blocks();
    let spec = PlanSpec { name: DEFAULT_PLAN.to_owned(), blocks, seed: 1, ..PlanSpec::default() };
    let mut default = Base { spec, counted: false };
    let mut is_written = false;
    if let Some(section) = file.section("plan") {
        is_written = section.has("variants");
        default = plan(&section, default, known);
    }
    // Without a rule, it is all combinations.
    if let Some(factor) = known.factors.last().filter(|_| !is_written) {
        few_enough(file.sink, &default.spec, factor.span.clone(), known);
    }
    let mut plans = vec![default.spec.clone()];
    for section in file.named_sections("plans") {
        if section.name == DEFAULT_PLAN {
            let message = "the plan `default` belongs in the section `[plan]`";
            section.sink.report(section.span.clone(), message, "", "write `[plan]`, or choose another name");
        }
        let spec = PlanSpec { name: section.name.clone(), ..default.spec.clone() };
        plans.push(plan(&section, Base { spec, ..default }, known).spec);
    }
    plans
}

/// A plan as far as it was read, and whether its number of blocks was named or is a rule's own.
struct Base {
    spec: PlanSpec,
    counted: bool,
}

fn plan(section: &Section<'_>, base: Base, known: &Choices<'_>) -> Base {
    let Base { mut spec, mut counted } = base;
    extent(section, &mut spec, &mut counted);
    if let Some((seed, span)) = section.integer("seed") {
        match u64::try_from(seed) {
            Ok(seed) => spec.seed = seed,
            Err(_) => section.sink.report(span, "a seed cannot be negative", "", "use a whole number, 0 or more"),
        }
    }
    if let Some((value, span)) = section.any("variants") {
        spec.variants = variant_rule(section.sink, value, span.clone(), known);
        few_enough(section.sink, &spec, span, known);
    }
    cells(section, &mut spec, known);
    if section.has("vary") {
        spec.vary = vary(section);
    }
    let _ = section.any("vary");
    if let Some((value, span)) = section.any("layouts") {
        spec.layouts = layouts(section.sink, value, span, &spec.vary).or(spec.layouts);
    }
    if let Some(rebuild) = section.number_of("rebuild", "measured builds", MOST_REBUILDS) {
        spec.rebuild = rebuild;
    }
    if let Some(rules) = section.section("void_if") {
        spec.void_if = void_rules(&rules, known);
    }
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
                let bare = text.trim().parse::<f64>().is_ok_and(|n| n > 0.0 && n < 100.0);
                let remedy = match bare {
                    true => format!("write a precision in percent: `until = \"±{}%\"`", text.trim()),
                    false => until::REMEDY.to_owned(),
                };
                section.sink.report(span.clone(), &format!("{text:?} is not a valid stopping rule"), "", &remedy);
            }
        }
        at = span;
        if !*counted {
            spec.blocks = spec.until.default_blocks();
        }
    }
    if let Some((blocks, span)) = section.integer("blocks") {
        if !(1..=MOST_BLOCKS).contains(&blocks) {
            let remedy = "use a number from 1 to 10,000; a verdict at 95 % confidence needs at least 6 blocks";
            section.sink.report(span.clone(), &format!("invalid number of blocks: {blocks}"), "", remedy);
            return;
        }
        spec.blocks = u32::try_from(blocks).unwrap_or(spec.blocks);
        *counted = true;
        at = span;
    }
    if let Err(why) = spec.until.check(spec.blocks) {
        let default = spec.until.default_blocks();
        section.sink.report(at, &why, "", &format!("set a larger `blocks`; the default is {default}"));
    }
}

/// Refuses a plan with more variants than can be held and judged.
fn few_enough(sink: &Sink, spec: &PlanSpec, span: Range<usize>, known: &Choices<'_>) {
    let levels = || known.factors.iter().map(|placed| placed.factor.levels.len() as u64);
    let count = match &spec.variants {
        VariantRule::All => levels().fold(1, u64::saturating_mul),
        VariantRule::OneAtATime => levels().map(|count| count.saturating_sub(1)).fold(1, u64::saturating_add),
        VariantRule::Listed(list) => list.len() as u64 + 1,
    };
    if count > MOST_VARIANTS {
        let message = format!("the plan `{}` has {count} variants, but at most {MOST_VARIANTS} are allowed", spec.name);
        let remedy = "remove levels, list the variants, or write `variants = \"one-at-a-time\"` in the plan to change \
            one factor at a time";
        sink.report(span, &message, "", remedy);
    }
}

fn variant_rule(sink: &Sink, value: &DeValue<'_>, span: Range<usize>, known: &Choices<'_>) -> VariantRule {
    const RULES: &[&str] = &["all", "one-at-a-time"];
    match value {
        DeValue::String(rule) if rule == "all" => VariantRule::All,
        DeValue::String(rule) if rule == "one-at-a-time" => VariantRule::OneAtATime,
        DeValue::String(rule) => {
            let remedy = suggest(rule, RULES.iter().copied());
            sink.report(span, &format!("unknown rule `{rule}` for variants"), "", &remedy);
            VariantRule::All
        }
        DeValue::Array(list) => {
            let one = |item: &toml::Spanned<DeValue<'_>>| levels(sink, item.get_ref(), item.span(), known.factors);
            if list.is_empty() {
                sink.report(
                    span,
                    "the list of variants is empty",
                    "",
                    "list at least one, such as `variants = [{ malloc = \"perl\" }]`",
                );
            }
            VariantRule::Listed(list.iter().map(one).collect())
        }
        _ => {
            let remedy = "use `\"all\"`, `\"one-at-a-time\"`, or a list such as `[{ malloc = \"perl\" }]`";
            sink.report(span, "`variants` must be a rule or a list of levels", "", remedy);
            VariantRule::All
        }
    }
}

/// `workloads` and `conditions`: which of them take part.
fn cells(section: &Section<'_>, spec: &mut PlanSpec, known: &Choices<'_>) {
    let workloads: Vec<&str> = known.workloads.iter().map(|workload| workload.name.as_str()).collect();
    let conditions: Vec<&str> = known.conditions.iter().map(|condition| condition.name.as_str()).collect();
    for (key, what, names, chosen) in [
        ("workloads", "workload", workloads, &mut spec.workloads),
        ("conditions", "condition", conditions, &mut spec.conditions),
    ] {
        let picked = section.chosen(key, what, &names);
        if let Some(span) = section.place_of(key) {
            if section.is_empty_list(key) {
                let remedy = format!("remove `{key}` to use all of them");
                section.sink.report(span, &format!("`{key}` needs at least one {what}"), "", &remedy);
            }
            *chosen = picked;
        }
    }
}

fn vary(section: &Section<'_>) -> Vec<Vary> {
    let mut vary = vec![];
    for (word, span) in section.strings("vary") {
        let nuisance = match word.as_str() {
            "env-size" => Vary::EnvSize,
            "link-order" => Vary::LinkOrder,
            _ => {
                let remedy = suggest(&word, ["env-size", "link-order"]);
                section.sink.report(span, &format!("cannot vary `{word}`"), "", &remedy);
                continue;
            }
        };
        if vary.contains(&nuisance) {
            section.sink.report(span, &format!("`{word}` is listed twice"), "", "remove one");
        } else {
            vary.push(nuisance);
        }
    }
    vary
}

/// `layouts`: in how many of them a program is measured.
fn layouts(sink: &Sink, value: &DeValue<'_>, span: Range<usize>, vary: &[Vary]) -> Option<Layouts> {
    let word = match value {
        DeValue::Integer(number) => number.as_str().to_owned(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let meant = match Layouts::parse(&word) {
        Ok(meant) => meant,
        Err(remedy) => {
            sink.report(span, "invalid value of `layouts`", "", &remedy);
            return None;
        }
    };
    if meant != Layouts::One && vary.contains(&Vary::LinkOrder) {
        let message = format!("`layouts` ({word}) and `vary = [\"link-order\"]` both link again for each pass");
        sink.report(span, &message, "", "remove one of them");
    }
    Some(meant)
}

/// `void_if`: metrics, and what each may be at most.
fn void_rules(rules: &Section<'_>, known: &Choices<'_>) -> Vec<VoidRule> {
    let mut found = vec![];
    for (name, span, value) in rules.entries() {
        let metric = match metric::find(name, known.workloads) {
            Ok(metric) => metric,
            Err(unknown) => {
                rules.sink.report(span, &unknown.why, "", &unknown.remedy);
                continue;
            }
        };
        // To leave slow trials out because they were slow is to choose the answer.
        if known.decided.iter().any(|judged| judged == name) {
            let message = format!("`{name}` cannot make trials void, because the study judges variants by this metric");
            let remedy = "use a metric that shows interference, such as foreign_cpu, steal, pressure_cpu or run_delay";
            rules.sink.report(span, &message, "this would bias the result", remedy);
            continue;
        }
        match value.get_ref().as_str().and_then(|text| threshold(&metric, text)) {
            Some(above) => found.push(VoidRule { metric: name.to_owned(), above }),
            None => {
                let message =
                    format!("this rule is not valid for `{name}`, because this metric is {}", measured_in(&metric));
                let remedy = format!("write `>` and a value, such as `{name} = \"{}\"`", example(&metric));
                rules.sink.report(value.span(), &message, "", &remedy);
            }
        }
    }
    found
}

/// `">20%"` as 0.2, if that is what the metric is measured in.
fn threshold(metric: &Metric, text: &str) -> Option<f64> {
    let text = text.trim().strip_prefix('>')?;
    let (above, unit) = quantity(text)?;
    let is_share = SHARES.contains(&&*metric.name);
    let fits = unit == metric.unit && (is_share || !text.contains('%')) && (!is_share || above < 1.0);
    fits.then_some(above)
}

fn measured_in(metric: &Metric) -> &'static str {
    match metric.unit {
        _ if SHARES.contains(&&*metric.name) => "a share below 100 %",
        Unit::Seconds => "a time",
        Unit::Bytes => "a size",
        Unit::Count => "a number",
        Unit::PerSecond => "a rate",
        Unit::GuestInstructions => "billions of instructions",
    }
}

fn example(metric: &Metric) -> &'static str {
    match metric.unit {
        _ if SHARES.contains(&&*metric.name) => ">20%",
        Unit::Seconds => ">0.1 s",
        Unit::Bytes => ">512 MiB",
        Unit::Count => ">100",
        Unit::PerSecond => ">10/s",
        Unit::GuestInstructions => ">1",
    }
}
