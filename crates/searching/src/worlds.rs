//! Worlds in which searches are simulated: noise that sits in the time slot, layouts, and true speeds. It knows no method.
//! All values are logarithms. These worlds are wider than those of `calibrate`: position effects, heavy tails, ticks.

use bakeoff_model::shuffle::Stream;

/// A kind of noise. `z` is a standard normal number, `s` grows by 1 in 960 slots, `L` is a lognormal number (σ = 0.8) of
/// mean 0 and standard deviation 1, `ar(sd)` a stationary AR(1) with coefficient 0.9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum World {
    /// 0.01 z.
    Normal,
    /// 0.005 z, and in 5 % of the slots a stall, exponential with mean 0.10.
    Spiky,
    /// 0.006 times Student's t with two degrees of freedom.
    HeavyTailed,
    /// 0.004 z, and 0.03 more in 30 % of the slots.
    Bimodal,
    /// 0.01 z, and a clock that ticks: values are multiples of 0.005.
    Ticks,
    /// ar(0.015) + 0.005 z.
    Autocorrelated,
    /// 0.04 s + 0.01 z.
    Drift,
    /// 0.01 z; the first run of a block takes 0.03 more, the second 0.01 more, the last 0.01 less.
    Positions,
    /// 0.02 s + ar(0.01) + 0.005 L, and in 3 % of the slots a stall, exponential with mean 0.08.
    Mixed,
}

/// All of them, in the order in which tables list them.
pub const WORLDS: [World; 9] = [
    World::Normal,
    World::Spiky,
    World::HeavyTailed,
    World::Bimodal,
    World::Ticks,
    World::Autocorrelated,
    World::Drift,
    World::Positions,
    World::Mixed,
];

/// A session drifts by as much as its formula says in this number of slots.
const SLOTS: f64 = 960.0;

impl World {
    /// Its name, for people and for streams of chance.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Spiky => "spiky",
            Self::HeavyTailed => "heavy-tailed",
            Self::Bimodal => "bimodal",
            Self::Ticks => "ticks",
            Self::Autocorrelated => "autocorrelated",
            Self::Drift => "drift",
            Self::Positions => "positions",
            Self::Mixed => "mixed",
        }
    }
}

/// What links in fresh layouts add.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layouts {
    /// The same files throughout: what their layouts cost is part of their speed.
    Fixed,
    /// The variants of a block share a layout, which moves all of them by `shared`, and each by a rest of its own.
    Matched { shared: f64, rest: f64 },
    /// Each variant is in a layout of its own. Every second variant spreads by `sd`, the others by `sd · ratio`; `skewed` is
    /// exponential, centred, with the long tail to the slow side.
    Unmatched { sd: f64, ratio: f64, skewed: bool },
}

/// A machine that runs blocks.
#[derive(Debug, Clone)]
pub struct Machine {
    world: World,
    layouts: Layouts,
    /// All noise times this.
    factor: f64,
    stream: Stream,
    slot: f64,
    wave: f64,
}

impl Machine {
    /// All noise of `world` times `factor`.
    pub fn new(world: World, factor: f64, layouts: Layouts, mut stream: Stream) -> Self {
        let wave = stream.normal();
        Self { world, layouts, factor, stream, slot: 0.0, wave }
    }

    /// Runs a block: the true values, each with its variant and its repeat. Repeats are in layouts of their own.
    pub fn block(&mut self, runs: &[Run]) -> Vec<f64> {
        let mut offsets: Vec<(usize, u32, f64)> = vec![];
        let mut shared: Vec<(u32, f64)> = vec![];
        let mut values = vec![];
        for (at, run) in runs.iter().enumerate() {
            let known = offsets.iter().find(|(variant, layout, _)| (*variant, *layout) == (run.variant, run.layout));
            let offset = match known {
                Some((.., offset)) => *offset,
                None => {
                    let offset = self.offset(run, &mut shared);
                    offsets.push((run.variant, run.layout, offset));
                    offset
                }
            };
            let value = run.truth + offset + self.factor * (self.noise() + self.place(at, runs.len()));
            let tick = 0.005 * self.factor;
            values.push(if self.world == World::Ticks { (value / tick).round() * tick } else { value });
        }
        values
    }

    fn offset(&mut self, run: &Run, shared: &mut Vec<(u32, f64)>) -> f64 {
        match self.layouts {
            Layouts::Fixed => 0.0,
            Layouts::Matched { shared: sd, rest } => {
                let of_layout = shared.iter().find(|(layout, _)| *layout == run.layout).map(|(_, offset)| *offset);
                let of_layout = of_layout.unwrap_or_else(|| {
                    let drawn = sd * self.stream.normal();
                    shared.push((run.layout, drawn));
                    drawn
                });
                of_layout + rest * self.stream.normal()
            }
            Layouts::Unmatched { sd, ratio, skewed } => {
                let sd = if run.variant.is_multiple_of(2) { sd } else { sd * ratio };
                sd * if skewed { self.stream.exponential(1.0) - 1.0 } else { self.stream.normal() }
            }
        }
    }

    fn noise(&mut self) -> f64 {
        let position = self.slot / SLOTS;
        self.slot += 1.0;
        let stream = &mut self.stream;
        match self.world {
            World::Normal | World::Ticks | World::Positions => 0.01 * stream.normal(),
            World::Spiky => 0.005 * stream.normal() + stall(0.05, 0.10, stream),
            World::HeavyTailed => 0.006 * stream.normal() / stream.exponential(1.0).sqrt(),
            World::Bimodal => 0.004 * stream.normal() + if stream.chance(0.3) { 0.03 } else { 0.0 },
            World::Drift => 0.04 * position + 0.01 * stream.normal(),
            World::Autocorrelated => 0.005 * stream.normal() + 0.015 * self.next_wave(),
            World::Mixed => {
                let lognormal = lognormal(stream);
                let stalled = stall(0.03, 0.08, stream);
                0.02 * position + 0.005 * lognormal + stalled + 0.01 * self.next_wave()
            }
        }
    }

