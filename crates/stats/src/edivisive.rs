//! Where did a history of values change its level? E-divisive with means of pairwise distances (Matteson & James 2014),
//! gated by Student's t in sliding windows, as Hunter and Otava do (Fleming et al. 2023). For histories over days and
//! commits, which have no blocks; it is no test of a comparison.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// When a change counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Values that are looked at together; windows overlap by half.
    pub window: usize,
    /// A change's p is at most this.
    pub p: f64,
    /// A change of the mean is at least this part of the smaller of the two means.
    pub magnitude: f64,
}

impl Default for Settings {
    /// Otava's test settings: 30 values, p ≤ 0.01, 5 %.
    fn default() -> Self {
        Self { window: 30, p: 0.01, magnitude: 0.05 }
    }
}

/// Candidates may have a p this many times as large; those that stay too large are dropped when the windows are joined.
const LENIENCE: f64 = 10.0;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The place of the first value of the new level, from 0.
    pub at: usize,
    /// Mean from the change before to this one.
    pub before: f64,
    /// Mean from this change to the next one.
    pub after: f64,
    /// Two-sided p of Student's pooled t between the two. It is a gate, not an error rate: the place was chosen to make
    /// it small.
    pub p: f64,
}

impl Change {
    /// The larger of |after/before − 1| and |before/after − 1|; infinite if one mean is 0 and the other is not.
    pub fn magnitude(&self) -> f64 {
        let (before, after) = (self.before, self.after);
        if before == after { 0.0 } else { (after / before - 1.0).abs().max((before / after - 1.0).abs()) }
    }
}

/// The changes of a series in the order of time; none if a value is not finite.
///
/// In every window, the split of an interval between changes is the τ of the (τ, κ) that maximises
/// Q = 2/(m+n) Σ|xᵢ−yⱼ| − 2m/((m+n)(n−1)) Σ|xᵢ−xₖ| − 2n/((m+n)(m−1)) Σ|yⱼ−yₖ|, with the n values x before τ and the m
/// values y from τ to κ; the best split of all intervals is accepted if Student's t between its neighbours has p ≤ 10 times
/// the setting, and then the next is looked for. The next window begins half a window later, or at the last change found.
/// Of all these changes, the one with the largest p is dropped until all are ≤ the setting, then the smallest until all are
/// large enough; neighbours are reckoned anew each time.
///
/// Otava hands the standard deviation with divisor n to a t test that takes n − 1, so its p is somewhat smaller than ours.
pub fn changes(series: &[f64], settings: Settings) -> Vec<Change> {
    if series.iter().any(|x| !x.is_finite()) {
        return vec![];
    }
    let window = settings.window.max(2);
    let mut found: Vec<usize> = vec![];
    let mut start = 0;
    while start < series.len() {
        let part = &series[start..series.len().min(start + window)];
        let inside = splits(part, LENIENCE * settings.p);
        let last = inside.last().map_or(0, |at| start + at);
        found.extend(inside.iter().map(|at| start + at));
        start = last.max(start + window / 2);
    }
    found.sort_unstable();
    found.dedup();
    merged(series, found, settings)
}

/// The changes inside one window, in order.
fn splits(values: &[f64], p: f64) -> Vec<usize> {
    let distances = Distances::new(values);
    let mut found: Vec<usize> = vec![];
    loop {
        let mut best: Option<(f64, usize)> = None;
        for [from, to] in intervals(&found, values.len()) {
            let candidate = distances.best_split(from, to);
            best = match (best, candidate) {
                (Some(one), Some(other)) if other.0 > one.0 => Some(other),
                (None, other) => other,
                (one, _) => one,
            };
        }
        let Some((_, at)) = best else { return found };
        let neighbours = intervals(&found, values.len()).find(|[from, to]| *from < at && at < *to);
        let Some([from, to]) = neighbours else { return found };
        if change(values, from, at, to).p > p {
            return found;
        }
        found.insert(found.partition_point(|other| *other < at), at);
    }
}

/// From change to change, the beginning and the end included.
fn intervals(changes: &[usize], length: usize) -> impl Iterator<Item = [usize; 2]> {
    let starts = std::iter::once(0).chain(changes.iter().copied());
    starts.zip(changes.iter().copied().chain([length])).map(|(from, to)| [from, to])
}

