//! Is one of several groups of values unlike the others, and which? Permutation tests (Fisher 1935; Pitman 1937): if all values are
//! draws of the same kind, each assignment of them to the groups was equally likely. It names one group, the farthest; it does not
//! say that the others agree.
//!
//! [`by_mean`] takes, as in the studentised permutation test (Janssen 1997; Chung & Romano 2013), the largest of all groups k of
//! |mean(k) − mean(rest)| ÷ √(s²(k)/n(k) + s²(rest)/n(rest)), because a group that is only noisier would otherwise look different.
//! [`by_size`] takes the largest (mean(k) − mean(rest)) ÷ √(1/n(k) + 1/n(rest)) of the absolute values, for values whose centre is
//! known to be 0: a noisy group is what it looks for.
//!
//! Permutations are drawn until [`ENOUGH`] statistics reach the observed one, or to the number that is given: p is hits ÷ draws, or
//! (hits + 1) ÷ (draws + 1), which holds its level exactly (Besag & Clifford 1991, §2). So groups that are alike cost little.

use super::splitmix::SplitMix64;

/// This number of statistics as large as the observed one is enough to know p.
const ENOUGH: u32 = 20;

/// Statistics that differ by less than this part are equal: sums of another order have other rounding errors.
const TIE: f64 = 1e-9;

/// The group that is farthest from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Farthest {
    /// Its place among the groups.
    pub group: usize,
    /// p of groups that are all alike.
    pub p: f64,
}

/// Whether one group has another mean than the rest; `draws` is the largest number of permutations, drawn from `seed`. None for
/// fewer than two groups, a group of fewer than two values, and for what is not finite.
pub fn by_mean(groups: &[Vec<f64>], draws: u32, seed: u64) -> Option<Farthest> {
    farthest(groups, studentised, draws, seed)
}

/// Whether the values of one group are farther from 0 than the others'; the same besides.
pub fn by_size(groups: &[Vec<f64>], draws: u32, seed: u64) -> Option<Farthest> {
    let sizes: Vec<Vec<f64>> = groups.iter().map(|group| group.iter().map(|x| x.abs()).collect()).collect();
    farthest(&sizes, excess, draws, seed)
}

/// Number of values, their sum and the sum of their squares.
#[derive(Debug, Clone, Copy)]
struct Sums {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        let (mut sum, mut squares) = (0.0, 0.0);
        for x in values {
            sum += x;
            squares += x * x;
        }
        Self { n: values.len() as f64, sum, squares }
    }

    fn without(self, part: Self) -> Self {
        Self { n: self.n - part.n, sum: self.sum - part.sum, squares: self.squares - part.squares }
    }

    fn mean(self) -> f64 {
        self.sum / self.n
    }

    /// The squared standard error of the mean.
    fn error(self) -> f64 {
        (self.squares - self.sum * self.mean()).max(0.0) / (self.n - 1.0) / self.n
    }
}

fn studentised(group: Sums, rest: Sums) -> f64 {
    let difference = (group.mean() - rest.mean()).abs();
    if difference == 0.0 { 0.0 } else { difference / (group.error() + rest.error()).sqrt() }
}

fn excess(group: Sums, rest: Sums) -> f64 {
    (group.mean() - rest.mean()) / (1.0 / group.n + 1.0 / rest.n).sqrt()
}

/// Values in the order of their groups, and where each group ends.
struct Assigned {
    values: Vec<f64>,
    ends: Vec<usize>,
    all: Sums,
    statistic: fn(Sums, Sums) -> f64,
}

impl Assigned {
    /// The group of the largest statistic, and that statistic.
    fn largest(&self) -> (usize, f64) {
        let (mut begin, mut largest) = (0, (0, f64::NEG_INFINITY));
        for (group, &end) in self.ends.iter().enumerate() {
            let own = Sums::of(&self.values[begin..end]);
            let statistic = (self.statistic)(own, self.all.without(own));
            if statistic > largest.1 {
                largest = (group, statistic);
            }
            begin = end;
        }
        largest
    }

    /// Fisher and Yates' shuffle, two places to the number: with so few values as 2³² has parts, no place is more likely than
    /// another by a part that shows.
    fn shuffle(&mut self, chance: &mut SplitMix64) {
        let mut bits = chance.next();
        for last in (1..self.values.len()).rev() {
            bits = if last % 2 == 0 { bits >> 32 } else { chance.next() };
            let chosen = ((bits & 0xffff_ffff) * (last as u64 + 1)) >> 32;
            self.values.swap(last, chosen as usize);
        }
    }
}

