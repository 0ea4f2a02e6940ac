//! Words before a number that is not known exactly: a time that is estimated, a number that a rule may make smaller.
//! Nothing is estimated here.

use bakeoff_model::plan::Plan;
use bakeoff_model::until::Until;
use bakeoff_report::format::waiting_time;

/// About so long.
pub(super) fn about(seconds: f64) -> String {
    let word = if seconds < 1.0 { "" } else { "about " };
    format!("{word}{}", waiting_time(seconds))
}

/// Said before a number that a rule may make smaller.
pub(super) fn at_most(plan: &Plan) -> &'static str {
    if plan.until == Until::Blocks { "" } else { "at most " }
}
