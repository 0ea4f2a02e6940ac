//! How far a calibration is, and how long the rest may take, on standard error. It is drawn now and then, and never waits.

use bakeoff_command::screen;
use bakeoff_report::format::waiting_time;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The part that is done, and the time that is left, on standard error.
pub(super) struct Meter {
    quiet: bool,
    began: Instant,
    /// When it was last drawn.
    drawn: Mutex<Instant>,
}

impl Meter {
    pub(super) fn new(quiet: bool) -> Self {
        Self { quiet, began: Instant::now(), drawn: Mutex::new(Instant::now()) }
    }

    /// Draws, unless it was drawn a moment ago or somebody else is drawing.
    pub(super) fn show(&self, part: f64) {
        let terminal = screen::err_is_terminal();
        let pause = Duration::from_secs(if terminal { 1 } else { 10 });
        let Ok(mut drawn) = self.drawn.try_lock() else { return };
        if self.quiet || drawn.elapsed() < pause {
            return;
        }
        *drawn = Instant::now();
        let left = self.began.elapsed().as_secs_f64() * (1.0 - part) / part.max(1e-6);
        let line = format!("{:.0} % done, about {} left", (100.0 * part).floor(), waiting_time(left));
        screen::draw(&line);
    }

    pub(super) fn clear(&self) {
        if !self.quiet {
            screen::erase();
        }
    }
}
