//! What is written for other tools, read by those tools: Python's csv and json, R, benchstat, pandoc, and our own
//! readers of hyperfine's and Go's formats. A tool that is not installed is skipped by name.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown, small};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names that mean something somewhere, two of which differ only in what must be changed in Go's format.
const NAMES: [&str; 3] = ["a|b <b>, \"c\"", "gzip-9", "=1+1 /x"];

/// A finished comparison of three commands with those names.
fn compared() -> Sandbox {
    let sandbox = small();
    let mut words = vec!["compare", "--blocks", "8", "--quiet", "true", "sh -c :", "sh -c 'exec true'"];
    NAMES.iter().for_each(|name| words.extend(["--name", name]));
    words.extend(["--journal", "j.jsonl"]);
    Shown::of(&sandbox.command_as_typed(&words).output().unwrap()).expect(0, &[]);
    sandbox
}

/// Writes that format into a file and returns its path.
fn export(sandbox: &Sandbox, option: &str) -> PathBuf {
    let file = sandbox.path().join(option);
    let words = ["report", "j.jsonl", &format!("--export-{option}"), file.to_str().unwrap()];
    Shown::of(&sandbox.command_as_typed(&words).output().unwrap()).expect(0, &[]);
    file
}

fn findings(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&fs::read_to_string(export(sandbox, "findings")).unwrap()).unwrap()
}

/// Rows of the table of wall time.
fn wall(findings: &Value) -> Vec<Value> {
    let tables = findings["tables"].as_array().unwrap();
    tables.iter().find(|table| table["metric"] == "wall").unwrap()["rows"].as_array().unwrap().clone()
}

/// Fails unless a median is that of a row: two ways to halve a sum may differ in the last digit, and so may two units.
#[track_caller]
fn assert_near(median: f64, row: &Value) {
    let ours = row["summary"]["median"].as_f64().unwrap();
    assert!((median - ours).abs() <= 1e-12 * ours, "{median} is not {ours}");
}

/// Whether a program is there; if not, says so.
fn has(program: &str, version: &str) -> bool {
    let asked = Command::new(program).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let has = asked.is_ok_and(|status| status.success());
    if !has {
        println!("skipped: {program} is not installed");
    }
    has
}

