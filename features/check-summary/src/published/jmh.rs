//! The table that JMH prints, `Benchmark (size) Mode Cnt Score Error Units`: Score is the mean, and Error is half of
//! the interval of 99.9 % by Student's t, from which the standard deviation follows. Its rows end in the unit, so
//! blanks do not matter.

use super::Figure;
use super::reader::{Reader, RowForm, nothing};
use super::words::{Word, words};
use bakeoff_stats::student::t_quantile;

/// What is left out on either side by the interval that JMH prints.
const TAIL: f64 = 0.0005;
const MODES: [&str; 4] = ["thrpt", "avgt", "sample", "ss"];

impl Reader {
    /// A line of JMH's; false if it is none.
    pub(super) fn jmh(&mut self, number: usize, line: &str, start: usize) -> bool {
        let mut found = words(line, start, char::is_whitespace);
        found.retain(|word| word.text != "[INFO]");
        let texts: Vec<&str> = found.iter().map(|word| word.text).collect();
        if texts.first() == Some(&"Benchmark") && texts.contains(&"Score") && texts.last() == Some(&"Units") {
            let Some(mode) = texts.iter().position(|text| *text == "Mode") else { return false };
            self.open(true);
            self.jmh = Some(texts[1..mode].iter().map(|text| (*text).to_owned()).collect());
            return true;
        }
        let Some(parameters) = self.jmh.clone() else { return false };
        let at = parameters.len() + 1;
        if !texts.get(at).is_some_and(|mode| MODES.contains(mode)) || texts.len() < at + 3 {
            return false;
        }
        if texts.contains(&"≈") {
            self.unread.push(number);
            return true;
        }
        let span = start..start + line.len();
        let (values, unit) = (&found[at + 1..found.len() - 1], texts[texts.len() - 1]);
        let (count, score, error) = match values {
            [score] => (None, score, None),
            [count, score] => (Some(count), score, None),
            [score, sign, error] if sign.text == "±" => (None, score, Some(error)),
            [count, score, sign, error] if sign.text == "±" => (Some(count), score, Some(error)),
            _ => {
                let message = "this is not a row of a JMH table".to_owned();
                self.problem(span, message, "give the row the columns Cnt, Score ± Error and Units");
                return true;
            }
        };
        let own = parameters.iter().zip(&texts[1..at]).map(|(name, value)| format!("{name}={value}"));
        let name = std::iter::once(texts[0].to_owned()).chain(own).collect::<Vec<_>>().join(" ");
        let mut summary = nothing(name, number);
        summary.unit = Some(unit.to_owned());
        summary.n = count.map_or(Some(1), |count| self.count(*count));
        summary.mean = self.figure(*score);
        let error = error.and_then(|error| self.figure(*error));
        summary.sd = error.zip(summary.n).and_then(|(error, n)| {
            let scale = (n as f64).sqrt() / t_quantile(1.0 - TAIL, n.checked_sub(1)? as f64)?;
            Some(Figure::computed(error.value * scale, error.half_width * scale))
        });
        self.add(summary, RowForm::Table, vec![], span);
        true
    }

    /// A number; a problem if it is none. JMH prints the decimal mark of its locale.
    fn figure(&mut self, word: Word<'_>) -> Option<Figure> {
        let figure = Figure::read(word.text);
        if figure.is_none() {
            self.no_number(word);
        }
        figure
    }
}
