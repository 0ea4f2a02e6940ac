//! The programs that run at the kernel's raw tracepoints: what they add up, and how they follow a tree. They only write
//! maps; what the sums mean is known elsewhere.
//!
//! # Tasks
//! A task is known by the address of its `task_struct`, which stays the same when a thread that is not the first executes
//! a program and so takes over the number of its process. The process that was launched is known by its number until it
//! executes its program (`BEGUN`). From then on, a task of somebody else costs two look-ups at a call, and one elsewhere.
//!
//! # Who writes what
//! Sums are added to without a lock. Each word has only writers that cannot interrupt each other on one processor: the
//! tracepoints of calls and faults run with preemption off, those of the scheduler with interrupts off besides. No word has
//! writers of both kinds but a call's time, to which the last switch of a task adds, and that does not interrupt.
//!
//! # The log
//! Where it is kept, it has a task's state at its birth, whenever a blocked phase ends, and at its end. Who wakes a task is the current
//! task at `sched_waking`; at `sched_wakeup` it may be whatever the other processor was about. An interrupt may come upon any task,
//! so the log has the waker's call too.
//!
//! # Registers
//! r6 has the arguments, r7 the task's state, r8 the time, r9 this processor's sums, r2 what is to be added to one.

use super::assembler::assemble;
use super::layout as at;
use std::collections::BTreeMap;
use std::ffi::CStr;

/// What programs need to know: descriptors of maps, the launched process, and where a task's number is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Programs {
    pub(super) tasks: i32,
    pub(super) shared: i32,
    pub(super) sums: i32,
    /// Unless there is no log.
    pub(super) log: Option<i32>,
    pub(super) root: i32,
    pub(super) pid_offset: i32,
    /// Where the launched process is, unless it has the numbers that the kernel uses.
    pub(super) namespace: Option<Namespace>,
}

/// A PID namespace, as the kernel knows it: the device and the number of its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Namespace {
    pub(super) device: i32,
    pub(super) inode: u32,
}

/// A program and its tracepoint.
pub(super) struct Program {
    pub(super) tracepoint: &'static CStr,
    /// None if it cannot be assembled.
    pub(super) code: Option<Vec<u64>>,
    /// Whether there are machines whose kernels do not have the tracepoint.
    pub(super) may_be_absent: bool,
}

/// Calls by which a program becomes another one: this machine's, and those of its programs of 32 bits.
const EXEC: [i32; 2] = [libc::SYS_execve as i32, libc::SYS_execveat as i32];
const COMPAT_EXEC: [i32; 2] = [at::COMPAT | 11, at::COMPAT | if cfg!(target_arch = "x86_64") { 358 } else { 387 }];

/// The register that tells programs of 32 bits: where it is in `struct pt_regs`, its bits that do, and what they are then.
/// `cs` is __USER32_CS on x86-64; `pstate` has PSR_MODE32_BIT on aarch64.
const MODE: [i32; 3] = if cfg!(target_arch = "x86_64") { [136, 0xffff, 0x23] } else { [264, 0x10, 0x10] };

/// Numbers that have the same names as in [`super::layout`].
macro_rules! named {
    ($($name:ident)*) => { [$((stringify!($name), at::$name as i32)),*] };
}

/// What else has a name: places on the stack, functions of the kernel (linux/bpf.h), a task's last state (linux/sched.h),
/// and all bits of a call's number but the one by which x32 differs from x86-64.
const OTHERS: [(&str, i32); 14] = [
    ("TASK", -8),
    ("KEY", -16),
    ("REGISTER", -24),
    ("NEW", -88),
    ("LOOKUP", 1),
    ("UPDATE", 2),
    ("DELETE", 3),
    ("NANOSECONDS", 5),
    ("PROCESSOR", 8),
    ("CURRENT", 35),
    ("READ_KERNEL", 113),
    ("NUMBER_WITHIN", 120),
    ("TASK_DEAD", 0x80),
    ("WITHOUT_X32", !0x4000_0000),
];

/// r0 is where a map has what belongs to the key on the stack.
fn lookup(map: &str, key: &str) -> String {
    format!("r1 = map {map}; r2 = r10; r2 += {key}; call LOOKUP\n")
}

/// r0 is where words are that all processors share.
fn shared(none: &str) -> String {
    format!("word r10 KEY = 0; {} if r0 == 0 goto {none}\n", lookup("SHARED", "KEY"))
}

/// Counts in a word that all processors share.
fn count(word: &str, none: &str) -> String {
    format!("{} r1 = 1; lock r0 {word} += r1\n", shared(none))
}

