//! The goals as a table of Markdown.

use super::promise::{Measure, Row};

/// One line for each number.
pub fn markdown(rows: &[Row]) -> String {
    let mut text =
        "| searches | measured | goal | result (95 %) | worst world | n | |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    let mut before = "";
    for row in rows {
        let design = if row.design == before { "" } else { row.design.as_str() };
        before = &row.design;
        let number = |value: f64| shown(value, row.measure);
        let goal = row.most.map_or_else(String::new, |most| format!("≤ {}", number(most)));
        let interval =
            row.interval.map_or_else(String::new, |[low, high]| format!(" ({}–{})", number(low), number(high)));
        let verdict = match (row.most, row.holds) {
            (None, _) => "",
            (_, true) => "yes",
            (_, false) => "**no**",
        };
        text += &format!(
            "| {design} | {} | {goal} | {}{interval} | {}: {} | 9 × {} | {verdict} |\n",
            name(row.measure),
            number(row.measured),
            row.worst.name(),
            number(row.worst_measured),
            row.runs,
        );
    }
    text
}

fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::Wrong => "wrong",
        Measure::Named => "answered",
        Measure::Within => "at most log₂ n + 3 builds",
        Measure::Trials => "trials",
        Measure::Builds => "builds",
        Measure::Seconds => "seconds",
        Measure::TrialsPart => "trials ÷ full plan",
        Measure::BuildsPart => "builds ÷ full plan",
        Measure::SecondsPart => "seconds ÷ full plan",
    }
}

fn shown(value: f64, measure: Measure) -> String {
    match measure {
        Measure::Wrong | Measure::Named | Measure::Within => format!("{:.2} %", 100.0 * value),
        Measure::TrialsPart | Measure::BuildsPart | Measure::SecondsPart => format!("{value:.3}"),
        Measure::Builds => format!("{value:.1}"),
        Measure::Trials | Measure::Seconds => format!("{value:.0}"),
    }
}
