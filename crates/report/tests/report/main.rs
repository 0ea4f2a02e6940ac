//! The pages, with findings that are made up for them, and once with findings of a real judge. What is said is compared
//! word by word, whole pages with the files in `tests/snapshots/`.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod answers;
mod foreign;
mod judged;
mod pages;
mod parts;
mod properties;
mod screens;
mod side_by_side;
