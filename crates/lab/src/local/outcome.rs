//! What the end of a process amounts to, and what its log says of it.

use super::stage::{Cell, Stage, folder_error};
use crate::on_demand::Halt;
use crate::{Error, expected};
use bakeoff_host::End;
use bakeoff_model::record::Failure;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Lines of a log that a failed trial keeps.
const TAIL_LINES: usize = 10;
/// Bytes of it that are looked at for them.
const TAIL_BYTES: i64 = 4096;

/// Halts because of what a trial needs or is judged by.
pub(super) fn surroundings(part: &str, why: String, log: &Path) -> Halt {
    Halt::Failed(Failure::Surroundings { part: part.to_owned(), why, tail: last_lines(log) })
}

/// How something ended, in words.
pub(super) fn in_words(end: &End) -> String {
    match end {
        End::Exited(code) => format!("it exited with {code}"),
        End::Signalled(signal) => format!("it was killed by signal {signal}"),
        End::NotStarted { what, why } => format!("{what}: {why}"),
        End::Interrupted => "it was interrupted".to_owned(),
        End::TimedOut => "it took too long".to_owned(),
        End::OutOfMemory => "it exceeded its memory limit".to_owned(),
    }
}

/// Where a process of a trial prints to.
#[derive(Debug, Clone)]
pub(super) struct Outputs {
    pub(super) stdout: PathBuf,
    pub(super) stderr: PathBuf,
}

/// Why a process failed, if it did, by how it ended.
pub(super) fn of_process(cell: Cell<'_>, end: &End, outputs: &Outputs) -> Result<(), Halt> {
    if let End::Exited(code) = end
        && cell.workload.exit_codes.has(*code)
    {
        return Ok(());
    }
    let ended = of_end(end, outputs, cell.workload.timeout_s, cell.condition.memory_bytes);
    let is_of_harness = cell.workload.harness.is_some();
    ended.map_err(|halt| match halt {
        // Harnesses say on their standard output what failed.
        Halt::Failed(Failure::Exit { code, stderr }) if stderr.is_empty() && is_of_harness => {
            Halt::Failed(Failure::Exit { code, stderr: last_lines(&outputs.stdout) })
        }
        halt => halt,
    })
}

/// Compares what the processes of a trial printed with what is expected: of each, or of all that divide the work.
pub(super) fn of_output(stage: &Stage, cell: Cell<'_>, outputs: &[Outputs]) -> Result<(), Halt> {
    let Some(expected) = stage.setup.expected.get(&cell.workload.name) else { return Ok(()) };
    let read = |Outputs { stdout, .. }: &Outputs| std::fs::read(stdout).map_err(|source| folder_error(stdout, source));
    let printed: Vec<Vec<u8>> = outputs.iter().map(read).collect::<Result<_, Error>>()?;
    let difference = match printed.as_slice() {
        [_, _, ..] if cell.workload.divided => expected::difference_of_all(expected, &printed),
        each => each.iter().find_map(|printed| expected::difference(expected, printed)),
    };
    difference.map_or(Ok(()), |failure| Err(Halt::Failed(failure)))
}

/// Why a command that builds failed, if it did.
pub(super) fn of_build(end: &End, outputs: &Outputs, timeout_s: Option<f64>) -> Result<(), Halt> {
    of_end(end, outputs, timeout_s, None)
}

/// What the end of a process says by itself.
fn of_end(end: &End, outputs: &Outputs, timeout_s: Option<f64>, memory_bytes: Option<u64>) -> Result<(), Halt> {
    let stderr = || last_lines(&outputs.stderr);
    let failure = match end.clone() {
        End::Interrupted => return Err(Halt::Interrupted),
        // Our own files: no fault of the program's.
        End::NotStarted { what, why }
            if [&outputs.stdout, &outputs.stderr].iter().any(|own| own.as_os_str() == what.as_str()) =>
        {
            return Err(Halt::Error(folder_error(Path::new(&what), std::io::Error::other(why))));
        }
        End::NotStarted { what, why } => Failure::NotStarted { command: what, why },
        End::Exited(0) => return Ok(()),
        End::Exited(code) => Failure::Exit { code, stderr: stderr() },
        End::Signalled(signal) => Failure::Signal { signal, stderr: stderr() },
        End::TimedOut => Failure::TimedOut { after_s: timeout_s.unwrap_or_default(), stderr: stderr() },
        End::OutOfMemory => Failure::OutOfMemory { limit_bytes: memory_bytes.unwrap_or_default(), stderr: stderr() },
    };
    Err(Halt::Failed(failure))
}

/// The last lines of a file that may be long or not be there.
pub(super) fn last_lines(path: &Path) -> Vec<String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::End(-TAIL_BYTES.min(i64::try_from(length).unwrap_or(0))))?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].iter().map(|&line| line.to_owned()).collect()
}
