//! The records of the kernel (perf_event_open(2), "MMAP layout"), and what they add up to: which file a process had at an address
//! at that time, and how many samples are at which place of it. Computed from bytes; nothing is opened here.

use super::report::SampledFile;
use std::collections::BTreeMap;
use std::path::PathBuf;

const LOST: u32 = 2;
const COMMAND: u32 = 3;
const THROTTLE: u32 = 5;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MAPPED: u32 = 10;
/// PERF_RECORD_MISC_COMM_EXEC.
const BY_EXEC: u16 = 1 << 13;
/// Each record but a sample ends with who it is about and when it was written.
const END: usize = 16;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) time_ns: u64,
    pid: u32,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    /// It was at this address.
    Sample(u64),
    /// It has code at addresses from now on.
    Mapped(Box<Mapping>),
    /// It is a child of this one.
    Forked(u32),
    /// It has become another program.
    Executed,
}

/// Code of a process, and where in a file it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    inode: u64,
    path: PathBuf,
}

/// The events of whole records, and how many were lost. What is too short for what it is is left out.
pub(super) fn read(mut bytes: &[u8]) -> (Vec<Event>, u64) {
    let (mut events, mut lost) = (vec![], 0);
    while let Some(header) = bytes.first_chunk::<8>() {
        let [a, b, c, d, e, f, g, h] = *header;
        let size = usize::from(u16::from_ne_bytes([g, h]));
        let Some((record, rest)) = bytes.split_at_checked(size).filter(|_| size >= 8) else { break };
        bytes = rest;
        let (kind, body) = (u32::from_ne_bytes([a, b, c, d]), &record[8..]);
        match kind {
            LOST => lost += word(body, 8).unwrap_or(0),
            // The kernel takes no more samples before its next tick.
            THROTTLE => lost += 1,
            _ => events.extend(event(kind, u16::from_ne_bytes([e, f]), body)),
        }
    }
    (events, lost)
}

fn event(kind: u32, flags: u16, body: &[u8]) -> Option<Event> {
    if kind == SAMPLE {
        return Some(Event { pid: half(body, 8)?, time_ns: word(body, 16)?, what: What::Sample(word(body, 0)?) });
    }
    let time_ns = word(body, body.len().checked_sub(8)?)?;
    let what = match kind {
        MAPPED => {
            let name = body.get(64..body.len().checked_sub(END)?)?.split(|byte| *byte == 0).next()?;
            let start = word(body, 8)?;
            What::Mapped(Box::new(Mapping {
                start,
                end: start.saturating_add(word(body, 16)?),
                offset: word(body, 24)?,
                inode: word(body, 40)?,
                path: String::from_utf8_lossy(name).into_owned().into(),
            }))
        }
        FORK => What::Forked(half(body, 4)?),
        COMMAND if flags & BY_EXEC != 0 => What::Executed,
        _ => return None,
    };
    Some(Event { pid: half(body, 0)?, time_ns, what })
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_ne_bytes(*word))
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_ne_bytes(*word))
}

/// What events add up to, in the order of time.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// The code of each process, by where it ends.
    code: BTreeMap<u32, BTreeMap<u64, Mapping>>,
    /// By path and inode, and by the place in the file.
    files: BTreeMap<(PathBuf, u64), BTreeMap<u64, u64>>,
    unnamed: u64,
}

impl Sums {
    pub(super) fn add(&mut self, Event { pid, what, .. }: Event) {
        match what {
            What::Sample(address) => self.sample(pid, address),
            What::Mapped(new) => {
                let code = self.code.entry(pid).or_default();
                // What it lies upon is gone; the rest of a longer one is code as before.
                let beyond = code.range(new.start.saturating_add(1)..).map(|(_, old)| old);
                let below: Vec<Mapping> = beyond.take_while(|old| old.start < new.end).cloned().collect();
                for old in below {
                    code.remove(&old.end);
                    if old.start < new.start {
                        code.insert(new.start, Mapping { end: new.start, ..old.clone() });
                    }
                    if old.end > new.end {
                        let offset = old.offset.wrapping_add(new.end - old.start);
                        code.insert(old.end, Mapping { start: new.end, offset, ..old });
                    }
                }
                code.insert(new.end, *new);
            }
            // A thread has the code of its process.
            What::Forked(parent) if parent != pid => {
                let code = self.code.get(&parent).cloned().unwrap_or_default();
                self.code.insert(pid, code);
            }
            What::Forked(_) => {}
            What::Executed => drop(self.code.remove(&pid)),
        }
    }

    fn sample(&mut self, pid: u32, address: u64) {
        let code = self.code.get(&pid).and_then(|code| code.range(address.saturating_add(1)..).next());
        let found = code.map(|(_, found)| found).filter(|found| found.start <= address && found.inode != 0);
        let Some(found) = found else { return self.unnamed += 1 };
        let places = self.files.entry((found.path.clone(), found.inode)).or_default();
        *places.entry((address - found.start).wrapping_add(found.offset)).or_default() += 1;
    }

    /// The samples by file, and those in no file.
    pub(super) fn files(self) -> (Vec<SampledFile>, u64) {
        let file = |((path, inode), places): ((PathBuf, u64), BTreeMap<u64, u64>)| {
            let places = places.into_iter().map(|(place, samples)| [place, samples]).collect();
            SampledFile { path, inode, places }
        };
        (self.files.into_iter().map(file).collect(), self.unnamed)
    }
}

#[cfg(test)]
mod tests;
