//! Facts of real files: of this machine's, and of those that its gcc and binutils make, held to what readelf says of them;
//! of made-up ones, for processors that are not there; and of broken ones. `BAKEOFF_FACTS_FILES` names more files, with
//! colons between, that must agree with readelf.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

mod agreement;
mod fixtures;
mod folders;
mod hostile;
mod made_up;
mod readelf;
