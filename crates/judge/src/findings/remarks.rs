//! What a feature says of variants besides what trials show: their doubts in its words, those that it could not make, how
//! large they are. The core knows where each remark belongs and how much it weighs.

use super::{Caveat, Comparison, Findings, Subject};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A doubt of a feature about a comparison or a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objection {
    /// A stable name for machines.
    pub kind: String,
    /// The sentence, without its stop.
    pub text: String,
    /// What the screen shows of it, if anything: of a study's that it may be wrong, of a comparison's that it holds in part.
    pub line: Option<String>,
    /// Whether both sides of the comparison are the same program.
    pub same_program: bool,
}

/// A reason why a comparison may have no meaning, for the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// A stable name for machines.
    pub kind: String,
    /// A line.
    pub text: String,
    /// A few words before the answer.
    pub short: String,
    /// The variants that are not what they are called because a word in them has no effect.
    pub idle: Option<Idle>,
}

/// A word without effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idle {
    pub word: String,
    pub variants: Vec<String>,
}

/// A variant that could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmade {
    pub variant: String,
    /// Whether the study says so itself.
    pub is_foreseen: bool,
}

/// What a variant takes before it can run, measured against the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    pub variant: String,
    /// The verb: `builds`.
    pub verb: String,
    /// The time that it takes.
    pub time: Comparison,
    /// Bytes on disk, the baseline's first, if known.
    pub bytes: Option<[u64; 2]>,
}

/// All that is known of variants besides trials. JSON has it as doubts and sections.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Besides {
    /// Why there can be no answer.
    pub no_answer: Option<String>,
    /// Variants that could not be made.
    pub unmade: Vec<Unmade>,
    /// Reasons why comparisons may have no meaning.
    pub alarms: Vec<Alarm>,
    /// What variants take before they can run.
    pub costs: Vec<Cost>,
    /// Bytes of the files of variants that the study asks for.
    pub sizes: BTreeMap<String, u64>,
    /// Files of this machine that sections name: others get their last folder and name only.
    pub files: Vec<String>,
}

impl Besides {
    /// Whether a variant could not be made.
    pub fn is_unmade(&self, variant: &str) -> bool {
        self.unmade.iter().any(|unmade| unmade.variant == variant)
    }
}

/// What a feature says of findings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Remarks {
    pub besides: Besides,
    /// Doubts about the study.
    pub study: Vec<Objection>,
    /// Doubts about a variant against the baseline, by its name.
    pub variants: Vec<(String, Vec<Objection>)>,
    /// Doubts about effects. Each subject is there once.
    pub effects: Vec<(Subject, Vec<Objection>)>,
}

impl Findings {
    /// Adds what a feature says of them.
    pub fn take(&mut self, remarks: Remarks) {
        let caveats = |of: Vec<Objection>| of.into_iter().map(Caveat::Of).collect::<Vec<_>>();
        for (variant, objections) in remarks.variants {
            let caveats = caveats(objections);
            let rows = self.tables.iter_mut().flat_map(|table| &mut table.rows);
            let comparisons = rows.filter(|row| row.variant == variant).filter_map(|row| row.comparison.as_mut());
            comparisons.for_each(|comparison| comparison.caveats.extend(caveats.iter().cloned()));
        }
        for (subject, objections) in remarks.effects {
            let caveats = caveats(objections);
            let effects = self.effects.iter_mut().flat_map(|family| &mut family.effects);
            let comparisons = effects.filter(|effect| effect.subject == subject);
            let comparisons = comparisons.filter_map(|effect| effect.comparison.as_mut());
            comparisons.for_each(|comparison| comparison.caveats.extend(caveats.iter().cloned()));
        }
        // The gravest come first.
        let at = self.caveats.iter().take_while(|caveat| caveat.is_about_everything()).count();
        self.caveats.splice(at..at, caveats(remarks.study));
        let Besides { no_answer, unmade, alarms, costs, sizes, files } = remarks.besides;
        let besides = &mut self.besides;
        besides.no_answer = besides.no_answer.take().or(no_answer);
        besides.unmade.extend(unmade);
        besides.alarms.extend(alarms);
        besides.costs.extend(costs);
        besides.sizes.extend(sizes);
        besides.files.extend(files);
    }
}
