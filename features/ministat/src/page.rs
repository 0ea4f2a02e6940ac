//! What ministat prints, byte for byte: the names, the plot, the table and the comparisons. The numbers come from
//! [`crate::arithmetic`]. It is not how Bakeoff reports.

use crate::arithmetic::{Edition, Relative, Vitals};
use bakeoff_report::draw::printf;
use bakeoff_stats::ministat::LEVELS;

/// Signs of the sets, by the bits of those that meet in one place of the plot.
const SYMBOLS: [u8; 8] = *b" x+*%#@O";
/// As many sets as there are signs.
pub(crate) const SETS_MAX: usize = SYMBOLS.len() - 1;

/// How ministat was asked to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Which ministat.
    pub edition: Edition,
    /// The confidence, as an index into [`LEVELS`].
    pub level: usize,
    /// Columns of the plot; none for no plot.
    pub plot: Option<usize>,
    /// Whether each set has its bar on a line of its own.
    pub separate_bars: bool,
    /// Whether sets are compared with the first.
    pub compare: bool,
    /// Whether names and heading are left out.
    pub quiet: bool,
}

/// One set: its name, its values as [`Vitals::new`] sorted them, and what was seen of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Set<'a> {
    /// The name of the file.
    pub name: &'a [u8],
    /// Sorted.
    pub values: &'a [f64],
    /// Its description.
    pub vitals: Vitals,
}

/// The data have no picture: in its place the original reads and writes outside of its memory, and mostly dies of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoPlot;

