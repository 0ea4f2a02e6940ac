//! The trials of a record as the charts need them: by place (a workload under a condition) and variant, each with its value and
//! what became of it. Every trial is here, also those that do not count. Nothing is summed up.

use bakeoff_judge::findings::Findings;
use bakeoff_model::metric::Unit;
use bakeoff_model::record::{Outcome, Record, TWIN, Trial};
use std::collections::HashMap;

/// What became of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Counts,
    Failed,
    Void,
}

/// A trial in a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dot {
    pub(crate) block: u32,
    /// None if the metric was not measured.
    pub(crate) value: Option<f64>,
    pub(crate) state: State,
}

impl Dot {
    /// The value, if it counts.
    pub(crate) fn counting(&self) -> Option<f64> {
        self.value.filter(|value| self.state == State::Counts && value.is_finite())
    }
}

/// The trials of one variant at one place, in the order of time.
#[derive(Debug, Clone)]
pub(crate) struct Cell<'a> {
    /// The variant, or the twin.
    pub(crate) variant: &'a str,
    pub(crate) dots: Vec<Dot>,
}

impl Cell<'_> {
    pub(crate) fn is_twin(&self) -> bool {
        self.variant == TWIN
    }

    /// The values that count.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.dots.iter().filter_map(Dot::counting)
    }
}

/// A workload under a condition.
#[derive(Debug, Clone)]
pub(crate) struct PlaceCells<'a> {
    pub(crate) workload: &'a str,
    pub(crate) condition: &'a str,
    pub(crate) unit: Unit,
    /// The baseline first, then its twin, then the others.
    pub(crate) cells: Vec<Cell<'a>>,
    /// The last block.
    pub(crate) blocks: u32,
}

impl PlaceCells<'_> {
    /// What tells it from others.
    pub(crate) fn title(&self, has_conditions: bool) -> String {
        if has_conditions { format!("{}, {}", self.workload, self.condition) } else { self.workload.to_owned() }
    }

    /// The values that count.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.cells.iter().flat_map(Cell::values)
    }

    /// The baseline's trials, or none.
    pub(crate) fn baseline(&self) -> Option<&Cell<'_>> {
        self.cells.first()
    }
}

/// The places in which one metric was measured, in the order of the study.
pub(crate) fn places<'a>(record: &'a Record, findings: &'a Findings, metric: &str) -> Vec<PlaceCells<'a>> {
    let names: Vec<&str> = findings.variants.iter().map(|variant| variant.name.as_str()).collect();
    let (first, others) = names.split_first().map_or((&"", &[] as &[&str]), |(first, others)| (first, others));
    let order: Vec<&str> = [*first, TWIN].into_iter().chain(others.iter().copied()).collect();
    let index: HashMap<&str, usize> = order.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let unit = record.study.metric(metric).map_or(Unit::Count, |metric| metric.unit);
    let mut places: Vec<PlaceCells<'a>> = vec![];
    let mut by_name: HashMap<(&str, &str), usize> = HashMap::new();
    for workload in &record.study.workloads {
        for condition in &record.study.conditions {
            let cells = order.iter().map(|variant| Cell { variant, dots: vec![] }).collect();
            by_name.insert((workload, condition), places.len());
            places.push(PlaceCells { workload, condition, unit, cells, blocks: 0 });
        }
    }
    for trial in &record.trials {
        let place = by_name.get(&(trial.workload.as_str(), trial.condition.as_str()));
        let (Some(&place), Some(&cell)) = (place, index.get(trial.variant.as_str())) else { continue };
        let place = &mut places[place];
        place.blocks = place.blocks.max(trial.block);
        place.cells[cell].dots.push(dot(trial, metric));
    }
    for place in &mut places {
        place.cells.iter_mut().for_each(|cell| cell.dots.sort_by_key(|dot| dot.block));
        place.cells.retain(|cell| !cell.dots.is_empty());
    }
    places.retain(|place| !place.cells.is_empty());
    places
}

fn dot(trial: &Trial, metric: &str) -> Dot {
    let state = match trial.outcome {
        Outcome::Ok => State::Counts,
        Outcome::Failed(_) => State::Failed,
        Outcome::Void(_) => State::Void,
    };
    Dot { block: trial.block, value: trial.value(metric), state }
}

/// A logarithmic scale of positive values, or a linear one if some are not: from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Values {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) is_log: bool,
}

