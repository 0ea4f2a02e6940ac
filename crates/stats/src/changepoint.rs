//! Does a process settle while it repeats its work? The repetitions are cut into segments of constant mean and variance,
//! and the segments say whether it was steady all along, warmed up, became slower, or never settled (Barrett et al.
//! 2017). For repetitions inside one process; trials have blocks instead.

/// The shortest segment: with fewer values there is no variance.
const SHORTEST: usize = 2;

/// The penalty of a change is this times ln n (Barrett et al. 2017).
const PENALTY: f64 = 15.0;

/// The last repetitions, which must be of one kind for a process to count as settled (Barrett et al. 2017).
pub const STEADY: usize = 500;

/// Segments whose means are this close, in seconds, are alike (Barrett et al. 2017).
pub const DELTA_S: f64 = 0.001;

/// A variance is at least this part of that of all values: less cannot be told from rounding errors of the sums.
const LEAST_VARIANCE: f64 = 1e-10;

/// Prefix sums of values that were centred and scaled, so that sums of squares lose nothing.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
    /// The least variance of a segment.
    floor: f64,
}

impl Sums {
    /// None if a value is not finite or too large to square, and if none varies.
    fn new(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let largest = values.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        if !largest.is_finite() || largest == 0.0 || values.iter().any(|x| x.is_nan()) {
            return None;
        }
        let mean = values.iter().map(|x| x / largest).sum::<f64>() / n;
        let centred: Vec<f64> = values.iter().map(|x| x / largest - mean).collect();
        let sd = (centred.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
        let mut ascending: Vec<f64> = centred.iter().map(|x| x / sd).collect();
        let running = |f: &dyn Fn(f64) -> f64| {
            let mut sum = 0.0;
            let next = ascending.iter().map(|x| {
                sum += f(*x);
                sum
            });
            std::iter::once(0.0).chain(next).collect::<Vec<f64>>()
        };
        let (sums, squares) = (running(&|x| x), running(&|x| x * x));
        ascending.sort_by(f64::total_cmp);
        // Values that differ by nothing, or by less than values ever differ here, have the variance of their rounding.
        let gaps = ascending.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 1e-9);
        let tick = gaps.fold(f64::INFINITY, f64::min);
        let varies = tick.is_finite();
        varies.then_some(Self { values: sums, squares, floor: (tick * tick / 12.0).max(LEAST_VARIANCE) })
    }

    /// Twice the negative log-likelihood of a segment of normal values, but for a constant: its length × ln v plus its
    /// sum of squares ÷ v, at its own mean and at the likeliest variance v that is not below the floor.
    fn cost(&self, from: usize, to: usize) -> f64 {
        let length = (to - from) as f64;
        let sum = self.values[to] - self.values[from];
        let about_mean = (self.squares[to] - self.squares[from] - sum * sum / length).max(0.0);
        let variance = (about_mean / length).max(self.floor);
        length * variance.ln() + about_mean / variance
    }
}

/// The places, from 0, at which new segments begin: those that minimise the sum of the segments' costs plus 15 ln n for
/// every change, each segment having at least two values. None for fewer than four values, and if one is not finite.
///
/// The cost of a segment is −2 log L of normal values with mean and variance of its own; a variance counts as at least
/// tick²/12, where tick is the smallest difference between two values, so that a coarse clock makes no segments of
/// equal values. The minimum is found by PELT (Killick, Fearnhead & Eckley 2012): a last change s that is beaten at t,
/// F(s) + C(s, t) ≥ F(t), will be beaten at every later end that leaves room for a segment from t. Time is linear in n
/// if changes are frequent, and quadratic if there are none.
pub fn change_points(values: &[f64]) -> Option<Vec<usize>> {
    let n = values.len();
    if n < 2 * SHORTEST || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let Some(sums) = Sums::new(values) else { return Some(vec![]) };
    let penalty = PENALTY * (n as f64).ln();
    // F, and the last change of the best segmentation, of the first t values.
    let (mut best, mut last) = (vec![f64::INFINITY; n + 1], vec![0; n + 1]);
    best[0] = -penalty;
    // Last changes that may still be best, and the end from which on they are not.
    let mut candidates: Vec<(usize, usize)> = vec![];
    for end in SHORTEST..=n {
        let start = end - SHORTEST;
        if best[start].is_finite() {
            candidates.push((start, usize::MAX));
        }
        candidates.retain(|(_, until)| end < *until);
        let costs: Vec<f64> = candidates.iter().map(|(s, _)| best[*s] + sums.cost(*s, end)).collect();
        for (cost, (s, _)) in costs.iter().zip(&candidates) {
            if cost + penalty < best[end] {
                (best[end], last[end]) = (cost + penalty, *s);
            }
        }
        for (cost, (_, until)) in costs.iter().zip(&mut candidates) {
            if *cost >= best[end] {
                *until = (*until).min(end + SHORTEST);
            }
        }
    }
    let mut changes = vec![];
    let mut end = last[n];
    while end > 0 {
        changes.push(end);
        end = last[end];
    }
    changes.reverse();
    Some(changes)
}

