//! An agent: our own program at a place that is reached otherwise than by a function call, such as a machine that was booted.
//! It runs the tasks of an [`Order`] as this host would, and writes numbered lines; the last one has their number and
//! digest, so that the receiver knows that nothing is missing. Here are both ends. How the order gets there and the
//! lines come back is the business of the executor that reaches the place.

use bakeoff_lab::{Error, Execution, Executor, Task, trial};
use bakeoff_model::digest::Digest;
use bakeoff_model::metric::{self, Measurements};
use bakeoff_model::record::{Block, Place, Trial, Unavailable};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// What an agent is to do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The name of the plan.
    pub(crate) plan: String,
    /// The variant's display name, or the twin's.
    pub(crate) variant: String,
    /// The session that its trials belong to is not known to it; the rest of each trial is.
    pub(crate) tasks: Vec<Ordered>,
    /// Seconds of its own clock that it waits before the first trial: a kernel has work of its own after it has booted.
    pub(crate) settle_s: f64,
    /// Seconds of its own clock after which a trial without a time limit is killed.
    pub(crate) most_s: f64,
}

/// A task, as an order has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ordered {
    /// Its block.
    pub(crate) block: Block,
    /// Its place in the block's order, from 1.
    pub(crate) position: u32,
    /// 0 for the first attempt.
    pub(crate) attempt: u32,
}

/// A line of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Said {
    /// The first: where it is, and what it cannot measure there.
    Place(Place, Vec<Unavailable>),
    /// A trial ended.
    Trial(Box<Trial>),
    /// It cannot go on.
    Error(String),
    /// The last: how many lines there were before, and their digest.
    End(u64, String),
}

/// A line, and which it is, from 1.
#[derive(Debug, Serialize, Deserialize)]
struct Numbered {
    n: u64,
    said: Said,
}

/// Writes lines.
pub(crate) struct Speaker<W> {
    to: W,
    lines: u64,
    digest: Digest,
}

impl<W: Write> Speaker<W> {
    /// That of an agent which has said nothing yet.
    pub(crate) fn new(to: W) -> Self {
        Self { to, lines: 0, digest: Digest::of("agent") }
    }

    /// Writes a line.
    ///
    /// # Errors
    /// The system's, if it cannot be written.
    pub(crate) fn say(&mut self, said: Said) -> io::Result<()> {
        self.lines += 1;
        let mut line = serde_json::to_vec(&Numbered { n: self.lines, said })?;
        self.digest.field("line", &line);
        line.push(b'\n');
        self.to.write_all(&line)?;
        self.to.flush()
    }

    /// Writes the last line.
    ///
    /// # Errors
    /// The system's, if it cannot be written.
    pub(crate) fn end(mut self) -> io::Result<W> {
        let said = Said::End(self.lines, self.digest.hex());
        self.say(said)?;
        Ok(self.to)
    }
}

