//! The snapshot of a study that is being executed: a finished page next to the journal. Somebody who serves it leaves a file that
//! asks for it; the command that executes the study writes it between blocks, when no trial is in flight, and seldom.

use crate::page::page;
use bakeoff_command::target::Target;
use bakeoff_command::{CommandError, Concluded, Features};
use bakeoff_model::record::Record;
use bakeoff_report::to_pass_on;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A snapshot is at least so old before it is written again.
const SELDOM: Duration = Duration::from_secs(30);

/// What a page says that is served, above everything else.
const NOTE: &str = "A snapshot, written between blocks. A browser that is open on the machine that measures is foreign load: look \
                    at it from another machine, or close it while trials execute.";

/// The file that holds the snapshot.
pub(crate) fn file(journal: &Path) -> PathBuf {
    journal.with_extension("snapshot.html")
}

/// The file that asks for it; in it stands who does.
fn request(journal: &Path) -> PathBuf {
    journal.with_extension("serving")
}

/// Asks for snapshots of a journal in the name of this process.
pub(crate) fn ask(journal: &Path) -> std::io::Result<()> {
    fs::write(request(journal), std::process::id().to_string())
}

/// Whether somebody who is still there asks for them.
fn is_asked(journal: &Path) -> bool {
    let owner = fs::read_to_string(request(journal)).ok().and_then(|text| text.trim().parse::<u32>().ok());
    owner.is_some_and(|process| Path::new("/proc").join(process.to_string()).exists())
}

/// When it was written, if it is there.
pub(crate) fn written(journal: &Path) -> Option<SystemTime> {
    fs::metadata(file(journal)).and_then(|about| about.modified()).ok()
}

/// Writes it if somebody asks for it and the last one is old enough. What fails here must not end a study: then there is none.
pub(crate) fn between_blocks(journal: &Path, features: Features, record: &Record) {
    let is_old = |at: SystemTime| at.elapsed().is_ok_and(|age| age >= SELDOM);
    if is_asked(journal) && written(journal).is_none_or(is_old) {
        let _ = write(journal, features, record);
    }
}

/// Writes it as a whole.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write(journal: &Path, features: Features, record: &Record) -> Result<(), CommandError> {
    let findings = to_pass_on(&features.judge(record));
    let pages = features.pages();
    let causes = features.causes(&findings);
    let concluded =
        Concluded { record, findings: &findings, causes: &causes, pages: &pages, is_json: false, time_unit: None };
    Target::of(&file(journal))?.write(page(&concluded, Some(NOTE))?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_testkit::records::{execute, measure, study};

    #[test]
    fn a_snapshot_is_written_for_one_who_asks_and_not_again_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("default-1.jsonl");
        let mut record = study(&["baseline", "b"], &["idle"], &["wall"]);
        execute(&mut record, 6, |trial| measure(trial, "wall", 1.0 + f64::from(trial.block)));
        let features = Features(&[]);
        between_blocks(&journal, features, &record);
        assert_eq!(written(&journal), None, "nobody asks for it");
        ask(&journal).unwrap();
        between_blocks(&journal, features, &record);
        let text = fs::read_to_string(file(&journal)).unwrap();
        assert!(text.contains("is foreign load") && text.ends_with("</html>"));
        fs::write(file(&journal), "the last one").unwrap();
        between_blocks(&journal, features, &record);
        assert_eq!(fs::read_to_string(file(&journal)).unwrap(), "the last one", "it is not old enough");
        let long_ago = SystemTime::now() - SELDOM;
        fs::File::options().write(true).open(file(&journal)).unwrap().set_modified(long_ago).unwrap();
        between_blocks(&journal, features, &record);
        assert_eq!(fs::read_to_string(file(&journal)).unwrap(), text);
        // One who asked and is gone asks no more; no process has this number.
        fs::remove_file(file(&journal)).unwrap();
        fs::write(request(&journal), u32::MAX.to_string()).unwrap();
        between_blocks(&journal, features, &record);
        assert_eq!(written(&journal), None);
    }
}
