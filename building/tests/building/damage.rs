//! A prefix that was changed by hand is noticed before it is used, told, and built again.

use crate::BuildEvent;
use crate::building_tests::study::{Study, layer};
use bakeoff_testkit::files::read;
use std::fs;

fn study() -> Study {
    let mut study = Study::new(&[layer("base", "echo base > $PREFIX/base"), layer("top", "echo $TOP > $PREFIX/top")]);
    study.variant("v", &[("TOP", "1")]);
    study
}

fn told(study: &Study) -> Vec<(String, Vec<String>, usize)> {
    let damaged = |event: &BuildEvent| match event {
        BuildEvent::Damaged { layer, files, more, .. } => Some((layer.clone(), files.clone(), *more)),
        _ => None,
    };
    study.events.lock().unwrap().iter().filter_map(damaged).collect()
}

#[test]
fn a_damaged_build_is_told_and_built_again() {
    let study = study();
    let (line, prefix) = study.built();
    fs::write(prefix.join("top"), "patched by hand").unwrap();
    fs::remove_file(prefix.join("base")).unwrap();
    for name in ["x", "y"] {
        fs::write(prefix.join(name), "").unwrap();
    }
    assert_eq!(study.cache.damage_of(&line.digest).len(), 4);
    let (line, _) = study.built();
    let files = ["base is missing", "top was changed", "x was added"].map(str::to_owned).to_vec();
    assert_eq!(told(&study), [("top".to_owned(), files, 1)]);
    assert_eq!(study.built_layers(), ["top"]);
    assert!(!line.cached && study.cache.damage_of(&line.digest).is_empty());
    assert_eq!((read(prefix.join("top")).as_str(), prefix.join("x").exists()), ("1", false));
    study.built();
    assert!(told(&study).is_empty() && study.built_layers().is_empty());
}

#[test]
fn a_damaged_layer_counts_where_something_is_built_upon_it() {
    let mut study = study();
    let (line, _) = study.built();
    let base = study.cache.prefix_of(&line.layers[0].digest);
    fs::write(base.join("base"), "BASE\n").unwrap();
    study.built();
    assert!(told(&study).is_empty(), "nobody uses it");
    study.variant("w", &[("TOP", "2")]);
    let lines = study.build();
    assert_eq!(told(&study), [("base".to_owned(), vec!["base was changed".to_owned()], 0)]);
    assert_eq!(study.built_layers(), ["base", "top"]);
    assert_eq!(read(study.cache.prefix_of(&lines[1].digest).join("base")), "base");
}

#[test]
fn a_manifest_that_is_gone_vouches_for_nothing() {
    let study = study();
    let (line, _) = study.built();
    fs::remove_file(study.cache.root().join("manifests").join(&line.digest[..32])).unwrap();
    study.built();
    assert_eq!(told(&study), [("top".to_owned(), vec!["the manifest cannot be read".to_owned()], 0)]);
    assert_eq!(study.built_layers(), ["top"]);
}
