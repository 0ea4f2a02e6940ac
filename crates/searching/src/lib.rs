//! The methods of searching: the race that finds the best variant under a budget, and the bisection that finds the commit that
//! changed the speed, each with a proven error. What to run next follows from a seed and from the outcomes so far. They open no
//! file, start nothing and read no clock: `tune` and `bisect` run what is asked, and `calibrate` measures on simulated
//! [`worlds`] how often the answers are wrong.

#![allow(missing_docs, reason = "the names of fields and variants say what they are; where not, a comment does")]

pub mod ablation;
mod bets;
pub mod bisect;
mod places;
pub mod race;
pub mod screening;
pub mod space;
pub mod worlds;
