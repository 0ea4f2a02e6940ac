//! Samples sorted into tables, each with its baseline, and what could not be put side by side. Nothing is inferred.

use super::findings::{Terms, Unaskable};
use crate::findings::Caveat;
use bakeoff_model::grouped::unique;
use bakeoff_readers::Sample;
use std::collections::{BTreeMap, BTreeSet};

/// The samples of one table.
pub(super) struct Table {
    /// The baseline first, if there is one; the others in the order in which their labels first appeared anywhere.
    pub(super) samples: Vec<Sample>,
    /// Whether there is one.
    pub(super) has_baseline: bool,
}

impl Table {
    /// Tables with the same key have the same samples, if nothing is missing.
    fn key(&self) -> (&BTreeMap<String, String>, &str) {
        (&self.samples[0].settings, &self.samples[0].unit)
    }

    fn has(&self, col: &str) -> bool {
        self.samples.iter().any(|sample| sample.col == col)
    }
}

/// Samples by settings, row and unit. The baseline is the named or the first one; without it nothing is compared.
///
/// # Errors
/// If the baseline that is named is nowhere, or lines that should be blocks do not correspond.
pub(super) fn of(samples: Vec<Sample>, terms: &Terms) -> Result<Vec<Table>, Unaskable> {
    let mut tables: Vec<Table> = vec![];
    let mut places: BTreeMap<(BTreeMap<String, String>, String, String), usize> = BTreeMap::new();
    let mut cols: BTreeMap<String, usize> = BTreeMap::new();
    for sample in samples.into_iter().filter(|sample| !sample.values.is_empty()) {
        let next = cols.len();
        cols.entry(sample.col.clone()).or_insert(next);
        let key = (sample.settings.clone(), sample.row.clone(), sample.unit.clone());
        let at = *places.entry(key).or_insert(tables.len());
        if at == tables.len() {
            tables.push(Table { samples: vec![], has_baseline: true });
        }
        tables[at].samples.push(sample);
    }
    let place = |sample: &Sample| cols.get(&sample.col).copied().unwrap_or(usize::MAX);
    tables.iter_mut().for_each(|table| table.samples.sort_by_key(place));
    let baselines: BTreeMap<_, _> = {
        let mut first: BTreeMap<_, (usize, String)> = BTreeMap::new();
        for table in &tables {
            let (settings, unit) = table.key();
            let candidate = (place(&table.samples[0]), table.samples[0].col.clone());
            let known = first.entry((settings.clone(), unit.to_owned())).or_insert_with(|| candidate.clone());
            if candidate < *known {
                *known = candidate;
            }
        }
        first
    };
    for table in &mut tables {
        let (settings, unit) = table.key();
        let usual = baselines.get(&(settings.clone(), unit.to_owned())).map(|(_, col)| col);
        let wanted = terms.baseline.as_ref().or(usual);
        match table.samples.iter().position(|sample| Some(&sample.col) == wanted) {
            Some(at) => table.samples[..=at].rotate_right(1),
            None => table.has_baseline = false,
        }
    }
    if let Some(name) = terms.baseline.as_ref().filter(|_| !tables.iter().any(|table| table.has_baseline)) {
        let mut names: Vec<&str> = cols.keys().map(String::as_str).collect();
        names.sort_unstable();
        return Err(Unaskable {
            message: format!("there is no sample `{name}` to use as the baseline"),
            remedy: format!("available: {}", names.join(", ")),
        });
    }
    if terms.paired {
        tables.iter().try_for_each(|table| correspond(&table.samples))?;
    }
    Ok(tables)
}

/// Refuses samples whose lines cannot be blocks.
fn correspond(table: &[Sample]) -> Result<(), Unaskable> {
    let baseline = &table[0];
    if let Some(other) = table.iter().find(|sample| sample.values.len() != baseline.values.len()) {
        let message = format!(
            "`{}` and `{}` have different numbers of values ({} and {}), so their lines do not correspond",
            baseline.col,
            other.col,
            baseline.values.len(),
            other.values.len()
        );
        let remedy = "--paired needs one value per block in every sample; omit the option to compare unpaired samples";
        return Err(Unaskable { message, remedy: remedy.to_owned() });
    }
    // Sums of differences must not overflow, nor ratios.
    let most = f64::MAX / (4.0 * baseline.values.len() as f64);
    let close = |x: f64, y: f64| (x - y).abs() <= most && (x <= 0.0 || y <= 0.0 || (x / y).is_normal());
    let near = |sample: &Sample| sample.values.iter().zip(&baseline.values).all(|(x, y)| close(*x, *y));
    if let Some(other) = table.iter().find(|sample| !near(sample)) {
        let message = format!("the values of `{}` and `{}` are too far apart to be paired", baseline.col, other.col);
        return Err(Unaskable { message, remedy: "choose a larger unit".to_owned() });
    }
    Ok(())
}

/// What stands in several tables that should perhaps be one, and what not all samples have.
pub(super) fn caveats(tables: &[Table]) -> Vec<Caveat> {
    [settings_differ(tables), sets_differ(tables)].into_iter().flatten().collect()
}

/// Samples of the same thing that are apart because some setting differs, and are compared with nothing.
fn settings_differ(tables: &[Table]) -> Option<Caveat> {
    let mut same: BTreeMap<(&str, &str), Vec<&Table>> = BTreeMap::new();
    for table in tables {
        same.entry((&table.samples[0].row, &table.samples[0].unit)).or_default().push(table);
    }
    let (mut keys, mut cols) = (BTreeSet::new(), vec![]);
    for group in same.values() {
        for alone in group.iter().filter(|table| table.samples.len() == 1) {
            let sample = &alone.samples[0];
            for other in group.iter().filter(|other| !other.has(&sample.col)) {
                let theirs = &other.samples[0].settings;
                let all = sample.settings.keys().chain(theirs.keys());
                keys.extend(all.filter(|key| sample.settings.get(*key) != theirs.get(*key)));
                for col in [&sample.col, &other.samples[0].col] {
                    if !cols.contains(&col) {
                        cols.push(col);
                    }
                }
            }
        }
    }
    let keys: Vec<String> = keys.into_iter().cloned().collect();
    let samples = cols.into_iter().cloned().collect();
    (!keys.is_empty()).then_some(Caveat::SettingsDiffer { samples, keys })
}

/// What is in some samples only.
fn sets_differ(tables: &[Table]) -> Option<Caveat> {
    let mut cols: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for table in tables {
        cols.entry(table.key()).or_default().extend(table.samples.iter().map(|sample| sample.col.as_str()));
    }
    let lacking = tables.iter().filter(|table| table.samples.len() < cols[&table.key()].len());
    let only = |table: &Table| table.samples.iter().map(|sample| sample.col.clone()).collect();
    let rows: Vec<(String, Vec<String>)> = unique(lacking.map(|table| (table.samples[0].row.clone(), only(table))));
    (!rows.is_empty()).then_some(Caveat::SetsDiffer { rows })
}
