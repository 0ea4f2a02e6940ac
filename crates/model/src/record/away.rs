//! A block that ran on another machine. It is one line of a journal, so that its trials are there together or not at all,
//! and the command that collects it may stop and begin again. Lines may come in any order. If a block was run twice, the execution
//! of the lower attempt counts, whatever it measured. A block that ran here is used before either.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use super::block::{AwayKey, Block};
use super::trial::Trial;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A block that ran elsewhere, with all of its trials.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Away {
    /// The session whose line describes the machine.
    pub session: u32,
    pub from: Attempt,
    pub block: Block,
    /// In the order in which they ended.
    pub trials: Vec<Trial>,
}

/// Who ran a block elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Attempt {
    /// The machine's name where it is one of several.
    pub node: String,
    /// From 0.
    pub shard: u32,
    /// From 0; the lowest one counts.
    pub attempt: u32,
}

impl Away {
    /// What tells its block from others.
    pub fn key(&self) -> AwayKey {
        self.block.key()
    }

    /// Whether each variant of the order has a last attempt, and no trial is of anything else.
    pub fn is_whole(&self) -> bool {
        let order = &self.block.order;
        let is_of_block = |trial: &Trial| {
            let position = (trial.position as usize).checked_sub(1);
            let planned = position.and_then(|position| order.get(position));
            trial.block == self.block.block
                && trial.workload == self.block.workload
                && trial.condition == self.block.condition
                && planned == Some(&trial.variant)
        };
        let is_final = |variant: &String| self.trials.iter().any(|trial| trial.variant == *variant && trial.is_final());
        let names: BTreeSet<&String> = order.iter().collect();
        self.trials.iter().all(is_of_block) && order.iter().all(is_final) && names.len() == order.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Changed, Checked, Line, Oddity, Outcome, Reading, Record, Session, StudyLine, VariantLine};
    use super::*;

    fn away(pass: u32, attempt: u32, value: f64) -> Away {
        let order: Vec<String> = ["a", "b", "twin"].map(str::to_owned).to_vec();
        let block =
            Block { block: pass, workload: "w".to_owned(), condition: "idle".to_owned(), order, ..Block::default() };
        let trial = |(position, variant): (u32, &String)| Trial {
            session: attempt + 1,
            block: pass,
            workload: "w".to_owned(),
            condition: "idle".to_owned(),
            position,
            variant: variant.clone(),
            started_unix_s: value,
            ..Trial::default()
        };
        let trials = (1..).zip(&block.order).map(trial).collect();
        let from = Attempt { node: format!("n{attempt}"), shard: 0, attempt };
        Away { session: attempt + 1, from, block, trials }
    }

    fn read(lines: &[Line]) -> (Record, Vec<Oddity>) {
        let variant = |name: &str| VariantLine { name: name.to_owned(), ..VariantLine::default() };
        let study = StudyLine {
            workloads: vec!["w".to_owned()],
            conditions: vec!["idle".to_owned()],
            variants: vec![variant("a"), variant("b")],
            ..StudyLine::default()
        };
        let mut reading = Reading::new(1, study);
        for (number, line) in (2..).zip(lines) {
            reading.take(number, line.clone()).unwrap();
        }
        let (record, odd) = reading.finish().unwrap();
        (record, odd.into_iter().map(|odd| odd.what).collect())
    }

    fn line(away: &Away) -> Line {
        Line::Away(Box::new(away.clone()))
    }

    fn session(session: u32) -> Line {
        Line::Session(Session { session, ..Session::default() })
    }

    #[test]
    fn of_two_executions_that_of_the_lower_attempt_counts_in_whatever_order_they_come() {
        let (first, again) = (away(1, 0, 10.0), away(1, 1, 20.0));
        for lines in [[line(&first), line(&again)], [line(&again), line(&first)]] {
            let lines = [&[session(1), session(2)], &lines[..]].concat();
            let (read, odd) = read(&lines);
            assert_eq!(odd, []);
            assert_eq!(read.trials, first.trials);
            assert_eq!(read.run_again.len(), 1);
            // Appended one by one, it comes to the same.
            let mut pushed = Record::new(read.study.clone());
            lines.into_iter().for_each(|line| pushed.push(line));
            assert_eq!(pushed, read);
        }
    }

    #[test]
    fn a_block_that_is_there_twice_counts_once() {
        let (record, odd) = read(&[session(1), line(&away(1, 0, 1.0)), line(&away(1, 0, 1.0))]);
        assert_eq!((record.trials.len(), record.run_again.len()), (3, 0));
        assert_eq!(odd, [Oddity::Doubled { first: 3 }]);
    }

    #[test]
    fn a_block_that_is_not_whole_does_not_count() {
        let mut torn = away(1, 0, 1.0);
        torn.trials.pop();
        let mut foreign = away(2, 0, 1.0);
        foreign.trials[0].block = 3;
        let mut void = away(3, 0, 1.0);
        void.trials[1].outcome = Outcome::Void("why".to_owned());
        for broken in [torn, foreign, void] {
            let (record, odd) = read(&[session(1), line(&broken)]);
            assert_eq!((record.trials.len(), record.blocks.len()), (0, 0));
            assert_eq!(odd, [Oddity::Incomplete]);
        }
    }

    #[test]
    fn looks_at_files_here_say_nothing_of_trials_elsewhere() {
        let checked = Line::Checked(Checked { session: 1, files: "f".to_owned() });
        let changed =
            Line::Changed(Changed { session: 1, files: vec![], whole_session: false, from_unix_s: Some(0.0) });
        let mut record = Record::default();
        [checked, line(&away(1, 0, 1.0)), changed].into_iter().for_each(|line| record.push(line));
        assert!(record.trials.iter().all(|trial| trial.outcome == Outcome::Ok), "{:?}", record.trials);
        assert_eq!(record.unchecked(), []);
    }

    #[test]
    fn a_block_that_was_run_here_counts_and_not_that_of_elsewhere() {
        let away = away(1, 0, 1.0);
        let of_here: Vec<Trial> = away.trials.iter().map(|t| Trial { started_unix_s: 2.0, ..t.clone() }).collect();
        let trials = of_here.iter().cloned().map(Line::Trial);
        let lines = [line(&away), session(1), Line::Block(away.block.clone())].into_iter().chain(trials);
        let (record, odd) = read(&lines.collect::<Vec<_>>());
        assert_eq!((record.away.len(), record.blocks.len(), odd), (0, 1, vec![]));
        assert_eq!(record.trials, of_here);
        assert_eq!(record.run_again.into_iter().collect::<Vec<_>>(), [(away.key(), away.from)]);
    }
}
