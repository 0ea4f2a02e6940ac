//! The journal: what happened in a study, a JSON object ([`bakeoff_model::record::Line`]) a line, never changed.
//!
//! What makes it safe: a line is written by one `write` and ends with a line feed, so a crash leaves whole lines and at
//! most one torn last one, which is cut off. A write that fails (a full disk) is taken back, so nothing is glued to
//! half a line. Each line has a checksum: one that was damaged later is named and ignored.

mod checksum;

use bakeoff_model::record::{Contradiction, FORMAT, Line, Odd, Reading, Record, Redaction, StudyLine};
use checksum::Sum;
use serde::Deserialize;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Why a journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the names of fields say what they are")]
pub enum Error {
    #[error("cannot read the journal `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot create a journal in `{}`", path.display())]
    Create { path: PathBuf, source: io::Error },
    /// A line could not be written or synced; the journal holds everything up to the line before.
    #[error("cannot write to the journal `{}`; it contains every trial before this one", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// Somebody else removed it or changed its length while this process had it open.
    #[error("the journal `{}` was {what} during the run, so Bakeoff stopped writing to it", path.display())]
    Disturbed {
        path: PathBuf,
        /// What became of it: `removed`.
        what: String,
    },
    #[error("the journal `{}` has format {found}, but this version of Bakeoff reads only formats up to {FORMAT}; use \
        the newer version that wrote it", path.display())]
    Newer { path: PathBuf, found: u32 },
    #[error("`{}` is not a journal because its first line does not describe a study", path.display())]
    NotAJournal { path: PathBuf },
    /// A line in its midst cannot be read, and has no checksum that would say why.
    #[error(
        "line {line} of the journal `{}` is damaged; remove the line, and Bakeoff will run its trial again",
        path.display()
    )]
    Damaged {
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        source: serde_json::Error,
    },
    #[error("the first line of the journal `{}` is damaged, so the journal cannot be read; restore the file from a \
             copy, or move it away", path.display())]
    DamagedStudy { path: PathBuf },
    #[error("in the journal `{}`, {contradiction}; if two journals were joined in one file, separate \
        them", path.display())]
    Contradiction { path: PathBuf, contradiction: Contradiction },
}

/// A journal that was read.
#[derive(Debug)]
pub struct Contents {
    /// What it holds.
    pub record: Record,
    /// Lines that are not as their writer left them, in their order.
    pub odd: Vec<Odd>,
    /// Whether a torn last line was left out: the writer was killed while writing it.
    pub torn: bool,
    /// Bytes up to the end of the last whole line.
    whole_bytes: u64,
}

/// A journal that is open for more.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    len_bytes: u64,
}

/// Just enough of a line to tell its version before its shape is known.
#[derive(Deserialize)]
struct Head {
    format: Option<u32>,
}

/// Reads a journal.
pub fn read(path: &Path) -> Result<Contents, Error> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let mut bytes = vec![];
    // A device may never end, and opening a pipe waits for its writer.
    if !path.metadata().map_err(read_error)?.is_file() {
        return Err(Error::NotAJournal { path: path.to_owned() });
    }
    let mut file = File::open(path).map_err(read_error)?;
    file.read_to_end(&mut bytes).map_err(read_error)?;
    let whole_bytes = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let lines = Lines { path, reading: None, is_sealed: false };
    let (record, odd) = lines.take_all(&bytes[..whole_bytes])?;
    let torn = whole_bytes < bytes.len();
    Ok(Contents { record, odd, torn, whole_bytes: whole_bytes as u64 })
}

/// The bytes of a journal, redacted, without lines that are damaged. Its record is [`read`]'s, redacted.
pub fn redacted(path: &Path, redaction: &mut Redaction) -> Result<Vec<u8>, Error> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let bytes = std::fs::read(path).map_err(read_error)?;
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let mut out = vec![];
    for (number, line) in (1..).zip(bytes[..whole].split(|&b| b == b'\n')) {
        if line.is_empty() || checksum::look(line) == Sum::Wrong {
            continue;
        }
        let damaged = |source| Error::Damaged { path: path.to_owned(), line: number, source };
        let redacted = redaction.line(&Line::read(&checksum::without(line)).map_err(damaged)?).map_err(damaged)?;
        let mut line = redacted.write().map_err(damaged)?;
        checksum::seal(&mut line);
        out.append(&mut line);
        out.push(b'\n');
    }
    Ok(out)
}

/// The lines of a journal that is being read.
struct Lines<'a> {
    path: &'a Path,
    reading: Option<Reading>,
    /// Whether a line before had a checksum: from there on every line has one. Those before are of an older version.
    is_sealed: bool,
}

