//! The compiler wrapper before the real compiler, linker and archiver of this machine, and scripts confined by the real
//! kernel. What a build makes of it is tested in the crate `build`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

mod append;
mod calls;
mod confinement;
mod cover;
mod link_order;
mod tools;
