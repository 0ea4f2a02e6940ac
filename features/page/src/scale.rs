//! Axes of ratios: always the logarithm, so that twice as fast and twice as slow are equally far from no difference. It knows
//! which places there are and what stands at the ticks, and draws nothing.

use bakeoff_report::format::{fixed, signed};

/// An axis shows at least this many margins to either side.
const MARGINS: f64 = 1.6;
/// What is left free at either end, as a part of the whole.
const FREE: f64 = 0.06;
/// From this quotient of its ends on, ticks are factors; below, per cent.
const FACTORS: f64 = 2.2;
/// The most ticks in per cent.
const TICKS: usize = 7;
/// Rows that are this many times as far away as the next nearer one would leave no room for the others.
const GAP: f64 = 8.0;
/// Of an axis without any extent, in logarithms.
const LEAST_EXTENT: f64 = 1e-4;

/// What a row needs of an axis, as ratios: estimate and interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// A place with a label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// In per cent of the axis.
    pub(crate) at: f64,
    pub(crate) label: String,
    /// Whether it gives way on a narrow page.
    pub(crate) is_minor: bool,
}

/// An axis of ratios; places are per cent of its length.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    low_ln: f64,
    high_ln: f64,
    margin_ln: f64,
    /// Whether rows lie beyond its end to the left, and to the right.
    pub(crate) cut: [bool; 2],
}

impl Axis {
    /// An axis with room for these rows and for the margin, a fraction.
    pub(crate) fn over(spans: &[Span], margin: f64) -> Self {
        let margin_ln = margin.ln_1p();
        let ends = spans.iter().map(|span| [span.low.ln(), span.high.ln()]);
        let mut ends: Vec<[f64; 2]> = ends.filter(|ends| ends.iter().all(|end| end.is_finite())).collect();
        let far = |[low, high]: &[f64; 2]| low.abs().max(high.abs());
        ends.sort_by(|a, b| far(a).total_cmp(&far(b)));
        let least = (MARGINS * margin_ln).max(LEAST_EXTENT);
        let near = |[low, high]: &[f64; 2]| if low * high < 0.0 { 0.0 } else { low.abs().min(high.abs()) };
        let first_beyond = (1..ends.len()).find(|at| near(&ends[*at]) > GAP * far(&ends[at - 1]).max(least));
        let first_beyond = first_beyond.filter(|at| 2 * (ends.len() - at) <= ends.len());
        let beyond = ends.split_off(first_beyond.unwrap_or(ends.len()));
        let whole = ends.iter().fold([-least, least], |[low, high], [l, h]| [low.min(*l), high.max(*h)]);
        let free = FREE * (whole[1] - whole[0]);
        let [low_ln, high_ln] = [whole[0] - free, whole[1] + free];
        let cut = [beyond.iter().any(|[low, _]| *low < low_ln), beyond.iter().any(|[_, high]| *high > high_ln)];
        Self { low_ln, high_ln, margin_ln, cut }
    }

    /// The same with room for these rows, too.
    pub(crate) fn with_room_for(&self, spans: &[Span]) -> Self {
        Self::over(spans, self.margin_ln.exp_m1())
    }

    fn place(&self, ln: f64) -> f64 {
        100.0 * (ln - self.low_ln) / (self.high_ln - self.low_ln)
    }

    /// Where a ratio is, from 0 to 100; what is beyond an end is at the end.
    pub(crate) fn at(&self, ratio: f64) -> f64 {
        let place = self.place(ratio.ln());
        if place.is_nan() { 50.0 } else { place.clamp(0.0, 100.0) }
    }

    /// Whether a ratio is beyond one of the ends.
    pub(crate) fn is_beyond(&self, ratio: f64) -> bool {
        !(self.low_ln..=self.high_ln).contains(&ratio.ln())
    }

    /// Where the zone of equivalence begins, and where it ends.
    pub(crate) fn margin(&self) -> [f64; 2] {
        [self.place(-self.margin_ln), self.place(self.margin_ln)]
    }

    /// The ticks, that of no difference among them.
    pub(crate) fn ticks(&self) -> Vec<Tick> {
        self.at_most(TICKS)
    }

    /// About this number of ticks at most.
    pub(crate) fn at_most(&self, most: usize) -> Vec<Tick> {
        if self.high_ln - self.low_ln < FACTORS.ln() { self.in_percent(most) } else { self.in_factors(most) }
    }

