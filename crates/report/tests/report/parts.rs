//! The page as data: its words are those of the terminal, and its tables have the same footnotes.

use bakeoff_report::draw::notes::Notes;
use bakeoff_report::draw::paint::Item;
use bakeoff_report::draw::text::unglue;
use bakeoff_report::{Style, drawn, table_texts, terminal, to_pass_on};
use bakeoff_testkit::findings::{all, troubled};
use bakeoff_testkit::letters;

fn words(text: &str) -> String {
    unglue(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_item_says_what_the_terminal_says() {
    for (name, findings) in all() {
        let whole = words(&terminal(&findings, Style { width: 99, colour: false }));
        let mut notes = Notes::default();
        let sections = drawn(&findings, &[], &mut notes, 99, None);
        let (tables, notes) = (table_texts(&findings, None, &mut notes), notes.into_texts());
        let mut seen = 0;
        for item in sections.into_iter().flat_map(|(_, page)| page.into_items()) {
            let said: Vec<String> = match &item {
                Item::Paragraph(piece) => vec![words(&letters(&piece.text))],
                Item::Line(pieces) => vec![words(&pieces.iter().map(|piece| letters(&piece.text)).collect::<String>())],
                // A row may be broken where its name is long.
                Item::Table { rows, .. } => rows.iter().flatten().map(|piece| words(&letters(&piece.text))).collect(),
                Item::Quote(line) => vec![words(&letters(line))],
            };
            // A page draws what belongs to the row above in its own way, so it must not be spaces only.
            if let Item::Table { rows, .. } = &item {
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
        for (number, note) in (1..).zip(&notes) {
            assert!(whole.contains(&words(&format!("[{number}] {}", letters(note)))), "{name}: [{number}] {note:?}");
        }
        for (table, text) in findings.tables.iter().zip(&tables) {
            assert_eq!(text.rows.len(), text.variants.len());
            assert_eq!(table.rows.len(), text.rows.len());
            // Names are cleaned only where they are shown.
            let are_known = text.variants.iter().all(|variant| table.rows.iter().any(|row| row.variant == *variant));
            assert!(are_known, "{name}: {:?}", text.variants);
        }
    }
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
