//! Checks whether the kernel lets us count events, by opening every counter that there is on ourselves. It reads none.

use super::check::Check;
use crate::files::Files;
use crate::perf_event::{Counter, EVENTS, Event, Of};
use std::io;

/// Counters of the processor: cycles, instructions, cache and branch misses.
pub(super) fn hardware(files: &Files) -> Check {
    let lost = "instructions, cycles, branches and cache misses are not counted; look for causes without them";
    let remedy = "use a machine, or a hypervisor setting, with a PMU";
    let opened = opened(Event::is_hardware);
    judge("hardware counters", opened, files, lost, remedy)
}

/// Counters of the kernel: faults, switches, migrations.
pub(super) fn software(files: &Files) -> Check {
    let lost =
        "context_switches, migrations and page_faults of whole trees are not counted; wait4 counts a process's own";
    let opened = opened(|event| !event.is_hardware());
    judge("software counters", opened, files, lost, "use a kernel with CONFIG_PERF_EVENTS")
}

type Opened = Vec<(&'static Event, io::Result<()>)>;

fn opened(of: impl Fn(&Event) -> bool) -> Opened {
    let open = |event| (event, Counter::open(event, Of::Us).map(drop));
    EVENTS.iter().filter(|event| of(event)).map(open).collect()
}

fn judge(name: &'static str, opened: Opened, files: &Files, lost: &str, remedy: &str) -> Check {
    let names: Vec<&str> = opened.iter().filter(|(_, opened)| opened.is_ok()).map(|(event, _)| event.metric).collect();
    let refused = opened.iter().find_map(|(event, opened)| Some((event, opened.as_ref().err()?)));
    let Some((event, error)) = refused else {
        return Check::good(name, names.join(", "), "causes can be sought in them");
    };
    let why = event.why_not(error, files);
    let remedy = if why.contains("perf_event_paranoid") { "sudo sysctl kernel.perf_event_paranoid=1" } else { remedy };
    let found = if names.is_empty() { why } else { format!("{} only: {why}", names.join(", ")) };
    Check::missing(name, found, lost).remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::super::check::State;
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn what_opened_and_what_did_not() {
        let check = |errors: [Option<Errno>; 2], state, found: &str, remedy: Option<&str>| {
            let root = tempfile::tempdir().unwrap();
            let files = Files::made_of(root.path(), &[("proc/sys/kernel/perf_event_paranoid", "2\n")]);
            let opened = errors.map(|error| error.map_or(Ok(()), |errno| Err(errno.into())));
            let check = judge("counters", EVENTS.iter().zip(opened).collect(), &files, "lost", "a PMU");
            assert_eq!((check.state, check.remedy.as_deref()), (state, remedy), "{check:?}");
            assert!(check.found.contains(found), "{check:?}");
        };
        check([None, None], State::Good, "task_clock, page_faults", None);
        let sysctl = Some("sudo sysctl kernel.perf_event_paranoid=1");
        check([None, Some(Errno::ACCESS)], State::Missing, "task_clock only: software counters not permitted", sysctl);
        check([Some(Errno::NOENT), Some(Errno::NOENT)], State::Missing, "no software counters here", Some("a PMU"));
    }
}
