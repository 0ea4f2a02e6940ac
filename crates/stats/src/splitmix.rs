//! Chance from a seed that a record keeps: which signs are drawn must be the same for ever. It is a generator and nothing
//! more; plans and simulations have their own.

/// SplitMix64 (Steele, Lea & Flood 2014; the constants are Vigna's).
pub(super) struct SplitMix64(pub(super) u64);

impl SplitMix64 {
    /// The next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs for seed 1234567, as Rosetta Code's task "Splitmix64" gives them.
    #[test]
    fn splitmix64_is_the_published_one() {
        let mut generator = SplitMix64(1_234_567);
        let first = [generator.next(), generator.next(), generator.next()];
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
