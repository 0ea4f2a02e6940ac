//! The commands: `bakeoff facts`, and what a diagnostic trial is launched as.

pub(crate) mod facts;
