//! The sentences of the diagnostics: what was seen, where, and what to do about it. They count and name; they judge
//! nothing.

use super::seen::{CarryOver, Modes, Outliers, Position, Rates, Seen};
use crate::findings::{Findings, Scale, Table};
use bakeoff_model::metric::Unit;
use bakeoff_model::record::TWIN;

/// More than this many places are counted, not named.
const NAMED: usize = 3;

/// How things are named in a study.
pub(super) struct Names {
    /// Number of workloads × conditions.
    cells: usize,
}

impl Names {
    pub(super) fn of(findings: &Findings) -> Self {
        let mut cells: Vec<_> = findings.tables.iter().map(|table| (&table.workload, &table.condition)).collect();
        cells.sort();
        cells.dedup();
        Self { cells: cells.len() }
    }

    /// "wall (2 of 3 tables), user (1 of 3 tables)"; just the metrics, if each has one table.
    fn metrics<T>(&self, seen: &[Seen<'_, T>]) -> String {
        let mut metrics: Vec<(&str, usize)> = vec![];
        for one in seen {
            match metrics.iter_mut().find(|(metric, _)| *metric == one.table.metric) {
                Some((_, tables)) => *tables += 1,
                None => metrics.push((&one.table.metric, 1)),
            }
        }
        let name = |(metric, tables): (&str, usize)| match self.cells {
            1 => metric.to_owned(),
            cells => format!("{metric} ({tables} of {cells} tables)"),
        };
        metrics.into_iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// "b: wall", and of what, if there are several workloads or conditions.
    fn place(&self, variant: &str, table: &Table) -> String {
        let variant = if variant == TWIN { "the twin" } else { variant };
        let metric = &table.metric;
        match self.cells {
            1 => format!("{variant}: {metric}"),
            _ => format!("{variant}: {metric} of {}, {}", table.workload, table.condition),
        }
    }

    /// The first few, and how many more there are; none for none.
    fn list<'a, T>(seen: &[Seen<'a, T>], name: impl Fn(&Seen<'a, T>) -> String) -> Option<String> {
        let mut list = seen.iter().take(NAMED).map(name).collect::<Vec<_>>().join("; ");
        if seen.len() > NAMED {
            list += &format!("; and {} more", seen.len() - NAMED);
        }
        (!seen.is_empty()).then_some(list)
    }

    pub(super) fn drift(&self, seen: &[Seen<'_, ()>]) -> Option<String> {
        (!seen.is_empty()).then(|| {
            format!(
                "values drift while the study executes: {}; the verdicts compare inside blocks and stay valid, but do not \
                 compare values of different blocks",
                self.metrics(seen)
            )
        })
    }

    pub(super) fn autocorrelation(&self, seen: &[Seen<'_, ()>]) -> Option<String> {
        (!seen.is_empty()).then(|| {
            format!(
                "successive blocks are not independent: {}; the verdicts compare inside blocks and stay valid, but do not \
                 use unpaired tests on these values",
                self.metrics(seen)
            )
        })
    }

    pub(super) fn position(&self, seen: &[Seen<'_, Position<'_>>]) -> Option<String> {
        let list = Self::list(seen, |one| {
            let shift = change(one.what.shift, one.what.is_logarithmic, one.table.unit);
            format!("{}, {shift} if it executes after the baseline", self.place(one.what.variant, one.table))
        })?;
        Some(format!(
            "differences depend on who executes first ({list}): let a trial that does not count go before each block, or \
             a pause before each trial"
        ))
    }

    pub(super) fn carry_over(&self, seen: &[Seen<'_, CarryOver<'_>>]) -> Option<String> {
        let list = Self::list(seen, |one| {
            format!("{}, after {}", self.place(one.what.variant, one.table), one.what.predecessor)
        })?;
        Some(format!(
            "a trial shows what executed directly before it ({list}): put a pause, or a trial that does not count, between \
             trials"
        ))
    }

    pub(super) fn failure_rates(&self, seen: &[Seen<'_, Rates<'_>>]) -> Option<String> {
        let list = self.rates(seen)?;
        Some(format!(
            "some variants fail more often, or less, than the baseline ({list}): only trials that succeeded are \
             compared"
        ))
    }

    pub(super) fn void_rates(&self, seen: &[Seen<'_, Rates<'_>>]) -> Option<String> {
        let list = self.rates(seen)?;
        Some(format!(
            "trials of some variants are void more often, or less, than the baseline's ({list}): only the trials that the \
             rules left are compared, and these may be the lucky ones"
        ))
    }

    fn rates(&self, seen: &[Seen<'_, Rates<'_>>]) -> Option<String> {
        Self::list(seen, |one| {
            let Rates { variant, workload, condition, own, baseline } = &one.what;
            let cell = if self.cells == 1 { String::new() } else { format!(" in {workload}, {condition}") };
            let [[those, of], [base_those, base_of]] = [own, baseline];
            format!("{variant}{cell}, {those} of {of} trials against {base_those} of {base_of}")
        })
    }

    pub(super) fn modes(&self, seen: &[Seen<'_, Modes<'_>>]) -> Option<String> {
        let list = Self::list(seen, |one| {
            let modes = &one.what.modes;
            let places: Vec<String> = modes.iter().map(|mode| value(mode.place, one.table.unit)).collect();
            let shares: Vec<String> = modes.iter().map(|mode| format!("{:.0}", 100.0 * mode.share)).collect();
            let place = self.place(one.what.variant, one.table);
            format!("{place}, {} modes at {}, {} %", modes.len(), places.join(" and "), shares.join("/"))
        })?;
        Some(format!(
            "values gather in several places, so no single number describes them ({list}): look for what differs between \
             those trials"
        ))
    }

    pub(super) fn outliers(&self, seen: &[Seen<'_, Outliers<'_>>]) -> Option<String> {
        let list = Self::list(seen, |one| {
            let Outliers { variant, blocks: [flagged, blocks], scale, with_and_without } = &one.what;
            let (is_ratio, unit) = (*scale == Scale::Ratio, one.table.unit);
            let inward = |x: f64| if is_ratio { x.ln() } else { x };
            let [with, without] = with_and_without.map(|x| change(inward(x), is_ratio, unit));
            format!("{}, {flagged} of {blocks}: {with}, {without} without", self.place(variant, one.table))
        })?;
        Some(format!("a few blocks are far from the others; they are kept ({list})"))
    }
}

/// A difference of contrasts: of logarithms in percent, others in their unit.
fn change(difference: f64, is_logarithmic: bool, unit: Unit) -> String {
    let sign = if difference < 0.0 { "−" } else { "+" };
    if is_logarithmic {
        let percent = 100.0 * difference.exp_m1().abs();
        let digits = if percent < 1.0 { 2 } else { 1 };
        return format!("{sign}{percent:.digits$} %");
    }
    format!("{sign}{}", value(difference.abs(), unit))
}

/// A value in a unit in which it is easily read, with four digits.
fn value(value: f64, unit: Unit) -> String {
    let steps: &[(f64, &str)] = match unit {
        Unit::Seconds => &[(1.0, " s"), (1e-3, " ms"), (1e-6, " µs"), (1e-9, " ns")],
        Unit::Bytes => &[(1_073_741_824.0, " GiB"), (1_048_576.0, " MiB"), (1024.0, " KiB"), (1.0, " B")],
        Unit::Count => &[(1.0, "")],
        Unit::PerSecond => &[(1.0, "/s")],
    };
    let last = steps.len() - 1;
    let (size, name) = steps.iter().copied().find(|(size, _)| value.abs() >= *size).unwrap_or(steps[last]);
    let number = value / size;
    let digits = (3.0 - number.abs().max(1e-3).log10().floor()).clamp(0.0, 4.0) as usize;
    let text = format!("{number:.digits$}");
    let trimmed = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{trimmed}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        let check = |x, unit, expect: &str| assert_eq!(value(x, unit), expect);
        check(1.234_56, Unit::Seconds, "1.235 s");
        check(0.012, Unit::Seconds, "12 ms");
        check(123_456.0, Unit::Seconds, "123456 s");
        check(0.0, Unit::Seconds, "0 ns");
        check(1_572_864.0, Unit::Bytes, "1.5 MiB");
        check(17.0, Unit::Count, "17");
        check(f64::INFINITY, Unit::Count, "inf");
        assert_eq!(change(1.02f64.ln(), true, Unit::Seconds), "+2.0 %");
        assert_eq!(change(-0.001, true, Unit::Seconds), "−0.10 %");
        assert_eq!(change(-2.5, false, Unit::Count), "−2.5");
    }
}
