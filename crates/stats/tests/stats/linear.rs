//! Laws and textbook cases of the linear model, the letters and max-T, and how often they err in simulated studies.
//! What R and statsmodels say of them is in `tests/oracles/linear.rs`.
use bakeoff_stats::describe::{mean, sd};
use bakeoff_stats::letters::display;
use bakeoff_stats::linear::{Fit, Gap, Observation, Ols, Refused, Step, Term};
use bakeoff_stats::maxt::MaxT;
use bakeoff_stats::signflip::SignFlip;
use proptest::prelude::*;
use std::collections::BTreeSet;

type Row = (usize, Vec<usize>, f64);

fn fit(rows: &[Row], levels: &[usize], interactions: bool) -> Option<Fit> {
    let rows: Vec<_> = rows.iter().map(|(block, levels, y)| Observation { block: *block, levels, y: *y }).collect();
    Fit::new(&rows, levels, interactions)
}

/// Some levels of two-level factors, each in four blocks, with arbitrary values.
fn fraction(factors: usize, cells: &[&[usize]]) -> Fit {
    let row = |block: usize, i: usize| (block, cells[i].to_vec(), ((7 * block + 5 * i * i) % 11) as f64);
    let rows: Vec<Row> = (0..4).flat_map(|block| (0..cells.len()).map(move |i| row(block, i))).collect();
    fit(&rows, &vec![2; factors], true).unwrap()
}

/// The cells of a two-level fraction: the first `base` factors in all combinations, each further one the product of some.
fn generated(base: usize, generators: &[&[usize]]) -> Vec<Vec<usize>> {
    let cell = |number: usize| {
        let cell: Vec<usize> = (0..base).map(|f| number >> f & 1).collect();
        // Level 1 is +1: the product is +1 where the number of levels 0 is even.
        let product = |g: &&[usize]| g.iter().map(|f| 1 - cell[*f]).sum::<usize>() + 1;
        [cell.as_slice(), &generators.iter().map(|g| product(g) % 2).collect::<Vec<_>>()].concat()
    };
    (0..1 << base).map(cell).collect()
}

fn aliases(base: usize, generators: &[&[usize]]) -> Vec<(Term, Vec<Term>)> {
    let cells = generated(base, generators);
    fraction(base + generators.len(), &cells.iter().map(Vec::as_slice).collect::<Vec<_>>()).aliases()
}

/// The alias sets of Box, Hunter & Hunter's tables (Statistics for Experimenters, 1978, ch. 12), without interactions
/// of three or more factors.
#[test]
fn textbook_aliases() {
    use Term::{Main as M, TwoWay as W};
    let sets = |sets: &[&[Term]]| {
        let mut all: Vec<(Term, Vec<Term>)> = Vec::new();
        for set in sets {
            let others = |term: &Term| set.iter().filter(|other| *other != term).copied().collect();
            all.extend(set.iter().map(|term| (*term, others(term))));
        }
        all.sort();
        all
    };
    // 2^(3−1), C = AB.
    assert_eq!(aliases(2, &[&[0, 1]]), sets(&[&[M(0), W(1, 2)], &[M(1), W(0, 2)], &[M(2), W(0, 1)]]));
    // 2^(4−1), D = ABC.
    let pairs = [&[W(0, 1), W(2, 3)][..], &[W(0, 2), W(1, 3)], &[W(0, 3), W(1, 2)]];
    assert_eq!(aliases(3, &[&[0, 1, 2]]), sets(&pairs));
    // 2^(5−1), E = ABCD: nothing is lost.
    assert_eq!(aliases(4, &[&[0, 1, 2, 3]]), []);
    // 2^(5−2), D = AB, E = AC.
    let five = [
        &[M(0), W(1, 3), W(2, 4)][..],
        &[M(1), W(0, 3)],
        &[M(2), W(0, 4)],
        &[M(3), W(0, 1)],
        &[M(4), W(0, 2)],
        &[W(1, 2), W(3, 4)],
        &[W(1, 4), W(2, 3)],
    ];
    assert_eq!(aliases(3, &[&[0, 1], &[0, 2]]), sets(&five));
}

