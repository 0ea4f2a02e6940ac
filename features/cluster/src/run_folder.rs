//! The folder of a run on other machines: what is to be done, and what was done. Its files are the truth about the run; what
//! a scheduler says of its jobs is not. Every file is written whole and then renamed.

use crate::order::Order;
use bakeoff_command::shard::Built;
use bakeoff_command::target::replace;
use bakeoff_command::{Code, CommandError};
use bakeoff_host::disk::{read_file, read_text};
use bakeoff_host::now_unix_s;
use bakeoff_model::digest::Digest;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::Record;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// No file of a run but its journals is larger.
const MOST_BYTES: u64 = 256 << 20;

/// What is to be run, in this file.
pub(crate) const ORDER: &str = "order.json";
/// The builds of the variants: there when all of them are.
pub(crate) const BUILDS: &str = "builds.json";
/// How the last attempt to build ended.
pub(crate) const BUILD_STATUS: &str = "build.status";
/// What the last attempt to build printed.
pub(crate) const BUILD_LOG: &str = "build.log";
/// The study, as it was when the run began.
pub(crate) const STUDY: &str = "study";
/// The journal of an attempt.
pub(crate) const JOURNAL: &str = "journal.jsonl";
/// What an attempt is to run.
pub(crate) const SHARD: &str = "shard.json";
const STATUS: &str = "status";
/// What an attempt printed; and, in a run's folder, a folder of what jobs printed.
pub(crate) const LOG: &str = "log";
/// That a shard is complete. It is the last file that is written.
pub(crate) const DONE: &str = "done";
/// That somebody ended all jobs: who waits for them waits no more.
pub(crate) const CANCELLED: &str = "cancelled";
/// That nobody has submitted the run: its scripts were only shown.
pub(crate) const DRY: &str = "dry";
/// The name of the builds among those of shards, on machines behind ssh.
pub(crate) const BUILD: &str = "build";
/// The machines of a run behind ssh, in this file: those that it began with.
pub(crate) const HOSTS: &str = "hosts.json";
pub(crate) const SHARDS: &str = "shards";

/// A shard is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// The attempt that ended it.
    pub(crate) attempt: u32,
    pub(crate) sha256: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Status {
    /// The exit code of `bakeoff run`; 128 and the signal's number if a signal ended it.
    pub(crate) code: i32,
    pub(crate) node: String,
    pub(crate) ended_unix_s: f64,
    /// The last line that it printed.
    pub(crate) last: String,
    /// Whether its shard is complete; `done` says so right after.
    #[serde(default)]
    pub(crate) complete: bool,
}

impl Status {
    /// That of an attempt that has just ended, and whose shard is not complete.
    pub(crate) fn now(code: i32, node: &str, last: String) -> Self {
        Self { code, node: node.to_owned(), ended_unix_s: now_unix_s(), last, complete: false }
    }

    /// Whether the attempt ended by itself, and not because somebody or something ended it.
    pub(crate) fn is_by_itself(&self) -> bool {
        self.code < 128 && self.code != Code::Interrupted as i32
    }
}

#[derive(Debug, Clone)]
pub(crate) struct RunFolder {
    pub(crate) dir: PathBuf,
}

/// One try to run a shard.
#[derive(Debug, Clone)]
pub(crate) struct AttemptFolder {
    pub(crate) number: u32,
    pub(crate) dir: PathBuf,
}

impl RunFolder {
    pub(crate) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    pub(crate) fn order(&self) -> Result<Order, CommandError> {
        let path = self.dir.join(ORDER);
        let mut order: Order = read(&path)?.ok_or_else(|| {
            CommandError::usage(format!("there is no run in {}", self.shown()))
                .hint("`bakeoff run STUDY --on NAME` begins one")
        })?;
        order.check(&path)?;
        while let Some(next) = read::<Order>(&self.extension(&order))? {
            order = next;
        }
        Ok(order)
    }

