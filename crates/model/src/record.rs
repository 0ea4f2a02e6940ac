//! What a journal holds: its lines, and the [`Record`] that a list of lines amounts to. The same types travel from a
//! lab to a journal, and stand in a test's fixtures. Only what happened is stored, in base units and unrounded;
//! nothing here is derived, and nothing judges.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

mod away;
mod basis;
mod block;
mod boot;
mod building;
mod factor_line;
mod feature_line;
mod looks;
mod made;
mod outcome;
mod output;
mod parted;
mod place;
mod reading;
mod redact;
mod stopped;
mod study_line;
mod suites;
mod trial;

pub use away::{Attempt, Away};
pub use basis::{Basis, CHANGED, Change, VARIANT_KEY};
pub use block::{AwayKey, Block};
pub use boot::{Boot, Drawn};
pub use building::{BUILDING_METRICS, Building};
pub use factor_line::FactorLine;
pub use feature_line::FeatureLine;
pub use looks::{Changed, Checked};
pub use made::MadeLine;
pub use outcome::{Failure, Outcome};
pub use output::{HASHED_BYTES, Output, OutputDifference};
pub use place::{Place, Unavailable};
pub use reading::{Contradiction, Odd, Oddity, Reading};
pub use redact::{Redaction, Removed};
pub use stopped::{BLOCKS_OF_FAILING, Stopped, is_left_out};
pub use study_line::{Excluded, SameIn, SharedLine, StudyLine, VariantLine};
pub use trial::{MOST_REPEATS, Trial};

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The version of the journal's format that this program writes. Readers refuse newer ones. Since 2 each line carries a
/// checksum, and a line may say that trials before it do not count.
pub const FORMAT: u32 = 2;

/// The name of the hidden twin of the baseline, in blocks and trials. No variant may have it.
pub const TWIN: &str = "twin";

/// How the digest of a layout begins that matches no other of its block.
pub const UNMATCHED: &str = "unmatched-";

/// The name of the baseline in a layout of its own, where those of the variants match: it shows what layouts alone are worth.
/// No variant may have it.
pub const RELAID: &str = "relaid";

/// Whether that name is one of the baseline besides its own.
pub fn is_baseline_again(name: &str) -> bool {
    name == TWIN || name == RELAID
}

/// The most that the environment of a trial is padded with, in bytes: a page.
pub const MOST_PADDING_BYTES: u32 = 4096;

/// As long is the line of a trial, mostly.
const USUAL_BYTES: usize = 1024;

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The first line: what was planned. Another one later on says how to judge from then on.
    Study(Box<StudyLine>),
    /// A command took the study up, or took it up again.
    Session(Session),
    /// Something was made for variants, was there already, or could not be made.
    #[serde(rename = "build")]
    Made(MadeLine),
    /// A block begins; its order is fixed from here on.
    Block(Block),
    /// A trial ended.
    Trial(Trial),
    /// A boot ended, with all of its trials: they are there together, or not at all.
    Boot(Boot),
    /// A block of another machine, with all of its trials.
    Away(Box<Away>),
    /// A variant failed in each of its first blocks, and stops.
    Stopped(Stopped),
    /// What trials run was looked at, and is as it was.
    Checked(Checked),
    /// What trials run was found to be changed.
    Changed(Changed),
    /// Somebody has set the system's clock.
    ClockSet(ClockSet),
    /// A line of a feature, or of a later version: kept as it is, in order, and read by nobody else.
    #[serde(skip)]
    Feature(FeatureLine),
}

