//! Two machines behind ssh, for tests: real sshd on loopback, each with a user and a home folder of its own. Between them and
//! ssh is a proxy that cuts connections, drawn by a seed. It says nothing of Bakeoff.

#![allow(unreachable_pub, reason = "it is a module of a test")]

use crate::common::processes::LOOKS;
use bakeoff_model::shuffle::Stream;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::ops::Range;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const SSHD: &str = "/usr/sbin/sshd";
/// The names by which ssh knows the machines.
pub const NAMES: [&str; 2] = ["one", "two"];

/// Tests run at the same time, and their users must not be the same.
static RIGS: AtomicU32 = AtomicU32::new(0);

/// Machines that run until this is dropped.
pub struct Rig {
    folder: tempfile::TempDir,
    machines: Vec<Machine>,
    pub cutter: Arc<Mutex<Cutter>>,
}

struct Machine {
    user: String,
    sshd: Child,
}

/// Which connections are cut.
#[derive(Debug)]
pub struct Cutter {
    stream: Stream,
    /// How many are still to be cut.
    pub left: u32,
    /// After this number of bytes, in both directions.
    pub after: Range<u64>,
    /// How many were.
    pub cuts: u32,
}

impl Rig {
    /// Starts them; none if that cannot be, which is said.
    pub fn start(seed: u64) -> Option<Self> {
        let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
        let missing = [
            (!is_root, "sshd for several users needs root"),
            (!Path::new(SSHD).exists(), "sshd is not installed (package openssh-server)"),
            (Command::new("useradd").arg("--help").output().is_err(), "useradd is not installed"),
        ];
        if let Some((_, why)) = missing.iter().find(|(is_missing, _)| *is_missing) {
            println!("skipped: {why}");
            return None;
        }
        println!("seed {seed}");
        // Other users must get in, and the names of sockets must be short.
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let cutter = Cutter { stream: Stream::of(seed, &["ssh"]), left: 0, after: 0..1, cuts: 0 };
        let mut rig = Self { folder, machines: vec![], cutter: Arc::new(Mutex::new(cutter)) };
        rig.set_up();
        Some(rig)
    }

