//! `bakeoff check-summary` as a whole: from text to exit code, good input and bad.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::Shown;
use std::io::Write as _;
use std::process::{Command, Stdio};

fn check(text: &[u8], words: &[&str]) -> Shown {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bakeoff"))
        .arg("check-summary")
        .args(words)
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // It may have seen enough before the end.
    let _ = stdin.write_all(text);
    drop(stdin);
    Shown::of(&child.wait_with_output().unwrap())
}

const CLOSE: &str = "A avg 100.00 min 99.7 max 100.3 sd 0.10 n 50\nB avg 100.20 min 99.9 max 100.5 sd 0.10 n 50\n";

#[test]
fn each_claim_gets_its_outcome_and_its_reason() {
    for (text, claim, outcome, why) in [
        (CLOSE, "B slower", "supported", "excludes zero"),
        (CLOSE, "B 0.2% slower than A", "supported", "+0.200 %"),
        (CLOSE, "A faster by 0.20", "supported", "−0.2"),
        (CLOSE, "B 0.5% slower", "contradicted", "is outside the interval"),
        (CLOSE, "B 0.23% slower", "not shown", "the claimed size is possible, but the figures give a different size"),
        (CLOSE, "B faster", "contradicted", "the opposite"),
        (CLOSE, "A = B", "contradicted", "\"no difference\" is not"),
        (CLOSE, "equal within 0.5%", "supported", "differ, but by less than ±0.5 %, as claimed"),
        (CLOSE, "equal within 0.1%", "contradicted", "beyond ±0.1 %"),
        (CLOSE, "equal within 0.2%", "not shown", "equality is not shown"),
        (CLOSE, "no significant difference", "contradicted", "they differ"),
        ("A avg 5 sd 1 n 4\nB avg 5.1 sd 1 n 4", "A = B", "not shown", "does not show that there is none"),
        ("A avg 5 sd 1 n 4\nB avg 5.1 sd 1 n 4", "not significant", "supported", "does not show equality"),
        ("A avg 5 sd 1 n 4\nB avg 5.1 sd 1 n 4", "B slower", "not shown", "does not show equality"),
        ("A avg 5 sd 0 n 4\nB avg 6 sd 0.2 n 4", "B slower", "not shown", "digits"),
        ("A avg 2.0 n 9\nB avg 3.0 n 9", "B 50% slower", "not shown", "no interval"),
        ("A avg 2.0 n 9\nB avg 3.0 n 9", "B 10% slower", "contradicted", "published means give"),
        ("A avg 2 s min 4 n 9\nB avg 3 s n 9", "B slower", "impossible", "figures of A are impossible"),
        ("A avg 2 s sd 1 n 9\nB avg 30 s sd 1 n 9", "B slower by 28 ms", "not shown", "figures' unit is s"),
    ] {
        let shown = check(text.as_bytes(), &["--claim", claim, "--require"]);
        let code = i32::from(outcome != "supported");
        shown.expect(code, &[&format!("claim \"{claim}\": {outcome}"), why, "the order of the measurements"]);
    }
}

#[test]
fn more_can_be_better() {
    let words = ["--claim", "B faster", "--higher-is-better", "--require"];
    check(CLOSE.as_bytes(), &words).expect(0, &["supported"]);
    check(CLOSE.as_bytes(), &["--baseline", "B"]).expect(0, &["A against B"]);
    // A rate tells it.
    for unit in ["ops/us", "MB/s", "req/s", "frames/sec", "fps", "IOPS"] {
        let rates = CLOSE.replace(" min", &format!(" {unit} min"));
        check(rates.as_bytes(), &["--claim", "B faster", "--require"]).expect(0, &["supported"]);
        check(rates.as_bytes(), &["--claim", "B slower"]).expect(0, &["contradicted"]);
    }
    let cost = CLOSE.replace(" min", " ns/op min");
    check(cost.as_bytes(), &["--claim", "B slower", "--require"]).expect(0, &["supported"]);
}

