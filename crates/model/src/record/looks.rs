//! What a look at the programs and files of trials found, between two blocks: they are as they were, or they are not. Here
//! are the two lines, and what they mean for the trials before them. Nothing here looks.

use super::{Outcome, Record, Trial};
use serde::{Deserialize, Serialize};

/// Programs and files of trials are as they were: the trials so far count for good.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checked {
    /// The session that looked.
    pub session: u32,
    /// A digest of what the system tells of all these files: device, inode, size, and times.
    pub files: String,
}

/// Some of them were changed: the trials since the last [`Checked`] are void.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changed {
    /// The session that looked.
    pub session: u32,
    /// The names of the files; empty if only the time between two sessions is known.
    pub files: Vec<String>,
    /// Nobody knows when it was: all trials of the session are void.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_session: bool,
}

impl Changed {
    /// Why trials before it are void.
    pub fn why(&self) -> String {
        match self.files.as_slice() {
            [] => "what it executes was changed before anybody looked again".to_owned(),
            [one] => format!("{one} was changed while its block was executed"),
            [one, more @ ..] => format!("{one} and {} more were changed while its block was executed", more.len()),
        }
    }
}

impl Record {
    /// Trials that ended after the last look at what they execute.
    pub fn unchecked(&self) -> &[Trial] {
        self.trials.get(self.unchecked_from..).filter(|_| self.checked.is_some()).unwrap_or_default()
    }

    /// The places of the trials that a line makes void.
    pub(super) fn voided_by(&self, line: &Changed) -> Vec<usize> {
        let is_void = |place: usize, trial: &Trial| {
            place >= self.unchecked_from || (line.whole_session && trial.session == line.session)
        };
        let trials = self.trials.iter().enumerate();
        trials.filter_map(|(place, trial)| is_void(place, trial).then_some(place)).collect()
    }

    pub(super) fn set_first_unchecked(&mut self, place: usize) {
        self.unchecked_from = place;
    }

    pub(super) fn take_checked(&mut self, line: Checked) {
        self.checked = Some(line);
        self.unchecked_from = self.trials.len();
    }

    pub(super) fn take_changed(&mut self, line: &Changed) {
        let why = line.why();
        for place in self.voided_by(line) {
            self.trials[place].outcome = Outcome::Void(why.clone());
        }
        self.unchecked_from = self.trials.len();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Line, StudyLine};
    use super::*;

    #[test]
    fn trials_since_the_last_good_look_are_void_and_no_others() {
        let mut record = Record::new(StudyLine::default());
        let trial = || Line::Trial(Trial::default());
        let checked = || Line::Checked(Checked::default());
        let changed = |files: &[&str]| {
            let files = files.iter().map(|file| file.to_string()).collect();
            Line::Changed(Changed { session: 1, files, whole_session: false })
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
            void("bin/p was changed while its block was executed"),
            void("a and 1 more were changed while its block was executed"),
        ];
        assert_eq!(outcomes, expect);
        record.push(Line::Trial(Trial { session: 2, ..Trial::default() }));
        record.push(Line::Trial(Trial { session: 3, ..Trial::default() }));
        record.push(checked());
        record.push(Line::Changed(Changed { session: 2, files: vec!["x".to_owned()], whole_session: true }));
        let of = |session| record.trials.iter().find(|trial| trial.session == session).map(|trial| &trial.outcome);
        assert_eq!(of(2), Some(&void("x was changed while its block was executed")));
        assert_eq!(of(3), Some(&Outcome::Ok));
    }
}