/// Adds the state to which r7 leads to the log. An array takes nothing behind its end.
fn log() -> String {
    format!(
        "{} r1 = 1; fetch r0 LOGGED += r1; word r10 KEY = r1
         r1 = map LOG; r2 = r10; r2 += KEY; r3 = r7; r4 = 0; call UPDATE
         logged:;",
        shared("logged")
    )
}

/// Takes down in the state to which r7 leads that the task of r9's woke it, or began it.
const BY_OTHER: &str = "r1 = long r9 BORN; long r7 BY_BORN = r1; r1 = word r9 TID; word r7 BY = r1
    r1 = word r9 CALL; word r7 BY_CALL = r1\n";

/// Writes the number of the task on the stack to the place in r1.
const READ_TID: &str = "r2 = 4; r3 = long r10 TASK; r3 += PID_OFFSET; call READ_KERNEL\n";

/// Likewise the current task's number in the namespace, and its process's; there is none in others.
const READ_TID_WITHIN: &str = "r3 = r1; r4 = 8; r1 = DEVICE; r2 = INODE_HIGH; r2 <<= 16; r5 = INODE_LOW; r2 |= r5
     call NUMBER_WITHIN; if r0 != 0 goto end\n";

/// r7 leads to the state of a new task, which begins when r0 says. Who began it is still to be written, and more.
const NEW_TASK: &str =
    "r7 = r10; r7 += NEW; long r7 SINCE = r0; long r7 BORN = r0; long r7 WOKEN = r0; long r7 ENTERED = 0
    word r7 CALL = NO_CALL\n";

/// Keeps it as that of the task on the stack.
const KEEP: &str = "r1 = map TASKS_MAP; r2 = r10; r2 += TASK; r3 = r7; r4 = 0; call UPDATE\n";

/// A switch to the current task may have been missed. What is lost then ends here.
const RUNS: &str =
    "r1 = word r7 PHASE; if r1 == ON_CPU goto runs; call NANOSECONDS; long r7 SINCE = r0; word r7 PHASE = ON_CPU
    runs:\n";

/// r7 is where the state is of the task whose address is in r1, which is on the stack from then on.
fn find(none: &str) -> String {
    format!("long r10 TASK = r1; {} if r0 == 0 goto {none}; r7 = r0\n", lookup("TASKS_MAP", "TASK"))
}

/// Likewise of the current task, with the sums.
fn find_current() -> String {
    format!("r6 = r1; call CURRENT; r1 = r0; {} {RUNS} {}", find("end"), sums("end"))
}

/// The same when it makes a call, which may be the first one of the launched process.
fn find_caller(is_within: bool) -> String {
    format!(
        "r6 = r1; call CURRENT; long r10 TASK = r0; {find_task} if r0 != 0 goto found
         {shared} r1 = long r0 BEGUN; if r1 != 0 goto end; r8 = r0
         r1 = long r6 8; if r1 == EXECVE goto begins; if r1 == EXECVEAT goto begins; goto end
         begins:; r1 = r10; r1 += KEY; {read_tid} r1 = word r10 KEY; if r1 != ROOT goto end
         long r8 BEGUN = 1; call NANOSECONDS; {NEW_TASK} long r7 BY_BORN = 0; word r7 BY = 0; word r7 BY_CALL = NO_CALL
         word r7 PHASE = ON_CPU; word r7 MACHINE = UNKNOWN; word r7 TID = ROOT; {KEEP} if r0 != 0 goto end
         {tasks} {find_task} if r0 == 0 goto end
         found:; r7 = r0; {RUNS} {sums}",
        find_task = lookup("TASKS_MAP", "TASK"),
        shared = shared("end"),
        read_tid = if is_within { READ_TID_WITHIN } else { READ_TID },
        tasks = count("TASKS", "end"),
        sums = sums("end"),
    )
}

/// r9 is where this processor's sums are.
fn sums(none: &str) -> String {
    format!("call PROCESSOR; word r10 KEY = r0; {} if r0 == 0 goto {none}; r9 = r0\n", lookup("SUMS", "KEY"))
}

fn add(sum: &str) -> String {
    format!("r1 = long r9 {sum}; r1 += r2; long r9 {sum} = r1\n")
}

/// r9 leads to the sums of the call whose index is in r1.
const GO_TO_CALL: &str = "r1 &= LAST_CALL; r1 <<= CALL_SHIFT; r9 += r1\n";

const NOW: &str = "call NANOSECONDS; r8 = r0\n";

fn since(moment: &str) -> String {
    format!("r2 = r8; r3 = long r7 {moment}; r2 -= r3\n")
}

