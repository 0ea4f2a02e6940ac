//! Findings about evidence: what was gathered of the variants, side by side, and which decided differences it may
//! explain. Plain serialisable values, like the rest. A cause is never more than consistent with a difference, unless a
//! pair of variants isolates it.

use crate::account::result::Account;
use bakeoff_host::tracer::Calls;
use bakeoff_judge::findings::{Claim, Comparison, Findings};
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
    /// One for each decided difference between the baseline and a variant that differs from it in one factor, where
    /// evidence was gathered of both; in the order of the tables.
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

impl Gathered {
    /// The account of the pair that a diagnosis is of, on its workload.
    pub(crate) fn account_of(&self, diagnosis: &Diagnosis) -> Option<&Account> {
        let of_it = |pair: &&PairAccount| {
            (&pair.variant, &pair.against) == (&diagnosis.variant, &diagnosis.against)
                && pair.account.workload == diagnosis.claim.workload
        };
        self.accounts.iter().find(of_it).map(|pair| &pair.account)
    }

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
    /// Whether its instructions were to be counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_counts: bool,
    /// Whether the kernel was to watch it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_kernel: bool,
}

/// A decided difference, and what of the evidence is consistent with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Diagnosis {
    pub(crate) variant: String,
    pub(crate) against: String,
    /// The factor in which they differ, and in no other.
    pub(crate) factor: String,
    pub(crate) claim: Claim,
    /// What is consistent with it; empty: nothing that was gathered explains it.
    pub(crate) causes: Vec<Cause>,
    /// All that was gathered of both is the same.
    pub(crate) is_same: bool,
}

/// Evidence that differs in the direction of a decided difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cause {
    pub(crate) kind: CauseKind,
    /// Its number in what was compared with, and in the variant.
    pub(crate) numbers: [u64; 2],
    /// The largest part of the difference that it can be, if that is not all: nothing explains the rest.
    pub(crate) most_of_it: Option<Ceiling>,
    /// What it is about most of all: a file, or names of system calls.
    pub(crate) about: Vec<String>,
    /// Variants in which it is as in what was compared with, although they differ from the variant in the same single
    /// factor only, and how they compare with the variant.
    pub(crate) isolated: Vec<Isolation>,
}

/// How much of a difference something can be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ceiling {
    /// The part, below 1.
    pub(crate) share: f64,
    /// What one of it is thought to take, which is much, in seconds.
    pub(crate) each_s: f64,
}

/// What kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CauseKind {
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
pub(crate) struct Isolation {
    /// The variant without it.
    pub(crate) variant: String,
    /// Its number there.
    pub(crate) number: u64,
    /// How it compares with the variant that has it: where the cause is a cause, it makes up for it.
    pub(crate) comparison: Comparison,
}
