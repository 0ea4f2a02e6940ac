//! What `tool/blockcount.c` writes, read line by line: that file says what the lines are. A file that ends early belongs to a
//! process that was killed; what it has is kept.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a process counted until it ended, or became another program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dump {
    pub(super) pid: u32,
    pub(super) is_forked: bool,
    /// Whether it is the rest of a process that did not become another program, and has a dump for what was before.
    pub(super) is_resumed: bool,
    pub(super) program: PathBuf,
    /// By the file that they are in.
    pub(super) runs: BTreeMap<Mapped, Vec<Run>>,
    pub(super) unnamed: u64,
    /// Whether all of it was written.
    pub(super) is_whole: bool,
}

/// A file that code was mapped from. Another file may have the same path by now.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mapped {
    pub(super) path: PathBuf,
    pub(super) inode: u64,
}

/// Instructions that were executed one after the other, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Where the first of them is in its file.
    pub(super) offset: u64,
    pub(super) instructions: u32,
    pub(super) count: u64,
}

impl Dump {
    pub(super) fn of(text: &str) -> Self {
        let mut dump = Self::default();
        let mut files: Vec<Mapped> = vec![];
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            let mut words = rest.split(' ');
            match kind {
                "process" => {
                    dump.pid = words.next().and_then(|pid| pid.parse().ok()).unwrap_or_default();
                    dump.is_forked = words.nth(1) == Some("forked");
                    dump.is_resumed = words.next() == Some("resumed");
                }
                "program" => dump.program = rest.into(),
                "file" => files.push(mapped(rest)),
                "run" => {
                    let Some((file, run)) = run(rest) else { continue };
                    let Some(file) = files.get(file) else { continue };
                    match dump.runs.get_mut(file) {
                        Some(runs) => runs.push(run),
                        None => drop(dump.runs.insert(file.clone(), vec![run])),
                    }
                }
                "unnamed" => dump.unnamed = rest.parse().unwrap_or_default(),
                "end" => dump.is_whole = true,
                _ => {}
            }
        }
        dump
    }
}

fn mapped(words: &str) -> Mapped {
    let mut words = words.splitn(3, ' ').skip(1);
    let inode = words.next().and_then(|inode| inode.parse().ok()).unwrap_or_default();
    Mapped { path: words.next().unwrap_or_default().into(), inode }
}

fn run(words: &str) -> Option<(usize, Run)> {
    let mut words = words.split(' ');
    let file = words.next()?.parse().ok()?;
    let offset = words.next()?.parse().ok()?;
    let instructions = words.next()?.parse().ok()?;
    Some((file, Run { offset, instructions, count: words.next()?.parse().ok()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_has_runs_by_file_and_what_is_broken_is_left_out() {
        let text = "process 12 3 forked\nprogram /bin/a b\nfile 0 5 /bin/a b\nfile 1 6 /lib/c.so\nrun 0 4096 3 7\n\
            run 1 8 1 2\nrun 9 1 1 1\nrun 0 x\nnoise\nunnamed 5\nend exit\n";
        let dump = Dump::of(text);
        assert_eq!((dump.pid, dump.is_forked, dump.unnamed, dump.is_whole), (12, true, 5, true));
        assert_eq!(dump.program, PathBuf::from("/bin/a b"));
        let file = |path: &str, inode| Mapped { path: path.into(), inode };
        let run = |offset, instructions, count| vec![Run { offset, instructions, count }];
        assert_eq!(dump.runs, [(file("/bin/a b", 5), run(4096, 3, 7)), (file("/lib/c.so", 6), run(8, 1, 2))].into());
        assert!(!dump.is_resumed && Dump::of("process 12 3 forked resumed").is_resumed);
        assert!(!Dump::of("process 1 1 started\nrun").is_whole && !Dump::of("").is_whole);
    }
}
