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

use bakeoff_command::{Conclusion, Feature};
use clap::ArgMatches;

/// The slice.
#[derive(Debug)]
pub struct Formats;

impl Feature for Formats {
    fn conclusion(&self) -> Option<Conclusion> {
        Some(Conclusion { options: options::add, check: options::check, exits: &[], conclude: options::write })
    }

    fn takes_output(&self, asked: &ArgMatches) -> bool {
        options::take_output(asked)
    }
}
