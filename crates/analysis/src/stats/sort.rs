//! Sorting many floating-point numbers: by the digits of their bits, a digit a pass (LSD radix sort; Knuth 1973, vol. 3,
//! §5.2.5), with the passes left out in which all have the same digit. Few numbers are compared as usual.

/// Bits of a digit: the counters of 2048 values stay in the fastest cache.
const BITS: u32 = 11;
const VALUES: usize = 1 << BITS;
const PASSES: usize = u64::BITS.div_ceil(BITS) as usize;
/// Below this many numbers comparing is faster.
const RADIX_MIN: usize = 20_000;

/// Sorts in the order of [`f64::total_cmp`].
pub fn sort(values: &mut [f64]) {
    if values.len() < RADIX_MIN || u32::try_from(values.len()).is_err() {
        values.sort_unstable_by(f64::total_cmp);
        return;
    }
    let mut keys: Vec<u64> = values.iter().map(|value| key(*value)).collect();
    let mut counts = vec![[0u32; VALUES]; PASSES];
    for key in &keys {
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[digit(*key, pass)] += 1;
        }
    }
    let mut other = vec![0u64; keys.len()];
    for (pass, counts) in counts.iter_mut().enumerate() {
        if counts.iter().any(|count| *count as usize == keys.len()) {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for key in &keys {
            let place = &mut counts[digit(*key, pass)];
            other[*place as usize] = *key;
            *place += 1;
        }
        std::mem::swap(&mut keys, &mut other);
    }
    values.iter_mut().zip(keys).for_each(|(value, key)| *value = value_of(key));
}

fn digit(key: u64, pass: usize) -> usize {
    (key >> (pass as u32 * BITS)) as usize % VALUES
}

/// Bits whose order as whole numbers is the total order of the numbers: a positive one gets the highest bit, of a
/// negative one all are turned round.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if value.is_sign_negative() { !bits } else { bits | 1 << 63 }
}

fn value_of(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_comparing() {
        let mut state = 178u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state
        };
        let wild: Vec<f64> = (0..50_000).map(|_| f64::from_bits(draw())).collect();
        let tame: Vec<f64> = (0..50_000).map(|_| (draw() >> 40) as f64 / 1000.0).collect();
        let odd = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX];
        for values in [wild, tame, odd.repeat(5000), vec![7.0; 30_000], vec![3.0, 1.0, 2.0], vec![]] {
            let (mut ours, mut theirs) = (values.clone(), values);
            sort(&mut ours);
            theirs.sort_unstable_by(f64::total_cmp);
            assert!(ours.iter().zip(&theirs).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
}
