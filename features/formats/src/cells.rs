//! Somebody else's text in a CSV file. What a spreadsheet would take for a formula is made text; nothing else is changed but
//! what a terminal would obey. What the columns are is not known here.

use bakeoff_command::{Code, CommandError};
use bakeoff_model::plain::clean;
use csv::{Writer, WriterBuilder};

/// What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection").
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// A text as a cell: with `'` before it, if it begins like a formula.
pub(crate) fn text(text: &str) -> String {
    let text = clean(text);
    // Spreadsheets look behind blanks and quotes.
    let is_formula = text.trim_start_matches([' ', '"', '\'']).starts_with(FORMULA);
    if is_formula { format!("'{text}") } else { text }
}

/// A number as a cell, with all its digits; empty for none.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Lines of CSV as RFC 4180 has them, but that they end as lines do here.
pub(crate) struct Lines(Writer<Vec<u8>>);

impl Lines {
    pub(crate) fn new(titles: &[String]) -> Result<Self, CommandError> {
        let mut lines = Self(WriterBuilder::new().from_writer(vec![]));
        lines.push(titles)?;
        Ok(lines)
    }

    pub(crate) fn push(&mut self, cells: &[String]) -> Result<(), CommandError> {
        self.0.write_record(cells).map_err(|error| CommandError::new(Code::Internal, error))
    }

    pub(crate) fn finish(self) -> Result<String, CommandError> {
        let bytes = self.0.into_inner().map_err(|error| CommandError::new(Code::Internal, error.to_string()))?;
        String::from_utf8(bytes).map_err(|error| CommandError::new(Code::Internal, error))
    }
}
