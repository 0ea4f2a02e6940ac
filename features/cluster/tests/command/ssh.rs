//! Runs on machines behind ssh, end to end: connections that are cut, a command that is killed, machines that cannot be used.
//! The machines are real sshd on loopback.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

#[path = "../rig/sshd.rs"]
mod sshd;

use crate::common::processes::{LOOKS, alive_in, nothing_stays_in, signal};
use crate::common::{SMALL, Sandbox, Shown, small};
use serde_json::Value;
use sshd::{NAMES, Rig};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const MACHINES: &str = r#"
[boxes]
ssh = ["one", "two"]
setup = ["cd ~ && echo ready >> was-set-up && cd - > /dev/null"]
[closed]
ssh = ["one", "closed"]
[locked]
ssh = ["one-locked"]
"#;

fn execute(rig: &Rig, sandbox: &Sandbox, words: &[&str]) -> Shown {
    Shown::of(&rig.reaches(&mut sandbox.command_as_typed(words)).output().unwrap())
}

/// The folders of a study's shards here, by run.
fn shards_here(sandbox: &Sandbox) -> Vec<PathBuf> {
    let runs =
        fs::read_dir(sandbox.study().join(".bakeoff/away")).unwrap().map(|run| run.unwrap().path().join("shards"));
    runs.filter(|folder| folder.is_dir()).collect()
}

/// The names in a folder that are numbers.
fn numbers(folder: &Path) -> BTreeSet<u32> {
    let names = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).collect()
}

/// Fails unless every shard was started once, on one machine, and its files here are those over there. Returns how many there are.
fn each_shard_once(rig: &Rig, sandbox: &Sandbox) -> usize {
    let mut shards = 0;
    for here in shards_here(sandbox) {
        let run = here.parent().unwrap().file_name().unwrap().to_owned();
        for shard in numbers(&here) {
            shards += 1;
            let name = NAMES[shard as usize % NAMES.len()];
            let runs = |name: &str| rig.home(name).join(".cache/bakeoff/runs").join(&run).join("shards");
            let there = runs(name).join(shard.to_string());
            let attempts = numbers(&there);
            assert_eq!(attempts, BTreeSet::from([0]), "starts of shard {shard} on {name}");
            let elsewhere =
                NAMES.iter().filter(|other| **other != name).find(|other| numbers(&runs(other)).contains(&shard));
            assert_eq!(elsewhere, None, "shard {shard} is of {name}");
            for file in ["done", "0/journal.jsonl", "0/log"] {
                let read = |folder: &Path| fs::read(folder.join(file)).unwrap();
                assert!(
                    read(&there) == read(&here.join(shard.to_string())),
                    "{file} of shard {shard} is another one here"
                );
            }
        }
    }
    shards
}