impl Line {
    /// A line from its JSON.
    ///
    /// # Errors
    /// If it is no object with a `line`, or a line of the core whose fields are not as they should be.
    pub fn read(text: &[u8]) -> serde_json::Result<Self> {
        // serde reads a tagged enum twice, by way of values of its own: slower, and much code for each kind.
        let kind = FeatureLine::kind_of(text)?;
        Ok(match kind.as_str() {
            "study" => Self::Study(serde_json::from_slice(text)?),
            "session" => Self::Session(serde_json::from_slice(text)?),
            "build" => Self::Made(MadeLine::read(text)?),
            "block" => Self::Block(serde_json::from_slice(text)?),
            "trial" => Self::Trial(serde_json::from_slice(text)?),
            "boot" => Self::Boot(serde_json::from_slice(text)?),
            "away" => Self::Away(serde_json::from_slice(text)?),
            "stopped" => Self::Stopped(serde_json::from_slice(text)?),
            "checked" => Self::Checked(serde_json::from_slice(text)?),
            "changed" => Self::Changed(serde_json::from_slice(text)?),
            "clock-set" => Self::ClockSet(serde_json::from_slice(text)?),
            _ => Self::Feature(FeatureLine::of(kind, text)),
        })
    }

    /// Its JSON, without a line feed.
    ///
    /// # Errors
    /// Passes on the serialiser's word, should a value have no form in JSON.
    pub fn write(&self) -> serde_json::Result<Vec<u8>> {
        match self {
            Self::Feature(line) => Ok(line.text().as_bytes().to_vec()),
            line => {
                let mut bytes = Vec::with_capacity(USUAL_BYTES);
                serde_json::to_writer(&mut bytes, line)?;
                Ok(bytes)
            }
        }
    }
}

/// A command took up the study.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Session {
    /// 1 for the first, then counting up.
    pub session: u32,
    /// When, in seconds since 1970-01-01 UTC.
    pub started_unix_s: f64,
    /// Blocks wanted for each workload × condition, as of this session; at most, if there is a rule for stopping earlier.
    pub blocks: u32,
    pub place: Place,
    /// Peak memory of the launcher, in bytes: a trial that needs less shows this. None if it is unknown.
    #[serde(default)]
    pub memory_floor_bytes: Option<f64>,
    /// What this place holds of the conditions that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surroundings: Vec<Surrounding>,
    /// Metrics that cannot be measured here, by the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
}

/// One part of a condition, and whether it is as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surrounding {
    pub condition: String,
    /// What was asked for, in words: `addresses not randomised`.
    pub what: String,
    pub state: Held,
}

/// Whether a part of a condition is as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// Bakeoff sees to it.
    Held,
    /// It is measured in every trial, by this metric, but not seen to.
    Observed(String),
    /// It cannot be had here, for this reason; trials run without it.
    Unavailable(String),
}

/// The system's clock went on in a step: times of day before and after it do not fit. No duration comes from it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClockSet {
    /// The session that saw it.
    pub session: u32,
    /// By how many seconds; below 0 if it was set back.
    pub by_s: f64,
}

/// All that a journal holds about a study.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    pub study: StudyLine,
    /// The commands that run it, oldest first.
    pub sessions: Vec<Session>,
    /// The last word on everything that was made.
    pub made: Vec<MadeLine>,
    /// The blocks, in the order in which they began.
    pub blocks: Vec<Block>,
    /// The trials, in the order in which they ended.
    pub trials: Vec<Trial>,
    /// Boots, in the order in which they ended, without their trials.
    pub boots: Vec<Boot>,
    /// The blocks of other machines, and who ran them.
    pub away: BTreeMap<AwayKey, Attempt>,
    /// Blocks of other machines that were run once more: these executions do not count.
    pub run_again: BTreeSet<(AwayKey, Attempt)>,
    /// Variants that stopped; of each variant, workload and condition the last word.
    pub stopped: Vec<Stopped>,
    /// Lines of features, in their order.
    pub features: Vec<FeatureLine>,
    /// How often the system's clock was set while trials were run.
    pub clock_set: Vec<ClockSet>,
    /// The last good look at what trials run; none in journals of versions that did not look.
    pub checked: Option<Checked>,
    /// In a record in parts ([`Record::in_parts`]): the workloads that are benchmarks, each with its suite.
    pub suites: BTreeMap<String, String>,
    /// The place of the first trial after the last look.
    unchecked_from: usize,
}

