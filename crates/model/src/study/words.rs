//! The parts of a condition, in words: what a plan shows beforehand. Whether a place grants them is not known here.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use super::{Condition, LoadOf, LoadSpec};

/// What a part of a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Load,
    LoadCpus,
    Processes,
    Cpus,
    Realtime,
    Aslr,
    Memory,
    CpuLimit,
    Environment,
    DropCaches,
}

impl Condition {
    /// Each part that it asks for, in words, such as `4 copies of the baseline beside it`; none if it asks for nothing.
    pub fn parts(&self) -> Vec<(Part, String)> {
        let mut parts = vec![];
        if let Some(load) = &self.load {
            parts.push((Part::Load, load_in_words(load)));
            parts.extend(load.cpus.iter().map(|cpus| (Part::LoadCpus, format!("the load on {}", processors(cpus)))));
        }
        let aslr = |on| if on { "addresses randomised" } else { "addresses not randomised" }.to_owned();
        let single = [
            (Part::Processes, (self.processes > 1).then(|| format!("{} processes at once", self.processes))),
            (Part::Cpus, self.cpus.as_ref().map(|cpus| format!("trials on {}", processors(cpus)))),
            (Part::Realtime, self.realtime.map(|priority| format!("real-time priority {priority} (SCHED_FIFO)"))),
            (Part::Aslr, self.aslr.map(aslr)),
            (Part::Memory, self.memory_bytes.map(|bytes| format!("at most {} of memory", size(bytes)))),
            (Part::CpuLimit, self.cpu_limit.map(|limit| format!("CPU time limited to {limit} × one processor"))),
        ];
        parts.extend(single.into_iter().filter_map(|(part, words)| Some((part, words?))));
        parts.extend(self.environment.iter().map(|(name, value)| (Part::Environment, format!("{name}={value}"))));
        if self.drop_caches {
            parts.push((Part::DropCaches, "file system caches dropped before each trial".to_owned()));
        }
        parts
    }
}

fn load_in_words(load: &LoadSpec) -> String {
    let (copies, each) =
        if load.copies == 1 { ("a copy".to_owned(), "") } else { (format!("{} copies", load.copies), "each ") };
    let of = match &load.of {
        LoadOf::Baseline => "the baseline".to_owned(),
        LoadOf::Itself => "the variant itself".to_owned(),
        LoadOf::Command(command) => format!("`{command}`"),
    };
    match load.pace_s {
        // A third of a second has no end; a microsecond is nothing to a process.
        Some(pace_s) => format!("{copies} of {of} alongside, {each}started every {} s", (pace_s * 1e6).round() / 1e6),
        None => format!("{copies} of {of} alongside"),
    }
}

fn processors(cpus: &[u32]) -> String {
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    format!("processor{} {}", if cpus.len() == 1 { "" } else { "s" }, list.join(","))
}

/// In the largest unit that leaves no fraction.
fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")];
    let (unit, word) = units.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit)).unwrap_or((1, "B"));
    format!("{} {word}", bytes / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_in_words_and_nothing_is_no_part() {
        assert_eq!(Condition { processes: 1, ..Condition::default() }.parts(), []);
        let load = LoadSpec { copies: 4, of: LoadOf::Itself, pace_s: Some(1.0 / 3.0), cpus: Some(vec![1]) };
        let all = Condition {
            name: "all".to_owned(),
            load: Some(load),
            processes: 2,
            cpus: Some(vec![0, 2]),
            realtime: Some(1),
            aslr: Some(false),
            environment: [("LC_ALL".to_owned(), "C".to_owned())].into(),
            drop_caches: true,
            memory_bytes: Some(1536 << 20),
            cpu_limit: Some(0.5),
            as_built: false,
        };
        let expect = [
            "4 copies of the variant itself alongside, each started every 0.333333 s",
            "the load on processor 1",
            "2 processes at once",
            "trials on processors 0,2",
            "real-time priority 1 (SCHED_FIFO)",
            "addresses not randomised",
            "at most 1536 MiB of memory",
            "CPU time limited to 0.5 × one processor",
            "LC_ALL=C",
            "file system caches dropped before each trial",
        ];
        let words: Vec<String> = all.parts().into_iter().map(|(_, words)| words).collect();
        assert_eq!(words, expect);
    }
}