impl Values {
    /// From the least to that part of the values which is given; what is beyond has a mark at the edge.
    pub(crate) fn over(values: impl Iterator<Item = f64>, part: f64) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (low, last) = (*values.first()?, values.len() - 1);
        let high = values[(part * last as f64).ceil() as usize];
        let is_log = low > 0.0;
        let scale = Self { low, high, is_log };
        Some(if low < high { scale } else { Self { low: low - low.abs() * 0.01 - f64::MIN_POSITIVE, ..scale }.wider() })
    }

    fn wider(self) -> Self {
        Self { high: self.high + self.high.abs() * 0.01 + f64::MIN_POSITIVE, ..self }
    }

    fn of(&self, value: f64) -> f64 {
        if self.is_log { value.max(f64::MIN_POSITIVE).ln() } else { value }
    }

    /// Where a value is: 0 for the least, 1 for the greatest.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let [low, high] = [self.low, self.high].map(|end| self.of(end));
        let at = (self.of(value) - low) / (high - low);
        if at.is_nan() { 0.5 } else { at }
    }

    /// Values for ticks: as round as can be in a unit of this size, at most about this many.
    pub(crate) fn ticks_in(&self, size: f64, most: usize) -> Vec<f64> {
        let scaled = Self { low: self.low / size, high: self.high / size, ..*self };
        scaled.ticks(most).into_iter().map(|tick| tick * size).collect()
    }

    fn ticks(&self, most: usize) -> Vec<f64> {
        let span = self.high - self.low;
        let steps = |power: i32| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power));
        if self.is_log && self.high / self.low > 20.0 {
            let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let all: Vec<f64> = powers.flat_map(steps).filter(|x| (self.low..=self.high).contains(x)).collect();
            let is_power = |x: &f64| (x.log10() - x.log10().round()).abs() < 1e-9;
            return if all.len() <= most { all } else { all.into_iter().filter(is_power).collect() };
        }
        let power = span.log10().floor() as i32 - 1;
        let step = (power..power + 4).flat_map(steps).find(|step| span / step <= most as f64).unwrap_or(span);
        ((self.low / step).ceil() as i64..=(self.high / step).floor() as i64).map(|n| n as f64 * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::record::Failure;
    use bakeoff_testkit::records::{execute, measure, study};

    #[test]
    fn every_trial_has_a_place() {
        let mut record = study(&["baseline", "b"], &["idle", "busy"], &["wall"]);
        execute(&mut record, 3, |trial| {
            measure(trial, "wall", f64::from(trial.block));
            if trial.variant == "b" && trial.block == 2 {
                trial.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] });
            }
            if trial.variant == "b" && trial.block == 3 {
                trial.outcome = Outcome::Void("busy".to_owned());
            }
        });
        let findings = bakeoff_judge::judge(&record);
        let places = places(&record, &findings, "wall");
        assert_eq!(places.iter().map(|p| p.title(true)).collect::<Vec<_>>(), ["loop, idle", "loop, busy"]);
        let names: Vec<&str> = places[0].cells.iter().map(|cell| cell.variant).collect();
        assert_eq!(names, ["baseline", TWIN, "b"]);
        let states: Vec<State> = places[0].cells[2].dots.iter().map(|dot| dot.state).collect();
        assert_eq!(states, [State::Counts, State::Failed, State::Void]);
        assert_eq!(places[1].cells[2].values().collect::<Vec<_>>(), [1.0]);
        assert_eq!(places[0].blocks, 3);
    }

    #[test]
    fn scales_have_room_for_what_there_is() {
        let check = |values: &[f64], part: f64, expect: [f64; 2], is_log: bool| {
            let scale = Values::over(values.iter().copied(), part).unwrap();
            assert_eq!((scale.low, scale.high, scale.is_log), (expect[0], expect[1], is_log), "{values:?}");
            assert_eq!((scale.at(scale.low), scale.at(scale.high)), (0.0, 1.0));
        };
        check(&[1.0, 2.0, 3.0], 1.0, [1.0, 3.0], true);
        check(&[0.0, 2.0], 1.0, [0.0, 2.0], false);
        let many: Vec<f64> = (1..=100).map(f64::from).chain([1e6]).collect();
        check(&many, 0.98, [1.0, 99.0], true);
        assert_eq!(Values::over(std::iter::empty(), 1.0), None);
        for constant in [0.0, 1.0, 1832.0] {
            let scale = Values::over([constant].into_iter(), 1.0).unwrap();
            assert!(scale.low < constant && constant < scale.high, "{scale:?}");
        }
    }

    #[test]
    fn ticks_are_round() {
        let ticks = |low, high, is_log| Values { low, high, is_log }.ticks(6);
        assert_eq!(ticks(0.0, 10.0, false), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(86.0, 93.0, true), [86.0, 88.0, 90.0, 92.0]);
        assert_eq!(ticks(0.9, 1100.0, true), [1.0, 10.0, 100.0, 1000.0]);
        let bytes = Values { low: 21.2 * 1024.0, high: 21.9 * 1024.0, is_log: true };
        let kib = bytes.ticks_in(1024.0, 4).into_iter().map(|tick| (10.0 * tick / 1024.0).round());
        assert_eq!(kib.collect::<Vec<_>>(), [212.0, 214.0, 216.0, 218.0]);
    }
}
