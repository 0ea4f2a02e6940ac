//! `bakeoff stat` against Go's benchstat: n, medians, ±, p and warnings, on benchstat's own test data and on generated
//! files. `tools/oracles` builds the pinned benchstat and leaves its data next to it; without them these tests say so and
//! end. What is called a difference is not compared: there the two differ on purpose (docs/tasks/numbers.md).

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SEED: u64 = 26;

/// What `--json` says of a doubt.
#[derive(Debug, Deserialize)]
struct Doubt {
    kind: String,
    text: String,
}

/// As much of `--json` as is compared.
#[derive(Debug, Deserialize)]
struct Findings {
    tables: Vec<Table>,
    caveats: Vec<Doubt>,
}

#[derive(Debug, Deserialize)]
struct Table {
    #[serde(default)]
    settings: BTreeMap<String, String>,
    row: String,
    unit: String,
    #[serde(default)]
    exact: bool,
    samples: Vec<Sample>,
}

#[derive(Debug, Deserialize)]
struct Sample {
    sample: String,
    summary: Summary,
    comparison: Option<Comparison>,
    #[serde(default)]
    caveats: Vec<Doubt>,
}

#[derive(Debug, Deserialize)]
struct Summary {
    n: u32,
    median: f64,
    median_interval: Option<[f64; 2]>,
    min: f64,
    max: f64,
}

#[derive(Debug, Deserialize)]
struct Comparison {
    test: String,
    p: Option<f64>,
    #[serde(default)]
    caveats: Vec<Doubt>,
}

/// benchstat and the folder of its data, if both are there.
fn oracle() -> Option<(PathBuf, PathBuf)> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/oracles");
    let made = std::env::var_os("BAKEOFF_ORACLES").map_or(usual, PathBuf::from);
    let (program, data) = (made.join("bin/benchstat"), made.join("benchstat-data"));
    let there = program.is_file() && data.is_dir();
    if !there {
        println!("skipped: there is no benchstat; `make test` builds it where there is Go and its proxy");
    }
    there.then_some((program, data))
}

/// What benchstat says of one sample: the cells of its CSV, and the warnings that point at them.
#[derive(Debug, Default)]
struct Cell {
    centre: f64,
    plus_minus: String,
    /// `p=0.008 n=10`, if it was compared.
    compared: Option<String>,
    warnings: Vec<String>,
}

/// A place in both: settings, unit, row, column.
type Key = (BTreeMap<String, String>, String, String, String);

/// Cells, and warnings about what has no counterpart: summaries and broken lines.
fn benchstat(program: &Path, folder: &Path, words: &[&str]) -> (BTreeMap<Key, Cell>, Vec<String>) {
    let output = Command::new(program).args(["-format", "csv"]).args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let mut pointed: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    let mut others: Vec<String> = vec![];
    for line in err.lines() {
        let (place, text) = line.split_once(": ").unwrap();
        let letter = place.chars().next().filter(char::is_ascii_uppercase);
        match letter.zip(place.get(1..).and_then(|row| row.parse().ok())) {
            Some((letter, row)) => {
                pointed.entry((row, letter as usize - 'A' as usize)).or_default().push(text.to_owned());
            }
            None => others.push(line.to_owned()),
        }
    }
    let (mut cells, mut settings, mut head) = (BTreeMap::new(), BTreeMap::new(), vec![]);
    for (number, line) in (1..).zip(out.lines()) {
        let fields: Vec<&str> = line.split(',').collect();
        if let Some((key, value)) = line.split_once(": ").filter(|_| fields[0].contains(": ")) {
            settings.insert(key.to_owned(), value.to_owned());
            settings.retain(|_, value| !value.is_empty());
            continue;
        }
        match fields[..] {
            ["", ..] if fields.get(2) == Some(&"CI") => head = [&head[..1], &fields[1..2], &head[1..]].concat(),
            ["", _, ..] => head = fields.clone(),
            ["geomean", ..] | [_] => {
                others.extend((0..26).flat_map(|column| pointed.remove(&(number, column)).unwrap_or_default()));
            }
            [row, ref values @ ..] => {
                // The head is now: nothing, the unit, and the names, the first with two fields, each other with four.
                let unit = head[1];
                for at in [0].into_iter().chain((2..values.len()).step_by(4)) {
                    if values[at].is_empty() {
                        continue;
                    }
                    let columns = at + 1..=at + if at == 0 { 2 } else { 4 };
                    let warned = columns.flat_map(|column| pointed.remove(&(number, column)).unwrap_or_default());
                    let warnings = warned.collect();
                    let key = (settings.clone(), unit.to_owned(), row.to_owned(), head[at + 2].to_owned());
                    let cell = Cell {
                        centre: values[at].parse().unwrap(),
                        plus_minus: values[at + 1].to_owned(),
                        compared: values.get(at + 3).filter(|text| at > 0 && !text.is_empty()).map(|t| (*t).to_owned()),
                        warnings,
                    };
                    assert!(cells.insert(key, cell).is_none(), "{out}");
                }
            }
            [] => {}
        }
    }
    assert!(pointed.is_empty(), "{pointed:?} point nowhere in\n{out}");
    (cells, others)
}

