//! Layouts that match: the same objects at the same random addresses in programs that differ.

use crate::building_tests::links::GO;
use crate::building_tests::study::{Study, are_here, layer};
use crate::error::Stop;
use crate::{Cache, Error, Layer, OnDemand};
use bakeoff_host::machine::Machine;
use bakeoff_model::record::UNMATCHED;
use bakeoff_testkit::files::read;
use object::{Object as _, ObjectSymbol as _};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILES: [(&str, &str); 5] = [
    (
        "main.c",
        "#include <stdio.h>\nint a(int), b(int), c(int); int main(void) { printf(\"%d %s\\n\", a(b(c(1))), PREFIX); return 0; }\n",
    ),
    ("a.c", "int many[77]; int of_a = 3; int a(int x) { many[x & 7]++; return of_a + x + many[1]; }\n"),
    (
        "b.c",
        "#ifdef MORE\nint more_data[9] = {1}; int more(int x) { return x * x * 7 + more_data[x & 7]; }\n#endif\nint b(int x) { return x * 2; }\n",
    ),
    (
        "c.c",
        "static const int squares[] = {0, 1, 4, 9}; int table[5] = {1}; int c(int x) { return squares[x & 3] + table[0]; }\n",
    ),
    ("d.c", "int never(void) { return 1; }\n"),
];

const GCC: &str = r#"
for f in main a b c d; do gcc -O1 $FLAGS -DPREFIX="\"$PREFIX\"" -c $f.c; done
ar rcs libx.a a.o b.o c.o d.o
mkdir -p "$PREFIX/bin"; gcc -o p main.o -L. -lx; install p "$PREFIX/bin/p"; ln "$PREFIX/bin/p" "$PREFIX/bin/q"
"#;

const GO_BUILD: &str = r#"
test "$FLAGS" = -DLESS || tags=more
mkdir -p "$PREFIX/bin"; go build -tags "$tags" -o "$PREFIX/bin/p" .
"#;

/// Two variants of a program: the second has a function and data more in one of its objects.
fn program(script: &str) -> Study {
    let files = FILES.map(|(name, _)| name.to_owned()).to_vec();
    let mut study = Study::new(&[Layer { files, ..layer("program", script) }]);
    study.variant("base", &[("FLAGS", "-DLESS")]);
    study.variant("more", &[("FLAGS", "-DMORE")]);
    for (name, content) in FILES {
        study.write(name, content);
    }
    study
}

/// The addresses of functions and data of a program, by name.
fn addresses(program: &Path) -> BTreeMap<String, u64> {
    let content = fs::read(program).unwrap();
    let file = object::File::parse(&*content).unwrap();
    let own = ["main", "a", "b", "c", "many", "of_a", "table", "squares"];
    let symbols = file.symbols().filter(|symbol| own.contains(&symbol.name().unwrap_or_default()));
    symbols.map(|symbol| (symbol.name().unwrap().to_owned(), symbol.address())).collect()
}

fn made(aside: &mut OnDemand<'_>, variant: &str, seed: u32) -> (PathBuf, String) {
    let made = aside.matched(variant, seed).unwrap();
    (made.prefix, made.digest.unwrap())
}

#[track_caller]
fn check(script: &str, unlike: &[&str]) {
    let study = program(script);
    let lines = study.build();
    let names = |folder: &str| -> BTreeSet<_> {
        fs::read_dir(study.cache.root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let (built, kept) = (names("builds"), names("work"));
    let dir = study.dir();
    let mut aside = study.aside(&dir);
    let mut places: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for seed in 1..=5 {
        let [(base, digest), (more, other)] = ["base", "more"].map(|variant| made(&mut aside, variant, seed));
        assert_ne!(digest, other);
        let [base_at, more_at] = [&base, &more].map(|prefix| addresses(&prefix.join("bin/p")));
        assert_eq!(base_at.len(), 8, "{base_at:?}");
        for (name, at) in &base_at {
            assert!(
                unlike.contains(&name.as_str()) || more_at[name] == *at,
                "seed {seed}: {name} {base_at:x?} {more_at:x?}"
            );
            places.entry(name.clone()).or_default().insert(*at);
        }
        for prefix in [&base, &more] {
            let printed = Command::new(prefix.join("bin/p")).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&printed.stdout), format!("7 {}\n", prefix.display()));
            assert_eq!(prefix.as_os_str().len(), study.cache.prefix_of(&lines[0].digest).as_os_str().len());
            assert!(fs::read(prefix.join("bin/p")).unwrap() == fs::read(prefix.join("bin/q")).unwrap());
        }
        let stack = Command::new("readelf").args(["-lW"]).arg(base.join("bin/p")).output().unwrap();
        let stack = String::from_utf8_lossy(&stack.stdout).into_owned();
        assert!(stack.lines().any(|line| line.contains("GNU_STACK") && line.contains("RW ")), "{stack}");
    }
    assert!(places.iter().all(|(_, at)| at.len() >= 4), "{places:?}");
    aside.clear().unwrap();
    assert_eq!((names("builds"), names("work")), (built, kept), "nothing else stays");
    let first = made(&mut aside, "base", 1).1;
    aside.clear().unwrap();
    assert_eq!(made(&mut aside, "base", 1).1, first, "the same seed is the same layout");
}

