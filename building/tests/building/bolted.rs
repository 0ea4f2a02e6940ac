//! Programs that BOLT rewrites: the real BOLT of this machine, and what the rewritten files say themselves.

use crate::bolt::{Bolt, LINKED_WITH};
use crate::building_tests::study::{Study, layer};
use crate::inputs::MissingTool;
use crate::journal::{BuildLine, BuildOutcome};
use crate::{BuildEvent, Layer};
use object::{Object, ObjectSection, ObjectSymbol};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether BOLT rewrites what this compiler makes here; a word about it if not.
fn can_bolt(compiler: &str) -> bool {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: BOLT is tried for x86-64 alone");
        return false;
    }
    let script = "cd \"$(mktemp -d)\" && tool=$(ls $(echo \"$PATH\" | tr : ' ') 2> /dev/null | grep -x 'llvm-bolt-[0-9]*' | tail -n 1) && \
                  echo 'int main(void) { return 0; }' > a.c && $0 a.c -Wl,--emit-relocs -o a && \
                  \"${tool:-llvm-bolt}\" a -instrument -o b --instrumentation-file=$PWD/c && ./b && test -s c";
    let done = Command::new("sh").args(["-c", script, compiler]).output().unwrap();
    if !done.status.success() {
        println!(
            "skipped: BOLT cannot rewrite here what {compiler} makes (Debian packages bolt-22 and libbolt-22-dev)"
        );
    }
    done.status.success()
}

/// A program that counts in several processes, and one that nobody starts.
const SCRIPT: &str = "gcc -O2 main.c -o \"$PREFIX/p\"";
const TRAINING: &str = "\"$PREFIX/p\"";

/// The plain variant, and the one that BOLT rewrites.
fn project(script: &str, training: &str) -> Study {
    let files = vec!["main.c".to_owned()];
    let program = Layer { files: files.clone(), ..layer("program", script) };
    let bolt = Layer { files, rewrites: true, compiles_nothing: true, ..layer("bolt", "") };
    let mut study = Study::new(&[program, bolt]);
    study.variant("plain", &[]);
    study.variant("bolted", &[]);
    for variant in &mut study.variants {
        variant.tuning.link = LINKED_WITH.map(str::to_owned).to_vec();
    }
    study.variants[1].tuning.bolt = Some(Bolt { training: training.to_owned(), files: vec!["p".to_owned()] });
    study.write(
        "main.c",
        "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
         __attribute__((noinline)) int step(int x) { return x & 1 ? 3 * x + 1 : x / 2; }\n\
         int main(int n, char **words) {\n  int process, sum = 0;\n  for (process = 0; process < 2 && fork(); process++);\n  \
         for (int i = 1; i < 1000; i++) for (int x = i; x != 1; x = step(x)) sum++;\n  while (wait(0) > 0);\n  \
         if (n > 2) _exit(0);\n  if (n > 1) abort();\n  exit(sum != 59431);\n}\n",
    );
    study
}

fn log(line: &BuildLine) -> String {
    fs::read_to_string(line.layers.last().unwrap().log.as_ref().unwrap()).unwrap()
}

/// Both builds, which succeed, and where they are.
fn both(study: &Study) -> [(BuildLine, PathBuf); 2] {
    let lines = study.build();
    lines.iter().for_each(|line| assert_eq!(line.outcome, BuildOutcome::Built, "{:?}", line.outcome));
    let found = lines.into_iter().map(|line| (line.clone(), study.cache.prefix_of(&line.digest)));
    found.collect::<Vec<_>>().try_into().unwrap()
}

/// What a section of a file holds.
fn section(path: &Path, name: &str) -> Vec<u8> {
    let content = fs::read(path).unwrap();
    let file = object::File::parse(&*content).unwrap();
    file.section_by_name(name).map(|section| section.data().unwrap().to_vec()).unwrap_or_default()
}

