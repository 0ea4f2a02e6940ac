//! Benchmarks of a harness in Bakeoff's blocks: what a trial that lacks some of them is, hostile names, and real suites
//! (`go test -bench`, pytest-benchmark) with a planted slowdown, whose verdicts are held against benchstat's on the
//! same data.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown};
use bakeoff_model::record::Record;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `compare` in a folder with these files, and the journal.
fn compare(files: &[(&str, &str)], words: &[&str]) -> (Shown, Record, Sandbox) {
    let sandbox = Sandbox::new("");
    for (name, text) in files {
        fs::write(sandbox.path().join(name), text).unwrap();
    }
    let (shown, record) = compare_in(&sandbox, words);
    (shown, record, sandbox)
}

fn compare_in(sandbox: &Sandbox, words: &[&str]) -> (Shown, Record) {
    let journal = sandbox.path().join("compare.jsonl");
    let kept = ["compare", "--quiet", "--seed", "1", "--journal", journal.to_str().unwrap()];
    let shown = sandbox.execute(&[&kept, words].concat());
    let record = bakeoff_journal::read(&journal).map(|contents| contents.record);
    (shown, record.unwrap_or_else(|error| panic!("{error}")))
}

/// A harness whose times vary: `sh go.sh KEY NAME=NANOSECONDS …`, in which nothing is but sh.
const GO_SH: &str = r#"
n=$(cat "count-$1" 2> /dev/null || echo 0); echo $((n + 1)) > "count-$1"; shift
echo "goos: linux"; echo "pkg: a"; echo "Benchmarking"
for one; do
    t=${one##*=}; i=$((i + 1))
    echo "Benchmark${one%=*}-8 100 $((t + (n * 7919 + i * 104729) % 97)) ns/op $((4096 + n % 3)) B/op"
done
echo PASS
"#;

fn prints(text: &str) -> String {
    format!("printf '{text}'")
}

#[test]
fn each_benchmark_is_judged_and_the_first_one_has_no_other_metric_than_its_own() {
    let [old, new] = ["sh go.sh a Sort/n=10=100000 Find=20000 Find=20200", "sh go.sh b Sort/n=10=130000 Find=20100"];
    let words = ["--harness", "go", "-n", "old", "-n", "new", old, new];
    let (shown, record, sandbox) = compare(&[("go.sh", GO_SH)], &words);
    shown.expect(0, &["Sort/n=10", "Find", "30.", "slower"]);
    let trial = record.trials.iter().find(|trial| trial.variant == "old").unwrap();
    // Two lines of one benchmark are one value, their median; and the number of processors is no part of a name.
    let find = trial.parts["Find"].values["sec/op"] * 1e9;
    assert!((20_100.0..20_200.0).contains(&find), "{find}");
    assert!(trial.parts["Sort/n=10"].values["B/op"] >= 4096.0);
    let journal = sandbox.path().join("compare.jsonl");
    let journal = journal.to_str().unwrap();
    // Another question to the same trials.
    sandbox.execute(&["report", journal, "--metric", "B/op"]).expect(0, &["B/op", "Sort/n=10"]);
    let find = sandbox.execute(&["report", journal, "--workload", "Find"]);
    find.expect(0, &["Find (idle): sec/op"]);
    assert!(!find.out.contains("Sort/n=10 (idle)"), "{}", find.out);
    // Of the process, whose other values are the benchmarks'.
    let parts = ["command (idle): wall, elapsed time from launch to exit", "Find (idle): also measured"];
    sandbox.execute(&["report", journal, "--metric", "wall"]).expect(0, &parts);
    sandbox.execute(&["report", journal, "--trial", "command/idle/1/old"]).expect(0, &["Sort/n=10", "sec/op"]);
}

#[test]
fn whatever_reads_a_journal_finds_the_benchmarks() {
    let [old, new] = ["sh go.sh a Sort/n=10=100000 Find=20000", "sh go.sh b Sort/n=10=100000 Find=24000"];
    let words = ["--harness", "go", "--blocks", "8", "-n", "old", "-n", "new", old, new];
    let (shown, _, sandbox) =
        compare(&[("go.sh", GO_SH)], &[&words[..], &["--gate", "5%", "--export-go", "go.txt"]].concat());
    shown.expect(1, &["The gate fails: in sec/op, new on Find is at least 19."]);
    let go = fs::read_to_string(sandbox.path().join("go.txt")).unwrap();
    assert!(go.contains("BenchmarkFind/variant=old") && go.contains(" ns/op") && !go.contains("sec_op"), "{go}");
    let journal = sandbox.path().join("compare.jsonl");
    let journal = journal.to_str().unwrap();
    sandbox.execute(&["gate", journal, "--max-slowdown", "5%", "--metric", "B/op"]).expect(0, &["2 of 2 comparisons"]);
    let go = sandbox.path().join("go.txt");
    let stat = ["stat", go.to_str().unwrap(), "--col", "/variant", "--filter", ".unit:ns/op"];
    sandbox.execute(&stat).expect(0, &["Find/condition=idle", "new is", "Sort_n=10/condition=idle"]);
    sandbox.execute(&["power", journal]).expect(0, &["sec/op, Find (idle)", "take about", "among 2 comparisons"]);
    sandbox
        .execute(&["report", journal, "--html", "page.html", "--export-trials", "trials.csv", "--redact"])
        .expect(0, &[]);
    let page = fs::read_to_string(sandbox.path().join("page.html")).unwrap();
    assert!(page.contains("from 24 trials") && page.contains("24 of 24 trials valid"));
    let values = page.split("id=\"data\"").nth(1).unwrap_or_default();
    assert!(values.contains("sec/op") && values.contains("Find"), "{values:.600}");
    // 24 processes, and 2 benchmarks of each.
    assert_eq!(fs::read_to_string(sandbox.path().join("trials.csv")).unwrap().lines().count(), 73);
}

#[test]
fn another_metric_decides_and_what_outlives_a_trial_is_counted_once() {
    let [old, new] = ["sh go.sh a Sort=100000 Find=20000; sleep 9 &", "sh go.sh b Sort=130000 Find=24000"];
    let words = ["--harness", "go", "--blocks", "6", "-n", "old", "-n", "new", "--metric", "B/op", old, new];
    let (shown, record, sandbox) = compare(&[("go.sh", GO_SH)], &words);
    shown.expect(0, &["B/op", "equivalent"]);
    assert_eq!((record.study.decide.metrics.as_slice(), record.trials.len()), (&["B/op".to_owned()][..], 18));
    let journal = sandbox.path().join("compare.jsonl");
    let doubts = ["report", journal.to_str().unwrap(), "--section", "doubts"];
    sandbox.execute(&doubts).expect(0, &["in 12 trials (old, twin), processes outlived"]);
    sandbox.execute(&[&doubts[..], &["--metric", "sec/op"]].concat()).expect(0, &["in 12 trials (old, twin)"]);
}

#[test]
fn a_gate_on_what_never_varied_shows_no_interval_of_width_0() {
    let line = |allocs: u32| prints(&format!("BenchmarkS-8 100 1000 ns/op 16 B/op {allocs} allocs/op\\n"));
    let words = ["--harness", "go", "--blocks", "8", "-n", "old", "-n", "new", "--gate", "5%", "--metric"];
    let of = |metric: &str| compare(&[], &[&words[..], &[metric, &line(1), &line(2)]].concat()).0;
    let did_not = "(no variation in 8 blocks; limit +5 %)";
    of("B/op").expect(0, &["The gate passes", did_not]);
    of("allocs/op").expect(1, &["100.0 % more", did_not]);
}

#[test]
fn intervals_of_all_benchmarks_hold_together() {
    // Forty benchmarks of which none differs but, by a little, the first.
    let script = "n=$(cat \"count-$1\" 2> /dev/null || echo 0); echo $((n + 1)) > \"count-$1\"\n\
                  i=0; while [ $i -lt 40 ]; do i=$((i + 1))\n\
                  t=$((1000 + (n * 7919 + i * 104729 + $2 * 31) % 97))\n\
                  [ $i = 1 ] && [ $2 = 1 ] && t=$((t + (n % 12 == 5 ? -40 : 12)))\n\
                  echo \"BenchmarkB$i 1 $t ns/op\"; done\n";
    let words = ["--harness", "go", "--blocks", "12", "-n", "a", "-n", "b", "sh b.sh a 0", "sh b.sh b 1"];
    let (shown, record, sandbox) = compare(&[("b.sh", script)], &words);
    shown.expect(0, &["B40", "the 40 intervals of a suite hold together"]);
    assert_eq!(record.trials.iter().map(|trial| trial.parts.len()).collect::<Vec<_>>(), [40; 36]);
    let journal = sandbox.path().join("compare.jsonl");
    let json = sandbox.execute(&["report", journal.to_str().unwrap(), "--json"]);
    let findings: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((findings["method"]["family"].as_u64(), findings["tables"].as_array().unwrap().len()), (Some(40), 40));
    for table in findings["tables"].as_array().unwrap() {
        let tested = &table["rows"][1]["comparison"];
        let [alone, corrected] = ["p", "p_corrected"].map(|p| tested[p].as_f64().unwrap());
        assert!(corrected >= alone, "{table}");
    }
}

#[test]
fn what_a_trial_lacks_has_failed_there_and_what_only_others_have_is_named() {
    let [both, less] = ["sh go.sh a Sort=100000 Find=20000", "sh go.sh b Sort=100000 New=30000"];
    let words = ["--harness", "go", "-n", "old", "-n", "new", both, less];
    let (shown, _, _) = compare(&[("go.sh", GO_SH)], &words);
    let parts = [
        "new on Find (idle): 12 of 12 trials failed",
        "the trial did not report this benchmark",
        "1 benchmark exists in new but not in old, so it is not compared: New",
    ];
    shown.expect(4, &parts);
}

#[test]
fn a_trial_without_a_benchmark_says_what_the_command_lacks() {
    let words = ["--harness", "go", "--blocks", "2", &prints("PASS\\n"), &prints("PASS\\n")];
    compare(&[], &words).0.expect(4, &["no benchmark in standard output; the command must print benchmark lines"]);
}

#[test]
fn a_benchmark_that_fails_is_named() {
    let fails =
        "sh go.sh b Sort=100000; printf '%s\\n' '--- FAIL: BenchmarkFind-8' '    x_test.go:9: no file' FAIL; exit 1";
    let words = ["--harness", "go", "--blocks", "6", "-n", "old", "-n", "new", "sh go.sh a Sort=100000", fails];
    let (shown, _, _) = compare(&[("go.sh", GO_SH)], &words);
    shown.expect(4, &["exited with code 1", "--- FAIL: BenchmarkFind-8", "x_test.go:9: no file"]);
}

#[test]
fn hostile_names_are_shown_and_not_obeyed() {
    let name =
        "BenchmarkA\\033[2J|\\302\\233\\342\\200\\256x 1 5 ns/op\\nBenchmark 1 5 ns/op\\nBenchmark* 1 5 ns/op\\n";
    let (shown, record, _) = compare(&[], &["--harness", "go", "--blocks", "6", &prints(name), &prints(name)]);
    shown.expect(0, &["A\\u{1b}[2J|\\u{9b}\\u{202e}x", "(no name)"]);
    assert!(!shown.out.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{:?}", shown.out);
    assert_eq!(record.trials[0].parts.len(), 3);
    let many = "i=0; while [ $i -lt 1001 ]; do i=$((i+1)); echo \"BenchmarkB$i 1 5 ns/op\"; done";
    let (shown, _, _) = compare(&[], &["--harness", "go", "--blocks", "2", many, many]);
    shown.expect(4, &["1001 benchmarks, but at most 1000 are allowed"]);
    let long = "printf 'Benchmark%0600d 1 5 ns/op\\n' 1";
    compare(&[], &["--harness", "go", "--blocks", "2", long, long]).0.expect(4, &["too long (600 bytes)"]);
}

#[test]
fn what_a_harness_writes_is_read_and_never_that_of_an_earlier_trial() {
    let script = "n=$(cat count 2> /dev/null || echo 0); echo $((n + 1)) > count\n\
                  [ -e \"$BAKEOFF_HARNESS\" ] && exit 3\n\
                  [ $n = 4 ] || echo 'BenchmarkX 1 5 ns/op' > \"$BAKEOFF_HARNESS\"\n";
    let (shown, record, _) = compare(&[("h.sh", script)], &["--harness", "go", "--blocks", "6", "sh h.sh", "sh  h.sh"]);
    shown.expect(4, &["the harness wrote nothing to standard output or to $BAKEOFF_HARNESS", "1 of 6 trials failed"]);
    assert_eq!(record.trials.iter().filter(|trial| trial.parts.is_empty()).count(), 1);
}

#[test]
fn what_does_not_fit_is_refused_at_once() {
    let sandbox = Sandbox::new("");
    sandbox.execute(&["compare", "--harness", "nose", "a", "b"]).expect(2, &["invalid value 'nose'", "pytest"]);
    let words = ["compare", "--metric", "sec/op", "true", "true "];
    sandbox.execute(&words).expect(
        2,
        &[
            "`sec/op` is a metric of benchmarks, but no harness was named",
            "hint: name the harness that runs the benchmarks",
        ],
    );
}

#[test]
fn a_study_may_have_plain_workloads_beside_a_suite() {
    let sandbox = Sandbox::new(
        "format = 1\nname = \"mixed\"\n[run_factors.f]\na = { T = \"100\" }\nb = { T = \"150\" }\n\
         [workloads.suite]\nharness = \"go\"\nrun = 'for b in One Two; do echo \"Benchmark$b 1 $T ns/op\"; done'\n\
         [workloads.plain]\nrun = \"true\"\n[plan]\nblocks = 6\nseed = 3\n\
         [decide]\nbaseline = { f = \"a\" }\nmetrics = [\"sec/op\", \"wall\"]\n",
    );
    let shown = sandbox.execute(&["run", "STUDY", "--quiet"]);
    shown.expect(0, &["suite: One", "suite: Two", "plain", "1.5000"]);
    let record = sandbox.record();
    assert_eq!(record.in_parts().study.workloads, ["suite", "suite: One", "suite: Two", "plain"]);
    // Another harness is another study.
    let text = fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    sandbox.write("study.toml", &text.replace("harness = \"go\"\n", ""));
    sandbox
        .execute(&["run", "STUDY", "--quiet"])
        .expect(2, &["`sec/op` is a benchmark metric, but no workload has a harness"]);
}

/// The folder of what `tools/oracles` makes.
fn oracles() -> PathBuf {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/oracles");
    std::env::var_os("BAKEOFF_ORACLES").map_or(usual, PathBuf::from)
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// What benchstat says of a benchmark.
#[derive(Debug, Clone)]
struct Theirs {
    name: String,
    ratio: f64,
    p: f64,
}

/// The trials' values in Go's format, judged by benchstat.
fn benchstat(program: &Path, record: &Record, folder: &Path) -> Vec<Theirs> {
    let names: Vec<&String> = record.benchmarks("command");
    for (variant, file) in record.study.variants.iter().zip(["old.txt", "new.txt"]) {
        let mut text = String::new();
        for trial in record.trials.iter().filter(|trial| trial.variant == variant.name) {
            for (at, name) in names.iter().enumerate() {
                text += &format!("BenchmarkN{at} 1 {} ns/op\n", trial.parts[*name].values["sec/op"] * 1e9);
            }
        }
        fs::write(folder.join(file), text).unwrap();
    }
    let output =
        Command::new(program).args(["-format", "csv", "old.txt", "new.txt"]).current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let at = fields.first()?.strip_prefix('N')?.parse::<usize>().ok()?;
        let [old, new] = [fields.get(1)?, fields.get(3)?].map(|field| field.parse::<f64>().unwrap());
        let p = fields.get(6)?.split_whitespace().next()?.strip_prefix("p=")?.parse().ok()?;
        Some(Theirs { name: names[at].clone(), ratio: new / old, p })
    };
    let rows: Vec<Theirs> = text.lines().filter_map(row).collect();
    assert_eq!(rows.len(), names.len(), "{text}");
    rows
}

/// Both on the same data: benchstat's ratio of medians lies in our interval, and neither says the opposite of the
/// other. benchstat does not pair, so its ratio may lie a little beside an interval of pairs; how far is printed.
fn agree_with_benchstat(sandbox: &Sandbox, record: &Record, planted: &str) {
    const OUTSIDE: f64 = 0.02;
    let journal = sandbox.path().join("compare.jsonl");
    let json = sandbox.execute(&["report", journal.to_str().unwrap(), "--json"]);
    let findings: Value = serde_json::from_str(&json.out).unwrap();
    let ours = |name: &str| {
        let tables = findings["tables"].as_array().unwrap();
        tables.iter().find(|table| table["workload"] == name).unwrap()["rows"][1]["comparison"].clone()
    };
    let verdict = |name: &str| match &ours(name)["verdict"] {
        Value::String(word) => word.clone(),
        other => other.as_object().unwrap().keys().next().unwrap().clone(),
    };
    assert_eq!(verdict(planted), "slower", "{}", ours(planted));
    let program = oracles().join("bin/benchstat");
    if !program.is_file() {
        println!("skipped: there is no benchstat; `make test` builds it where there is Go and its proxy");
        return;
    }
    for Theirs { name, ratio, p } in benchstat(&program.canonicalize().unwrap(), record, sandbox.path()) {
        let interval = ours(&name)["interval"].clone();
        let [low, high] = [0, 1].map(|end| interval[end].as_f64().unwrap());
        println!("{name}: {} {low:.4} … {high:.4}; benchstat {ratio:.4}, p = {p}", verdict(&name));
        if !(low..=high).contains(&ratio) {
            println!("exception: benchstat's ratio of {name} lies outside the interval");
        }
        assert!(
            ratio > low * (1.0 - OUTSIDE) && ratio < high * (1.0 + OUTSIDE),
            "{name}: {ratio} is outside {low} … {high}"
        );
        let is_opposite = match verdict(&name).as_str() {
            "slower" => ratio < 1.0,
            "faster" => ratio > 1.0,
            _ => false,
        };
        assert!(!(is_opposite && p < 0.05), "{name}: {} and {ratio}, p = {p}", verdict(&name));
    }
}

const GO_TEST: &str = r#"package tiny

import "testing"

var sink int

func work(n int) {
	for i := 0; i < n; i++ {
		sink += i * i
	}
}

func BenchmarkSame(b *testing.B) {
	for i := 0; i < b.N; i++ {
		work(4000)
	}
}

func BenchmarkChanged(b *testing.B) {
	for _, n := range []string{"small", "large"} {
		b.Run("size="+n, func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				work(SIZE)
			}
		})
	}
}

