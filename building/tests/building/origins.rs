//! Where sources are had from: a command that leaves a folder, a path, an address, a Git repository; and what becomes
//! of each when it changes or cannot be had.

use crate::building_tests::study::{Study, had, layer};
use crate::journal::BuildOutcome;
use crate::{BuildEvent, Error, FoundSource, Request};
use crate::{Source, SourceFrom};
use bakeoff_testkit::files::{read, sh, sha256};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

/// Lists what there is in the folder that the script starts in.
const FIND: &str = "find . ! -name . | sort | tr '\\n' ' ' > $PREFIX/found";

/// A study with one layer that takes this source.
fn study(from: SourceFrom, sha256: Option<&str>) -> Study {
    let mut study = Study::new(&[layer("program", FIND)]);
    study.source("", "");
    study.sources[0].from = from;
    study.sources[0].sha256 = sha256.map(str::to_owned);
    study
}

fn find(study: &Study) -> FoundSource {
    study.cache.find_source(&study.dir(), &study.sources[0], &|_| {}).unwrap()
}

fn not_found(study: &Study) -> String {
    had(study.cache.find_source(&study.dir(), &study.sources[0], &|_| {})).unwrap_err().why
}

/// What the script found.
fn found(study: &Study) -> String {
    read(study.built().1.join("found"))
}

/// Finds the hash of a source, takes away where it was had from, and builds it.
fn locked_and_offline(study: &mut Study, gone: impl FnOnce(&Study)) -> String {
    let FoundSource { sha256, .. } = find(study);
    study.sources[0].sha256 = Some(sha256);
    gone(study);
    found(study)
}

#[test]
fn a_command_may_leave_a_folder() {
    let check = |fetch: &str, expect: &str| {
        let mut study = study(SourceFrom::Fetch(format!("test -e there; {fetch}")), None);
        study.write("there", "");
        let gone = |study: &Study| fs::remove_file(study.dir().join("there")).unwrap();
        assert_eq!(locked_and_offline(&mut study, gone), expect, "{fetch}");
    };
    check("mkdir $DOWNLOAD/d; echo 1 > $DOWNLOAD/d/a; echo 2 > $DOWNLOAD/b", "./b ./d ./d/a");
    check("mkdir $DOWNLOAD/only; echo 1 > $DOWNLOAD/only/a; chmod a-w $DOWNLOAD/only", "./a");
    check("echo 1 > $DOWNLOAD/a", "./a");
}

