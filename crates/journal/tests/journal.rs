//! A journal against a real file system: torn lines, newer formats, damage, a full disk.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use bakeoff_journal::{Error, Journal, read};
use bakeoff_model::record::{
    Block, Changed, Checked, FORMAT, FeatureLine, Line, MadeLine, Outcome, Session, StudyLine, Trial, VariantLine,
};
use bakeoff_model::study::{Decide, Levels};
use std::collections::BTreeMap;
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
        variants: vec![VariantLine { name: "a".into(), ..VariantLine::default() }],
        workloads: vec!["w".into()],
        conditions: vec!["idle".into()],
        decide: Decide {
            baseline: Levels::new(),
            metrics: vec!["wall".into()],
            margin: 0.01,
            confidence: 0.95,
            ..Decide::default()
        },
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

/// A journal's text as a version without checksums would have written it.
fn unsealed(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let unsealed = |line: &str| line.split_once(",\"crc32c\":").unwrap().0.to_owned() + "}\n";
    text.lines().map(unsealed).collect::<String>().replace("\"format\":2", "\"format\":1")
}

/// What is said of each odd line.
fn oddities(path: &Path) -> Vec<String> {
    read(path).unwrap().odd.iter().map(ToString::to_string).collect()
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
    let own = |number: u32| FeatureLine::new("of-a-feature", &BTreeMap::from([("number", number)])).unwrap();
    let made = serde_json::json!({ "digest": "d", "variants": ["a"], "outcome": "built" });
    let made = MadeLine::of(&made).unwrap();
    for line in [
        Line::Session(Session { session: 1, ..Session::default() }),
        Line::Made(made.clone()),
        block(1),
        trial(1, 0.5),
        Line::Feature(own(1)),
        Line::Feature(own(2)),
    ] {
        journal.append(&line).unwrap();
    }
    let contents = read(&path).unwrap();
    let record = contents.record;
    let read = (record.sessions.len(), record.made.len(), record.blocks.len(), record.trials.len());
    assert_eq!(read, (1, 1, 1, 1));
    // Nothing that the journal has added is in it, because it is compared with later ones.
    assert_eq!((&record.made[0], &record.features), (&made, &vec![own(1), own(2)]));
    let fields =
        |line: &FeatureLine| (line.kind().to_owned(), line.fields::<BTreeMap<String, serde_json::Value>>().unwrap());
    let own: Vec<_> = record.features.iter().map(fields).collect();
    assert!(own.iter().all(|(kind, _)| kind == "of-a-feature"), "{own:?}");
    assert_eq!(own.iter().map(|(_, fields)| fields["number"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
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
    for start in ["", "{\"line\":\"stu", "{\"line\":\"study\",\"format\":2,\"bakeoff\":\"0"] {
        fs::write(&path, start).unwrap();
        Journal::open(&path, &study()).unwrap();
        assert!(!read(&path).unwrap().torn);
    }
}

#[test]
fn a_newer_format_is_refused_and_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = new_journal(folder.path());
    let text = unsealed(&path).replace("\"format\":1", "\"format\":99");
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
    let text = unsealed(&path).replace("\"position\":1", "\"position\":1,\"mood\":\"fair\"");
    fs::write(&path, format!("{text}{{\"line\":\"weather\",\"sun\":true}}\n")).unwrap();
    let contents = read(&path).unwrap();
    assert_eq!((contents.record.trials.len(), contents.record.features.len()), (1, 1));
}

#[test]
fn damage_without_checksums_is_named_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut journal) = new_journal(folder.path());
    journal.append(&block(1)).unwrap();
    journal.append(&trial(1, 1.0)).unwrap();
    let text = unsealed(&path).replace("{\"line\":\"block\"", "{\"line\":block");
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

/// Three blocks of `a` and `twin`, as a session leaves them.
fn whole_journal(folder: &Path) -> (PathBuf, Vec<u8>) {
    let (path, mut journal) = new_journal(folder);
    journal.append(&Line::Session(Session { session: 1, blocks: 3, ..Session::default() })).unwrap();
    for number in 1..=3 {
        journal.append(&block(number)).unwrap();
        journal.append(&trial(number, f64::from(number))).unwrap();
    }
    let bytes = fs::read(&path).unwrap();
    (path, bytes)
}

#[test]
fn every_flipped_bit_is_named_by_its_line_and_its_line_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let (path, bytes) = whole_journal(folder.path());
    let whole = read(&path).unwrap().record;
    let first_line = bytes.iter().position(|&b| b == b'\n').unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &flipped).unwrap();
        let line = 1 + bytes[..bit / 8].iter().filter(|&&b| b == b'\n').count();
        match read(&path) {
            // A line feed that went, at the very end, is a torn line.
            Ok(contents) if contents.torn => assert!(bit / 8 > bytes.len() - 2, "bit {bit}"),
            Ok(contents) => {
                assert!(contents.odd.iter().any(|odd| odd.line == line), "bit {bit}: {:?}", contents.odd);
                assert!(contents.record.trials.iter().all(|trial| whole.trials.contains(trial)), "bit {bit}");
            }
            Err(Error::DamagedStudy { .. } | Error::NotAJournal { .. }) => assert!(bit / 8 <= first_line, "bit {bit}"),
            Err(error) => panic!("bit {bit}: {error}"),
        }
    }
}

