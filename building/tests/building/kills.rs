//! `kill -9` at random moments of a study whose layers are built several at a time: whatever was being done, the next
//! build succeeds without anything being cleaned, and takes nothing of the killed one for whole that is not.

use crate::building_tests::again;
use crate::building_tests::study::Variant;
use crate::building_tests::study::layer;
use crate::journal::{BuildLine, BuildOutcome};
use crate::{BuildEvent, Cache, Request};
use crate::{Layer, Source, SourceFrom};
use bakeoff_host::machine::Machine;
use bakeoff_model::shuffle::Stream;
use bakeoff_testkit::files::{read, sha256};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

/// In the environment of this executable, it makes it build a study: the folder, and a word that makes it a new one.
const KILLED: [&str; 2] = ["KILLED_FOLDER", "KILLED_WORD"];
const SAYS: &str = "killed: ";
/// Files that a layer installs.
const FILES: usize = 40;

/// The study of this word: eight layers in all, three for each of four variants, with a source and a patch.
fn build(folder: &Path, word: &str, told: &(dyn Fn(BuildEvent) + Sync)) -> (Cache, Vec<BuildLine>) {
    let study_dir = folder.join("study");
    let cache = Cache::open(folder.join("cache")).unwrap().on(Machine::in_folder(folder));
    let script = |mark: &str| {
        let many = format!("for n in $(seq {FILES}); do echo \"{mark} $n {word}\" > $PREFIX/{mark}$n; done");
        format!("cp text $PREFIX/text-{mark} || true; {many}")
    };
    let mut layers: Vec<Layer> =
        [("base", "a"), ("middle", "b$M"), ("top", "c$T")].map(|(name, mark)| layer(name, &script(mark))).to_vec();
    layers[0].source = Some("text".to_owned());
    layers[0].patches = vec!["fix.patch".to_owned()];
    let text = format!("{word}\nold\n");
    let source = Source {
        name: "text".to_owned(),
        from: SourceFrom::Fetch(format!("printf '{word}\\nold\\n' > $DOWNLOAD/text")),
        sha256: Some(sha256(text)),
        unpack: true,
        disk_bytes: None,
    };
    let variant = |(m, t): (&str, &str)| Variant {
        name: format!("{m}{t}"),
        build_variables: [("M".to_owned(), m.to_owned()), ("T".to_owned(), t.to_owned())].into(),
        ..Variant::default()
    };
    let variants = [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")].map(|words| variant(words).planned());
    let request =
        Request { study_dir: &study_dir, own: &[], sources: &[source], layers: &layers, variants: &variants, jobs: 4 };
    let lines = cache.build_all(&request, told).unwrap();
    (cache, lines)
}

/// No test, but the process that is killed.
#[test]
fn build_a_study_if_asked() {
    let [Ok(folder), Ok(word)] = KILLED.map(std::env::var) else { return };
    build(Path::new(&folder), &word, &|event| match event {
        BuildEvent::Fetching { .. } | BuildEvent::Started { .. } | BuildEvent::Finished { .. } => println!("{SAYS}on"),
        _ => {}
    });
}

#[test]
fn whatever_is_killed_the_next_build_succeeds() {
    let kills: u64 = std::env::var("BAKEOFF_KILLS").map_or(20, |number| number.parse().unwrap());
    let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut stream = Stream::of(seed, &["kills"]);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("study")).unwrap();
    let patch = "--- a/text\n+++ b/text\n@@ -2 +2 @@\n-old\n+new\n";
    fs::write(folder.path().join("study/fix.patch"), patch).unwrap();
    let (mut killed, mut kept) = (0, 0);
    for number in 0..kills {
        let word = format!("w{seed}x{number}");
        let mut command = again::test("building_tests::kills::build_a_study_if_asked");
        command.stdout(Stdio::piped()).env(KILLED[0], folder.path()).env(KILLED[1], &word);
        let mut child = command.spawn().unwrap();
        // So many things it begins or finishes (of 15), and a random time after that.
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        for _ in 0..stream.below(15) {
            said.find(|line| line.contains(SAYS));
        }
        std::thread::sleep(Duration::from_micros(stream.below(15_000)));
        killed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();

        let (cache, lines) = build(folder.path(), &word, &|_| {});
        kept += lines.iter().flat_map(|line| &line.layers).filter(|layer| layer.cached).count();
        for line in &lines {
            assert_eq!(line.outcome, BuildOutcome::Built, "{number}");
            assert_eq!(cache.damage_of(&line.digest), []);
            whole(&cache.prefix_of(&line.digest), &line.variants[0], &word);
        }
        assert_eq!(fs::read_dir(cache.root().join("work")).unwrap().count(), 0, "nothing is left to clean");
    }
    println!("{killed} of {kills} were killed before they ended; {kept} layers of theirs were whole");
    assert!(killed as u64 > kills / 2, "{killed} of {kills}");
    assert!(kills < 20 || kept > 0, "nothing that the killed ones had finished was kept");
}

/// Everything of a build is there, nothing is torn, and there is nothing else.
fn whole(prefix: &Path, variant: &str, word: &str) {
    let (m, t) = variant.split_at(1);
    let marks = ["a".to_owned(), format!("b{m}"), format!("c{t}")];
    for mark in &marks {
        for n in 1..=FILES {
            assert_eq!(read(prefix.join(format!("{mark}{n}"))), format!("{mark} {n} {word}"));
        }
    }
    assert_eq!(read(prefix.join("text-a")), format!("{word}\nnew"));
    assert_eq!(fs::read_dir(prefix).unwrap().count(), marks.len() * FILES + 1);
}
