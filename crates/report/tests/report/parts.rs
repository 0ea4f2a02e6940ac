//! The page as data: its words are those of the terminal, its tables have the same footnotes, and what an answer rests on says no
//! more than the record has.

use bakeoff_model::record::{Failure, Outcome, Output, Record};
use bakeoff_report::draw::paint::Item;
use bakeoff_report::draw::text::unglue;
use bakeoff_report::{Ground, Style, grounds, parts, terminal, to_pass_on};
use bakeoff_testkit::findings::{all, troubled};
use bakeoff_testkit::letters;
use bakeoff_testkit::records::{execute, measure, noise, study};

fn words(text: &str) -> String {
    unglue(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_item_says_what_the_terminal_says() {
    for (name, findings) in all() {
        let whole = words(&terminal(&findings, Style { width: 99, colour: false }));
        let parts = parts(&findings, &[], None);
        let mut seen = 0;
        for item in parts.sections.iter().flat_map(|section| &section.items) {
            let said: Vec<String> = match item {
                Item::Paragraph(piece) => vec![words(&letters(&piece.text))],
                Item::Line(pieces) => vec![words(&pieces.iter().map(|piece| letters(&piece.text)).collect::<String>())],
                // A row may be broken where its name is long.
                Item::Table { rows, .. } => rows.iter().flatten().map(|piece| words(&letters(&piece.text))).collect(),
                Item::Quote(line) => vec![words(&letters(line))],
            };
            // A page draws what belongs to the row above in its own way, so it must not be spaces only.
            if let Item::Table { rows, .. } = item {
                for first in rows.iter().filter_map(|row| row.first()) {
                    assert_eq!(letters(&first.text).starts_with(' '), first.is_indented, "{name}: {first:?}");
                }
            }
            for text in said {
                assert!(whole.contains(&text), "{name}: {text} is not in {whole}");
                seen += 1;
            }
        }
        assert!(seen > 3, "{name}: {seen}");
        for (number, note) in (1..).zip(&parts.notes) {
            assert!(whole.contains(&words(&format!("[{number}] {}", letters(note)))), "{name}: [{number}] {note:?}");
        }
        for (table, text) in findings.tables.iter().zip(&parts.tables) {
            assert_eq!(text.rows.len(), text.variants.len());
            assert_eq!(table.rows.len(), text.rows.len());
            // Names are cleaned only where they are shown.
            let are_known = text.variants.iter().all(|variant| table.rows.iter().any(|row| row.variant == *variant));
            assert!(are_known, "{name}: {:?}", text.variants);
        }
    }
}

fn record(fill: impl Fn(&mut bakeoff_model::record::Trial)) -> Record {
    let mut record = study(&["baseline", "b"], &["idle"], &["wall"]);
    execute(&mut record, 12, |trial| {
        let value = noise(trial);
        measure(trial, "wall", value);
        fill(trial);
    });
    record
}

#[test]
fn what_holds_is_said_to_hold_and_nothing_else() {
    let check = |record: &Record, expect: &[(&str, bool)]| {
        let said = grounds(&bakeoff_judge::judge(record), record);
        for (title, is_full) in expect {
            let found = said.iter().find(|ground: &&Ground| letters(&ground.title).starts_with(title));
            assert_eq!(found.map(|ground| ground.is_full), Some(*is_full), "{title}: {said:?}");
        }
    };
    let printed = |trial: &mut bakeoff_model::record::Trial| {
        trial.output = vec![Output { bytes: 3, sha256: "a".repeat(64) }];
    };
    let noisy = "the machine's noise: ";
    check(&record(|_| {}), &[("outputs were not compared", false), ("36 of 36 trials count", true), (noisy, true)]);
    check(&record(printed), &[("all variants print the same", true)]);
    let lost = record(|trial| match trial.block {
        1 => trial.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] }),
        2 => trial.outcome = Outcome::Void("busy".to_owned()),
        _ => {}
    });
    check(&lost, &[("30 of 36 trials count", false)]);
    let none = study(&["baseline", "b"], &["idle"], &["wall"]);
    assert_eq!(grounds(&bakeoff_judge::judge(&none), &none), []);
}

#[test]
fn what_is_passed_on_names_no_machine_and_no_folder() {
    let mut findings = troubled();
    let log = "/home/somebody/.cache/bakeoff/logs/1.log".to_owned();
    findings.sections.insert("made".to_owned(), serde_json::json!([{ "log": log }]));
    findings.besides.files = vec![log];
    let passed = to_pass_on(&findings);
    assert!(findings.places.iter().any(|place| !place.host.is_empty()));
    assert!(passed.places.iter().all(|place| place.host.is_empty()));
    let text = serde_json::to_string(&passed).unwrap();
    assert!(text.contains("\"logs/1.log\""), "{text}");
    assert!(!text.contains("/home/somebody"), "{text}");
}
