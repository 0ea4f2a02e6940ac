//! The page: findings and trials as one HTML file that needs nothing else, and its charts as SVG. It says what the report says, in
//! the report's sentences, and judges nothing.
//!
//! [`options`] is where users ask for it; [`page`] puts the parts in their order, [`document`] frames them. The charts: [`forest`]
//! and [`effects`] on a [`scale`] of ratios, [`strips`], [`curves`] and [`latency`] of the trials in [`cells`], [`tradeoff`] of
//! builds; [`figures`] is the table, [`items`] everything that a terminal has as well; [`data`] is what the script looks up.
//! [`against`] is the page of two journals, [`grounds`] what an answer rests on.

mod against;
mod cells;
mod curves;
mod data;
mod document;
mod effects;
mod figures;
mod forest;
mod grounds;
mod items;
mod latency;
mod look;
mod mark;
mod options;
mod page;
mod scale;
mod strips;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod tradeoff;

use bakeoff_command::{Conclusion, Feature, Registry};

/// The slice.
#[derive(Debug)]
pub struct Page;

impl Feature for Page {
    fn register(&self, to: &mut Registry) {
        to.between_blocks.push(options::rewrite);
        to.against.push(options::write_against);
        to.conclusions.push(Conclusion {
            options: options::add,
            check: options::check,
            exits: &[],
            takes_output: options::take_output,
            decides: |_| false,
            conclude: options::write,
        });
    }
}
