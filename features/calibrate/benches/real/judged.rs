//! Studies of a real command against itself: what the two designs say of the same command on the same machine in the same
//! minutes. Somebody else runs them ([`Trials`] are what came back); here they are planned and judged.

use bakeoff_calibrate::calibration::{Order, Peer, Simulated};
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::describe::median;
use bakeoff_stats::proportion::binomial_interval;

/// The largest rate of false differences that is promised.
pub(crate) const GOAL: f64 = 0.055;

/// One trial of a study that is yet to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The design that it belongs to.
    pub(crate) order: Order,
    /// Its place in that design's order, from 0.
    pub(crate) slot: usize,
}

/// The trials of one study in the order in which they are to run: both designs' own orders, in turn. Which design
/// begins is chance, so neither is always the second of a pair.
pub(crate) fn turns(blocks: usize, seed: u64, study: u32) -> Vec<Slot> {
    let mut stream = Stream::of(seed, &["real", "turns", &study.to_string()]);
    let mut designs = [Order::Randomised, Order::Sequential];
    let mut turns = vec![];
    for slot in 0..2 * blocks {
        stream.shuffle(&mut designs);
        turns.extend(designs.map(|order| Slot { order, slot }));
    }
    turns
}

/// Elapsed times of one study, in seconds, by their place in their design's order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Trials {
    /// In randomised blocks: two successive ones are a block.
    pub(crate) randomised: Vec<f64>,
    /// AAAA BBBB: the first half is one variant, the second half the other.
    pub(crate) sequential: Vec<f64>,
}

impl Trials {
    /// Adds the next trial of a design.
    pub(crate) fn push(&mut self, order: Order, wall_s: f64) {
        match order {
            Order::Sequential => self.sequential.push(wall_s),
            _ => self.randomised.push(wall_s),
        }
    }

    /// The study of one design, with the times dealt to the variants that run in them. None unless all are there and
    /// positive.
    fn study(&self, order: Order, blocks: usize, seed: u64, study: u32) -> Option<Simulated> {
        let walls = if order == Order::Sequential { &self.sequential } else { &self.randomised };
        let usable = walls.len() == 2 * blocks && walls.iter().all(|wall| *wall > 0.0 && wall.is_finite());
        let mut stream = Stream::of(seed, &["real", "order", &study.to_string()]);
        let slots = order.slots(blocks, 2, &mut stream);
        usable.then(|| Simulated::dealt(&walls.iter().map(|wall| wall.ln()).collect::<Vec<_>>(), &slots))
    }
}

/// How often a design was wrong.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wrong {
    /// Studies.
    pub(crate) studies: u32,
    /// Those in which it called a command different from itself.
    pub(crate) wrong: u32,
    /// wrong ÷ studies.
    pub(crate) rate: f64,
    /// Clopper and Pearson's interval of the rate at 95 % confidence; none without studies.
    pub(crate) interval: Option<[f64; 2]>,
    /// Whether the rate is at most [`GOAL`].
    pub(crate) holds: bool,
}

impl Wrong {
    /// True if too many are wrong for a rate of [`GOAL`]: a rate above it may be chance, since 400 studies that
    /// are wrong at 5 % exceed it one time in four.
    pub(crate) fn is_refuted(&self) -> bool {
        self.interval.is_none_or(|[low, _]| low > GOAL)
    }

    fn of(verdicts: impl Iterator<Item = bool>) -> Self {
        let (mut studies, mut wrong) = (0, 0);
        for verdict in verdicts {
            studies += 1;
            wrong += u32::from(verdict);
        }
        let rate = f64::from(wrong) / f64::from(studies.max(1));
        let interval = binomial_interval(wrong, studies, 0.05);
        Self { studies, wrong, rate, interval, holds: studies > 0 && rate <= GOAL }
    }
}

