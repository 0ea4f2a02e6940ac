//! The rows of an account: mechanisms, the functions with the largest differences, and the rest, with shares that sum to
//! 100 %. It moves nothing from one function to another.

use super::apportion::apportion;
use super::files::base;
use super::readable::short;
use super::result::{Cause, Function, Growth, Mechanism, Row, Side, Split, difference};
use std::collections::BTreeMap;

/// The most functions that have rows.
const FUNCTIONS: usize = 12;
/// A row has at least the net difference divided by this.
const SMALL: u64 = 100;
/// Of a mechanism, the most functions that are named: of an allocator more, because it is two of them.
const PARTS: usize = 3;
const PARTS_OF_ALLOCATOR: usize = 8;

/// The rows of functions that are sorted by the size of their differences; `net`, the sum of these, is not 0.
pub(super) fn rows(functions: &[Function], net: i64) -> Vec<Row> {
    let mut groups: BTreeMap<Mechanism, Vec<&Function>> = BTreeMap::new();
    let (mut rows, mut rest, mut alone) = (vec![], vec![], vec![]);
    for function in functions {
        match function.mechanism {
            Some(mechanism) => groups.entry(mechanism).or_default().push(function),
            None => alone.push(function),
        }
    }
    for (mechanism, members) in groups {
        if is_small(change(&members), net) {
            rest.extend(members);
        } else {
            rows.push(of_mechanism(mechanism, &members, net));
        }
    }
    for (place, function) in alone.into_iter().enumerate() {
        if place < FUNCTIONS && !is_small(difference(function.instructions), net) {
            rows.push(of_function(function));
        } else {
            rest.push(function);
        }
    }
    tell_apart(&mut rows, functions);
    rows.sort_by_key(|row| std::cmp::Reverse(difference(row.instructions).unsigned_abs()));
    if !rest.is_empty() {
        // Own addresses are parts of functions.
        let number = rest.iter().filter(|part| part.mechanism != Some(Mechanism::OwnAddresses)).count();
        rows.push(Row { cause: Cause::Rest(number as u64), ..joined(&rest) });
    }
    let changes: Vec<i64> = rows.iter().map(|row| difference(row.instructions)).collect();
    rows.iter_mut().zip(apportion(1000, &changes)).for_each(|(row, permille)| row.permille = permille);
    rows
}

/// The differences of functions together by calls and by cost, where calls are known; none if they are nowhere.
pub(super) fn split(functions: &[Function]) -> Option<Split> {
    let of_functions = || functions.iter().filter(|function| function.mechanism.is_none());
    let known: Vec<&Function> = of_functions().filter(|function| function.split.is_some()).collect();
    (!known.is_empty()).then(|| sum_of_splits(&known))
}

fn sum_of_splits(functions: &[&Function]) -> Split {
    let more = functions.iter().filter_map(|function| function.split).map(|split| i128::from(split.more_calls)).sum();
    Split::summing_to(more, change(functions))
}

fn change(functions: &[&Function]) -> i64 {
    difference(sums(functions, |function| function.instructions))
}

fn is_small(change: i64, net: i64) -> bool {
    u128::from(change.unsigned_abs()) * u128::from(SMALL) < u128::from(net.unsigned_abs())
}

fn sums(functions: &[&Function], of: fn(&Function) -> [u64; 2]) -> [u64; 2] {
    [0, 1].map(|side| functions.iter().fold(0_u64, |sum, function| sum.saturating_add(of(function)[side])))
}

/// The numbers of functions together.
fn joined(functions: &[&Function]) -> Row {
    let is_split = functions.iter().all(|one| one.split.is_some() || difference(one.instructions) == 0);
    Row {
        cause: Cause::Rest(0),
        instructions: sums(functions, |function| function.instructions),
        calls: None,
        split: is_split.then(|| sum_of_splits(functions)),
        permille: 0,
        growth: Growth::sum(functions.iter().map(|function| function.growth)),
        parts: vec![],
    }
}

fn of_mechanism(mechanism: Mechanism, members: &[&Function], net: i64) -> Row {
    let is_of_stubs = matches!(mechanism, Mechanism::OwnStubs | Mechanism::Stubs);
    let most = if mechanism == Mechanism::Allocator { PARTS_OF_ALLOCATOR } else { PARTS };
    let named = members.iter().filter(|part| !part.name.is_empty());
    let large = named.filter(|part| !is_small(difference(part.instructions), net));
    Row {
        cause: Cause::Mechanism(mechanism),
        calls: is_of_stubs.then(|| sums(members, |function| function.calls)),
        parts: large.take(most).map(|part| (*part).clone()).collect(),
        ..joined(members)
    }
}

fn of_function(function: &Function) -> Row {
    let only = match &function.files {
        [Some(_), None] => Some(Side::Baseline),
        [None, Some(_)] => Some(Side::Variant),
        _ => None,
    };
    let with = function.with.iter().map(|name| short(name)).collect();
    let cause = Cause::Function { name: short(&function.name), with, only, place: None };
    let is_called = function.calls != [0, 0];
    Row { cause, calls: is_called.then_some(function.calls), ..joined(&[function]) }
}

/// Puts the place next to names that several rows have. Rows of functions are in the order of the functions.
fn tell_apart(rows: &mut [Row], functions: &[Function]) {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for row in &*rows {
        if let Cause::Function { name, .. } = &row.cause {
            *times.entry(name.clone()).or_default() += 1;
        }
    }
    let mut alone = functions.iter().filter(|function| function.mechanism.is_none());
    for row in rows {
        let Cause::Function { name, place, .. } = &mut row.cause else { continue };
        let Some(function) = alone.next() else { return };
        if times.get(name).is_some_and(|times| *times > 1) {
            let file = function.files.iter().flatten().next().map(|file| base(file));
            *place = function.source.as_deref().or(file).map(str::to_owned);
        }
    }
}
