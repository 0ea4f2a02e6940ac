//! The entries of a zip. [`super::tree`] writes them.

use super::error::{Fault, Refusal};
use super::limits::{Meter, Metered};
use super::tree::{Entry, EntryKind, MAX_TARGET_BYTES, Tree};
use std::fs::File;
use std::io::{BufReader, Read};
use std::time::{Duration, SystemTime};
use zip::ZipArchive;
use zip::extra_fields::ExtraField;
use zip::read::ZipFile;
use zip::result::ZipError;

/// The part of a mode that says what a file is (inode(7)).
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// Adds all entries of a zip to the tree.
pub(super) fn add_all(file: File, meter: &Meter, tree: &mut Tree<'_>) -> Result<(), Fault> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(refusal)?;
    for index in 0..archive.len() {
        meter.entry()?;
        let raw = archive.by_index_raw(index).map_err(refusal)?.name_raw().to_vec();
        let mut entry = archive.by_index(index).map_err(|error| Fault::from(refusal(error)).of(&raw))?;
        // Without the mark of UTF-8 a name is in the alphabet of the first PC; but most who pack on Linux forget it.
        let name = match std::str::from_utf8(&raw) {
            Ok(_) => raw,
            Err(_) => entry.name().map_err(|error| Fault::from(refusal(error)).of(&raw))?.as_bytes().to_vec(),
        };
        add(&mut entry, &name, meter, tree).map_err(|fault| fault.of(&name))?;
    }
    Ok(())
}

fn add(entry: &mut ZipFile<'_, BufReader<File>>, name: &[u8], meter: &Meter, tree: &mut Tree<'_>) -> Result<(), Fault> {
    let modified = modified(entry);
    let mode = entry.unix_mode().unwrap_or(0);
    let executable = mode & 0o111 != 0;
    let folder = name.ends_with(b"/") || mode & TYPE == FOLDER;
    let mut content = Metered { inner: entry, meter };
    match mode & TYPE {
        0 | REGULAR | FOLDER if folder => tree.add(Entry { name, modified, kind: EntryKind::Folder }),
        0 | REGULAR => tree.add(Entry { name, modified, kind: EntryKind::File { content: &mut content, executable } }),
        LINK => {
            let mut target = vec![];
            content.take(MAX_TARGET_BYTES + 1).read_to_end(&mut target)?;
            tree.add(Entry { name, modified, kind: EntryKind::SymbolicLink(&target) })
        }
        _ => Err(Refusal::Kind("a device, a pipe or a socket".to_owned()).into()),
    }
}

fn refusal(error: ZipError) -> Refusal {
    match error {
        ZipError::Io(error) => error.into(),
        ZipError::UnsupportedArchive(what) => Refusal::Kind(format!("packed with an unsupported method: {what}")),
        other => Refusal::Damaged(other.to_string()),
    }
}

/// When it was modified. A zip made under Unix says it in UTC; the time of DOS knows no zone and counts as UTC.
fn modified(entry: &ZipFile<'_, BufReader<File>>) -> Option<SystemTime> {
    let unix = entry.extra_data_fields().find_map(|field| match field {
        ExtraField::ExtendedTimestamp(times) => times.mod_time(),
        _ => None,
    });
    let dos = || {
        let time = entry.last_modified()?;
        let days = days_since_1970(time.year().into(), time.month().into(), time.day().into())?;
        let (hour, minute, second) = (u64::from(time.hour()), u64::from(time.minute()), u64::from(time.second()));
        Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
    };
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(unix.map(u64::from).or_else(dos)?))
}

/// Days from the first of January 1970 to a day of the Gregorian calendar.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    // A year that begins in March has its leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let of_year = (153 * month + 2) / 5 + day.checked_sub(1)?;
    (year * 365 + year / 4 - year / 100 + year / 400 + of_year).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::days_since_1970;

    #[test]
    fn days_are_those_of_the_calendar() {
        for ((year, month, day), expect) in [
            ((1970, 1, 1), Some(0)),
            ((1980, 1, 1), Some(3_652)),
            ((2000, 2, 29), Some(11_016)),
            ((2024, 3, 1), Some(19_783)),
            ((1969, 12, 31), None),
            ((1980, 0, 0), None),
        ] {
            assert_eq!(days_since_1970(year, month, day), expect, "{year}-{month}-{day}");
        }
    }
}
