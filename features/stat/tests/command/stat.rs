//! `bakeoff stat` as a whole: what it says of samples in every format, and of input that is not as it should be. That
//! nothing is dropped without a word is held here; the statistics have tests of their own.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::Shown;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            fs::write(folder.0.path().join(name), text).unwrap();
        }
        folder
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
        command.arg("stat").args(words).current_dir(self.0.path());
        command.env_remove("COLUMNS").env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }

    fn stat(&self, words: &[&str]) -> Shown {
        Shown::of(&self.command(words).output().unwrap())
    }
}

/// Numbers around a centre in an order without drift: multiples of the golden section, which are spread evenly.
fn numbers(centre: f64, n: u32) -> String {
    (1..=n).fold(String::new(), |mut text, i| {
        // A quadratic sequence of fractions; that of a linear one depends on its predecessor.
        let x = (f64::from(i) * f64::from(i) * 0.618_033_988_749_895 + f64::from(i) * 0.414_213_562).fract();
        let _ = writeln!(text, "{:.4}", centre * (1.0 + 0.02 * (x - 0.5)));
        text
    })
}

#[test]
fn verdicts_of_columns() {
    let (a, b, c) = (numbers(100.0, 30), numbers(104.0, 31), numbers(100.05, 30));
    let folder = Folder::new(&[("a", &a), ("b", &b), ("c", &c)]);
    folder.stat(&["a", "b"]).expect(0, &["b has 4", "more (", ") than a", "95 % interval", "order is unknown"]);
    folder.stat(&["b", "a"]).expect(0, &["less (", ") than b"]);
    folder.stat(&["a", "b", "--baseline", "b"]).expect(0, &["a has", "less (", ") than b"]);
    folder.stat(&["a", "c"]).expect(0, &["a and c are equivalent: within ±1 %"]);
    folder.stat(&["a", "b", "--margin", "10%"]).expect(0, &["a and b differ, but within ±10 %"]);
    folder.stat(&["a", "b", "c"]).expect(0, &["Bonferroni correction for 2 comparisons"]);
    folder.stat(&["a"]).expect(0, &["Nothing to compare", "description only"]);
    folder.stat(&["a", "b", "--name", "old", "--name", "new"]).expect(0, &["new has", "than old"]);
    folder.stat(&["a", "a"]).expect(0, &["a (2)", "equivalent"]);
    folder.stat(&["a", "b", "-c", "95"]).expect(0, &["95 % interval"]);
    folder.stat(&["a", "c", "--margin", "0.01%", "--require-verdict"]).expect(3, &["cannot be distinguished"]);
}

#[test]
fn no_verdict_where_time_is_visible() {
    let rising =
        (0..30).fold(String::new(), |text, i| format!("{text}{}\n", 100.0 + f64::from(i) + f64::from(i * 7 % 5)));
    let steady = numbers(200.0, 30);
    let folder = Folder::new(&[("rising", &rising), ("steady", &steady)]);
    let refused = folder.stat(&["steady", "rising", "--require-verdict"]);
    refused.expect(
        0,
        &[
            "rising has 41.9 % less (39.7 … 44.1 %) than steady",
            "rising drifts from its first value to its last",
            "up to 32.7 %; this difference is larger",
        ],
    );
    // Blocks bear it.
    folder
        .stat(&["steady", "rising", "--paired"])
        .expect(0, &["less (", ") than steady", "sign-flip", "each line is a block"]);
}

#[test]
fn findings_as_json_can_be_read_again() {
    let (a, b) = (numbers(100.0, 30), numbers(104.0, 31));
    let folder = Folder::new(&[("a", &a), ("b", &b)]);
    let shown = folder.stat(&["a", "b", "--json"]);
    let findings: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(findings["format"], 1);
    assert_eq!(findings["tables"][0]["samples"][1]["comparison"]["verdict"], "slower");
    assert_eq!(findings["caveats"][0]["kind"], "order-unknown");
    assert_eq!(serde_json::to_string_pretty(&findings).unwrap() + "\n", shown.out);
}

