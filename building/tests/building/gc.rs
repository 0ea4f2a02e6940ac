//! What a cache holds, what may go, and how it goes.

use crate::building_tests::study::{Study, layer};
use crate::{Decision, Inventory, Item, ItemKind, Needs, Rule, Why, choose, remove};
use bakeoff_testkit::files::{sh, sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A study of two layers and a source, built; `second` is a part of the second layer's script.
fn built(study: &mut Study, second: &str) -> Needs {
    let script = format!("echo {second} > $PREFIX/second");
    study.layers = vec![layer("first", "cp upstream.txt $PREFIX/first"), layer("second", &script)];
    study.source("echo content > $DOWNLOAD/upstream.txt", &sha256("content\n"));
    study.built();
    let dir = study.dir();
    crate::needs(&study.cache, &study.request(&dir)).unwrap()
}

/// The moment in which everything was last used `age_s` seconds ago.
fn rule(age_s: f64) -> Rule {
    Rule { older_than_s: None, keep_bytes: None, young_s: 3600.0, now_unix_s: bakeoff_host::now_unix_s() + age_s }
}

fn inventory(study: &Study) -> Inventory {
    Inventory::of(&study.cache).unwrap()
}

/// What of the cache is decided to go, by what it is.
fn going(study: &Study, rule: &Rule, needed: &Needs) -> Vec<String> {
    let inventory = inventory(study);
    let decisions = choose(&inventory, rule, needed);
    let goes = inventory.items.iter().zip(decisions).filter(|(_, decision)| matches!(decision, Decision::Goes(_)));
    let mut names: Vec<String> = goes.map(|(item, _)| what(item)).collect();
    names.sort();
    names
}

fn what(item: &Item) -> String {
    match item.kind {
        ItemKind::Layer | ItemKind::Source => item.of.clone(),
        ItemKind::Log => "log".to_owned(),
        ItemKind::Remains => "remains".to_owned(),
    }
}

#[test]
fn the_inventory_adds_up_to_what_is_on_the_disk() {
    let mut study = Study::new(&[]);
    built(&mut study, "a");
    sh(study.cache.root(), "cd $(ls -d builds/* | head -1); ln first again");
    let inventory = inventory(&study);
    let mut kinds: Vec<String> = inventory.items.iter().map(what).collect();
    kinds.sort();
    assert_eq!(kinds, ["first", "second", "upstream.txt"]);
    assert!(inventory.items.iter().all(|item| !item.locked && item.bytes > 0));
    // Every file once, whatever its names.
    let listed = std::process::Command::new("find")
        .arg(study.cache.root())
        .args(["!", "-type", "d", "-printf", "%i %s\n"])
        .output()
        .unwrap();
    let files: BTreeSet<String> = String::from_utf8(listed.stdout).unwrap().lines().map(str::to_owned).collect();
    let bytes: u64 = files.iter().map(|line| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(inventory.total_bytes(), bytes);
}

#[test]
fn age_removes_what_no_study_needs() {
    let mut study = Study::new(&[]);
    let before = built(&mut study, "a");
    let now = built(&mut study, "b");
    let day_s = 86_400.0;
    let old = |days: f64| Rule { older_than_s: Some(days * day_s), ..rule(10.0 * day_s) };
    assert_eq!(going(&study, &old(30.0), &Needs::default()), [""; 0], "all is younger than that");
    assert_eq!(going(&study, &old(5.0), &Needs::default()), ["first", "second", "second", "upstream.txt"]);
    assert_eq!(going(&study, &old(5.0), &now), ["second"]);
    let mut all = before;
    all.extend(now);
    assert_eq!(going(&study, &old(5.0), &all), [""; 0]);
    let young = Rule { older_than_s: Some(0.0), ..rule(60.0) };
    assert_eq!(going(&study, &young, &Needs::default()), [""; 0], "it is an hour too early");
}

#[test]
fn size_removes_the_longest_unused_first_and_no_more_than_it_must() {
    let mut study = Study::new(&[]);
    built(&mut study, "a");
    let now = built(&mut study, "b");
    let total = inventory(&study).total_bytes();
    let keep = |keep_bytes| Rule { keep_bytes: Some(keep_bytes), ..rule(1e6) };
    assert_eq!(going(&study, &keep(total), &Needs::default()), [""; 0]);
    // The second layer that "a" made is the only thing that "b" did not use again.
    assert_eq!(going(&study, &keep(total - 1), &Needs::default()), ["second"]);
    assert_eq!(going(&study, &keep(0), &Needs::default()).len(), 4);
    assert_eq!(going(&study, &keep(0), &now), ["second"]);
}

#[test]
fn what_is_removed_is_built_again_and_nothing_else() {
    let mut study = Study::new(&[]);
    let needs = built(&mut study, "a");
    let gone = |kind: &str| {
        let item = inventory(&study).items.into_iter().find(|item| what(item) == kind).unwrap();
        assert!(remove(&study.cache, &item).unwrap());
    };
    gone("second");
    let left: Vec<String> = inventory(&study).items.iter().map(what).collect();
    assert_eq!(left, ["upstream.txt", "first"]);
    study.built();
    assert_eq!(study.count(|event| matches!(event, crate::BuildEvent::Started { .. })), 1);
    gone("upstream.txt");
    gone("first");
    gone("second");
    assert_eq!(inventory(&study).items, []);
    study.built();
    assert_eq!(study.count(|event| matches!(event, crate::BuildEvent::Fetched { .. })), 1);
    study.cache.forget_what_is_gone(&needs).unwrap();
    assert_eq!(study.cache.known_studies().unwrap()[0].used, needs);
}

#[test]
fn what_somebody_is_at_work_on_stays() {
    let mut study = Study::new(&[]);
    built(&mut study, "a");
    let item = inventory(&study).items.into_iter().find(|item| what(item) == "second").unwrap();
    let path = study.cache.root().join("locks").join(format!("{}.lock", item.name));
    // What another test starts has a copy of it until it runs its program.
    let held = loop {
        match bakeoff_host::lock::Lock::take(&path) {
            Ok(held) => break held,
            Err(_) => std::thread::yield_now(),
        }
    };
    assert!(inventory(&study).items.iter().any(|found| found.name == item.name && found.locked));
    let rule = Rule { older_than_s: Some(1.0), ..rule(1e6) };
    assert_eq!(going(&study, &rule, &Needs::default()), ["first", "upstream.txt"]);
    assert!(!remove(&study.cache, &item).unwrap());
    drop(held);
    // Used again since it was looked at.
    study.built();
    assert!(!remove(&study.cache, &item).unwrap());
    assert_eq!(inventory(&study).items.len(), 3);
}

#[test]
fn remains_go_and_their_log_stays_as_long_as_it_is_needed() {
    let mut study = Study::new(&[layer("fails", "echo half > $PREFIX/half; exit 1")]);
    study.failed();
    let kinds = |study: &Study| {
        let mut kinds: Vec<String> = inventory(study).items.iter().map(what).collect();
        kinds.sort();
        kinds
    };
    assert_eq!(kinds(&study), ["log", "remains"]);
    let dir = study.dir();
    let needed = crate::needs(&study.cache, &study.request(&dir)).unwrap();
    assert_eq!(going(&study, &rule(60.0), &needed), [""; 0], "they may be looked at for an hour");
    assert_eq!(going(&study, &rule(1e6), &needed), ["remains"]);
    let old = Rule { older_than_s: Some(1.0), ..rule(1e6) };
    assert_eq!(going(&study, &old, &Needs::default()), ["log", "remains"]);
    let items = inventory(&study).items;
    assert!(remove(&study.cache, &items[1]).unwrap());
    assert_eq!(kinds(&study), ["log"]);
    // Not ours, whatever it is.
    fs::create_dir(study.cache.root().join("builds/somebody")).unwrap();
    assert_eq!(kinds(&study), ["log"]);
    study.layers = vec![layer("succeeds", "echo > $PREFIX/x")];
    study.built();
    let record = fs::read_dir(study.cache.root().join("records")).unwrap().next().unwrap().unwrap().path();
    fs::write(record.with_extension("aside"), "torn").unwrap();
    fs::remove_file(record).unwrap();
    assert_eq!(kinds(&study), ["log", "log", "remains"], "without its record, a layer is the remains of one");
}

#[test]
fn what_is_built_aside_stays_while_somebody_builds_there() {
    let study = Study::new(&[]);
    let root = study.cache.root();
    let name = "0123456789abcdef".repeat(2);
    fs::create_dir_all(root.join("builds").join(&name)).unwrap();
    fs::create_dir_all(root.join("aside")).unwrap();
    fs::write(root.join("aside").join(&name), "host").unwrap();
    let held = bakeoff_host::lock::Lock::take(&root.join("locks/aside-host.lock")).unwrap();
    assert_eq!(going(&study, &rule(1e6), &Needs::default()), [""; 0]);
    let item = inventory(&study).items.remove(0);
    assert!(!remove(&study.cache, &item).unwrap());
    drop(held);
    assert_eq!(going(&study, &rule(1e6), &Needs::default()), ["remains"]);
    assert!(remove(&study.cache, &item).unwrap());
}

#[test]
fn decisions_say_why() {
    let mut study = Study::new(&[]);
    let needs = built(&mut study, "a");
    let inventory = inventory(&study);
    let of = |rule: &Rule, needed: &Needs| choose(&inventory, rule, needed)[0];
    assert_eq!(of(&rule(0.0), &needs), Decision::Young);
    assert_eq!(of(&rule(1e6), &needs), Decision::Needed);
    assert_eq!(of(&rule(1e6), &Needs::default()), Decision::Stays);
    let old = Rule { older_than_s: Some(1.0), ..rule(1e6) };
    assert_eq!(of(&old, &Needs::default()), Decision::Goes(Why::Old));
    let small = Rule { keep_bytes: Some(0), ..rule(1e6) };
    assert_eq!(of(&small, &Needs::default()), Decision::Goes(Why::Size));
}

#[test]
fn a_study_is_known_by_its_folder() {
    let mut study = Study::new(&[]);
    let needs = built(&mut study, "a");
    let [known] = study.cache.known_studies().unwrap().try_into().unwrap();
    assert_eq!((known.dir, known.used), (fs::canonicalize(study.dir()).unwrap(), needs));
    assert!((bakeoff_host::now_unix_s() - known.last_used_unix_s).abs() < 600.0);
    // A file that cannot be understood is no reason to fail.
    fs::write(study.cache.root().join("uses/torn.json"), "{").unwrap();
    assert_eq!(study.cache.known_studies().unwrap().len(), 1);
    assert!(Path::new(study.cache.root()).join("uses").is_dir());
}
