//! Evidence: what was gathered to explain a difference, and is never compared itself. It stands in the journal of the
//! study beside the trials; what it may mean is the analysis's word.

use super::outcome::Failure;
use crate::facts::{Content, FileFacts, Relocations};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What was gathered of one variant at one time. A later line of the same [`EvidenceLine::subject`] replaces it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceLine {
    /// The session that gathered it.
    pub session: u32,
    /// The variant's display name.
    pub variant: String,
    /// What was found.
    pub evidence: Evidence,
}

impl EvidenceLine {
    /// What it is about: the variant, and the workload where one was executed for it.
    pub fn subject(&self) -> (&str, Option<&str>) {
        let workload = match &self.evidence {
            Evidence::Facts(_) => None,
            Evidence::Traced(traced) => Some(traced.workload.as_str()),
            Evidence::Missing { workload, .. } => workload.as_deref(),
        };
        (&self.variant, workload)
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// What files of its build say of themselves; paths are relative to the prefix, sorted. Without the names of slots,
    /// sections and program headers, of which there are too many for a journal.
    Facts(Vec<FileFacts>),
    /// What a diagnostic trial showed from inside.
    Traced(Box<Traced>),
    /// It could not be had.
    Missing {
        /// The workload that was to be executed, if one was.
        workload: Option<String>,
        /// Why not, in one line.
        why: String,
    },
}

impl Evidence {
    /// What a diagnostic trial showed.
    pub fn of_trial(traced: Traced) -> Self {
        Self::Traced(Box::new(traced))
    }

    /// Facts of a build's files, without what is too long for a journal.
    pub fn of_files(mut files: Vec<FileFacts>) -> Self {
        let brief = |relocations: &mut Relocations| {
            relocations.jump_slots.own_names = None;
            relocations.glob_dat.own_names = None;
        };
        for file in &mut files {
            match &mut file.content {
                Content::Elf(elf) => {
                    brief(&mut elf.relocations);
                    elf.sections.clear();
                    elf.segments.clear();
                }
                Content::Relocations(relocations) => brief(relocations),
                Content::Archive(_) => {}
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Self::Facts(files)
    }
}

/// What a diagnostic trial showed: one execution of a workload that was stopped at every system call, alone on the
/// machine and after the measured trials. It takes many times as long, so that no time is kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Traced {
    /// The workload.
    pub workload: String,
    /// Why it failed, if it did; what was seen until then is kept.
    pub failure: Option<Failure>,
    /// Ops that it marked; 0 if it marks none.
    #[serde(default)]
    pub ops: u64,
    /// What the workload's own command did, from the first execution of its program on.
    #[serde(flatten)]
    pub command: Census,
    /// What each of its services did, by name, while the command was executed; of processes that began meanwhile all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services: BTreeMap<String, Census>,
    /// Services of which nothing is known, and why not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services_unseen: BTreeMap<String, String>,
}

/// What a program did, and all processes that came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Census {
    /// Processes and threads that it consisted of, itself among them.
    pub tasks: u64,
    /// System calls by name, of all processes.
    pub syscalls: BTreeMap<String, Calls>,
    /// Of all this, what was done by processes that began meanwhile.
    #[serde(default)]
    pub children: Children,
    /// Files that were mapped when a process ended or executed another program, sorted by path; executable mappings say
    /// which libraries were really there.
    pub mapped: Vec<Mapped>,
    /// Paths that were opened or looked for, sorted.
    pub opened: Vec<Opened>,
    /// How often a path was opened or looked for that is not among these: there were too many of them.
    #[serde(default)]
    pub opened_left_out: u64,
}

/// Processes that began while a program was watched: the program's own first process is none of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Children {
    /// How many; threads are not counted.
    pub processes: u64,
    /// Their system calls by name.
    pub syscalls: BTreeMap<String, Calls>,
}

/// How often a system call was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Calls {
    /// All of them.
    pub count: u64,
    /// Those that returned an error.
    pub errors: u64,
}

impl AddAssign for Calls {
    fn add_assign(&mut self, more: Self) {
        self.count += more.count;
        self.errors += more.errors;
    }
}

/// A file that was mapped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mapped {
    /// Its path; `$PREFIX` stands for the variant's prefix.
    pub path: String,
    /// Whether some of it can be executed.
    pub executable: bool,
}

/// A path that was opened or looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Opened {
    /// As it was named, with `$PREFIX` for the variant's prefix.
    pub path: String,
    /// How often it was there.
    pub found: u64,
    /// How often it was not, or could not be opened.
    pub missed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{ElfFacts, Section, Segment};

    #[test]
    fn facts_in_a_journal_have_counts_and_no_lists_of_names() {
        let file = |path: &str, content| FileFacts { path: path.to_owned(), size_bytes: 1, content };
        let mut relocations = Relocations::default();
        for slots in [&mut relocations.jump_slots, &mut relocations.glob_dat] {
            (slots.total, slots.own, slots.own_names) = (2, 1, Some(vec!["own".to_owned()]));
        }
        let elf = ElfFacts {
            relocations: relocations.clone(),
            sections: vec![Section::default()],
            segments: vec![Segment::default()],
            ..ElfFacts::default()
        };
        let files =
            vec![file("b", Content::Elf(Box::new(elf))), file("a", Content::Relocations(Box::new(relocations)))];
        let Evidence::Facts(files) = Evidence::of_files(files) else { panic!("they are facts") };
        let [Content::Relocations(first), Content::Elf(elf)] = [&files[0].content, &files[1].content] else {
            panic!("{files:?}")
        };
        for relocations in [first, &elf.relocations] {
            for slots in [&relocations.jump_slots, &relocations.glob_dat] {
                assert_eq!((slots.total, slots.own, &slots.own_names), (2, 1, &None));
            }
        }
        assert!(elf.sections.is_empty() && elf.segments.is_empty());
    }
}
