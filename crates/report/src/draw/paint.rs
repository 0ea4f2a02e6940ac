//! Colour, as an addition: lines are pieces with an ink, and a word next to each says what its ink stands for.

pub use crate::draw::rendered::Ink;
use crate::draw::rendered::Rendered;
use crate::draw::text::{clean, unglue};

/// A piece of text in one ink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: Rendered,
    /// What it is.
    pub ink: Ink,
    /// The number that it says, in a column of amounts: a page may draw them as bars.
    pub amount: Option<u64>,
    /// Whether it belongs to a row above it.
    pub is_indented: bool,
}

impl Piece {
    /// This text in this ink.
    pub fn new(text: impl Into<Rendered>, ink: Ink) -> Self {
        Self { text: text.into(), ink, amount: None, is_indented: false }
    }

    /// An amount, as it is written.
    pub fn amount(text: impl Into<Rendered>, amount: u64) -> Self {
        Self { amount: Some(amount), ..Self::plain(text) }
    }

    /// A name of a row that belongs to one above it.
    pub fn indented(text: impl Into<Rendered>) -> Self {
        Self { is_indented: true, ..Self::plain(text!["  ", text.into()]) }
    }

    /// Text.
    pub fn plain(text: impl Into<Rendered>) -> Self {
        Self::new(text, Ink::Plain)
    }
}

/// On which side a column's cells are flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Flush left.
    Left,
    /// Flush right, as numbers are.
    Right,
    /// Words, flush left: as a last column they are broken where they are too wide. A picture must not be.
    Words,
}

/// What was put on a page, before it was laid out: other pages than those of a terminal draw it their own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A line that stands as it is.
    Line(Vec<Piece>),
    /// A paragraph.
    Paragraph(Piece),
    /// A line that something printed.
    Quote(Rendered),
    /// A table.
    Table {
        /// Titles of the columns, and how their cells are flush.
        columns: Vec<(Rendered, Flush)>,
        /// The rows; every row has one cell for each column.
        rows: Vec<Vec<Piece>>,
    },
}

/// Lines, each a list of pieces; and the items that they were laid out from.
#[derive(Debug, Default)]
pub struct Page {
    lines: Vec<Vec<Piece>>,
    items: Vec<Item>,
}

impl Page {
    /// Adds a line.
    pub fn line(&mut self, pieces: Vec<Piece>) {
        self.items.push(Item::Line(pieces.clone()));
        self.lay(pieces);
    }

    /// Adds a line of an item that is added by itself.
    pub(crate) fn lay(&mut self, pieces: Vec<Piece>) {
        self.lines.push(pieces);
    }

    /// Adds an item, whose lines are added by [`Self::lay`].
    pub(crate) fn item(&mut self, item: Item) {
        self.items.push(item);
    }

    /// What was put on it.
    pub fn into_items(self) -> Vec<Item> {
        self.items
    }

    /// Adds another page below an empty line.
    pub(crate) fn append(&mut self, other: Self) {
        if !other.is_empty() {
            self.gap();
            self.lines.extend(other.lines);
            self.items.extend(other.items);
        }
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// An empty line, unless there is one already or nothing stands above.
    pub fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(vec![]);
        }
    }

    /// A paragraph, broken to fit; see [`crate::draw::text::wrap`].
    pub fn paragraph(&mut self, text: impl Into<Rendered>, columns: usize, indent: usize, ink: Ink) {
        let text = text.into();
        self.lay_paragraph(&text, columns, indent, ink);
        self.items.push(Item::Paragraph(Piece::new(text, ink)));
    }

    /// A line that something printed.
    pub fn quote(&mut self, line: impl Into<Rendered>) {
        let line = line.into();
        self.lay(vec![Piece::new(text!["  | ", &line], Ink::Aside)]);
        self.items.push(Item::Quote(line));
    }

    /// Adds the lines of a paragraph of an item that is added by itself.
    pub(crate) fn lay_paragraph(&mut self, text: &Rendered, columns: usize, indent: usize, ink: Ink) {
        text.wrapped(columns, indent).into_iter().for_each(|line| self.lay(vec![Piece::new(line, ink)]));
    }

    /// The whole page; no line ends in spaces.
    pub fn print(&self, colour: bool) -> String {
        let lines = self.lines.iter().map(|line| {
            // What is somebody else's was cleaned where it was put in. Should that be forgotten once, it ends here.
            let mut texts: Vec<String> = line.iter().map(|piece| clean(&unglue(&piece.text.letters()))).collect();
            while let Some(last) = texts.last_mut() {
                last.truncate(last.trim_end().len());
                if !last.is_empty() {
                    break;
                }
                texts.pop();
            }
            let pieces = line.iter().zip(texts).map(|(piece, text)| match piece.ink.sgr() {
                sgr if colour && !sgr.is_empty() => format!("\u{1b}[{sgr}m{text}\u{1b}[0m"),
                _ => text,
            });
            pieces.collect::<String>() + "\n"
        });
        lines.collect()
    }
}
