//! Holm's correction for several comparisons at once (Holm 1979): it bounds the chance of even one false difference
//! in the family, under any dependence, and is never weaker than Bonferroni's.

/// The corrected p of each of `p`, in the same order, within a family of `family` comparisons. A family may be larger
/// than `p`: comparisons that were planned and gave no p count as if theirs were 1.
pub fn adjust(p: &[f64], family: usize) -> Vec<f64> {
    let mut by_size: Vec<usize> = (0..p.len()).collect();
    by_size.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let family = family.max(p.len());
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 0.0f64;
    for (rank, index) in by_size.into_iter().enumerate() {
        least = least.max((family - rank) as f64 * p[index]).min(1.0);
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(p: &[f64], family: usize, expect: &[f64]) {
        let adjusted = adjust(p, family);
        assert_eq!(adjusted.len(), expect.len());
        for (a, e) in adjusted.iter().zip(expect) {
            assert!((a - e).abs() < 1e-12, "{p:?}: {adjusted:?}, not {expect:?}");
        }
    }

    #[test]
    fn holm_table() {
        check(&[], 0, &[]);
        check(&[0.03], 1, &[0.03]);
        // R 4.2: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        check(&[0.01, 0.04, 0.03, 0.005], 4, &[0.03, 0.06, 0.06, 0.02]);
        // R 4.2: p.adjust(c(0.5, 0.02, 0.02, 0.9), "holm")
        check(&[0.5, 0.02, 0.02, 0.9], 4, &[1.0, 0.08, 0.08, 1.0]);
        // R 4.2: p.adjust(c(0.01, 0.04, 1, 1), "holm")[1:2]
        check(&[0.01, 0.04], 4, &[0.04, 0.12]);
    }
}
