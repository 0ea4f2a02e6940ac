//! `bakeoff stat` on files as other people have them: each number is read as it was meant, or its place is named.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::Shown;
use std::fs;
use std::process::{Command, Stdio};

fn stat(files: &[(&str, &str)], words: &[&str]) -> Shown {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
    command.arg("stat").args(words).current_dir(folder.path()).stdin(Stdio::null());
    Shown::of(&command.env_remove("COLUMNS").env("NO_COLOR", "1").output().unwrap())
}

fn lines(values: impl Iterator<Item = f64>, unit: &str) -> String {
    values.map(|value| format!("{value}{unit}\n")).collect()
}

/// Times without a trend.
fn times(centre: f64) -> impl Iterator<Item = f64> {
    (1..=12).map(move |i: u32| {
        let noise = (f64::from(i * i) * 0.618 + f64::from(i) * 0.414).fract();
        ((centre * (1.0 + 0.01 * noise)) * 1e6).round() / 1e6
    })
}

#[test]
fn units_behind_numbers_count() {
    let (ms, us) = (lines(times(1.5), " ms"), lines(times(1600.0), " us"));
    stat(&[("a", &ms), ("b", &us)], &["a", "b"]).expect(0, &["b is 6.", "slower (", ") than a", "in ms"]);
    stat(&[("a", "1 000\n2 000\n")], &["a"]).expect(2, &["a:1: `1 000` could be one number or several", "-C 1"]);
    stat(&[("a", "x,,3\nx,2,3\n")], &["a", "-d", ",", "-C", "2"]).expect(2, &["a:1: column 2 is empty"]);
}

#[test]
fn ticks_of_a_clock_are_not_other_comparisons() {
    let (a, b) = ("1\n1\n1\n2\n1\n1\n2\n1\n", "2\n2\n1\n2\n2\n3\n2\n2\n");
    let shown = stat(&[("a", a), ("b", b)], &["a", "b"]);
    shown.expect(0, &["undecided", "different values are at least 1 apart"]);
    assert!(!shown.out.contains(" 1 comparisons"), "{}", shown.out);
}

#[test]
fn parameters_tell_measurements_of_one_command_apart() {
    let entry = |rest: &str, centre: f64| {
        let times = times(centre).map(|time| time.to_string()).collect::<Vec<_>>().join(", ");
        format!("{{\"command\": \"./run\", \"times\": [{times}], {rest}}}")
    };
    let document = |entries: &[String]| format!("{{\"\u{72}esults\": [{}]}}", entries.join(", "));
    let json = document(&[
        entry("\"parameters\": {\"branch\": \"main\"}", 0.1),
        entry("\"parameters\": {\"branch\": \"new\"}", 0.2),
    ]);
    stat(&[("h.json", &json)], &["h.json"])
        .expect(0, &["./run/branch=new takes 2.00 × as long (", ") as ./run/branch=main"]);
    // The same measured twice is one.
    let json = document(&[entry("\"parameters\": {}", 0.1), entry("\"parameters\": {}", 0.1)]);
    stat(&[("h.json", &json)], &["h.json"]).expect(0, &[" 24 "]);
}

#[test]
fn json_of_hyperfine_2_is_read() {
    let entry = |command: &str, rest: &str, centre: f64| {
        let measured = |time: f64| {
            format!(
                "{{\"time_wall_clock\": {{\"value\": {time}, \"unit\": \"second\"}}, \"time_user\": {{\"value\": 0.0, \
                 \"unit\": \"second\"}}, \"memory_peak_resident\": {{\"value\": 9e5, \"unit\": \"byte\"}}, \"exit_code\": 0}}"
            )
        };
        let all = times(centre).map(measured).collect::<Vec<_>>().join(", ");
        format!("{{\"command\": \"{command}\", {rest} \"measurements\": [{all}], \"summary\": {{}}}}")
    };
    let document = |entries: &[String]| {
        let head = "\"schema_version\": 2, \"metadata\": {\"hyperfine_version\": \"2.0.0\"}, \"primary_metric\": \"time_wall_clock\"";
        format!("{{{head}, \"\u{72}esults\": [{}]}}", entries.join(", "))
    };
    let json = document(&[entry("gzip f", "\"name\": \"old\",", 0.1), entry("zstd f", "\"name\": \"new\",", 0.2)]);
    stat(&[("h.json", &json)], &["h.json"]).expect(0, &["new takes 2.00 × as long (", ") as old", "in ms"]);
    let with = |value: u32| format!("\"parameters\": {{\"n\": {{\"kind\": \"number\", \"value\": {value}}}}},");
    let json = document(&[entry("./run", &with(1), 0.1), entry("./run", &with(2), 0.2)]);
    stat(&[("h.json", &json)], &["h.json"]).expect(0, &["./run/n=2 takes 2.00 × as long (", ") as ./run/n=1"]);
    let minutes = json.replace("\"value\": 0.1", "\"value\": 1").replacen("\"second\"", "\"minute\"", 1);
    stat(&[("h.json", &minutes)], &["h.json"]).expect(2, &["has times in the unknown unit `minute`"]);
}

/// A table of two compilers' times.
fn table(titles: &str, row: impl Fn(usize, &str, f64) -> String) -> String {
    let both = times(1.0).zip(times(1.2)).enumerate();
    let rows = both.flat_map(|(i, (gcc, clang))| [row(i, "gcc", gcc), row(i, "clang", clang)]);
    format!("{titles}\n{}\n", rows.collect::<Vec<_>>().join("\n"))
}

