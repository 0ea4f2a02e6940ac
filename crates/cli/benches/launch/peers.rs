//! The peers: hyperfine and megafine from their registry, and perf of this system.

use crate::common::{PROGRAM, Spent, bare, elapsed_s};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Its own default is to throw away what is printed.
pub(crate) const HYPERFINE: &str = "hyperfine -N";

type Peer<'a> = (&'static str, Box<dyn FnMut() -> Spent + 'a>);

pub(crate) fn all<'a>(folder: &Path, executions: u32) -> Vec<Peer<'a>> {
    let mut peers: Vec<Peer<'a>> = vec![];
    if let Some(program) = installed("hyperfine", "1.20.0") {
        let json = folder.join("hyperfine.json");
        peers.push((HYPERFINE, Box::new(move || hyperfine(&program, &json, executions))));
    }
    if let Some(program) = installed("megafine", "0.2.0") {
        let out = folder.join("megafine.out");
        peers.push(("megafine -j1", Box::new(move || megafine(&program, &out, executions))));
    }
    let stat = move || {
        let mut command = Command::new("perf");
        bare(&mut command).args(["stat", "-r", &executions.to_string(), PROGRAM]);
        command
    };
    match stat().output() {
        Ok(output) if output.status.success() => {
            let spent = move || Spent { each_s: elapsed_s(&mut stat()) / f64::from(executions), median_s: None };
            peers.push(("perf stat -r", Box::new(spent)));
        }
        Ok(output) => println!("skipped: perf: {}", String::from_utf8_lossy(&output.stderr).trim()),
        Err(error) => println!("skipped: perf: {error}; Debian has it in linux-perf"),
    }
    peers
}

/// A program of crates.io, in a version that our compiler can build, installed beside what cargo builds; none, with a word, if that cannot be done.
fn installed(name: &str, version: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_BIN_EXE_bakeoff")).ancestors().nth(2).unwrap();
    let (root, cargo) = (target.join("peers"), std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    let program = root.join("bin").join(name);
    let told = || {
        let output = Command::new(&program).arg("--version").output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if told().is_none() {
        println!("installing {name} from crates.io …");
        let mut install = Command::new(cargo);
        install.args(["install", "--quiet", "--locked", &format!("{name}@{version}"), "--root"]).arg(&root);
        let _ = install.status();
    }
    let Some(told) = told() else {
        println!("skipped: {name}: `cargo install {name}@{version} --locked` fails");
        return None;
    };
    println!("{told}");
    Some(program)
}

fn hyperfine(program: &Path, json: &Path, executions: u32) -> Spent {
    let mut command = Command::new(program);
    bare(&mut command).args(["-N", "--style", "none", "--runs", &executions.to_string(), "--export-json"]);
    let each_s = elapsed_s(command.arg(json).arg(PROGRAM)) / f64::from(executions);
    let told: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    // The key is hyperfine's.
    let median_s = told[concat!("res", "ults")][0]["median"].as_f64();
    assert!(median_s.is_some(), "{told}");
    Spent { each_s, median_s }
}

/// It has no format for machines. `Time (median ± σ):  895.549 µs ± …`
fn megafine(program: &Path, out: &Path, executions: u32) -> Spent {
    let mut command = Command::new("sh");
    // As elapsed_s throws away what a command prints, the shell keeps it.
    bare(&mut command).args(["-c", r#"exec "$@" > "$0""#]).arg(out).arg(program);
    command.args([
        "-j1",
        "--no-calibrate",
        "--estimator",
        "median",
        "-u",
        "us",
        "-r",
        &executions.to_string(),
        PROGRAM,
    ]);
    let each_s = elapsed_s(&mut command) / f64::from(executions);
    let told = std::fs::read_to_string(out).unwrap();
    let median = told.lines().find_map(|line| line.trim().strip_prefix("Time (median")?.split_once(':'));
    let median_us: Option<f64> = median.and_then(|(_, values)| values.split_whitespace().next()?.parse().ok());
    assert!(median_us.is_some(), "{told}");
    Spent { each_s, median_s: median_us.map(|us| us / 1e6) }
}
