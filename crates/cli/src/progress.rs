//! Progress of trials on standard error, with the time that is left. Nothing is drawn while a trial is in flight.

use bakeoff_command::screen;
use bakeoff_lab::{Event, Standing};
use bakeoff_model::record::{BLOCKS_OF_FAILING, Outcome, Trial, is_baseline_again};
use bakeoff_report::failure_in_full;
use bakeoff_report::format::waiting_time;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Where lines cannot be drawn again, one is written at most this often, and one for the last block.
const QUIET_TIME: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(crate) struct Progress {
    trials: u64,
    blocks: u64,
    trials_done: u64,
    blocks_done: u64,
    /// Trials that this session ran, and since when: only they tell how fast it goes.
    executed: u64,
    began: Option<Instant>,
    /// Trials since the last look at what they run.
    unchecked: u64,
    failed: u64,
    /// Variants and failures, each with workload and condition, of which a note was printed.
    told: BTreeSet<[String; 3]>,
    written: Option<Instant>,
    terminal: bool,
    pub(crate) quiet: bool,
    /// There may be blocks enough before the last one.
    pub(crate) at_most: bool,
    /// Seconds that a trial is thought to take before one has been seen.
    pub(crate) guess_s: Option<f64>,
}

impl Progress {
    /// One of a session that begins with what is done already.
    pub(crate) fn from(Standing { trials, trials_done, blocks, blocks_done }: Standing) -> Self {
        Self { trials, blocks, trials_done, blocks_done, terminal: screen::err_is_terminal(), ..Self::default() }
    }

    /// Takes note of an event, and draws if there is something new to see.
    pub(crate) fn hear(&mut self, event: &Event) {
        match event {
            Event::BlockBegins(_) | Event::Written(_) => {}
            Event::Stops(stopped) if stopped.from > 0 && !is_baseline_again(&stopped.variant) => {
                self.clear();
                self.say(&format!(
                    "note: {} failed in each of its first {BLOCKS_OF_FAILING} blocks on {} under {}, so it no longer \
                     runs; use --keep-going to keep it running",
                    stopped.variant, stopped.workload, stopped.condition
                ));
            }
            Event::Stops(_) => {}
            Event::Checked(_) => self.unchecked = 0,
            // They run again.
            Event::Changed { .. } => self.trials_done -= std::mem::take(&mut self.unchecked).min(self.trials_done),
            Event::TrialBegins { variant } => {
                self.began.get_or_insert_with(Instant::now);
                if self.terminal {
                    self.draw(&format!("  {variant}"));
                }
            }
            Event::TrialEnded(trial) => self.ended(trial),
            Event::BootEnded(boot) => boot.trials.iter().for_each(|trial| self.ended(trial)),
            Event::BlockEnded => {
                self.blocks_done += 1;
                let last = self.blocks_done >= self.blocks;
                if !self.terminal && (last || self.written.is_none_or(|at| at.elapsed() >= QUIET_TIME)) {
                    self.written = Some(Instant::now());
                    self.draw("");
                }
            }
        }
    }

    /// What there is to do in all, after a variant has stopped.
    pub(crate) fn wanted(&mut self, trials: u64, blocks: u64) {
        (self.trials, self.blocks) = (trials, blocks);
    }

    fn ended(&mut self, trial: &Trial) {
        // A void trial that is repeated brings the end no nearer.
        if !trial.is_final() {
            return;
        }
        self.trials_done += 1;
        self.unchecked += 1;
        self.executed += 1;
        if let Some(note) = self.first_failure(trial) {
            self.clear();
            self.say(&note);
        }
        self.failed += u64::from(trial.outcome != Outcome::Ok);
    }

    /// A note on the first failure of a variant, unless another one has failed alike: its reason cannot wait for the end.
    fn first_failure(&mut self, trial: &Trial) -> Option<String> {
        let Trial { variant, workload, condition, .. } = trial;
        let how = match &trial.outcome {
            // The twin runs what the baseline does.
            Outcome::Failed(failure) if !is_baseline_again(variant) => failure_in_full(failure),
            _ => return None,
        };
        let is_new = [variant, &how].map(|what| self.told.insert([what, workload, condition].map(String::clone)));
        let note = format!("note: {variant} failed on {workload} under {condition}: {how}");
        (is_new == [true; 2]).then_some(note)
    }

    /// Removes what was drawn over and over.
    pub(crate) fn clear(&self) {
        if self.terminal && !self.quiet {
            screen::erase();
        }
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            screen::err(&format!("{line}\n"));
        }
    }

    fn draw(&self, what: &str) {
        if self.quiet {
            return;
        }
        let left = match self.left_s() {
            Some(left_s) if left_s >= 1.0 => {
                let about = if self.at_most { "at most" } else { "about" };
                format!(", {about} {} left", waiting_time(left_s))
            }
            _ => String::new(),
        };
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        let at_most = if self.at_most { "at most " } else { "" };
        let line = format!(
            "block {} of {at_most}{}: {} of {at_most}{} trials{failed}{left}{what}",
            (self.blocks_done + u64::from(self.terminal)).min(self.blocks),
            self.blocks,
            self.trials_done,
            self.trials
        );
        screen::draw(&line);
    }

    fn left_s(&self) -> Option<f64> {
        let left = self.trials.saturating_sub(self.trials_done) as f64;
        match self.began {
            Some(began) if self.executed > 0 => Some(began.elapsed().as_secs_f64() / self.executed as f64 * left),
            _ => self.guess_s.map(|guess_s| guess_s * left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::record::{Failure, TWIN};

    #[test]
    fn the_first_failure_of_each_variant_is_told_and_those_that_are_alike_once() {
        let mut progress = Progress::default();
        let mut said = |variant: &str, why: Option<&str>| {
            let outcome = why.map_or(Outcome::Ok, |why| Outcome::Failed(Failure::BadMarks { why: why.to_owned() }));
            let (variant, workload, condition) = (variant.to_owned(), "w".to_owned(), "idle".to_owned());
            progress.first_failure(&Trial { variant, workload, condition, outcome, ..Trial::default() })
        };
        assert_eq!(said("a", None), None);
        assert_eq!(said(TWIN, Some("no phase")), None);
        let note = said("a", Some("no phase")).unwrap_or_default();
        assert!(note.starts_with("note: a failed on w under idle: ") && note.ends_with("no phase"), "{note}");
        assert_eq!(said("a", Some("no phase")), None, "it is said once");
        assert_eq!(said("b", Some("no phase")), None, "a has failed alike");
        assert!(said("c", Some("another")).is_some_and(|note| note.starts_with("note: c failed")));
        assert_eq!(said("c", Some("a third")), None);
    }
}
