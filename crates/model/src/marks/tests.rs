//! Marks as workloads write them, and what they amount to.

use super::*;
use crate::record::Trial;

/// Chunks at these times.
fn chunks(parts: &[(f64, &str)]) -> Vec<Chunk> {
    parts.iter().map(|(at_s, text)| Chunk { at_s: *at_s, bytes: text.as_bytes().to_vec() }).collect()
}

/// A trial of 10 s that was launched at 1000 s.
fn parsed(parts: &[(f64, &str)]) -> ParsedMarks {
    read(&chunks(parts), 1000.0, 10.0).unwrap()
}

#[track_caller]
fn check(parts: &[(f64, &str)], metrics: &[(&str, f64)]) {
    let marks = parsed(parts).marks;
    for (metric, expect) in metrics {
        let value = marks.value(metric, Some(10.0)).unwrap_or_else(|| panic!("{metric} is missing in {marks:?}"));
        assert!((value - expect).abs() < 1e-9, "{metric} is {value}, not {expect}");
    }
}

#[test]
fn phases_last_until_the_next_or_the_end() {
    check(&[(1.0, "phase load\n"), (4.0, "phase scan\n")], &[("load.wall", 3.0), ("scan.wall", 6.0)]);
    check(&[(1.0, "phase a\n"), (2.0, "phase b\n"), (5.0, "phase a\n")], &[("a.wall", 6.0), ("b.wall", 3.0)]);
    check(&[(1.0, "phase a\n\n \r\nphase b\r\n")], &[("a.wall", 0.0), ("b.wall", 9.0)]);
    // What comes after the end of the trial does not prolong it, nor make it negative.
    check(&[(11.0, "phase a\n")], &[("a.wall", 0.0)]);
    check(&[(1.0, "phase op\n")], &[("op.wall", 9.0)]);
}

#[test]
fn a_line_came_when_its_end_came() {
    check(
        &[(1.0, "pha"), (2.0, "se a"), (3.0, "\nphase b\nph"), (7.0, "ase c\n")],
        &[("a.wall", 0.0), ("b.wall", 4.0)],
    );
}

#[test]
fn ops_take_the_time_since_the_mark_before_them() {
    check(
        &[(0.5, "op\n"), (1.0, "phase a\n"), (3.0, "op get\n"), (3.25, "op\nop set\n")],
        &[
            ("op.count", 4.0),
            ("op.max", 2.0),
            ("a.op.count", 3.0),
            ("a.op.max", 2.0),
            ("a.op.get.max", 2.0),
            ("op.set.max", 0.0),
            ("a.op.min", 0.0),
            ("a.op.mean", 0.75),
            ("a.op.rate", 3.0 / 9.0),
            ("op.rate", 0.4),
            ("op.get.rate", 0.1),
        ],
    );
    let marks = parsed(&[(1.0, "phase a\nop x 1\nphase b\nop x 2\n")]).marks;
    for (metric, expect) in [("a.op.x.max", Some(1.0)), ("b.op.x.max", Some(2.0)), ("op.x.max", Some(2.0))] {
        assert_eq!(marks.value(metric, None), expect, "{metric}");
    }
    for missing in ["c.wall", "op.y.max", "c.op.max", "op.rate", "op.p98", "op", "wall", "", ".wall", "a.op..max"] {
        assert_eq!(marks.value(missing, None), None, "{missing}");
    }
}

#[test]
fn a_workload_may_tell_latencies_and_times_itself() {
    check(&[(5.0, "op 0.25\nop get 0.5\nop get 1e-3\n")], &[("op.max", 0.5), ("op.get.min", 0.001), ("op.count", 3.0)]);
    // All came at once, from a buffer; the times are its own.
    check(
        &[(9.0, "phase a @1001\nop @1001.5\nop get @1002.5\nphase b @1004\n")],
        &[("a.wall", 3.0), ("b.wall", 6.0), ("op.min", 0.5), ("op.get.max", 1.0)],
    );
    // One time is read off, late; the next is exact, and before it.
    check(&[(3.0, "phase a\n"), (4.0, "op @1002.5\n")], &[("op.max", 0.0)]);
    // Its own time counts, also where reading had begun a little before.
    check(&[(1.0, "phase a @1001.002\nop @1001.005\n")], &[("a.wall", 8.998), ("op.max", 0.003)]);
    // The clock was printed with few digits.
    check(&[(1.0, "phase a @999.998\n")], &[("a.wall", 10.0)]);
    // Threads tell what they timed, in any order.
    check(&[(9.0, "op 0.5 @1003\nop 0.25 @1002\n")], &[("op.max", 0.5), ("op.count", 2.0)]);
}

