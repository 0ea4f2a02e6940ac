//! Laws of marks and latencies: what must hold however lines are cut into chunks, however latencies are spread over
//! processes, and whatever stands in a journal. What single lines mean is told in tables beside the code.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use bakeoff_model::marks::{Chunk, Latencies, Marks, OpLatencies, ParsedMarks, Reader, read};
use bakeoff_model::record::{Line, Trial};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use proptest::collection::vec;
use proptest::prelude::*;

/// Any line that is a mark.
fn mark() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "get", "p99", "x-1", "op", "A.b+c"]);
    prop_oneof![
        name.clone().prop_map(|name| format!("phase {name}\n")),
        Just("op\n".to_owned()),
        Just("\n".to_owned()),
        name.clone().prop_map(|name| format!("op {name}\n")),
        (name.clone(), 0.0..2.0).prop_map(|(name, s)| format!("op {name} {s}\n")),
        (0.0..2.0).prop_map(|s| format!("op {s:e}\n")),
        (name, -1e9..1e9).prop_map(|(name, number)| format!("value {name} {number} ms\n")),
    ]
}

/// Latencies from nanoseconds to minutes.
fn latency() -> impl Strategy<Value = f64> {
    (-9.0..2.5).prop_map(|power| 10f64.powf(power))
}

fn decoded(latencies: &Latencies) -> Histogram<u64> {
    let bytes = BASE64.decode(latencies.histogram()).unwrap();
    Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
}

/// The same but for sums, which depend on the order of their terms in the last digits.
fn same(one: &Marks, other: &Marks) -> bool {
    let sum = |ops: &OpLatencies| ops.latencies.sum_s();
    let parts = |ops: &OpLatencies| {
        let latencies = &ops.latencies;
        let bounds = (latencies.count(), latencies.min_s().to_bits(), latencies.max_s().to_bits());
        (ops.phase.clone(), ops.name.clone(), bounds, latencies.histogram().to_owned())
    };
    one.phases == other.phases
        && one.ops.iter().map(parts).eq(other.ops.iter().map(parts))
        && one.ops.iter().zip(&other.ops).all(|(a, b)| (sum(a) - sum(b)).abs() <= 1e-9 * sum(a).abs())
}

proptest! {
    #[test]
    fn it_does_not_matter_where_lines_are_cut(marks in vec(mark(), 0..60), cuts in vec(0usize..2000, 0..40)) {
        let text: String = marks.concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let parts: Vec<(f64, &str)> = (0..).map(|i| f64::from(i) * 0.01).zip(cuts.windows(2).map(|w| &text[w[0]..w[1]])).collect();
        let chunk = |(at_s, part): &(f64, &str)| Chunk { at_s: *at_s, bytes: part.as_bytes().to_vec() };
        let in_pieces = read(&parts.iter().map(chunk).collect::<Vec<_>>(), 0.0, 1.0).unwrap();
        // Line by line, each with the time of the piece that its end is in.
        let (mut by_line, mut end) = (Reader::new(0.0), 0);
        for line in &marks {
            end += line.len();
            let piece = cuts[1..].iter().position(|cut| end <= *cut).unwrap();
            by_line.push(&chunk(&(parts[piece].0, line)));
        }
        prop_assert_eq!(in_pieces, by_line.finish(1.0).unwrap());
    }

    #[test]
    fn bytes_of_any_kind_do_no_harm(pieces in vec(vec(any::<u8>(), 0..200), 0..20), own in any::<bool>()) {
        let mut reader = Reader::new(0.0);
        for piece in pieces {
            let bytes = if own { [b"op ".as_slice(), &piece, b"\nphase "].concat() } else { piece };
            reader.push(&Chunk { at_s: 1.0, bytes });
        }
        let _ = reader.finish(2.0);
    }

    #[test]
    fn merged_is_what_it_would_have_been_together(all in vec(vec(latency(), 1..80), 1..6)) {
        let each: Vec<Latencies> = all.iter().map(|one| Latencies::of(one.iter().copied()).unwrap()).collect();
        let together = Latencies::of(all.iter().flatten().copied()).unwrap();
        let marks = |latencies: Latencies| {
            let ops = OpLatencies { phase: None, name: None, latencies };
            Marks { phases: vec![], ops: vec![ops] }
        };
        let merged = Latencies::merge(&each).unwrap();
        prop_assert!(same(&marks(merged.clone()), &marks(together)), "{merged:?}");
        for q in [0.0, 0.3, 0.5, 0.999, 1.0] {
            prop_assert_eq!(Latencies::quantile_of_all(&each, q), Some(merged.quantile(q)));
        }
        let of_processes: Vec<Marks> = each.into_iter().map(marks).collect();
        prop_assert_eq!(Marks::merge(&of_processes), marks(merged));
    }

    #[test]
    fn quantiles_are_right_to_a_thousandth(mut all in vec(latency(), 1..300), q in 0.001..0.9999) {
        let latencies = Latencies::of(all.iter().copied()).unwrap();
        all.sort_by(f64::total_cmp);
        for q in [q, 0.5, 0.9, 0.99, 0.999] {
            let rank = (q * all.len() as f64).ceil() as usize;
            let (truth, told) = (all[rank.max(1) - 1], latencies.quantile(q));
            prop_assert!(told >= truth - 0.6e-9 && told <= truth * 1.001 + 0.6e-9, "{q}: {told} is not {truth}");
        }
        prop_assert_eq!((latencies.quantile(0.0), latencies.quantile(1.0)), (all[0], all[all.len() - 1]));
        prop_assert_eq!((latencies.min_s(), latencies.max_s()), (all[0], all[all.len() - 1]));
        let sum: f64 = all.iter().sum();
        prop_assert!((latencies.sum_s() - sum).abs() <= 1e-9 * sum && latencies.count() == all.len() as u64);
    }

    #[test]
    fn a_journal_gives_back_what_it_was_given(marks in vec(mark(), 0..60)) {
        let ParsedMarks { marks, .. } = read(&[Chunk { at_s: 0.5, bytes: marks.concat().into_bytes() }], 0.0, 1.0).unwrap();
        let line = Line::Trial(Trial { marks, ..Trial::default() });
        let text = serde_json::to_string(&line).unwrap();
        prop_assert_eq!(Line::read(text.as_bytes()).unwrap(), line);
    }

    #[test]
    fn other_programs_can_read_the_histogram(all in vec(latency(), 1..200)) {
        let histogram = decoded(&Latencies::of(all.iter().copied()).unwrap());
        let mut expect = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        all.iter().for_each(|s| expect.record((s * 1e9).round() as u64).unwrap());
        prop_assert!(histogram == expect, "{all:?}");
    }

    #[test]
    fn a_damaged_journal_is_an_error_and_nothing_worse(
        all in vec(latency(), 1..50), at in any::<prop::sample::Index>(), byte in 32u8..127, cut in any::<bool>(),
    ) {
        let latencies = Latencies::of(all.iter().copied()).unwrap();
        let mut text = latencies.histogram().as_bytes().to_vec();
        let at = at.index(text.len());
        if cut { text.truncate(at) } else { text[at] = byte }
        let mut json = serde_json::to_value(&latencies).unwrap();
        json["histogram"] = String::from_utf8(text.clone()).unwrap().into();
        if text != latencies.histogram().as_bytes() && let Ok(read) = serde_json::from_value::<Latencies>(json) {
            // The checksum is at the end, and not all of it is looked at.
            prop_assert_eq!(read.count(), latencies.count());
        }
    }
}

