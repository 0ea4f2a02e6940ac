//! Calls of a far machine by the user's `ssh`: with one connection and a limit for each. The actions are in `far.sh`.

use crate::calls::{Limit, Said, call};
use crate::machines::Host;
use bakeoff_command::{Code, CommandError};
use bakeoff_host::interrupt;
use bakeoff_model::plain::clean;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What is run there.
const FAR: &str = include_str!("far.sh");
/// The first line that it prints. A login shell may have printed others before.
const MARK: &[u8] = b"bakeoff-far\n";
/// ssh's own exit code: there is no connection.
const NO_CONNECTION: i32 = 255;
/// The far side's: not all of it came.
const AGAIN: i32 = 75;
/// The limit of a call. A connection on which nothing comes is given up long before.
const LIMIT: Duration = Duration::from_secs(120);
/// The limit of a call that sends a file.
const SEND_LIMIT: Duration = Duration::from_secs(3600);
/// How often an action is tried if the connection is cut, and if there has not been one.
const TRIES: u32 = 25;
const TRIES_TO_CONNECT: u32 = 10;
/// The pause before the second try; every further one is longer by as much.
const PAUSE: Duration = Duration::from_millis(100);
/// What ssh prints if another try would not help.
const FINAL: [&str; 6] = [
    "ssh: connect to host",
    "ssh: Could not resolve hostname",
    "Permission denied",
    "Host key verification failed",
    "Bad configuration option",
    "Too many authentication failures",
];
/// For every call. Nothing asks for a password or a terminal; a connection that is dead is noticed after 15 s.
const OPTIONS: &str = "BatchMode=yes ConnectTimeout=10 ServerAliveInterval=5 ServerAliveCountMax=3 \
    ClearAllForwardings=yes RequestTTY=no RemoteCommand=none LogLevel=ERROR";

/// Why an action has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection was cut: the action may have been done or not.
    Cut(String),
    /// There is no way to the machine.
    Unreachable(String),
    /// It was not done, and would not be if it were tried again.
    Refused(String),
}

impl Failure {
    pub(super) fn why(&self) -> &str {
        let (Self::Cut(why) | Self::Unreachable(why) | Self::Refused(why)) = self;
        why
    }
}

/// What came from the far side, which may be a part, and how the call ended.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) out: Vec<u8>,
    pub(super) failure: Option<Failure>,
    /// Whether there was a connection.
    connected: bool,
}

#[derive(Debug)]
pub(super) struct Far<'a> {
    pub(super) host: &'a Host,
    id: &'a str,
    folder: &'a str,
    /// The path for the shared connection, if the user's configuration has none.
    control: Option<String>,
}

impl<'a> Far<'a> {
    /// `control` is a private folder with a short name.
    pub(super) fn of(host: &'a Host, folder: &'a str, id: &'a str, control: Option<&Path>) -> Self {
        let mut far = Self { host, id, folder, control: None };
        far.control = control.filter(|_| !far.shares_connections()).map(|path| path.join("%C").display().to_string());
        far
    }

    /// Whether the user's configuration shares connections to this host: perhaps it cannot be reached by another one.
    fn shares_connections(&self) -> bool {
        let asked = self.ssh().arg("-G").arg("--").arg(&self.host.destination).stdin(Stdio::null()).output();
        let text = asked.map(|asked| String::from_utf8_lossy(&asked.stdout).into_owned()).unwrap_or_default();
        text.lines().any(|line| line.strip_prefix("controlpath ").is_some_and(|path| path != "none"))
    }

    /// The name of the machine, as messages have it.
    pub(super) fn name(&self) -> String {
        clean(&self.host.to_string())
    }

    /// Does an action, again if the connection is cut. Returns what it printed.
    pub(super) fn ask<S: ToString>(&self, action: &str, words: &[S], input: Option<&Path>) -> Result<Vec<u8>, Failure> {
        let mut tries = 0;
        loop {
            let answer = self.once(action, words, input);
            tries += 1;
            let most = if answer.connected { TRIES } else { TRIES_TO_CONNECT };
            match answer.failure {
                None => return Ok(answer.out),
                Some(Failure::Cut(_)) if tries < most && interrupt::count() == 0 => {}
                Some(failure) => return Err(failure),
            }
            std::thread::sleep(PAUSE * tries);
        }
    }

    /// Does an action once.
    pub(super) fn once<S: ToString>(&self, action: &str, words: &[S], input: Option<&Path>) -> Answer {
        let fixed = ["sh", "-c", FAR, "far", action, self.folder, self.id];
        let called = fixed.map(str::to_owned).into_iter().chain(words.iter().map(S::to_string));
        self.call(&shell_words::join(called), input).unwrap_or_else(|error| {
            let why = match error.kind() {
                io::ErrorKind::NotFound => "`ssh` is not installed here".to_owned(),
                _ => error.to_string(),
            };
            Answer { out: vec![], failure: Some(Failure::Unreachable(why)), connected: false }
        })
    }

