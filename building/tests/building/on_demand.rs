//! What is built aside: layouts in which objects are in another order, and the trees of trials of building. Nothing of
//! it stays.

use crate::building_tests::study::{Study, had, layer, told};
use crate::error::Stop;
use crate::{Error, OnDemand};
use bakeoff_testkit::files::read;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The wrapper puts the objects into another order; nothing here does.
const LINK: &str = r#"
mkdir -p "$PREFIX/bin"
cc -o "$PREFIX/bin/p" main.o a.o b.o c.o d.o
"#;

/// A program of five objects in a layer, and what it says in another.
fn program(relink: Option<&str>) -> Study {
    let script =
        "for f in main a b c d; do cc -DPREFIX=\"\\\"$PREFIX\\\"\" -c $f.c; done; date +%N > compiled; sh link.sh";
    let mut study = Study::new(&[
        layer("program", script),
        layer("more", "cp $PREFIX/bin/p $PREFIX/bin/q; $PREFIX/bin/q > $PREFIX/said"),
    ]);
    study.layers[0].relink = relink.map(str::to_owned);
    study.layers[0].tools = vec!["cc".to_owned()];
    study.layers[1].verify = vec!["test \"$(cat $PREFIX/said)\" = \"$PREFIX\"".to_owned()];
    study.write("link.sh", LINK);
    study.write("main.c", "#include <stdio.h>\nint main(void) { return puts(PREFIX) < 0; }\n");
    for name in ["a", "b", "c", "d"] {
        study.write(&format!("{name}.c"), &format!("int f_{name}(void) {{ return 1; }}\n"));
    }
    study.layers[0].files = ["link.sh", "main.c", "a.c", "b.c", "c.c", "d.c"].map(str::to_owned).to_vec();
    study
}

/// The functions of the program in the order of their addresses.
fn order(prefix: &Path) -> String {
    let printed = Command::new("nm").arg("-n").arg(prefix.join("bin/q")).output().unwrap().stdout;
    let names = String::from_utf8(printed).unwrap();
    let names: Vec<&str> = names.lines().filter_map(|line| line.split(" T f_").nth(1)).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    names.join("")
}

