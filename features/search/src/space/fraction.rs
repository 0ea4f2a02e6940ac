//! Fractions of two-level factorials in which no main effect and no pair is confused with another (resolution V: Box &
//! Hunter 1961). It chooses only among regular ones.

/// The least number of factors in a product that is constant.
const RESOLUTION: u32 = 5;

/// The smallest regular fraction of resolution V with at least `runs` runs, its members as levels 0 and 1. None if that
/// would be the whole factorial.
pub(super) fn resolution_five(factors: usize, runs: usize) -> Option<Vec<Vec<usize>>> {
    let first = (1..factors).find(|basic| 1 << basic >= runs)?;
    (first..factors).find_map(|basic| {
        let generators = generators(basic, factors - basic, &mut vec![])?;
        let level = |run: u32, mask: u32| (run & mask).count_ones() as usize % 2;
        let member = |run: u32| {
            let own = (0..basic).map(|factor| level(run, 1 << factor));
            own.chain(generators.iter().map(|mask| level(run, *mask))).collect()
        };
        Some((0..1 << basic).map(member).collect())
    })
}

/// The factors that each further factor is the product of, found by trying; none if there are no such.
fn generators(basic: usize, missing: usize, chosen: &mut Vec<u32>) -> Option<Vec<u32>> {
    if missing == 0 {
        return Some(chosen.clone());
    }
    let least = chosen.last().map_or(1, |last| last + 1);
    for mask in least..1 << basic {
        if is_far(mask, chosen) {
            chosen.push(mask);
            if let Some(all) = generators(basic, missing - 1, chosen) {
                return Some(all);
            }
            chosen.pop();
        }
    }
    None
}

/// Whether every constant product with this generator has factors enough.
fn is_far(mask: u32, chosen: &[u32]) -> bool {
    (0..1_u32 << chosen.len()).all(|subset| {
        let others = chosen.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1);
        let product = others.fold(mask, |product, (_, other)| product ^ other);
        product.count_ones() + subset.count_ones() + 1 >= RESOLUTION
    })
}