    fn ssh(&self) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.args(OPTIONS.split(' ').flat_map(|option| ["-o", option]));
        if let Some(path) = &self.control {
            ssh.args(["-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o", &format!("ControlPath={path}")]);
        }
        if let Some(port) = self.host.port {
            ssh.arg("-p").arg(port.to_string());
        }
        ssh
    }

    fn call(&self, line: &str, input: Option<&Path>) -> io::Result<Answer> {
        let mut ssh = self.ssh();
        ssh.arg("--").arg(&self.host.destination).arg(line);
        ssh.stdin(input.map_or_else(|| Ok(Stdio::null()), |path| File::open(path).map(Stdio::from))?);
        let time = if input.is_some() { SEND_LIMIT } else { LIMIT };
        Ok(answer(call(&mut ssh, Limit { time, heeds_interrupts: true })?))
    }
}

/// What a call says.
fn answer(said: Said) -> Answer {
    let Said { status, out: printed, err } = said;
    let marked = printed.windows(MARK.len()).position(|window| window == MARK);
    let out = marked.map(|at| printed[at + MARK.len()..].to_vec()).unwrap_or_default();
    let or = |otherwise: &str| if err.is_empty() { otherwise.to_owned() } else { err.clone() };
    let is_final = FINAL.iter().any(|text| err.contains(text));
    let failure = match status.map(|status| status.code()) {
        Some(Some(0)) if marked.is_some() => None,
        Some(Some(0)) => Some(Failure::Refused("it runs something else than it was asked to".to_owned())),
        Some(Some(NO_CONNECTION)) if is_final => Some(Failure::Unreachable(err)),
        Some(Some(NO_CONNECTION | AGAIN) | None) => Some(Failure::Cut(or("the connection was cut"))),
        Some(Some(code)) => Some(Failure::Refused(or(&format!("its shell ended with exit code {code}")))),
        None => Some(Failure::Cut("it did not answer in time".to_owned())),
    };
    Answer { out, failure, connected: marked.is_some() }
}

/// The error of a command that cannot do without an action.
pub(super) fn fatal(far: &Far<'_>, failure: &Failure) -> CommandError {
    let name = far.name();
    match failure {
        _ if interrupt::count() > 0 => CommandError::new(Code::Interrupted, "interrupted")
            .hint("running shards continue; the same command waits for them again"),
        Failure::Cut(why) => CommandError::new(Code::Internal, format!("the connection to {name} fails: {why}"))
            .hint("shards that were started go on; run the same command again (nothing is lost)"),
        Failure::Unreachable(why) => CommandError::usage(format!("cannot reach {name}: {why}"))
            .hint("ssh must reach it without asking anything; try `ssh -o BatchMode=yes` by hand"),
        Failure::Refused(why) => CommandError::usage(format!("{name}: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    #[test]
    fn a_connection_that_is_cut_is_told_from_what_failed() {
        let ended = |code: i32, out: &str, err: &str| {
            answer(Said { status: Some(ExitStatus::from_raw(code << 8)), out: out.into(), err: err.to_owned() })
        };
        let done = ended(0, "Welcome!\nbakeoff-far\nfile 1 x\n", "");
        assert!(done.failure.is_none() && done.connected && done.out == b"file 1 x\n");
        let cut = ended(255, "bakeoff-far\nfile", "Connection closed by remote host");
        assert!(matches!(cut.failure, Some(Failure::Cut(why)) if why == "Connection closed by remote host"));
        assert_eq!(cut.out, b"file");
        let none = ended(255, "", "ssh: connect to host box port 22: Connection refused").failure;
        assert!(matches!(none, Some(Failure::Unreachable(why)) if why.ends_with("refused")));
        let failed = ended(1, "bakeoff-far\n", "mkdir: Permission denied").failure;
        assert!(matches!(failed, Some(Failure::Refused(why)) if why == "mkdir: Permission denied"));
        let partial = ended(75, "bakeoff-far\n", "").failure;
        assert!(matches!(partial, Some(Failure::Cut(_))), "not all of it came");
        let other = ended(0, "This service allows sftp connections only.\n", "").failure;
        assert!(matches!(other, Some(Failure::Refused(_))));
    }

    #[test]
    fn every_login_shell_can_hand_on_what_is_run() {
        for text in [FAR, include_str!("runner.sh")] {
            assert!(!text.contains(['\'', '!']), "they are not the same within quotes everywhere");
        }
    }
}
