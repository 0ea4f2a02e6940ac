//! Where the harness of a workload leaves what it measured, and how that becomes the trial's: a file or a folder at a
//! place that no earlier trial has written to, or else the standard output. What is in it, others read.

use super::outcome::Outputs;
use super::stage::{Cell, Stage, folder_error, numbered};
use crate::{Error, Execution};
use bakeoff_model::metric::{METRICS, Unit};
use bakeoff_model::suite::{Left, MOST_PARTS, Part, Parts};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The variable that names the place of a process.
pub(super) const VARIABLE: &str = "BAKEOFF_HARNESS";

/// More than this is not read of a process, in bytes.
const MOST_BYTES: u64 = 64 << 20;
/// Nor are more files than these.
const MOST_FILES: usize = 20_000;
/// Folders of a folder that are looked into.
const DEEPEST: usize = 16;

/// Has nothing be at the place of a process.
pub(super) fn make_ready(stage: &Stage, number: u32) -> Result<(), Error> {
    let place = place_of(stage, number);
    let gone = match fs::symlink_metadata(&place) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(&place),
        Ok(_) => fs::remove_file(&place),
        Err(_) => Ok(()),
    };
    gone.map_err(|source| folder_error(&place, source))
}

pub(super) fn place_of(stage: &Stage, number: u32) -> PathBuf {
    let place = stage.setup.scratch.join(numbered("harness", number));
    std::path::absolute(&place).unwrap_or(place)
}

/// Puts each benchmark's values into the execution. Of several processes, rates are summed, other values averaged.
pub(super) fn take(
    stage: &Stage,
    cell: Cell<'_>,
    outputs: &[Outputs],
    execution: &mut Execution,
) -> Result<(), String> {
    let Some(harness) = &cell.workload.harness else { return Ok(()) };
    let Some(reader) = stage.setup.harnesses else {
        return Err(format!("this version of Bakeoff does not support the harness `{harness}`"));
    };
    let mut all: Vec<Parts> = vec![];
    for (number, outputs) in (1..).zip(outputs) {
        let left = left(&place_of(stage, number), &outputs.stdout)?;
        let parts = reader.read(harness, &left)?;
        if parts.len() > MOST_PARTS {
            let remedy = "use the harness's filter to run fewer";
            return Err(format!(
                "the harness ran {} benchmarks, but at most {MOST_PARTS} are allowed; {remedy}",
                parts.len()
            ));
        }
        all.push(parts);
    }
    execution.parts = if all.len() == 1 { all.remove(0) } else { merge(&all) };
    Ok(())
}

/// What is at the place of a process, or else what it printed.
fn left(place: &Path, stdout: &Path) -> Result<Left, String> {
    let unread = |error: io::Error| format!("cannot read a result file of the harness: {error}");
    let Ok(there) = fs::symlink_metadata(place) else {
        return whole(stdout).map(Left::Printed).map_err(|error| format!("cannot read the standard output: {error}"));
    };
    if !there.is_dir() {
        return whole(place).map(Left::File).map_err(unread);
    }
    let mut files = BTreeMap::new();
    gather(place, place, DEEPEST, &mut files).map_err(unread)?;
    Ok(Left::Folder(files))
}

fn gather(root: &Path, folder: &Path, deeper: usize, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        if kind.is_dir() && deeper > 0 {
            gather(root, &path, deeper - 1, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "json") {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            files.insert(name, whole(&path)?);
            let bytes: usize = files.values().map(Vec::len).sum();
            if files.len() > MOST_FILES || bytes as u64 > MOST_BYTES {
                return Err(too_much());
            }
        }
    }
    Ok(())
}

/// A file, of which nobody knows how long it is.
fn whole(path: &Path) -> io::Result<Vec<u8>> {
    // What is no file may have no end, or never answer.
    if !fs::metadata(path)?.is_file() && path != Path::new("/dev/null") {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = vec![];
    let read = File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MOST_BYTES { Err(too_much()) } else { Ok(bytes) }
}

fn too_much() -> io::Error {
    io::Error::other(format!("it is larger than {} MiB", MOST_BYTES >> 20))
}

/// The benchmarks of several processes. One that failed in one of them, or that one of them does not have, failed.
fn merge(all: &[Parts]) -> Parts {
    let mut merged = Parts::new();
    for name in all.iter().flat_map(Parts::keys) {
        let each: Vec<Option<&Part>> = all.iter().map(|parts| parts.get(name)).collect();
        let failed = each.iter().find_map(|part| match part {
            None => Some("some processes did not report it".to_owned()),
            Some(part) => part.failed.clone(),
        });
        let mut part = Part { failed, ..Part::default() };
        let metrics = each.iter().copied().flatten().flat_map(|part| part.values.keys());
        for metric in metrics {
            let values: Vec<f64> = each.iter().flatten().filter_map(|part| part.values.get(metric)).copied().collect();
            let is_rate = METRICS.iter().any(|known| known.name == metric && known.unit == Unit::PerSecond);
            let sum: f64 = values.iter().sum();
            part.values.insert(metric.to_owned(), if is_rate { sum } else { sum / values.len() as f64 });
        }
        merged.insert(name.clone(), part);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(list: &[(&str, f64)]) -> Parts {
        let part = |(name, x): &(&str, f64)| {
            let values = [("sec/op".to_owned(), *x), ("B/s".to_owned(), *x)].into();
            (name.to_string(), Part { values, failed: None })
        };
        list.iter().map(part).collect()
    }

    #[test]
    fn processes_at_once_share_a_benchmark() {
        let merged = merge(&[parts(&[("a", 1.0), ("b", 1.0)]), parts(&[("a", 3.0)])]);
        assert_eq!((merged["a"].values["sec/op"], merged["a"].values["B/s"]), (2.0, 4.0));
        assert_eq!(merged["a"].failed, None);
        assert_eq!(merged["b"].failed.as_deref(), Some("some processes did not report it"));
    }

    #[test]
    fn what_is_at_the_place_is_read_and_else_the_output() {
        let folder = tempfile::tempdir().unwrap();
        let (place, stdout) = (folder.path().join("harness"), folder.path().join("stdout"));
        fs::write(&stdout, "printed").unwrap();
        assert_eq!(left(&place, &stdout), Ok(Left::Printed(b"printed".to_vec())));
        fs::write(&place, "written").unwrap();
        assert_eq!(left(&place, &stdout), Ok(Left::File(b"written".to_vec())));
        fs::remove_file(&place).unwrap();
        fs::create_dir_all(place.join("a/new")).unwrap();
        fs::write(place.join("a/new/sample.json"), "1").unwrap();
        fs::write(place.join("a/report.html"), "2").unwrap();
        std::os::unix::fs::symlink("/etc", place.join("elsewhere")).unwrap();
        assert_eq!(left(&place, &stdout), Ok(Left::Folder([("a/new/sample.json".to_owned(), b"1".to_vec())].into())));
        fs::remove_dir_all(&place).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &place).unwrap();
        assert!(left(&place, &stdout).unwrap_err().contains("it is not a file"));
    }
}
