//! Folders, static archives, and what is neither.

use crate::fixtures::Workshop;
use bakeoff_why::facts::Content;
use bakeoff_why::reading::{Depth, Error, facts_below, facts_of, files};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_folder_s_files_are_found_once_each_and_the_broken_are_named() {
    let workshop = Workshop::new();
    workshop.sh("mkdir -p bin lib; gcc program.c -o bin/program -lm; gcc library.c -shared -fPIC -o lib/libx.so.1
         ln -s libx.so.1 lib/libx.so; ln bin/program bin/again; ln -s . lib/loop; gcc -c bare.c -o lib/bare.o
         ar rc lib/libbare.a lib/bare.o; head -c 2000 bin/program > bin/torn; echo text > bin/text; mkfifo bin/pipe");
    symlink("/nowhere", workshop.path("bin/dangling")).unwrap();
    let (files, errors) = facts_below(workshop.folder.path(), Depth::All).unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["bin/again", "lib/bare.o", "lib/libbare.a", "lib/libx.so.1"]);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].to_string().contains("bin/torn` is broken: the section headers"), "{}", errors[0]);
}

#[test]
fn files_of_a_prefix_are_chosen_by_patterns() {
    let workshop = Workshop::new();
    workshop.sh(
        "mkdir -p bin lib/deep; gcc program.c -o bin/program -lm; ln bin/program bin/again; echo text > bin/text
         gcc library.c -shared -fPIC -o lib/deep/libx.so.1; ln -s deep/libx.so.1 lib/libx.so; ln -s /bin/sh bin/outside
         ln -s .. lib/deep/loop; head -c 100 bin/program > bin/torn; mkfifo lib/pipe; : > lib/empty.so
         gcc -c bare.c -o bare.o; ar rc lib/libbare.a bare.o",
    );
    let check = |patterns: &[&str], expect: &[&str]| {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        assert_eq!(files(workshop.folder.path(), &patterns).unwrap(), expect, "{patterns:?}");
    };
    check(&[], &[]);
    check(&["bin/program"], &["bin/program"]);
    check(&["bin/*"], &["bin/again", "bin/torn"]);
    check(&["**/*.so", "lib/deep/*"], &["lib/deep/libx.so.1"]);
    check(&["**/*.so"], &["lib/libx.so"]);
    check(&["lib/*"], &["lib/libbare.a", "lib/libx.so"]);
    check(&["share/*"], &[]);
}

#[test]
fn an_archive_is_the_sum_of_its_members() {
    let workshop = Workshop::new();
    workshop.sh("gcc -c -g library.c -o one.o; gcc -c -O2 bare.c -o a_member_with_a_name_that_is_rather_long.o
         echo notes > notes.txt; ar rc all.a one.o a_member_with_a_name_that_is_rather_long.o notes.txt
         ar rcT thin.a one.o; ar rc empty.a");
    let facts = |name: &str| facts_of(&workshop.path(name), Depth::All).unwrap().content;
    let (Content::Archive(all), Content::Elf(one), Content::Elf(other)) =
        (facts("all.a"), facts("one.o"), facts("a_member_with_a_name_that_is_rather_long.o"))
    else {
        panic!("an archive and two files");
    };
    assert_eq!((all.members, all.other_members, all.thin), (2, 1, false));
    let sum =
        |name: &str| [&one, &other].iter().filter_map(|f| f.relocations.by_type().get(name).copied()).sum::<u64>();
    assert!(!all.relocations.is_empty());
    all.relocations.iter().for_each(|(name, count)| assert_eq!(*count, sum(name), "{name}"));
    assert_eq!(all.loaded.text_bytes, one.loaded.text_bytes + other.loaded.text_bytes);
    assert_eq!(all.dwarf_units.values().sum::<u64>(), 1);
    assert_eq!(all.producers, one.origin.producers);
    assert!(all.producers.keys().all(|producer| producer.starts_with("GNU C")), "{:?}", all.producers);
    assert!(matches!(facts("thin.a"), Content::Archive(thin) if thin.thin && thin.members == 0));
    assert!(matches!(facts("empty.a"), Content::Archive(empty) if !empty.thin && empty.members == 0));
}

#[test]
fn what_is_no_elf_file_is_said_to_be_none() {
    let workshop = Workshop::new();
    fs::write(workshop.path("empty"), "").unwrap();
    workshop.sh("mkfifo pipe");
    for name in ["empty", "library.c", "pipe", "."] {
        let error = facts_of(&workshop.path(name), Depth::All).unwrap_err();
        assert!(matches!(error, Error::OtherFormat { .. }), "{name}: {error}");
    }
    let error = facts_of(&workshop.path("missing"), Depth::All).unwrap_err();
    assert!(matches!(&error, Error::Read { path, .. } if path.ends_with("missing")), "{error}");
    assert!(facts_below(&workshop.path("missing"), Depth::All).is_err());
}
