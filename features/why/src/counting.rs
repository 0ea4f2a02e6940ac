//! Counting instructions: a tool for valgrind of our own counts how often each run of instructions is executed, and what it
//! wrote is read together with the programs: which function that was, and who called it. What counts explain is not known here.
//!
//! [`tool`] has the tool compiled when it is first needed, [`probe`] puts it before a workload's command, [`dump`] reads what it
//! wrote, and [`functions`] finds the functions, by the [`binary`] that each run is in; [`digest`] is the code of one, and [`places`] finds
//! functions for what samples. Where the tool cannot be compiled, [`cachegrind`] reads what that counted.

mod binary;
mod cachegrind;
mod digest;
mod dump;
mod functions;
pub(crate) mod gather;
pub(crate) mod instrument;
pub(crate) mod places;
mod plt;
pub(crate) mod probe;
pub(crate) mod tool;
