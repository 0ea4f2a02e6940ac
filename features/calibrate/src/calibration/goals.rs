//! The table of what is promised: property, worlds, goal. Each line names the studies that are simulated for it
//! ([`super::studies`]) and how their numbers become one.

use super::promise::{Options, Row};
use super::simulate::{Reduce, Sample, Simulation, Stopped};
use super::task::{Promise, Task, at_least, at_most, between, promise, task};
use super::worlds::World;
use super::{boots, families, layouts, node_goals, stopping, studies, ticks, whole};
use bakeoff_model::shuffle::Stream;

/// Worlds whose noise is smaller and larger than a tick, with tails and with drift.
const TICK_WORLDS: &[World] = &[World::Normal, World::Spiky, World::Bimodal, World::Mixed];

/// What is promised where a clock ticks: nothing false about what is printed, and no verdict where the clock is too
/// coarse.
const FALSE: Promise = promise("-false", "identical variants judged different", at_most(0.055), Reduce::RatePrinted(0));
const MISSES: Promise =
    promise("-misses", "the 95 % interval misses the true ratio of 1.02", at_most(0.06), Reduce::RatePrinted(1));
const EQUIVALENT: Promise =
    promise("-equivalent", "false equivalence at the margin", at_most(0.055), Reduce::RatePrinted(2));
const TOO_COARSE: Promise =
    promise("-refused", "no verdict because the clock is too coarse", at_least(0.99), Reduce::Refused(0));
const RARELY_TOO_COARSE: Promise = Promise { goal: at_most(0.01), ..TOO_COARSE };

/// Studies by a clock that ticks.
const fn ticks(
    name: &'static str,
    design: &'static str,
    study: fn(World, &mut Stream) -> Sample,
    promises: &'static [Promise],
) -> Task {
    task(name, design, 900.0, study, promises).in_worlds(TICK_WORLDS).one_in(2)
}

/// Worlds of the trials inside boots: what textbooks assume, and all of it.
const BOOT_WORLDS: &[World] = &[World::Normal, World::Mixed];

/// Worlds of the trials of programs that are linked again.
const LAYOUT_WORLDS: &[World] = BOOT_WORLDS;

