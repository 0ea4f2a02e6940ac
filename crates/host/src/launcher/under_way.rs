//! A job from its launch to its end: how we wait for the launcher's word on it, and read marks in the meantime.

use super::marks::{Marks, NAP};
use super::program::{NotStarted, Program};
use super::reply::{self, Report};
use super::request::Prepared;
use crate::command::{End, Ended, Patience};
use crate::job::JobEnded;
use crate::probe::Confinement;
use crate::{interrupt, now_unix_s};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// A job that was launched, or could not be.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    is_load: bool,
    /// That of each process.
    programs: Vec<Arc<Program>>,
    marks: Marks,
    /// What the launcher was given, which we need no more. To close it takes time, and a pipe of which nobody else holds
    /// the end for writing wakes us at the very end of a trial: so all of it stays open until the job is over.
    _given: Option<Descriptors>,
    /// Whether there is a word of the launcher's that nobody has read.
    word_is_there: bool,
    /// What the launcher said at its end.
    last_word: Option<Vec<u8>>,
    never_began: Option<JobEnded>,
    /// Whether an interrupt has had it killed.
    pub(super) interrupted: bool,
}

/// Descriptors that the launcher has copies of.
pub(super) type Descriptors = (Prepared, Confinement);

/// What became of it.
pub(super) enum Outcome {
    NeverBegan(JobEnded),
    Over(Report),
    /// The launcher's word makes no sense.
    Garbled,
}

impl UnderWay {
    pub(super) fn new(is_load: bool, programs: Vec<Arc<Program>>, marks: Marks, given: Descriptors) -> Self {
        Self { is_load, programs, marks, _given: Some(given), ..Self::default() }
    }

    /// A job of which these commands could not be prepared.
    pub(super) fn never_began(faults: Vec<Option<NotStarted>>) -> Self {
        let others = || NotStarted::new("", "another process of the job could not be started");
        let processes = faults.into_iter().map(|fault| fault.unwrap_or_else(others));
        let processes = processes.map(|NotStarted { what, why }| Ended::never_began(End::NotStarted { what, why }));
        let ended = JobEnded { started_unix_s: now_unix_s(), processes: processes.collect(), ..JobEnded::default() };
        Self { never_began: Some(ended), ..Self::default() }
    }

    pub(super) fn is_over(&self) -> bool {
        self.last_word.is_some() || self.never_began.is_some()
    }

    /// The launcher's last word.
    pub(super) fn over(&mut self, word: Vec<u8>) {
        self.word_is_there = false;
        self.last_word = Some(word);
    }

    /// Waits for a word of the launcher's; true if the interrupt came first.
    pub(super) fn interrupted_first(&mut self, control: &UnixStream, patience: Patience) -> io::Result<bool> {
        if self.is_over() {
            return Ok(false);
        }
        self.await_either(control, interrupt::event(patience.limit()))
    }

    /// Waits for a word of the launcher's.
    pub(super) fn await_word(&mut self, control: &UnixStream) -> io::Result<()> {
        if !self.word_is_there {
            self.await_either(control, None)?;
        }
        Ok(())
    }

    /// Reads the marks that have come, and looks whether there is a word of the launcher's.
    pub(super) fn look_for_word(&mut self, control: &UnixStream) -> io::Result<bool> {
        self.marks.read(reply::now_ns());
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        Ok(self.is_over() || poll(&mut [PollFd::new(control, PollFlags::IN)], Some(&now))? > 0)
    }

    fn await_either(&mut self, control: &UnixStream, interrupt: Option<BorrowedFd<'static>>) -> io::Result<bool> {
        let nap = Timespec { tv_sec: 0, tv_nsec: NAP.as_nanos() as _ };
        loop {
            let fast = self.marks.come_fast();
            let mut watched = vec![PollFd::new(control, PollFlags::IN)];
            watched.extend(interrupt.map(|event| PollFd::from_borrowed_fd(event, PollFlags::IN)));
            let ours = watched.len();
            if !fast {
                watched.extend(self.marks.watched());
            }
            match poll(&mut watched, fast.then_some(&nap)) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            }
            if !watched[0].revents().is_empty() {
                self.word_is_there = true;
                return Ok(false);
            }
            if ours == 2 && !watched[1].revents().is_empty() {
                return Ok(true);
            }
            self.marks.read(reply::now_ns());
        }
    }

    /// What became of it; and the pipes, for the next one.
    pub(super) fn finish(mut self) -> (Outcome, Marks) {
        if let Some(ended) = self.never_began {
            return (Outcome::NeverBegan(ended), self.marks);
        }
        // The process at the other end is gone; its bytes are there.
        self.marks.read(reply::now_ns());
        let word = self.last_word.unwrap_or_default();
        let Some(mut report) = reply::read(&word, self.is_load, &self.programs, self.interrupted) else {
            return (Outcome::Garbled, self.marks);
        };
        (report.ended.marks, report.ended.marks_lost_bytes) = self.marks.finish(report.launched_ns);
        (Outcome::Over(report), self.marks)
    }
}
