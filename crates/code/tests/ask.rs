//! Asks whether two programs have the same code. Each is a file with a line for each part, its name and where it is,
//! and a line `linked FILE`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a tool for tests"
)]

use bakeoff_code::{Part, Program, compare, compare_files};
use std::fs;

type Files = Vec<(String, Vec<u8>)>;

fn files(list: &str) -> Files {
    let text = fs::read_to_string(list).unwrap();
    let read = |line: &str| {
        let (name, path) = line.split_once(' ').unwrap();
        (name.to_owned(), fs::read(path).unwrap())
    };
    text.lines().map(read).collect()
}

fn program(files: &Files) -> Program<'_> {
    let linked = files.iter().find(|(name, _)| name == "linked").map(|(_, content)| content.as_slice());
    let parts = files.iter().filter(|(name, _)| name != "linked");
    Program { parts: parts.map(|(name, content)| Part { name, content }).collect(), words: vec![], linked }
}

fn main() {
    let lists: Vec<String> = std::env::args().skip(1).collect();
    // Many pairs are asked in one go: the programs would take longer to start than to compare.
    for pair in lists.chunks(2) {
        let [one, other] = [&pair[0], &pair[1]].map(|list| files(list));
        let [one, other] = [program(&one), program(&other)];
        println!("{:?}", compare(&one, &other));
        if let (Some(one), Some(other)) = (one.linked, other.linked) {
            println!("{:?}", compare_files(one, other));
        }
    }
}
