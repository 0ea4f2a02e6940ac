//! Searching: the race that finds the best build under a budget, and the bisection that finds the commit that changed the
//! speed, each with a proven error. Everything here is pure: it opens no file, starts nothing and reads no clock. What to
//! run next follows from a seed and from the outcomes so far.

#![allow(missing_docs, reason = "the names of fields and variants say what they are; where not, a comment does")]

pub mod ablation;
pub mod bets;
pub mod bisect;
pub mod goals;
mod places;
pub mod race;
pub mod screening;
pub mod space;
pub mod worlds;