impl Record {
    /// An empty record of a study.
    pub fn new(study: StudyLine) -> Self {
        Self { study, ..Self::default() }
    }

    /// Whether nobody takes part in a block any more.
    pub fn is_left_out(&self, cell: (&str, &str), block: u32) -> bool {
        is_left_out(&self.stopped, self.study.variants.iter().map(|variant| variant.name.as_str()), cell, block)
    }

    /// Adds a line. A second word on what was made, or on the study, replaces the first.
    pub fn push(&mut self, line: Line) {
        match line {
            Line::Study(study) => self.study = *study,
            Line::Session(session) => self.sessions.push(session),
            Line::Made(made) => match self.made.iter_mut().find(|known| known.digest == made.digest) {
                Some(known) => *known = made,
                None => self.made.push(made),
            },
            Line::Block(block) => self.blocks.push(block),
            Line::Trial(trial) => self.trials.push(trial),
            Line::Boot(mut boot) => {
                self.trials.append(&mut boot.trials);
                self.boots.push(boot);
            }
            Line::Away(away) => self.take_away(*away),
            Line::Stopped(line) => {
                self.stopped.retain(|known| !known.is_of_cell_of(&line));
                self.stopped.extend((line.from > 0).then_some(line));
            }
            Line::Feature(line) => self.features.push(line),
            Line::Checked(line) => {
                self.checked = Some(line);
                self.unchecked_from = self.trials.len();
            }
            Line::Changed(line) => self.take_changed(&line),
            Line::ClockSet(line) => self.clock_set.push(line),
        }
    }

    /// The number of the session that comes next. A line may be lost, so a trial's session counts as well as a session's own.
    pub fn next_session(&self) -> u32 {
        let known = self.sessions.iter().map(|session| session.session);
        known.chain(self.trials.iter().map(|trial| trial.session)).max().unwrap_or(0) + 1
    }

    /// Trials that ended after the last look at what they run.
    pub fn unchecked(&self) -> &[Trial] {
        self.trials.get(self.unchecked_from..).filter(|_| self.checked.is_some()).unwrap_or_default()
    }

