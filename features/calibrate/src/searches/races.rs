//! Simulated races of 24 builds: whether the winner is within the margin of the best, and what that costs beside the full
//! plan, in which nobody leaves; the same with links in fresh layouts.

use super::promise::{Measure, Part, Sample, Task, at_most, flag, shown};
use bakeoff_model::shuffle::Stream;
use bakeoff_searching::race::{Race, Repeats, Rules};
use bakeoff_searching::worlds::{EFFECTS, Effects, Layouts, Machine, Run, World};

/// Builds in a race.
const BUILDS: usize = 24;

/// A race that lasts longer has no answer.
const BLOCKS: u32 = 6000;

/// Differences up to 1 % do not matter.
pub(super) fn margin() -> f64 {
    1.01f64.ln()
}

/// What is raced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Design {
    factor: f64,
    layouts: Layouts,
    repeats: Repeats,
    /// Whether each further run of the incumbent is in a layout of its own.
    own_layouts: bool,
}

impl Design {
    /// The same files throughout, with all noise times this.
    pub(super) fn of_files(factor: f64) -> Self {
        Self { factor, layouts: Layouts::Fixed, repeats: Repeats::Exchangeable, own_layouts: true }
    }

    /// Linked again in each block; the incumbent runs once.
    fn relinked(layouts: Layouts) -> Self {
        Self { factor: 1.0, layouts, repeats: Repeats::None, own_layouts: false }
    }

    /// The incumbent runs more often in the block's layout.
    fn sharing(self) -> Self {
        Self { repeats: Repeats::SharingLayout, ..self }
    }

    /// Each further run is in a layout of its own.
    fn own(self) -> Self {
        Self { repeats: Repeats::Exchangeable, own_layouts: true, ..self }
    }

    /// Further runs share a layout and are ranked, which breaks the proof.
    fn ranked(self) -> Self {
        Self { repeats: Repeats::Exchangeable, ..self }
    }

    pub(super) fn rules(self, variants: usize, stream: &mut Stream) -> Rules {
        Rules { variants, margin: margin(), repeats: self.repeats, everyone: false, seed: stream.next_u64() }
    }

    /// Runs a race to its end: the winner, if there is one, and the trials.
    pub(super) fn race(self, rules: Rules, truths: &[f64], machine: &mut Machine) -> Raced {
        let mut race = Race::new(rules);
        let mut trials = 0;
        while race.blocks < BLOCKS {
            let plan = race.plan();
            if plan.is_empty() {
                break;
            }
            let layout = |repeat| if self.own_layouts { repeat } else { 0 };
            let runs: Vec<Run> = plan
                .iter()
                .map(|slot| Run { variant: slot.variant, layout: layout(slot.repeat), truth: truths[slot.variant] })
                .collect();
            let outcomes: Vec<Option<f64>> = machine.block(&runs).into_iter().map(Some).collect();
            trials += outcomes.len();
            race.take(&outcomes);
        }
        Raced { winner: race.winner(), trials: trials as f64 }
    }

    pub(super) fn machine(self, world: World, stream: &mut Stream) -> Machine {
        let noise = Stream::of(stream.next_u64(), &["noise"]);
        Machine::new(world, self.factor, self.layouts, noise)
    }
}

/// How a race ended.
pub(super) struct Raced {
    pub(super) winner: Option<usize>,
    pub(super) trials: f64,
}

fn search(design: Design, effects: Effects, with_full: bool, world: World, mut stream: Stream) -> Sample {
    let truths = effects.draw(BUILDS, &mut stream);
    let rules = design.rules(BUILDS, &mut stream);
    let mut machine = design.machine(world, &mut stream);
    let full = with_full.then(|| {
        let rules = Rules { everyone: true, repeats: Repeats::None, ..rules.clone() };
        design.race(rules, &truths, &mut machine.clone()).trials
    });
    let raced = design.race(rules, &truths, &mut machine);
    let best = truths.iter().copied().fold(f64::INFINITY, f64::min);
    Sample {
        trials: raced.trials,
        builds: BUILDS as f64,
        full_trials: full.unwrap_or(f64::NAN),
        full_builds: BUILDS as f64,
        wrong: flag(raced.winner.is_some_and(|winner| truths[winner] > best + margin() + 1e-12)),
        named: flag(raced.winner.is_some()),
        ..Sample::NONE
    }
}

