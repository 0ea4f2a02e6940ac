//! Files that the tools wrote when they run tiny programs of ours, and what cannot be read. Written by Go 1.26.8,
//! Google Benchmark 1.7.1, criterion.rs 0.7.0, JMH 1.37 on OpenJDK 17.0.15 and pytest-benchmark 5.1.0 on Python 3.11.7;
//! names of machines, and what pytest-benchmark says of processor and repository, were taken out.

use super::*;

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../tests/data/", $name))
    };
}

fn printed(harness: &str, bytes: &[u8]) -> Result<Parts, String> {
    read(harness, &Left::Printed(bytes.to_vec()))
}

/// Each benchmark's value of this metric; NaN for one that failed.
#[track_caller]
fn check(parts: &Parts, metric: &str, expect: &[(&str, f64)]) {
    let names: Vec<&str> = parts.keys().map(String::as_str).collect();
    assert_eq!(names, expect.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (name, value) in expect {
        let part = &parts[*name];
        let own = part.values.get(metric).copied().unwrap_or(f64::NAN);
        assert_eq!(part.failed.is_some(), value.is_nan(), "{name}: {part:?}");
        assert!(value.is_nan() || (own / value - 1.0).abs() < 1e-9, "{name}: {own}, not {value}");
    }
}

#[test]
fn go_by_the_median_of_a_count() {
    let parts = printed("go", file!("go.txt")).unwrap();
    check(&parts, "sec/op", &[("Make/n=10", 29.84e-9), ("Make/n=1000", 745.3e-9)]);
    check(&parts, "B/op", &[("Make/n=10", 16.0), ("Make/n=1000", 1024.0)]);
    check(&parts, "B/s", &[("Make/n=10", 345.855e6), ("Make/n=1000", 1392.865e6)]);
    // No metric of ours, but kept.
    check(&parts, "frobs/op", &[("Make/n=10", 7.0), ("Make/n=1000", 7.0)]);
    let parts = printed("go", file!("go-fails.txt")).unwrap();
    check(&parts, "sec/op", &[("Broken", f64::NAN), ("Make/n=10", 30.58e-9), ("Make/n=1000", 1832e-9)]);
}

#[test]
fn google_without_its_aggregates() {
    let parts = printed("google", file!("google.json")).unwrap();
    let median = |a: f64, b: f64| (a + b) / 2.0;
    let small = median(25.28063734567129, 29.68861752935028) * 1e-9;
    let large = median(485.44750753796563, 292.8331516363858) * 1e-9;
    let milli = median(0.03621534736961812, 0.045180896842411084) * 1e-3;
    check(&parts, "sec/op", &[("Broken", f64::NAN), ("Milli", milli), ("Sum/1024", large), ("Sum/64", small)]);
    assert_eq!(parts["Broken"].failed.as_deref(), Some("it failed: no input file"));
    assert!((parts["Sum/64"].values["B/s"] / median(12354130601.617838, 13552793868.714962) - 1.0).abs() < 1e-9);
    let text = String::from_utf8_lossy(file!("google.json"))
        .replace("\"run_type\": \"i", "\"run_type\": \"aggregate\", \"was\": \"i");
    let why = printed("google", text.as_bytes()).unwrap_err();
    assert!(why.contains("not individual values; run the program without --benchmark_report_aggregates_only"), "{why}");
}

#[test]
fn jmh_by_the_mean_of_a_fork() {
    let parts = printed("jmh", file!("jmh.json")).unwrap();
    let rates = [("org.example.Tiny.sum/n=10", 23712356.63579588), ("org.example.Tiny.sum/n=100", 5403578.033287508)];
    for (name, rate) in rates {
        assert!((parts[name].values["ops/s"] / rate - 1.0).abs() < 1e-9, "{:?}", parts[name]);
        assert!(!parts[name].values.contains_key("sec/op"));
    }
    let time = parts["org.example.Tiny.wait2/n=10"].values["sec/op"];
    assert!((time / 2.641_531_831_362_174e-8 - 1.0).abs() < 1e-9, "{time}");
}

#[test]
fn pytest_by_the_median_of_its_single_times() {
    let left = Left::File(file!("pytest.json").to_vec());
    let parts = read("pytest", &left).unwrap();
    let [small, large] = [2.9925000490038654e-07, 2.086899985442869e-06];
    check(&parts, "sec/op", &[("test_tiny.py::test_work[100]", large), ("test_tiny.py::test_work[10]", small)]);
}

fn criterion() -> BTreeMap<String, Vec<u8>> {
    let file = |name: &str, bytes: &[u8]| (name.to_owned(), bytes.to_vec());
    BTreeMap::from([
        file("fib-10/new/benchmark.json", file!("criterion/fib-10/new/benchmark.json")),
        file("fib-10/new/estimates.json", file!("criterion/fib-10/new/estimates.json")),
        file("fib-10/new/sample.json", file!("criterion/fib-10/new/sample.json")),
        file("fib-10/base/sample.json", b"{}"),
        file("sum/vec/64/new/benchmark.json", file!("criterion/sum/vec/64/new/benchmark.json")),
        file("sum/vec/64/new/sample.json", file!("criterion/sum/vec/64/new/sample.json")),
    ])
}

#[test]
fn criterion_by_the_median_of_its_samples() {
    let parts = read("criterion", &Left::Folder(criterion())).unwrap();
    check(&parts, "sec/op", &[("fib 10", 234.03900241927852e-9), ("sum/vec/64", 15.074010391228605e-9)]);
    let mut files = criterion();
    files.remove("fib-10/new/benchmark.json");
    assert!(read("criterion", &Left::Folder(files.clone())).unwrap().contains_key("fib-10"));
    files.insert(
        "fib-10/new/sample.json".to_owned(),
        b"{\"sampling_mode\":\"Flat\",\"iters\":[1.0],\"times\":[]}".to_vec(),
    );
    let why = read("criterion", &Left::Folder(files)).unwrap_err();
    assert!(why.contains("fib-10/new/sample.json: the numbers of run counts (1) and of times (0) differ"), "{why}");
    let why = read("criterion", &Left::Folder(BTreeMap::new())).unwrap_err();
    assert!(
        why.contains("no benchmark in $BAKEOFF_HARNESS; the command must write its results to $BAKEOFF_HARNESS"),
        "{why}"
    );
    let why = read("criterion", &Left::File(file!("criterion/fib-10/new/estimates.json").to_vec())).unwrap_err();
    assert!(why.contains("without individual times"), "{why}");
}

#[test]
fn what_another_harness_wrote_is_refused() {
    for (harness, bytes) in [
        ("google", &file!("pytest.json")[..]),
        ("pytest", &file!("jmh.json")[..]),
        ("jmh", &file!("google.json")[..]),
        ("go", &file!("jmh.json")[..]),
        ("jmh", &file!("go.txt")[..]),
    ] {
        let why = printed(harness, bytes).unwrap_err();
        assert!(why.starts_with(names::find(harness).unwrap().title) && !why.contains('\n'), "{harness}: {why}");
    }
    let why = read("go", &Left::Folder(BTreeMap::new())).unwrap_err();
    assert!(why.contains("$BAKEOFF_HARNESS is a folder"), "{why}");
}

#[test]
fn what_is_no_benchmark_says_what_the_command_lacks() {
    for (harness, text, part) in [
        ("go", "PASS\n", "no benchmark in standard output; the command must print benchmark lines, as `go test -run"),
        ("go", "", "the harness wrote nothing to standard output or to $BAKEOFF_HARNESS"),
        ("go", "BenchmarkX 1 2 ns/op\nBenchmarkY 1 2", "standard output:2: the value `2` has no unit"),
        ("go", "BenchmarkX 1 nan ns/op\n", "nan"),
        ("go", "BenchmarkX 1 0 ns/op\n", "the reported value (0 sec/op) is not positive"),
        ("go", "BenchmarkX 1 -5 ns/op\n", ") is not positive"),
        ("google", "Running\n", "standard output is not JSON; the command must print JSON"),
        ("google", "{\"context\": {", "Google Benchmark: standard output:1: EOF while parsing"),
        ("pytest", "[1]", "pytest-benchmark"),
        ("jmh", "{\"results\": []}", "JMH: standard output: the input contains no values; the command must write JSON"),
    ] {
        let why = printed(harness, text.as_bytes()).map_or_else(|why| why, |parts| failed(&parts));
        assert!(why.contains(part), "{harness}, {text:?}: {why}");
    }
}

/// Why benchmarks failed; empty if none did.
fn failed(parts: &Parts) -> String {
    parts.values().filter_map(|part| part.failed.clone()).collect::<Vec<_>>().join("\n")
}

/// Wherever a file is cut off, it is an error or a part of what the whole says: never another value, and never a panic.
#[test]
fn what_was_cut_off_is_never_another_value() {
    for (harness, bytes) in
        [("google", &file!("google.json")[..]), ("pytest", &file!("pytest.json")[..]), ("jmh", &file!("jmh.json")[..])]
    {
        for end in (0..bytes.trim_ascii_end().len()).step_by(7) {
            assert!(printed(harness, &bytes[..end]).is_err(), "{harness}, {end} bytes");
        }
    }
    let line = b"BenchmarkX-2 284178 35.10 ns/op 284.89 MB/s 7.000 frobs/op 16 B/op 1 allocs/op";
    for end in 0..line.len() {
        let Ok(parts) = printed("go", &line[..end]) else { continue };
        let values = &parts["X"].values;
        // A unit that was cut off is another unit.
        assert!(values.get("sec/op").is_none_or(|time| (time / 35.1e-9 - 1.0).abs() < 1e-9), "{end}: {values:?}");
        assert!(values.get("B/op").is_none_or(|bytes| *bytes == 16.0), "{end}: {values:?}");
    }
}

#[test]
fn names_that_two_packages_share_have_their_package() {
    let text = b"pkg: a\nBenchmarkX-8 1 5 ns/op\npkg: b\nBenchmarkX-8 1 7 ns/op\nBenchmarkY-8 1 9 ns/op\n";
    check(&printed("go", text).unwrap(), "sec/op", &[("X (pkg=a)", 5e-9), ("X (pkg=b)", 7e-9), ("Y", 9e-9)]);
    // The number of processors is part of a name if not all have the same.
    let text = b"BenchmarkX 1 5 ns/op\nBenchmarkX-2 1 7 ns/op\n";
    check(&printed("go", text).unwrap(), "sec/op", &[("X", 5e-9), ("X-2", 7e-9)]);
    // An escape sequence that is written out is not the name that was written out before.
    let text = "BenchmarkX\u{202e} 1 5 ns/op\nBenchmarkX\\u{202e} 1 7 ns/op\n";
    check(&printed("go", text.as_bytes()).unwrap(), "sec/op", &[("X\\u{202e}", 5e-9), ("X\\u{202e} (2)", 7e-9)]);
}
