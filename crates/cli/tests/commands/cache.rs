//! `bakeoff cache` and `bakeoff gc` as their user sees them. That things are old is made so by hand: what the cache says of
//! their last use is set back.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{SMALL, Sandbox, small};
use bakeoff_model::shuffle::Stream;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

fn cache_of(sandbox: &Sandbox) -> PathBuf {
    sandbox.path().join("cache")
}

/// Makes everything in the cache look as if it had last been used so many days ago.
fn age(sandbox: &Sandbox, days: u64) {
    let cache = cache_of(sandbox);
    let touched = Command::new("find")
        .arg(&cache)
        .args(["-exec", "touch", "-h", "-d", &format!("{days} days ago"), "{}", "+"])
        .status()
        .unwrap();
    assert!(touched.success());
    let then = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64() - days as f64 * 86_400.0;
    for entry in fs::read_dir(cache.join("uses")).unwrap() {
        let path = entry.unwrap().path();
        let mut uses: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for part in ["layers", "sources"] {
            uses[part].as_object_mut().unwrap().values_mut().for_each(|at| *at = Value::from(then));
        }
        fs::write(&path, serde_json::to_vec(&uses).unwrap()).unwrap();
    }
}

fn prefixes(sandbox: &Sandbox) -> usize {
    fs::read_dir(cache_of(sandbox).join("builds")).unwrap().count()
}

/// Size of all files below a folder, each once however many names it has.
fn size_of(folder: &Path, seen: &mut Vec<u64>) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            bytes += size_of(&path, seen);
        } else if !seen.contains(&meta.ino()) {
            seen.push(meta.ino());
            bytes += meta.len();
        }
    }
    bytes
}

/// The study built in two states, of which only the second is what it is now.
fn built_twice() -> Sandbox {
    let sandbox = small();
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
    sandbox.write("study.toml", &SMALL.replace("echo again", "echo another"));
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
    assert_eq!(prefixes(&sandbox), 3);
    sandbox
}

#[test]
fn the_numbers_add_up() {
    let sandbox = small();
    sandbox.execute(&["cache"]).expect(0, &["locks and lists"]);
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
    let study = fs::canonicalize(sandbox.study()).unwrap();
    let here = format!("{}: 2 layers, 0 sources, used just now", study.display());
    sandbox.execute(&["cache"]).expect(0, &["layer script 2", "just now less than 1 s", &here]);
    let page: Value = serde_json::from_str(&sandbox.execute(&["cache", "--json"]).out).unwrap();
    let items = page["items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    let sum: u64 = items.iter().map(|item| item["bytes"].as_u64().unwrap()).sum();
    let total = page["total_bytes"].as_u64().unwrap();
    assert_eq!(sum + page["other_bytes"].as_u64().unwrap(), total);
    assert_eq!(total, size_of(&cache_of(&sandbox), &mut vec![]));
}

#[test]
fn without_a_rule_nothing_is_removed() {
    let sandbox = built_twice();
    sandbox.execute(&["gc"]).expect(0, &["would remove 0 B", "within the last hour: 3", "nothing was removed"]);
    age(&sandbox, 40);
    let shown = sandbox.execute(&["gc"]);
    shown.expect(0, &["would remove layer script", "last used 40 d ago", "needed by known studies: 2", "--older-than"]);
    sandbox.execute(&["gc", "--older-than", "30d", "--dry-run"]).expect(0, &["would remove layer script"]);
    assert_eq!(prefixes(&sandbox), 3);
}

#[test]
fn age_removes_what_no_study_in_reach_needs() {
    let sandbox = built_twice();
    age(&sandbox, 40);
    sandbox.execute(&["gc", "--older-than", "50d"]).expect(0, &["removed 0 B"]);
    sandbox.execute(&["gc", "--older-than", "30d"]).expect(0, &["removed layer script", "(1 item)"]);
    assert_eq!(prefixes(&sandbox), 2);
    let shown = sandbox.execute(&["build", "STUDY"]);
    assert!(!shown.err.contains("building"), "{}", shown.err);

    // Out of reach, unless somebody names where it is now.
    age(&sandbox, 40);
    let moved = sandbox.path().join("moved");
    fs::rename(sandbox.study(), &moved).unwrap();
    let named = ["gc", "--older-than", "30d", moved.to_str().unwrap()];
    sandbox.execute(&named).expect(0, &["removed 0 B", "needed by known studies: 2"]);
    sandbox.execute(&["gc", "--older-than", "30d"]).expect(0, &["(2 items)"]);
    assert_eq!(prefixes(&sandbox), 0);
    assert_eq!(fs::read_dir(cache_of(&sandbox).join("uses")).unwrap().count(), 0, "it is forgotten");
}

#[test]
fn a_study_that_cannot_be_read_keeps_all_that_it_used() {
    let sandbox = built_twice();
    age(&sandbox, 40);
    sandbox.write("study.toml", "format = 1\nname = ");
    let shown = sandbox.execute(&["gc", "--older-than", "30d"]);
    shown.expect(0, &["cannot read the study in", "removed 0 B"]);
    sandbox.execute(&["gc", "--older-than", "30d", "STUDY"]).expect(2, &["study.toml"]);
    assert_eq!(prefixes(&sandbox), 3);
}

#[test]
fn the_latest_journal_keeps_its_builds() {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "6"]).expect(0, &[]);
    sandbox.write("study.toml", &SMALL.replace("echo again", "echo another"));
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
    age(&sandbox, 40);
    sandbox.execute(&["gc", "--older-than", "30d"]).expect(0, &["removed 0 B", "needed by known studies: 3"]);
}

