//! The linear model, and corrections for several comparisons, against their oracles. What no oracle has, letters and the
//! aliases of textbooks, is in `tests/stats/linear.rs`.

use bakeoff_stats::holm;
use bakeoff_stats::linear::{Estimate, Fit, Observation, Ols, Refused, Step, Term};
use bakeoff_stats::maxt::MaxT;
use bakeoff_stats::signflip::SignFlip;
use bakeoff_testkit::oracle::{Case, Oracle, assert_close};

pub(crate) const CASES: &[Case] = &[
    Case { name: "linear_model_as_lm", oracle: Oracle::R, check: linear_model_as_lm },
    Case { name: "hc3_as_statsmodels", oracle: Oracle::Python, check: hc3_as_statsmodels },
    Case { name: "nist_certified_line", oracle: Oracle::Python, check: nist_certified_line },
    Case { name: "holm_and_max_t_by_definition", oracle: Oracle::Python, check: several },
];

const SEED: u64 = 178;

/// SplitMix64, and from it normal values (sum of twelve) with a spread that the caller picks.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / 2f64.powi(53)
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// A model's data.
struct Data {
    levels: Vec<usize>,
    interactions: bool,
    /// Block, levels, y.
    rows: Vec<(usize, Vec<usize>, f64)>,
}

/// All combinations of levels.
fn factorial(levels: &[usize]) -> Vec<Vec<usize>> {
    let longer = |cells: Vec<Vec<usize>>, n: &usize| {
        cells.iter().flat_map(|cell| (0..*n).map(move |level| [cell.as_slice(), &[level]].concat())).collect()
    };
    levels.iter().fold(vec![Vec::new()], longer)
}

impl Data {
    /// Those `cells` in every block, each trial lost with probability `lost`; the noise grows with the first level.
    fn draw(random: &mut Random, levels: &[usize], cells: &[Vec<usize>], blocks: usize, lost: f64) -> Self {
        let mut rows = Vec::new();
        for block in 0..blocks {
            let drift = random.normal();
            for cell in cells {
                let weights = cell.iter().enumerate().map(|(f, l)| *l as f64 * 0.1 * (f + 1) as f64);
                let y = drift + weights.sum::<f64>() + 0.1 * random.normal() * (1.0 + 2.0 * cell[0] as f64);
                if random.uniform() >= lost {
                    rows.push((block * 7 % 23, cell.clone(), y));
                }
            }
        }
        Self { levels: levels.to_vec(), interactions: true, rows }
    }

    fn only_mains(self) -> Self {
        Self { interactions: false, ..self }
    }

    fn lists(&self) -> Vec<Vec<f64>> {
        let head = [self.levels.len(), usize::from(self.interactions)];
        let mut lists = vec![head.iter().chain(&self.levels).map(|x| *x as f64).collect()];
        lists.push(self.rows.iter().map(|row| row.0 as f64).collect());
        lists.extend((0..self.levels.len()).map(|f| self.rows.iter().map(|row| row.1[f] as f64).collect()));
        lists.push(self.rows.iter().map(|row| row.2).collect());
        lists
    }

    fn fit(&self) -> Fit {
        let observations: Vec<_> =
            self.rows.iter().map(|(block, levels, y)| Observation { block: *block, levels, y: *y }).collect();
        Fit::new(&observations, &self.levels, self.interactions).unwrap()
    }

    /// The effects that the scripts print, in their order.
    fn effects(&self, fit: &Fit) -> Vec<Result<Estimate, Refused>> {
        let factors = 0..self.levels.len();
        let steps = |f: usize| (1..self.levels[f]).map(move |level| Step(f, level, 0));
        let mut effects: Vec<_> = factors.clone().flat_map(steps).map(|step| fit.main(step)).collect();
        for f in factors.clone().filter(|_| self.interactions) {
            for g in f + 1..self.levels.len() {
                effects.extend(steps(f).flat_map(|a| steps(g).map(move |b| fit.interaction(a, b))));
            }
        }
        effects
    }

    fn terms(&self) -> Vec<Term> {
        let factors = self.levels.len();
        let pairs = (0..factors).flat_map(|f| (f + 1..factors).map(move |g| Term::TwoWay(f, g)));
        (0..factors).map(Term::Main).chain(pairs.filter(|_| self.interactions)).collect()
    }
}

