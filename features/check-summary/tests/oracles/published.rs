//! Recomputed summaries, against their oracles: Debian's ministat prints the tables, R's `t.test` has the values. What
//! is read back from the digits must hold what R says, and must call nothing impossible.

use bakeoff_check_summary::check::{Estimate, SummaryFindings, Terms, Test, check_summary};
use bakeoff_check_summary::published::read;
use bakeoff_model::shuffle::Stream;
use bakeoff_testkit::oracle::{Case, Oracle};
use std::process::Command;

pub(crate) const CASES: &[Case] = &[
    Case { name: "published: ministat's tables hold what R finds in the values", oracle: Oracle::R, check: ministat },
    Case {
        name: "published: figures of few digits hold what R finds in the values",
        oracle: Oracle::R,
        check: few_digits,
    },
];

const SEED: u64 = 178;

fn terms() -> Terms {
    Terms { baseline: 0, margin: 0.01, confidence: 0.95, more_is_better: false }
}

/// Pairs of lists: of all sizes, of one and of different spreads, with the digits of a stopwatch and with all.
fn pairs() -> Vec<Vec<f64>> {
    println!("seed {SEED}");
    let mut stream = Stream::of(SEED, &["published"]);
    let mut uniform = move || stream.unit();
    let mut lists = vec![];
    for pair in 0..60 {
        let centre = [0.05, 4.0, 300.0, 1e6][pair % 4];
        for arm in 0..2 {
            let n = 3 + (uniform() * if pair % 5 == 0 { 90.0 } else { 9.0 }) as usize;
            let spread = centre * if pair % 3 == 0 { 0.002 } else { 0.05 * (1.0 + arm as f64) };
            let shift = 1.0 + 0.02 * arm as f64 * uniform();
            let mut value = || centre * shift + spread * (uniform() + uniform() + uniform() - 1.5);
            let step: f64 = if pair % 2 == 0 { 1e-9 } else { centre / 400.0 };
            lists.push((0..n).map(|_| (value() / step).round() * step).collect());
        }
    }
    lists
}

/// The findings of each pair must hold what R says of it.
fn check(lists: &[Vec<f64>], texts: &[String]) {
    let said = Oracle::R.ask(script!("published.R"), lists);
    assert_eq!(said.len(), texts.len());
    for (text, said) in texts.iter().zip(said) {
        let published = read("table", text).unwrap_or_else(|problems| panic!("{}", problems.render(false)));
        let findings: SummaryFindings = check_summary(&published, &[], terms());
        for summary in &findings.summaries {
            assert_eq!(summary.impossible, None, "{text}");
        }
        let comparison = &findings.comparisons[0];
        for (test, said) in [comparison.welch, comparison.pooled].into_iter().zip(said.chunks(4)) {
            let Test { estimate: Estimate { estimate, low, high }, p } = test.unwrap();
            let size = said[..3].iter().fold(0.0f64, |size, x| size.max(x.abs()));
            for (what, [from, to], theirs, size) in [
                ("difference", estimate, said[0], size),
                ("low", low, said[1], size),
                ("high", high, said[2], size),
                ("p", p, said[3], 1.0),
            ] {
                let slack = 1e-9 * size;
                assert!(
                    from - slack <= theirs && theirs <= to + slack,
                    "{what}: {theirs} not in [{from}, {to}] of\n{text}"
                );
            }
        }
    }
}

fn ministat() {
    let folder = std::env::temp_dir().join(format!("bakeoff-published-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let lists = pairs();
    let mut texts = vec![];
    for pair in lists.chunks(2) {
        for (name, list) in ["a", "b"].iter().zip(pair) {
            let lines: String = list.iter().map(|x| format!("{x}\n")).collect();
            std::fs::write(folder.join(name), lines).unwrap();
        }
        let Ok(output) = Command::new("ministat").args(["a", "b"]).current_dir(&folder).output() else {
            println!("ministat is not installed; not checked");
            return;
        };
        // Its one pass of sums makes a negative variance of some equal values; what it then prints is read as unknown.
        texts.push(String::from_utf8(output.stdout).unwrap().replace("-nan", "   -"));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(texts[0].contains("Stddev"), "{}", texts[0]);
    check(&lists, &texts);
}

/// Printed to three to five digits, without the median; sometimes without the deviation, which the others then bound.
fn few_digits() {
    let lists = pairs();
    let texts = lists.chunks(2).enumerate().map(|(index, pair)| {
        let line = |list: &Vec<f64>| {
            let n = list.len() as f64;
            let mean = list.iter().sum::<f64>() / n;
            let sd = (list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
            let (min, max) = list.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
            let digits = 2 + index % 3;
            let sd = if index % 7 == 0 { String::new() } else { format!(" sd {sd:.digits$e}") };
            format!("avg {mean:.digits$e} min {min:.digits$e} max {max:.digits$e}{sd} n {n}\n")
        };
        format!("A {}B {}", line(&pair[0]), line(&pair[1]))
    });
    let texts: Vec<String> = texts.collect();
    check(&lists, &texts);
}
