//! Doubts by their weight, in a line each. What makes a comparison meaningless is an alarm: it stands above the rows,
//! and again in the answer. What the verdicts allow for already is not here; `--section doubts` has all of them.

use super::facts::name;
use super::remark::{Doubt, Weight};
use super::view::{Stand, View};
use crate::caveats::comparison::{part, share_of_time};
use crate::caveats::study::{control, counted_instead};
use crate::draw::text::clean;
use crate::failures::failure_in_full;
use crate::format::percent;
use crate::places;
use crate::words::{
    Change, Wording, counted, is_same_program, listed, metric_in, named, same_in, same_program, subject,
};
use bakeoff_judge::findings::{Caveat, FailedTrials, Findings, Model, OtherOutput, Outputs, Rates, Spot, Verdict};
use bakeoff_model::grouped::{grouped, unique};
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::TWIN;
use bakeoff_model::study::OutputUse;

/// From this part of the trials on, a busy machine is the first thing to say.
const MOST_TRIALS: f64 = 0.5;

/// The alarms, the gravest first.
pub(super) fn alarms(findings: &Findings, view: Option<&View<'_>>) -> Vec<Doubt> {
    let simulated = findings.simulated.iter();
    let simulated = simulated
        .map(|truth| Doubt::new("simulated", Weight::Alarm, format!("simulated, not measured: {}", clean(truth))));
    let mut alarms: Vec<Doubt> = simulated.collect();
    alarms.extend(outputs(findings));
    alarms.extend(view.and_then(|view| same(findings, view)));
    let of_features = findings.besides.alarms.iter();
    alarms.extend(of_features.map(|alarm| Doubt::alarm(&alarm.kind, clean(&alarm.text), [clean(&alarm.short)])));
    alarms.extend(findings.caveats.iter().filter_map(alarm));
    let differs = findings.caveats.iter().find(|caveat| matches!(caveat, Caveat::TwinDiffers { .. }));
    let twin = differs.and_then(|caveat| Some(Doubt::alarm(&caveat.kind(), twin(view?)?, ["the twin differs"])));
    alarms.extend(twin);
    alarms
}

/// What a doubt about the study makes meaningless.
fn alarm(caveat: &Caveat) -> Option<Doubt> {
    let (text, short) = match caveat {
        Caveat::BusyMachine { seen, from } => {
            let sums = seen.iter().fold([0, 0, 0], |[d, o, a], one| [d + one.disturbed, o + one.of, a + one.all]);
            let [disturbed, of, all] = sums;
            let line = match of < all {
                true => format!("other programs were busy in {disturbed} of the {of} trials where this was measured"),
                false => format!(
                    "other programs used more than {} of processor time in {disturbed} of {of} trials",
                    percent(*from)
                ),
            };
            let is_most = disturbed as f64 >= MOST_TRIALS * of as f64;
            (line, is_most.then_some("busy machine"))
        }
        Caveat::HighLoad { load, cpus, .. } => {
            let line = format!("the load average of other programs was {load:.1} on {}", counted(*cpus, "processor"));
            (line, Some("busy machine"))
        }
        Caveat::FixedTime { workload, seconds } => {
            let workload = clean(workload);
            let line = format!(
                "every trial of {workload} takes {seconds:.1} s, so the time tells you nothing; report a rate instead"
            );
            (line, Some("fixed time"))
        }
        // Within the margin it makes no claim beyond the margin meaningless.
        Caveat::ControlDiffers(spots) if spots.seen.iter().any(|spot| !spot.what.is_within) => {
            let each: Vec<String> = spots.seen.iter().map(|spot| clean(&control(spot))).collect();
            (format!("a control differs: {}", listed(&each)), Some("a control differs"))
        }
        _ => return None,
    };
    Some(Doubt::alarm(&caveat.kind(), text, short))
}

