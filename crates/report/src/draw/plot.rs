//! Intervals as a picture in text: one row for each variant, on a logarithmic axis of ratios that all rows of a table
//! share, with the line of no difference and the edges of the margin. It draws what it is given.

/// Names the signs of the picture; the margin is said elsewhere.
pub const LEGEND: &str = "Picture: ├●┤ estimate and interval on a logarithmic axis, │ no difference, ┊ margin.";

/// An axis that is some columns wide.
#[derive(Debug)]
pub struct Axis {
    low_ln: f64,
    high_ln: f64,
    margin_ln: f64,
    columns: usize,
}

impl Axis {
    /// An axis with room for the given ratios, the line at 1 and the margin (a fraction) on either side of it.
    pub fn over(ratios: impl Iterator<Item = f64>, margin: f64, columns: usize) -> Self {
        let margin_ln = margin.ln_1p();
        let drawable = ratios.map(f64::ln).filter(|x| x.is_finite());
        let (low_ln, high_ln) = drawable.fold((-margin_ln, margin_ln), |(low, high), x| (low.min(x), high.max(x)));
        Self { low_ln, high_ln, margin_ln, columns }
    }

    fn column(&self, ln: f64) -> usize {
        let span = self.high_ln - self.low_ln;
        let share = if span > 0.0 { (ln - self.low_ln) / span } else { 0.5 };
        // The cast saturates, so that what cannot be drawn ends at the edge.
        ((share * (self.columns - 1) as f64).round() as usize).min(self.columns - 1)
    }

    /// What stands above the picture: the ratios at its ends, and 1 where there is room for it.
    pub fn title(&self) -> String {
        let (low, high) = (format!("{:.3}", self.low_ln.exp()), format!("{:.3}", self.high_ln.exp()));
        self.labelled([&low, &high], "1", true)
    }

    /// The same as changes: `−12 %` and `+8 %` at the ends, or factors where they are beyond two, and 0 or 1 at the line.
    pub fn changes(&self) -> String {
        let (low, high) = (self.low_ln.exp(), self.high_ln.exp());
        let in_percent = low > 0.5 && high < 2.0;
        let label = |ratio: f64| match in_percent {
            true => {
                let percent = 100.0 * (ratio - 1.0);
                let decimals = usize::from(percent.abs() < 10.0);
                crate::format::signed(percent, decimals) + "%"
            }
            false => format!("{}×", crate::format::fixed(ratio, crate::format::decimals_of(ratio, 2).min(2))),
        };
        let (low, high, one) = (label(low), label(high), if in_percent { "0" } else { "1" });
        let has_low = self.low_ln < -self.margin_ln || self.column(0.0) > low.chars().count();
        self.labelled([&low, &high], one, has_low)
    }

    /// Labels at both ends, and of the line where there is room for it.
    fn labelled(&self, [low, high]: [&str; 2], one: &str, has_low: bool) -> String {
        let mut title = vec![' '; self.columns];
        let mut put = |at: usize, label: &str| put(&mut title, at, label);
        let (middle, end) = (self.column(0.0), self.columns.saturating_sub(high.chars().count()));
        if has_low {
            put(0, low);
        }
        put(end, high);
        if middle > low.chars().count() && middle + 1 < end {
            put(middle, one);
        }
        title.into_iter().collect()
    }

    /// A row: the line and the margin, and over them an interval, if there is one, and its estimate.
    pub fn row(&self, estimate: Option<f64>, interval: Option<[f64; 2]>) -> String {
        let mut row = vec![' '; self.columns];
        row[self.column(-self.margin_ln)] = '┊';
        row[self.column(self.margin_ln)] = '┊';
        row[self.column(0.0)] = '│';
        if let Some([low, high]) = interval.map(|ends| ends.map(|end| self.column(end.ln()))) {
            for sign in &mut row[low..=high.max(low)] {
                *sign = if *sign == '│' { '┼' } else { '─' };
            }
            row[low] = '├';
            row[high] = '┤';
        }
        if let Some(estimate) = estimate {
            row[self.column(estimate.ln())] = '●';
        }
        row.into_iter().collect()
    }
}

/// Overwrites what stands from there on.
fn put(title: &mut [char], at: usize, label: &str) {
    title.iter_mut().skip(at).zip(label.chars()).for_each(|(place, c)| *place = c);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_share_the_axis() {
        let axis = Axis::over([0.8, 1.25].into_iter(), 0.05, 21);
        assert_eq!(axis.title(), "0.800     1     1.250");
        assert_eq!(axis.row(None, None), "        ┊ │ ┊        ");
        assert_eq!(axis.row(Some(0.85), Some([0.8, 0.9])), "├──●─┤  ┊ │ ┊        ");
        assert_eq!(axis.row(Some(1.02), Some([0.98, 1.25])), "        ┊├┼●────────┤");
        assert_eq!(axis.row(Some(1.0), Some([1.0, 1.0])), "        ┊ ● ┊        ");
        assert_eq!(axis.row(Some(f64::INFINITY), None), "        ┊ │ ┊       ●");
    }

    #[test]
    fn an_axis_without_extent_has_a_middle() {
        let axis = Axis::over([1.0].into_iter(), 0.0, 5);
        assert_eq!(axis.row(Some(1.0), None), "  ●  ");
    }
}
