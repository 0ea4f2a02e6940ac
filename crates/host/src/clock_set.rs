//! Whether somebody sets the time of day, by a clock that nobody can set and that goes on while the machine sleeps.

use crate::now_unix_s;
use rustix::time::{ClockId, clock_gettime};

/// A smaller step is what daemons that keep the time do (ntpd steps beyond 0.128 s), or our own delay between two readings.
const STEP_S: f64 = 1.0;

/// Watches the clock.
#[derive(Debug)]
pub struct ClockWatch {
    apart_s: f64,
}

impl ClockWatch {
    /// From now on.
    pub fn begin() -> Self {
        Self { apart_s: apart_s() }
    }

    /// By how many seconds it was set since the last time that this was asked; none if it was not.
    pub fn set_by_s(&mut self) -> Option<f64> {
        self.step(apart_s())
    }

    fn step(&mut self, now_s: f64) -> Option<f64> {
        let step = now_s - std::mem::replace(&mut self.apart_s, now_s);
        (step.abs() >= STEP_S).then_some(step)
    }
}

fn apart_s() -> f64 {
    let boot = clock_gettime(ClockId::Boottime);
    now_unix_s() - (boot.tv_sec as f64 + boot.tv_nsec as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_told_once_and_slow_changes_are_not() {
        let mut watch = ClockWatch { apart_s: 1e9 };
        assert_eq!(watch.step(1e9 + 0.5), None);
        assert_eq!(watch.step(1e9 + 1.0), None);
        assert_eq!(watch.step(1e9 - 3599.0), Some(-3600.0));
        assert_eq!(watch.step(1e9 - 3599.0), None);
        assert_eq!(ClockWatch::begin().set_by_s(), None);
    }
}
