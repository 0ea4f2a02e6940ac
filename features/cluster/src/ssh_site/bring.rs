//! Brings the files of shards from a far machine here. A cut connection loses nothing; digests tell what is complete.

use super::far::{Failure, Far};
use crate::run_folder::{
    BUILD_STATUS, BUILDS, DONE, Done, JOURNAL, LOG, RunFolder, SHARDS, Status, sha256, write, write_bytes,
};
use crate::site::{Job, JobState};
use bakeoff_command::CommandError;
use bakeoff_host::now_unix_s;
use bakeoff_model::plain::clean;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

/// Files of one call; the others are brought by the next one.
const MOST_FILES: usize = 500;

/// What a far machine says about a run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Listed {
    pub(super) jobs: Vec<Job>,
    /// What says that a shard is complete comes after all that it is about.
    files: Vec<FarFile>,
}

#[derive(Debug, PartialEq)]
struct FarFile {
    bytes: u64,
    path: PathBuf,
}

impl Listed {
    pub(super) fn of(far: &Far<'_>, shards: &[u32]) -> Result<Self, Failure> {
        Ok(Self::parse(&String::from_utf8_lossy(&far.ask("list", shards, None)?), &far.name()))
    }

    /// Reads it; a line that is not understood is none of ours.
    fn parse(text: &str, machine: &str) -> Self {
        let mut listed = Self::default();
        for line in text.lines() {
            match line.splitn(4, ' ').collect::<Vec<_>>()[..] {
                ["job", name, state, since] => {
                    let reason = "for the shard that runs there".to_owned();
                    let waits = JobState::Waiting { reason, remedy: None };
                    listed.jobs.push(Job {
                        shard: name.parse().ok(),
                        state: if state == "waits" { waits } else { JobState::Running },
                        node: Some(machine.to_owned()),
                        since: clean(since),
                    });
                }
                ["file", bytes, path] => {
                    let path = PathBuf::from(path);
                    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
                    listed.files.extend(bytes.parse().ok().filter(|_| is_below).map(|bytes| FarFile { bytes, path }));
                }
                _ => {}
            }
        }
        listed
    }

    /// What is done over there, and not yet known here, as jobs: it is not to be started again.
    pub(super) fn coming(&self, run: &RunFolder, number: usize, machine: &str) -> Vec<Job> {
        let says_done = |file: &&FarFile| file.path == Path::new(BUILDS) || file.path.ends_with(DONE);
        let coming = self.files.iter().filter(says_done).filter(|file| missing(run, number, file).is_some());
        let job = |FarFile { path, .. }: &FarFile| Job {
            shard: path.iter().nth(1).and_then(|name| name.to_str()?.parse().ok()),
            state: JobState::Waiting { reason: "for its files to come here".to_owned(), remedy: None },
            node: Some(machine.to_owned()),
            since: String::new(),
        };
        coming.map(job).collect()
    }
}

/// A part of a far file that is not here.
struct Missing {
    /// There.
    from: PathBuf,
    /// Here.
    to: PathBuf,
    offset: u64,
    bytes: u64,
}

/// Brings what is missing here from the machine of this number. Its caller sees to it that it is the only one.
pub(super) fn bring(far: &Far<'_>, run: &RunFolder, number: usize, shards: &[u32]) -> Result<(), Failure> {
    let listed = Listed::of(far, shards)?;
    let missing: Vec<Missing> =
        listed.files.iter().filter_map(|file| missing(run, number, file)).take(MOST_FILES).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let word = |one: &Missing| [one.from.display().to_string(), one.offset.to_string(), one.bytes.to_string()];
    let answer = far.once("give", &missing.iter().flat_map(word).collect::<Vec<_>>(), None);
    let mut rest = &answer.out[..];
    for one in &missing {
        let (came, more) = rest.split_at(rest.len().min(usize::try_from(one.bytes).unwrap_or(usize::MAX)));
        rest = more;
        keep(run, one, came)?;
    }
    answer.failure.map_or(Ok(()), Err)
}

/// Which builds the machine of this number has made, once it has.
pub(super) fn built(run: &RunFolder, number: usize) -> PathBuf {
    run.dir.join("built").join(number.to_string())
}

/// Whether a file only ever grows; others are written whole.
fn grows(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == JOURNAL || name == LOG)
}

fn missing(run: &RunFolder, number: usize, file: &FarFile) -> Option<Missing> {
    let to = match file.path == Path::new(BUILDS) {
        true => built(run, number),
        false => run.dir.join(&file.path),
    };
    let have = fs::metadata(&to).ok().map(|found| found.len());
    let missing = |offset: u64| Missing { from: file.path.clone(), to: to.clone(), offset, bytes: file.bytes - offset };
    match have {
        None => Some(missing(0)),
        Some(_) if !grows(&file.path) => None,
        Some(have) if have < file.bytes => Some(missing(have)),
        Some(have) if have == file.bytes => None,
        // Somebody removed the run over there: this is of another file.
        Some(_) => fs::remove_file(&to).ok().map(|()| missing(0)),
    }
}