    /// Adds shards to the order as it is now; returns it, and whether there were any to add. Of two commands that do so at the
    /// same time one has its way: a shard's number must never come to mean other passes. Numbers as in [`Order::extend`].
    pub(crate) fn extend_order(
        &self,
        plan: &Plan,
        last: u32,
        nodes: u32,
        each: u32,
    ) -> Result<(Order, bool), CommandError> {
        loop {
            let mut order = self.order()?;
            let extension = self.extension(&order);
            order.blocks = order.blocks.max(plan.blocks);
            if !order.extend(plan, last, nodes, each) {
                return Ok((order, false));
            }
            let folder = TempDir::with_prefix_in(".order.", &self.dir).map_err(|error| unwritten(&self.dir, &error))?;
            let part = folder.path().join(ORDER);
            write(&part, &order)?;
            // Unlike a rename, a link fails if the other one is there, on network file systems too.
            match fs::hard_link(&part, &extension) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                linked => linked.map_err(|error| unwritten(&extension, &error))?,
            }
            self.write_order(&order)?;
            return Ok((order, true));
        }
    }

    /// What follows an order, if anything does: a file that is never changed, and named after the number of shards before it.
    fn extension(&self, order: &Order) -> PathBuf {
        self.dir.join(format!("order.{}.json", order.shards.len()))
    }

    pub(crate) fn write_order(&self, order: &Order) -> Result<(), CommandError> {
        write(&self.dir.join(ORDER), order)
    }

    /// Whether its scripts were only shown, and nobody has begun to run them by hand either.
    pub(crate) fn is_dry(&self) -> bool {
        let has = |name: &str| self.dir.join(name).exists();
        has(DRY) && !has(BUILD_LOG) && !has(SHARDS)
    }

    /// Removes the order of a run that [`Self::is_dry`], so that it is dealt as machines.toml is now.
    pub(crate) fn forget_order_if_dry(&self) -> Result<(), CommandError> {
        let names = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let is_of_order = |name: &OsString| name == HOSTS || name.to_string_lossy().starts_with("order.");
        for path in names.filter(is_of_order).map(|name| self.dir.join(name)).filter(|_| self.is_dry()) {
            fs::remove_file(&path).map_err(|error| unwritten(&path, &error))?;
        }
        Ok(())
    }

    /// The builds, if all that can be built are there.
    pub(crate) fn builds(&self) -> Result<Option<Built>, CommandError> {
        read(&self.dir.join(BUILDS))
    }

    /// How the last attempt to build ended, if it failed.
    pub(crate) fn build_status(&self) -> Result<Option<Status>, CommandError> {
        read(&self.dir.join(BUILD_STATUS))
    }

    pub(crate) fn shard(&self, shard: u32) -> PathBuf {
        self.dir.join(SHARDS).join(shard.to_string())
    }

    pub(crate) fn done(&self, shard: u32) -> Result<Option<Done>, CommandError> {
        read(&self.shard(shard).join(DONE))
    }

    /// The attempts of a shard, the lowest first.
    pub(crate) fn attempts(&self, shard: u32) -> Vec<AttemptFolder> {
        let entries = fs::read_dir(self.shard(shard)).into_iter().flatten().flatten();
        let attempt = |entry: fs::DirEntry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            Some(AttemptFolder { number, dir: entry.path() })
        };
        let mut attempts: Vec<AttemptFolder> = entries.filter_map(attempt).collect();
        attempts.sort_by_key(|attempt| attempt.number);
        attempts
    }

    /// Begins an attempt: the smallest number that nobody has. Numbers of jobs are given again by schedulers; this one is not.
    pub(crate) fn begin(&self, shard: u32) -> Result<AttemptFolder, CommandError> {
        let of_shard = self.shard(shard);
        fs::create_dir_all(&of_shard).map_err(|error| unwritten(&of_shard, &error))?;
        let mut number = 0;
        loop {
            let dir = of_shard.join(number.to_string());
            match fs::create_dir(&dir) {
                Ok(()) => return Ok(AttemptFolder { number, dir }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(unwritten(&dir, &error)),
            }
        }
    }

    /// Says that a shard is complete, once its journal is on the disk.
    pub(crate) fn finish(&self, shard: u32, attempt: &AttemptFolder) -> Result<(), CommandError> {
        let journal = attempt.dir.join(JOURNAL);
        let failed = |error: io::Error| unwritten(&journal, &error);
        File::open(&journal).and_then(|file| file.sync_all()).map_err(failed)?;
        let sha256 = sha256(&fs::read(&journal).map_err(failed)?);
        write(&self.shard(shard).join(DONE), &Done { attempt: attempt.number, sha256 })
    }

    /// Fails if a shard is done and the journal that ended it is not there as it was: its blocks would be missed by nobody.
    pub(crate) fn check(&self, shard: u32) -> Result<(), CommandError> {
        let Some(done) = self.done(shard)? else { return Ok(()) };
        let journal = self.shard(shard).join(done.attempt.to_string()).join(JOURNAL);
        if fs::read(&journal).is_ok_and(|bytes| sha256(&bytes) == done.sha256) {
            return Ok(());
        }
        let error = format!("shard {shard} is done, but its journal {} has changed since", shown(&journal));
        let remedy =
            format!("restore it, or remove {} to run again what is missing", shown(&self.shard(shard).join(DONE)));
        Err(CommandError::usage(error).hint(remedy))
    }

    /// The log of the last job of a shard, or of the builds, that ended before this program could begin; and its last words,
    /// after a colon. A scheduler's log is in the run's folder, that of a machine behind ssh in the shard's.
    pub(crate) fn early_log(&self, shard: Option<u32>) -> (PathBuf, String) {
        let logs = fs::read_dir(self.dir.join(LOG)).into_iter().flatten().flatten().map(|log| log.path());
        let end = shard.map_or(String::new(), |shard| format!("_{shard}"));
        let own = logs.filter(|log| log.to_string_lossy().ends_with(&end));
        let name = shard.map_or(BUILD.to_owned(), |shard| shard.to_string());
        let all = own.chain([self.dir.join(SHARDS).join(name).join(LOG)]).filter(|log| log.exists());
        let last = all.max_by_key(|log| fs::metadata(log).and_then(|file| file.modified()).ok());
        let words = last.as_deref().map(last_line).filter(|words| !words.is_empty());
        (last.unwrap_or(self.dir.join(LOG)), words.map_or(String::new(), |words| format!(": {words}")))
    }

    pub(crate) fn shown(&self) -> String {
        shown(&self.dir)
    }
}

