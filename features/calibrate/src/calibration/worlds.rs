//! The seven worlds of noise in which simulated studies live. Noise belongs to the time slot in which a trial runs,
//! whatever runs in it; a world knows neither variants nor blocks. It is additive on the logarithm of the value.

use bakeoff_model::shuffle::Stream;
use serde::{Deserialize, Serialize};

/// A kind of noise. `z` below is a standard normal number, `s` the position in the session from 0 to 1, `L` a lognormal
/// number (σ = 0.8) of mean 0 and standard deviation 1, `ar(sd)` a stationary AR(1) with coefficient 0.9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum World {
    /// 0.01 z: what textbooks assume.
    Normal,
    /// 0.01 L: a long tail to the slow side.
    Lognormal,
    /// 0.005 z, and in 5 % of the slots a stall, exponential with mean 0.10.
    Spiky,
    /// 0.004 z, and 0.03 more in 30 % of the slots.
    Bimodal,
    /// 0.04 s + 0.01 z: a machine that grows slower by 4 % while it measures.
    Drift,
    /// ar(0.015) + 0.005 z: what one slot is, the next one is too.
    Autocorrelated,
    /// 0.02 s + ar(0.01) + 0.005 L, and in 3 % of the slots a stall, exponential with mean 0.08.
    Mixed,
}

/// All of them, in the order in which tables list them.
pub const WORLDS: [World; 7] =
    [World::Normal, World::Lognormal, World::Spiky, World::Bimodal, World::Drift, World::Autocorrelated, World::Mixed];

impl World {
    /// Its name, for people and for streams of chance.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Lognormal => "lognormal",
            Self::Spiky => "spiky",
            Self::Bimodal => "bimodal",
            Self::Drift => "drift",
            Self::Autocorrelated => "autocorrelated",
            Self::Mixed => "mixed",
        }
    }

    /// The noise of a session, slot by slot, on the logarithm of the value.
    pub fn noise(self, slots: usize, stream: &mut Stream) -> Vec<f64> {
        let last = slots.saturating_sub(1).max(1) as f64;
        let mut waves = match self {
            Self::Autocorrelated => autocorrelated(slots, 0.015, stream),
            Self::Mixed => autocorrelated(slots, 0.01, stream),
            _ => vec![0.0; slots],
        };
        for (slot, wave) in waves.iter_mut().enumerate() {
            let position = slot as f64 / last;
            *wave += match self {
                Self::Normal => 0.01 * stream.normal(),
                Self::Lognormal => 0.01 * lognormal(stream),
                Self::Spiky => 0.005 * stream.normal() + stall(0.05, 0.10, stream),
                Self::Bimodal => 0.004 * stream.normal() + if stream.chance(0.3) { 0.03 } else { 0.0 },
                Self::Drift => 0.04 * position + 0.01 * stream.normal(),
                Self::Autocorrelated => 0.005 * stream.normal(),
                Self::Mixed => 0.02 * position + 0.005 * lognormal(stream) + stall(0.03, 0.08, stream),
            };
        }
        waves
    }
}

/// With this probability a stall of this mean length; else 0.
fn stall(probability: f64, mean: f64, stream: &mut Stream) -> f64 {
    if stream.chance(probability) { stream.exponential(mean) } else { 0.0 }
}

/// Lognormal with σ = 0.8, centred and scaled to a standard deviation of 1.
fn lognormal(stream: &mut Stream) -> f64 {
    let variance = 0.64f64;
    ((0.8 * stream.normal()).exp() - (variance / 2.0).exp()) / ((variance.exp() - 1.0) * variance.exp()).sqrt()
}

/// A stationary AR(1) with coefficient 0.9 and this standard deviation.
fn autocorrelated(slots: usize, sd: f64, stream: &mut Stream) -> Vec<f64> {
    let mut state = stream.normal();
    let mut next = || {
        state = 0.9 * state + (1.0f64 - 0.81).sqrt() * stream.normal();
        sd * state
    };
    (0..slots).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_stats::describe::{mean, sd};

    /// Mean and variance of one slot in the middle of a session, from their formulas: stalls have mean p·m and second
    /// moment 2·p·m². 20,000 sessions of seed 1; within five standard errors, the variance's taken from the data.
    #[test]
    fn noise_has_the_moments_that_its_formula_has() {
        let check = |world: World, expect_mean: f64, expect_variance: f64| {
            let slot = |session: u32| {
                let mut stream = Stream::of(1, &[world.name(), &session.to_string()]);
                world.noise(21, &mut stream)[10]
            };
            let noise: Vec<f64> = (0..20_000).map(slot).collect();
            let near = |what: &str, values: &[f64], expect: f64| {
                let error = 5.0 * sd(values).unwrap() / (values.len() as f64).sqrt();
                assert!((mean(values) - expect).abs() < error, "{world:?}: {what} {}, not {expect}", mean(values));
            };
            near("mean", &noise, expect_mean);
            let squares: Vec<f64> = noise.iter().map(|x| (x - expect_mean).powi(2)).collect();
            near("variance", &squares, expect_variance);
        };
        let stalls = |p: f64, m: f64| 2.0 * p * m * m - (p * m).powi(2);
        check(World::Normal, 0.0, 1e-4);
        check(World::Lognormal, 0.0, 1e-4);
        check(World::Spiky, 0.005, 2.5e-5 + stalls(0.05, 0.10));
        check(World::Bimodal, 0.009, 1.6e-5 + 0.21 * 9e-4);
        check(World::Drift, 0.02, 1e-4);
        check(World::Autocorrelated, 0.0, 2.25e-4 + 2.5e-5);
        check(World::Mixed, 0.01 + 0.0024, 1e-4 + 2.5e-5 + stalls(0.03, 0.08));
    }

    /// Drift moves from the first slot to the last by what the formula says, and one slot foretells the next.
    #[test]
    fn drift_drifts_and_waves_last() {
        let sessions: Vec<Vec<f64>> =
            (0..4_000).map(|i: u32| World::Drift.noise(20, &mut Stream::of(1, &[&i.to_string()]))).collect();
        let change = mean(&sessions.iter().map(|s| s[19] - s[0]).collect::<Vec<_>>());
        assert!((change - 0.04).abs() < 5.0 * 0.01 * (2.0f64 / 4_000.0).sqrt(), "{change}");

        let wave = autocorrelated(100_000, 1.0, &mut Stream::of(1, &["wave"]));
        let products: Vec<f64> = wave.windows(2).map(|pair| pair[0] * pair[1]).collect();
        assert!((mean(&products) - 0.9).abs() < 0.05, "{}", mean(&products));
        assert_eq!(World::Mixed.noise(0, &mut Stream::of(1, &[])), Vec::<f64>::new());
        assert_eq!(World::Drift.noise(1, &mut Stream::of(1, &[])).len(), 1);
    }
}