func BenchmarkAllocates(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		s := make([]int, 1000+i%2)
		work(500)
		sink += len(s)
	}
}
"#;

#[test]
fn go_tests_race_and_agree_with_benchstat() {
    if !succeeds(Command::new("go").arg("version")) {
        println!("skipped: there is no go; on Debian: apt-get install golang-go");
        return;
    }
    let sandbox = Sandbox::new("");
    for (name, size) in [("old", "3000"), ("new", "12000")] {
        let folder = sandbox.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("go.mod"), "module example.org/tiny\n\ngo 1.19\n").unwrap();
        fs::write(folder.join("tiny_test.go"), GO_TEST.replace("SIZE", size)).unwrap();
        let mut go = Command::new("go");
        go.args(["test", "-c", "-o", "tiny.test"])
            .current_dir(&folder)
            .env("GOFLAGS", "-mod=mod")
            .env("GOPROXY", "off");
        let output = go.env("GOTOOLCHAIN", "local").output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let run = |name: &str| format!("./{name}/tiny.test -test.run '^$' -test.bench . -test.benchtime 10ms");
    let (old, new) = (run("old"), run("new"));
    let (shown, record) =
        compare_in(&sandbox, &["--harness", "go", "--blocks", "14", "-n", "old", "-n", "new", &old, &new]);
    println!("{}", shown.out);
    shown.expect(0, &["Same", "Changed/size=large", "Allocates"]);
    assert_eq!(record.benchmarks("command").len(), 4);
    agree_with_benchstat(&sandbox, &record, "Changed/size=large");
}

