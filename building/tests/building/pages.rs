//! Pages with builds, compared with the files in `snapshots/`. `BAKEOFF_UPDATE=1` writes the files anew; look at them before
//! you commit them.

use super::judged::judge;
use super::records::BuiltRecord;
use crate::Building;
use crate::journal::{BuildLine, BuildOutcome, LayerLine};
use crate::judged::describe;
use bakeoff_command::Registry;
use bakeoff_judge::findings::Findings;
use bakeoff_report::{Context, Style, json, provenance, screen, terminal_with, to_pass_on};
use bakeoff_testkit::findings::{all, built, doubtful, unbuilt};
use bakeoff_testkit::foreign::{is_harmless, steered};
use bakeoff_testkit::records::study;
use std::path::PathBuf;

fn page(findings: &Findings, width: usize) -> String {
    terminal_with(findings, &Registry::of(&[&Building]).pages(), None, Style { width, colour: false }, None)
}

fn check(name: &str, page: &str) -> Result<(), String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var("BAKEOFF_UPDATE").is_ok_and(|value| value == "1") {
        return std::fs::write(&path, page).map_err(|why| format!("{name}: {why}"));
    }
    let expect = std::fs::read_to_string(&path).map_err(|why| format!("{name}: {why}; BAKEOFF_UPDATE=1 writes it"))?;
    if page == expect { Ok(()) } else { Err(format!("{name} differs\n--- expected\n{expect}\n--- printed\n{page}")) }
}

#[test]
fn pages_with_builds_are_as_expected() {
    let mut differences = vec![];
    for (name, findings) in all() {
        if findings.sections["builds"].as_array().is_some_and(|builds| !builds.is_empty()) {
            for width in [80, 120] {
                differences.extend(check(&format!("{name}-{width}.txt"), &page(&findings, width)).err());
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn pages_with_builds_fit_their_width_and_a_mail() {
    for (name, findings) in all() {
        for width in [80, 100, 120, 200] {
            for line in page(&findings, width).lines() {
                let columns = bakeoff_report::draw::text::width(line);
                assert!(columns <= width, "{name}: {columns} columns of {width}: {line}");
                assert_eq!(line, line.trim_end(), "{name}: spaces at the end");
                assert!(!line.chars().any(char::is_control), "{name}: a control character");
            }
        }
    }
}

#[test]
fn a_flag_without_effect_is_in_the_answer() {
    let findings = doubtful();
    let screen = screen(&findings, Context::default(), Style { width: 80, colour: false });
    let lines: Vec<&str> = screen.lines().collect();
    assert!(lines[..3].iter().any(|line| line.contains("is the same program as the baseline")), "{screen}");
    assert!(lines[lines.len() - 1].contains("-O3 reached nothing; "), "{screen}");
}

#[test]
fn no_string_about_builds_steers_a_terminal() {
    let mut tried = 0;
    for (name, findings) in all() {
        for section in ["builds", "build_doubts"] {
            let Some(data) = findings.sections.get(section) else { continue };
            for data in steered(data) {
                let mut findings = findings.clone();
                findings.sections.insert(section.to_owned(), data);
                let page = page(&findings, 100);
                assert!(is_harmless(&page), "{name}: {page:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "only {tried} strings were found");
}

/// JSON is passed on: it names no folder of the user, wherever a path stands.
#[test]
fn what_is_passed_on_names_no_folder() {
    let record = study(&["baseline", "threads=on"], &["idle"], &["wall"]);
    let builds: Vec<BuildLine> =
        [built(&["baseline"], false, 61.0), unbuilt("threads=on")].map(|b| serde_json::from_value(b).unwrap()).to_vec();
    let mut record = BuiltRecord::of(record, builds);
    let place = || Some("/srv/ann/cache/logs/5e1f.log".to_owned());
    for BuildLine { layers, tools, outcome, .. } in &mut record.builds {
        layers.push(LayerLine { log: place(), ..LayerLine::default() });
        tools.insert("gcc".to_owned(), "/home/ann/bin/gcc 12.2".to_owned());
        if let BuildOutcome::Failed { log, tail, .. } = outcome {
            *log = place();
            tail.push("cc: /home/ann/study/x.c: no such file".to_owned());
        }
    }
    record.builds[1].digest = "1".to_owned();
    let findings = judge(&record);
    assert!(page(&findings, 200).contains("/srv/ann/cache/logs/5e1f.log"), "a person may open it");
    let text = json(&findings, Some("/home/ann/")).unwrap();
    assert!(!text.contains("/ann"), "{text}");
    assert!(text.contains("\"logs/5e1f.log\"") && text.contains("~/bin/gcc 12.2"), "{text}");
    let text = serde_json::to_string(&to_pass_on(&findings)).unwrap();
    assert!(!text.contains("/srv/ann"), "{text}");
}

fn provenance_of(builds: Vec<BuildLine>) -> String {
    let record = BuiltRecord::of(study(&["baseline"], &["idle"], &["wall"]), builds).whole();
    provenance(&record, describe, Style { width: 100, colour: false })
}

#[test]
fn everything_behind_a_build_is_told() {
    let build: BuildLine = serde_json::from_value(built(&["baseline"], false, 61.0)).unwrap();
    let layer = LayerLine {
        name: "perl".to_owned(),
        digest: "0".repeat(64),
        log: Some("logs/0.log".to_owned()),
        compiler_cache: Some("ccache".to_owned()),
        ..LayerLine::default()
    };
    let sources = [("perl".to_owned(), "1".repeat(64))].into();
    let mut build = BuildLine { layers: vec![layer], sources, ..build };
    build.tools.insert("cc".to_owned(), "/usr/bin/cc (12)".to_owned());
    let digest = build.digest.clone();
    let page = provenance_of(vec![build.clone(), serde_json::from_value(unbuilt("threads=on")).unwrap()]);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let (zeros, sum) = ("0".repeat(64), format!("source perl: SHA-256 {}", "1".repeat(64)));
    for part in [&digest, &zeros, "logs/0.log", "tool cc: /usr/bin/cc (12)", &sum, "not built: layer perl"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let mut tried = 0;
    for steered in steered(&serde_json::to_value(&build).unwrap()) {
        let Ok(build) = serde_json::from_value(steered) else { continue };
        let page = provenance_of(vec![build]);
        assert!(is_harmless(&page), "{page:?}");
        tried += 1;
    }
    assert!(tried > 10, "only {tried} strings were found");
}
