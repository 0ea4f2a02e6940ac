//! Rules by which a trial does not count. They were fixed before the first trial; whether one applies is a comparison
//! of two numbers. A trial that lacks the metric is not void by it: what cannot be measured is said elsewhere.

use bakeoff_model::metric::{Unit, by_name};
use bakeoff_model::record::Trial;
use bakeoff_model::study::VoidRule;

/// Metrics that are shares of a whole, and shown in percent.
const SHARES: &[&str] = &["foreign_cpu", "steal"];

/// The first rule that applies, with the numbers: `foreign_cpu 34 % > 20 %`; none if the trial counts.
pub(crate) fn why(trial: &Trial, rules: &[VoidRule]) -> Option<String> {
    rules.iter().find_map(|rule| {
        let value = trial.value(&rule.metric).filter(|value| *value > rule.above)?;
        let metric = &rule.metric;
        Some(format!("{metric} {} > {}", shown(metric, value), shown(metric, rule.above)))
    })
}

/// A value with three significant digits and its unit.
fn shown(metric: &str, value: f64) -> String {
    let digits = |value: f64| {
        let places = if value == 0.0 { 0.0 } else { (2.0 - value.abs().log10().floor()).clamp(0.0, 9.0) };
        let text = format!("{value:.*}", places as usize);
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    if SHARES.contains(&metric) {
        return format!("{} %", digits(100.0 * value));
    }
    let unit = match by_name(metric, &[]).map(|metric| metric.unit) {
        Some(Unit::Seconds) => " s",
        Some(Unit::Bytes) => " B",
        Some(Unit::PerSecond) => " /s",
        Some(Unit::Count | Unit::GuestInstructions) | None => "",
    };
    format!("{}{unit}", digits(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::metric::Measurements;

    #[test]
    fn the_first_rule_that_applies_is_told_with_its_numbers() {
        let rule = |metric: &str, above: f64| VoidRule { metric: metric.to_owned(), above };
        let rules = [rule("foreign_cpu", 0.2), rule("pressure_cpu", 0.5), rule("nothing", 0.0), rule("nvcsw", 1000.0)];
        let check = |name: &str, value: f64, expect: Option<&str>| {
            let measurements = Measurements::from([(name.to_owned(), value)]);
            let trial = Trial { measurements, ..Trial::default() };
            assert_eq!(why(&trial, &rules).as_deref(), expect, "{name} {value}");
        };
        check("foreign_cpu", 0.34, Some("foreign_cpu 34 % > 20 %"));
        check("foreign_cpu", 0.2, None);
        check("foreign_cpu", f64::NAN, None);
        check("pressure_cpu", 0.512_34, Some("pressure_cpu 0.512 s > 0.5 s"));
        check("nvcsw", 123_456.0, Some("nvcsw 123456 > 1000"));
        check("wall", 9.0, None);
    }
}