const TASKS: &[Task] = &[
    task(
        "same",
        "2 identical variants, 10 blocks",
        10.0,
        studies::same,
        &[
            promise("false-difference-5", "false difference at 5 %", between(0.040, 0.055), Reduce::Rate(0)),
            promise("false-difference-1", "false difference at 1 %", between(0.007, 0.012), Reduce::Rate(1)),
        ],
    ),
    task(
        "coverage",
        "true ratio 1.02, 10 blocks",
        120.0,
        studies::coverage,
        &[promise("coverage", "95 % interval contains the true ratio", between(0.94, 0.97), Reduce::Rate(0))],
    ),
    task(
        "power",
        "true ratio 1.02, 10 blocks",
        40.0,
        studies::power,
        &[
            promise("power", "difference of 2 % detected", at_least(0.90), Reduce::Rate(0)),
            promise("power-ratio", "…, ours ÷ ministat's t", at_least(1.25), Reduce::MeanRatio(0, 1)),
            promise("error-ratio", "RMS error, ours ÷ the mean's", at_most(0.3), Reduce::RmsRatio(2, 3)),
        ],
    )
    .in_worlds(&[World::Spiky]),
    task(
        "width",
        "2 identical variants, 20 blocks: median width of the 95 % interval",
        300.0,
        studies::width,
        &[promise("width-ratio", "width, ours ÷ ministat's t", at_most(0.45), Reduce::MedianRatio(0, 1))],
    )
    .in_worlds(&[World::Mixed]),
    task(
        "margin",
        "true difference equal to the margin (1 %), 20 blocks",
        250.0,
        studies::margin,
        &[promise("false-equivalence", "false equivalence at 5 %", at_most(0.055), Reduce::Rate(0))],
    ),
    task(
        "workloads",
        "3 identical variants, 3 workloads, 10 blocks",
        900.0,
        whole::workloads,
        &[
            promise("workloads-mean", "false difference in any mean over workloads", at_most(0.055), Reduce::Rate(0)),
            promise("workloads-twin", "false difference in the twin's mean", at_most(0.055), Reduce::Rate(1)),
            promise(
                "workloads-untold",
                "the same, beyond the margin, with no doubt reported",
                at_most(0.0),
                Reduce::Rate(2),
            ),
        ],
    )
    .one_in(2),
    task(
        "family",
        "6 identical variants, 12 blocks",
        450.0,
        families::same,
        &[
            promise("family-baseline", "any variant judged different from the first", at_most(0.055), Reduce::Rate(0)),
            promise("family-pairs", "any of the 10 other pairs judged different", at_most(0.055), Reduce::Rate(1)),
        ],
    ),
    task(
        "family-of-12",
        "13 identical variants, 8 blocks",
        150.0,
        families::of_12,
        &[promise("family-12", "any variant judged different from the first", at_most(0.055), Reduce::Rate(0))],
    ),
    task(
        "family-some",
        "7 variants, the last 3 slower by 3 %, 12 blocks",
        250.0,
        families::some_slower,
        &[promise(
            "family-some",
            "any of the 3 like the baseline judged different from it",
            at_most(0.055),
            Reduce::Rate(0),
        )],
    ),
    task(
        "family-intervals",
        "7 variants, the last 3 slower by 3 %, 10 blocks",
        2500.0,
        families::intervals,
        &[promise("family-misses", "any 95 % interval misses its true value", at_most(0.055), Reduce::Rate(0))],
    )
    .one_in(4),
    task(
        "decided",
        "2 identical variants, checked after 7, 11, 16, 24 and 36 blocks",
        500.0,
        stopping::decided,
        &[promise("stop-decided", "false difference at any check", at_most(0.05), Reduce::Rate(0))],
    ),
    task(
        "anytime",
        "2 identical variants, checked after each of 40 blocks",
        20.0,
        stopping::anytime,
        &[promise("stop-anytime", "false difference at any time", at_most(0.05), Reduce::Rate(0))],
    ),
    task(
        "precision",
        "2 identical variants, run until the interval is within ±1 %, in 10 to 30 blocks",
        500.0,
        stopping::precision,
        &[promise("stop-precision", "false difference at the end", at_most(0.05), Reduce::Rate(0))],
    ),
    task(
        "sequential",
        "20 trials of one variant, then 20 of an identical one, judged without blocks",
        150.0,
        stopping::sequential,
        &[promise("sequential-beyond", "judged different despite visible drift", at_most(0.01), Reduce::Rate(1))],
    )
    .in_worlds(&[World::Drift, World::Autocorrelated, World::Mixed]),
    task(
        "still",
        "the same without drift",
        150.0,
        stopping::sequential,
        &[promise("still-refused", "verdict refused", at_most(0.01), Reduce::Rate(0))],
    )
    .in_worlds(&[World::Normal, World::Lognormal, World::Spiky, World::Bimodal]),
    task(
        "obvious",
        "20 trials of one variant, then 20 of one that takes twice as long",
        150.0,
        stopping::obvious,
        &[promise("obvious", "difference detected", at_least(0.99), Reduce::Rate(0))],
    )
    .one_in(4),
    task(
        "whole",
        "a whole record: 3 identical variants and the twin, 10 blocks",
        600.0,
        whole::same,
        &[
            promise("whole-false-verdict", "any false verdict", at_most(0.055), Reduce::Rate(0)),
            promise("whole-twin", "the twin is judged different", at_most(0.055), Reduce::Rate(1)),
        ],
    )
    .in_worlds(&[World::Drift, World::Mixed]),
    task(
        "boots",
        "3 identical kernels and the twin, each booted once in each of 10 passes",
        4000.0,
        boots::same,
        &[
            promise("boots-false-verdict", "any false verdict in a table", at_most(0.055), Reduce::Mean(0)),
            promise("boots-suite", "…, over the workloads", at_most(0.055), Reduce::Mean(1)),
            promise("boots-conditions", "…, on a condition", at_most(0.055), Reduce::Mean(2)),
            promise("boots-twin", "the twin is judged different", at_most(0.055), Reduce::Mean(3)),
        ],
    )
    .in_worlds(BOOT_WORLDS),
    task(
        "boots-slower",
        "the same, but the last kernel is slower by 7 %",
        4000.0,
        boots::slower,
        &[
            promise(
                "boots-misses",
                "any 95 % interval in a table misses its true value",
                at_most(0.055),
                Reduce::Mean(0),
            ),
            promise("boots-suite-misses", "…, over the workloads", at_most(0.055), Reduce::Mean(1)),
            promise(
                "boots-power",
                "detection rate, ours ÷ t without trial noise",
                at_least(0.9),
                Reduce::MeanRatio(2, 3),
            ),
        ],
    )
    .in_worlds(BOOT_WORLDS),
    task(
        "layouts",
        "3 identical programs and the twin, each linked again for each of 12 passes; layouts spread 0.3 to 3 %",
        1500.0,
        layouts::same,
        &[
            promise("layouts-false-verdict", "any false verdict in a table", at_most(0.055), Reduce::Rate(0)),
            promise("layouts-twin", "the twin is judged different", at_most(0.055), Reduce::Rate(1)),
        ],
    )
    .in_worlds(LAYOUT_WORLDS),
    task(
        "layouts-slower",
        "the same, but the last program is slower by 2 %",
        1500.0,
        layouts::slower,
        &[promise("layouts-misses", "any 95 % interval misses its true value", at_most(0.055), Reduce::Rate(0))],
    )
    .in_worlds(LAYOUT_WORLDS),
    task(
        "layouts-looks",
        "two of the same programs, looked at up to 5 times in 12 passes",
        1500.0,
        layouts::looks,
        &[promise("layouts-looks-verdict", "a look calls them different", at_most(0.055), Reduce::Rate(0))],
    )
    .in_worlds(LAYOUT_WORLDS),
    task(
        "layouts-few",
        "the same programs in 6 layouts of 2 passes each: a layout counts once",
        1500.0,
        layouts::few,
        &[promise("layouts-few-verdict", "any false verdict in a table", at_most(0.055), Reduce::Rate(0))],
    )
    .in_worlds(LAYOUT_WORLDS),
    task(
        "layouts-rare",
        "the same, but one in twelve layouts of the last program is 5 % slower: typical layouts are equal",
        1500.0,
        layouts::rare,
        &[promise("layouts-rare-verdict", "any false verdict in a table", at_most(0.08), Reduce::Rate(0))],
    )
    .in_worlds(LAYOUT_WORLDS),
    task(
        "layouts-one",
        "3 identical programs, each in the one layout of its build",
        1500.0,
        layouts::one,
        &[promise(
            "layouts-one-verdict",
            "files are judged different, although the programs are not",
            at_least(0.2),
            Reduce::Rate(0),
        )],
    )
    .in_worlds(LAYOUT_WORLDS),
    ticks(
        "ticks-near-4",
        "a clock that ticks every 4 ms, times near 62 ms",
        |world, stream| ticks::studies(ticks::NEAR_4_MS, world, stream),
        &[TOO_COARSE],
    ),
    ticks(
        "ticks-near-10",
        "a clock that ticks every 10 ms, times near 105 ms",
        |world, stream| ticks::studies(ticks::NEAR_10_MS, world, stream),
        &[TOO_COARSE],
    ),
    ticks(
        "ticks-far-4",
        "a clock that ticks every 4 ms, times near 0.535 s",
        |world, stream| ticks::studies(ticks::FAR_4_MS, world, stream),
        &[FALSE, MISSES, EQUIVALENT, RARELY_TOO_COARSE],
    ),
    ticks(
        "ticks-far-10",
        "a clock that ticks every 10 ms, times near 1.523 s",
        |world, stream| ticks::studies(ticks::FAR_10_MS, world, stream),
        &[FALSE, MISSES, EQUIVALENT, RARELY_TOO_COARSE],
    ),
    ticks(
        "ticks-numbers-4",
        "numbers measured elsewhere, a clock that ticks every 4 ms, times near 62 ms",
        |world, stream| ticks::numbers(ticks::NEAR_4_MS, world, stream),
        &[FALSE, MISSES, EQUIVALENT],
    ),
    ticks(
        "ticks-numbers-10",
        "numbers measured elsewhere, a clock that ticks every 10 ms, times near 105 ms",
        |world, stream| ticks::numbers(ticks::NEAR_10_MS, world, stream),
        &[FALSE, MISSES, EQUIVALENT],
    ),
    ticks(
        "ticks-seven",
        "7 identical variants, 3 blocks, a clock that ticks every 10 ms, times near 1.523 s",
        ticks::seven_in_three_blocks,
        &[promise("-false", "any variant judged different from the first", at_most(0.055), Reduce::Rate(0))],
    ),
];

