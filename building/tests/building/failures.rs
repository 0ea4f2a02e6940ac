//! Builds that fail: each is a value with its reason, and the others go on.

use crate::BuildEvent;
use crate::building_tests::study::{Study, layer};
use crate::journal::BuildOutcome;
use bakeoff_testkit::files::read;
use std::fs;

#[test]
fn a_missing_compiler_fails_only_the_builds_that_need_it() {
    let mut study = Study::new(&[layer("shared", "echo 1 > $PREFIX/a"), layer("program", "echo $CC > $PREFIX/cc")]);
    study.variant("there", &[("CC", "cc -O2")]);
    study.variant("missing", &[("CC", "no-such-cc -O2")]);
    study.variant("elsewhere", &[("CC", "/no/such/cc")]);

    let wanted = study.survey();
    let missing: Vec<_> = wanted.iter().map(|w| w.missing_tool.as_ref().map(|m| m.tool.as_str())).collect();
    assert_eq!(missing, [None, Some("no-such-cc"), Some("/no/such/cc")]);

    let lines = study.build();
    assert_eq!(lines[0].outcome, BuildOutcome::Built);
    assert!(lines[0].tools.contains_key("cc"));
    for (line, tool) in lines[1..].iter().zip(["`no-such-cc`, which is not on PATH", "`/no/such/cc`"]) {
        let BuildOutcome::Failed { layer, why, tail, log } = &line.outcome else { panic!("{line:?}") };
        assert_eq!(layer, "program");
        assert!(why.contains(tool) && why.contains("install"), "{why}");
        assert!(tail.is_empty() && log.is_none() && !line.cached);
    }
    let started = |event: &BuildEvent| match event {
        BuildEvent::Started { variants, layer } => layer == "program" && *variants != ["there"],
        _ => false,
    };
    assert_eq!(study.count(started), 0, "nothing is started for a build that cannot be completed");
    assert_eq!(study.count(|event| matches!(event, BuildEvent::Failed { .. })), 2);

    // Nor the layers before the one that needs the tool.
    study.layers[0].script += " # not built yet";
    study.variants.remove(0);
    study.build();
    assert_eq!(study.count(|event| matches!(event, BuildEvent::Started { .. })), 0);
}

#[test]
fn a_build_that_is_meant_to_fail_is_told_from_one_that_fails_otherwise_or_not_at_all() {
    let mut study = Study::new(&[layer("program", "touch $PREFIX/x; : $SAID; echo \"ld: $SAID\" >&2; test $END = no")]);
    for (name, said, end) in [("cure", "PC32 in op.o", "yes"), ("other", "no space", "yes"), ("built", "PC32", "no")] {
        study.variant(name, &[("SAID", said), ("END", end)]);
    }
    study.variants.iter_mut().for_each(|variant| variant.fails = vec!["TEXTREL".to_owned(), "PC32".to_owned()]);
    study.variant("unsaid", &[("SAID", "PC32 too"), ("END", "yes")]);

    let lines = study.build();
    assert_eq!(lines[0].failed_as_foreseen(), Some("ld: PC32 in op.o"), "neither its script nor its variables count");
    assert!(lines[1].failed_unforeseen() && lines[1].foreseen.as_ref().unwrap().text.contains("PC32"));
    assert_eq!(lines[2].outcome, BuildOutcome::Built);
    assert!(lines[2].foreseen.as_ref().unwrap().line.is_none() && lines[2].failed_as_foreseen().is_none());
    assert!(!lines[2].failed_unforeseen() && lines[3].failed_unforeseen() && lines[3].foreseen.is_none());
}

#[test]
fn what_failed_as_foreseen_is_not_tried_again() {
    let mut study =
        Study::new(&[layer("base", "touch $PREFIX/x"), layer("program", "echo PC32; $END"), layer("top", "")]);
    study.layers[2].script = "touch $PREFIX/y".to_owned();
    study.variant("cure", &[("END", "false")]);
    study.variant("other", &[("END", "true")]);
    study.variants[0].fails = vec!["PC32".to_owned()];
    let started = |study: &Study| study.count(|event| matches!(event, BuildEvent::Started { .. }));
    let remembered = |study: &Study| study.count(|event| matches!(event, BuildEvent::FailedBefore { .. }));
    let first = study.build();
    assert_eq!((started(&study), remembered(&study)), (4, 0));
    assert_eq!(study.survey().iter().map(|wanted| wanted.missing().count()).collect::<Vec<_>>(), [0, 0]);
    let again = study.build();
    assert_eq!((started(&study), remembered(&study)), (0, 1), "nothing is started again");
    assert_eq!(again[0].outcome, first[0].outcome);
    assert_eq!(again[0].failed_as_foreseen(), Some("PC32"));

    // Another failure is foreseen; the log is gone; nothing is foreseen.
    study.variants[0].fails = vec!["TEXTREL".to_owned()];
    assert!(study.build()[0].failed_unforeseen());
    assert_eq!((started(&study), remembered(&study)), (1, 0));
    study.variants[0].fails = vec!["PC32".to_owned()];
    let BuildOutcome::Failed { log: Some(log), .. } = &study.build()[0].outcome else { panic!("it was built") };
    assert_eq!((started(&study), remembered(&study)), (1, 0));
    fs::remove_file(log).unwrap();
    study.build();
    assert_eq!((started(&study), remembered(&study)), (1, 0));
    study.variants[0].fails.clear();
    assert!(study.build()[0].failed_unforeseen());
    assert_eq!((started(&study), remembered(&study)), (1, 0));
}

