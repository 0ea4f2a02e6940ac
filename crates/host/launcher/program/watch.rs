//! A job under way: its processes are launched one after another, waited for all at once, started again if they are a
//! load, and killed when their time is up, when the owner says so, or when it hangs up.

use super::job::{Job, State};
use super::sweep::{self, Mains};
use super::sys::{self, POLLIN, Polled, SIGKILL};
use super::talk::{CONTROL, hear, hear_stop, say};
use super::wire::{self, Achieved, JobOver, ProcessOver};
use super::{child, zombie};

/// Grace period before we check why killed processes are still alive.
const DYING_NS: u64 = 50_000_000;
/// A copy that could not be started is not tried again before.
const BACK_OFF_NS: u64 = 10_000_000;

/// A job and what is known of it.
pub(super) struct Watch<'a> {
    job: Job<'a>,
    state: State<'a>,
    launched_ns: u64,
    achieved: Achieved,
    stop: Option<Stop>,
    hung_up: bool,
}

/// An end that was ordered.
struct Stop {
    /// When all that is left is killed.
    kill_ns: u64,
    /// Whether that has been done.
    killed: bool,
    /// What killed processes are marked with.
    flag: u32,
}

/// What became of it.
pub(super) struct Over {
    pub(super) job: JobOver,
    /// How many outlived the main processes, or who cannot be killed.
    pub(super) swept: Result<u64, i32>,
    pub(super) hung_up: bool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(job: Job<'a>, state: State<'a>) -> Self {
        Self { job, state, launched_ns: 0, achieved: Achieved::default(), stop: None, hung_up: false }
    }

    pub(super) fn over_bytes(&self) -> &[u8] {
        let over: &[ProcessOver] = self.state.over;
        // SAFETY: `ProcessOver` is `Plain`: no padding.
        unsafe { core::slice::from_raw_parts(over.as_ptr().cast(), size_of_val(over)) }
    }

    /// Runs it to its end, and then kills and reaps whatever is left.
    pub(super) fn execute(&mut self) -> Over {
        let last = self.state.over.len();
        self.state.watched.fill(Polled { descriptor: -1, events: POLLIN, revents: 0 });
        self.state.watched[last].descriptor = CONTROL as i32;
        let realtime = self.job.head.realtime;
        if realtime > 0 {
            // Else a job that takes all processors would keep us from ending it.
            sys::set_own_priority((realtime + 1).min(99));
        }
        if let Some(own_group) = self.job.descriptor(self.job.head.warm) {
            // Re-joins our own cgroup: the first migration after a pause is slow, and must not hit the child.
            let _ = sys::write(own_group, b"0");
        }
        self.launched_ns = sys::now_ns();
        let head = self.job.head;
        for index in 0..last {
            if index > 0 && self.is_load() && head.pace_ns > 0 {
                // Copies of a paced load take turns: else what they do together would come at once, and then nothing.
                self.state.processes[index].next_ns = self.launched_ns + head.pace_ns / last as u64 * index as u64;
            } else {
                self.launch(index);
            }
        }
        if head.all_cpus != 0 {
            let _ = sys::set_affinity(self.job.slice(head.all_cpus, head.all_cpus_length));
        }
        while self.goes_on() {
            self.wait();
        }
        self.collect();
        let mut mains = Mains { processes: self.state.processes, over: self.state.over };
        let swept = sweep::sweep(&self.job, &mut mains);
        if realtime > 0 {
            sys::set_own_priority(0);
        }
        let ended_ns = self.state.over.iter().map(|over| over.ended_ns).max().unwrap_or(0);
        let job = JobOver { launched_ns: self.launched_ns, ended_ns, leftovers: 0, achieved: self.achieved };
        Over { job, swept, hung_up: self.hung_up }
    }

    /// Looks at the main processes that have ended, and reaps them; what does not die so easily is for the sweep.
    fn collect(&mut self) {
        let wants = |what: u32| self.job.head.flags & what != 0;
        for (process, over) in self.state.processes.iter_mut().zip(&mut *self.state.over) {
            if process.pid <= 0 || over.ended_ns == 0 {
                continue;
            }
            if wants(wire::WAIT) {
                zombie::look_at_wait(process.pid, over);
            }
            if wants(wire::IO) {
                zombie::before(over);
            }
            if let Ok(Some(reaped)) = sys::reap(process.pid) {
                (over.status, over.usage, process.pid) = (reaped.status, reaped.usage, 0);
                if wants(wire::IO) {
                    zombie::after(over);
                }
            }
        }
    }

