//! Waiting for something that nobody announces: asked for at growing intervals, until it is there, the time is up or
//! an interrupt has come.

use super::outcome::Halt;
use bakeoff_host::interrupt;
use std::time::{Duration, Instant};

/// The first pause.
const SHORTEST: Duration = Duration::from_millis(1);
/// No pause is longer.
const LONGEST: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Waiting {
    until: Instant,
    next: Duration,
}

impl Waiting {
    pub(super) fn of(seconds: f64) -> Self {
        // What is too long for a clock is for ever.
        let within = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(u32::MAX.into()));
        Self { until: Instant::now() + within, next: SHORTEST }
    }

    /// Seconds that are left.
    pub(super) fn left_s(&self) -> f64 {
        self.until.saturating_duration_since(Instant::now()).as_secs_f64()
    }

    /// Sleeps a little; false if the time is up.
    pub(super) fn pause(&mut self) -> Result<bool, Halt> {
        // Nothing has been measured yet, so nothing is lost.
        if interrupt::count() > 0 {
            return Err(Halt::Interrupted);
        }
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        std::thread::sleep(self.next.min(left));
        self.next = (self.next * 3 / 2).min(LONGEST);
        Ok(true)
    }
}
