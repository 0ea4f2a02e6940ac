//! Stopping rules and power, against their oracles.

use bakeoff_stats::eprocess::EProcess;
use bakeoff_stats::power::{Design, sd_upper};
use bakeoff_stats::spending::{levels, looks};
use bakeoff_testkit::oracle::{Case, Oracle, assert_close};

pub(crate) const CASES: &[Case] = &[
    Case { name: "looks_spend_what_they_may", oracle: Oracle::Python, check: looks_spend_what_they_may },
    Case { name: "power_of_a_difference", oracle: Oracle::Python, check: power_of_a_difference },
    Case { name: "power_of_a_difference_in_r", oracle: Oracle::R, check: power_of_a_difference_in_r },
    Case { name: "power_of_equivalence", oracle: Oracle::Python, check: power_of_equivalence },
    Case { name: "spread_of_a_pilot", oracle: Oracle::Python, check: spread_of_a_pilot },
    Case { name: "bet_against_the_coins", oracle: Oracle::Python, check: bet_against_the_coins },
];

const SEED: u64 = 178;

/// Asks one of the questions of `sequential.py` about many lists.
fn ask(question: u8, lists: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let numbered = |list: &Vec<f64>| [&[f64::from(question)], list.as_slice()].concat();
    let answers = Oracle::Python.ask(script!("sequential.py"), &lists.iter().map(numbered).collect::<Vec<_>>());
    assert_eq!(answers.len(), lists.len());
    answers
}

/// Knuth's linear congruential generator (MMIX): numbers in [0, 1).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Lists of about normal numbers with a few far out, a few that are 0, and a shift.
fn contrasts(lists: usize) -> Vec<Vec<f64>> {
    println!("seed {SEED}");
    let mut state = SEED;
    let number = |state: &mut u64, shift: f64| {
        let normal = (0..12).map(|_| uniform(state)).sum::<f64>() - 6.0;
        let kind = uniform(state);
        if kind < 0.05 { 0.0 } else { 0.01 * (normal + shift) * if kind > 0.95 { 20.0 } else { 1.0 } }
    };
    (0..lists)
        .map(|i| {
            let (n, shift) = (2 + (uniform(&mut state) * 40.0) as usize, (i % 3) as f64);
            (0..n).map(|_| number(&mut state, shift)).collect()
        })
        .collect()
}

/// Integrated by scipy (Genz's quadrature of the multivariate normal distribution): by each look, as much has been
/// crossed as may have been spent.
fn looks_spend_what_they_may() {
    let cases =
        [(looks(40), 0.05), (looks(40), 0.01), (looks(20), 0.1), (vec![10, 11, 12, 50], 0.05), (looks(100), 0.5)];
    let list = |(looks, alpha): &(Vec<u32>, f64)| {
        looks.iter().map(|look| f64::from(*look)).chain(levels(looks, *alpha).unwrap()).collect()
    };
    let answers = ask(0, &cases.iter().map(list).collect::<Vec<_>>());
    for ((looks, alpha), crossed) in cases.iter().zip(answers) {
        for (look, crossed) in looks.iter().zip(crossed) {
            let part = f64::from(*look) / f64::from(*looks.last().unwrap());
            let spent = alpha * (1.0 + (std::f64::consts::E - 1.0) * part).ln();
            assert!((crossed - spent).abs() < 5e-5, "{looks:?}, {alpha}: {crossed} by {look}, not {spent}");
        }
    }
}

/// n, size, level, power.
fn designs() -> Vec<Vec<f64>> {
    let mut designs = vec![];
    for n in [3.0, 6.0, 12.0, 40.0, 200.0] {
        for size in if n < 20.0 { [0.2, 0.7, 2.5] } else { [0.1, 0.4, 1.0] } {
            for alpha in [0.05, 0.01, 0.002] {
                designs.push(vec![n, size, alpha, if n < 20.0 { 0.8 } else { 0.95 }]);
            }
        }
    }
    designs
}

/// statsmodels and R give a fraction of a block; ours is the next whole one. Below 2 they give what cannot be run.
fn assert_blocks(what: &str, ours: u32, theirs: f64) {
    let expect = (theirs - 1e-6).ceil().max(2.0);
    assert_eq!(f64::from(ours), expect, "{what}: the oracle says {theirs}");
}

