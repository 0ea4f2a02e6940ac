//! The lines of a journal on their way into a [`Record`]. Each line counts by what it is about, not by how often it is
//! there: a trial that stands twice counts once. Oddities are named with their lines; lines that contradict each other
//! are refused, because nobody can tell which of them is true. It reads no file.

use super::{Away, AwayKey, Block, Line, MOST_PADDING_BYTES, RELAID, Record, StudyLine, TWIN, Trial};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

/// A line that is not as a journal's writer leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Odd {
    /// Which line, from 1.
    pub line: usize,
    /// What is odd about it.
    pub what: Oddity,
}

/// What can be odd about a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Oddity {
    /// Its bytes are not those that were written. It does not count.
    Damaged,
    /// It repeats another line. It counts once.
    Doubled {
        /// The first of the two.
        first: usize,
    },
    /// It is about something that the study does not have. It does not count.
    Unplanned {
        /// What: `variant x`.
        what: String,
    },
    /// It should be a whole block, and is not. It does not count.
    Incomplete,
    /// It repeats a trial that needed no repeating. It does not count.
    Repeated {
        /// The line of the trial that counts.
        first: usize,
    },
    /// It belongs to a session that is not there. It counts.
    NoSession {
        /// The session's number.
        session: u32,
    },
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line;
        match &self.what {
            Oddity::Damaged => write!(f, "line {line} is damaged, so it is ignored"),
            Oddity::Doubled { first } => write!(f, "line {line} repeats line {first}, so it is ignored"),
            Oddity::Unplanned { what } => {
                write!(f, "line {line} is ignored, because the study has no {what}")
            }
            Oddity::Incomplete => write!(f, "line {line} is ignored, because its block is not whole"),
            Oddity::Repeated { first } => {
                write!(f, "line {line} repeats a trial that was already final in line {first}, so it is ignored")
            }
            Oddity::NoSession { session } => {
                write!(f, "line {line} is used, although the line of its session ({session}) is missing")
            }
        }
    }
}

/// Two lines of which only one can be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The later line, from 1.
    pub line: usize,
    /// The earlier one.
    pub first: usize,
    /// What they are about, in words: `trial loop/idle/3/twin`.
    pub about: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.line {
            return write!(f, "line {} contradicts itself: {}", self.line, self.about);
        }
        write!(f, "lines {} and {} contradict each other: {}", self.first, self.line, self.about)
    }
}

/// Workload, condition, block.
type BlockKey = (String, String, u32);

/// What is known of the trials of one variant in one block.
#[derive(Debug, Default)]
struct Attempts {
    /// Line and place in the record of each attempt.
    known: HashMap<u32, (usize, usize)>,
    /// The line of the one after which no other follows.
    final_line: Option<usize>,
}

/// A record that is being read.
#[derive(Debug, Default)]
pub struct Reading {
    record: Record,
    odd: Vec<Odd>,
    study_line: usize,
    sessions: HashMap<u32, usize>,
    missing_sessions: HashSet<u32>,
    /// Line and place in the record of each block.
    blocks: HashMap<BlockKey, (usize, usize)>,
    trials: HashMap<BlockKey, HashMap<String, Attempts>>,
    /// The line of each trial of the record.
    trial_lines: Vec<usize>,
    /// Blocks of other machines, with their lines: those of the lowest attempts.
    away: BTreeMap<AwayKey, (usize, Away)>,
}

impl Reading {
    /// One that begins with the study of line `line`.
    pub fn new(line: usize, study: StudyLine) -> Self {
        Self { record: Record::new(study), study_line: line, ..Self::default() }
    }

    /// Leaves out a line that is damaged.
    pub fn damaged(&mut self, line: usize) {
        self.odd(line, Oddity::Damaged);
    }

