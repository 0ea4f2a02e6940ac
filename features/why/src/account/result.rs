//! The account as plain data: what `account::of` finds, and what page, CSV and JSON show. It has no English, and finds
//! nothing. Arrays of two hold the baseline first and the variant second.

use serde::{Deserialize, Serialize};

/// The difference in instructions between two variants on one workload, and where it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Account {
    /// The workload.
    pub(crate) workload: String,
    /// The service, while that ran; none: the workload's own command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) service: Option<String>,
    /// The `$LENGTH` of everything that is not in a [`Growth`]; none if it was not set.
    pub(crate) length: Option<String>,
    /// The shorter `$LENGTH` that work at start was found with; none: one length, so it is not separated.
    pub(crate) shorter: Option<String>,
    /// Functions are known by their names only, without files and calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_by_names: bool,
    /// All instructions.
    pub(crate) instructions: [u64; 2],
    /// By how much a second count differed; none if there was none.
    pub(crate) residues: [Option<u64>; 2],
    /// Instructions of the variant less those of the baseline.
    pub(crate) difference: i64,
    /// The sum of the absolute differences of all functions.
    pub(crate) gross: u64,
    /// The counts agree, so there are no rows.
    pub(crate) is_nothing: bool,
    /// The difference in functions that belong to no mechanism; none without calls.
    pub(crate) split: Option<Split>,
    /// Of the whole difference; none with one length.
    pub(crate) growth: Option<Growth>,
    /// Which allocator executed most instructions of its kind; none if none ran.
    pub(crate) allocators: [Option<Allocator>; 2],
    /// How functions were matched.
    pub(crate) matched: Matched,
    /// The causes, the largest first and the rest last. Their `permille` sum to 1000, their differences to `difference`.
    pub(crate) rows: Vec<Row>,
    /// All of what the rows are made of, the largest difference first. Its sums are the totals.
    pub(crate) functions: Vec<Function>,
    /// The account of time; none if no times were given, or if they are of a length that was not counted.
    pub(crate) time: Option<TimeAccount>,
    /// What the kernel did; none unless both sides were watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kernel: Option<KernelAccount>,
    /// In which functions the difference in user time is; none unless both sides were sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) samples: Option<SampledAccount>,
}

/// A smaller part of all instructions is no reason for a difference in time that anyone would see.
const FEW: f64 = 0.005;

impl Account {
    /// Whether the difference is too small to be a cause of what was measured.
    pub(crate) fn is_few(&self) -> bool {
        let most = self.instructions.into_iter().max().unwrap_or(0);
        self.is_nothing || (self.difference.unsigned_abs() as f64) < FEW * most as f64
    }
}

/// A cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// What it is.
    pub(crate) cause: Cause,
    /// Its instructions.
    pub(crate) instructions: [u64; 2],
    /// How often it was called; none for a group of unlike functions.
    pub(crate) calls: Option<[u64; 2]>,
    /// Its difference by calls and by cost; none if calls are unknown.
    pub(crate) split: Option<Split>,
    /// Its share of the net difference, in tenths of a percent; negative if it works against the difference.
    pub(crate) permille: i64,
    /// Its difference at start and per unit of work; none with one length.
    pub(crate) growth: Option<Growth>,
    /// Of a mechanism, the functions with the largest differences.
    pub(crate) parts: Vec<Function>,
}

/// What a row is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cause {
    /// A group of functions that is known by name.
    Mechanism(Mechanism),
    /// A function.
    Function {
        /// Its name, cut if it is long; [`Account::functions`] have all of it.
        name: String,
        /// Functions that were given to it because they ran on one side only.
        with: Vec<String>,
        /// The only side on which it ran, if there is one and no caller of it is known.
        only: Option<Side>,
        /// Its source file, or else its file, if another row has the same name.
        place: Option<String>,
    },
    /// This number of functions with small differences.
    Rest(u64),
}

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Side {
    /// The first.
    Baseline,
    /// The second.
    Variant,
}

