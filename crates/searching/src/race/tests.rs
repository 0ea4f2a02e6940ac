//! Tests of the race: its plans, its rules one by one, its bets as martingales, and some races by simulation.

use super::*;
use crate::worlds::{Effects, Layouts, Machine, Run, WORLDS, World};
use bakeoff_stats::describe::{mean, sd};
use proptest::prelude::*;

const SEED: u64 = 55;

fn rules(variants: usize, seed: u64) -> Rules {
    let repeats = Repeats::Exchangeable;
    Rules { variants, margin: 1.01f64.ln(), repeats, everyone: false, seed }
}

/// The outcomes of the next block on a machine.
fn outcomes(race: &Race, machine: &mut Machine, truths: &[f64]) -> Vec<Option<f64>> {
    let run = |slot: &Slot| Run { variant: slot.variant, layout: slot.repeat, truth: truths[slot.variant] };
    let runs: Vec<Run> = race.plan().iter().map(run).collect();
    machine.block(&runs).into_iter().map(Some).collect()
}

fn runs_of(plan: &[Slot], variant: usize) -> usize {
    plan.iter().filter(|slot| slot.variant == variant).count()
}

/// A race of 24 in a world, after `most` blocks at most.
fn raced(world: World, effects: Effects, number: u64, most: u32) -> (Race, Vec<f64>) {
    let mut stream = Stream::of(SEED, &[world.name(), &number.to_string()]);
    let truths = effects.draw(24, &mut stream);
    let mut race = Race::new(rules(24, number));
    let mut machine = Machine::new(world, 1.0, Layouts::Fixed, stream);
    while race.blocks < most && !race.plan().is_empty() {
        let outcomes = outcomes(&race, &mut machine, &truths);
        race.take(&outcomes);
    }
    (race, truths)
}

#[test]
fn a_block_has_those_alive_the_baseline_and_the_incumbent_more_than_once() {
    let mut race = Race::new(rules(24, 1));
    let plan = race.plan();
    assert!((0..24).all(|variant| runs_of(&plan, variant) == 1), "{plan:?}");
    race.incumbent = Some(3);
    race.states[0] = State::Dropped;
    race.states[1] = State::Dropped;
    let plan = race.plan();
    let runs: Vec<usize> = [0, 1, 2, 3].iter().map(|variant| runs_of(&plan, *variant)).collect();
    assert_eq!(runs, [1, 0, 1, 4], "0.8 · √22 is 3.75");
    race.rules.repeats = Repeats::None;
    assert_eq!(runs_of(&race.plan(), 3), 1);
    race.rules.everyone = true;
    assert_eq!(runs_of(&race.plan(), 1), 1);
}

/// Of variants that do not differ, capitals are martingales: their mean after 4 blocks is 1, within 5 standard errors of
/// 4,000 races, in worlds that spoil bets that are not quite fair.
#[test]
fn nobody_can_expect_to_gain_on_equal_variants() {
    for world in [World::Normal, World::Bimodal, World::Autocorrelated, World::Positions] {
        let (mut drops, mut parks, mut pairs) = (vec![], vec![], vec![]);
        for number in 0..4_000 {
            let mut race = Race::new(Rules { margin: 0.0, ..rules(5, number) });
            let stream = Stream::of(SEED, &["fair", world.name(), &number.to_string()]);
            let mut machine = Machine::new(world, 1.0, Layouts::Fixed, stream);
            // The incumbent is chosen by nothing, so that its choice is no selection.
            race.incumbent = Some(4);
            for _ in 0..4 {
                let outcomes = outcomes(&race, &mut machine, &[0.0; 5]);
                race.take_values(&outcomes);
            }
            drops.push(race.evidence[1].drop());
            parks.push(race.evidence[1].park());
            pairs.push(race.pairs.get(&(1, 2)).map_or(1.0, Sizes::capital));
        }
        for (what, capitals) in [("drop", drops), ("park", parks), ("pair", pairs)] {
            let (mean, error) = (mean(&capitals), sd(&capitals).unwrap() / 4_000f64.sqrt());
            println!("seed {SEED}, {}, {what}: {mean:.3} ± {error:.3}", world.name());
            assert!((mean - 1.0).abs() < 5.0 * error, "{world:?}, {what}: {mean} ± {error}, seed {SEED}");
        }
    }
}

#[test]
fn races_end_with_one_of_the_best() {
    let (mut lost, mut open) = (0, 0);
    for world in WORLDS {
        for effects in [Effects::Spread, Effects::One] {
            for number in 0..10 {
                let (race, truths) = raced(world, effects, number, 400);
                let best = truths.iter().copied().fold(f64::INFINITY, f64::min);
                match race.winner() {
                    Some(winner) => lost += u32::from(truths[winner] > best + 1.01f64.ln()),
                    None => open += 1,
                }
            }
        }
    }
    println!("seed {SEED}: 180 races, {lost} lost, {open} open");
    assert!(lost <= 2 && open <= 2, "{lost} lost, {open} open");
}

#[test]
fn an_unfinished_race_names_a_set_with_the_best_in_it() {
    for number in 0..20 {
        let (race, truths) = raced(World::Spiky, Effects::Near, number, 15);
        let best = (0..24).min_by(|one, other| truths[*one].total_cmp(&truths[*other])).unwrap();
        let named = race.candidates();
        match race.winner() {
            None => assert!(named.contains(&best) && named.len() > 1, "{number}: {named:?}"),
            Some(winner) => assert!(truths[winner] <= truths[best] + 1.01f64.ln() && named == [winner], "{number}"),
        }
    }
}

