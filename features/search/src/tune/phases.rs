//! The phases of a search, each a loop: what the method plans is built and run, and the method takes the outcomes. The methods
//! are elsewhere, and so is what runs blocks.

use super::levels::{Factors, reverted, term};
use super::work::Work;
use crate::ablation::{self, Ablation};
use crate::blocks::Stop;
use crate::race::{Outcome, Race, Repeats, Rules, Slot, State};
use crate::screening::Screening;
use crate::space::Space;
use bakeoff_model::shuffle::Stream;

/// Numbers of blocks. They say in which layouts programs are linked, so none is that of a block of an ordinary run, which has
/// small ones; and how far the race was when an ablation began tells its blocks from those of another one.
const SCREENING: u32 = 1_000;
const RACE: u32 = 10_000;
const ABLATION: u32 = 1_000_000;
const ABLATION_BLOCKS: u32 = 1_000;

/// Blocks for one joint variant, and the probability that what is left out costs more than the margin.
const JOINT_BLOCKS: u32 = 60;
const ABLATION_ALPHA: f64 = 0.05;

/// What is the same in all phases.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aim {
    pub(crate) seed: u64,
    /// Differences of logarithms up to this one do not matter.
    pub(crate) margin: f64,
}

/// A race as far as it went.
pub(crate) struct Raced {
    /// Places in the plan, by their places in the race.
    pub(crate) racers: Vec<usize>,
    pub(crate) race: Race,
}

impl Raced {
    /// Where a variant of the plan stands; none if it did not race.
    pub(crate) fn state(&self, variant: usize) -> Option<State> {
        self.racers.iter().position(|racer| *racer == variant).map(|at| self.race.state(at))
    }
}

/// Runs the best few of a big space, and returns them: places in the plan, the best by the model first.
pub(crate) fn screen(work: &mut Work<'_>, space: Space, variants: &[usize], seed: u64) -> Result<Vec<usize>, Stop> {
    let mut screening = Screening::new(space, seed);
    let mut number = SCREENING;
    loop {
        let plan = match screening.finalists() {
            Some(finalists) => finalists.to_vec(),
            None => screening.plan(),
        };
        work.prepare(&plan.iter().map(|combination| variants[*combination]).collect::<Vec<_>>())?;
        let mut failed: Vec<usize> =
            plan.iter().copied().filter(|c| work.is_built(variants[*c]) == Some(false)).collect();
        if !failed.is_empty() {
            failed.sort_unstable();
            failed.into_iter().for_each(|combination| screening.build_failed(combination));
            continue;
        }
        if let Some(finalists) = screening.finalists() {
            return Ok(finalists.iter().map(|combination| variants[*combination]).collect());
        }
        number += 1;
        // Those for which the budget has no room are missing.
        let planned = plan.iter().map(|c| variants[*c]).filter(|variant| work.is_built(*variant) == Some(true));
        let mut slots: Vec<Slot> = planned.map(|variant| Slot { variant, repeat: 0 }).collect();
        if slots.iter().all(|slot| slot.variant != 0) {
            // It shows what the others have to print.
            let place = Stream::of(seed, &["baseline", &number.to_string()]).below(slots.len() as u64 + 1);
            slots.insert(place as usize, Slot { variant: 0, repeat: 0 });
        }
        let stands = format!("block {} of 6, {} variants", number - SCREENING, plan.len());
        work.progress.show("screening", [&stands, ""], &work.spent, work.budget);
        let outcomes = work.block(number, &slots, 0)?;
        let of = |combination: &usize| {
            let at = slots.iter().position(|slot| slot.variant == variants[*combination])?;
            logarithm(outcomes[at])
        };
        screening.take(&plan.iter().map(of).collect::<Vec<_>>());
    }
}

