//! The launchers of this process that are watched: they tell which processes are ours. It starts none, and asks none.

use std::sync::{Mutex, PoisonError};

/// Process ids of all launchers that have probes.
static LAUNCHERS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A launcher counts as ours for as long as this lives.
#[derive(Debug)]
pub(crate) struct Ours {
    launcher: u32,
}

impl Ours {
    pub(crate) fn register(launcher: u32) -> Self {
        LAUNCHERS.lock().unwrap_or_else(PoisonError::into_inner).push(launcher);
        Self { launcher }
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        let mut launchers = LAUNCHERS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nth) = launchers.iter().position(|&pid| pid == self.launcher) {
            launchers.swap_remove(nth);
        }
    }
}

/// This process and its launchers.
pub(crate) fn our_processes() -> Vec<u32> {
    let launchers = LAUNCHERS.lock().unwrap_or_else(PoisonError::into_inner);
    [std::process::id()].into_iter().chain(launchers.iter().copied()).collect()
}
