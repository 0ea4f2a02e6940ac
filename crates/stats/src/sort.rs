//! Sorting many floating-point numbers: by where each is between the smallest and the largest, to one part in four
//! million, with two passes of a radix sort (LSD; Knuth 1973, vol. 3, §5.2.5); then by insertion, which finds next to
//! nothing left to do. Measured values are smooth enough for that. Where they are not, insertion gives up and the
//! library's sort does the rest.

/// Bits of a digit: the places of 2048 values stay in the fastest cache. Two digits make a place.
const BITS: u32 = 11;
const VALUES: usize = 1 << BITS;
const PLACES: f64 = (1u32 << (2 * BITS)) as f64;

/// Below this many numbers comparing is faster.
const RADIX_MIN: usize = 20_000;

/// Insertion gives up after so many moves for each number.
const MOVES_MAX: usize = 4;

/// Sorts in the order of [`f64::total_cmp`].
pub fn sort(values: &mut [f64]) {
    let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), x| (l.min(*x), m.max(*x)));
    let scale = (PLACES - 1.0) / (most - least);
    let few = values.len() < RADIX_MIN || u32::try_from(values.len()).is_err();
    if few || !scale.is_normal() || values.iter().any(|value| value.is_nan()) {
        values.sort_unstable_by(f64::total_cmp);
        return;
    }
    // It never falls as the value grows.
    let place = |value: f64| ((value - least) * scale) as u32;
    let digits = |value: f64| [place(value) as usize % VALUES, (place(value) >> BITS) as usize % VALUES];
    let mut counts = [vec![0u32; VALUES], vec![0u32; VALUES]];
    for value in &*values {
        let [low, high] = digits(*value);
        counts[0][low] += 1;
        counts[1][high] += 1;
    }
    let mut other = vec![0.0; values.len()];
    scatter(values, &mut other, &mut counts[0], |value| digits(value)[0]);
    scatter(&other, values, &mut counts[1], |value| digits(value)[1]);
    if !insert(values) {
        values.sort_unstable_by(f64::total_cmp);
    }
}

/// One pass: each value to the next place of its digit, whose `counts` become places.
fn scatter(from: &[f64], to: &mut [f64], counts: &mut [u32], digit: impl Fn(f64) -> usize) {
    let mut before = 0;
    for count in counts.iter_mut() {
        before += std::mem::replace(count, before);
    }
    for value in from {
        let place = &mut counts[digit(*value)];
        to[*place as usize] = *value;
        *place += 1;
    }
}

/// Sorts what is nearly sorted; false if it was not, and is not yet.
fn insert(values: &mut [f64]) -> bool {
    let mut moves = MOVES_MAX * values.len();
    for next in 1..values.len() {
        let value = values[next];
        let mut at = next;
        while at > 0 && values[at - 1].total_cmp(&value).is_gt() {
            if moves == 0 {
                values[at] = value;
                return false;
            }
            moves -= 1;
            values[at] = values[at - 1];
            at -= 1;
        }
        values[at] = value;
    }
    true
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