#[test]
fn journals_without_checksums_are_read_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = whole_journal(folder.path());
    let old = unsealed(&path);
    fs::write(&path, &old).unwrap();
    let (mut journal, contents) = Journal::open(&path, &study()).unwrap();
    assert_eq!((contents.record.trials.len(), contents.odd), (3, vec![]));
    journal.append(&block(4)).unwrap();
    journal.append(&trial(4, 4.0)).unwrap();
    let contents = read(&path).unwrap();
    assert_eq!((contents.record.trials.len(), contents.odd), (4, vec![]));
    // From the first line that has one, all have one.
    let text = fs::read_to_string(&path).unwrap();
    let (start, last) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(&path, format!("{start}\n{}}}\n", last.split_once(",\"crc32c\"").unwrap().0)).unwrap();
    assert_eq!(oddities(&path), ["line 10 is damaged, so it is ignored"]);
}

#[test]
fn a_trial_that_stands_twice_counts_once_and_does_not_hide_one_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = whole_journal(folder.path());
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[7] = lines[3];
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let record = read(&path).unwrap().record;
    assert_eq!(record.trials.iter().map(|trial| trial.block).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(oddities(&path), ["line 8 repeats line 4, so it is ignored"]);
}

#[test]
fn lines_that_contradict_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let contradiction = |change: &dyn Fn(&mut Journal)| {
        let _ = fs::remove_file(folder.path().join("journal.jsonl"));
        let (path, mut journal) = new_journal(folder.path());
        journal.append(&Line::Session(Session { session: 1, ..Session::default() })).unwrap();
        journal.append(&block(1)).unwrap();
        journal.append(&trial(1, 1.0)).unwrap();
        change(&mut journal);
        match read(&path) {
            Err(Error::Contradiction { contradiction, .. }) => contradiction.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let block_of = |order: &[&str]| {
        let Line::Block(mut line) = block(1) else { panic!() };
        line.order = order.iter().map(|&name| name.to_owned()).collect();
        line
    };
    let check = |change: &dyn Fn(&mut Journal), expect: &str| {
        let said = contradiction(change);
        assert!(said.contains(expect), "{said}");
    };
    check(&|j| j.append(&trial(1, 2.0)).unwrap(), "lines 4 and 5 contradict each other: both are trial w/idle/1/a");
    check(&|j| j.append(&Line::Block(block_of(&["twin", "a"]))).unwrap(), "lines 3 and 5");
    check(
        &|j| j.append(&Line::Block(Block { block: 2, ..block_of(&["a", "a"]) })).unwrap(),
        "line 5 contradicts itself",
    );
    check(
        &|j| j.append(&Line::Session(Session { session: 1, blocks: 7, ..Session::default() })).unwrap(),
        "lines 2 and 5 contradict each other: both begin session 1",
    );
    let other = StudyLine { identity: "other".into(), ..study() };
    check(
        &|j| j.append(&Line::Study(Box::new(other.clone()))).unwrap(),
        "lines 1 and 5 contradict each other: they belong to different studies",
    );
    let stray = |variant: &str| {
        let Line::Trial(line) = trial(1, 1.0) else { panic!() };
        Line::Trial(Trial { variant: variant.into(), ..line })
    };
    check(
        &|j| j.append(&stray("twin")).unwrap(),
        "lines 3 and 5 contradict each other: trial w/idle/1/twin does not match the order of its block",
    );
}

#[test]
fn what_is_of_nothing_in_the_study_is_named_and_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut journal) = new_journal(folder.path());
    journal.append(&Line::Session(Session { session: 1, ..Session::default() })).unwrap();
    let Line::Trial(planned) = trial(1, 1.0) else { panic!() };
    for (variant, workload, condition) in [("a", "w", "idle"), ("z", "w", "idle"), ("a", "z", "idle"), ("a", "w", "z")]
    {
        let [variant, workload, condition] = [variant, workload, condition].map(str::to_owned);
        journal.append(&Line::Trial(Trial { variant, workload, condition, ..planned.clone() })).unwrap();
    }
    journal.append(&Line::Trial(Trial { attempt: 1, ..planned.clone() })).unwrap();
    journal.append(&Line::Trial(Trial { block: 2, session: 7, ..planned })).unwrap();
    let contents = read(&path).unwrap();
    assert_eq!(contents.record.trials.iter().map(|trial| trial.block).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(
        oddities(&path),
        [
            "line 4 is ignored, because the study has no variant `z`",
            "line 5 is ignored, because the study has no workload `z`",
            "line 6 is ignored, because the study has no condition `z`",
            "line 7 repeats a trial that was already final in line 3, so it is ignored",
            "line 8 is used, although the line of its session (7) is missing",
        ]
    );
}

