//! Reads the pipes for marks while we wait for a job: what comes, and when. It makes no sense of it (that is
//! `bakeoff_model::marks`), and takes from the trial as little as it can: while bytes come fast it does not have every
//! writing wake us, but looks by itself from time to time.

use bakeoff_model::marks::Chunk;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// What a pipe is to hold: a process that writes much is not to wait for us.
const PIPE_BYTES: usize = 1 << 20;
/// What is kept of a process; more is read and thrown away.
pub const MOST_BYTES: usize = 64 << 20;
/// Between two looks, when bytes come fast.
pub(super) const NAP: Duration = Duration::from_micros(250);
/// As many wake-ups within [`FAST_NS`] are fast.
const FAST_COUNT: usize = 3;
const FAST_NS: u64 = 1_000_000;
/// After this many looks without a byte it is slow again.
const IDLE_LOOKS: u32 = 8;

/// The pipes of a job.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pipes: Vec<Pipe>,
    /// When the last wake-ups were, the latest first.
    woken_ns: [u64; FAST_COUNT],
    /// How many looks without a byte are left; 0 if we sleep until there is one.
    looks: u32,
}

#[derive(Debug)]
struct Pipe {
    end: OwnedFd,
    bytes: Vec<u8>,
    /// When the bytes up to there were read.
    pieces: Vec<(u64, usize)>,
    lost: u64,
    open: bool,
}

impl Marks {
    /// The pipes; and the ends that are for writing.
    pub(super) fn new(count: usize) -> io::Result<(Self, Vec<OwnedFd>)> {
        let mut marks = Self::default();
        let mut writers = vec![];
        for _ in 0..count {
            let (end, writer) = pipe_with(PipeFlags::CLOEXEC)?;
            fcntl_setfl(&end, OFlags::NONBLOCK)?;
            // A user may have only so much in pipes; what there is does as well, only not as fast.
            let _ = fcntl_setpipe_size(&end, PIPE_BYTES);
            marks.pipes.push(Pipe { end, bytes: vec![], pieces: vec![], lost: 0, open: true });
            writers.push(writer);
        }
        Ok((marks, writers))
    }

    /// Ends for writing, from which nothing is ever read.
    pub(super) fn unheard(count: usize) -> io::Result<(Self, Vec<OwnedFd>)> {
        let null = || Ok(File::options().write(true).open("/dev/null")?.into());
        Ok((Self::default(), (0..count).map(|_| null()).collect::<io::Result<_>>()?))
    }

    /// Whether it is to be looked at from time to time, rather than waited for.
    pub(super) fn come_fast(&self) -> bool {
        self.looks > 0
    }

    /// What to wait for.
    pub(super) fn watched(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.pipes.iter().filter(|pipe| pipe.open).map(|pipe| PollFd::new(&pipe.end, PollFlags::IN))
    }

    /// Reads what there is.
    pub(super) fn read(&mut self, now_ns: u64) {
        let before: usize = self.pipes.iter().map(Pipe::total).sum();
        for pipe in &mut self.pipes {
            pipe.read(now_ns);
        }
        if self.pipes.iter().map(Pipe::total).sum::<usize>() == before {
            self.looks = self.looks.saturating_sub(1);
            return;
        }
        self.woken_ns.rotate_right(1);
        self.woken_ns[0] = now_ns;
        if self.looks > 0 || now_ns.saturating_sub(self.woken_ns[FAST_COUNT - 1]) < FAST_NS {
            self.looks = IDLE_LOOKS;
        }
    }

    /// What each process marked, with times in seconds since the launch; and how many bytes were too many.
    pub(super) fn finish(self, launched_ns: u64) -> (Vec<Vec<Chunk>>, u64) {
        let lost = self.pipes.iter().map(|pipe| pipe.lost).sum();
        (self.pipes.into_iter().map(|pipe| pipe.chunks(launched_ns)).collect(), lost)
    }
}

impl Pipe {
    fn total(&self) -> usize {
        self.bytes.len() + self.lost as usize
    }

