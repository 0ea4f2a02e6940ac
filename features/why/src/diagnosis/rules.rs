//! The rules by which evidence may explain a difference in time, each with what it rests on. A rule says that more of
//! something takes more time, and how much time it could take at most; where the difference is larger than that, it says
//! nothing. It is better to leave a difference unexplained than to explain it wrongly.

use super::files::numbers;
use super::traces::{executable, total};
use crate::evidence::Traced;
use crate::facts::FileFacts;
use crate::findings::{CauseKind, FileNumbers};
use std::collections::BTreeMap;

/// Evidence that differs by less than this part of the larger number is the same for a rule.
const SUBSTANTIAL: f64 = 0.1;

/// The most that a relocation with a symbol may be thought to take, and one without, in seconds. Chosen
/// generously, not measured: a ceiling only keeps a rule silent. The loader says itself what it takes (`LD_DEBUG=statistics`).
const SYMBOL_S: f64 = 1e-6;
const RELATIVE_S: f64 = 1e-7;

/// The most that a system call that does not wait may be thought to take, in seconds. Chosen
/// generously too. One that waits may take any time, so nothing is said of larger differences.
pub(super) const CALL_S: f64 = 1e-5;

/// All that was gathered of one variant and may matter for one workload.
#[derive(Clone, Copy)]
pub(super) struct VariantEvidence<'a> {
    pub(super) facts: Option<&'a [FileFacts]>,
    pub(super) trace: Option<&'a Traced>,
}

/// Something of which more takes more time.
pub(super) struct Amount {
    pub(super) number: u64,
    /// Its parts, by what they are about.
    pub(super) parts: BTreeMap<String, u64>,
    /// The most time that all of it may be thought to take, in seconds; none if nothing is known of that.
    pub(super) most_s: Option<f64>,
}

/// A rule: what there is of it, none if that was not gathered.
pub(super) struct Rule {
    pub(super) kind: CauseKind,
    pub(super) amount: fn(VariantEvidence<'_>) -> Option<Amount>,
    /// Whether it tells of time in the kernel, and of time outside it.
    pub(super) tells_of: [bool; 2],
    /// Of which metrics it tells.
    pub(super) scope: Scope,
}

/// What a rule is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Of a whole trial only, and not of any part of it.
    Whole,
    /// Of the mean latency of all ops only.
    Op,
    /// Of whatever takes time.
    Anything,
}

/// All rules. Where an earlier one explains a difference, the later ones are not asked: start-up with more relocations
/// needs no other reason.
pub(super) const RULES: [Rule; 4] = [
    Rule { kind: CauseKind::Relocations, amount: relocations, tells_of: [false, true], scope: Scope::Whole },
    Rule { kind: CauseKind::SystemCalls, amount: system_calls, tells_of: [true, false], scope: Scope::Whole },
    Rule { kind: CauseKind::CallsOfAnOp, amount: calls_of_an_op, tells_of: [true, true], scope: Scope::Op },
    Rule { kind: CauseKind::OwnSlots, amount: own_slots, tells_of: [false, true], scope: Scope::Anything },
];

/// Whether two amounts differ enough for a rule to speak.
pub(super) fn is_substantial(one: u64, other: u64) -> bool {
    one.abs_diff(other) as f64 > SUBSTANTIAL * one.max(other) as f64
}

/// The files that were looked at, and that are known to be run where that is known: a library that lies beside a
/// program and is not loaded says nothing of it, whatever `ldd` thinks.
fn executed<'a>(seen: VariantEvidence<'a>) -> Option<impl Iterator<Item = (&'a FileFacts, FileNumbers)>> {
    let mapped = seen.trace.map(|trace| executable(&trace.command));
    let is_executed = move |file: &&FileFacts| {
        let below = |path: &str| path.strip_prefix("$PREFIX/") == Some(file.path.as_str());
        mapped.as_ref().is_none_or(|mapped| mapped.iter().any(|path| below(path)))
    };
    Some(seen.facts?.iter().filter(is_executed).map(|file| (file, numbers(file))))
}

fn amount(parts: BTreeMap<String, u64>, most_s: Option<f64>) -> Option<Amount> {
    Some(Amount { number: parts.values().sum(), parts, most_s })
}

/// Slots in a file's PLT for its own functions: each call of such a function is a jump through memory, and no call that
/// the compiler could have made a direct one (Drepper, How To Write Shared Libraries, 1.5.5 and 2.2). How often they are
/// called is not known, so neither is how much time they take.
fn own_slots(seen: VariantEvidence<'_>) -> Option<Amount> {
    amount(executed(seen)?.map(|(file, numbers)| (file.path.clone(), numbers.own_jump_slots)).collect(), None)
}

/// Relocations are made when a program starts (Drepper, 1.5): each takes its time once in every process that runs
/// the program. Of how many processes that is, a trace tells at most, because threads are counted too.
fn relocations(seen: VariantEvidence<'_>) -> Option<Amount> {
    let starts = seen.trace.map_or(1, |trace| trace.command.tasks.max(1)) as f64;
    let mut most_s = 0.0;
    let parts = executed(seen)?.map(|(file, numbers)| {
        let with_symbol = numbers.relocations.saturating_sub(numbers.relative);
        most_s += starts * (SYMBOL_S * with_symbol as f64 + RELATIVE_S * numbers.relative as f64);
        (file.path.clone(), numbers.relocations)
    });
    let parts = parts.collect();
    amount(parts, Some(most_s))
}

/// System calls of one execution of the workload's command: each is a way into the kernel and back. How many of a
/// service's calls it waits for is not known.
fn system_calls(seen: VariantEvidence<'_>) -> Option<Amount> {
    let command = &seen.trace?.command;
    let most_s = CALL_S * total(command).count as f64;
    amount(command.syscalls.iter().map(|(name, calls)| (name.clone(), calls.count)).collect(), Some(most_s))
}

/// System calls of one op, on average: of the workload's command and of its services, start and end of the command among
/// them. Where ops are one after the other, no op can wait for more of them; and what they take beside a load or beside
/// each other is not known, so that the ceiling is one of a machine that does nothing else.
fn calls_of_an_op(seen: VariantEvidence<'_>) -> Option<Amount> {
    let trace = seen.trace.filter(|trace| trace.ops > 0)?;
    let mut calls: BTreeMap<String, u64> = BTreeMap::new();
    for census in std::iter::once(&trace.command).chain(trace.services.values()) {
        for (name, counted) in &census.syscalls {
            *calls.entry(name.clone()).or_default() += counted.count;
        }
    }
    let all: u64 = calls.values().sum();
    let each = |count: u64| (count as f64 / trace.ops as f64).round() as u64;
    let parts = calls.into_iter().map(|(name, count)| (name, each(count))).collect();
    Some(Amount { number: each(all), parts, most_s: Some(CALL_S * all as f64 / trace.ops as f64) })
}
