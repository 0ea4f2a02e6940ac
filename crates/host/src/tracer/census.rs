//! What a traced program did: its system calls, the files that it had mapped and the paths that it looked for.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What a program did, and all processes that came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Census {
    /// Its processes and threads, itself included.
    pub tasks: u64,
    /// System calls by name, of all processes.
    pub syscalls: BTreeMap<String, Calls>,
    /// Of all this, what was done by processes that began meanwhile.
    #[serde(default)]
    pub children: Children,
    /// Files that were mapped when a process ended or ran another program, by path; executable ones are its libraries.
    pub mapped: Vec<Mapped>,
    /// Paths that were opened or looked for, sorted.
    pub opened: Vec<Opened>,
    /// How often a path was opened or looked for that is not among these: there were too many of them.
    #[serde(default)]
    pub opened_left_out: u64,
}

/// Processes that began while a program was watched: the program's own first process is none of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Children {
    /// How many; threads are not counted.
    pub processes: u64,
    /// Their system calls by name.
    pub syscalls: BTreeMap<String, Calls>,
}

/// How often a system call was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Calls {
    /// All of them.
    pub count: u64,
    /// Those that returned an error.
    pub errors: u64,
}

impl AddAssign for Calls {
    fn add_assign(&mut self, more: Self) {
        self.count += more.count;
        self.errors += more.errors;
    }
}

/// A file that was mapped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mapped {
    /// Its path; `$PREFIX` stands for the variant's prefix.
    pub path: String,
    /// Whether some of it can be run.
    pub executable: bool,
}

/// A path that was opened or looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Opened {
    /// As it was named, with `$PREFIX` for the variant's prefix.
    pub path: String,
    /// How often it was there.
    pub found: u64,
    /// How often it was not, or could not be opened.
    pub missed: u64,
}
