//! One line about a search at work, on standard error. On a terminal it is drawn again and again; elsewhere each phase gets a
//! line.

use crate::budget::{Budget, Spent};
use bakeoff_command::screen;
use bakeoff_report::format::waiting_time;

/// What is shown of a search.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) quiet: bool,
    phase: String,
}

impl Progress {
    pub(crate) fn of(quiet: bool) -> Self {
        Self { quiet, phase: String::new() }
    }

    /// Shows how far a phase is. What comes last may be cut off.
    pub(crate) fn show(&mut self, phase: &str, [stands, last]: [&str; 2], spent: &Spent, budget: Budget) {
        let used = 100.0 * spent.share(budget).min(1.0);
        let left = spent.left_s(budget).map_or(String::new(), |left| format!(", at most {} left", waiting_time(left)));
        let last = if last.is_empty() { String::new() } else { format!("; {last}") };
        self.draw(phase, &format!("{stands}; {used:.0} % of the budget{left}; {}{last}", spent.shown()));
    }

    /// Draws a line about a phase.
    pub(crate) fn draw(&mut self, phase: &str, stands: &str) {
        let is_new = self.phase != phase;
        phase.clone_into(&mut self.phase);
        if !self.quiet && (is_new || screen::err_is_terminal()) {
            screen::draw(&format!("{phase}: {stands}"));
        }
    }

    /// Writes a line that stays, and is no progress.
    pub(crate) fn note(&self, text: &str) {
        self.end();
        screen::err(&format!("note: {text}\n"));
    }

    pub(crate) fn end(&self) {
        if !self.quiet {
            screen::erase();
        }
    }
}
