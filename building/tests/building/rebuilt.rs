//! What is rebuilt after a change of one line, and that nothing else is.

use crate::building_tests::study::{Study, layer};
use crate::journal::BuildOutcome;
use crate::{Source, SourceFrom};
use bakeoff_testkit::files::{read, sh, sha256};

/// Three layers and two variants, which differ in the last layer. The first has a source, of a version that is a level;
/// the second has a patch for one variant; the third takes a file.
fn study() -> Study {
    let mut study = Study::new(&[
        layer("runtime", "cp * $PREFIX"),
        layer("library", "cp * $PREFIX"),
        layer("program", "sh install.sh $OPT"),
    ]);
    study.write("one", "1\n");
    study.write("two", "2\n");
    study.write("text", "old\n");
    study.write("install.sh", "echo $1 > $PREFIX/opt\n");
    study.write("fix.patch", "--- a/text\n+++ b/text\n@@ -1 +1 @@\n-old\n+new\n");
    for name in ["one", "two", "text"] {
        let (from, sha256) = (study.dir().join(name), sha256(read(study.dir().join(name)) + "\n"));
        let from = SourceFrom::Fetch(format!("cp '{}' $DOWNLOAD", from.display()));
        study.sources.push(Source {
            name: name.to_owned(),
            from,
            sha256: Some(sha256),
            unpack: true,
            disk_bytes: None,
        });
    }
    study.layers[0].source = Some("one".to_owned());
    study.layers[1].source = Some("text".to_owned());
    study.layers[2].files = vec!["install.sh".to_owned()];
    study.variant("fast", &[("OPT", "-O2")]);
    study.variant("slow", &[("OPT", "-O0")]);
    study
}

#[test]
fn only_the_touched_layer_and_what_stands_upon_it() {
    let mut study = study();
    let mut check = |change: &dyn Fn(&mut Study), expect: &[&str]| {
        change(&mut study);
        let lines = study.build();
        assert!(lines.iter().all(|line| line.outcome == BuildOutcome::Built), "{lines:?}");
        assert_eq!(study.built_layers(), expect);
        study.build();
        assert!(study.built_layers().is_empty(), "the second call builds nothing");
    };
    let all = ["library", "program", "program", "runtime"];
    check(&|_| {}, &all);
    // The last layer's script, then that of the first.
    check(&|study| study.layers[2].script += "; true", &["program", "program"]);
    check(&|study| study.layers[0].script += "; true", &all);
    // A level: of one variant, so that the other one's build is not touched.
    check(&|study| drop(study.variants[1].build_variables.insert("OPT".to_owned(), "-O1".to_owned())), &["program"]);
    check(&|study| drop(study.write("install.sh", "echo opt $1 > $PREFIX/opt\n")), &["program", "program"]);
    // A patch of a level is for one variant: the other one keeps its library.
    let patch = |study: &mut Study| {
        study.variants[1].patches.insert("library".to_owned(), vec!["fix.patch".to_owned()]);
    };
    check(&patch, &["library", "program"]);
    let patched = "--- a/text\n+++ b/text\n@@ -1 +1 @@\n-old\n+newer\n";
    check(&|study| drop(study.write("fix.patch", patched)), &["library", "program"]);
    // A version of the runtime for each level.
    let version = |study: &mut Study| {
        study.variants[1].sources.insert("runtime".to_owned(), "two".to_owned());
    };
    check(&version, &["library", "program", "runtime"]);
    let source = |study: &mut Study| {
        let path = study.write("two", "2.1\n");
        study.sources[1].sha256 = Some(sha256(read(path) + "\n"));
    };
    check(&source, &["library", "program", "runtime"]);

    let lines = study.build();
    let prefix = |n: usize| study.cache.prefix_of(&lines[n].digest);
    sh(&prefix(0), "test $(cat one) = 1 && test $(cat text) = old && test \"$(cat opt)\" = 'opt -O2' && ! test -e two");
    sh(
        &prefix(1),
        "test $(cat two) = 2.1 && test $(cat text) = newer && test \"$(cat opt)\" = 'opt -O1' && ! test -e one",
    );
    assert_eq!(lines[1].variants, ["slow"]);
    let names: Vec<&str> = lines[1].layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names, ["runtime", "library", "program"]);
    assert_eq!(lines[1].layers[2].digest, lines[1].digest);
    for layer in &lines[1].layers {
        assert!(layer.cached && layer.cost.contains_key("wall"), "{layer:?}");
        assert!(read(layer.log.as_ref().unwrap()).contains(&format!("layer {} of", layer.name)));
    }
}