#[test]
fn three_values_come_back_and_cannot_show_much() {
    let shown = check(b"A n 3 min 1.00 max 3.00 avg 2.00\nB n 3 min 2.00 max 2.00 avg 2.00\n", &[]);
    shown.expect(
        0,
        &[
            "A: only the values 1.000 ± 0.005, 2.00 ± 0.03 and 3.000 ± 0.005 fit these figures",
            "no exact test can reach 95 %",
        ],
    );
}

#[test]
fn bad_input_gets_a_clear_error_or_an_honest_answer() {
    for (text, code, parts) in [
        (&b""[..], 2, &["the input has no figures", "standard input"][..]),
        (b"A n 3 avg nan", 2, &["`nan` is not a number", "remedy"]),
        (b"A n 3 avg -Inf", 2, &["`-Inf` is not a number"]),
        (b"A n 0 avg 1", 2, &["n is `0`"]),
        (b"A n 3 avg 1\n7 rubbish 8\nB n 3 avg 2", 2, &["standard input:2:1", "cannot read any figures in this line"]),
        (b"A n 3 avg 1\nA remark.\nB n 3 avg 2", 0, &["1 line was taken as a title or remark and ignored: 2"]),
        (b"A avg 1\nB avg 2", 0, &["B against A", "an interval needs n and the sd of A and n and"]),
        (b"A n 3 avg 1\n\xff\n", 2, &["line 2 is not UTF-8"]),
        (
            b"A n 1 avg 1\r\nB n 1 avg 2\r\n",
            0,
            &["no interval, so there is no verdict; an interval needs a second value of A"],
        ),
        (b"A n 3 avg 2 sd -1", 0, &["a standard deviation is never negative"]),
        (b"A n 3 avg 1e90 sd 1e88\nB n 4 avg 2e90 sd 1e88", 0, &["B against A", "possible"]),
        (b"A n 3 avg 0 sd 0\nB n 3 avg 0 sd 0", 0, &["shown to differ: "]),
        (b"A n 18446744073709551615 avg 1 sd 1\nB n 3 avg 1 sd 1", 0, &["B against A"]),
        (b"A n 3 avg -5.0 sd 1.0\nB n 3 avg 5.0 sd 1.0", 0, &["+10.0"]),
    ] {
        let shown = check(text, &[]);
        shown.expect(code, parts);
    }
    check(b"A n 3 avg 1", &["--claim", "A slower"]).expect(2, &["needs two summaries"]);
    check(CLOSE.as_bytes(), &["--claim", "B sluggish"]).expect(2, &["cannot understand `sluggish`"]);
    check(CLOSE.as_bytes(), &["--baseline", "C"]).expect(2, &["there is no summary named `C`"]);
    check(b"", &["/nonexistent/file"]).expect(2, &["cannot read /nonexistent/file"]);
    let long = vec![b'\n'; (16 << 20) + 1];
    check(&long, &[]).expect(2, &["larger than 16 MiB"]);
}

#[test]
fn the_findings_as_json_have_the_outcomes() {
    let shown = check(CLOSE.as_bytes(), &["--json", "--claim", "B slower"]);
    let findings: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(findings["claims"][0]["outcome"], "supported");
    assert_eq!(findings["comparisons"].as_array().unwrap().len(), 1);
    assert_eq!(findings["caveats"][0]["kind"], "order-unknown");
}

