//! Virtual inlining: a function that ran on one side only was inlined on the other, mostly, so its instructions are given
//! to its callers in proportion to their calls. Functions that call each other in a circle are given away together. Sums
//! stay. What is called from unknown places stays where it is.

use super::apportion::apportion;
use super::folding::{Call, Folded};
use crate::counts::CodeKind;
use std::collections::{BTreeMap, BTreeSet};

/// Of the functions that one was given, the most that are named.
const NAMED: usize = 8;
/// With more than this at once, the small ones are dropped.
const MANY: usize = 64;

/// The nodes whose instructions a node was given, with how much that is; the largest first.
pub(super) type Given = Vec<(usize, f64)>;

/// Gives the instructions of nodes that ran on one side only to their callers, at one length. Returns what each node
/// was given.
pub(super) fn give(side: &Folded, length: usize, is_given: &[bool], instructions: &mut [i64]) -> Vec<Given> {
    let calls = calls(side, length, is_given);
    let mut callers: Vec<Vec<Call>> = vec![vec![]; side.nodes.len()];
    calls.iter().filter(|call| is_given[call.to]).for_each(|call| callers[call.to].push(*call));
    let mut given: Vec<Given> = vec![vec![]; side.nodes.len()];
    for members in circles(is_given, &callers) {
        let entries = members.iter().map(|member| i128::from(side.nodes[*member].amounts[length].calls)).sum();
        let circle = Circle { members: &members, entries };
        circle.give(&callers, instructions, &mut given);
    }
    given.iter_mut().for_each(shorten);
    given
}

/// Calls at one length; those of a stub are calls of the function that it leads to.
fn calls(side: &Folded, length: usize, is_given: &[bool]) -> Vec<Call> {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, node) in side.nodes.iter().enumerate().filter(|(place, _)| is_given[*place]) {
        by_name.entry(&node.name).or_default().push(place);
    }
    let is_stub = |place: usize| matches!(side.nodes[place].kind, CodeKind::Stub | CodeKind::OwnStub);
    let behind = |place: usize| {
        let candidates = by_name.get(side.nodes[place].name.as_str()).filter(|_| is_stub(place))?;
        let mut same_file = candidates.iter().filter(|other| side.nodes[**other].file == side.nodes[place].file);
        match (same_file.next(), same_file.next(), &**candidates) {
            (Some(only), None, _) | (None, _, [only]) => Some(*only),
            _ => None,
        }
    };
    let calls = side.calls.get(length).into_iter().flatten().filter(|call| !is_stub(call.from));
    calls.map(|call| Call { to: behind(call.to).unwrap_or(call.to), ..*call }).collect()
}

/// Functions that call each other, or one alone.
struct Circle<'a> {
    members: &'a [usize],
    /// How often they were entered, from wherever.
    entries: i128,
}

impl Circle<'_> {
    fn give(&self, callers: &[Vec<Call>], instructions: &mut [i64], given: &mut [Given]) {
        let members: BTreeSet<usize> = self.members.iter().copied().collect();
        let mut outside: BTreeMap<usize, i64> = BTreeMap::new();
        let mut inside = 0_i128;
        for call in members.iter().flat_map(|member| &callers[*member]) {
            if members.contains(&call.from) {
                inside += i128::from(call.calls);
            } else {
                let known = outside.entry(call.from).or_default();
                *known = known.saturating_add(call.calls);
            }
        }
        let known: i128 = outside.values().copied().map(i128::from).sum();
        let own: Vec<i64> = self.members.iter().map(|member| instructions[*member]).collect();
        let total: i128 = own.iter().copied().map(i128::from).sum();
        if known == 0 || total <= 0 {
            return;
        }
        // Calls through pointers have no known caller, so their part stays.
        let entries = (self.entries - inside).max(known);
        let gone = i64::try_from(part(total, known, entries)).unwrap_or(0);
        let left = apportion(i64::try_from(total).unwrap_or(0).saturating_sub(gone), &own);
        self.members.iter().zip(left).for_each(|(member, left)| instructions[*member] = left);
        let mut content: Given = self.members.iter().zip(&own).map(|(member, own)| (*member, *own as f64)).collect();
        for (place, member) in self.members.iter().enumerate() {
            // What it was given is a part of its own instructions by now.
            let further = std::mem::take(&mut given[*member]);
            content[place].1 -= further.iter().map(|(_, weight)| weight).sum::<f64>();
            content.extend(further);
        }
        shorten(&mut content);
        let weights: Vec<i64> = outside.values().copied().collect();
        for (caller, amount) in outside.into_keys().zip(apportion(gone, &weights)) {
            instructions[caller] = instructions[caller].saturating_add(amount);
            let share = amount as f64 / total as f64;
            given[caller].extend(content.iter().map(|(of, weight)| (*of, weight * share)));
            if given[caller].len() > MANY {
                shorten(&mut given[caller]);
            }
        }
    }
}