/// What says that trials do not count is a line like any other; after it they are repeated, whatever they were.
#[test]
fn trials_on_what_was_changed_are_void_and_may_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut journal) = new_journal(folder.path());
    let checked = || Line::Checked(Checked { session: 1, files: "f".into() });
    let again = || {
        let Line::Trial(line) = trial(2, 2.0) else { panic!() };
        Line::Trial(Trial { attempt: 1, ..line })
    };
    let changed =
        Line::Changed(Changed { session: 1, files: vec!["bin/p".into()], whole_session: false, from_unix_s: None });
    let session = Line::Session(Session { session: 1, ..Session::default() });
    let lines = [session, checked(), block(1), trial(1, 1.0), checked(), block(2), trial(2, 1.0), changed, again()];
    lines.iter().for_each(|line| journal.append(line).unwrap());
    let contents = read(&path).unwrap();
    assert_eq!(contents.odd, []);
    let is_ok = |trial: &Trial| trial.outcome == Outcome::Ok;
    assert_eq!(contents.record.trials.iter().map(is_ok).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(contents.record.unchecked().len(), 1);
}

/// The environment of its trials would take all memory.
#[test]
fn a_block_with_a_padding_that_nobody_draws_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut journal) = new_journal(folder.path());
    let Line::Block(line) = block(1) else { panic!() };
    journal.append(&Line::Block(Block { padding: u32::MAX, ..line.clone() })).unwrap();
    journal.append(&Line::Block(Block { padding: 4096, ..line })).unwrap();
    let contents = read(&path).unwrap();
    assert_eq!(contents.record.blocks.iter().map(|block| block.padding).collect::<Vec<_>>(), [4096]);
    let expect = "line 2 is ignored, because the study has no padding of 4294967295 bytes";
    assert_eq!(oddities(&path), [expect]);
}

#[test]
fn what_is_no_file_is_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/zero"), folder.path()] {
        assert!(matches!(read(path), Err(Error::NotAJournal { .. })), "{}", path.display());
    }
    assert!(matches!(Journal::open(&pipe, &study()), Err(Error::NotAJournal { .. })));
}

#[test]
fn a_journal_that_somebody_removes_or_shortens_ends_the_writing() {
    let folder = tempfile::tempdir().unwrap();
    type Disturb = fn(&Path);
    let remove: Disturb = |path| fs::remove_file(path).unwrap();
    let empty: Disturb = |path| fs::write(path, "").unwrap();
    let prolong: Disturb = |path| fs::write(path, fs::read_to_string(path).unwrap() + "x").unwrap();
    for (disturb, expect) in [(remove, "removed"), (empty, "to 0 bytes"), (prolong, "bytes")] {
        let (path, mut journal) = new_journal(folder.path());
        journal.append(&block(1)).unwrap();
        disturb(&path);
        let before = fs::read(&path).ok();
        let error = journal.append(&trial(1, 1.0)).unwrap_err();
        assert!(matches!(&error, Error::Disturbed { what, .. } if what.contains(expect)), "{error}");
        assert_eq!(fs::read(&path).ok(), before, "nothing is written");
        let _ = fs::remove_file(&path);
    }
}