#[test]
fn bad_input_is_named_with_its_place() {
    let a = numbers(100.0, 10);
    let folder = Folder::new(&[
        ("a", &a),
        ("empty", ""),
        ("comments", "# nothing\n\n# at all\n"),
        ("text", "1\n2\nthree\n4\n"),
        ("nan", "1\nnan\n3\n"),
        ("inf", "1\n2\n-inf\n"),
        ("huge", "1\n1e999\n"),
        ("giants", "1e308\n1e308\n"),
        ("dwarfs", "1\n0\n1e-310\n"),
        ("giants.json", "{\"\u{72}esults\": [{\"command\": \"x\", \"times\": [1e200, 1.0]}]}"),
        ("short", "1 2\n3\n"),
        ("comma", "1,2\n3,4\n"),
        ("hex", "1\n0x10\n"),
        ("json", "{\"some\": 1}"),
        ("cut.json", "{\"\u{72}esults\": [{\"command\": \"x\", \"times\": [1, 2"),
        ("mean.json", "{\"\u{72}esults\": [{\"command\": \"x\", \"mean\": 1.0}]}"),
        ("cut.go", "BenchmarkX 10 5 ns/op\nBenchmarkX 10 5\n"),
        ("text.go", "BenchmarkX 10 5x ns/op\n"),
    ]);
    let check = |words: &[&str], parts: &[&str]| {
        folder.stat(words).expect(2, parts);
    };
    check(&["empty"], &["empty: the input contains no numbers"]);
    check(&["comments"], &["comments: the input contains no numbers"]);
    check(&["a", "text"], &["text:3: `three` is not a number", "hint: choose another column with -C"]);
    check(&["a", "nan"], &["nan:2: `nan` is not a value", "remove the line"]);
    check(&["inf"], &["inf:3: `-inf` is not finite"]);
    check(&["huge"], &["huge:2: `1e999` is too large", "choose another unit"]);
    check(&["giants"], &["giants:1: `1e308` is too large"]);
    check(&["dwarfs"], &["dwarfs:3: `1e-310` is too small"]);
    check(&["giants.json"], &["giants.json: 1e200 is too large"]);
    check(&["short", "-C", "2"], &["short:2: there is no column 2: the line has 1"]);
    check(&["comma"], &["comma:1: `1,2` is not a number"]);
    check(&["hex"], &["hex:2: `0x10` is not a number"]);
    check(&["json"], &["json: this JSON is not from a supported tool", "hint: use the JSON output of hyperfine"]);
    check(&["cut.json"], &["cut.json:1: EOF while parsing"]);
    check(&["mean.json"], &["`x` has no individual times"]);
    check(&["cut.go"], &["cut.go:2: the value `5` has no unit"]);
    check(&["text.go"], &["text.go:1: `5x` is not a number"]);
    check(&["nowhere"], &["nowhere: cannot be opened: No such file"]);
    check(&["/"], &["cannot be read: Is a directory"]);
    check(&["-", "-"], &["standard input (`-`) can be named only once"]);
    check(&["a", "-c", "0.3"], &["`0.3` is not a confidence level", "hint:"]);
    check(&["a", "-C", "0"], &["`0` is not a column"]);
    check(&["a", "-d", ""], &["-d needs at least one character"]);
    check(&["a", "--baseline", "b"], &["there is no sample `b`", "available: a"]);
    check(
        &["a", "short", "--paired"],
        &["`a` and `short` have different numbers of values (10 and 2)", "omit the option"],
    );
    check(&["a", "--name", "x", "--name", "y"], &["2 names for 1 files"]);
    check(&["a", "--filter", "nonsense"], &["--filter:"]);
    check(&["a", "--row", ".nonsense"], &["--row: `.nonsense` is not a key"]);
}