fn outputs(findings: &Findings) -> Vec<Doubt> {
    let differ = |used: OutputUse| {
        let outputs = findings.outputs.iter().filter(|outputs| outputs.output == used);
        outputs.flat_map(|outputs| outputs.others.iter().map(move |other| (outputs, other))).collect::<Vec<_>>()
    };
    let names = |others: &[(&Outputs, &OtherOutput)]| unique(others.iter().map(|(_, other)| name(&other.variant)));
    let mut alarms = vec![];
    let compared = differ(OutputUse::Compared);
    if let [(outputs, first), ..] = compared.as_slice() {
        let names = names(&compared);
        let verb = if names.len() == 1 { "prints" } else { "print" };
        let first_line = match &first.first {
            Some(difference) if difference.baseline.is_some() => {
                format!(" on {}, first in line {}", clean(&outputs.workload), difference.line)
            }
            _ => format!(" on {}", clean(&outputs.workload)),
        };
        let who = named(names.clone());
        let line = format!("{who} {verb} different output{first_line}: no verdict");
        let count = format!("{} of {} {verb} different output", names.len(), findings.variants.len());
        let short = [format!("{} {verb} different output", named(names)), count, "different output".to_owned()];
        alarms.push(Doubt::alarm("other-output", line, short));
    }
    let noted = names(&differ(OutputUse::Noted));
    let line = match noted.as_slice() {
        [] => None,
        [one] => Some(format!("{one} prints different output; check that it does the same work")),
        several => Some(format!("{} variants print different output; check that they do the same work", several.len())),
    };
    alarms.extend(line.map(|line| Doubt::new("output-noted", Weight::Alarm, line)));
    alarms
}

fn same(findings: &Findings, view: &View<'_>) -> Option<Doubt> {
    let mut names: Vec<String> = view
        .compared()
        .filter(|(_, comparison)| is_same_program(comparison))
        .map(|(variant, _)| name(variant))
        .collect();
    let shared = findings.shared.iter().filter(|one| one.with == view.baseline());
    names.extend(shared.map(|one| name(&one.variant.name)));
    if names.is_empty() {
        return None;
    }
    let is_all = view.lines.len() <= names.len() + 1;
    let line = same_program(names, &subject(&clean(view.baseline())), same_in(&findings.shared));
    let short = (is_all && view.lines.len() == 1).then_some("one program");
    Some(Doubt::alarm("same-program", line, short))
}

/// The doubts that matter and are no alarms, the heaviest first.
pub(super) fn doubts(findings: &Findings, view: Option<&View<'_>>) -> Vec<Doubt> {
    let of_study = findings.caveats.iter().filter_map(|caveat| {
        let (weight, text) = of_study(view, caveat)?;
        Some(Doubt::new(&caveat.kind(), weight, text))
    });
    let of_study: Vec<Doubt> = of_study.collect();
    let rows = view.iter().flat_map(|view| view.compared());
    let of_rows = rows.flat_map(|(variant, comparison)| {
        comparison.caveats.iter().filter_map(move |caveat| Some((of_row(caveat)?, (caveat.kind(), clean(variant)))))
    });
    let of_rows = grouped(of_rows).into_iter().map(|(what, seen)| {
        let (ids, names): (Vec<String>, Vec<String>) = seen.into_iter().unzip();
        Doubt::new(&ids[0], Weight::Part, format!("{what} ({})", named(names)))
    });
    let of_nodes = places::unlike(findings).into_iter().map(|text| Doubt::new("places-differ", Weight::Look, text));
    let noisy = places::noisy_nodes(findings).into_iter().map(|text| Doubt::new("noisy-places", Weight::Look, text));
    let of_study = of_study.into_iter().chain(of_nodes).chain(noisy);
    let (mut look, part): (Vec<_>, Vec<_>) = of_study.partition(|doubt| doubt.weight == Weight::Look);
    let mut part: Vec<Doubt> = part.into_iter().chain(of_rows).collect();
    [&mut look, &mut part].into_iter().for_each(|doubts| doubts.dedup());
    let failed = reasons(findings, view).into_iter().map(|why| Doubt::new("failed", Weight::Look, why)).collect();
    let lost = lost(findings, view).map(|lost| Doubt::new("failed-trials", Weight::Look, lost));
    // Of several doubts of a kind the first stays longest.
    let groups: [(u32, Vec<Doubt>); 4] = [(0, look), (3, failed), (5, lost.into_iter().collect()), (40, part)];
    let numbered =
        |(first, doubts): (u32, Vec<Doubt>)| (first..).zip(doubts).map(|(priority, doubt)| Doubt { priority, ..doubt });
    groups.into_iter().flat_map(numbered).collect()
}

