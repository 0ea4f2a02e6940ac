//! Does the scale keep its promises? The calibration by simulation in its short form, with a fixed seed: every promise must
//! hold within the error of so few studies, and the same options must give the same numbers on any number of threads.
//! `bakeoff calibrate` is the same with 10,000 studies in each world.
use crate::calibration::{Calibration, Options, WORLDS, calibrate};
use std::sync::LazyLock;

const SEED: u64 = 178;

fn simulate(studies: u32, threads: usize) -> Calibration {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let options = Options { studies, seed: SEED, short: true };
    pool.install(|| calibrate(options, &|_| true)).expect("nobody stops it")
}

/// 200 studies in each world: enough to tell 5 % from 12 %. CI runs `bakeoff calibrate --quick` besides.
static SHORT: LazyLock<Calibration> = LazyLock::new(|| simulate(200, 2));

#[test]
fn every_promise_holds() {
    let mut cells = 0;
    for row in &SHORT.rows {
        for cell in &row.cells {
            println!("{} {}: {} {:?}", row.name, cell.world.name(), cell.measured, cell.interval);
            assert!(cell.holds, "{}, seed {SEED}: {:?} is not within {:?}", row.name, cell, row.goal);
            cells += 1;
        }
    }
    assert!(cells > 9 * WORLDS.len(), "{cells}");
}

#[test]
fn threads_change_nothing() {
    assert_eq!(simulate(20, 1), simulate(20, 3));
}

#[test]
fn whoever_waits_can_stop_it() {
    let options = Options { studies: 40, seed: SEED, short: true };
    assert_eq!(calibrate(options, &|part| part < 0.1), None);
}
