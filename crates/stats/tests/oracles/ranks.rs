//! Tests by ranks against their oracles.

use bakeoff_stats::rank::MannWhitney;
use bakeoff_testkit::oracle::{Case, Oracle, assert_close};

pub(crate) const CASES: &[Case] = &[
    Case { name: "mann_whitney_is_r_s", oracle: Oracle::R, check: mann_whitney_is_r_s },
    Case { name: "mann_whitney_approximated_is_r_s", oracle: Oracle::R, check: mann_whitney_approximated_is_r_s },
    Case {
        name: "mann_whitney_with_ties_is_scipy_s",
        oracle: Oracle::Python,
        check: mann_whitney_with_ties_is_scipy_s,
    },
];

/// The seed of all lists here; xorshift64* (Vigna 2016).
const SEED: u64 = 178;

struct Draw(u64);

impl Draw {
    fn new(case: u64) -> Self {
        Self(SEED.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ case.wrapping_add(1).wrapping_mul(0xbf58_476d_1ce4_e5b9))
    }

    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Skewed values with a few stalls, shifted.
    fn times(&mut self, n: usize, shift: f64) -> Vec<f64> {
        let mut one = || shift - (1.0 - self.uniform()).ln() * if self.uniform() < 0.1 { 5.0 } else { 0.3 };
        (0..n).map(|_| one()).collect()
    }

    /// Few different whole numbers.
    fn tied(&mut self, n: usize, low: f64, different: f64) -> Vec<f64> {
        (0..n).map(|_| low + (self.uniform() * different).floor()).collect()
    }
}

fn sorted(list: &[f64]) -> Vec<f64> {
    let mut list = list.to_vec();
    list.sort_by(f64::total_cmp);
    list
}

/// A line of the R script: kind, level, sizes, values.
fn for_r(kind: f64, level: f64, x: &[f64], y: &[f64]) -> Vec<f64> {
    [&[kind, level, x.len() as f64, y.len() as f64], x, y].concat()
}

/// A line of the Python script: kind, sizes, values.
fn for_python(kind: f64, x: &[f64], y: &[f64]) -> Vec<f64> {
    [&[kind, x.len() as f64, y.len() as f64], x, y].concat()
}

type Lists = (f64, Vec<f64>, Vec<f64>);

fn pairs_of_lists(sizes: &[(usize, usize)], times: u64) -> Vec<Lists> {
    let each = |(case, &(m, n)): (usize, &(usize, usize))| {
        (0..times).map(move |repeat| {
            let mut draw = Draw::new(1000 * case as u64 + repeat);
            let shift = 1.0 + 0.5 * draw.uniform();
            ([0.8, 0.95, 0.99][repeat as usize % 3], draw.times(m, shift), draw.times(n, 1.2))
        })
    };
    sizes.iter().enumerate().flat_map(each).collect()
}

fn mann_whitney_is_r_s() {
    let lists =
        pairs_of_lists(&[(1, 1), (2, 3), (3, 3), (4, 5), (5, 5), (10, 10), (7, 23), (30, 4), (45, 50), (10, 100)], 12);
    let lines: Vec<_> = lists.iter().map(|(level, x, y)| for_r(1.0, *level, x, y)).collect();
    for ((level, x, y), theirs) in lists.iter().zip(Oracle::R.ask(script!("ranks.R"), &lines)) {
        let what = format!("seed {SEED}: {} against {} at {level}", x.len(), y.len());
        let (x, y) = (sorted(x), sorted(y));
        let ours = MannWhitney::new(&x, &y).unwrap();
        assert!(ours.is_exact());
        assert_close(&what, ours.p(), theirs[0], 1e-11);
        assert_close(&what, ours.shift(), theirs[1], 1e-12);
        // Where no interval has that confidence, R gives the widest one, with a warning.
        if let Some([low, high]) = ours.interval(1.0 - level) {
            assert_close(&what, low, theirs[2], 1e-12);
            assert_close(&what, high, theirs[3], 1e-12);
        } else {
            assert!(x.len() * y.len() < 25, "{what}");
        }
    }
}

/// The p of long lists, with ties and without, and the median of a million differences.
fn mann_whitney_approximated_is_r_s() {
    let mut lists = pairs_of_lists(&[(200, 150), (1000, 1000), (3, 90_000)], 4);
    for (case, different) in [(1, 5.0), (2, 40.0), (3, 700.0), (4, 1.0)] {
        let mut draw = Draw::new(case);
        lists.push((0.95, draw.tied(900, 0.0, different), draw.tied(1100, 0.0, different + 1.0)));
    }
    let lines: Vec<_> = lists.iter().map(|(level, x, y)| for_r(2.0, *level, x, y)).collect();
    for ((_, x, y), theirs) in lists.iter().zip(Oracle::R.ask(script!("ranks.R"), &lines)) {
        let what = format!("seed {SEED}: {} against {}", x.len(), y.len());
        let (x, y) = (sorted(x), sorted(y));
        let ours = MannWhitney::new(&x, &y).unwrap();
        assert!(!ours.is_exact());
        assert_close(&what, ours.p(), theirs[0], 1e-9);
        assert_close(&what, ours.shift(), theirs[1], 1e-12);
    }
}

fn mann_whitney_with_ties_is_scipy_s() {
    let lists: Vec<(Vec<f64>, Vec<f64>)> = (0..60)
        .map(|case| {
            let mut draw = Draw::new(case);
            let (m, n) = (2 + case as usize % 6, 2 + case as usize % 5);
            (draw.tied(m, 0.0, 3.0 + (case % 4) as f64), draw.tied(n, (case % 3) as f64, 3.0))
        })
        .collect();
    let lines: Vec<_> = lists.iter().map(|(x, y)| for_python(1.0, x, y)).collect();
    for ((x, y), theirs) in lists.iter().zip(Oracle::Python.ask(script!("ranks.py"), &lines)) {
        let what = format!("seed {SEED}: {x:?} against {y:?}");
        let (x, y) = (sorted(x), sorted(y));
        let ours = MannWhitney::new(&x, &y).unwrap();
        assert!(ours.is_exact());
        assert_close(&what, ours.p(), theirs[0], 1e-12);
    }
}