#[test]
fn connections_that_are_cut_change_nothing() {
    let seed = std::env::var("BAKEOFF_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(54);
    let Some(rig) = Rig::start(seed) else { return };
    // The program is large, and gets there once for all runs.
    let first = Sandbox::new(&SMALL.replace("expect = \"hello.out\"", ""));
    first.write("machines.toml", MACHINES);
    rig.cut(4, 100_000..20_000_000);
    execute(&rig, &first, &["run", "STUDY", "--on", "boxes", "--quiet", "--blocks", "2"]).expect(0, &[]);
    assert_eq!((each_shard_once(&rig, &first), rig.cuts()), (2, 4));
    let set_up = NAMES.map(|name| fs::read_to_string(rig.home(name).join("was-set-up")).unwrap());
    assert_eq!(set_up.map(|text| text.lines().count()), [2, 2], "the builds and a shard on each");

    let second = small();
    second.write("machines.toml", MACHINES);
    let (mut blocks, mut shards) = (8, 2);
    loop {
        // Some connections end before they have had so many bytes.
        rig.cut(20 - rig.cuts(), 2_000..80_000);
        let count = blocks.to_string();
        execute(&rig, &second, &["run", "STUDY", "--on", "boxes", "--quiet", "--blocks", &count]).expect(0, &[]);
        assert_eq!(each_shard_once(&rig, &second), shards);
        let record = second.record();
        assert_eq!((record.away.len(), record.trials.len(), record.run_again.len()), (blocks, blocks * 3, 0));
        if rig.cuts() == 20 {
            break;
        }
        // The others are cut in a run that gets more blocks.
        assert!(blocks < 80, "{:?}", rig.cutter);
        (blocks, shards) = (blocks + 8, shards + 2);
    }
    println!("cuts {}, blocks {blocks}", rig.cuts());
    let again = execute(&rig, &second, &["run", "STUDY", "--on", "boxes", "--blocks", &blocks.to_string()]);
    again.expect(0, &["echo=twice"]);
    assert_eq!(each_shard_once(&rig, &second), shards, "a command that has nothing to do starts nothing");
    for name in NAMES {
        let programs = fs::read_dir(rig.home(name).join(".cache/bakeoff/programs")).unwrap();
        let whole = programs.filter(|file| !file.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
        assert_eq!(whole.count(), 1, "programs on {name}");
    }
    nothing_stays_in(rig.path());
}

#[test]
fn shards_outlive_their_command_and_are_ended_by_another() {
    let Some(rig) = Rig::start(1) else { return };
    let study = SMALL.replace("expect = \"hello.out\"", "").replace("'\"$PREFIX/bin/hello\"'", "'sleep 1000'");
    let sandbox = Sandbox::new(&study);
    sandbox.write("machines.toml", MACHINES);
    let mut command = sandbox.command_as_typed(&["run", "STUDY", "--on", "boxes", "--quiet"]);
    let mut command = rig.reaches(&mut command).stdout(Stdio::null()).spawn().unwrap();
    let trials = || alive_in(rig.path()).iter().filter(|process| process.ends_with(" sleep 1000 ")).count();
    assert!((0..LOOKS).any(|_| trials() == 2), "{:#?}", alive_in(rig.path()));
    signal("-KILL", command.id());
    command.wait().unwrap();
    let states = || {
        let shown = execute(&rig, &sandbox, &["jobs", "STUDY", "--json"]);
        let jobs = serde_json::from_str::<Value>(&shown.out).unwrap()[0]["jobs"].as_array().unwrap().clone();
        let name = |job: &Value| job["node"].as_str().unwrap().to_owned();
        jobs.iter().filter(|job| job["state"] == "running").map(name).collect::<Vec<_>>()
    };
    assert_eq!(states(), NAMES);
    let shown = execute(&rig, &sandbox, &["jobs", "STUDY", "--cancel"]);
    shown.expect(0, &["0 of 4 passes are kept"]);
    assert_eq!((states().len(), trials()), (0, 0));
    for (shard, name) in NAMES.iter().enumerate() {
        let runs = rig.home(name).join(".cache/bakeoff/runs");
        let run = fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
        assert_eq!(numbers(&run.join("shards").join(shard.to_string())), BTreeSet::from([0]));
    }
    nothing_stays_in(rig.path());
}

#[test]
fn machines_that_cannot_be_used_are_refused_with_a_reason() {
    let Some(rig) = Rig::start(2) else { return };
    let sandbox = small();
    sandbox.write("machines.toml", MACHINES);
    let shown = execute(&rig, &sandbox, &["run", "STUDY", "--on", "closed"]);
    shown.expect(
        2,
        &["error: cannot reach closed: ssh: connect to host 127.0.0.1 port", "Connection refused", "hint: "],
    );
    let shown = execute(&rig, &sandbox, &["run", "STUDY", "--on", "locked"]);
    shown.expect(2, &["error: cannot reach one-locked: nobody@127.0.0.1: Permission denied", "hint: "]);
    // Bakeoff's folder there is a file.
    fs::write(rig.home("two").join(".cache"), "").unwrap();
    let shown = execute(&rig, &sandbox, &["run", "STUDY", "--on", "boxes"]);
    shown.expect(2, &["error: two: mkdir: cannot create directory"]);
    nothing_stays_in(rig.path());
}

#[test]
fn what_a_failed_setup_printed_is_shown_with_its_log() {
    let Some(rig) = Rig::start(3) else { return };
    let sandbox = small();
    sandbox.write("machines.toml", "[boxes]\nssh = [\"one\"]\nsetup = [\"echo no licence >&2; exit 3\"]\n");
    let shown = execute(&rig, &sandbox, &["run", "STUDY", "--on", "boxes", "--quiet"]);
    shown.expect(2, &["the builds ended 4 times without a result: no licence", "shards/build/log"]);
    nothing_stays_in(rig.path());
}

#[test]
fn a_machine_that_is_away_does_not_hide_what_others_have_done() {
    let Some(rig) = Rig::start(4) else { return };
    let sandbox = small();
    sandbox.write("machines.toml", MACHINES);
    let run = |blocks: &str| execute(&rig, &sandbox, &["run", "STUDY", "--on", "boxes", "--quiet", "--blocks", blocks]);
    run("2").expect(0, &[]);
    // As if the command had been killed before the second shard was here, and before it collected.
    fs::remove_file(sandbox.journal()).unwrap();
    fs::remove_dir_all(shards_here(&sandbox)[0].join("1")).unwrap();
    let (folder, moved) = (rig.home("two").join(".cache"), rig.home("two").join("moved"));
    fs::rename(&folder, &moved).unwrap();
    fs::write(&folder, "").unwrap();
    run("2").expect(2, &["error: two: mkdir: cannot create directory"]);
    assert_eq!(sandbox.record().away.len(), 1);
    fs::remove_file(&folder).unwrap();
    fs::rename(moved, folder).unwrap();
    run("2").expect(0, &[]);
    assert_eq!((sandbox.record().away.len(), each_shard_once(&rig, &sandbox)), (2, 2));
    nothing_stays_in(rig.path());
}
