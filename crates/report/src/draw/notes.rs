//! Footnotes: every doubt gets a number where it first applies, and the same text never gets a second one.

use crate::draw::paint::{Ink, Page};
use crate::draw::text::clean;

/// The footnotes of one page, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Notes(Vec<String>);

impl Notes {
    /// The mark for some texts, such as ` [1,3]`; nothing for none. New texts get the next numbers.
    pub fn mark(&mut self, texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
        let numbers: Vec<String> = texts.into_iter().map(|text| self.number(text.as_ref()).to_string()).collect();
        if numbers.is_empty() { String::new() } else { format!(" [{}]", numbers.join(",")) }
    }

    fn number(&mut self, text: &str) -> usize {
        match self.0.iter().position(|known| known == text) {
            Some(index) => index + 1,
            None => {
                self.0.push(text.to_owned());
                self.0.len()
            }
        }
    }

    /// The footnotes, in the order of their numbers.
    pub fn into_texts(self) -> Vec<String> {
        self.0
    }

    /// All footnotes, below the tables.
    pub fn print(&self, page: &mut Page, columns: usize) {
        page.gap();
        for (number, text) in (1..).zip(&self.0) {
            let mark = format!("[{number}] ");
            page.paragraph(&format!("{mark}{}", clean(text)), columns, mark.len(), Ink::Plain);
        }
    }
}
