//! A whole simulated study: a plan's own orders, a record with trials, and the findings that [`crate::judge()`] makes of
//! it. The other studies test the test; these test everything from the record on.

use super::simulate::Sample;
use super::studies::ALPHA;
use super::worlds::World;
use crate::findings::{Comparison, Verdict};
use crate::judge;
use bakeoff_model::metric::Measurements;
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{Line, Outcome, Place, Record, Session, Trial};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::{Condition, Decide, Levels, Workload};
use std::collections::BTreeMap;

const VARIANTS: [&str; 3] = ["baseline", "second", "third"];
const BLOCKS: u32 = 10;

/// Three variants that are the same: [any is judged different from the baseline, the twin is].
pub(super) fn same(world: World, stream: &mut Stream) -> Sample {
    let findings = judge(&record(world, stream));
    let claims = |comparison: &Option<Comparison>| {
        let verdict = comparison.as_ref().map(|comparison| comparison.verdict);
        matches!(verdict, Some(Verdict::Faster | Verdict::Slower | Verdict::Negligible))
    };
    let any = findings.tables.iter().flat_map(|table| &table.rows).any(|row| claims(&row.comparison));
    let twin = findings.tables.iter().filter_map(|table| table.noise_floor.as_ref()).any(|row| claims(&row.comparison));
    [f64::from(u8::from(any)), f64::from(u8::from(twin)), 0.0, 0.0]
}

/// A finished study in that world, with a plan of its own.
fn record(world: World, stream: &mut Stream) -> Record {
    let plan = plan(stream.next_u64());
    let per_block = VARIANTS.len() + 1;
    let noise = world.noise(per_block * BLOCKS as usize, stream);
    let mut record = Record::new(plan.study_line(&BTreeMap::new(), "", Some(world.name())));
    record.push(Line::Session(Session {
        session: 1,
        started_unix_s: 0.0,
        blocks: BLOCKS,
        place: Place::default(),
        memory_floor_bytes: None,
        ..Session::default()
    }));
    for (block, slots) in (1..=BLOCKS).flat_map(|pass| plan.pass(pass)).zip(noise.chunks(per_block)) {
        for (position, (variant, noise)) in (1..).zip(block.order.iter().zip(slots)) {
            record.trials.push(Trial {
                block: block.block,
                workload: block.workload.clone(),
                condition: block.condition.clone(),
                position,
                variant: variant.clone(),
                session: 1,
                started_unix_s: 0.0,
                outcome: Outcome::Ok,
                measurements: Measurements::from([("wall".to_owned(), noise.exp())]),
                leftovers: 0,
                ..Trial::default()
            });
        }
        record.push(Line::Block(block));
    }
    record
}

fn plan(seed: u64) -> Plan {
    let levels = |name: &str| Levels::from([("variant".to_owned(), name.to_owned())]);
    let variant = |name: &str| Variant {
        name: name.to_owned(),
        levels: levels(name),
        build_variables: BTreeMap::new(),
        run: None,
        ..Variant::default()
    };
    let workload = Workload {
        name: "work".to_owned(),
        run: String::new(),
        expect: None,
        files: vec![],
        takes_s: None,
        ..Workload::default()
    };
    Plan {
        study: "calibration".to_owned(),
        question: None,
        name: "default".to_owned(),
        seed,
        blocks: BLOCKS,
        until: bakeoff_model::until::Until::Blocks,
        variants: VARIANTS.map(variant).to_vec(),
        excluded: vec![],
        build_factors: vec![],
        workloads: vec![workload],
        services: vec![],
        vary: vec![],
        building: None,
        void_if: vec![],
        conditions: vec![Condition { name: "idle".to_owned(), ..Condition::default() }],
        decide: Decide {
            baseline: levels(VARIANTS[0]),
            metrics: vec!["wall".to_owned()],
            margin: 0.01,
            confidence: 1.0 - ALPHA,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Test;

    #[test]
    fn a_record_is_a_finished_study() {
        let findings = judge(&record(World::Normal, &mut Stream::of(1, &[])));
        assert_eq!((findings.blocks_finished, findings.blocks_total), (BLOCKS, BLOCKS));
        let comparisons: Vec<&Comparison> =
            findings.tables[0].rows.iter().filter_map(|row| row.comparison.as_ref()).collect();
        assert_eq!(comparisons.len(), 2);
        assert!(comparisons.iter().all(|comparison| comparison.test == Test::SignFlip && comparison.blocks == BLOCKS));
        assert!(findings.tables[0].noise_floor.is_some());
        assert!(findings.failures.is_empty());
    }
}