/// `compare --git` with a suite, in a repository with these files, which `SIZE` changes from one commit to the next.
fn over_two_commits(files: &[(&str, &str)], sizes: [&str; 2], words: &[&str]) -> (Shown, Record, Sandbox) {
    let sandbox = Sandbox::new("");
    let repository = sandbox.path().join("repository");
    fs::create_dir(&repository).unwrap();
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]);
        assert!(succeeds(git.args(words).current_dir(&repository)), "{words:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    for size in sizes {
        for (name, text) in files {
            fs::write(repository.join(name), text.replace("SIZE", size)).unwrap();
        }
        git(&["add", "."]);
        git(&["commit", "-qm", "more"]);
    }
    let journal = sandbox.path().join("compare.jsonl");
    let kept = ["compare", "--quiet", "--journal", journal.to_str().unwrap(), "--git", "HEAD~1", "--git", "HEAD"];
    let mut command = sandbox.command(&[&kept, words].concat());
    let shown = Shown::of(&command.current_dir(&repository).output().unwrap());
    let record = bakeoff_journal::read(&journal).map(|contents| contents.record);
    let record = record.unwrap_or_else(|error| panic!("{error}: {shown:?}"));
    (shown, record, sandbox)
}

#[test]
fn a_go_suite_races_over_two_commits() {
    if !succeeds(Command::new("go").arg("version")) {
        println!("skipped: there is no go; on Debian: apt-get install golang-go");
        return;
    }
    let files = [("go.mod", "module example.org/tiny\n\ngo 1.19\n"), ("tiny_test.go", GO_TEST)];
    let build = "GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local go test -c -trimpath -o tiny.test";
    let run = "./tiny.test -test.run '^$' -test.bench . -test.benchtime 10ms";
    let words = ["--harness", "go", "--build", build, "--blocks", "8", run];
    let (shown, record, sandbox) = over_two_commits(&files, ["3000", "12000"], &words);
    println!("{}", shown.out);
    shown.expect(0, &["Same", "Changed/size=large", "Allocates", "slower"]);
    assert_eq!(record.benchmarks("command").len(), 4);
    assert!(record.trials.iter().all(|trial| trial.parts.len() == 4));
    agree_with_benchstat(&sandbox, &record, "Changed/size=large");
}

