//! What a launcher and its owner say to each other, by one definition for both: plain structures of whole numbers, in
//! the byte order of the machine, on a stream socket. Both are built by the same build, so there are no versions.
//!
//! A message is a [`Head`], a body, and descriptors (SCM_RIGHTS): up to [`MOST_AT_ONCE`] of them come with the head,
//! the others with a byte each time after the body. The owner does whatever needs memory: the body of a job holds its
//! strings and its argument vectors, where an address is an offset into the body until the launcher adds its own.

/// Descriptors in one piece (SCM_MAX_FD is 253).
pub const MOST_AT_ONCE: usize = 240;
/// Descriptors of one job.
pub const MOST_DESCRIPTORS: usize = 900;
/// No descriptor.
pub const NONE: u32 = u32::MAX;

/// The first thing of every message.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    /// One of the constants below.
    pub kind: u32,
    pub descriptors: u32,
    /// Bytes of the body.
    pub length: u64,
}

/// To the launcher: a [`Job`] follows; the reply is [`ENDED`], once, when it is over. Hanging up is a request too: to
/// kill everything and end.
pub const JOB: u32 = 1;
/// To the launcher: a [`Stop`] follows; without meaning, and without a reply, if no job is under way.
pub const STOP: u32 = 2;
/// To the launcher: what has the load achieved? The reply is [`ACHIEVED`].
pub const ASK: u32 = 3;
/// To the launcher: a [`Job`] without processes follows, whose limits are tried on the spot; the reply is [`TRIED`].
pub const TRY: u32 = 4;
/// To the first process of a namespace: kill what has come to you from launchers that were killed; the reply is [`SWEPT`].
pub const SWEEP: u32 = 5;
/// From the launcher, once: it is a launcher and awaits requests.
pub const READY: u32 = 11;
/// From the launcher: a [`JobOver`] and a [`ProcessOver`] for each process follow. Nothing of the job is left.
pub const ENDED: u32 = 12;
/// From the launcher: an [`Achieved`] follows.
pub const ACHIEVED: u32 = 13;
/// From the launcher: a [`Tried`] follows.
pub const TRIED: u32 = 14;
/// From the launcher: an [`Unkillable`] follows.
pub const UNKILLABLE: u32 = 15;
/// From the first process of a namespace: nothing is left of what had come to it.
pub const SWEPT: u32 = 16;

/// A job as it is asked for. After it: `processes` times [`Process`], `kills` times [`Kill`], and what they point to.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Job {
    pub processes: u32,
    pub kills: u32,
    /// The descriptor of the cgroup into which processes are cloned, or [`NONE`].
    pub into: u32,
    /// The first of the `joins` descriptors to which each process writes `0`.
    pub first_join: u32,
    pub joins: u32,
    /// [`LOAD`], [`IO`], [`WAIT`].
    pub flags: u32,
    /// SCHED_FIFO priority, or 0.
    pub realtime: u32,
    /// [`ASLR_AS_IS`], [`ASLR_ON`] or [`ASLR_OFF`].
    pub aslr: u32,
    /// The descriptor to which the launcher writes `0` before it launches, or [`NONE`].
    pub warm: u32,
    /// Nothing.
    pub unused: u32,
    /// Offset of the processor mask, or 0.
    pub cpus: u64,
    /// Its length in bytes.
    pub cpus_length: u64,
    /// Offset of the mask of all processors that the launcher may use, or 0. It has been put on a single one of them, to
    /// begin where its owner is; from the launch on, it and those whose `cpus` are 0 use all.
    pub all_cpus: u64,
    /// Its length in bytes.
    pub all_cpus_length: u64,
    /// RLIMIT_AS, or 0.
    pub address_space: u64,
    /// For a load: nanoseconds from one start of a copy to its next, or 0 for a closed loop.
    pub pace_ns: u64,
    /// After so many nanoseconds all is killed, or 0.
    pub timeout_ns: u64,
}

/// Each process is started again when it has ended.
pub const LOAD: u32 = 1;
/// What each process read and wrote is wanted.
pub const IO: u32 = 2;
/// How long it had to wait for a processor is wanted.
pub const WAIT: u32 = 4;
/// Addresses are randomised as they are for us.
pub const ASLR_AS_IS: u32 = 0;
/// Addresses are randomised.
pub const ASLR_ON: u32 = 1;
/// They are not.
pub const ASLR_OFF: u32 = 2;

/// One process as it is asked for. Offsets count from the beginning of the body.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Process {
    /// Descriptor that becomes its standard output.
    pub stdout: u32,
    /// Descriptor that becomes its standard error.
    pub stderr: u32,
    /// Descriptor that becomes its descriptor 3, or [`NONE`].
    pub marks: u32,
    /// Descriptor that becomes its standard input, or [`NONE`]: then it is the null device.
    pub stdin: u32,
    /// Offset of the folder it starts in.
    pub dir: u64,
    /// Offset of the path to run.
    pub program: u64,
    /// Offset of an array of offsets that ends in 0: the arguments.
    pub argv: u64,
    /// Offset of the same of the environment.
    pub env: u64,
}