fn farthest(groups: &[Vec<f64>], statistic: fn(Sums, Sums) -> f64, draws: u32, seed: u64) -> Option<Farthest> {
    let mut values: Vec<f64> = groups.concat();
    let centre = values.iter().sum::<f64>() / values.len() as f64;
    if groups.len() < 2 || groups.iter().any(|group| group.len() < 2) || !centre.is_finite() {
        return None;
    }
    // Sums of squares of values around 0 lose no digits.
    values.iter_mut().for_each(|x| *x -= centre);
    let ends = groups.iter().scan(0, |end, group| {
        *end += group.len();
        Some(*end)
    });
    let all = Sums::of(&values);
    let mut assigned = Assigned { ends: ends.collect(), all, values, statistic };
    let (group, observed) = assigned.largest();
    if !all.squares.is_finite() || observed.is_nan() {
        return None;
    }
    let least = observed - TIE * observed.abs();
    let mut chance = SplitMix64(seed);
    let mut hits = 0;
    for draw in 1..=draws {
        assigned.shuffle(&mut chance);
        hits += u32::from(assigned.largest().1 >= least);
        if hits == ENOUGH {
            return Some(Farthest { group, p: f64::from(hits) / f64::from(draw) });
        }
    }
    Some(Farthest { group, p: f64::from(hits + 1) / f64::from(draws + 1) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::shuffle::Stream;

    const DRAWS: u32 = 1999;

    /// Eight groups of normal values with these standard deviations and means of the last.
    fn groups(blocks: usize, last: [f64; 2], stream: &mut Stream) -> Vec<Vec<f64>> {
        let mut group = |[mean, sd]: [f64; 2]| (0..blocks).map(|_| mean + sd * stream.normal()).collect();
        (0..8).map(|at| group(if at == 7 { last } else { [0.0, 1.0] })).collect()
    }

    /// How often p is at most 1 %, and how often the last group is named then, in this many studies of seed 178.
    fn rates(
        test: fn(&[Vec<f64>], u32, u64) -> Option<Farthest>,
        blocks: usize,
        last: [f64; 2],
        studies: u32,
    ) -> [f64; 2] {
        let mut counts = [0, 0];
        for study in 0..studies {
            let groups = groups(blocks, last, &mut Stream::of(178, &[&study.to_string()]));
            let seen = test(&groups, DRAWS, u64::from(study)).filter(|seen| seen.p <= 0.01);
            counts[0] += u32::from(seen.is_some());
            counts[1] += u32::from(seen.is_some_and(|seen| seen.group == 7));
        }
        counts.map(|count| f64::from(count) / f64::from(studies))
    }

    /// 1 %, and four standard errors of 1,000 studies; the noisy group keeps to it from 12 values a group on.
    #[test]
    fn groups_that_are_alike_are_rarely_told_apart() {
        for (test, last) in [(by_mean as fn(&[_], _, _) -> _, [0.0, 1.0]), (by_mean, [0.0, 4.0]), (by_size, [0.0, 1.0])]
        {
            let [alarms, _] = rates(test, 12, last, 1000);
            println!("{last:?}: {alarms}");
            assert!(alarms <= 0.01 + 4.0 * (0.01f64 * 0.99 / 1000.0).sqrt(), "{last:?}: {alarms}");
        }
    }

    #[test]
    fn the_group_that_differs_is_named() {
        for (test, last) in
            [(by_mean as fn(&[_], _, _) -> _, [3.0, 1.0]), (by_mean, [-3.0, 1.0]), (by_size, [0.0, 4.0])]
        {
            let [alarms, named] = rates(test, 12, last, 200);
            println!("{last:?}: {alarms}, {named}");
            assert!(named >= 0.95 && named >= alarms - 0.01, "{last:?}: {alarms}, {named}");
        }
    }

    /// All assignments of 2 groups of 3, against an oracle that lists them: 20 partitions.
    #[test]
    fn p_is_the_part_of_the_assignments() {
        let groups = [vec![1.0, 2.0, 4.0], vec![5.0, 7.0, 11.0]];
        let values = groups.concat();
        let t = |x: &[f64], y: &[f64]| studentised(Sums::of(x), Sums::of(y));
        let observed = t(&groups[0], &groups[1]);
        let patterns = (0..64u32).filter(|bits| bits.count_ones() == 3);
        let reach = patterns.filter(|bits| {
            let of = |is: u32| -> Vec<f64> { (0..6).filter(|i| bits >> i & 1 == is).map(|i| values[i]).collect() };
            t(&of(0), &of(1)) >= observed - 1e-9
        });
        let expect = reach.count() as f64 / 20.0;
        let p = by_mean(&groups, 100_000, 1).map(|seen| seen.p);
        // Twenty hits are known to a fifth or so.
        assert!(p.is_some_and(|p| (p / expect).ln().abs() < 0.7), "{p:?}, not {expect}");
    }

    #[test]
    fn groups_without_an_answer() {
        let check = |groups: &[Vec<f64>], expect: Option<f64>| {
            assert_eq!(by_mean(groups, 99, 1).map(|seen| seen.p), expect, "{groups:?}");
        };
        check(&[], None);
        check(&[vec![1.0, 2.0]], None);
        check(&[vec![1.0, 2.0], vec![1.0]], None);
        check(&[vec![1.0, f64::NAN], vec![1.0, 2.0]], None);
        check(&[vec![1.0, 1.0], vec![1.0, 1.0]], Some(1.0));
        assert_eq!(by_mean(&[vec![1.0; 9], vec![2.0; 9]], 999, 1), by_mean(&[vec![1.0; 9], vec![2.0; 9]], 999, 1));
    }
}
