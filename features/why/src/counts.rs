//! Counts: how many instructions one execution of a workload executed, by function and by who called whom. They are exact,
//! and say nothing of time. How they are had is in `counting/`; what they explain is in `account/`.

use bakeoff_model::record::{Failure, Record};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kind of its lines in a journal.
pub(crate) const LINE: &str = "counts";

/// What was counted of one variant on one workload. A later line of the same variant and workload replaces it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CountsLine {
    /// The session that counted.
    pub session: u32,
    /// The variant's display name.
    pub variant: String,
    /// The workload.
    pub workload: String,
    /// What was counted, the shortest length of the workload first; empty if nothing could be.
    pub counted: Vec<Counted>,
    /// The same of each service while the command ran.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services: BTreeMap<String, Vec<Counted>>,
    /// Why services could not be counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services_unseen: BTreeMap<String, String>,
    /// Why cachegrind counted, by the names of functions and without calls; none if our own tool did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cachegrind: Option<String>,
    /// Why nothing could be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl CountsLine {
    /// The last word on each variant and workload, in the order of the first. What cachegrind counted cannot be compared with
    /// counts by our own tool, and is left out if there are any.
    pub fn of(record: &Record) -> Vec<Self> {
        let mut all: Vec<Self> = vec![];
        let lines = record.features.iter().filter(|line| line.kind() == LINE);
        // A line that cannot be read is as good as none: it is counted again.
        for line in lines.filter_map(|line| line.fields::<Self>().ok()) {
            let is_same = |known: &&mut Self| (&known.variant, &known.workload) == (&line.variant, &line.workload);
            match all.iter_mut().find(is_same) {
                Some(known) => *known = line,
                None => all.push(line),
            }
        }
        if all.iter().any(|line| line.cachegrind.is_none() && line.missing.is_none()) {
            all.retain(|line| line.cachegrind.is_none());
        }
        all
    }

    /// What was counted of the command, or of a service; none if nothing could be.
    pub(crate) fn of_service(&self, service: Option<&str>) -> Option<&[Counted]> {
        let counted = match service {
            Some(name) => self.services.get(name)?,
            None => &self.counted,
        };
        self.missing.is_none().then_some(counted.as_slice())
    }
}

/// What was counted in one execution of a workload, with all of its processes together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Counted {
    /// The workload.
    pub workload: String,
    /// The value of `$LENGTH`; none if it was not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<String>,
    /// Why the execution failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What counted.
    pub instrument: Instrument,
    /// Ops that it marked; 0 if it marks none.
    #[serde(default)]
    pub ops: u64,
    /// Programs that were executed, those with most instructions first; cachegrind does not tell.
    pub programs: Vec<ProgramCount>,
    /// Functions that were executed, by file and name. Their instructions and those of `unnamed` are all there are.
    pub functions: Vec<FunctionCount>,
    /// Direct calls and jumps from one function to another.
    pub edges: Vec<Edge>,
    /// Instructions of code that is in no file: made while the program ran.
    #[serde(default)]
    pub unnamed: u64,
    /// Repetitions of string instructions (`rep movsb` and its like). They are counted, but are no instructions.
    #[serde(default)]
    pub repetitions: u64,
    /// The instructions of a second execution: how far it differs is the residue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<u64>,
}

/// An instrument that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instrument {
    /// Our tool for valgrind: exact, with calls.
    #[default]
    Blockcount,
    /// valgrind's cachegrind: by the names of functions, without files and calls.
    Cachegrind,
}

/// What the processes of one program executed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProgramCount {
    /// Its path; `$PREFIX` stands for that of the variant.
    pub path: String,
    /// Whether these processes were forked and went on with the program of their parent.
    pub is_forked: bool,
    /// How many processes.
    pub processes: u64,
    /// Their instructions.
    pub instructions: u64,
}

/// A function, as it was executed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FunctionCount {
    /// Its name as in the symbol table; of a stub of the PLT, that of the function that it leads to.
    pub name: String,
    /// The program or library; `$PREFIX` stands for that of the variant.
    pub file: String,
    /// Of a static function, its source file as the symbol table has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What kind of code it is.
    #[serde(default, skip_serializing_if = "is_own")]
    pub kind: CodeKind,
    /// How often it was entered at its first instruction.
    pub calls: u64,
    /// Its instructions, without those of functions that it calls.
    pub instructions: u64,
    /// Of these, instructions that do nothing but take the address of something that this very file exports, from its global
    /// offset table or not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub own_addresses: u64,
    /// A digest of its machine code without addresses; none of a short function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u64>,
}

/// A kind of code, by where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodeKind {
    /// A function.
    #[default]
    Function,
    /// A stub of the PLT that leads to a function of the same file.
    OwnStub,
    /// A stub of the PLT that leads to a function of another file.
    Stub,
    /// Code of a file that no symbol names.
    Nameless,
}

/// Direct calls from a function to another: places in [`Counted::functions`], and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edge(pub u32, pub u32, pub u64);

impl Counted {
    /// All instructions.
    pub fn instructions(&self) -> u64 {
        // Of a journal that somebody else wrote, they may be too many for a number.
        let functions = self.functions.iter().map(|function| function.instructions);
        functions.fold(self.unnamed, u64::saturating_add)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_own(kind: &CodeKind) -> bool {
    *kind == CodeKind::Function
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