/// A write-up of each form, with made-up figures, is read whole; only figures of a quantity are compared.
#[test]
fn the_forms_of_write_ups_are_read() {
    let sections = "real\nx gcc\n+ clang\n    N Min Max Median Avg Stddev\nx 3 4.21 4.27 4.24 4.24 0.03\n\
                    + 3 4.31 4.36 4.33 4.3333333 0.025166115\nDifference at 95.0% confidence\n\
                    \t0.0933333 +/- 0.0627592\n\t2.20126% +/- 1.48017%\n\
                    \t(Student's t, pooled s = 0.0276887)\nuser\n    N Min Max Median Avg Stddev\n\
                    x 3 3.21 3.27 3.24 3.24 0.03\n+ 3 3.22 3.27 3.24 3.2433333 0.025166115\n\
                    No difference proven at 95.0% confidence\n";
    let claim = ["--claim", "real: clang 2.2% slower", "--require"];
    let real = ["real: clang against gcc", "user: clang against gcc", "1.48017%\" follows", "supported"];
    check(sections.as_bytes(), &claim).expect(0, &real);
    let wrong = sections.replace("0.0933333", "0.1933333");
    check(wrong.as_bytes(), &claim).expect(1, &["does not follow: the figures give +0.093"]);
    let proven = sections.replace("3 3.22 3.27 3.24 3.2433333", "3 3.42 3.47 3.44 3.4433333");
    check(proven.as_bytes(), &claim)
        .expect(1, &["\"No difference proven at 95 %\" does not follow", "show a difference"]);

    let charges = "before\ncharge avg_t : 0.61\ncharge min_t : 0.40\ncharge max_t : 1.92\nquote avg_t : 0.153\n\
                   after\ncharge avg_t : 0.44\ncharge min_t : 0.31\ncharge max_t : 1.20\nquote avg_t : 0.114\n";
    let shown = check(charges.as_bytes(), &["--claim", "quote: after 10% faster"]);
    shown
        .expect(0, &["charge: after against before", "quote: after against before", "contradicted", "n and the sd of"]);
    check(charges.as_bytes(), &["--claim", "after 10% faster"])
        .expect(2, &["the claim could be about several quantities", "`charge: …`"]);

    let csv = "Scan times\n\"build, flags\",phase,unit,n,avg,sd,year\n\"gcc, -O2\",scan,s,20,12.31,0.21,2013\n\
               \"gcc, -O2\",peak,kB,20,91000,90,2013\n\"clang, -O2\",scan,s,20,12.52,0.19,2013\n\
               \"clang, -O2\",peak,kB,20,91010,95,2013\n";
    let shown = check(csv.as_bytes(), &["--claim", "scan: clang, -O2 is ~1.7% slower", "--require"]);
    shown.expect(0, &["scan: clang, -O2 against gcc, -O2", "peak, kB", "ignored: 1", "`year`", "supported"]);
    assert!(!shown.out.contains("kB against") && shown.out.matches(" against ").count() == 3, "{}", shown.out);

    let list = |real: &str, peak: u32| {
        format!("       {real} real        11.20 user         0.90 sys\n    {peak}  maximum resident set size\n")
    };
    let lists = format!("gcc:\n{}clang:\n{}", list("12.34", 123_456), list("12.10", 123_460));
    let shown = check(lists.as_bytes(), &["--claim", "real: equally fast"]);
    shown.expect(
        0,
        &["real, s", "maximum resident set size: clang against gcc", "a second value of clang", "not shown"],
    );
}

#[test]
fn whole_write_ups_are_read_as_they_are() {
    let kernels = include_bytes!("../samples/kernel-article.txt");
    let claims = ["--claim", "real: B ~1.4% slower than A", "--claim", "sys: D ~5.5% slower than C", "--require"];
    let shown = check(kernels, &claims);
    shown.expect(0, &["sys: Building world, multi-threaded", "22 lines were taken as titles or remarks", "1, 4, 6–8"]);
    assert!(!shown.out.contains("against real") && shown.out.matches(": supported").count() == 2, "{}", shown.out);
    let daemon = include_bytes!("../samples/daemon-mail.txt");
    let shown = check(daemon, &["--claim", "charge: fix + no load 10% faster than no fix + no load"]);
    shown.expect(0, &["14 lines were taken", "charge: fix + load against no fix + load", "contradicted", "−22.38"]);
}