    fn next_wave(&mut self) -> f64 {
        self.wave = 0.9 * self.wave + (1.0f64 - 0.81).sqrt() * self.stream.normal();
        self.wave
    }

    fn place(&self, at: usize, runs: usize) -> f64 {
        match at {
            _ if self.world != World::Positions => 0.0,
            0 => 0.03,
            at if at + 1 == runs => -0.01,
            1 => 0.01,
            _ => 0.0,
        }
    }
}

/// A run of a simulated block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    pub variant: usize,
    /// Runs of one variant with the same number are the same file.
    pub layout: u32,
    /// Its true speed.
    pub truth: f64,
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

/// True speeds of variants that race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// Spread over 10 %.
    Spread,
    /// Six within 1.5 %, the others 2 to 10 % behind.
    Mixed,
    /// Within 0.5 %.
    Near,
    /// All equal.
    Same,
    /// One, and equal ones 2 % slower.
    One,
    /// One, and the others just beyond a margin of 1 %.
    Edge,
}

/// All of them.
pub const EFFECTS: [Effects; 6] =
    [Effects::Spread, Effects::Mixed, Effects::Near, Effects::Same, Effects::One, Effects::Edge];

impl Effects {
    /// Its name, for people and for streams of chance.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spread => "spread over 10 %",
            Self::Mixed => "mixed",
            Self::Near => "within 0.5 %",
            Self::Same => "ties",
            Self::One => "one against equals",
            Self::Edge => "just beyond the margin",
        }
    }

    /// Of `variants` variants, in a random order.
    pub fn draw(self, variants: usize, stream: &mut Stream) -> Vec<f64> {
        let mut draw = |at: usize| match self {
            Self::Spread => stream.unit() * 1.10f64.ln(),
            Self::Mixed if at < 6 => stream.unit() * 1.015f64.ln(),
            Self::Mixed => (1.02 + 0.08 * stream.unit()).ln(),
            Self::Near => stream.unit() * 1.005f64.ln(),
            Self::One if at > 0 => 1.02f64.ln(),
            Self::Edge if at > 0 => 1.0102f64.ln(),
            Self::Same | Self::One | Self::Edge => 0.0,
        };
        let mut truths: Vec<f64> = (0..variants).map(&mut draw).collect();
        stream.shuffle(&mut truths);
        truths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_stats::describe::{mean, median, sd};

    fn slots(world: World) -> Vec<f64> {
        let run = Run { variant: 0, layout: 0, truth: 0.0 };
        let slot = |i: u32| {
            let stream = Stream::of(1, &[world.name(), &i.to_string()]);
            Machine::new(world, 1.0, Layouts::Fixed, stream).block(&[run; 12])[6]
        };
        (0..20_000).map(slot).collect()
    }

    /// Mean and sd of one slot, from the formulas; medians of |t₂| is √(2/3) times 1.1547 … = 0.8165.
    #[test]
    fn noise_is_what_its_formula_says() {
        let check = |world: World, expect_mean: f64, expect_sd: f64| {
            let noise = slots(world);
            let (mean, sd) = (mean(&noise), sd(&noise).unwrap());
            assert!((mean - expect_mean).abs() < 5.0 * sd / 141.0, "{world:?}: mean {mean}, not {expect_mean}");
            assert!((sd / expect_sd - 1.0).abs() < 0.06, "{world:?}: sd {sd}, not {expect_sd}");
        };
        let stalls = |p: f64, m: f64| 2.0 * p * m * m - (p * m).powi(2);
        check(World::Normal, 0.0, 0.01);
        check(World::Spiky, 0.005, (2.5e-5 + stalls(0.05, 0.10)).sqrt());
        check(World::Bimodal, 0.009, (1.6e-5f64 + 0.21 * 9e-4).sqrt());
        check(World::Ticks, 0.0, (1e-4f64 + 2.5e-5 / 12.0).sqrt());
        check(World::Autocorrelated, 0.0, (2.25e-4f64 + 2.5e-5).sqrt());
        check(World::Drift, 0.04 * 6.0 / 960.0, 0.01);
        check(World::Positions, 0.0, 0.01);
        check(World::Mixed, 0.0024 + 0.02 * 6.0 / 960.0, (1e-4 + 2.5e-5 + stalls(0.03, 0.08)).sqrt());
        let sizes: Vec<f64> = slots(World::HeavyTailed).iter().map(|x| x.abs()).collect();
        let middle = median(&sizes).unwrap();
        assert!((middle / (0.006 * 0.8165) - 1.0).abs() < 0.05, "{middle}");
    }

    #[test]
    fn one_file_has_one_layout_and_matched_ones_share_it() {
        let run = |variant, layout| Run { variant, layout, truth: 0.0 };
        let layouts = Layouts::Matched { shared: 1.0, rest: 0.0 };
        let mut machine = Machine::new(World::Normal, 0.0, layouts, Stream::of(1, &[]));
        let values = machine.block(&[run(0, 0), run(1, 0), run(0, 1), run(0, 0)]);
        assert_eq!((values[0], values[0]), (values[1], values[3]));
        assert_ne!(values[0], values[2]);
        let layouts = Layouts::Unmatched { sd: 1.0, ratio: 1.0, skewed: true };
        let values = Machine::new(World::Normal, 0.0, layouts, Stream::of(1, &[])).block(&[run(0, 0), run(1, 0)]);
        assert_ne!(values[0], values[1]);
    }
}
