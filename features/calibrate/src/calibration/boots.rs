//! Whole studies of kernels that boot: in each pass every variant and the twin boots once, and all trials of a boot share its
//! effect, which is larger than their own noise. Machines grow slower within a pass. A plan draws the orders, and
//! [`bakeoff_judge::judge`] judges the records.

use super::levels::ALPHA;
use super::simulate::{Sample, flag};
use super::whole::{Design, begun, differs, plan, trial};
use super::worlds::World;
use bakeoff_judge::findings::{Comparison, EffectKind, Effects, Findings};
use bakeoff_judge::judge;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Boot, Line, Record};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::{Condition, Workload};
use bakeoff_stats::describe::mean;
use bakeoff_stats::student::MeanT;
use std::collections::BTreeMap;

const PASSES: u32 = 10;

/// The standard deviation of a boot's effect, on the logarithm.
const BOOT: f64 = 0.03;

/// How much slower the machine grows from the first trial of a pass to the last, on the logarithm.
const DRIFT: f64 = 0.04;

/// The workloads, each with the logarithm of its time; and the conditions, which change nothing.
const WORKLOADS: [(&str, f64); 2] = [("short", 0.0), ("long", 1.0)];
const CONDITIONS: [&str; 2] = ["idle", "other"];

/// The kernels, the baseline first.
const NAMES: [&str; 3] = ["baseline", "second", "third"];

/// The true ratio of the last kernel where it is slower.
const SLOWER: f64 = 1.07;

/// Comparisons that the correction is made over: all kernels but the baseline.
const FAMILY: f64 = (NAMES.len() - 1) as f64;

/// A finished study, and the effects of its boots, which no study knows.
struct Simulated {
    record: Record,
    /// For each pass, by variant.
    boots: Vec<BTreeMap<String, f64>>,
}

/// Three kernels that are the same: [the part of tables in which any is judged different from the baseline, of suites, of
/// families of conditions; the part of tables and suites in which the twin is].
pub(super) fn same(world: World, stream: &mut Stream) -> Sample {
    let findings = judge(&simulated(world, 1.0, stream).record);
    let tables = findings.tables.iter().map(|table| table.rows.iter().any(|row| differs(&row.comparison)));
    let twins =
        findings.tables.iter().map(|table| table.noise_floor.as_ref().is_some_and(|row| differs(&row.comparison)));
    let suites = of_kinds(&findings, &[EffectKind::Suite]);
    let conditions = of_kinds(&findings, &[EffectKind::Condition, EffectKind::ConditionChange]);
    let any = |family: &Effects| family.effects.iter().any(|effect| differs(&effect.comparison));
    [
        part(tables),
        part(suites.iter().copied().map(any)),
        part(conditions.into_iter().map(any)),
        part(twins.chain(suites.iter().map(|suite| differs(&suite.twin)))),
    ]
}

/// The last kernel is slower: [the part of tables in which any interval misses the truth, of suites; the part of suites in which
/// it is judged slower; whether Student's t sees it where the boots' effects are all the noise that there is].
pub(super) fn slower(world: World, stream: &mut Stream) -> Sample {
    let study = simulated(world, SLOWER, stream);
    let findings = judge(&study.record);
    let suites = of_kinds(&findings, &[EffectKind::Suite]);
    let tables = findings.tables.iter().map(|table| {
        let mut others = table.rows.iter().filter(|row| row.variant != NAMES[0]);
        others.any(|row| misses(Some(&row.variant), &row.comparison))
    });
    let of_suite = |suite: &&Effects| suite.effects.iter().any(|effect| misses(effect.variant(), &effect.comparison));
    let sees = suites.iter().map(|suite| {
        let last = suite.effects.iter().find(|effect| effect.variant() == Some(NAMES[2]));
        let comparison = last.and_then(|effect| effect.comparison.as_ref());
        comparison.is_some_and(|comparison| comparison.differs() && comparison.estimate > 1.0)
    });
    [part(tables), part(suites.iter().map(of_suite)), part(sees), flag(study.is_seen_without_noise())]
}

