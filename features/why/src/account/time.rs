//! The account of time: which part of a difference in user time the number of instructions explains, and which is the same
//! work at another speed. Neither is scaled to the other: the number explains between a third and three halves of the
//! difference, and sometimes it has the wrong sign.

use super::lengths::number;
use super::result::{Interval, TimeAccount};
use bakeoff_judge::findings::{Comparison, Scale};

/// Times of the trials of both sides.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimeInput {
    /// The `$LENGTH` of the trials; none if it was not set.
    pub(crate) length: Option<String>,
    /// User time.
    pub(crate) user: Times,
    /// System time.
    pub(crate) sys: Option<Times>,
    /// Wall time.
    pub(crate) wall: Option<Times>,
}

/// A metric of both sides, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Times {
    /// The baseline's.
    pub(crate) baseline_s: f64,
    /// The variant's.
    pub(crate) variant_s: f64,
    /// Its interval, with the baseline's as it is.
    pub(crate) interval_s: Option<[f64; 2]>,
}

impl Times {
    /// The baseline's median, and the variant by how it compares with it. Its own median is used only without a
    /// comparison: the comparison is by blocks, so it is closer.
    pub(crate) fn of(medians_s: [f64; 2], comparison: Option<&Comparison>) -> Self {
        let [baseline_s, median_s] = medians_s;
        let Some(comparison) = comparison else { return Self { baseline_s, variant_s: median_s, interval_s: None } };
        let variant = |value: f64| match comparison.scale {
            Scale::Ratio => baseline_s * value,
            Scale::Difference => baseline_s + value,
        };
        let interval_s = comparison.interval().map(|ends| ends.map(variant));
        Self { baseline_s, variant_s: variant(comparison.estimate), interval_s }
    }

    fn difference(&self) -> Interval {
        let interval_s = self.interval_s.map(|ends| ends.map(|end| end - self.baseline_s));
        Interval { estimate_s: self.variant_s - self.baseline_s, interval_s }
    }

    fn is_finite(&self) -> bool {
        [self.baseline_s, self.variant_s].into_iter().chain(self.interval_s.into_iter().flatten()).all(f64::is_finite)
    }
}

/// What was counted, and where.
pub(super) struct CountedAt<'a> {
    pub(super) length: Option<&'a str>,
    pub(super) instructions: [u64; 2],
    /// Both lengths as numbers, and the instructions at the shorter one.
    pub(super) shorter: Option<([f64; 2], [u64; 2])>,
}

impl CountedAt<'_> {
    /// The instructions at the length of the trials: as counted, or on the straight line through two counts. None if
    /// neither is there.
    fn at(&self, length: Option<&str>) -> Option<[f64; 2]> {
        let counted = self.instructions.map(|instructions| instructions as f64);
        if length.is_none() || length == self.length {
            return Some(counted);
        }
        let (wanted, ([first, last], at_first)) = number(length).zip(self.shorter)?;
        let per_unit = [0, 1].map(|side| (counted[side] - at_first[side] as f64) / (last - first));
        Some([0, 1].map(|side| counted[side] + per_unit[side] * (wanted - last)))
    }
}

/// The account; none if user time or instructions are not positive numbers.
pub(super) fn account(time: &TimeInput, counted: &CountedAt<'_>) -> Option<TimeAccount> {
    let TimeInput { user, sys, wall, length } = time;
    let instructions = counted.at(length.as_deref())?;
    let is_usable = user.is_finite() && user.baseline_s > 0.0 && user.variant_s > 0.0;
    if !is_usable || instructions.iter().any(|number| !number.is_finite() || *number <= 0.0) {
        return None;
    }
    let parts = Parts::of(user, user.variant_s, instructions);
    let ends = user.interval_s.map(|ends| ends.map(|end| Parts::of(user, end, instructions)));
    let interval = |of: fn(&Parts) -> f64| {
        let ends = ends.as_ref().map(|[low, high]| [of(low), of(high)]);
        Interval { estimate_s: of(&parts), interval_s: ends.map(|[one, other]| [one.min(other), one.max(other)]) }
    };
    let sys = sys.filter(Times::is_finite);
    let waiting = wall.filter(Times::is_finite).zip(sys).and_then(|(wall, sys)| waiting(user, &sys, &wall));
    Some(TimeAccount {
        user_s: [user.baseline_s, user.variant_s],
        ns: parts.ns,
        user: interval(|parts| parts.by_number_s + parts.by_speed_s),
        by_number: interval(|parts| parts.by_number_s),
        by_speed: interval(|parts| parts.by_speed_s),
        sys: sys.map(|sys| sys.difference()),
        waiting,
    })
}

/// The two parts of a difference in user time. Their sum is the difference.
struct Parts {
    ns: [f64; 2],
    by_number_s: f64,
    by_speed_s: f64,
}

impl Parts {
    fn of(user: &Times, variant_s: f64, instructions: [f64; 2]) -> Self {
        let times = [user.baseline_s, variant_s];
        let ns = [0, 1].map(|side| times[side] / instructions[side] * 1e9);
        let by_number_s = (instructions[1] - instructions[0]) * (ns[0] + ns[1]) / 2.0 / 1e9;
        Self { ns, by_number_s, by_speed_s: variant_s - user.baseline_s - by_number_s }
    }
}

/// What neither runs nor is in the kernel. Below 0 several threads ran at once, and nobody knows what waited.
fn waiting(user: &Times, sys: &Times, wall: &Times) -> Option<Interval> {
    let baseline_s = wall.baseline_s - user.baseline_s - sys.baseline_s;
    let variant_s = wall.variant_s - user.variant_s - sys.variant_s;
    (baseline_s >= 0.0 && variant_s >= 0.0).then_some(Interval { estimate_s: variant_s - baseline_s, interval_s: None })
}
