//! A soak: a real study with a build, services, load, tracing and hostile workloads, run over and over, while a seed
//! decides what happens to it: `kill -9` of the program, its launchers, its tracer, in all combinations; interrupts; a full
//! disk; a clock that is set; damage to the cache. Whatever it was, afterwards no trial may be lost or doubled, and nothing
//! may stay: no process, cgroup, mount or folder. It lasts as long as `BAKEOFF_SOAK` says, in seconds; `SEED` makes it do the
//! same again, as far as time allows. It begins no study after that time.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

#[path = "commands/common/mod.rs"]
mod common;
#[path = "soak/study.rs"]
mod study;

use bakeoff_model::record::{Outcome, Record};
use bakeoff_model::shuffle::Stream;
use common::Sandbox;
use common::processes::{alive_in, children, signal};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};
use study::{EVIDENCE, HOSTILE, SHELF, STUDY};

/// Seconds that it lasts unless `BAKEOFF_SOAK` says otherwise: enough for each kind of thing to happen about once.
const SHORT_S: u64 = 10;
/// Nothing that it waits for takes nearly so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The one that kills its launcher: its trials fail.
const KILLS_ITS_LAUNCHER: usize = 4;

/// What happens to a command.
#[derive(Debug, Clone, Copy)]
enum Deed {
    /// `kill -9`, by the three bits: the program, its launchers (or one of them), its tracer.
    Kill(u64),
    /// So many interrupts.
    Interrupt(u64),
    FullDisk,
    SetClock,
    DamageCache,
}

struct Soak {
    sandbox: Sandbox,
    study: String,
    stream: Stream,
    /// A tmpfs, where one can be mounted.
    disk: Option<PathBuf>,
    faketime: Option<&'static str>,
    tally: BTreeMap<String, u32>,
    /// Of this study: namespaces are not used.
    no_namespaces: bool,
    /// Processes were left that nobody lived to kill: the next command kills them before its first trial.
    may_have_left: bool,
    hostile: usize,
}

impl Drop for Soak {
    fn drop(&mut self) {
        for (what, times) in &self.tally {
            println!("{times:5} × {what}");
        }
        if let Some(disk) = &self.disk {
            let _ = Command::new("umount").arg("-l").arg(disk).status();
        }
    }
}

impl Soak {
    fn new(stream: Stream, place: &Path) -> Self {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=32m", "soak"]).arg(place).stderr(Stdio::null());
        let mounted = mount.status().is_ok_and(|status| status.success());
        if !mounted {
            println!("skipped: full disks: no tmpfs can be mounted");
        }
        let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
        let faketime = Some(library).filter(|library| Path::new(library).exists());
        if faketime.is_none() {
            println!("skipped: a clock that is set: {library} is not there (package faketime)");
        }
        let sandbox = Sandbox::within(place, STUDY);
        let why = sandbox.command(&["facts", "--help"]).output().unwrap().status.success().then_some(EVIDENCE);
        let study = STUDY.to_owned() + why.unwrap_or_default();
        fs::create_dir(sandbox.path().join("tmp")).unwrap();
        sandbox.write("shelf.pl", SHELF);
        let disk = mounted.then(|| place.to_owned());
        Self {
            sandbox,
            study,
            stream,
            disk,
            faketime,
            tally: BTreeMap::new(),
            no_namespaces: false,
            may_have_left: false,
            hostile: 0,
        }
    }