    /// Takes the next line.
    ///
    /// # Errors
    /// [`Contradiction`] if it and an earlier line cannot both be true.
    pub fn take(&mut self, number: usize, line: Line) -> Result<(), Contradiction> {
        match line {
            Line::Study(ref study) if study.identity != self.record.study.identity => Err(Contradiction {
                line: number,
                first: self.study_line,
                about: "they belong to different studies, or to different versions of one study".to_owned(),
            }),
            Line::Session(ref session) => {
                let first = *self.sessions.entry(session.session).or_insert(number);
                if first == number {
                    self.record.push(line);
                    return Ok(());
                }
                let known = self.record.sessions.iter().find(|known| known.session == session.session);
                if known != Some(session) {
                    let about = format!("both begin session {}", session.session);
                    return Err(Contradiction { line: number, first, about });
                }
                self.odd(number, Oddity::Doubled { first });
                Ok(())
            }
            Line::Changed(ref changed) => {
                // Void trials are repeated.
                for place in self.record.voided_by(changed) {
                    let trial = &self.record.trials[place];
                    let of_block = self.trials.get_mut(&key(&trial.workload, &trial.condition, trial.block));
                    if let Some(attempts) = of_block.and_then(|of_block| of_block.get_mut(&trial.variant)) {
                        attempts.final_line = None;
                    }
                }
                self.record.push(line);
                Ok(())
            }
            Line::Block(block) => self.take_block(number, block),
            Line::Trial(trial) => self.take_trial(number, trial),
            Line::Boot(mut boot) => {
                let trials = std::mem::take(&mut boot.trials);
                trials.into_iter().try_for_each(|trial| self.take_trial(number, trial))?;
                if !self.record.boots.contains(&boot) {
                    self.record.push(Line::Boot(boot));
                }
                Ok(())
            }
            Line::Away(away) => {
                self.take_away(number, *away);
                Ok(())
            }
            line => {
                self.record.push(line);
                Ok(())
            }
        }
    }

    /// Takes a block of another machine, which comes into the record at the end: one of a lower attempt may follow.
    fn take_away(&mut self, number: usize, away: Away) {
        let key = away.key();
        if !away.is_whole() || away.block.padding > MOST_PADDING_BYTES {
            self.odd(number, Oddity::Incomplete);
            return;
        }
        match self.away.get(&key) {
            Some((first, known)) if known.from == away.from => {
                let first = *first;
                self.odd(number, Oddity::Doubled { first });
                return;
            }
            Some((_, known)) if known.from.attempt <= away.from.attempt => {
                self.record.run_again.insert((key, away.from));
                return;
            }
            Some((_, known)) => _ = self.record.run_again.insert((key.clone(), known.from.clone())),
            None => {}
        }
        self.away.insert(key, (number, away));
    }

    /// Puts the blocks of other machines into the record.
    fn come_home(&mut self) {
        for (number, away) in std::mem::take(&mut self.away).into_values() {
            let Block { block, workload, condition, .. } = &away.block;
            match self.blocks.entry(key(workload, condition, *block)) {
                // The block was run here too, and that execution counts.
                Entry::Occupied(_) => {
                    self.record.run_again.insert((away.key(), away.from));
                    continue;
                }
                Entry::Vacant(entry) => _ = entry.insert((number, self.record.blocks.len())),
            }
            if !self.sessions.contains_key(&away.session) && self.missing_sessions.insert(away.session) {
                self.odd(number, Oddity::NoSession { session: away.session });
            }
            self.trial_lines.extend(away.trials.iter().map(|_| number));
            self.record.push(Line::Away(Box::new(away)));
        }
    }

    /// What was read, and all that is odd about it, in the order of lines.
    ///
    /// # Errors
    /// [`Contradiction`] if a trial is not in its block's order.
    pub fn finish(mut self) -> Result<(Record, Vec<Odd>), Contradiction> {
        self.come_home();
        self.leave_out_unplanned();
        for (trial, &line) in self.record.trials.iter().zip(&self.trial_lines) {
            let Some(&(first, at)) = self.blocks.get(&key(&trial.workload, &trial.condition, trial.block)) else {
                continue;
            };
            let place = (trial.position as usize).checked_sub(1);
            let planned = place.and_then(|place| self.record.blocks.get(at)?.order.get(place));
            if planned != Some(&trial.variant) {
                let (first, line) = (first.min(line), first.max(line));
                let about = format!("{} does not match the order of its block", name(trial));
                return Err(Contradiction { line, first, about });
            }
        }
        self.odd.sort_by_key(|odd| odd.line);
        Ok((self.record, self.odd))
    }

    fn odd(&mut self, line: usize, what: Oddity) {
        self.odd.push(Odd { line, what });
    }

