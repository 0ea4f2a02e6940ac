//! What the kernel's side and ours share: where each number is in the values of the maps. It knows no program and no call.

/// A task's state: times in ns of the monotonic clock, then words of 32 bits. `BY` is the task that woke it last or began it, with
/// its birth and the call that it was in; 0 if no watched task did.
pub(super) const SINCE: i16 = 0;
pub(super) const BORN: i16 = 8;
pub(super) const ENTERED: i16 = 16;
pub(super) const WOKEN: i16 = 24;
pub(super) const BY_BORN: i16 = 32;
pub(super) const CALL: i16 = 40;
pub(super) const PHASE: i16 = 44;
pub(super) const MACHINE: i16 = 48;
pub(super) const TID: i16 = 52;
pub(super) const BY: i16 = 56;
pub(super) const BY_CALL: i16 = 60;
pub(super) const STATE_BYTES: usize = 64;

/// Phases.
pub(super) const ON_CPU: i32 = 0;
pub(super) const BLOCKED: i32 = 1;
pub(super) const RUN_QUEUE: i32 = 2;
/// Only in the log.
pub(super) const ENDED: i32 = 3;

/// What is added to the number of a call: nothing for this machine's programs, or [`COMPAT`] for those of 32 bits.
pub(super) const NATIVE: i32 = 0;
pub(super) const COMPAT: i32 = 512;
/// The registers have to be looked at.
pub(super) const UNKNOWN: i32 = 1;
/// Calls with numbers that no table has.
pub(super) const OTHER: i32 = 511;
/// Calls that are distinguished: two machines' of 512.
pub(super) const MOST_CALLS: i32 = 1024;
/// In no call.
pub(super) const NO_CALL: i32 = MOST_CALLS;

/// Sums, of one processor each: these words first.
pub(super) const SUM_ON_CPU: i16 = 0;
pub(super) const SUM_RUN_QUEUE: i16 = 8;
pub(super) const SUM_BLOCKED: i16 = 16;
pub(super) const SUM_BLOCKED_OUTSIDE: i16 = 24;
pub(super) const SUM_LIFETIME: i16 = 32;
/// Four words: by the two lowest bits of the processor's error code, 1 for a present page and 2 for a write.
pub(super) const SUM_FAULTS: i16 = 40;
/// Then four words a call: how often, for how long, for how long it was blocked, and how often it was.
pub(super) const CALLS: i16 = 128;
pub(super) const CALL_COUNT: i16 = CALLS;
pub(super) const CALL_TIME: i16 = CALLS + 8;
pub(super) const CALL_BLOCKED: i16 = CALLS + 16;
pub(super) const CALL_TIMES_BLOCKED: i16 = CALLS + 24;
/// A call's bytes are 2 to the power of this.
pub(super) const CALL_SHIFT: i32 = 5;
pub(super) const SUMS_BYTES: usize = CALLS as usize + ((MOST_CALLS as usize) << CALL_SHIFT);

/// Words that all processors share: tasks, those for which there was no place, entries of the log, and whether the launched
/// process has executed its program.
pub(super) const TASKS: i16 = 0;
pub(super) const LOST: i16 = 8;
pub(super) const LOGGED: i16 = 16;
pub(super) const BEGUN: i16 = 24;
pub(super) const SHARED_BYTES: usize = 32;
/// What is known of one task. An entry of the log is a task's state at its birth, when a blocked phase ends, or at its end: the
/// phase tells which, and `woken_ns` is when that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct State {
    pub(super) since_ns: u64,
    pub(super) born_ns: u64,
    pub(super) entered_ns: u64,
    pub(super) woken_ns: u64,
    pub(super) by_born_ns: u64,
    pub(super) call: u32,
    pub(super) phase: u32,
    pub(super) machine: u32,
    pub(super) tid: u32,
    pub(super) by: u32,
    pub(super) by_call: u32,
}

impl State {
    /// None if they are not as many bytes as there must be.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let whole: &[u8; STATE_BYTES] = bytes.try_into().ok()?;
        let long = |at: i16| words(&whole[at as usize..]).next();
        let word = |at: i16| Some(u32::from_ne_bytes(whole[at as usize..].first_chunk().copied()?));
        Some(Self {
            since_ns: long(SINCE)?,
            born_ns: long(BORN)?,
            entered_ns: long(ENTERED)?,
            woken_ns: long(WOKEN)?,
            by_born_ns: long(BY_BORN)?,
            call: word(CALL)?,
            phase: word(PHASE)?,
            machine: word(MACHINE)?,
            tid: word(TID)?,
            by: word(BY)?,
            by_call: word(BY_CALL)?,
        })
    }
}

/// Bytes as words of 64 bits.
pub(super) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_where_the_programs_write_it() {
        let state = State {
            since_ns: 1,
            born_ns: u64::MAX,
            entered_ns: 3,
            woken_ns: 4,
            by_born_ns: 5,
            call: 6,
            phase: 7,
            machine: 8,
            tid: u32::MAX,
            by: 10,
            by_call: 11,
        };
        let mut bytes = [0; STATE_BYTES];
        let mut put = |at: i16, value: &[u8]| bytes[at as usize..][..value.len()].copy_from_slice(value);
        for (at, value) in [(SINCE, 1), (BORN, u64::MAX), (ENTERED, 3), (WOKEN, 4), (BY_BORN, 5)] {
            put(at, &value.to_ne_bytes());
        }
        for (at, value) in [(CALL, 6), (PHASE, 7), (MACHINE, 8), (TID, u32::MAX), (BY, 10), (BY_CALL, 11)] {
            put(at, &value.to_ne_bytes());
        }
        assert_eq!(State::of(&bytes), Some(state));
        assert_eq!(State::of(&bytes[1..]), None);
        assert_eq!(State::of(&[0; STATE_BYTES + 1]), None);
    }
}
