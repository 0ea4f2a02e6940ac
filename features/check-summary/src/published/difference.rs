//! What ministat prints below each row but the first: "Difference at 95.0% confidence" with up to three lines, or "No
//! difference proven". It is read here as it stands; whether it follows from the rows is judged elsewhere.

use super::reader::{Reader, RowForm};
use super::words::{Word, words};
use super::{Figure, Stated, StatedDifference};

const FORM: &str = "write it as ministat does: `Difference at 95.0% confidence`, followed by lines such as `0.1 +/- \
                    0.02`, `5% +/- 1%` and `(Student's t, pooled s = 0.03)`";

impl Reader {
    /// A line of such a block; false if it is none.
    pub(super) fn difference(&mut self, number: usize, line: &str, start: usize) -> bool {
        let text = line.trim();
        let at = start + line.len() - line.trim_start().len();
        let span = at..at + text.len();
        let is_none = text.starts_with("No difference proven at ");
        if is_none || text.starts_with("Difference at ") {
            self.begin(number, text, span, is_none);
            return true;
        }
        let differs = text.contains("+/-") || text.contains('±');
        let pooled = text.strip_prefix("(Student's t, pooled s");
        // Elsewhere `a ± b` may be anything; it is refused where numbers without a name are.
        let belongs = pooled.is_some() || differs && line.starts_with(char::is_whitespace);
        if !self.stated_open {
            if belongs {
                let message = "a line `Difference at …` must come before this one".to_owned();
                self.problem(span, message, FORM);
            }
            return belongs;
        }
        let Some(last) = self.stated.last_mut().and_then(|stated| stated.difference.as_mut()) else { return false };
        if let Some(rest) = pooled {
            last.pooled_sd = Figure::read(rest.trim_matches([' ', '=', ')']));
            if last.pooled_sd.is_none() {
                self.problem(span, "the pooled s is not a number".to_owned(), FORM);
            }
            return true;
        }
        if !differs {
            return false;
        }
        let is_percent = text.contains('%');
        let both: Option<Vec<Figure>> = text
            .replace("+/-", "±")
            .split('±')
            .map(|side| Figure::read(side.trim().trim_end_matches('%').trim()))
            .collect();
        match both.map(<[Figure; 2]>::try_from) {
            Some(Ok(both)) if is_percent => last.percent = Some(both),
            Some(Ok(both)) => last.absolute = Some(both),
            _ => self.problem(span, "expected a difference and its half-width".to_owned(), FORM),
        }
        true
    }

    fn begin(&mut self, line: usize, text: &str, span: std::ops::Range<usize>, is_none: bool) {
        let found: Vec<Word<'_>> = words(text, 0, char::is_whitespace);
        let confidence = found.iter().find(|word| word.text.ends_with('%'));
        let confidence = confidence.and_then(|word| Figure::read(word.text.trim_end_matches('%')));
        let Some(confidence) = confidence.filter(|c| c.value > 0.0 && c.value < 100.0) else {
            return self.problem(span, "this line has no confidence level".to_owned(), FORM);
        };
        let subject = self.rows.len().saturating_sub(1);
        let is_table = |row: &&super::reader::Row| matches!(row.kind, RowForm::Table | RowForm::Ministat { .. });
        let section = self.rows.last().filter(is_table).map(|row| row.section);
        let object = self.rows.iter().position(|row| Some(row.section) == section && is_table(&row));
        let Some(object) = object.filter(|object| *object < subject) else {
            let remedy = "put this line below two rows of figures: the baseline, then the row that this line describes";
            return self.problem(span, "this line needs two rows of figures above it".to_owned(), remedy);
        };
        let difference = (!is_none).then(StatedDifference::default);
        self.stated_open = !is_none;
        self.stated.push(Stated { line, subject, object, confidence, difference });
    }
}
