//! Tests of subsets and of the model.

use super::*;
use proptest::prelude::*;

fn space(levels: &[usize]) -> Space {
    Space::of_levels(levels, &|_| false)
}

/// XᵀX of some combinations, row by row.
fn squares(space: &Space, combinations: &[usize]) -> Vec<f64> {
    let n = space.row(0).len();
    let mut matrix = vec![0.0; n * n];
    for row in combinations.iter().map(|combination| space.row(*combination)) {
        matrix.iter_mut().enumerate().for_each(|(at, sum)| *sum += row[at / n] * row[at % n]);
    }
    matrix
}

#[test]
fn columns_are_the_mean_the_mains_and_the_pairs() {
    let check = |levels: &[usize], expect: usize| assert_eq!(space(levels).row(0).len(), expect, "{levels:?}");
    check(&[2; 8], 37);
    check(&[4, 2, 2, 4], 1 + 8 + 9 + 3 * 4 + 1);
    check(&[3, 3, 2, 2, 2], 1 + 7 + 4 + 2 * 6 + 3);
    check(&[1, 2], 2);
}

/// Over the whole space XᵀX is the number of runs times the identity: the codes are orthogonal and of one size.
#[test]
fn codes_are_orthogonal() {
    let space = space(&[4, 2, 3]);
    let n = space.row(0).len();
    for (at, x) in squares(&space, &(0..24).collect::<Vec<usize>>()).iter().enumerate() {
        let expect = if at / n == at % n { 24.0 } else { 0.0 };
        assert!((x - expect).abs() < 1e-9, "{at}: {x}");
    }
}

#[test]
fn two_levels_give_a_fraction_in_which_no_pair_is_confused() {
    for (factors, runs) in [(6, 32), (7, 64), (8, 64), (9, 128)] {
        let space = space(&vec![2; factors]);
        let subset = space.subset(1);
        assert_eq!((subset.len(), space.subset_len()), (runs, runs), "{factors}");
        let n = space.row(0).len();
        let is_diagonal = |(at, x): (usize, &f64)| at / n == at % n || x.abs() < 1e-9;
        let is_orthogonal = squares(&space, &subset).iter().enumerate().all(is_diagonal);
        assert!(is_orthogonal, "{factors}: a column is confused with another");
    }
}

#[test]
fn an_exchanged_subset_is_better_than_a_random_one() {
    let space = space(&[4, 2, 2, 4]);
    let determinant = |chosen: &[usize]| {
        let factor = space.information(chosen, |_| TINY).unwrap();
        let n = space.row(0).len();
        let unit = |at: usize| (0..n).map(|i| f64::from(u8::from(i == at))).collect::<Vec<f64>>();
        (0..n).map(|at| factor.forward(&unit(at))[at].ln()).sum::<f64>()
    };
    let subset = space.subset(1);
    assert_eq!((subset.len(), space.subset_len()), (38, 38), "1.2 times 31 columns");
    let mut random: Vec<usize> = (0..space.combinations.len()).collect();
    Stream::of(2, &[]).shuffle(&mut random);
    assert!(determinant(&subset) < determinant(&random[..38]), "a larger determinant of XᵀX");
    assert_eq!(subset, space.subset(1));
}

#[test]
fn the_model_finds_the_best_combination_that_was_not_built() {
    let space = space(&[3, 3, 2, 2, 2]);
    let cost = |c: &[usize]| 0.02 * c[0] as f64 + 0.01 * (2 - c[1]) as f64 - 0.03 * (c[2] * c[3]) as f64;
    let run = |c: &usize| Measured { combination: *c, ln: cost(&space.combinations[*c]) };
    let measured: Vec<Measured> = space.subset(3).iter().map(run).collect();
    let best = Model::of(&space, &[measured]).unwrap().ranked()[0];
    assert_eq!(space.combinations[best][..4], [0, 2, 1, 1]);
    assert_eq!(Model::of(&space, &[]), None);
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
        let space = Space::of_levels(&levels, &is_excluded);
        let mut chosen = space.subset(seed);
        let mut failed = BTreeSet::new();
        for _ in 0..3 {
            if chosen.is_empty() {
                break;
            }
            failed.insert(chosen.remove(0));
            chosen.extend(space.replacement(&chosen, &failed));
        }
        let distinct: BTreeSet<&usize> = chosen.iter().collect();
        prop_assert_eq!(distinct.len(), chosen.len());
        prop_assert!(chosen.iter().all(|c| !failed.contains(c) && !is_excluded(&space.combinations[*c])));
    }
}
