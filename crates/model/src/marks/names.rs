//! The names of metrics of ops, `[PHASE.]op[.NAME].STAT`: which statistics there are, and how a name is taken apart.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use crate::metric::{Direction, Unit};

/// What reports have of the latencies of ops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stat {
    /// This quantile, between 0 and 1.
    Quantile(f64),
    Max,
    Min,
    Mean,
    /// Ops in a second.
    Rate,
    Count,
}

/// The statistics with their names in metrics, in the order in which tables list them.
pub const STATS: &[(&str, Stat)] = &[
    ("p50", Stat::Quantile(0.5)),
    ("p90", Stat::Quantile(0.9)),
    ("p99", Stat::Quantile(0.99)),
    ("p99.9", Stat::Quantile(0.999)),
    ("max", Stat::Max),
    ("min", Stat::Min),
    ("mean", Stat::Mean),
    ("rate", Stat::Rate),
    ("count", Stat::Count),
];

impl Stat {
    /// The base unit of its values.
    pub fn unit(self) -> Unit {
        match self {
            Self::Quantile(_) | Self::Max | Self::Min | Self::Mean => Unit::Seconds,
            Self::Rate => Unit::PerSecond,
            Self::Count => Unit::Count,
        }
    }

    /// Which way is better. A count has none; it is listed among the costs.
    pub fn better(self) -> Direction {
        if self == Self::Rate { Direction::More } else { Direction::Less }
    }
}

/// A metric of ops, taken apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpMetric<'a> {
    /// Of ops that ended in this phase; none for all of them.
    pub phase: Option<&'a str>,
    /// Of ops of this name; none for all of them.
    pub name: Option<&'a str>,
    /// What of them.
    pub stat: Stat,
}

impl<'a> OpMetric<'a> {
    /// Every way to read a metric's name. There is more than one only where a phase or an op is itself called `op`, or
    /// has a dot in its name; the first that fits is meant.
    pub fn readings(metric: &'a str) -> Vec<Self> {
        // A name can end in `.p99.9` and nothing shorter of these at once.
        let split = |(name, stat): &(&str, Stat)| Some((metric.strip_suffix(name)?.strip_suffix('.')?, *stat));
        let Some((rest, stat)) = STATS.iter().find_map(split) else { return vec![] };
        let reading = |at: usize| {
            // What stands before `op` and behind it, each with its dot.
            let (before, behind) = (&rest[..at], &rest[at + 2..]);
            let phase = if before.is_empty() { None } else { Some(before.strip_suffix('.')?) };
            let name = if behind.is_empty() { None } else { Some(behind.strip_prefix('.')?) };
            Some(Self { phase, name, stat })
        };
        rest.match_indices("op").filter_map(|(at, _)| reading(at)).collect()
    }
}

/// Whether a phase or a value may have this name: letters, digits, `_`, `-`, `+` and `.`, at least one of them.
pub fn is_name(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-+.".contains(byte))
}

/// Whether an op may have this name. It is a name as [`is_name`] says, and no number: in `op 0.25` that is the latency.
pub fn is_op_name(word: &[u8]) -> bool {
    is_name(word) && number(word).is_none()
}

/// A number that can be reckoned with. Words such as `inf` and `nan` are none.
pub(super) fn number(word: &[u8]) -> Option<f64> {
    if let Some(number) = crate::decimal::parse(word) {
        return Some(number);
    }
    let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    digits.first().filter(|first| first.is_ascii_digit() || **first == b'.')?;
    let number: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    crate::range::is_usable(number).then_some(number)
}
