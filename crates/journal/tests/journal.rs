//! A journal against a real file system: torn lines, newer formats, damage, a full disk.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use bakeoff_journal::{Error, Journal, read};
use bakeoff_model::record::{
    Block, BuildLine, Census, Evidence, EvidenceLine, FORMAT, Line, Outcome, Session, StudyLine, Traced, Trial,
};
use bakeoff_model::study::{Decide, Levels};
use std::fs;
use std::path::{Path, PathBuf};

fn study() -> StudyLine {
    StudyLine {
        format: FORMAT,
        bakeoff: "0".into(),
        study: "t".into(),
        question: None,
        plan: "default".into(),
        identity: "i".into(),
        seed: 1,
        variants: vec![],
        workloads: vec!["w".into()],
        conditions: vec!["idle".into()],
        decide: Decide { baseline: Levels::new(), metrics: vec!["wall".into()], margin: 0.01, confidence: 0.95 },
        until: bakeoff_model::until::Until::Blocks,
        looks_until: None,
        simulated: None,
        ..StudyLine::default()
    }
}

fn block(block: u32) -> Line {
    Line::Block(Block {
        block,
        workload: "w".into(),
        condition: "idle".into(),
        order: vec!["a".into()],
        ..Block::default()
    })
}

fn trial(block: u32, wall_s: f64) -> Line {
    Line::Trial(Trial {
        block,
        workload: "w".into(),
        condition: "idle".into(),
        position: 1,
        variant: "a".into(),
        session: 1,
        started_unix_s: 1.5,
        outcome: Outcome::Ok,
        measurements: [("wall".to_owned(), wall_s)].into(),
        leftovers: 0,
        ..Trial::default()
    })
}

fn new_journal(folder: &Path) -> (PathBuf, Journal) {
    let path = folder.join("journal.jsonl");
    let (journal, contents) = Journal::open(&path, &study()).unwrap();
    assert!(contents.record.trials.is_empty());
    (path, journal)
}

/// Every kind of line that a writer has must be one that the reader knows: another is taken for somebody newer's.
#[test]
fn every_kind_of_line_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut journal) = new_journal(folder.path());
    let gathered = |evidence| Line::Evidence(EvidenceLine { session: 1, variant: "a".into(), evidence });
    let traced = |tasks| {
        let command = Census { tasks, ..Census::default() };
        Evidence::of_trial(Traced { workload: "w".into(), command, ..Traced::default() })
    };
    for line in [
        Line::Session(Session { session: 1, ..Session::default() }),
        Line::Build(BuildLine::default()),
        block(1),
        trial(1, 0.5),
        gathered(Evidence::Facts(vec![])),
        gathered(Evidence::Missing { workload: Some("w".into()), why: "refused".into() }),
        gathered(traced(1)),
        gathered(traced(2)),
    ] {
        journal.append(&line).unwrap();
    }
    let contents = read(&path).unwrap();
    let record = contents.record;
    assert_eq!(contents.unknown_lines, 0);
    let read = (record.sessions.len(), record.builds.len(), record.blocks.len(), record.trials.len());
    assert_eq!(read, (1, 1, 1, 1));
    let evidence: Vec<_> = record.evidence.into_iter().map(|line| line.evidence).collect();
    assert_eq!(evidence, [Evidence::Facts(vec![]), traced(2)], "the last word on each subject");
}

#[test]
fn what_was_appended_is_read_back_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut journal) = new_journal(folder.path());
    let odd_s = 0.1 + 0.2;
    for line in [block(1), trial(1, odd_s)] {
        journal.append(&line).unwrap();
    }
    journal.sync().unwrap();
    let record = read(&path).unwrap().record;
    assert_eq!((record.blocks.len(), record.trials.len()), (1, 1));
    assert_eq!(record.trials[0].measurements["wall"].to_bits(), odd_s.to_bits());
}

