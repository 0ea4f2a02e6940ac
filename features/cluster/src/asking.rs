//! When a command that waits asks what runs: soon after a submission or an end, then less and less often.

use std::time::{Duration, Instant};

/// From one question to the next while nothing happens.
const REGULAR: Duration = Duration::from_secs(15);
/// In each minute there are no more questions than one every four pauses: of a scheduler, four.
const MINUTE: Duration = Duration::from_secs(60);
const PAUSES: f64 = 4.0;

/// What a command has asked, and when.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    /// Questions of the last minute.
    asked: Vec<Instant>,
    /// Questions since something was submitted or has ended.
    questions: u32,
    ended: usize,
}

impl Asking {
    /// Whether to ask now, which is noted: `pause` after a submission, or after `ended`, the number of ended attempts, changed.
    pub(crate) fn is_due(&mut self, pause: Duration, ended: usize, now: Instant) -> bool {
        if self.ended != ended {
            (self.ended, self.questions) = (ended, 0);
        }
        self.asked.retain(|asked| now.duration_since(*asked) < MINUTE);
        let most = (MINUTE.as_secs_f64() / (PAUSES * pause.as_secs_f64())).ceil() as usize;
        let wait = pause.saturating_mul(1 << self.questions.min(8)).min(REGULAR);
        let is_due = self.asked.len() < most && self.asked.last().is_none_or(|last| now.duration_since(*last) >= wait);
        if is_due {
            self.asked.push(now);
            self.questions += 1;
        }
        is_due
    }

    /// Something was submitted.
    pub(crate) fn note_submission(&mut self) {
        self.questions = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds at which is asked, of the first 70. At some of them something is submitted, right after a question.
    fn asked(submitted: &[u64], ended: impl Fn(u64) -> usize) -> Vec<u64> {
        let (mut asking, zero) = (Asking::default(), Instant::now());
        let is_due = |second: &u64| {
            let now = zero + Duration::from_secs(*second);
            let is_due = asking.is_due(Duration::from_secs(4), ended(*second), now);
            if submitted.contains(second) {
                asking.note_submission();
            }
            is_due
        };
        (0..70).filter(is_due).collect()
    }

    #[test]
    fn questions_become_seldom_while_nothing_happens() {
        assert_eq!(asked(&[], |_| 0), [0, 8, 23, 38, 60]);
        assert_eq!(asked(&[0, 27], |_| 0), [0, 4, 12, 27, 60, 68]);
    }

    #[test]
    fn what_has_ended_is_asked_about_soon_but_not_more_often_than_four_times_a_minute() {
        assert_eq!(asked(&[], |second| usize::from(second >= 30)), [0, 8, 23, 30, 60]);
        assert_eq!(asked(&[], |second| second as usize), [0, 4, 8, 12, 60, 64, 68]);
    }
}