/// Writes here what came of a file.
fn keep(run: &RunFolder, one: &Missing, came: &[u8]) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Refused(format!("cannot write {}: {error}", one.to.display()));
    if came.is_empty() && one.bytes > 0 {
        return Ok(());
    }
    fs::create_dir_all(one.to.parent().unwrap_or(&run.dir)).map_err(failed)?;
    if grows(&one.from) {
        return File::options()
            .create(true)
            .append(true)
            .open(&one.to)
            .and_then(|mut file| file.write_all(came))
            .map_err(failed);
    }
    if (came.len() as u64) < one.bytes {
        return Ok(());
    }
    let unwritten = |error: CommandError| Failure::Refused(error.render().trim_end().to_owned());
    if one.from == Path::new(BUILD_STATUS) {
        // Clocks differ: it ended before now.
        let status: Status = serde_json::from_slice(came).map_err(|error| failed(error.into()))?;
        return write(&one.to, &Status { ended_unix_s: now_unix_s(), ..status }).map_err(unwritten);
    }
    if one.from.starts_with(SHARDS) && one.from.file_name().is_some_and(|name| name == DONE) {
        check(one, came)?;
    }
    write_bytes(&one.to, came).map_err(unwritten)
}

/// Fails if the journal of a complete shard is not the one that is over there, and forgets it.
fn check(one: &Missing, done: &[u8]) -> Result<(), Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure::Refused(format!("{}: {why}", one.to.display()));
    let done: Done = serde_json::from_slice(done).map_err(|error| failed(&error))?;
    let journal = one.to.with_file_name(done.attempt.to_string()).join(JOURNAL);
    let bytes = fs::read(&journal).map_err(|error| failed(&error))?;
    if sha256(&bytes) == done.sha256 {
        return Ok(());
    }
    fs::remove_file(&journal).map_err(|error| failed(&error))?;
    Err(failed(&"the journal that came is not the one over there; it is brought again"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_leads_nowhere_else() {
        let text = "job build runs 2026-11-28 01:00\njob 3 waits \nfile 5 shards/3/0/journal.jsonl\nfile 1 ../x\nfile 1 /x\nhello\n";
        let job =
            |shard, state, since: &str| Job { shard, state, node: Some("box".to_owned()), since: since.to_owned() };
        let waits = JobState::Waiting { reason: "for the shard that runs there".to_owned(), remedy: None };
        let expect = Listed {
            jobs: vec![job(None, JobState::Running, "2026-11-28 01:00"), job(Some(3), waits, "")],
            files: vec![FarFile { bytes: 5, path: "shards/3/0/journal.jsonl".into() }],
        };
        assert_eq!(Listed::parse(text, "box"), expect);
    }

    #[test]
    fn what_is_done_over_there_is_not_started_again_while_its_files_come() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::at(folder.path());
        let text = "file 2 shards/3/done\nfile 5 shards/3/0/journal.jsonl\nfile 2 shards/4/done\nfile 2 builds.json\n";
        let shards = || {
            let coming = Listed::parse(text, "box").coming(&run, 0, "box");
            coming.iter().map(|job| job.shard).collect::<Vec<_>>()
        };
        assert_eq!(shards(), [Some(3), Some(4), None]);
        for file in ["built/0", "shards/3/done"] {
            fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
            fs::write(folder.path().join(file), "{}").unwrap();
        }
        assert_eq!(shards(), [Some(4)]);
    }

    #[test]
    fn parts_become_a_file_and_a_spoiled_one_is_not_taken_for_complete() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::at(folder.path());
        let part = |path: &str, bytes| missing(&run, 0, &FarFile { bytes, path: path.into() });
        let journal = "shards/2/0/journal.jsonl";
        keep(&run, &part(journal, 4).unwrap(), b"ab").unwrap();
        let rest = part(journal, 4).unwrap();
        assert_eq!((rest.offset, rest.bytes), (2, 2));
        keep(&run, &rest, b"cd").unwrap();
        assert!(part(journal, 4).is_none());
        let done = |sha256: String| serde_json::to_vec(&Done { attempt: 0, sha256 }).unwrap();
        let good = done(sha256(b"abcd"));
        let file = part("shards/2/done", good.len() as u64).unwrap();
        keep(&run, &file, &good[1..]).unwrap();
        assert!(run.done(2).unwrap().is_none(), "a part of it says nothing");
        let bad = done(sha256(b"abcx"));
        assert!(matches!(keep(&run, &file, &bad), Err(Failure::Refused(_))));
        assert!(run.done(2).unwrap().is_none() && part(journal, 4).is_some_and(|all| all.offset == 0));
        keep(&run, &part(journal, 4).unwrap(), b"abcd").unwrap();
        keep(&run, &file, &good).unwrap();
        assert!(run.done(2).unwrap().is_some());
    }
}
