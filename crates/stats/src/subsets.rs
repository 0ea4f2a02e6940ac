//! Counting the subsets of a list whose sum stays below a limit, without visiting them one by one: meet in the middle
//! (Horowitz & Sahni 1974). It is the exact engine of the sign-flip test and knows nothing of tests.
//!
//! A list of r numbers is dealt into two halves, the 2^(r/2) sums of each half are formed in ascending order by merging,
//! and two pointers count the pairs that stay below the limit. Winsorising makes many of the largest numbers equal;
//! k equal numbers have only k + 1 different sums, in binomial numbers of ways, so they never enter the halves. That
//! is what makes the usual case (about a third clipped) cheap: r = n − k.

/// Counts subsets; it keeps its buffers, so that a search over many limits does not allocate.
#[derive(Debug, Clone, Default)]
pub(super) struct SubsetCounter {
    left: Vec<f64>,
    right: Vec<f64>,
    spare: Vec<f64>,
}

impl SubsetCounter {
    /// Number of the 2^n subsets (n ≤ 63) of `ascending`, numbers ≥ 0 in ascending order, that sum to at most `limit`.
    pub(super) fn at_most(&mut self, ascending: &[f64], limit: f64) -> u64 {
        let Some(&top) = ascending.last() else { return u64::from(limit >= 0.0) };
        let rest = &ascending[..ascending.partition_point(|x| *x < top)];
        let equal = (ascending.len() - rest.len()) as u64;
        sums(rest.iter().step_by(2), &mut self.left, &mut self.spare);
        sums(rest.iter().skip(1).step_by(2), &mut self.right, &mut self.spare);

        let mut count = 0;
        let mut ways = 1;
        for taken in 0..=equal {
            let left_over = limit - taken as f64 * top;
            if left_over < 0.0 {
                break;
            }
            count += ways * pairs_at_most(&self.left, &self.right, left_over);
            ways = ways * (equal - taken) / (taken + 1);
        }
        count
    }
}

/// The sums of all subsets of `items`, ascending, into `out`.
fn sums<'a>(items: impl Iterator<Item = &'a f64>, out: &mut Vec<f64>, spare: &mut Vec<f64>) {
    out.clear();
    out.push(0.0);
    for item in items {
        merge_shifted(out, *item, spare);
        std::mem::swap(out, spare);
    }
}

/// Merges `sorted` with its copy that is `shift` ≥ 0 greater, into `out`. Which side comes next is as good as
/// random, so the choice is made by arithmetic and not by a branch that the processor would mispredict.
fn merge_shifted(sorted: &[f64], shift: f64, out: &mut Vec<f64>) {
    out.clear();
    let (mut plain, mut shifted) = (0, 0);
    // The shifted copy never overtakes the plain one, so while `plain` has items left, both have.
    while plain < sorted.len() {
        let (a, b) = (sorted[plain], sorted[shifted] + shift);
        let take_plain = a <= b;
        out.push(if take_plain { a } else { b });
        plain += usize::from(take_plain);
        shifted += usize::from(!take_plain);
    }
    out.extend(sorted[shifted..].iter().map(|x| x + shift));
}

/// Number of pairs, one from each ascending list, that sum to at most `limit`.
fn pairs_at_most(left: &[f64], right: &[f64], limit: f64) -> u64 {
    let mut fitting = right.len();
    let mut count = 0;
    for x in left {
        while fitting > 0 && x + right[fitting - 1] > limit {
            fitting -= 1;
        }
        if fitting == 0 {
            break;
        }
        count += fitting as u64;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The oracle: every subset in Gray-code order, one number added or removed at a time. Integers, so it is exact.
    fn by_gray_code(items: &[u32], limit: u32) -> u64 {
        let mut inside = vec![false; items.len()];
        let mut sum = 0;
        let mut count = 1;
        for step in 1u64..1 << items.len() {
            let flip = step.trailing_zeros() as usize;
            inside[flip] = !inside[flip];
            if inside[flip] {
                sum += items[flip]
            } else {
                sum -= items[flip]
            }
            count += u64::from(sum <= limit);
        }
        count
    }

    fn check(items: &[u32], limit: u32) {
        let mut ascending: Vec<f64> = items.iter().map(|x| f64::from(*x)).collect();
        ascending.sort_by(f64::total_cmp);
        let count = SubsetCounter::default().at_most(&ascending, f64::from(limit));
        assert_eq!(count, by_gray_code(items, limit), "{items:?} {limit}");
    }

    #[test]
    fn small_lists() {
        check(&[], 0);
        check(&[5], 4);
        check(&[5], 5);
        check(&[0, 0, 0], 0);
        check(&[3, 3, 3, 3], 6);
        check(&[1, 2, 3, 4, 9, 9, 9], 17);
        assert_eq!(SubsetCounter::default().at_most(&[], -1.0), 0);
        assert_eq!(SubsetCounter::default().at_most(&[1.0, 2.0], -0.5), 0);
    }

    /// Σ_{j ≤ 18} C(36, j) = 2^35 + C(36, 18)/2, whether the numbers are equal or (nearly) all different.
    #[test]
    fn thirty_six_numbers() {
        const AT_MOST_HALF: u64 = (1 << 35) + 9_075_135_300 / 2;
        let mut counter = SubsetCounter::default();
        assert_eq!(counter.at_most(&[1.0; 36], 18.0), AT_MOST_HALF);
        let different: Vec<f64> = (0..36).map(|i| 1.0 + f64::from(i) * 1e-4).collect();
        assert_eq!(counter.at_most(&different, 18.5), AT_MOST_HALF);
    }

    proptest! {
        #[test]
        fn agrees_with_gray_code(items in prop::collection::vec(0u32..40, 0..14), top in 0u32..40, copies in 0usize..5,
                                 limit in 0u32..400) {
            let mut items = items;
            items.extend(std::iter::repeat_n(top, copies));
            check(&items, limit);
        }
    }
}