fn of_study(view: Option<&View<'_>>, caveat: &Caveat) -> Option<(Weight, String)> {
    use Weight::{Look, Part};
    Some(match caveat {
        Caveat::Emulated => {
            (Part, "emulated without caches or pipeline: measured in guest instructions, not seconds".to_owned())
        }
        Caveat::Counted { what, .. } => (Part, counted_instead(&clean(what))),
        Caveat::Of(objection) => (Look, clean(objection.line.as_ref()?)),
        Caveat::UnequalLoad { seen } => {
            let who = seen.first().map_or(String::new(), |one| clean(&one.variant));
            (Look, format!("the load ran at a different rate during the trials of {who} than during the baseline's"))
        }
        Caveat::FailureRates(spots) => {
            // A variant of which every trial failed has a row that says so.
            let is_there = |variant: &str| view.is_none_or(|view| view.compared().any(|(name, _)| name == variant));
            let spot = spots.seen.iter().find(|spot| is_there(&spot.variant))?;
            let [more, less] = more_often(spot);
            (Look, format!("{more} fails more often than {less}, so its successful trials may be the lucky ones"))
        }
        Caveat::VoidRates(spots) => {
            let [more, less] = more_often(spots.seen.first()?);
            (
                Look,
                format!(
                    "trials of {more} are void more often than those of {less}, so the valid ones may be the lucky ones"
                ),
            )
        }
        Caveat::UnknownMetric { metrics } => (Look, format!("unknown here: {}", clean_all(metrics).join(", "))),
        Caveat::Position(_) => (Part, "differences depend on which variant runs first in a block".to_owned()),
        Caveat::CarryOver(_) => (Part, "trials are affected by the variant that ran before them".to_owned()),
        Caveat::Modes(spots) => {
            let who = spots.seen.first().map_or(String::new(), |spot| clean(&spot.variant));
            (Part, format!("{who} has several typical values, so no single number describes it"))
        }
        Caveat::OnlyFilesDiffer(spots) => {
            let who = spots.seen.first().map_or(String::new(), |spot| clean(&spot.variant));
            (Look, format!("{who} differs from the baseline only as built; the layout may be the cause"))
        }
        Caveat::Outliers(spots) => {
            let metric = spots
                .seen
                .first()
                .map_or(String::new(), |spot| format!(" in {}", clean(metric_in(&spot.metric, spot.unit))));
            (Part, format!("a few blocks are far from the others{metric}; they are kept"))
        }
        Caveat::FewOnPlaces { places, of, needed } => {
            (Part, format!("too few blocks to tell nodes apart: {places} of {of} have fewer than {needed}"))
        }
        Caveat::Prolonged { .. } => (Part, "blocks were added after the first results were seen".to_owned()),
        Caveat::TwoKindsOfPeak { .. } => {
            (Part, "peak was measured in two ways; compare cgroup_peak or maxrss instead".to_owned())
        }
        Caveat::BlindRules { metrics } => {
            let [were, they] = if metrics.len() == 1 { ["was", "it"] } else { ["were", "they"] };
            let metrics = listed(&clean_all(metrics));
            (Part, format!("{metrics} {were} not measured, so {they} could not make any trial void"))
        }
        Caveat::Leftovers { trials, .. } => {
            let trials = counted(*trials as u32, "trial");
            (Part, format!("in {trials}, processes outlived the main one and were killed"))
        }
        Caveat::ClockSet { .. } => {
            (Part, "the system's clock was set during the study; durations are not affected".to_owned())
        }
        _ => return None,
    })
}

fn clean_all(names: &[String]) -> Vec<String> {
    names.iter().map(|name| clean(name)).collect()
}

/// The deciding metric's twin; of the others, `--section doubts` says how many alarms there were.
fn twin(view: &View<'_>) -> Option<String> {
    let twin = view.twin.filter(|twin| matches!(twin.verdict, Verdict::Faster | Verdict::Slower))?;
    let change = Change::of(twin, view.unit);
    let wording = Wording::of(view.unit, view.better);
    let (verb, amount, word) = (wording.verb()[0], change.amount(), wording.direction(&change));
    Some(format!("the baseline's twin {verb} {amount} {word}, so do not trust smaller differences"))
}

