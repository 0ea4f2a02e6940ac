//! Does the sign-flip test keep its promises? Thousands of simulated studies in seven worlds of noise: how often it
//! calls a difference where there is none, how often its interval covers the truth, how often equivalence is claimed
//! at the margin. The seed is fixed and printed; the bounds are the goals, not the measured values.
//!
//! Noise belongs to the time slot in which a trial executes, the effect to the variant that was put there: each block
//! is two successive slots, and a coin decides which variant goes first.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "all of this file is tests")]

use bakeoff_analysis::stats::equivalence::Zone;
use bakeoff_analysis::stats::signflip::SignFlip;

const SEED: u64 = 178;
const BLOCKS: usize = 10;

/// Random numbers of a simulated world. (Marsaglia's xorshift64*; not the generator under test.)
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Box & Muller (1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A stall of mean length `mean`, with this probability; else 0.
    fn stall(&mut self, probability: f64, mean: f64) -> f64 {
        if self.uniform() < probability { -mean * (1.0 - self.uniform()).ln() } else { 0.0 }
    }

    /// Lognormal with sigma 0.8, centred and scaled to a standard deviation of 1.
    fn lognormal(&mut self) -> f64 {
        let variance = 0.64f64;
        ((0.8 * self.normal()).exp() - (variance / 2.0).exp()) / ((variance.exp() - 1.0) * variance.exp()).sqrt()
    }

    /// A stationary AR(1) with coefficient 0.9.
    fn autocorrelated(&mut self, slots: usize, sd: f64) -> Vec<f64> {
        let mut state = self.normal();
        let mut next = || {
            state = 0.9 * state + (1.0f64 - 0.81).sqrt() * self.normal();
            sd * state
        };
        (0..slots).map(|_| next()).collect()
    }
}

#[derive(Debug, Clone, Copy)]
enum World {
    Normal,
    Lognormal,
    Spiky,
    Bimodal,
    Drift,
    Autocorrelated,
    Mixed,
}

const WORLDS: [World; 7] =
    [World::Normal, World::Lognormal, World::Spiky, World::Bimodal, World::Drift, World::Autocorrelated, World::Mixed];

impl World {
    /// Additive noise on the logarithm of the value, slot by slot.
    fn noise(self, slots: usize, chance: &mut Chance) -> Vec<f64> {
        let position = |slot: usize| slot as f64 / (slots - 1) as f64;
        let waves = match self {
            World::Autocorrelated => chance.autocorrelated(slots, 0.015),
            World::Mixed => chance.autocorrelated(slots, 0.01),
            _ => vec![0.0; slots],
        };
        let mut at = |slot: usize| match self {
            World::Normal => 0.01 * chance.normal(),
            World::Lognormal => 0.01 * chance.lognormal(),
            World::Spiky => 0.005 * chance.normal() + chance.stall(0.05, 0.10),
            World::Bimodal => 0.004 * chance.normal() + if chance.uniform() < 0.3 { 0.03 } else { 0.0 },
            World::Drift => 0.04 * position(slot) + 0.01 * chance.normal(),
            World::Autocorrelated => 0.005 * chance.normal(),
            World::Mixed => 0.02 * position(slot) + 0.005 * chance.lognormal() + chance.stall(0.03, 0.08),
        };
        waves.iter().enumerate().map(|(slot, wave)| wave + at(slot)).collect()
    }

    /// The test of one study of two variants, one of them slower by `effect` (a difference of logarithms).
    fn study(self, effect: f64, chance: &mut Chance) -> SignFlip {
        let noise = self.noise(2 * BLOCKS, chance);
        let mut contrast = |slots: &[f64]| {
            let later = slots[1] - slots[0];
            effect + if chance.uniform() < 0.5 { later } else { -later }
        };
        let contrasts: Vec<f64> = noise.chunks_exact(2).map(&mut contrast).collect();
        SignFlip::new(&contrasts, 0).expect("finite contrasts")
    }
}

/// In every world, the part of `studies` for which `claim` holds must lie within `goal`.
fn check(studies: u32, effect: f64, goal: [f64; 2], claim: impl Fn(&mut SignFlip) -> bool) {
    let parts = WORLDS.map(|world| {
        let mut chance = Chance(SEED);
        let claims = (0..studies).filter(|_| claim(&mut world.study(effect, &mut chance))).count();
        (world, claims as f64 / f64::from(studies))
    });
    println!("seed {SEED}: {parts:?}");
    for (world, part) in parts {
        assert!(goal[0] <= part && part <= goal[1], "{world:?}: {part} is not within {goal:?}; seed {SEED}");
    }
}

#[test]
fn errors_between_a_thing_and_itself_at_5_percent() {
    check(10_000, 0.0, [0.040, 0.055], |test| test.p(0.0) <= 0.05);
}

#[test]
fn errors_between_a_thing_and_itself_at_1_percent() {
    check(10_000, 0.0, [0.007, 0.012], |test| test.p(0.0) <= 0.01);
}

#[test]
fn intervals_cover_the_truth() {
    let truth = 1.02f64.ln();
    check(2_000, truth, [0.94, 0.97], |test| {
        test.interval(0.05).is_some_and(|[low, high]| low <= truth && truth <= high)
    });
}

#[test]
fn equivalence_is_rarely_claimed_at_the_margin() {
    let zone = Zone::of_log_ratios(0.01);
    check(4_000, zone.half_width, [0.0, 0.055], |test| {
        test.interval(0.10).is_some_and(|interval| zone.contains(interval))
    });
}
