//! A study and a Slurm for it. Its nodes share this host but not Bakeoff's lock of it, so that their shards run side
//! by side; and what is seen of both. It plants no fault that is not asked for.

#![allow(unreachable_pub, reason = "tests of several files use it")]

use crate::common::processes::LOOKS;
use crate::common::{Sandbox, Shown, each_trial_once};
use crate::features::cluster_rig::{PARTITION, Rig};
use bakeoff_model::record::{Outcome, Record};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// The daemons of a rig: whatever else it has, a job has left.
const DAEMONS: [&str; 4] = ["munged", "slurmctld", "slurmscriptd", "slurmd"];

/// Where the system's programs are.
const SYSTEM: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A study and a cluster.
pub(super) struct Lab {
    pub(super) rig: Rig,
    pub(super) sandbox: Sandbox,
}

impl Lab {
    /// Starts a cluster of three nodes, which `machines.toml` calls `lab`; none if there is no Slurm, which is said.
    pub(super) fn start(study: &str) -> Option<Self> {
        let rig = Rig::start(3)?;
        let sandbox = Sandbox::within(rig.path(), study);
        let lab = Self { rig, sandbox };
        for folder in ["home/.config/bakeoff", "tmp", "programs"] {
            fs::create_dir_all(lab.path(folder)).unwrap();
        }
        lab.machines("", "");
        Some(lab)
    }

    /// Writes the user's `machines.toml`, with more settings for Slurm and for the section.
    pub(super) fn machines(&self, slurm: &str, section: &str) {
        self.machines_with_setup(slurm, section, &[]);
    }

    /// The same, with more lines of shell for the nodes.
    pub(super) fn machines_with_setup(&self, slurm: &str, section: &str, setup: &[&str]) {
        let folder = self.sandbox.path().display();
        let partition =
            if slurm.contains("partition") { String::new() } else { format!("partition = \"{PARTITION}\"") };
        let nodes = if section.contains("nodes") { "" } else { "nodes = 3" };
        let locks = format!("export BAKEOFF_LOCKS={folder}/nodes/$SLURMD_NODENAME");
        let others = format!("export BAKEOFF_STATE={folder}/state TMPDIR={folder}/tmp");
        let own = [&*locks, "mkdir -p $BAKEOFF_LOCKS", &*others];
        let setup: Vec<String> = own.iter().chain(setup).map(|line| format!("'''{line}'''")).collect();
        let settings = [&*partition, slurm].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
        let text = format!(
            "[lab]\nslurm = {{ {settings} }}\n{nodes}\nfolder = \"{folder}/shared\"\nsetup = [{}]\n{section}\n",
            setup.join(", ")
        );
        fs::write(self.path("home/.config/bakeoff/machines.toml"), text).unwrap();
    }

