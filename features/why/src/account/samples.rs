//! In which functions the same work takes another time: samples of both sides in blocks, less what the number of instructions
//! accounts for. Functions are those of the account of instructions, and what was given to callers there is given to them
//! here. Times are means, which add up, so their intervals and tests are Student's, by blocks; Holm's correction is over the
//! functions that have enough samples.

use super::folding::{Folded, fold};
use super::functions::{Measured, measured};
use super::readable::short;
use super::result::{Interval, Mechanism, SampledAccount, SampledCode, SampledRow, difference};
use crate::counts::{CodeKind, Counted, FunctionCount};
use crate::samples::{FunctionSamples, Sampled};
use bakeoff_stats::describe::mean;
use bakeoff_stats::holm;
use bakeoff_stats::student::MeanT;
use std::collections::BTreeMap;

/// Rows of functions, at most.
const MOST_ROWS: usize = 6;

/// A function is tested if it has at least this part of the samples of both sides.
const LEAST_PART: f64 = 0.01;

/// Intervals have a confidence of 1 less this, and what is shown is shown at this level.
const ALPHA: f64 = 0.05;

/// A run of more user time is none. A journal may be somebody else's.
const MOST_NS: i64 = 1 << 53;

/// The account of blocks, each a run of the baseline and one of the variant; none if there are too few, if nothing was
/// sampled, or without counts.
pub(crate) fn of(counts: [&[Counted]; 2], blocks: &[[&Sampled; 2]]) -> Option<SampledAccount> {
    let [Some(a), Some(b)] = counts.map(|counts| counts.last()) else { return None };
    let sides = [Side::of(a, blocks.iter().map(|runs| runs[0])), Side::of(b, blocks.iter().map(|runs| runs[1]))];
    let codes = codes(&sides);
    let all = codes.iter().fold(Code::new(SampledCode::All, blocks.len()), |sum, (_, code)| sum.with(code));
    let instructions = [a, b].map(|counted| counted.instructions() as f64);
    let ns = [0, 1].map(|side| mean(&all.user_s[side]) / instructions[side]);
    let per_instruction_s = (ns[0] + ns[1]) / 2.0;
    if blocks.len() < 2 || ns.iter().any(|ns| !ns.is_finite() || *ns <= 0.0) {
        return None;
    }
    let (rows, tested) = rows(codes.into_values(), all.user(), per_instruction_s);
    let sum = |of: fn(&Sampled) -> u64, runs: &[&Sampled]| runs.iter().map(|run| of(run)).fold(0, u64::saturating_add);
    let runs = |side: usize| blocks.iter().map(|runs| runs[side]).collect::<Vec<&Sampled>>();
    Some(SampledAccount {
        blocks: blocks.len() as u32,
        samples: [0, 1].map(|side| sum(samples, &runs(side))),
        lost: sum(|run| run.lost, blocks.as_flattened()),
        tested,
        sum: all.row(per_instruction_s),
        rows,
    })
}

/// The rows, and how many functions were tested; `whole` is the user time of all.
fn rows(codes: impl Iterator<Item = Code>, whole: f64, per_instruction_s: f64) -> (Vec<SampledRow>, u32) {
    let (tested, small): (Vec<Code>, Vec<Code>) = codes.partition(|code| code.user() >= LEAST_PART * whole);
    let number = tested.len();
    let p: Vec<f64> = tested.iter().map(|code| code.p(per_instruction_s)).collect();
    let corrected = holm::adjust(&p, number);
    let with_row = |(code, p): (Code, f64)| {
        let row = SampledRow { p: Some(p), is_shown: p <= ALPHA, ..code.row(per_instruction_s) };
        (code, row)
    };
    let mut tested: Vec<(Code, SampledRow)> = tested.into_iter().zip(corrected).map(with_row).collect();
    let size = |row: &SampledRow| row.by_speed.estimate_s.abs();
    tested.sort_by(|(_, one), (_, other)| {
        other.is_shown.cmp(&one.is_shown).then_with(|| size(other).total_cmp(&size(one)))
    });
    let others = tested.split_off(MOST_ROWS.min(number)).into_iter().map(|(code, _)| code).chain(small);
    let others: Vec<Code> = others.collect();
    let mut rows: Vec<SampledRow> = tested.into_iter().map(|(_, row)| row).collect();
    if let Some(first) = others.first() {
        let rest = Code::new(SampledCode::Rest(others.len() as u64), first.user_s[0].len());
        rows.push(others.iter().fold(rest, Code::with).row(per_instruction_s));
    }
    (rows, number as u32)
}

fn samples(run: &Sampled) -> u64 {
    run.functions.iter().fold(run.unnamed, |sum, function| sum.saturating_add(function.samples))
}

/// The runs of a side, with its counts.
struct Side {
    folded: Folded,
    /// By block, the user time of each node in ns.
    ns: Vec<Vec<i64>>,
    /// By block, that of code that was made during the run.
    unnamed_ns: Vec<i64>,
}

/// What must be equal of a function in a count and in samples.
type Key<'a> = (&'a str, &'a str, Option<&'a str>, CodeKind);

fn key(function: &FunctionSamples) -> Key<'_> {
    (&function.file, &function.name, function.source.as_deref(), function.kind)
}

