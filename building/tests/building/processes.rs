//! Two Bakeoffs at once, one that is killed, and one that is interrupted: by real processes. They meet at named pipes,
//! whose opening waits for the other side, so nothing here depends on how fast anything is.

use crate::building_tests::again;
use crate::building_tests::study::Variant;
use crate::building_tests::study::layer;
use crate::{BuildEvent, Cache, Error, Request};
use bakeoff_host::machine::Machine;
use bakeoff_testkit::files::{read, sh};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use tempfile::TempDir;

/// In the environment of this executable, it makes it build one layer: the cache, and the script.
const BUILDER: [&str; 2] = ["BUILDER_CACHE", "BUILDER_SCRIPT"];
/// Begins a line by which such a process says what happens, one word a line.
const SAYS: &str = "builder: ";

/// No test, but the process that the tests start.
#[test]
fn build_one_layer_if_asked() {
    let [Ok(cache), Ok(script)] = BUILDER.map(std::env::var) else { return };
    bakeoff_host::interrupt::install().unwrap();
    let machine = Machine::in_folder(Path::new(&std::env::var("BUILDER_LOCKS").unwrap()));
    let cache = Cache::open(PathBuf::from(cache)).unwrap().on(machine);
    let request = Request {
        study_dir: cache.root(),
        own: &[],
        sources: &[],
        layers: &[layer("slow", &script)],
        variants: &[Variant { name: "v".to_owned(), ..Variant::default() }.planned()],
        jobs: 1,
    };
    let tell = |event| match event {
        BuildEvent::Waiting { process, .. } => println!("{SAYS}waiting {}", process.unwrap()),
        BuildEvent::Started { .. } => println!("{SAYS}started"),
        _ => {}
    };
    match cache.build_all(&request, &tell) {
        Ok(lines) if lines[0].cached => println!("{SAYS}cached"),
        Ok(lines) => println!("{SAYS}{:?} {}", lines[0].outcome, cache.prefix_of(&lines[0].digest).display()),
        Err(Error::Interrupted) => println!("{SAYS}interrupted"),
        Err(error) => println!("{SAYS}{error}"),
    }
}

/// A folder with two named pipes, where confined scripts may write, and a cache.
struct Meeting {
    pipes: TempDir,
    cache: TempDir,
}

impl Meeting {
    fn new() -> Self {
        let pipes = tempfile::tempdir_in("/dev/shm").unwrap();
        sh(pipes.path(), "mkfifo begun go");
        Self { pipes, cache: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.pipes.path().join(name)
    }

    fn builder(&self, script: &str) -> Builder {
        let mut command = again::test("building_tests::processes::build_one_layer_if_asked");
        command.stdout(Stdio::piped());
        command.env(BUILDER[0], self.cache.path()).env(BUILDER[1], script).env("BUILDER_LOCKS", self.pipes.path());
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Builder { child, said }
    }
}

struct Builder {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Builder {
    /// The next thing it says; empty if there is none. The test harness says things too.
    fn says(&mut self) -> String {
        let mut line = String::new();
        while self.said.read_line(&mut line).unwrap() > 0 {
            if let Some((_, said)) = line.split_once(SAYS) {
                return said.trim_end().to_owned();
            }
            line.clear();
        }
        line
    }