    /// `bakeoff` with these words, where Slurm's commands work; `STUDY` stands for the study's folder.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let typed = self.sandbox.command(words);
        let mut command = Command::new(program());
        command.args(typed.get_args()).current_dir(self.sandbox.path());
        typed
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)))
            .for_each(|(name, value)| _ = command.env(name, value));
        command.env_remove("COLUMNS");
        // Folders of programs are watched, and those of the user's own may change during a test.
        command.env("PATH", format!("{}:{SYSTEM}", self.path("programs").display()));
        command.env("SLURM_CONF", self.rig.conf()).env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env_remove("XDG_CONFIG_HOME");
        command
    }

    pub(super) fn execute(&self, words: &[&str]) -> Shown {
        Shown::of(&self.command(words).output().unwrap())
    }

    /// Starts `run STUDY --on lab` with more words, and goes on without it.
    pub(super) fn begin(&self, name: &str, words: &[&str]) -> Coordinator {
        let shown = self.path(&format!("shown.{name}"));
        let file = File::create(&shown).unwrap();
        let mut command = self.command(&[&["run", "STUDY", "--on", "lab"], words].concat());
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        Coordinator { child: command.spawn().unwrap(), shown }
    }

    /// A path in the sandbox.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.sandbox.path().join(name)
    }

    /// Puts a program in front of one of Slurm's commands: shell, in which `real` is that command, with all of its words.
    /// `tests` says whether this is a call that submits nothing.
    pub(super) fn wrap(&self, name: &str, text: &str) {
        let real = Command::new("sh").args(["-c", "command -v \"$1\"", "sh", name]).output().unwrap();
        let real = String::from_utf8(real.stdout).unwrap();
        let folder = self.sandbox.path().display();
        let head = format!(
            "#!/bin/sh\nhere={folder}\nreal() {{ {} \"$@\"; }}\nis_test() {{ case \" $* \" in *\" --test-only \"*) ;; *) false;; esac; }}\n",
            real.trim()
        );
        let path = self.path("programs").join(name);
        fs::write(&path, head + text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Notes each submission in a file; see [`Self::submissions`].
    pub(super) fn count_submissions(&self) {
        self.wrap("sbatch", "is_test \"$@\" || echo \"$*\" >> $here/submissions\nreal \"$@\"\n");
    }

    /// The words of each call of sbatch that was to submit something.
    pub(super) fn submissions(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("submissions")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The folder of the run; there is one.
    pub(super) fn run(&self) -> PathBuf {
        let mut runs: Vec<PathBuf> = entries(&self.path("shared/runs"));
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    /// The numbers of shards that are done.
    pub(super) fn done(&self) -> usize {
        let runs = entries(&self.path("shared/runs"));
        let shards = runs.iter().flat_map(|run| entries(&run.join("shards")));
        shards.filter(|shard| shard.join("done").exists()).count()
    }

    /// Trials that all attempts have noted so far.
    pub(super) fn trials(&self) -> usize {
        let runs = entries(&self.path("shared/runs"));
        let attempts = runs.iter().flat_map(|run| entries(&run.join("shards"))).flat_map(|shard| entries(&shard));
        let read = attempts.filter_map(|attempt| bakeoff_journal::read(&attempt.join("journal.jsonl")).ok());
        read.map(|contents| contents.record.trials.len()).sum()
    }

    /// The study's record; fails unless each of its trials is in it once, and none of them failed.
    #[track_caller]
    pub(super) fn complete(&self, trials: usize) -> Record {
        let record = self.sandbox.record();
        each_trial_once(&record, trials);
        let bad: Vec<_> = record.trials.iter().filter(|trial| trial.outcome != Outcome::Ok).collect();
        assert!(bad.is_empty(), "{bad:#?}");
        record
    }

    /// Fails unless everything that jobs have started ends, and the queue is empty.
    #[track_caller]
    pub(super) fn nothing_stays(&self) {
        self.rig.until("the queue is empty", || self.rig.say("squeue", &["-h"]).is_empty());
        let is_over = (0..LOOKS).any(|_| self.left().is_empty());
        assert!(is_over, "only daemons should be left, and these are: {:#?}", self.left());
    }

    fn left(&self) -> Vec<String> {
        let read = |pid: u32, name: &str| {
            let bytes = fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            String::from_utf8_lossy(&bytes).replace('\0', " ").trim_end().to_owned()
        };
        let is_job = |pid: &u32| !DAEMONS.contains(&&*read(*pid, "comm"));
        let left = self.rig.processes().into_iter().filter(is_job);
        left.map(|pid| format!("{pid} {} {}", read(pid, "comm"), read(pid, "cmdline"))).collect()
    }
}

/// A command that waits for other machines.
pub(super) struct Coordinator {
    pub(super) child: Child,
    shown: PathBuf,
}

impl Coordinator {
    /// What it has printed so far.
    pub(super) fn shown(&self) -> String {
        fs::read_to_string(&self.shown).unwrap()
    }

    /// Kills it and waits for its end.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it ends, by itself or by a signal, whose exit code is -1.
    pub(super) fn ended(mut self) -> Shown {
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Shown { code, out: self.shown(), err: String::new() }
    }
}

/// The program without what debuggers need of it: each run copies it, and it is five times as large with that.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let (whole, folder) = (PathBuf::from(env!("CARGO_BIN_EXE_bakeoff")), Path::new(env!("CARGO_TARGET_TMPDIR")));
        let (part, small) = (folder.join(format!("bakeoff.{}", std::process::id())), folder.join("bakeoff"));
        let stripped = Command::new("strip").arg("-o").arg(&part).arg(&whole).status();
        if !stripped.is_ok_and(|status| status.success()) {
            return whole;
        }
        fs::rename(part, &small).unwrap();
        small
    })
}

/// What is in a folder; nothing if it is not there.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

/// Trials of some milliseconds, without anything to build: two variants and a twin.
pub(super) const SMALL: &str = r#"
format = 1
name = "small"
[run_factors.naps]
one = { NAPS = "1" }
two = { NAPS = "2" }
[workloads.nap]
run = 'for i in $(seq $NAPS); do sleep 0.02; done'
[plan]
blocks = 6
[decide]
baseline = { naps = "one" }
"#;