/// What a program prints.
fn output(program: &str, words: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(words).arg(file).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn python_reads_both_csv_files() {
    if !has("python3", "--version") {
        return;
    }
    let sandbox = compared();
    let wide = "import csv, json, sys\nrows = list(csv.DictReader(open(sys.argv[1], newline='')))\n\
                json.dump([[r['variant'], int(r['n']), float(r['median']), r['verdict']] for r in rows \
                if r['metric'] == 'wall'], sys.stdout)";
    let read: Value = serde_json::from_str(&output("python3", &["-c", wide], &export(&sandbox, "csv"))).unwrap();
    let findings = findings(&sandbox);
    for (line, row) in read.as_array().unwrap().iter().zip(wall(&findings)) {
        // A name that a spreadsheet would compute has a sign before it.
        let name = row["variant"].as_str().unwrap();
        let name = if name.starts_with('=') { format!("'{name}") } else { name.to_owned() };
        assert_eq!((&line[0], &line[1], &line[2]), (&name.into(), &row["summary"]["n"], &row["summary"]["median"]));
    }
    assert_eq!(read.as_array().unwrap().len(), 4, "three variants and the twin: {read}");
    let long = "import csv, json, sys, statistics\nrows = list(csv.DictReader(open(sys.argv[1], newline='')))\n\
                json.dump([len(rows), statistics.median(float(r['wall']) for r in rows if r['variant'] == 'gzip-9'), \
                sorted({r['outcome'] for r in rows})], sys.stdout)";
    let read: Value = serde_json::from_str(&output("python3", &["-c", long], &export(&sandbox, "trials"))).unwrap();
    assert_eq!((&read[0], &read[2]), (&32.into(), &serde_json::json!(["ok"])));
    assert_near(read[1].as_f64().unwrap(), &wall(&findings)[1]);
}

#[test]
fn r_reads_both_csv_files() {
    if !has("Rscript", "--version") {
        return;
    }
    let sandbox = compared();
    // 17 digits tell every number from every other.
    let script = "t <- read.csv(commandArgs(TRUE)[1]); stopifnot(is.numeric(t$wall), is.numeric(t$block)); \
                  cat(nrow(t), sprintf('%.17g', median(t$wall[t$variant == 'gzip-9'])))";
    let read = output("Rscript", &["--vanilla", "-e", script], &export(&sandbox, "trials"));
    let (rows, median) = read.split_once(' ').unwrap();
    assert_eq!(rows, "32");
    assert_near(median.parse().unwrap(), &wall(&findings(&sandbox))[1]);
    let script = "t <- read.csv(commandArgs(TRUE)[1]); stopifnot(is.numeric(t$median), is.numeric(t$low)); \
                  cat(nrow(t), ncol(t), sum(t$metric == 'wall'))";
    let read = output("Rscript", &["--vanilla", "-e", script], &export(&sandbox, "csv"));
    assert_eq!(read, "12 34 4", "three metrics of three variants and the twin");
}

#[test]
fn benchstat_agrees_on_n_and_median() {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/oracles");
    let program = std::env::var_os("BAKEOFF_ORACLES").map_or(usual, PathBuf::from).join("bin/benchstat");
    if !program.is_file() {
        println!("skipped: there is no benchstat; `make test` builds it where there is Go and its proxy");
        return;
    }
    let sandbox = compared();
    let file = export(&sandbox, "go");
    let words = ["-format", "csv", "-col", "/variant", "-filter", ".unit:sec/op"];
    let printed = output(program.to_str().unwrap(), &words, &file);
    let titles = printed.lines().find(|line| line.starts_with(",a|b_<b>,") || line.contains("gzip-9")).unwrap();
    assert!(titles.contains("gzip-9") && titles.contains("=1+1__x"), "{printed}");
    let line = printed.lines().find(|line| line.starts_with("Command/condition=idle")).unwrap();
    let cells: Vec<&str> = line.split(',').collect();
    let medians: Vec<f64> = [1, 3, 7].map(|at| cells[at].parse().unwrap()).to_vec();
    for (median, row) in medians.iter().zip(wall(&findings(&sandbox))) {
        assert_near(*median, &row);
    }
    assert!(line.matches("n=8").count() == 2, "{printed}");
}

#[test]
fn our_own_readers_agree_on_n_and_median() {
    let sandbox = compared();
    let stat = |words: &[&str]| {
        let shown = Shown::of(&sandbox.command_as_typed(&[&["stat", "--json"], words].concat()).output().unwrap());
        assert_eq!(shown.code, 0, "{shown:?}");
        serde_json::from_str::<Value>(&shown.out).unwrap()
    };
    let rows = wall(&findings(&sandbox));
    export(&sandbox, "json");
    export(&sandbox, "go");
    for words in [&["json"][..], &["--col", "/variant", "--filter", ".unit:sec/op", "go"]] {
        let found = stat(words);
        let samples = found["tables"][0]["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 3, "{found}");
        for (sample, row) in samples.iter().zip(&rows) {
            assert_near(sample["summary"]["median"].as_f64().unwrap(), row);
            assert_eq!(sample["summary"]["n"], row["summary"]["n"]);
        }
    }
}

/// What hyperfine's own scripts (its folder `scripts/`) take from its JSON.
#[test]
fn the_json_has_what_scripts_for_hyperfine_read() {
    let sandbox = compared();
    let file = export(&sandbox, "json");
    let document: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for entry in document["results"].as_array().unwrap() {
        for field in ["mean", "stddev", "median", "user", "system", "min", "max"] {
            assert!(entry[field].is_f64(), "{field} in {entry}");
        }
        let n = entry["times"].as_array().unwrap().len();
        assert!(entry["times"].as_array().unwrap().iter().all(Value::is_f64));
        assert!(entry["exit_codes"].as_array().unwrap().iter().all(|code| *code == 0));
        assert!(entry["memory_usage_byte"].as_array().unwrap().iter().all(Value::is_u64));
        assert_eq!([n; 2], ["exit_codes", "memory_usage_byte"].map(|field| entry[field].as_array().unwrap().len()));
    }
    if !has("python3", "--version") {
        return;
    }
    // As plot_whisker.py and advanced_statistics.py do, without what they draw with.
    let script = "import json, statistics, sys\nresults = json.load(open(sys.argv[1]))['results']\n\
                  for b in results:\n  assert abs(statistics.median(b['times']) - b['median']) < 1e-12, b\n  \
                  assert abs(statistics.mean(b['times']) - b['mean']) < 1e-12, b\n  \
                  assert abs(statistics.stdev(b['times']) - b['stddev']) < 1e-12, b\n\
                  print(len(results), results[1]['command'])";
    assert_eq!(output("python3", &["-c", script], &file), "3 gzip-9\n");
}

/// plot_parametrized.py draws the means over the one parameter of all entries.
#[test]
fn the_json_of_a_scan_has_its_parameter() {
    let sandbox = small();
    let parameters = |words: &[&str]| {
        let words = [&["compare", "--blocks", "1", "--quiet", "--export-json", "-"], words].concat();
        let shown = Shown::of(&sandbox.command_as_typed(&words).output().unwrap());
        let document: Value = serde_json::from_str(&shown.out).unwrap_or_else(|error| panic!("{error}: {shown:?}"));
        let entries = document["results"].as_array().unwrap().clone();
        entries.into_iter().map(|entry| entry["parameters"].clone()).collect::<Vec<Value>>()
    };
    let of = |n: &str| serde_json::json!({ "n": n });
    assert_eq!(parameters(&["-P", "n", "1", "3", "true {n}"]), [of("1"), of("2"), of("3")]);
    assert_eq!(parameters(&["-L", "n", "a,b", "true {n}", "env {n}=1 true"]).len(), 4);
    assert_eq!(parameters(&["true", "sh -c :"]), [Value::Null, Value::Null]);
}

/// The command in the folded part, as it is: a shell reads it as it was meant.
#[test]
fn the_command_that_repeats_it_does_so() {
    let sandbox = compared();
    let page = fs::read_to_string(export(&sandbox, "markdown")).unwrap();
    let command = page.split("```sh\n").nth(1).unwrap().split("\n```").next().unwrap();
    assert!(command.starts_with("bakeoff compare --blocks 8 --seed "), "{command}");
    let folder = Path::new(env!("CARGO_BIN_EXE_bakeoff")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    // Everything else is as our sandbox has it.
    let mut shell = Command::new("sh");
    shell.args(["-c", &command.replacen("compare", "compare --quiet --export-json -", 1)]).env("PATH", path);
    shell.env("BAKEOFF_LOCKS", sandbox.path()).env("BAKEOFF_STATE", sandbox.path().join("state"));
    let shown = Shown::of(&shell.output().unwrap());
    assert_eq!(shown.code, 0, "{shown:?}");
    let document: Value = serde_json::from_str(&shown.out).unwrap();
    let names: Vec<&str> =
        document["results"].as_array().unwrap().iter().map(|entry| entry["command"].as_str().unwrap()).collect();
    assert_eq!(names, NAMES);
    let words = ["compare", "--blocks", "2", "--quiet", "true", ":", "--processes", "2", "--export-markdown", "-"];
    let shown = Shown::of(&sandbox.command_as_typed(&words).output().unwrap());
    shown.expect(0, &["# and the options of the condition", "bakeoff compare --blocks 2"]);
}

#[test]
fn pandoc_makes_tables_of_what_is_written_for_it() {
    let sandbox = compared();
    let escaped = "a|b &lt;b&gt;, \"c\"";
    if has("pandoc", "--version") {
        let page = output("pandoc", &["-f", "gfm", "-t", "html", "--wrap=none"], &export(&sandbox, "markdown"));
        assert_eq!(page.matches("<table").count(), 4, "the answer and three metrics: {page}");
        assert!(page.contains("<details>") && page.replace("&quot;", "\"").contains(escaped), "{page}");
    }
}