/// Races variants until one is left or the budget ends. Those that are not built do not race.
pub(crate) fn race(work: &mut Work<'_>, variants: &[usize], aim: Aim, builds: bool) -> Result<Raced, Stop> {
    let mut racers: Vec<usize> =
        std::iter::once(0).chain(variants.iter().copied().filter(|variant| *variant != 0)).collect();
    work.prepare(&racers)?;
    racers.retain(|variant| work.is_built(*variant) == Some(true));
    let rules = |repeats: Repeats| {
        let (variants, baseline) = (racers.len(), 0);
        Rules { variants, baseline, margin: aim.margin, repeats, everyone: false, seed: aim.seed }
    };
    let mut race = Race::new(rules(Repeats::None));
    loop {
        let plan = race.plan();
        if plan.is_empty() {
            return Ok(Raced { racers, race });
        }
        let alive = race.alive().count();
        let stands = format!("{alive} of {} left", racers.len());
        let leads = race.incumbent().map(|at| format!("{} leads", work.name(racers[at]))).unwrap_or_default();
        work.progress.show("race", [&stands, &leads], &work.spent, work.budget);
        let slots: Vec<Slot> = plan.iter().map(|slot| Slot { variant: racers[slot.variant], ..*slot }).collect();
        let number = RACE + race.blocks() + 1;
        let outcomes = match work.block(number, &slots, 0) {
            Err(Stop::Budget) => return Ok(Raced { racers, race }),
            outcomes => outcomes?,
        };
        if race.blocks() == 0 {
            // Only now is it known whether the programs can be linked again. The first block's plan does not depend on it.
            let repeats = match work.is_laid_out {
                _ if !builds => Repeats::Exchangeable,
                Some(true) => Repeats::SharingLayout,
                _ => Repeats::None,
            };
            race = Race::new(rules(repeats));
        }
        race.take(&outcomes);
    }
}

/// Which factors of the winner can have the baseline's level again without a loss; none if the budget ends before that is known.
pub(crate) fn ablate(
    work: &mut Work<'_>,
    factors: &Factors,
    winner: usize,
    raced: u32,
    aim: Aim,
) -> Result<Option<Vec<String>>, Stop> {
    let options = factors.changed(work.plan, winner);
    if options.len() < 2 {
        return Ok(Some(vec![]));
    }
    let rules = ablation::Rules {
        options: options.len(),
        costs: None,
        margin: aim.margin,
        alpha: ABLATION_ALPHA,
        blocks: JOINT_BLOCKS,
        seed: aim.seed,
    };
    let (mut ablation, mut number) = (Ablation::new(rules), ABLATION + ABLATION_BLOCKS * raced);
    loop {
        let plan = ablation.plan();
        if let Some(ending) = ablation.ending() {
            return Ok(Some(ending.into_iter().map(|option| options[option].clone()).collect()));
        }
        number += 1;
        // An exclusion may forbid one of them.
        let variants: Vec<Option<usize>> = plan
            .iter()
            .map(|run| reverted(work.plan, winner, &run.iter().map(|option| &options[*option]).collect::<Vec<_>>()))
            .collect();
        let known: Vec<usize> = variants.iter().flatten().copied().collect();
        work.prepare(&known)?;
        let is_there = |variant: &usize| work.is_built(*variant) == Some(true);
        let slots: Vec<Slot> = known.into_iter().filter(is_there).map(|variant| Slot { variant, repeat: 0 }).collect();
        let terms: Vec<String> =
            plan.iter().flatten().map(|option| term(work.plan, winner, &options[*option])).collect();
        let stands = format!("{} without {}", work.name(winner), terms.join(", "));
        work.progress.show("ablation", ["which options matter", &stands], &work.spent, work.budget);
        let outcomes = match slots.len() {
            0 | 1 => vec![Outcome::Failed; slots.len()],
            _ => match work.block(number, &slots, winner) {
                Err(Stop::Budget) => return Ok(None),
                outcomes => outcomes?,
            },
        };
        let of = |variant: &Option<usize>| {
            let at = slots.iter().position(|slot| Some(slot.variant) == *variant)?;
            logarithm(outcomes[at])
        };
        ablation.take(&variants.iter().map(of).collect::<Vec<_>>());
    }
}

fn logarithm(outcome: Outcome) -> Option<f64> {
    match outcome {
        Outcome::Took(ln) => Some(ln),
        Outcome::TimedOut | Outcome::Failed => None,
    }
}
