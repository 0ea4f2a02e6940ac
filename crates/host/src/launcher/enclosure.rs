//! What encloses all that one owner starts, so that nothing of it stays even if we and our launchers are killed at
//! once: a PID namespace, whose first process ends when we do. Where that is not permitted, it is a variable in the
//! environment of what is started, by which the next of us finds what was left, and kills it.

use super::channel;
use super::left;
use super::start::{self, PidNamespace};
use super::wire;
use crate::{Error, files::Files};
use std::fs::File;
use std::io;
use std::net::Shutdown;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};

/// Set to `off`: no namespaces, as if they were not permitted.
const VARIABLE: &str = "BAKEOFF_NAMESPACES";

/// Whether nobody wants namespaces.
pub fn are_switched_off() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "off")
}

/// Shared by launchers; it ends when the last of them and its owner have let go of it.
#[derive(Debug, Clone)]
pub struct Enclosure(Arc<Mechanism>);

#[derive(Debug)]
enum Mechanism {
    Namespace(Mutex<Keeper>),
    /// Why there is no namespace, and the variable with its value.
    Marked {
        why: String,
        mark: Option<String>,
    },
}

/// The first process of a namespace: a launcher that launches nothing. It kills what comes to it when it is asked to,
/// and, when we hang up, all that is left.
#[derive(Debug)]
struct Keeper {
    process: Child,
    control: UnixStream,
    namespace: File,
}

impl Enclosure {
    /// Makes one. It keeps `keep` open until nothing is left in it. Without a namespace, what others of our user's
    /// commands have left is killed here.
    pub fn open(keep: Option<BorrowedFd<'_>>) -> Self {
        let made = if are_switched_off() {
            Err(io::Error::other(format!("namespaces are switched off ({VARIABLE} is off)")))
        } else {
            Keeper::start(keep)
        };
        Self(Arc::new(match made {
            Ok(keeper) => Mechanism::Namespace(Mutex::new(keeper)),
            Err(error) => {
                let mark = left::mark(&Files::here());
                if let Some(mark) = &mark {
                    left::kill(mark);
                }
                Mechanism::Marked { why: error.to_string(), mark }
            }
        }))
    }

    /// Why it is no namespace; none if it is one.
    pub fn why_no_namespace(&self) -> Option<&str> {
        match &*self.0 {
            Mechanism::Namespace(_) => None,
            Mechanism::Marked { why, .. } => Some(why),
        }
    }

    /// A launcher's process in it, and our end of its socket.
    pub(super) fn start(&self, keep: Option<BorrowedFd<'_>>) -> Result<(Child, UnixStream), Error> {
        match &*self.0 {
            Mechanism::Namespace(keeper) => {
                start::start(keep, PidNamespace::Existing(&locked(keeper).namespace)).map_err(Error::Start)
            }
            Mechanism::Marked { .. } => start::start(keep, PidNamespace::Ours).map_err(Error::Start),
        }
    }

    /// What stands in the environment of all that is started in it.
    pub(super) fn mark(&self) -> Option<&str> {
        match &*self.0 {
            Mechanism::Namespace(_) => None,
            Mechanism::Marked { mark, .. } => mark.as_deref(),
        }
    }

    /// Kills what a launcher has left that was itself killed; false if that is not here.
    pub(super) fn sweep(&self) -> bool {
        let Mechanism::Namespace(keeper) = &*self.0 else { return false };
        let keeper = locked(keeper);
        // If it is gone, so is everything.
        let _ = channel::send(&keeper.control, wire::SWEEP, &[], &[]).and_then(|()| channel::receive(&keeper.control));
        true
    }
}

/// A thread that panicked while it held the lock has left nothing half done.
fn locked(keeper: &Mutex<Keeper>) -> std::sync::MutexGuard<'_, Keeper> {
    keeper.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Keeper {
    fn start(keep: Option<BorrowedFd<'_>>) -> io::Result<Self> {
        let (process, control) = start::start(keep, PidNamespace::New)?;
        let namespace = File::open(format!("/proc/{}/ns/pid", process.id()));
        match channel::receive(&control) {
            Ok(Some((wire::READY, _))) => Ok(Self { process, control, namespace: namespace? }),
            Ok(_) => Err(io::Error::other("its first process did not start")),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Hanging up is the order to end.
        let _ = self.control.shutdown(Shutdown::Both);
        let _ = self.process.wait();
    }
}
