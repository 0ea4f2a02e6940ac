//! What one variant is built by: what the levels of its build factors say, joined. The core keeps it without looking into it.

use crate::nouns::Chain;
use crate::tuning::Tuning;
use bakeoff_model::kept::Kept;
use bakeoff_model::plan::Variant;
use bakeoff_model::record::FactorLine;
use bakeoff_model::study::{Factor, Level, Recipe};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a level of a build factor says, or what all levels of a variant say, in the order of the factors.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spec {
    /// Variables for the scripts. Those of a single level are in [`Level::variables`].
    pub variables: BTreeMap<String, String>,
    /// Files of the study's folder that are applied with `patch` to a layer's source, by the layer's name: the
    /// instruction `patches`.
    pub patches: BTreeMap<String, Vec<String>>,
    /// The source that a layer takes in place of its own, by the layer's name: the instruction `source`.
    pub sources: BTreeMap<String, String>,
    /// The revision of its source that a layer takes, by the layer's name: the instruction `revision`. The source of that
    /// revision is in [`Self::sources`].
    pub revisions: BTreeMap<String, String>,
    /// What the log of the build says when it fails, if the study foresees that: the instruction `fails` of each level.
    pub fails: Vec<String>,
    /// What changes in every call of a compiler: the instructions `append`, `compiler` and their like.
    pub tuning: Tuning,
}

/// What the levels of a variant say that has none.
pub(crate) static NOTHING: LazyLock<Spec> = LazyLock::new(Spec::default);

impl Spec {
    /// What a variant is built by.
    pub fn of(variant: &Variant) -> &Self {
        variant.spec.get().unwrap_or(&NOTHING)
    }

    /// What a level says.
    pub fn of_level(level: &Level) -> &Self {
        level.spec.get().unwrap_or(&NOTHING)
    }

    /// Adds what a level of another factor says.
    fn join(&mut self, level: &Level) {
        let Self { variables: _, patches, sources, revisions, fails, tuning } = Self::of_level(level).clone();
        self.variables.extend(level.variables.clone());
        for (layer, files) in patches {
            self.patches.entry(layer).or_default().extend(files);
        }
        self.sources.extend(sources);
        self.revisions.extend(revisions);
        self.fails.extend(fails);
        self.tuning.join(tuning);
    }
}

impl Recipe for Chain {
    fn steps(&self) -> Vec<String> {
        self.layers.iter().map(|layer| layer.name.clone()).collect()
    }

    fn factors(&self, factors: &[Factor]) -> Vec<FactorLine> {
        let said = |level: &Level| {
            let texts = level.variables.clone().into_iter().chain(Spec::of_level(level).tuning.texts());
            (level.name.clone(), texts.collect())
        };
        let line = |factor: &Factor| FactorLine {
            name: factor.name.clone(),
            levels: factor.levels.iter().map(said).collect(),
            implied: self
                .layers
                .iter()
                .filter_map(|layer| layer.implied.get(&factor.name))
                .flatten()
                .cloned()
                .collect(),
            takes_sources: factor.levels.iter().any(|level| !Spec::of_level(level).sources.is_empty()),
        };
        // Where nothing is built, nothing is compared with them.
        if self.layers.is_empty() { vec![] } else { factors.iter().map(line).collect() }
    }

    fn spec(&self, levels: &[&Level]) -> Kept {
        let mut spec = Spec::default();
        levels.iter().for_each(|level| spec.join(level));
        Kept::new(spec)
    }
}
