//! Links that are repeated after the build: the real compilers and linkers of this machine.

use crate::Layer;
use crate::building_tests::study::{Study, are_here, layer};
use crate::journal::Repeated;
use std::collections::BTreeMap;
use std::process::Command;

const MAIN: &str = "int step(int); int main(void) { return step(0); }\n";
const STEP: &str = "int step(int x) { return x; }\n";

/// What came of the link of each file that the script installs; none if a compiler is missing here, which is said.
fn links(needs: &[&str], script: &str) -> Option<BTreeMap<String, Repeated>> {
    for program in needs {
        if !Command::new(program).arg("--version").output().is_ok_and(|done| done.status.success()) {
            println!("skipped: no {program} here");
            return None;
        }
    }
    let files = vec!["main.c".to_owned(), "step.c".to_owned()];
    let mut study = Study::new(&[Layer { files, ..layer("program", script) }]);
    study.variant("v", &[]);
    study.write("main.c", MAIN);
    study.write("step.c", STEP);
    let (line, _) = study.built();
    Some(line.proof.links.into_iter().map(|seen| (seen.file, seen.repeated)).collect())
}

type IsExpected = fn(&Repeated) -> bool;

#[track_caller]
fn check(script: &str, expect: &[(&str, IsExpected)]) {
    let Some(links) = links(&["gcc"], script) else { return };
    assert_eq!(
        links.keys().map(String::as_str).collect::<Vec<_>>(),
        expect.iter().map(|(name, _)| *name).collect::<Vec<_>>()
    );
    for (name, is_expected) in expect {
        assert!(is_expected(&links[*name]), "{name}: {:?}", links[*name]);
    }
}

fn is_same(repeated: &Repeated) -> bool {
    matches!(repeated, Repeated::Same { is_changed_later: false, .. })
}

fn is_same_but_stripped(repeated: &Repeated) -> bool {
    matches!(repeated, Repeated::Same { is_changed_later: true, .. })
}

#[test]
fn a_link_makes_the_same_bytes_again() {
    check("gcc -c main.c step.c; gcc main.o step.o -o p; cp p \"$PREFIX/p\"", &[("p", is_same)]);
    check("gcc main.c step.c -o \"$PREFIX/p\"", &[("p", is_same)]);
    // Objects are those of the time of the link.
    check(
        "gcc -c main.c step.c; gcc main.o step.o -o p; cp p \"$PREFIX\"; rm main.o; gcc -DX -O2 -c step.c",
        &[("p", is_same)],
    );
    check(
        "gcc -g main.c step.c -Wl,-Map=\"$PREFIX/map\" -o p; mv p \"$PREFIX/other\"; test -s \"$PREFIX/map\"",
        &[("other", |seen| *seen == Repeated::Unseen)],
    );
    let library = "gcc -fPIC -shared -Wl,-soname,libstep.so.1 step.c -o libstep.so.1; ar rcs libmain.a; gcc -c main.c; ar rcs libmain.a main.o
        gcc -Wl,--whole-archive libmain.a -Wl,--no-whole-archive libstep.so.1 -Wl,-rpath,\"$PREFIX\" -o p; install p libstep.so.1 \"$PREFIX\"";
    check(library, &[("libstep.so.1", is_same), ("p", is_same)]);
    let nameless =
        "gcc -fPIC -shared step.c -o libstep.so; gcc main.c -L. -lstep -o p; install p libstep.so \"$PREFIX\"";
    check(nameless, &[("libstep.so", is_same), ("p", is_same)]);
    check(
        "gcc -c main.c step.c; echo main.o step.o > objects; gcc @objects -o p; install p \"$PREFIX\"",
        &[("p", is_same)],
    );
}

#[test]
fn clang_calls_its_linker_by_the_full_path() {
    let script =
        "clang main.c step.c -o \"$PREFIX/p\"; clang -c main.c step.c; clang main.o step.o -o q; cp q \"$PREFIX\"";
    let Some(links) = links(&["clang"], script) else { return };
    assert!(links.len() == 2 && links.values().all(is_same), "{links:?}");
}

#[test]
fn other_linkers_are_seen_too() {
    for (compiler, linker) in [("clang", "lld"), ("clang", "mold"), ("gcc", "mold"), ("gcc", "gold")] {
        let script =
            format!("{compiler} -c main.c step.c; {compiler} -fuse-ld={linker} main.o step.o -o \"$PREFIX/p\"");
        let Some(links) = links(&[compiler, &format!("ld.{linker}")], &script) else { continue };
        assert!(is_same(&links["p"]), "{compiler} {linker}: {links:?}");
    }
}

#[test]
fn rustc_removes_its_objects_and_has_a_linker_with_it() {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let Some(sysroot) = sysroot.ok().filter(|output| output.status.success()) else {
        return println!("skipped: no rustc on PATH");
    };
    // What rustup puts before rustc needs the user's home.
    let sysroot = String::from_utf8(sysroot.stdout).unwrap();
    let script = format!(
        "PATH=$(echo \"$PATH\" | sed \"s|:|:{}/bin:|\"); echo 'fn main() {{ println!(\"one\"); }}' > main.rs
        rustc -O main.rs -o \"$PREFIX/p\"",
        sysroot.trim_end()
    );
    let Some(links) = links(&["gcc"], &script) else { return };
    assert!(is_same(&links["p"]), "{links:?}");
}

