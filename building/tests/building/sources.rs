//! Sources: what is accepted, what is refused, and what becomes of an accepted one.

use crate::BuildEvent;
use crate::building_tests::study::{Study, layer};
use crate::journal::BuildOutcome;
use bakeoff_testkit::files::{read, sh, sha256};
use std::fs;

/// Fetches a file of the study's folder, and counts how often it is asked.
const FETCH: &str = "echo asked >> asked; test -n \"$HOME\"; cp upstream.txt \"$DOWNLOAD/\"";

#[test]
fn a_source_is_fetched_once_and_accepted_by_its_hash() {
    let mut study = Study::new(&[layer("program", "cp upstream.txt $PREFIX/$NAME")]);
    study.write("upstream.txt", "content");
    study.source(FETCH, &sha256("content"));
    study.variant("a", &[("NAME", "a")]);
    study.variant("b", &[("NAME", "b")]);
    assert!(study.build().iter().all(|line| line.outcome == BuildOutcome::Built));
    assert_eq!(
        study.count(|event| *event == BuildEvent::Fetched { source: "upstream".to_owned(), bytes: 7, checked: true }),
        1
    );

    // Another build, another command: the file is in the cache.
    fs::remove_file(study.dir().join("upstream.txt")).unwrap();
    study.layers[0].script += " # another build";
    assert!(study.build().iter().all(|line| line.outcome == BuildOutcome::Built));
    assert_eq!(read(study.dir().join("asked")), "asked");
}

#[test]
fn a_source_of_another_hash_is_refused() {
    let mut study = Study::new(&[layer("program", "cp upstream.txt $PREFIX/$NAME")]);
    study.write("upstream.txt", "changed");
    study.source(FETCH, &sha256("content"));
    study.variant("a", &[("NAME", "a")]);
    study.variant("b", &[("NAME", "b")]);
    let lines = study.build();
    for line in &lines {
        let BuildOutcome::Failed { layer, why, log, .. } = &line.outcome else { panic!("{line:?}") };
        assert_eq!(layer, "program");
        for part in ["`upstream`", "upstream.txt", &sha256("changed"), &sha256("content"), "study.toml"] {
            assert!(why.contains(part), "{part}: {why}");
        }
        assert!(log.is_some());
    }
    assert_eq!(read(study.dir().join("asked")), "asked", "both builds learn of one attempt");
    assert_eq!(fs::read_dir(study.cache.root().join("sources")).unwrap().count(), 0);
    assert_eq!(study.count(|event| matches!(event, BuildEvent::Started { .. })), 0);

    // Upstream came to its senses.
    study.write("upstream.txt", "content");
    assert!(study.build().iter().all(|line| line.outcome == BuildOutcome::Built));
}

#[test]
fn a_fetch_must_leave_a_file_or_a_folder() {
    let check = |fetch: &str, expect: &str| {
        let mut study = Study::new(&[layer("program", "touch $PREFIX/x")]);
        study.source(fetch, &sha256(""));
        let (why, tail) = study.failed();
        assert_eq!(why, format!("source `upstream`: {expect}"), "{fetch}");
        tail
    };
    check("true", "the fetch command put nothing into $DOWNLOAD");
    check("mkdir $DOWNLOAD/a", "the fetch command put an empty folder into $DOWNLOAD");
    check("mkfifo $DOWNLOAD/a", "the only entry in $DOWNLOAD is not a file or folder");
    check("ln -s /dev/null $DOWNLOAD/a", "the only entry in $DOWNLOAD is not a file or folder");
    let tail = check("echo 'no route' >&2; exit 6; touch $DOWNLOAD/a", "the fetch command exited 6");
    assert!(tail.iter().any(|line| line == "no route"), "{tail:?}");
}

#[test]
fn a_damaged_source_is_fetched_again() {
    let mut study = Study::new(&[layer("program", "cp upstream.txt $PREFIX/")]);
    study.write("upstream.txt", "content");
    study.source(FETCH, &sha256("content"));
    study.built();
    let kept = study.cache.root().join("sources").join(sha256("content")).join("upstream.txt");
    fs::write(&kept, "rotten").unwrap();
    study.layers[0].script += " # another build";
    let (_, prefix) = study.built();
    assert_eq!(read(prefix.join("upstream.txt")), "content");
    assert_eq!(read(&kept), "content");
}

#[test]
fn archives_are_unpacked_and_other_files_copied() {
    let check = |make: &str, name: &str, expect: &str| {
        let mut study = Study::new(&[layer("program", "find . -type f | sort > $PREFIX/found")]);
        sh(
            &study.dir(),
            &format!("mkdir -p top/sub other; echo 1 > top/a; echo 2 > top/sub/b; echo 3 > other/c; {make}"),
        );
        study.source(&format!("cp {name} $DOWNLOAD/"), &sha256(fs::read(study.dir().join(name)).unwrap()));
        let (_, prefix) = study.built();
        assert_eq!(read(prefix.join("found")).lines().collect::<Vec<_>>().join(" "), expect, "{make}");
    };
    check("tar -cf x.tar top", "x.tar", "./a ./sub/b");
    check("tar -czf x.tar.gz top other", "x.tar.gz", "./other/c ./top/a ./top/sub/b");
    check("tar -czf x.bin top", "x.bin", "./a ./sub/b");
    check("tar -cf x.tar -C top a", "x.tar", "./a");
    check("cp top/a x.txt", "x.txt", "./x.txt");
    check(": > empty", "empty", "./empty");

    let mut study = Study::new(&[layer("program", "touch $PREFIX/x")]);
    study.write("x.tar.gz", "no archive");
    study.source("cp x.tar.gz $DOWNLOAD/", &sha256("no archive"));
    let (why, _) = study.failed();
    assert!(why.contains("x.tar.gz`: it is not a supported archive"), "{why}");
}
