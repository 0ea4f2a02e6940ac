//! Sentences of the doubts that a study's values raise: what was seen, where, and what to do about it.

use crate::format::{quantity, signed};
use crate::words::listed;
use bakeoff_judge::findings::{After, Caveat, Modes, Outliers, OverTime, Rates, Scale, Shift, Spot, Spots};
use bakeoff_model::metric::Unit;
use bakeoff_model::record::TWIN;

/// More than this many places are counted, not named.
const NAMED: usize = 3;

pub(super) fn sentence(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        Caveat::Drift(over_time) => format!(
            "these metrics drift during the study: \
             {}. The verdicts compare within blocks, so they remain valid. Do not compare values from different blocks",
            metrics(over_time)
        ),
        Caveat::Autocorrelation(over_time) => format!(
            "successive blocks are not independent: {}. The verdicts compare within blocks, so they remain valid. Do \
                not use unpaired tests on these values",
            metrics(over_time)
        ),
        Caveat::Position(spots) => format!(
            "differences depend on which variant runs first in a block ({}); add a pause before each trial",
            list(spots, shift)
        ),
        Caveat::CarryOver(spots) => format!(
            "some trials are affected by the trial just before them ({}); add a pause before each trial",
            list(spots, |spot, cells| {
                let After { predecessor } = &spot.what;
                format!("{}, after {predecessor}", place(spot, cells))
            })
        ),
        Caveat::FailureRates(spots) => format!(
            "some variants fail more or less often than the baseline ({}); only trials that succeeded are compared",
            list(spots, rates)
        ),
        Caveat::VoidRates(spots) => format!(
            "trials of some variants are void more or less often than the baseline's ({}); only the remaining trials \
                are compared, and these may be the lucky ones",
            list(spots, rates)
        ),
        Caveat::Modes(spots) => format!(
            "values form several clusters, so no single number describes them ({}); look for differences between \
                trials of different clusters",
            list(spots, modes)
        ),
        Caveat::OnlyFilesDiffer(spots) => format!(
            "two files differ, but the programs are not shown to differ ({}); the difference may be layout",
            list(spots, |spot, cells| format!(
                "{} by {}",
                place(spot, cells),
                change(spot.what.ln(), Scale::Ratio, spot.unit)
            ))
        ),
        Caveat::Outliers(spots) => {
            let layouts = match spots.seen.iter().any(|spot| spot.what.laid_out) {
                true => "; each block has its own layout, so a program may be faster or slower in rare layouts",
                false => "",
            };
            format!("blocks far from the others are kept in the comparison ({}){layouts}", list(spots, outliers))
        }
        _ => return None,
    })
}

/// "wall (2 of 3 tables), user (1 of 3 tables)"; just the metrics, if each has one table.
fn metrics(OverTime { metrics, of }: &OverTime) -> String {
    let name = |(metric, tables): &(String, usize)| match of {
        1 => metric.clone(),
        of => format!("{metric} ({tables} of {of} tables)"),
    };
    metrics.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// "b: wall", and of what, if there are several workloads or conditions.
fn place<T>(Spot { variant, workload, condition, metric, .. }: &Spot<T>, cells: usize) -> String {
    let variant = if variant == TWIN { "the twin" } else { variant };
    match cells {
        1 => format!("{variant}: {metric}"),
        _ => format!("{variant}: {metric} of {workload}, {condition}"),
    }
}

/// The first few, and how many more there are.
fn list<T>(Spots { seen, cells }: &Spots<T>, name: impl Fn(&Spot<T>, usize) -> String) -> String {
    let mut list = seen.iter().take(NAMED).map(|spot| name(spot, *cells)).collect::<Vec<_>>().join("; ");
    if seen.len() > NAMED {
        list += &format!("; and {} more", seen.len() - NAMED);
    }
    list
}

fn shift(spot: &Spot<Shift>, cells: usize) -> String {
    let by = change(spot.what.shift, spot.what.scale, spot.unit);
    format!("{}, {by} if it runs after the baseline", place(spot, cells))
}

fn rates(spot: &Spot<Rates>, cells: usize) -> String {
    let Spot { variant, workload, condition, what: Rates { own, baseline }, .. } = spot;
    let cell = if cells == 1 { String::new() } else { format!(" in {workload}, {condition}") };
    let [[those, of], [base_those, base_of]] = [own, baseline];
    format!("{variant}{cell}, {those} of {of} trials against {base_those} of {base_of}")
}

fn modes(spot: &Spot<Modes>, cells: usize) -> String {
    let Modes(modes) = &spot.what;
    let places: Vec<String> = modes.iter().map(|(place, _)| quantity(*place, spot.unit)).collect();
    let shares: Vec<String> = modes.iter().map(|(_, share)| format!("{:.0}", 100.0 * share)).collect();
    let (number, place) = (modes.len(), place(spot, cells));
    format!("{place}, {number} clusters at {}, {} %", listed(&places), shares.join("/"))
}

fn outliers(spot: &Spot<Outliers>, cells: usize) -> String {
    let Outliers { blocks: [flagged, blocks], scale, with_and_without, .. } = spot.what;
    let inward = |x: f64| if scale == Scale::Ratio { x.ln() } else { x };
    let [with, without] = with_and_without.map(|x| change(inward(x), scale, spot.unit));
    format!("{}, {flagged} of {blocks}: {with} with all blocks, {without} without these", place(spot, cells))
}

/// No clock has shorter ticks.
const LEAST_S: f64 = 1e-12;

/// A difference of contrasts: of logarithms in percent, others in their unit.
fn change(difference: f64, scale: Scale, unit: Unit) -> String {
    if scale == Scale::Ratio {
        let percent = 100.0 * difference.exp_m1();
        return format!("{} %", signed(percent, if percent.abs() < 1.0 { 2 } else { 1 }));
    }
    // What is left of a subtraction is no time.
    let difference = if unit == Unit::Seconds && difference.abs() < LEAST_S { 0.0 } else { difference };
    let plus = if difference > 0.0 { "+" } else { "" };
    format!("{plus}{}", quantity(difference, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_and_a_unit() {
        assert_eq!(change(1.02f64.ln(), Scale::Ratio, Unit::Seconds), "+2.0 %");
        assert_eq!(change(-0.001, Scale::Ratio, Unit::Seconds), "−0.10 %");
        assert_eq!(change(-2.5, Scale::Difference, Unit::Count), "−2.50");
        assert_eq!(change(0.012, Scale::Difference, Unit::Seconds), "+12.0 ms");
        assert_eq!(change(2.67e-18, Scale::Difference, Unit::Seconds), change(0.0, Scale::Difference, Unit::Seconds));
    }
}