/// Models of full rank: complete, incomplete and single blocks.
fn full_rank(random: &mut Random) -> Vec<Data> {
    let mut all = Vec::new();
    for levels in [&[2, 2][..], &[2, 3], &[3, 2, 2], &[4, 3], &[2, 2, 2, 2]] {
        let cells = factorial(levels);
        all.push(Data::draw(random, levels, &cells, 5, 0.0));
        all.push(Data::draw(random, levels, &cells, 12, 0.15));
        all.push(Data::draw(random, levels, &cells, 9, 0.3).only_mains());
    }
    let halves: Vec<Vec<usize>> = factorial(&[2; 4]).into_iter().filter(|c| c.iter().sum::<usize>() % 2 == 0).collect();
    all.push(Data::draw(random, &[2; 4], &halves, 6, 0.0).only_mains());
    let mut one_block = Data::draw(random, &[2, 3], &factorial(&[2, 3]), 4, 0.0);
    one_block.rows.iter_mut().for_each(|row| row.0 = 3);
    all.push(one_block);
    all
}

/// Fractions, empty cells, levels never run, factors constant within blocks, single trials.
fn deficient(random: &mut Random) -> Vec<Data> {
    let choose = |levels: &[usize], keep: fn(&[usize]) -> bool| -> Vec<Vec<usize>> {
        factorial(levels).into_iter().filter(|cell| keep(cell)).collect()
    };
    let mut all = Vec::new();
    let mut add = |levels: &[usize], cells: &[Vec<usize>], blocks| {
        all.push(Data::draw(random, levels, cells, blocks, 0.0));
        all.push(Data::draw(random, levels, cells, blocks, 0.1));
    };
    add(&[2; 3], &choose(&[2; 3], |c| (c[0] + c[1] + c[2]) % 2 == 0), 8);
    add(&[2; 4], &choose(&[2; 4], |c| (c[0] + c[1] + c[2] + c[3]) % 2 == 0), 6);
    add(&[2; 5], &choose(&[2; 5], |c| c[3] == (c[0] + c[1]) % 2 && c[4] == (c[0] + c[2]) % 2), 6);
    add(&[3; 3], &choose(&[3; 3], |c| (c[0] + c[1]) % 3 == c[2]), 6);
    add(&[3; 4], &choose(&[3; 4], |c| (c[0] + c[1]) % 3 == c[2] && (c[0] + 2 * c[1]) % 3 == c[3]), 6);
    add(&[2, 2], &choose(&[2, 2], |c| c != [1, 1]), 8);
    add(&[3, 3], &choose(&[3, 3], |c| c != [2, 1]), 8);
    add(&[2, 3, 2], &choose(&[2, 3, 2], |c| c[0] != 1 || c[1] != 2), 8);
    // A single trial of a cell, which determines an interaction alone.
    let mut single = Data::draw(random, &[2, 2], &choose(&[2, 2], |c| c != [1, 1]), 6, 0.0);
    single.rows.push((0, vec![1, 1], 0.3));
    all.push(single);
    // The third factor is one in whole blocks and the other in others.
    let mut split = Data::draw(random, &[2, 2, 2], &choose(&[2, 2, 2], |c| c[2] == 0), 10, 0.0);
    split.rows.iter_mut().for_each(|row| row.1[2] = row.0 % 2);
    all.push(split);
    all
}

fn linear_model_as_lm() {
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let data: Vec<Data> = full_rank(&mut random).into_iter().chain(deficient(&mut random)).collect();
    let lists: Vec<Vec<f64>> = data.iter().flat_map(Data::lists).collect();
    let mut answers = Oracle::R.ask(script!("linear.R"), &lists).into_iter();
    let mut refused = 0;
    for (number, data) in data.iter().enumerate() {
        let fit = data.fit();
        for (place, ours) in data.effects(&fit).into_iter().enumerate() {
            let what = format!("model {number}, effect {place}");
            let theirs = answers.next().unwrap();
            match ours {
                Ok(ours) => {
                    // An effect may be near 0; then its error is the measure.
                    assert_close(&what, ours.estimate + theirs[1], theirs[0] + theirs[1], 1e-9);
                    assert_close(&what, ours.se, theirs[1], 1e-8);
                    assert_close(&what, ours.df as f64, theirs[2], 0.0);
                }
                Err(why) => {
                    refused += 1;
                    assert!(theirs[0].is_nan(), "{what}: {why:?}, but lm says {theirs:?}");
                }
            }
        }
        let aliases = fit.aliases();
        let mentioned = |term: &Term| f64::from(u8::from(aliases.iter().any(|(aliased, _)| aliased == term)));
        let ours: Vec<f64> = data.terms().iter().map(mentioned).collect();
        assert_eq!(ours, answers.next().unwrap(), "model {number}: {aliases:?}");
    }
    assert!(refused > 50, "{refused}");
    assert!(answers.next().is_none());
}

