//! A real Slurm on this host: slurmctld, munged and some slurmd, from Debian's packages, on loopback and in a folder of its
//! own, as whatever user the test is. Its faults are those of a cluster: daemons that are killed, and come back. Dropping it
//! leaves no process. It has no accounting, as many clusters have none.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "each test executable uses a part of it"
)]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How often something is looked for before a test gives up. Each look takes its time with the machine: it asks for the queue,
/// or reads `/proc`.
const LOOKS: u32 = 12_000;
/// Numbers of an array's tasks are smaller than this: small, so that tests get beyond it.
pub const MOST_NUMBERS: u32 = 20;
/// The partition's time limit, in minutes.
pub const MOST_MINUTES: u32 = 60;
/// The partition.
pub const PARTITION: &str = "lab";

/// A Slurm that runs.
pub struct Rig {
    folder: tempfile::TempDir,
    nodes: Vec<String>,
}

impl Rig {
    /// Starts one with nodes n1, n2 and so on, each of two processors, and waits until they are idle; none if something is
    /// missing, which is said.
    pub fn start(nodes: usize) -> Option<Self> {
        let missing =
            ["munged", "slurmctld", "slurmd", "sbatch", "squeue"].into_iter().find(|name| program(name).is_none());
        if let Some(missing) = missing {
            println!("skipped: {missing} is not installed; on Debian: apt-get install slurm-wlm munge");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("slurm").tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let nodes = (1..=nodes).map(|number| format!("n{number}")).collect();
        let rig = Self { folder, nodes };
        rig.prepare();
        rig.start_munge();
        rig.start_controller();
        rig.nodes.iter().for_each(|node| rig.start_node(node));
        rig.until("all nodes are idle", || {
            let states = rig.say("sinfo", &["-h", "-N", "-o", "%t"]);
            states.lines().count() == rig.nodes.len() && states.lines().all(|state| state == "idle")
        });
        Some(rig)
    }

    /// Its folder; a test may put things there.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The value of `SLURM_CONF` that leads to it.
    pub fn conf(&self) -> PathBuf {
        self.path().join("slurm.conf")
    }

    /// The names of its nodes.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// A command in its environment.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(program(name).unwrap_or_else(|| name.into()));
        command.env("SLURM_CONF", self.conf());
        command
    }

    /// What one of Slurm's commands prints; nothing if it fails, as while slurmctld is away.
    pub fn say(&self, name: &str, words: &[&str]) -> String {
        let output = self.command(name).args(words).output().unwrap();
        if output.status.success() { String::from_utf8_lossy(&output.stdout).into_owned() } else { String::new() }
    }

    /// The queue: `NAME NUMBER STATE REASON`, a line for each job or task, also of those that have ended.
    pub fn queue(&self) -> Vec<String> {
        let text = self.say("squeue", &["-h", "-r", "-t", "all", "-o", "%j %K %T %r"]);
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until something is so; fails the test if it never is.
    #[track_caller]
    pub fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        for _ in 0..LOOKS {
            if is_so() {
                return;
            }
            // A look at files alone would take no time.
            self.queue();
        }
        panic!("never: {what}\n{:#?}\n{}", self.queue(), self.log("slurmctld"));
    }

    /// The log of a daemon: `slurmctld`, `slurmd.n1`, `munged`.
    pub fn log(&self, daemon: &str) -> String {
        fs::read_to_string(self.path().join(format!("log/{daemon}.log"))).unwrap_or_default()
    }

    /// Starts slurmctld, with the state that it left.
    pub fn start_controller(&self) {
        self.daemon("slurmctld", &[OsStr::new("-f"), self.conf().as_os_str()]);
    }

    /// Kills slurmctld, as when its host fails: it writes nothing more.
    pub fn kill_controller(&self) {
        self.kill_by_file("slurmctld");
    }

    /// Starts the slurmd of a node.
    pub fn start_node(&self, node: &str) {
        self.daemon("slurmd", &[OsStr::new("-N"), OsStr::new(node), OsStr::new("-f"), self.conf().as_os_str()]);
    }

    /// Kills a node's slurmd; its jobs go on.
    pub fn kill_node(&self, node: &str) {
        self.kill_by_file(&format!("slurmd.{node}"));
    }

    /// Kills a node's slurmd and what watches its jobs, as when the node is lost; what the jobs started goes on.
    pub fn kill_node_with_steps(&self, node: &str) {
        self.kill_node(node);
        for pid in self.steps(node) {
            kill(pid);
        }
    }

