//! Patches that apply, and every way in which one does not.

use crate::building_tests::study::{Study, layer};
use crate::{BuildEvent, Error};
use bakeoff_testkit::files::{read, sh, sha256};
use std::path::PathBuf;

const SOURCE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

/// A study whose source is a folder `upstream` with `text` in it, and whose patch this is.
fn study(patch: &str) -> Study {
    let mut study = Study::new(&[layer("program", "cp * $PREFIX")]);
    sh(&study.dir(), "mkdir upstream");
    study.write("upstream/text", SOURCE);
    study.write("upstream/other", SOURCE);
    sh(&study.dir(), "tar -cf upstream.tar upstream");
    let archive = study.dir().join("upstream.tar");
    study.source(&format!("cp '{}' $DOWNLOAD", archive.display()), &sha256(std::fs::read(&archive).unwrap()));
    study.write("fix.patch", patch);
    study.layers[0].patches = vec!["fix.patch".to_owned()];
    study
}

/// A patch of `text` that replaces `three`, with that context around it.
fn patch(at: u32, before: &str, old: &str, after: &str) -> String {
    format!("--- a/text\n+++ b/text\n@@ -{at},3 +{at},3 @@\n {before}\n-{old}\n+changed\n {after}\n")
}

#[test]
fn patches_are_applied_in_their_order() {
    let mut study = study(&patch(2, "two", "three", "four"));
    study.write("again.patch", &patch(2, "two", "changed", "four").replace("+changed", "+twice"));
    study.variants[0].patches.insert("program".to_owned(), vec!["again.patch".to_owned()]);
    let (line, prefix) = study.built();
    assert_eq!(read(prefix.join("text")), SOURCE.replace("three", "twice").trim_end());
    assert!(line.tools["patch"].contains("patch") && line.tools["patch"].contains("sha256"), "{:?}", line.tools);
    sh(&prefix, "test $(ls -A | wc -l) = 2"); // nothing of the patching is left in the source
    // Lines may have moved.
    let study = self::study(&patch(4, "two", "three", "four"));
    assert_eq!(read(study.built().1.join("text")), SOURCE.replace("three", "changed").trim_end());
}

#[test]
fn a_patch_that_does_not_apply_is_shown_with_what_was_rejected() {
    let good = patch(2, "two", "three", "four").replace("text", "other");
    let (why, tail) = study(&(good + &patch(2, "two", "drei", "four"))).failed();
    assert!(why.starts_with("cannot apply the patch `fix.patch`: `patch` exited 1"), "{why}");
    for expect in
        ["patching file text", "Hunk #1 FAILED at 2.", "@@ -2,3 +2,3 @@", " two", "-drei", "+changed", " four"]
    {
        assert!(tail.iter().any(|line| line.starts_with(expect)), "{expect} is missing in {tail:#?}");
    }
    // None of the context is ignored.
    let (why, tail) = study(&patch(2, "zwei", "three", "four")).failed();
    assert!(why.contains("cannot apply the patch") && tail.iter().any(|line| line == " zwei"), "{why} {tail:#?}");
}

#[test]
fn a_patch_that_is_there_already_is_told() {
    let (why, tail) = study(&patch(2, "two", "drei", "four").replace("changed", "three")).failed();
    assert!(why.contains("the patch is already applied or reversed"), "{why}");
    assert!(tail.iter().any(|line| line == "-drei"), "{tail:#?}");
}

#[test]
fn a_patch_does_not_leave_the_source() {
    let outside = |study: &Study| -> Vec<PathBuf> {
        let work = study.cache.root().join("work");
        ["escaped", "work/escaped"]
            .map(|name| study.cache.root().join(name))
            .into_iter()
            .chain([work.join("escaped")])
            .collect()
    };
    let new = |name: &str| format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+escaped\n");
    for patch in [new("b/../../escaped"), new("b/../../../escaped"), new("b//tmp/../../../escaped")] {
        let study = study(&patch);
        let (why, _) = study.failed();
        assert!(why.contains("the patch names a file outside the source"), "{why}");
        assert!(outside(&study).iter().all(|path| !path.exists()), "{patch}");
    }
    let (why, _) = study(&new("b/../../escaped")).failed();
    assert!(why.contains("outside the source"), "{why}");

    // By a link that it makes itself.
    let link = "diff --git a/door b/door\nnew file mode 120000\n--- /dev/null\n+++ b/door\n@@ -0,0 +1 @@\n+../..\n\\ No newline at end of file\n";
    let study = study(&(link.to_owned() + &new("b/door/escaped")));
    study.failed();
    assert!(outside(&study).iter().all(|path| !path.exists()));

    // An ed script is run by those who look for one.
    let study =
        self::study("--- a/text\n+++ b/text\n1i\n!touch escaped\n.\n@@ -1 +1 @@ this makes it look like a patch\n");
    let (why, _) = study.failed();
    assert!(why.contains("cannot apply the patch"), "{why}");
    sh(&study.dir(), "! find .. -name escaped | grep .");
}

#[test]
fn what_is_no_patch_and_a_patch_that_nobody_can_apply_are_told_before_anything_is_built() {
    for (content, expect) in [("", "is empty"), ("just words\n", "is not a patch")] {
        let study = study(content);
        match study.try_build() {
            Err(error @ Error::StudyFile { .. }) => {
                let text = error.to_string();
                assert!(text.contains("fix.patch") && text.contains(expect) && text.contains("diff -"), "{text}");
            }
            outcome => panic!("{outcome:?}"),
        }
        assert_eq!(study.count(|event| matches!(event, BuildEvent::Started { .. })), 0);
    }
}
