//! When a command that waits asks the scheduler: seldom, because every question takes time from other users, and soon where
//! files show that an answer would be a new one. It asks nobody itself.

use std::time::{Duration, Instant};

/// From one question to the next while nothing happens.
const REGULAR: Duration = Duration::from_secs(15);
/// Questions in each minute, at most.
const MOST: usize = 4;
const MINUTE: Duration = Duration::from_secs(60);
/// Jobs that have not started after this long may never start, and the user should know why.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a command has asked, and when.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    /// Questions of the last minute.
    asked: Vec<Instant>,
    /// What the files showed at the last one.
    seen: Option<Seen>,
    /// When jobs were submitted, until all of them start or the scheduler is asked about them.
    submitted: Option<Instant>,
}

/// What files show of a run that makes an answer a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) has_builds: bool,
    pub(crate) shards: usize,
    /// Attempts that ended before their shard was done.
    pub(crate) ended: usize,
}

impl Asking {
    /// Whether to ask now.
    pub(crate) fn is_due(&mut self, seen: Seen, now: Instant) -> bool {
        self.asked.retain(|asked| now.duration_since(*asked) < MINUTE);
        if self.asked.len() >= MOST {
            return false;
        }
        let is_overdue = self.submitted.is_some_and(|at| now.duration_since(at) >= PATIENCE);
        let is_regular = self.asked.last().is_none_or(|asked| now.duration_since(*asked) >= REGULAR);
        is_regular || is_overdue || self.seen != Some(seen)
    }

    /// A question was asked.
    pub(crate) fn note(&mut self, seen: Seen, now: Instant) {
        self.asked.push(now);
        self.seen = Some(seen);
        self.submitted = None;
    }

    /// Jobs were submitted.
    pub(crate) fn note_submission(&mut self, now: Instant) {
        self.submitted = Some(now);
    }

    /// All of them have started.
    pub(crate) fn note_start(&mut self) {
        self.submitted = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: Seen = Seen { has_builds: false, shards: 3, ended: 0 };

    /// The seconds at which is asked, of those that are tried.
    fn asked(asking: &mut Asking, seconds: impl Iterator<Item = u64>, seen: impl Fn(u64) -> Seen) -> Vec<u64> {
        let zero = Instant::now();
        let ask = |second: &u64| {
            let (now, seen) = (zero + Duration::from_secs(*second), seen(*second));
            let is_due = asking.is_due(seen, now);
            if is_due {
                asking.note(seen, now);
            }
            is_due
        };
        seconds.filter(ask).collect()
    }

    #[test]
    fn questions_are_seldom_while_nothing_happens() {
        assert_eq!(asked(&mut Asking::default(), 0..70, |_| SEEN), [0, 15, 30, 45, 60]);
    }

    #[test]
    fn news_is_asked_about_at_once_but_not_more_often_than_four_times_a_minute() {
        let seen = |second: u64| Seen { ended: second as usize / 3, ..SEEN };
        assert_eq!(asked(&mut Asking::default(), 0..70, seen), [0, 3, 6, 9, 60, 63, 66, 69]);
    }

    #[test]
    fn jobs_that_do_not_start_are_asked_about_once() {
        let mut asking = Asking::default();
        asking.note_submission(Instant::now());
        assert_eq!(asked(&mut asking, 1..30, |_| SEEN), [1, 16]);
        let mut asking = Asking::default();
        asking.note(SEEN, Instant::now());
        asking.note_submission(Instant::now());
        assert_eq!(asked(&mut asking, 1..15, |_| SEEN), [5]);
        asking.note_submission(Instant::now());
        asking.note_start();
        assert!(asked(&mut asking, 1..15, |_| SEEN).is_empty());
    }
}
