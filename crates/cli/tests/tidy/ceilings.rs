//! The most lines that each crate and feature may have, held against what `tools/lines` counts. A ceiling is raised only by
//! a commit that says why; it falls with the code.

use super::root;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// Lines that a ceiling may be above the code; of more, it has to be lowered.
const SLACK: usize = 40;

/// `NAME LINES`, in any line that begins so.
fn numbers(text: &str) -> BTreeMap<String, usize> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn every_crate_stays_below_its_ceiling() {
    let counted = Command::new("python3").arg("tools/lines").current_dir(root()).output().unwrap();
    let counted = numbers(&String::from_utf8(counted.stdout).unwrap());
    let ceilings = numbers(&fs::read_to_string(root().join("tools/ceilings")).unwrap());
    assert!(counted.keys().eq(ceilings.keys()), "tools/ceilings names other crates than tools/lines: {ceilings:?}");
    let wrong: Vec<String> = counted
        .iter()
        .filter_map(|(name, &lines)| match ceilings[name] {
            most if lines > most => Some(format!("{name} has {lines} lines, {most} are allowed")),
            most if lines + SLACK < most => Some(format!("{name} has only {lines} lines: lower its ceiling of {most}")),
            _ => None,
        })
        .collect();
    assert!(wrong.is_empty(), "see tools/ceilings: {}", wrong.join("; "));
}