    fn is_load(&self) -> bool {
        self.job.head.flags & wire::LOAD != 0
    }

    fn alive(&self) -> u64 {
        self.state.processes.iter().filter(|process| process.alive).count() as u64
    }

    fn goes_on(&self) -> bool {
        match &self.stop {
            // What survives this long is for the sweep.
            Some(stop) if stop.killed && sys::now_ns() > stop.kill_ns + DYING_NS => false,
            None if self.is_load() => true,
            _ => self.alive() > 0,
        }
    }

    fn launch(&mut self, index: usize) {
        let over = &mut self.state.over[index];
        // SAFETY: zeros are a valid value of it; see `Plain`.
        *over = unsafe { core::mem::zeroed() };
        over.launched_ns =
            if index == 0 && self.state.processes[0].next_ns == 0 { self.launched_ns } else { sys::now_ns() };
        let process = &mut self.state.processes[index];
        // A late start is made up for, but not more than one.
        let tick_ns = if process.next_ns == 0 { over.launched_ns } else { process.next_ns };
        process.next_ns = (tick_ns + self.job.head.pace_ns).max(over.launched_ns);
        match child::start(&self.job, &self.job.processes[index], over) {
            Some(begun) => {
                (process.pid, process.alive) = (begun.pid, true);
                self.state.watched[index].descriptor = begun.pidfd as i32;
            }
            None => {
                over.ended_ns = sys::now_ns();
                process.next_ns = process.next_ns.max(over.ended_ns + BACK_OFF_NS);
                self.count_failure(index);
            }
        }
    }

    /// Waits for the next thing to happen, and sees to it.
    fn wait(&mut self) {
        let last = self.state.over.len();
        let woken = sys::poll(self.state.watched, self.until_next_ns(sys::now_ns));
        let now = sys::now_ns();
        if woken.is_ok_and(|ready| ready > 0) {
            for index in 0..last {
                if self.state.watched[index].revents != 0 {
                    self.note_end(index, now);
                }
            }
        }
        // First of all copies that have just ended begin again, so that who asks finds them alive.
        self.do_what_is_due(now);
        if woken.is_ok_and(|ready| ready > 0) && self.state.watched[last].revents != 0 {
            self.handle_control(now);
            if self.stop.is_some() {
                self.do_what_is_due(now);
            }
        }
    }

    /// How long nothing has to be done; `None`: wake only on an exit or a control message.
    fn until_next_ns(&self, now: impl Fn() -> u64) -> Option<u64> {
        let timeout = match (&self.stop, self.job.head.timeout_ns) {
            (Some(stop), _) if stop.killed => Some(stop.kill_ns + DYING_NS + 1),
            (Some(stop), _) => Some(stop.kill_ns),
            (None, 0) => None,
            (None, timeout) => Some(self.launched_ns + timeout),
        };
        let idle = self.state.processes.iter().filter(|process| !process.alive);
        let start =
            if self.is_load() && self.stop.is_none() { idle.map(|process| process.next_ns).min() } else { None };
        let next = timeout.into_iter().chain(start).min()?;
        Some(next.saturating_sub(now()))
    }

    /// A main process has ended: it is no longer waited for, and that of a load is reaped and counted at once.
    fn note_end(&mut self, index: usize, now: u64) {
        let (process, over) = (&mut self.state.processes[index], &mut self.state.over[index]);
        let watched = &mut self.state.watched[index];
        sys::close(watched.descriptor as u32);
        (watched.descriptor, watched.revents) = (-1, 0);
        (process.alive, over.ended_ns) = (false, now);
        if !self.is_load() || self.stop.is_some() {
            return; // it is looked at and reaped when all have ended
        }
        // Else it was reaped among the orphans.
        if self.state.processes[index].pid > 0
            && let Ok(Some(reaped)) = sys::reap(self.state.processes[index].pid)
        {
            self.count(index, &reaped);
        }
        self.reap_orphans();
    }

