//! The command that repeats a study, from its record. It runs nothing.

use bakeoff_judge::findings::Findings;
use bakeoff_model::record::Record;
use bakeoff_model::until::Until;

/// What `compare` calls the condition that nobody asked for.
const IDLE: &str = "idle";

/// The command that repeats what was run, as far as the record has it.
pub fn again(record: &Record, findings: &Findings) -> String {
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