impl Lines<'_> {
    fn take_all(mut self, bytes: &[u8]) -> Result<(Record, Vec<Odd>), Error> {
        for (number, line) in (1..).zip(bytes.split(|&b| b == b'\n')) {
            if !line.is_empty() {
                self.take(number, line)?;
            }
        }
        let path = || self.path.to_owned();
        let reading = self.reading.ok_or_else(|| Error::NotAJournal { path: path() })?;
        reading.finish().map_err(|contradiction| Error::Contradiction { path: path(), contradiction })
    }

    fn take(&mut self, number: usize, line: &[u8]) -> Result<(), Error> {
        let path = || self.path.to_owned();
        let sum = checksum::look(line);
        if sum == Sum::Wrong || (sum == Sum::Absent && self.is_sealed) {
            let is_ours = line.starts_with(BEGINNING);
            return match &mut self.reading {
                Some(reading) => {
                    reading.damaged(number);
                    Ok(())
                }
                None if is_ours || sum == Sum::Wrong => Err(Error::DamagedStudy { path: path() }),
                None => Err(Error::NotAJournal { path: path() }),
            };
        }
        self.is_sealed |= sum == Sum::Right;
        let damaged = |source| Error::Damaged { path: path(), line: number, source };
        let head: Head = match serde_json::from_slice(line) {
            Ok(head) => head,
            Err(_) if self.reading.is_none() => return Err(Error::NotAJournal { path: path() }),
            Err(error) => return Err(damaged(error)),
        };
        if let Some(found) = head.format.filter(|&found| found > FORMAT) {
            return Err(Error::Newer { path: path(), found });
        }
        if sum == Sum::Absent && head.format.is_some_and(|format| format >= SEALED_SINCE) {
            return Err(Error::DamagedStudy { path: path() });
        }
        match (&mut self.reading, Line::read(&checksum::without(line))) {
            (Some(reading), Ok(line)) => {
                let taken = reading.take(number, line);
                taken.map_err(|contradiction| Error::Contradiction { path: path(), contradiction })?;
            }
            (reading @ None, Ok(Line::Study(study))) => *reading = Some(Reading::new(number, *study)),
            // Only a study line that is ours and damaged is worth its line number.
            (None, Err(error)) if line.starts_with(BEGINNING) => return Err(damaged(error)),
            (None, _) => return Err(Error::NotAJournal { path: path() }),
            (Some(_), Err(error)) => return Err(damaged(error)),
        }
        Ok(())
    }
}

/// The format in which a line first had a checksum.
const SEALED_SINCE: u32 = 2;

/// How the first line of every journal begins.
const BEGINNING: &[u8] = b"{\"line\":\"study\"";

/// Whether a file is left of a writer that was killed in its first line. Other files without line feed are not ours.
fn is_stillborn(path: &Path) -> bool {
    let ours = |bytes: &[u8]| BEGINNING.starts_with(bytes) || bytes.starts_with(BEGINNING);
    let first_line = || -> io::Result<Vec<u8>> {
        let mut line = vec![];
        BufReader::new(File::open(path)?).read_until(b'\n', &mut line)?;
        Ok(line)
    };
    path.is_file() && first_line().is_ok_and(|line| !line.ends_with(b"\n") && ours(&line))
}

impl Journal {
    /// Opens the journal of a study for more, and says what it holds. If there is none, or one whose first line never
    /// was complete, it begins with `study`.
    pub fn open(path: &Path, study: &StudyLine) -> Result<(Self, Contents), Error> {
        if !path.exists() || is_stillborn(path) {
            Self::create(path, study)?;
        }
        let contents = read(path)?;
        let write_error = |source| Error::Write { path: path.to_owned(), source };
        let create_error = |source| Error::Create { path: path.to_owned(), source };
        let file = OpenOptions::new().write(true).open(path).map_err(create_error)?;
        let mut journal = Self { path: path.to_owned(), file, len_bytes: contents.whole_bytes };
        journal.cut_back().map_err(write_error)?;
        Ok((journal, contents))
    }

    fn create(path: &Path, study: &StudyLine) -> Result<(), Error> {
        let create_error = |source| Error::Create { path: path.to_owned(), source };
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(path).map_err(create_error)?;
        let mut journal = Self { path: path.to_owned(), file, len_bytes: 0 };
        journal.append(&Line::Study(Box::new(study.clone())))?;
        journal.sync()?;
        // The name, too: a file that is on the disk without a name is lost.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(create_error)
    }

    /// Appends a line. It survives the death of this process at once, and that of the machine after [`Self::sync`].
    pub fn append(&mut self, line: &Line) -> Result<(), Error> {
        self.is_undisturbed()?;
        let outcome = line.write().map_err(io::Error::from).and_then(|mut bytes| {
            checksum::seal(&mut bytes);
            bytes.push(b'\n');
            self.file.write_all(&bytes)?;
            Ok(bytes.len() as u64)
        });
        match outcome {
            Ok(written) => {
                self.len_bytes += written;
                Ok(())
            }
            Err(source) => {
                // The write's own error is the one to report; a torn line that stays is dropped by the reader.
                let _ = self.cut_back();
                Err(Error::Write { path: self.path.clone(), source })
            }
        }
    }

    /// Waits until everything appended has reached the disk.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.file.sync_data().map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// One call of fstat: a journal that somebody removes or empties by mistake is noticed at once, not when all trials
    /// are over.
    fn is_undisturbed(&self) -> Result<(), Error> {
        let meta = self.file.metadata().map_err(|source| Error::Write { path: self.path.clone(), source })?;
        let disturbed = |what: String| Err(Error::Disturbed { path: self.path.clone(), what });
        match meta.len() {
            _ if !meta.is_file() => Ok(()),
            _ if meta.nlink() == 0 => disturbed("removed".to_owned()),
            found if found == self.len_bytes => Ok(()),
            found => disturbed(format!("resized from {} to {found} bytes", self.len_bytes)),
        }
    }

    fn cut_back(&mut self) -> io::Result<()> {
        if self.file.metadata()?.is_file() {
            self.file.set_len(self.len_bytes)?;
            self.file.seek(SeekFrom::Start(self.len_bytes))?;
        }
        Ok(())
    }
}