    fn set_up(&mut self) {
        // The service would make it.
        fs::create_dir_all("/run/sshd").unwrap();
        for key in ["key", "host"] {
            run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &self.file(key)]);
        }
        let mut config = String::new();
        for name in NAMES {
            let user = format!("bk{}-{}{name}", std::process::id(), RIGS.fetch_add(1, Ordering::Relaxed));
            let port = self.add(name, &user);
            let port = self.proxy(port);
            config += &format!("Host {name}\nHostName 127.0.0.1\nPort {port}\nUser {user}\n");
            config += &format!("Host {name}-locked\nHostName 127.0.0.1\nPort {port}\nUser nobody\n");
        }
        let closed = free_port();
        config +=
            &format!("Host closed\nHostName 127.0.0.1\nPort {closed}\nHost *\nIdentityFile {}\n", self.file("key"));
        config += &format!("IdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile {}\n", self.file("known"));
        self.write("config", &config);
        // ssh finds the user's configuration by the list of users, so HOME does not help.
        let ssh = format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", self.file("config"));
        fs::create_dir(self.folder.path().join("bin")).unwrap();
        self.write("bin/ssh", &ssh);
        fs::set_permissions(self.file("bin/ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Starts a machine, and returns its port.
    fn add(&mut self, name: &str, user: &str) -> u16 {
        let _ = Command::new("userdel").args(["-f", user]).stderr(Stdio::null()).status();
        let home = self.file(&format!("home-{name}"));
        // Without a `*` for a password, sshd takes the account for a locked one.
        run("useradd", &["-M", "-d", &home, "-s", "/bin/sh", "-p", "*", user]);
        let id = Command::new("id").args(["-u", user]).output().unwrap().stdout;
        let id: u32 = String::from_utf8(id).unwrap().trim().parse().unwrap();
        let locks = self.file(&format!("locks-{name}"));
        for folder in [&home, &locks] {
            fs::create_dir(folder).unwrap();
            chown(folder, Some(id), None).unwrap();
        }
        let (port, host, keys) = (free_port(), self.file("host"), self.file("key.pub"));
        // Machines do not wait for each other's trials.
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {host}\nUsePAM no\nStrictModes no\n\
             AuthorizedKeysFile {keys}\nAllowUsers {user}\nPidFile none\nSetEnv BAKEOFF_LOCKS={locks}\n"
        );
        self.write(&format!("sshd-{name}"), &config);
        let words = ["-D", "-f", &self.file(&format!("sshd-{name}")), "-E", &self.file(&format!("log-{name}"))];
        let sshd = Command::new(SSHD).args(words).spawn().unwrap();
        self.machines.push(Machine { user: user.to_owned(), sshd });
        let listens = (0..LOOKS).any(|_| {
            thread::yield_now();
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
        });
        assert!(listens, "{}", fs::read_to_string(self.file(&format!("log-{name}"))).unwrap_or_default());
        port
    }

    /// A port whose connections lead to that one, until they are cut.
    fn proxy(&self, to: u16) -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let cutter = Arc::clone(&self.cutter);
        // It ends with the test.
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else { continue };
                carry(&client, &server, &cutter);
            }
        });
        port
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The home folder on a machine.
    pub fn home(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("home-{name}"))
    }

    /// A command that reaches the machines.
    pub fn reaches<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.file("bin")))
    }

    /// Has the next connections cut after this number of bytes each.
    pub fn cut(&self, connections: u32, after: Range<u64>) {
        let mut cutter = self.cutter.lock().unwrap();
        (cutter.left, cutter.after) = (connections, after);
    }

    /// How many were cut so far.
    pub fn cuts(&self) -> u32 {
        self.cutter.lock().unwrap().cuts
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        for machine in &mut self.machines {
            let _ = machine.sshd.kill();
            let _ = machine.sshd.wait();
            let _ = Command::new("userdel").args(["-f", &machine.user]).stderr(Stdio::null()).status();
        }
    }
}

/// A connection that is carried; its bytes in both directions, and after how many it is cut.
struct Carried {
    bytes: Mutex<u64>,
    most: Option<u64>,
    cutter: Arc<Mutex<Cutter>>,
}

/// Carries bytes both ways by two threads.
fn carry(client: &TcpStream, server: &TcpStream, cutter: &Arc<Mutex<Cutter>>) {
    let most = {
        let mut cutter = cutter.lock().unwrap();
        let range = cutter.after.clone();
        let is_cut = cutter.left > 0;
        cutter.left = cutter.left.saturating_sub(1);
        is_cut.then(|| range.start + cutter.stream.below(range.end - range.start))
    };
    let carried = Arc::new(Carried { bytes: Mutex::new(0), most, cutter: Arc::clone(cutter) });
    for (from, to) in [(client, server), (server, client)] {
        let (from, to, carried) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&carried));
        thread::spawn(move || one_way(from, to, &carried));
    }
}

fn one_way(mut from: TcpStream, mut to: TcpStream, carried: &Carried) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let is_over = {
            let mut bytes = carried.bytes.lock().unwrap();
            let before = *bytes;
            *bytes += count as u64;
            let is_over = carried.most.is_some_and(|most| *bytes > most);
            if is_over && carried.most.is_some_and(|most| before <= most) {
                carried.cutter.lock().unwrap().cuts += 1;
            }
            is_over
        };
        if is_over || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    for end in [&from, &to] {
        let _ = end.shutdown(Shutdown::Both);
    }
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

#[track_caller]
fn run(program: &str, words: &[&str]) {
    let output = Command::new(program).args(words).output().unwrap();
    assert!(output.status.success(), "{program} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}
