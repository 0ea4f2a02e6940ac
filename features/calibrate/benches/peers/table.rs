//! The table of other tools' methods and ours, all on the same simulated studies: how often each claims a difference,
//! and how wide its interval is. The methods themselves are in [`super::methods`].

use super::methods::{ALPHA, Method, RESAMPLES};
use bakeoff_calibrate::calibration::{Judged, Order, Simulated, World};
use bakeoff_model::shuffle::Stream;
use bakeoff_report::draw::Style;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::glue;
use bakeoff_report::format::{count, fixed};
use bakeoff_stats::describe::median;
use bakeoff_stats::proportion::binomial_interval;
use rayon::prelude::*;

/// The part of the studies that a bootstrap gets: one in this many.
const BOOTSTRAP_ONE_IN: u32 = 8;

/// Blocks of every study.
const BLOCKS: usize = 10;
/// A true difference of 2 %, for power.
const EFFECT: f64 = 1.02;

/// What a method says in all surroundings.
pub(crate) struct Row {
    method: Method,
    /// For each of the surroundings; none where the method makes no claim.
    cells: Vec<Option<Cell>>,
}

/// One method in one kind of surroundings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// Studies that were simulated.
    studies: u32,
    /// Part of them in which it calls two variants different that are the same, at 5 %.
    false_differences: f64,
    /// How well that is known: Clopper and Pearson's interval at 95 % confidence.
    interval: Option<[f64; 2]>,
    /// Part of them in which it sees a true difference.
    power: f64,
    /// Median width of its 95 % interval, as a part of the value; none if it has none.
    width: Option<f64>,
}

/// Noise, and the order of trials in it.
const SURROUNDINGS: [(World, Order); 7] = [
    (World::Normal, Order::Randomised),
    (World::Spiky, Order::Randomised),
    (World::Drift, Order::Sequential),
    (World::Drift, Order::Alternating),
    (World::Drift, Order::Randomised),
    (World::Mixed, Order::Sequential),
    (World::Mixed, Order::Randomised),
];

/// Simulates and judges; all methods see the same studies, a bootstrap the first of them.
pub(crate) fn measure(studies: u32, seed: u64) -> Vec<Row> {
    let mut rows: Vec<Row> = Method::ALL.map(|method| Row { method, cells: vec![] }).into();
    for (world, order) in SURROUNDINGS {
        let cells = cells(world, order, studies, seed);
        rows.iter_mut().zip(cells).for_each(|(row, cell)| row.cells.push(cell));
    }
    rows
}

/// The same study without a difference and with one, as a method judges them.
type Both = [Judged; 2];

fn cells(world: World, order: Order, studies: u32, seed: u64) -> Vec<Option<Cell>> {
    let judged = |bootstrap: bool, studies: u32| -> Vec<(Method, Vec<Both>)> {
        let is_asked = |method: &Method| method.is_bootstrap() == bootstrap && method.judges(order);
        let methods: Vec<Method> = Method::ALL.into_iter().filter(is_asked).collect();
        let judge = |number: u32| {
            let stream =
                &mut Stream::of(seed, &["calibrate", "peers", world.name(), order.name(), &number.to_string()]);
            let same = Simulated::new(world, order, BLOCKS, &[0.0, 0.0], stream);
            let slower = same.with(1, EFFECT.ln());
            methods.iter().map(|method| [method.judge(&same, stream), method.judge(&slower, stream)]).collect()
        };
        let all: Vec<Vec<Both>> = (0..studies).into_par_iter().map(judge).collect();
        (0..)
            .zip(&methods)
            .map(|(at, method)| (*method, all.iter().map(|study: &Vec<Both>| study[at as usize]).collect()))
            .collect()
    };
    let mut all = judged(false, studies);
    all.extend(judged(true, (studies / BOOTSTRAP_ONE_IN).max(1)));
    let cell = |method: Method| all.iter().find(|(other, _)| *other == method).map(|(_, studies)| Cell::of(studies));
    Method::ALL.into_iter().map(cell).collect()
}

