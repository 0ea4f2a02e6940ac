//! The phases of a search, each a loop: what the method plans is built and run, and the method takes the outcomes. The methods
//! are elsewhere, and so is what runs blocks.

use super::work::Work;
use crate::blocks::Stop;
use bakeoff_model::shuffle::Stream;
use bakeoff_searching::ablation::{self, Ablation};
use bakeoff_searching::race::{Race, Repeats, Rules, Slot};
use bakeoff_searching::screening::{BLOCKS, Screening};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of blocks. They say in which layouts programs are linked, so none is that of a block of an ordinary run, which has
/// small ones; and how far the race was when an ablation began tells its blocks from those of another one.
const SCREENING: u32 = 1_000;
const RACE: u32 = 10_000;
const ABLATION: u32 = 1_000_000;
const ABLATION_BLOCKS: u32 = 1_000;

/// Blocks for one joint variant.
const JOINT_BLOCKS: u32 = 60;

/// Logarithms of values, by variant.
pub(crate) type Logs = BTreeMap<usize, f64>;

/// A race as far as it went.
pub(crate) struct Raced {
    /// Places in the plan, by their places in the race.
    pub(crate) racers: Vec<usize>,
    pub(crate) race: Race,
}

/// Chooses the best few of a big space. Returns them, the best first, and what the model says of all variants.
pub(crate) fn screen(work: &mut Work<'_>) -> Result<(Vec<usize>, Option<Logs>), Stop> {
    let (space, variants) = work.task.space();
    let seed = work.task.plan.seed;
    let mut screening = Screening::new(space, seed);
    loop {
        let is_done = screening.finalists().is_some();
        let taken = screening.blocks.len();
        let number = if is_done { RACE + 1 } else { SCREENING + taken as u32 + 1 };
        let stage: Vec<usize> = screening.stage.iter().map(|combination| variants[*combination]).collect();
        work.prepare(number, &stage)?;
        let is_failed = |combination: &usize| work.is_built(variants[*combination]) == Some(false);
        let failed: BTreeSet<usize> = screening.stage.iter().copied().filter(is_failed).collect();
        if !failed.is_empty() {
            failed.into_iter().for_each(|combination| screening.build_failed(combination));
            continue;
        }
        if is_done {
            let model = screening.model().map(|model| variants.into_iter().zip(model.values).collect());
            return Ok((stage, model));
        }
        let plan: Vec<usize> = screening.plan().into_iter().map(|combination| variants[combination]).collect();
        let mut all = plan.clone();
        if !plan.contains(&0) {
            // It shows what the others have to print.
            let place = Stream::of(seed, &["baseline", &number.to_string()]).below(plan.len() as u64 + 1);
            all.insert(place as usize, 0);
        }
        let stands = format!("block {} of {}, {} variants", taken + 1, 2 * BLOCKS, plan.len());
        work.progress.show("screening", [&stands, ""], &work.spent, work.task.budget);
        let values = once(work, number, &all)?;
        screening.take(&plan.iter().map(|variant| values.get(variant).copied()).collect::<Vec<_>>());
    }
}

/// Races variants until one is left or the budget ends. Those that are not built do not race.
pub(crate) fn race(work: &mut Work<'_>, variants: &[usize]) -> Result<Raced, Stop> {
    let mut racers: Vec<usize> = [0].into_iter().chain(variants.iter().copied().filter(|at| *at != 0)).collect();
    work.prepare(RACE + 1, &racers)?;
    racers.retain(|variant| work.is_built(*variant) == Some(true));
    let (margin, seed) = (work.task.margin, work.task.plan.seed);
    let mut race = Race::new(Rules { variants: racers.len(), margin, repeats: Repeats::None, everyone: false, seed });
    loop {
        let plan = race.plan();
        if plan.is_empty() {
            break;
        }
        let stands = format!("{} of {} left", race.alive().count(), racers.len());
        let leads = race.incumbent.map(|at| format!("{} leads", work.task.name(racers[at]))).unwrap_or_default();
        work.progress.show("race", [&stands, &leads], &work.spent, work.task.budget);
        let slots: Vec<Slot> = plan.iter().map(|slot| Slot { variant: racers[slot.variant], ..*slot }).collect();
        let outcomes = match work.block(RACE + race.blocks + 1, &slots) {
            Err(Stop::Budget) => break,
            outcomes => outcomes?,
        };
        if race.blocks == 0 {
            // Only now is it known whether the programs can be linked again. The first block's plan does not depend on it.
            race.rules.repeats = match work.is_laid_out {
                _ if work.task.builds.is_empty() => Repeats::Exchangeable,
                Some(true) => Repeats::SharingLayout,
                _ => Repeats::None,
            };
        }
        race.take(&outcomes);
    }
    Ok(Raced { racers, race })
}

/// Returns the factors of the winner that can have the baseline's level again without a loss. If a model says what each costs,
/// the variants that revert only one need not be built.
pub(crate) fn ablate(work: &mut Work<'_>, winner: usize, raced: u32, model: Option<&Logs>) -> Result<Vec<usize>, Stop> {
    let task = work.task;
    let options = task.changed(winner);
    if options.len() < 2 {
        return Ok(vec![]);
    }
    let cost = |model: &Logs, option: usize| Some(model.get(&task.reverted(winner, &[option])?)? - model.get(&winner)?);
    let costs = model.map(|model| options.iter().map(|option| cost(model, *option).unwrap_or(f64::INFINITY)).collect());
    let (margin, seed) = (task.margin, task.plan.seed);
    let rules = ablation::Rules { options: options.len(), costs, margin, blocks: JOINT_BLOCKS, seed };
    let (mut ablation, mut number) = (Ablation::new(rules), ABLATION + ABLATION_BLOCKS * raced);
    loop {
        if let Some(left_out) = ablation.ending() {
            return Ok(left_out.into_iter().map(|option| options[option]).collect());
        }
        number += 1;
        let factors_of = |run: &ablation::Reverted| run.iter().map(|option| options[*option]).collect::<Vec<usize>>();
        let runs: Vec<Vec<usize>> = ablation.plan().iter().map(factors_of).collect();
        // An exclusion may forbid one of them.
        let variants: Vec<Option<usize>> = runs.iter().map(|run| task.reverted(winner, run)).collect();
        let known: Vec<usize> = variants.iter().flatten().copied().collect();
        work.prepare(number, &known)?;
        let terms: Vec<String> = runs.iter().flatten().map(|factor| task.term(winner, *factor)).collect();
        let stands = format!("{} without {}", task.name(winner), terms.join(", "));
        work.progress.show("ablation", ["which options matter", &stands], &work.spent, task.budget);
        let values = once(work, number, &known)?;
        ablation.take(&variants.iter().map(|variant| values.get(&(*variant)?).copied()).collect::<Vec<_>>());
    }
}

/// Runs each of some variants once, as far as they are built: the values of those that neither failed nor timed out.
fn once(work: &mut Work<'_>, number: u32, variants: &[usize]) -> Result<Logs, Stop> {
    let built = variants.iter().filter(|variant| work.is_built(**variant) == Some(true));
    let slots: Vec<Slot> = built.map(|variant| Slot { variant: *variant, repeat: 0 }).collect();
    if slots.len() < 2 {
        return Ok(Logs::new());
    }
    let outcomes = work.block(number, &slots)?.into_iter();
    let values = slots.iter().zip(outcomes).filter_map(|(slot, ln)| Some((slot.variant, ln?)));
    Ok(values.filter(|(_, ln)| ln.is_finite()).collect())
}