#[test]
fn aliases_of_gaps() {
    use Term::{Blocks, Main as M, TwoWay as W};
    // The fourth combination was never run: each of the three needs it.
    let corner = fraction(2, &[&[0, 0], &[0, 1], &[1, 0]]);
    let three = [(M(0), vec![M(1), W(0, 1)]), (M(1), vec![M(0), W(0, 1)]), (W(0, 1), vec![M(0), M(1)])];
    assert_eq!(corner.aliases(), three);
    assert_eq!(corner.main(Step(0, 1, 0)), Err(Refused::Aliased { with: vec![M(1), W(0, 1)] }));
    // Without the interaction in the model, the same trials tell both main effects.
    let rows: Vec<Row> = [(0, vec![0, 0], 1.0), (0, vec![0, 1], 2.5), (0, vec![1, 0], 4.0)].into();
    let rows: Vec<Row> =
        (0..3).flat_map(|b| rows.iter().map(move |r| (b, r.1.clone(), r.2 + 0.1 * (b * b) as f64))).collect();
    let mains = fit(&rows, &[2, 2], false).unwrap();
    assert!(mains.aliases().is_empty());
    assert!((mains.main(Step(0, 1, 0)).unwrap().estimate - 3.0).abs() < 1e-12);
    assert_eq!(mains.interaction(Step(0, 1, 0), Step(1, 1, 0)), Err(Refused::Unknown));

    // A factor that is constant within blocks is its blocks; its interaction is not.
    let rows: Vec<Row> =
        (0..8).flat_map(|b| (0..2).map(move |l| (b, vec![l, b % 2], ((b + 3 * l * b) % 5) as f64))).collect();
    let split = fit(&rows, &[2, 2], true).unwrap();
    assert_eq!(split.aliases(), [(M(1), vec![Blocks])]);
    assert!(split.interaction(Step(1, 1, 0), Step(0, 1, 0)).is_ok());

    // A level that was never run: the other two can be compared, on the average over the other factor's levels.
    let rows: Vec<Row> =
        (0..6).flat_map(|b| (0..2).map(move |l| (b, vec![2 * l], ((b + 3 * l * b) % 5) as f64))).collect();
    let unseen = fit(&rows, &[3], true).unwrap();
    assert_eq!(unseen.main(Step(0, 1, 0)), Err(Refused::Aliased { with: vec![Blocks] }));
    assert!(unseen.main(Step(0, 2, 0)).is_ok());
}

/// In n pairs, the error of HC3 is that of the paired t test times √(2n/(n − 1)).
#[test]
fn hc3_of_pairs_is_a_wider_paired_t() {
    let differences = [0.3, -0.1, 0.45, 0.2, 0.05, 0.6, -0.2];
    let pair = |(b, d): (usize, &f64)| [(b, vec![0], b as f64), (b, vec![1], b as f64 + d)];
    let rows: Vec<Row> = differences.iter().enumerate().flat_map(pair).collect();
    let effect = fit(&rows, &[2], true).unwrap().main(Step(0, 1, 0)).unwrap();
    assert!((effect.estimate - mean(&differences)).abs() < 1e-12);
    let paired = sd(&differences).unwrap() / 7f64.sqrt();
    assert!((effect.se / paired - (2.0f64 * 7.0 / 6.0).sqrt()).abs() < 1e-10, "{effect:?}, but {paired}");
    assert_eq!(effect.df, 6);
}