fn power_of_a_difference() {
    let designs = designs();
    let mut compared = 0;
    for (asked, answer) in designs.iter().zip(ask(1, &designs)) {
        let [n, size, alpha, power] = asked[..] else { panic!("{asked:?}") };
        let design = Design { sd: 1.0, alpha };
        let what = format!("{asked:?}");
        // Where they know it: far out, scipy's noncentral t is not a number, and statsmodels does not find its n.
        for theirs in [answer[0], answer[1], answer[3]].into_iter().filter(|x| !x.is_nan()) {
            assert_close(&what, design.of_difference(size, n as u32).unwrap(), theirs, 1e-7);
            assert_close(&what, design.of_difference(-size, n as u32).unwrap(), theirs, 1e-7);
        }
        if !answer[2].is_nan() {
            assert_blocks(&what, design.blocks_for_difference(size, power).unwrap(), answer[2]);
            compared += 1;
        }
    }
    assert!(compared > designs.len() / 2, "statsmodels found {compared} of {} n", designs.len());
    // What is detectable is what has that power.
    let detectable = |asked: &Vec<f64>| {
        let size = Design { sd: 1.0, alpha: asked[2] }.detectable(asked[0] as u32, asked[3]).unwrap();
        vec![asked[0], size, asked[2], 0.0]
    };
    let detectables: Vec<Vec<f64>> = designs.iter().map(detectable).collect();
    for (asked, answer) in designs.iter().zip(ask(1, &detectables)) {
        assert_close(&format!("{asked:?}"), asked[3], answer[3], 1e-7);
    }
}

fn power_of_a_difference_in_r() {
    let designs = designs();
    for (asked, answer) in designs.iter().zip(Oracle::R.ask(script!("power.R"), &designs)) {
        let [n, size, alpha, power] = asked[..] else { panic!("{asked:?}") };
        let design = Design { sd: 1.0, alpha };
        let what = format!("{asked:?}");
        assert_close(&what, design.of_difference(size, n as u32).unwrap(), answer[0], 1e-7);
        // R searches its n from 2 on, to four digits.
        let ours = f64::from(design.blocks_for_difference(size, power).unwrap());
        assert!((ours - answer[1].max(2.0).ceil()).abs() <= 1.0, "{what}: {ours}, R says {}", answer[1]);
    }
}

fn power_of_equivalence() {
    let mut asked = vec![];
    for n in [3.0, 6.0, 12.0, 40.0, 300.0] {
        for (half, true_difference) in [(0.5, 0.0), (1.0, 0.0), (1.0, 0.4), (0.3, -0.1), (1.0, 1.0)] {
            for alpha in [0.05, 0.01] {
                asked.push(vec![n, half, true_difference, alpha]);
            }
        }
    }
    for (asked, answer) in asked.iter().zip(ask(2, &asked)) {
        let [n, half, true_difference, alpha] = asked[..] else { panic!("{asked:?}") };
        let ours = Design { sd: 1.0, alpha }.of_equivalence(half, true_difference, n as u32).unwrap();
        assert!((ours - answer[0]).abs() < 1e-8, "{asked:?}: {ours}, not {}", answer[0]);
    }
}

fn spread_of_a_pilot() {
    let asked: Vec<Vec<f64>> =
        [2.0, 3.0, 6.0, 10.0, 100.0].iter().flat_map(|n| [0.5, 0.8, 0.95].map(|c| vec![*n, c])).collect();
    for (asked, answer) in asked.iter().zip(ask(3, &asked)) {
        let ours = sd_upper(0.02, asked[0] as u32, asked[1]).unwrap();
        assert_close(&format!("{asked:?}"), ours, 0.02 * answer[0], 1e-9);
    }
}

fn bet_against_the_coins() {
    let lists = contrasts(300);
    for (list, answer) in lists.iter().zip(ask(4, &lists)) {
        assert_close(&format!("{list:?}"), EProcess::of(list).unwrap().value(), answer[0], 1e-10);
    }
}
