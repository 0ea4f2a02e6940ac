//! The plan: which variants take part, in which cells, and the order of every block. It follows from a study by
//! rules alone, so the same study and seed always give the same plan. It is not what happened: that is a
//! [`crate::record::Record`].
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

pub use part::Part;

use crate::grouped::unique;
use crate::kept::Kept;
use crate::metric::{self, Clock, Metric};
use crate::problem::suggest;
use crate::record::{Block, Building, Drawn, Excluded, FactorLine, MOST_PADDING_BYTES, RELAID, TWIN};
use crate::shuffle::Stream;
use crate::study::{
    Around, Condition, Decide, Factor, Layouts, Level, Levels, PlanSpec, Service, Study, VariantRule, Vary, VoidRule,
    Workload,
};
use crate::until::Until;
use std::collections::BTreeMap;

/// The display name of the baseline.
pub const BASELINE: &str = "baseline";

/// One level of every factor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Variant {
    /// The levels that differ from the baseline's, as `factor=level`; for the baseline itself, [`BASELINE`].
    pub name: String,
    pub levels: Levels,
    /// Variables of its run factors' levels, for trials and services; `SERVICE.VARIABLE` is for that service only.
    pub run_variables: BTreeMap<String, String>,
    /// A command in place of the workload's.
    pub run: Option<String>,
    /// Commands in place of those around the workload's trials.
    pub around: Around,
    /// The file below its prefix that is booted, and in which its trials are run.
    pub kernel: Option<String>,
    /// What it is built by, as the study's [`crate::study::Recipe`] joins it of the levels of its build factors.
    pub spec: Kept,
}

/// Which variants take part, in which cells, how often, in which order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    pub study: String,
    pub question: Option<String>,
    pub name: String,
    pub seed: u64,
    /// Blocks for every workload × condition; the most of them, if there is a rule for stopping earlier.
    pub blocks: u32,
    /// When there are blocks enough.
    pub until: Until,
    /// The baseline first.
    pub variants: Vec<Variant>,
    /// What was left out, and why.
    pub excluded: Vec<Excluded>,
    /// The build factors, where anything is built: what builds are compared with.
    pub build_factors: Vec<FactorLine>,
    pub workloads: Vec<Workload>,
    pub services: Vec<Service>,
    pub conditions: Vec<Condition>,
    /// Nuisances that are drawn afresh for every block.
    pub vary: Vec<Vary>,
    /// How many layouts there are, each in the same number of passes; none: one for each pass.
    pub layouts: Option<u32>,
    pub building: Option<Building>,
    /// When a trial does not count.
    pub void_if: Vec<VoidRule>,
    pub decide: Decide,
    pub shell: Shell,
    /// Whether a variant goes on that failed in each of its first blocks.
    pub keep_going: bool,
    /// What features have read of sections that make trials comparable, by their names.
    pub sections: BTreeMap<String, serde_json::Value>,
    /// What seconds are where the trials are run; the command that chooses the place sets it.
    pub clock: Clock,
    /// The part of it that is run here; none if that is all of it.
    pub part: Option<Part>,
    /// The deciding metric, where an instrument counts it in the place of the machine: then nothing else is measured.
    pub counted: Option<Metric>,
}

/// How the commands of trials are run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Shell {
    /// Directly, if all of them are plain words; else by `sh -c`.
    #[default]
    IfNeeded,
    /// Directly: each command is divided into words as a shell would do it.
    Never,
    /// By this command, which takes a command after `-c`.
    Always(String),
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the study has no plan `{name}`; {remedy}")]
    NoSuchPlan { name: String, remedy: String },
    #[error("the baseline is excluded: {reason}; choose another baseline, or change `[[exclude]]`")]
    BaselineExcluded { reason: String },
    #[error("the plan has only the baseline, so there is nothing to compare; include another variant")]
    NothingToCompare,
    #[error("no workload of the plan has the deciding metric `{metric}`; include one with this metric in `workloads`")]
    NothingDecides { metric: String },
    #[error("no variant of this plan matches `{pattern}`; {remedy}")]
    NoSuchVariant { pattern: String, remedy: String },
}

