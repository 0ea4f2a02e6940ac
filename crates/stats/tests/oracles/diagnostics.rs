//! Drift, modes, counts, against scipy and R, or against their definitions in plain Python.

use bakeoff_model::shuffle::Stream;
use bakeoff_stats::modes::{Detector, Modality};
use bakeoff_stats::proportion::{binomial_interval, fisher_exact, too_small};
use bakeoff_stats::trend::{bartels, mann_kendall};
use bakeoff_stats::welch::welch_p;
use bakeoff_testkit::oracle::{Case, Oracle, assert_close};

const fn python(name: &'static str, check: fn()) -> Case {
    Case { name, oracle: Oracle::Python, check }
}

pub(crate) const CASES: &[Case] = &[
    python("mann_kendall_is_kendalls_exact_tau", mann_kendall_is_kendalls_exact_tau),
    Case {
        name: "mann_kendall_with_ties_is_kendalls_tau",
        oracle: Oracle::R,
        check: mann_kendall_with_ties_is_kendalls_tau,
    },
    python("bartels_by_definition", bartels_by_definition),
    python("bartels_by_permutation", bartels_by_permutation),
    python("fishers_exact_test", fishers_exact_test),
    python("clopper_and_pearsons_interval", clopper_and_pearsons_interval),
    python("kolmogorov_and_smirnovs_one_sided_test", kolmogorov_and_smirnovs_one_sided_test),
    python("lowlands_by_definition", lowlands_by_definition),
    python("welchs_t_of_two_groups", welchs_t_of_two_groups),
];

const SEED: u64 = 178;

/// The questions of `diagnostics.py`, by number.
#[derive(Clone, Copy)]
enum Question {
    Kendall,
    Bartels,
    BartelsByPermutation,
    Fisher,
    Binomial,
    Kolmogorov,
    Lowland,
    Welch,
}

/// The answers of Python, one list for each of `lists`.
fn ask(question: Question, lists: &[Vec<f64>]) -> Vec<Vec<f64>> {
    println!("seed {SEED}, {} data sets", lists.len());
    let numbered = |list: &Vec<f64>| std::iter::once(f64::from(question as u8)).chain(list.iter().copied()).collect();
    let lists: Vec<Vec<f64>> = lists.iter().map(numbered).collect();
    let answers = Oracle::Python.ask(script!("diagnostics.py"), &lists);
    assert_eq!(answers.len(), lists.len());
    answers
}

/// Normal values.
fn normal(stream: &mut Stream) -> f64 {
    (-2.0 * (1.0 - stream.unit()).ln()).sqrt() * (std::f64::consts::TAU * stream.unit()).cos()
}

/// Lists of these lengths, filled by `draw` with the index of the value and the number of the list.
fn lists(
    what: &str,
    lengths: impl IntoIterator<Item = usize>,
    mut draw: impl FnMut(&mut Stream, usize, usize) -> f64,
) -> Vec<Vec<f64>> {
    let mut stream = Stream::of(SEED, &["diagnostics", what]);
    let list = |(number, n): (usize, usize)| (0..n).map(|index| draw(&mut stream, index, number)).collect();
    lengths.into_iter().enumerate().map(list).collect()
}

/// Kendall's tau-b, which is S over the geometric mean of the pairs that could differ in time and in value.
fn tau(list: &[f64], s: i64) -> f64 {
    let pairs = list.len() * (list.len() - 1) / 2;
    let untied = (1..list.len()).map(|i| list[..i].iter().filter(|x| **x != list[i]).count()).sum::<usize>();
    s as f64 / (pairs as f64 * untied as f64).sqrt()
}

fn mann_kendall_is_kendalls_exact_tau() {
    let lists = lists("kendall", 3..=60, |s, index, number| normal(s) + (number % 4 * index) as f64 * 0.02);
    for (list, answer) in lists.iter().zip(ask(Question::Kendall, &lists)) {
        let trend = mann_kendall(list).unwrap();
        assert_close(&format!("tau of {list:?}"), tau(list, trend.s), answer[0], 1e-12);
        assert_close(&format!("p of {list:?}"), trend.p, answer[1], 1e-9);
    }
}

fn mann_kendall_with_ties_is_kendalls_tau() {
    let lengths = (4..60).chain([61, 100, 500]);
    let lists = lists("ties", lengths, |s, index, number| (3.0 * normal(s)).round() + (number % 3 * index / 9) as f64);
    let lists: Vec<Vec<f64>> = lists.into_iter().filter(|list| list.windows(2).any(|w| w[0] != w[1])).collect();
    println!("seed {SEED}, {} data sets", lists.len());
    let mut tested = 0;
    for (list, answer) in lists.iter().zip(Oracle::R.ask(script!("diagnostics.R"), &lists)) {
        let trend = mann_kendall(list).unwrap();
        assert_close(&format!("tau of {list:?}"), tau(list, trend.s), answer[0], 1e-12);
        let mut distinct = list.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        // Without ties ours is exact. R's correction for continuity overshoots where S is 0; p is 1 there.
        if distinct.len() < list.len() && trend.s != 0 {
            assert_close(&format!("p of {list:?}"), trend.p, answer[1], 1e-9);
            tested += 1;
        }
    }
    assert!(tested > 40, "{tested}");
}

