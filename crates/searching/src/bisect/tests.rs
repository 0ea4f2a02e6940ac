//! Tests of the bisection: its rules one by one, and searches by simulation.

use super::*;
use crate::worlds::{Layouts, Machine, Run, WORLDS, World};
use proptest::prelude::*;

const SEED: u64 = 55;

fn rules(commits: usize, seed: u64) -> Rules {
    Rules { commits, alpha: 0.05, ends_blocks: 100, blocks: 3_000, counts: false, seed }
}

fn machine(world: World, number: u64) -> Machine {
    Machine::new(world, 1.0, Layouts::Fixed, Stream::of(SEED, &["bisect", world.name(), &number.to_string()]))
}

/// Searches to the end. Counts are 1000 times as far from 1 as times.
fn search(bisection: &mut Bisection, machine: &mut Machine, truth: &dyn Fn(usize) -> f64) -> u32 {
    loop {
        match bisection.plan() {
            Ask::Block(plan) => {
                let runs: Vec<Run> = plan.iter().map(|c| Run { variant: *c, layout: 0, truth: truth(*c) }).collect();
                let values: Vec<Option<f64>> = machine.block(&runs).into_iter().map(Some).collect();
                bisection.take(&values);
            }
            Ask::Count(commit) => bisection.counted(Some(1e9 * truth(commit).exp())),
            Ask::Nothing => return bisection.blocks(),
        }
    }
}

/// The commit after the change.
fn named(bisection: &Bisection) -> Option<usize> {
    if let Some(Ending::Proved(proof)) = bisection.ending() { Some(proof.pair[1]) } else { None }
}

fn step(at: usize, size: f64) -> impl Fn(usize) -> f64 {
    move |commit| if commit >= at { size } else { 0.0 }
}

#[test]
fn one_change_is_found_in_every_world() {
    for world in WORLDS {
        for (number, at) in [(0, 1), (1, 64), (2, 100), (3, 128)] {
            let mut bisection = Bisection::new(rules(128, number));
            search(&mut bisection, &mut machine(world, number), &step(at, 0.03));
            assert_eq!(named(&bisection), Some(at), "{world:?}, seed {SEED}: {:?}", bisection.ending());
            assert!(bisection.builds() <= 12, "{world:?}: {} builds", bisection.builds());
        }
    }
}

#[test]
fn a_change_for_the_better_is_found_too() {
    let mut bisection = Bisection::new(rules(128, 1));
    search(&mut bisection, &mut machine(World::Normal, 1), &step(77, -0.03));
    assert_eq!(named(&bisection), Some(77));
    let Some(Ending::Proved(proof)) = bisection.ending() else { panic!("{:?}", bisection.ending()) };
    let [low, high] = proof.interval;
    assert!(low < -0.03 && -0.03 < high && high < 0.0, "{low} {high}");
    assert!(proof.whole > 0.01, "the size of the difference: {}", proof.whole);
}

#[test]
fn nothing_is_claimed_where_nothing_changed() {
    let mut bisection = Bisection::new(rules(128, 1));
    let blocks = search(&mut bisection, &mut machine(World::Normal, 5), &|_| 0.0);
    assert_eq!((blocks, bisection.builds()), (100, 2));
    let Some(Ending::NotShown([low, high])) = bisection.ending() else { panic!("{:?}", bisection.ending()) };
    assert!(*low < 0.0 && 0.0 < *high, "{low} {high}");
}

/// One test decides, so what it does not show is not ruled out by its interval.
#[test]
fn no_difference_is_always_in_the_interval_of_ends_that_are_not_shown_to_differ() {
    let mut seen = 0;
    for number in 0..40_u64 {
        let mut bisection = Bisection::new(Rules { ends_blocks: 30, ..rules(2, number) });
        let size = 0.0005 * number as f64;
        search(&mut bisection, &mut machine(WORLDS[number as usize % WORLDS.len()], number), &step(1, size));
        if let Some(Ending::NotShown([low, high])) = bisection.ending() {
            assert!(*low < 0.0 && 0.0 < *high, "seed {SEED}, {number}: {low} {high}");
            seen += 1;
        }
    }
    assert!(seen > 8, "{seen}");
}

/// A commit halfway between good and bad is like neither: the search goes on in one half, and finds a real change.
#[test]
fn two_changes_do_not_lead_to_an_innocent_commit() {
    for number in 0..8 {
        let mut bisection = Bisection::new(rules(128, number));
        let truth = |commit| step(40, 0.02)(commit) + step(90, 0.02)(commit);
        search(&mut bisection, &mut machine(World::Normal, number), &truth);
        assert!(matches!(named(&bisection), Some(40 | 90)), "{number}: {:?}", bisection.ending());
    }
}