#[test]
fn odd_but_honest_input_gets_an_honest_answer() {
    let folder = Folder::new(&[
        ("one", "5\n"),
        ("two", "5\n6\n"),
        ("same", "7\n7\n7\n7\n"),
        ("other", "8\n8\n8\n"),
        ("giants", "1e99\n1.1e99\n1.2e99\n1.05e99\n1.15e99\n1.01e99\n"),
        ("dwarfs", "1e-99\n1.1e-99\n1.2e-99\n1.05e-99\n1.15e-99\n"),
        ("wide", "-1e100\n1e100\n0\n1\n2\n"),
        ("mixed", "-3\n0\n4\n1\n-2\n5\n0.5\n"),
        ("zeros", "0\n0\n0\n0\n"),
        ("exact", "9007199254740992\n9007199254740994\n9007199254740996\n"),
        ("inexact", "9007199254740993\n9007199254740993\n9007199254740993\n"),
        ("long", &format!("{}\n1\n", "9".repeat(400))),
        ("crlf", "\u{feff}1\r\n"),
        ("dos", "1.5\r\n2.5\r\n3.5\r\n"),
        ("few", "1\n2\n3\n"),
        ("tail", "1 # said\n2\t# of it\n3\n4"),
    ]);
    folder.stat(&["one"]).expect(0, &["Nothing to compare"]);
    folder.stat(&["one", "two"]).expect(0, &["cannot be distinguished", "1 value cannot support any inference"]);
    folder.stat(&["same", "same"]).expect(0, &["cannot be distinguished", "[none]", "the values never vary"]);
    folder.stat(&["same", "other"]).expect(0, &["cannot be distinguished", "1.1429 [none]"]);
    let blocks = folder.stat(&["other", "other", "--paired"]);
    blocks.expect(0, &["cannot be distinguished", "resolution is unknown"]);
    folder.stat(&["giants", "dwarfs"]).expect(0, &["1e+99", "1e-99", "against giants"]);
    folder.stat(&["giants"]).expect(0, &["1e+99", "1.2e+99"]);
    folder.stat(&["wide", "mixed"]).expect(0, &["−1e+100", "cannot be distinguished"]);
    folder.stat(&["mixed", "few"]).expect(0, &["Difference: sample − baseline"]);
    folder.stat(&["zeros", "mixed"]).expect(0, &["cannot be distinguished"]);
    folder.stat(&["zeros", "zeros"]).expect(0, &["cannot be distinguished"]);
    folder
        .stat(&["exact", "inexact"])
        .expect(0, &["as 64-bit floating-point numbers: 3 (inexact:1: 9007199254740993 became 9007199254740992)"]);
    folder.stat(&["exact"]).expect(0, &["9,007,199,254,740,994"]);
    folder.stat(&["long"]).expect(2, &["long:1: `9999", "…` is too large"]);
    folder.stat(&["crlf"]).expect(0, &["Nothing to compare"]);
    folder.stat(&["dos"]).expect(0, &["1.5", "3.5"]);
    folder
        .stat(&["few", "tail"])
        .expect(0, &["3 values cannot show a difference at 95 % confidence; each sample needs 4"]);
}

#[test]
fn columns_and_delimiters() {
    let rows = (1..=9).fold(String::new(), |text, i| format!("{text}x{i};{},{}\n", i * 10, i * 20));
    let folder = Folder::new(&[("t", &rows)]);
    folder.stat(&["t", "-C3", "-d,;"]).expect(0, &["20", "180", "100"]);
    folder.stat(&["t", "-C2", "-d;"]).expect(2, &["t:1: `10,20` is not a number"]);
}