fn bartels_by_definition() {
    let mut state = 0.0;
    let lists = lists("bartels", (10..=60).chain([99, 100, 101, 400]), |s, _, number| {
        state = (number % 3) as f64 * 0.4 * state + normal(s);
        state
    });
    for (list, answer) in lists.iter().zip(ask(Question::Bartels, &lists)) {
        let test = bartels(list).unwrap();
        assert_close(&format!("ratio of {list:?}"), test.ratio, answer[0], 1e-12);
        assert_close(&format!("p of {list:?}"), test.p, answer[1], 1e-9);
    }
}

/// The approximation against the thing itself: 40 000 random orders of the same values, with many ties in every second list.
fn bartels_by_permutation() {
    let mut state = 0.0;
    let lists = lists("orders", [10, 10, 12, 12, 16, 16, 25, 25, 40, 40, 70, 70, 120], |s, _, number| {
        state = 0.3 * state + normal(s);
        if number % 2 == 0 { state } else { state.round() }
    });
    for (list, answer) in lists.iter().zip(ask(Question::BartelsByPermutation, &lists)) {
        let p = bartels(list).unwrap().p;
        let error = 4.0 * (answer[0] * (1.0 - answer[0]) / 40_000.0).sqrt() + 0.03 * answer[0] + 0.001;
        assert!((p - answer[0]).abs() < error, "{p}, but {} ± {error} by permutation, of {list:?}", answer[0]);
    }
}

fn fishers_exact_test() {
    let mut tables = lists("fisher", [4; 300], |s, _, number| s.below([4, 12, 40, 3000][number % 4]) as f64);
    tables.extend([[0.0, 12.0, 5.0, 7.0], [1.0, 39.0, 8.0, 32.0], [40.0, 0.0, 0.0, 40.0]].map(Vec::from));
    for (table, answer) in tables.iter().zip(ask(Question::Fisher, &tables)) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| table[i] as u32);
        // Those that scipy calculates by cancelling terms have fewer digits.
        assert_close(&format!("p of {table:?}"), fisher_exact([[a, b], [c, d]]), answer[0], 1e-8);
    }
}

fn clopper_and_pearsons_interval() {
    let mut stream = Stream::of(SEED, &["diagnostics", "binomial"]);
    let mut cases: Vec<Vec<f64>> = vec![vec![3.0, 41.0, 0.05], vec![0.0, 9.0, 0.05], vec![9.0, 9.0, 0.01]];
    for number in 0..150 {
        let of = 1 + stream.below([10, 100, 10_000][number % 3]);
        let hits = stream.below(of + 1);
        cases.push(vec![hits as f64, of as f64, [0.05, 0.01, 0.3][number % 3]]);
    }
    for (case, answer) in cases.iter().zip(ask(Question::Binomial, &cases)) {
        let [low, high] = binomial_interval(case[0] as u32, case[1] as u32, case[2]).unwrap();
        // Nine digits are what the beta distribution of statrs has.
        assert_close(&format!("low of {case:?}"), low, answer[0], 1e-8);
        assert_close(&format!("high of {case:?}"), high, answer[1], 1e-8);
    }
}

fn kolmogorov_and_smirnovs_one_sided_test() {
    let lengths = (1..=60).chain([100, 300, 1000]);
    let lists = lists("kolmogorov", lengths, |s, _, number| s.unit().powf([1.0, 1.3, 2.0][number % 3]));
    for (list, answer) in lists.iter().zip(ask(Question::Kolmogorov, &lists)) {
        assert_close(&format!("p of {list:?}"), too_small(list).unwrap(), answer[0], 1e-8);
    }
}

fn lowlands_by_definition() {
    // One, two and three modes, of different sizes; without small ones, which our detector joins to their neighbours.
    let lists = lists("lowland", (30..150).step_by(3).chain([400, 1000]), |s, index, number| {
        let mode = [0, usize::from(index % 10 > 6), index % 3][number % 3];
        100.0 + normal(s) + 12.0 * mode as f64
    });
    let mut detector = Detector::default();
    let mut several = 0;
    for (list, answer) in lists.iter().zip(ask(Question::Lowland, &lists)) {
        let places = match detector.modes(list) {
            Modality::TooFew => panic!("{} are enough", list.len()),
            Modality::One => vec![f64::NAN],
            Modality::Several(modes) => modes.iter().map(|mode| mode.place).collect(),
        };
        assert_eq!(places.len(), answer.len().max(1), "{places:?}, but the oracle says {answer:?}, of {list:?}");
        if places.len() > 1 {
            several += 1;
            places.iter().zip(&answer).for_each(|(ours, theirs)| assert_close("a mode's place", *ours, *theirs, 1e-6));
        }
    }
    assert!(several > 15, "only {several} lists have several modes");
}

fn welchs_t_of_two_groups() {
    let lists = lists("welch", 5..60, |s, index, number| match index {
        0 => (2 + s.below(number as u64 + 1)) as f64,
        _ => 5.0 + normal(s) * (1.0 + (index / 4) as f64) + (index % 2) as f64,
    });
    for (list, answer) in lists.iter().zip(ask(Question::Welch, &lists)) {
        let (first, second) = list[1..].split_at(list[0] as usize);
        assert_close(&format!("p of {list:?}"), welch_p(first, second).unwrap_or(f64::NAN), answer[0], 1e-9);
    }
}
