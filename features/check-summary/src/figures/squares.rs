//! Between which bounds the squared deviations from the mean lie, Σ(x − x̄)², when smallest, largest, median and mean are
//! known to ranges. Smallest and largest alone give von Szőkefalvi-Nagy's (1918) lower bound (largest − smallest)²/2
//! and Popoviciu's (1935) upper one; the mean makes the upper one Bhatia & Davis's (2000) n (largest − x̄)(x̄ − smallest).
//! With n and the median known, both are sharpened by putting the free values where they deviate least or most.

use super::known::{Figures, MedianRule, Range, places};

/// The least Σ(x − x̄)²; 0 where nothing is known.
pub(super) fn least(f: &Figures, rule: MedianRule) -> f64 {
    let n = f.n as f64;
    let mut least = 0.0f64;
    // No value deviates more from the mean than (n − 1)/√n standard deviations (Samuelson 1968), and the median not more
    // than √((n − 1)/n) of them (Hotelling & Solomons 1932), which holds for the upper one of two as well.
    if let Some(mean) = f.mean {
        for (figure, factor) in [(f.min, n / (n - 1.0)), (f.max, n / (n - 1.0)), (f.median, n)] {
            let distance = figure.map_or(0.0, |x| (x[0] - mean[1]).max(mean[0] - x[1]).max(0.0));
            least = least.max(distance * distance * factor);
        }
    }
    let (Some(min), Some(max)) = (f.min, f.max) else { return least };
    // The nearer smallest and largest are, the less deviates.
    let (a, b) = (min[1], max[0]);
    if a >= b {
        return least;
    }
    least = least.max((b - a) * (b - a) / 2.0);
    let Some(mean) = f.mean.filter(|_| f.n > 2) else { return least };
    let centre = (a / 2.0 + b / 2.0).clamp(mean[0], mean[1]);
    // The others all at one place, wherever the mean then needs them.
    let others = (2.0 * centre - a - b) / (n - 2.0);
    let squares = (a - centre).powi(2) + (b - centre).powi(2) + (n - 2.0) * others * others;
    least = least.max(squares - corners(min, max));
    if let Some((median, (below, middle, above))) = f.median.zip(places(f.n, rule)) {
        let (m, x) = (centre_of(median), centre_of(mean));
        let rest = n * x - a - b - middle * m;
        let (low, high) = match below + above {
            0.0 => (m, m),
            free if rest <= free * m => (if below > 0.0 { ((rest - above * m) / below).max(a) } else { m }, m),
            _ => (m, if above > 0.0 { ((rest - below * m) / above).min(b) } else { m }),
        };
        let squares = (a - x).powi(2)
            + (b - x).powi(2)
            + middle * (m - x).powi(2)
            + below * (low - x).powi(2)
            + above * (high - x).powi(2);
        least = least.max(squares - corners(min, max) - slack(f, min, max, median, mean));
    }
    least
}

/// The greatest Σ(x − x̄)²; none where smallest or largest are not known.
pub(super) fn greatest(f: &Figures, rule: MedianRule) -> Option<f64> {
    let n = f.n as f64;
    let (min, max) = (f.min?, f.max?);
    let (a, b) = (min[0], max[1]);
    let half = (f.n / 2) as f64;
    // As many at the one end as at the other.
    let mut most = (b - a).powi(2) * half * (n - half) / n;
    let Some(mean) = f.mean else { return Some(most) };
    let centre = (a / 2.0 + b / 2.0).clamp(mean[0], mean[1]);
    most = most.min((n * (b - centre) * (centre - a)).max(0.0));
    // Where the median is the mean of two, those two may be far apart, and it bounds little.
    let bounding = f.median.filter(|_| f.n % 2 == 1 || rule == MedianRule::UpperMiddle);
    let known = bounding.zip(places(f.n, rule));
    let x = centre_of(mean);
    let (m, (below, middle, above)) = match known {
        Some((median, places)) => (centre_of(median), places),
        None => (b, ((n - 2.0).max(0.0), 0.0, 0.0)),
    };
    // All as low as they can be, and then raised one after the other, the upper ones first: squares grow fastest there.
    let mut rise = n * x - (1.0 + below) * a - (middle + above) * m - b;
    let square = |y: f64| (y - x).powi(2);
    let mut squares = square(a) + square(b) + middle * square(m);
    for (count, from, to) in [(above, m, b), (below, a, m)] {
        let whole = if to > from { (rise / (to - from)).floor().clamp(0.0, count) } else { 0.0 };
        rise = (rise - whole * (to - from)).max(0.0);
        squares += whole * square(to);
        if whole < count {
            squares += square((from + rise).min(to)) + (count - whole - 1.0) * square(from);
            rise = 0.0;
        }
    }
    let slack = slack(f, min, max, known.map_or([0.0, 0.0], |(median, _)| median), mean);
    // Where smallest and largest are not quite these, the mean may leave no room for the others to make up for it.
    let ends = 4.0 * (b - a) * (min[1] - min[0] + max[1] - max[0]);
    Some(most.min(squares + slack + ends))
}

fn centre_of(range: Range) -> f64 {
    range[0] / 2.0 + range[1] / 2.0
}

/// How much the squares can change while median and mean move within their ranges: neither makes them change faster
/// than 2n (largest − smallest).
fn slack(f: &Figures, min: Range, max: Range, median: Range, mean: Range) -> f64 {
    let ways = (median[1] - median[0]) / 2.0 + (mean[1] - mean[0]) / 2.0;
    2.0 * f.n as f64 * (max[1] - min[0]) * ways
}

/// How much less the squares can be where the mean leaves no room for the innermost smallest and largest.
fn corners(min: Range, max: Range) -> f64 {
    8.0 * (min[1] - min[0] + max[1] - max[0]).powi(2)
}
