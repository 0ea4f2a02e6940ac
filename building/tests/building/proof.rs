//! What is seen of a build: the same code in two folders, descriptions, and sizes of chosen files.

use crate::Layer;
use crate::building_tests::study::{Study, layer};
use crate::journal::{BuildLine, BuildOutcome, Proof};

/// A program that knows its prefix, with debugging information that knows its work folder.
const PROGRAM: &str = "mkdir -p \"$PREFIX/bin\"
cat >p.c <<'END'
#include <stdio.h>
int main(void) { puts(PREFIX); return 0; }
END
cc $FLAGS -g -DPREFIX=\"\\\"$PREFIX\\\"\" -o \"$PREFIX/bin/p\" p.c
";

/// Builds two variants that differ in the variable `X`, and nothing else of which is shared.
fn two(layers: &[Layer]) -> [BuildLine; 2] {
    let mut study = Study::new(layers);
    study.variant("one", &[("X", "1"), ("FLAGS", "-O2")]);
    study.variant("two", &[("X", "2"), ("FLAGS", "-O2")]);
    let lines: [BuildLine; 2] = study.build().try_into().unwrap();
    assert_ne!(lines[0].digest, lines[1].digest);
    lines
}

#[test]
fn the_same_code_in_two_folders_is_the_same() {
    let [one, two] = two(&[layer("program", &format!("{PROGRAM}: $X\n"))]).map(|line| line.proof);
    assert!(one.binaries.is_some() && one.files.is_some());
    let without_times = |proof: &Proof| Proof { links: vec![], ..proof.clone() };
    assert_eq!(without_times(&one), without_times(&two));
}

#[test]
fn other_code_is_not() {
    let script =
        format!("{PROGRAM}cc -O2 -DX=$X -shared -fPIC -o \"$PREFIX/bin/x.so\" -x c - <<'END'\nint x = X;\nEND\n");
    let [one, two] = two(&[layer("program", &script)]).map(|line| line.proof);
    assert_ne!(one.binaries, two.binaries);
    assert_ne!(one.files, two.files);
}

#[test]
fn the_same_code_beside_other_files() {
    let [one, two] = two(&[layer("program", &format!("{PROGRAM}echo $X >\"$PREFIX/note\"\n"))]).map(|line| line.proof);
    assert_eq!(one.binaries, two.binaries);
    assert_ne!(one.files, two.files);
}

/// Debugging information is not what is run.
#[test]
fn stripped_or_not_is_no_other_program() {
    let [one, two] =
        two(&[layer("program", &format!("{PROGRAM}[ $X = 1 ] || strip \"$PREFIX/bin/p\"\n"))]).map(|line| line.proof);
    assert_eq!(one.binaries, two.binaries);
}

fn described(script: &str, describe: &[&str]) -> Layer {
    let describe = describe.iter().map(|&line| line.to_owned()).collect();
    Layer { describe, ..layer("program", script) }
}

#[test]
fn settings_in_which_builds_differ_are_told() {
    let first = described(
        "echo $X >\"$PREFIX/x\"",
        &["echo \"x=$(cat $PREFIX/x)\"; echo same: yes; echo aside >&2", "echo prefix=$PREFIX"],
    );
    let second =
        Layer { name: "second".to_owned(), ..described("echo 2 >\"$PREFIX/y\"", &["[ $X = 1 ] || echo extra"]) };
    let [one, two] = two(&[first, second]).map(|line| line.proof.described);
    assert_eq!(one, [("x".to_owned(), "1".to_owned())].into());
    assert_eq!(two, [("x".to_owned(), "2".to_owned()), ("extra".to_owned(), String::new())].into());
}

#[test]
fn what_was_seen_is_kept() {
    let script = "echo $X >\"$PREFIX/x\"";
    let mut study = Study::new(&[described(script, &["echo x=$X"])]);
    study.variant("one", &[("X", "1")]);
    study.variant("two", &[("X", "2")]);
    let built = study.build();
    let again = study.build();
    assert!(again.iter().all(|line| line.cached));
    let proofs = |lines: &[BuildLine]| lines.iter().map(|line| line.proof.clone()).collect::<Vec<_>>();
    assert_eq!(proofs(&again), proofs(&built));
    // Other commands describe other things, so the layer is another one.
    study.layers[0].describe.push("echo y=$X".to_owned());
    assert!(study.build().iter().all(|line| !line.cached && line.proof.described.len() == 2));
    // Of what is gone nothing is claimed.
    std::fs::remove_dir_all(study.cache.root().join("proofs")).unwrap();
    let lines = study.build();
    assert!(lines.iter().all(|line| line.cached && line.proof.described.is_empty() && line.proof.files.is_none()));
}

#[test]
fn a_description_that_fails_is_a_failure_of_the_layer() {
    let study = Study::new(&[described("echo >\"$PREFIX/x\"", &["echo fine=1", "echo no such >&2;   exit 3"])]);
    let (why, tail) = study.failed();
    assert_eq!(why, "describe line 2 exited 3: echo no such >&2; exit 3");
    assert!(tail.iter().any(|line| line == "no such"), "{tail:?}");
    let endless = Study::new(&[described("echo >\"$PREFIX/x\"", &["head -c 5000000 /dev/zero"])]);
    assert!(endless.failed().0.contains("printed more than the limit of 4 MiB"));
}

#[test]
fn chosen_files_are_measured_without_building_again() {
    let mut study = Study::new(&[layer("program", "mkdir \"$PREFIX/bin\"; printf 12345 >\"$PREFIX/bin/p\"")]);
    let (line, _) = study.built();
    assert!(line.proof.sizes.is_empty());
    study.layers[0].sizes = vec!["bin/*".to_owned(), "lib/**/*.so".to_owned()];
    let [line] = study.build().try_into().unwrap();
    assert!(line.cached && line.outcome == BuildOutcome::Built);
    assert_eq!(line.proof.sizes, [("bin/p".to_owned(), 5)].into());
}