#[test]
fn limits_of_the_model() {
    let row = |block, level, y| (block, vec![level], y);
    assert!(fit(&[], &[2], true).is_none());
    assert!(fit(&[row(0, 2, 1.0)], &[2], true).is_none());
    assert!(fit(&[row(0, 0, f64::NAN)], &[2], true).is_none());
    assert!(fit(&[row(0, 0, f64::MAX), row(0, 1, f64::MAX)], &[2], true).is_none());
    assert!(fit(&[row(0, 0, 1.0)], &[2, 2], true).is_none());
    assert!(fit(&[row(0, 0, 1.0)], &[usize::MAX], true).is_none());
    assert!(fit(&[(0, vec![0, 0], 1.0)], &[1 << 40, 1 << 40], true).is_none());

    // No factor, and a factor of one level: there is nothing to ask.
    assert_eq!(fit(&[(0, vec![], 1.0)], &[], true).unwrap().main(Step(0, 1, 0)), Err(Refused::Unknown));
    let one = fit(&[row(0, 0, 1.0), row(0, 0, 2.0)], &[1], true).unwrap();
    assert_eq!(one.main(Step(0, 0, 0)), Err(Refused::Unknown));
    // One pair has a difference, and no error.
    let pair = fit(&[row(0, 0, 1.0), row(0, 1, 2.0)], &[2], true).unwrap();
    assert_eq!(pair.main(Step(0, 1, 0)), Err(Refused::NoError));
    // A level run once beside many of the others: its value is its mean.
    let mut rows: Vec<Row> = (0..6).map(|i| row(0, 0, f64::from(i))).collect();
    rows.push(row(0, 1, 3.0));
    assert_eq!(fit(&rows, &[2], true).unwrap().main(Step(0, 1, 0)), Err(Refused::NoError));

    // Without noise: certain, however the sums are rounded; and 0 is 0.
    for size in [1e-300, 0.1, 1e12, 1e150, 1e300] {
        let rows: Vec<Row> = (0..9)
            .flat_map(|b| (0..6).map(move |i| (b, vec![i % 2, i / 2], size * (b as f64 / 7.0 + 0.3 * (i % 2) as f64))))
            .collect();
        let exact = fit(&rows, &[2, 3], true).unwrap();
        let effect = exact.main(Step(0, 1, 0)).unwrap();
        assert!((effect.estimate / (0.3 * size) - 1.0).abs() < 1e-12 && effect.p == 0.0, "{size}: {effect:?}");
        let nothing = exact.main(Step(1, 2, 0)).unwrap();
        assert_eq!((nothing.estimate, nothing.p), (0.0, 1.0), "{size}");
    }
    let none = Ols::new(&[0, 0], &[vec![1.0, 2.0]], &[1.0]);
    assert!(none.is_none());
    let ols = Ols::new(&[0, 0, 0], &[vec![1.0, 2.0, 4.0]], &[1.0, 0.0, 2.0]).unwrap();
    assert_eq!(ols.combination(&[]), Err(Gap::NotEstimable));
    assert_eq!(ols.combination(&[f64::NAN]), Err(Gap::NotEstimable));
}

/// The corrected p of "centred on 0" of every column; all blocks are there.
fn max_t(columns: &[Vec<f64>]) -> Option<Vec<f64>> {
    let there: Vec<Vec<Option<f64>>> = columns.iter().map(|x| x.iter().copied().map(Some).collect()).collect();
    let mut test = MaxT::new(&there, 0.05, 178)?;
    Some((0..columns.len()).map(|column| test.p(column, 0.0)).collect())
}

/// Where max-T centres a column: as the sign-flip test does.
fn estimate(column: &[Option<f64>]) -> f64 {
    SignFlip::new(&column.iter().copied().flatten().collect::<Vec<_>>(), 178).unwrap().estimate()
}

#[test]
fn limits_of_max_t() {
    assert_eq!(max_t(&[]), None);
    assert_eq!(max_t(&[vec![]]), None);
    assert_eq!(max_t(&[vec![1.0], vec![1.0, 2.0]]), None);
    assert_eq!(max_t(&[vec![f64::NAN]]), None);
    assert_eq!(max_t(&[vec![1.0]]), Some(vec![1.0]));
    // However large the effects, and whatever their units: the smallest p is 2^(1−n), and two of them do not cover each other.
    assert_eq!(max_t(&[vec![0.0; 8], vec![1e300; 8], vec![1e-310; 8]]), Some(vec![1.0, 1.0 / 128.0, 1.0 / 128.0]));
    // Beyond what can be counted, a group of patterns that has the identity.
    let many = max_t(&[vec![1.0; 40], vec![0.0; 40]]).unwrap();
    assert!(many[0] < 0.001 && many[1] == 1.0, "{many:?}");
}

/// A comparison that lacks blocks is flipped with the others in those that it has; one with all of them can have a smaller p.
#[test]
fn max_t_of_columns_with_gaps() {
    let column = |there: usize| (0..10).map(|block| (block < there).then_some(1.0)).collect::<Vec<_>>();
    let mut test = MaxT::new(&[column(10), column(6)], 0.05, 178).unwrap();
    assert_eq!([test.p(0, 0.0), test.p(1, 0.0)], [1.0 / 512.0, 1.0 / 32.0]);
    assert_eq!([0.05, 0.01].map(|alpha| test.interval(1, alpha).is_some()), [true, false]);
}