impl AttemptFolder {
    /// Its journal, if it has one that can be read: it may be in the midst of being written.
    pub(crate) fn journal(&self) -> Option<Record> {
        bakeoff_journal::read(&self.dir.join(JOURNAL)).ok().map(|read| read.record)
    }

    /// The same for its blocks; fails if a newer version wrote it, because they would be lost without a word.
    pub(crate) fn to_collect(&self) -> Result<Option<Record>, CommandError> {
        match bakeoff_journal::read(&self.dir.join(JOURNAL)) {
            Err(error @ bakeoff_journal::Error::Newer { .. }) => Err(error.into()),
            read => Ok(read.ok().map(|read| read.record)),
        }
    }

    pub(crate) fn status(&self) -> Result<Option<Status>, CommandError> {
        read(&self.dir.join(STATUS))
    }

    pub(crate) fn write_status(&self, status: &Status) -> Result<(), CommandError> {
        write(&self.dir.join(STATUS), status)
    }
}

/// The last error in a log, or the last line that says something.
pub(crate) fn last_line(log: &Path) -> String {
    let bytes = read_file(log, MOST_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let says = |line: &&str| !line.trim().is_empty();
    let error = text.lines().rev().filter(says).find_map(|line| line.strip_prefix("error: "));
    clean(error.or_else(|| text.lines().rev().find(says)).unwrap_or_default())
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Digest::default().bytes(bytes).hex()
}

/// A path, for people.
pub(crate) fn shown(path: &Path) -> String {
    clean(&path.display().to_string())
}

pub(crate) fn unwritten(path: &Path, error: &io::Error) -> CommandError {
    CommandError::unwritten(&format!("cannot write {}", shown(path)), error)
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::usage(format!("cannot read {}: {error}", shown(path)))
}

/// A file of a run; none if it is not there.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, CommandError> {
    let text = match read_text(path, MOST_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text,
    };
    let read = text.and_then(|text| serde_json::from_str(&text).map_err(io::Error::from));
    read.map(Some).map_err(|error| {
        unreadable(path, &error)
            .hint("if somebody else wrote it, move it away; blocks that were collected are in the study's journal")
    })
}