/// A byte order mark in every format, gzip in every format, and what is no text.
#[test]
fn packed_marked_and_binary() {
    let packed = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let json = "{\"\u{72}esults\": [{\"command\": \"x\", \"times\": [1, 2, 3]}]}";
    let texts = [("columns", "1\n2\n3\n"), ("go", "BenchmarkX 1 5 ns/op\n"), ("json", json)];
    let folder = Folder::new(&[]);
    for (name, text) in texts {
        let marked = format!("\u{feff}{text}");
        let packed = packed(marked.as_bytes());
        folder.write(name, marked.as_bytes());
        folder.write("packed", &packed);
        folder.stat(&[name]).expect(0, &["Nothing to compare"]);
        folder.stat(&["packed"]).expect(0, &["Nothing to compare"]);
        folder.write("cut", &packed[..packed.len() - 12]);
        folder.stat(&["cut"]).expect(2, &["cut: cannot be read:"]);
    }
    let check = |bytes: &[u8], part: &str| {
        folder.write("odd\u{1b}[2J", bytes);
        let shown = folder.stat(&["odd\u{1b}[2J"]);
        shown.expect(2, &["error: odd?[2J", part]);
        let all = format!("{}{}", shown.out, shown.err);
        assert!(!all.chars().any(|c| c.is_control() && c != '\n'), "{all:?}");
    };
    check(b"\x28\xb5\x2f\xfd\x04\x00", "this is not text; it looks like a zstd file");
    check(&fs::read(env!("CARGO_BIN_EXE_bakeoff")).unwrap()[..100_000], "a program or library (ELF)");
    check(&packed(&packed(b"1\n")), "a gzip file in a gzip file");
    check(b"1\n\0\n", "binary data");
    check(b"1\n\x1b]0;title\x07\n", "`?]0;title?` is not a number");
    check(b"BenchmarkX 1 \x1b[31m5 ns/op\n", "is not a number");
    check(b"BenchmarkX 1 5\x1b[31m\n", "has no unit");
    check(b"{\"\x72esults\": \"\\u001b[2J\"}", "");
}

#[test]
fn things_with_different_names_are_never_compared() {
    let of = |head: &str, name: &str, centre: f64| {
        numbers(centre, 12).lines().fold(head.to_owned(), |text, x| format!("{text}Benchmark{name} 1 {x} ns/op\n"))
    };
    let folder = Folder::new(&[
        ("sort", &of("", "SortInts-8", 100.0)),
        ("map", &of("", "HashMap-8", 900.0)),
        ("more", &of("", "SortInts-16", 50.0)),
        ("one", &(of("pkg: a\n", "X", 100.0) + &of("pkg: b\n", "X", 200.0))),
        ("two", &(of("pkg: a\n", "X", 83.0) + &of("pkg: b\n", "X", 240.0))),
        ("intel", &of("cpu: intel\n", "X", 100.0)),
        ("amd", &of("cpu: amd\n", "X", 120.0)),
        ("low", &of("", "lower", 100.0)),
        ("lower", &of("", "lower", 120.0)),
        ("odd", &(of("", "X", 100.0) + "BenchmarkX says hello\nBenchmarkX \n")),
    ]);
    let none = |words: &[&str], parts: &[&str]| {
        folder.stat(words).expect(0, &["Nothing to compare"]).expect(0, parts);
    };
    none(&["sort", "map"], &["missing from some samples: SortInts-8 (only in sort), HashMap-8 (only in map)"]);
    none(&["sort", "more"], &["SortInts-16 (only in more)"]);
    none(&["intel", "amd"], &["the samples intel, amd differ in cpu", "--ignore cpu", "X (cpu: amd)"]);
    folder.stat(&["intel", "amd", "--ignore", "cpu"]).expect(0, &["X: amd is 20.", "slower (", ") than intel"]);
    let packages = folder.stat(&["one", "two"]);
    packages.expect(
        0,
        &["X (pkg: a): two is 17.", "faster (", ") than one", "X (pkg: b): two is 20.", "slower (", ") than one"],
    );
    let pooled = folder.stat(&["one", "two", "--table", "goos"]);
    pooled.expect(0, &["one [", "one sample mixes values that differ in pkg"]);
    folder.stat(&["low", "lower"]).expect(0, &["lower: lower is 20.", "slower (", ") than low"]);
    folder.stat(&["odd"]).expect(
        0,
        &["odd:13: `says` is not a valid number of runs for `BenchmarkX`", "this line is ignored; so is line 14"],
    );
    folder.stat(&["low", "lower", "--filter", ".config:x"]).expect(2, &["a filter needs a single key"]);
}

