//! Tests of subsets and of the model.

use super::*;
use proptest::prelude::*;

fn space(levels: &[usize]) -> Space {
    Space::new(levels, &|_| false)
}

#[test]
fn columns_are_the_mean_the_mains_and_the_pairs() {
    let check = |levels: &[usize], expect: usize| {
        let space = space(levels);
        assert_eq!((space.columns(), space.row(&space.combinations()[0]).len()), (expect, expect), "{levels:?}");
    };
    check(&[2; 8], 37);
    check(&[4, 2, 2, 4], 1 + 8 + 9 + 3 * 4 + 1);
    check(&[3, 3, 2, 2, 2], 1 + 7 + 4 + 2 * 6 + 3);
    check(&[1, 2], 2);
}

/// Over the whole space XᵀX is the number of runs times the identity: the codes are orthogonal and of one size.
#[test]
fn codes_are_orthogonal() {
    let space = space(&[4, 2, 3]);
    let n = space.columns();
    let mut matrix = vec![0.0; n * n];
    space.combinations().iter().for_each(|one| add_square(&mut matrix, &space.row(one)));
    for (at, x) in matrix.iter().enumerate() {
        let expect = if at / n == at % n { 24.0 } else { 0.0 };
        assert!((x - expect).abs() < 1e-9, "{at}: {x}");
    }
}

#[test]
fn two_levels_give_a_fraction_in_which_no_pair_is_confused() {
    for (factors, runs) in [(6, 32), (7, 64), (8, 64), (9, 128)] {
        let space = space(&vec![2; factors]);
        let subset = space.subset(1);
        assert_eq!(subset.chosen().len(), runs, "{factors}");
        let n = space.columns();
        let mut matrix = vec![0.0; n * n];
        subset.chosen().iter().for_each(|c| add_square(&mut matrix, &space.row(&space.combinations()[*c])));
        let is_diagonal = |(at, x): (usize, &f64)| at / n == at % n || x.abs() < 1e-9;
        assert!(matrix.iter().enumerate().all(is_diagonal), "{factors}: a column is confused with another");
    }
}

#[test]
fn an_exchanged_subset_is_better_than_a_random_one() {
    let space = space(&[4, 2, 2, 4]);
    let determinant = |chosen: &[usize]| {
        let factor = space.information(chosen, TINY).unwrap();
        let unit = |at: usize| (0..space.columns()).map(|i| f64::from(u8::from(i == at))).collect::<Vec<f64>>();
        (0..space.columns()).map(|at| factor.forward(&unit(at))[at].ln()).sum::<f64>()
    };
    let subset = space.subset(1);
    assert_eq!(subset.chosen().len(), 38, "1.2 times 31 columns");
    let mut random: Vec<usize> = (0..space.combinations().len()).collect();
    Stream::of(2, &[]).shuffle(&mut random);
    assert!(determinant(subset.chosen()) < determinant(&random[..38]), "a larger determinant of XᵀX");
    assert_eq!(subset, space.subset(1));
}

#[test]
fn the_model_finds_the_best_combination_that_was_not_built() {
    let space = space(&[3, 3, 2, 2, 2]);
    let subset = space.subset(3);
    let cost = |c: &[usize]| 0.02 * c[0] as f64 + 0.01 * (2 - c[1]) as f64 - 0.03 * (c[2] * c[3]) as f64;
    let measured: Vec<Measured> =
        subset.chosen().iter().map(|c| Measured { combination: *c, ln: cost(&space.combinations()[*c]) }).collect();
    let best = rank(&space, &[measured]).unwrap()[0].combination;
    assert_eq!(space.combinations()[best][..4], [0, 2, 1, 1]);
    assert_eq!(rank(&space, &[]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any levels, any exclusion, and builds that fail: nothing excluded or failed is asked for, and nothing twice.
    #[test]
    fn a_subset_holds_only_what_can_be_built(
        levels in proptest::collection::vec(1_usize..=4, 2..=4),
        excluded in 0_usize..3,
        seed in any::<u64>(),
    ) {
        let is_excluded = |c: &[usize]| excluded > 0 && c[0] == excluded && c[1] == 0;
        let space = Space::new(&levels, &is_excluded);
        let mut subset = space.subset(seed);
        let mut failed = vec![];
        for _ in 0..3 {
            let Some(&first) = subset.chosen().first() else { break };
            failed.push(first);
            subset.replace(first, &space);
        }
        let mut chosen = subset.chosen().to_vec();
        chosen.sort_unstable();
        chosen.dedup();
        prop_assert_eq!(chosen.len(), subset.chosen().len());
        prop_assert!(chosen.iter().all(|c| !failed.contains(c) && !is_excluded(&space.combinations()[*c])));
    }
}
