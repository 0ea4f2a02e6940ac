//! The examples of `docs/reference/marks.md`, run: each block of code gets a pipe as its descriptor 3, as a trial does, and
//! what comes out of it is read as marks are. How a trial gets that pipe is tested where trials are.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use bakeoff_model::marks::{Chunk, ParsedMarks, Reader};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The code blocks of a document, by language.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks: Vec<(String, String)> = vec![];
    let mut is_code = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(language) => {
                is_code = !is_code;
                if is_code {
                    blocks.push((language.to_owned(), String::new()));
                }
            }
            None if is_code => {
                let (_, code) = blocks.last_mut().unwrap();
                code.push_str(line);
                code.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// CLOCK_MONOTONIC, as the only language whose example tells it reads it; 0 where that is not installed.
fn monotonic_s() -> f64 {
    let code = "use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC); printf '%.9f', clock_gettime(CLOCK_MONOTONIC)";
    let output = Command::new("perl").args(["-e", code]).output();
    output.ok().and_then(|output| String::from_utf8(output.stdout).ok()?.parse().ok()).unwrap_or(0.0)
}

fn is_here(command: &[&str]) -> bool {
    let status = Command::new(command[0]).args(&command[1..]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What a shell command tells through descriptor 3, and how long it lasted, in seconds.
fn told(dir: &Path, command: &str) -> (ParsedMarks, f64) {
    let began = Instant::now();
    let mut reader = Reader::new(monotonic_s());
    let mut child = Command::new("sh")
        .args(["-c", &format!("exec 3>&1 >&2\n{command}")])
        .current_dir(dir)
        .env("BAKEOFF_MARKS", "3")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut pipe, mut bytes) = (child.stdout.take().unwrap(), vec![0; 65536]);
    loop {
        let read = pipe.read(&mut bytes).unwrap();
        if read == 0 {
            break;
        }
        reader.push(&Chunk { at_s: began.elapsed().as_secs_f64(), bytes: bytes[..read].to_vec() });
    }
    assert!(child.wait().unwrap().success(), "{command}");
    let whole_s = began.elapsed().as_secs_f64();
    (reader.finish(whole_s).unwrap_or_else(|wrong| panic!("{command}: {wrong}")), whole_s)
}

/// The file that an example becomes, the command that runs it, and what tells whether that can be done here.
fn program(language: &str, code: &str) -> (&'static str, String, &'static str, &'static [&'static str]) {
    match language {
        "sh" => ("example.sh", code.to_owned(), "sh -e example.sh", &["sh", "-c", "true"]),
        "perl" => (
            "example.pl",
            format!("use strict; use warnings;\n{code}"),
            "perl example.pl",
            &["perl", "-MTime::HiRes", "-e", "1"],
        ),
        "python" => ("example.py", code.to_owned(), "python3 example.py", &["python3", "-c", "pass"]),
        "c" => {
            let headers = "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n";
            let program = format!("{headers}int main(void) {{\n{code}}}\n");
            ("example.c", program, "cc -Wall -Werror -o example example.c && ./example", &["cc", "--version"])
        }
        "java" => {
            let around =
                "import java.io.*; import java.util.*;\nclass Example { public static void main(String[] words)";
            let program = format!("{around} throws Exception {{\n{code}}} }}\n");
            ("Example.java", program, "java Example.java", &["javac", "--version"])
        }
        other => panic!("docs/reference/marks.md has a block of {other:?}, which is not executed here"),
    }
}

#[test]
fn each_example_of_the_document_marks() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/marks.md");
    let examples = blocks(&fs::read_to_string(document).unwrap());
    let languages: Vec<&str> = examples.iter().map(|(language, _)| language.as_str()).collect();
    assert_eq!(languages, ["sh", "perl", "python", "c", "java"]);
    for (language, code) in &examples {
        assert!(code.lines().count() <= 10, "the example of {language} is longer than ten lines");
        let (file, text, command, asks) = program(language, code);
        if !is_here(asks) {
            println!("skipped: {language}: `{}` does not work here", asks.join(" "));
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(file), text).unwrap();
        let (ParsedMarks { marks, values }, whole_s) = told(dir.path(), command);
        let value = |metric: &str| marks.value(metric, None).unwrap_or_else(|| panic!("{language}: no {metric}"));
        let ops = if language == "sh" { 3.0 } else { 1000.0 };
        assert_eq!(value("scan.op.count"), ops, "{language}");
        // Whatever the clock of the language: its ops lasted no longer than it did. Where ops are timed by their marks,
        // or the phase by the workload's own clock, they lasted no longer than their phase.
        let exact = ["sh", "perl"].contains(&language.as_str());
        let (sum_s, most_s) = (value("scan.op.mean") * ops, if exact { value("scan.wall") } else { whole_s });
        assert!(0.0 < sum_s && sum_s <= most_s + 1e-6, "{language}: ops of {sum_s} s in {most_s} s");
        assert_eq!(values.len(), usize::from(language != "c"), "{language}: {values:?}");
        if language == "sh" {
            assert_eq!(values["words"], (3.0, None));
            assert!(value("load.wall") > 0.0, "{marks:?}");
        }
        println!("{language}: executed");
    }
}