#[test]
fn one_link_is_measured_as_it_is_and_rewritten() {
    if !can_bolt("gcc") {
        return;
    }
    let mut study = project(SCRIPT, TRAINING);
    let [(plain, prefix), (bolted, rewritten)] = both(&study);
    assert_eq!(study.built_layers(), ["bolt", "program"], "there is one link");
    assert_eq!((&plain.variants[..], &bolted.variants[..]), (&["plain".to_owned()][..], &["bolted".to_owned()][..]));
    assert_eq!(plain.digest, bolted.layers[0].digest);
    let text = section(&prefix.join("p"), ".text");
    assert!(!text.is_empty() && text == section(&rewritten.join("p"), ".bolt.org.text"));
    assert!(Command::new(rewritten.join("p")).status().unwrap().success());
    // Three processes of one fork after the other.
    for said in ["training: \"$PREFIX/p\"", "p: 3 profiles (one for each process)"] {
        assert!(log(&bolted).contains(said), "{said}: {}", log(&bolted));
    }
    let seen = bolted.proof.flags.iter().find(|seen| seen.variable == "bolt").unwrap();
    assert!((seen.reached, seen.of) == (1, 1) && seen.flag.starts_with("llvm-bolt"), "{seen:?}");
    assert!(bolted.tools.keys().any(|tool| tool.starts_with("merge-fdata")), "{:?}", bolted.tools);
    assert!(bolted.cost["wall"] > plain.cost["wall"] && bolted.prefix_bytes > plain.prefix_bytes);
    // Found again, with what was seen; another training, and other files, make other builds.
    let [_, (again, _)] = both(&study);
    assert!(again.cached && again.proof == bolted.proof);
    study.variants[1].tuning.bolt.as_mut().unwrap().training.push_str(" # again");
    let other = study.survey()[1].digest.clone();
    study.variants[1].tuning.bolt.as_mut().unwrap().files.push("q".to_owned());
    assert!(other != bolted.digest && study.survey()[1].digest != other && study.survey()[0].digest == plain.digest);
}

#[test]
fn a_link_without_symbols_becomes_a_rewritten_program_without_them() {
    if !can_bolt("clang") {
        return;
    }
    for word in ["-s", "-Wl,-s", "-Wl,--strip-all"] {
        let study = project(&format!("clang -O2 {word} main.c -o \"$PREFIX/p\""), TRAINING);
        let [_, (_, prefix)] = both(&study);
        let content = fs::read(prefix.join("p")).unwrap();
        let symbols = object::File::parse(&*content).unwrap().symbols().filter(ObjectSymbol::is_definition).count();
        assert_eq!(symbols, 0, "{word}");
        assert!(Command::new(prefix.join("p")).status().unwrap().success());
    }
}

#[test]
fn a_library_is_rewritten_and_what_the_training_leaves_in_the_prefix_is_gone() {
    if !can_bolt("gcc") {
        return;
    }
    let script = "echo 'int step(int); int main(void) { int s = 0; for (int i = 0; i < 999; i++) s += step(i); return s == 1; }' > p.c
        gcc -O2 -shared -fPIC -Dmain=unused main.c -o \"$PREFIX/libstep.so.1\"; ln -s libstep.so.1 \"$PREFIX/libstep.so\"
        gcc -O2 p.c -L \"$PREFIX\" -lstep -Wl,-rpath,\"$PREFIX\" -o \"$PREFIX/p\"; gcc p.c main.c -Dmain=other -c; cp \"$PREFIX/p\" \"$PREFIX/other\"";
    let mut study = project(script, "\"$PREFIX/p\"; touch \"$PREFIX/left\"");
    study.variants[1].tuning.bolt.as_mut().unwrap().files = ["lib*", "p", "other"].map(str::to_owned).to_vec();
    let [(_, plain), (line, prefix)] = both(&study);
    let is_rewritten = |name: &str| !section(&prefix.join(name), ".bolt.org.text").is_empty();
    assert!(is_rewritten("p") && is_rewritten("libstep.so.1") && !is_rewritten("other"));
    assert!(
        prefix.join("libstep.so").is_symlink() && !prefix.join("left").exists() && plain.join("libstep.so").exists()
    );
    let seen = line.proof.flags.iter().find(|seen| seen.variable == "bolt").unwrap();
    assert_eq!((seen.reached, seen.of), (2, 3));
}