fn add_time_in_call() -> String {
    format!("r1 = word r7 CALL; {GO_TO_CALL} {} {}", since("ENTERED"), add("CALL_TIME"))
}

/// Ends a phase now, which is added up only if its beginning was seen.
fn end_phase(phase: &str, sum: &str, unseen: &str) -> String {
    format!("{NOW} r1 = word r7 PHASE; if r1 != {phase} goto {unseen}; {} {}", since("SINCE"), add(sum))
}

/// A call is counted when it is made: exit_group never returns.
fn call_entry(is_within: bool) -> String {
    format!(
        "{} r8 = word r7 MACHINE; if r8 != UNKNOWN goto known
         r1 = r10; r1 += REGISTER; r2 = 8; r3 = long r6 0; r3 += MODE; call READ_KERNEL
         r8 = NATIVE; r1 = long r10 REGISTER; r1 &= MODE_BITS; if r1 != MODE_COMPAT goto native; r8 = COMPAT
         native:; word r7 MACHINE = r8
         known:; r1 = long r6 8; r1 &= WITHOUT_X32; if r1 <= LAST_NUMBER goto named; r1 = OTHER
         named:; r1 |= r8; word r7 CALL = r1; {GO_TO_CALL} r2 = 1; {} call NANOSECONDS; long r7 ENTERED = r0",
        find_caller(is_within),
        add("CALL_COUNT")
    )
}

/// A new task returns from a call that it has not made. One that has become another program may be of another machine.
fn call_exit() -> String {
    format!(
        "{} r1 = word r7 CALL; if r1 == NO_CALL goto end
         {NOW} {} r1 = word r7 CALL; word r7 CALL = NO_CALL; if r1 == EXECVE goto other; if r1 == EXECVEAT goto other
         if r1 == COMPAT_EXECVE goto other; if r1 == COMPAT_EXECVEAT goto other; goto end
         other:; word r7 MACHINE = UNKNOWN",
        find_current(),
        add_time_in_call()
    )
}

/// One task leaves the processor, and another gets it. Who is preempted could run, whatever it was about to wait for. A
/// task's life is over at its last switch, long after sched_process_exit.
fn switch(log: &str) -> String {
    format!(
        "r6 = r1; r1 = long r6 8; {find_previous} {sums_previous} {end_run}
         left:; long r7 SINCE = r8; r1 = long r6 24; if r1 & TASK_DEAD goto dead
         r2 = long r6 0; if r2 != 0 goto ready; r2 = BLOCKED; if r1 != 0 goto waits
         ready:; r2 = RUN_QUEUE
         waits:; word r7 PHASE = r2; goto next
         dead:; word r7 PHASE = ENDED; long r7 WOKEN = r8; {log}
         {lived} {add_lifetime} r1 = word r7 CALL; if r1 == NO_CALL goto gone; {add_time}
         gone:; r1 = map TASKS_MAP; r2 = r10; r2 += TASK; call DELETE
         next:; r1 = long r6 16; {find_next} {sums_next} {end_wait}
         ran:; long r7 SINCE = r8; word r7 PHASE = ON_CPU",
        find_previous = find("next"),
        sums_previous = sums("next"),
        end_run = end_phase("ON_CPU", "SUM_ON_CPU", "left"),
        lived = since("BORN"),
        add_lifetime = add("SUM_LIFETIME"),
        add_time = add_time_in_call(),
        find_next = find("end"),
        sums_next = sums("end"),
        end_wait = end_phase("RUN_QUEUE", "SUM_RUN_QUEUE", "ran"),
    )
}

/// A task that was blocked may run, and waits for a processor. One that was only about to wait is still on its own.
fn wakeup(log: &str) -> String {
    format!(
        "r6 = r1; r1 = long r6 0; {} {} {} r1 = word r7 CALL; if r1 == NO_CALL goto outside
         {GO_TO_CALL} {} r2 = 1; {} goto waits
         outside:; {}
         waits:; long r7 WOKEN = r8; {log}
         long r7 SINCE = r8; word r7 PHASE = RUN_QUEUE",
        find("end"),
        sums("end"),
        end_phase("BLOCKED", "SUM_BLOCKED", "end"),
        add("CALL_BLOCKED"),
        add("CALL_TIMES_BLOCKED"),
        add("SUM_BLOCKED_OUTSIDE")
    )
}

/// The current task is about to wake another one, unless it was interrupted.
fn waking() -> String {
    format!(
        "r1 = long r1 0; {} word r7 BY = 0
         call CURRENT; long r10 TASK = r0; {} if r0 == 0 goto end; r9 = r0; {BY_OTHER}",
        find("end"),
        lookup("TASKS_MAP", "TASK"),
    )
}

