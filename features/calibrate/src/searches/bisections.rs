//! Simulated histories with one change, two changes, many small ones or none: whether a commit is named that changed
//! nothing, and what the search costs. Next to it, `git bisect` with means of five.

use super::promise::{Measure, Part, Promise, Sample, Task, at_most, flag, shown};
use bakeoff_model::shuffle::Stream;
use bakeoff_searching::bisect::{Ask, Bisection, Ending, Proof, Rules};
use bakeoff_searching::worlds::{Layouts, Machine, Run, World};

/// A search that lasts longer has no answer.
const BLOCKS: u32 = 20_000;

/// Blocks of good and bad before a difference counts as not shown.
const ENDS_BLOCKS: u32 = 200;

/// Trials of a commit from whose mean the script of `git bisect` decides.
const MEAN_OF: usize = 5;

/// What changes in a history.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Changes {
    /// Changes of these sizes, each at a random commit.
    At(&'static [f64]),
    /// Every commit costs this.
    Creep(f64),
}

/// A history, and how it is searched.
#[derive(Debug, Clone, Copy)]
struct History {
    commits: usize,
    changes: Changes,
    factor: f64,
    layouts: Layouts,
    /// Each commit's file is this sd off, for the whole search.
    files: f64,
    /// The part of commits that cannot be built.
    unbuildable: f64,
    blocks: u32,
}

impl History {
    const fn of(commits: usize, changes: Changes, factor: f64) -> Self {
        Self { commits, changes, factor, layouts: Layouts::Fixed, files: 0.0, unbuildable: 0.0, blocks: BLOCKS }
    }

    fn draw(&self, stream: &mut Stream) -> Drawn {
        let mut steps = vec![0.0; self.commits + 1];
        match self.changes {
            Changes::At(sizes) => {
                let mut places: Vec<usize> = (1..=self.commits).collect();
                stream.shuffle(&mut places);
                sizes.iter().zip(places).for_each(|(size, place)| steps[place] = *size);
            }
            Changes::Creep(size) => steps[1..].fill(size),
        }
        let mut truth = 0.0;
        let mut sum = |step: &f64| {
            truth += step;
            truth + self.files * stream.normal()
        };
        let truths = steps.iter().map(&mut sum).collect();
        let fails =
            |commit: usize, stream: &mut Stream| stream.chance(self.unbuildable) && commit > 0 && commit < self.commits;
        let unbuildable = (0..=self.commits).map(|commit| fails(commit, stream)).collect();
        Drawn { steps, truths, unbuildable }
    }

    fn search(&self, world: World, mut stream: Stream) -> Sample {
        let drawn = self.draw(&mut stream);
        let rules = Rules {
            commits: self.commits,
            alpha: 0.05,
            ends_blocks: ENDS_BLOCKS,
            blocks: self.blocks,
            counts: false,
            seed: stream.next_u64(),
        };
        let mut bisection = Bisection::new(rules);
        let mut machine = Machine::new(world, self.factor, self.layouts, stream);
        let mut trials = 0;
        while let Ask::Block(plan) = bisection.plan() {
            if let Some(failed) = plan.iter().find(|commit| drawn.unbuildable[**commit]) {
                bisection.build_failed(*failed);
                continue;
            }
            let runs: Vec<Run> = plan.iter().map(|c| Run { variant: *c, layout: 0, truth: drawn.truths[*c] }).collect();
            let values: Vec<Option<f64>> = machine.block(&runs).into_iter().map(Some).collect();
            trials += values.len();
            bisection.take(&values);
        }
        let proof = if let Some(Ending::Proved(proof)) = bisection.ending() { Some(proof) } else { None };
        let pair = proof.map(|proof| proof.pair);
        let misses = |proof: &Proof| {
            let [low, high] = proof.interval;
            let [before, after] = proof.pair.map(|commit| drawn.truths[commit]);
            !(low..=high).contains(&(after - before))
        };
        let creeps = matches!(self.changes, Changes::Creep(_));
        // A pair is right if one of its commits changed something; of a creep, no commit is the one.
        let is_wrong =
            |[before, after]: [usize; 2]| creeps || drawn.steps[before + 1..=after].iter().all(|s| *s == 0.0);
        let limit = (self.commits as f64).log2().ceil() + 3.0;
        Sample {
            trials: trials as f64,
            builds: bisection.builds() as f64,
            wrong: flag(pair.is_some_and(is_wrong)),
            named: flag(pair.is_some()),
            missed: flag(proof.is_some_and(misses)),
            within: flag(bisection.builds() as f64 <= limit),
            ..Sample::NONE
        }
    }

    /// `git bisect run` with a script that compares the mean of five trials with halfway between good and bad.
    fn by_git(&self, world: World, mut stream: Stream) -> Sample {
        let drawn = self.draw(&mut stream);
        stream.next_u64();
        let mut machine = Machine::new(world, self.factor, self.layouts, stream);
        let mut trials = 0;
        let mut mean = |commit: usize| {
            trials += MEAN_OF;
            let run = Run { variant: commit, layout: 0, truth: drawn.truths[commit] };
            (0..MEAN_OF).map(|_| machine.block(&[run])[0]).sum::<f64>() / MEAN_OF as f64
        };
        let halfway = f64::midpoint(mean(0), mean(self.commits));
        let (mut good, mut bad, mut builds) = (0, self.commits, 2);
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            builds += 1;
            if mean(middle) > halfway { bad = middle } else { good = middle }
        }
        let wrong = flag(drawn.steps[bad] == 0.0 || matches!(self.changes, Changes::Creep(_)));
        Sample { trials: trials as f64, builds: f64::from(builds), wrong, named: 1.0, ..Sample::NONE }
    }
}

