//! What each machine shows, where the blocks of a study ran on several. Plain data.

use super::{Caveat, Comparison, Findings, Scale, Table, Verdict};
use bakeoff_model::metric::Unit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A variant against the baseline in one table of the deciding metric, machine by machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ByPlace {
    pub workload: String,
    pub condition: String,
    pub metric: String,
    pub unit: Unit,
    /// The twin's is what each machine calls a difference between a thing and itself.
    pub variant: String,
    /// In the order of their names.
    pub places: Vec<OnPlace>,
    /// Faster or slower, if it is shown to be so on every machine by the blocks of that machine alone.
    pub everywhere: Option<Verdict>,
    /// The machine on which it is not what it is on the others.
    pub unlike: Option<Unlike>,
}

/// What the blocks of one machine say, as if they were all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnPlace {
    pub place: String,
    /// Number of blocks with both.
    pub blocks: u32,
    pub scale: Scale,
    pub estimate: f64,
    /// At the study's confidence, of this machine alone; none for too few blocks.
    pub interval: Option<[f64; 2]>,
    pub verdict: Verdict,
}

/// A machine on which a comparison is another one, and the estimates there and on all others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unlike {
    pub place: String,
    pub unit: Unit,
    pub scale: Scale,
    pub there: f64,
    pub elsewhere: f64,
    /// p of no difference between the machines, corrected for all rows.
    pub p: f64,
}

/// A machine whose twin is farther from the baseline than elsewhere: the means of |ln ratio|, or of the differences' sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noisy {
    pub place: String,
    pub workload: String,
    pub condition: String,
    pub unit: Unit,
    pub scale: Scale,
    pub there: f64,
    pub elsewhere: f64,
}

impl Comparison {
    /// The machine on which it is another one, if one is shown: then it holds on the whole, and not of each machine.
    pub fn on_the_whole(&self) -> Option<&Unlike> {
        self.caveats.iter().find_map(|caveat| match caveat {
            Caveat::PlacesDiffer(unlike) => Some(unlike),
            _ => None,
        })
    }
}

impl ByPlace {
    /// Whether it is about a table.
    pub fn is_of(&self, table: &Table) -> bool {
        (&self.workload, &self.condition, &self.metric) == (&table.workload, &table.condition, &table.metric)
    }
}

impl Findings {
    /// The machines of any row.
    fn place_names(&self) -> BTreeSet<String> {
        self.by_place.iter().flat_map(|row| row.places.iter().map(|one| one.place.clone())).collect()
    }

    /// How many machines there are, if several.
    pub fn several_places(&self) -> Option<usize> {
        Some(self.place_names().len()).filter(|places| *places > 1)
    }

    /// Replaces the names of machines by numbers, the same in all that is said of them.
    pub fn number_places(&mut self) {
        let names = self.place_names();
        let number = |name: &mut String| {
            if let Some(at) = names.iter().position(|known| known == name) {
                *name = format!("node {}", at + 1);
            }
        };
        for row in &mut self.by_place {
            row.places.iter_mut().for_each(|one| number(&mut one.place));
            row.unlike.iter_mut().for_each(|one| number(&mut one.place));
        }
        let rows = self.tables.iter_mut().flat_map(|table| &mut table.rows).filter_map(|row| row.comparison.as_mut());
        let effects = self.effects.iter_mut().flat_map(|family| &mut family.effects);
        let comparisons = rows.chain(effects.filter_map(|effect| effect.comparison.as_mut()));
        for caveat in comparisons.flat_map(|comparison| &mut comparison.caveats).chain(&mut self.caveats) {
            match caveat {
                Caveat::PlacesDiffer(unlike) => number(&mut unlike.place),
                Caveat::NoisyPlaces { seen } => seen.iter_mut().for_each(|one| number(&mut one.place)),
                _ => {}
            }
        }
    }
}
