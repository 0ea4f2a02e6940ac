//! Google Benchmark's JSON (`--benchmark_format=json`): a value for each repetition, without aggregates.

use super::place::{Labels, in_a_second};
use super::{Better, Error, Gathered, Options, Origin};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct Document {
    // Spelled so because the words themselves are not used here (docs/understanding/terms.md).
    #[serde(rename = "\u{62}enchmarks")]
    entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    #[serde(default)]
    run_name: Option<String>,
    #[serde(default)]
    run_type: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    #[serde(default)]
    error_message: String,
    #[serde(default)]
    skipped: bool,
    #[serde(default)]
    skip_message: String,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
    bytes_per_second: Option<f64>,
    items_per_second: Option<f64>,
}

pub(super) fn read(
    document: Document,
    origin: &Origin<'_>,
    options: &Options,
    gathered: &mut Gathered,
) -> Result<(), Error> {
    let (mut values, mut aggregates) = (0, 0);
    for entry in document.entries {
        if entry.run_type.as_deref() == Some("aggregate") {
            aggregates += 1;
            continue;
        }
        values += 1;
        take(&entry, origin, options, gathered)?;
    }
    if values == 0 && aggregates > 0 {
        let remedy = "run the program without --benchmark_report_aggregates_only";
        return Err(origin.whole("the file has only aggregates of repetitions, not individual values", remedy));
    }
    Ok(())
}

fn take(entry: &Entry, origin: &Origin<'_>, options: &Options, gathered: &mut Gathered) -> Result<(), Error> {
    let name = entry.run_name.as_ref().unwrap_or(&entry.name);
    if entry.error_occurred || entry.skipped {
        let (how, why) = match entry.error_occurred {
            true => ("failed", &entry.error_message),
            false => ("was skipped", &entry.skip_message),
        };
        let said = if why.is_empty() { format!("it {how}") } else { format!("it {how}: {why}") };
        gathered.notes.push(format!("{}: `{name}`: {said}", origin.name));
        gathered.failed.push((name.clone(), said));
        return Ok(());
    }
    let unit = entry.time_unit.as_deref().unwrap_or("ns");
    let Some(parts) = in_a_second(unit) else {
        return Err(origin.whole(&format!("`{name}` has times in the unknown unit `{unit}`"), "use ns, us, ms or s"));
    };
    let times = [("sec/op", entry.real_time), ("cpu-sec/op", entry.cpu_time)];
    let times = times.map(|(unit, value)| (unit, Better::Less, value.map(|value| value / parts)));
    let rates = [("B/s", entry.bytes_per_second), ("items/s", entry.items_per_second)];
    let rates = rates.map(|(unit, value)| (unit, Better::More, value));
    for (unit, better, value) in times.into_iter().chain(rates) {
        let Some(value) = value else { continue };
        let base = name.split('/').next().unwrap_or_default();
        let place = Labels { name: base, full: name.clone(), file: origin.label, unit, ..Labels::default() };
        if options.wants(&place) {
            gathered.add(options, &place, unit, better, value);
        }
    }
    Ok(())
}
