//! Public items that only tests call: they are a promise that nobody asked for. Names are compared as words, so that an item
//! called like another one is not found; what is found is true.

use super::{files, root, shown};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Public for a test alone, each with its reason.
const ORACLES: &[(&str, &str)] =
    &[("command_pages", "the pages of `docs/reference/commands` are made and compared by a test")];

/// The program's part of a file: without comments and modules of tests.
fn program(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    // A module of tests in the file itself is its end; one in another file is a line.
    let begins = |at: &usize| lines[*at] == "#[cfg(test)]" && is_module(&lines[at + 1..]);
    let end = (0..lines.len()).find(begins).unwrap_or(lines.len());
    let mut code = String::new();
    let mut imports = false;
    for line in lines[..end].iter().map(|line| line.split("//").next().unwrap_or_default()) {
        let begins = line.trim_start();
        imports |= ["use ", "pub use ", "pub(crate) use "].iter().any(|word| begins.starts_with(word));
        // To import something is not to call it.
        if !imports {
            code.push_str(line);
            code.push('\n');
        }
        imports &= !line.contains(';');
    }
    code
}

/// Whether a module with its content follows, perhaps behind attributes.
fn is_module(lines: &[&str]) -> bool {
    let next = lines.iter().find(|line| !line.starts_with("#["));
    next.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Whether only tests are compiled from it.
fn is_test(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    let inside = path.strip_prefix(root()).unwrap();
    let is_below = |folder: &str| inside.components().any(|part| part.as_os_str() == folder);
    is_below("tests")
        || is_below("testkit")
        || name == "tests.rs"
        || name == "fixture.rs"
        || name.ends_with("_tests.rs")
}

/// The names of a file's public items.
fn public(text: &str) -> Vec<String> {
    const KINDS: [&str; 6] = ["fn", "struct", "enum", "trait", "const", "type"];
    let declared = |line: &str| {
        let mut rest = words(line.trim_start().strip_prefix("pub ")?);
        let kind = rest.find(|word| *word != "unsafe" && *word != "async")?;
        let name = rest.next()?;
        match (kind, name) {
            ("const", "fn") => rest.next().map(str::to_owned),
            (kind, name) => KINDS.contains(&kind).then(|| name.to_owned()),
        }
    };
    text.lines().filter_map(declared).collect()
}

#[test]
fn nothing_is_public_that_only_tests_call() {
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let mut declared: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files(&[".rs"]).iter().filter(|path| !is_test(path)) {
        let text = program(&fs::read_to_string(path).unwrap());
        words(&text).for_each(|word| *used.entry(word.to_owned()).or_default() += 1);
        for name in public(&text) {
            declared.entry(name).or_default().push(shown(path));
        }
    }
    let is_called = |name: &str, places: &[String]| used.get(name).copied().unwrap_or_default() > places.len();
    let only_tests: Vec<String> = declared
        .iter()
        .filter(|(name, places)| !is_called(name, places) && ORACLES.iter().all(|(oracle, _)| oracle != name))
        .map(|(name, places)| format!("{name} ({})", places.join(", ")))
        .collect();
    assert!(only_tests.is_empty(), "only tests call these, or nobody:\n{}", only_tests.join("\n"));
    for (oracle, reason) in ORACLES {
        let places = declared.get(*oracle).unwrap_or_else(|| panic!("{oracle} is not there, or not public"));
        assert!(!is_called(oracle, places), "{oracle} is called, and so no exception ({reason})");
    }
}
