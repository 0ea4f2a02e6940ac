//! Simulated machines, and the goals that searching reaches on them.

mod goals;
pub(crate) mod worlds;