impl Plan {
    /// The plan of that name (`default` for `[plan]`), with all of its variants.
    pub fn of(study: &Study, name: &str) -> Result<Self, Error> {
        let spec = study.plans.iter().find(|p| p.name == name).ok_or_else(|| Error::NoSuchPlan {
            name: name.to_owned(),
            remedy: suggest(name, study.plans.iter().map(|p| p.name.as_str())),
        })?;
        let (workloads, services, conditions) = cells(study, spec);
        let decide = decided(study, &workloads)?;
        let building = building(study, spec, &conditions);
        let baseline = &study.decide.baseline;
        let mut variants = vec![];
        let mut excluded = vec![];
        for levels in points(study, spec) {
            let name = display_name(study, &levels, baseline);
            let barred = study.excludes.iter().find(|exclude| {
                exclude
                    .when
                    .iter()
                    .all(|(factor, barred)| levels.get(factor).is_some_and(|level| barred.contains(level)))
            });
            match barred {
                Some(exclude) if levels == *baseline => {
                    return Err(Error::BaselineExcluded { reason: exclude.reason.clone() });
                }
                Some(exclude) => excluded.push(Excluded { name, reason: exclude.reason.clone() }),
                None => variants.push(variant(study, name, levels)),
            }
        }
        variants.sort_by_key(|v| v.levels != *baseline);
        if variants.len() < 2 {
            return Err(Error::NothingToCompare);
        }
        let mut plan = Self {
            study: study.name.clone(),
            question: study.question.clone(),
            name: spec.name.clone(),
            seed: spec.seed,
            blocks: spec.blocks,
            until: spec.until,
            variants,
            excluded,
            build_factors: study.recipe.iter().flat_map(|recipe| recipe.factors(&study.build_factors)).collect(),
            workloads,
            services,
            conditions,
            vary: spec.vary.clone(),
            building,
            void_if: spec.void_if.clone(),
            decide,
            sections: study
                .sections
                .iter()
                .filter(|(name, _)| study.sections_of_trials.contains(*name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            ..Self::default()
        };
        if study.builds() && !study.build_factors.is_empty() && plan.can_lay_out() {
            plan.lay_out(spec.layouts.unwrap_or(Layouts::Fresh));
        }
        Ok(plan)
    }

    /// Keeps the baseline and the variants that match any of the patterns. A pattern is a display name; or else one or
    /// more `factor=level` with blanks between them, all of which the variant must have.
    pub fn only(&mut self, patterns: &[String]) -> Result<(), Error> {
        if patterns.is_empty() {
            return Ok(());
        }
        for pattern in patterns {
            if !self.variants.iter().any(|v| matches(v, pattern)) {
                let names = self.variants.iter().map(|v| v.name.as_str());
                return Err(Error::NoSuchVariant { pattern: pattern.clone(), remedy: suggest(pattern, names) });
            }
        }
        let baseline = self.decide.baseline.clone();
        // A name means the variant that has it, even where its terms would fit others too.
        let names: Vec<String> = self.variants.iter().map(|v| v.name.clone()).collect();
        let meant = |v: &Variant, p: &String| if names.contains(p) { v.name == *p } else { matches(v, p) };
        self.variants.retain(|v| v.levels == baseline || patterns.iter().any(|p| meant(v, p)));
        if self.variants.len() < 2 { Err(Error::NothingToCompare) } else { Ok(()) }
    }

    /// Whether each variant boots a kernel of its own, in which its trials are run: then a pass is split by variant.
    pub fn boots(&self) -> bool {
        self.variants.iter().any(|variant| variant.kernel.is_some())
    }

    pub fn baseline(&self) -> &Variant {
        &self.variants[0]
    }

    /// The passes that are run: all of them, or those of the part.
    pub fn passes(&self) -> Vec<u32> {
        match &self.part {
            Some(part) => part.passes.range(..=self.blocks).copied().collect(),
            None => (1..=self.blocks).collect(),
        }
    }

    /// The blocks of one pass (from 1), one for every workload × condition, in that pass's random order.
    ///
    /// The order of a block depends on seed, pass, names of workload and condition, and variants alone: not on the
    /// number of blocks, nor on interruptions. Where variants boot, all blocks of a pass have the order of the boots.
    pub fn pass(&self, pass: u32) -> Vec<Block> {
        let number = pass.to_string();
        let mut blocks: Vec<Block> = vec![];
        for workload in &self.workloads {
            for condition in &self.conditions {
                let order = match self.boots() {
                    true => self.order(&number, "", "", false),
                    false => self.order(&number, &workload.name, &condition.name, self.has_relaid(condition)),
                };
                let (padding, layout) = (self.padding(pass), self.layout(pass).filter(|_| !condition.as_built));
                let (workload, condition) = (workload.name.clone(), condition.name.clone());
                blocks.push(Block { block: pass, workload, condition, order, padding, layout, ..Block::default() });
            }
        }
        Stream::of(self.seed, &["pass", &number]).shuffle(&mut blocks);
        self.insert_building(pass, &mut blocks);
        if let Some(part) = &self.part {
            part.apply(&mut blocks);
        }
        blocks
    }

    /// Bytes that the environment of every trial of a pass is padded with, where its size is varied: the same for all
    /// variants, and up to a page, beyond which the stack's place repeats.
    fn padding(&self, pass: u32) -> u32 {
        if !self.vary.contains(&Vary::EnvSize) {
            return 0;
        }
        let drawn = Stream::of(self.seed, &["env-size", &pass.to_string()]).below(MOST_PADDING_BYTES.into());
        1 + u32::try_from(drawn).unwrap_or(0)
    }

    /// Everything that a block of a workload runs, in the random order of that block.
    fn order(&self, pass: &str, workload: &str, condition: &str, relaid: bool) -> Vec<String> {
        let mut order: Vec<String> = self.variants.iter().map(|v| v.name.clone()).collect();
        order.push(TWIN.to_owned());
        order.extend(relaid.then(|| RELAID.to_owned()));
        Stream::of(self.seed, &["block", pass, workload, condition]).shuffle(&mut order);
        order
    }

    /// Puts blocks of building among those of a pass, whose order stays: so they can be added to a study later on.
    fn insert_building(&self, pass: u32, blocks: &mut Vec<Block>) {
        let Some(building) = self.building.as_ref().filter(|building| pass <= building.blocks) else { return };
        let number = pass.to_string();
        for workload in &building.workloads {
            let condition = building.condition.clone();
            let order = self.order(&number, workload, &condition, false);
            let mut places = Stream::of(self.seed, &["building", &number, workload]);
            let place = usize::try_from(places.below(blocks.len() as u64 + 1)).unwrap_or(0);
            let workload = workload.clone();
            blocks.insert(place, Block { block: pass, workload, condition, order, ..Block::default() });
        }
    }

    /// Passes in which building is measured.
    pub fn building_passes(&self) -> u32 {
        self.building.as_ref().map_or(0, |building| building.blocks.min(self.blocks))
    }

    /// What the layouts of a pass are drawn from, where they are varied.
    fn layout(&self, pass: u32) -> Option<u32> {
        let pass = self.layouts.map_or(pass, |layouts| number_of_layout(pass, layouts));
        self.relinks().then(|| {
            let drawn = Stream::of(self.seed, &["link-order", &pass.to_string()]).below(1 << 32);
            u32::try_from(drawn).unwrap_or(0)
        })
    }

    /// Trials of a block in that condition: of the variants and of the baseline again.
    pub fn trials_of_block(&self, condition: &Condition) -> u64 {
        self.variants.len() as u64 + 1 + u64::from(self.has_relaid(condition))
    }

    /// Whether the baseline is run in another layout too.
    fn has_relaid(&self, condition: &Condition) -> bool {
        self.matches() && !condition.as_built
    }

    /// Whether the layouts of a pass match.
    pub fn matches(&self) -> bool {
        self.vary.contains(&Vary::Layouts)
    }

    /// Whether what is built is linked again for each pass.
    pub fn relinks(&self) -> bool {
        self.vary.iter().any(|vary| matches!(vary, Vary::LinkOrder | Vary::Layouts))
    }

    /// Where the rule looks a few times only: the number of blocks of its last look.
    pub fn looks_until(&self) -> Option<u32> {
        (self.until == Until::Decided).then_some(self.blocks)
    }

    /// Sets the rule for stopping and the most blocks, as far as they are given. A rule without a number brings its
    /// own.
    ///
    /// # Errors
    /// Says why, if the rule could never stop within this number.
    pub fn extend(&mut self, until: Option<Until>, blocks: Option<u32>) -> Result<(), String> {
        if let Some(until) = until {
            self.until = until;
            self.blocks = until.default_blocks();
        }
        self.blocks = blocks.unwrap_or(self.blocks);
        self.until.check(self.blocks)
    }

    /// Those of them that are building.
    pub fn building_trials(&self) -> u64 {
        let built = self.building.as_ref().map_or(0, |building| building.workloads.len() as u64);
        built * u64::from(self.building_passes()) * (self.variants.len() as u64 + 1)
    }

    /// Trials in the whole plan, twins included; at most, if there is a rule for stopping earlier.
    pub fn trials(&self) -> u64 {
        let of_pass: u64 = self.conditions.iter().map(|condition| self.trials_of_block(condition)).sum();
        self.workloads.len() as u64 * of_pass * u64::from(self.blocks) + self.building_trials()
    }
}

/// What is drawn for a boot: equal boots of an emulated machine are the same to the bit, so each is another one.
pub fn drawn(seed: u64, pass: u32, variant: &str, attempt: u32) -> Drawn {
    let mut stream = Stream::of(seed, &["boot", &pass.to_string(), variant, &attempt.to_string()]);
    let mut below = |end: u32| u32::try_from(stream.below(end.into())).unwrap_or(0);
    Drawn { padding: below(MOST_BOOT_PADDING), pages: below(MOST_BOOT_PAGES) }
}

/// A kernel's command line has 2,048 bytes, and qemu's arguments and the study's own words need some.
const MOST_BOOT_PADDING: u32 = 512;
/// Up to 16 MiB of memory.
const MOST_BOOT_PAGES: u32 = 4096;

/// The seed of a variant's, or the twin's, order of linking in a block with that [`Block::layout`].
pub fn link_seed(layout: u32, variant: &str) -> u32 {
    u32::try_from(Stream::of(layout.into(), &["link-order of", variant]).below(1 << 32)).unwrap_or(0)
}

/// The end of the name of a condition in which files are measured as built, beside others.
pub const AS_BUILT: &str = "-as-built";

/// The number of the layout of a pass, both from 1, where that many take turns.
pub fn number_of_layout(pass: u32, layouts: u32) -> u32 {
    pass.saturating_sub(1) % layouts.max(1) + 1
}

fn matches(variant: &Variant, pattern: &str) -> bool {
    let has = |term: &str| term.split_once('=').is_some_and(|(f, l)| variant.levels.get(f).is_some_and(|x| x == l));
    variant.name == pattern || (!pattern.trim().is_empty() && pattern.split_whitespace().all(has))
}

/// How to judge, by those metrics that the plan's workloads have: what is left out takes its own with it.
fn decided(study: &Study, workloads: &[Workload]) -> Result<Decide, Error> {
    let has = |name: &String| metric::find(name, workloads).is_ok();
    match study.decide.metrics.first() {
        Some(first) if !has(first) => Err(Error::NothingDecides { metric: first.clone() }),
        _ => {
            let metrics = study.decide.metrics.iter().filter(|name| has(name)).cloned().collect();
            Ok(Decide { metrics, ..study.decide.clone() })
        }
    }
}

/// The workloads that the plan takes, the services that they need, and the conditions; in the order of the study.
fn cells(study: &Study, spec: &PlanSpec) -> (Vec<Workload>, Vec<Service>, Vec<Condition>) {
    let takes = |chosen: &Option<Vec<String>>, name: &String| chosen.as_ref().is_none_or(|c| c.contains(name));
    let workloads: Vec<Workload> =
        study.workloads.iter().filter(|workload| takes(&spec.workloads, &workload.name)).cloned().collect();
    let needed = |service: &&Service| workloads.iter().any(|workload| workload.services.contains(&service.name));
    let services = study.services.iter().filter(needed).cloned().collect();
    let conditions = study.conditions.iter().filter(|c| takes(&spec.conditions, &c.name)).cloned().collect();
    (workloads, services, conditions)
}

/// Whether and how building is measured. It has nothing beside it: its blocks are of a condition that asks for nothing.
fn building(study: &Study, spec: &PlanSpec, conditions: &[Condition]) -> Option<Building> {
    let idle = conditions.iter().find(|condition| condition.parts().is_empty());
    let steps = study.recipe.as_ref().map(|recipe| recipe.steps()).unwrap_or_default();
    (spec.rebuild > 0).then(|| Building {
        workloads: steps.iter().map(|step| Building::workload_of(step)).collect(),
        condition: idle.map_or("idle", |condition| &condition.name).to_owned(),
        blocks: spec.rebuild,
    })
}

fn factors(study: &Study) -> impl Iterator<Item = &Factor> {
    study.build_factors.iter().chain(&study.run_factors)
}

/// Every combination of levels that the plan's rule asks for, each once; the baseline is always among them.
fn points(study: &Study, spec: &PlanSpec) -> Vec<Levels> {
    let baseline = &study.decide.baseline;
    let with = |changes: Levels| baseline.clone().into_iter().chain(changes).collect::<Levels>();
    let mut points = vec![baseline.clone()];
    match &spec.variants {
        VariantRule::All => {
            points = vec![Levels::new()];
            for factor in factors(study) {
                let longer = |levels: Levels| {
                    let names = factor.levels.iter().map(|level| (factor.name.clone(), level.name.clone()));
                    names.map(move |level| levels.clone().into_iter().chain([level]).collect::<Levels>())
                };
                points = points.into_iter().flat_map(longer).collect();
            }
        }
        VariantRule::OneAtATime => {
            for factor in factors(study) {
                for level in &factor.levels {
                    points.push(with(Levels::from([(factor.name.clone(), level.name.clone())])));
                }
            }
        }
        VariantRule::Listed(list) => points.extend(list.iter().cloned().map(with)),
    }
    unique(points)
}

fn display_name(study: &Study, levels: &Levels, baseline: &Levels) -> String {
    let differs = |f: &&Factor| levels.get(&f.name) != baseline.get(&f.name);
    let terms: Vec<String> =
        factors(study).filter(differs).map(|f| format!("{}={}", f.name, levels[&f.name])).collect();
    if terms.is_empty() { BASELINE.to_owned() } else { terms.join(" ") }
}

/// The levels among these of the factors, in the order of the factors.
fn chosen<'a>(factors: &'a [Factor], levels: &Levels) -> Vec<&'a Level> {
    let of = |factor: &'a Factor| factor.levels.iter().find(|level| levels.get(&factor.name) == Some(&level.name));
    factors.iter().filter_map(of).collect()
}

fn variant(study: &Study, name: String, levels: Levels) -> Variant {
    let build = chosen(&study.build_factors, &levels);
    let run_variables = chosen(&study.run_factors, &levels).into_iter().flat_map(|l| l.variables.clone()).collect();
    let kernel = build.iter().find_map(|level| level.kernel.clone());
    let spec = study.recipe.as_ref().map(|recipe| recipe.spec(&build)).unwrap_or_default();
    Variant { name, levels, run_variables, run: None, around: Around::default(), kernel, spec }
}

mod head;
mod identity;
mod layouts;
mod part;
#[cfg(test)]
mod tests;
