//! `bakeoff stat` beside its peers on two files of a million numbers, timed by `bakeoff compare` itself, in randomised
//! blocks: `cargo bench -p bakeoff --bench peers`. What cannot be installed is skipped, and said so. `BLOCKS` changes
//! the number of blocks, `NUMBERS` that of the numbers.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it ends where something is not as it should be")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SEED: u64 = 178;

/// A number from the environment, or the usual one.
fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// SplitMix64 (Steele, Lea & Flood 2014), as a fraction of 1.
fn fraction(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Two samples, as columns and as Go writes them; the second is a tenth of a percent more.
fn write_samples(folder: &Path, numbers: usize) {
    let mut state = SEED;
    for (name, factor) in [("a", 1.0), ("b", 1.001)] {
        let mut columns = std::io::BufWriter::new(fs::File::create(folder.join(name)).unwrap());
        let mut go = std::io::BufWriter::new(fs::File::create(folder.join(format!("{name}.txt"))).unwrap());
        for _ in 0..numbers {
            // Skewed to the right, as times are.
            let value = 1e6 * factor * (1.0 + 0.02 * fraction(&mut state) - 0.01 * fraction(&mut state).ln());
            writeln!(columns, "{value:.3}").unwrap();
            writeln!(go, "BenchmarkX 1 {value:.3} ns/op").unwrap();
        }
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// ministat, installed if it is not there and we may.
fn ministat() -> Option<String> {
    let there = || succeeds(Command::new("sh").args(["-c", "command -v ministat"]));
    let installs = || succeeds(Command::new("sh").args(["-c", "apt-get update && apt-get install -y ministat"]));
    if there() || (installs() && there()) {
        return Some("ministat".to_owned());
    }
    println!("skipped: ministat is not installed, and `apt-get install ministat` fails");
    None
}

/// benchstat, built in the folder if it is not there.
fn benchstat(folder: &Path) -> Option<String> {
    if succeeds(Command::new("sh").args(["-c", "command -v benchstat"])) {
        return Some("benchstat".to_owned());
    }
    let mut go = Command::new("go");
    go.args(["install", "golang.org/x/perf/cmd/benchstat@latest"]).env("GOBIN", folder).env("GOFLAGS", "-modcacherw");
    if succeeds(&mut go) {
        return Some(folder.join("benchstat").display().to_string());
    }
    println!("skipped: benchstat is not installed, and `go install` of it fails");
    None
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let (blocks, numbers) = (setting("BLOCKS", 12), setting("NUMBERS", 1_000_000));
    println!("two files of {numbers} numbers, seed {SEED}; {blocks} blocks");
    write_samples(folder.path(), numbers);
    let bakeoff = PathBuf::from(env!("CARGO_BIN_EXE_bakeoff"));
    let bakeoff = bakeoff.display();
    let compare = |title: &str, commands: &[(String, String)]| {
        if commands.len() < 2 {
            return;
        }
        println!("\n== {title}");
        let mut compare = Command::new(bakeoff.to_string());
        compare.args(["compare", "--blocks", &blocks.to_string(), "--seed", &SEED.to_string()]);
        compare.args(["--metric", "wall", "--metric", "cpu", "--metric", "maxrss"]);
        compare.args(commands.iter().flat_map(|(name, _)| ["--name", name]));
        compare.args(commands.iter().map(|(_, command)| command));
        let status = compare.current_dir(folder.path()).stdin(Stdio::null()).status().unwrap();
        assert!(status.success(), "{title}: {status}");
    };
    let named = |name: &str, command: String| (name.to_owned(), command);
    let verdicts = named("stat", format!("{bakeoff} stat a b"));
    let legacy = named("stat --ministat", format!("{bakeoff} stat --ministat=legacy a b"));
    let go = named("stat of Go's format", format!("{bakeoff} stat a.txt b.txt"));
    let ministat = ministat().map(|program| named("ministat", format!("{program} a b")));
    let benchstat = benchstat(folder.path()).map(|program| named("benchstat", format!("{program} a.txt b.txt")));
    let with = |peer: &Option<(String, String)>, ours: Vec<(String, String)>| -> Vec<(String, String)> {
        if peer.is_some() { peer.iter().cloned().chain(ours).collect() } else { vec![] }
    };
    compare("columns of numbers, beside ministat", &with(&ministat, vec![verdicts.clone(), legacy]));
    compare("the same numbers, beside benchstat", &with(&benchstat, vec![verdicts, go]));
}
