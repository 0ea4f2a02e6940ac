//! Checks whether the kernel lets us count events, by opening every counter that there is on ourselves. It reads none.

use bakeoff_command::check::Check;
use bakeoff_host::counters;

/// Counters of the processor: cycles, instructions, cache and branch misses.
pub(super) fn hardware() -> Check {
    let remedy = "use a machine with a PMU, or enable the virtual PMU in the hypervisor";
    let opened = counters(true);
    judge("hardware counters", opened, "for explaining differences", remedy)
}

/// Counters of the kernel: faults, switches, migrations.
pub(super) fn software() -> Check {
    let opened = counters(false);
    judge("software counters", opened, "of whole process trees", "use a kernel with CONFIG_PERF_EVENTS")
}

/// Each counter, and why it does not open.
type Opened = Vec<(&'static str, Result<(), String>)>;

fn judge(name: &'static str, opened: Opened, purpose: &str, remedy: &str) -> Check {
    let names: Vec<&str> = opened.iter().filter(|(_, opened)| opened.is_ok()).map(|(metric, _)| *metric).collect();
    let lost: Vec<&str> = opened.iter().filter(|(_, opened)| opened.is_err()).map(|(metric, _)| *metric).collect();
    let lost = format!("lost: {} ({purpose})", lost.join(", "));
    let Some(why) = opened.into_iter().find_map(|(_, opened)| opened.err()) else {
        return Check::good(name, names.join(", "), "they help to explain differences");
    };
    let remedy = if why.contains("perf_event_paranoid") { "sudo sysctl kernel.perf_event_paranoid=1" } else { remedy };
    let found = if names.is_empty() { why } else { format!("{} only: {why}", names.join(", ")) };
    Check::missing(name, found, &lost).remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_command::check::State;

    #[test]
    fn what_opened_and_what_did_not() {
        let check = |errors: [Option<&str>; 2], state, found: &str, remedy: Option<&str>| {
            let opened = errors.map(|why| why.map_or(Ok(()), |why| Err(why.to_owned())));
            let check =
                judge("counters", ["task_clock", "page_faults"].into_iter().zip(opened).collect(), "lost", "a PMU");
            assert_eq!((check.state, check.remedy.as_deref()), (state, remedy), "{check:?}");
            assert!(check.found.contains(found), "{check:?}");
        };
        check([None, None], State::Good, "task_clock, page_faults", None);
        let sysctl = Some("sudo sysctl kernel.perf_event_paranoid=1");
        let refused = "software counters are not permitted; perf_event_paranoid is 2 but must be 1 or less";
        check([None, Some(refused)], State::Missing, "task_clock only: software counters are not permitted", sysctl);
        let none = Some("no software counters here");
        check([none, none], State::Missing, "no software counters here", Some("a PMU"));
    }
}
