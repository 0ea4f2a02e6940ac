//! The account of a difference: two counts of one workload, and how much each cause accounts for. Shares sum to 100 %, of
//! instructions; time has an account of its own. Everything here is computed from values, without files or processes.
//!
//! In the order in which counts pass: [`lengths`] pairs them, [`folding`] folds clones, [`matching`] finds the same
//! functions, [`mechanisms`] names groups of them, [`inlined`] gives away what ran on one side only, [`functions`] lays
//! both sides next to each other, [`table`] makes rows of them and [`time`] turns instructions into seconds.
//! [`samples`] finds the functions that are at another speed. [`kernel`] needs no counts: it lays what the kernel did next to
//! each other.

mod apportion;
mod base_name;
pub(crate) mod export;
mod files;
mod folding;
mod functions;
mod inlined;
pub(crate) mod kernel;
mod lengths;
mod matching;
mod mechanisms;
mod names;
pub(crate) mod page;
mod readable;
pub(crate) mod result;
pub(crate) mod samples;
mod table;
pub(crate) mod time;

use crate::counts::{Counted, Instrument};
use folding::{Folded, fold};
use lengths::Paired;
use result::{Account, Growth, difference};
use time::TimeInput;

/// Counts that differ by no more than this part of them agree: no trial shows so small a difference in time, and a cause of
/// all of it would be taken for the cause of what was measured.
const AGREE: f64 = 1e-4;

/// The account of the difference between the counts of a baseline and those of a variant: of one workload, each at one
/// length or at several, of which the shortest and the longest are used. Counts of failed executions must be left out.
pub(crate) fn of(a: &[Counted], b: &[Counted], time: Option<TimeInput>) -> Account {
    let nothing = Counted::default();
    let Paired { counts, lengths } = Paired::of(a, b, &nothing);
    let sides = [fold(&counts[0]), fold(&counts[1])];
    let (functions, matched) = functions::of([&sides[0], &sides[1]], lengths);
    let at_first = [0, 1].map(|side| total(&sides[side], 0));
    let instructions = [0, 1].map(|side| total(&sides[side], counts[side].len().saturating_sub(1)));
    let residues = [0, 1].map(|side| {
        let again = counts[side].last().and_then(|counted| counted.again);
        again.map(|again| again.abs_diff(instructions[side]))
    });
    let net = difference(instructions);
    let most = instructions.into_iter().max().unwrap_or(0) as f64;
    let residue = residues.into_iter().flatten().max().unwrap_or(0);
    let is_nothing = net == 0 || net.unsigned_abs() as f64 <= AGREE * most || net.unsigned_abs() <= residue;
    let length = |place: usize| counts[0].get(place).and_then(|counted| counted.length.clone());
    let gross = functions.iter().map(|function| difference(function.instructions).unsigned_abs());
    Account {
        workload: a.iter().chain(b).next().map(|counted| counted.workload.clone()).unwrap_or_default(),
        // Others know whose counts these are.
        service: None,
        length: length(counts[0].len().saturating_sub(1)),
        shorter: lengths.and_then(|_| length(0)),
        is_by_names: counts.iter().flatten().any(|counted| counted.instrument == Instrument::Cachegrind),
        instructions,
        residues,
        difference: net,
        gross: gross.fold(0, u64::saturating_add),
        is_nothing,
        split: table::split(&functions),
        growth: lengths.map(|lengths| Growth::of([difference(at_first), net], lengths)),
        allocators: [0, 1].map(|side| mechanisms::largest_allocator(&sides[side])),
        matched,
        rows: if is_nothing { vec![] } else { table::rows(&functions, net) },
        functions,
        time: time.and_then(|time| {
            let last = counts[0].last().and_then(|counted| counted.length.as_deref());
            let counted = time::CountedAt { length: last, instructions, shorter: lengths.map(|ends| (ends, at_first)) };
            time::account(&time, &counted)
        }),
        // Others know whether both sides were watched.
        kernel: None,
        // Nor whether they were sampled.
        samples: None,
    }
}

/// All instructions at one length.
fn total(side: &Folded, length: usize) -> u64 {
    let functions = side.nodes.iter().filter_map(|node| node.amounts.get(length)).map(|amount| amount.instructions);
    let sum: i64 = functions.chain(side.unnamed.get(length).copied()).sum();
    u64::try_from(sum).unwrap_or(0)
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