#[test]
fn a_folder_of_another_hash_is_refused() {
    let study = study(SourceFrom::Fetch("mkdir $DOWNLOAD/d; touch $DOWNLOAD/a".to_owned()), Some(&sha256("")));
    let (why, _) = study.failed();
    assert!(why.contains("the folder's tree has SHA-256"), "{why}");
    for part in [&sha256("")[..], "`upstream`", "study.toml", "bakeoff lock STUDY --update=upstream"] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn a_damaged_folder_is_fetched_again() {
    let mut study = study(SourceFrom::Fetch("echo asked >> asked; touch $DOWNLOAD/a $DOWNLOAD/b".to_owned()), None);
    let FoundSource { sha256, bytes, commit } = find(&study);
    assert_eq!((bytes, commit), (0, None));
    study.sources[0].sha256 = Some(sha256.clone());
    let kept = study.cache.root().join("sources").join(&sha256).join("tree");
    fs::write(kept.join("a"), "rotten").unwrap();
    assert_eq!(found(&study), "./a ./b");
    assert_eq!(read(kept.join("a")), "");
    assert_eq!(read(study.dir().join("asked")), "asked\nasked");
}

#[test]
fn a_path_counts_as_it_is_now() {
    let study = study(SourceFrom::Path("../tree".to_owned()), None);
    sh(&study.dir(), "mkdir -p ../tree/sub; echo 1 > ../tree/sub/a; ln -s sub/a ../tree/link");
    let (line, prefix) = study.built();
    assert_eq!(read(prefix.join("found")), "./link ./sub ./sub/a");
    assert!(study.survey()[0].layers[0].cached);
    sh(&study.dir(), "echo 2 > ../tree/b");
    assert!(!study.survey()[0].layers[0].cached);
    let (other, prefix) = study.built();
    assert_ne!(line.digest, other.digest);
    assert_eq!(read(prefix.join("found")), "./b ./link ./sub ./sub/a");
    sh(&study.dir(), "rm ../tree/b");
    assert!(study.built().0.cached, "as it was before");
    // Nobody said what its checksum must be, so none was accepted.
    assert_eq!(study.count(|event| matches!(event, BuildEvent::Fetched { checked: true, .. })), 0);
}

#[test]
fn a_path_around_the_study_is_had_without_the_studys_own_files_and_without_a_repository() {
    let study = study(SourceFrom::Path(".".to_owned()), None);
    let dir = fs::canonicalize(study.dir()).unwrap();
    let own = ["study.toml", "study.lock", "expected"].map(|name| dir.join(name));
    let build = || {
        let request = Request { own: &own, ..study.request(&dir) };
        let [line] = study.cache.build_all(&request, &|_| {}).unwrap().try_into().unwrap();
        (read(study.cache.prefix_of(&line.digest).join("found")), line.cached)
    };
    sh(&dir, "echo 1 > a; echo 1 > study.toml; mkdir sub; echo 1 > sub/study.toml");
    assert_eq!(build(), ("./a ./sub ./sub/study.toml".to_owned(), false));
    sh(&dir, "echo 2 > study.toml; echo 1 > study.lock; echo 1 > expected; mkdir .bakeoff .git; echo 1 > .git/HEAD");
    sh(&dir, "echo 'gitdir: ../.git/modules/sub' > sub/.git");
    assert_eq!(build(), ("./a ./sub ./sub/study.toml".to_owned(), true));
    sh(&dir, "echo 2 > sub/study.toml");
    assert!(!build().1, "that of another study is a file like others");
}

#[test]
fn a_path_may_be_a_file_an_archive_or_absolute() {
    let mut study = study(SourceFrom::Path("file.txt".to_owned()), None);
    study.write("file.txt", "1");
    assert_eq!(found(&study), "./file.txt");
    sh(&study.dir(), "mkdir top; echo 1 > top/a; tar -czf top.tar.gz top");
    study.sources[0].from = SourceFrom::Path(study.dir().join("top.tar.gz").display().to_string());
    assert_eq!(found(&study), "./a");
    study.sources[0].unpack = false;
    assert_eq!(found(&study), "./top.tar.gz");
}

#[test]
fn a_path_that_is_not_what_the_study_says_is_refused() {
    let study = study(SourceFrom::Path("file.txt".to_owned()), Some(&sha256("expected")));
    study.write("file.txt", "expected");
    study.built();
    study.write("file.txt", "changed");
    for error in [study.try_build().unwrap_err().to_string()] {
        for part in ["`upstream`", "file.txt", &sha256("expected"), &sha256("changed"), "study.toml"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
    fs::remove_file(study.dir().join("file.txt")).unwrap();
    let error = study.try_build().unwrap_err();
    assert!(matches!(&error, Error::Source { name, .. } if name == "upstream"), "{error}");
}

#[test]
fn a_path_that_changes_after_the_layer_was_named_is_noticed() {
    // It changes while the layer before is built.
    let mut study = Study::new(&[layer("first", "touch $PREFIX/x"), layer("second", FIND)]);
    study.write("file.txt", "1");
    study.sources = vec![Source {
        name: "upstream".to_owned(),
        from: SourceFrom::Path("file.txt".to_owned()),
        sha256: None,
        unpack: true,
        disk_bytes: None,
    }];
    study.layers[1].source = Some("upstream".to_owned());
    let dir = study.dir();
    let change = |event| {
        if matches!(&event, BuildEvent::Started { layer, .. } if layer == "first") {
            study.write("file.txt", "2");
        }
    };
    let lines = study.cache.build_all(&study.request(&dir), &change).unwrap();
    let BuildOutcome::Failed { why, .. } = &lines[0].outcome else { panic!("it was built") };
    assert!(why.contains("changed while Bakeoff copied it"), "{why}");
    study.built();
}

#[test]
fn what_has_no_hash_is_not_built() {
    let study = study(SourceFrom::Url("http://localhost/x".to_owned()), None);
    let error = study.try_build().unwrap_err();
    assert!(matches!(&error, Error::Unpinned { name } if name == "upstream"), "{error}");
    assert!(error.to_string().contains("bakeoff lock"), "{error}");
}

#[test]
fn an_address_of_a_file_is_refused() {
    let study = study(SourceFrom::Url("FILE:///etc/passwd".to_owned()), None);
    let why = not_found(&study);
    assert!(why.contains("for a file on this machine"), "{why}");
}

/// Answers requests until the test ends: `/file` with content, `/moved` with another place, all else with 404. The
/// port.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let request = lines.next().unwrap_or_default();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let (status, headers, content) = match request.split(' ').nth(1).unwrap_or_default() {
                "/file.txt" => ("200 OK", "", "content"),
                "/moved" => ("302 Found", "Location: /file.txt\r\n", "not here"),
                _ => ("404 Not Found", "", "no such page"),
            };
            let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n", content.len());
            write!(stream, "{head}Connection: close\r\n\r\n{content}").unwrap();
        }
    });
    port
}

#[test]
fn an_address_is_loaded_from_a_server() {
    let port = server();
    let mut study = study(SourceFrom::Url(format!("http://127.0.0.1:{port}/file.txt")), Some(&sha256("content")));
    assert_eq!(found(&study), "./file.txt");
    assert_eq!(
        study.count(|event| *event == BuildEvent::Fetched { source: "upstream".to_owned(), bytes: 7, checked: true }),
        1
    );
    study.sources[0].from = SourceFrom::Url(format!("http://127.0.0.1:{port}/moved"));
    assert_eq!(find(&study).sha256, sha256("content"));
    study.sources[0].from = SourceFrom::Url(format!("http://127.0.0.1:{port}/missing"));
    let why = not_found(&study);
    assert!(why.contains("exited") && why.contains("/missing"), "{why}");
    study.sources[0].from = SourceFrom::Url("gopher://127.0.0.1/x".to_owned());
    let why = not_found(&study);
    assert!(why.contains("only http, https and ftp"), "{why}");
}