fn hc3_as_statsmodels() {
    println!("seed {SEED}");
    let data = full_rank(&mut Random(SEED + 1));
    let lists: Vec<Vec<f64>> = data.iter().flat_map(Data::lists).collect();
    let mut answers = Oracle::Python.ask(script!("linear.py"), &lists).into_iter();
    for (number, data) in data.iter().enumerate() {
        for (place, ours) in data.effects(&data.fit()).into_iter().enumerate() {
            let what = format!("model {number}, effect {place}");
            let (ours, theirs) = (ours.unwrap(), answers.next().unwrap());
            let [low, high] = ours.interval(0.05).unwrap();
            assert_close(&what, ours.estimate + ours.se, theirs[0] + theirs[1], 1e-9);
            assert_close(&what, ours.se, theirs[1], 1e-8);
            assert_close(&what, ours.p, theirs[2], 1e-7);
            assert_close(&what, low + 9.0 * ours.se, theirs[3] + 9.0 * theirs[1], 1e-8);
            assert_close(&what, high + 9.0 * ours.se, theirs[4] + 9.0 * theirs[1], 1e-8);
        }
    }
    assert!(answers.next().is_none());
}

/// Norris, a straight line through 36 points. (NIST certifies no errors of the kind that ours are.)
fn nist_certified_line() {
    let answers = Oracle::Python.ask(script!("nist.py"), &[]);
    let [certified, x, y] = answers.as_slice() else { panic!("three lines") };
    let ols = Ols::new(&vec![0; y.len()], std::slice::from_ref(x), y).unwrap();
    assert_close("Norris, slope", ols.combination(&[1.0]).unwrap().estimate, certified[0], 1e-12);
}

fn several() {
    println!("seed {SEED}");
    let mut random = Random(SEED + 2);
    let p: Vec<Vec<f64>> = (1..40).map(|m| (0..m).map(|_| random.uniform().powi(3)).collect()).collect();
    let studies: Vec<Vec<Vec<f64>>> = (0..24).map(|i| comparisons(&mut random, 1 + i % 7, 1 + i % 9)).collect();
    let mut lists: Vec<Vec<f64>> = p.iter().map(|p| [vec![1.0], p.clone()].concat()).collect();
    for columns in &studies {
        let centres = columns.iter().map(|x| SignFlip::new(x, SEED).unwrap().estimate());
        lists.push([2.0, columns.len() as f64].into_iter().chain(centres).collect());
        lists.extend(columns.clone());
    }
    let mut answers = Oracle::Python.ask(script!("several.py"), &lists).into_iter();
    for p in &p {
        for (ours, theirs) in holm::adjust(p, p.len()).into_iter().zip(answers.next().unwrap()) {
            assert_close("Holm", ours, theirs, 1e-12);
        }
    }
    for columns in &studies {
        let mut ours = max_t(columns);
        let p: Vec<f64> = (0..columns.len()).map(|column| ours.p(column, 0.0)).collect();
        assert_eq!(p, answers.next().unwrap(), "{columns:?}");
    }
    assert!(answers.next().is_none());
}

fn max_t(columns: &[Vec<f64>]) -> MaxT {
    let columns: Vec<Vec<Option<f64>>> = columns.iter().map(|x| x.iter().copied().map(Some).collect()).collect();
    MaxT::new(&columns, 0.05, SEED).unwrap()
}

/// Comparisons of `k` + 1 variants with the first of them, in `n` blocks, the second one slower. Every third study has
/// whole numbers, and thus ties and zeros.
fn comparisons(random: &mut Random, k: usize, n: usize) -> Vec<Vec<f64>> {
    let blocks: Vec<Vec<f64>> = (0..n).map(|_| (0..=k).map(|_| random.normal()).collect()).collect();
    let value = |block: &Vec<f64>, variant: usize| {
        let difference = block[variant] - block[0] + f64::from(u8::from(variant == 1));
        if k.is_multiple_of(3) { difference.round() } else { difference }
    };
    (1..=k).map(|variant| blocks.iter().map(|block| value(block, variant)).collect()).collect()
}