/// Written by another implementation, the Python package hdrhistogram 0.10: 1 to 1000 µs and one of 3 s, in its own range.
const OF_ANOTHER: &str = "HISTFAAAAI54nJNpmSzMwMB+ngECmKE0I5DpZrBjAYP9B4jAeX6ms/xMUzmYnrIzLWRh+sgMRcuZmL4zYkErGZmqm\
                          Srx4GwmayC0BZPk0bpM0kyyQIgg6c/nZ+Jl4gZiCESwsIsOV3l2JlYwZIbSqJB40VH9Q18/MxMjGsQQwAWJVkgLM0\
                          ctH7V8ZFj+fDsjEwAe3UD4";

#[test]
fn the_histogram_of_another_program_can_be_read() {
    let json =
        serde_json::json!({"count": 1001, "sum_s": 3.5005, "min_s": 1e-6, "max_s": 3.0, "histogram": OF_ANOTHER});
    let latencies: Latencies = serde_json::from_value(json).unwrap();
    // What that package itself says of it, in nanoseconds.
    for (q, ns) in [(0.5, 501_247.0), (0.9, 901_119.0), (0.99, 991_231.0), (0.999, 1_000_447.0)] {
        assert_eq!(latencies.quantile(q), ns / 1e9, "{q}");
    }
    let ours = Latencies::of((1..=1000).map(|us| f64::from(us) * 1e-6).chain([3.0])).unwrap();
    let counts = |latencies: &Latencies| {
        let histogram = decoded(latencies);
        let counts = histogram.iter_recorded().map(|at| (at.value_iterated_to(), at.count_at_value()));
        counts.collect::<Vec<_>>()
    };
    assert_eq!(counts(&latencies), counts(&ours));
}

#[test]
fn what_cannot_be_latencies_is_refused() {
    let json = serde_json::to_value(Latencies::of([0.5, 1.0]).unwrap()).unwrap();
    let fields: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["count", "sum_s", "min_s", "max_s", "histogram"]);
    for (field, value, part) in [
        ("histogram", serde_json::json!("no base64!"), "not valid base64"),
        ("histogram", serde_json::json!("AAAA"), "damaged"),
        ("histogram", serde_json::json!(""), "damaged"),
        ("count", serde_json::json!(3), "its count is 3, but it holds 2"),
        ("count", serde_json::json!(0), "its count is 0"),
        ("min_s", serde_json::json!(-1.0), "impossible"),
        ("min_s", serde_json::json!(2.0), "impossible"),
        ("sum_s", serde_json::json!(null), "invalid type"),
    ] {
        let mut damaged = json.clone();
        damaged[field] = value;
        let error = serde_json::from_value::<Latencies>(damaged).unwrap_err().to_string();
        assert!(error.contains(part), "{field}: {error}");
    }
}

#[test]
fn a_million_lines_need_no_more_memory_than_one() {
    let line = "op get 0.000123456\nop set 0.000234567\n";
    let chunk = Chunk { at_s: 0.5, bytes: line.repeat(500).into_bytes() };
    let mut reader = Reader::new(0.0);
    (0..1000).for_each(|_| reader.push(&chunk));
    let told = reader.finish(1.0).unwrap();
    assert_eq!(told.marks.ops_count(), 1_000_000);
    // What a journal keeps of them does not grow with them either.
    let text = serde_json::to_string(&told.marks).unwrap();
    assert!(text.len() < 1000, "{} bytes: {text}", text.len());
}