#[test]
fn tables_with_titles_and_factors_are_read() {
    for text in [
        table("compiler,time_ms", |_, name, time| format!("{name},{}", time * 1e3)),
        table("run,compiler,seconds", |i, name, time| format!("{i},{name},{time}")),
        table("\"compiler\"\t\"wall (s)\"\textra", |_, name, time| format!("\"{name}\"\t{time}\tNaN")),
        table("compiler seconds", |_, name, time| format!("{name} {time}")),
        table("# made up\n\ncompiler;elapsed_s;host", |_, name, time| format!("{name};{time};here")),
    ] {
        stat(&[("t", &text)], &["t"]).expect(0, &["clang is 20.0 % slower (", ") than gcc", "in s"]);
    }
    for rate in ["throughput (req/s)", "throughput_mb_s", "req_s", "items_h", "frames per second", "MB/s"] {
        let rate = table(&format!("compiler,{rate}"), |_, name, rate| format!("{name},{rate}"));
        stat(&[("t", &rate)], &["t"]).expect(0, &["clang has 20.0 % more (", ") than gcc"]);
    }
    let two = table("compiler,bench,time_s", |i, name, time| format!("{name},{},{time}", ["sort", "zip"][i % 2]));
    stat(&[("t", &two)], &["t"]).expect(0, &["/bench=sort: clang is", "/bench=zip: clang is"]);
    stat(&[("t", &two)], &["t", "--col", "/bench"]).expect(0, &["/compiler=gcc: sort and zip are equivalent"]);
    let both = table("compiler,wall,user", |_, name, time| format!("{name},{time},{}", time / 2.0));
    stat(&[("t", &both)], &["t"]).expect(2, &["whether the column `user` contains values", "`-C 2` to read"]);
    stat(&[("t", &both)], &["t", "-C", "3"]).expect(0, &["clang has 20.0 % more (", ") than gcc"]);
    // A clock of ticks has few times; they are no levels for that.
    let ticks = table("compiler,wall,sys", |i, name, time| format!("{name},{time},{}", ["0.10", "0.11"][i % 2]));
    stat(&[("t", &ticks)], &["t"]).expect(2, &["whether the column `sys` contains values", "`-C 2` to read"]);
    stat(&[("t", &ticks)], &["t", "-C", "2"]).expect(0, &["clang has 20.0 % more (", ") than gcc"]);
    stat(&[("t", &both)], &["t", "-C", "9"]).expect(2, &["there is no column 9: the last column is 3"]);
    let missing = "compiler,time\ngcc,1.5\nclang,NA\n";
    stat(&[("t", missing)], &["t"]).expect(2, &["t:3: `NA` is not a number"]);
    stat(&[("t", "compiler,time\ngcc,1.5\nclang\n")], &["t"])
        .expect(2, &["t:3: this line has 1 cell, but the line of titles has 2"]);
}

#[test]
fn events_of_go_tests_are_read_and_other_forms_are_named() {
    let event = |output: &str| format!("{{\"Action\":\"output\",\"Package\":\"p\",\"Output\":{output:?}}}\n");
    let go: String =
        (0..8).map(|i| event("BenchmarkA-8 \t") + &event(&format!(" 100\t{} ns/op\n", 100 + i % 3))).collect();
    let go = format!("{{\"Time\":\"x\",\"Action\":\"start\",\"Package\":\"p\"}}\n{go}");
    stat(&[("old", &go), ("new", &go.replace("\\t10", "\\t20"))], &["old", "new"])
        .expect(0, &["A-8: new is", "slower (", ") than old"]);
    stat(&[("old", &(go + "{\"Act"))], &["old"]).expect(2, &["old:18: this is not an event of `go test -json`"]);
    for (text, what, remedy) in [
        ("| Command | Mean [ms] |\n|:---|---:|\n| `a` | 1 ± 2 |\n", "hyperfine's Markdown", "check-summary"),
        ("Benchmark  Mode  Cnt  Score  Error  Units\nA avgt 5 1 ± 2 ns/op\n", "JMH's text", "check-summary"),
        ("Benchmark 1: a\n  Time (mean ± σ):  1 ms\n", "the output of hyperfine", "--export-json"),
        ("    N Min Max Median Avg Stddev\nx 3 1 2 3 4 5\n", "ministat's output", "check-summary"),
    ] {
        stat(&[("t", text)], &["t"]).expect(2, &[&format!("t: this looks like {what}"), remedy]);
    }
}

#[test]
fn nan_matters_only_where_a_value_is_needed() {
    let json = |times: &str, mean: &str| {
        format!("{{\"\u{72}esults\": [{{\"command\": \"NaN\", \"mean\": {mean}, \"times\": [{times}]}}]}}")
    };
    stat(&[("h", &json("1, 2, 3", "NaN"))], &["h"]).expect(0, &["Nothing to compare"]);
    stat(&[("h", &json("1, NaN, 3", "1"))], &["h"]).expect(2, &["h:1: invalid type: null"]);
}

#[test]
fn what_can_vary_and_did_not_has_no_interval_of_width_0() {
    let lines = |bytes: u32| format!("BenchmarkA 1 {bytes} B/op 3 allocs/op\n").repeat(12);
    let shown = stat(&[("old", &lines(12)), ("new", &lines(14))], &["old", "new"]);
    // 1 − 0.05^(1/12) is 0.2209.
    let parts = ["16.7 % more B/op (did not vary in 12 runs) than old", "[did not vary in 12 runs]", "at most 22.1 %"];
    shown.expect(0, &parts);
    assert!(!shown.out.contains("[12, 12]") && !shown.out.contains("0.0 … 0.0"), "{}", shown.out);
    let json = stat(&[("old", &lines(12)), ("new", &lines(14))], &["old", "new", "--json"]);
    assert!(json.out.contains("\"interval\": null") && json.out.contains("unvaried"), "{}", json.out);
}