#[test]
fn a_pytest_suite_races_over_two_commits() {
    let python = oracles().join("bin/python");
    if !succeeds(Command::new(&python).args(["-c", "import pytest_benchmark"])) {
        println!("skipped: pytest-benchmark is not installed; `make test` installs it");
        return;
    }
    // A link to the interpreter must stay one: its folder says which packages there are.
    let python = std::path::absolute(python).unwrap();
    let run = format!(
        "PYTHONDONTWRITEBYTECODE=1 exec '{}' -m pytest -q -p no:cacheprovider --benchmark-max-time=0.05 \
         --benchmark-min-time=0.001 --benchmark-json=\"$BAKEOFF_HARNESS\"",
        python.display()
    );
    let files = [("pytest.ini", "[pytest]\n"), ("test_tiny.py", PYTHON_TEST)];
    let (shown, record, sandbox) =
        over_two_commits(&files, ["2000", "6000"], &["--harness", "pytest", "--blocks", "8", &run]);
    println!("{}", shown.out);
    shown.expect(0, &["test_tiny.py::test_same", "test_tiny.py::test_changed", "slower"]);
    assert_eq!(record.benchmarks("command").len(), 2);
    agree_with_benchstat(&sandbox, &record, "test_tiny.py::test_changed");
}

const PYTHON_TEST: &str = "\
def work(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

def test_same(benchmark):
    benchmark(work, 3000)

def test_changed(benchmark):
    benchmark(work, SIZE)
";
