//! Parameters of commands: `{NAME}` in a command stands for each of several values in turn. It reads the options and
//! substitutes; which variants come of it is decided in `variants`.

use bakeoff_command::error::CommandError;
use bakeoff_model::plain::clean;

/// More variants than these are a mistake rather than a comparison.
const MOST_VARIANTS: usize = 1000;
const MOST_DECIMALS: usize = 9;

/// Commands that differ in a number or a word
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Parameters")]
pub(super) struct Parameters {
    /// Replace `{VAR}` with each number from MIN to MAX to create one variant per number; the report shows the trend
    /// per step
    #[arg(short = 'P', long, value_names = ["VAR", "MIN", "MAX"], num_args = 3, allow_hyphen_values = true)]
    parameter_scan: Vec<String>,
    /// The step size of --parameter-scan
    #[arg(short = 'D', long, value_name = "DELTA", requires = "parameter_scan", allow_hyphen_values = true)]
    parameter_step_size: Option<String>,
    /// Replace `{VAR}` with each of these values, separated by commas
    ///
    /// With several parameters, Bakeoff runs all combinations, and the report shows the effect of each parameter.
    #[arg(short = 'L', long, value_names = ["VAR", "VALUES"], num_args = 2, allow_hyphen_values = true)]
    parameter_list: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) values: Vec<String>,
    /// Whether each value is a number above the one before, so that there is a trend.
    pub(super) is_numeric: bool,
}

impl Parameters {
    pub(super) fn names(&self) -> Vec<String> {
        self.parameter_scan
            .chunks(3)
            .chain(self.parameter_list.chunks(2))
            .filter_map(|given| given.first().cloned())
            .collect()
    }

    /// The parameters in the order of the options, scans first.
    pub(super) fn read(&self) -> Result<Vec<Parameter>, CommandError> {
        let mut all: Vec<Parameter> = vec![];
        for given in self.parameter_scan.chunks(3) {
            if let [name, from, to] = given {
                let values = scan(from, to, self.parameter_step_size.as_deref())?;
                all.push(Parameter { name: name.clone(), values, is_numeric: true });
            }
        }
        for given in self.parameter_list.chunks(2) {
            if let [name, values] = given {
                let values = list(values);
                let is_numeric = is_rising(&values);
                all.push(Parameter { name: name.clone(), values, is_numeric });
            }
        }
        for (at, parameter) in all.iter().enumerate() {
            check(parameter, &all[..at])?;
        }
        let variants = all.iter().try_fold(1_usize, |product, one| product.checked_mul(one.values.len()));
        if variants.is_none_or(|variants| variants > MOST_VARIANTS) {
            let error = format!("the parameters have more than {MOST_VARIANTS} combinations");
            return Err(CommandError::usage(error).hint("give fewer values, or a larger --parameter-step-size"));
        }
        Ok(all)
    }
}

fn check(parameter: &Parameter, before: &[Parameter]) -> Result<(), CommandError> {
    let Parameter { name, values, .. } = parameter;
    let wrong = |what: String, hint: &str| Err(CommandError::usage(what).hint(hint));
    let shown = clean(name);
    if name.is_empty() || name.contains(['{', '}', '=']) || name.contains(char::is_whitespace) {
        return wrong(
            format!("`{shown}` is not a valid parameter name"),
            "use at least one character, and no whitespace, braces or equals signs",
        );
    }
    if name == COMMAND {
        return wrong(format!("the name `{name}` is reserved"), "choose another name for the parameter");
    }
    if before.iter().any(|known| known.name == *name) {
        return wrong(format!("the parameter {shown} is given twice"), "give all its values in one option");
    }
    if let Some(value) = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value)).map(|(_, v)| v) {
        let what = format!("the parameter {shown} has the value `{}` twice", clean(value));
        return wrong(what, "give each value once");
    }
    Ok(())
}

/// The factor that tells commands apart.
pub(super) const COMMAND: &str = "command";

/// The numbers of a scan, each with as many decimals as the bounds and the step have.
fn scan(from: &str, to: &str, step: Option<&str>) -> Result<Vec<String>, CommandError> {
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, decimals)| decimals.trim().len());
    let step = step.unwrap_or("1");
    let digits = [from, to, step].map(decimals).into_iter().max().unwrap_or(0);
    let mut numbers = [0.0; 3];
    for (number, text) in numbers.iter_mut().zip([from, to, step]) {
        let read = text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && number.abs() < 1e12);
        *number = read.filter(|_| digits <= MOST_DECIMALS).ok_or_else(|| {
            CommandError::usage(format!("`{}` is not a valid number for a scan", clean(text))).hint(format!(
                "write numbers with at most {MOST_DECIMALS} decimals, as in --parameter-scan level 1 9 or \
                     --parameter-scan x 0.5 2.5 -D 0.5"
            ))
        })?;
    }
    let [low, high, step] = numbers;
    let range = format!("a scan from {} to {}", clean(from), clean(to));
    if high < low {
        return Err(CommandError::usage(format!("{range} has no values")).hint("MIN must not exceed MAX"));
    }
    if step <= 0.0 {
        return Err(CommandError::usage(format!("{range} cannot have the step {step}")).hint("give a step above 0"));
    }
    // A rounding error must not cost the last value.
    let steps = ((high - low) / step + 1e-9).floor();
    if steps >= MOST_VARIANTS as f64 {
        let error = format!("{range} in steps of {step} has more than {MOST_VARIANTS} values");
        return Err(CommandError::usage(error).hint("give a larger --parameter-step-size"));
    }
    Ok((0..=steps as u32).map(|n| format!("{:.digits$}", low + f64::from(n) * step)).collect())
}

