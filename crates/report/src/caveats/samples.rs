//! Sentences of doubts about samples that somebody else measured.

use crate::format::percent;
use crate::words::counted;
use bakeoff_judge::findings::{Caveat, Left, Scale, TimeSeen, TooFewValues};

/// At most this many names are written out.
const NAMES_MAX: usize = 5;

pub(super) fn sentence(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        Caveat::OrderUnknown { paired: true } => {
            "the samples are paired as requested; Bakeoff cannot check whether each line is a block that ran in \
                random order"
                .to_owned()
        }
        Caveat::OrderUnknown { paired: false } => {
            "the order is unknown: these unpaired samples may not have been measured in random order. A drift \
                between them would look like a difference; `bakeoff compare` measures in randomised blocks"
                .to_owned()
        }
        Caveat::ValuesVary { keys } => format!(
            "one sample mixes values that differ in {}; if that is intended, list the keys in --ignore",
            keys.join(", ")
        ),
        Caveat::NotExact { min, max } => format!(
            "the values are declared exact (assume=exact), but range from {min} to {max}, so they are judged like any \
                other values"
        ),
        Caveat::NoMedianInterval { confidence, needed } => {
            format!("an interval for the median at {} confidence needs {needed} values", percent(*confidence))
        }
        Caveat::NeverVary => "the values never vary within either sample, so the clock's resolution is unknown and \
            there is no interval. If the values cannot vary by chance, add a line `Unit NAME assume=exact` in Go's \
            format"
            .to_owned(),
        Caveat::TooFewValues(why) => too_few(*why),
        Caveat::SpreadsDiffer => "one sample's spread is more than three times the other's, so the samples differ by \
            more than a shift; the interval assumes only a shift"
            .to_owned(),
        Caveat::OutOfRange => "a number in this comparison is too large or too small to print; the largest or \
            smallest possible number is shown instead"
            .to_owned(),
        Caveat::TimeMattered { seen, could_explain, scale, is_less, left } => {
            time(seen, &amount(*could_explain, *scale, *is_less), *left)
        }
        Caveat::SettingsDiffer { samples, keys } => {
            let keys = keys.join(",");
            format!(
                "the samples {} differ in {keys}, so they are not compared with each other; to compare them, use \
                 --ignore {keys}",
                names(samples)
            )
        }
        Caveat::SetsDiffer { rows } => {
            let rows: Vec<String> =
                rows.iter().map(|(row, samples)| format!("{row} (only in {})", names(samples))).collect();
            format!("missing from some samples: {}", names(&rows))
        }
        _ => return None,
    })
}

fn too_few(why: TooFewValues) -> String {
    match why {
        TooFewValues::Inference { values } => {
            format!("{} cannot support any inference; at least 3 are needed", counted(values, "value"))
        }
        TooFewValues::FarApart => "the values are so far apart that their differences cannot be computed".to_owned(),
        TooFewValues::Difference { values, confidence, family, needed } => {
            let among = if family > 1 { format!(" among {family} comparisons") } else { String::new() };
            let percent = percent(confidence);
            let values = counted(values, "value");
            format!("{values} cannot show a difference at {percent} confidence{among}; each sample needs {needed}")
        }
    }
}

fn time(TimeSeen { samples, dependence, p }: &TimeSeen, amount: &str, left: Left) -> String {
    let is_one = samples.len() == 1;
    let what = match (dependence, is_one) {
        (true, true) => "has values that depend on those before them",
        (true, false) => "have values that depend on those before them",
        (false, true) => "drifts from its first value to its last",
        (false, false) => "drift the same way",
    };
    let test = if *dependence { "Bartels" } else { "Mann-Kendall" };
    let test = if is_one { test.to_owned() } else { format!("{test} of both") };
    let p = if *p < 1e-4 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") };
    let could = format!(
        "{} {what} ({test}, {p}), so time mattered and could explain a difference of up to {amount}",
        samples.join(" and ")
    );
    match left {
        Left::Difference => format!("{could}; this difference is larger"),
        Left::Verdict => could,
        Left::Nothing => format!(
            "no verdict: {could}. Measure in randomised blocks (`bakeoff compare`), or add --paired if each line is a \
             block"
        ),
    }
}

/// How much time could explain.
fn amount(could: f64, scale: Scale, is_less: bool) -> String {
    match scale {
        // A factor of 1.5 is half as much again, or a third less.
        Scale::Ratio if is_less => format!("{:.1} %", 100.0 * (1.0 - 1.0 / could)),
        Scale::Ratio if could < 11.0 => format!("{:.1} %", 100.0 * (could - 1.0)),
        Scale::Ratio if could < 1e6 => format!("a factor of {could:.0}"),
        Scale::Ratio => format!("a factor of {could:.0e}"),
        Scale::Difference if (1e-2..1e6).contains(&could) => format!("{could:.3}"),
        Scale::Difference => format!("{could:.2e}"),
    }
}

/// Some of the names, and how many there are besides.
fn names(names: &[String]) -> String {
    let first = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > NAMES_MAX { format!("{first} and {} more", names.len() - NAMES_MAX) } else { first }
}