/// Names in a folder of the cache.
fn names(study: &Study, folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(study.cache.root().join(folder)).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// A layout, made; its prefix.
fn layout(aside: &mut OnDemand<'_>, of: &str, seed: u32) -> std::path::PathBuf {
    aside.layout("only", of, seed).unwrap()
}

#[test]
fn a_layout_has_its_objects_in_the_order_of_its_seed_and_is_gone_afterwards() {
    let study = program(Some("test -f compiled; sh link.sh"));
    let (_, cached) = study.built();
    let compiled = || {
        let trees = names(&study, "work");
        let trees: Vec<_> = trees.iter().map(|name| study.cache.root().join("work").join(name).join("tree")).collect();
        assert_eq!(trees.len(), 1, "the tree that can be linked anew is kept, and no other");
        read(trees[0].join("compiled"))
    };
    let (before, kept) = (compiled(), names(&study, "builds"));
    let dir = study.dir();
    let mut aside = study.aside(&dir);
    let mut orders = BTreeSet::new();
    for seed in 1..=6 {
        let prefix = layout(&mut aside, "only", seed);
        // The program and the layer after it know where they are.
        assert_eq!(read(prefix.join("said")), prefix.to_str().unwrap());
        orders.insert(order(&prefix));
        let again = layout(&mut aside, "twin", seed);
        assert_ne!(again, prefix);
        assert_eq!(order(&again), order(&prefix), "seed {seed}");
    }
    assert!(orders.len() > 1, "{orders:?}");
    assert_eq!(names(&study, "builds").len(), kept.len() + 12, "what layers were built upon is gone already");
    aside.clear().unwrap();
    assert_eq!(names(&study, "builds"), kept);
    assert_eq!(compiled(), before, "what is kept is as it was");
    assert_eq!(order(&cached), "abcd");
    drop(aside);
    assert!(names(&study, "aside").is_empty());
}

#[test]
fn without_a_relink_script_the_last_layer_is_built_again() {
    let mut study = program(None);
    study.layers.truncate(1);
    study.layers[0].verify = vec!["cp $PREFIX/bin/p $PREFIX/bin/q".to_owned()];
    study.built();
    for kept in names(&study, "work") {
        assert_eq!(names(&study, &format!("work/{kept}")), ["links".to_owned()].into(), "no tree is kept");
    }
    let dir = study.dir();
    let mut aside = study.aside(&dir);
    let orders: BTreeSet<String> = (1..=6).map(|seed| order(&layout(&mut aside, "only", seed))).collect();
    assert!(orders.len() > 1, "{orders:?}");
}

#[test]
fn a_layer_without_its_kept_tree_is_not_finished() {
    let study = program(Some("sh link.sh"));
    study.built();
    assert!(study.survey()[0].layers.iter().all(|layer| layer.cached));
    let first = study.survey()[0].layers[0].digest.clone();
    fs::remove_dir_all(study.cache.root().join("work").join(&first[..32])).unwrap();
    let cached: Vec<bool> = study.survey()[0].layers.iter().map(|layer| layer.cached).collect();
    assert_eq!(cached, [false, true]);
    study.built();
    assert!(study.survey()[0].layers.iter().all(|layer| layer.cached));
}

#[test]
fn what_has_nothing_to_permute_is_refused() {
    let mut study = program(Some("cc -o $PREFIX/bin/p main.o"));
    study.layers.truncate(1);
    study.built();
    let dir = study.dir();
    let Err(Stop::Error(error)) = study.aside(&dir).layout("only", "only", 1) else { panic!("it was made") };
    assert!(matches!(&error, Error::NothingPermuted { layer, variant } if layer == "program" && variant == "only"));
    assert!(error.to_string().contains("`relink`"), "{error}");
}

#[test]
fn a_layout_that_cannot_be_made_is_a_failure_with_the_end_of_its_log() {
    let study = program(Some("echo no such object >&2; exit 3"));
    study.built();
    let before = names(&study, "builds");
    let dir = study.dir();
    let mut aside = study.aside(&dir);
    let (part, why, tail) = told(had(aside.layout("only", "only", 1)).unwrap_err());
    assert_eq!((part.as_str(), why.as_str()), ("layout of layer program", "the script exited 3"));
    assert_eq!(tail, ["no such object"]);
    assert!(
        matches!(aside.layout("other", "other", 1), Err(Stop::Error(Error::NotBuilt { variant })) if variant == "other")
    );
    drop(aside);
    assert_eq!(names(&study, "builds"), before);
}

#[test]
fn what_a_killed_one_left_is_removed_by_the_next() {
    let study = program(Some("sh link.sh"));
    study.built();
    let before = [names(&study, "builds"), names(&study, "work")];
    let left = "0123456789abcdef0123456789abcdef";
    for folder in ["builds", "work", "aside"] {
        let path = study.cache.root().join(folder).join(left);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match folder {
            "aside" => fs::write(path, bakeoff_host::place::host_name()).unwrap(),
            _ => fs::create_dir_all(path.join("part")).unwrap(),
        }
    }
    let dir = study.dir();
    let aside = study.aside(&dir);
    assert!(names(&study, "aside").is_empty());
    assert_eq!([names(&study, "builds"), names(&study, "work")], before);
    drop(aside);
}

#[test]
fn a_trial_of_building_has_all_it_needs_and_leaves_nothing() {
    let mut study = program(None);
    let (_, cached) = study.built();
    study.layers[1].timeout_s = Some(60.0);
    let dir = study.dir();
    let before = [names(&study, "builds"), names(&study, "work"), names(&study, "logs")];
    let mut aside = study.aside(&dir);
    let mut execute = |layer: &str, instead: Option<&str>| {
        let command = aside.prepare(layer, "only").unwrap().command;
        assert!(command.dir.is_dir());
        let (script, words) = command.argv.split_last().unwrap();
        let mut shell = Command::new(&words[0]);
        shell.args(&words[1..]).arg(instead.unwrap_or(script)).current_dir(&command.dir);
        let status = shell.env_clear().envs(&command.env).status().unwrap();
        assert!(status.success(), "{layer}");
        had(aside.finish(true))
    };
    let bytes = execute("program", None).unwrap().unwrap();
    assert!(bytes > 1000);
    assert!(execute("more", None).unwrap().unwrap() > bytes, "upon what the layer before installed");
    let (_, why, _) = told(execute("more", Some("echo elsewhere > $PREFIX/said")).unwrap_err());
    assert!(why.starts_with("verify line 1 exited 1"), "{why}");
    let (_, why, _) = told(execute("program", Some("true")).unwrap_err());
    assert_eq!(why, "the script installed nothing into $PREFIX");
    aside.prepare("program", "only").unwrap();
    assert_eq!(aside.finish(false).unwrap(), None);
    drop(aside);
    assert_eq!([names(&study, "builds"), names(&study, "work"), names(&study, "logs")], before);
    assert!(cached.is_dir());
}
