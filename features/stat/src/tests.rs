//! The page: what tells samples apart is shown, and no string of theirs steers a terminal.

use crate::page::stat;
use bakeoff_judge::findings::Inferred;
use bakeoff_judge::judge_samples;
use bakeoff_judge::samples::{SampleFindings, Terms};
use bakeoff_readers::Sample;
use bakeoff_report::Style;
use bakeoff_testkit::foreign::{STEERING, is_harmless, steered};

const STYLE: Style = Style { width: 100, colour: false };

/// Samples of one thing that differ in `pkg`, and share `goos`.
#[test]
fn numbers_from_elsewhere_show_what_tells_them_apart_and_the_intervals_that_are_printed() {
    let sample = |pkg: &str, col: &str, factor: f64| Sample {
        settings: [("goos", "linux"), ("pkg", pkg)].map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        row: "Parse".to_owned(),
        col: col.to_owned(),
        unit: "sec".to_owned(),
        values: (0..40).map(|i| factor * (1.0 + 0.001 * f64::from(i * 7 % 11))).collect(),
        ..Sample::default()
    };
    let samples = vec![sample("a", "old", 1.0), sample("a", "new", 1.001), sample("b", "old", 1.0)];
    let terms = Terms { confidence: 0.95, margin: 0.01, paired: false, baseline: None };
    let mut findings = judge_samples(samples, &terms).unwrap();
    let page = |findings: &SampleFindings| stat(findings, &[], Style { width: 120, colour: false });
    let before = page(&findings);
    assert!(before.contains("Parse (pkg: a); in s") && before.contains("Parse (pkg: b); in s"), "{before}");
    assert!(!before.contains("goos"), "{before}");
    let comparison = findings.tables[0].samples[1].comparison.as_mut().unwrap();
    assert!(comparison.is_within(), "{before}");
    let Inferred::Tested(tested) = &mut comparison.inferred else { panic!("no test: {comparison:?}") };
    tested.interval = Some([0.2, 5.0]);
    assert_eq!(page(&findings), before);
}

#[test]
fn no_string_of_samples_steers_a_terminal() {
    let sample = |pkg: &str, col: &str, shift: f64| Sample {
        settings: [("pkg".to_owned(), pkg.to_owned())].into(),
        row: "sort".to_owned(),
        col: col.to_owned(),
        unit: "things/op".to_owned(),
        vary: ["cpu".to_owned()].into(),
        values: (0..9).map(|i| 100.0 + f64::from(i * 7 % 9) + shift).collect(),
        ..Sample::default()
    };
    let samples = vec![sample("x", "a", 0.0), sample("x", "b", 50.0), sample("y", "a", 0.0)];
    let terms = Terms { confidence: 0.95, margin: 0.01, paired: false, baseline: None };
    let value = serde_json::to_value(judge_samples(samples, &terms).unwrap()).unwrap();
    let mut tried = 0;
    for steered in steered(&value) {
        let Ok(steered) = serde_json::from_value::<SampleFindings>(steered) else { continue };
        let page = stat(&steered, &[format!("a remark{STEERING}")], STYLE);
        assert!(is_harmless(&page), "{page:?}");
        tried += 1;
    }
    assert!(tried > 20, "only {tried} strings were found");
}
