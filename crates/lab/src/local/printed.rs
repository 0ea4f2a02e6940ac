//! What trials print: each process gets a file in memory; after the trial its length and digest are recorded, and where
//! it first differs from the baseline's. Whether an output is the right one is judged elsewhere.

use super::outcome::last_lines;
use super::stage::{Cell, Stage, folder_error, processes};
use crate::differs::first_difference;
use crate::on_demand::Halt;
use crate::{Error, Execution};
use bakeoff_host::output::{Kept, LIMIT_BYTES, OutputFiles};
use bakeoff_model::digest::Digest;
use bakeoff_model::record::{Failure, HASHED_BYTES, Output, OutputDifference, is_baseline_again};
use bakeoff_model::study::OutputUse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

/// A difference is looked for in so much of an output, and so much is kept of all the baseline's outputs together.
const COMPARED_BYTES: u64 = 16 << 20;
const KEPT_BYTES: u64 = 64 << 20;
/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Printed {
    files: Option<OutputFiles>,
    /// The most that a process of each workload printed so far: all variants find as much prepared.
    most: BTreeMap<String, Vec<u64>>,
    known: BaselineOutputs,
}

#[derive(Debug, Default)]
struct BaselineOutputs {
    /// By workload, condition and process: the digest of the baseline's output, and its beginning.
    outputs: BTreeMap<(String, String, usize), (Output, Vec<u8>)>,
    /// Bytes in all of them.
    kept: u64,
    /// Workload, condition and variant of the differences that were reported.
    reported: BTreeSet<(String, String, String)>,
}

impl Printed {
    /// Where each process of a trial prints to; files are made ready for them.
    pub(super) fn prepare(&mut self, stage: &Stage, cell: Cell<'_>, count: usize) -> Result<Vec<PathBuf>, Error> {
        let scratch = &stage.setup.scratch;
        if cell.workload.output == OutputUse::Null {
            self.empty().map_err(|source| folder_error(scratch, source))?;
            return Ok(vec![PathBuf::from("/dev/null"); count]);
        }
        let files = match &mut self.files {
            Some(files) => files,
            none => none.insert(OutputFiles::new(scratch).map_err(|source| folder_error(scratch, source))?),
        };
        let most = self.most.entry(cell.workload.name.clone()).or_default();
        most.resize(count.max(most.len()), 0);
        files.ready(&most[..count]).map_err(|source| folder_error(scratch, source))?;
        let paths = (0..count).map(|process| files.path_of(process).ok_or(io::ErrorKind::NotFound.into()));
        paths.collect::<io::Result<_>>().map_err(|source| folder_error(scratch, source))
    }

    /// Gives the memory back that the last trial's output takes, where no output follows.
    pub(super) fn empty(&mut self) -> io::Result<()> {
        self.files.as_mut().map_or(Ok(()), |files| files.ready(&[]))
    }

    /// Records what a trial printed. `variant` is the variant's name, or the twin's; only if it
    /// `counts` is it compared with what the baseline printed.
    pub(super) fn take(
        &mut self,
        stage: &Stage,
        cell: Cell<'_>,
        variant: &str,
        counts: bool,
        execution: &mut Execution,
    ) -> Result<(), Halt> {
        if cell.workload.output == OutputUse::Null {
            return Ok(());
        }
        let count = processes(cell) as usize;
        let unread = |source| folder_error(&stage.setup.scratch, source);
        let Some(files) = &self.files else { return Ok(()) };
        let most = self.most.entry(cell.workload.name.clone()).or_default();
        let outputs: Vec<(&File, Output)> = (0..count)
            .filter_map(|process| files.file(process))
            .map(|file| Ok((file, output_of(file)?)))
            .collect::<io::Result<_>>()
            .map_err(unread)?;
        let is_full =
            outputs.iter().any(|(_, output)| output.bytes > 0) && files.trim_and_check_full().map_err(unread)?;
        // One that never ends says nothing of what the others need.
        for (process, most) in (0..count).zip(most).filter(|_| !is_full) {
            *most = (*most).max(files.used(process).map_err(unread)?);
        }
        let kept = files.kept();
        let is_baseline = is_baseline_again(variant) || variant == stage.plan.baseline().name;
        let difference = match counts && !is_full {
            true => self.known.difference(cell, variant, is_baseline, &outputs).map_err(unread)?,
            false => None,
        };
        execution.output = outputs.into_iter().map(|(_, output)| output).collect();
        execution.output_difference = difference;
        if is_full { Err(full(stage, kept)) } else { Ok(()) }
    }
}

impl BaselineOutputs {
    /// The first difference from the baseline's, if it was not reported before.
    fn difference(
        &mut self,
        cell: Cell<'_>,
        variant: &str,
        is_baseline: bool,
        outputs: &[(&File, Output)],
    ) -> io::Result<Option<OutputDifference>> {
        let (workload, condition) = (&cell.workload.name, &cell.condition.name);
        let mut found = None;
        for (process, (file, output)) in outputs.iter().enumerate() {
            let key = (workload.clone(), condition.clone(), process);
            match self.outputs.get(&key) {
                Some((known, _)) if known == output => {}
                Some((known, beginning)) => {
                    let reported = (workload.clone(), condition.clone(), variant.to_owned());
                    if found.is_some() || self.reported.contains(&reported) {
                        continue;
                    }
                    // Beyond the beginning that is kept nothing is known.
                    let more = if known.bytes == beginning.len() as u64 { PIECE } else { 0 };
                    let printed = beginning_of(file, beginning.len() + more)?;
                    found = first_difference(process as u32 + 1, beginning, &printed);
                    self.reported.insert(reported);
                }
                None if is_baseline => {
                    let room = COMPARED_BYTES.min(KEPT_BYTES.saturating_sub(self.kept));
                    let beginning = beginning_of(file, output.bytes.min(room) as usize)?;
                    self.kept += beginning.len() as u64;
                    self.outputs.insert(key, (output.clone(), beginning));
                }
                None => {}
            }
        }
        Ok(found)
    }
}

fn output_of(file: &File) -> io::Result<Output> {
    let bytes = file.metadata()?.len();
    let mut digest = Digest::default();
    read(file, bytes.min(HASHED_BYTES), |piece| _ = digest.bytes(piece))?;
    Ok(Output { bytes, sha256: if bytes == 0 { String::new() } else { digest.hex() } })
}

fn beginning_of(file: &File, most: usize) -> io::Result<Vec<u8>> {
    let mut beginning = vec![];
    read(file, most as u64, |piece| beginning.extend(piece))?;
    Ok(beginning)
}

/// Hands on this many bytes, or all if there are fewer, piece by piece.
fn read(file: &File, most: u64, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut piece = vec![0; PIECE.min(most as usize)];
    let mut at = 0;
    while at < most {
        let wanted = piece.len().min((most - at) as usize);
        match file.read_at(&mut piece[..wanted], at)? {
            0 => break,
            more => {
                take(&piece[..more]);
                at += more as u64;
            }
        }
    }
    Ok(())
}

/// It may have printed less than it would have: nothing of this trial counts.
fn full(stage: &Stage, kept: Kept) -> Halt {
    let room = match kept {
        Kept::Apart => format!("it exceeds the limit of {} MiB", LIMIT_BYTES >> 20),
        Kept::InMemory | Kept::OnDisk => "there was no space left to store it".to_owned(),
    };
    let why =
        format!("{room}; to discard it, use `output = \"null\"` in the workload, or `--output null` with compare");
    let tail = last_lines(&stage.setup.scratch.join("stderr"));
    Halt::Failed(Failure::Surroundings { part: "standard output".to_owned(), why, tail })
}
