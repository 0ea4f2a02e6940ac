//! pytest-benchmark's JSON: the single times of each test, in seconds.

use super::place::{Labels, texts};
use super::{Better, Error, Gathered, Options, Origin};
use serde::Deserialize;
use std::collections::BTreeMap;

/// One test with one set of parameters. All may lack, as an entry of pyperf's has none of it.
#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    name: Option<String>,
    fullname: Option<String>,
    params: Option<BTreeMap<String, serde_json::Value>>,
    stats: Option<Stats>,
}

#[derive(Debug, Deserialize)]
struct Stats {
    /// Only where it was asked for.
    data: Option<Vec<f64>>,
}

impl Entry {
    /// Whether it is one of pytest-benchmark's.
    pub(super) fn is_one(&self) -> bool {
        self.stats.is_some()
    }
}

pub(super) fn read(entry: Entry, origin: &Origin<'_>, options: &Options, gathered: &mut Gathered) -> Result<(), Error> {
    let Entry { name, fullname, params, stats } = entry;
    let name = name.unwrap_or_default();
    let full = fullname.unwrap_or_else(|| name.clone());
    // Parameters stand in brackets behind the name.
    let bare = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
    let (bare_name, stem) = (bare(&name), bare(&full));
    let place = Labels {
        name: &bare_name,
        full,
        stem: Some(&stem),
        file: origin.label,
        unit: "sec",
        parameters: texts(params.unwrap_or_default()),
        settings: BTreeMap::new(),
    };
    if !options.wants(&place) {
        return Ok(());
    }
    let Some(times) = stats.and_then(|stats| stats.data).filter(|times| !times.is_empty()) else {
        let remedy = "export the individual times with --benchmark-json, or with --benchmark-save and \
            --benchmark-save-data; to check only the statistics, use `bakeoff check-summary`";
        return Err(origin.whole(&format!("`{}` has no individual times", place.full), remedy));
    };
    times.into_iter().for_each(|time| gathered.add(options, &place, "sec", Better::Less, time));
    Ok(())
}
