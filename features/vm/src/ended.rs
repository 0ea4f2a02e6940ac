//! How a boot ended, and what it died of if it did not end as it should: from qemu's exit, the agent's lines and the
//! console. It touches nothing.

use crate::accelerator::{GOOD_EXIT, in_words};
use crate::agent::Received;
use crate::guest::SIGNALS;
use crate::machine::MOST_PRINTED;
use bakeoff_host::End;
use bakeoff_model::record::Failure;

/// The signal for more processor time than a process may use.
const SIGXCPU: i32 = 24;
/// The signal for a file that has reached its limit.
const SIGXFSZ: i32 = 25;
/// What a kernel says that cannot go on.
const FATAL: [&str; 3] = ["Kernel panic", "Oops:", "BUG:"];
/// What it says if the root is larger than the half of its memory that it may take.
const NO_ROOM: &str = "Initramfs unpacking failed: write error";
/// How much of the console a failure shows.
const TAIL_LINES: usize = 8;

/// What a boot has left.
pub(crate) struct Left<'a> {
    pub(crate) end: &'a End,
    pub(crate) received: &'a Received,
    pub(crate) console: &'a str,
    /// What qemu said itself.
    pub(crate) log: &'a str,
    /// Trials that were ordered.
    pub(crate) ordered: usize,
    /// Processor time that qemu might use, in seconds.
    pub(crate) limit_s: f64,
}

/// Why its trials have failed; none if it did all that it should.
pub(crate) fn failure(left: &Left<'_>) -> Option<Failure> {
    let why = why(left)?;
    let mut lines: Vec<&str> = left.console.lines().chain(left.log.lines()).map(str::trim_end).collect();
    lines.retain(|line| !line.is_empty());
    // Of a panic the first lines say most; of anything else the last ones.
    let is_fatal = |line: &&str| FATAL.iter().any(|word| line.contains(word));
    let from = lines.iter().position(is_fatal).unwrap_or(lines.len().saturating_sub(TAIL_LINES));
    let tail = lines[from..].iter().take(TAIL_LINES).map(|line| (*line).to_owned()).collect();
    Some(Failure::Surroundings { part: "boot".to_owned(), why, tail })
}

fn why(left: &Left<'_>) -> Option<String> {
    let panic = left.console.lines().find(|line| FATAL.iter().any(|word| line.contains(word)));
    let Left { received, limit_s, .. } = left;
    let broken = received.broken.as_deref();
    Some(match left.end {
        End::Exited(code) if *code == GOOD_EXIT => match broken {
            Some(broken) => format!("the machine ended normally, but {broken}"),
            None if received.trials.len() < left.ordered => {
                format!("the agent did not run all trials ({} of {})", received.trials.len(), left.ordered)
            }
            None => return None,
        },
        _ if left.console.contains(NO_ROOM) => {
            "the root and Bakeoff do not fit into half of the machine's memory: raise `memory` in [vm]".to_owned()
        }
        _ if panic.is_some() => format!("the kernel panicked: {}", panic.unwrap_or_default().trim()),
        End::Exited(0) if received.place.is_none() => "the machine ended before the agent sent anything".to_owned(),
        End::Exited(0) => "the machine was switched off or reset before the agent finished".to_owned(),
        End::Exited(1) => "qemu did not start the machine".to_owned(),
        End::Exited(code) if code % 2 == 1 && code / 2 > SIGNALS.into() => {
            format!("the agent was killed by signal {}", code / 2 - i32::from(SIGNALS))
        }
        End::Exited(code) if code % 2 == 1 => {
            format!(
                "the agent exited with {}{}",
                code / 2,
                broken.map(|broken| format!(": {broken}")).unwrap_or_default()
            )
        }
        End::Signalled(SIGXCPU) | End::TimedOut => {
            format!("the machine hung and was killed after {limit_s} s of CPU time, or four times that in elapsed time")
        }
        End::Signalled(SIGXFSZ) => {
            format!("the guest printed more than {} MiB and was killed", MOST_PRINTED >> 20)
        }
        end => in_words(end),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use bakeoff_model::record::{Place, Trial};

    fn check(end: End, received: &Received, console: &str, expect: Option<&str>) {
        let left = Left { end: &end, received, console, log: "qemu: says so", ordered: 1, limit_s: 300.0 };
        match (failure(&left), expect) {
            (None, None) => {}
            (Some(Failure::Surroundings { part, why, tail }), Some(expect)) => {
                assert_eq!(part, "boot");
                assert!(why.contains(expect), "{why}");
                let first = if console.contains("panic") { "Kernel panic" } else { "qemu: says so" };
                assert!(tail.iter().any(|line| line.contains(first)), "{tail:?}");
            }
            (found, _) => panic!("{end:?}: {found:?}"),
        }
    }

    #[test]
    fn each_end_is_told_apart() {
        let place = Some(Place::default());
        let all = Received { place: place.clone(), trials: vec![Trial::default()], ..Received::default() };
        let none = Received { place: place.clone(), ..Received::default() };
        let silent = Received { broken: Some("the agent sent nothing".to_owned()), ..Received::default() };
        let cut = Received { place, broken: Some("output stops after line 7".to_owned()), ..Received::default() };
        let panic = "booting\nKernel panic - not syncing: VFS: Unable to mount root fs\n";
        check(End::Exited(43), &all, "", None);
        check(End::Exited(43), &none, "", Some("did not run all trials (0 of 1)"));
        check(End::Exited(43), &cut, "", Some("output stops after line 7"));
        check(End::Exited(43), &silent, "", Some("sent nothing"));
        check(End::Exited(0), &silent, panic, Some("Kernel panic - not syncing"));
        let full = "Initramfs unpacking failed: write error\nKernel panic - not syncing: Attempted to kill init!\n";
        check(End::Exited(0), &silent, full, Some("raise `memory`"));
        check(End::Exited(0), &silent, "", Some("before the agent sent anything"));
        check(End::Exited(0), &cut, "", Some("switched off or reset"));
        check(End::Exited(1), &silent, "", Some("did not start"));
        check(End::Exited(45), &cut, "", Some("the agent exited with 22"));
        check(End::Exited(219), &cut, "", Some("the agent was killed by signal 9"));
        check(End::Signalled(24), &cut, "", Some("hung"));
        check(End::TimedOut, &cut, "", Some("hung"));
        check(End::Signalled(9), &cut, "", Some("signal 9"));
        check(End::Signalled(25), &cut, "", Some("printed more than 1024 MiB"));
    }
}
