//! One side of an account: its counts at one or two lengths, with clones folded onto the functions that they are clones of.
//! It keeps every sum, as far as numbers are credible, and compares nothing.

use super::base_name::BaseName;
use super::files::base;
use super::readable::{is_mangled, readable};
use crate::counts::{CodeKind, Counted, FunctionCount};
use std::collections::{BTreeMap, BTreeSet};

/// The most instructions that all functions of one count have together, and calls that one has: seventy years of a fast
/// processor. What is beyond is cut off, so that nothing that is computed of them overflows.
const MOST: i64 = 1 << 61;

/// Instructions and calls of one function at one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Amount {
    /// Without `own_addresses`, once these were taken out.
    pub(super) instructions: i64,
    pub(super) calls: i64,
    pub(super) own_addresses: i64,
}

/// A function with its clones; of a file's code without a name, all of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub(super) kind: CodeKind,
    /// Its base name.
    pub(super) name: String,
    /// Its name, if exactly one function that is not a clone has it.
    pub(super) symbol: Option<String>,
    /// The names of all functions that it is of.
    pub(super) symbols: BTreeSet<String>,
    pub(super) file: String,
    pub(super) source: Option<String>,
    /// The digest of its code, if it is of one function only.
    pub(super) code: Option<u64>,
    /// By length.
    pub(super) amounts: Vec<Amount>,
}

impl Node {
    /// Its name as its author wrote it.
    pub(super) fn readable(&self) -> String {
        let any = self.symbols.first().or(self.symbol.as_ref()).filter(|_| is_mangled(&self.name));
        readable(any.unwrap_or(&self.name))
    }
}

/// Calls from one node to another, or to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) calls: i64,
}

/// One side.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) nodes: Vec<Node>,
    /// By length.
    pub(super) calls: Vec<Vec<Call>>,
    /// Instructions of code made during the run, by length.
    pub(super) unnamed: Vec<i64>,
    /// The node of each function of the last count.
    pub(super) places: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: CodeKind,
    file: String,
    name: String,
    source: Option<String>,
}

/// The same functions in counts at several lengths are one node.
pub(super) fn fold(counts: &[&Counted]) -> Folded {
    let parsed: Vec<Vec<(Key, bool)>> =
        counts.iter().map(|counted| counted.functions.iter().map(key).collect()).collect();
    let whole: BTreeSet<Key> =
        parsed.iter().flatten().filter(|(_, is_clone)| !is_clone).map(|(k, _)| k.clone()).collect();
    let mut folded = Folded::default();
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    for (length, (counted, keys)) in counts.iter().zip(parsed).enumerate() {
        let mut credible = MOST;
        let mut functions = vec![];
        for (function, (key, is_clone)) in counted.functions.iter().zip(keys) {
            let key = if is_clone { original(key, &whole) } else { key };
            let next = folded.nodes.len();
            let place = *places.entry(key).or_insert_with_key(|key| {
                folded.nodes.push(node(key, counts.len()));
                next
            });
            let node = &mut folded.nodes[place];
            let instructions = i64::try_from(function.instructions).unwrap_or(MOST).min(credible);
            credible -= instructions;
            let amount = &mut node.amounts[length];
            amount.instructions += instructions;
            amount.own_addresses += i64::try_from(function.own_addresses).unwrap_or(MOST).min(instructions);
            if function.kind == CodeKind::Function {
                let is_first = node.symbols.is_empty();
                node.symbols.insert(function.name.clone());
                node.code = function.code.filter(|code| is_first || node.code == Some(*code));
            }
            if !is_clone {
                let is_other = node.symbol.as_ref().is_some_and(|known| *known != function.name);
                // An empty name is that of nothing: two that differ have only the base name in common.
                node.symbol = Some(if is_other { String::new() } else { function.name.clone() });
            }
            functions.push(Folding { place, is_clone, calls: credible_calls(function.calls) });
        }
        folded.unnamed.push(i64::try_from(counted.unnamed).unwrap_or(MOST).min(credible));
        folded.places = functions.iter().map(|function| function.place).collect();
        folded.calls.push(connect(&functions, counted, &mut folded.nodes, length));
    }
    for node in &mut folded.nodes {
        node.symbol = node.symbol.take().filter(|symbol| !symbol.is_empty());
    }
    folded
}