    fn count(&mut self, what: &str) {
        *self.tally.entry(what.to_owned()).or_default() += 1;
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.sandbox.command(words);
        command.env("TMPDIR", self.sandbox.path().join("tmp"));
        command.env("BAKEOFF_NAMESPACES", if self.no_namespaces { "off" } else { "on" });
        if let Some(library) = self.faketime {
            // Of the program alone: its launchers and trials have another environment. Durations stay true.
            command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", self.clock());
            command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        command
    }

    fn clock(&self) -> PathBuf {
        self.sandbox.path().join("clock")
    }

    fn set_clock(&self, by: &str) {
        // Readers see one or the other.
        let new = self.sandbox.path().join("clock.new");
        fs::write(&new, format!("{by}\n")).unwrap();
        fs::rename(new, self.clock()).unwrap();
    }

    /// A study of its own, from the first trial to the last, with some deeds before that.
    fn study(&mut self) {
        let state = self.sandbox.study().join(".bakeoff");
        let _ = fs::remove_dir_all(&state);
        self.hostile = self.stream.below(HOSTILE.len() as u64) as usize;
        self.sandbox.write("study.toml", &self.study.replace("HOSTILE", HOSTILE[self.hostile]));
        self.no_namespaces = self.stream.chance(0.4);
        if self.faketime.is_some() {
            self.set_clock("+0");
        }
        let blocks = (2 + self.stream.below(3)).to_string();
        let words = ["run", "STUDY", "--quiet", "--blocks", &blocks];
        for _ in 0..2 + self.stream.below(5) {
            if self.deed(&words) {
                break;
            }
        }
        self.finish(&words, blocks.parse().unwrap());
    }

    /// Starts the command and does something to it; whether it ended before that.
    fn deed(&mut self, words: &[&str]) -> bool {
        let mut child = self.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let deed = match self.stream.below(14) {
            kill @ 1..=7 => Deed::Kill(kill),
            interrupts @ 8..=9 => Deed::Interrupt(interrupts - 7),
            10 | 11 if self.disk.is_some() => Deed::FullDisk,
            12 if self.faketime.is_some() => Deed::SetClock,
            13 => Deed::DamageCache,
            _ => Deed::Kill(1),
        };
        let before = self.sandbox.trials_so_far();
        let trials = before + self.stream.below(12) as usize;
        let wants_tracer = matches!(deed, Deed::Kill(bits) if bits & 4 > 0);
        let is_there = |child: &Child| match wants_tracer {
            true => tracer(child.id()).is_some(),
            false => self.sandbox.trials_so_far() >= trials,
        };
        while !is_there(&child) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // The moment is what is varied here; nothing is waited for.
        let most_us = if wants_tracer { 2_000 } else { 30_000 };
        std::thread::sleep(Duration::from_micros(self.stream.below(most_us)));
        if child.try_wait().unwrap().is_some() {
            self.count("ended before anything happened");
            return !wants_tracer;
        }
        self.carry_out(deed, &mut child);
        self.wait(&mut child, deed);
        if self.faketime.is_some() {
            self.set_clock("+0");
        }
        // What kills its launcher may do so in the same moment.
        let with_launcher = if self.hostile == KILLS_ITS_LAUNCHER { 1 } else { 3 };
        let all_killed = matches!(deed, Deed::Kill(bits) if bits & with_launcher == with_launcher);
        // One that came to no trial may have killed nothing of what the one before left.
        let has_killed = self.sandbox.trials_so_far() > before;
        self.may_have_left = self.no_namespaces && (all_killed || (self.may_have_left && !has_killed));
        if !self.may_have_left {
            self.nothing_is_left();
        }
        self.check_journals();
        false
    }

    fn carry_out(&mut self, deed: Deed, child: &mut Child) {
        let pid = child.id();
        match deed {
            Deed::Kill(bits) => {
                let launchers = launchers(pid);
                let one = launchers.get(self.stream.below(launchers.len().max(1) as u64) as usize).copied();
                let tracer = tracer(pid).filter(|_| bits & 4 > 0);
                // With the program they all go; alone, any one does.
                let these = if bits & 3 == 3 { launchers } else { one.into_iter().collect() };
                let these: Vec<u32> = these.into_iter().filter(|_| bits & 2 > 0).collect();
                let what = [(bits & 1 > 0, "program"), (!these.is_empty(), "launcher"), (tracer.is_some(), "tracer")];
                let what: Vec<&str> = what.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect();
                let where_ = if self.no_namespaces { "without namespaces" } else { "in namespaces" };
                if !what.is_empty() {
                    self.count(&format!("kill -9 of {} {where_}", what.join(" and ")));
                }
                // Stopped, it cannot do anything between.
                signal("-STOP", pid);
                these.into_iter().chain(tracer).for_each(|pid| signal("-KILL", pid));
                if bits & 1 > 0 {
                    child.kill().unwrap();
                }
                signal("-CONT", pid);
            }
            Deed::Interrupt(times) => {
                self.count(if times == 1 { "an interrupt" } else { "two interrupts" });
                (0..times).for_each(|_| signal("-TERM", pid));
            }
            Deed::FullDisk => {
                self.count("a full disk");
                let filler = self.sandbox.path().join("filler");
                let keep = self.stream.below(20_000);
                let _ = Command::new("sh")
                    .args([
                        "-c",
                        "cat /dev/zero > \"$0\" 2> /dev/null; truncate -s -\"$1\" \"$0\"; sleep 0.2; rm \"$0\"",
                    ])
                    .arg(filler)
                    .arg(keep.to_string())
                    .status();
            }
            Deed::SetClock => {
                self.count("a clock that is set");
                let by = if self.stream.chance(0.5) { "+3600" } else { "-86400" };
                self.set_clock(by);
            }
            Deed::DamageCache => {
                self.count("damage to the cache");
                self.damage();
            }
        }
    }

    /// Flips a bit of some file of the cache, cuts it, or removes it.
    fn damage(&mut self) {
        let mut files = vec![];
        files_below(&self.sandbox.path().join("cache"), &mut files);
        files.retain(|file| file.extension().is_none_or(|extension| extension != "lock"));
        files.sort();
        if files.is_empty() {
            return;
        }
        let file = &files[self.stream.below(files.len() as u64) as usize];
        let Ok(mut bytes) = fs::read(file) else { return };
        match self.stream.below(3) {
            0 if !bytes.is_empty() => {
                let at = self.stream.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << self.stream.below(8);
                let _ = fs::write(file, bytes);
            }
            1 => drop(fs::write(file, &bytes[..bytes.len() / 2])),
            _ => drop(fs::remove_file(file)),
        }
    }

    /// It ends, and not by a panic or a signal of its own.
    fn wait(&mut self, child: &mut Child, deed: Deed) {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            assert!(began.elapsed() < PATIENCE, "it does not end after {deed:?}");
            std::thread::sleep(Duration::from_millis(2));
        };
        let is_killed = matches!(deed, Deed::Kill(bits) if bits & 1 > 0);
        // Done, undecided, changed meanwhile, failed trials or builds, the system (a full disk), interrupted.
        let expected = [0, 1, 2, 3, 4, 5, 130];
        let by_interrupt = matches!(deed, Deed::Interrupt(_)) && status.signal() == Some(15);
        let fine = is_killed || by_interrupt || status.code().is_some_and(|code| expected.contains(&code));
        assert!(fine, "{status} after {deed:?}");
    }

