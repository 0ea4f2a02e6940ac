//! The analysis: a [`bakeoff_model::record::Record`] in, [`findings::Findings`] out. Pure: it touches nothing of the
//! world, and the same record always gives the same findings. [`stats`] knows only numbers.

pub mod findings;
