//! The judge: a [`bakeoff_model::record::Record`] in, [`findings::Findings`] out. Pure: it touches nothing of the
//! world, and the same record always gives the same findings. `bakeoff_stats` knows only numbers; [`judge()`] knows what
//! they are numbers of;

mod ask;
mod complete;
mod conclude;
mod conditions;
mod contrasts;
mod diagnostics;
mod doubts;
mod effects;
mod executed;
mod factors;
pub mod findings;
mod fraction;
mod ids;
mod infer;
mod interim_view;
mod judge;
mod latencies;
mod lost;
mod metric_spec;
mod mode;
pub mod not_paired;
mod outputs;
mod pairs;
pub mod planning;
mod provided;
mod ranking;
mod rule;
pub mod samples;
pub mod side_by_side;
pub mod stopping;
mod stopping_rule;
mod study;
mod sums;
mod tables;
mod trends;
mod trials;
mod workloads;

pub use ask::{Question, Unasked};
pub use infer::{INFER_MIN, SIGN_FLIP_MIN};
pub use judge::{judge, judge_with_levels};
pub use mode::InferenceMode;
pub use samples::judge_samples;
pub use sums::sums;