/// Whether the interval of a kernel misses its true ratio, or there is none.
fn misses(name: Option<&str>, comparison: &Option<Comparison>) -> bool {
    let truth = if name == Some(NAMES[2]) { SLOWER } else { 1.0 };
    comparison.as_ref().and_then(Comparison::interval).is_none_or(|[low, high]| !(low..=high).contains(&truth))
}

/// The mean of flags. There are some in every study; without them nothing would be counted, which no goal forgives.
fn part(flags: impl Iterator<Item = bool>) -> f64 {
    let flags: Vec<f64> = flags.map(flag).collect();
    if flags.is_empty() { f64::NAN } else { mean(&flags) }
}

fn of_kinds<'a>(findings: &'a Findings, kinds: &[EffectKind]) -> Vec<&'a Effects> {
    findings.effects.iter().filter(|family| kinds.contains(&family.kind)).collect()
}

impl Simulated {
    /// Whether Student's t, corrected by Bonferroni, sees that the last kernel is slower from nothing but the boots' effects: as
    /// if trials had no noise and there were no drift.
    fn is_seen_without_noise(&self) -> bool {
        let contrast = |boots: &BTreeMap<String, f64>| SLOWER.ln() + boots[NAMES[2]] - boots[NAMES[0]];
        let contrasts: Vec<f64> = self.boots.iter().map(contrast).collect();
        let interval = MeanT::new(&contrasts).and_then(|test| test.interval(ALPHA / FAMILY));
        interval.is_some_and(|[low, _]| low > 0.0)
    }
}

/// A finished study whose last kernel has this ratio to the others. The noise of the world belongs to the slots, in the order of
/// time; so does the drift of the pass.
fn simulated(world: World, ratio: f64, stream: &mut Stream) -> Simulated {
    let plan = kernels(stream.next_u64());
    let per_boot = WORKLOADS.len() * CONDITIONS.len();
    let per_pass = per_boot * (NAMES.len() + 1);
    let noise = world.noise(per_pass * PASSES as usize, stream);
    let (mut record, mut boots) = (begun(&plan, world), vec![]);
    for (pass, noise) in (1..=PASSES).zip(noise.chunks(per_pass)) {
        let blocks = plan.pass(pass);
        let order = blocks[0].order.clone();
        let mut effects = BTreeMap::new();
        for (boot, variant) in order.iter().enumerate() {
            let effect = BOOT * stream.normal();
            effects.insert(variant.clone(), effect);
            let truth = if variant == NAMES[2] { ratio.ln() } else { 0.0 };
            let trials = blocks.iter().zip(boot * per_boot..).map(|(block, slot)| {
                let drift = DRIFT * slot as f64 / (per_pass - 1) as f64;
                let level = WORKLOADS.iter().find(|(name, _)| *name == block.workload).map_or(0.0, |(_, level)| *level);
                trial(block, boot as u32 + 1, variant, (level + truth + effect + drift + noise[slot]).exp())
            });
            let trials = trials.collect();
            record.push(Line::Boot(Boot { session: 1, pass, variant: variant.clone(), trials, ..Boot::default() }));
        }
        blocks.into_iter().for_each(|block| record.push(Line::Block(block)));
        boots.push(effects);
    }
    Simulated { record, boots }
}