#[test]
fn what_files_say_of_units() {
    let lines = |unit: &str, values: &[u32]| {
        values.iter().fold(String::new(), |text, x| format!("{text}BenchmarkX 1 {x} {unit}\n"))
    };
    let folder = Folder::new(&[
        ("small", &("Unit text-bytes assume=exact\n".to_owned() + &lines("text-bytes", &[100]))),
        ("large", &lines("text-bytes", &[105])),
        ("short", &("Unit ns/op assume=exact\n".to_owned() + &lines("ns/op", &[100]))),
        ("long", &lines("ns/op", &[105])),
        ("varies", &lines("text-bytes", &[100, 101, 101])),
        ("few", &lines("things", &[100, 102, 101, 103, 99, 104, 98, 97, 105, 96])),
        (
            "many",
            &(lines("things", &[150, 153, 151, 154, 149, 152, 148, 147, 155, 146]) + "Unit things better=higher\n"),
        ),
        ("other", &("Unit things better=lower\n".to_owned() + &lines("things", &[1]))),
        ("odd", &("Unit\nUnit things better=bigger fine=yes x\n".to_owned() + &lines("things", &[1]))),
    ]);
    folder.stat(&["small", "large"]).expect(0, &["X: large needs 5.0 % more text-bytes (exact) than small"]);
    // A time varies by chance, whatever anybody says.
    let shown = folder.stat(&["short", "long"]);
    shown.expect(0, &["cannot be distinguished"]);
    assert!(!shown.out.contains("(exact)"), "{}", shown.out);
    let varies = folder.stat(&["small", "varies"]);
    varies.expect(0, &["cannot be distinguished", "declared exact", "range from 100 to 101"]);
    // What is said holds wherever it is said, as the one word that JSON has for better shows.
    for words in [["few", "many"], ["many", "few"]] {
        let shown = folder.stat(&[words[0], words[1], "--json"]);
        let findings: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
        assert_eq!(findings["tables"][0]["better"], "more");
    }
    let both = folder.stat(&["many", "other"]);
    both.expect(0, &["other:1: better=lower for things is ignored, because many:11 already has better=higher"]);
    let odd = folder.stat(&["odd"]);
    odd.expect(
        0,
        &[
            "odd:1: no unit after the word Unit",
            "odd:2: unknown unit setting `better=bigger`",
            "unknown unit setting `x`",
        ],
    );
}

fn go(factor: f64) -> String {
    let mut text = "goos: linux\npkg: example.org/x\nBenchmarkSort\n".to_owned();
    for name in ["Sort/n=10", "Sort/n=1000", "Hash"] {
        for i in 1..=12u32 {
            let x = (f64::from(i * i) * 0.618_033_988_749_895).fract();
            let ns = 1000.0 * factor * (1.0 + 0.02 * x);
            let _ = writeln!(text, "Benchmark{name}-8   \t  100\t {ns:.2} ns/op\t {:.2} MB/s\t 16 B/op", 1e6 / ns);
        }
    }
    text + "PASS\nok  \texample.org/x\t1.234s\n"
}

#[test]
fn the_format_of_go_with_projections() {
    let folder = Folder::new(&[("old", &go(1.0)), ("new", &go(1.2))]);
    let all = folder.stat(&["old", "new"]);
    all.expect(
        0,
        &["Of 9 comparisons: 3 slower, 3 lower and 3 equivalent", "Sort/n=10-8; in µs/op", "in MiB/s", "B/op"],
    );
    let one = folder.stat(&["old", "new", "--filter", ".name:Hash .unit:ns/op"]);
    one.expect(0, &["Hash-8: new is 20.0 % slower (", ") than old"]);
    let rate = folder.stat(&["old", "new", "--filter", ".name:Hash .unit:B/s"]);
    rate.expect(0, &["new is 16.7 % lower in B/s (", ") than old"]);
    let parts = folder.stat(&["old", "--col", "/n", "--row", ".name", "--filter", ".unit:sec/op .name:Sort"]);
    parts.expect(0, &["Sort: 10 and 1000 are equivalent: within ±1 %"]);
    folder.stat(&["old", "--filter", ".name:None"]).expect(2, &["the input contains no matching values"]);
    folder.stat(&["old", "new", "--col", "goos", "--row", ".name"]).expect(0, &["linux", " 48 "]);
}

