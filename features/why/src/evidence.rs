//! Evidence: what was gathered to explain a difference, and is never compared itself. It stands in the journal of the
//! study beside the trials; what it may mean is the analysis's word.

use crate::facts::{Content, FileFacts, Relocations};
use bakeoff_host::tracer::Census;
use bakeoff_model::record::{Failure, FeatureLine, Record};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// What it is about: the variant, and the workload where one was run for it.
    pub fn subject(&self) -> (&str, Option<&str>) {
        let workload = match &self.evidence {
            Evidence::Facts(_) => None,
            Evidence::Traced(traced) => Some(traced.workload.as_str()),
            Evidence::Missing { workload, .. } => workload.as_deref(),
        };
        (&self.variant, workload)
    }
}

/// The kind of its lines in a journal.
pub(crate) const LINE: &str = "evidence";

/// The last word on what each piece of evidence is about, in the order of the first.
pub fn of(record: &Record) -> Vec<EvidenceLine> {
    let mut all: Vec<EvidenceLine> = vec![];
    let lines = record.features.iter().filter(|line| line.kind() == LINE);
    // A line that cannot be read is as good as none: it is gathered again.
    for line in lines.filter_map(|line| line.fields::<EvidenceLine>().ok()) {
        match all.iter_mut().find(|known| known.subject() == line.subject()) {
            Some(known) => *known = line,
            None => all.push(line),
        }
    }
    all
}

impl EvidenceLine {
    /// As a line of a journal.
    pub(crate) fn line(&self) -> serde_json::Result<FeatureLine> {
        FeatureLine::new(LINE, self)
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
        /// The workload that was to be run, if one was.
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
    /// What each of its services did, by name, while the command was run; of processes that began meanwhile all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services: BTreeMap<String, Census>,
    /// Services of which nothing is known, and why not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services_unseen: BTreeMap<String, String>,
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

    #[test]
    fn the_last_word_on_each_subject_counts() {
        let mut record = Record::new(bakeoff_model::record::StudyLine::default());
        let traced = |ops| Evidence::of_trial(Traced { workload: "w".to_owned(), ops, ..Traced::default() });
        let missing = Evidence::Missing { workload: Some("w".to_owned()), why: "refused".to_owned() };
        for evidence in [Evidence::Facts(vec![]), missing, traced(1), traced(2)] {
            let line = EvidenceLine { session: 1, variant: "a".to_owned(), evidence };
            record.push(bakeoff_model::record::Line::Feature(line.line().unwrap()));
        }
        let last: Vec<Evidence> = of(&record).into_iter().map(|line| line.evidence).collect();
        assert_eq!(last, [Evidence::Facts(vec![]), traced(2)]);
    }
}
