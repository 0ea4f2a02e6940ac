//! Which function of one side is which of the other: one to one, or not at all. Names decide; where several functions have
//! one name, their files and sources do. What is left over is matched if it has the same code. No function is matched because its neighbours are: that was wrong in 12 of 13
//! cases, because what is left over then was inlined on the other side.

use super::files::{Scopes, base};
use super::folding::{Folded, Node};
use super::result::Rule;
use crate::counts::CodeKind;
use std::collections::{BTreeMap, BTreeSet};

/// A function on both sides, or on one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    /// Places among the nodes of each side.
    pub(super) places: [Option<usize>; 2],
    /// None: it ran on one side only.
    pub(super) rule: Option<Rule>,
}

/// What must be equal of two functions in any case: the kind of code, the library of the system, and the base name.
type Group<'a> = (CodeKind, Option<&'a str>, &'a str);

/// What two functions of one name must have in common.
type Common = fn(&Node) -> Option<(&str, Option<&str>)>;

/// From the most exact to the least. A file is only there to choose: functions move from a program into its library.
const COMMON: [Common; 5] = [
    |node| Some((node.file.as_str(), node.source.as_deref())),
    |node| Some((base(&node.file), node.source.as_deref())),
    |node| node.source.as_deref().map(|source| ("", Some(source))),
    |node| Some((base(&node.file), None)),
    |_| Some(("", None)),
];

/// All functions of both sides, each once: first those of the baseline, in their order.
pub(super) fn pairs<'a>(sides: [&'a Folded; 2], scopes: &Scopes<'a>) -> Vec<Pair> {
    let mut groups: BTreeMap<Group<'_>, [Vec<usize>; 2]> = BTreeMap::new();
    for (side, folded) in sides.iter().enumerate() {
        for (place, node) in folded.nodes.iter().enumerate() {
            let group = (node.kind, scopes.of_file(&node.file), node.name.as_str());
            groups.entry(group).or_default()[side].push(place);
        }
    }
    let mut pairs: Vec<Pair> = groups.into_values().flat_map(|left| of_one_name(sides, left)).collect();
    same_code(sides, scopes, &mut pairs);
    pairs.sort_by_key(|pair| pair.places.map(|place| place.unwrap_or(usize::MAX)));
    pairs
}

/// Matches functions of one name as long as exactly one on each side has the same in common.
fn of_one_name(sides: [&Folded; 2], mut left: [Vec<usize>; 2]) -> Vec<Pair> {
    let mut pairs = vec![];
    for common in COMMON {
        let mut found: BTreeMap<(&str, Option<&str>), [Vec<usize>; 2]> = BTreeMap::new();
        for (side, places) in left.iter().enumerate() {
            for &place in places {
                if let Some(key) = common(&sides[side].nodes[place]) {
                    found.entry(key).or_default()[side].push(place);
                }
            }
        }
        let mut taken = [BTreeSet::new(), BTreeSet::new()];
        for places in found.into_values() {
            let ([a], [b]) = (&*places[0], &*places[1]) else { continue };
            let nodes = [&sides[0].nodes[*a], &sides[1].nodes[*b]];
            if may_be_same(nodes) {
                pairs.push(Pair { places: [Some(*a), Some(*b)], rule: Some(rule(nodes)) });
                taken[0].insert(*a);
                taken[1].insert(*b);
            }
        }
        for (left, taken) in left.iter_mut().zip(taken) {
            left.retain(|place| !taken.contains(place));
        }
    }
    let [a, b] = left;
    pairs.extend(a.into_iter().map(|place| Pair { places: [Some(place), None], rule: None }));
    pairs.extend(b.into_iter().map(|place| Pair { places: [None, Some(place)], rule: None }));
    pairs
}

/// Static functions of different sources are different ones. One may be static on one side only.
fn may_be_same(nodes: [&Node; 2]) -> bool {
    let [a, b] = nodes.map(|node| node.source.as_ref());
    a.is_none() || b.is_none() || a == b
}

fn rule(nodes: [&Node; 2]) -> Rule {
    let [a, b] = nodes.map(|node| node.symbol.as_ref());
    if a.is_some() && a == b { Rule::Name } else { Rule::BaseName }
}

/// Matches what is left over if exactly one function on each side has this code, and both call the same. A third one with the
/// same code leaves it open which is meant, even if that is matched by its name.
fn same_code<'a>(sides: [&'a Folded; 2], scopes: &Scopes<'a>, pairs: &mut Vec<Pair>) {
    let mut by_code: BTreeMap<u64, [Vec<usize>; 2]> = BTreeMap::new();
    for (side, folded) in sides.iter().enumerate() {
        for (place, code) in folded.nodes.iter().enumerate().filter_map(|(place, node)| Some((place, node.code?))) {
            by_code.entry(code).or_default()[side].push(place);
        }
    }
    let named = Named::of(sides, pairs);
    for places in by_code.into_values() {
        let ([a], [b]) = (&*places[0], &*places[1]) else { continue };
        let scope = |side: usize, place: usize| scopes.of_file(&sides[side].nodes[place].file);
        let is_left = named.pair(0, *a).is_none() && named.pair(1, *b).is_none() && scope(0, *a) == scope(1, *b);
        if is_left && named.callees(0, *a) == named.callees(1, *b) {
            pairs.retain(|pair| pair.places != [Some(*a), None] && pair.places != [None, Some(*b)]);
            pairs.push(Pair { places: [Some(*a), Some(*b)], rule: Some(Rule::SameCode) });
        }
    }
}

/// What is matched by names.
struct Named<'a> {
    sides: [&'a Folded; 2],
    /// The number of the pair that each function of a side is in.
    pairs: [BTreeMap<usize, usize>; 2],
}

impl<'a> Named<'a> {
    fn of(sides: [&'a Folded; 2], pairs: &[Pair]) -> Self {
        let matched = || pairs.iter().enumerate().filter(|(_, pair)| pair.rule.is_some());
        let of_side = |side: usize| matched().filter_map(|(number, pair)| Some((pair.places[side]?, number))).collect();
        Self { sides, pairs: [0, 1].map(of_side) }
    }

    fn pair(&self, side: usize, place: usize) -> Option<usize> {
        self.pairs[side].get(&place).copied()
    }

    /// The pairs of those that a function calls.
    fn callees(&self, side: usize, place: usize) -> BTreeSet<usize> {
        let calls = self.sides[side].calls.iter().flatten().filter(|call| call.from == place);
        calls.filter_map(|call| self.pair(side, call.to)).collect()
    }
}