    /// Never more than a pipe holds, or one that is written fast would keep us from everything else.
    fn read(&mut self, now_ns: u64) {
        let before = self.bytes.len();
        let mut left = PIPE_BYTES;
        while self.open && left > 0 {
            let room = left.min(64 << 10);
            // Nobody fills the room with zeros first: mostly nothing comes, and what the next trial finds in the caches is gone.
            self.bytes.reserve(room);
            match rustix::io::read(&self.end, spare_capacity(&mut self.bytes)) {
                Ok(0) => self.open = false,
                // A short one has emptied the pipe.
                Ok(count) => left = if count < room { 0 } else { left.saturating_sub(count) },
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        if self.bytes.len() > MOST_BYTES {
            self.lost += (self.bytes.len() - MOST_BYTES.max(before)) as u64;
            self.bytes.truncate(MOST_BYTES.max(before));
        }
        if self.bytes.len() > before {
            self.pieces.push((now_ns, self.bytes.len()));
        }
    }

    fn chunks(self, launched_ns: u64) -> Vec<Chunk> {
        let mut start = 0;
        let mut chunk = |(ns, end): (u64, usize)| {
            let bytes = self.bytes[start..end].to_vec();
            start = end;
            Chunk { at_s: ns.saturating_sub(launched_ns) as f64 / 1e9, bytes }
        };
        self.pieces.iter().map(|piece| chunk(*piece)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write as _;

    #[test]
    fn what_comes_is_kept_in_its_pieces_with_its_times() {
        let (mut marks, writers) = Marks::new(2).unwrap();
        let mut writers: Vec<File> = writers.into_iter().map(File::from).collect();
        writers[0].write_all(b"phase a\nph").unwrap();
        marks.read(2_000_000_000);
        marks.read(2_100_000_000);
        writers[0].write_all(b"ase b\n").unwrap();
        writers[1].write_all(b"op\n").unwrap();
        marks.read(3_000_000_000);
        assert_eq!(marks.watched().count(), 2);
        drop(writers);
        marks.read(3_500_000_000);
        assert_eq!(marks.watched().count(), 0);
        let chunk = |at_s, text: &str| Chunk { at_s, bytes: text.as_bytes().to_vec() };
        let expect = vec![vec![chunk(1.0, "phase a\nph"), chunk(2.0, "ase b\n")], vec![chunk(2.0, "op\n")]];
        assert_eq!(marks.finish(1_000_000_000), (expect, 0));
    }

    #[test]
    fn fast_ones_are_looked_at_and_slow_ones_waited_for() {
        let (mut marks, writers) = Marks::new(1).unwrap();
        let mut writer = File::from(writers.into_iter().next().unwrap());
        let mut come = |marks: &mut Marks, now_ns| {
            writer.write_all(b"op\n").unwrap();
            marks.read(now_ns);
            marks.come_fast()
        };
        let slow = [1, 2, 3, 4].map(|seconds| come(&mut marks, seconds * 1_000_000_000));
        assert_eq!(slow, [false; 4]);
        let fast = [100, 200, 300, 400].map(|more| come(&mut marks, 5_000_000_000 + more));
        assert_eq!(fast, [false, false, true, true]);
        let mut looks = 0;
        while marks.come_fast() {
            marks.read(6_000_000_000);
            looks += 1;
        }
        assert_eq!(looks, IDLE_LOOKS);
    }

    #[test]
    fn a_flood_is_read_but_not_kept() {
        let (mut marks, writers) = Marks::new(1).unwrap();
        let mut writer = File::from(writers.into_iter().next().unwrap());
        let writes = std::thread::spawn(move || {
            let block = vec![b'x'; 1 << 20];
            (0..66).for_each(|_| writer.write_all(&block).unwrap());
        });
        let mut now_ns = 0;
        while marks.watched().count() > 0 {
            now_ns += 1;
            marks.read(now_ns);
        }
        writes.join().unwrap();
        let (kept, lost) = marks.finish(0);
        assert_eq!(kept[0].iter().map(|chunk| chunk.bytes.len()).sum::<usize>(), MOST_BYTES);
        assert_eq!(lost, 2 << 20);
    }
}
