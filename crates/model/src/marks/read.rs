//! Reading marks: lines in chunks, each chunk with the time at which it came. It keeps histograms, never the lines, so
//! that its memory does not depend on how many there are; and it reads on after a mistake, to say how many there are.

use super::latencies::POSSIBLE_S;
use super::names::number;
use super::{Chunk, Marks, OpLatencies, Phase, Recorder, is_name, is_op_name};
use std::collections::{BTreeMap, HashMap};

/// A longer line is no mark.
const LINE_MAX: usize = 1024;
/// More phases, or kinds of ops, or values, are no description of anything; and each costs memory.
const PHASES_MAX: usize = 10_000;
const KINDS_MAX: usize = 1_000;
/// How far a mark's own time may lie before the launch or after it was read: it may have been printed with few digits,
/// and the time of reading is when that began.
const SLACK_S: f64 = 0.01;
/// Longer lines are shown in part.
const SHOWN_MAX: usize = 60;

/// Values by name, as they were marked: the number, and its unit if one was given. Of several of a name the last.
pub type ParsedValues = BTreeMap<String, (f64, Option<String>)>;

/// All that a process reported.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedMarks {
    /// Phases and ops.
    pub marks: Marks,
    /// Values.
    pub values: ParsedValues,
}

/// A line that is no mark: the first of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the marks, `{text}`: {why}{}", and_more(*more))]
pub struct Wrong {
    /// Its number, from 1.
    pub line: u64,
    /// The line, or its beginning.
    pub text: String,
    /// What is wrong with it, and what to do.
    pub why: String,
    /// How many others are wrong.
    pub more: u64,
}

fn and_more(count: u64) -> String {
    if count == 0 { String::new() } else { format!(" (invalid lines in all: {})", count + 1) }
}

/// Reads the marks of a process that has ended.
///
/// `launched_monotonic_s` is when it was launched, as CLOCK_MONOTONIC read then: marks that tell their own time tell it
/// by that clock. `whole_s` is how long it lasted, in seconds; the last phase ends with it.
pub fn read(chunks: &[Chunk], launched_monotonic_s: f64, whole_s: f64) -> Result<ParsedMarks, Wrong> {
    let mut reader = Reader::new(launched_monotonic_s);
    chunks.iter().for_each(|chunk| reader.push(chunk));
    reader.finish(whole_s)
}

/// When something was marked; the launch, if nothing was.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    /// In seconds since the launch.
    at_s: f64,
    /// Whether the workload itself reported it.
    own: bool,
}

/// Reads marks chunk by chunk.
#[derive(Debug, Default)]
pub struct Reader {
    launched_monotonic_s: f64,
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    lines: u64,
    phases: Vec<Phase>,
    /// The kinds of ops of each phase, by name (empty for none): first of no phase, then by number of phase name.
    kinds: Vec<HashMap<Box<[u8]>, usize>>,
    phase_names: HashMap<Box<[u8]>, usize>,
    /// The place in `kinds` of the phase that lasts.
    current: usize,
    /// When that began.
    began: Moment,
    ops: Vec<(OpName, Recorder)>,
    /// The kind of the latest op: most often the next one's too.
    latest: Option<usize>,
    /// When the latest op ended or the phase began.
    since: Moment,
    values: ParsedValues,
    wrong: Option<Wrong>,
}

/// The phase and the name of ops.
#[derive(Debug)]
struct OpName {
    phase: Option<String>,
    name: Option<String>,
}

type Judged<T> = Result<T, String>;

impl Reader {
    /// Begins; see [`read`].
    pub fn new(launched_monotonic_s: f64) -> Self {
        Self { launched_monotonic_s, kinds: vec![HashMap::new()], ..Self::default() }
    }