/// The bets decide, and the interval is theirs: "slower" never stands next to an interval that contains 0.
#[test]
fn the_interval_of_a_proof_agrees_with_it() {
    let (mut missed, mut seen) = (0, 0);
    for number in 0..270_u64 {
        let (world, size) = (WORLDS[number as usize % WORLDS.len()], [0.03, -0.03][number as usize % 2]);
        let mut bisection = Bisection::new(rules(8, number));
        search(&mut bisection, &mut machine(world, number), &step(5, size));
        let Some(Ending::Proved(proof)) = bisection.ending() else { continue };
        let [low, high] = proof.interval.map(|end| size.signum() * end);
        let [low, high] = [low.min(high), low.max(high)];
        let least = PROVED_PART * proof.whole;
        assert!(low > 0.999 * least && high.is_finite(), "seed {SEED}, {number}: {low} {high}, {least}");
        let estimate = proof.estimate * size.signum();
        assert!((low..=high).contains(&estimate), "seed {SEED}, {number}: {low} {estimate} {high}");
        seen += 1;
        missed += u32::from(!(low..=high).contains(&size.abs()));
    }
    println!("seed {SEED}: {missed} of {seen} intervals miss the change");
    assert!(seen > 250 && missed <= 13, "{missed} of {seen}");
}

/// Two small changes, and a commit between them: no number of its blocks says on which side of the change it is.
#[test]
fn a_commit_that_nothing_is_learnt_of_does_not_use_up_all_blocks() {
    for number in 0..8 {
        let rules = Rules { ends_blocks: 3_000, ..rules(64, number) };
        let (mut bisection, mut machine) = (Bisection::new(rules), machine(World::Normal, number));
        let truth = |commit| step(25, 0.0018)(commit) + step(40, 0.0018)(commit);
        let mut asked = BTreeMap::<usize, usize>::new();
        while let Ask::Block(plan) = bisection.plan() {
            if let Phase::Question(commit) = bisection.phase {
                *asked.entry(commit).or_default() += 1;
                let is_alone = asked.len() == 1;
                assert!(!is_alone || asked[&commit] <= COMMIT_BLOCKS, "seed {SEED}, {number}: {asked:?}");
            }
            let run = |c: &usize| Run { variant: *c, layout: 0, truth: truth(*c) };
            let values: Vec<Option<f64>> =
                machine.block(&plan.iter().map(run).collect::<Vec<_>>()).into_iter().map(Some).collect();
            bisection.take(&values);
        }
    }
}

#[test]
fn a_creep_ends_honestly() {
    let mut bisection = Bisection::new(Rules { blocks: 400, ..rules(128, 1) });
    search(&mut bisection, &mut machine(World::Normal, 1), &|commit| 4e-4 * commit as f64);
    let Some(Ending::Unproved { between: [low, high], likely }) = bisection.ending() else {
        panic!("{:?}", bisection.ending())
    };
    assert!(high - low < 128 && !likely.is_empty(), "{low} {high} {likely:?}");
}

#[test]
fn a_half_that_is_not_shown_is_left_again() {
    let mut bisection = Bisection::new(Rules { ends_blocks: 12, ..rules(128, 1) });
    let mut machine = machine(World::Normal, 1);
    for _ in 0..12 {
        bisection.learn(
            &[0, 128],
            &machine.block(&[0, 128].map(|c| Run { variant: c, layout: 0, truth: step(90, 0.03)(c) })),
        );
    }
    bisection.decide();
    bisection.ranges.push(Range::new(0, 64));
    bisection.built.insert(64);
    bisection.phase = Phase::Ends;
    search(&mut bisection, &mut machine, &step(90, 0.03));
    assert_eq!(named(&bisection), Some(90), "{:?}", bisection.ending());
}

#[test]
fn commits_that_cannot_be_built_or_run_are_struck_out() {
    let truth = step(50, 0.03);
    let mut bisection = Bisection::new(rules(128, 1));
    let mut machine = machine(World::Normal, 1);
    while let Ask::Block(plan) = bisection.plan() {
        if let Some(failed) = plan.iter().find(|commit| (48..50).contains(*commit)) {
            bisection.build_failed(*failed);
            continue;
        }
        let runs: Vec<Run> = plan.iter().map(|c| Run { variant: *c, layout: 0, truth: truth(*c) }).collect();
        // 64 can be built, but does not run.
        let values = machine.block(&runs).into_iter().zip(&plan).map(|(y, c)| Some(y).filter(|_| *c != 64));
        bisection.take(&values.collect::<Vec<Option<f64>>>());
    }
    let Some(Ending::Proved(proof)) = bisection.ending() else { panic!("{:?}", bisection.ending()) };
    assert_eq!(proof.pair, [47, 50], "one of these commits");
}