    /// The blocks that no other machine ran.
    pub fn blocks_of_here(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| !self.away.contains_key(&block.key()))
    }

    /// Whether another machine ran a trial.
    fn is_away(&self, trial: &Trial) -> bool {
        !self.away.is_empty() && self.away.contains_key(&(trial.block, trial.workload.clone(), trial.condition.clone()))
    }

    /// The places of the trials that a line makes void.
    fn voided_by(&self, line: &Changed) -> Vec<usize> {
        fn block(trial: &Trial) -> (u32, &str, &str) {
            (trial.block, &trial.workload, &trial.condition)
        }
        // Clocks of other machines are other clocks.
        let is_late =
            |trial: &&Trial| line.from_unix_s.is_some_and(|from| trial.ended_unix_s() >= from) && !self.is_away(trial);
        let late: BTreeSet<_> = self.trials.iter().filter(is_late).map(block).collect();
        let is_void = |place: usize, trial: &Trial| {
            place >= self.unchecked_from
                || (line.whole_session && trial.session == line.session)
                || late.contains(&block(trial))
        };
        let trials = self.trials.iter().enumerate();
        trials.filter_map(|(place, trial)| is_void(place, trial).then_some(place)).collect()
    }

    fn take_away(&mut self, away: Away) {
        let key = away.key();
        match self.away.get(&key).cloned() {
            Some(known) if known == away.from => return,
            Some(known) if known.attempt <= away.from.attempt => {
                self.run_again.insert((key, away.from));
                return;
            }
            Some(known) => {
                self.run_again.insert((key.clone(), known));
                self.forget_block(&key);
            }
            None => {}
        }
        // A look is at the files of one machine: it says nothing of another's trials.
        let is_all_checked = self.unchecked_from == self.trials.len();
        self.away.insert(key, away.from);
        self.blocks.push(away.block);
        self.trials.extend(away.trials);
        if is_all_checked {
            self.unchecked_from = self.trials.len();
        }
    }

    fn forget_block(&mut self, key: &AwayKey) {
        let is_of =
            |block: u32, workload: &str, condition: &str| (block, workload, condition) == (key.0, &key.1, &key.2);
        self.blocks.retain(|block| !is_of(block.block, &block.workload, &block.condition));
        let checked = self.trials.iter().take(self.unchecked_from);
        let forgotten = checked.filter(|trial| is_of(trial.block, &trial.workload, &trial.condition)).count();
        self.unchecked_from -= forgotten;
        self.trials.retain(|trial| !is_of(trial.block, &trial.workload, &trial.condition));
    }

    fn take_changed(&mut self, line: &Changed) {
        let why = line.why();
        for place in self.voided_by(line) {
            self.trials[place].outcome = Outcome::Void(why.clone());
        }
        self.unchecked_from = self.trials.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_since_the_last_good_look_are_void_and_no_others() {
        let mut record = Record::new(StudyLine::default());
        let trial = || Line::Trial(Trial::default());
        let checked = || Line::Checked(Checked::default());
        let changed = |files: &[&str]| {
            let files = files.iter().map(|file| file.to_string()).collect();
            Line::Changed(Changed { session: 1, files, whole_session: false, from_unix_s: None })
        };
        record.push(trial());
        assert_eq!(record.unchecked(), [], "a version that does not look says nothing");
        record.push(checked());
        record.push(trial());
        assert_eq!(record.unchecked().len(), 1);
        record.push(checked());
        assert_eq!(record.unchecked(), []);
        record.push(trial());
        record.push(changed(&["bin/p"]));
        assert_eq!(record.unchecked(), []);
        record.push(trial());
        record.push(changed(&["a", "b"]));
        record.push(changed(&[]));
        let outcomes: Vec<_> = record.trials.iter().map(|trial| trial.outcome.clone()).collect();
        let void = |why: &str| Outcome::Void(why.to_owned());
        let expect = [
            Outcome::Ok,
            Outcome::Ok,
            void("bin/p was changed during the block"),
            void("a and 1 more were changed during the block"),
        ];
        assert_eq!(outcomes, expect);
        record.push(Line::Trial(Trial { session: 2, ..Trial::default() }));
        record.push(Line::Trial(Trial { session: 3, ..Trial::default() }));
        record.push(checked());
        record.push(Line::Changed(Changed {
            session: 2,
            files: vec!["x".to_owned()],
            whole_session: true,
            from_unix_s: None,
        }));
        let of = |session| record.trials.iter().find(|trial| trial.session == session).map(|trial| &trial.outcome);
        assert_eq!(of(2), Some(&void("x was changed during the block")));
        assert_eq!(of(3), Some(&Outcome::Ok));
    }

    #[test]
    fn blocks_that_ended_after_a_change_are_void_as_a_whole() {
        let mut record = Record::new(StudyLine::default());
        for (block, start) in [(1, 0.0), (1, 1.0), (2, 2.0), (2, 3.0), (3, 4.0), (3, 5.0)] {
            let measurements = [("wall", 0.5)].into();
            record.push(Line::Trial(Trial { block, started_unix_s: start, measurements, ..Trial::default() }));
        }
        record.push(Line::Checked(Checked::default()));
        record.push(Line::Changed(Changed { files: vec!["x".into()], from_unix_s: Some(3.2), ..Changed::default() }));
        let ok = |block| record.trials.iter().filter(|t| t.block == block).all(|t| t.outcome == Outcome::Ok);
        assert_eq!([1, 2, 3].map(ok), [true, false, false]);
        assert_eq!(record.trials[2].outcome, Outcome::Void("x was changed before the end of the block".into()));
    }
}