#[test]
fn a_new_incumbent_brings_the_parked_back_and_starts_new_capitals() {
    let mut race = raced(World::Normal, Effects::Near, 1, 6).0;
    let incumbent = race.incumbent.unwrap();
    let parked = (0..24).find(|variant| *variant != incumbent).unwrap();
    race.states[parked] = State::Parked;
    race.evidence[parked].park_sizes.bet(1.0, &[0.0], 1.0);
    race.states[incumbent] = State::Dropped;
    race.choose_incumbent();
    assert_eq!((race.states[parked], race.incumbents), (State::Alive, 2));
    assert_ne!(race.incumbent, Some(incumbent));
    assert!((race.evidence[parked].park() - 1.0).abs() < 1e-12);
}

/// Fresh capitals need 2^i/(0.6 α₂), those of pairs (k − 1)/(0.4 α₂): either is enough.
#[test]
fn either_rule_parks() {
    let base = raced(World::Normal, Effects::Same, 1, 5).0;
    let incumbent = base.incumbent.unwrap();
    let other = (0..24).find(|variant| *variant != incumbent).unwrap();
    let parked_after = |bet: &dyn Fn(&mut Race)| {
        let mut race = base.clone();
        race.pairs.clear();
        (1..).find(|_| {
            bet(&mut race);
            race.park();
            race.states[other] == State::Parked
        })
    };
    let fresh = parked_after(&|race| race.evidence[other].park_sizes.bet(9.0, &[0.0], 1.0));
    let pair = parked_after(&|race| race.pairs.entry((other, incumbent)).or_default().bet(9.0, &[0.0], 1.0));
    // The account with the highest stake nearly doubles each time, and is a quarter of the sizes, an eighth with the ranks.
    assert_eq!((fresh, pair), (Some(11), Some(14)), "2/0.0048 · 8 is 3,333, and 23/0.0032 · 4 is 28,750");
}

#[test]
fn a_variant_without_values_leaves_and_one_that_times_out_never_loses() {
    let mut race = Race::new(rules(4, 1));
    let mut machine = Machine::new(World::Normal, 1.0, Layouts::Fixed, Stream::of(SEED, &["failures"]));
    while race.blocks < 60 && !race.plan().is_empty() {
        let plan = race.plan();
        let took = outcomes(&race, &mut machine, &[0.0, 0.05, 0.0, 0.0]);
        let outcome = |(slot, took): (&Slot, Option<f64>)| match slot.variant {
            3 => None,
            2 => Some(f64::INFINITY),
            _ => took,
        };
        let outcomes: Vec<Option<f64>> = plan.iter().zip(took).map(outcome).collect();
        race.take(&outcomes);
        assert!(race.evidence[2].drop() <= 1.0);
    }
    assert_eq!((race.states[3], race.states[1]), (State::Failed, State::Dropped));
    assert_eq!(race.incumbent, Some(0));
}

#[test]
fn workloads_are_joined_by_the_mean_of_their_logarithms() {
    let check = |outcomes: &[Option<f64>], expect| assert_eq!(of_workloads(outcomes), expect);
    check(&[Some(1.0), Some(3.0)], Some(2.0));
    check(&[Some(1.0), Some(f64::INFINITY)], Some(f64::INFINITY));
    check(&[Some(f64::INFINITY), None], None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever comes out of the runs: who is killed after any block and replays the journal has the same plan, and every
    /// plan has each of those alive, the baseline, and nobody who is out.
    #[test]
    fn a_journal_replays(seed in any::<u64>(), variants in 2_usize..9, killed_after in 0_u32..25) {
        let mut stream = Stream::of(seed, &["outcomes"]);
        let truths: Vec<f64> = (0..variants).map(|_| 0.1 * stream.unit()).collect();
        let mut race = Race::new(rules(variants, seed));
        let mut journal = vec![];
        while race.blocks < 40 && !race.plan().is_empty() {
            let plan = race.plan();
            for variant in 0..variants {
                let is_there = race.states[variant] == State::Alive || variant == 0;
                prop_assert_eq!(runs_of(&plan, variant) > 0, is_there);
            }
            let outcome = |slot: &Slot| match stream.below(20) {
                0 => None,
                1 => Some(f64::INFINITY),
                _ => Some(truths[slot.variant] + 0.01 * stream.normal()),
            };
            let outcomes: Vec<Option<f64>> = plan.iter().map(outcome).collect();
            race.take(&outcomes);
            journal.push(outcomes);
        }
        let mut resumed = Race::new(rules(variants, seed));
        for (block, outcomes) in journal.iter().enumerate() {
            if block as u32 == killed_after {
                let mut again = Race::new(rules(variants, seed));
                journal[..block].iter().for_each(|outcomes| again.take(outcomes));
                prop_assert_eq!(again.plan(), resumed.plan());
                resumed = again;
                // What was interrupted is not taken.
                resumed.take(&outcomes[1..]);
            }
            resumed.take(outcomes);
        }
        prop_assert_eq!((resumed.winner(), resumed.candidates()), (race.winner(), race.candidates()));
        prop_assert_eq!(resumed.plan(), race.plan());
    }
}
