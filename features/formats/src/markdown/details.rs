//! The folded part of the page: every table, the machine, how it was judged, and how to repeat it.

use super::escape::{block, code, inline, line};
use bakeoff_judge::findings::Findings;
use bakeoff_model::record::Record;
use bakeoff_report::draw::notes::Notes;
use bakeoff_report::{TimeUnit, again, provenance, table_texts, text, to_pass_on};

/// All of it.
pub(super) fn folded(record: &Record, findings: &Findings, time_unit: Option<TimeUnit>) -> String {
    let mut out =
        "\n<details>\n<summary>All metrics, machine, method, and how to repeat the study</summary>\n\n".to_owned();
    let mut notes = Notes::default();
    let tables = table_texts(findings, time_unit, &mut notes);
    let notes = notes.into_texts();
    for table in &tables {
        out += &format!("{}\n\n", line(&table.caption));
        let titles: Vec<String> = table.titles.iter().map(line).collect();
        out += &format!("| {} |\n|:--|{}\n", titles.join(" | "), "--:|".repeat(titles.len().saturating_sub(1)));
        for cells in &table.rows {
            let cells = cells.iter().enumerate();
            let cells = cells.map(|(at, cell)| if at == 0 { code(cell) } else { line(cell) });
            out += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        }
        out += &format!("\n{}\n\n", line(&table.noise));
    }
    if !notes.is_empty() {
        (1..)
            .zip(&notes)
            .for_each(|(number, note)| out += &format!("- {}\n", line(&text![format!("[{number}] "), note])));
        out.push('\n');
    }
    // Who reads a pull request need not know what the machine is called.
    for paragraph in provenance::paragraphs(&to_pass_on(findings)) {
        out += &format!("- {}\n", line(&paragraph.line()));
    }
    out += &format!("\nTo repeat the study with bakeoff {}:\n\n", inline(&record.study.bakeoff));
    out + &block(&again(record, findings)) + "\n</details>\n"
}