/// Runs the tasks of an order, and says what came of them; values of metrics that are unavailable there are left out.
///
/// # Errors
/// [`Error`] if the place cannot run anything any more. An error of writing is one too.
pub(crate) fn serve<W: Write>(
    order: &Order,
    executor: &mut dyn Executor,
    place: Place,
    unavailable: &[Unavailable],
    speaker: &mut Speaker<W>,
) -> Result<(), Error> {
    let io = |source| Error::Folder { path: "the agent's lines".into(), source };
    let mut missing = executor.unavailable();
    missing.extend(unavailable.iter().cloned());
    speaker.say(Said::Place(place, missing)).map_err(io)?;
    for Ordered { block, position, attempt } in &order.tasks {
        let task = Task { block, position: *position, variant: &order.variant, attempt: *attempt };
        let executed = executor.execute(task).and_then(|execution| executor.block_ended().map(|()| execution));
        match executed {
            Ok(Some(mut execution)) => {
                leave_out(unavailable, &mut execution.measurements);
                let trial = trial(task, 0, execution);
                speaker.say(Said::Trial(Box::new(trial))).map_err(io)?;
            }
            Ok(None) => speaker.say(Said::Error("it was interrupted".to_owned())).map_err(io)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What the kernel does not separate is left out; the sum of the two parts of CPU time stays.
fn leave_out(unavailable: &[Unavailable], measurements: &mut Measurements) {
    let cpu = metric::value(metric::CPU, measurements);
    for name in unavailable.iter().flat_map(|one| &one.metrics) {
        if measurements.remove(name).is_some() && [metric::USER, metric::SYS].contains(&name.as_str()) {
            measurements.extend(cpu.map(|cpu| (metric::CPU.to_owned(), cpu)));
        }
    }
}

/// What was received of an agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Received {
    /// Where it was; none if it did not speak.
    pub(crate) place: Option<Place>,
    /// What it cannot measure there.
    pub(crate) unavailable: Vec<Unavailable>,
    /// The trials, in their order.
    pub(crate) trials: Vec<Trial>,
    /// Why that is not all of it.
    pub(crate) broken: Option<String>,
}

impl Received {
    /// Reads its lines, as far as they are whole and in order.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut received = Self::default();
        let mut digest = Digest::of("agent");
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
        if lines.peek().is_none() {
            received.broken = Some("the agent sent nothing".to_owned());
            return received;
        }
        let mut last = 0;
        for line in lines {
            let expected = last + 1;
            // A terminal's line ends with a carriage return too.
            let text = line.trim_ascii_end();
            let numbered = line.ends_with(b"\n").then(|| serde_json::from_slice::<Numbered>(text).ok()).flatten();
            let Some(Numbered { n, said }) = numbered.filter(|numbered| numbered.n == expected) else {
                received.broken = Some(format!("line {expected} from the agent is cut off, damaged or missing"));
                return received;
            };
            last = n;
            match said {
                Said::Place(place, unavailable) => {
                    (received.place, received.unavailable) = (Some(place), unavailable);
                }
                Said::Trial(trial) => received.trials.push(*trial),
                Said::Error(why) => {
                    received.broken = Some(why);
                    return received;
                }
                Said::End(before, hex) => {
                    if before != n - 1 || hex != digest.hex() {
                        received.broken = Some("the agent's lines were altered in transit".to_owned());
                    }
                    return received;
                }
            }
            digest.field("line", text);
        }
        received.broken = Some(format!("the agent's output stops after line {last}, before its final line"));
        received
    }
}

/// What came of a trial that an agent has run.
pub(crate) fn execution(trial: Trial) -> Execution {
    Execution {
        started_unix_s: trial.started_unix_s,
        outcome: trial.outcome,
        measurements: trial.measurements,
        leftovers: trial.leftovers,
        marks: trial.marks,
        parts: trial.parts,
        processes: trial.processes,
        output: trial.output,
        output_difference: trial.output_difference,
        written: vec![],
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    fn spoken() -> Vec<u8> {
        let mut speaker = Speaker::new(vec![]);
        speaker.say(Said::Place(Place { cpus: 1, ..Place::default() }, vec![])).unwrap();
        for workload in ["single", "parallel"] {
            let trial = Trial { workload: workload.to_owned(), ..Trial::default() };
            speaker.say(Said::Trial(Box::new(trial))).unwrap();
        }
        speaker.end().unwrap()
    }

    #[test]
    fn what_is_said_is_received() {
        let received = Received::of(&spoken());
        assert_eq!(received.broken, None);
        assert_eq!(received.trials.len(), 2);
        assert_eq!(received.place.unwrap().cpus, 1);
        let terminal = String::from_utf8(spoken()).unwrap().replace('\n', "\r\n");
        assert_eq!(Received::of(terminal.as_bytes()).broken, None);
    }

    #[test]
    fn cut_off_at_any_byte_it_is_not_whole() {
        let bytes = spoken();
        for end in 0..bytes.len() {
            let received = Received::of(&bytes[..end]);
            assert!(received.broken.is_some(), "cut off at {end}");
            assert!(received.trials.len() <= 2);
        }
        assert_eq!(Received::of(&[]).broken.unwrap(), "the agent sent nothing");
    }

    #[test]
    fn a_line_that_is_changed_or_missing_is_noticed() {
        let text = String::from_utf8(spoken()).unwrap();
        let changed = text.replace("single", "simple");
        assert_eq!(Received::of(changed.as_bytes()).broken.unwrap(), "the agent's lines were altered in transit");
        let lines: Vec<&str> = text.lines().collect();
        let without = [lines[0], lines[2], lines[3], ""].join("\n");
        assert!(Received::of(without.as_bytes()).broken.unwrap().contains("line 2"));
        let mut speaker = Speaker::new(vec![]);
        speaker.say(Said::Error("no space".to_owned())).unwrap();
        assert_eq!(Received::of(&speaker.end().unwrap()).broken.unwrap(), "no space");
    }

    #[test]
    fn where_user_and_sys_are_sampled_their_sum_is_kept() {
        let mut measured: Measurements =
            [("user", 1.5), ("sys", 0.5), ("wall", 3.0)].map(|(name, value)| (name.to_owned(), value)).into();
        let sampled = Unavailable { metrics: vec!["user".to_owned(), "sys".to_owned()], why: String::new() };
        leave_out(&[sampled], &mut measured);
        assert_eq!(measured, [("cpu", 2.0), ("wall", 3.0)].map(|(name, value)| (name.to_owned(), value)).into());
        assert_eq!(metric::value("cpu", &measured), Some(2.0));
    }
}
