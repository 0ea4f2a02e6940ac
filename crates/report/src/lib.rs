//! Findings in, bytes out. Everything here turns [`Findings`] into text: the one sentence ([`answer`]), the page for
//! people ([`terminal`]) and the page for machines ([`json`]). It computes no statistic, opens no file and does not
//! know whether there is a terminal: width and colour are told to it. [`mod@format`] holds the ways of writing numbers,
//! for everything else that puts words on the screen.

mod answer;
mod builds;
mod calibration;
mod check_summary;
mod conditions;
mod effects;
mod evidence;
mod facts;
mod failures;
pub mod format;
mod grid;
mod latencies;
mod metrics;
pub mod ministat;
mod notes;
mod outputs;
mod paint;
mod plot;
mod power;
mod printf;
mod provenance;
mod ranking;
mod side_by_side;
mod stat;
mod terminal;
mod text;
mod trace;
mod words;

pub use answer::answer;
pub use builds::build_doubts;
pub use calibration::{calibration, calibration_json, real};
pub use check_summary::{check_summary, check_summary_json};
pub use facts::{facts, facts_json};
pub use failures::failure;
pub use power::{power, power_json};
pub use side_by_side::side_by_side;
pub use stat::{stat, stat_json};
pub use terminal::{Style, terminal};
pub use text::clean;
pub use trace::{provenance, trace};

use bakeoff_analysis::findings::Findings;

/// The findings as pretty-printed JSON with a final line feed: the types of [`bakeoff_analysis::findings`], field by
/// field, in the order in which they are declared. Numbers are unrounded, so reading it gives equal findings.
///
/// # Errors
/// Passes on the serialiser's word, should a value ever have no form in JSON.
pub fn json(findings: &Findings) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(findings).map(|text| text + "\n")
}