#[test]
fn the_last_word_on_a_value_counts() {
    let values = parsed(&[(1.0, "value a 1\nvalue b -2.5 µs\nvalue a 3e2 MB @1000.5\n")]).values;
    let expect = [("a", 300.0, Some("MB")), ("b", -2.5, Some("µs"))];
    let expect = expect.map(|(name, number, unit)| (name.to_owned(), (number, unit.map(str::to_owned))));
    assert_eq!(values, ParsedValues::from(expect));
}

#[test]
fn what_is_no_mark_is_named_with_its_line() {
    let long = "x".repeat(2000);
    for (text, line, part) in [
        ("phase a\nhello world\n", 2, "a mark must begin with `phase`, `op` or `value`"),
        ("Phase a\n", 1, "must begin with"),
        ("phase\n", 1, "`phase NAME`"),
        ("phase a b\n", 1, "`phase NAME`"),
        ("phase a/b\n", 1, "`a/b` is not a valid name"),
        ("op get fast\n", 1, "`fast` is not a latency"),
        ("op 1 2\n", 1, "`1` is not a valid name"),
        ("op -1\n", 1, "a latency cannot be negative"),
        ("op get -0.1\n", 1, "a latency cannot be negative"),
        ("op get inf\n", 1, "`inf` is not a latency"),
        ("op get nan\n", 1, "`nan` is not a latency"),
        ("op get 1e999\n", 1, "`1e999` is not a latency"),
        ("op 1e12\n", 1, "longer than 30 years; give it in seconds"),
        ("op a 1 2\n", 1, "`op [NAME] [SECONDS]`"),
        ("value x\n", 1, "`value NAME NUMBER [UNIT]`"),
        ("value x y\n", 1, "`y` is not a number"),
        ("value x 1,5\n", 1, "`1,5` is not a number"),
        ("value x 1 a b c\n", 1, "too many words"),
        ("\n\nop @soon\n", 3, "`@soon` is not a time"),
        ("op @999\n", 1, "before the launch; use seconds of CLOCK_MONOTONIC"),
        ("op @1789790400\n", 1, "after the mark was read"),
        ("@1001\n", 1, "must begin with"),
        ("op @1003\nop @1002\n", 2, "before the mark above"),
        ("phase a @1003\nphase b @1002\n", 2, "before the phase above"),
        ("phase a", 1, "is incomplete"),
        (&format!("{long}\n"), 1, "longer than 1024 bytes"),
        (&long, 1, "is incomplete"),
    ] {
        let wrong = read(&chunks(&[(5.0, text)]), 1000.0, 10.0).unwrap_err();
        assert_eq!((wrong.line, wrong.more), (line, 0), "{text}: {wrong}");
        assert!(wrong.to_string().contains(part), "{text}: {wrong}");
        assert!(wrong.text.chars().count() <= 61, "{wrong}");
    }
    let wrong = read(&chunks(&[(5.0, "phase a\nhello\nop\nwhat\nop 1 1\n")]), 1000.0, 10.0).unwrap_err();
    let why = "a mark must begin with `phase`, `op` or `value`";
    assert_eq!(wrong.to_string(), format!("line 2 of the marks, `hello`: {why} (invalid lines in all: 3)"));
}

#[test]
fn bytes_that_are_no_text_are_no_marks() {
    for bytes in [b"phase \xff\n".as_slice(), b"op \xc3\x28\n", b"value x 1 \xff\n", b"\0\n", b"op \xff 1\n"] {
        let chunk = Chunk { at_s: 1.0, bytes: bytes.to_vec() };
        let wrong = read(&[chunk], 0.0, 2.0).unwrap_err();
        assert!(wrong.line == 1 && !wrong.text.contains('\0'), "{wrong}");
    }
}

#[test]
fn names_without_end_are_refused() {
    let many = |line: &dyn Fn(usize) -> String| (0..20_000).map(line).collect::<String>();
    for (text, part) in [
        (many(&|i| format!("op id{i}\n")), "more than 1000 kinds of ops"),
        (many(&|i| format!("phase p{i}\n")), "more than 10000 phases"),
        (many(&|i| format!("value v{i} 1\n")), "more than 1000 values"),
    ] {
        let wrong = read(&chunks(&[(5.0, &text)]), 0.0, 10.0).unwrap_err();
        assert!(wrong.to_string().contains(part) && wrong.more > 9000, "{wrong}");
    }
}

