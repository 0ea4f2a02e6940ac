//! System calls of Linux, by their numbers: those that our freestanding programs need, and no others. Each uses its part. An
//! error is its errno. None of them waits for a signal handler, takes memory, or knows what it is asked for.

mod call;
mod children;
mod files;
mod limits;
pub mod number;
mod process;
mod socket;

pub use call::{EACCES, ECHILD, EEXIST, EINTR, ENOSYS, EOPNOTSUPP, EPERM, EPROTO, Path, Result, call, plain};
pub use children::{Reaped, SIGCHLD, SIGKILL, await_child, group_of, kill, reap};
pub use files::{
    Identity, O_DIRECTORY, O_PATH, O_WRONLY, chdir, chmod, close, close_from, create, duplicate, entries, folder,
    identity, link, may_execute, open, open_to_append, read, read_from_start, read_link, unlink, write,
};
pub use limits::{hasten, limit_address_space, set_affinity, set_own_priority, set_randomised, set_realtime};
pub use process::{
    become_subreaper, block, default_signals, effective_ids, exec, exit, give_up_new_privileges, is_first_process, map,
    name_process, new_session, now_ns, own_pid, parent_pid, unmap,
};
pub use socket::{MOST_AT_ONCE, POLLIN, Polled, is_socket, poll, receive, send};