fn all_tasks() -> impl Iterator<Item = &'static Task> {
    TASKS.iter().chain(node_goals::TASKS)
}

/// What all of it costs, in microseconds of a processor, roughly.
pub(super) fn cost(options: Options) -> f64 {
    all_tasks().map(|task| f64::from(task.studies(options)) * task.cost * task.worlds.len() as f64).sum()
}

/// Measures the whole table.
pub(super) fn measure(simulation: &Simulation<'_>) -> Result<Vec<Row>, Stopped> {
    let mut rows = vec![];
    for task in all_tasks() {
        rows.extend(rows_of(task, simulation)?);
    }
    Ok(rows)
}

fn rows_of(task: &Task, simulation: &Simulation<'_>) -> Result<Vec<Row>, Stopped> {
    let empty = |promise: &Promise| Row {
        name: if promise.name.starts_with('-') { task.name } else { "" }.to_owned() + promise.name,
        property: promise.property.to_owned(),
        design: task.design.to_owned(),
        measure: promise.reduce.measure(),
        goal: promise.goal,
        cells: vec![],
    };
    let mut rows: Vec<Row> = task.promises.iter().map(empty).collect();
    for &world in task.worlds {
        let studies = task.studies(simulation.options);
        let study = |stream: &mut Stream| (task.study)(world, stream);
        let samples = simulation.each(&[task.name, world.name()], studies, task.cost, study)?;
        for (row, promise) in rows.iter_mut().zip(task.promises) {
            row.cells.push(simulation.cell(world, &samples, promise.reduce, promise.goal));
        }
    }
    Ok(rows)
}
