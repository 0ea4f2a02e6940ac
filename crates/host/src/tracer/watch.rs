//! Follows a command and all that comes of it, from stop to stop, until its main process has ended (ptrace(2)). Signals
//! are handed on, and what is stopped by one stays so; nothing that a task does is changed.

use super::calls::{Call, Stop};
use super::sys::{self, Pid};
use super::tally::Tally;
use super::used::Use;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

const EVENT_EXEC: i32 = 4;
const EVENT_EXIT: i32 = 6;
const EVENT_FILTER: i32 = 7;
const EVENT_STOP: i32 = 128;
/// What a stop at a system call adds to SIGTRAP (PTRACE_O_TRACESYSGOOD).
const SYSGOOD: i32 = 0x80;
/// The longest path that is read; the kernel takes none that is longer (PATH_MAX).
const LONGEST_PATH: usize = 4096;
/// Memory is read up to the end of a page of at least this size: the next one may not be there.
const PAGE: u64 = 4096;

/// What the tracer's main process came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Exited(i32),
    Signalled(i32),
}

struct Task {
    process: Pid,
    call: Option<Pending>,
}

struct Pending {
    call: Call,
    /// The path that it opens or looks for.
    path: Option<Vec<u8>>,
    /// Where files are watched: what it does, and with which.
    files: Option<(Use, Vec<String>)>,
}

/// Where we are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Now {
    Before,
    Counting,
    After,
}

/// Everything that is followed.
struct Watch<'a> {
    main: Pid,
    program: &'a Path,
    /// The main process has become its program.
    begun: bool,
    /// Which files are used, and nothing else: then a filter stops the calls that name some.
    only_files: bool,
    /// Calls count while this file is there; none: always.
    during: Option<&'a Path>,
    now: Now,
    /// Processes that were there before counting began, and those that began when it was over. All others are children.
    older: HashSet<Pid>,
    later: HashSet<Pid>,
    tasks: HashMap<Pid, Task>,
    /// Processes whose first thread has ended before others.
    headless: Vec<Pid>,
    /// The argument of each call that is a path: looked up once.
    path_arguments: HashMap<Call, Option<usize>>,
    tally: Tally,
}

/// Watches until the main process has ended, and counts while there is a file of that name, if one is named.
pub(super) fn watch(main: Pid, program: &Path, during: Option<&Path>, only_files: bool) -> io::Result<(Tally, End)> {
    let mut watch = Watch {
        main,
        program,
        begun: false,
        only_files,
        during,
        now: if during.is_some() { Now::Before } else { Now::Counting },
        older: HashSet::from([main]),
        later: HashSet::new(),
        tasks: HashMap::new(),
        headless: vec![],
        path_arguments: HashMap::new(),
        tally: Tally::default(),
    };
    while let Some((pid, status)) = sys::wait()? {
        watch.update_window();
        if let Some(end) = watch.see(pid, status) {
            // What is left dies with us, and will not say what it had mapped.
            let left: Vec<Pid> = watch.tasks.values().map(|task| task.process).collect();
            left.iter().for_each(|process| watch.read_maps(*process));
            return Ok((watch.tally, end));
        }
    }
    Err(io::Error::other("the traced command disappeared"))
}