#[test]
fn json_of_hyperfine_and_pyperf() {
    let times = |factor: f64| {
        let time = |i: u32| format!("{:.6}", factor * (1.0 + 0.01 * (f64::from(i * i) * 0.618).fract()));
        (1..=12).map(time).collect::<Vec<_>>().join(", ")
    };
    let entry = |command: &str, factor| {
        format!("{{\"command\": \"{command}\", \"mean\": 1.0, \"times\": [{}], \"exit_codes\": [0, 0]}}", times(factor))
    };
    let both = format!("{{\"\u{72}esults\": [{}, {}]}}", entry("./a", 0.2), entry("./b", 0.1));
    let (one, two) = (
        format!("{{\"\u{72}esults\": [{}]}}", entry("./a", 0.2)),
        format!("{{\"\u{72}esults\": [{}]}}", entry("./b", 0.3)),
    );
    let processes = |factor: f64| {
        let process = |i: u32| {
            let value = factor * (1.0 + 0.01 * (f64::from(i * i) * 0.618).fract());
            format!("{{\"metadata\": {{}}, \"values\": [{value:.6}, {:.6}]}}", value * 1.01)
        };
        (1..=9).map(process).collect::<Vec<_>>().join(", ")
    };
    let pyperf = |factor| {
        let calibration = "{\"metadata\": {}, \"warmups\": [[1, 0.5]]}";
        format!(
            "{{\"\u{62}enchmarks\": [{{\"metadata\": {{\"name\": \"loop\"}}, \"runs\": [{calibration}, {}]}}], \
             \"metadata\": {{\"unit\": \"second\"}}, \"version\": \"1.0\"}}",
            processes(factor)
        )
    };
    let (py_old, py_new) = (pyperf(0.01), pyperf(0.02));
    let folder =
        Folder::new(&[("both.json", &both), ("one.json", &one), ("two.json", &two), ("po", &py_old), ("pn", &py_new)]);
    folder.stat(&["both.json"]).expect(0, &["./b is 2.00 × as fast (", ") as ./a", "in ms"]);
    folder.stat(&["one.json", "two.json"]).expect(0, &["two.json is 50.0 % slower (", ") than one.json"]);
    folder
        .stat(&["po", "pn"])
        .expect(0, &["loop: pn takes 2.00 × as long (", ") as po", "each process contributes only", " 9 "]);
}

