//! Which counts belong together: those of both sides at one length. It takes the shortest and the longest, and computes what
//! grows with the length.

use super::result::Growth;
use crate::counts::Counted;

/// Counts of both sides at one or two lengths, the longest last.
pub(super) struct Paired<'c> {
    pub(super) counts: [Vec<&'c Counted>; 2],
    /// The lengths, if there are two and both are numbers.
    pub(super) lengths: Option<[f64; 2]>,
}

impl<'c> Paired<'c> {
    /// `nothing` stands for the counts of a side that has none.
    pub(super) fn of(a: &'c [Counted], b: &'c [Counted], nothing: &'c Counted) -> Self {
        let same = |one: &'c Counted| Some([one, b.iter().find(|other| other.length == one.length)?]);
        let mut pairs: Vec<[&Counted; 2]> = a.iter().filter_map(same).collect();
        pairs.sort_by(|one, other| size(one[0]).total_cmp(&size(other[0])));
        let Some((short, long)) = pairs.first().zip(pairs.last()) else {
            return Self { counts: [a, b].map(|side| vec![side.last().unwrap_or(nothing)]), lengths: None };
        };
        let lengths = number(short[0].length.as_deref()).zip(number(long[0].length.as_deref()));
        match lengths.filter(|(short, long)| short < long) {
            Some((first, last)) => {
                Self { counts: [0, 1].map(|side| vec![short[side], long[side]]), lengths: Some([first, last]) }
            }
            None => Self { counts: long.map(|long| vec![long]), lengths: None },
        }
    }
}

/// What is no number is shorter than every number, so that the table is of a length that was counted with another.
fn size(counted: &Counted) -> f64 {
    number(counted.length.as_deref()).unwrap_or(f64::NEG_INFINITY)
}

/// A length as a number of units of work.
pub(super) fn number(length: Option<&str>) -> Option<f64> {
    length?.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

impl Growth {
    /// The straight line through two differences.
    pub(super) fn of(differences: [i64; 2], lengths: [f64; 2]) -> Self {
        let ([short, long], [first, last]) = (differences.map(|difference| difference as f64), lengths);
        let per_unit = (long - short) / (last - first);
        Self { start: long - per_unit * last, per_unit }
    }

    pub(super) fn sum(all: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        all.reduce(|one, other| {
            let (one, other) = one.zip(other)?;
            Some(Self { start: one.start + other.start, per_unit: one.per_unit + other.per_unit })
        })?
    }
}
