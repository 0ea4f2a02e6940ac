//! What marks cost the workload that writes them, and how small a program still shows to be after a large one.

use crate::common::{Extent, PATH, PROGRAM, orders};
use crate::goals::Measured;
use bakeoff_host::{Command, End, Job, JobEnded, Launcher, Options, Patience};
use bakeoff_model::metric::METRICS;
use bakeoff_stats::describe::median;
use std::path::Path;

/// How the ops are written, and the goal for the pipe beside `/dev/null`.
const WAYS: [(&str, &str); 2] = [("buffered", "through a buffer of 64 KiB"), ("each", "each line by a write(2)")];

pub(crate) fn compare(extent: &Extent, folder: &Path, c: &Path) {
    let mut launcher = Launcher::start(None).unwrap();
    for (how, name) in WAYS {
        let [null, pipe, silent] = ["/dev/null", "$BAKEOFF_MARKS", "no marks at all"];
        let contestants = [(null, how, false), (pipe, how, true), (silent, "silent", false)];
        let mut walls = Measured::new(&format!("{} ops, marked {name}", extent.ops), [null, pipe, silent].into_iter());
        let mut worst_lost = 0;
        for order in orders(extent.blocks, contestants.len(), how) {
            for at in order {
                let (contestant, how, marks) = contestants[at];
                let words = [c.to_str().unwrap(), "ops", &extent.ops.to_string(), how];
                let ended = execute(&mut launcher, &Job { marks, ..job(folder, &words) });
                walls.push(contestant, ended.measurements["wall"]);
                if marks {
                    let lines = ended.marks.iter().flatten().flat_map(|chunk| &chunk.bytes);
                    let arrived = lines.filter(|&&byte| byte == b'\n').count() as u64;
                    worst_lost = worst_lost.max(u64::from(extent.ops) - arrived);
                }
            }
        }
        let judged = walls.judge(null, Some(&[pipe, silent]));
        judged.print();
        println!("\nThe goals:");
        judged.goal(pipe, [0.0, 1.05]);
        println!("marks that did not arrive: {worst_lost} of {} at worst", extent.ops);
    }
}

/// `/bin/true` after a program of 1 GiB, on the same launcher.
pub(crate) fn peak(folder: &Path, c: &Path) {
    let all: Vec<&str> = METRICS.iter().map(|metric| &*metric.name).collect();
    let mut launcher = Launcher::start_with(&Options { watched: Some(&all), ..Options::default() }).unwrap();
    let bytes = (1_u64 << 30).to_string();
    let mut told = |words: &[&str], metric: &str| -> Option<f64> {
        execute(&mut launcher, &job(folder, words)).measurements.get(metric).map(|bytes| bytes / f64::from(1 << 20))
    };
    println!("\nPeak memory, median of five:");
    for metric in ["maxrss", "cgroup_peak"] {
        let mut large = vec![];
        let mut small = vec![];
        for _ in 0..5 {
            large.extend(told(&[c.to_str().unwrap(), "touch", &bytes], metric));
            small.extend(told(&[PROGRAM], metric));
        }
        let most = small.iter().copied().fold(0.0, f64::max);
        let Some((large, small)) = median(&large).zip(median(&small)) else {
            println!("{metric}: not measured here");
            continue;
        };
        println!("{metric}: {large:.2} MiB, then {PROGRAM}: {small:.2} MiB, at most {most:.2}; goal ≤ 1.4");
    }
}

fn job(folder: &Path, words: &[&str]) -> Job {
    let command = Command {
        argv: words.iter().map(ToString::to_string).collect(),
        dir: folder.to_owned(),
        env: [("PATH".to_owned(), PATH.to_owned())].into(),
        stdin: None,
        stdout: "/dev/null".into(),
        stderr: "/dev/null".into(),
    };
    Job { commands: vec![command.into()], ..Job::default() }
}

fn execute(launcher: &mut Launcher, job: &Job) -> JobEnded {
    launcher.launch(job).unwrap();
    let ended = launcher.wait(Patience::SecondInterrupt).unwrap();
    assert_eq!(ended.processes[0].end, End::Exited(0), "{ended:?}");
    ended
}