#[test]
fn json_of_jmh_and_pytest() {
    let jmh = |factor: f64, mode: &str, unit: &str| {
        let fork = |i: u32| format!("[{}, {}]", factor * f64::from(10 + i % 3), factor * f64::from(10 + i % 4));
        let forks = (1..=9).map(fork).collect::<Vec<_>>().join(", ");
        format!(
            "[{{\"jmhVersion\": \"1.37\", \"\u{62}enchmark\": \"org.example.Sort.ints\", \"mode\": \"{mode}\", \
             \"threads\": 1, \"forks\": 9, \"params\": {{\"size\": \"10\"}}, \"primaryMetric\": {{\"score\": 11.0, \
             \"scoreUnit\": \"{unit}\", \"rawData\": [{forks}]}}, \"secondaryMetrics\": {{}}}}]"
        )
    };
    let pytest = |centre: f64, data: bool| {
        let times = numbers(centre, 12).trim().replace('\n', ", ");
        let data = if data { format!(", \"data\": [{times}]") } else { String::new() };
        format!(
            "{{\"machine_info\": {{\"node\": \"x\"}}, \"\u{62}enchmarks\": [{{\"group\": null, \"name\": \"test_sort[10]\", \
             \"fullname\": \"tests/test_sort.py::test_sort[10]\", \"params\": {{\"n\": 10}}, \"stats\": {{\"min\": 1.0{data}}}}}], \
             \"version\": \"5.1.0\"}}"
        )
    };
    let folder = Folder::new(&[
        ("old.json", &jmh(1.0, "thrpt", "ops/ms")),
        ("new.json", &jmh(2.0, "thrpt", "ops/ms")),
        ("time.json", &jmh(1.0, "avgt", "us/op")),
        (
            "sample.json",
            &jmh(1.0, "sample", "us/op")
                .replace("rawData", "rawDataHistogram")
                .replace("[[", "[[[")
                .replace("]]}", "]]]}"),
        ),
        ("py-old", &pytest(1.0, true)),
        ("py-new", &pytest(1.2, true)),
        ("py-mean", &pytest(1.0, false)),
        ("list", "[1, 2, 3]"),
        ("google", "{\"context\": {\"date\": \"x\"}, \"\u{62}enchmarks\": [{\"name\": \"x\", \"real_time\": 1.0}]}"),
        ("dotnet", "{\"Title\": \"x\", \"HostEnvironmentInfo\": {}, \"Benchmarks\": []}"),
        ("criterion", "{\"sampling_mode\": \"Linear\", \"iters\": [1.0], \"times\": [2.0]}"),
        ("estimates", "{\"mean\": {}, \"median\": {}, \"median_abs_dev\": {}, \"slope\": null, \"std_dev\": {}}"),
    ]);
    let rates = folder.stat(&["old.json", "new.json"]);
    rates.expect(
        0,
        &["org.example.Sort.ints/size=10: new.json is 2.00 × as high in ops/s (", ") as old.json", "in ops/s"],
    );
    rates.expect(0, &["JMH: each fork contributes only", " 9 "]);
    folder.stat(&["old.json", "time.json"]).expect(0, &["Nothing to compare", "in µs/op"]);
    folder.stat(&["old.json", "new.json", "--col", "/size", "--ignore", ".file"]).expect(0, &[" 18 "]);
    folder
        .stat(&["py-old", "py-new"])
        .expect(0, &["tests/test_sort.py::test_sort[10]: py-new is 20.", " % slower (", ") than py-old"]);
    folder.stat(&["py-old", "--col", "/n"]).expect(0, &["tests/test_sort.py::test_sort;"]);
    let check = |name: &str, parts: &[&str]| {
        folder.stat(&[name]).expect(2, parts);
    };
    check("sample.json", &["has no values from its forks (mode sample)", "thrpt, avgt or ss"]);
    check("py-mean", &["has no individual times", "--benchmark-save-data"]);
    check(
        "list",
        &["list:1: invalid type: integer `1`, expected an entry of JMH's JSON", "hint: use the JSON output of"],
    );
    folder.stat(&["google", "google"]).expect(0, &["x: google and google (2) cannot be distinguished"]);
    check("dotnet", &["this is BenchmarkDotNet JSON;"]);
    check("estimates", &["criterion estimates", "sample.json"]);
}

/// What arrives in standard input is read as it comes, in bounded memory: a sixth of a gigabyte does not fit into what
/// is left of the limit by the program itself, but its numbers do.
#[test]
fn much_on_standard_input() {
    let folder = Folder::new(&[]);
    let program = env!("CARGO_BIN_EXE_bakeoff");
    let limited = format!("ulimit -v 1200000; exec '{program}' stat");
    let mut command = Command::new("sh");
    command.args(["-c", &limited]).current_dir(folder.0.path()).env_remove("COLUMNS").env("RAYON_NUM_THREADS", "2");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let blank = " ".repeat(4000);
        let lines: String = (0..100).map(|i| format!("{blank}{}.25{blank}\n", 1000 + i * 37 % 100)).collect();
        (0..200).all(|_| stdin.write_all(lines.as_bytes()).is_ok())
    });
    let shown = Shown::of(&child.wait_with_output().unwrap());
    shown.expect(0, &["<stdin>", "20000", "1,049.8"]);
    assert!(writer.join().unwrap());
    // A line without an end is not waited for.
    let endless = folder.command(&[]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut endless = endless.unwrap();
    let mut stdin = endless.stdin.take().unwrap();
    let writer = std::thread::spawn(move || (0..4096).all(|_| stdin.write_all(&[b'1'; 1024]).is_ok()));
    Shown::of(&endless.wait_with_output().unwrap()).expect(2, &["<stdin>:1:"]);
    let _ = writer.join();
}