impl Watch<'_> {
    /// Begins or ends the counting, by whether the file is there. At every stop: nobody may miss the other's moment.
    fn update_window(&mut self) {
        let Some(file) = self.during else { return };
        match (self.now, file.exists()) {
            (Now::Before, true) => {
                self.now = Now::Counting;
                self.tally.tasks = self.tasks.len() as u64;
                self.older.extend(self.tasks.values().map(|task| task.process));
            }
            (Now::Counting, false) => self.now = Now::After,
            _ => {}
        }
    }

    fn process(&self, pid: Pid) -> Pid {
        self.tasks.get(&pid).map_or(pid, |task| task.process)
    }

    fn is_child(&self, pid: Pid) -> bool {
        let process = self.process(pid);
        !self.older.contains(&process) && !self.later.contains(&process)
    }

    /// Whether what a task does now counts: of a process that began meanwhile all of it does.
    fn counts(&self, pid: Pid) -> bool {
        match self.now {
            Now::Before => false,
            Now::Counting => true,
            Now::After => self.is_child(pid),
        }
    }

    fn begins(&mut self, pid: Pid) {
        let process = process_of(pid);
        let is_known = process != pid || self.older.contains(&pid);
        match self.now {
            Now::Counting => {
                self.tally.tasks += 1;
                self.tally.children += u64::from(!is_known);
            }
            Now::After if !is_known => drop(self.later.insert(pid)),
            Now::Before | Now::After => {}
        }
        self.tasks.insert(pid, Task { process, call: None });
    }

    /// Sees to what happened to a task; how the main process ended, if that is it.
    fn see(&mut self, pid: Pid, status: i32) -> Option<End> {
        if libc::WIFSTOPPED(status) {
            self.stopped(pid, libc::WSTOPSIG(status), status >> 16);
            return None;
        }
        self.tasks.remove(&pid);
        self.headless.retain(|known| *known != pid);
        self.older.remove(&pid);
        self.later.remove(&pid);
        let is_main = pid == self.main;
        let end = if libc::WIFSIGNALED(status) {
            End::Signalled(libc::WTERMSIG(status))
        } else {
            End::Exited(libc::WEXITSTATUS(status))
        };
        is_main.then_some(end)
    }

    fn stopped(&mut self, pid: Pid, signal: i32, event: i32) {
        if !self.tasks.contains_key(&pid) {
            self.begins(pid);
        }
        match (event, signal) {
            (0, signal) if signal == libc::SIGTRAP | SYSGOOD => self.at_call(pid),
            (EVENT_FILTER, _) => self.at_call(pid),
            (0, signal) => return self.go_on(pid, signal),
            (EVENT_EXEC, _) => self.note_exec(pid),
            (EVENT_EXIT, _) => self.note_exit(pid),
            // Stopped by a signal, as all of its process: so it stays until another signal.
            (EVENT_STOP, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => return sys::stay(pid),
            // A task begins, or goes on after such a stop; or it has made another task.
            _ => {}
        }
        self.go_on(pid, 0);
    }

    /// To the next call, or with a filter to the next that it stops; but out of a call that is being made.
    fn go_on(&self, pid: Pid, signal: i32) {
        let is_in_call = self.tasks.get(&pid).is_some_and(|task| task.call.is_some());
        if self.only_files && !is_in_call { sys::go_on_to_event(pid, signal) } else { sys::go_on(pid, signal) }
    }

    fn at_call(&mut self, pid: Pid) {
        let by_child = self.is_child(pid);
        let Some(words) = sys::syscall_info(pid) else { return };
        match Stop::of(&words) {
            Stop::Entry(call, arguments) if self.counts(pid) => {
                self.tally.made(call, by_child);
                let argument = *self.path_arguments.entry(call).or_insert_with(|| call.path_argument());
                let path = argument.and_then(|argument| read_path(pid, arguments[argument]));
                // If it succeeds, what was mapped is gone.
                if argument.is_some() && call.is_exec() {
                    self.read_maps(pid);
                }
                let files = if self.only_files { files_of(pid, call, &arguments) } else { None };
                if let Some(task) = self.tasks.get_mut(&pid) {
                    task.call = Some(Pending { call, path, files });
                }
            }
            Stop::Exit(failed) => {
                let Some(Pending { call, path, files }) = self.tasks.get_mut(&pid).and_then(|task| task.call.take())
                else {
                    return; // a task that begins returns from the call that made it; or that one did not count
                };
                if failed {
                    self.tally.failed(call, by_child);
                }
                if let Some((by, paths)) = files {
                    paths.iter().for_each(|path| self.tally.used.add(path, by, failed));
                } else if let Some(path) = path {
                    self.tally.looked_for(path, !failed);
                }
            }
            Stop::Entry(..) | Stop::Other => {}
        }
    }

    /// A process has become another program: of its threads only the caller is left, and has the process's id.
    fn note_exec(&mut self, pid: Pid) {
        let former = sys::event_message(pid).and_then(|former| Pid::try_from(former).ok()).unwrap_or(pid);
        let mut call = self.tasks.remove(&former).and_then(|task| task.call);
        self.tasks.retain(|_, task| task.process != pid);
        self.headless.retain(|known| *known != pid);
        if !self.begun && pid == self.main {
            self.begun = true;
            if self.counts(pid) {
                let first = Call::own_execve();
                self.tally.made(first, false);
                let path = self.program.as_os_str().as_bytes().to_vec();
                let files = self.only_files.then(|| (Use::Read, vec![self.program.display().to_string()]));
                call = Some(Pending { call: first, path: Some(path), files });
            }
        }
        self.tasks.insert(pid, Task { process: pid, call });
    }

    /// A task is about to end, and its memory is still there.
    fn note_exit(&mut self, pid: Pid) {
        let process = self.tasks.get(&pid).map_or(pid, |task| task.process);
        if pid == process {
            self.read_maps(pid);
            self.headless.push(pid);
        } else if self.headless.contains(&process) {
            self.read_maps(pid);
        }
    }

    fn read_maps(&mut self, pid: Pid) {
        // Before it is its program it is a copy of us.
        if self.begun && self.now != Now::Before && !self.later.contains(&self.process(pid)) {
            self.tally.mapped(&std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default());
        }
    }
}