    /// A load may go on for days: what its copies leave must not fill the table of processes.
    fn reap_orphans(&mut self) {
        while let Ok(Some(reaped)) = sys::reap(-1) {
            // It may be a copy that has ended since the poll.
            if let Some(index) = self.state.processes.iter().position(|process| process.pid == reaped.pid) {
                self.count(index, &reaped);
            }
        }
    }

    /// A copy has ended and is reaped.
    fn count(&mut self, index: usize, reaped: &sys::Reaped) {
        let over = &mut self.state.over[index];
        (over.status, over.usage, self.state.processes[index].pid) = (reaped.status, reaped.usage, 0);
        self.achieved.ended += u64::from(reaped.status == 0);
        if reaped.status != 0 {
            self.count_failure(index);
        }
        let [user_s, user_us, sys_s, sys_us, ..] = reaped.usage;
        self.achieved.cpu_us += ((user_s + sys_s) * 1_000_000 + user_us + sys_us) as u64;
    }

    /// A copy could not be started, or did not end as it should.
    fn count_failure(&mut self, index: usize) {
        self.achieved.failed += 1;
        if self.achieved.first_failed == 0 {
            self.achieved.first_failed = index as u64 + 1;
        }
    }

    /// What the owner has to say; if it has hung up, all is killed.
    fn handle_control(&mut self, now: u64) {
        let head = hear(&mut []);
        match head {
            Ok(Some(head)) if head.kind == wire::STOP => {
                if let Ok(stop) = hear_stop() {
                    self.signal(stop.signal);
                    self.begin_to_stop(now, stop.within_ns, wire::KILLED);
                    return;
                }
            }
            Ok(Some(head)) if head.kind == wire::ASK => {
                let achieved = Achieved { alive: self.alive(), ns: now - self.launched_ns, ..self.achieved };
                if say(wire::ACHIEVED, wire::bytes(&achieved)).is_ok() {
                    return;
                }
            }
            _ => {}
        }
        // It has hung up, or what it says makes no sense: either way nobody is there to wait for the job.
        self.hung_up = true;
        let last = self.state.over.len();
        self.state.watched[last].descriptor = -1;
        self.begin_to_stop(now, 0, wire::KILLED);
    }

    fn begin_to_stop(&mut self, now: u64, within_ns: u64, flag: u32) {
        let kill_ns = now.saturating_add(within_ns);
        match &mut self.stop {
            Some(stop) => stop.kill_ns = stop.kill_ns.min(kill_ns),
            None => {
                (self.achieved.alive, self.achieved.ns) = (self.alive(), now - self.launched_ns);
                self.stop = Some(Stop { kill_ns, killed: false, flag });
            }
        }
    }

    /// Kills what is to be killed by now, and starts what is to be started.
    fn do_what_is_due(&mut self, now: u64) {
        let timeout = self.job.head.timeout_ns;
        if self.stop.is_none() && timeout > 0 && now >= self.launched_ns + timeout {
            self.begin_to_stop(now, 0, wire::TIMED_OUT);
        }
        if let Some(stop) = &mut self.stop {
            if !stop.killed && now >= stop.kill_ns {
                (stop.killed, stop.kill_ns) = (true, now);
                let flag = stop.flag;
                for (process, over) in self.state.processes.iter().zip(&mut *self.state.over) {
                    over.flags |= if process.alive { flag } else { 0 };
                }
                self.signal(SIGKILL);
            }
            return;
        }
        if self.is_load() {
            for index in 0..self.state.processes.len() {
                let process = &self.state.processes[index];
                if !process.alive && now >= process.next_ns {
                    self.launch(index);
                }
            }
        }
    }

    /// To every main process and its group: it leads its session, and so cannot have left that.
    fn signal(&self, signal: u32) {
        for process in self.state.processes.iter().filter(|process| process.alive && process.pid > 0) {
            let _ = sys::kill(-process.pid, signal);
            if signal == SIGKILL {
                let _ = sys::hasten(process.pid);
            }
        }
    }
}
