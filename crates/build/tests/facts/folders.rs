//! Folders, static archives, and what is neither.

use crate::fixtures::Workshop;
use bakeoff_build::facts::{Depth, Error, facts_below, facts_of};
use bakeoff_model::facts::Content;
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