/// What is written where so that all processes of a cgroup thaw, or die.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kill {
    pub descriptor: u32,
    pub length: u32,
    pub text: [u8; 24],
}

/// How a job is to be ended.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stop {
    /// The signal that the process groups of all main processes get; 9 kills at once.
    pub signal: u32,
    /// Nothing.
    pub unused: u32,
    /// They have this long before they are killed.
    pub within_ns: u64,
}

/// What became of a job.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobOver {
    /// CLOCK_MONOTONIC before the first launch.
    pub launched_ns: u64,
    /// CLOCK_MONOTONIC after the last end.
    pub ended_ns: u64,
    /// Processes that outlived the main ones and were killed.
    pub leftovers: u64,
    /// Of a load.
    pub achieved: Achieved,
}

/// What a load has achieved.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Achieved {
    /// Copies that are running.
    pub alive: u64,
    /// Copies that exited 0.
    pub ended: u64,
    /// Copies that ended otherwise or could not be started.
    pub failed: u64,
    /// The place of the first of them, from 1; 0 if there is none.
    pub first_failed: u64,
    /// CPU time of copies that ended.
    pub cpu_us: u64,
    /// Time since the first launch.
    pub ns: u64,
}

/// What became of a process.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessOver {
    /// CLOCK_MONOTONIC before its launch; 0 if there was none.
    pub launched_ns: u64,
    /// CLOCK_MONOTONIC when its end was seen; 0 if it was not.
    pub ended_ns: u64,
    /// The step that failed when it was launched, or 0.
    pub failed_step: u32,
    pub failed_errno: u32,
    /// Its status by wait4.
    pub status: i32,
    /// [`TIMED_OUT`], [`KILLED`].
    pub flags: u32,
    /// Bits `1 << step` of what it had to go without.
    pub without: u32,
    /// How much of `io_before` is text.
    pub io_before_length: u32,
    /// How much of `io` is text; 0 if it was not reaped by itself.
    pub io_length: u32,
    /// How much of `schedstat` is text.
    pub schedstat_length: u32,
    /// Why it had to go without the last of those.
    pub without_errno: u32,
    /// Nothing.
    pub unused: u32,
    /// struct rusage: two times of two words each, then 14 counts.
    pub usage: [i64; 18],
    /// The launcher's `/proc/self/io` before it was reaped.
    pub io_before: [u8; 320],
    /// The same after it: what the process read and wrote is in it, and the reading of `io_before`.
    pub io: [u8; 320],
    /// `/proc/PID/schedstat` of the zombie.
    pub schedstat: [u8; 80],
}

/// The launcher killed it because it took too long.
pub const TIMED_OUT: u32 = 1;
/// The launcher killed it because it was told to.
pub const KILLED: u32 = 2;

/// Whether limits can be had: the system's answer to each step, 0 if so.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tried {
    /// By step.
    pub errno: [u32; STEPS],
}

/// A process that does not die.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unkillable {
    pub pid: u64,
}

/// Cloning.
pub const CLONE: u32 = 1;
/// Joining a cgroup by writing to it.
pub const JOIN: u32 = 2;
/// A session of its own.
pub const SESSION: u32 = 3;
/// Its descriptors.
pub const DESCRIPTORS: u32 = 4;
/// Which processors; it can go without.
pub const AFFINITY: u32 = 5;
/// The scheduling class; it can go without.
pub const REALTIME: u32 = 6;
/// Randomised addresses or not; it can go without.
pub const PERSONALITY: u32 = 7;
/// RLIMIT_AS; it can go without.
pub const ADDRESS_SPACE: u32 = 8;
/// The folder.
pub const FOLDER: u32 = 9;
/// The program.
pub const EXEC: u32 = 10;
/// One more than the last step.
pub const STEPS: usize = 11;

/// Structures that are nothing but their bytes.
///
/// # Safety
/// `repr(C)`, no padding, any bytes are a valid value.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($name:ident $size:literal),*) => {
        $(
            const _: () = assert!(size_of::<$name>() == $size);
            // SAFETY: all fields are whole numbers or arrays of them; their sizes add up to that of the whole.
            unsafe impl Plain for $name {}
        )*
    };
}

plain!(Head 16, Job 96, Process 48, Kill 32, Stop 16, JobOver 72, Achieved 48, ProcessOver 920, Tried 44, Unkillable 8);

/// The bytes of a structure.
pub fn bytes<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: `Plain` promises that there is no padding, so that every byte is initialised.
    unsafe { core::slice::from_raw_parts(core::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// The bytes of a structure, to be filled.
pub fn bytes_mut<T: Plain>(value: &mut T) -> &mut [u8] {
    // SAFETY: as above, and `Plain` promises that whatever is written is a valid value.
    unsafe { core::slice::from_raw_parts_mut(core::ptr::from_mut(value).cast(), size_of::<T>()) }
}

/// The structure that begins at this byte; none if it does not fit.
pub fn read<T: Plain>(from: &[u8], at: usize) -> Option<T> {
    let bytes = from.get(at..at.checked_add(size_of::<T>())?)?;
    // SAFETY: there are bytes enough, and `Plain` promises that any are valid; the read does not ask for alignment.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}