proptest! {
    /// Verdict and interval are one: a value is outside the interval exactly where it is refuted. Values next to an end are left out, because
    /// p is a step function and an end is found to a millionth of the interval.
    #[test]
    fn max_t_refutes_what_its_interval_excludes(
        x in proptest::collection::vec(proptest::collection::vec(-1.0..1.0f64, 9), 1..5),
        shift in -1.0..1.0f64,
        theta in -2.0..2.0f64,
    ) {
        let columns: Vec<Vec<Option<f64>>> =
            x.iter().map(|x| x.iter().map(|x| Some(x + shift)).collect()).collect();
        let mut test = MaxT::new(&columns, 0.05, 178).unwrap();
        for (column, contrasts) in columns.iter().enumerate() {
            let [low, high] = test.interval(column, 0.05).unwrap();
            let estimate = estimate(contrasts);
            prop_assert!(low <= estimate && estimate <= high);
            if (theta - low).abs().min((theta - high).abs()) > 1e-4 {
                let refuted = test.p(column, theta) <= 0.05;
                // Far out p rises no more; between, a hull may hold values that are refuted.
                prop_assert!(refuted || (low..=high).contains(&theta), "{theta} outside [{low}, {high}]");
            }
        }
    }
}

proptest! {
    /// Where contrasts are equal to each other, as counts often are, the centre may be the outermost of them.
    #[test]
    fn an_interval_of_ties_has_its_estimate(
        x in proptest::collection::vec(proptest::collection::vec(0..5usize, 9), 1..4),
        side in prop_oneof![Just(-1.0), Just(1.0)],
    ) {
        let value = |x: &usize| Some(side * [0.0, 0.0, 0.0, 1.0, 2.0][*x]);
        let columns: Vec<Vec<Option<f64>>> = x.iter().map(|x| x.iter().map(value).collect()).collect();
        let mut test = MaxT::new(&columns, 0.05, 178).unwrap();
        for (column, contrasts) in columns.iter().enumerate() {
            let [low, high] = test.interval(column, 0.05).unwrap();
            let estimate = estimate(contrasts);
            prop_assert!(low <= estimate && estimate <= high, "{estimate} in [{low}, {high}]");
            let width = high - low;
            for outside in [low - 0.01 - width, low - 0.01, high + 0.01, high + 0.01 + width] {
                prop_assert!(test.p(column, outside) <= 0.05, "{outside} is not refuted by [{low}, {high}]");
            }
        }
    }
}

/// SplitMix64, and normal values by Box and Muller.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / 2f64.powi(53)
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Part of `studies` in which two of six variants that are equal are judged different, at 5 %; the sixth is `slower`.
fn family_error(studies: usize, blocks: usize, all_pairs: bool, slower: f64, noise: fn(&mut Random) -> f64) -> f64 {
    let mut random = Random(178 + blocks as u64);
    let pairs = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b)));
    let pairs: Vec<(usize, usize)> = pairs.filter(|(a, _)| all_pairs || *a == 0).collect();
    let wrong = |_: &usize| {
        let y: Vec<Vec<f64>> = (0..blocks)
            .map(|_| (0..6).map(|v| noise(&mut random) + if v == 5 { slower } else { 0.0 }).collect())
            .collect();
        let equal = |(_, b): &(usize, usize)| *b != 5 || slower == 0.0;
        let column = |(a, b): &(usize, usize)| y.iter().map(|block| block[*b] - block[*a]).collect();
        let p = max_t(&pairs.iter().map(column).collect::<Vec<_>>()).unwrap();
        p.iter().zip(&pairs).any(|(p, pair)| *p <= 0.05 && equal(pair))
    };
    (0..studies).filter(wrong).count() as f64 / studies as f64
}

/// Joint sign symmetry holds for normal noise: the error is at most 5 %, but for three standard errors of 2 000 studies.
/// It does not for lognormal noise and one-sided spikes, which are to stay within the same limit.
#[test]
fn max_t_keeps_its_family_error() {
    let lognormal = |random: &mut Random| (0.8 * random.normal()).exp();
    let spiky = |random: &mut Random| {
        let spike = if random.uniform() < 0.05 { -0.1 * (1.0 - random.uniform()).ln() } else { 0.0 };
        0.005 * random.normal() + spike
    };
    for (blocks, all_pairs) in [(8, false), (8, true), (11, true)] {
        let errors = [Random::normal, lognormal, spiky].map(|noise| family_error(2000, blocks, all_pairs, 0.0, noise));
        println!("{blocks} blocks, all pairs {all_pairs}: normal, lognormal, spiky {errors:?}");
        assert!(errors[0] > 0.03, "{errors:?}");
        assert!(errors.iter().all(|error| *error < 0.05 + 3.0 * 0.0049), "{errors:?}");
    }
}