fn credible_calls(calls: u64) -> i64 {
    i64::try_from(calls).unwrap_or(MOST).min(MOST)
}

fn node(key: &Key, lengths: usize) -> Node {
    let Key { kind, file, name, source } = key.clone();
    Node { kind, name, file, source, amounts: vec![Amount::default(); lengths], ..Node::default() }
}

/// Where a function belongs, and whether it is a clone.
fn key(function: &FunctionCount) -> (Key, bool) {
    let FunctionCount { kind, ref file, .. } = *function;
    if kind == CodeKind::Nameless {
        return (Key { kind, file: file.clone(), name: function.name.clone(), source: None }, false);
    }
    let BaseName { name, is_clone, is_rust } = BaseName::of(&function.name);
    let source = function.source.as_deref().map(base).filter(|source| !is_rust && is_source(source));
    (Key { kind, file: file.clone(), name, source: source.map(str::to_owned) }, is_clone)
}

/// Whether it is a file that somebody wrote: link-time optimisation names its own instead.
fn is_source(name: &str) -> bool {
    !name.is_empty() && name != "<artificial>" && !name.contains("ltrans") && !name.starts_with("ld-temp")
}

/// Clones of a function that is not static are static, and have a source where it has none.
fn original(key: Key, whole: &BTreeSet<Key>) -> Key {
    let global = Key { source: None, ..key.clone() };
    if !whole.contains(&key) && whole.contains(&global) { global } else { key }
}

/// A function of a count, and the node that it became a part of.
struct Folding {
    place: usize,
    is_clone: bool,
    calls: i64,
}

/// How often a node was entered.
#[derive(Clone, Copy, Default)]
struct Entries {
    /// At functions that are no clones.
    whole: i64,
    /// At clones.
    clones: i64,
    /// Of these, from other nodes, and from the node itself.
    from_others: i64,
    from_itself: i64,
}

/// Sets the calls of the nodes, and returns who calls whom. A function is called when its original is, or when
/// another function calls a clone of it: a part that the original itself calls is no call of the function.
fn connect(functions: &[Folding], counted: &Counted, nodes: &mut [Node], length: usize) -> Vec<Call> {
    let mut entries = vec![Entries::default(); nodes.len()];
    for function in functions {
        let entries = &mut entries[function.place];
        let sum = if function.is_clone { &mut entries.clones } else { &mut entries.whole };
        *sum = sum.saturating_add(function.calls);
    }
    let mut calls: BTreeMap<(usize, usize), i64> = BTreeMap::new();
    for edge in &counted.edges {
        let of = |place: u32| usize::try_from(place).ok().and_then(|place| functions.get(place));
        // A damaged count may have edges to nowhere.
        let Some((from, to)) = of(edge.0).zip(of(edge.1)) else { continue };
        let number = credible_calls(edge.2);
        let entries = &mut entries[to.place];
        if to.is_clone {
            let is_own = from.place == to.place;
            let sum = if is_own { &mut entries.from_itself } else { &mut entries.from_others };
            *sum = sum.saturating_add(number);
        }
        if !to.is_clone || from.place != to.place {
            let known = calls.entry((from.place, to.place)).or_default();
            *known = known.saturating_add(number).min(MOST);
        }
    }
    for (node, entries) in nodes.iter_mut().zip(entries) {
        let Entries { whole, clones, from_others, from_itself } = entries;
        let of_clones = if clones > from_itself { clones - from_itself } else { clones };
        let all = if whole > 0 { whole.saturating_add(from_others) } else { of_clones };
        node.amounts[length].calls = all.min(MOST);
    }
    calls.into_iter().map(|((from, to), calls)| Call { from, to, calls }).collect()
}