/// Drops changes until all that are left count.
fn merged(series: &[f64], mut found: Vec<usize>, settings: Settings) -> Vec<Change> {
    loop {
        let ends: Vec<usize> = std::iter::once(0).chain(found.iter().copied()).chain([series.len()]).collect();
        let changes: Vec<Change> = ends.windows(3).map(|e| change(series, e[0], e[1], e[2])).collect();
        let by = |key: &dyn Fn(&Change) -> f64| {
            (0..changes.len()).min_by(|a, b| key(&changes[*a]).total_cmp(&key(&changes[*b])))
        };
        let doubtful = by(&|change| -change.p).filter(|index| changes[*index].p > settings.p);
        let small = by(&Change::magnitude).filter(|index| changes[*index].magnitude() < settings.magnitude);
        match doubtful.or(small) {
            Some(index) => found.remove(index),
            None => return changes,
        };
    }
}

/// What changes at `at` between two neighbours.
fn change(values: &[f64], from: usize, at: usize, to: usize) -> Change {
    let (left, right) = (&values[from..at], &values[at..to]);
    let [before, after] = [left, right].map(super::describe::mean);
    let squares = |part: &[f64], mean: f64| part.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let (n, m) = (left.len() as f64, right.len() as f64);
    let degrees = n + m - 2.0;
    let variance = (squares(left, before) + squares(right, after)) / degrees;
    let t = (after - before) / (variance * (1.0 / n + 1.0 / m)).sqrt();
    // Without variation any difference is certain; of two values, none is; nor where sums overflow.
    let p = match StudentsT::new(0.0, 1.0, degrees) {
        Ok(student) if t.is_finite() => 2.0 * student.sf(t.abs()),
        Ok(_) if t.is_infinite() && variance == 0.0 => 0.0,
        _ => 1.0,
    };
    Change { at, before, after, p }
}

/// Sums of all pairwise distances within every stretch of a window.
struct Distances {
    n: usize,
    /// Σ|xᵢ − xₖ| over from ≤ i < k < to, at from · (n+1) + to.
    within: Vec<f64>,
}

impl Distances {
    fn new(values: &[f64]) -> Self {
        let n = values.len();
        let mut within = vec![0.0; (n + 1) * (n + 1)];
        for from in 0..n {
            for to in from + 1..n {
                let added: f64 = values[from..to].iter().map(|x| (x - values[to]).abs()).sum();
                within[from * (n + 1) + to + 1] = within[from * (n + 1) + to] + added;
            }
        }
        Self { n, within }
    }

    fn within(&self, from: usize, to: usize) -> f64 {
        self.within[from * (self.n + 1) + to]
    }

    /// The largest Q of an interval, and its τ; the first, if several are equal. None for fewer than two values.
    fn best_split(&self, from: usize, to: usize) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for split in from + 1..to {
            for end in split + 1..=to {
                let (n, m) = ((split - from) as f64, (end - split) as f64);
                let (left, right) = (self.within(from, split), self.within(split, end));
                let between = self.within(from, end) - left - right;
                let of_left = if n > 1.0 { m / (n - 1.0) * left } else { 0.0 };
                let of_right = if m > 1.0 { n / (m - 1.0) * right } else { 0.0 };
                let q = 2.0 / (m + n) * (between - of_left - of_right);
                if best.is_none_or(|(most, _)| q > most) {
                    best = Some((q, split));
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(series: &[f64]) -> Vec<usize> {
        changes(series, Settings::default()).iter().map(|change| change.at).collect()
    }

    fn series(levels: &[(usize, f64)]) -> Vec<f64> {
        let level = levels.iter().flat_map(|(length, level)| std::iter::repeat_n(*level, *length));
        level.enumerate().map(|(i, level)| level * (1.0 + ((i * 37 % 11) as f64 - 5.0) * 0.001)).collect()
    }

    #[test]
    fn table() {
        let check =
            |levels: &[(usize, f64)], expect: &[usize]| assert_eq!(places(&series(levels)), expect, "{levels:?}");
        check(&[], &[]);
        check(&[(1, 1.0)], &[]);
        check(&[(1, 1.0), (1, 2.0)], &[]);
        check(&[(100, 1.0)], &[]);
        check(&[(40, 1.0), (60, 1.1)], &[40]);
        check(&[(40, 1.0), (20, 0.9), (40, 1.0)], &[40, 60]);
        // Certain, but smaller than 5 %.
        check(&[(40, 1.0), (60, 1.03)], &[]);
        // Without any noise.
        assert_eq!(places(&[[1.0; 20], [2.0; 20]].concat()), [20]);
        assert_eq!(places(&[3.0; 40]), [0; 0]);
        assert_eq!(places(&[1.0, f64::NAN, 1.0, 2.0]), [0; 0]);
        // Sums may overflow; nothing panics.
        assert!(places(&[[1e308; 20], [-1e308; 20]].concat()).len() <= 1);
    }
}