/// Functions, or instructions of functions, that have one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mechanism {
    /// Stubs of the PLT that lead to functions of the same file.
    OwnStubs,
    /// Stubs of the PLT that lead to other files.
    Stubs,
    /// Loads of addresses of own symbols from the global offset table.
    OwnAddresses,
    /// The dynamic loader.
    Loader,
    /// Allocation of memory: malloc and its family, whichever it is, with the stubs that lead to it.
    Allocator,
    /// The C library, without its allocator.
    Libc,
    /// Compiling inside an interpreter.
    Compiling,
    /// Code without a name, and code made during the run.
    Nameless,
}

/// An allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Allocator {
    /// That of the C library.
    Libc,
    /// jemalloc.
    Jemalloc,
    /// tcmalloc.
    Tcmalloc,
    /// mimalloc.
    Mimalloc,
    /// Perl's.
    Perl,
    /// Functions called malloc and free that the program itself defines.
    Program,
}

/// A function on both sides, or what of it belongs to a mechanism. One without a name is code that no symbol names.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Function {
    /// Its name as its author wrote it, without suffixes of clones.
    pub(crate) name: String,
    /// The symbols of what ran of it on each side: its own, and those of its clones.
    pub(crate) symbols: [Vec<String>; 2],
    /// Functions that were given to it because they ran on one side only, the largest first.
    pub(crate) with: Vec<String>,
    /// The file in which it is; none if it did not run there.
    pub(crate) files: [Option<String>; 2],
    /// The source file of a static function.
    pub(crate) source: Option<String>,
    /// The mechanism to which it belongs, if it does.
    pub(crate) mechanism: Option<Mechanism>,
    /// How it was matched; none if it ran on one side only.
    pub(crate) rule: Option<Rule>,
    /// Its instructions.
    pub(crate) instructions: [u64; 2],
    /// How often it was called.
    pub(crate) calls: [u64; 2],
    /// Its difference by calls and by cost; none if calls are unknown.
    pub(crate) split: Option<Split>,
    /// Its difference at start and per unit of work; none with one length.
    pub(crate) growth: Option<Growth>,
}

/// A difference in two parts that sum to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Split {
    /// The change in calls × the mean cost of a call.
    pub(crate) more_calls: i64,
    /// The change in the cost of a call × the mean number of calls.
    pub(crate) dearer_calls: i64,
}

/// A difference in two parts, by its size at two lengths: a straight line.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Growth {
    /// Instructions at length 0.
    pub(crate) start: f64,
    /// Further instructions for each unit of length.
    pub(crate) per_unit: f64,
}

/// How two functions were found to be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rule {
    /// By their names.
    Name,
    /// By their names without suffixes of clones, hashes, variants and tags.
    BaseName,
    /// By their machine code without addresses.
    SameCode,
}

/// Instructions of functions by how these were matched, before any was given to its callers. Stubs and nameless code are
/// left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Matched {
    /// By name, of both sides together.
    pub(crate) by_name: u64,
    /// By base name, of both sides together.
    pub(crate) by_base_name: u64,
    /// By the same code, of both sides together.
    #[serde(default)]
    pub(crate) by_same_code: u64,
    /// Of functions that ran on one side only.
    pub(crate) only: [u64; 2],
}

/// The difference in time. Its shares are not those of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimeAccount {
    /// User time in seconds.
    pub(crate) user_s: [f64; 2],
    /// Time per instruction in nanoseconds, on average.
    pub(crate) ns: [f64; 2],
    /// User time of the variant less that of the baseline: the sum of the next two.
    pub(crate) user: Interval,
    /// The change in instructions × the mean time per instruction.
    pub(crate) by_number: Interval,
    /// The change in time per instruction × the mean number of instructions: the same work at another speed.
    pub(crate) by_speed: Interval,
    /// System time; none if it was not given.
    pub(crate) sys: Option<Interval>,
    /// Wall time less user and system time; none unless it is at least 0 on both sides.
    pub(crate) waiting: Option<Interval>,
}