    /// Without anything more happening to it, the study comes to its end.
    fn finish(&mut self, words: &[&str], blocks: u32) {
        let mut last = None;
        for _ in 0..4 {
            let shown = common::Shown::of(&self.command(words).output().unwrap());
            // Damage is found, and built again, one file after the other.
            let again = shown.code == 2 || shown.code == 5;
            last = Some(shown);
            if !again {
                break;
            }
        }
        let shown = last.unwrap();
        assert!([0, 1, 3, 4].contains(&shown.code), "{shown:?}");
        self.may_have_left = false;
        self.nothing_is_left();
        self.check_journals();
        let latest = fs::read_to_string(self.sandbox.study().join(".bakeoff/latest")).unwrap();
        let path = self.sandbox.study().join(".bakeoff").join(latest.trim());
        let record = bakeoff_journal::read(&path).unwrap().record;
        assert_eq!(valid(&record).len(), common::planned(&record, blocks), "{shown:?}\n{path:?}");
        let kills_its_launcher = self.hostile == KILLS_ITS_LAUNCHER;
        for trial in &record.trials {
            let expect_failure = trial.workload == "hostile" && (kills_its_launcher || self.hostile == 3);
            let is_failed = matches!(trial.outcome, Outcome::Failed(_));
            // By our kill of a launcher, or because another soak beside this one took the port first.
            let why = format!("{:?}", trial.outcome);
            let is_port =
                why.contains("Address already in use") || why.contains("is still in use after the service was stopped");
            let by_us = is_failed && (why.contains("launcher") || is_port);
            assert!(is_failed == expect_failure || by_us || matches!(trial.outcome, Outcome::Void(_)), "{trial:?}");
        }
        let left = names(&self.sandbox.path().join("tmp"));
        assert!(left.is_empty(), "{left:?}");
        let expect = ["cache", "clock", "state", "study", "tmp"];
        let others: Vec<String> = names(self.sandbox.path())
            .into_iter()
            .filter(|name| !expect.contains(&name.as_str()) && !name.ends_with(".lock"))
            .collect();
        assert!(others.is_empty(), "{others:?}");
    }

    /// No line is damaged, and no trial counts twice.
    fn check_journals(&self) {
        for path in self.sandbox.journals() {
            let Ok(contents) = bakeoff_journal::read(&path) else {
                // Begun, and killed before its first line was whole.
                assert!(!fs::read(&path).unwrap().contains(&b'\n'), "{path:?} cannot be read");
                continue;
            };
            assert!(contents.odd.is_empty(), "{path:?}: {:?}", contents.odd);
            let all = contents.record.trials.iter().filter(|trial| !matches!(trial.outcome, Outcome::Void(_))).count();
            assert_eq!(valid(&contents.record).len(), all, "{path:?}");
        }
    }

