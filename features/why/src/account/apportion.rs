//! Divides a whole number into whole parts that sum to it (the largest remainder method). It knows nothing of what is
//! divided.

/// Parts of `total` in proportion to `weights`, which may be negative; all of them 0 if the weights sum to 0.
pub(super) fn apportion(total: i64, weights: &[i64]) -> Vec<i64> {
    let sum: i128 = weights.iter().copied().map(i128::from).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let (total, sign, sum) = (i128::from(total), sum.signum(), sum.abs());
    // No product overflows: its factors are i64.
    let exact: Vec<i128> = weights.iter().map(|weight| sign * total * i128::from(*weight)).collect();
    let mut parts: Vec<i128> = exact.iter().map(|exact| exact.div_euclid(sum)).collect();
    // Rounding down loses less than 1 for each part.
    let lost = usize::try_from(total - parts.iter().sum::<i128>()).unwrap_or(0);
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(exact[*place].rem_euclid(sum)));
    order.into_iter().take(lost).for_each(|place| parts[place] += 1);
    let saturated = |part: i128| i64::try_from(part).unwrap_or(if part < 0 { i64::MIN } else { i64::MAX });
    parts.into_iter().map(saturated).collect()
}

#[cfg(test)]
mod tests {
    use super::apportion;

    #[test]
    fn parts_sum_to_the_whole() {
        let check = |total, weights: &[i64], expect: &[i64]| assert_eq!(apportion(total, weights), expect);
        check(10, &[1, 1, 1], &[4, 3, 3]);
        check(1000, &[200, -100], &[2000, -1000]);
        check(1000, &[-2, -1], &[667, 333]);
        check(-7, &[1, 1], &[-3, -4]);
        check(5, &[0, 3], &[0, 5]);
        check(5, &[1, -1], &[0, 0]);
        check(5, &[], &[]);
        check(1 << 61, &[i64::MAX, 1], &[1 << 61, 0]);
    }
}
