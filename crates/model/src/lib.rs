//! The nouns of Bakeoff: what a study is ([`study`]), how its file is read ([`study_file`]), the plan that
//! follows from it ([`plan`]), what is measured ([`metric`]), and the lines of the journal ([`record`]).
//!
//! This crate is pure: it turns text into nouns, nouns into a plan, and lines into a [`record::Record`].

pub mod decimal;
pub mod digest;
pub mod grouped;
pub mod kept;
pub mod marks;
pub mod metric;
pub mod pattern;
pub mod percent;
pub mod plain;
pub mod plan;
pub mod problem;
pub mod range;
pub mod record;
pub mod shuffle;
pub mod study;
pub mod study_file;
pub mod suite;
pub mod until;
pub mod values;