#[test]
fn a_torn_last_line_is_cut_off_wherever_it_was_torn() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut journal) = new_journal(folder.path());
    journal.append(&trial(1, 1.0)).unwrap();
    let before = fs::read(&path).unwrap();
    journal.append(&trial(2, 2.0)).unwrap();
    let after = fs::read(&path).unwrap();
    for end in before.len() + 1..after.len() {
        fs::write(&path, &after[..end]).unwrap();
        assert!(read(&path).unwrap().torn, "torn after {end} bytes");
        let (mut journal, contents) = Journal::open(&path, &study()).unwrap();
        assert_eq!(contents.record.trials.len(), 1);
        journal.append(&trial(2, 2.0)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), after);
    }
}

#[test]
fn a_journal_whose_first_line_was_never_complete_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    for start in ["", "{\"line\":\"stu", "{\"line\":\"study\",\"format\":1,\"bakeoff\":\"0"] {
        fs::write(&path, start).unwrap();
        Journal::open(&path, &study()).unwrap();
        assert!(!read(&path).unwrap().torn);
    }
}

#[test]
fn a_newer_format_is_refused_and_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = new_journal(folder.path());
    let text = fs::read_to_string(&path).unwrap().replace("\"format\":1", "\"format\":99");
    fs::write(&path, format!("{text}{{\"line\":\"tri")).unwrap();
    let before = fs::read(&path).unwrap();
    let error = Journal::open(&path, &study()).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 99, .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn lines_and_keys_of_later_minor_versions_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut journal) = new_journal(folder.path());
    journal.append(&trial(1, 1.0)).unwrap();
    let text = fs::read_to_string(&path).unwrap().replace("\"position\":1", "\"position\":1,\"mood\":\"fair\"");
    fs::write(&path, format!("{text}{{\"line\":\"weather\",\"sun\":true}}\n")).unwrap();
    let contents = read(&path).unwrap();
    assert_eq!((contents.record.trials.len(), contents.unknown_lines), (1, 1));
}

#[test]
fn damage_in_the_midst_is_named_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut journal) = new_journal(folder.path());
    journal.append(&block(1)).unwrap();
    journal.append(&trial(1, 1.0)).unwrap();
    let text = fs::read_to_string(&path).unwrap().replace("{\"line\":\"block\"", "{\"line\":block");
    fs::write(&path, text).unwrap();
    assert!(matches!(read(&path).unwrap_err(), Error::Damaged { line: 2, .. }));
}

#[test]
fn another_file_is_not_taken_for_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    for text in ["hello\n", "{\"line\":\"session\",\"session\":1}\n", "[1]\n", "precious"] {
        fs::write(&path, text).unwrap();
        let error = Journal::open(&path, &study()).unwrap_err();
        assert!(matches!(error, Error::NotAJournal { .. } | Error::Damaged { .. }), "{text}: {error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_device_is_not_taken_for_a_journal() {
    for device in ["/dev/full", "/dev/null"] {
        assert!(matches!(Journal::open(Path::new(device), &study()).unwrap_err(), Error::NotAJournal { .. }));
    }
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing_that_was_appended() {
    let folder = tempfile::tempdir().unwrap();
    let mount = |args: &[&str]| {
        std::process::Command::new("mount").args(args).arg(folder.path()).output().is_ok_and(|o| o.status.success())
    };
    if !mount(&["-t", "tmpfs", "-o", "size=16k", "bakeoff-test"]) {
        println!("skipped: mounting a tmpfs needs root");
        return;
    }
    let (path, mut journal) = new_journal(folder.path());
    let mut appended = 0;
    while journal.append(&trial(appended + 1, 1.0)).is_ok() {
        appended += 1;
    }
    let contents = read(&path).unwrap();
    let torn = contents.torn;
    let held = contents.record.trials.len();
    drop(journal);
    let unmounted = std::process::Command::new("umount").arg(folder.path()).status().unwrap();
    assert!(unmounted.success());
    assert!(appended > 10, "{appended} lines fit");
    assert_eq!(held, appended as usize);
    assert!(!torn, "the half line was taken back");
}
