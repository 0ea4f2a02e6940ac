//! A whole simulated study: a plan's own orders, a record with trials, and the findings that [`crate::judge()`] makes of
//! it. The other studies test the test; these test everything from the record on.

use super::levels::ALPHA;
use super::simulate::{Sample, flag};
use super::worlds::World;
use bakeoff_judge::findings::{Caveat, Comparison, EffectKind, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::metric::{self, Measurements};
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{Block, Line, Record, Session, Trial};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::{Condition, Decide, Levels, Workload};
use std::collections::BTreeMap;

const BLOCKS: u32 = 10;
const WORKLOADS: [&str; 3] = ["load", "scan", "save"];

/// A study to be simulated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Design<'a> {
    pub(super) blocks: u32,
    /// The baseline first; with the logarithm of what each takes.
    pub(super) variants: &'a [(&'a str, f64)],
    pub(super) alpha: f64,
}

const SAME: Design<'_> =
    Design { blocks: BLOCKS, variants: &[("baseline", 0.0), ("second", 0.0), ("third", 0.0)], alpha: ALPHA };

/// Three variants that are the same: [any is judged different from the baseline, the twin is].
pub(super) fn same(world: World, stream: &mut Stream) -> Sample {
    let findings = judge(&record(world, SAME, &f64::exp, stream));
    let any = findings.tables.iter().flat_map(|table| &table.rows).any(|row| differs(&row.comparison));
    let twin =
        findings.tables.iter().filter_map(|table| table.noise_floor.as_ref()).any(|row| differs(&row.comparison));
    [flag(any), flag(twin), 0.0, 0.0]
}

/// Three variants that are the same, on several workloads: [the mean of any is judged different, that of the twin is; a twin that
/// is, beyond the margin, and no doubt says so].
pub(super) fn workloads(world: World, stream: &mut Stream) -> Sample {
    let mut plan = plan(SAME, stream.next_u64());
    plan.workloads = WORKLOADS.map(|name| Workload { name: name.to_owned(), ..plan.workloads[0].clone() }).to_vec();
    let findings = judge(&executed(&plan, world, SAME, &f64::exp, stream));
    let mut suites = findings.effects.iter().filter(|family| family.kind == EffectKind::Suite);
    let Some(suite) = suites.next() else { return [f64::NAN; 4] };
    let is_told = findings.caveats.iter().any(|caveat| matches!(caveat, Caveat::TwinDiffers { .. }));
    let is_beyond = suite.twin.as_ref().is_some_and(|twin| matches!(twin.verdict, Verdict::Faster | Verdict::Slower));
    let any = suite.effects.iter().any(|effect| differs(&effect.comparison));
    [flag(any), flag(differs(&suite.twin)), flag(is_beyond && !is_told), 0.0]
}

/// Whether a comparison was made and shows a difference.
pub(super) fn differs(comparison: &Option<Comparison>) -> bool {
    comparison.as_ref().is_some_and(Comparison::differs)
}

/// A finished study in that world, with a plan of its own; `clock` makes a time of a logarithm.
pub(super) fn record(world: World, design: Design<'_>, clock: &dyn Fn(f64) -> f64, stream: &mut Stream) -> Record {
    executed(&plan(design, stream.next_u64()), world, design, clock, stream)
}

fn executed(plan: &Plan, world: World, design: Design<'_>, clock: &dyn Fn(f64) -> f64, stream: &mut Stream) -> Record {
    let per_block = design.variants.len() + 1;
    let noise = world.noise(per_block * design.blocks as usize * plan.workloads.len(), stream);
    let effect =
        |name: &str| design.variants.iter().find(|(other, _)| *other == name).map_or(0.0, |(_, effect)| *effect);
    let mut record = begun(plan, world);
    for (block, slots) in (1..=design.blocks).flat_map(|pass| plan.pass(pass)).zip(noise.chunks(per_block)) {
        for (position, (variant, noise)) in (1..).zip(block.order.iter().zip(slots)) {
            record.trials.push(trial(&block, position, variant, clock(noise + effect(variant))));
        }
        record.push(Line::Block(block));
    }
    record
}

/// The record of a plan before its first block.
pub(super) fn begun(plan: &Plan, world: World) -> Record {
    let mut record = Record::new(plan.study_line(&BTreeMap::new(), "", Some(world.name())));
    record.push(Line::Session(Session { session: 1, blocks: plan.blocks, ..Session::default() }));
    record
}

/// A trial that took this time.
pub(super) fn trial(block: &Block, position: u32, variant: &str, seconds: f64) -> Trial {
    Trial {
        block: block.block,
        workload: block.workload.clone(),
        condition: block.condition.clone(),
        position,
        variant: variant.to_owned(),
        session: 1,
        measurements: Measurements::from([(metric::WALL.to_owned(), seconds)]),
        ..Trial::default()
    }
}

/// A plan of one workload under one condition.
pub(super) fn plan(design: Design<'_>, seed: u64) -> Plan {
    let levels = |name: &str| Levels::from([("variant".to_owned(), name.to_owned())]);
    let variant = |name: &str| Variant { name: name.to_owned(), levels: levels(name), ..Variant::default() };
    let workload = Workload { name: "work".to_owned(), ..Workload::default() };
    Plan {
        study: "calibration".to_owned(),
        name: "default".to_owned(),
        seed,
        blocks: design.blocks,
        variants: design.variants.iter().map(|(name, _)| variant(name)).collect(),
        workloads: vec![workload],
        conditions: vec![Condition { name: "idle".to_owned(), ..Condition::default() }],
        decide: Decide {
            baseline: levels(design.variants[0].0),
            metrics: vec![metric::WALL.to_owned()],
            margin: 0.01,
            confidence: 1.0 - design.alpha,
            ..Decide::default()
        },
        ..Plan::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_judge::findings::Test;

    #[test]
    fn a_record_is_a_finished_study() {
        let findings = judge(&record(World::Normal, SAME, &f64::exp, &mut Stream::of(1, &[])));
        assert_eq!((findings.blocks_finished, findings.blocks_total), (BLOCKS, BLOCKS));
        let comparisons: Vec<&Comparison> =
            findings.tables[0].rows.iter().filter_map(|row| row.comparison.as_ref()).collect();
        assert_eq!(comparisons.len(), 2);
        assert!(
            comparisons
                .iter()
                .all(|comparison| comparison.tested().is_some_and(|tested| tested.test == Test::SignFlip)
                    && comparison.blocks == BLOCKS)
        );
        assert!(findings.tables[0].noise_floor.is_some());
        assert!(findings.failures.is_empty());
    }
}
