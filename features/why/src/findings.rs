//! Findings about evidence: what was gathered of the variants, side by side, and what explains their differences. Plain
//! serialisable values, like the rest. A cause is never more than consistent with a difference, unless a pair of variants
//! isolates it.

use crate::account::result::{Account, Interval, KernelWork, Mechanism};
use bakeoff_host::tracer::Calls;
use bakeoff_judge::findings::{Claim, Findings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the section in findings.
pub(crate) const SECTION: &str = "evidence";

/// What was gathered, and what it may explain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Gathered {
    /// One table for each file that was looked at, over all variants.
    pub(crate) files: Vec<FileTable>,
    /// One for each workload that was run under observation, and after it one for each of its services.
    pub(crate) traces: Vec<TraceTable>,
    /// What could not be had, each reason once.
    pub(crate) missing: Vec<NotGathered>,
    /// One for each account, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) diagnoses: Vec<Diagnosis>,
    /// One for each variant and workload of which instructions were counted, without the lists of functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) accounts: Vec<PairAccount>,
}

/// What explains how a variant differs from another in instructions, and what of the time that is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PairAccount {
    pub(crate) variant: String,
    pub(crate) against: String,
    #[serde(flatten)]
    pub(crate) account: Account,
}

impl PairAccount {
    /// How large the difference is, whichever way.
    pub(crate) fn size(&self) -> u64 {
        self.account.difference.unsigned_abs()
    }
}

impl Gathered {
    /// What findings have of it.
    pub(crate) fn of(findings: &Findings) -> Option<Self> {
        findings.sections.get(SECTION).and_then(|section| serde_json::from_value(section.clone()).ok())
    }
}

/// One file in all variants that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileTable {
    /// Its path below the prefix; its name, where the paths differ.
    pub(crate) name: String,
    /// Variants of which all numbers are the same stand together; that of the first variant first.
    pub(crate) rows: Vec<FileRow>,
    /// Variants of which files were looked at, and which do not have this one.
    pub(crate) absent: Vec<String>,
}

/// A file in some variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRow {
    pub(crate) variants: Vec<String>,
    /// Its path below the prefix of the first of them.
    pub(crate) path: String,
    pub(crate) numbers: FileNumbers,
}

/// What is said of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct FileNumbers {
    pub(crate) size_bytes: u64,
    /// Machine code; none if that was not read.
    pub(crate) text_bytes: Option<u64>,
    /// Relocations that the loader makes, packed ones (RELR) among them.
    pub(crate) relocations: u64,
    /// Of these, relative ones, packed or not: they need no symbol.
    pub(crate) relative: u64,
    /// Of these, packed ones.
    pub(crate) relr: u64,
    /// Slots for calls through the PLT.
    pub(crate) jump_slots: u64,
    /// Of these, for functions of this very file.
    pub(crate) own_jump_slots: u64,
    /// Slots for addresses of symbols.
    pub(crate) glob_dat: u64,
    /// Whether references to own symbols stay inside the file (`-Bsymbolic`); none if that was not read.
    pub(crate) symbolic: Option<bool>,
    /// Whether the loader writes to its code.
    pub(crate) textrel: Option<bool>,
}

/// What running a workload under observation showed, over all variants.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct TraceTable {
    pub(crate) workload: String,
    /// Whose doing it is: a service's, while the workload was run; none: the workload's own command's.
    pub(crate) service: Option<String>,
    /// System calls of which the counts differ between variants, that with the largest difference first.
    pub(crate) differing: Vec<String>,
    /// Variants with the same counts stand together; those of the first variant first.
    pub(crate) profiles: Vec<Profile>,
    /// Variants that run the same files stand together, in the same order.
    pub(crate) executed: Vec<Executed>,
    /// Paths that some variants opened, or looked for in vain, and others did not; sorted.
    pub(crate) paths: Vec<PathDifference>,
}