#[test]
fn a_failed_script_shows_its_last_lines() {
    let script =
        "for n in $(seq 100); do echo out $n; done; echo bad >&2; echo x > $PREFIX/x; $END; touch $PREFIX/never";
    let mut study = Study::new(&[layer("program", script)]);
    study.variant("bad", &[("END", "false")]);
    study.variant("good", &[("END", "true")]);
    let lines = study.build();
    assert_eq!(lines[1].outcome, BuildOutcome::Built);

    let BuildOutcome::Failed { layer, why, tail, log } = &lines[0].outcome else { panic!("{:?}", lines[0]) };
    assert_eq!((layer.as_str(), why.as_str()), ("program", "the script exited 1"));
    assert_eq!(tail[tail.len() - 2..], ["out 100", "bad"]);
    assert!(tail.len() <= 20);
    let log = read(log.as_ref().unwrap());
    assert!(log.contains("out 1\n") && log.contains("script for n in"), "{log}");

    // The remains are where the log's last line says.
    let digest = &lines[0].digest[..32];
    let work = study.cache.root().join("work").join(digest);
    assert!(work.join("tree").is_dir());
    assert!(log.lines().last().unwrap().contains(work.to_str().unwrap()), "{log}");
    assert!(!tail.iter().any(|line| line.starts_with("bakeoff: ")), "what is ours is not what was printed");
    assert!(!study.survey()[0].layers[0].cached);
    assert_eq!(lines[0].prefix_bytes, None);
}

#[test]
fn a_failed_build_is_tried_again() {
    let mut study = Study::new(&[layer("program", "")]);
    let remedy = study.dir().join("remedy");
    study.layers[0].script = format!("test ! -e $PREFIX/x; echo > $PREFIX/x; test -e '{}'", remedy.display());
    study.failed();
    study.failed();
    fs::write(&remedy, "").unwrap();
    let (line, _) = study.built();
    assert!(!line.cached);
    assert_eq!(fs::read_dir(study.cache.root().join("work")).unwrap().count(), 0);
}

#[test]
fn a_failed_layer_fails_what_is_built_upon_it() {
    let mut study = Study::new(&[layer("base", "echo $A > $PREFIX/a; $A"), layer("top", "echo $B > $PREFIX/b")]);
    study.variant("a", &[("A", "false"), ("B", "1")]);
    study.variant("b", &[("A", "false"), ("B", "2")]);
    study.variant("c", &[("A", "true"), ("B", "2")]);
    let lines = study.build();
    for line in &lines[..2] {
        assert!(matches!(&line.outcome, BuildOutcome::Failed { layer, .. } if layer == "base"), "{line:?}");
    }
    assert_eq!(lines[2].outcome, BuildOutcome::Built);
    assert_eq!(study.count(|event| matches!(event, BuildEvent::Failed { .. })), 1);
    assert_eq!(study.count(|event| matches!(event, BuildEvent::Finished { .. })), 2);
}

#[test]
fn every_way_to_fail_is_told_apart() {
    let check = |script: &str, verify: &[&str], expect: &str| {
        let mut study = Study::new(&[layer("program", script)]);
        study.layers[0].verify = verify.iter().map(|line| line.to_string()).collect();
        assert_eq!(study.failed().0, expect, "{script}");
        assert!(!study.survey()[0].layers[0].cached);
    };
    check("exit 7", &[], "the script exited 7");
    check("false; touch $PREFIX/x", &[], "the script exited 1");
    check("kill -9 $$", &[], "the script was killed by signal 9");
    check("true", &[], "the script installed nothing into $PREFIX");
    check("mkdir $PREFIX/x; rmdir $PREFIX/x", &[], "the script installed nothing into $PREFIX");
    check("echo > $PREFIX/x", &["true", "test 1 = 2"], "verify line 2 exited 1: test 1 = 2");
}

#[test]
fn processes_that_outlive_a_script_are_killed() {
    let script = format!(
        "(sleep 1000; touch $PREFIX/late) & echo {} $! > $PREFIX/pid",
        crate::building_tests::processes::NAMESPACE
    );
    let study = Study::new(&[layer("daemon", &script)]);
    let (line, prefix) = study.built();
    assert!(!crate::building_tests::processes::is_alive(&read(prefix.join("pid"))));
    let log = read(study.cache.root().join("logs").join(format!("{}.log", &line.digest[..32])));
    assert!(log.contains("outlived the script"), "{log}");
}
