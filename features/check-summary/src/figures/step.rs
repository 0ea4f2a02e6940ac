//! Values on a scale with a known step, such as 0.01 s: their sum is a whole number of steps, so only some means are
//! possible (GRIM: Brown & Heathers 2017), and only some standard deviations (GRIMMER: Anaya 2016; Allard 2018). It
//! says nothing unless the step is known, which figures alone never tell.

use super::known::{Figures, Range, Which};

/// Beyond this many possible sums, almost anything is possible.
const SUMS_MAX: f64 = 100_000.0;

/// The first figure that no values in whole steps can have; none if all can.
pub fn off_step(f: &Figures, step: f64) -> Option<Which> {
    if !(step > 0.0 && step.is_finite()) {
        return None;
    }
    let on = |range: Range, step: f64| whole_in(range.map(|x| x / step)).is_some();
    let half = if f.n.is_multiple_of(2) { step / 2.0 } else { step };
    for (figure, step, which) in [(f.min, step, Which::Min), (f.max, step, Which::Max), (f.median, half, Which::Median)]
    {
        if figure.is_some_and(|range| !on(range, step)) {
            return Some(which);
        }
    }
    let mean = f.mean?;
    let n = f.n as f64;
    let sums = mean.map(|x| x / step * n);
    let Some([first, last]) = whole_in(sums) else { return Some(Which::Mean) };
    let sd = f.sd.filter(|_| last - first <= SUMS_MAX && last.abs().max(first.abs()) < 1e7)?;
    let squares = sd.map(|s| (n - 1.0) * (s.max(0.0) / step).powi(2));
    let mut sum = first;
    while sum <= last {
        // Σx² is a whole number, and odd or even as Σx is, because x² is odd or even as x is.
        let of_squares = squares.map(|s| s + sum * sum / n);
        if let Some([low, high]) = whole_in(of_squares)
            && (high > low || (low - sum) % 2.0 == 0.0)
        {
            return None;
        }
        sum += 1.0;
    }
    Some(Which::Sd)
}

/// The first and last whole number in a range, with a tolerance for rounding errors.
fn whole_in([low, high]: Range) -> Option<Range> {
    let slack = 1e-9 + 1e-12 * low.abs().max(high.abs());
    let whole = [(low - slack).ceil(), (high + slack).floor()];
    (whole[0] <= whole[1]).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_means_and_deviations_are_possible_on_a_scale() {
        let figures = |n, mean: f64, sd: Option<f64>| Figures {
            n,
            mean: Some([mean - 0.005, mean + 0.005]),
            sd: sd.map(|sd| [sd - 0.005, sd + 0.005]),
            ..Figures::default()
        };
        // Brown & Heathers (2017): no mean of 28 whole numbers is 5.19.
        assert_eq!(off_step(&figures(28, 5.19, None), 1.0), Some(Which::Mean));
        assert_eq!(off_step(&figures(28, 5.18, None), 1.0), None);
        // Of four whole numbers with the mean 2.5: 1, 2, 3, 4 have sd 1.29; nothing has 1.35.
        assert_eq!(off_step(&figures(4, 2.5, Some(1.29)), 1.0), None);
        assert_eq!(off_step(&figures(4, 2.5, Some(1.35)), 1.0), Some(Which::Sd));
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(off_step(&figures(28, 5.19, None), step), None);
        }
    }
}