/// The plan of a study whose variants boot.
fn kernels(seed: u64) -> Plan {
    let mut plan = plan(Design { blocks: PASSES, variants: &NAMES.map(|name| (name, 0.0)), alpha: ALPHA }, seed);
    plan.variants.iter_mut().for_each(|variant| variant.kernel = Some(format!("{}/bzImage", variant.name)));
    plan.workloads =
        WORKLOADS.map(|(name, _)| Workload { name: name.to_owned(), ..plan.workloads[0].clone() }).to_vec();
    plan.conditions = CONDITIONS.map(|name| Condition { name: name.to_owned(), ..Condition::default() }).to_vec();
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: usize = WORKLOADS.len() * CONDITIONS.len();

    fn a_study() -> Simulated {
        simulated(World::Normal, SLOWER, &mut Stream::of(1, &["boots"]))
    }

    /// The orders are those of a plan that is split by variant, and each boot has all cells of its variant.
    #[test]
    fn each_variant_boots_once_in_a_pass() {
        let plan = kernels(1);
        assert!(plan.boots());
        let Simulated { record, .. } = a_study();
        assert_eq!((record.boots.len(), record.trials.len()), (4 * PASSES as usize, 4 * CELLS * PASSES as usize));
        for (pass, boots) in (1..=PASSES).zip(record.boots.chunks(4)) {
            let order: Vec<&str> = boots.iter().map(|boot| boot.variant.as_str()).collect();
            let blocks: Vec<_> = record.blocks.iter().filter(|block| block.block == pass).collect();
            assert_eq!(blocks.len(), CELLS);
            assert!(blocks.iter().all(|block| block.order == order), "{order:?}");
            for (position, variant) in (1..).zip(order) {
                let of_boot = record.trials.iter().filter(|t| (t.block, t.variant.as_str()) == (pass, variant));
                assert_eq!(of_boot.filter(|trial| trial.position == position).count(), CELLS);
            }
        }
    }

    /// What remains of a boot's trials without what is known of them is the noise of slots: less than a boot's effect.
    #[test]
    fn the_trials_of_a_boot_share_its_effect() {
        let Simulated { record, boots } = a_study();
        let per_pass = 4 * CELLS;
        for (number, trial) in record.trials.iter().enumerate() {
            let level = if trial.workload == "long" { 1.0 } else { 0.0 };
            let truth = if trial.variant == "third" { SLOWER.ln() } else { 0.0 };
            let drift = DRIFT * (number % per_pass) as f64 / (per_pass - 1) as f64;
            let effect = boots[trial.block as usize - 1][&trial.variant];
            let rest = trial.value("wall").map_or(f64::NAN, f64::ln) - level - truth - drift - effect;
            assert!(rest.abs() < 0.05, "{trial:?}: {rest}");
        }
        let effects: Vec<f64> = boots.iter().flat_map(|pass| pass.values().map(|effect| effect * effect)).collect();
        assert!((0.02..0.04).contains(&mean(&effects).sqrt()));
    }

    /// Every table, suite and family of conditions that is counted is there, and finished.
    #[test]
    fn a_record_is_a_finished_study() {
        let findings = judge(&a_study().record);
        let total = PASSES * CELLS as u32;
        assert_eq!((findings.blocks_finished, findings.blocks_total), (total, total));
        assert_eq!(findings.tables.len(), CELLS);
        assert!(findings.tables.iter().all(|table| table.noise_floor.is_some() && table.rows.len() == NAMES.len()));
        let suites: Vec<&Effects> = of_kinds(&findings, &[EffectKind::Suite]);
        assert_eq!(suites.len(), CONDITIONS.len());
        assert!(suites.iter().all(|suite| suite.twin.is_some() && suite.effects.len() == NAMES.len() - 1));
        assert_eq!(
            of_kinds(&findings, &[EffectKind::Condition, EffectKind::ConditionChange]).len(),
            2 * WORKLOADS.len()
        );
        assert!(part([].into_iter()).is_nan());
    }

    /// A difference far beyond the boots' effects is seen, with and without noise.
    #[test]
    fn a_difference_is_seen() {
        let samples: Vec<Sample> = (0..8u32).map(|i| slower(World::Normal, &mut Stream::of(i.into(), &[]))).collect();
        let of = |element: usize| mean(&samples.iter().map(|sample| sample[element]).collect::<Vec<_>>());
        assert!(of(2) > 0.7 && of(3) > 0.7, "{samples:?}");
    }
}
