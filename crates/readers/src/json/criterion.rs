//! What criterion.rs leaves: the samples of one function (`sample.json`), not its estimates, which lack single times.

use super::place::Labels;
use super::{Better, Error, Gathered, Options, Origin};
use serde::Deserialize;

/// A file `sample.json`, in nanoseconds.
#[derive(Debug, Deserialize)]
pub(super) struct Samples {
    /// How often the function was run in each.
    iters: Vec<f64>,
    /// How long that took.
    times: Vec<f64>,
}

/// The file names no function, so the values belong to the file.
pub(super) fn read(
    samples: &Samples,
    origin: &Origin<'_>,
    options: &Options,
    gathered: &mut Gathered,
) -> Result<(), Error> {
    let place = Labels { file: origin.label, unit: "sec/op", ..Labels::default() };
    if samples.iters.len() != samples.times.len() {
        let (counts, times) = (samples.iters.len(), samples.times.len());
        let message = format!("the numbers of run counts ({counts}) and of times ({times}) differ");
        return Err(origin.whole(&message, "check whether the file is complete"));
    }
    if !options.wants(&place) {
        return Ok(());
    }
    for (count, time_ns) in samples.iters.iter().zip(&samples.times) {
        if *count <= 0.0 {
            return Err(origin.whole("a time covers zero runs", "check whether the file is complete"));
        }
        gathered.add(options, &place, "sec/op", Better::Less, time_ns / count / 1e9);
    }
    Ok(())
}
