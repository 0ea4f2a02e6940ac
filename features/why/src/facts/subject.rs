//! What is looked at when facts are asked for: a build of a study, a folder, or a single file; and which of two subjects'
//! files belong together. [`crate::reading`] reads them.

use super::lines::{Difference, differences};
use super::{Content, ElfKind, FileFacts};
use bakeoff_model::pattern::fits;
use serde::Serialize;

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Subject {
    /// What it is called: the variants of a build, a folder, a file.
    pub(crate) name: String,
    pub(crate) place: String,
    /// It is one file, and not a folder that may hold but one.
    pub(crate) is_file: bool,
    pub(crate) files: Vec<FileFacts>,
    /// What could not be read, and why.
    pub(crate) unreadable: Vec<String>,
}

/// What differs between two subjects.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Comparison {
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) only_before: Vec<String>,
    pub(crate) only_after: Vec<String>,
    /// Files that both have, and in which all facts are the same.
    pub(crate) same: Vec<String>,
    /// Files that both have, and what differs.
    pub(crate) files: Vec<FileComparison>,
}

/// What differs between two files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FileComparison {
    /// The path that both have; of two files that were named themselves, that of the second.
    pub(crate) path: String,
    /// At least one.
    pub(crate) differences: Vec<Difference>,
}

/// Compares two subjects file by file: files of the same path, or two that were named themselves.
pub(crate) fn compare(before: &Subject, after: &Subject) -> Comparison {
    let mut comparison = Comparison { before: before.name.clone(), after: after.name.clone(), ..Comparison::default() };
    let as_named = before.is_file && after.is_file;
    let partner = |file: &FileFacts, of: &Subject| -> Option<usize> {
        of.files.iter().position(|other| as_named || other.path == file.path)
    };
    for file in &before.files {
        let Some(other) = partner(file, after).map(|place| &after.files[place]) else {
            comparison.only_before.push(file.path.clone());
            continue;
        };
        let (path, differences) = (other.path.clone(), differences(file, other));
        if differences.is_empty() {
            comparison.same.push(path);
        } else {
            comparison.files.push(FileComparison { path, differences });
        }
    }
    let unpaired = after.files.iter().filter(|file| partner(file, before).is_none());
    comparison.only_after = unpaired.map(|file| file.path.clone()).collect();
    comparison
}

/// Whether a file of a build is what people run: an executable or a shared object in one of the folders for them.
pub(crate) fn matters(file: &FileFacts) -> bool {
    let folders = ["bin/", "sbin/", "lib/", "lib64/", "lib32/", "libexec/"];
    let is_loaded = match &file.content {
        Content::Elf(facts) => matches!(facts.kind, ElfKind::Executable | ElfKind::Pie | ElfKind::SharedObject),
        // Which kind it is was not read.
        Content::Relocations(_) => true,
        Content::Archive(_) => false,
    };
    is_loaded && folders.iter().any(|folder| file.path.starts_with(folder))
}

/// Whether a path is one that a pattern means, in which `*` stands for anything. A pattern without a slash means the
/// file's name, wherever it lies.
pub(crate) fn is_meant(pattern: &str, path: &str) -> bool {
    let text = if pattern.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) };
    fits(pattern, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{ElfFacts, Linking, RelocationTable, Slots};

    fn file(path: &str, facts: ElfFacts) -> FileFacts {
        FileFacts { path: path.to_owned(), size_bytes: 1000, content: Content::Elf(Box::new(facts)) }
    }

    fn library(jump_slots: u64, own: &[&str]) -> ElfFacts {
        let mut facts = ElfFacts { kind: ElfKind::SharedObject, class_bits: 64, ..ElfFacts::default() };
        facts.linking = Linking { dynamic: true, needed: vec!["libc.so.6".to_owned()], ..Linking::default() };
        let own_names = Some(own.iter().map(|name| (*name).to_owned()).collect());
        facts.relocations.jump_slots = Slots { total: jump_slots, own: own.len() as u64, own_names };
        facts.relocations.tables = vec![RelocationTable {
            section: ".rela.plt".to_owned(),
            loaded: true,
            entries: jump_slots,
            relocations: jump_slots,
            by_type: [("R_X86_64_JUMP_SLOT".to_owned(), jump_slots)].into(),
            ..RelocationTable::default()
        }];
        facts
    }

    #[test]
    fn patterns() {
        for (pattern, path, meant) in [
            ("perl", "bin/perl", true),
            ("perl", "bin/perl5", false),
            ("perl*", "bin/perl5", true),
            ("lib*.so", "lib/x/libperl.so", true),
            ("lib*.so", "lib/x/libperl.so.1", false),
            ("lib/*", "lib/x/libperl.so", true),
            ("lib/*", "usr/lib/x", false),
            ("*", "a/b", true),
            ("a*a", "a", false),
            ("*b*d", "abcd", true),
            ("bin/perl", "bin/perl", true),
        ] {
            assert_eq!(is_meant(pattern, path), meant, "{pattern} {path}");
        }
    }

    #[test]
    fn files_of_one_path_are_compared_and_others_are_named() {
        let of = |name: &str, files: Vec<FileFacts>| Subject { name: name.to_owned(), files, ..Subject::default() };
        let a = of("a", vec![file("bin/x", library(3, &[])), file("lib/old.so", library(1, &[]))]);
        let b = of("b", vec![file("bin/x", library(5, &["f", "g"])), file("lib/new.so", library(1, &[]))]);
        let found = compare(&a, &b);
        assert_eq!(
            (found.only_before, found.only_after),
            (vec!["lib/old.so".to_owned()], vec!["lib/new.so".to_owned()])
        );
        assert_eq!(found.files.len(), 1);
        let names: Vec<&str> = found.files[0].differences.iter().map(|d| d.name.as_str()).collect();
        let expect = ["R_X86_64_JUMP_SLOT", "self-defined JUMP_SLOT", ".rela.plt", "self-defined JUMP_SLOT"];
        assert_eq!(names, expect);
        let same = compare(&a, &a);
        assert_eq!((same.files.len(), same.same.len()), (0, 2));
    }

    #[test]
    fn two_files_that_were_named_are_compared_whatever_they_are_called() {
        let of = |path: &str, facts| Subject {
            name: path.to_owned(),
            is_file: true,
            files: vec![file(path, facts)],
            ..Subject::default()
        };
        let found = compare(&of("one.so", library(3, &[])), &of("two.so", library(4, &[])));
        assert_eq!(found.files[0].path, "two.so");
        assert!(found.only_before.is_empty() && found.only_after.is_empty());
    }
}
