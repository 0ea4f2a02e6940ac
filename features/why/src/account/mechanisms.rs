//! Which functions are parts of a mechanism, and get no row of their own. It reads names, files and kinds of code, and from
//! calls only whether `errno` is kept for the allocator.

use super::files::{is_libc, is_loader, is_musl, is_runtime};
use super::folding::{Folded, Node};
use super::names;
use super::result::{Allocator, Mechanism};
use crate::counts::CodeKind;
use std::collections::BTreeMap;

/// The mechanism of every node of both sides.
pub(super) fn of(sides: [&Folded; 2]) -> [Vec<Option<Mechanism>>; 2] {
    let mut found = sides.map(|side| side.nodes.iter().map(of_node).collect::<Vec<_>>());
    if keeps_errno(sides, &found) {
        for (side, found) in sides.iter().zip(&mut found) {
            let of_errno = side.nodes.iter().zip(found).filter(|(node, _)| node.name == names::ERRNO);
            of_errno.for_each(|(_, found)| *found = Some(Mechanism::Allocator));
        }
    }
    found
}

fn of_node(node: &Node) -> Option<Mechanism> {
    let Node { kind, file, name, .. } = node;
    let is_of_loader = if is_musl(file) { names::is_loader_of_musl(name) } else { is_loader(file) };
    if is_of_loader {
        return Some(Mechanism::Loader);
    }
    if allocator(node).is_some() && *kind == CodeKind::Function {
        return Some(Mechanism::Allocator);
    }
    if is_libc(file) {
        return Some(Mechanism::Libc);
    }
    let source = node.source.as_deref();
    match kind {
        _ if names::allocator_of_library(file).is_some() => Some(Mechanism::Allocator),
        CodeKind::OwnStub => Some(Mechanism::OwnStubs),
        CodeKind::Stub if names::is_entry_of_allocator(name) => Some(Mechanism::Allocator),
        CodeKind::Stub => Some(Mechanism::Stubs),
        CodeKind::Nameless => Some(Mechanism::Nameless),
        CodeKind::Function => names::is_compiling(name, source, file).then_some(Mechanism::Compiling),
    }
}

/// The allocator that a function is a part of.
pub(super) fn allocator(node: &Node) -> Option<Allocator> {
    let Node { file, name, .. } = node;
    if file.is_empty() {
        // Whose `malloc` it is, cachegrind does not tell.
        return None;
    }
    if is_libc(file) {
        return names::is_allocator_of_libc(name).then_some(Allocator::Libc);
    }
    let of_program = || names::allocator_of_program(name, node.source.as_deref(), file);
    let of_library = names::allocator_of_library(file);
    // Operators of C++ call whichever allocator there is.
    let is_operator = is_runtime(file) && names::is_entry_of_allocator(name);
    of_library.or_else(|| if is_runtime(file) { is_operator.then_some(Allocator::Libc) } else { of_program() })
}

/// Whether most calls for the address of `errno`, on both sides together, come from an allocator.
fn keeps_errno(sides: [&Folded; 2], found: &[Vec<Option<Mechanism>>; 2]) -> bool {
    let (mut all, mut of_allocator) = (0_i128, 0_i128);
    for (side, found) in sides.iter().zip(found) {
        for call in side.calls.iter().flatten() {
            let is_from_stub = matches!(side.nodes[call.from].kind, CodeKind::Stub | CodeKind::OwnStub);
            if side.nodes[call.to].name == names::ERRNO && !is_from_stub {
                all += i128::from(call.calls);
                let is_own = found[call.from] == Some(Mechanism::Allocator);
                of_allocator += if is_own { i128::from(call.calls) } else { 0 };
            }
        }
    }
    2 * of_allocator > all
}

/// Whether the addresses that a node loads from a global offset table are the program's own.
pub(super) fn loads_own_addresses(node: &Node) -> bool {
    node.kind == CodeKind::Function && !is_runtime(&node.file) && !is_libc(&node.file)
}

/// Which allocator executed the most instructions at the last length; none if none did.
pub(super) fn largest_allocator(side: &Folded) -> Option<Allocator> {
    let mut sums: BTreeMap<Allocator, i64> = BTreeMap::new();
    for node in side.nodes.iter().filter(|node| node.kind == CodeKind::Function) {
        let instructions = node.amounts.last().map_or(0, |amount| amount.instructions);
        allocator(node).into_iter().for_each(|of| *sums.entry(of).or_default() += instructions);
    }
    sums.into_iter().filter(|(_, sum)| *sum > 0).max_by_key(|(_, sum)| *sum).map(|(allocator, _)| allocator)
}