/// What came of real studies of a command against itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Real {
    /// The command.
    pub(crate) command: String,
    /// Blocks of each study.
    pub(crate) blocks: u32,
    /// Processes of load beside the trials.
    pub(crate) load: u32,
    /// The seed of all orders.
    pub(crate) seed: u64,
    /// The largest rate of false differences that is promised.
    pub(crate) goal: f64,
    /// Studies that are left out, because trials failed.
    pub(crate) incomplete: u32,
    /// Median elapsed time of a trial, in seconds.
    pub(crate) typical_s: f64,
    /// In randomised blocks, by the sign-flip test.
    pub(crate) randomised: Wrong,
    /// In the order AAAA BBBB, by a pooled t.
    pub(crate) sequential: Wrong,
    /// In randomised blocks, by a pooled t.
    pub(crate) randomised_pooled_t: Wrong,
}

/// What was run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Executed {
    /// The command.
    pub(crate) command: String,
    /// Blocks of each study.
    pub(crate) blocks: u32,
    /// Processes of load beside the trials.
    pub(crate) load: u32,
    /// The seed of all orders.
    pub(crate) seed: u64,
    /// The studies, in their order.
    pub(crate) studies: Vec<Trials>,
}

/// Judges real studies.
pub(crate) fn judge(executed: Executed) -> Real {
    let Executed { command, blocks, load, seed, studies } = executed;
    let complete: Vec<[Simulated; 2]> = (0..)
        .zip(&studies)
        .filter_map(|(number, trials)| {
            let of = |order| trials.study(order, blocks as usize, seed, number);
            Some([of(Order::Randomised)?, of(Order::Sequential)?])
        })
        .collect();
    let wrong = |design: usize, peer: Peer| Wrong::of(complete.iter().map(|study| peer.judge(&study[design]).differs));
    let walls: Vec<f64> =
        complete.iter().flatten().flat_map(|study| [study.values(0), study.values(1)].concat()).collect();
    Real {
        command,
        blocks,
        load,
        seed,
        goal: GOAL,
        incomplete: (studies.len() - complete.len()) as u32,
        typical_s: median(&walls).unwrap_or(0.0),
        randomised: wrong(0, Peer::SignFlip),
        sequential: wrong(1, Peer::PooledT),
        randomised_pooled_t: wrong(0, Peer::PooledT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_hold_every_slot_of_both_designs_in_its_order() {
        let turns = turns(10, 1, 7);
        for order in [Order::Randomised, Order::Sequential] {
            let slots: Vec<usize> = turns.iter().filter(|turn| turn.order == order).map(|turn| turn.slot).collect();
            assert_eq!(slots, (0..20).collect::<Vec<_>>());
        }
        let firsts = turns.iter().step_by(2).filter(|turn| turn.order == Order::Randomised).count();
        assert!((3..18).contains(&firsts), "{firsts}");
        assert!(turns.chunks(2).all(|pair| pair[0].slot == pair[1].slot));
    }

    /// A machine that slows down by 1 % from trial to trial, and nothing else: the sequence sees a difference every time,
    /// the blocks hardly ever, because a coin decides who suffers.
    #[test]
    fn drift_deceives_the_sequence_and_not_the_blocks() {
        let studies: Vec<Trials> = (0..200u32)
            .map(|number| {
                let mut stream = Stream::of(5, &[&number.to_string()]);
                let mut trials = Trials::default();
                for (position, turn) in (0u32..).zip(turns(10, 1, number)) {
                    let noise = 0.002 * stream.normal();
                    trials.push(turn.order, 0.004 * (0.005 * f64::from(position) + noise).exp());
                }
                trials
            })
            .chain([Trials::default()])
            .collect();
        let executed = Executed { command: "true".to_owned(), blocks: 10, load: 0, seed: 1, studies };
        let real = judge(executed);
        assert_eq!((real.incomplete, real.randomised.studies), (1, 200));
        assert_eq!(real.sequential.wrong, 200);
        assert!(real.randomised.wrong <= 20, "{:?}", real.randomised);
        assert!((0.004..0.006).contains(&real.typical_s), "{}", real.typical_s);
    }
}