#[test]
fn processes_at_once_are_one_trial() {
    let one = parsed(&[(1.0, "phase a\nop x 1\n"), (3.0, "phase b\n"), (4.0, "phase a\n")]).marks;
    let other = parsed(&[(2.0, "phase a\nop x 3\nop y 4\n"), (5.0, "phase b\n"), (6.0, "phase a\n")]).marks;
    let both = Marks::merge(&[one.clone(), other]);
    for (metric, expect) in [("a.wall", 4.0 + 6.0), ("b.wall", 3.0), ("op.count", 3.0), ("op.x.mean", 2.0)] {
        assert_eq!(both.value(metric, Some(10.0)), Some(expect), "{metric}");
    }
    let names: Vec<&str> = both.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "a"]);
    assert_eq!(Marks::merge(std::slice::from_ref(&one)), one);
    assert_eq!(Marks::merge(&[]), Marks::default());
}

#[test]
fn a_metric_of_ops_can_be_read_where_names_are_odd() {
    let reading = |phase, name, stat| OpMetric { phase, name, stat };
    let p999 = Stat::Quantile(0.999);
    for (metric, expect) in [
        ("op.p99.9", vec![reading(None, None, p999)]),
        ("scan.op.p99.9", vec![reading(Some("scan"), None, p999)]),
        ("op.get.rate", vec![reading(None, Some("get"), Stat::Rate)]),
        ("scan.op.get.max", vec![reading(Some("scan"), Some("get"), Stat::Max)]),
        ("a.b.op.c.d.min", vec![reading(Some("a.b"), Some("c.d"), Stat::Min)]),
        ("op.op.mean", vec![reading(None, Some("op"), Stat::Mean), reading(Some("op"), None, Stat::Mean)]),
        ("stop.op.count", vec![reading(Some("stop"), None, Stat::Count)]),
        ("stop.count", vec![]),
        ("op.p9", vec![]),
        ("op", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(OpMetric::readings(metric), expect, "{metric}");
    }
}

#[test]
fn an_op_that_took_hours_is_counted_and_told() {
    let beyond_hour = |latencies: &Latencies| serde_json::to_value(latencies).unwrap()["beyond_hour"].as_u64().unwrap();
    let latencies = Latencies::of([1.0, 3600.0, 7200.0]).unwrap();
    assert_eq!((latencies.count(), beyond_hour(&latencies), latencies.max_s()), (3, 1, 7200.0));
    assert!((latencies.quantile(0.99) / 3600.0 - 1.0).abs() < 1e-3, "{}", latencies.quantile(0.99));
    assert_eq!((latencies.quantile(0.0), latencies.quantile(1.0)), (1.0, 7200.0));
    let absurd = Latencies::of([f64::MAX, f64::INFINITY, f64::NAN, -1.0]).unwrap();
    assert_eq!((absurd.count(), beyond_hour(&absurd), absurd.min_s(), absurd.max_s()), (4, 2, 0.0, 1e9));
    assert_eq!(Latencies::of([]), None);
}

#[test]
fn a_trial_has_the_metrics_of_its_marks() {
    let marks = parsed(&[(1.0, "phase a\nop 1\nop 2\n")]).marks;
    let measured = |metrics: &[(&str, f64)]| metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let trial = Trial { marks, measurements: measured(&[("wall", 4.0)]), ..Trial::default() };
    let two = Trial { marks: Marks::default(), processes: vec![measured(&[]), measured(&[])], ..trial.clone() };
    let one = Trial { processes: vec![], ..two.clone() };
    let parsed =
        Trial { measurements: measured(&[("wall", 4.0), ("throughput", 7.0), ("a.wall", 5.0)]), ..trial.clone() };
    for (trial, metric, expect) in [
        (&trial, "op.rate", Some(0.5)),
        (&trial, "a.op.rate", Some(2.0 / 9.0)),
        (&trial, "a.wall", Some(9.0)),
        (&trial, "throughput", Some(0.5)),
        (&two, "throughput", Some(0.5)),
        (&two, "op.rate", None),
        (&one, "throughput", Some(0.25)),
        // What was measured counts more than what can be derived.
        (&parsed, "throughput", Some(7.0)),
        (&parsed, "a.wall", Some(5.0)),
        (&Trial::default(), "throughput", None),
    ] {
        assert_eq!(trial.value(metric), expect, "{metric} of {trial:?}");
    }
}
