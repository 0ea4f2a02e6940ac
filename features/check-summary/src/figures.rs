//! What published figures can stand for: n, smallest, largest, median, mean and standard deviation, each known only to
//! the digits that were printed, so each a range. Which of these can be figures of the same values at all, what the
//! others leave of each, and which values they were if they were two or three. Every condition is necessary: what
//! is called impossible is impossible wherever in their ranges the figures are. Not every impossible table is found,
//! for the conditions are tested one by one. Comparisons are in [`compare`].

pub mod compare;
mod known;
mod squares;

pub use known::{Figures, Range, Statistic, intersect};

use known::{MedianRule, places};
use squares::{greatest, least};

/// Why no values can have these figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// There are no values.
    Empty,
    /// A figure is no finite number, or as large as numbers can be.
    NotFinite(Statistic),
    /// A figure lies outside what the others allow.
    Outside {
        /// Which figure.
        which: Statistic,
        /// What it was printed as.
        printed: Range,
        /// What the others leave of it.
        allowed: Range,
        /// Those others.
        by: &'static str,
    },
}

/// A number of values, an odd one, from which on one more makes no difference to the bounds of the mean.
const MANY: u64 = (1 << 40) + 1;

/// The smallest range that holds both.
fn hull(a: Range, b: Range) -> Range {
    [a[0].min(b[0]), a[1].max(b[1])]
}

/// Ends that rounding errors of our own arithmetic cannot have moved inwards.
fn widened([low, high]: Range, size: f64) -> Range {
    let slack = 1e-12 * size;
    [low - slack, high + slack]
}

/// Narrows every figure to what all of them allow, and fills in what follows from the others.
///
/// # Errors
/// The first [`Fault`] found, if no values can have these figures.
pub fn narrow(figures: &Figures) -> Result<Figures, Fault> {
    if figures.n == 0 {
        return Err(Fault::Empty);
    }
    let all = [figures.min, figures.max, figures.median, figures.mean, figures.sd];
    let names = [Statistic::Min, Statistic::Max, Statistic::Median, Statistic::Mean, Statistic::Sd];
    for (range, which) in all.iter().zip(names) {
        if range.is_some_and(|[low, high]| !(low <= high && (4.0 * high - 4.0 * low).is_finite())) {
            return Err(Fault::NotFinite(which));
        }
    }
    // By a power of two, so that squares are finite and no digit is lost.
    let size = all.iter().flatten().flatten().fold(0.0f64, |size, x| size.max(x.abs()));
    let unit = if size > 0.0 { size.log2().floor().exp2() } else { 1.0 };
    match narrow_scaled(&figures.map(|x| x / unit)) {
        Ok(narrowed) => Ok(narrowed.map(|x| x * unit)),
        Err(Fault::Outside { which, printed, allowed, by }) => {
            let back = |range: Range| range.map(|x| x * unit);
            Err(Fault::Outside { which, printed: back(printed), allowed: back(allowed), by })
        }
        Err(fault) => Err(fault),
    }
}

/// [`narrow`] for figures whose n is not known (`n` is not looked at): what holds for every number of values. With more
/// of them the mean is less bound by smallest, largest and median, the deviation more; so the mean's bounds are those
/// of very many values, and the deviation's those of two: s² ≤ 2 (max − x̄)(x̄ − min) (Bhatia & Davis 2000).
///
/// # Errors
/// The first [`Fault`] found, if no number of values can have these figures.
pub fn narrow_without_n(figures: &Figures) -> Result<Figures, Fault> {
    if figures.sd.is_some_and(|[low, high]| !(low <= high && (4.0 * high - 4.0 * low).is_finite())) {
        return Err(Fault::NotFinite(Statistic::Sd));
    }
    let narrowed = narrow(&Figures { n: MANY, sd: None, ..*figures })?;
    let most = match (narrowed.min, narrowed.max, narrowed.mean) {
        (Some(min), Some(max), Some(mean)) => {
            let (above, below) = ((max[1] - mean[0]).max(0.0), (mean[1] - min[0]).max(0.0));
            // At most half the spread each, if that is less.
            let half = (max[1] - min[0]) / 2.0;
            (2.0f64.sqrt() * (above.sqrt() * below.sqrt()).min(half)) * (1.0 + 1e-12)
        }
        _ => f64::INFINITY,
    };
    let by = "the smallest and largest";
    let sd = figures.sd.map(|sd| check(Statistic::Sd, sd, [0.0, most], by)).transpose()?;
    let mean = figures.mean.and(narrowed.mean);
    Ok(Figures { n: 0, mean, sd, ..narrowed })
}

