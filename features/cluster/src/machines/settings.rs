//! What `machines.toml` says about machines, and the two notations in it that are not ours: Slurm's times and ssh's hosts.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// Says where `module` is defined, unless the shell knows it.
const FIND_MODULE: &str = "\
command -v module > /dev/null || for file in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh \\
    /usr/share/modules/init/sh /usr/share/lmod/lmod/init/sh /usr/share/Modules/init/sh; do
    if [ -r \"$file\" ]; then . \"$file\"; break; fi
done
";

/// Machines that have a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Machines {
    pub(crate) name: String,
    pub(crate) way: Way,
    /// How many of them to use at a time.
    pub(crate) nodes: u32,
    /// Whether trials have a node to themselves.
    pub(crate) exclusive: bool,
    /// Arguments of `module load`.
    pub(crate) modules: Vec<String>,
    /// Lines of shell that are run on the node before anything else, as they are written, after the modules are loaded.
    pub(crate) setup: Vec<String>,
    /// The folder for runs and for the cache. Of Slurm: absolute, and the same on all nodes and here. Of ssh: on the far
    /// side; if it is relative, then to the user's home there.
    pub(crate) folder: String,
    /// The folder of the node for trials. It may have variables, which the node expands; it is safe between double quotes.
    pub(crate) scratch: Option<String>,
    /// Whether Slurm may start a shard again by itself after its node was lost.
    pub(crate) requeue: bool,
}

impl Machines {
    /// The shell's text that gets a node ready.
    pub(crate) fn prelude(&self) -> String {
        let mut out = if self.modules.is_empty() { String::new() } else { FIND_MODULE.to_owned() };
        for module in &self.modules {
            let _ = writeln!(out, "module load {} || exit", shell_words::quote(module));
        }
        self.setup.iter().fold(out, |out, line| out + line + "\n")
    }
}

/// How machines are reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    Slurm(SlurmSettings),
    Ssh(Vec<Host>),
}

/// Which nodes of a Slurm cluster, and for how long. Every text is one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SlurmSettings {
    /// `--partition`; none is the cluster's default.
    pub(crate) partition: Option<String>,
    pub(crate) account: Option<String>,
    pub(crate) constraint: Option<String>,
    /// The time limit of a job, in seconds; none is the partition's.
    pub(crate) time_s: Option<u64>,
    pub(crate) exclude: Option<String>,
    /// More options of sbatch, each as it is to be written.
    pub(crate) extra: Vec<String>,
}

/// A machine behind ssh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Host {
    /// `host` or `user@host`, as ssh takes it; it does not start with `-`.
    pub(crate) destination: String,
    /// The port; none is that of ssh's configuration.
    pub(crate) port: Option<u16>,
}

impl fmt::Display for Host {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(to, "{}:{port}", self.destination),
            None => to.write_str(&self.destination),
        }
    }
}

impl Host {
    /// The machine, without the user's name there.
    pub(crate) fn machine(&self) -> String {
        let shown = self.to_string();
        shown.rsplit_once('@').map_or(&*shown, |(_, machine)| machine).to_owned()
    }

    /// Reads `host`, `user@host`, and either with `:port`; an IPv6 address with a port is in brackets.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (user, address) = text.rsplit_once('@').map_or((None, text), |(user, address)| (Some(user), address));
        let (name, port) = match (address.strip_prefix('['), address.rsplit_once(':')) {
            (Some(rest), _) => {
                let (name, port) = rest.split_once(']')?;
                (name, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
            }
            // Several colons are those of an IPv6 address.
            (None, Some((name, port))) if !name.contains(':') => (name, Some(port)),
            _ => (address, None),
        };
        let port = port.map(|port| port.parse().ok().filter(|port| *port > 0).ok_or(())).transpose().ok()?;
        let destination = user.map_or_else(|| name.to_owned(), |user| format!("{user}@{name}"));
        let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"'\"`$;&|<>()\\".contains(c);
        // ssh would take the first for an option.
        let is_good = !destination.starts_with('-') && destination.chars().all(is_plain);
        (is_good && !name.is_empty() && user != Some("")).then_some(Self { destination, port })
    }
}

/// A duration as Slurm writes it, in seconds: `MINUTES`, `MINUTES:SECONDS`, `HOURS:MINUTES:SECONDS`, `DAYS-HOURS`,
/// `DAYS-HOURS:MINUTES` or `DAYS-HOURS:MINUTES:SECONDS` (sbatch(1), `--time`).
pub(crate) fn slurm_time_s(text: &str) -> Option<u64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(number(days)?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> = rest.split(':').map(number).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match (days, &parts[..]) {
        (None, [minutes]) => (0, *minutes, 0),
        (None, [minutes, seconds]) => (0, *minutes, *seconds),
        (Some(_), [hours]) => (*hours, 0, 0),
        (Some(_), [hours, minutes]) => (*hours, *minutes, 0),
        (_, [hours, minutes, seconds]) => (*hours, *minutes, *seconds),
        _ => return None,
    };
    Some(((days.unwrap_or(0) * 24 + hours) * 60 + minutes) * 60 + seconds).filter(|seconds| *seconds > 0)
}

/// At most six digits: a century has fewer minutes than overflow.
fn number(text: &str) -> Option<u64> {
    let is_number = (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_slurm_reads_them() {
        for (text, expect) in [
            ("60", Some(3600)),
            ("1:30", Some(90)),
            ("1:00:00", Some(3600)),
            ("01:02:03", Some(3723)),
            ("1-0", Some(86_400)),
            ("1-2:3", Some(93_780)),
            ("1-02:03:04", Some(93_784)),
            ("0", None),
            ("", None),
            ("1h", None),
            ("1:", None),
            ("1-", None),
            ("-1", None),
            ("1:2:3:4", None),
            ("1-2:3:4:5", None),
            ("infinite", None),
            ("12345678901234567890", None),
        ] {
            assert_eq!(slurm_time_s(text), expect, "{text:?}");
        }
    }

    #[test]
    fn destinations_are_read_and_no_option_is_one() {
        for (text, expect) in [
            ("box1", Some(("box1", None))),
            ("alice@box1", Some(("alice@box1", None))),
            ("box2:2222", Some(("box2", Some(2222)))),
            ("alice@box2:22", Some(("alice@box2", Some(22)))),
            ("::1", Some(("::1", None))),
            ("a@[::1]:22", Some(("a@::1", Some(22)))),
            ("[::1]", Some(("::1", None))),
            ("box2:", None),
            ("box2:ssh", None),
            ("box2:0", None),
            ("box2:70000", None),
            ("[::1", None),
            ("[::1]22", None),
            ("@box", None),
            ("alice@", None),
            ("", None),
            ("two words", None),
            ("-oProxyCommand=x", None),
            ("a;b", None),
        ] {
            let expect = expect.map(|(name, port)| Host { destination: name.to_owned(), port });
            assert_eq!(Host::parse(text), expect, "{text:?}");
        }
    }
}
