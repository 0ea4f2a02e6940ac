//! What is counted while a command is traced. It knows no process and no kernel: the watcher tells it.

use super::calls::Call;
use super::census::{Calls, Census, Children, Mapped, Opened};
use super::used::{Use, Used};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

/// Paths that are kept; look-ups of others are only counted. A workload that walks through a tree has as many as files.
const MOST_PATHS: usize = 2000;

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) tasks: u64,
    /// Processes that began meanwhile.
    pub(super) children: u64,
    /// Calls of processes that were there before, and of those.
    calls: [HashMap<Call, Calls>; 2],
    /// How often each path was there, and was not.
    paths: BTreeMap<Vec<u8>, (u64, u64)>,
    left_out: u64,
    /// Whether some of each file could be run.
    mapped: BTreeMap<Vec<u8>, bool>,
    /// Filled where only files are watched.
    pub(super) used: Used,
}

impl Tally {
    /// A call is made, by a process that began meanwhile or by another.
    pub(super) fn made(&mut self, call: Call, by_child: bool) {
        self.calls[usize::from(by_child)].entry(call).or_default().count += 1;
    }

    /// It returned an error.
    pub(super) fn failed(&mut self, call: Call, by_child: bool) {
        self.calls[usize::from(by_child)].entry(call).or_default().errors += 1;
    }

    /// A path was looked for.
    pub(super) fn looked_for(&mut self, path: Vec<u8>, found: bool) {
        if path.is_empty() {
            return; // the call is about a descriptor
        }
        if self.paths.len() >= MOST_PATHS && !self.paths.contains_key(&path) {
            self.left_out += 1;
            return;
        }
        let times = self.paths.entry(path).or_default();
        *(if found { &mut times.0 } else { &mut times.1 }) += 1;
    }

    /// A process had these mappings: the text of its `/proc/PID/maps`.
    pub(super) fn mapped(&mut self, maps: &[u8]) {
        for line in maps.split(|&byte| byte == b'\n') {
            let Some((rights, path)) = mapping(line) else { continue };
            let executable = rights.contains(&b'x');
            match self.mapped.get_mut(path) {
                Some(known) => *known |= executable,
                None => drop(self.mapped.insert(path.to_vec(), executable)),
            }
        }
    }

    /// The files that were used. One that was removed while it was mapped has no path any more.
    pub(super) fn into_used(mut self) -> Used {
        for path in std::mem::take(&mut self.mapped).into_keys().map(lossy).filter(|path| !path.ends_with(" (deleted)"))
        {
            self.used.add(&path, Use::Read, false);
        }
        self.used
    }

    /// All of it, in the words of a journal. Paths that are no UTF-8 and look alike then are added up.
    pub(super) fn into_census(self) -> Census {
        let [by_others, by_children] = self.calls;
        let (mut syscalls, mut of_children) = (BTreeMap::new(), BTreeMap::new());
        // Calls of one name have other numbers for programs of another machine that the kernel runs too.
        let add =
            |sums: &mut BTreeMap<String, Calls>, call: Call, calls| *sums.entry(call.name()).or_default() += calls;
        by_others.into_iter().for_each(|(call, calls)| add(&mut syscalls, call, calls));
        for (call, calls) in by_children {
            add(&mut syscalls, call, calls);
            add(&mut of_children, call, calls);
        }
        let mut opened: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (path, (found, missed)) in self.paths {
            let sum = opened.entry(lossy(path)).or_default();
            (sum.0, sum.1) = (sum.0 + found, sum.1 + missed);
        }
        let mut mapped: BTreeMap<String, bool> = BTreeMap::new();
        for (path, executable) in self.mapped {
            *mapped.entry(lossy(path)).or_default() |= executable;
        }
        Census {
            tasks: self.tasks,
            syscalls,
            children: Children { processes: self.children, syscalls: of_children },
            mapped: mapped.into_iter().map(|(path, executable)| Mapped { path, executable }).collect(),
            opened: opened.into_iter().map(|(path, (found, missed))| Opened { path, found, missed }).collect(),
            opened_left_out: self.left_out,
        }
    }
}

/// Rights and path of a line of `maps` (proc_pid_maps(5)); none if it is no file that is mapped.
fn mapping(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = line;
    let mut field = || {
        let end = rest.iter().position(|&byte| byte == b' ')?;
        let (field, after) = rest.split_at(end);
        rest = &after[after.iter().position(|&byte| byte != b' ').unwrap_or(after.len())..];
        Some(field)
    };
    let (_range, rights) = (field()?, field()?);
    let (_offset, _device, _inode) = (field()?, field()?, field()?);
    rest.starts_with(b"/").then_some((rights, rest))
}

/// Any bytes as text: what is no UTF-8 is replaced.
fn lossy(bytes: Vec<u8>) -> String {
    OsString::from_vec(bytes).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_from_the_maps_and_nothing_else() {
        let mut tally = Tally::default();
        tally.mapped(
            b"5570e3a0b000-5570e3a0d000 r--p 00000000 fe:00 1310 /usr/bin/cat\n\
              5570e3a0d000-5570e3a12000 r-xp 00002000 fe:00 1310 /usr/bin/cat\n\
              5570e3d2b000-5570e3d4c000 rw-p 00000000 00:00 0    [heap]\n\
              7f3a8c000000-7f3a8c021000 rw-p 00000000 00:00 0 \n\
              7f3a90000000-7f3a90001000 r--p 00000000 fe:00 9    /tmp/a  b\xff (deleted)\n\
              7ffd0a5f2000-7ffd0a5f4000 r-xp 00000000 00:00 0    [vdso]\nnonsense\n",
        );
        let census = tally.into_census();
        let mapped: Vec<_> = census.mapped.iter().map(|file| (file.path.as_str(), file.executable)).collect();
        assert_eq!(mapped, [("/tmp/a  b\u{fffd} (deleted)", false), ("/usr/bin/cat", true)]);
    }

    #[test]
    fn paths_beyond_the_most_are_counted_and_those_that_are_kept_go_on_to_be() {
        let mut tally = Tally::default();
        for number in 0..MOST_PATHS + 3 {
            tally.looked_for(format!("/{number}").into_bytes(), true);
        }
        tally.looked_for(b"/0".to_vec(), false);
        tally.looked_for(vec![], true);
        let census = tally.into_census();
        assert_eq!((census.opened.len(), census.opened_left_out), (MOST_PATHS, 3));
        assert_eq!(census.opened[0], Opened { path: "/0".to_owned(), found: 1, missed: 1 });
    }

    #[test]
    fn calls_of_one_name_are_one_whatever_machine_they_are_of() {
        let mut tally = Tally::default();
        for call in [Call::own_execve(), Call::own_execve()] {
            tally.made(call, false);
        }
        tally.failed(Call::own_execve(), false);
        tally.made(Call::own_execve(), true);
        let census = tally.into_census();
        assert_eq!(census.syscalls["execve"], Calls { count: 3, errors: 1 }, "a child's call is one of all");
        assert_eq!(census.children.syscalls["execve"], Calls { count: 1, errors: 0 });
    }
}