    fn signal(&self, name: &str) {
        sh(Path::new("/"), &format!("kill -{name} {}", self.child.id()));
    }
}

/// A test that fails leaves no builder behind.
impl Drop for Builder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a script writes of a process: its PID namespace and its number there.
pub(crate) const NAMESPACE: &str = "$(readlink /proc/self/ns/pid)";

/// The number that a process has out here, of which a script has written namespace and number.
fn outside(who: &str) -> Option<String> {
    let (namespace, number) = who.split_once(' ').unwrap();
    let mut pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    pids.find(|pid| {
        let is_there = fs::read_link(format!("/proc/{pid}/ns/pid")).is_ok_and(|at| at == Path::new(namespace));
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        is_there && numbers.split_whitespace().last() == Some(number)
    })
}

/// Whether a process, as [`outside`] takes it, is there and is no zombie.
pub(crate) fn is_alive(who: &str) -> bool {
    let Some(pid) = outside(who) else { return false };
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

/// Whether a process has a lock of the cache open.
fn holds_a_lock(who: &str) -> bool {
    let files = fs::read_dir(format!("/proc/{}/fd", outside(who).unwrap())).unwrap();
    files
        .filter_map(|file| fs::read_link(file.unwrap().path()).ok())
        .any(|path| path.extension() == Some("lock".as_ref()))
}

#[test]
fn a_killed_build_is_resumed_by_the_next_command() {
    let meeting = Meeting::new();
    let (begun, first) = (meeting.path("begun"), meeting.path("first"));
    let script = format!(
        "if test -e '{first}'; then rm '{first}'; mkdir $PREFIX/debris
         sleep 1000 & echo {NAMESPACE} $PPID $$ $! > '{begun}'; wait; fi
         echo whole > $PREFIX/whole; find . > $PREFIX/found",
        first = first.display(),
        begun = begun.display(),
    );
    fs::write(&first, "").unwrap();
    let mut killed = meeting.builder(&script);
    let pids = read(&begun);
    let words: Vec<&str> = pids.split(' ').collect();
    let pids: Vec<String> = words[1..].iter().map(|pid| format!("{} {pid}", words[0])).collect();
    assert_eq!(killed.says(), "started");
    assert!(pids.iter().all(|pid| is_alive(pid)));
    assert!(holds_a_lock(&pids[0]), "the launcher frees the lock when it ends, and it ends last");
    killed.signal("KILL");

    // Whether it is here before the last process of the first one is dead, and has to wait, is left to chance.
    let mut next = meeting.builder(&script);
    let said = next.says();
    if said != "started" {
        assert_eq!(said, format!("waiting {}", killed.child.id()));
        assert_eq!(next.says(), "started");
    }
    assert!(!pids[1..].iter().any(|pid| is_alive(pid)), "nothing of the first build is left when the second begins");
    let said = next.says();
    let prefix = Path::new(said.strip_prefix("Built ").unwrap());
    assert_eq!(read(prefix.join("whole")), "whole");
    assert_eq!(read(prefix.join("found")), ".", "the script began in a fresh folder");
    assert!(!prefix.join("debris").exists());
    assert_eq!(meeting.builder(&script).says(), "cached");
}

#[test]
fn the_second_of_two_waits_for_the_first() {
    let meeting = Meeting::new();
    let script = format!(
        "echo here >> '{}'; echo > '{}'; read line < '{}'; echo $line > $PREFIX/x",
        meeting.path("times").display(),
        meeting.path("begun").display(),
        meeting.path("go").display(),
    );
    let mut first = meeting.builder(&script);
    read(meeting.path("begun"));
    assert_eq!(first.says(), "started");
    let mut second = meeting.builder(&script);
    assert_eq!(second.says(), format!("waiting {}", first.child.id()));
    fs::write(meeting.path("go"), "go\n").unwrap();
    assert!(first.says().starts_with("Built "));
    assert_eq!(second.says(), "cached");
    assert_eq!(read(meeting.path("times")), "here", "it was built once");
}

#[test]
fn an_interrupt_ends_a_build_and_a_wait() {
    let meeting = Meeting::new();
    let script = format!("echo {NAMESPACE} $$ > '{}'; sleep 1000", meeting.path("begun").display());
    let mut building = meeting.builder(&script);
    let pid = read(meeting.path("begun"));
    assert_eq!(building.says(), "started");
    let mut waiting = meeting.builder(&script);
    assert!(waiting.says().starts_with("waiting "));
    waiting.signal("TERM");
    assert_eq!(waiting.says(), "interrupted");
    assert!(is_alive(&pid));
    building.signal("TERM");
    assert_eq!(building.says(), "interrupted");
    assert!(!is_alive(&pid));
}

#[test]
fn builds_wait_while_trials_execute_and_the_other_way_round() {
    let meeting = Meeting::new();
    // Not the builders' cache: it is the machine that trials want alone.
    let own = tempfile::tempdir().unwrap();
    let cache = Cache::open(own.path().to_owned()).unwrap().on(Machine::in_folder(meeting.pipes.path()));
    let script = format!(
        "echo > '{}'; read line < '{}'; echo > $PREFIX/x",
        meeting.path("begun").display(),
        meeting.path("go").display(),
    );
    let trials = cache.quiet(|_| panic!("nobody builds")).unwrap();
    let mut builder = meeting.builder(&script);
    assert_eq!(builder.says(), format!("waiting {}", std::process::id()));
    // Who runs the trials may build between them.
    let variants = [Variant { name: "own".to_owned(), ..Variant::default() }.planned()];
    let layers = [layer("own", "echo > $PREFIX/x")];
    let dir = cache.root();
    let request = Request { study_dir: dir, own: &[], sources: &[], layers: &layers, variants: &variants, jobs: 1 };
    assert!(!cache.build_all(&request, &|_| {}).unwrap()[0].cached);
    drop(trials);
    assert_eq!(builder.says(), "started");
    read(meeting.path("begun"));

    let told = std::sync::Mutex::new(None);
    let waiting = |process| {
        *told.lock().unwrap() = process;
        fs::write(meeting.path("go"), "go\n").unwrap();
    };
    let trials = cache.quiet(waiting).unwrap();
    assert_eq!(*told.lock().unwrap(), Some(builder.child.id()));
    assert!(builder.says().starts_with("Built "), "it had ended before the trials could begin");
    // Nothing to build, nothing to wait for.
    assert_eq!(meeting.builder(&script).says(), "cached");
    // A wait ends by an interrupt.
    let mut waits = meeting.builder("echo other > $PREFIX/x");
    assert_eq!(waits.says(), format!("waiting {}", std::process::id()));
    waits.signal("TERM");
    assert_eq!(waits.says(), "interrupted");
    drop(trials);
}
