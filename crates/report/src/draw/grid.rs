//! A table of cells in columns. The first column holds names, which are never shortened: one that does not fit gets
//! lines of its own above its numbers. A last column of words is broken between them where it is too wide.

pub use crate::draw::paint::Flush;
use crate::draw::paint::{Ink, Item, Page, Piece};
use crate::draw::rendered::Rendered;

/// Spaces between columns, and where that would leave too little for the names.
const GAP: usize = 2;
const GAP_NARROW: usize = 1;
/// What the names should have.
const NAMES_MIN: usize = 12;
/// What a last column of words has at least before it is broken, and the indent of further lines, also of names.
const WORDS_MIN: usize = 24;
const INDENT: usize = 2;

/// Titles and rows; every row has one cell for each column.
#[derive(Debug)]
pub struct Grid {
    columns: Vec<(Rendered, Flush)>,
    rows: Vec<Vec<Piece>>,
}

impl Grid {
    /// A table with these columns, and no rows yet.
    pub fn new<T: Into<Rendered>>(columns: impl IntoIterator<Item = (T, Flush)>) -> Self {
        Self { columns: columns.into_iter().map(|(title, flush)| (title.into(), flush)).collect(), rows: vec![] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Piece>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Adds a last column; it has one cell for each row.
    pub fn append(&mut self, title: impl Into<Rendered>, flush: Flush, cells: Vec<Piece>) {
        debug_assert_eq!(cells.len(), self.rows.len());
        self.columns.push((title.into(), flush));
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }

    /// Columns of the screen that the grid takes if it has enough of them.
    pub fn width(&self) -> usize {
        self.column_width(0) + self.numbers_width(GAP)
    }

    fn numbers_width(&self, gap: usize) -> usize {
        (1..self.columns.len()).map(|column| gap + self.column_width(column)).sum()
    }

    fn column_width(&self, column: usize) -> usize {
        let title = self.columns[column].0.width();
        self.rows.iter().map(|row| row[column].text.width()).fold(title, usize::max)
    }

    /// Adds the grid to a page that is `columns` wide.
    pub fn print(&self, page: &mut Page, columns: usize) {
        page.item(Item::Table { columns: self.columns.clone(), rows: self.rows.clone() });
        let last = self.columns.len() - 1;
        let is_broken = last > 0 && self.columns[last].1 == Flush::Words && self.width() > columns;
        let Some(fixed) = self.width_before_words(last, columns).filter(|_| is_broken) else {
            return self.print_rows(&self.rows, page, columns);
        };
        let mut rows = vec![];
        for row in &self.rows {
            let ink = row[last].ink;
            for (number, line) in row[last].text.wrapped(columns - fixed, INDENT).into_iter().enumerate() {
                let others = row[..last].iter().map(|cell| if number == 0 { cell.clone() } else { Piece::plain("") });
                rows.push(others.chain([Piece::new(line, ink)]).collect());
            }
        }
        self.print_rows(&rows, page, columns);
    }

    /// What all columns but the last take with the gaps behind them, where names that leave too little for words get lines
    /// of their own; none if even short names leave too little.
    fn width_before_words(&self, last: usize, columns: usize) -> Option<usize> {
        let others = self.numbers_width(GAP) - self.column_width(last);
        let room = columns.checked_sub(others + WORDS_MIN)?;
        let names = self.rows.iter().map(|row| row[0].text.width()).filter(|name| *name <= room);
        let title = self.columns[0].0.width();
        (title <= room).then(|| names.fold(title, usize::max) + others)
    }

    fn print_rows(&self, rows: &[Vec<Piece>], page: &mut Page, columns: usize) {
        let column_width = |column: usize| {
            let title = self.columns[column].0.width();
            rows.iter().map(|row| row[column].text.width()).fold(title, usize::max)
        };
        let mut widths: Vec<usize> = (0..self.columns.len()).map(column_width).collect();
        let numbers = |gap: usize| widths[1..].iter().map(|width| gap + width).sum::<usize>();
        let gap = if numbers(GAP) + NAMES_MIN > columns { GAP_NARROW } else { GAP };
        let room = columns.saturating_sub(numbers(gap));
        widths[0] = widths[0].min(room.max(self.columns[0].0.width()));
        page.lay(self.place(self.columns.iter().map(|(title, _)| Piece::new(title, Ink::Aside)), &widths, gap));
        for row in rows {
            if row[0].text.width() > widths[0] {
                // A name begins as it is written, also where it is indented.
                page.lay_paragraph(&row[0].text, columns, INDENT, row[0].ink);
                if row[1..].iter().any(|cell| !cell.text.is_empty()) {
                    let nameless = std::iter::once(Piece::plain("")).chain(row[1..].iter().cloned());
                    page.lay(self.place(nameless, &widths, gap));
                }
            } else {
                page.lay(self.place(row.iter().cloned(), &widths, gap));
            }
        }
    }

    fn place(&self, cells: impl Iterator<Item = Piece>, widths: &[usize], gap: usize) -> Vec<Piece> {
        let mut line = vec![];
        for (i, cell) in cells.enumerate() {
            let fill = Piece::plain(" ".repeat(widths[i].saturating_sub(cell.text.width())));
            let gap = Piece::plain(" ".repeat(if i == 0 { 0 } else { gap }));
            match self.columns[i].1 {
                Flush::Left | Flush::Words => line.extend([gap, cell, fill]),
                Flush::Right => line.extend([gap, fill, cell]),
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_gives_way_where_the_page_is_narrow() {
        let mut grid = Grid::new([("name", Flush::Left), ("n", Flush::Right), ("verdict", Flush::Left)]);
        let cells = |cells: [&str; 3]| cells.map(Piece::plain).to_vec();
        grid.row(cells(["short", "12", "faster"]));
        grid.row(cells(["a very long name", "7", "slower"]));
        let check = |columns, expect: &str| {
            let mut page = Page::default();
            grid.print(&mut page, columns);
            assert_eq!(page.print(false), expect, "{columns} columns");
        };
        let wide = "name               n  verdict\nshort             12  faster\na very long name   7  slower\n";
        check(80, wide);
        let hanging =
            "name             n  verdict\nshort           12  faster\na very long name\n                 7  slower\n";
        check(27, hanging);
        let narrow = "name       n verdict\nshort     12 faster\na very long name\n           7 slower\n";
        check(20, narrow);
    }

    #[test]
    fn long_names_and_a_last_column_of_words_are_broken() {
        let mut grid = Grid::new([("file", Flush::Left), ("size", Flush::Right), ("variants", Flush::Words)]);
        grid.row(["bin/perl", "12", "alpha, beta, gamma, delta, epsilon, zeta"].map(Piece::plain).to_vec());
        grid.row(["a name of several words that is longer than the page", "7", "all"].map(Piece::plain).to_vec());
        let mut page = Page::default();
        grid.print(&mut page, 44);
        let expect = "file         size variants\n\
                      bin/perl       12 alpha, beta, gamma, delta,\n                    epsilon, zeta\n\
                      a name of several words that is longer than\n  the page\n                7 all\n";
        assert_eq!(page.print(false), expect);
    }
}
