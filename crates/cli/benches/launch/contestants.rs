//! The contestants that run `/bin/true`, and what each of them spends on it and reports of it.

use crate::common::{Extent, PROGRAM, Spent, bare, elapsed_s, orders};
use crate::goals::Measured;
use crate::ours::{Bare, Journal, Ours};
use crate::peers;
use bakeoff_stats::describe::median;
use std::path::Path;
use std::process::Command;

pub(crate) const C: &str = "C: vfork, exec, wait4";
const BARE: &str = "bakeoff's launcher, no probes";
const OURS: &str = "bakeoff, no journal";
const JOURNAL: &str = "bakeoff, journal";
const NULL: &str = "bakeoff, journal, output null";
const DURABLE: &str = "bakeoff, journal on the disk";
const PROBES: &str = "bakeoff, all probes";
const COMMAND: &str = "bakeoff compare, with its report";

type Contestant<'a> = (&'static str, Box<dyn FnMut() -> Spent + 'a>);

pub(crate) fn compare(extent: &Extent, folder: &Path, c: &Path) {
    let executions = extent.executions;
    let mut contestants: Vec<Contestant<'_>> = vec![(C, Box::new(move || c_loop(c, executions)))];
    let mut bare = Bare::new(folder, executions);
    contestants.push((BARE, Box::new(move || bare.execute())));
    for (name, journal, output, probes) in [
        (OURS, Journal::None, "compared", false),
        (JOURNAL, Journal::Written, "compared", false),
        (NULL, Journal::Written, "null", false),
        (DURABLE, Journal::Durable, "compared", false),
        (PROBES, Journal::None, "compared", true),
    ] {
        let mut ours = Ours::new(&folder.join(name), journal, output, probes, executions);
        contestants.push((name, Box::new(move || ours.execute())));
    }
    contestants.push((COMMAND, Box::new(move || command(executions))));
    contestants.extend(peers::all(folder, executions));
    let names: Vec<&str> = contestants.iter().map(|(name, _)| *name).collect();
    let measured = |what: &str| Measured::new(what, names.iter().copied());
    let (mut each, mut medians) = (measured("time spent on one execution"), measured("median reported"));
    for order in orders(extent.blocks, contestants.len(), "launch") {
        for at in order {
            let (name, execute) = &mut contestants[at];
            let spent = execute();
            each.push(name, spent.each_s);
            spent.median_s.into_iter().for_each(|median_s| medians.push(name, median_s));
        }
    }
    let (beside_c, reported) = (each.judge(C, None), medians.judge(C, None));
    beside_c.print();
    // What the journal adds, and what the counters do.
    each.judge(OURS, Some(&[JOURNAL, DURABLE, PROBES])).print();
    // Both throw away what is printed; each pair is of one block.
    let beside_hyperfine = names.contains(&peers::HYPERFINE).then(|| each.judge(peers::HYPERFINE, Some(&[NULL])));
    beside_hyperfine.iter().for_each(|judged| judged.print());
    reported.print();
    println!("\nThe goals:");
    beside_c.goal(OURS, [0.0, 1.05]);
    beside_c.goal(PROBES, [0.0, 1.15]);
    if let Some(judged) = &beside_hyperfine {
        judged.goal(NULL, [0.0, 1.05]);
    }
    reported.goal(OURS, [0.98, 1.02]);
    reported.goal(PROBES, [0.98, 1.02]);
}

/// The floor.
fn c_loop(c: &Path, executions: u32) -> Spent {
    let mut command = Command::new(c);
    let output = bare(&mut command).args(["loop", &executions.to_string(), PROGRAM]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut numbers = text.lines().map(|line| line.parse::<f64>().unwrap());
    let each_s = numbers.next().unwrap() / f64::from(executions);
    let seconds: Vec<f64> = numbers.collect();
    assert_eq!(seconds.len(), executions as usize);
    Spent { each_s, median_s: median(&seconds) }
}

/// What people type: the whole of it, up to the last line of its report.
fn command(executions: u32) -> Spent {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
    let blocks = (executions / 3).max(1);
    bare(&mut command).args(["compare", "--quiet", "--seed", "178", "--blocks", &blocks.to_string()]);
    command.args([PROGRAM, PROGRAM]);
    Spent { each_s: elapsed_s(&mut command) / f64::from(3 * blocks), median_s: None }
}
