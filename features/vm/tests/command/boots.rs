//! Machines that are really booted: two of Debian's kernels, which `tools/kernels` fetches, and a root of busybox. They
//! are emulated, whatever this host can do, so that every host counts the same instructions.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::processes::{LOOKS, alive_in, nothing_stays_in, signal};
use crate::common::{Sandbox, each_trial_once};
use bakeoff_model::metric::Clock;
use bakeoff_model::record::{Failure, Outcome, Record, TWIN, Trial};
use bakeoff_model::shuffle::Stream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

/// A root that has busybox, under the names that a shell needs.
const ROOT: &str = r#"
mkdir -p root/bin "$PREFIX/boot"
cp /bin/busybox root/bin/busybox
ln -s busybox root/bin/sh
(cd root && find . | sort | busybox cpio -o -H newc 2> log | gzip -n > "$PREFIX/boot/root.gz")
"#;

/// The kernels' folder; none if something is missing, which is said.
fn kernels() -> Option<PathBuf> {
    let named = std::env::var_os("BAKEOFF_KERNELS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/kernels"));
    let folder = folder.canonicalize().unwrap_or(folder);
    let on_path = |name: &str| {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
    };
    let missing = [
        (!on_path("qemu-system-x86_64"), "qemu-system-x86 is not installed"),
        (!Path::new("/bin/busybox").exists(), "busybox-static is not installed"),
        (!folder.join("vmlinuz-6.1").exists(), "no kernel 6.1; sh tools/kernels fetches it"),
        (!folder.join("vmlinuz-6.12").exists(), "no kernel 6.12; sh tools/kernels fetches it"),
    ];
    for (_, what) in missing.iter().filter(|(missing, _)| *missing) {
        println!("skipped: {what}");
    }
    missing.iter().all(|(missing, _)| !missing).then_some(folder)
}

/// A study that boots; `more` are its workloads, plan and decision, and further factors. A program that is compiled for tests is
/// ten times as large as a released one, and stays in the guest's memory.
fn study(kernels: &Path, vm: &str, more: &str) -> Sandbox {
    let kernels = kernels.display();
    Sandbox::new(&format!(
        "format = 1\nname = \"boots\"\n\
         [build_factors.linux]\n\
         old = {{ LINUX = \"6.1\", kernel = \"boot/vmlinuz\" }}\n\
         new = {{ LINUX = \"6.12\", kernel = \"boot/vmlinuz\" }}\n\
         [sources.kernels]\npath = \"{kernels}\"\n\
         [[build]]\nname = \"root\"\nscript = '''{ROOT}'''\n\
         [[build]]\nname = \"kernel\"\nsource = \"kernels\"\nscript = 'cp vmlinuz-$LINUX \"$PREFIX/boot/vmlinuz\"'\n\
         [vm]\nroot = \"boot/root.gz\"\naccelerator = \"tcg\"\nmemory = \"1GiB\"\n{vm}\n{more}"
    ))
}

const WORK: &str = r#"
[workloads.count]
run = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; echo $i'
[workloads.fork]
run = 'i=0; while [ $i -lt 20 ]; do busybox true; i=$((i+1)); done; cat words'
files = ["words"]
expect = "words"
[decide]
baseline = { linux = "old" }
metrics = ["wall", "cpu", "guest_instructions", "minflt"]
"#;

fn of<'a>(record: &'a Record, variant: &str) -> Vec<&'a Trial> {
    record.trials.iter().filter(|trial| trial.variant == variant).collect()
}

#[test]
fn kernels_are_compared_in_guest_instructions_and_equal_boots_are_equal() {
    let Some(kernels) = kernels() else { return };
    let sandbox = study(&kernels, "", &format!("{WORK}[plan]\nblocks = 2\nseed = 178\n"));
    sandbox.write("words", "some words\n");
    let shown = sandbox.execute(&["run", "STUDY", "--quiet"]);
    shown.expect(0, &["guest instructions", "emulated", "M instr."]);
    // The doubt says that these are no seconds.
    assert!(!shown.out.replace("guest instructions, not\n  seconds", "").contains("seconds"), "{}", shown.out);
    let record = sandbox.record();
    assert_eq!(record.study.clock, Clock::GuestInstructions);
    each_trial_once(&record, 2 * 2 * 3);
    assert!(record.trials.iter().all(|trial| trial.outcome == Outcome::Ok), "{:#?}", record.trials);
    for boot in &record.boots {
        let place = boot.place.as_ref().unwrap();
        let release = if boot.variant == "linux=new" { "6.12" } else { "6.1." };
        assert!(place.kernel.starts_with(release), "{}: {}", boot.variant, place.kernel);
    }
    let trial = &record.trials[0];
    let [wall, counted] = ["wall", "guest_instructions"].map(|name| trial.value(name).unwrap());
    assert!((wall * 1e9 - counted).abs() < 1.0, "{wall} {counted}");
    assert_eq!((trial.value("user"), trial.value("sys")), (None, None), "Debian's kernels sample them");
    assert!(trial.value("cpu").is_some_and(|cpu| cpu > 0.0 && cpu <= wall), "their sum is exact: {trial:?}");

    // The same again: to the bit.
    std::fs::remove_dir_all(sandbox.study().join(".bakeoff")).unwrap();
    sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "1"]).expect(0, &[]);
    for trial in &sandbox.record().trials {
        let is_same = |other: &&Trial| {
            (&other.variant, &other.workload, other.block) == (&trial.variant, &trial.workload, trial.block)
        };
        let first = record.trials.iter().find(is_same).unwrap();
        assert_eq!(trial.measurements, first.measurements, "{} on {}", trial.variant, trial.workload);
    }
    let [first, second] = [0, 1].map(|pass| of(&record, "baseline")[2 * pass].value("wall").unwrap());
    assert_ne!(first.to_bits(), second.to_bits(), "another boot is another sample");
}