/// The variant and the baseline, in the order in which their trials are lost: the one that loses more comes first.
fn more_often(spot: &Spot<Rates>) -> [String; 2] {
    let Rates { own: [own, of], baseline: [those, of_those] } = spot.what;
    let (own_name, baseline) = (name(&spot.variant), name(BASELINE));
    let is_worse = u64::from(own) * u64::from(of_those) >= u64::from(those) * u64::from(of);
    if is_worse { [own_name, baseline] } else { [baseline, own_name] }
}

fn of_row(caveat: &Caveat) -> Option<String> {
    match caveat {
        Caveat::Of(objection) => objection.line.as_deref().map(clean),
        Caveat::TypicalAndMeanDisagree { .. } => {
            Some("the mean disagrees with the typical trial; look at the largest values".to_owned())
        }
        Caveat::ModelBased { model: Model::PairedT, .. } => {
            Some("with so few blocks, the interval assumes normally distributed noise".to_owned())
        }
        Caveat::MemoryFloor { .. } => Some("the memory may be that of the launcher process".to_owned()),
        Caveat::UnseenTime { share, .. } => Some(format!(
            "instruction counts cover only {} of the run time, so they cannot show equality",
            share_of_time(*share)
        )),
        Caveat::CountsDiffer { by } => Some(format!("two counts differ by {}, so they are not exact", part(*by))),
        _ => None,
    }
}

/// Why variants of which every trial failed did so, a line each; those that failed alike share it.
fn reasons(findings: &Findings, view: Option<&View<'_>>) -> Vec<String> {
    let lines = view.iter().flat_map(|view| &view.lines);
    let absent = lines.filter(|line| matches!(line.stand, Stand::Absent(_))).map(|line| line.variant);
    let reasons = absent.filter_map(|variant| {
        let mut lost = findings.failures.iter().filter(|lost| lost.variant == variant);
        Some((failure_in_full(lost.find_map(|lost| lost.example.as_ref())?), clean(variant)))
    });
    grouped(reasons).into_iter().map(|(why, variants)| format!("{}: {why}", named(variants))).collect()
}

/// Trials that failed or are void, in a line; none if all count.
fn lost(findings: &Findings, view: Option<&View<'_>>) -> Option<String> {
    let lines = view.map_or(&[][..], |view| &view.lines);
    let is_absent = |variant: &str| lines.iter().any(|l| l.variant == variant && matches!(l.stand, Stand::Absent(_)));
    let baseline = findings.variants.first().map_or("", |variant| variant.name.as_str());
    let failures = findings.failures.iter().filter(|lost| lost.failed > 0 && !is_absent(&lost.variant));
    let mut each = grouped(failures.map(|lost| (lost.variant.as_str(), lost)));
    // The twin runs what the baseline does: where that has failed as well, the twin says nothing new.
    each.retain(|(name, _)| *name != TWIN || !is_absent(baseline));
    let said = each.iter().map(|(name, lost)| {
        let name = subject(&clean(name));
        let sum = |number: fn(&FailedTrials) -> u32| lost.iter().map(|one| number(one)).sum::<u32>();
        format!("{} of {} trials of {name}", sum(|one| one.failed), sum(|one| one.of))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| format!("{} failed", listed(&said)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::metric::Unit;

    #[test]
    fn whose_trials_are_lost_more_often_comes_first() {
        let check = |own, baseline, expect: [&str; 2]| {
            let spot = Spot {
                variant: "preload=all".to_owned(),
                workload: "loop".to_owned(),
                condition: "idle".to_owned(),
                metric: "wall".to_owned(),
                unit: Unit::Seconds,
                what: Rates { own, baseline },
            };
            assert_eq!(more_often(&spot), expect);
        };
        check([5, 12], [0, 12], ["preload=all", "the baseline"]);
        check([1, 40], [5, 12], ["the baseline", "preload=all"]);
    }
}
