//! Words and compilers of levels, as they reach compilers that know nothing of them: the real ones of this machine.

use crate::Layer;
use crate::building_tests::study::{Study, are_here, layer, program};
use crate::journal::BuildLine;
use bakeoff_testkit::files::read;
use std::fs;
use std::path::Path;

/// A study of one layer, whose variant says nothing to its script.
fn study(script: &str) -> Study {
    let mut study = Study::new(&[layer("program", script)]);
    study.variant("v", &[]);
    study.layers[0].files = vec!["a.c".to_owned(), "b.c".to_owned()];
    study.write("a.c", "int b(void);\nint main(void) { return b(); }\n");
    study.write("b.c", "int b(void) { return 0; }\n");
    study
}

fn words_of(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Key, flag, reached, of, overridden.
fn seen(line: &BuildLine) -> Vec<(&str, &str, u64, u64, u64)> {
    let flags = line.proof.flags.iter();
    flags.map(|seen| (&*seen.variable, &*seen.flag, seen.reached, seen.of, seen.overridden)).collect()
}

/// The calls of its compilers, as a shell would read them.
fn calls(line: &BuildLine) -> String {
    fs::read_to_string(Path::new(line.layers[0].log.as_ref().unwrap()).with_extension("tools")).unwrap()
}

#[test]
fn words_come_behind_those_of_a_project_that_knows_no_variable() {
    if !are_here(&["gcc"]) {
        return;
    }
    let script = "gcc -O1 -c a.c; gcc -c b.c -O1; gcc --version; gcc -E a.c > /dev/null
        echo 'int main(void) { return 0; }' > conftest.c; gcc conftest.c -o conftest; gcc a.o b.o -o \"$PREFIX/a\"";
    let mut study = study(script);
    let plain = study.built().0;
    assert_eq!(plain.proof.flags, []);
    let tuning = &mut study.variants[0].tuning;
    (tuning.all, tuning.link) = (words_of("-O3 -DX -Wl,-z,now"), words_of("-s"));
    let (tuned, prefix) = study.built();
    assert_ne!(tuned.digest, plain.digest, "what is appended is part of a build's name");
    let expect = [("append", "-O3", 2, 2, 0), ("append", "-Wl,-z,now", 1, 1, 0), ("append_link", "-s", 1, 1, 0)];
    assert_eq!(seen(&tuned).iter().filter(|(_, flag, ..)| *flag != "-DX").copied().collect::<Vec<_>>(), expect);
    let calls = calls(&tuned);
    for line in ["-O1 -c a.c -O3 -DX\n", "-c b.c -O1 -O3 -DX\n", "gcc --version\n", "-E a.c\n", "-o conftest -O3\n"] {
        assert!(calls.contains(line), "{line}{calls}");
    }
    assert!(prefix.join("a").exists());
}

#[test]
fn another_compiler_takes_the_place_of_all() {
    if !are_here(&["gcc", "clang"]) {
        return;
    }
    let script = "for cc in cc gcc c99; do $cc -Werror -c a.c -o $cc.o -lm; done
        ${CC:-gcc} --version > \"$PREFIX/version\"; printf 'x:\\n' > x.s; gcc -Werror -c x.s";
    let mut study = study(script);
    study.variants[0].tuning.compiler = Some("clang".to_owned());
    study.variants[0].tuning.all = words_of("-O3 -DX");
    let (line, prefix) = study.built();
    assert!(read(prefix.join("version")).contains("clang"), "{}", read(prefix.join("version")));
    assert!(line.tools.contains_key("clang"), "{:?}", line.tools);
    assert_eq!(seen(&line)[0], ("append", "-O3", 3, 3, 0));
    let calls = calls(&line);
    assert!(calls.contains("clang -std=c99 -Werror -c a.c -o c99.o -lm -O3 -DX -Qunused-arguments\n"), "{calls}");

    study.variants[0].tuning.compiler = Some("gcc-0.1".to_owned());
    assert_eq!(study.survey()[0].missing_tool.as_ref().unwrap().tool, "gcc-0.1");
}

#[test]
fn scripts_before_compilers_neither_append_twice_nor_for_ever() {
    if !are_here(&["gcc"]) {
        return;
    }
    // As a folder of ccache on PATH, whose compilers call whatever is first there.
    let script = "mkdir front; printf '#!/bin/sh\\nexec gcc \"$@\" -DFRONT\\n' > front/gcc; chmod +x front/gcc
        PATH=$(echo \"$PATH\" | sed \"s|:|:$PWD/front:|\"); gcc -c a.c -o \"$PREFIX/a.o\"";
    let mut study = study(script);
    study.variants[0].tuning.all = words_of("-O3");
    study.layers[0].timeout_s = Some(60.0);
    let (line, _) = study.built();
    assert_eq!(seen(&line), [("append", "-O3", 1, 1, 0)]);
    let calls = calls(&line);
    assert!(
        calls.contains("a.o -O3 -DFRONT\n") && !calls.contains("-O3 -O3") && !calls.contains("-DFRONT -DFRONT"),
        "{calls}"
    );
}

#[test]
fn a_cache_that_the_project_uses_keeps_no_objects_of_another_level() {
    if !are_here(&["gcc", "ccache"]) {
        return;
    }
    let script =
        "CCACHE_DIR=\"$HOME/cache\"; export CCACHE_DIR; ccache gcc -c a.c; ccache gcc -c a.c; cp a.o \"$PREFIX\"";
    let mut study = study(script);
    study.variants[0].tuning.all = words_of("-O3");
    let (line, _) = study.built();
    assert_eq!(seen(&line), [("append", "-O3", 2, 2, 0)]);
}

#[test]
fn response_files_are_read_and_files_behind_two_dashes_stay_the_last() {
    if !are_here(&["clang"]) {
        return;
    }
    let script = "echo '-c -o x.o' > words; clang @words a.c; clang -c -o \"$PREFIX/a.o\" -- a.c";
    let mut study = study(script);
    study.variants[0].tuning.all = words_of("-O3 -Wl,-z,now");
    let calls = calls(&study.built().0);
    assert!(calls.contains("@words a.c -O3 -Qunused-arguments\n"), "{calls}");
    assert!(calls.contains("/a.o -O3 -Qunused-arguments -- a.c\n"), "{calls}");
}

#[test]
fn nothing_is_built_under_a_wrong_name_without_wrappers() {
    let mut study = study("echo x > $PREFIX/x");
    study.variants[0].tuning.all = words_of("-O3");
    fs::write(study.cache.root().join("wrappers"), "in the way").unwrap();
    let (why, _) = study.failed();
    assert!(why.contains("without the compiler wrapper"), "{why}");
}

/// Two variants of a project whose Makefile has `CFLAGS` of its own: one leaves them alone, one replaces them.
const MAKEFILE: &str = "printf 'CFLAGS = -O2 -DREADLINE -DCOMPAT -Iinclude\\nall: a.o b.o\\n' > Makefile\n";

#[test]
fn words_that_a_variable_displaces_are_known_by_file() {
    if !are_here(&["gcc", "make"]) {
        return;
    }
    let script = format!(
        "{MAKEFILE}make ${{CFLAGS:+\"CFLAGS=$CFLAGS\"}}; test -n \"$CFLAGS\" || echo '#define HAVE_MMAP 1' > config.h
        test -z \"$CFLAGS\" || echo '/* #undef HAVE_MMAP */' > config.h; cp a.o b.o \"$PREFIX\""
    );
    let mut study = study(&script);
    study.variant("O3", &[("CFLAGS", "-O3 -DLEVEL")]);
    let mut line = study.build();
    assert!(line.iter().all(|line| line.proof.unseen.is_empty()), "{line:?}");
    let words = |line: &BuildLine| {
        let of_file = |(file, words): (&String, &std::collections::BTreeSet<String>)| {
            format!("{file}: {}", words.iter().cloned().collect::<Vec<_>>().join(" "))
        };
        line.proof.words.iter().map(of_file).collect::<Vec<_>>()
    };
    let own = "-DCOMPAT -DREADLINE -Iinclude";
    let plain = [&format!("a.c: {own}"), &format!("b.c: {own}"), "config.h: #define HAVE_MMAP 1"];
    assert_eq!(words(&line[0]), plain);
    assert_eq!(words(&line[1]), ["a.c: -DLEVEL", "b.c: -DLEVEL", "config.h: /* #undef HAVE_MMAP */"]);

    // The wrapper's words come behind all others, and take none away.
    study.variants[1].build_variables.clear();
    study.variants[1].tuning.all = words_of("-O3 -DLEVEL");
    line = study.build();
    assert_eq!(words(&line[0]), [""; 0]);
    assert_eq!(words(&line[1]), ["a.c: -DLEVEL", "b.c: -DLEVEL"]);
}

/// A compiler that a project brings along, called in a script.
const OWN: &str =
    "chmod +x own; export GCC_EXEC_PREFIX=\"$(dirname \"$(gcc -print-libgcc-file-name)\")/../../\"; ./own";

#[test]
fn objects_of_a_compiler_that_the_project_brings_along_are_counted() {
    if !are_here(&["gcc", "as"]) {
        return;
    }
    let gcc = program("gcc").unwrap();
    let script = format!(
        "{OWN} -O2 -c a.c; ./own -c b.c -o deep.o; gcc -c b.c; cp b.o copy.o; printf 'f:\\n' > f.s
        as f.s -o f.o; gcc a.o b.o -o \"$PREFIX/a\""
    );
    let mut study = study(&script);
    study.bring("own", gcc);
    study.variants[0].tuning.all = words_of("-O3");
    let (line, _) = study.built();
    assert_eq!(seen(&line), [("append", "-O3", 1, 1, 0)]);
    // a.o; deep.o is as b.o is, but for the words that b.o got.
    assert_eq!(line.proof.unseen, [("program".to_owned(), 2)].into());
}

#[test]
fn what_is_built_below_the_prefix_is_looked_at_there() {
    if !are_here(&["gcc"]) {
        return;
    }
    let gcc = program("gcc").unwrap();
    let copied = format!("cp -a . \"$PREFIX/tree\"; cd \"$PREFIX/tree\"; gcc $FLAGS -c a.c; {OWN} -c b.c");
    let mut study = study(&copied);
    study.bring("own", gcc);
    study.variants[0].build_variables.insert("FLAGS".to_owned(), "-DX".to_owned());
    study.variant("w", &[("FLAGS", "-DY")]);
    let lines = study.build();
    let words = |line: &BuildLine| format!("{:?}", line.proof.words);
    assert!(
        words(&lines[0]).contains("tree/a.c\": {\"-DX\"") && words(&lines[1]).contains("-DY"),
        "{}",
        words(&lines[0])
    );
    assert_eq!(lines[0].proof.unseen.values().sum::<u64>(), 1);
}

#[test]
fn a_layer_that_compiles_nothing_is_built_once_for_all_levels() {
    let loads = Layer { compiles_nothing: true, ..layer("loads", "date +%N > \"$PREFIX/loaded\"") };
    let mut study = Study::new(&[loads, layer("program", "cp \"$PREFIX/loaded\" \"$PREFIX/used\"")]);
    study.variant("own", &[]);
    study.variant("O3", &[]);
    study.variants[1].tuning.all = words_of("-O3");
    study.variants[1].tuning.rust = words_of("-O");
    study.build();
    assert_eq!(study.built_layers(), ["loads", "program", "program"]);
}
