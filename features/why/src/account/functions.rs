//! All functions of both sides side by side, after own addresses were taken out and what ran on one side only was given to
//! its callers. Their sums are the totals of the counts. Which of them are worth a row is decided in the table.

use super::files::Scopes;
use super::folding::{Amount, Folded, Node};
use super::inlined::{Given, give};
use super::matching::{Pair, pairs};
use super::mechanisms;
use super::result::{Function, Growth, Matched, Mechanism, Rule, Split, difference};
use crate::counts::CodeKind;
use std::collections::BTreeSet;

/// One side, as it is when nothing more is moved.
struct Moved<'a> {
    side: &'a Folded,
    mechanisms: Vec<Option<Mechanism>>,
    /// By length, and by node.
    instructions: Vec<Vec<i64>>,
    /// What each node was given at the last length.
    given: Vec<Given>,
    /// Which nodes were given away.
    is_given: Vec<bool>,
}

/// Which functions are the same, and both sides with nothing more to be moved.
fn laid<'a>(sides: [&'a Folded; 2]) -> (Vec<Pair>, [Moved<'a>; 2]) {
    let files = sides.map(|side| side.nodes.iter().map(|node| node.file.as_str()).collect::<BTreeSet<_>>());
    let scopes = Scopes::of([&files[0], &files[1]]);
    let pairs = pairs(sides, &scopes);
    let [first, second] = mechanisms::of(sides);
    let a = Moved::of(sides[0], first, &is_given(0, sides[0], &pairs, &scopes));
    let b = Moved::of(sides[1], second, &is_given(1, sides[1], &pairs, &scopes));
    (pairs, [a, b])
}

/// A function on both sides, with something that was measured of it besides instructions.
pub(super) struct Measured {
    pub(super) function: Function,
    pub(super) kind: CodeKind,
    /// By side, and as often as it was measured.
    pub(super) amounts: [Vec<i64>; 2],
}

/// All functions, with what was measured of each node of a side. It is given to callers as instructions are. What belongs to
/// code that was made during the run is not in it.
pub(super) fn measured(sides: [&Folded; 2], amounts: [&[Vec<i64>]; 2]) -> Vec<Measured> {
    let (pairs, moved) = laid(sides);
    let amounts = [0, 1].map(|side| {
        let moved: &Moved<'_> = &moved[side];
        let moved = amounts[side].iter().map(|amounts| moved.given_away(amounts));
        moved.collect::<Vec<Vec<i64>>>()
    });
    pairs.iter().map(|pair| measure(&moved, pair, &amounts)).collect()
}

fn measure(moved: &[Moved<'_>; 2], pair: &Pair, amounts: &[Vec<Vec<i64>>; 2]) -> Measured {
    let of_side = |side: usize| {
        let amounts = amounts[side].iter();
        amounts.map(|amounts| pair.places[side].map_or(0, |place| amounts[place])).collect::<Vec<i64>>()
    };
    let parts = [function(moved, pair, None), own_addresses(moved, pair, None)];
    let instructions = [0, 1].map(|side| parts.iter().flatten().map(|part| part.instructions[side]).sum());
    let places = moved.iter().zip(pair.places);
    let mechanism = places.clone().find_map(|(side, place)| side.mechanisms[place?]);
    let kind = places.into_iter().find_map(|(side, place)| Some(side.side.nodes[place?].kind)).unwrap_or_default();
    let function = Function { instructions, mechanism, ..named(moved, pair, Function::default()) };
    Measured { function, kind, amounts: [0, 1].map(of_side) }
}

/// Functions, those with the largest difference first, and how they were matched.
pub(super) fn of(sides: [&Folded; 2], lengths: Option<[f64; 2]>) -> (Vec<Function>, Matched) {
    let (pairs, moved) = laid(sides);
    let mut functions = vec![];
    for pair in &pairs {
        functions.extend(function(&moved, pair, lengths));
        functions.extend(own_addresses(&moved, pair, lengths));
    }
    let unnamed = sides.map(|side| {
        side.unnamed.iter().map(|instructions| Amount { instructions: *instructions, ..Amount::default() }).collect()
    });
    functions.extend(
        with_amounts(&unnamed, lengths).map(|function| Function { mechanism: Some(Mechanism::Nameless), ..function }),
    );
    let size = |function: &Function| difference(function.instructions).unsigned_abs();
    functions.sort_by(|one, other| size(other).cmp(&size(one)).then_with(|| one.name.cmp(&other.name)));
    (functions, matched(sides, &pairs))
}

/// Of the nodes of a side, those that may have been inlined on the other: functions of the program that belong to nothing.
fn is_given<'a>(at: usize, side: &'a Folded, pairs: &[Pair], scopes: &Scopes<'a>) -> Vec<bool> {
    let mut is_given = vec![false; side.nodes.len()];
    for place in pairs.iter().filter(|pair| pair.rule.is_none()).filter_map(|pair| pair.places[at]) {
        let node = &side.nodes[place];
        is_given[place] = node.kind == CodeKind::Function && scopes.of_file(&node.file).is_none();
    }
    // Nobody knows a function without a name but by who calls it, on whichever side.
    for (node, is_given) in side.nodes.iter().zip(&mut is_given) {
        *is_given |= node.kind == CodeKind::Nameless && scopes.of_file(&node.file).is_none();
    }
    is_given
}

impl<'a> Moved<'a> {
    fn of(side: &'a Folded, mechanisms: Vec<Option<Mechanism>>, is_given: &[bool]) -> Self {
        let is_given: Vec<bool> = is_given
            .iter()
            .zip(&mechanisms)
            .map(|(is_given, of)| *is_given && matches!(of, None | Some(Mechanism::Nameless)))
            .collect();
        let (mut by_length, mut given) = (vec![], vec![]);
        for length in 0..side.unnamed.len() {
            let left = |node: &Node| {
                let Amount { instructions, own_addresses, .. } = node.amounts[length];
                instructions - if mechanisms::loads_own_addresses(node) { own_addresses } else { 0 }
            };
            let mut instructions: Vec<i64> = side.nodes.iter().map(left).collect();
            given = give(side, length, &is_given, &mut instructions);
            by_length.push(instructions);
        }
        Self { side, mechanisms, instructions: by_length, given, is_given }
    }

    /// Amounts of each node after the same were given away as of instructions at the last length.
    fn given_away(&self, amounts: &[i64]) -> Vec<i64> {
        let mut amounts = amounts.to_vec();
        give(self.side, self.side.unnamed.len().saturating_sub(1), &self.is_given, &mut amounts);
        amounts
    }

    /// What a node has at each length.
    fn amounts(&self, place: usize) -> Vec<Amount> {
        let node = &self.side.nodes[place];
        let of = |(amount, instructions): (&Amount, &Vec<i64>)| Amount { instructions: instructions[place], ..*amount };
        node.amounts.iter().zip(&self.instructions).map(of).collect()
    }

    fn name(&self, place: usize) -> String {
        self.side.nodes[place].readable()
    }
}

/// The function of a pair; none if nothing is left of it.
fn function(moved: &[Moved<'_>; 2], pair: &Pair, lengths: Option<[f64; 2]>) -> Option<Function> {
    let of_side = |side: usize| pair.places[side].map(|place| moved[side].amounts(place)).unwrap_or_default();
    let mechanism = |side: usize| pair.places[side].and_then(|place| moved[side].mechanisms[place]);
    let function = with_amounts(&[0, 1].map(of_side), lengths)?;
    let mut given: Vec<(String, f64)> = vec![];
    for (moved, place) in moved.iter().zip(pair.places) {
        let own = place.and_then(|place| moved.given.get(place)).into_iter().flatten();
        let own = own.filter(|(of, _)| moved.side.nodes[*of].kind != CodeKind::Nameless);
        given.extend(own.map(|(of, weight)| (moved.name(*of), *weight)));
    }
    given.sort_by(|one, other| other.1.total_cmp(&one.1));
    let mut with: Vec<String> = vec![];
    for (name, _) in given {
        if !with.contains(&name) {
            with.push(name);
        }
    }
    Some(Function { with, mechanism: mechanism(0).or_else(|| mechanism(1)), ..named(moved, pair, function) })
}

/// What of a pair's instructions loads own addresses; none if nothing does.
fn own_addresses(moved: &[Moved<'_>; 2], pair: &Pair, lengths: Option<[f64; 2]>) -> Option<Function> {
    let loads = [0, 1].map(|side| {
        let node = pair.places[side].map(|place| &moved[side].side.nodes[place]);
        let node = node.filter(|node| mechanisms::loads_own_addresses(node));
        let of = |amount: &Amount| Amount { instructions: amount.own_addresses, ..*amount };
        node.map(|node| node.amounts.iter().map(of).collect()).unwrap_or_default()
    });
    let function = with_amounts(&loads, lengths)?;
    Some(Function { mechanism: Some(Mechanism::OwnAddresses), ..named(moved, pair, function) })
}

/// With the names and places of a pair.
fn named(moved: &[Moved<'_>; 2], pair: &Pair, function: Function) -> Function {
    let node = |side: usize| pair.places[side].map(|place| &moved[side].side.nodes[place]);
    let symbols = |side: usize| node(side).map_or_else(Vec::new, |node| node.symbols.iter().cloned().collect());
    Function {
        name: node(0).or(node(1)).map(Node::readable).unwrap_or_default(),
        symbols: [0, 1].map(symbols),
        files: [0, 1].map(|side| node(side).map(|node| node.file.clone())),
        source: [0, 1].into_iter().find_map(|side| node(side)?.source.clone()),
        rule: pair.rule,
        ..function
    }
}

/// A function with these amounts by length, without a name; none if it has no instructions.
fn with_amounts(amounts: &[Vec<Amount>; 2], lengths: Option<[f64; 2]>) -> Option<Function> {
    if amounts.iter().flatten().all(|amount| amount.instructions == 0) {
        return None;
    }
    let first = [0, 1].map(|side| amounts[side].first().copied().unwrap_or_default());
    let last = [0, 1].map(|side| amounts[side].last().copied().unwrap_or_default());
    let change = |[a, b]: [Amount; 2]| b.instructions - a.instructions;
    let whole = |number: i64| u64::try_from(number).unwrap_or(0);
    Some(Function {
        instructions: last.map(|amount| whole(amount.instructions)),
        calls: last.map(|amount| whole(amount.calls)),
        split: Split::of(last),
        growth: lengths.map(|lengths| Growth::of([change(first), change(last)], lengths)),
        ..Function::default()
    })
}

impl Split {
    /// By calls and by cost, each at the mean of the other. What is new or gone is all by calls. None if calls are unknown
    /// where there are instructions.
    fn of([a, b]: [Amount; 2]) -> Option<Self> {
        let is_uncalled = |amount: Amount| amount.calls == 0 && amount.instructions == 0;
        let whole = b.instructions - a.instructions;
        let more = match (a.calls, b.calls) {
            (0, 0) => return None,
            (0, _) | (_, 0) if is_uncalled(a) || is_uncalled(b) => whole,
            (0, _) | (_, 0) => return None,
            _ => {
                let cost = |amount: Amount| amount.instructions as f64 / amount.calls as f64;
                ((b.calls as f64 - a.calls as f64) * (cost(a) + cost(b)) / 2.0).round() as i64
            }
        };
        Some(Self::summing_to(i128::from(more), whole))
    }

    /// With so much by calls, and the rest of the whole by cost. No part is so large that the other cannot be written.
    pub(super) fn summing_to(more_calls: i128, whole: i64) -> Self {
        let most = i128::from(i64::MAX / 4);
        let more_calls = i64::try_from(more_calls.clamp(-most, most)).unwrap_or(0);
        Self { more_calls, dearer_calls: whole.saturating_sub(more_calls) }
    }
}

/// How functions were matched, by their instructions as they were counted.
fn matched(sides: [&Folded; 2], pairs: &[Pair]) -> Matched {
    let mut matched = Matched::default();
    for pair in pairs {
        for (at, (side, place)) in sides.iter().zip(pair.places).enumerate() {
            let node = place.map(|place| &side.nodes[place]).filter(|node| node.kind == CodeKind::Function);
            let instructions = node.and_then(|node| node.amounts.last()).map_or(0, |amount| amount.instructions);
            let sum = match pair.rule {
                Some(Rule::Name) => &mut matched.by_name,
                Some(Rule::BaseName) => &mut matched.by_base_name,
                Some(Rule::SameCode) => &mut matched.by_same_code,
                None => &mut matched.only[at],
            };
            *sum += u64::try_from(instructions).unwrap_or(0);
        }
    }
    matched
}
