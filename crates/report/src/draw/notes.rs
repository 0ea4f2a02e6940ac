//! Footnotes: every doubt gets a number where it first applies, and the same text never gets a second one.

use crate::draw::paint::{Ink, Page};
use crate::draw::rendered::{Rendered, Role};

/// The footnotes of one page, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Notes(Vec<Rendered>);

impl Notes {
    /// The mark for some texts, such as ` [1,3]`; nothing for none. New texts get the next numbers.
    pub fn mark(&mut self, texts: impl IntoIterator<Item = impl Into<Rendered>>) -> Rendered {
        let numbers: Vec<usize> = texts.into_iter().map(|text| self.number(text.into())).collect();
        let mut mark = Rendered::default();
        for (at, number) in numbers.iter().enumerate() {
            let begin = if at == 0 { "\u{a0}[" } else { "" };
            let end = if at + 1 == numbers.len() { "]" } else { "," };
            mark += Rendered::new(Role::Note(*number), format!("{begin}{number}{end}"));
        }
        mark
    }

    fn number(&mut self, text: Rendered) -> usize {
        let known = self.0.iter().position(|known| *known == text);
        known.unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        }) + 1
    }

    /// The footnotes, in the order of their numbers.
    pub fn into_texts(self) -> Vec<Rendered> {
        self.0
    }

    /// All footnotes, below the tables.
    pub fn print(&self, page: &mut Page, columns: usize) {
        page.gap();
        for (number, text) in (1..).zip(&self.0) {
            let mark = format!("[{number}] ");
            let indent = mark.len();
            page.paragraph(text![mark, text], columns, indent, Ink::Plain);
        }
    }
}