impl Side {
    /// Functions that were sampled and not counted are counted, with no instructions: libc takes other ones under valgrind.
    fn of<'a>(counted: &Counted, runs: impl Iterator<Item = &'a Sampled>) -> Self {
        let runs: Vec<&Sampled> = runs.collect();
        let mut all = counted.clone();
        let counted = counted.functions.iter().zip(0..);
        let mut places: BTreeMap<Key<'_>, usize> =
            counted.map(|(one, place)| ((&*one.file, &*one.name, one.source.as_deref(), one.kind), place)).collect();
        for function in runs.iter().flat_map(|run| &run.functions) {
            places.entry(key(function)).or_insert_with(|| {
                let FunctionSamples { name, file, source, kind, .. } = function.clone();
                all.functions.push(FunctionCount { name, file, source, kind, ..FunctionCount::default() });
                all.functions.len() - 1
            });
        }
        let folded = fold(&[&all]);
        let ns = |run: &Sampled, samples: u64| {
            i64::try_from(samples.saturating_mul(run.period_ns)).unwrap_or(MOST_NS).min(MOST_NS)
        };
        let of_run = |run: &&Sampled| {
            let mut by_node = vec![0_i64; folded.nodes.len()];
            for function in &run.functions {
                let place = places.get(&key(function)).map(|place| folded.places[*place]);
                let sum = place.and_then(|place| by_node.get_mut(place));
                sum.into_iter().for_each(|sum| *sum = sum.saturating_add(ns(run, function.samples)).min(MOST_NS));
            }
            by_node
        };
        let by_node = runs.iter().map(of_run).collect();
        let unnamed_ns = runs.iter().map(|run| ns(run, run.unnamed)).collect();
        Self { folded, ns: by_node, unnamed_ns }
    }
}

/// Code of both sides that has a row, or a part of one.
struct Code {
    what: SampledCode,
    /// By side and block.
    user_s: [Vec<f64>; 2],
    more_instructions: f64,
}

/// All code of both sides that was sampled or counted.
fn codes(sides: &[Side; 2]) -> BTreeMap<usize, Code> {
    let measured = measured([&sides[0].folded, &sides[1].folded], [&sides[0].ns, &sides[1].ns]);
    let blocks = sides[0].ns.len();
    let seconds = |ns: &[i64]| ns.iter().map(|ns| *ns as f64 / 1e9).collect::<Vec<f64>>();
    let unnamed = |side: &Side| side.folded.unnamed.last().copied().unwrap_or(0) as f64;
    let mut nameless = Code {
        what: SampledCode::Nameless,
        user_s: [0, 1].map(|side| seconds(&sides[side].unnamed_ns)),
        more_instructions: unnamed(&sides[1]) - unnamed(&sides[0]),
    };
    let mut codes = BTreeMap::new();
    for (place, Measured { function, kind, amounts }) in (1..).zip(measured) {
        let code = Code {
            user_s: amounts.map(|ns| seconds(&ns)),
            more_instructions: difference(function.instructions) as f64,
            ..Code::new(SampledCode::All, blocks)
        };
        if function.mechanism == Some(Mechanism::Nameless) || kind == CodeKind::Nameless {
            nameless = nameless.with(&code);
            continue;
        }
        if code.user() == 0.0 && code.more_instructions == 0.0 {
            continue;
        }
        let stub = if matches!(kind, CodeKind::Stub | CodeKind::OwnStub) { "@plt" } else { "" };
        let file = function.files.into_iter().flatten().next().unwrap_or_default();
        let what = SampledCode::Function { name: format!("{}{stub}", short(&function.name)), file };
        codes.insert(place, Code { what, ..code });
    }
    if nameless.user() > 0.0 || nameless.more_instructions != 0.0 {
        codes.insert(0, nameless);
    }
    codes
}

impl Code {
    fn new(what: SampledCode, blocks: usize) -> Self {
        Self { what, user_s: [vec![0.0; blocks], vec![0.0; blocks]], more_instructions: 0.0 }
    }

    fn with(mut self, other: &Self) -> Self {
        for (sums, parts) in self.user_s.iter_mut().zip(&other.user_s) {
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
        self.more_instructions += other.more_instructions;
        self
    }

    /// Of both sides, in all blocks.
    fn user(&self) -> f64 {
        self.user_s.iter().flatten().sum()
    }

    /// By block, what the number of instructions does not account for.
    fn by_speed_s(&self, per_instruction_s: f64) -> Vec<f64> {
        let by_number_s = self.more_instructions * per_instruction_s;
        let [before, after] = &self.user_s;
        before.iter().zip(after).map(|(before, after)| after - before - by_number_s).collect()
    }

    /// That this is 0.
    fn p(&self, per_instruction_s: f64) -> f64 {
        MeanT::new(&self.by_speed_s(per_instruction_s)).and_then(|t| t.p()).unwrap_or(1.0)
    }

    fn row(&self, per_instruction_s: f64) -> SampledRow {
        let by_speed_s = self.by_speed_s(per_instruction_s);
        let interval_s = MeanT::new(&by_speed_s).and_then(|t| t.interval(ALPHA));
        SampledRow {
            what: self.what.clone(),
            user_s: self.user_s.each_ref().map(|side| mean(side)),
            by_number_s: self.more_instructions * per_instruction_s,
            by_speed: Interval { estimate_s: mean(&by_speed_s), interval_s },
            p: None,
            is_shown: false,
        }
    }
}

#[cfg(test)]
mod tests;
