//! Counting where our tool cannot be compiled, end to end: with valgrind on PATH and no compiler, cachegrind counts a loop whose
//! length is known to the instruction, and says so where it cannot.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use super::why_counting::cannot_count;
use crate::common::{Sandbox, Shown};
use bakeoff_why::counts::CountsLine;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const LOOP: &str = r#"
#include <stdlib.h>
__attribute__((noinline)) static void work(long steps)
{
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(steps) : : "cc");
}
int main(int argc, char **argv)
{
    work(atol(argv[1]) * atol(argv[2]));
    return 0;
}
"#;

const STUDY: &str = r#"
format = 1
name = "loops"
[run_factors.steps]
few = { STEPS = "1000000" }
many = { STEPS = "2000000" }
[workloads.alone]
run = 'exec ../loop $STEPS $LENGTH'
lengths = ["1", "3"]
[workloads.forks]
run = '(../loop $STEPS 1; true); true'
[plan]
blocks = 3
variants = "one-at-a-time"
[decide]
baseline = { steps = "few" }
metrics = ["wall"]
[evidence]
count = ["alone", "forks"]
"#;

/// Lines of a workload, the baseline's first.
fn lines(sandbox: &Sandbox, workload: &str) -> Vec<CountsLine> {
    let lines = CountsLine::of(&sandbox.record()).into_iter().filter(|line| line.workload == workload);
    lines.collect()
}

/// Puts those of these programs that are on PATH into a folder.
fn link(folder: &Path, names: &[&str]) {
    let path = std::env::var_os("PATH").unwrap();
    for name in names {
        let found = std::env::split_paths(&path).map(|place| place.join(name)).find(|file| file.is_file());
        found.into_iter().for_each(|file| std::os::unix::fs::symlink(file, folder.join(name)).unwrap());
    }
}

#[test]
fn cachegrind_counts_without_a_compiler() {
    if cannot_count() {
        return;
    }
    let sandbox = Sandbox::new(STUDY);
    std::fs::write(sandbox.path().join("loop.c"), LOOP).unwrap();
    let compiled = Command::new("cc").args(["-O2", "-o", "loop", "loop.c"]).current_dir(sandbox.path()).status();
    assert!(compiled.unwrap().success());
    let tools = sandbox.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    // Debian's valgrind starts the file next to it.
    link(&tools, &["sh", "valgrind", "valgrind.bin"]);
    let with_tools = |words: &[&str]| Shown::of(&sandbox.command(words).env("PATH", &tools).output().unwrap());
    with_tools(&["run", "STUDY", "--quiet"]).expect(0, &[]);

    let alone = lines(&sandbox, "alone");
    for (line, steps) in alone.iter().zip([1_000_000, 2_000_000]) {
        assert!(line.cachegrind.as_ref().is_some_and(|why| why.contains("cannot be compiled")), "{line:?}");
        for (counted, length) in line.counted.iter().zip([1, 3]) {
            let work = counted.functions.iter().find(|one| one.name == "work").unwrap();
            let loops = 2 * steps * length;
            assert!((loops..loops + 16).contains(&work.instructions) && work.calls == 0, "{work:?}");
        }
        let last = line.counted.last().unwrap();
        assert_eq!((line.counted.len(), last.again), (2, Some(last.instructions())));
    }
    assert_eq!(alone.len(), 2);
    for line in lines(&sandbox, "forks") {
        let why = line.missing.unwrap();
        assert!(why.contains("cannot be compiled") && why.contains("; by cachegrind: 1 of "), "{why}");
    }

    let explained = with_tools(&["explain", "STUDY", "steps=many", "--quiet"]);
    explained.expect(0, &["not gathered: calls and mechanisms of alone", "work ", "Counted by cachegrind"]);
    assert!(sandbox.record().features.iter().all(|line| line.kind() != "samples"), "functions have no files");
    let findings: Value = serde_json::from_str(&with_tools(&["report", "STUDY", "--json"]).out).unwrap();
    let account = &findings["evidence"]["accounts"][0];
    assert_eq!(account["rows"][0]["cause"]["function"]["name"], "work", "{account:#}");
    assert_eq!(account["rows"][0]["growth"]["per_unit"], 2e6, "{account:#}");

    // Our tool tells more, once there is a compiler.
    link(&tools, &["cc", "as", "ld", "dirname", "readlink", "mkdir", "ln"]);
    with_tools(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let all = [lines(&sandbox, "alone"), lines(&sandbox, "forks")].concat();
    assert!(all.len() == 4 && all.iter().all(|line| line.cachegrind.is_none() && line.missing.is_none()), "{all:?}");
}