#[test]
fn what_is_the_same_lies_at_the_same_place() {
    if are_here(&["gcc", "readelf"]) {
        check(GCC, &["b"]);
    }
}

#[test]
fn clang_sections_and_collection() {
    if are_here(&["clang", "readelf"]) {
        check(&GCC.replace("gcc", "clang"), &["b"]);
    }
    if are_here(&["gcc", "readelf"]) {
        check(&GCC.replace("-O1", "-O1 -ffunction-sections -fdata-sections"), &["b", "table"]);
    }
}

#[test]
fn functions_of_go_are_in_a_random_order() {
    if !are_here(&["go"]) {
        return;
    }
    let study = program(&format!("{GO}{GO_BUILD}"));
    study.build();
    let dir = study.dir();
    let mut aside = study.aside(&dir);
    let mut programs = BTreeSet::new();
    for seed in [0, 1] {
        for (variant, expect) in [("base", "one /"), ("more", "one more /")] {
            let (prefix, digest) = made(&mut aside, variant, seed);
            assert!(digest.starts_with(UNMATCHED), "{digest}");
            let printed = Command::new(prefix.join("bin/p")).output().unwrap();
            let printed = String::from_utf8(printed.stdout).unwrap();
            assert!(printed.starts_with(expect), "{printed}");
            programs.insert(fs::read(prefix.join("bin/p")).unwrap());
        }
    }
    assert_eq!(programs.len(), 4);
    aside.clear().unwrap();
    assert!(programs.contains(&fs::read(made(&mut aside, "more", 1).0.join("bin/p")).unwrap()));
}

#[test]
fn recording_links_changes_no_build() {
    if are_here(&["gcc"]) {
        check_unchanged(GCC);
    }
    if are_here(&["go"]) {
        check_unchanged(&format!("{GO}{GO_BUILD}"));
    }
}

fn check_unchanged(script: &str) {
    let study = program(script);
    let lines = study.build();
    let prefix = study.cache.prefix_of(&lines[0].digest);
    let recorded = fs::read(prefix.join("bin/p")).unwrap();
    fs::remove_dir_all(&prefix).unwrap();
    // The same commands by a shell, without anything between them and the compiler.
    let tree = study.cache.root().join("work").join(&lines[0].digest[..32]).join("tree");
    fs::create_dir_all(&tree).unwrap();
    for (name, content) in FILES {
        fs::write(tree.join(name), content).unwrap();
    }
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", script]).current_dir(&tree).env("PREFIX", &prefix).env("FLAGS", "-DLESS");
    shell.env("HOME", study.dir());
    assert!(shell.status().unwrap().success());
    assert!(fs::read(prefix.join("bin/p")).unwrap() == recorded);
}

#[test]
fn without_its_objects_a_build_is_not_finished() {
    if !are_here(&["gcc"]) {
        return;
    }
    let study = program(GCC);
    let lines = study.build();
    let is_cached = || study.survey()[0].layers[0].cached;
    assert!(is_cached());
    let links = study.cache.root().join("work").join(&lines[0].digest[..32]).join("links");
    assert!(read(links.join("links.json")).contains("main.o"));
    fs::remove_dir_all(links).unwrap();
    assert!(!is_cached());
}

#[test]
fn a_full_disk_is_no_failure_of_the_program() {
    if !are_here(&["gcc"]) {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "bakeoff-test"]).arg(place.path()).output();
    if !mount.is_ok_and(|done| done.status.success()) {
        println!("skipped: mounting a tmpfs needs root");
        return;
    }
    let mut study = program(GCC);
    study.cache = Cache::open(place.path().join("cache")).unwrap().on(Machine::in_folder(study.dir().as_path()));
    study.build();
    let dir = study.dir();
    let mut aside = study.aside(&dir);
    let filler = place.path().join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
    let stop = aside.matched("base", 1).unwrap_err();
    assert!(matches!(stop, Stop::Error(Error::DiskFull { .. })), "{stop:?}");
    drop(file);
    fs::remove_file(&filler).unwrap();
    aside.clear().unwrap();
    assert!(aside.matched("base", 1).is_ok());
    drop(aside);
    drop(study);
    assert!(Command::new("umount").arg(place.path()).status().unwrap().success());
}