/// A large difference elsewhere in the family does not make one where there is none.
#[test]
fn max_t_keeps_its_error_beside_a_difference() {
    let error = family_error(2000, 9, true, 20.0, Random::normal);
    println!("{error}");
    assert!((0.005..0.05 + 3.0 * 0.0049).contains(&error), "{error}");
}

/// Coverage of 95 % intervals of a main effect, in blocks of two levels, or of the half fraction of 2⁴; the noise of the
/// first level is three times that of the second.
fn coverage(studies: usize, blocks: usize, pairs: bool) -> f64 {
    let mut random = Random(178);
    let cells = if pairs { vec![vec![0], vec![1]] } else { generated(3, &[&[0, 1, 2]]) };
    let levels = vec![2; cells[0].len()];
    let mut covered = 0usize;
    for _ in 0..studies {
        let mut rows: Vec<Row> = Vec::new();
        for block in 0..blocks {
            rows.extend(cells.iter().map(|c| (block, c.clone(), random.normal() * (3 - 2 * c[0]) as f64)));
        }
        let [low, high] = fit(&rows, &levels, true).unwrap().main(Step(0, 1, 0)).unwrap().interval(0.05).unwrap();
        covered += usize::from(low <= 0.0 && 0.0 <= high);
    }
    covered as f64 / studies as f64
}

#[test]
fn robust_intervals_cover() {
    for (blocks, pairs) in [(5, false), (10, false), (10, true)] {
        let covered = coverage(2000, blocks, pairs);
        println!("{blocks} blocks, pairs {pairs}: {covered}");
        assert!((0.95..=1.0).contains(&covered), "{covered}");
    }
}

/// Pairs of up to ten items.
fn pairs() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (1usize..11).prop_flat_map(|items| (Just(items), prop::collection::vec((0..items, 0..items), 0..40)))
}