/// Values between commas; `\,` is a comma and `\\` a backslash.
fn list(text: &str) -> Vec<String> {
    let (mut values, mut value) = (vec![], String::new());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            ',' => values.push(std::mem::take(&mut value)),
            '\\' => value.push(characters.next_if(|next| [',', '\\'].contains(next)).unwrap_or('\\')),
            other => value.push(other),
        }
    }
    values.push(value);
    values
}

/// Whether the values are numbers, each above the one before.
fn is_rising(values: &[String]) -> bool {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| value.trim().parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.len() > 2 && numbers.windows(2).all(|pair| pair[0] < pair[1]))
}

/// All combinations of the values, the last parameter's changing fastest; one without any, if there are no parameters.
pub(super) fn combinations(parameters: &[Parameter]) -> Vec<Vec<&str>> {
    let mut all = vec![vec![]];
    for parameter in parameters {
        let more = |known: &Vec<_>| -> Vec<Vec<_>> {
            parameter.values.iter().map(|value| [known.as_slice(), &[value.as_str()]].concat()).collect()
        };
        all = all.iter().flat_map(more).collect();
    }
    all
}

pub(super) fn substitute(text: &str, parameters: &[Parameter], values: &[&str]) -> String {
    let mut out = String::new();
    let mut rest = text;
    // One walk: what a value has in braces is not replaced again.
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let known = after.split_once('}').and_then(|(name, after)| {
            let at = parameters.iter().position(|parameter| parameter.name == name)?;
            Some((values.get(at)?, after))
        });
        match known {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(from: &str, to: &str, step: Option<&str>) -> String {
        scan(from, to, step).map_or_else(|error| error.render(), |values| values.join(" "))
    }

    #[test]
    fn a_scan_has_its_last_value_and_as_many_decimals_as_were_written() {
        assert_eq!(numbers("1", "4", None), "1 2 3 4");
        assert_eq!(numbers("0.3", "0.7", Some("0.2")), "0.3 0.5 0.7");
        assert_eq!(numbers("0", "1", Some("0.25")), "0.00 0.25 0.50 0.75 1.00");
        assert_eq!(numbers("-1", "1", None), "-1 0 1");
        assert_eq!(numbers("5", "5", None), "5");
        for (from, to, step, part) in [
            ("2", "1", None, "no values"),
            ("1", "2", Some("0"), "step 0"),
            ("1", "2", Some("-1"), "step -1"),
            ("a", "2", None, "`a` is not a valid number"),
            ("1", "nan", None, "`nan`"),
            ("0", "1e9", None, "more than 1000"),
        ] {
            let error = numbers(from, to, step);
            assert!(error.contains(part) && error.contains("hint: "), "{error}");
        }
    }

    #[test]
    fn commas_of_a_value_are_escaped() {
        for (text, expect) in
            [("a,b", vec!["a", "b"]), (r"a\,b,\\", vec!["a,b", r"\"]), ("", vec![""]), (r"\n", vec![r"\n"])]
        {
            assert_eq!(list(text), expect, "{text}");
        }
    }

    #[test]
    fn names_are_replaced_in_one_walk() {
        let parameter = |name: &str, values: &[&str]| Parameter {
            name: name.to_owned(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
            is_numeric: false,
        };
        let both = [parameter("a", &["{b}", "2"]), parameter("b", &["3", "4"])];
        let combined = combinations(&both);
        assert_eq!(combined, [["{b}", "3"], ["{b}", "4"], ["2", "3"], ["2", "4"]]);
        assert_eq!(substitute("x {a}{b} {c} ${b} {", &both, &combined[0]), "x {b}3 {c} $3 {");
        assert_eq!(combinations(&[]), [[""; 0]]);
    }

    #[test]
    fn what_cannot_be_is_an_error_with_a_remedy() {
        let check = |scans: &[&str], lists: &[&str], part: &str| {
            let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
            let parameters =
                Parameters { parameter_scan: own(scans), parameter_step_size: None, parameter_list: own(lists) };
            let error = parameters.read().map(|_| ()).unwrap_err().render();
            assert!(error.contains(part) && error.contains("hint: "), "{error}");
        };
        check(&["a", "1", "2"], &["a", "x,y"], "given twice");
        check(&[], &["a", "x,x"], "`x` twice");
        check(&[], &["{a}", "x"], "is not a valid parameter name");
        check(&[], &["command", "x"], "reserved");
        check(&["a", "1", "500", "b", "1", "500"], &[], "combinations");
    }
}
