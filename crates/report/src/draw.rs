//! What pages, also those of features, are drawn with: paragraphs, tables, plots and footnotes that keep to a width.

#[macro_use]
pub mod rendered;

pub mod grid;
pub mod notes;
pub mod paint;
pub mod plot;
pub mod printf;
pub mod text;

/// How a page is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the screen. Text is broken to fit; a table's numbers never are. From 100 on there are pictures.
    pub width: usize,
    /// Whether to add colour. The characters are the same with and without.
    pub colour: bool,
}