#[test]
fn what_bolt_cannot_rewrite_fails_and_says_why() {
    if !can_bolt("gcc") {
        return;
    }
    let check = |script: &str, training: &str, expect: &str| {
        let study = project(script, training);
        let lines = study.build();
        assert_eq!(lines[0].outcome, BuildOutcome::Built, "the plain variant is built all the same");
        let BuildOutcome::Failed { layer, why, tail, .. } = &lines[1].outcome else { panic!("{script}: it was built") };
        assert!(layer == "bolt" && why.contains(expect), "{layer}: {why}");
        assert!(!tail.iter().any(|line| line.starts_with("BOLT-INFO")), "{tail:?}");
        assert_eq!(study.count(|event| matches!(event, BuildEvent::Failed { .. })), 1);
    };
    check("gcc -static main.c -o \"$PREFIX/p\"", TRAINING, "BOLT cannot rewrite p: it is statically linked");
    check(
        "gcc -static-pie main.c -o \"$PREFIX/p\"",
        TRAINING,
        "statically linked, or ended by a signal or _exit(2), writes no profile",
    );
    check(&format!("{SCRIPT}; strip \"$PREFIX/p\""), TRAINING, "stripped after linking");
    check(&format!("{SCRIPT}; objcopy -R .rela.text \"$PREFIX/p\""), TRAINING, "it has no relocations");
    check(
        &format!("{SCRIPT}; printf '\\267\\000' | dd of=\"$PREFIX/p\" bs=1 seek=18 conv=notrunc"),
        TRAINING,
        "it is not for x86-64",
    );
    check("echo '#!/bin/sh' > \"$PREFIX/p\"", TRAINING, "it is a script; name the program itself: bolt = { training");
    check("gcc -c main.c -o \"$PREFIX/p\"", TRAINING, "it is an object file");
    check("echo > \"$PREFIX/p\"", TRAINING, "it is not an ELF file");
    check("echo > \"$PREFIX/q\"", TRAINING, "no layer installed `p` in $PREFIX");
    // Ended by a signal, by _exit, or never started.
    for training in ["\"$PREFIX/p\" abort || true", "\"$PREFIX/p\" and _exit", "true"] {
        check(
            SCRIPT,
            training,
            "` wrote no profile of p: it must run the program from $PREFIX, and the program must exit",
        );
    }
    check(SCRIPT, "echo why; exit 3", "the training exited 3: echo why; exit 3");
}

#[test]
fn a_layout_is_rewritten_too() {
    if !can_bolt("gcc") {
        return;
    }
    let script =
        "gcc -O2 -c main.c; echo 'int f(void) { return 1; }' > f.c; gcc -c f.c; gcc main.o f.o -o \"$PREFIX/p\"";
    let study = project(script, TRAINING);
    both(&study);
    let dir = study.dir();
    let mut aside = study.aside(&dir);
    let is_rewritten = |prefix: PathBuf| !section(&prefix.join("p"), ".bolt.org.text").is_empty();
    assert!(is_rewritten(aside.layout("bolted", "bolted", 7).unwrap()));
    assert!(!is_rewritten(aside.layout("plain", "plain", 7).unwrap()));
}

#[test]
fn a_missing_tool_says_where_it_is_had_from() {
    let why = |tool: &str| MissingTool { layer: "bolt".to_owned(), tool: tool.to_owned() }.why();
    assert!(why("llvm-bolt").contains(
        "`llvm-bolt`, which is not on PATH; install LLVM's BOLT (Debian packages bolt-22 and libbolt-22-dev)"
    ));
    assert!(why("merge-fdata-21").contains("bolt-21 and libbolt-21-dev") && !why("cc").contains("BOLT"));
}