/// The process that a task belongs to; itself, if the kernel does not say so any more.
fn process_of(task: Pid) -> Pid {
    let status = std::fs::read(format!("/proc/{task}/status")).unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let process = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
    process.unwrap_or(task)
}

/// What a call does with files, and which: absolute paths, those of them that are text.
fn files_of(pid: Pid, call: Call, arguments: &[u64; 6]) -> Option<(Use, Vec<String>)> {
    let (mut by, named) = call.file_use(arguments)?;
    if call.has_flags_in_memory() {
        let mut flags = [0; 8];
        sys::read_memory(pid, arguments[2], &mut flags);
        by = Call::own_openat().file_use(&[0, 0, u64::from_ne_bytes(flags), 0, 0, 0])?.0;
    }
    let path = |(folder, path): &(Option<usize>, usize)| {
        let path = String::from_utf8(read_path(pid, arguments[*path])?).ok().filter(|path| !path.is_empty())?;
        if path.starts_with('/') {
            return Some(path);
        }
        let folder = folder.map(|folder| arguments[folder] as i32).filter(|&folder| folder != libc::AT_FDCWD);
        let folder = folder.map_or_else(|| "cwd".to_owned(), |folder| format!("fd/{folder}"));
        let folder = std::fs::read_link(format!("/proc/{pid}/{folder}")).ok()?;
        folder.join(path).into_os_string().into_string().ok()
    };
    Some((by, named.iter().filter_map(path).collect()))
}

/// The path at an address of a task; none if there is none.
fn read_path(pid: Pid, address: u64) -> Option<Vec<u8>> {
    let mut path = vec![];
    let mut buffer = [0; PAGE as usize];
    while path.len() < LONGEST_PATH {
        let from = address.checked_add(path.len() as u64)?;
        let wanted = (PAGE - from % PAGE) as usize;
        let read = sys::read_memory(pid, from, &mut buffer[..wanted]);
        if let Some(end) = buffer[..read].iter().position(|&byte| byte == 0) {
            path.extend(&buffer[..end]);
            return Some(path);
        }
        if read < wanted {
            return None;
        }
        path.extend(&buffer[..read]);
    }
    None
}
