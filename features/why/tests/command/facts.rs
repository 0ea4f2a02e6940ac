//! `bakeoff facts` as its user sees it.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::Sandbox;
use std::process::Command;

/// Two ways of linking one library, one of which leaves a file out; and a run factor that no build depends on.
const STUDY: &str = r#"
format = 1
name = "linking"
[build_factors.bind]
usual    = { FLAGS = "-O0" }
symbolic = { FLAGS = "-O0 -Wl,-Bsymbolic" }
[run_factors.locale]
C     = { LC_ALL = "C" }
POSIX = { LC_ALL = "POSIX" }
[[build]]
name = "library"
files = ["library.c"]
tools = ["gcc"]
script = '''
mkdir "$PREFIX/lib" "$PREFIX/bin" "$PREFIX/obj"
gcc -fPIC -shared $FLAGS library.c -o "$PREFIX/lib/libx.so"
gcc -c library.c -o "$PREFIX/obj/x.o"
case $FLAGS in *symbolic*) cp "$PREFIX/lib/libx.so" "$PREFIX/lib/libextra.so" ;; esac
'''
[workloads.nothing]
run = "true"
[decide]
baseline = { bind = "usual", locale = "C" }
"#;

const LIBRARY: &str = "int f(void) { return 1; } int g(void) { return f(); }";

fn linking() -> Sandbox {
    let sandbox = Sandbox::new(STUDY);
    sandbox.write("library.c", LIBRARY);
    sandbox
}

#[test]
fn the_baseline_is_shown_and_of_the_others_what_differs() {
    let sandbox = linking();
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
    let shown = sandbox.execute(&["facts", "STUDY"]);
    shown.expect(
        0,
        &[
            "baseline",
            "lib/libx.so",
            "self-defined JUMP_SLOT 1",
            "bind=symbolic",
            "SYMBOLIC",
            "self-defined JUMP_SLOT: − f",
            "lib/libextra.so (not in baseline, locale=POSIX)",
        ],
    );
    assert!(!shown.out.contains("obj/x.o"), "{}", shown.out);
    sandbox.execute(&["facts", "STUDY", "--file", "*.o"]).expect(0, &["obj/x.o", "relocatable file"]);
    // The baseline is there whatever was asked for, and nothing else that was not.
    let one = sandbox.execute(&["facts", "STUDY", "locale=POSIX"]);
    one.expect(0, &["baseline"]);
    assert!(!one.out.contains("bind=symbolic"), "{}", one.out);
}

#[test]
fn what_is_not_built_is_said_with_the_command_that_builds_it() {
    let sandbox = linking();
    let shown = sandbox.execute(&["facts", "STUDY"]);
    shown.expect(2, &["error: the build of baseline", "is not in the cache", "hint: build it first: bakeoff build"]);
    sandbox.execute(&["build", "STUDY", "--quiet", "--only", "locale=POSIX"]).expect(0, &[]);
    sandbox.execute(&["facts", "STUDY"]).expect(0, &["not in the cache: bind=symbolic", "--only 'bind=symbolic"]);
    sandbox.execute(&["facts", "STUDY", "bind=symbolic"]).expect(2, &["is not in the cache"]);
    sandbox.execute(&["facts", "STUDY", "bind=none"]).expect(2, &["error: "]);
}

#[test]
fn files_and_folders_that_are_no_study() {
    let sandbox = linking();
    let sh = |line: &str| {
        assert!(Command::new("sh").args(["-ec", line]).current_dir(sandbox.path()).status().unwrap().success());
    };
    sh("mkdir a b; gcc -fPIC -shared study/library.c -o a/x.so; gcc -fPIC -shared -Wl,-Bsymbolic study/library.c -o b/x.so
        cp b/x.so b/y.so; echo text > a/text; head -c 3000 a/x.so > b/torn");
    sandbox.execute(&["facts", "a/x.so"]).expect(0, &["shared object", "self-defined JUMP_SLOT 1"]);
    sandbox.execute(&["facts", "a/x.so", "b/x.so"]).expect(0, &["before", "change", "−1"]);
    sandbox.execute(&["facts", "a/x.so", "a/x.so"]).expect(0, &["the same as a/x.so"]);
    sandbox.execute(&["facts", "a", "b"]).expect(0, &["y.so (not in a)", "cannot read: `b/torn` is broken"]);
    sandbox.execute(&["facts", "a", "b", "--file", "y*"]).expect(0, &["no ELF files", "y.so (not in a)"]);
    sandbox.execute(&["facts", "a/text"]).expect(2, &["error: `a/text` is neither an ELF file nor a static archive"]);
    sandbox.execute(&["facts", "missing"]).expect(2, &["error: cannot read `missing`", "caused by: "]);
    sandbox.execute(&["facts", "b/torn"]).expect(2, &["error: `b/torn` is broken: the section headers"]);
    sandbox.execute(&["facts"]).expect(2, &["Usage"]);
    let all = sandbox.execute(&["facts", "--all", "a/x.so"]);
    all.expect(0, &[".dynsym", "LOAD R-E", "names"]);
}

#[test]
fn json_holds_every_fact_and_what_differs() {
    let sandbox = linking();
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
    let read = |words: &[&str]| -> serde_json::Value {
        let shown = sandbox.execute(words);
        shown.expect(0, &[]);
        serde_json::from_str(&shown.out).unwrap()
    };
    let all = read(&["facts", "STUDY", "--json"]);
    let elf = &all["subjects"][0]["files"][0]["content"]["elf"];
    assert_eq!(elf["relocations"]["jump_slots"]["own_names"], serde_json::json!(["f"]));
    assert_eq!(all["comparisons"][0]["only_after"], serde_json::json!(["lib/libextra.so"]));
    let file: bakeoff_why::facts::FileFacts = serde_json::from_value(all["subjects"][0]["files"][0].clone()).unwrap();
    assert_eq!(file.path, "lib/libx.so");
    let library = sandbox.path().join("x.so");
    let mut gcc = Command::new("gcc");
    gcc.args(["-fPIC", "-shared", "study/library.c", "-o", "x.so"]);
    assert!(gcc.current_dir(sandbox.path()).status().unwrap().success());
    let census = |more: &[&str]| {
        let words = [&["facts", "--json", "--relocations", library.to_str().unwrap()], more].concat();
        read(&words)["subjects"][0]["files"][0]["content"].clone()
    };
    let (counted, named) = (census(&[]), census(&["--all"]));
    let slots = |names| serde_json::json!({"total": 1, "own": 1, "own_names": names});
    assert_eq!(counted["relocations"]["jump_slots"], slots(serde_json::Value::Null));
    assert_eq!(named["relocations"]["jump_slots"], slots(serde_json::json!(["f"])));
    assert!(counted.get("elf").is_none() && named.get("elf").is_none(), "{named}");
}