proptest! {
    #[test]
    fn letters_are_shared_by_those_not_shown_to_differ((items, differ) in pairs()) {
        let texts = display(items, &differ).unwrap();
        let differs = |a, b| a != b && (differ.contains(&(a, b)) || differ.contains(&(b, a)));
        for a in 0..items {
            prop_assert!(!texts[a].is_empty());
            for b in 0..items {
                let share = texts[a].chars().any(|letter| texts[b].contains(letter));
                prop_assert_eq!(share, !differs(a, b), "{} {}: {:?}", a, b, texts);
            }
        }
        // Any order and direction of the pairs gives the same.
        let reversed: Vec<(usize, usize)> = differ.iter().rev().map(|(a, b)| (*b, *a)).collect();
        prop_assert_eq!(display(items, &reversed).unwrap(), texts);
    }

    /// Taking any one letter off any one item breaks the property: no letter is superfluous.
    #[test]
    fn letters_are_minimal((items, differ) in pairs()) {
        let texts = display(items, &differ).unwrap();
        let letters: BTreeSet<char> = texts.concat().chars().collect();
        let with = |letter: &char| (0..items).filter(|item| texts[*item].contains(*letter)).collect();
        let groups: Vec<Vec<usize>> = letters.iter().map(with).collect();
        let shared = |groups: &[Vec<usize>], a, b| groups.iter().any(|group| group.contains(&a) && group.contains(&b));
        for (number, group) in groups.iter().enumerate() {
            for item in group {
                let mut fewer = groups.clone();
                fewer[number].retain(|other| other != item);
                prop_assert!(group.iter().any(|other| !shared(&fewer, *item, *other)), "{:?}", groups);
            }
        }
    }

    /// A constant for every block and other names of the blocks change no effect; a scale changes only its size.
    #[test]
    fn laws_of_the_model(y in prop::collection::vec(-9.0..9.0f64, 36), lost in prop::collection::vec(0..36usize, 0..6)) {
        let cell = |i: usize| vec![i % 3, i / 3 % 2];
        let kept = || (0..36).filter(|i| !lost.contains(i));
        let rows: Vec<Row> = kept().map(|i| (i / 6, cell(i), y[i])).collect();
        let moved: Vec<Row> = kept().map(|i| (900 - 7 * (i / 6), cell(i), 3.0 * y[i] + 100.0 * (i / 6) as f64)).collect();
        let (plain, moved) = (fit(&rows, &[3, 2], true).unwrap(), fit(&moved, &[3, 2], true).unwrap());
        for (level, reference) in [(1, 0), (2, 0), (2, 1)] {
            let (plain, moved) = (plain.main(Step(0, level, reference)), moved.main(Step(0, level, reference)));
            prop_assert_eq!(plain.is_ok(), moved.is_ok());
            if let (Ok(plain), Ok(moved)) = (plain, moved) {
                prop_assert!((3.0 * plain.estimate - moved.estimate).abs() < 1e-9);
                prop_assert!((3.0 * plain.se - moved.se).abs() < 1e-9 * moved.se.max(1.0));
                prop_assert!((plain.p - moved.p).abs() < 1e-7);
            }
        }
        let back = plain.interaction(Step(1, 0, 1), Step(0, 0, 2)).map(|e| e.estimate);
        let forth = plain.interaction(Step(0, 2, 0), Step(1, 1, 0)).map(|e| e.estimate);
        prop_assert!(back.is_err() && forth.is_err() || (back.unwrap() - forth.unwrap()).abs() < 1e-9);
    }

    /// Some cells of a 2 × 2 × 2 × 2, or with three levels, in some blocks: every refusal names what is in the way, and nothing that `aliases`
    /// leaves out is refused for it.
    #[test]
    fn refusals_have_reasons(trials in prop::collection::vec((0..4usize, 0..24usize, -9.0..9.0f64), 1..40), wide in 2..4usize) {
        let cell = |i: usize| vec![i % 2, i / 2 % 2, i / 12, i / 4 % 3 % wide];
        let rows: Vec<Row> = trials.iter().map(|(block, i, y)| (*block, cell(*i), *y)).collect();
        let fit = fit(&rows, &[2, 2, 2, wide], true).unwrap();
        let aliases = fit.aliases();
        let known = |term| aliases.iter().find(|(aliased, _)| *aliased == term);
        for f in 0..4 {
            match fit.main(Step(f, 1, 0)) {
                Err(Refused::Aliased { with }) => prop_assert_eq!(Some(&with), known(Term::Main(f)).map(|(_, with)| with)),
                other => prop_assert!(other != Err(Refused::Unknown)),
            }
            if known(Term::Main(f)).is_none() {
                let refused = matches!(fit.main(Step(f, 1, 0)), Err(Refused::Aliased { .. }));
                prop_assert!(!refused);
            }
        }
        // Among single columns it is mutual.
        for (term, with) in aliases.iter().filter(|_| wide == 2) {
            for other in with.iter().filter(|other| **other != Term::Blocks) {
                prop_assert!(known(*other).is_some_and(|(_, with)| with.contains(term)), "{:?}", aliases);
            }
        }
    }

    /// Whatever the numbers, there is an answer or a refusal.
    #[test]
    fn no_number_is_too_strange(y in prop::collection::vec(prop::num::f64::ANY, 0..12), x in prop::collection::vec(prop::num::f64::ANY, 12)) {
        let rows: Vec<Row> = y.iter().enumerate().map(|(i, y)| (i / 4, vec![i % 2, i / 2 % 2], *y)).collect();
        if let Some(Ok(effect)) = fit(&rows, &[2, 2], true).map(|fit| fit.main(Step(0, 1, 0))) {
            prop_assert!(effect.estimate.is_finite() && (0.0..=1.0).contains(&effect.p), "{:?}", effect);
        }
        let blocks: Vec<usize> = (0..y.len()).map(|i| i / 6).collect();
        if let Some(ols) = Ols::new(&blocks, &[x[..y.len()].to_vec(), y.clone()], &y) {
            let _ = ols.combination(&[1.0, -1.0]);
        }
        if let Some(p) = max_t(&[y.clone(), x[..y.len()].to_vec()]) {
            prop_assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
        }
    }
}