pub(super) fn tasks() -> Vec<Task> {
    let mut tasks = vec![];
    for factor in [1.0, 3.0] {
        for effects in EFFECTS {
            let most = match (effects, factor > 1.0) {
                (Effects::Spread, false) => Some(0.45),
                (Effects::Spread, true) => Some(0.30),
                (Effects::Same, _) => Some(0.55),
                (Effects::One, _) => Some(0.70),
                _ => None,
            };
            let design = Design::of_files(factor);
            tasks.push(Task {
                part: Part::Races,
                design: format!("24 builds, {}, noise {factor} %", effects.name()),
                one_in: if factor > 1.0 { 3 } else { 1 },
                search: Box::new(move |world, stream| search(design, effects, true, world, stream)),
                promises: vec![
                    at_most(Measure::Wrong, 0.01),
                    shown(Measure::Trials),
                    most.map_or_else(|| shown(Measure::TrialsPart), |most| at_most(Measure::TrialsPart, most)),
                    shown(Measure::SecondsPart),
                ],
            });
        }
    }
    tasks.extend(layouts());
    tasks
}

/// Races of programs that are linked again in each block.
fn layouts() -> Vec<Task> {
    let [close, far] = [0.0013, 0.005].map(|rest| Design::relinked(Layouts::Matched { shared: 0.02, rest }));
    let [one, two, four] = [0.01, 0.02, 0.04].map(|sd| Layouts::Unmatched { sd, ratio: 1.0, skewed: false });
    let [one, two, four] = [one, two, four].map(Design::relinked);
    let skewed = Design::relinked(Layouts::Unmatched { sd: 0.02, ratio: 1.0, skewed: true });
    let unequal = Design::relinked(Layouts::Unmatched { sd: 0.01, ratio: 2.0, skewed: false });
    let cases = [
        ("matched, rest 0.13 %, repeats sharing the layout", close.sharing()),
        ("matched, rest 0.13 %, no repeats", close),
        ("matched, rest 0.13 %, repeats in own layouts", close.own()),
        ("matched, rest 0.5 %, repeats sharing the layout", far.sharing()),
        ("matched, rest 0.5 %, no repeats", far),
        ("matched, rest 0.5 %, repeats in own layouts", far.own()),
        ("matched, rest 0.5 %, repeats in one layout ranked", far.ranked()),
        ("unmatched, sd 1 %", one),
        ("unmatched, sd 2 %", two),
        ("unmatched, sd 4 %", four),
        ("unmatched, sd 2 %, skewed", skewed),
        ("unmatched, sd 1 % and 2 %", unequal),
        ("unmatched, sd 2 %, repeats sharing the layout", two.sharing()),
        ("unmatched, sd 2 %, repeats in own layouts", two.own()),
        ("unmatched, sd 2 %, repeats in one layout ranked", two.ranked()),
    ];
    let task = |(name, design): (&str, Design), effects: Effects| Task {
        part: Part::Layouts,
        design: format!("24 builds, {}, {name}", effects.name()),
        one_in: 5,
        search: Box::new(move |world, stream| search(design, effects, false, world, stream)),
        // What is not allowed is shown, not promised.
        promises: match design.repeats == Repeats::Exchangeable && !design.own_layouts {
            true => vec![shown(Measure::Wrong), shown(Measure::Trials)],
            false => vec![at_most(Measure::Wrong, 0.01), shown(Measure::Trials)],
        },
    };
    let effects = [Effects::Spread, Effects::Same, Effects::One, Effects::Edge];
    cases.into_iter().flat_map(|case| effects.map(|effects| task(case, effects))).collect()
}
