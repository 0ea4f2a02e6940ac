//! All functions of accounts for other programs: CSV, in base units and unrounded. Words are those of the JSON.

use super::result::{Function, difference};
use crate::findings::PairAccount;
use bakeoff_model::plain::clean;

/// What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection").
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

const TITLES: &str = "variant,against,workload,service,length,function,with,mechanism,rule,source,file_baseline,file_variant,instructions_baseline,\
                      instructions_variant,calls_baseline,calls_variant,difference,share,by_more_calls,by_dearer_calls,\
                      at_start,per_unit,symbols_baseline,symbols_variant";

/// A line for each function, the largest difference first. `share` is of the net difference, and empty where that is 0.
pub(crate) fn csv(accounts: &[PairAccount]) -> String {
    let mut lines = TITLES.to_owned() + "\n";
    for PairAccount { variant, against, account } in accounts {
        let length = account.length.as_deref().unwrap_or_default();
        let service = account.service.as_deref().unwrap_or_default();
        let of_pair = [variant, against, &account.workload, service, length].map(cell);
        for function in &account.functions {
            let cells = of_pair.iter().cloned().chain(cells(function, account.difference));
            lines.push_str(&cells.collect::<Vec<_>>().join(","));
            lines.push('\n');
        }
    }
    lines
}

fn cells(function: &Function, net: i64) -> [String; 19] {
    let change = difference(function.instructions);
    let share = (net != 0).then(|| change as f64 / net as f64);
    let [files_a, files_b] = function.files.each_ref().map(|file| cell(file.as_deref().unwrap_or_default()));
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let whole = |value: Option<i64>| value.map_or_else(String::new, |value| value.to_string());
    [
        cell(&function.name),
        cell(&function.with.join("; ")),
        word(function.mechanism),
        word(function.rule),
        cell(function.source.as_deref().unwrap_or_default()),
        files_a,
        files_b,
        function.instructions[0].to_string(),
        function.instructions[1].to_string(),
        function.calls[0].to_string(),
        function.calls[1].to_string(),
        change.to_string(),
        number(share),
        whole(function.split.map(|split| split.more_calls)),
        whole(function.split.map(|split| split.dearer_calls)),
        number(function.growth.map(|growth| growth.start)),
        number(function.growth.map(|growth| growth.per_unit)),
        cell(&function.symbols[0].join(" ")),
        cell(&function.symbols[1].join(" ")),
    ]
}

/// The word that a value has in JSON; empty for none.
fn word(value: Option<impl serde::Serialize>) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Somebody else's text: a formula becomes text, and is quoted where RFC 4180 asks for it.
fn cell(text: &str) -> String {
    let mut text = clean(text);
    if text.trim_start_matches([' ', '"', '\'']).starts_with(FORMULA) {
        text.insert(0, '\'');
    }
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
