//! Findings for others: files that every command writes which comes to findings. Each format has a file of its own; what is
//! claimed in them was judged in `bakeoff_judge` and, where it is a sentence, worded in `bakeoff_report`.

mod cells;
mod counting;
mod go;
mod hyperfine;
mod markdown;
mod options;
mod trials;
mod wide;

#[cfg(test)]
mod tests;

use bakeoff_command::{Conclusion, Feature, Registry};

/// The slice.
#[derive(Debug)]
pub struct Formats;

impl Feature for Formats {
    fn register(&self, to: &mut Registry) {
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