impl TimeAccount {
    /// Whether the user times of both sides are shown to differ.
    pub(crate) fn is_shown(&self) -> bool {
        self.user.interval_s.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }
}

/// How the work of the kernel differs, in one watched execution of each side.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct KernelAccount {
    /// The largest differences, the largest first.
    pub(crate) rows: Vec<KernelRow>,
    /// How long tasks were ready to run, without a processor. None if the time of a side is not accounted for: then no row
    /// has times, and waiting has no row.
    pub(crate) run_queue_s: Option<[f64; 2]>,
    /// Whether page faults are known of both sides.
    pub(crate) has_faults: bool,
    /// Whether the tracer counted, so that there are only system calls, without times.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_traced: bool,
    /// Whether waiting is that of the path that ends last; otherwise it is added up over all tasks.
    #[serde(default)]
    pub(crate) has_path: bool,
    /// Why a path was not found, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) no_path: Option<String>,
}

/// Work of the kernel that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KernelRow {
    /// What it is.
    pub(crate) what: KernelWork,
    /// How often; of waiting, how often it blocked.
    pub(crate) counts: [u64; 2],
    /// Time in a call without time blocked in it; of waiting, the time blocked. Faults have none.
    pub(crate) times_s: Option<[f64; 2]>,
}

/// What the kernel did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KernelWork {
    /// A system call.
    Call(String),
    /// Page faults of a kind.
    Fault(FaultKind),
    /// It waited in this system call, or in none.
    Blocked(String),
}

/// A kind of page faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FaultKind {
    /// Reads of pages that were not present.
    ReadAbsent,
    /// Writes to pages that were not present.
    WriteAbsent,
    /// Reads of pages that may not be read.
    ReadPresent,
    /// Writes to pages that may not be written.
    CopyOnWrite,
}

/// In which functions user time is, by samples of both sides in blocks. Times are means over the blocks, so that they add up.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct SampledAccount {
    /// How many blocks.
    pub(crate) blocks: u32,
    /// All samples of each side.
    pub(crate) samples: [u64; 2],
    /// Samples that there was no room for.
    pub(crate) lost: u64,
    /// Functions that were tested together: those with enough samples.
    pub(crate) tested: u32,
    /// All of it.
    pub(crate) sum: SampledRow,
    /// Functions that are shown, the largest part at another speed first; then others; then the rest. They sum to `sum`.
    pub(crate) rows: Vec<SampledRow>,
}

/// User time of a function.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct SampledRow {
    /// What it is.
    pub(crate) what: SampledCode,
    /// User time of a run.
    pub(crate) user_s: [f64; 2],
    /// Its change in instructions × the mean time per instruction of all functions.
    pub(crate) by_number_s: f64,
    /// The rest of its difference: the same work at another speed. The interval is by blocks.
    pub(crate) by_speed: Interval,
    /// That this part is 0, corrected for the number of functions (Holm); none if it was not tested.
    pub(crate) p: Option<f64>,
    /// Whether it is shown not to be 0.
    pub(crate) is_shown: bool,
}

/// What is sampled.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SampledCode {
    /// All code.
    #[default]
    All,
    /// A function.
    Function {
        /// Its name; with `@plt` at its end, the stub that leads to it.
        name: String,
        /// The file in which it is.
        file: String,
    },
    /// Code without a name, and code made during the run.
    Nameless,
    /// This number of functions.
    Rest(u64),
}

/// A difference in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Interval {
    /// The estimate.
    pub(crate) estimate_s: f64,
    /// Its interval; none if none is known.
    pub(crate) interval_s: Option<[f64; 2]>,
}

/// The second of two numbers less the first, as far as it can be written.
pub(crate) fn difference(numbers: [u64; 2]) -> i64 {
    let [before, after] = numbers.map(i128::from);
    i64::try_from(after - before).unwrap_or(if after < before { i64::MIN } else { i64::MAX })
}
