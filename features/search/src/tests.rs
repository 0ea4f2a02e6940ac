//! Simulated machines, and the goals that searching reaches on them.

#![allow(unreachable_pub, reason = "tests are a module of the crate, written as a crate of their own")]

mod goals;
pub(crate) mod worlds;
