//! The core knows that variants may have to be made, and nothing of how: it does not have the words for it.

use super::{files, shown};
use std::fs;

/// Words of building; a plural counts too.
const WORDS: &[&str] = &["compiler", "flag", "layer", "patch", "profile", "revision"];
/// Where a word means something else: system calls have flags, too.
const OTHERWISE: &[(&str, &str)] = &[("crates/code/", "flag"), ("crates/host/", "flag")];
/// What only tests use may make findings about builds for all of them.
const ONLY_FOR_TESTS: &str = "crates/testkit/";

/// The words of a line; names are taken apart.
fn words(line: &str) -> Vec<String> {
    let mut apart = String::new();
    for c in line.chars() {
        if c.is_uppercase() && !apart.ends_with(char::is_uppercase) {
            apart.push(' ');
        }
        apart.push(if c.is_alphanumeric() { c } else { ' ' });
    }
    apart.to_lowercase().split_whitespace().map(str::to_owned).collect()
}

fn is_of_building(word: &str, path: &str) -> bool {
    let forms = [Some(word), word.strip_suffix('s'), word.strip_suffix("es")];
    let known = WORDS.iter().find(|known| forms.contains(&Some(**known)));
    known.is_some_and(|known| !OTHERWISE.iter().any(|(place, other)| path.starts_with(place) && known == other))
}

#[test]
fn the_core_names_nothing_of_building() {
    assert_eq!(
        words("OFlags::EMPTY, is_of_layer BuildLine"),
        ["oflags", "empty", "is", "of", "layer", "build", "line"]
    );
    assert!(is_of_building("patches", "crates/cli/") && is_of_building("layers", "crates/cli/"));
    let mut found = vec![];
    for path in files(&[".rs"]) {
        let name = shown(&path);
        let is_core = name.starts_with("crates/") && name.contains("/src/") && !name.starts_with(ONLY_FOR_TESTS);
        if !is_core || name.contains("/tests/") || name.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (number, line) in (1..).zip(text.lines()) {
            if words(line).iter().any(|word| is_of_building(word, &name)) {
                found.push(format!("{name}:{number}: {line}"));
            }
        }
    }
    assert!(found.is_empty(), "these belong in building, or need another word:\n{}", found.join("\n"));
}