    /// The processes that watch a node's jobs.
    pub fn steps(&self, node: &str) -> Vec<u32> {
        let spool = self.path().join("spool").join(node);
        let log = self.path().join(format!("log/slurmd.{node}.log"));
        let is_step = |pid: &u32| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            name.trim_end() == "slurmstepd" && opened(*pid).iter().any(|path| path.starts_with(&spool) || *path == log)
        };
        processes().into_iter().filter(is_step).collect()
    }

    /// Processes that belong to it: daemons, steps, and what jobs started.
    pub fn processes(&self) -> Vec<u32> {
        let folder = self.path().to_string_lossy().into_owned();
        let read = |pid: u32, name: &str| {
            String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default()).into_owned()
        };
        let is_ours = |pid: &u32| {
            *pid != std::process::id()
                && (["cmdline", "environ"].iter().any(|name| read(*pid, name).contains(&folder))
                    || opened(*pid).iter().any(|path| path.starts_with(self.path())))
        };
        processes().into_iter().filter(is_ours).collect()
    }

    fn prepare(&self) {
        let folder = self.path();
        for name in ["run", "log", "spool/ctld"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let key = folder.join("munge.key");
        let random = fs::File::open("/dev/urandom").unwrap();
        std::io::copy(&mut std::io::Read::take(random, 1024), &mut fs::File::create(&key).unwrap()).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(self.conf(), self.settings()).unwrap();
    }

    fn settings(&self) -> String {
        let folder = self.path().display();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap();
        let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
        let user = user.trim();
        // All of them are taken before the first is given back, so they differ.
        let taken: Vec<TcpListener> =
            (0..=self.nodes.len()).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = taken.iter().map(|one| one.local_addr().unwrap().port()).collect();
        let mut text = format!(
            "ClusterName=lab\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket={folder}/run/munge.sock\n\
             StateSaveLocation={folder}/spool/ctld\nSlurmdSpoolDir={folder}/spool/%n\n\
             SlurmctldPidFile={folder}/run/slurmctld.pid\nSlurmdPidFile={folder}/run/slurmd.%n.pid\n\
             SlurmctldLogFile={folder}/log/slurmctld.log\nSlurmdLogFile={folder}/log/slurmd.%n.log\n\
             SwitchType=switch/none\nMpiDefault=none\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             JobAcctGatherType=jobacct_gather/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
             SchedulerType=sched/backfill\n\
             SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,sched_min_interval=0\n\
             AccountingStorageType=accounting_storage/none\nJobCompType=jobcomp/none\nReturnToService=2\nSlurmdTimeout=10\n\
             SlurmctldTimeout=10\nMinJobAge=3600\nKillWait=2\nJobRequeue=1\nSlurmdParameters=config_overrides\n\
             MaxArraySize={MOST_NUMBERS}\n",
            ports[0]
        );
        for (node, port) in self.nodes.iter().zip(&ports[1..]) {
            let _ = writeln!(
                text,
                "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=2000 Feature=fast"
            );
        }
        let _ = writeln!(text, "PartitionName={PARTITION} Nodes=ALL Default=YES State=UP MaxTime={MOST_MINUTES}");
        text
    }

    fn start_munge(&self) {
        let file = |option: &str, name: &str| format!("--{option}={}", self.path().join(name).display());
        let words = [
            "--force".to_owned(),
            file("key-file", "munge.key"),
            file("socket", "run/munge.sock"),
            file("pid-file", "run/munged.pid"),
            file("log-file", "log/munged.log"),
            file("seed-file", "run/seed"),
        ];
        self.daemon("munged", &words.iter().map(OsStr::new).collect::<Vec<_>>());
    }

    /// Each of them goes into the background by itself when it is ready to be asked.
    fn daemon(&self, name: &str, words: &[&OsStr]) {
        let mut command = self.command(name);
        // A daemon that kept our output open would keep the test's reader waiting.
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().unwrap();
        assert!(status.success(), "{name} does not start: {status}\n{}", self.log(name));
    }

    fn kill_by_file(&self, daemon: &str) {
        let file = self.path().join(format!("run/{daemon}.pid"));
        let Some(pid) = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()) else { return };
        kill(pid);
        let _ = fs::remove_file(file);
        assert!((0..LOOKS).any(|_| !is_alive(pid)), "{daemon} does not end");
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // Nobody is left who could start something when the rest is looked for.
        let daemons = self.nodes.iter().map(|node| format!("slurmd.{node}"));
        daemons.chain(["slurmctld".to_owned(), "munged".to_owned()]).for_each(|name| self.kill_by_file(&name));
        for _ in 0..LOOKS {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            left.into_iter().for_each(kill);
        }
        println!("processes stay: {:?}", self.processes());
    }
}

/// Where a program is; daemons may not be on the search path of an ordinary user.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    entries.filter_map(|name| name.parse().ok()).filter(|pid| is_alive(*pid)).collect()
}

/// Where a process is, and its open files.
fn opened(pid: u32) -> Vec<PathBuf> {
    let files =
        fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    files.chain([format!("/proc/{pid}/cwd").into()]).filter_map(|link| fs::read_link(link).ok()).collect()
}

/// Whether it is there and has not ended.
fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).stderr(Stdio::null()).status();
}