    fn in_percent(&self, most: usize) -> Vec<Tick> {
        let [low, high] = [self.low_ln, self.high_ln].map(|ln| 100.0 * ln.exp_m1());
        let steps = (-3..3).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)));
        let fits = |step: &f64| (high / step).floor() - (low / step).ceil() < most as f64;
        let step = steps.into_iter().find(fits).unwrap_or(100.0);
        let decimals = usize::try_from(-(step * 1.000_001).log10().floor() as i64).unwrap_or(0);
        let tick = |number: i64| {
            let percent = number as f64 * step;
            let label = if number == 0 { "0".to_owned() } else { format!("{} %", signed(percent, decimals)) };
            Tick { at: self.place((percent / 100.0).ln_1p()), label, is_minor: number % 2 != 0 }
        };
        ((low / step).ceil() as i64..=(high / step).floor() as i64).map(tick).collect()
    }

    fn in_factors(&self, most: usize) -> Vec<Tick> {
        let powers = -4..=4;
        let numbers = powers.flat_map(|power: i32| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)));
        let inside: Vec<f64> = numbers.filter(|factor| (self.low_ln..=self.high_ln).contains(&factor.ln())).collect();
        let is_long = inside.len() > 2 * most;
        let label = |factor: f64| match factor {
            1.0 => "1".to_owned(),
            more if more > 1.0 => format!("{} ×", fixed(more, 0)),
            less => format!("1/{}", fixed(1.0 / less, 0)),
        };
        let is_power = |factor: f64| (factor.log10() - factor.log10().round()).abs() < 1e-9;
        let shown = inside.into_iter().filter(|factor| !is_long || is_power(*factor));
        shown.map(|f| Tick { at: self.place(f.ln()), label: label(f), is_minor: !is_power(f) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(spans: &[[f64; 2]], margin: f64) -> Axis {
        let spans: Vec<Span> = spans.iter().map(|[low, high]| Span { low: *low, high: *high }).collect();
        Axis::over(&spans, margin)
    }

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn twice_as_fast_and_twice_as_slow_are_equally_far() {
        let axis = axis(&[[0.5, 0.5], [2.0, 2.0]], 0.01);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(axis.at(1.0), 50.0);
        close(axis.at(0.5) + axis.at(2.0), 100.0);
        close(axis.margin()[0] + axis.margin()[1], 100.0);
        assert_eq!((axis.at(0.0), axis.at(f64::INFINITY), axis.at(f64::NAN)), (0.0, 100.0, 50.0));
    }

    #[test]
    fn the_margin_is_always_in_sight() {
        let axis = axis(&[[0.9999, 1.0001]], 0.01);
        let [begin, end] = axis.margin();
        assert!(begin > 10.0 && end < 90.0, "{begin} {end}");
        assert_eq!(labels(&axis), ["−1.5 %", "−1.0 %", "−0.5 %", "0", "+0.5 %", "+1.0 %", "+1.5 %"]);
    }

    #[test]
    fn ticks_are_per_cent_or_factors() {
        assert_eq!(labels(&axis(&[[0.9, 1.1]], 0.01)), ["−10 %", "−5 %", "0", "+5 %", "+10 %"]);
        assert_eq!(labels(&axis(&[[0.25, 6.0]], 0.01)), ["1/2", "1", "2 ×", "5 ×"]);
        assert!(labels(&axis(&[[1e-4, 1e4]], 0.01)).len() <= 14);
        for span in [[0.999, 1.2], [0.6, 1.2], [0.93, 1.0], [1.0, 1.0], [0.01, 1.0]] {
            let ticks = axis(&[span], 0.01).ticks();
            assert!(ticks.len() >= 2 && ticks.len() <= 14, "{span:?}: {ticks:?}");
            assert!(ticks.iter().all(|tick| (0.0..=100.0).contains(&tick.at)), "{span:?}: {ticks:?}");
            assert!(ticks.iter().any(|tick| tick.label == "0" || tick.label == "1"), "{span:?}: {ticks:?}");
        }
    }

    #[test]
    fn what_lies_far_beyond_the_rest_does_not_flatten_it() {
        let cut = axis(&[[0.99, 1.01], [0.98, 1.0], [12.0, 14.0]], 0.01);
        assert_eq!(cut.cut, [false, true]);
        assert!(cut.is_beyond(13.0) && !cut.is_beyond(0.99));
        // Levels of compression: each is not so far from the next.
        let whole = axis(&[[1.08, 1.09], [1.5, 1.6], [3.0, 3.1], [14.0, 14.9]], 0.01);
        assert_eq!(whole.cut, [false, false]);
        // Where most rows are far away, they are what there is to see.
        assert_eq!(axis(&[[0.99, 1.01], [12.0, 14.0], [13.0, 15.0]], 0.01).cut, [false, false]);
        // What is no number has no place.
        assert_eq!(axis(&[[f64::NAN, 1.0], [0.0, 1.0]], 0.01).cut, [false, false]);
        // What is not known well is not far away.
        assert_eq!(axis(&[[0.99, 1.01], [0.99, 1.0], [0.05, 1.01]], 0.01).cut, [false, false]);
    }
}
