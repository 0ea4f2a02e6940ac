//! The k-th smallest of all differences between two sorted lists, or of all sums within one, without forming them:
//! 10¹² differences of two lists of 10⁶ are searched in a few passes over the lists. It knows nothing of ranks as a
//! statistic.
//!
//! Sorted lists make a matrix with sorted rows and columns, in which one walk along the staircase between the entries
//! up to a limit and the others counts them, in O(m + n) (Johnson & Mizoguchi 1978). Limits close to the entry sought
//! come from a sixteenth of both lists, and theirs from a sixteenth of that, with a margin that is nearly always enough (the
//! idea of Floyd & Rivest 1975); the few entries between two limits are collected and searched. Where the guess is wrong
//! or leaves too many, the weighted median of the rows' medians goes on, which removes at least a quarter of what is left
//! (Johnson & Mizoguchi 1978), so that the answer is always exact.

/// Every how many-th value goes into the smaller lists that guess.
const THINNING: usize = 16;

/// Lists shorter than this are not thinned.
const THIN_FROM: usize = 512;

/// How far the entries that guess are from the expected rank, in √(m + n) of the thinned lists. The rank of a thinned
/// matrix has an error of about a quarter of that.
const MARGIN: f64 = 1.5;

/// Two limits of one row that are fewer entries apart than this are close.
const NEAR: usize = 8;

/// An entry of a matrix, and how often it occurs.
pub(super) type Entry = (f64, u64);

/// What lies below and between two limits, in entries; `places` counts an entry that occurs many times once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scan {
    up_to_low: u64,
    between: u64,
    places: u64,
}

/// A matrix of finite entries with sorted rows and columns.
pub(super) trait Matrix {
    /// Number of entries.
    fn entries(&self) -> u64;
    /// The largest entry.
    fn largest(&self) -> f64;
    /// How many places can be searched at once.
    fn room(&self) -> u64;
    /// Counts the entries up to `low`, and those above it up to `high`. These are put into `found` until it is full.
    fn scan(&self, low: f64, high: f64, found: &mut Vec<Entry>) -> Scan;
    /// Puts the middle one of each row's entries above `low` and up to `high` into `found`, with the number of places.
    fn middles(&self, low: f64, high: f64, found: &mut Vec<Entry>);
    /// Limits between which the entry of this rank probably is.
    fn guess(&self, rank: u64) -> Option<[f64; 2]>;
}

/// The entries of `rank` and `rank` + 1, counted from 0 in ascending order; the largest, if there are fewer.
pub(super) fn pair_at(matrix: &impl Matrix, rank: u64) -> [f64; 2] {
    let mut found = Vec::new();
    let (at, rest) = search(matrix, rank, &mut found);
    let next = match rest {
        Some(rest) => pick(&mut found, rest + 1),
        None => search(matrix, rank + 1, &mut found).0,
    };
    [at, next]
}

/// The entry of this rank, counted from 0 in ascending order; the largest, if there are fewer.
pub(super) fn at(matrix: &impl Matrix, rank: u64) -> f64 {
    search(matrix, rank, &mut Vec::new()).0
}

/// Also tells the entry's rank among those left in `found`, if the next one is among them too.
fn search(matrix: &impl Matrix, rank: u64, found: &mut Vec<Entry>) -> (f64, Option<u64>) {
    let rank = rank.min(matrix.entries().saturating_sub(1));
    let (mut low, mut high) = (f64::NEG_INFINITY, matrix.largest());
    let mut limits = match matrix.entries() <= matrix.room() {
        true => [low, high],
        false => matrix.guess(rank).unwrap_or([low, high]),
    };
    loop {
        found.clear();
        let scan = matrix.scan(limits[0], limits[1], found);
        if rank < scan.up_to_low {
            high = limits[0];
        } else if rank >= scan.up_to_low + scan.between {
            low = limits[1];
        } else if scan.places <= matrix.room() {
            let rest = rank - scan.up_to_low;
            return (pick(found, rest), (rest + 1 < scan.between).then_some(rest));
        } else if limits[0].next_up() >= limits[1] {
            // Entries that occur more often than there is room for.
            return (limits[1], None);
        } else {
            [low, high] = limits;
        }
        found.clear();
        matrix.middles(low, high, found);
        let places: u64 = found.iter().map(|middle| middle.1).sum();
        let pivot = pick(found, places / 2);
        // Just the entries that equal the pivot: so it splits the others in two.
        limits = [pivot.next_down(), pivot];
    }
}

