//! How often a gate passes, fails or is undecided on simulated studies of which the truth is known: its error rates
//! must be what `docs/tasks/ci.md` says. CI simulates some of them; `tools/long gate` simulates 1,000 of each and prints
//! the table.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test prints its results and panics if they are wrong")]

use crate::decision::Outcome;
use crate::simulated::{execute, outcome, study};
use bakeoff_model::record::TWIN;
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::proportion::binomial_interval;
use bakeoff_testkit::records::measure;
use std::thread;

/// Studies of each kind in CI, which simulates the second world only: the one in which most can go wrong.
const STUDIES: u32 = 50;

const SEED: u64 = 178;

/// The study's α.
const ALPHA: f64 = 0.05;

/// Where noise comes from: a kind of `bakeoff calibrate`, by the slot of the trial.
#[derive(Clone, Copy)]
enum World {
    /// 0.01 z.
    Normal,
    /// 0.005 z, and in 5 % of the slots a stall, exponential with mean 0.10.
    Spiky,
    /// 0.04 s + 0.01 z: a machine that grows slower by 4 % while it measures.
    Drift,
}

impl World {
    fn noise(self, place: f64, stream: &mut Stream) -> f64 {
        match self {
            Self::Normal => 0.01 * stream.normal(),
            Self::Spiky => {
                let stall = if stream.chance(0.05) { stream.exponential(0.10) } else { 0.0 };
                0.005 * stream.normal() + stall
            }
            Self::Drift => 0.04 * place + 0.01 * stream.normal(),
        }
    }
}

/// One kind of studies, of 20 blocks with a limit of 2 %.
struct StudyKind {
    name: &'static str,
    workloads: &'static [&'static str],
    variants: &'static [&'static str],
    /// The true slowdown of a variant on a workload.
    slowdown: fn(&str, &str) -> f64,
    /// What may happen in at most [`ALPHA`] of the studies, each.
    wrong: &'static [Outcome],
}

const ONE: &[&str] = &["loop"];
const TWO: &[&str] = &["baseline", "b"];
const FOUR: &[&str] = &["baseline", "b", "c", "d"];

const KINDS: &[StudyKind] = &[
    StudyKind { name: "A/A", workloads: ONE, variants: TWO, slowdown: |_, _| 0.0, wrong: &[Outcome::Fails] },
    StudyKind { name: "+3 %", workloads: ONE, variants: TWO, slowdown: |_, _| 0.03, wrong: &[Outcome::Passes] },
    StudyKind {
        name: "+2 %",
        workloads: ONE,
        variants: TWO,
        slowdown: |_, _| 0.02,
        wrong: &[Outcome::Passes, Outcome::Fails],
    },
    StudyKind {
        name: "3 × 2, all +2 %",
        workloads: &["loop", "sort"],
        variants: FOUR,
        slowdown: |_, _| 0.02,
        wrong: &[Outcome::Passes, Outcome::Fails],
    },
    StudyKind {
        name: "3 × 2, one +2 %",
        workloads: &["loop", "sort"],
        variants: FOUR,
        slowdown: |variant, workload| if (variant, workload) == ("c", "sort") { 0.02 } else { 0.0 },
        wrong: &[Outcome::Passes, Outcome::Fails],
    },
];

fn simulate(kind: &StudyKind, world: World, number: u32) -> Outcome {
    let mut stream = Stream::of(SEED, &["gate", kind.name, &(world as u8).to_string(), &number.to_string()]);
    let mut record = study(kind.workloads, kind.variants);
    execute(&mut record, 20, &mut stream, |trial, place, stream| {
        let is_baseline = trial.variant == TWIN || trial.variant == kind.variants[0];
        let slowdown = if is_baseline { 0.0 } else { (kind.slowdown)(&trial.variant, &trial.workload) };
        measure(trial, "wall", (1.0 + slowdown) * world.noise(place, stream).exp());
    });
    outcome(&record)
}

/// How often each outcome came, of this many studies.
fn count(kind: &StudyKind, world: World, studies: u32) -> [u32; 3] {
    let workers = thread::available_parallelism().map_or(1, usize::from) as u32;
    let part = |worker: u32| {
        let mut counts = [0; 3];
        for number in (worker..studies).step_by(workers as usize) {
            counts[simulate(kind, world, number) as usize] += 1;
        }
        counts
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|worker| scope.spawn(move || part(worker))).collect();
        let counts = workers.into_iter().map(|worker| worker.join().unwrap());
        counts.fold([0; 3], |all: [u32; 3], one| [0, 1, 2].map(|at| all[at] + one[at]))
    })
}

#[test]
fn a_gate_keeps_its_error_rates() {
    let asked = std::env::var("BAKEOFF_GATE").ok().and_then(|text| text.parse().ok());
    let studies: u32 = asked.unwrap_or(STUDIES);
    println!("seed {SEED}, {studies} studies of each kind, 20 blocks, limit 2 %");
    let all = [(World::Normal, "normal"), (World::Spiky, "spiky"), (World::Drift, "drift")];
    let worlds = if asked.is_some() { &all[..] } else { &all[1..2] };
    for &(world, world_name) in worlds {
        for kind in KINDS {
            let [passes, undecided, fails] = count(kind, world, studies);
            let rate = |hits: u32| {
                let [low, high] = binomial_interval(hits, studies, 0.05).unwrap();
                let percent = |x: f64| format!("{:.1}", 100.0 * x);
                format!("{} % ({}–{})", percent(f64::from(hits) / f64::from(studies)), percent(low), percent(high))
            };
            println!("| {world_name} | {} | {} | {} | {} |", kind.name, rate(passes), rate(fails), rate(undecided));
            let counts = [passes, undecided, fails];
            for wrong in kind.wrong {
                let hits = counts[*wrong as usize];
                // Chance alone gives more in one test of a thousand.
                let [least, _] = binomial_interval(hits, studies, 0.002).unwrap();
                assert!(least <= ALPHA, "{world_name}, {}: {hits} of {studies}: {wrong:?}", kind.name);
            }
            // A gate that always shrugs is never wrong; this one decides where it can.
            let right = match kind.name {
                "A/A" => Some(passes),
                "+3 %" => Some(fails),
                _ => None,
            };
            assert!(
                right.is_none_or(|right| 2 * right > studies),
                "{world_name}, {}: {right:?} of {studies}",
                kind.name
            );
        }
    }
}
