//! A whole page with the section, compared with the files in `snapshots/`. `BAKEOFF_UPDATE=1` rewrites the files; look at
//! them before you commit them.

use super::fixture::evidence;
use super::{causes, print};
use crate::findings::SECTION;
use bakeoff_building::Building;
use bakeoff_command::Registry;
use bakeoff_judge::findings::{Findings, Verdict};
use bakeoff_report::{Context, SectionPage, Style, brief, terminal_with};
use bakeoff_testkit::foreign::{is_harmless, steered};
use bakeoff_testkit::letters;
use std::path::PathBuf;

fn page(findings: &Findings, width: usize) -> String {
    let of_builds = Registry::of(&[&Building]).pages();
    terminal_with(
        findings,
        &[vec![SectionPage { name: SECTION, draw: print, causes, below_doubts: false }], of_builds].concat(),
        None,
        Style { width, colour: false },
        None,
    )
}

fn check(name: &str, page: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/page/snapshots").join(name);
    if std::env::var("BAKEOFF_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(&path, page).unwrap();
    }
    assert_eq!(page, std::fs::read_to_string(&path).unwrap(), "{name}; BAKEOFF_UPDATE=1 writes it");
}

#[test]
fn the_section_is_as_expected() {
    for width in [80, 120] {
        check(&format!("evidence-{width}.txt"), &page(&evidence(), width));
    }
    check("evidence-answer.txt", &(letters(&brief(&evidence(), Context::default()).answer) + "\n"));
}

#[test]
fn beside_building_an_interval_says_its_confidence() {
    let mut findings = evidence();
    findings.besides.costs[0].time.verdict = Verdict::Negligible;
    let table = page(&findings, 120);
    let table = table.split("building, also measured").nth(1).unwrap_or_default();
    assert!(table.contains(" at 90 %"), "{table}");
}

/// `docs/understanding/report.md` shows pieces of this page.
#[test]
fn the_document_shows_what_is_printed() {
    let document =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/understanding/report.md")).unwrap();
    let pages = [80, 120].map(|width| page(&evidence(), width));
    let pieces: Vec<&str> =
        document.split("```text evidence\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(
        !pieces.is_empty() && pieces.iter().all(|piece| pages.iter().any(|page| page.contains(piece))),
        "{pieces:?}"
    );
}

#[test]
fn no_string_of_the_section_steers_a_terminal() {
    let mut tried = 0;
    let findings = evidence();
    for section in steered(&findings.sections[SECTION]) {
        let mut findings = findings.clone();
        findings.sections.insert(SECTION.to_owned(), section);
        assert!(is_harmless(&page(&findings, 100)));
        tried += 1;
    }
    assert!(tried > 40, "only {tried} strings were found");
}