    fn take_block(&mut self, number: usize, block: Block) -> Result<(), Contradiction> {
        if block.padding > MOST_PADDING_BYTES {
            self.odd(number, Oddity::Unplanned { what: format!("padding of {} bytes", block.padding) });
            return Ok(());
        }
        let place = self.record.blocks.len();
        let (first, at) =
            *self.blocks.entry(key(&block.workload, &block.condition, block.block)).or_insert((number, place));
        if first == number {
            let names: BTreeSet<&String> = block.order.iter().collect();
            if names.len() != block.order.len() {
                let about = format!("the order of block {} lists a variant twice", block.block);
                return Err(Contradiction { line: number, first, about });
            }
            self.record.push(Line::Block(block));
        } else if self.record.blocks.get(at) == Some(&block) {
            self.odd(number, Oddity::Doubled { first });
        } else {
            let about = format!("both begin block {} of {}/{}", block.block, block.workload, block.condition);
            return Err(Contradiction { line: number, first, about });
        }
        Ok(())
    }

    fn take_trial(&mut self, number: usize, trial: Trial) -> Result<(), Contradiction> {
        let place = self.record.trials.len();
        let of_block = self.trials.entry(key(&trial.workload, &trial.condition, trial.block)).or_default();
        let attempts = of_block.entry(trial.variant.clone()).or_default();
        if let Some(&(first, at)) = attempts.known.get(&trial.attempt) {
            if self.record.trials.get(at) == Some(&trial) {
                self.odd(number, Oddity::Doubled { first });
                return Ok(());
            }
            return Err(Contradiction { line: number, first, about: format!("both are {}", name(&trial)) });
        }
        if let Some(first) = attempts.final_line {
            self.odd(number, Oddity::Repeated { first });
            return Ok(());
        }
        attempts.known.insert(trial.attempt, (number, place));
        attempts.final_line = trial.is_final().then_some(number);
        if !self.sessions.contains_key(&trial.session) && self.missing_sessions.insert(trial.session) {
            self.odd(number, Oddity::NoSession { session: trial.session });
        }
        self.record.push(Line::Trial(trial));
        self.trial_lines.push(number);
        Ok(())
    }

    /// Takes the trials out that are of nothing that the study has. It is known at the end only: a later line of the
    /// study may have brought a variant.
    fn leave_out_unplanned(&mut self) {
        let study = &self.record.study;
        let building = study.building.as_ref();
        let mut workloads: HashSet<&str> = study.workloads.iter().map(String::as_str).collect();
        workloads.extend(building.iter().flat_map(|building| building.workloads.iter().map(String::as_str)));
        let mut conditions: HashSet<&str> = study.conditions.iter().map(String::as_str).collect();
        conditions.extend(building.map(|building| building.condition.as_str()));
        let mut variants: HashSet<&str> = study.variants.iter().map(|variant| variant.name.as_str()).collect();
        variants.extend([TWIN, RELAID]);
        let unplanned = |trial: &Trial| {
            let named = [
                ("workload", &trial.workload, &workloads),
                ("condition", &trial.condition, &conditions),
                ("variant", &trial.variant, &variants),
            ];
            let stranger = named.into_iter().find(|(_, name, known)| !known.contains(name.as_str()));
            stranger.map(|(what, name, _)| format!("{what} `{name}`"))
        };
        let found: Vec<Option<String>> = self.record.trials.iter().map(unplanned).collect();
        if found.iter().all(Option::is_none) {
            return;
        }
        let unchecked = self.record.unchecked().len();
        let unchecked_line =
            self.trial_lines.len().checked_sub(unchecked).and_then(|at| self.trial_lines.get(at)).copied();
        let trials = std::mem::take(&mut self.record.trials);
        let lines = std::mem::take(&mut self.trial_lines);
        for ((trial, line), what) in trials.into_iter().zip(lines).zip(found) {
            if let Some(what) = what {
                self.odd(line, Oddity::Unplanned { what });
            } else {
                self.record.trials.push(trial);
                self.trial_lines.push(line);
            }
        }
        let is_checked = |line: &usize| unchecked_line.is_none_or(|unchecked| *line < unchecked);
        self.record.unchecked_from = self.trial_lines.partition_point(is_checked);
    }
}

fn key(workload: &str, condition: &str, block: u32) -> BlockKey {
    (workload.to_owned(), condition.to_owned(), block)
}

/// A trial's name, as `bakeoff report --trial` takes it.
fn name(trial: &Trial) -> String {
    format!("trial {}/{}/{}/{}", trial.workload, trial.condition, trial.block, trial.variant)
}