fn narrow_scaled(figures: &Figures) -> Result<Figures, Fault> {
    if figures.n % 2 == 1 || figures.median.is_none() {
        return narrow_by(figures, MedianRule::MeanOfMiddles);
    }
    match (narrow_by(figures, MedianRule::UpperMiddle), narrow_by(figures, MedianRule::MeanOfMiddles)) {
        (Ok(upper), Ok(mean)) => {
            let both = |a: Option<Range>, b: Option<Range>| a.zip(b).map(|(a, b)| hull(a, b));
            Ok(Figures {
                n: figures.n,
                min: both(upper.min, mean.min),
                max: both(upper.max, mean.max),
                median: both(upper.median, mean.median),
                mean: both(upper.mean, mean.mean),
                sd: both(upper.sd, mean.sd),
            })
        }
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
        (Err(_), Err(fault)) => Err(fault),
    }
}

/// [`narrow`] by one rule for the median.
fn narrow_by(figures: &Figures, rule: MedianRule) -> Result<Figures, Fault> {
    let mut f = *figures;
    let all = [f.min, f.max, f.median, f.mean, f.sd];
    let size = all.iter().flatten().flatten().fold(0.0f64, |size, x| size.max(x.abs()));
    f.sd = meet(Statistic::Sd, f.sd, [0.0, f64::INFINITY], "its being a root")?.filter(|_| f.sd.is_some());
    order(&mut f, size)?;
    if let (Some(min), Some(max)) = (f.min, f.max) {
        let bounds = widened(mean_bounds(f.n, min, max, f.median, rule), size);
        f.mean = meet(Statistic::Mean, f.mean, bounds, mean_by(&f))?;
    }
    if let Some(values) = reconstruct(&f) {
        let middle = [values.iter().map(|v| v[0]).sum::<f64>(), values.iter().map(|v| v[1]).sum::<f64>()];
        let n = values.len() as f64;
        f.mean = meet(Statistic::Mean, f.mean, widened([middle[0] / n, middle[1] / n], size), "the values themselves")?;
        f.median = if values.len() == 3 { Some(values[1]) } else { f.median };
    }
    if f.n == 1 {
        f.sd = f.sd.map(|sd| check(Statistic::Sd, sd, [0.0, 1e-12 * size], "a single value")).transpose()?;
        return Ok(f);
    }
    let freedom = f.n as f64 - 1.0;
    // The squares of large values have rounding errors of their own.
    let slack = (1e-12 + 1e-15 * f.n as f64) * size * size.min(spread(&f).unwrap_or(size));
    if let Some(most) = greatest(&f, rule) {
        let at_most = ((most + slack) / freedom).sqrt() * (1.0 + 1e-12);
        f.sd = meet(Statistic::Sd, f.sd, [0.0, at_most], "the minimum, maximum, median and mean")?;
    }
    let at_least = ((least(&f, rule) - slack).max(0.0) / freedom).sqrt() * (1.0 - 1e-12);
    if at_least > 0.0 || f.sd.is_some() {
        let known = f.sd;
        f.sd = meet(Statistic::Sd, known, [at_least, f64::INFINITY], "the minimum, maximum, median and mean")?;
        f.sd = f.sd.filter(|sd| sd[1].is_finite());
    }
    Ok(f)
}

/// How far apart smallest and largest can be.
fn spread(f: &Figures) -> Option<f64> {
    Some(f.max?[1] - f.min?[0])
}

fn mean_by(f: &Figures) -> &'static str {
    if f.median.is_some() { "the smallest, largest and median" } else { "the smallest and largest" }
}

/// A printed figure that must lie in a range; what is left of it.
fn check(which: Statistic, printed: Range, allowed: Range, by: &'static str) -> Result<Range, Fault> {
    intersect(printed, allowed).ok_or(Fault::Outside { which, printed, allowed, by })
}

/// Like [`check`]; a figure that was not printed is what is allowed.
fn meet(which: Statistic, printed: Option<Range>, allowed: Range, by: &'static str) -> Result<Option<Range>, Fault> {
    Ok(Some(match printed {
        Some(printed) => check(which, printed, allowed, by)?,
        None => allowed,
    }))
}