/// All that ministat prints, as bytes, because names need not be text. Of more than [`SETS_MAX`] sets the rest is left
/// out.
///
/// # Errors
/// [`NoPlot`] if some value has no place in the plot.
pub(crate) fn ministat(sets: &[Set<'_>], look: Look) -> Result<Vec<u8>, NoPlot> {
    let mut out = vec![];
    let signed = || sets.iter().zip(&SYMBOLS[1..]);
    if !look.quiet {
        for (set, symbol) in signed() {
            out.extend([*symbol, b' ']);
            out.extend(set.name);
            out.push(b'\n');
        }
    }
    if let Some(width) = look.plot {
        out.extend(Plot::draw(sets, width, look.separate_bars)?);
    }
    if !look.quiet {
        out.extend(b"    N           Min           Max        Median           Avg        Stddev\n");
    }
    for (i, (set, symbol)) in signed().enumerate() {
        out.extend(row(&set.vitals, *symbol).bytes());
        if i > 0 && look.compare {
            out.extend(relative(&set.vitals, &sets[0].vitals, look).bytes());
        }
    }
    Ok(out)
}

fn row(vitals: &Vitals, symbol: u8) -> String {
    let mut line = format!("{} {:3}", char::from(symbol), vitals.n);
    for value in [vitals.min, vitals.max, vitals.median, vitals.mean, vitals.sd()] {
        line += &format!(" {:>13}", printf::g(value, 8));
    }
    line + "\n"
}

fn relative(set: &Vitals, baseline: &Vitals, look: Look) -> String {
    let relative = Relative::new(set, baseline, look.level, look.edition);
    let level = printf::f(LEVELS[look.level.min(LEVELS.len() - 1)], 1);
    if !relative.differs() {
        return format!("No difference proven at {level}% confidence\n");
    }
    let g = |value| printf::g(value, 6);
    format!(
        "Difference at {level}% confidence\n\t{} +/- {}\n\t{}% +/- {}%\n\t(Student's t, pooled s = {})\n",
        g(relative.difference),
        g(relative.half_width),
        g(relative.percent),
        g(relative.percent_half_width),
        g(relative.pooled)
    )
}

/// The plot: columns of signs, piled up from below, and bars from mean − sd to mean + sd under them.
struct Plot {
    min: f64,
    max: f64,
    width: usize,
    /// Rows of signs, the lowest first; row 0 is never shown.
    pile: Vec<u8>,
    height: usize,
    bars: Vec<Option<Vec<u8>>>,
}

impl Plot {
    fn draw(sets: &[Set<'_>], width: usize, separate_bars: bool) -> Result<Vec<u8>, NoPlot> {
        let bars = vec![None; sets.len()];
        let mut plot = Self { min: 999e99, max: -999e99, width, pile: vec![], height: 0, bars };
        for Vitals { min, max, mean, variance, .. } in sets.iter().map(|set| &set.vitals) {
            [*min, *max, mean - variance.sqrt(), mean + variance.sqrt()].into_iter().for_each(|a| plot.widen(a));
        }
        if plot.max - plot.min == 0.0 {
            return Ok(b"[no plot, span is zero width]\n".to_vec());
        }
        for (i, set) in sets.iter().take(SETS_MAX).enumerate() {
            plot.pile(set, i as u8 + 1)?;
            plot.bar(set, if separate_bars { i } else { 0 })?;
        }
        Ok(plot.print())
    }

    fn widen(&mut self, a: f64) {
        if a < self.min {
            self.min = a;
        }
        if a > self.max {
            self.max = a;
        }
    }

    /// The column of a value. C's conversion to an integer gives the least one for what does not fit.
    fn column(&self, value: f64) -> i64 {
        let step = (self.max - self.min) / (self.width as f64 - 1.0);
        let column = (value - (self.min - 0.5 * step)) / step;
        let fits = column > -2_147_483_649.0 && column < 2_147_483_648.0;
        if fits { column as i64 } else { i64::from(i32::MIN) }
    }

    /// A column that the plot has; of a plot without columns the only one, which is never shown.
    fn inside(&self, value: f64) -> Result<usize, NoPlot> {
        let column = usize::try_from(self.column(value)).map_err(|_| NoPlot)?;
        if column < self.width.max(1) { Ok(column) } else { Err(NoPlot) }
    }

    /// Puts a set's sign into the pile once for each value. The height is that of the set at hand, even if an earlier
    /// one was higher: only the part below it is shown, and the part above is lost when the pile grows again.
    fn pile(&mut self, set: &Set<'_>, sign: u8) -> Result<(), NoPlot> {
        // Values of one column stand side by side, since they are sorted: where they end is found by halving.
        let mut columns = vec![];
        let mut rest = set.values;
        while let Some(first) = rest.first() {
            let column = self.inside(*first)?;
            let alike = rest.partition_point(|value| self.column(*value) == column as i64).max(1);
            columns.push((column, alike));
            rest = &rest[alike..];
        }
        let highest = columns.iter().map(|(_, alike)| *alike).max().unwrap_or(1);
        let height = highest + 1;
        if height > self.height {
            if self.width == 0 && self.height > 0 {
                // To reallocate nothing is to give memory back, and the original goes on to write there.
                return Err(NoPlot);
            }
            self.pile.truncate(self.height * self.width);
            self.pile.resize(height * self.width, 0);
        }
        self.height = height;
        for (row, column) in columns.iter().flat_map(|(column, alike)| (1..=*alike).map(move |row| (row, *column))) {
            if let Some(place) = self.pile.get_mut(row * self.width + column) {
                *place |= sign;
            }
        }
        Ok(())
    }

    fn bar(&mut self, set: &Set<'_>, line: usize) -> Result<(), NoPlot> {
        let Vitals { mean, median, .. } = set.vitals;
        let sd = set.vitals.sd();
        let ends = if sd.is_nan() { None } else { Some((self.inside(mean - sd)?, self.inside(mean + sd)?)) };
        let (median, mean) = (self.inside(median)?, self.inside(mean)?);
        let width = self.width;
        let Some(bar) = self.bars.get_mut(line) else { return Err(NoPlot) };
        let bar = bar.get_or_insert_with(|| vec![0; width]);
        let mut put = |column: usize, sign| bar.get_mut(column).map(|place| *place = sign);
        if let Some((low, high)) = ends {
            put(high, b'|');
            put(low, b'|');
            bar.iter_mut().take(high).skip(low + 1).filter(|place| **place == 0).for_each(|place| *place = b'_');
        }
        for (column, sign) in [(median, b'M'), (mean, b'A')] {
            if let Some(place) = bar.get_mut(column) {
                *place = sign;
            }
        }
        Ok(())
    }

    fn print(&self) -> Vec<u8> {
        let edge: Vec<u8> = [b"+", "-".repeat(self.width).as_bytes(), b"+\n"].concat();
        let mut out = edge.clone();
        for row in (1..self.height).rev() {
            let signs = &self.pile[row * self.width..(row + 1) * self.width];
            out.push(b'|');
            out.extend(signs.iter().map(|sign| SYMBOLS[usize::from(*sign) % SYMBOLS.len()]));
            out.extend(b"|\n");
        }
        for bar in self.bars.iter().flatten() {
            out.push(b'|');
            out.extend(bar.iter().map(|sign| if *sign == 0 { b' ' } else { *sign }));
            out.extend(b"|\n");
        }
        out.extend(edge);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(lists: &[&[f64]], width: usize) -> Result<String, NoPlot> {
        let mut lists: Vec<Vec<f64>> = lists.iter().map(|list| list.to_vec()).collect();
        let vitals: Vec<Vitals> = lists.iter_mut().map(|list| Vitals::new(list, Edition::Legacy).unwrap()).collect();
        let sets: Vec<Set<'_>> =
            lists.iter().zip(vitals).map(|(values, vitals)| Set { name: b"s", values, vitals }).collect();
        let look = Look {
            edition: Edition::Legacy,
            level: 2,
            plot: Some(width),
            separate_bars: false,
            compare: true,
            quiet: false,
        };
        ministat(&sets, look).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// All other cases: `crates/cli/tests/ministat.rs`, against the original.
    #[test]
    fn a_small_plot() {
        let expect = "x s\n+--+\n|xx|\n|xx|\n||A|\n+--+\n    N           Min           Max        Median           \
                      Avg        Stddev\nx   4             1             4             3           2.5     \
                      1.2909944\n";
        assert_eq!(print(&[&[1.0, 2.0, 3.0, 4.0]], 2).unwrap(), expect);
    }

    #[test]
    fn what_has_no_place_has_no_plot() {
        assert_eq!(print(&[&[1.0, 2.0, f64::INFINITY]], 74), Err(NoPlot));
        assert_eq!(print(&[&[1.0, 2.0, 3.0]], 1), Err(NoPlot));
        assert!(print(&[&[1.0, 2.0, 3.0]], 0).is_ok());
        assert!(print(&[], 74).is_ok());
    }
}
