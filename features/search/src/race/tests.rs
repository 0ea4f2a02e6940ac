//! Tests of the race: its plans, its rules one by one, its bets as a martingale, and a few races by simulation.

use super::*;
use crate::worlds::{Effects, Layouts, Machine, Run, World};

const SEED: u64 = 55;

fn rules(variants: usize, seed: u64) -> Rules {
    Rules { variants, baseline: 0, margin: 1.01f64.ln(), repeats: Repeats::Exchangeable, everyone: false, seed }
}

fn run(race: &mut Race, machine: &mut Machine, truths: &[f64], most: u32) -> usize {
    let mut trials = 0;
    while race.blocks() < most {
        let plan = race.plan();
        if plan.is_empty() {
            break;
        }
        let runs: Vec<Run> = plan
            .iter()
            .map(|slot| Run { variant: slot.variant, layout: slot.repeat, truth: truths[slot.variant] })
            .collect();
        let outcomes: Vec<Outcome> = machine.block(&runs).into_iter().map(Outcome::Took).collect();
        trials += outcomes.len();
        race.take(&outcomes);
    }
    trials
}

#[test]
fn probe() {
    for effects in crate::worlds::EFFECTS {
        for world in [World::Normal, World::Bimodal, World::Positions] {
            let mut all: Vec<usize> = vec![];
            let mut lost = 0;
            for r in 0..60u64 {
                let mut stream = Stream::of(100_003 + r, &["truth"]);
                let truths = effects.draw(24, &mut stream);
                let mut race = Race::new(rules(24, r));
                let mut machine = Machine::new(world, 1.0, Layouts::Fixed, stream);
                all.push(run(&mut race, &mut machine, &truths, 1500));
                let best = truths.iter().copied().fold(f64::INFINITY, f64::min);
                match race.standing() {
                    Standing::Finished(winner) if truths[winner] > best + 1.01f64.ln() => {
                        lost += 1;
                        let b = truths.iter().position(|t| *t == best).unwrap();
                        println!("best {b} {:?} inc {winner} incs {} blocks {} {:?} pair {:?}", race.states[b], race.incumbents, race.blocks, race.evidence[b], race.pairs.get(&(b, winner)));
                    }
                    Standing::Finished(winner) => lost += usize::from(truths[winner] > best + 1.01f64.ln()),
                    Standing::Open(_) => println!("open"),
                }
            }
            all.sort();
            println!("{} {}: median {} 90% {} lost {lost}", effects.name(), world.name(), all[30], all[54]);
        }
    }
}