#[test]
fn size_and_wrong_words() {
    let sandbox = built_twice();
    age(&sandbox, 2);
    sandbox.execute(&["gc", "--keep-size", "1G"]).expect(0, &["removed 0 B"]);
    sandbox.execute(&["gc", "--keep-size", "1K"]).expect(0, &["least recently used (2 d ago", "(1 item)"]);
    sandbox.execute(&["gc", "--keep-size", "much"]).expect(2, &["such as 20G"]);
    sandbox.execute(&["gc", "--older-than", "30"]).expect(2, &["such as 30d"]);
}

#[test]
fn what_a_process_is_at_work_on_stays() {
    let sandbox = built_twice();
    age(&sandbox, 40);
    let locks = cache_of(&sandbox).join("locks");
    let held: Vec<_> = fs::read_dir(&locks)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_stem().unwrap().len() == 32)
        .map(|path| bakeoff_host::lock::Lock::take(&path).unwrap())
        .collect();
    assert_eq!(held.len(), 3);
    sandbox.execute(&["gc", "--older-than", "30d"]).expect(0, &["removed 0 B", "in use by a process: 3"]);
    drop(held);
    sandbox.execute(&["gc", "--older-than", "30d"]).expect(0, &["(1 item)"]);
}

/// Whatever kills it, what is left is whole or is taken for nothing: the study builds, and the next gc finds no remains
/// that it could not remove.
#[test]
fn a_killed_gc_leaves_nothing_half() {
    let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut stream = Stream::of(seed, &["gc"]);
    let many = "mkdir -p \"$PREFIX/bin\"\nfor i in $(seq 300); do echo $i > \"$PREFIX/$i\"; done";
    let sandbox = small();
    sandbox.write("study.toml", &SMALL.replace("mkdir -p \"$PREFIX/bin\"", many));
    let text = fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    let mut killed = 0;
    for number in 0..12 {
        sandbox.write("study.toml", &text.replace("echo again", &format!("echo {number}")));
        sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
        age(&sandbox, 40);
        let hidden = sandbox.path().join("hidden");
        fs::rename(sandbox.study(), &hidden).unwrap();
        let mut gc = sandbox.command(&["gc", "--older-than", "30d"]).stdout(Stdio::null()).spawn().unwrap();
        // The moment is what is varied here; nothing is waited for.
        std::thread::sleep(Duration::from_micros(stream.below(30_000)));
        killed += usize::from(gc.try_wait().unwrap().is_none());
        gc.kill().unwrap();
        gc.wait().unwrap();
        fs::rename(&hidden, sandbox.study()).unwrap();
        sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
        for entry in fs::read_dir(cache_of(&sandbox).join("records")).unwrap() {
            let name = entry.unwrap().path().file_stem().unwrap().to_owned();
            let files = fs::read_dir(cache_of(&sandbox).join("builds").join(name)).unwrap().count();
            assert_eq!(files, 301, "a layer with a record is whole");
        }
    }
    println!("{killed} of 12 were killed before they ended");
    age(&sandbox, 40);
    fs::remove_dir_all(sandbox.study()).unwrap();
    sandbox.execute(&["gc", "--older-than", "30d"]).expect(0, &[]);
    assert_eq!(prefixes(&sandbox), 0);
    let page: Value = serde_json::from_str(&sandbox.execute(&["cache", "--json"]).out).unwrap();
    assert_eq!(page["items"].as_array().unwrap().len(), 0, "{page}");
}

#[test]
fn all_of_a_cache_goes_if_that_is_asked_for() {
    let sandbox = small();
    sandbox.execute(&["build", "STUDY"]).expect(0, &[]);
    assert_eq!(prefixes(&sandbox), 2);
    sandbox.execute(&["gc", "--older-than", "0h"]).expect(0, &[]);
    assert_eq!(prefixes(&sandbox), 2, "a study in reach needs them, and they are young");
    sandbox.execute(&["gc", "--all", "--dry-run"]).expect(0, &["2"]);
    assert_eq!(prefixes(&sandbox), 2);
    sandbox.execute(&["gc", "--all", "--keep-size", "1G"]).expect(2, &["--all"]);
    sandbox.execute(&["gc", "--all"]).expect(0, &[]);
    assert_eq!(prefixes(&sandbox), 0);
    let shown = sandbox.execute(&["cache"]);
    assert!(!shown.out.contains("studies using the cache") && !shown.out.contains("layer script"), "{}", shown.out);
    sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "6"]).expect(0, &["once"]);
}

#[test]
fn a_study_that_is_gone_has_no_line() {
    let sandbox = small();
    sandbox.execute(&["build", "STUDY"]).expect(0, &[]);
    sandbox.execute(&["cache"]).expect(0, &["studies using the cache"]);
    fs::rename(sandbox.study(), sandbox.path().join("elsewhere")).unwrap();
    let shown = sandbox.execute(&["cache"]);
    shown.expect(0, &["studies that no longer exist: 1;"]);
    assert!(!shown.out.contains("/study:") && !shown.out.contains("studies using the cache"), "{}", shown.out);
}