/// `total × number ÷ of`, where `number` is at most `of`.
fn part(total: i128, number: i128, of: i128) -> i128 {
    match total.checked_mul(number) {
        Some(product) => product / of,
        None => total / of.max(1) * number,
    }
}

/// Leaves the largest, each once.
fn shorten(given: &mut Given) {
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    given.iter().for_each(|(of, weight)| *sums.entry(*of).or_default() += weight);
    *given = sums.into_iter().filter(|(_, weight)| *weight > 0.0).collect();
    given.sort_by(|one, other| other.1.total_cmp(&one.1));
    given.truncate(NAMED);
}

/// The circles among the nodes that are given away (Tarjan's strongly connected components, without recursion), each
/// after all of those that it calls.
fn circles(is_given: &[bool], callers: &[Vec<Call>]) -> Vec<Vec<usize>> {
    // By who is called: a circle is complete before its callers are.
    let mut called: Vec<Vec<usize>> = vec![vec![]; is_given.len()];
    for call in callers.iter().flatten().filter(|call| is_given[call.from]) {
        called[call.from].push(call.to);
    }
    let mut search = Search { called: &called, numbers: vec![None; is_given.len()], ..Search::default() };
    search.lowest = vec![0; is_given.len()];
    search.is_open = vec![false; is_given.len()];
    (0..is_given.len()).filter(|place| is_given[*place]).for_each(|place| search.walk(place));
    search.found
}

#[derive(Default)]
struct Search<'a> {
    called: &'a [Vec<usize>],
    /// In which order nodes were reached.
    numbers: Vec<Option<usize>>,
    /// The smallest number that each reaches.
    lowest: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    next: usize,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn walk(&mut self, start: usize) {
        if self.numbers[start].is_some() {
            return;
        }
        // Nodes on the path, and how many of the functions that each calls were seen.
        let mut path = vec![(start, 0)];
        self.reach(start);
        while let Some((node, seen)) = path.last_mut() {
            let node = *node;
            if let Some(&to) = self.called[node].get(*seen) {
                *seen += 1;
                match self.numbers[to] {
                    None => {
                        self.reach(to);
                        path.push((to, 0));
                    }
                    Some(number) if self.is_open[to] => self.lowest[node] = self.lowest[node].min(number),
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            if let Some((caller, _)) = path.last() {
                self.lowest[*caller] = self.lowest[*caller].min(self.lowest[node]);
            }
            if self.numbers[node] == Some(self.lowest[node]) {
                self.close(node);
            }
        }
    }

    fn reach(&mut self, node: usize) {
        self.numbers[node] = Some(self.next);
        self.lowest[node] = self.next;
        self.is_open[node] = true;
        self.open.push(node);
        self.next += 1;
    }

    /// Everything that was reached after the first of a circle belongs to it.
    fn close(&mut self, first: usize) {
        let mut members = vec![];
        while let Some(member) = self.open.pop() {
            self.is_open[member] = false;
            members.push(member);
            if member == first {
                break;
            }
        }
        self.found.push(members);
    }
}