/// How a process came to the speed of its last repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// It had it all along.
    Flat,
    /// It was slower, and never faster, before the repetition `from` (counted from 0).
    WarmUp {
        /// The first repetition from which on all segments are alike.
        from: usize,
    },
    /// It was faster at some time before the repetition `from` (counted from 0).
    Slowdown {
        /// The first repetition from which on all segments are alike.
        from: usize,
    },
    /// Its last [`STEADY`] repetitions are not alike.
    NoSteadyState,
}

/// Classifies the times of a process's repetitions, in seconds and in order, as Barrett et al. (2017) do. None for
/// [`STEADY`] or fewer, and if one is not finite.
///
/// A segment is like the last one if mean ± variance of the one and mean ± max(variance, [`DELTA_S`]) of the other
/// overlap. (Adding a variance to a mean mixes units; it is their rule, and matters only where times vary by about a
/// second.) Outliers are not removed beforehand.
pub fn course(seconds: &[f64]) -> Option<Course> {
    let n = seconds.len();
    if n <= STEADY {
        return None;
    }
    let changes = change_points(seconds)?;
    let ends = changes.iter().copied().chain([n]);
    let starts = std::iter::once(0).chain(changes.iter().copied());
    let segments: Vec<Segment> = starts.zip(ends).map(|(from, to)| Segment::of(seconds, from, to)).collect();
    let (last, earlier) = segments.split_last()?;
    let room = last.variance.max(DELTA_S);
    let unlike: Vec<&Segment> = earlier.iter().filter(|s| (s.mean - last.mean).abs() > room + s.variance).collect();
    let Some(from) = unlike.last().map(|segment| segment.end) else { return Some(Course::Flat) };
    Some(if from > n - STEADY {
        Course::NoSteadyState
    } else if unlike.iter().any(|segment| segment.mean < last.mean) {
        Course::Slowdown { from }
    } else {
        Course::WarmUp { from }
    })
}

struct Segment {
    end: usize,
    mean: f64,
    variance: f64,
}

impl Segment {
    fn of(values: &[f64], from: usize, end: usize) -> Self {
        let (part, n) = (&values[from..end], (end - from) as f64);
        let mean = super::describe::mean(part);
        Self { end, mean, variance: part.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// About 1 ms of noise without a tendency, and without repetition.
    fn noise(index: usize) -> f64 {
        ((index * 7919 % 10_007) as f64 / 10_007.0 - 0.5) * 0.002
    }

    fn times(levels: &[(usize, f64)]) -> Vec<f64> {
        let level = levels.iter().flat_map(|(length, level)| std::iter::repeat_n(*level, *length));
        level.enumerate().map(|(index, level)| level + noise(index)).collect()
    }

    #[test]
    fn courses() {
        let check = |levels: &[(usize, f64)], expect| assert_eq!(course(&times(levels)), expect, "{levels:?}");
        check(&[(500, 1.0)], None);
        check(&[(2000, 1.0)], Some(Course::Flat));
        check(&[(300, 1.5), (1700, 1.0)], Some(Course::WarmUp { from: 300 }));
        check(&[(300, 1.5), (200, 1.2), (1500, 1.0)], Some(Course::WarmUp { from: 500 }));
        check(&[(300, 0.8), (1700, 1.0)], Some(Course::Slowdown { from: 300 }));
        check(&[(300, 1.5), (200, 0.8), (1500, 1.0)], Some(Course::Slowdown { from: 500 }));
        check(&[(1600, 1.0), (400, 1.2)], Some(Course::NoSteadyState));
        // Found, but closer than a millisecond.
        check(&[(1000, 1.0), (1000, 1.0009)], Some(Course::Flat));
    }

    #[test]
    fn nothing_to_cut() {
        assert_eq!(change_points(&[1.0, 2.0, 3.0]), None);
        assert_eq!(change_points(&[1.0, 2.0, f64::NAN, 3.0]), None);
        assert_eq!(change_points(&[1.0, 2.0, f64::INFINITY, 3.0]), None);
        assert_eq!(change_points(&[5.0; 100]), Some(vec![]));
        assert_eq!(change_points(&[0.0; 100]), Some(vec![]));
        assert_eq!(change_points(&[1e300, -1e300, 1e300, -1e300]), Some(vec![]));
        assert_eq!(course(&[1.0; 600]), Some(Course::Flat));
    }

    /// A clock of 1 ms makes long rows of equal values; they are not segments.
    #[test]
    fn a_coarse_clock_makes_no_segments() {
        let ticks: Vec<f64> = (0..600).map(|i: u32| if (i / 9).is_multiple_of(2) { 0.012 } else { 0.013 }).collect();
        assert_eq!(change_points(&ticks), Some(vec![]));
    }
}