/// Smallest ≤ median ≤ largest and smallest ≤ mean ≤ largest; for n = 1 all of them are the same.
fn order(f: &mut Figures, size: f64) -> Result<(), Fault> {
    let low = f.min.map_or(f64::NEG_INFINITY, |min| min[0]);
    let high = f.max.map_or(f64::INFINITY, |max| max[1]);
    let middle = [(Statistic::Median, f.median), (Statistic::Mean, f.mean)];
    if let (Some(min), Some(max)) = (f.min, f.max) {
        check(Statistic::Min, min, widened([f64::NEG_INFINITY, max[1]], size), "the largest")?;
    }
    for (which, figure) in middle {
        let allowed = widened([low, high], size);
        let Some(figure) = figure else { continue };
        let left = check(which, figure, allowed, "the smallest and largest")?;
        if which == Statistic::Median { f.median = Some(left) } else { f.mean = Some(left) }
    }
    let present = [f.min, f.max, f.median, f.mean];
    if f.n == 1 {
        let mut same = [f64::NEG_INFINITY, f64::INFINITY];
        for (figure, which) in present.iter().zip([Statistic::Min, Statistic::Max, Statistic::Median, Statistic::Mean])
        {
            let Some(figure) = figure else { continue };
            same = check(which, *figure, widened(same, size), "a single value")?;
        }
        let known = present.iter().any(Option::is_some).then_some(same);
        (f.min, f.max, f.median, f.mean) = (known, known, known, known);
        return Ok(());
    }
    // No value is above the largest, none below the smallest.
    let least_of = |range: Option<Range>| range.map_or(f64::NEG_INFINITY, |r| r[0]);
    let most_of = |range: Option<Range>| range.map_or(f64::INFINITY, |r| r[1]);
    let below = least_of(f.min).max(least_of(f.median)).max(least_of(f.mean));
    let above = most_of(f.max).min(most_of(f.median)).min(most_of(f.mean));
    f.max = f.max.map(|max| [max[0].max(below).min(max[1]), max[1]]);
    f.min = f.min.map(|min| [min[0], min[1].min(above).max(min[0])]);
    Ok(())
}

/// Between which values the mean lies: everything that is free as low, or as high, as it can be.
fn mean_bounds(n: u64, min: Range, max: Range, median: Option<Range>, rule: MedianRule) -> Range {
    let count = n as f64;
    match (n, median.zip(places(n, rule))) {
        (1, _) => [min[0].max(max[0]), min[1].min(max[1])],
        (2, _) => [min[0] / 2.0 + max[0] / 2.0, min[1] / 2.0 + max[1] / 2.0],
        (_, Some((median, (below, middle, above)))) => [
            ((1.0 + below) * min[0] + (middle + above) * median[0] + max[0]) / count,
            (min[1] + (below + middle) * median[1] + (1.0 + above) * max[1]) / count,
        ],
        (_, None) => [((count - 1.0) * min[0] + max[0]) / count, (min[1] + (count - 1.0) * max[1]) / count],
    }
}

/// The values themselves, ascending, each as far as the digits tell: of n = 1 from any figure, of n = 2 from smallest
/// and largest or mean ∓ sd/√2, of n = 3 from smallest, largest, and the median or 3 · mean − smallest − largest.
/// None for more, or where figures are missing or contradict each other.
pub fn reconstruct(f: &Figures) -> Option<Vec<Range>> {
    match f.n {
        1 => Some(vec![f.mean.or(f.median).or(f.min).or(f.max)?]),
        2 => match (f.min, f.max, f.mean, f.sd) {
            (Some(min), Some(max), _, _) => Some(vec![min, max]),
            (_, _, Some(mean), Some(sd)) => {
                let half = sd.map(|s| s / 2f64.sqrt());
                Some(vec![[mean[0] - half[1], mean[1] - half[0]], [mean[0] + half[0], mean[1] + half[1]]])
            }
            _ => None,
        },
        3 => {
            let (min, max) = (f.min?, f.max?);
            let from_mean = f.mean.map(|mean| [3.0 * mean[0] - min[1] - max[1], 3.0 * mean[1] - min[0] - max[0]]);
            let middle = match (f.median, from_mean) {
                (Some(median), Some(other)) => intersect(median, other)?,
                (one, other) => one.or(other)?,
            };
            Some(vec![min, intersect(middle, [min[0], max[1]])?, max])
        }
        _ => None,
    }
}