impl Cell {
    fn of(studies: &[Both]) -> Self {
        let n = studies.len();
        let part = |which: usize| studies.iter().filter(|both| both[which].differs).count();
        let widths: Vec<f64> = studies.iter().filter_map(|both| both[0].width).collect();
        Self {
            studies: n as u32,
            false_differences: part(0) as f64 / n as f64,
            interval: binomial_interval(part(0) as u32, n as u32, ALPHA),
            power: part(1) as f64 / n as f64,
            width: median(&widths),
        }
    }
}

/// One number of a cell, as text.
type Show = fn(&Cell) -> String;

/// The numbers that are printed, a table each.
const NUMBERS: [(&str, Show); 4] = [
    ("false differences, %", |cell| fixed(100.0 * cell.false_differences, 1)),
    ("their 95 % interval", |cell| match cell.interval {
        Some([low, high]) => format!("{} to {}", fixed(100.0 * low, 1), fixed(100.0 * high, 1)),
        None => "–".to_owned(),
    }),
    ("power, %", |cell| fixed(100.0 * cell.power, 0)),
    ("width, %", |cell| cell.width.map_or("–".to_owned(), |width| fixed(100.0 * width, 1))),
];

pub(crate) fn page(rows: &[Row], style: Style) -> String {
    let mut page = Page::default();
    let title = format!(
        "Other methods on the same data: 2 variants, {BLOCKS} blocks or trials of each. In a column: false differences at 5 %, \
         power at a true ratio of {}, median width of the 95 % interval in percent.",
        fixed(EFFECT, 2)
    );
    page.paragraph(&title, style.width, 0, Ink::Heading);
    page.gap();
    for (what, show) in NUMBERS {
        let mut titles = vec![(what.to_owned(), Flush::Left)];
        titles.extend((1..=SURROUNDINGS.len()).map(|column| (format!("[{column}]"), Flush::Right)));
        let mut grid = Grid::new(titles);
        for row in rows {
            let cells = row.cells.iter().map(|cell| Piece::plain(cell.as_ref().map_or("–".to_owned(), show)));
            grid.row(std::iter::once(Piece::plain(row.method.name())).chain(cells).collect());
        }
        grid.print(&mut page, style.width);
        page.gap();
    }
    let heads =
        (1..).zip(SURROUNDINGS).map(|(at, (world, order))| glue(&format!("[{at}] {} {}", world.name(), order.name())));
    page.paragraph(format!("{}.", heads.collect::<Vec<_>>().join(", ")), style.width, 0, Ink::Plain);
    let fewest = rows.iter().flat_map(|row| row.cells.iter().flatten()).map(|cell| cell.studies).min();
    let text = format!(
        "Sequential is AAAA BBBB, alternating AB AB AB; ours is a claim about randomised blocks and makes none of anything \
         else (–). Bootstraps: {} resamples, on {} of the studies.",
        count(RESAMPLES as u64),
        count(fewest.unwrap_or(0).into())
    );
    page.paragraph(&text, style.width, 0, Ink::Plain);
    page.print(style.colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Textbooks say so and this must show it: a t test of AAAA BBBB on a machine that drifts is wrong nearly always, and a
    /// bootstrap of ten values is wrong more often than it says.
    #[test]
    fn other_methods_fail_where_they_are_known_to() {
        let rows = measure(200, 178);
        let rate = |method: &str, surroundings: (World, Order)| {
            let row = rows.iter().find(|row| row.method.name().contains(method)).expect("the method");
            let column = SURROUNDINGS.iter().position(|known| *known == surroundings).expect("the column");
            row.cells[column].as_ref().expect("a claim").false_differences
        };
        assert!(rate("ministat", (World::Drift, Order::Sequential)) > 0.9);
        assert!(rate("ministat", (World::Normal, Order::Randomised)) < 0.09);
        assert!(rate("BCa", (World::Spiky, Order::Randomised)) > 0.08);
        assert!(rate("ours", (World::Drift, Order::Randomised)) < 0.09);
        let page = page(&rows, Style { width: 80, colour: false });
        for part in ["Mann-Whitney (benchstat)", "BCa bootstrap, paired", "[3] drift sequential"] {
            assert!(page.contains(part), "{page}");
        }
    }
}
