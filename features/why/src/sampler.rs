//! The sampler: where a command and all that comes of it spend their user time, by the kernel's clock of CPU time
//! (perf_event_open(2), PERF_COUNT_SW_CPU_CLOCK). Every so often it takes down which instruction a thread is at; what was
//! taken is added up by file and place in the file. No counter of the processor is needed, and no rights of root's for one's own
//! processes. Time in the kernel is left out. It launches nothing, and knows no functions.
//!
//! A task's clock starts with the task, so a task that lives for less than a period is not seen, and others lack half a
//! period on average.

mod records;
mod report;

use bakeoff_host::ring::rings;
use bakeoff_host::tracer::Watcher;
use records::{Event, Sums, read};
pub(crate) use report::Samples;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often the rings are emptied; they hold what is sampled in seconds.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Events that are kept, at most; what comes after is lost.
const MOST_EVENTS: usize = 1 << 23;

/// Why nothing can be sampled here, in one line; none if it can.
pub(crate) fn refusal() -> Option<String> {
    rings(std::process::id(), 1_000_000).err()
}

/// Samples are taken for as long as this exists.
#[derive(Debug)]
pub(crate) struct Sampler {
    period_ns: u64,
    stop: Sender<()>,
    thread: JoinHandle<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    events: Vec<Event>,
    lost: u64,
}

impl Sampler {
    /// Samples a process from when it runs a program, and all that comes of it.
    ///
    /// # Errors
    /// Why nothing can be sampled, in one line.
    pub(crate) fn start(pid: u32, period_ns: u64) -> Result<Self, String> {
        let mut rings = rings(pid, period_ns)?;
        let (stop, stopped) = channel();
        let drain = move || {
            let mut taken = Taken::default();
            loop {
                // It is over if somebody says so or nobody can any more.
                let is_over = stopped.recv_timeout(BETWEEN_LOOKS) != Err(RecvTimeoutError::Timeout);
                rings.iter_mut().for_each(|ring| taken.add(&ring.take()));
                if is_over {
                    return taken;
                }
            }
        };
        let thread = thread::Builder::new().spawn(drain).map_err(|error| format!("no thread for samples: {error}"))?;
        Ok(Self { period_ns, stop, thread })
    }
}

impl Watcher for Sampler {
    type Seen = Samples;

    /// Ends sampling, and adds up what was taken.
    ///
    /// # Errors
    /// If the thread that empties the rings is gone.
    fn finish(self) -> io::Result<Samples> {
        drop(self.stop);
        let Taken { mut events, lost } = self.thread.join().map_err(|_| io::Error::other("its thread ended early"))?;
        // Each processor has a ring of its own, and a mapping must come before what runs in it.
        events.sort_by_key(|event| event.time_ns);
        let mut sums = Sums::default();
        events.into_iter().for_each(|event| sums.add(event));
        let (files, unnamed) = sums.files();
        Ok(Samples { period_ns: self.period_ns, files, unnamed, lost })
    }
}

impl Taken {
    fn add(&mut self, bytes: &[u8]) {
        let (events, lost) = read(bytes);
        let room = MOST_EVENTS - self.events.len();
        self.lost += lost + events.len().saturating_sub(room) as u64;
        self.events.extend(events.into_iter().take(room));
    }
}