/// Writes a file whole: nobody sees half of it, also after a crash.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), CommandError> {
    write_bytes(path, &serde_json::to_vec_pretty(value)?)
}

/// The same with bytes.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = replace(path, bytes).and_then(|()| File::open(folder)?.sync_all());
    written.map_err(|error| unwritten(path, &error))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_said_that_never_came_to_its_program_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::at(folder.path());
        assert_eq!(run.early_log(None), (folder.path().join(LOG), String::new()));
        fs::create_dir(folder.path().join(LOG)).unwrap();
        let logs = [("9", "no licence\n\n"), ("10_1", "module: not found\n"), ("10_11", "full\n"), ("11_2", "\n")];
        for (seconds, (name, text)) in logs.into_iter().enumerate() {
            let log = folder.path().join(LOG).join(name);
            fs::write(&log, text).unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds as u64);
            File::options().write(true).open(&log).unwrap().set_modified(time).unwrap();
        }
        let words = [Some(1), Some(11), Some(2), Some(3)].map(|shard| run.early_log(shard).1);
        assert_eq!(words, [": module: not found", ": full", "", ""]);
        // A machine behind ssh has it in the shard's folder.
        for (name, shard) in [("3", Some(3)), (BUILD, None)] {
            let log = folder.path().join(SHARDS).join(name).join(LOG);
            fs::create_dir_all(log.parent().unwrap()).unwrap();
            fs::write(&log, "no compiler\n").unwrap();
            assert_eq!(run.early_log(shard), (log, ": no compiler".to_owned()));
        }
    }

    #[test]
    fn an_order_that_was_only_shown_is_forgotten_and_another_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::at(folder.path());
        let plan = Plan { blocks: 8, ..Plan::default() };
        let shards_if_forgotten = |nodes| {
            run.forget_order_if_dry().unwrap();
            if run.order().is_err() {
                run.write_order(&Order::of(vec![], &plan, false)).unwrap();
            }
            run.extend_order(&plan, 8, nodes, u32::MAX).unwrap().0.shards.len()
        };
        assert_eq!(shards_if_forgotten(2), 2);
        assert_eq!(shards_if_forgotten(4), 2, "it may have been submitted");
        fs::write(folder.path().join(DRY), "").unwrap();
        assert_eq!(shards_if_forgotten(4), 4);
        run.begin(0).unwrap();
        assert_eq!(shards_if_forgotten(2), 4, "somebody runs it by hand");
    }

    #[test]
    fn of_two_commands_that_add_shards_neither_changes_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::at(folder.path());
        let plan = Plan { blocks: 40, ..Plan::default() };
        run.write_order(&Order::of(vec![], &plan, false)).unwrap();
        let before = run.order().unwrap();
        let (first, is_new) = run.extend_order(&plan, 8, 3, u32::MAX).unwrap();
        assert!(is_new && first.shards.len() == 3);
        // The other one has read the order before that, and writes what it has read.
        run.write_order(&before).unwrap();
        assert_eq!(run.order().unwrap(), first);
        let (second, is_new) = run.extend_order(&plan, 8, 3, u32::MAX).unwrap();
        assert!(!is_new && second == first);
        let (third, is_new) = run.extend_order(&plan, 12, 3, u32::MAX).unwrap();
        assert!(is_new && third.shards[..3] == first.shards[..] && third.shards.len() > 3);
        assert_eq!(run.order().unwrap(), third);
    }
}