#[test]
fn whatever_a_boot_dies_of_is_named_and_the_others_count() {
    let Some(kernels) = kernels() else { return };
    let planted = r#"
[run_factors.do]
good = { DO = 'echo done' }
panic = { DO = 'echo c > /proc/sysrq-trigger' }
spin = { DO = 'while :; do :; done' }
off = { DO = 'echo o > /proc/sysrq-trigger; busybox sleep 60' }
fail = { DO = 'exit 3' }
agent = { DO = 'echo i > /proc/sysrq-trigger; busybox sleep 60' }
[workloads.work]
run = 'eval "$DO"'
output = "varies"
[plan]
blocks = 1
variants = "one-at-a-time"
[decide]
baseline = { linux = "old", do = "good" }
metrics = ["wall"]
"#;
    let sandbox = study(&kernels, "boot_limit = \"40 s\"", planted);
    let shown = sandbox.execute(&["run", "STUDY", "--quiet"]);
    shown.expect(4, &[]);
    let record = sandbox.record();
    each_trial_once(&record, 8);
    for good in ["baseline", "linux=new", TWIN] {
        assert_eq!(of(&record, good)[0].outcome, Outcome::Ok, "{good}");
    }
    let why = |variant: &str| match &of(&record, variant)[0].outcome {
        Outcome::Failed(Failure::Surroundings { part, why, tail }) if part == "boot" => (why.clone(), tail.join("\n")),
        other => panic!("{variant}: {other:?}"),
    };
    let (panic, console) = why("do=panic");
    assert!(panic.contains("the kernel panicked"), "{panic}");
    assert!(console.contains("sysrq"), "{console}");
    assert!(why("do=spin").0.contains("hung"), "{:?}", why("do=spin"));
    assert!(why("do=off").0.contains("switched off or reset"), "{:?}", why("do=off"));
    assert!(why("do=agent").0.contains("the agent was killed by signal 9"), "{:?}", why("do=agent"));
    assert!(matches!(of(&record, "do=fail")[0].outcome, Outcome::Failed(Failure::Exit { code: 3, .. })));
    assert!(alive_in(sandbox.path()).is_empty());
}

#[test]
fn an_image_that_is_none_is_named() {
    let Some(kernels) = kernels() else { return };
    let sandbox = study(&kernels, "", &format!("{WORK}[plan]\nblocks = 1\n"));
    sandbox.write("words", "some words\n");
    let text = std::fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    let broken = text.replacen("kernel = \"boot/vmlinuz\" }\nnew", "kernel = \"boot/root.gz\" }\nnew", 1);
    assert_ne!(broken, text);
    sandbox.write("study.toml", &broken);
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(4, &[]);
    let record = sandbox.record();
    let outcome = &of(&record, "baseline")[0].outcome;
    assert!(format!("{outcome:?}").contains("qemu did not start the machine"), "{outcome:?}");
    assert!(of(&record, "linux=new").iter().all(|trial| trial.outcome == Outcome::Ok));
}

/// How often the tool is killed; `BAKEOFF_KILLS` says otherwise.
const KILLS: usize = 3;
/// After how many looks for the machine at most: a look takes a few milliseconds, a boot some seconds.
const MOST_LOOKS: u64 = 1_500;

#[test]
fn killed_in_mid_boot_only_that_boot_is_repeated_and_no_machine_is_left() {
    let Some(kernels) = kernels() else { return };
    let kills = std::env::var("BAKEOFF_KILLS").map_or(KILLS, |number| number.parse().unwrap());
    let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut stream = Stream::of(seed, &["boots"]);
    let passes = 2 + kills / 4;
    let sandbox = study(&kernels, "", &format!("{WORK}[plan]\nblocks = {passes}\n"));
    sandbox.write("words", "some words\n");
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
    let machine = || {
        let mut alive = alive_in(sandbox.path()).into_iter();
        let line = alive.find(|line| line.contains("qemu-system-x86_64 -nodefaults"))?;
        line.strip_prefix("/proc/")?.split(' ').next()?.parse::<u32>().ok()
    };
    for kill in 0..=kills {
        let mut child = sandbox.command(&["run", "STUDY"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!((0..LOOKS).any(|_| machine().is_some() || child.try_wait().unwrap().is_some()), "no machine");
        // The moment is what is varied here: the last of some looks that find the machine.
        let looks = 1 + stream.below(MOST_LOOKS);
        let Some(process) = (0..looks).map(|_| machine()).take_while(Option::is_some).last().flatten() else {
            // No machine at the first look: the study goes on, and must not be taken for one that survived a kill.
            child.kill().unwrap();
            child.wait().unwrap();
            continue;
        };
        if kill == 0 {
            // Qemu alone: a boot that has failed, and the study goes on.
            signal("-KILL", process);
            assert_eq!(child.wait().unwrap().code(), Some(4));
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        nothing_stays_in(sandbox.path());
        let trials = sandbox.trials_so_far();
        assert_eq!(trials % 2, 0, "a boot counts as a whole");
    }
    sandbox.execute(&["run", "STUDY", "--quiet"]);
    let record = sandbox.record();
    each_trial_once(&record, passes * 2 * 3);
    let killed = record.trials.iter().filter(|trial| format!("{:?}", trial.outcome).contains("signal 9")).count();
    assert!(killed <= 2, "one boot was killed: {killed}");
    assert!(alive_in(sandbox.path()).is_empty());
}