fn bakeoff(folder: &Path, words: &[&str]) -> (Findings, String) {
    let words: Vec<String> =
        words.iter().map(|word| word.replacen('-', "--", usize::from(word.starts_with('-')))).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
    let output = command.args(["stat", "--json", "-c", "95"]).args(words).current_dir(folder).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{err}");
    (serde_json::from_slice(&output.stdout).unwrap(), err)
}

/// The interval's farther end, in percent of the centre, as benchstat writes it.
fn plus_minus(row: &Sample, exact: bool) -> String {
    let summary = &row.summary;
    let ends = if exact { Some([summary.min, summary.max]) } else { summary.median_interval };
    match ends {
        None => "∞".to_owned(),
        Some([low, high]) if low.signum() != high.signum() && low != high => "?".to_owned(),
        Some(_) if summary.median == 0.0 => "0%".to_owned(),
        Some([low, high]) => {
            format!("{:.0}%", 100.0 * f64::max(high / summary.median - 1.0, 1.0 - low / summary.median))
        }
    }
}

/// The same doubt, in benchstat's words and ours: kinds, of which one must be there, and words in it.
fn expected(warning: &str) -> (&'static [&'static str], Vec<String>) {
    let after = |start: &str| warning.split_once(start).unwrap().1.to_owned();
    match warning {
        w if w.contains("for confidence interval") => {
            (&["no-median-interval"], after(">= ").split(' ').take(1).map(|n| format!("needs {n} ")).collect())
        }
        w if w.contains("to detect a difference") => (&["too-few-values"], vec![]),
        w if w.starts_with("exact distribution") => (&["not-exact"], vec![after("values ")]),
        w if w.contains(" vary in ") => (&["values-vary"], after("vary in ").split(", ").map(str::to_owned).collect()),
        "all samples are equal" => (&["never-vary", "too-few-values"], vec![]),
        other => panic!("{other:?} is not known"),
    }
}

/// Holds one sample of ours against one cell of theirs.
fn hold(key: &Key, table: &Table, row: &Sample, cell: &Cell) {
    let close = (row.summary.median - cell.centre).abs() <= 1e-9 * cell.centre.abs();
    assert!(close, "{key:?}: {} and {}", row.summary.median, cell.centre);
    assert_eq!(plus_minus(row, table.exact), cell.plus_minus, "{key:?}");
    let comparison: Option<&Comparison> = row.comparison.as_ref();
    assert_eq!(comparison.is_some(), cell.compared.is_some(), "{key:?}: {comparison:?}, {cell:?}");
    let doubts: Vec<&Doubt> = row.caveats.iter().chain(comparison.iter().flat_map(|c| &c.caveats)).collect();
    if let Some((theirs, ours)) = cell.compared.as_ref().zip(comparison) {
        let (n, base) = (row.summary.n, table.samples[0].summary.n);
        let sizes = if n == base { format!("n={n}") } else { format!("n={base}+{n}") };
        match ours.p {
            // benchstat takes exact values for exact even where they vary.
            _ if table.exact => assert_eq!(*theirs, sizes, "{key:?}"),
            Some(p) => assert_eq!(*theirs, format!("p={p:.3} {sizes}"), "{key:?}"),
            None => assert!(n.min(base) < 3 && theirs.ends_with(&sizes), "{key:?}: {theirs:?}, {ours:?}"),
        }
        let varies = [row, &table.samples[0]].iter().any(|row| row.summary.min != row.summary.max);
        assert_eq!(ours.test == "deterministic", table.exact && !varies, "{key:?}");
    }
    let mut wanted: Vec<&str> = vec![];
    for (kinds, parts) in cell.warnings.iter().map(|warning| expected(warning)) {
        let ours = doubts.iter().find(|doubt| kinds.contains(&doubt.kind.as_str()));
        let told = ours.is_some_and(|doubt| parts.iter().all(|part| doubt.text.contains(part)));
        assert!(told, "{key:?}: {kinds:?} {parts:?} in {doubts:?}");
        wanted.extend(kinds);
    }
    for kind in ["no-median-interval", "not-exact", "values-vary"] {
        let ours = row.caveats.iter().any(|doubt| doubt.kind.as_str() == kind);
        assert_eq!(ours, wanted.contains(&kind), "{key:?}: {kind} in {doubts:?}");
    }
}

