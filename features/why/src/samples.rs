//! Samples: in which functions the user time of a workload is, by the kernel's clock. After counting, `explain` runs both sides of
//! a pair again in blocks, and each run is sampled. How that is done is in [`gather`] and [`probe`]; what blocks show is in
//! `account/samples.rs`.

pub(crate) mod gather;
mod probe;

use crate::counts::CodeKind;
use bakeoff_model::record::Record;
use serde::{Deserialize, Serialize};

/// The kind of its lines in a journal.
pub(crate) const LINE: &str = "samples";

/// A block: each of some variants ran a workload once, and was sampled.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SamplesLine {
    /// The session that sampled.
    pub session: u32,
    /// The workload.
    pub workload: String,
    /// The `$LENGTH` of the runs; none if it was not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<String>,
    /// The number of the block, from 1.
    pub block: u32,
    /// How many blocks are meant to be sampled.
    pub blocks: u32,
    /// The variants' display names; that which the others are compared with is the first.
    pub variants: Vec<String>,
    /// What was sampled of each of them; empty if nothing could be.
    pub runs: Vec<Sampled>,
    /// Why nothing could be sampled, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What was sampled in one run, of all of its processes together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sampled {
    /// The user time that a sample stands for.
    pub period_ns: u64,
    /// By function; the sum of these and `unnamed` is all.
    pub functions: Vec<FunctionSamples>,
    /// Samples in code that is in no file.
    #[serde(default)]
    pub unnamed: u64,
    /// Samples that there was no room for.
    #[serde(default)]
    pub lost: u64,
}

/// The samples in a function.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FunctionSamples {
    /// Its name as in the symbol table; of a stub of the PLT, that of the function that it leads to.
    pub name: String,
    /// The program or library; `$PREFIX` stands for that of the variant.
    pub file: String,
    /// Of a static function, its source file as the symbol table has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What kind of code it is.
    #[serde(default)]
    pub kind: CodeKind,
    /// How many samples are in it, and not in functions that it calls.
    pub samples: u64,
}

impl SamplesLine {
    /// All blocks, in the order of the journal; of those that could not be sampled, the last word on each workload.
    pub fn of(record: &Record) -> Vec<Self> {
        let lines = record.features.iter().filter(|line| line.kind() == LINE);
        // A line that cannot be read is as good as none: it is sampled again.
        let mut all: Vec<Self> = vec![];
        for line in lines.filter_map(|line| line.fields::<Self>().ok()) {
            let is_same = |known: &Self| known.workload == line.workload && known.variants == line.variants;
            all.retain(|known| known.missing.is_none() || !is_same(known));
            all.push(line);
        }
        all
    }

    /// What was sampled of two variants in this block.
    pub(crate) fn runs_of(&self, variants: [&str; 2]) -> Option<[&Sampled; 2]> {
        let run = |variant: &str| {
            let place = self.variants.iter().position(|known| known == variant)?;
            self.runs.get(place)
        };
        let [Some(before), Some(after)] = variants.map(run) else { return None };
        Some([before, after])
    }
}
