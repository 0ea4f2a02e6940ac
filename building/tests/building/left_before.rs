//! Sources in which an earlier build left something: a folder of this machine, built and edited; and what a project keeps in its
//! repository or its archive.

use crate::BuildEvent;
use crate::building_tests::study::{Study, are_here, layer};
use crate::journal::BuildLine;
use crate::{Source, SourceFrom};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MAIN: &str = "int f(void); int main(void) { return f(); }\n";
const MAKEFILE: &str = "prog: sub/f.o main.o\n\t$(CC) -o $@ main.o sub/f.o\n";

fn sh(folder: &Path, script: &str) {
    let output = Command::new("sh").args(["-ec", script]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A study of a folder beside it, whose only level appends `-O3`, and the folder.
fn project(script: &str) -> (Study, PathBuf) {
    let mut study = Study::new(&[layer("program", script)]);
    study.variants[0].tuning.all = vec!["-O3".to_owned()];
    let folder = study.dir().join("source");
    fs::create_dir_all(folder.join("sub")).unwrap();
    fs::write(folder.join("main.c"), MAIN).unwrap();
    fs::write(folder.join("sub/f.c"), "int f(void) { return 3; }\n").unwrap();
    fs::write(folder.join("Makefile"), MAKEFILE).unwrap();
    from(&mut study, SourceFrom::Path("source".to_owned()));
    (study, folder)
}

fn from(study: &mut Study, from: SourceFrom) {
    study.sources = vec![Source { name: "source".to_owned(), from, sha256: None, unpack: true, disk_bytes: None }];
    study.layers[0].source = Some("source".to_owned());
}

fn reached(line: &BuildLine) -> (u64, u64) {
    let flag = line.proof.flags.iter().find(|flag| flag.flag == "-O3").unwrap();
    (flag.reached, flag.of)
}

fn left(line: &BuildLine) -> Vec<String> {
    line.proof.left_before.values().flatten().cloned().collect()
}

/// What the copy goes without, and what stays although it was built.
fn told(study: &Study) -> (Vec<String>, Vec<String>) {
    let names = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect();
    let events = study.events.lock().unwrap();
    let of = |event: &BuildEvent| match event {
        BuildEvent::BuiltBefore { left_out, kept, .. } => Some((names(left_out), names(kept))),
        _ => None,
    };
    events.iter().find_map(of).unwrap_or_default()
}

const MAKE: &str = "make; cp prog \"$PREFIX\"";

#[test]
fn what_an_earlier_build_left_is_compiled_again() {
    if !are_here(&["gcc", "make", "ar"]) {
        return;
    }
    let check = |built: &str, script: &str, expect: &[&str], kept: &[String]| {
        let (study, folder) = project(script);
        sh(&folder, built);
        fs::write(folder.join("sub/f.c"), "int f(void) { return 4; }\n").unwrap();
        let (line, prefix) = study.built();
        assert_eq!((reached(&line), left(&line)), ((2, 2), vec![]), "{built}");
        assert_eq!(told(&study), (expect.iter().map(|&name| name.to_owned()).collect(), kept.to_vec()), "{built}");
        assert_eq!(Command::new(prefix.join("prog")).status().unwrap().code(), Some(4));
        assert!(expect.iter().all(|name| folder.join(name).exists()), "the folder itself stays as it is");
        // What is built there again does not make another source.
        sh(&folder, "rm -f main.o; make CFLAGS=-O1 main.o");
        study.build();
        assert_eq!(study.built_layers(), [""; 0], "{built}");
    };
    check("make", MAKE, &["main.o", "prog", "sub/f.o"], &[]);
    // Nothing says what a program without symbols was made of; it is linked again all the same.
    check(
        "make; strip prog main.o",
        "make; strip prog; cp prog \"$PREFIX\"",
        &["main.o", "sub/f.o"],
        &["prog".to_owned()],
    );
}

#[test]
fn archives_and_objects_of_any_name_are_compiled_again() {
    if !are_here(&["gcc", "make", "ar"]) {
        return;
    }
    let makefile = "prog: main.obj libf.a\n\t$(CC) -o $@ main.obj -L. -lf\nmain.obj: main.c\n\t$(CC) -c -o $@ main.c\n\
                    libf.a: out/f.lo\n\tar rcs $@ out/f.lo\nout/f.lo: sub/f.c\n\tmkdir -p out; $(CC) -c -o $@ sub/f.c\n";
    let (study, folder) = project(MAKE);
    fs::write(folder.join("Makefile"), makefile).unwrap();
    sh(&folder, "make; ln main.obj hard; ar rcsT thin.a out/f.lo; gcc -shared -fPIC -o libother.so sub/f.c");
    fs::write(folder.join("x.lo"), "# x.lo - a libtool object file\npic_object='.libs/x.o'\n").unwrap();
    let (line, _) = study.built();
    assert_eq!((reached(&line), left(&line)), ((2, 2), vec![]));
    let expect = ["hard", "libf.a", "libother.so", "main.obj", "out/f.lo", "prog", "thin.a", "x.lo"];
    assert_eq!(told(&study).0, expect);
}

#[test]
fn what_has_no_source_stays_and_is_named() {
    if !are_here(&["gcc", "make", "ar"]) {
        return;
    }
    let build = "gcc -c -o lib.o vendor.c; ar rcs libvendor.a lib.o; gcc -c -o blob vendor.c; rm vendor.c lib.o";
    let vendored = |what: &str| {
        let (study, folder) = project(MAKE);
        fs::write(folder.join("Makefile"), format!("prog: main.c\n\t$(CC) -o $@ main.c sub/f.c {what}\n")).unwrap();
        fs::write(folder.join("vendor.c"), "int v(void) { return 0; }\n").unwrap();
        sh(&folder, build);
        let (line, _) = study.built();
        assert_eq!(told(&study), (vec![], vec!["blob".to_owned(), "libvendor.a".to_owned()]));
        left(&line)
    };
    assert_eq!(vendored(""), [""; 0], "what is not linked is no part of the program");
    assert_eq!(vendored("blob"), ["blob"]);
    assert_eq!(vendored("libvendor.a"), ["libvendor.a(lib.o)"]);
    assert_eq!(vendored("-Wl,--whole-archive,libvendor.a,--no-whole-archive"), ["libvendor.a(lib.o)"]);
    assert_eq!(vendored("-L . -lvendor"), ["libvendor.a(lib.o)"]);
    // A copy of it is no other thing, nor is an archive that had it before.
    let copied =
        "new.a; true\nprog: new.a\nnew.a:\n\tcp libvendor.a new.a; $(CC) -c sub/f.c -o more.o; ar rs new.a more.o";
    assert_eq!(vendored(copied), ["new.a(lib.o)"]);
}

#[test]
fn what_a_repository_or_an_archive_has_stays_and_proves_nothing() {
    if !are_here(&["gcc", "make", "git", "tar"]) {
        return;
    }
    let (mut study, folder) = project(MAKE);
    sh(&folder, "make; rm prog; git init -q; git add Makefile main.c sub main.o; git rm -q --cached sub/f.o");
    let (line, _) = study.built();
    assert_eq!(told(&study).0, ["sub/f.o"]);
    assert_eq!((reached(&line), left(&line)), ((1, 1), vec!["main.o".to_owned()]));

    from(&mut study, SourceFrom::Worktree("source".to_owned()));
    study.layers[0].script = format!("{MAKE}; :");
    assert_eq!(left(&study.built().0), ["main.o"]);

    sh(&folder, "make; tar czf ../source.tgz .");
    from(&mut study, SourceFrom::Path("source.tgz".to_owned()));
    study.layers[0].script = format!("rm main.o; touch main.c; {MAKE}");
    let (line, _) = study.built();
    assert_eq!((told(&study), left(&line)), ((vec![], vec![]), vec!["sub/f.o".to_owned()]));
    study.layers[0].script = format!("cc -c main.c -o other.o; {MAKE}");
    let (line, _) = study.built();
    assert_eq!(left(&line), ["prog"], "a program that is installed as it was");
}