/// Asks both, and returns how many samples were held against each other.
fn compare(program: &Path, folder: &Path, words: &[&str]) -> usize {
    println!("{}: {words:?}", folder.display());
    let (mut cells, others) = benchstat(program, folder, words);
    let (findings, err) = bakeoff(folder, words);
    let held = cells.len();
    for table in &findings.tables {
        for row in &table.samples {
            let key = (table.settings.clone(), table.unit.clone(), table.row.clone(), row.sample.clone());
            let cell = cells.remove(&key).unwrap_or_else(|| panic!("benchstat has no {key:?} in {:?}", cells.keys()));
            hold(&key, table, row, &cell);
        }
    }
    assert!(cells.is_empty(), "benchstat also has {cells:?}");
    let sets_differ = others.iter().any(|warning| warning.starts_with("benchmark set differs"));
    assert_eq!(sets_differ, findings.caveats.iter().any(|caveat| caveat.kind == "sets-differ"), "{others:?}");
    for warning in others {
        // There is no geometric mean over rows here.
        let of_means = warning.contains("to compute geomean") || warning.starts_with("benchmark set differs");
        let is_told = || {
            let (file, line) = warning.split(": ").next()?.split_once(':')?;
            Some(err.contains(&format!("note: {file}:")) && err.contains(line))
        };
        assert!(of_means || is_told() == Some(true), "{warning:?} in {err}");
    }
    held
}

#[test]
fn its_own_data() {
    let Some((program, data)) = oracle() else { return };
    let asked: [&[&str]; 11] = [
        &["old.txt", "new.txt"],
        &["new.txt", "-row", ".name"],
        &["new.txt", "-col", "/format"],
        &["crc-old.txt", "crc-new.txt"],
        &["crc-old.txt", "crc-new.txt", "-ignore", "note"],
        &["crc-new.txt", "-filter", "/align:0", "-row", "/size", "-col", "/poly"],
        &["units.txt", "-col", "note"],
        &["zero.txt", "-col", "note"],
        &["smallSample.txt", "-col", "note"],
        &["issue19565.txt", "-col", "note"],
        &["issue19634.txt", "-col", "note"],
    ];
    let held: usize = asked
        .iter()
        .map(|words| {
            // benchstat wants options first.
            let (files, options): (Vec<&str>, Vec<&str>) = {
                let at = words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len());
                (words[..at].to_vec(), words[at..].to_vec())
            };
            compare(&program, &data, &[options, files].concat())
        })
        .sum();
    assert!(held > 300, "only {held} samples were held against each other");
}

/// Files of our own: equal names in two packages, names that differ in processors only, another processor, lower-case
/// names, directions, broken lines, and sizes for which benchstat's interval is as wide on both sides. Samples with ties
/// are of one size, because for others benchstat takes the distribution of U for symmetric, which it then is not.
#[test]
fn generated_files() {
    let Some((program, _)) = oracle() else { return };
    println!("seed {SEED}");
    let mut random = bakeoff_model::shuffle::Stream::of(SEED, &["benchstat"]);
    let folder = tempfile::tempdir().unwrap();
    let sizes = [1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 15, 17, 18, 20];
    let mut file = |cpu: &str, shift: f64| {
        let mut text = format!("goos: linux\ncpu: {cpu}\nUnit things/op better=higher\nhttp://example.org\n");
        for package in ["example.org/a", "example.org/b"] {
            let _ = writeln!(text, "pkg: {package}");
            for name in ["Sort-8", "Sort-16", "lower", "Ties/n=1", "Ties/n=2"] {
                let size = match name {
                    "lower" => 9,
                    name if name.starts_with("Ties") => 5,
                    _ => sizes[random.below(sizes.len() as u64) as usize],
                };
                for _ in 0..size {
                    let x = 100.0 * (shift + 0.1 * random.unit());
                    let x = if name.starts_with("Ties") { x.round() } else { x };
                    let _ = writeln!(text, "Benchmark{name} 10 {x} ns/op {} things/op", 1000.0 - x);
                }
            }
            text += "note:\nBenchmarkSort-8 \t says hello\nBenchmarkAlone\n";
        }
        text
    };
    let (old, new, other) = (file("one", 1.0), file("one", 1.05), file("another", 1.0));
    for (name, text) in [("old", &old), ("new", &new), ("other", &other)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let asked: [&[&str]; 6] = [
        &["old", "new"],
        &["old", "new", "other"],
        &["-ignore", "cpu", "old", "other"],
        &["-col", "pkg", "old"],
        &["-table", "goos", "-row", ".name", "-filter", ".name:(Ties OR lower)", "old", "other"],
        &["-col", "/gomaxprocs", "-filter", ".name:Sort", "new"],
    ];
    let held: usize = asked.iter().map(|words| compare(&program, folder.path(), words)).sum();
    assert!(held > 100, "only {held} samples were held against each other");
}