/// What some variants did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Profile {
    pub(crate) variants: Vec<String>,
    pub(crate) tasks: u64,
    pub(crate) total: Calls,
    /// Of each call whose count differs between variants, how often it was made.
    pub(crate) calls: BTreeMap<String, Calls>,
    /// Of a service: what its processes did that began while it was watched; none if none did.
    pub(crate) children: Option<PerChild>,
}

/// What processes of a service did on average that began while it was watched: one for each connection, if it forks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct PerChild {
    pub(crate) processes: u64,
    /// System calls of one of them, on average.
    pub(crate) all: f64,
    /// Of these, each whose count differs between variants.
    pub(crate) calls: BTreeMap<String, f64>,
}

/// Which files some variants really run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Executed {
    pub(crate) variants: Vec<String>,
    /// The files that were mapped to be run; those of the prefix first.
    pub(crate) files: Vec<String>,
    /// Of those outside the prefix, what the first variant does not run.
    pub(crate) more: Vec<String>,
    /// Of what the first variant runs outside the prefix, what these do not.
    pub(crate) fewer: Vec<String>,
}

/// A path with which variants dealt differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PathDifference {
    /// The path; `$PREFIX` stands for that of the variant.
    pub(crate) path: String,
    /// Variants that found it.
    pub(crate) found_by: Vec<String>,
    /// Variants that looked for it in vain, and never found it.
    pub(crate) missed_by: Vec<String>,
    /// How often the first of either looked for it, or opened it.
    pub(crate) times: u64,
}

/// What could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotGathered {
    /// The workload that was to be run, if one was.
    pub(crate) workload: Option<String>,
    /// The service beside it, if it is only that.
    pub(crate) service: Option<String>,
    pub(crate) variants: Vec<String>,
    pub(crate) why: String,
    pub(crate) what: Unseen,
}

/// What there is nothing of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unseen {
    /// The files of builds.
    Files,
    /// A traced run.
    Trace,
    /// Instructions.
    Counts,
    /// Of instructions, who called whom and which file they are in.
    Calls,
    /// A run that the kernel watched.
    Kernel,
    /// Of such a run, all but the numbers of system calls.
    KernelTimes,
    /// Runs that were sampled.
    Samples,
}

/// A counted difference, and its causes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Diagnosis {
    pub(crate) variant: String,
    pub(crate) against: String,
    pub(crate) workload: String,
    /// The difference by the deciding metric; none if none was decided.
    pub(crate) claim: Option<Claim>,
    /// The largest first; what works against the difference is none.
    pub(crate) causes: Vec<Cause>,
}

/// What a difference comes from, or may come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cause {
    pub(crate) what: What,
    /// Its share of the difference in instructions, in tenths of a percent; none if it is none of them.
    pub(crate) permille: Option<i64>,
    /// How much time it is: of a watched run, if it is the kernel's; none if that is not known.
    pub(crate) time: Option<Interval>,
    /// How often the kernel did it in what was compared with, and in the variant.
    pub(crate) counts: Option<[u64; 2]>,
    pub(crate) standing: Standing,
    /// The decided pairs of variants that isolate it.
    pub(crate) isolated: Vec<Isolation>,
}

/// What a cause is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum What {
    /// A group of functions that is known by name.
    Mechanism(Mechanism),
    /// A function of this name.
    Function(String),
    /// Work of the kernel, or waiting for it.
    Kernel(KernelWork),
    /// The same instructions at another speed.
    Speed,
}

/// How much is known of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Standing {
    /// A pair of variants isolates it, and differs as it does.
    Shown,
    /// There is more of it in the side that needs more; no pair isolates it.
    Consistent,
    /// A pair isolates it, and does not differ so.
    Withdrawn,
    /// Its own cause is not known.
    Unexplained,
}

/// Two variants that differ in one factor, and in nearly nothing but a cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Isolation {
    pub(crate) variant: String,
    pub(crate) against: String,
    /// The share of the cause in their difference in instructions.
    pub(crate) permille: i64,
    /// Whether that which has more of it is shown to be slower.
    pub(crate) confirms: bool,
    /// How they compare by the deciding metric.
    pub(crate) claim: Claim,
}