    /// Nothing alive has our folder in its environment.
    fn nothing_is_left(&self) {
        let began = Instant::now();
        loop {
            let alive = alive_in(self.sandbox.path());
            if alive.is_empty() {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{alive:#?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// A long study in one piece, whose workload kills its launcher each time: descriptors stay as many, memory nearly.
    fn is_flat(&mut self) {
        let _ = fs::remove_dir_all(self.sandbox.study().join(".bakeoff"));
        self.sandbox.write("study.toml", &self.study.replace("HOSTILE", HOSTILE[KILLS_ITS_LAUNCHER]));
        self.no_namespaces = false;
        let words = ["run", "STUDY", "--quiet", "--blocks", "20"];
        let mut child = self.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut seen: Vec<(usize, u64)> = vec![];
        while child.try_wait().unwrap().is_none() {
            let descriptors = fs::read_dir(format!("/proc/{}/fd", child.id())).map_or(0, Iterator::count);
            seen.extend(resident_kib(child.id()).map(|kib| (descriptors, kib)));
            std::thread::sleep(Duration::from_millis(20));
        }
        // Its beginning and its end are other work.
        let half = seen.len() / 2;
        let most =
            |part: &[(usize, u64)]| (part.iter().map(|s| s.0).max().unwrap(), part.iter().map(|s| s.1).max().unwrap());
        let (first, second) = (most(&seen[..half]), most(&seen[half..seen.len() * 9 / 10]));
        println!(
            "at most {} descriptors and {} KiB in the first half, {} and {} in the second",
            first.0, first.1, second.0, second.1
        );
        assert!(second.0 <= first.0 + 2, "{first:?} {second:?}");
        assert!(second.1 <= first.1 + 4096, "{first:?} {second:?}");
    }
}

/// Trials that count, each once.
fn valid(record: &Record) -> BTreeSet<(u32, &str, &str, &str)> {
    let counts = record.trials.iter().filter(|trial| !matches!(trial.outcome, Outcome::Void(_)));
    counts.map(|t| (t.block, t.workload.as_str(), t.condition.as_str(), t.variant.as_str())).collect()
}

/// The launchers of a program, and what keeps its namespace.
fn launchers(pid: u32) -> Vec<u32> {
    let is_one = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "bakeoff\n");
    children(pid).into_iter().filter(is_one).collect()
}

/// The process that traces for a program.
fn tracer(pid: u32) -> Option<u32> {
    let is_one = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == b"trace-trial")
    };
    launchers(pid).into_iter().flat_map(children).find(is_one)
}

fn resident_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&path, files),
            Ok(kind) if kind.is_file() => files.push(path),
            _ => {}
        }
    }
}

/// Cgroups of ours whose program is gone, and mounts of ours.
fn left_on_the_machine() -> Vec<String> {
    let found = Command::new("find").args(["/sys/fs/cgroup", "-type", "d", "-name", "bakeoff-*"]).output();
    let found = found.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    // `bakeoff-PID-START-NAMESPACE`: those of other namespaces are not to be judged from here.
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap();
    let is_dead = |path: &&str| {
        let words: Vec<&str> = path.rsplit('/').next().unwrap_or_default().split('-').collect();
        let [_, pid, _, space] = words[..] else { return false };
        namespace.to_string_lossy().contains(space) && !Path::new("/proc").join(pid).exists()
    };
    let groups = found.lines().filter(is_dead).map(str::to_owned);
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounts = mounts.lines().filter(|line| line.contains("bakeoff")).map(str::to_owned);
    groups.chain(mounts.collect::<Vec<_>>()).collect()
}

#[test]
fn whatever_happens_nothing_is_lost_and_nothing_stays() {
    let seconds = std::env::var("BAKEOFF_SOAK").map_or(SHORT_S, |seconds| seconds.parse().unwrap());
    let drawn = || SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64 % 1_000_000;
    let seed = std::env::var("SEED").map_or_else(|_| drawn(), |seed| seed.parse().unwrap());
    println!("seed {seed}, {seconds} s");
    let began = Instant::now();
    let before: BTreeSet<String> = left_on_the_machine().into_iter().collect();
    let place = tempfile::tempdir().unwrap();
    let mut soak = Soak::new(Stream::of(seed, &["soak"]), place.path());
    let mut studies = 0;
    while began.elapsed().as_secs() < seconds {
        soak.study();
        studies += 1;
    }
    soak.is_flat();
    let mut left: Vec<String> = left_on_the_machine().into_iter().filter(|one| !before.contains(one)).collect();
    // What another soak beside this one has killed is removed by its next command.
    let ended = Instant::now();
    while !left.is_empty() {
        assert!(ended.elapsed() < PATIENCE, "{left:#?}");
        std::thread::sleep(Duration::from_millis(100));
        let now = left_on_the_machine();
        left.retain(|one| now.contains(one));
    }
    drop(soak);
    println!("{studies} studies, {} s", began.elapsed().as_secs());
}
