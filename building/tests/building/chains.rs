//! What a build is made of, what names it, and what it shares with others.

use crate::SourceFrom;
use crate::building_tests::study::{Study, layer};
use crate::{BuildEvent, Error};
use bakeoff_testkit::files::{read, sh};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_second_layer_continues_a_relocated_first() {
    let mut study = Study::new(&[
        layer(
            "program",
            r#"mkdir "$PREFIX/bin"
            cc -DPREFIX="\"$PREFIX\"" where.c -o "$PREFIX/bin/where"
            ln -s "$PREFIX/bin/where" "$PREFIX/link"
            echo "$PREFIX" > "$PREFIX/where.txt""#,
        ),
        layer("more", r#""$PREFIX/bin/where" > "$PREFIX/said.txt""#),
    ]);
    study.layers[0].files = vec!["where.c".to_owned()];
    study.layers[0].tools = vec!["cc".to_owned()];
    study.layers[1].verify = vec![r#"test "$(cat "$PREFIX/said.txt")" = "$PREFIX""#.to_owned()];
    study.write("where.c", "#include <stdio.h>\nint main(void) { return puts(PREFIX) < 0; }\n");

    let (line, prefix) = study.built();
    let first = study.cache.prefix_of(&study.survey()[0].layers[0].digest);
    assert_ne!(first, prefix);
    assert_eq!(first.as_os_str().len(), prefix.as_os_str().len());
    for prefix in [&first, &prefix] {
        let said = Command::new(prefix.join("bin/where")).output().unwrap().stdout;
        assert_eq!(String::from_utf8(said).unwrap().trim_end(), prefix.to_str().unwrap());
        assert_eq!(fs::read_link(prefix.join("link")).unwrap(), prefix.join("bin/where"));
        assert_eq!(read(prefix.join("where.txt")), prefix.to_str().unwrap());
    }
    assert!(!first.join("said.txt").exists(), "the first layer is left as it was");
    assert!(line.tools["cc"].starts_with('/'), "{:?}", line.tools);
    assert!(line.prefix_bytes.unwrap() > 0);
    assert_eq!(line.cost.keys().collect::<Vec<_>>(), ["maxrss", "sys", "user", "wall"]);
    let left = fs::read_dir(study.cache.root().join("work")).unwrap().map(|entry| entry.unwrap().path());
    assert!(left.into_iter().all(|folder| names_in(&folder) == ["links"]), "nothing but what layouts need");
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_was_built_is_cached() {
    let study = Study::new(&[layer("a", "echo x > $PREFIX/x"), layer("b", "echo y > $PREFIX/y")]);
    assert!(study.survey()[0].layers.iter().all(|layer| !layer.cached && layer.expected_wall_s.is_none()));
    let (first, _) = study.built();
    assert!(!first.cached);

    let wanted = &study.survey()[0];
    assert!(wanted.layers.iter().all(|layer| layer.cached && layer.expected_wall_s.is_some()));
    assert_eq!(wanted.digest, first.digest);
    let (second, prefix) = study.built();
    assert_eq!(study.count(|event| matches!(event, BuildEvent::Cached { .. })), 2);
    assert_eq!(study.count(|event| matches!(event, BuildEvent::Started { .. })), 0);
    assert!(second.cached);
    assert_eq!(second.cost, first.cost);
    assert_eq!(second.prefix_bytes, first.prefix_bytes);

    // A prefix that somebody removed is built again.
    fs::remove_dir_all(&prefix).unwrap();
    let (third, prefix) = study.built();
    assert!(!third.cached);
    assert_eq!(read(prefix.join("y")), "y");
}

#[test]
fn the_name_covers_what_goes_in_and_nothing_else() {
    let mut study = Study::new(&[layer("a", "echo $MALLOC > $PREFIX/x"), layer("b", "sh tune.sh $TUNE")]);
    study.layers[1].files = vec!["tune.sh".to_owned()];
    study.variant("v", &[("MALLOC", "system"), ("TUNE", "1"), ("OTHER", "1")]);
    study.write("tune.sh", "echo $1 > $PREFIX/tune\n");
    study.source("true", &"0".repeat(64));
    let names = |study: &Study| {
        let layers = study.survey().remove(0).layers;
        [layers[0].digest.clone(), layers[1].digest.clone()]
    };
    let mut before = names(&study);
    // What changes the name of the first layer changes those of all that follow.
    let mut check = |study: &Study, what: &str, expect: [bool; 2]| {
        let after = names(study);
        assert_eq!([after[0] != before[0], after[1] != before[1]], expect, "{what}");
        before = after;
    };
    check(&study, "nothing", [false, false]);
    study.variants[0].build_variables.insert("OTHER".to_owned(), "2".to_owned());
    check(&study, "a variable that nothing mentions", [false, false]);
    study.variants[0].name = "renamed".to_owned();
    check(&study, "the variant's name", [false, false]);
    study.variants[0].build_variables.insert("MALLOC".to_owned(), "own".to_owned());
    check(&study, "a variable of the first script", [true, true]);
    study.variants[0].build_variables.insert("TUNE".to_owned(), "2".to_owned());
    check(&study, "a variable of the second script", [false, true]);
    study.write("tune.sh", "echo $TUNE > $PREFIX/tune\n");
    check(&study, "a file", [false, true]);
    study.layers[0].script += " # changed";
    check(&study, "the first script", [true, true]);
    study.layers[1].verify.push("true".to_owned());
    check(&study, "a verify line", [false, true]);
    study.sources[0].sha256 = Some("1".repeat(64));
    check(&study, "a source", [true, true]);
    study.sources[0].from = SourceFrom::Fetch("false".to_owned());
    check(&study, "how a source is fetched", [false, false]);
    study.layers[1].tools.push("cc".to_owned());
    check(&study, "a tool", [false, true]);
}

#[test]
fn what_variants_have_in_common_is_built_once() {
    let mut study = Study::new(&[layer("base", "echo base > $PREFIX/base"), layer("top", "echo $TOP > $PREFIX/top")]);
    study.variant("a", &[("TOP", "1"), ("RUN", "x")]);
    study.variant("b", &[("TOP", "2")]);
    study.variant("c", &[("TOP", "1"), ("RUN", "y")]);
    let lines = study.build();
    assert_eq!(lines.iter().map(|line| line.variants.join(" ")).collect::<Vec<_>>(), ["a c", "b"]);
    assert_eq!(study.count(|event| matches!(event, BuildEvent::Finished { .. })), 3);
    for (line, top) in lines.iter().zip(["1", "2"]) {
        let prefix = study.cache.prefix_of(&line.digest);
        assert_eq!((read(prefix.join("base")).as_str(), read(prefix.join("top")).as_str()), ("base", top));
    }
}

#[test]
fn the_environment_is_empty_but_for_what_is_declared() {
    let mut study = Study::new(&[layer("env", "env > $PREFIX/env; : $LEVEL; touch $HOME/h $TMPDIR/t; pwd; ls -A")]);
    study.variant("v", &[("LEVEL", "a b 'c'"), ("UNSAID", "1"), ("PREFIX", "/nowhere")]);
    let (line, prefix) = study.built();
    let text = read(prefix.join("env"));
    let env: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('=')).collect();
    // What shells set by themselves, what stands for a namespace where none is permitted, and where rustup is, if it is there.
    let others = ["PWD", "OLDPWD", "SHLVL", "_", "BAKEOFF_STARTED", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    let ours: Vec<_> = env.keys().filter(|name| !others.contains(name)).copied().collect();
    assert_eq!(ours, ["BAKEOFF_TOOL_LOG", "HOME", "JOBS", "LC_ALL", "LEVEL", "PATH", "PREFIX", "TMPDIR"]);
    assert_eq!(env["LEVEL"], "a b 'c'");
    assert_eq!(env["LC_ALL"], "C");
    // The wrappers of compilers, and the usual.
    assert_eq!(env["PATH"].split_once(':').unwrap().1, std::env::var("PATH").unwrap());
    assert_eq!(env["PREFIX"], prefix.to_str().unwrap());
    assert!(env["JOBS"].parse::<u32>().unwrap() > 0);
    assert_ne!(Some(env["HOME"].to_owned()), std::env::var("HOME").ok());

    let log = read(study.cache.root().join("logs").join(format!("{}.log", &line.digest[..32])));
    assert!(log.contains("variable LEVEL=a b 'c'") && log.contains("script env > $PREFIX/env"), "{log}");
}

#[test]
fn a_study_without_layers_has_no_builds() {
    let study = Study::new(&[]);
    assert!(study.build().is_empty() && study.survey().is_empty());
}

#[test]
fn a_file_of_a_layer_is_one_of_the_study() {
    let mut study = Study::new(&[layer("a", "cp -r . $PREFIX")]);
    sh(&study.dir(), "mkdir -p deep; echo 1 > deep/ok; chmod +x deep/ok; echo 2 > ../secret; ln -s ../secret link");
    let absolute = study.dir().join("deep/ok").display().to_string();
    let mut check = |file: &str, expect: Option<&str>| {
        study.layers[0].files = vec![file.to_owned()];
        match (study.try_build(), expect) {
            (Ok(_), None) => {}
            (Err(error @ Error::StudyFile { .. }), Some(expect)) => {
                assert!(error.to_string().contains(expect), "{error}")
            }
            (outcome, _) => panic!("{file}: {outcome:?}"),
        }
    };
    check("absent", Some("absent"));
    check("../secret", Some("not in the study's folder"));
    check("link", Some("not in the study's folder"));
    check(&absolute, Some("not in the study's folder"));
    check("deep", Some("not a regular file"));
    check("deep/ok", None);
    let (_, prefix) = study.built();
    sh(&prefix, "test -x deep/ok && test 1 = $(cat deep/ok)");
}
