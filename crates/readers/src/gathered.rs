//! What was read: samples, each the values that nothing tells apart, from one file or several. Here stands what makes
//! values one sample and what is said of a unit; the formats are read elsewhere, and judging is not done here.

use super::Better;
use super::columns::Column;
use super::keys::Keys;
use super::options::{Labels, Options};
use super::rounded::Rounded;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Values that belong together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// What tells its tables apart from others, such as the `pkg` of its file.
    pub settings: BTreeMap<String, String>,
    /// Label of its table; empty where there is only one.
    pub row: String,
    /// Label of the sample.
    pub col: String,
    /// Base unit; empty if it is not known.
    pub unit: String,
    /// Which direction is better.
    pub better: Better,
    /// The unit was declared to be one whose values cannot vary by chance.
    pub exact: bool,
    /// Keys in which its values differ although nothing that was asked for tells them apart.
    pub vary: BTreeSet<String>,
    /// All values, in the order in which they were read.
    pub values: Vec<f64>,
}

/// What wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Anything that writes columns of numbers.
    Columns,
    /// A table with titles.
    Titled,
    /// Go's `testing`, and what writes its format.
    Go,
    /// hyperfine, whose names are commands.
    Hyperfine,
    /// pyperf.
    Pyperf,
    /// JMH.
    Jmh,
    /// pytest-benchmark.
    Pytest,
    /// Google Benchmark.
    Google,
    /// criterion.rs.
    Criterion,
}

/// What was read from some files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gathered {
    /// In the order in which they first appeared.
    pub samples: Vec<Sample>,
    /// What wrote the files, if it was the same for all.
    pub kind: Option<Tool>,
    /// What the reader of a report should know of the reading.
    pub notes: Vec<String>,
    /// Those that a tool says have failed, each with why.
    pub failed: Vec<(String, String)>,
    /// Integers that lost digits.
    pub rounded: Rounded,
    index: HashMap<SampleKey, usize>,
    /// What was not asked for, of the first values of each sample.
    residues: Vec<BTreeMap<String, String>>,
    units: BTreeMap<(String, String), Declared>,
}

/// Settings, row, column and unit.
type SampleKey = (BTreeMap<String, String>, String, String, String);

/// What a file says of a unit, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Declared {
    value: String,
    place: String,
}

impl Gathered {
    /// Adds a value, in a unit, of what stands in a place; the unit becomes its base unit.
    pub fn add(&mut self, options: &Options, place: &dyn Keys, unit: &str, better: Better, value: f64) {
        let at = self.place(options, place, unit, better);
        self.samples[at].values.push(value);
    }

    /// Where the sample of such values is, which may be new.
    pub(super) fn place(&mut self, options: &Options, place: &dyn Keys, unit: &str, better: Better) -> usize {
        let Labels { settings, row, col, residue } = options.labels(place);
        let sample = Sample { settings, row, col, unit: unit.to_owned(), better, ..Sample::default() };
        self.index_of(sample, residue)
    }

    /// Where the sample with these labels is; of a new one, values and all.
    fn index_of(&mut self, sample: Sample, residue: BTreeMap<String, String>) -> usize {
        let key = (sample.settings.clone(), sample.row.clone(), sample.col.clone(), sample.unit.clone());
        if let Some(at) = self.index.get(&key).copied() {
            let Sample { vary, mut values, .. } = sample;
            let known = &mut self.samples[at];
            let first = &self.residues[at];
            let differs = |key: &&String| first.get(*key) != residue.get(*key);
            known.vary.extend(first.keys().chain(residue.keys()).filter(differs).cloned());
            known.vary.extend(vary);
            known.values.append(&mut values);
            return at;
        }
        self.samples.push(sample);
        self.residues.push(residue);
        self.index.insert(key, self.samples.len() - 1);
        self.samples.len() - 1
    }

    /// Takes what a file says of a unit, the first of several that say different things.
    pub(super) fn declare(&mut self, unit: &str, key: &str, value: &str, place: String) {
        let known = self.units.get(&(unit.to_owned(), key.to_owned()));
        match known {
            Some(known) if known.value == value => {}
            Some(known) => {
                let Declared { value: first, place: at } = known;
                self.notes.push(format!(
                    "{place}: {key}={value} for {unit} is ignored, because {at} already has {key}={first}"
                ));
            }
            None => {
                let declared = Declared { value: value.to_owned(), place };
                self.units.insert((unit.to_owned(), key.to_owned()), declared);
            }
        }
    }

    /// Ends the reading: what was said of a unit holds for all of its samples, wherever it was said. If nobody chose
    /// (`chosen`) what keeps tables and samples apart, hyperfine's commands are compared with each other: those of
    /// one file, or those of files that hold one each. All others write names of what is measured, and two different
    /// things are never compared.
    pub fn settle(&mut self, chosen: bool) {
        for sample in &mut self.samples {
            let said =
                |key: &str| self.units.get(&(sample.unit.clone(), key.to_owned())).map(|said| said.value.as_str());
            sample.better = match said("better") {
                Some("higher") => Better::More,
                Some("lower") => Better::Less,
                _ => sample.better,
            };
            // A time varies by chance, whatever anybody says.
            let is_time = sample.unit.starts_with("sec") || sample.unit.ends_with("/s");
            sample.exact = said("assume") == Some("exact") && !is_time;
        }
        if chosen || self.kind != Some(Tool::Hyperfine) {
            return;
        }
        let distinct = |label: fn(&Sample) -> &str| self.samples.iter().map(label).collect::<BTreeSet<_>>().len();
        let (rows, cols) = (distinct(|sample| &sample.row), distinct(|sample| &sample.col));
        let mut commands: HashMap<&str, &str> = HashMap::new();
        let one_command_each =
            self.samples.iter().all(|sample| *commands.entry(&sample.col).or_insert(&sample.row) == sample.row);
        if cols > 1 && rows > 1 && one_command_each {
            self.samples.iter_mut().for_each(|sample| sample.row.clear());
        } else if cols == 1 && rows > 1 {
            for sample in &mut self.samples {
                sample.col = std::mem::take(&mut sample.row);
            }
        }
    }

    /// Appends what was read from another file.
    pub fn append(&mut self, other: Self) {
        let first = self.samples.is_empty();
        self.kind = if first { other.kind } else { self.kind.filter(|kind| other.kind == Some(*kind)) };
        for (sample, residue) in other.samples.into_iter().zip(other.residues) {
            self.index_of(sample, residue);
        }
        for ((unit, key), Declared { value, place }) in other.units {
            self.declare(&unit, &key, &value, place);
        }
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.failed.extend(other.failed);
        self.rounded.append(other.rounded);
    }

    /// The values of a file that says nothing else.
    pub(super) fn nameless(&mut self, label: &str, Column { values, unit }: Column) {
        let unit = unit.unwrap_or_default().to_owned();
        self.index_of(Sample { col: label.to_owned(), unit, values, ..Sample::default() }, BTreeMap::new());
    }
}
