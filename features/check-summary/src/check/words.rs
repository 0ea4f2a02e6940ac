//! Why figures are impossible, in words. Numbers have the digits that distinguish them from what
//! was published.

use crate::figures::{Fault, Statistic};
use crate::published::Summary;

/// What a figure is called, and with a blank before it, what was published.
fn named(which: Statistic, summary: &Summary) -> (&'static str, String) {
    let (name, figure) = match which {
        Statistic::Min => ("the smallest", &summary.min),
        Statistic::Max => ("the largest", &summary.max),
        Statistic::Median => ("the median", &summary.median),
        Statistic::Mean => ("the mean", &summary.mean),
        Statistic::Sd => ("the standard deviation", &summary.sd),
    };
    (name, figure.as_ref().map_or(String::new(), |figure| format!(" {}", figure.text)))
}

/// A fault as a sentence without its stop.
pub(super) fn fault(fault: &Fault, summary: &Summary) -> String {
    match fault {
        Fault::Empty => "there are no values".to_owned(),
        Fault::NotFinite(which) => format!("{} is too large to compute with", named(*which, summary).0),
        Fault::Outside { which: Statistic::Sd, printed, .. } if printed[1] < 0.0 => {
            "a standard deviation is never negative".to_owned()
        }
        Fault::Outside { which, printed, allowed, by } => {
            let (name, text) = named(*which, summary);
            let (below, above) = (printed[1] < allowed[0], printed[0] > allowed[1]);
            let size = allowed[0].abs().max(printed[0].abs());
            let bound = match (below, above) {
                (true, _) => format!("is at least {}", number(allowed[0], allowed[0] - printed[1], false)),
                (_, true) => format!("is at most {}", number(allowed[1], printed[0] - allowed[1], true)),
                _ => format!("is about {}", number(allowed[0], size / 1e6, false)),
            };
            let n = summary.n.map_or("whatever n is".to_owned(), |n| format!("with n = {n}"));
            format!("{name}{text} cannot be right: given {by}, {n}, it {bound}")
        }
    }
}

/// A bound, with digits enough to tell it from what is `apart` from it; away from what it excludes.
fn number(value: f64, apart: f64, up: bool) -> String {
    if !(value.is_finite() && apart > 0.0) || value.abs() >= 1e15 {
        return format!("{value:.3e}");
    }
    let decimals = (1.0 - apart.log10().floor()).clamp(0.0, 15.0) as usize;
    let unit = 10f64.powi(decimals as i32);
    // Rounding errors of our own, which were allowed for, are not shown.
    let near = (value * unit).round();
    let exact = (value * unit - near).abs() < 1e-6 * near.abs().max(1.0);
    let ended = if exact {
        near
    } else if up {
        (value * unit).ceil()
    } else {
        (value * unit).floor()
    };
    let text = format!("{:.decimals$}", ended / unit);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
