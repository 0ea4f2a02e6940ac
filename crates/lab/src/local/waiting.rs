//! Waiting for something unannounced: asked for at growing intervals, until it is there, time is up or interrupted.

use crate::on_demand::Halt;
use bakeoff_host::interrupt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
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
        // A time that is too long for a clock is for ever.
        let within = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(u32::MAX.into()));
        Self { until: Instant::now() + within, next: SHORTEST }
    }

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

/// A log that somebody else writes. What was looked through once is not read again, however long it grows.
#[derive(Debug)]
pub(super) struct Growing {
    path: PathBuf,
    read_bytes: u64,
    /// The end of what was read, where a text may begin that goes on in what is still to come.
    tail: Vec<u8>,
}

impl Growing {
    pub(super) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), read_bytes: 0, tail: vec![] }
    }

    /// Whether a text stands in what came since the last question. A log that cannot be read says nothing yet.
    pub(super) fn shows(&mut self, text: &str) -> bool {
        let mut bytes = std::mem::take(&mut self.tail);
        self.read_bytes += self.read_to(&mut bytes).unwrap_or(0);
        let text = text.as_bytes();
        if text.is_empty() {
            return !bytes.is_empty();
        }
        let shown = bytes.windows(text.len()).any(|window| window == text);
        self.tail = bytes.split_off(bytes.len().saturating_sub(text.len() - 1));
        shown
    }

    fn read_to(&mut self, bytes: &mut Vec<u8>) -> io::Result<u64> {
        let mut file = File::open(&self.path)?;
        // Its writer may empty it and begin again.
        if file.metadata()?.len() < self.read_bytes {
            self.read_bytes = 0;
            bytes.clear();
        }
        file.seek(SeekFrom::Start(self.read_bytes))?;
        Ok(file.read_to_end(bytes)? as u64)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_text_is_found_in_a_log_however_it_comes_and_nothing_is_read_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Growing::of(&path);
        assert!(!log.shows("ready"), "there is no log yet");
        let mut file = File::create(&path).unwrap();
        for (part, expect) in
            [("starting\nre", false), ("", false), ("ad", false), ("y at 80\nmore\n", true), ("", false)]
        {
            file.write_all(part.as_bytes()).unwrap();
            assert_eq!(log.shows("ready"), expect, "after {part:?}");
            assert!(log.tail.len() < "ready".len(), "{:?} is kept", log.tail);
        }
        assert_eq!(log.read_bytes, file.metadata().unwrap().len());
        std::fs::write(&path, "ready").unwrap();
        assert!(log.shows("ready"), "it was emptied and written again");
    }
}
