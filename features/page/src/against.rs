//! The page of two journals next to each other: the sentences and tables of `bakeoff report --against`, for a browser. No verdict
//! is made across machines.

use crate::document::document;
use crate::items::items;
use crate::mark;
use bakeoff_command::Against;
use bakeoff_model::plain::clean;
use bakeoff_report::{side_by_side_items, to_pass_on};
use maud::html;

/// The whole page.
pub(crate) fn page(against: &Against<'_>) -> String {
    let Against { pairs, here, there } = *against;
    let title = format!("{}: here and there", clean(&here.study));
    let body = html! {
        a.skip href="#main" { "To the comparison" }
        svg.defs aria-hidden="true" { defs { (mark::definitions()) } }
        header { p.id { b { "Bakeoff" } " " span { (clean(&here.study)) } } h1 { (title) } }
        main #main { section { (items(&side_by_side_items(pairs, &to_pass_on(here), &to_pass_on(there)))) } }
    };
    document(&title, &body, None, false)
}