/// The entry of `rank` < number of `entries`: the halves of a partition are weighed until it is found.
fn pick(entries: &mut [Entry], mut rank: u64) -> f64 {
    let mut rest = entries;
    loop {
        if rest.is_empty() {
            // Not reached for a rank that exists.
            return f64::NAN;
        }
        let (below, pivot, above) = rest.select_nth_unstable_by(rest.len() / 2, |a, b| a.0.total_cmp(&b.0));
        let weight: u64 = below.iter().map(|entry| entry.1).sum();
        if rank < weight {
            rest = below;
        } else if rank < weight + pivot.1 {
            return pivot.0;
        } else {
            rank -= weight + pivot.1;
            rest = above;
        }
    }
}

/// All differences x − y of two ascending lists.
#[derive(Debug, Clone)]
pub(super) struct Differences<'a> {
    x: Column<'a>,
    y: Column<'a>,
}

/// An ascending list, or its distinct values and how many of the list stand before each of them.
#[derive(Debug, Clone)]
enum Column<'a> {
    Plain(&'a [f64]),
    Grouped { values: Vec<f64>, before: Vec<u64> },
}

impl Column<'_> {
    fn values(&self) -> &[f64] {
        match self {
            Column::Plain(values) => values,
            Column::Grouped { values, .. } => values,
        }
    }

    fn len(&self) -> u64 {
        match self {
            Column::Plain(values) => values.len() as u64,
            Column::Grouped { before, .. } => before.last().copied().unwrap_or(0),
        }
    }

    /// Every sixteenth value, from the middle of its sixteen.
    fn thinned(&self) -> Vec<f64> {
        let step = if self.len() < THIN_FROM as u64 { 1 } else { THINNING };
        match self {
            Column::Plain(values) => values.iter().copied().skip(step / 2).step_by(step).collect(),
            Column::Grouped { values, before } => {
                let mut group = 0;
                let positions = (step as u64 / 2..self.len()).step_by(step);
                let value_at = |position| {
                    while before[group + 1] <= position {
                        group += 1;
                    }
                    values[group]
                };
                positions.map(value_at).collect()
            }
        }
    }
}

impl<'a> Differences<'a> {
    /// Of two ascending lists of finite values that are not empty.
    pub(super) fn new(x: &'a [f64], y: &'a [f64]) -> Self {
        let distinct = |list: &[f64]| list.windows(2).filter(|pair| pair[0] != pair[1]).count() + 1;
        // Values that repeat make differences that repeat far more often; as groups they cost nothing.
        if distinct(x) + distinct(y) <= (x.len() + y.len()) / 4 * 3 {
            let group = |list: &[f64]| {
                let values: Vec<f64> = list.chunk_by(|a, b| a == b).map(|chunk| chunk[0]).collect();
                let mut before = vec![0];
                before.extend(list.chunk_by(|a, b| a == b).scan(0, |sum, chunk| {
                    *sum += chunk.len() as u64;
                    Some(*sum)
                }));
                Column::Grouped { values, before }
            };
            return Self { x: group(x), y: group(y) };
        }
        Self { x: Column::Plain(x), y: Column::Plain(y) }
    }

    /// Calls for each row, and for the places of its entries above `low` and up to `high`.
    fn walk(&self, low: f64, high: f64, mut call: impl FnMut(usize, std::ops::Range<usize>)) {
        let y = self.y.values();
        // The first y whose difference is at most the limit: as x grows, it moves up.
        let (mut to_high, mut to_low) = (0, 0);
        for (row, x) in self.x.values().iter().enumerate() {
            let near = to_low - to_high < NEAR;
            while to_high < y.len() && x - y[to_high] > high {
                to_high += 1;
            }
            // Where the two are close, which is foreseeable, a new start spares a branch that is not.
            to_low = if near { to_high } else { to_low.max(to_high) };
            while to_low < y.len() && x - y[to_low] > low {
                to_low += 1;
            }
            call(row, to_high..to_low);
        }
    }

    fn scan_weighted(
        &self,
        [low, high]: [f64; 2],
        found: &mut Vec<Entry>,
        times: impl Fn(usize) -> u64,
        from: impl Fn(usize) -> u64,
        how_often: impl Fn(usize) -> u64,
    ) -> Scan {
        let (x, y, room) = (self.x.values(), self.y.values(), self.room());
        let mut scan = Scan::default();
        self.walk(low, high, |row, places| {
            scan.up_to_low += times(row) * from(places.end);
            if !places.is_empty() {
                scan.between += times(row) * (from(places.start) - from(places.end));
                scan.places += places.len() as u64;
                if scan.places <= room {
                    found.extend(places.map(|column| (x[row] - y[column], times(row) * how_often(column))));
                }
            }
        });
        scan
    }
}

