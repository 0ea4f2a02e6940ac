//! Fractions of two-level factorials in which no main effect and no pair is confused with another (resolution V: Box &
//! Hunter 1961). It chooses only among regular ones.

/// The least number of factors in a product that is constant.
const RESOLUTION: u32 = 5;

/// The smallest regular fraction of resolution V with at least `runs` runs. The bits of a member are the levels of the factors,
/// the first factor's the lowest. None if it would be the whole factorial.
pub(super) fn resolution_five(factors: usize, runs: usize) -> Option<Vec<usize>> {
    let first = (1..factors).find(|basic| 1 << basic >= runs)?;
    (first..factors).find_map(|basic| {
        let generators = generators(basic, factors - basic)?;
        let bits = |run: usize| generators.iter().zip(basic..).map(move |(mask, at)| parity(run & mask) << at);
        Some((0..1 << basic).map(|run: usize| run + bits(run).sum::<usize>()).collect())
    })
}

/// The factors that each further factor is the product of, as bits: the first products that work; none if they are too few.
fn generators(basic: usize, missing: usize) -> Option<Vec<usize>> {
    let mut chosen = vec![];
    // Of each set of those chosen: their product, and how many they are.
    let mut sets = vec![(0_usize, 0)];
    for mask in 1..1_usize << basic {
        // A constant product holds some further factors and the product of theirs.
        let is_long = |(product, size): &(usize, u32)| (mask ^ product).count_ones() + size + 1 >= RESOLUTION;
        if chosen.len() < missing && sets.iter().all(is_long) {
            chosen.push(mask);
            sets.extend(sets.clone().iter().map(|(product, size)| (mask ^ product, size + 1)));
        }
    }
    (chosen.len() == missing).then_some(chosen)
}

fn parity(bits: usize) -> usize {
    bits.count_ones() as usize % 2
}
