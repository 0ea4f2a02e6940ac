//! Marks: what a workload reports while it runs, one line each, on the descriptor that `$BAKEOFF_MARKS` names. This
//! reads lines, with the times at which they came, and keeps phases, latencies of ops, and values.

mod latencies;
mod names;
mod read;

pub use latencies::{Latencies, Recorder};
pub use names::{OpMetric, STATS, Stat, is_name, is_op_name};
pub use read::{ParsedMarks, ParsedValues, Reader, Wrong, read};

use serde::{Deserialize, Serialize};

/// Bytes that came in one piece, and when.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chunk {
    /// When they were read, in seconds since the launch.
    pub at_s: f64,
    /// Any number of lines, or parts of lines.
    pub bytes: Vec<u8>,
}

/// What one trial's marks amount to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Marks {
    /// The phases, in their order. A name may stand there more than once: then its walls add up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// The ops, by the phase in which they ended and by their name, in the order in which the first of each ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<OpLatencies>,
}

/// A named interval inside a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// When it began, in seconds since the launch.
    pub began_s: f64,
    /// When it ended: with the next one, or with the trial.
    pub ended_s: f64,
}

/// Ops of one name that ended in one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpLatencies {
    /// The phase; none before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Their name; none if they have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How long they took.
    pub latencies: Latencies,
}

impl Marks {
    /// Whether nothing was marked.
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty() && self.ops.is_empty()
    }

    /// The marks of processes that run at once, as those of one trial: ops are pooled, and the n-th phase of a name
    /// goes from the earliest begin to the latest end of all n-th ones. All times must be since the same launch.
    pub fn merge(all: &[Self]) -> Self {
        let mut merged = Self::default();
        let mut which: Vec<(&str, usize)> = vec![];
        for marks in all {
            for (i, phase) in marks.phases.iter().enumerate() {
                let before = marks.phases[..i].iter().filter(|other| other.name == phase.name).count();
                match which.iter().position(|known| *known == (&phase.name, before)) {
                    Some(at) => {
                        let whole = &mut merged.phases[at];
                        whole.began_s = whole.began_s.min(phase.began_s);
                        whole.ended_s = whole.ended_s.max(phase.ended_s);
                    }
                    None => {
                        which.push((&phase.name, before));
                        merged.phases.push(phase.clone());
                    }
                }
            }
        }
        merged.phases.sort_by(|a, b| a.began_s.total_cmp(&b.began_s));
        let mut kinds: Vec<(&OpLatencies, Vec<&Latencies>)> = vec![];
        for ops in all.iter().flat_map(|marks| &marks.ops) {
            match kinds.iter_mut().find(|(known, _)| (&known.phase, &known.name) == (&ops.phase, &ops.name)) {
                Some((_, pool)) => pool.push(&ops.latencies),
                None => kinds.push((ops, vec![&ops.latencies])),
            }
        }
        let pooled = |(kind, pool): (&OpLatencies, Vec<&Latencies>)| {
            let latencies = Latencies::merge(pool)?;
            Some(OpLatencies { phase: kind.phase.clone(), name: kind.name.clone(), latencies })
        };
        merged.ops = kinds.into_iter().filter_map(pooled).collect();
        merged
    }

    /// How many ops ended in the trial.
    pub fn ops_count(&self) -> u64 {
        self.ops.iter().map(|ops| ops.latencies.count()).sum()
    }

    /// The value of a metric of phases and ops, such as `scan.wall` or `scan.op.get.p99`; none if it was not marked.
    /// Rates of ops of no phase in particular are per time of the trial's `wall`.
    pub fn value(&self, metric: &str, wall_s: Option<f64>) -> Option<f64> {
        let of_phase = metric.strip_suffix(".wall").and_then(|phase| self.phase_wall_s(phase));
        of_phase.or_else(|| OpMetric::readings(metric).into_iter().find_map(|reading| self.of_ops(&reading, wall_s)))
    }

    /// How long a phase lasted, all of its intervals together.
    fn phase_wall_s(&self, phase: &str) -> Option<f64> {
        let of_phase = self.phases.iter().filter(|p| p.name == phase);
        of_phase.map(|p| p.ended_s - p.began_s).reduce(|sum, s| sum + s)
    }

    fn of_ops(&self, metric: &OpMetric<'_>, wall_s: Option<f64>) -> Option<f64> {
        let meant = |ops: &&OpLatencies| {
            metric.phase.is_none_or(|phase| ops.phase.as_deref() == Some(phase))
                && metric.name.is_none_or(|name| ops.name.as_deref() == Some(name))
        };
        let all: Vec<&Latencies> = self.ops.iter().filter(meant).map(|ops| &ops.latencies).collect();
        let count: u64 = all.iter().map(|latencies| latencies.count()).sum();
        if count == 0 {
            return None;
        }
        let each = all.iter();
        match metric.stat {
            Stat::Quantile(q) => match all.as_slice() {
                [one] => Some(one.quantile(q)),
                several => Latencies::quantile_of_all(several.iter().copied(), q),
            },
            Stat::Max => each.map(|latencies| latencies.max_s()).reduce(f64::max),
            Stat::Min => each.map(|latencies| latencies.min_s()).reduce(f64::min),
            Stat::Mean => Some(each.map(|latencies| latencies.sum_s()).sum::<f64>() / count as f64),
            Stat::Count => Some(count as f64),
            Stat::Rate => {
                let lasted_s = metric.phase.map_or(wall_s, |phase| self.phase_wall_s(phase))?;
                (lasted_s > 0.0).then(|| count as f64 / lasted_s)
            }
        }
    }
}

#[cfg(test)]
mod tests;
