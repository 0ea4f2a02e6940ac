//! The analysis: a [`bakeoff_model::record::Record`] in, [`findings::Findings`] out. Pure: it touches nothing of the
//! world, and the same record always gives the same findings. [`stats`] knows only numbers; [`judge()`] knows what they
//! are numbers of; `diagnosis` looks for what may have caused them; [`calibration`] asks of the first two, on simulated
//! studies, whether they keep their promises.

pub mod calibration;
pub mod check_summary;
mod diagnosis;
pub mod findings;
mod judge;
pub mod samples;
pub mod side_by_side;
pub mod stats;
pub mod stopping;
pub mod twin_history;

pub use judge::{doubts_about_builds, judge, judge_samples, planning, same_files};