fn page_fault() -> String {
    let add = add("SUM_FAULTS");
    format!("{} r1 = long r6 16; r1 &= 3; r1 <<= 3; r9 += r1; r2 = 1; {add}", find_current())
}

/// A new task waits for a processor from its birth.
fn fork(log: &str) -> String {
    format!(
        "{} r9 = r7; call NANOSECONDS; {NEW_TASK} {BY_OTHER}
         word r7 PHASE = RUN_QUEUE; r1 = word r9 MACHINE; word r7 MACHINE = r1
         r1 = long r6 8; long r10 TASK = r1; r1 = r7; r1 += TID; {READ_TID}
         {KEEP} if r0 != 0 goto lost
         {log}
         {} goto end
         lost:; {}",
        find_current(),
        count("TASKS", "end"),
        count("LOST", "end")
    )
}

impl Programs {
    /// All that are attached, in this order.
    pub(super) fn all(&self) -> Vec<Program> {
        let names = self.names();
        let program = |tracepoint, text: &str| {
            let code = assemble(&format!("{text}\nend:; r0 = 0; exit"), &names);
            Program { tracepoint, code, may_be_absent: tracepoint == c"page_fault_user" }
        };
        let log = self.log.map_or_else(String::new, |_| log());
        let mut all = vec![program(c"sched_process_fork", &fork(&log))];
        if self.log.is_some() {
            all.push(program(c"sched_waking", &waking()));
        }
        all.push(program(c"sched_switch", &switch(&log)));
        all.push(program(c"sched_wakeup", &wakeup(&log)));
        all.push(program(c"sys_exit", &call_exit()));
        // aarch64 has no tracepoint for faults, and its errors have other bits.
        if cfg!(target_arch = "x86_64") {
            all.push(program(c"page_fault_user", &page_fault()));
        }
        all.push(program(c"sys_enter", &call_entry(self.namespace.is_some())));
        all
    }

    fn names(&self) -> BTreeMap<&'static str, i32> {
        let layout = named!(SINCE BORN ENTERED WOKEN BY_BORN CALL PHASE MACHINE TID BY BY_CALL ON_CPU BLOCKED RUN_QUEUE ENDED
            NATIVE COMPAT UNKNOWN OTHER NO_CALL SUM_ON_CPU SUM_RUN_QUEUE SUM_BLOCKED SUM_BLOCKED_OUTSIDE SUM_LIFETIME SUM_FAULTS
            CALL_COUNT CALL_TIME CALL_BLOCKED CALL_TIMES_BLOCKED CALL_SHIFT TASKS LOST LOGGED BEGUN);
        let maps =
            [("TASKS_MAP", self.tasks), ("SHARED", self.shared), ("SUMS", self.sums), ("LOG", self.log.unwrap_or(-1))];
        let mode = [("MODE", MODE[0]), ("MODE_BITS", MODE[1]), ("MODE_COMPAT", MODE[2])];
        let calls = [
            ("PID_OFFSET", self.pid_offset),
            ("ROOT", self.root),
            ("LAST_CALL", at::MOST_CALLS - 1),
            ("LAST_NUMBER", at::OTHER - 1),
            ("EXECVE", EXEC[0]),
            ("EXECVEAT", EXEC[1]),
            ("COMPAT_EXECVE", COMPAT_EXEC[0]),
            ("COMPAT_EXECVEAT", COMPAT_EXEC[1]),
        ];
        let [device, high, low] = self.namespace.map_or([0; 3], |Namespace { device, inode }| {
            [device, (inode >> 16).cast_signed(), (inode & 0xffff).cast_signed()]
        });
        let within = [("DEVICE", device), ("INODE_HIGH", high), ("INODE_LOW", low)];
        layout.into_iter().chain(within).chain(OTHERS).chain(maps).chain(mode).chain(calls).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_of_the_language_and_short() {
        let namespace = Some(Namespace { device: 4, inode: u32::MAX });
        for (log, namespace) in [(None, None), (None, namespace), (Some(7), None), (Some(7), namespace)] {
            let programs = Programs { tasks: 3, shared: 5, sums: 6, log, root: 300, pid_offset: 1264, namespace };
            for program in programs.all() {
                let length = program.code.unwrap_or_default().len();
                // The kernel takes 4,096 instructions of anybody.
                assert!((8..400).contains(&length), "{:?}: {length}", program.tracepoint);
            }
        }
    }
}