#[test]
fn counts_save_trials_and_are_proved_in_time() {
    for counts in [false, true] {
        let mut bisection = Bisection::new(Rules { counts, ..rules(1024, 1) });
        let blocks = search(&mut bisection, &mut machine(World::Normal, 1), &step(700, 0.02));
        println!("counts {counts}: {blocks} blocks");
        assert_eq!(named(&bisection), Some(700));
        assert!(!counts || blocks < 40, "{blocks}");
    }
    let mut bisection = Bisection::new(Rules { counts: true, ..rules(128, 1) });
    let mut machine = machine(World::Normal, 1);
    loop {
        match bisection.plan() {
            // Counts that do not differ say nothing.
            Ask::Count(_) => bisection.counted(Some(1e9)),
            Ask::Block(plan) => {
                let runs = plan.iter().map(|c| Run { variant: *c, layout: 0, truth: step(30, 0.03)(*c) });
                let values = machine.block(&runs.collect::<Vec<Run>>());
                bisection.take(&values.into_iter().map(Some).collect::<Vec<_>>());
            }
            Ask::Nothing => break,
        }
    }
    assert_eq!(named(&bisection), Some(30));
}

/// The m-th pair needs 2^m/α, with capital that is 1 when it is named.
#[test]
fn later_pairs_need_more() {
    let base = {
        let mut bisection = Bisection::new(rules(2, 1));
        let mut machine = machine(World::Normal, 1);
        while !matches!(bisection.phase, Phase::Proving(_)) {
            let Ask::Block(plan) = bisection.plan() else { panic!() };
            let runs: Vec<Run> =
                plan.iter().map(|c| Run { variant: *c, layout: 0, truth: step(1, 0.05)(*c) }).collect();
            bisection.take(&machine.block(&runs).into_iter().map(Some).collect::<Vec<_>>());
        }
        bisection
    };
    let needed = |proofs: i32| {
        let mut bisection = base.clone();
        bisection.proofs = proofs;
        (1..).find(|_| {
            let Ask::Block(plan) = bisection.plan() else { return true };
            bisection.take(&plan.iter().map(|c| Some(step(1, 0.05)(*c))).collect::<Vec<_>>());
            bisection.ending().is_some()
        })
    };
    assert_eq!([1, 2, 5].map(needed), [Some(7), Some(8), Some(11)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever comes out: it ends, and who is killed after any block and replays the journal asks the same.
    #[test]
    fn a_journal_replays(seed in any::<u64>(), commits in 1_usize..40, killed_after in 0_usize..60) {
        let mut stream = Stream::of(seed, &["outcomes"]);
        let steps: Vec<f64> = (0..=commits).map(|_| if stream.chance(0.2) { 0.03 * stream.normal() } else { 0.0 }).collect();
        let truth = |commit: usize| steps[..=commit].iter().sum::<f64>();
        let rules = Rules { blocks: 150, ..rules(commits, seed) };
        let mut bisection = Bisection::new(rules.clone());
        let mut journal = vec![];
        while let Ask::Block(plan) = bisection.plan() {
            let outcome = |commit: &usize| if stream.chance(0.03) { None } else { Some(truth(*commit) + 0.01 * stream.normal()) };
            let outcomes: Vec<Option<f64>> = plan.iter().map(outcome).collect();
            prop_assert!(plan.iter().all(|commit| *commit <= commits));
            bisection.take(&outcomes);
            journal.push(outcomes);
            prop_assert!(journal.len() <= 150);
        }
        prop_assert!(bisection.ending().is_some());
        let mut resumed = Bisection::new(rules.clone());
        for (block, outcomes) in journal.iter().enumerate() {
            if block == killed_after {
                let mut again = Bisection::new(rules.clone());
                journal[..block].iter().for_each(|outcomes| again.take(outcomes));
                prop_assert_eq!(again.plan(), resumed.plan());
                resumed = again;
            }
            resumed.take(outcomes);
        }
        prop_assert_eq!(resumed.ending(), bisection.ending());
    }
}
