//! Which function of one side is which of the other: one to one, or not at all. Names decide; where several functions have
//! one name, their files and sources do. No function is matched because its neighbours are: that was wrong in 12 of 13
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
