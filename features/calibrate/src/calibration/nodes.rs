//! Whole studies whose blocks ran on several nodes, each with a session of its own world: nothing differs, one node deviates or is
//! noisy, or the nodes' effects cancel out. [`bakeoff_judge::judge`] judges the records.

use super::levels::ALPHA;
use super::simulate::{Sample, flag};
use super::whole::{Design, begun, differs, plan, trial};
use super::worlds::World;
use bakeoff_judge::findings::{ByPlace, Caveat, Findings, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::record::{Attempt, Line, Record, TWIN};
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::describe::mean;

/// Enough for all blocks together to be judged by the series, which is quick.
const NODES: usize = 22;

/// Blocks of each: as many as it takes to tell nodes apart.
const BLOCKS: usize = 12;

/// The node that is another one, where one is.
const LAST: usize = NODES - 1;

/// What a node that deviates does to the second variant, and what makes it faster, as logarithms.
const DEVIATES: f64 = 0.03;

/// How much larger the noise of a noisy node is.
const NOISY: f64 = 4.0;

/// What a node does: to the second variant, as a logarithm, and to its noise, as a factor.
type Effect = [f64; 2];

fn simulated(world: World, effects: &[Effect], stream: &mut Stream) -> Record {
    let variants = [("baseline", 0.0), ("second", 0.0)];
    let blocks = (NODES * BLOCKS) as u32;
    let plan = plan(Design { blocks, variants: &variants, alpha: ALPHA }, stream.next_u64());
    let per_block = variants.len() + 1;
    let noises: Vec<Vec<f64>> = effects.iter().map(|_| world.noise(per_block * BLOCKS, stream)).collect();
    let mut record = begun(&plan, world);
    for pass in 1..=blocks {
        let (nth, node) = ((pass as usize - 1) / NODES, (pass as usize - 1) % NODES);
        let [effect, factor] = effects[node];
        let slots = &noises[node][nth * per_block..];
        for block in plan.pass(pass) {
            for (position, (name, noise)) in (1..).zip(block.order.iter().zip(slots)) {
                let own = if name == variants[1].0 { effect } else { 0.0 };
                record.trials.push(trial(&block, position, name, (factor * noise + own).exp()));
            }
            let key = (pass, block.workload.clone(), block.condition.clone());
            record.away.insert(key, Attempt { node: name_of(node), shard: node as u32, attempt: 0 });
            record.push(Line::Block(block));
        }
    }
    record
}

fn name_of(node: usize) -> String {
    format!("n{node:02}")
}

/// The findings of nodes of which all but the last do the one, and the last does the other.
fn findings(world: World, all: Effect, last: Effect, stream: &mut Stream) -> Findings {
    let mut effects = [all; NODES];
    effects[LAST] = last;
    judge(&simulated(world, &effects, stream))
}

fn row(findings: &Findings) -> Option<&ByPlace> {
    findings.by_place.iter().find(|row| row.variant != TWIN)
}

/// The node that is called unlike the others.
fn unlike(findings: &Findings) -> Option<&str> {
    Some(row(findings)?.unlike.as_ref()?.place.as_str())
}

fn noisy(findings: &Findings) -> Option<&str> {
    findings.caveats.iter().find_map(|caveat| match caveat {
        Caveat::NoisyPlaces { seen } => Some(seen.first()?.place.as_str()),
        _ => None,
    })
}

fn is_everywhere(findings: &Findings) -> f64 {
    row(findings).map_or(f64::NAN, |row| flag(row.everywhere.is_some()))
}

fn has(findings: &Findings, is: fn(Verdict) -> bool) -> bool {
    let rows = findings.tables.iter().flat_map(|table| &table.rows);
    rows.filter_map(|row| row.comparison.as_ref()).any(|comparison| is(comparison.verdict))
}

fn is_within(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Equivalent | Verdict::Negligible)
}

/// Nothing differs: [the variant is judged different, a node is called unlike, a node is called noisy, a difference is claimed of
/// every node].
pub(super) fn same(world: World, stream: &mut Stream) -> Sample {
    let findings = findings(world, [0.0, 1.0], [0.0, 1.0], stream);
    let any = findings.tables.iter().flat_map(|table| &table.rows).any(|row| differs(&row.comparison));
    [flag(any), flag(unlike(&findings).is_some()), flag(noisy(&findings).is_some()), is_everywhere(&findings)]
}

/// Effects of nodes whose mean is 0: [a node is called unlike, within the margin although one is, a difference is claimed of every
/// node].
pub(super) fn apart(world: World, stream: &mut Stream) -> Sample {
    let drawn: Vec<f64> = (0..NODES).map(|_| 0.02 * stream.normal()).collect();
    let effects: Vec<Effect> = drawn.iter().map(|effect| [effect - mean(&drawn), 1.0]).collect();
    let findings = judge(&simulated(world, &effects, stream));
    let is_told = unlike(&findings).is_some();
    [flag(is_told), flag(is_told && has(&findings, is_within)), is_everywhere(&findings), 0.0]
}

/// The last node is slower: [it is named, another one is, the whole is within the margin].
pub(super) fn one(world: World, stream: &mut Stream) -> Sample {
    let findings = findings(world, [0.0, 1.0], [DEVIATES, 1.0], stream);
    let (named, last) = (unlike(&findings), name_of(LAST));
    let is_it = named == Some(&*last);
    [flag(is_it), flag(named.is_some() && !is_it), flag(has(&findings, is_within)), 0.0]
}

/// The last node is noisier: [it, or another one, is called unlike, it is called noisy].
pub(super) fn noisier(world: World, stream: &mut Stream) -> Sample {
    let findings = findings(world, [0.0, 1.0], [0.0, NOISY], stream);
    [flag(unlike(&findings).is_some()), flag(noisy(&findings) == Some(&*name_of(LAST))), 0.0, 0.0]
}

/// The second variant is faster on every node: [that is claimed].
pub(super) fn faster(world: World, stream: &mut Stream) -> Sample {
    let findings = findings(world, [-DEVIATES, 1.0], [-DEVIATES, 1.0], stream);
    [is_everywhere(&findings), 0.0, 0.0, 0.0]
}

/// The same but on the last node: [it is claimed of every node].
pub(super) fn faster_but_on_one(world: World, stream: &mut Stream) -> Sample {
    let findings = findings(world, [-DEVIATES, 1.0], [0.0, 1.0], stream);
    [is_everywhere(&findings), 0.0, 0.0, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_a_finished_study_of_all_nodes() {
        let findings = findings(World::Normal, [0.0, 1.0], [0.0, 1.0], &mut Stream::of(1, &["nodes"]));
        assert_eq!((findings.blocks_finished, findings.blocks_total), (264, 264));
        let row = row(&findings).unwrap();
        assert!(row.places.len() == NODES && row.places.iter().all(|one| one.blocks == BLOCKS as u32));
        assert_eq!(findings.by_place.len(), 2);
    }
}