impl Matrix for Differences<'_> {
    fn entries(&self) -> u64 {
        self.x.len() * self.y.len()
    }

    fn largest(&self) -> f64 {
        let (x, y) = (self.x.values(), self.y.values());
        x[x.len() - 1] - y[0]
    }

    fn room(&self) -> u64 {
        (self.x.values().len() + self.y.values().len()) as u64 + 20_000
    }

    fn scan(&self, low: f64, high: f64, found: &mut Vec<Entry>) -> Scan {
        let limits = [low, high];
        if let (Column::Grouped { before: rows, .. }, Column::Grouped { before: columns, .. }) = (&self.x, &self.y) {
            let all = self.y.len();
            let times = |row: usize| rows[row + 1] - rows[row];
            let how_often = |column: usize| columns[column + 1] - columns[column];
            return self.scan_weighted(limits, found, times, |column| all - columns[column], how_often);
        }
        let all = self.y.values().len();
        self.scan_weighted(limits, found, |_| 1, |column| (all - column) as u64, |_| 1)
    }

    fn middles(&self, low: f64, high: f64, found: &mut Vec<Entry>) {
        let (x, y) = (self.x.values(), self.y.values());
        self.walk(low, high, |row, places| {
            if !places.is_empty() {
                found.push((x[row] - y[places.start + places.len() / 2], places.len() as u64));
            }
        });
    }

    fn guess(&self, rank: u64) -> Option<[f64; 2]> {
        let (x, y) = (self.x.thinned(), self.y.thinned());
        let thinned = Differences::new(&x, &y);
        if thinned.entries() == self.entries() {
            return None;
        }
        let expected = (rank as f64 + 0.5) / self.entries() as f64 * thinned.entries() as f64 - 0.5;
        let margin = 1.0 + MARGIN * ((x.len() + y.len()) as f64).sqrt();
        let low = if expected < margin { f64::NEG_INFINITY } else { at(&thinned, (expected - margin) as u64) };
        let above = (expected + margin).ceil() as u64;
        let high = if above < thinned.entries() { at(&thinned, above) } else { self.largest() };
        // Differences that are equal but for rounding belong together, or both limits may fall among them.
        let (x, y) = (self.x.values(), self.y.values());
        let ends = [x[0], x[x.len() - 1], y[0], y[y.len() - 1]];
        let rounding = 4.0 * f64::EPSILON * ends.iter().fold(0.0, |size: f64, end| size.max(end.abs()));
        Some([(low - rounding).next_down(), high + rounding])
    }
}

/// All sums xᵢ + xⱼ, i ≤ j, of an ascending list.
#[derive(Debug, Clone)]
pub(super) struct Sums<'a> {
    x: &'a [f64],
}

impl<'a> Sums<'a> {
    /// Of an ascending list of finite values that is not empty.
    pub(super) fn new(x: &'a [f64]) -> Self {
        Self { x }
    }

    /// Calls for each row, and for the places of its entries above `low` and up to `high`; a row begins on the diagonal.
    fn walk(&self, low: f64, high: f64, mut call: impl FnMut(usize, std::ops::Range<usize>)) {
        // The number of values whose sum with this one is at most the limit: as x grows, it falls.
        let (mut to_low, mut to_high) = (self.x.len(), self.x.len());
        for (row, x) in self.x.iter().enumerate() {
            while to_high > 0 && x + self.x[to_high - 1] > high {
                to_high -= 1;
            }
            while to_low > 0 && x + self.x[to_low - 1] > low {
                to_low -= 1;
            }
            call(row, to_low.max(row)..to_high.max(row));
        }
    }
}

impl Matrix for Sums<'_> {
    fn entries(&self) -> u64 {
        let n = self.x.len() as u64;
        n * (n + 1) / 2
    }

    fn largest(&self) -> f64 {
        2.0 * self.x[self.x.len() - 1]
    }

    fn room(&self) -> u64 {
        self.x.len() as u64 + 20_000
    }

    fn scan(&self, low: f64, high: f64, found: &mut Vec<Entry>) -> Scan {
        let room = self.room();
        let mut scan = Scan::default();
        self.walk(low, high, |row, places| {
            scan.up_to_low += (places.start - row) as u64;
            scan.places += places.len() as u64;
            if scan.places <= room {
                found.extend(places.map(|column| (self.x[row] + self.x[column], 1)));
            }
        });
        scan.between = scan.places;
        scan
    }

    fn middles(&self, low: f64, high: f64, found: &mut Vec<Entry>) {
        self.walk(low, high, |row, places| {
            if !places.is_empty() {
                let middle = places.start + places.len() / 2;
                found.push((self.x[row] + self.x[middle], places.len() as u64));
            }
        });
    }

    fn guess(&self, _rank: u64) -> Option<[f64; 2]> {
        None
    }
}
