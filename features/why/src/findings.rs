//! Findings about evidence: what was gathered of the variants, side by side, and which decided differences it may
//! explain. Plain serialisable values, like the rest. A cause is never more than consistent with a difference, unless a
//! pair of variants isolates it.

use bakeoff_host::tracer::Calls;
use bakeoff_judge::findings::{Claim, Comparison, Findings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the section in findings.
pub(crate) const SECTION: &str = "evidence";

/// What was gathered, and what it may explain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Gathered {
    /// One table for each file that was looked at, over all variants.
    pub files: Vec<FileTable>,
    /// One for each workload that was run under observation, and after it one for each of its services.
    pub traces: Vec<TraceTable>,
    /// What could not be had, each reason once.
    pub missing: Vec<NotGathered>,
    /// One for each decided difference between the baseline and a variant that differs from it in one factor, where
    /// evidence was gathered of both; in the order of the tables.
    pub diagnoses: Vec<Diagnosis>,
}

impl Gathered {
    /// What findings have of it.
    pub fn of(findings: &Findings) -> Option<Self> {
        findings.sections.get(SECTION).and_then(|section| serde_json::from_value(section.clone()).ok())
    }
}

/// One file in all variants that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTable {
    /// Its path below the prefix; its name, where the paths differ.
    pub name: String,
    /// Variants of which all numbers are the same stand together; that of the first variant first.
    pub rows: Vec<FileRow>,
    /// Variants of which files were looked at, and which do not have this one.
    pub absent: Vec<String>,
}

/// A file in some variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRow {
    /// The variants, as planned.
    pub variants: Vec<String>,
    /// Its path below the prefix of the first of them.
    pub path: String,
    /// What is said of it.
    pub numbers: FileNumbers,
}

/// What is said of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileNumbers {
    /// Its size.
    pub size_bytes: u64,
    /// Machine code; none if that was not read.
    pub text_bytes: Option<u64>,
    /// Relocations that the loader makes, packed ones (RELR) among them.
    pub relocations: u64,
    /// Of these, relative ones, packed or not: they need no symbol.
    pub relative: u64,
    /// Of these, packed ones.
    pub relr: u64,
    /// Slots for calls through the PLT.
    pub jump_slots: u64,
    /// Of these, for functions of this very file.
    pub own_jump_slots: u64,
    /// Slots for addresses of symbols.
    pub glob_dat: u64,
    /// Whether references to own symbols stay inside the file (`-Bsymbolic`); none if that was not read.
    pub symbolic: Option<bool>,
    /// Whether the loader writes to its code.
    pub textrel: Option<bool>,
}

/// What running a workload under observation showed, over all variants.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TraceTable {
    /// The workload.
    pub workload: String,
    /// Whose doing it is: a service's, while the workload was run; none: the workload's own command's.
    pub service: Option<String>,
    /// System calls of which the counts differ between variants, that with the largest difference first.
    pub differing: Vec<String>,
    /// Variants with the same counts stand together; those of the first variant first.
    pub profiles: Vec<Profile>,
    /// Variants that run the same files stand together, in the same order.
    pub executed: Vec<Executed>,
    /// Paths that some variants opened, or looked for in vain, and others did not; sorted.
    pub paths: Vec<PathDifference>,
}

/// What some variants did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// The variants, as planned.
    pub variants: Vec<String>,
    /// Processes and threads.
    pub tasks: u64,
    /// All system calls together.
    pub total: Calls,
    /// Of each call whose count differs between variants, how often it was made.
    pub calls: BTreeMap<String, Calls>,
    /// Of a service: what its processes did that began while it was watched; none if none did.
    pub children: Option<PerChild>,
}

/// What processes of a service did on average that began while it was watched: one for each connection, if it forks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PerChild {
    /// How many there were.
    pub processes: u64,
    /// System calls of one of them, on average.
    pub all: f64,
    /// Of these, each whose count differs between variants.
    pub calls: BTreeMap<String, f64>,
}

/// Which files some variants really run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Executed {
    /// The variants, as planned.
    pub variants: Vec<String>,
    /// The files that were mapped to be run; those of the prefix first.
    pub files: Vec<String>,
    /// Of those outside the prefix, what the first variant does not run.
    pub more: Vec<String>,
    /// Of what the first variant runs outside the prefix, what these do not.
    pub fewer: Vec<String>,
}

/// A path with which variants dealt differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathDifference {
    /// The path; `$PREFIX` stands for that of the variant.
    pub path: String,
    /// Variants that found it.
    pub found_by: Vec<String>,
    /// Variants that looked for it in vain, and never found it.
    pub missed_by: Vec<String>,
    /// How often the first of either looked for it, or opened it.
    pub times: u64,
}

/// What could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotGathered {
    /// The workload that was to be run, if one was.
    pub workload: Option<String>,
    /// The service beside it, if it is only that.
    pub service: Option<String>,
    /// Of which variants.
    pub variants: Vec<String>,
    /// Why not.
    pub why: String,
}

/// A decided difference, and what of the evidence is consistent with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The variant.
    pub variant: String,
    /// What it was compared with.
    pub against: String,
    /// The factor in which they differ, and in no other.
    pub factor: String,
    /// The difference.
    pub claim: Claim,
    /// What is consistent with it; empty: nothing that was gathered explains it.
    pub causes: Vec<Cause>,
    /// All that was gathered of both is the same.
    pub is_same: bool,
}

/// Evidence that differs in the direction of a decided difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// What it is.
    pub kind: CauseKind,
    /// Its number in what was compared with, and in the variant.
    pub numbers: [u64; 2],
    /// The largest part of the difference that it can be, if that is not all: nothing explains the rest.
    pub most_of_it: Option<Ceiling>,
    /// What it is about most of all: a file, or names of system calls.
    pub about: Vec<String>,
    /// Variants in which it is as in what was compared with, although they differ from the variant in the same single
    /// factor only, and how they compare with the variant.
    pub isolated: Vec<Isolation>,
}

/// How much of a difference something can be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// The part, below 1.
    pub share: f64,
    /// What one of it is thought to take, which is much, in seconds.
    pub each_s: f64,
}

/// What kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// Relocations to be made when the program starts.
    Relocations,
    /// PLT slots of a file for its own functions.
    OwnSlots,
    /// System calls of the workload.
    SystemCalls,
    /// System calls of one op, those of services among them.
    CallsOfAnOp,
}

/// A variant without the cause, beside the one with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Isolation {
    /// The variant without it.
    pub variant: String,
    /// Its number there.
    pub number: u64,
    /// How it compares with the variant that has it: where the cause is a cause, it makes up for it.
    pub comparison: Comparison,
}