struct Drawn {
    /// What each commit changes, and what all up to it have.
    steps: Vec<f64>,
    truths: Vec<f64>,
    unbuildable: Vec<bool>,
}

const ONE_1: Changes = Changes::At(&[0.01]);
const ONE_2: Changes = Changes::At(&[0.02]);
const ONE_5: Changes = Changes::At(&[0.05]);
const TWO: Changes = Changes::At(&[0.02, 0.02]);

/// That no innocent commit is named, that the interval holds what the named one changed, and what it costs.
fn usual() -> Vec<Promise> {
    let costs = [Measure::Named, Measure::Trials, Measure::Builds, Measure::Seconds].map(shown);
    [at_most(Measure::Wrong, 0.01), at_most(Measure::Missed, 0.05)].into_iter().chain(costs).collect()
}

pub(super) fn tasks() -> Vec<Task> {
    let wrong = || at_most(Measure::Wrong, 0.01);
    let mut tasks = vec![
        task(
            "128 commits, one change of 2 %, noise 1 %",
            History::of(128, ONE_2, 1.0),
            vec![
                wrong(),
                shown(Measure::Named),
                at_most(Measure::Trials, 200.0),
                shown(Measure::Builds),
                shown(Measure::Seconds),
                shown(Measure::Within),
            ],
        ),
        task(
            "1,024 commits, one change of 2 %, noise 1 %",
            History::of(1024, ONE_2, 1.0),
            vec![
                wrong(),
                shown(Measure::Trials),
                at_most(Measure::Builds, 12.0),
                shown(Measure::Within),
                shown(Measure::Seconds),
            ],
        ),
        task(
            "1,024 commits, one change of 2 %, noise 3 %",
            History::of(1024, ONE_2, 3.0),
            vec![
                wrong(),
                shown(Measure::Named),
                shown(Measure::Trials),
                at_most(Measure::Builds, 12.0),
                shown(Measure::Within),
            ],
        ),
        task("128 commits, one change of 5 %, noise 1 %", History::of(128, ONE_5, 1.0), usual()),
        task("128 commits, one change of 1 %, noise 1 %", History::of(128, ONE_1, 1.0), usual()),
        task("128 commits, changes of 2 % and 2 %, noise 1 %", History::of(128, TWO, 1.0), usual()),
        task("128 commits, changes of 3 % and 1 %", History::of(128, Changes::At(&[0.03, 0.01]), 1.0), usual()),
        task("128 commits, changes of 3 % and −1.5 %", History::of(128, Changes::At(&[0.03, -0.015]), 1.0), usual()),
        task(
            "128 commits of 0.04 % each, 600 blocks",
            History { blocks: 600, ..History::of(128, Changes::Creep(0.0004), 1.0) },
            usual(),
        ),
        task("128 commits, no change", History::of(128, Changes::At(&[]), 1.0), vec![wrong(), shown(Measure::Trials)]),
    ];
    for part in [0.05, 0.15, 0.30] {
        let history = History { unbuildable: part, ..History::of(128, ONE_2, 1.0) };
        tasks.push(task(&format!("128 commits, 2 %, {} % cannot be built", 100.0 * part), history, usual()));
    }
    tasks.extend(layouts());
    for (name, changes) in [("2 %", ONE_2), ("5 %", ONE_5), ("2 % and 2 %", TWO)] {
        let history = History::of(128, changes, 1.0);
        tasks.push(Task {
            part: Part::Bisections,
            design: format!("`git bisect`, means of five: 128 commits, {name}, noise 1 %"),
            one_in: 2,
            search: Box::new(move |world, stream| history.by_git(world, stream)),
            promises: vec![shown(Measure::Wrong), shown(Measure::Trials), shown(Measure::Builds)],
        });
    }
    tasks
}

/// Commits that are linked again in each block, and files as they were built.
fn layouts() -> Vec<Task> {
    let history = History::of(128, ONE_2, 1.0);
    let matched = |rest| History { layouts: Layouts::Matched { shared: 0.02, rest }, ..history };
    let unmatched = Layouts::Unmatched { sd: 0.01, ratio: 1.0, skewed: false };
    let promised = || vec![at_most(Measure::Wrong, 0.01), shown(Measure::Named), shown(Measure::Trials)];
    vec![
        task("128 commits, 2 %, matched layouts, rest 0.13 %", matched(0.0013), promised()),
        task("128 commits, 2 %, matched layouts, rest 0.5 %", matched(0.005), promised()),
        task("128 commits, 2 %, unmatched layouts, sd 1 %", History { layouts: unmatched, ..history }, promised()),
        task(
            "128 commits, 2 %, files as built, sd 0.5 %",
            History { files: 0.005, ..history },
            vec![shown(Measure::Wrong), shown(Measure::Trials)],
        ),
    ]
}

fn task(design: &str, history: History, promises: Vec<Promise>) -> Task {
    Task {
        part: Part::Bisections,
        design: design.to_owned(),
        one_in: 2,
        search: Box::new(move |world, stream| history.search(world, stream)),
        promises,
    }
}
