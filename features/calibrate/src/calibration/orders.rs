//! In which order the trials of a simulated study run, and the study that comes of it: noise goes with the time
//! slot, the effect with the variant that was put there. It judges nothing.

use super::worlds::World;
use bakeoff_model::shuffle::Stream;

/// An order of the trials of several variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Every variant once in each block, in a random order drawn for that block: what a plan does.
    Randomised,
    /// All trials of one variant, then all of the next: AAAA BBBB.
    Sequential,
    /// Always the same order: AB AB AB AB.
    Alternating,
}

impl Order {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Randomised => "randomised",
            Self::Sequential => "sequential",
            Self::Alternating => "alternating",
        }
    }

    /// The time slot of every trial: element `v` of element `b` is that of variant `v` in block `b`, or in its `b`-th
    /// repetition where there are no blocks.
    pub fn slots(self, blocks: usize, variants: usize, stream: &mut Stream) -> Vec<Vec<usize>> {
        let block = |b: usize| -> Vec<usize> {
            match self {
                Self::Randomised => {
                    // A random permutation is its own kind of inverse: which variant goes where, or where which goes.
                    let mut slots: Vec<usize> = (b * variants..(b + 1) * variants).collect();
                    stream.shuffle(&mut slots);
                    slots
                }
                Self::Sequential => (0..variants).map(|v| v * blocks + b).collect(),
                Self::Alternating => (b * variants..(b + 1) * variants).collect(),
            }
        };
        (0..blocks).map(block).collect()
    }
}

/// The values of a study: for each variant, for each block, the logarithm.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    logs: Vec<Vec<f64>>,
}

impl Simulated {
    /// A study in a world: `effects` has one number for each variant, the logarithm of its true value.
    pub fn new(world: World, order: Order, blocks: usize, effects: &[f64], stream: &mut Stream) -> Self {
        let noise = world.noise(blocks * effects.len(), stream);
        let slots = order.slots(blocks, effects.len(), stream);
        let mut study = Self::dealt(&noise, &slots);
        for (logs, effect) in study.logs.iter_mut().zip(effects) {
            logs.iter_mut().for_each(|log| *log += effect);
        }
        study
    }

    /// What was measured slot by slot, dealt to the variants that were there; `slots` as [`Order::slots`] has them, and no
    /// slot beyond those of `logs`.
    pub fn dealt(logs: &[f64], slots: &[Vec<usize>]) -> Self {
        let variants = slots.first().map_or(0, Vec::len);
        let of = |variant: usize| slots.iter().map(|block| logs[block[variant]]).collect();
        Self { logs: (0..variants).map(of).collect() }
    }

    /// The same study, the same noise and the same order, with one variant slower by `effect` (on the logarithm).
    pub fn with(&self, variant: usize, effect: f64) -> Self {
        let mut changed = self.clone();
        changed.logs[variant].iter_mut().for_each(|log| *log += effect);
        changed
    }

    /// The logarithms of one variant's values, block by block.
    pub fn logs(&self, variant: usize) -> &[f64] {
        &self.logs[variant]
    }

    /// The values of one variant, block by block.
    pub fn values(&self, variant: usize) -> Vec<f64> {
        self.logs[variant].iter().map(|log| log.exp()).collect()
    }

    /// For each block, ln(`variant` ÷ `baseline`).
    pub fn contrasts(&self, baseline: usize, variant: usize) -> Vec<f64> {
        self.logs[variant].iter().zip(&self.logs[baseline]).map(|(v, b)| v - b).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_two_variants() {
        let slots = |order: Order| order.slots(3, 2, &mut Stream::of(1, &[]));
        assert_eq!(slots(Order::Sequential), [[0, 3], [1, 4], [2, 5]]);
        assert_eq!(slots(Order::Alternating), [[0, 1], [2, 3], [4, 5]]);
        let heads = (0..1000u32)
            .map(|i| Order::Randomised.slots(3, 2, &mut Stream::of(1, &[&i.to_string()])))
            .inspect(|slots| {
                for (b, block) in slots.iter().enumerate() {
                    assert_eq!(block.iter().sum::<usize>(), 4 * b + 1, "{slots:?}");
                }
            })
            .filter(|slots| slots[1][0] == 2)
            .count();
        assert!((420..580).contains(&heads), "{heads}");
    }

    /// Where a variant is slower by a constant, the contrasts show it whatever the noise: here there is none but drift,
    /// which alternation turns into a bias of one slot and the sequence into one of half the session.
    #[test]
    fn an_effect_goes_with_its_variant() {
        let study = Simulated::new(World::Normal, Order::Randomised, 5, &[0.0, 0.0], &mut Stream::of(1, &[]));
        let slower = study.with(1, 0.5);
        for (a, b) in study.contrasts(0, 1).iter().zip(slower.contrasts(0, 1)) {
            assert!((b - a - 0.5).abs() < 1e-12, "{a} {b}");
        }
        assert_eq!(study.logs(0), slower.logs(0));
        assert!((study.values(1)[0].ln() - study.logs(1)[0]).abs() < 1e-12);
    }
}
