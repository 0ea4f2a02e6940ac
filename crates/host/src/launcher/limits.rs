//! Which limits can be had here, found out beforehand and on the spot.

use super::{Launcher, channel, reply, request, wire};
use crate::files::Files;
use crate::job::Limits;

impl Launcher {
    /// Parts of limits that cannot be had here: what, by its name in [`Limits`], and why. Processes go without them.
    pub fn refused(&self, limits: &Limits) -> Vec<(String, String)> {
        let mut refused: Vec<(String, String)> = vec![];
        let absent: Vec<String> =
            offline(limits.cpus.as_deref().unwrap_or_default()).iter().map(u32::to_string).collect();
        if !absent.is_empty() {
            let why = match absent.as_slice() {
                [one] => format!("processor {one} is not online here"),
                several => format!("processors {} are not online here", several.join(", ")),
            };
            refused.push(("cpus".to_owned(), why));
        }
        for (step, what, why) in self.tried(limits) {
            if !refused.iter().any(|(known, _)| *known == what) {
                refused.push((what.to_owned(), format!("{step}: {why}")));
            }
        }
        refused.extend(self.probes.iter().flat_map(|probe| probe.refused(limits)));
        if self.probes.is_empty() && limits.cpu_limit.is_some() {
            refused.push(("cpu_limit".to_owned(), "no cgroup was created for the job".to_owned()));
        }
        refused
    }

    /// What a process that tries them is refused.
    fn tried(&self, limits: &Limits) -> Vec<(&'static str, &'static str, String)> {
        if self.under_way.is_some() || (limits.cpus.is_none() && limits.realtime.is_none() && limits.aslr.is_none()) {
            return vec![];
        }
        let asked = channel::send(&self.control, wire::TRY, &request::trial_of(limits), &[]);
        let heard = asked.and_then(|()| channel::receive(&self.control));
        let tried = match heard {
            Ok(Some((wire::TRIED, body))) => wire::read::<wire::Tried>(&body, 0),
            _ => None,
        };
        // A launcher that says nothing to this says so, and why, to the next who asks it for something.
        let Some(tried) = tried else { return vec![] };
        let steps = [
            (wire::AFFINITY, "sched_setaffinity", "cpus"),
            (wire::REALTIME, "sched_setscheduler", "realtime"),
            (wire::PERSONALITY, "personality", "aslr"),
        ];
        let failed = steps.into_iter().map(|(step, call, what)| (tried.errno[step as usize], call, what));
        failed
            .filter(|(errno, ..)| *errno != 0)
            .map(|(errno, call, what)| (call, what, reply::errno_in_words(errno)))
            .collect()
    }
}

/// Those of some processors that are not there, or switched off.
pub fn offline(cpus: &[u32]) -> Vec<u32> {
    cpus.iter().copied().filter(|&cpu| !is_online(&Files::here(), cpu)).collect()
}

/// Whether a processor is there and on; yes if nobody says.
fn is_online(files: &Files, cpu: u32) -> bool {
    let Some(online) = files.read("sys/devices/system/cpu/online") else { return true };
    online.split(',').any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let within = |first: u32, last: u32| (first..=last).contains(&cpu);
        first.parse().ok().zip(last.parse().ok()).is_some_and(|(first, last)| within(first, last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_that_are_online() {
        let check = |text: &str, cpu, expect| {
            let root = tempfile::tempdir().unwrap();
            let files = Files::made_of(root.path(), &[("sys/devices/system/cpu/online", text)]);
            assert_eq!(is_online(&files, cpu), expect, "{cpu} of {text}");
        };
        check("0-1\n", 1, true);
        check("0-1\n", 2, false);
        check("0,2-3\n", 1, false);
        check("0,2-3\n", 3, true);
        check("0\n", 0, true);
        check("", 7, true);
    }
}
