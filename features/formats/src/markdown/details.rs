//! The folded part of the page: every table, the machine, how it was judged, and how to repeat it.

use super::escape::{block, inline, name};
use bakeoff_judge::findings::Findings;
use bakeoff_model::record::Record;
use bakeoff_model::until::Until;
use bakeoff_report::draw::text::unglue;
use bakeoff_report::{TimeUnit, provenance, table_texts};

/// What `compare` calls the condition that nobody asked for.
const IDLE: &str = "idle";

/// All of it.
pub(super) fn folded(record: &Record, findings: &Findings, time_unit: Option<TimeUnit>) -> String {
    let mut out = "\n<details>\n<summary>All metrics, machine, method, and how to repeat it</summary>\n\n".to_owned();
    let (tables, notes) = table_texts(findings, time_unit);
    for table in &tables {
        out += &format!("{}\n\n", inline(&table.caption));
        let titles: Vec<String> = table.titles.iter().map(|title| inline(title)).collect();
        out += &format!("| {} |\n|:--|{}\n", titles.join(" | "), "--:|".repeat(titles.len().saturating_sub(1)));
        for cells in &table.rows {
            let cells = cells.iter().enumerate();
            let cells = cells.map(|(at, cell)| if at == 0 { name(cell) } else { inline(cell) });
            out += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        }
        out += &format!("\n{}\n\n", inline(&table.noise));
    }
    if !notes.is_empty() {
        (1..).zip(&notes).for_each(|(number, note)| out += &format!("- {}\n", inline(&format!("[{number}] {note}"))));
        out.push('\n');
    }
    // Who reads a pull request need not know what the machine is called.
    let mut nameless = findings.clone();
    nameless.places.iter_mut().for_each(|place| place.host.clear());
    for paragraph in provenance::paragraphs(&nameless) {
        out += &format!("- {}\n", inline(&unglue(&paragraph)));
    }
    out += &format!("\nAgain, with bakeoff {}:\n\n", inline(&record.study.bakeoff));
    out + &block(&again(record, findings)) + "\n</details>\n"
}

/// The command that repeats it, as far as the record has it.
fn again(record: &Record, findings: &Findings) -> String {
    let study = &record.study;
    let runs: Option<Vec<&str>> = study.variants.iter().map(|variant| variant.run.as_deref()).collect();
    let mut words = vec!["bakeoff".to_owned()];
    let option = |name: &str, value: &str| format!("{name} {}", quoted(value));
    let mut extent = vec![option("--blocks", &findings.blocks_wanted.to_string())];
    if study.until != Until::Blocks {
        extent.push(option("--until", &study.until.to_string()));
    }
    // Every study has variants, and those of `compare` alone are nothing but commands.
    let is_compare = study.build_factors.is_empty() && study.study == "compare";
    match runs.filter(|_| is_compare) {
        Some(runs) => {
            words.push("compare".to_owned());
            words.extend(extent);
            words.push(option("--seed", &study.seed.to_string()));
            words.extend(study.decide.metrics.iter().map(|metric| option("--metric", metric)));
            words.push(option("--margin", &format!("{}%", (study.decide.margin * 1e12).round() / 1e10)));
            words.push(option("--confidence", &study.decide.confidence.to_string()));
            let names: Vec<&str> = study.variants.iter().map(|variant| variant.name.as_str()).collect();
            if names != runs {
                words.extend(names.into_iter().map(|name| option("--name", name)));
            }
            words.push("--".to_owned());
            words.extend(runs.into_iter().map(quoted));
        }
        None => {
            words.push("run STUDY".to_owned());
            words.push(option("--plan", &study.plan));
            words.extend(extent);
            words.extend(study.simulated.as_ref().map(|truth| option("--simulate", truth)));
        }
    }
    let command = words.join(" ");
    // What a condition of `compare` was made of is not in its journal.
    match study.conditions.iter().find(|condition| is_compare && *condition != IDLE) {
        Some(_) => format!("# and the options of the condition, such as --copies and --cpus\n{command}"),
        None => command,
    }
}

/// A word for a shell: in quotes, if it needs some.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=%+,±".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