/// A program of Go in two packages, with a part that the tag `more` changes.
pub(crate) const GO: &str = r#"
mkdir -p go/words; cd go; printf 'module example.org/p\n\ngo 1.18\n' > go.mod
echo 'package words; var All = []string{"zero", "one"}; func Of(n int) string { return All[n%len(All)] }' > words/words.go
echo 'package main; import ("example.org/p/words"; "runtime"; "syscall")
func main() { syscall.Write(1, []byte(words.Of(1) + more + " " + runtime.GOROOT())) }' > main.go
printf '//go:build !more\n\npackage main; const more = ""' > less.go
printf '//go:build more\n\npackage main; const more = " more"' > more.go
"#;

#[test]
fn go_build_changes_what_its_linker_made() {
    if !are_here(&["go", "strip"]) {
        return;
    }
    let check_go = |builds: &str, expect: &[(&str, IsExpected)]| check(&format!("{GO}{builds}"), expect);
    // Both programs have the same name where they are linked.
    let usual = "go build -o p .; cp p \"$PREFIX\"; strip p; cp p \"$PREFIX/stripped\"
        go build -ldflags='-s -w -buildid=' -o \"$PREFIX/nameless\" .";
    check_go(usual, &[("nameless", is_same), ("p", is_same), ("stripped", is_same_but_stripped)]);
    check_go("GOAMD64=v2 go build -trimpath -o \"$PREFIX/p\" .", &[("p", is_same)]);
    let cgo = "printf 'package main\\n/*\nint two(void) { return 2; }\n*/\nimport \"C\"; func init() { println(C.two()) }' > c.go
        CGO_ENABLED=1 go build -o \"$PREFIX/p\" .; CGO_ENABLED=1 go build -ldflags=-linkmode=external -o \"$PREFIX/q\" .";
    check_go(cgo, &[("p", is_same), ("q", is_same)]);
    let changed = "go build -o p .; sed -i 's/zero/none/' p; cp p \"$PREFIX\"";
    check_go(changed, &[("p", |seen| *seen == Repeated::Differs)]);
}

/// The link compiles: what it makes is linked again from the code that it made.
#[test]
fn gcc_compiles_in_the_link() {
    check("gcc -O2 -flto main.c step.c -o \"$PREFIX/p\"", &[("p", is_same)]);
    let apart = "gcc -O2 -flto -c main.c step.c; gcc -O2 -flto main.o step.o -o p; strip p; install p \"$PREFIX\"";
    check(apart, &[("p", is_same_but_stripped)]);
    let parts = "gcc -O2 -flto -c main.c step.c; gcc-ar rcs libstep.a step.o 2> /dev/null || exit 1
        gcc -O2 -flto -flto-partition=max main.o libstep.a -o \"$PREFIX/p\"";
    check(parts, &[("p", is_same)]);
    let library = "gcc -O2 -flto -fPIC -shared step.c -o \"$PREFIX/libstep.so\"";
    check(library, &[("libstep.so", is_same)]);
    // Of clang no such objects are left.
    if let Some(links) = links(&["clang", "ld.lld"], "clang -O2 -flto -fuse-ld=lld main.c step.c -o \"$PREFIX/p\"") {
        assert_eq!(links["p"], Repeated::LinkTimeOptimised);
    }
}

#[test]
fn what_follows_a_link_is_told_apart() {
    check("gcc main.c step.c -o p; install -s p \"$PREFIX\"", &[("p", is_same_but_stripped)]);
    check("gcc main.c step.c -o p; strip p; install p \"$PREFIX\"", &[("p", is_same_but_stripped)]);
    // As CMake and chrpath do it: in place.
    let path = "gcc -Wl,-rpath,/built/here main.c step.c -o p; sed -i 's|/built/here|/lib/x\\x00\\x00\\x00\\x00\\x00|' p; install p \"$PREFIX\"";
    check(path, &[("p", is_same_but_stripped)]);
    let changed = "gcc main.c step.c -o p; objcopy --add-section .extra=main.c --set-section-flags .extra=alloc,readonly,data p \"$PREFIX/p\"";
    check(changed, &[("p", |seen| *seen == Repeated::ChangedLater)]);
}

#[test]
fn what_cannot_be_repeated_says_why() {
    // No file has a name that long, so nothing is kept of this one.
    let long =
        "d=$(printf %0200d); mkdir $d; gcc -c main.c -o $d/main.o; gcc $d/main.o step.c -o \"$PREFIX/p\"; rm -r $d";
    check(long, &[("p", |seen| matches!(seen, Repeated::Gone { input } if input.ends_with("0/main.o")))]);
    check("cp /bin/true \"$PREFIX/p\"", &[("p", |seen| *seen == Repeated::Unseen)]);
}

/// What an earlier layer installed was repeated there.
#[test]
fn each_layer_repeats_its_own_links() {
    let files = vec!["main.c".to_owned(), "step.c".to_owned()];
    let first = Layer { files: files.clone(), ..layer("first", "gcc main.c step.c -o \"$PREFIX/p\"") };
    let second = Layer { files, ..layer("second", "gcc main.c step.c -o \"$PREFIX/q\"") };
    let mut study = Study::new(&[first, second]);
    study.variant("v", &[]);
    study.write("main.c", MAIN);
    study.write("step.c", STEP);
    let (line, _) = study.built();
    let files: Vec<&str> = line.proof.links.iter().map(|seen| seen.file.as_str()).collect();
    assert_eq!(files, ["p", "q"]);
    assert!(line.proof.links.iter().all(|seen| is_same(&seen.repeated)), "{:?}", line.proof.links);
}
