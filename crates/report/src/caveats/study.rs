//! Sentences of doubts about a study as a whole, but for those that its values raise.

use super::comparison::share_of_time;
use crate::format::{decimals_of, fixed};
use crate::words::counted;
use bakeoff_judge::findings::{BusySeen, Caveat, ControlSeen, LoadSeen, SeenTime, Spot, Verdict};

/// What is counted in the place of a measurement.
pub(crate) fn counted_instead(what: &str) -> String {
    format!("{what}; times are not measured")
}

/// How much of the time of each variant a count can see.
pub(crate) fn seen_time(seen: &[SeenTime]) -> String {
    let each = seen.iter().map(|one| format!("{} of {}", share_of_time(one.share), one.variant));
    format!("Counts cover at least this share of the time: {}", each.collect::<Vec<_>>().join(", "))
}

pub(super) fn sentence(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        Caveat::Simulated { truth } => format!("the trials were simulated, with this planted truth: {truth}"),
        Caveat::TwinDiffers { differ, of } => format!(
            "the baseline's twin (the same program) was judged different from the baseline in {differ} of {of} \
                comparisons, so differences as large as the twin's are this machine's noise"
        ),
        Caveat::ControlDiffers(spots) => {
            let each: Vec<String> = spots.seen.iter().map(control).collect();
            format!(
                "controls should be the same in all variants, but are shown to differ: {}; do not trust differences \
                    of that size",
                each.join(", ")
            )
        }
        Caveat::Emulated => {
            "the machine was emulated and its clock counts instructions, so the report compares numbers of guest \
             instructions, not times. An emulated machine has neither caches nor a pipeline"
                .to_owned()
        }
        Caveat::Counted { what, seen } => format!("{}. {}", counted_instead(what), seen_time(seen)),
        Caveat::Of(objection) => objection.text.clone(),
        Caveat::Unfinished { finished, total, at_most } => {
            let at_most = if *at_most { "at most " } else { "" };
            format!("the study is not finished: {finished} of {at_most}{total} blocks")
        }
        Caveat::SeveralPlaces { places } => format!("the blocks ran in {places} different places"),
        Caveat::InterruptedBlocks { blocks } => {
            format!("{} started in one session and finished in a later one", counted(*blocks as u32, "block"))
        }
        Caveat::Prolonged { times } => {
            let times = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
            format!(
                "the number of blocks was raised {times} after trials had run; the stated error rates assume a \
                 number fixed beforehand"
            )
        }
        Caveat::AfterTheLook { judged_blocks } => format!(
            "the stopping rule looked at {judged_blocks} blocks of each workload and condition; later blocks are not \
             judged"
        ),
        Caveat::Leftovers { trials, variants } => format!(
            "in {} ({}), processes outlived the main one and were killed; their activity is not measured",
            counted(*trials as u32, "trial"),
            variants.join(", ")
        ),
        Caveat::ClockSet { times, most_s } => clock_set(*times, *most_s),
        Caveat::UnequalLoad { seen } => unequal_load(seen),
        Caveat::BusyMachine { seen, from } => busy_machine(seen, *from),
        Caveat::TwoKindsOfPeak { cgroup, maxrss } => format!(
            "peak was measured in two ways: by the cgroup in {} (all processes together) and by maxrss in {} (the \
             largest process); decide on either cgroup_peak or maxrss instead",
            counted(*cgroup, "trial"),
            counted(*maxrss, "trial")
        ),
        Caveat::BlindRules { metrics } => {
            let rules = if metrics.len() == 1 { "its rule" } else { "their rules" };
            format!("some sessions could not measure {}, so {rules} made no trial void there", metrics.join(", "))
        }
        Caveat::UnknownMetric { metrics } => {
            format!("this version does not know some metrics of the study ({}); use a newer one", metrics.join(", "))
        }
        other => return of_time(other),
    })
}

/// Those about the time of trials, and who else was there meanwhile.
fn of_time(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        Caveat::HighLoad { condition, load, cpus } => format!(
            "under {condition}, {load:.1} processes other than Bakeoff's ran on or waited for {} (load average). \
             Trials are too short to measure how much time these used; stop other programs and measure again",
            counted(*cpus, "processor")
        ),
        Caveat::FixedTime { workload, seconds } => format!(
            "every trial of {workload} takes {seconds:.1} s, whatever the variant, because it runs for a fixed time. \
             That time tells you nothing; report a rate (see `bakeoff help marks`) and decide on the rate"
        ),
        _ => return None,
    })
}

fn clock_set(times: usize, most_s: f64) -> String {
    let way = if most_s < 0.0 { "back" } else { "forward" };
    let (was_set, by) =
        if times == 1 { ("was set".to_owned(), "") } else { (format!("was set {times} times"), "at most ") };
    format!(
        "the system's clock {was_set} while trials ran ({by}{:.0} s {way}), so times of day are wrong; durations are \
            right, because they use another clock",
        most_s.abs()
    )
}

fn unequal_load(seen: &[LoadSeen]) -> String {
    let place = |one: &LoadSeen| {
        let LoadSeen { variant, workload, condition, verdict, ratio } = one;
        let often = if *verdict == Verdict::Faster { "more often" } else { "less often" };
        let by = ratio.map_or(String::new(), |ratio| format!("{:.1} % ", 100.0 * (ratio - 1.0).abs()));
        format!("{variant} on {workload} under {condition}: {by}{often}")
    };
    let places: Vec<String> = seen.iter().map(place).collect();
    format!(
        "the load was not the same for all variants: it finished more or less often during the trials of some \
            variants than during the baseline's ({}). Set a pace for the load, or treat a difference as the combined \
            effect of program and load",
        places.join("; ")
    )
}

fn busy_machine(seen: &[BusySeen], from: f64) -> String {
    let place = |BusySeen { variant, condition, disturbed, of, all }: &BusySeen| match variant {
        _ if of < all => format!("in {disturbed} of the {of} trials that could be measured under {condition}"),
        Some(variant) => format!("in {disturbed} of {of} trials of {variant} under {condition}"),
        None => format!("in {disturbed} of {of} valid trials under {condition}"),
    };
    let places: Vec<String> = seen.iter().map(place).collect();
    let percent = 100.0 * from;
    format!(
        "other programs used more than {percent:.0} % of processor time {}, so the trials may have waited for them. \
            Stop those programs, or void such trials: void_if = {{ foreign_cpu = \">{percent:.0}%\" }}",
        places.join(", ")
    )
}

/// A control that differs: `user of cc=clang on single (0.42 %)`.
pub(crate) fn control(spot: &Spot<ControlSeen>) -> String {
    format!("{} of {} on {} ({})", spot.metric, spot.variant, spot.workload, of_ratio(spot.what.ratio))
}

/// A difference in percent with two significant digits.
fn of_ratio(ratio: f64) -> String {
    let shown = 100.0 * (ratio - 1.0).abs();
    format!("{} %", fixed(shown, decimals_of(shown, 2)))
}
