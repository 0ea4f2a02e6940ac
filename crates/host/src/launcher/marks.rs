//! Reads the pipes for marks while we wait for a job: what comes, and when. It makes no sense of it (that is
//! `bakeoff_model::marks`), and disturbs the trial little: while bytes come fast, it looks from time to time.

use bakeoff_model::marks::Chunk;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

/// What is read at once.
const ROOM_BYTES: usize = 64 << 10;
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
    /// Of the copies of a load: ends for writing, from which nothing is ever read.
    unheard: Vec<OwnedFd>,
    /// Where bytes go first. Made once: mostly nothing comes, and so large a piece of memory is not had for nothing.
    room: Vec<u8>,
}

#[derive(Debug)]
struct Pipe {
    end: OwnedFd,
    writer: OwnedFd,
    bytes: Vec<u8>,
    /// When the bytes up to there were read.
    pieces: Vec<(u64, usize)>,
    lost: u64,
}

impl Marks {
    /// The pipes of the next job, one for each process. Unused ones serve again: making pipes takes longer than the rest.
    pub(super) fn again(mut self, count: usize) -> io::Result<Self> {
        self.pipes.truncate(count);
        // A process before may have had its writings not wait for us.
        self.pipes.iter().try_for_each(|pipe| fcntl_setfl(&pipe.writer, OFlags::empty()))?;
        while self.pipes.len() < count {
            self.pipes.push(Pipe::new()?);
        }
        Ok(Self { woken_ns: [0; FAST_COUNT], looks: 0, ..self })
    }

    /// For the copies of a load.
    pub(super) fn unheard(count: usize) -> io::Result<Self> {
        let null = || Ok(File::options().write(true).open("/dev/null")?.into());
        Ok(Self { unheard: (0..count).map(|_| null()).collect::<io::Result<_>>()?, ..Self::default() })
    }

    /// The ends that are for writing, one for each process.
    pub(super) fn writers(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.pipes.iter().map(|pipe| &pipe.writer).chain(&self.unheard).map(OwnedFd::as_fd)
    }

    /// Whether it is to be looked at from time to time, rather than waited for.
    pub(super) fn come_fast(&self) -> bool {
        self.looks > 0
    }

    /// What to wait for.
    pub(super) fn watched(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.pipes.iter().map(|pipe| PollFd::new(&pipe.end, PollFlags::IN))
    }

    pub(super) fn read(&mut self, now_ns: u64) {
        let before: usize = self.pipes.iter().map(Pipe::total).sum();
        for pipe in &mut self.pipes {
            pipe.read(now_ns, &mut self.room);
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
    pub(super) fn finish(&mut self, launched_ns: u64) -> (Vec<Vec<Chunk>>, u64) {
        let lost = self.pipes.iter().map(|pipe| pipe.lost).sum();
        let all = self.pipes.iter().map(|pipe| pipe.chunks(launched_ns)).collect();
        // A process that wrote may have given the pipe away.
        self.pipes.retain(|pipe| pipe.pieces.is_empty());
        (all, lost)
    }
}

impl Pipe {
    fn new() -> io::Result<Self> {
        let (end, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        fcntl_setfl(&end, OFlags::NONBLOCK)?;
        // A user may have only so much in pipes; what there is does as well, only not as fast.
        let _ = fcntl_setpipe_size(&end, PIPE_BYTES);
        Ok(Self { end, writer, bytes: vec![], pieces: vec![], lost: 0 })
    }

    fn total(&self) -> usize {
        self.bytes.len() + self.lost as usize
    }

    /// Never more than a pipe holds, or one that is written fast would keep us from everything else.
    fn read(&mut self, now_ns: u64, room: &mut Vec<u8>) {
        let before = self.bytes.len();
        let mut left = PIPE_BYTES;
        while left > 0 {
            room.clear();
            // Nobody fills it with zeros first.
            room.reserve_exact(ROOM_BYTES);
            match rustix::io::read(&self.end, spare_capacity(room)) {
                Ok(count) => {
                    self.bytes.extend_from_slice(room);
                    // A short one has emptied the pipe.
                    left = if count < ROOM_BYTES { 0 } else { left.saturating_sub(count) };
                }
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

    fn chunks(&self, launched_ns: u64) -> Vec<Chunk> {
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
    use rustix::fs::fcntl_getfl;
    use std::fs::File;
    use std::io::Write as _;

    fn opened(marks: Marks, count: usize) -> (Marks, Vec<File>) {
        let marks = marks.again(count).unwrap();
        let writers = marks.writers().map(|end| end.try_clone_to_owned().unwrap().into()).collect();
        (marks, writers)
    }

    #[test]
    fn a_pipe_serves_again_unless_somebody_wrote_to_it() {
        let (mut marks, mut writers) = opened(Marks::default(), 2);
        fcntl_setfl(&writers[1], OFlags::NONBLOCK | OFlags::APPEND).unwrap();
        writers[0].write_all(b"a").unwrap();
        marks.read(1);
        assert_eq!(marks.finish(0).0.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0]);
        let (mut marks, _) = opened(marks, 2);
        writers[0].write_all(b"b").unwrap_err();
        writers[1].write_all(b"c").unwrap();
        assert!(!fcntl_getfl(&writers[1]).unwrap().intersects(OFlags::NONBLOCK | OFlags::APPEND));
        marks.read(2);
        let came: Vec<Vec<u8>> =
            marks.finish(0).0.into_iter().map(|of| of.into_iter().flat_map(|c| c.bytes).collect()).collect();
        assert_eq!(came, [b"c".to_vec(), vec![]]);
    }

    #[test]
    fn what_comes_is_kept_in_its_pieces_with_its_times() {
        let (mut marks, mut writers) = opened(Marks::default(), 2);
        writers[0].write_all(b"phase a\nph").unwrap();
        marks.read(2_000_000_000);
        marks.read(2_100_000_000);
        writers[0].write_all(b"ase b\n").unwrap();
        writers[1].write_all(b"op\n").unwrap();
        marks.read(3_000_000_000);
        let chunk = |at_s, text: &str| Chunk { at_s, bytes: text.as_bytes().to_vec() };
        let expect = vec![vec![chunk(1.0, "phase a\nph"), chunk(2.0, "ase b\n")], vec![chunk(2.0, "op\n")]];
        assert_eq!(marks.finish(1_000_000_000), (expect, 0));
    }

    #[test]
    fn fast_ones_are_looked_at_and_slow_ones_waited_for() {
        let (mut marks, mut writers) = opened(Marks::default(), 1);
        let mut come = |marks: &mut Marks, now_ns| {
            writers[0].write_all(b"op\n").unwrap();
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
        let (mut marks, mut writers) = opened(Marks::default(), 1);
        let writes = std::thread::spawn(move || {
            let block = vec![b'x'; 1 << 20];
            (0..66).for_each(|_| writers[0].write_all(&block).unwrap());
        });
        let mut now_ns = 0;
        while !writes.is_finished() {
            now_ns += 1;
            marks.read(now_ns);
        }
        writes.join().unwrap();
        marks.read(now_ns + 1);
        let (kept, lost) = marks.finish(0);
        assert_eq!(kept[0].iter().map(|chunk| chunk.bytes.len()).sum::<usize>(), MOST_BYTES);
        assert_eq!(lost, 2 << 20);
    }
}
