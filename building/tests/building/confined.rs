//! Disks that are full and folders that belong to others: this executable runs one of its tests again, in a small
//! file system of its own, or as another user. Both need root; without it they are skipped, or run as they are.

use crate::building_tests::again::{self, NOBODY};
use crate::building_tests::study::{Study, layer};
use crate::{BuildEvent, Cache, Error};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Output;

/// In the environment of this executable, it says that a test is run again, and in which folder.
const INNER: &str = "CONFINED_FOLDER";
/// Begins a line that says what the inner test has seen.
const SAYS: &str = "inner: ";

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn inner() -> Option<String> {
    std::env::var(INNER).ok()
}

/// Runs a test of this executable again, behind these words.
fn execute_again(before: &[&str], test: &str, folder: &Path) -> Output {
    let mut command = again::test_behind(before, &std::env::current_exe().unwrap(), test);
    command.env(INNER, folder).env("TMPDIR", folder).env("HOME", folder).current_dir("/").output().unwrap()
}

#[track_caller]
fn seen(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains(SAYS), "{text}");
    text
}

#[test]
fn a_full_disk_is_told_and_nothing_is_left() {
    if inner().is_some() {
        return fill_the_disk();
    }
    let folder = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=6m tmpfs \"$0\" || exit 77; exec \"$@\"";
    let path = folder.path().to_str().unwrap();
    let test = "building_tests::confined::a_full_disk_is_told_and_nothing_is_left";
    let output = execute_again(&["unshare", "--mount", "sh", "-c", mount, path], test, folder.path());
    if !is_root() || output.status.code() == Some(77) {
        println!("skipped: no small file system can be mounted here");
        return;
    }
    println!("{}", seen(&output));
}

/// Inside: the temporary folder, and so the cache, is on a disk of a few megabytes.
fn fill_the_disk() {
    let fill = "yes 0123456789abcdef > $PREFIX/big";
    let mut study = Study::new(&[layer("base", "echo > $PREFIX/small"), layer("program", "$DO; echo > $PREFIX/x")]);
    study.layers[1].script = format!("if test $DO = fill; then {fill}; fi; echo > $PREFIX/x");
    // One after the other: what is built beside a full disk may fail without knowing why.
    study.jobs = 1;
    study.variant("good", &[("DO", "nothing")]);
    study.variant("full", &[("DO", "fill")]);
    let cache = study.cache.root().to_owned();
    let error = study.try_build().unwrap_err();
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    let why = error.to_string();
    let cache_text = cache.to_str().unwrap();
    assert!(why.contains("the disk is full") && why.contains(cache_text) && why.contains("bytes free"), "{why}");
    println!("{SAYS}{why}");
    assert_eq!(fs::read_dir(cache.join("work")).unwrap().count(), 0);
    assert!(bakeoff_host::disk::free_bytes(&cache).unwrap() > 4 << 20, "what was half built makes room");

    // What we write ourselves: a prefix that is copied.
    study.variants.remove(1);
    study.built();
    let ballast = cache.join("ballast");
    study.layers[0].script = "head -c 2000000 /dev/zero > $PREFIX/big".to_owned();
    study.variants[0].build_variables.insert("DO".to_owned(), "nothing".to_owned());
    study.layers[1].script = "true".to_owned();
    fs::write(&ballast, vec![1; 2_500_000]).unwrap();
    let error = study.try_build().unwrap_err();
    assert!(matches!(&error, Error::DiskFull { .. }), "{error}");
    assert!(error.to_string().contains("BAKEOFF_CACHE"), "{error}");
    println!("{SAYS}{error}");
    fs::remove_file(ballast).unwrap();
    study.built();
}

#[test]
fn a_cache_of_somebody_else_is_told_with_its_owner() {
    if let Some(folder) = inner() {
        for name in ["others", "sealed", "absent/below"] {
            let error = Cache::open(Path::new(&folder).join(name)).unwrap_err();
            println!("{SAYS}{error}");
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    drop(Cache::open(path("others")).unwrap());
    drop(Cache::open(path("sealed")).unwrap());
    if !is_root() {
        mode(&path("others/records"), 0o555);
    }
    mode(&path("sealed/logs"), 0o555);
    mode(folder.path(), 0o555);
    let user = NOBODY.to_string();
    let copy = tempfile::tempdir().unwrap();
    let executable = again::copy_for_others(copy.path());
    let test = "building_tests::confined::a_cache_of_somebody_else_is_told_with_its_owner";
    let becomes: &[&str] = &["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--"];
    let mut command = again::test_behind(if is_root() { becomes } else { &["env"] }, &executable, test);
    let output = command.env(INNER, folder.path()).current_dir("/").output().unwrap();
    let text = seen(&output);
    mode(folder.path(), 0o755);
    let lines: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(SAYS)?.1)).collect();
    assert_eq!(lines.len(), 3, "{text}");
    for line in &lines {
        assert!(line.contains("belongs to user") && line.contains("cannot write"), "{line}");
        assert!(line.contains("BAKEOFF_CACHE"), "{line}");
    }
    if is_root() {
        assert!(lines[0].contains("belongs to user root (0)") && lines[0].contains(&user), "{}", lines[0]);
    }
}

#[test]
fn a_script_that_takes_too_long_is_killed_with_all_that_it_started() {
    let script = format!(
        "sleep 1000 & echo {} $! > $HOME/../pid; echo waiting; wait",
        crate::building_tests::processes::NAMESPACE
    );
    let mut study = Study::new(&[layer("slow", &script)]);
    study.layers[0].timeout_s = Some(0.5);
    let (why, tail) = study.failed();
    let expect =
        "the script did not end within its `timeout` of 0.5 s and was killed; if it needs longer, raise the timeout";
    assert_eq!((why.as_str(), &tail[..]), (expect, &["waiting".to_owned()][..]));
    let digest = study.survey()[0].digest.clone();
    let pid = fs::read_to_string(study.cache.root().join("work").join(&digest[..32]).join("pid")).unwrap();
    assert!(!crate::building_tests::processes::is_alive(pid.trim()));

    // So is a verify line; and what ends in time is none of it.
    study.layers[0].script = "echo > $PREFIX/x".to_owned();
    study.layers[0].verify = vec!["sleep 1000".to_owned()];
    assert!(study.failed().0.starts_with("verify line 1 did not end within its `timeout`"));
    study.layers[0].timeout_s = Some(1000.0);
    study.layers[0].verify.clear();
    study.built();
    assert_eq!(study.count(|event| matches!(event, BuildEvent::Failed { .. })), 0);
}