    /// Takes what came next. A line's time is that of the chunk in which its end came.
    pub fn push(&mut self, chunk: &Chunk) {
        let mut rest = chunk.bytes.as_slice();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            if self.partial.is_empty() {
                self.line(line, chunk.at_s);
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                keep(&mut whole, line);
                self.line(&whole, chunk.at_s);
                whole.clear();
                self.partial = whole;
            }
            rest = after;
        }
        keep(&mut self.partial, rest);
    }

    /// What all of it amounts to; the last phase ends at `whole_s` seconds.
    pub fn finish(mut self, whole_s: f64) -> Result<ParsedMarks, Wrong> {
        if !self.partial.trim_ascii().is_empty() {
            let cut = std::mem::take(&mut self.partial);
            self.lines += 1;
            self.blame(&cut, "the last line is incomplete; each mark must end with a newline".to_owned());
        }
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        if let Some(last) = self.phases.last_mut() {
            last.ended_s = whole_s.max(last.began_s);
        }
        let ops = self.ops.into_iter().filter_map(|(OpName { phase, name }, recorder)| {
            Some(OpLatencies { phase, name, latencies: recorder.finish()? })
        });
        Ok(ParsedMarks { marks: Marks { phases: self.phases, ops: ops.collect() }, values: self.values })
    }

    fn line(&mut self, line: &[u8], came_s: f64) {
        self.lines += 1;
        if let Err(why) = self.judge(line, came_s) {
            self.blame(line, why);
        }
    }

    fn blame(&mut self, line: &[u8], why: String) {
        match &mut self.wrong {
            Some(wrong) => wrong.more += 1,
            None => self.wrong = Some(Wrong { line: self.lines, text: shown(line), why, more: 0 }),
        }
    }

    /// Takes one line, without its end.
    fn judge(&mut self, line: &[u8], came_s: f64) -> Judged<()> {
        if line.len() > LINE_MAX {
            return Err(format!("it is longer than {LINE_MAX} bytes"));
        }
        let mut words = [&line[..0]; 5];
        let mut count = 0;
        for word in line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r')).filter(|word| !word.is_empty()) {
            *words.get_mut(count).ok_or("it has too many words")? = word;
            count += 1;
        }
        let mut now = Moment { at_s: came_s, own: false };
        if let Some(own) = words[..count].last().and_then(|word| word.strip_prefix(b"@")) {
            now = self.own_time(own, came_s)?;
            count -= 1;
        }
        match &words[..count] {
            [] if !now.own => Ok(()),
            [b"phase", name] => self.phase(name, now),
            [b"op"] => self.op(b"", None, now),
            [b"op", word] => match number(word) {
                Some(seconds) => self.op(b"", Some(seconds), now),
                None => self.op(word, None, now),
            },
            [b"op", name, seconds] => {
                let latency_s =
                    number(seconds).ok_or_else(|| format!("`{}` is not a latency in seconds", shown(seconds)))?;
                self.op(name, Some(latency_s), now)
            }
            [b"value", name, number] => self.value(name, number, None),
            [b"value", name, number, unit] => self.value(name, number, Some(unit)),
            [b"phase", ..] => Err("a phase must be marked as `phase NAME`".to_owned()),
            [b"op", ..] => Err("an op must be marked as `op [NAME] [SECONDS]`".to_owned()),
            [b"value", ..] => Err("a value must be marked as `value NAME NUMBER [UNIT]`".to_owned()),
            _ => Err("a mark must begin with `phase`, `op` or `value`".to_owned()),
        }
    }

    /// The time that a mark tells itself, since the launch.
    fn own_time(&self, word: &[u8], came_s: f64) -> Judged<Moment> {
        let time =
            number(word).ok_or_else(|| format!("`@{}` is not a time; write seconds after the @", shown(word)))?;
        let at_s = time - self.launched_monotonic_s;
        if !(-SLACK_S..=came_s + SLACK_S).contains(&at_s) {
            let where_ = if at_s < 0.0 { "before the launch" } else { "after the mark was read" };
            return Err(format!("`@{}` is {where_}; use seconds of CLOCK_MONOTONIC", shown(word)));
        }
        Ok(Moment { at_s: at_s.max(0.0), own: true })
    }

    /// The time since an earlier moment. A time that the mark has may be before one that was only read off, which is
    /// late.
    fn elapsed_s(earlier: Moment, now: Moment) -> Judged<f64> {
        let elapsed_s = now.at_s - earlier.at_s;
        if elapsed_s < 0.0 && now.own && earlier.own {
            let remedy = "if several threads write marks, each op must include its SECONDS";
            return Err(format!("its time is {} s before the mark above; {remedy}", -elapsed_s));
        }
        Ok(elapsed_s.max(0.0))
    }

    fn phase(&mut self, name: &[u8], now: Moment) -> Judged<()> {
        let name = plain(name)?;
        if self.phases.len() >= PHASES_MAX {
            return Err(format!("more than {PHASES_MAX} phases; use ops for anything that repeats this often"));
        }
        // Ops may come late, from other threads; only phases must be in order.
        let (earlier_s, began_s) = (self.began.at_s, now.at_s.max(self.began.at_s));
        if now.at_s < earlier_s && now.own && self.began.own {
            return Err(format!(
                "its time is {} s before the phase above; mark phases in the order in which they begin",
                earlier_s - now.at_s
            ));
        }
        if let Some(last) = self.phases.last_mut() {
            last.ended_s = began_s;
        }
        let next = self.phase_names.len() + 1;
        self.current = *self.phase_names.entry(name.as_bytes().into()).or_insert(next);
        if self.current == self.kinds.len() {
            self.kinds.push(HashMap::new());
        }
        self.phases.push(Phase { name: name.to_owned(), began_s, ended_s: began_s });
        self.latest = None;
        self.began = Moment { at_s: began_s, own: now.own };
        self.since = self.began;
        Ok(())
    }

    fn op(&mut self, name: &[u8], latency_s: Option<f64>, now: Moment) -> Judged<()> {
        let latency_s = match latency_s {
            Some(latency) if latency < 0.0 => return Err("a latency cannot be negative".to_owned()),
            Some(latency) if latency > POSSIBLE_S => {
                return Err("the latency is longer than 30 years; give it in seconds".to_owned());
            }
            Some(latency) => latency,
            None => Self::elapsed_s(self.since, now)?,
        };
        let kind = self.kind(name)?;
        self.since = now;
        self.ops[kind].1.record(latency_s);
        Ok(())
    }

    /// The place in `ops` of ops of this name, in the phase that lasts.
    fn kind(&mut self, name: &[u8]) -> Judged<usize> {
        let is_it = |at: &usize| self.ops[*at].0.name.as_deref().unwrap_or_default().as_bytes() == name;
        if let Some(at) = self.latest.filter(is_it) {
            return Ok(at);
        }
        if let Some(at) = self.kinds[self.current].get(name) {
            self.latest = Some(*at);
            return Ok(*at);
        }
        if !name.is_empty() && !is_op_name(name) {
            return Err(not_a_name(name));
        }
        if self.ops.len() >= KINDS_MAX {
            return Err(format!("more than {KINDS_MAX} kinds of ops; name each kind of op, not each individual op"));
        }
        let text = String::from_utf8_lossy(name).into_owned();
        let phase = (self.current > 0).then(|| self.phases.last().map(|phase| phase.name.clone())).flatten();
        let kind = OpName { phase, name: Some(text).filter(|text| !text.is_empty()) };
        self.kinds[self.current].insert(name.into(), self.ops.len());
        self.ops.push((kind, Recorder::default()));
        self.latest = Some(self.ops.len() - 1);
        Ok(self.ops.len() - 1)
    }

    fn value(&mut self, name: &[u8], word: &[u8], unit: Option<&[u8]>) -> Judged<()> {
        let name = plain(name)?;
        let number = number(word).ok_or_else(|| format!("`{}` is not a number", shown(word)))?;
        let unit = unit.map(|unit| std::str::from_utf8(unit).map_err(|_| "its unit is not UTF-8")).transpose()?;
        if self.values.len() >= KINDS_MAX && !self.values.contains_key(name) {
            return Err(format!("more than {KINDS_MAX} values"));
        }
        self.values.insert(name.to_owned(), (number, unit.map(str::to_owned)));
        Ok(())
    }
}

/// Keeps as much of a line as is needed to see that it is too long.
fn keep(line: &mut Vec<u8>, more: &[u8]) {
    let room = (LINE_MAX + 1).saturating_sub(line.len());
    line.extend_from_slice(&more[..more.len().min(room)]);
}

fn plain(word: &[u8]) -> Judged<&str> {
    let text = std::str::from_utf8(word).ok().filter(|_| is_name(word));
    text.ok_or_else(|| not_a_name(word))
}

fn not_a_name(word: &[u8]) -> String {
    format!(
        "`{}` is not a valid name; use only letters, digits, `_`, `-`, `+` and `.` (an op's name cannot be a number)",
        shown(word)
    )
}

/// Some of what was printed, fit for a screen.
fn shown(text: &[u8]) -> String {
    let beginning = &text[..text.len().min(4 * SHOWN_MAX)];
    let text = String::from_utf8_lossy(beginning.trim_ascii());
    let short: String = text.chars().take(SHOWN_MAX).map(|c| if c.is_control() { '?' } else { c }).collect();
    let more = if text.chars().count() > SHOWN_MAX { "…" } else { "" };
    format!("{short}{more}")
}
