//! From runs of instructions to functions: each instruction of a run is decoded once and given to the function that it is in.
//! A function was called as often as its first instruction was executed; a call or jump to another function is an edge. The
//! sums are those of the dumps.

use super::binary::{At, Binary, Function};
use super::digest::digest;
use super::dump::{Dump, Mapped, Run};
use super::plt::OwnAddresses;
use crate::counts::{CodeKind, Counted, Edge, FunctionCount, ProgramCount};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use std::collections::BTreeMap;
use std::path::Path;

/// String instructions, which a prefix repeats.
const STRINGS: [Mnemonic; 20] = [
    Mnemonic::Movsb,
    Mnemonic::Movsw,
    Mnemonic::Movsd,
    Mnemonic::Movsq,
    Mnemonic::Stosb,
    Mnemonic::Stosw,
    Mnemonic::Stosd,
    Mnemonic::Stosq,
    Mnemonic::Lodsb,
    Mnemonic::Lodsw,
    Mnemonic::Lodsd,
    Mnemonic::Lodsq,
    Mnemonic::Scasb,
    Mnemonic::Scasw,
    Mnemonic::Scasd,
    Mnemonic::Scasq,
    Mnemonic::Cmpsb,
    Mnemonic::Cmpsw,
    Mnemonic::Cmpsd,
    Mnemonic::Cmpsq,
];

/// A function of a file.
type Key = (usize, At);

#[derive(Default)]
struct Sums {
    calls: u64,
    instructions: u64,
    own_addresses: u64,
}

/// All that was executed, while it is added up.
#[derive(Default)]
struct Counter {
    binaries: Vec<(Mapped, Binary)>,
    functions: BTreeMap<Key, Sums>,
    edges: BTreeMap<[Key; 2], u64>,
    repetitions: u64,
}

/// Adds up what processes counted; `named` gives a path the name that it has in every variant.
pub(super) fn add_up(dumps: &[Dump], named: impl Fn(&Path) -> String) -> Counted {
    let mut counter = Counter::default();
    let mut programs: BTreeMap<(String, bool), [u64; 2]> = BTreeMap::new();
    let mut unnamed = 0;
    for dump in dumps {
        let before = counter.instructions();
        for (file, runs) in &dump.runs {
            let file = counter.file(file);
            runs.iter().for_each(|run| counter.run(file, run));
        }
        unnamed += dump.unnamed;
        let program = programs.entry((named(&dump.program), dump.is_forked)).or_default();
        program[0] += u64::from(!dump.is_resumed);
        program[1] += counter.instructions() - before + dump.unnamed;
    }
    let programs = programs.into_iter().map(|((path, is_forked), [processes, instructions])| ProgramCount {
        path,
        is_forked,
        processes,
        instructions,
    });
    let mut programs: Vec<ProgramCount> = programs.collect();
    programs.sort_by_key(|program| std::cmp::Reverse(program.instructions));
    Counted { programs, unnamed, repetitions: counter.repetitions, ..counter.counted(named) }
}

/// Whether an instruction does nothing but take the address of something that its file exports.
fn takes_own_address(one: &Instruction, own: &OwnAddresses) -> bool {
    let address = one.ip_rel_memory_address();
    one.is_ip_rel_memory_operand()
        && match one.mnemonic() {
            Mnemonic::Mov => one.op1_kind() == OpKind::Memory && own.slots.contains(&address),
            Mnemonic::Lea => own.symbols.contains(&address),
            _ => false,
        }
}

/// The address that an instruction calls or jumps to, by itself or by a slot whose content is known.
fn calls(one: &Instruction, own: &OwnAddresses) -> Option<u64> {
    match one.op0_kind() {
        _ if ![Mnemonic::Call, Mnemonic::Jmp].contains(&one.mnemonic()) => None,
        OpKind::NearBranch64 => Some(one.near_branch_target()),
        OpKind::Memory if one.is_ip_rel_memory_operand() => own.fixed.get(&one.ip_rel_memory_address()).copied(),
        _ => None,
    }
}

/// What is at a place of a file: its name, the source of a static function, and what kind of code it is.
pub(super) fn what_is(binary: &Binary, at: At) -> (String, Option<String>, CodeKind) {
    match at {
        At::Function(at) => match &binary.functions[at] {
            // The same file has it at the same place.
            Function { name, start, .. } if name.is_empty() => (format!("{start:#x}"), None, CodeKind::Nameless),
            Function { name, source, .. } => (name.clone(), source.clone(), CodeKind::Function),
        },
        At::Stub(at) => {
            let stub = &binary.stubs[at];
            let kind = if stub.is_own { CodeKind::OwnStub } else { CodeKind::Stub };
            (stub.leads_to.clone().unwrap_or_default(), None, kind)
        }
        At::Nameless => (String::new(), None, CodeKind::Nameless),
    }
}

/// What the code of a function is, apart from addresses.
fn code(binary: &Binary, at: usize) -> Option<u64> {
    let start = binary.functions[at].start;
    let length = usize::try_from(binary.functions[at].end - start).unwrap_or(usize::MAX);
    let bytes = binary.bytes(start);
    digest(&bytes[..length.min(bytes.len())], start, &binary.fixed)
}

impl Counter {
    fn instructions(&self) -> u64 {
        self.functions.values().map(|sums| sums.instructions).sum()
    }

    fn file(&mut self, file: &Mapped) -> usize {
        let known = self.binaries.iter().position(|(known, _)| known == file);
        known.unwrap_or_else(|| {
            self.binaries.push((file.clone(), Binary::read(file)));
            self.binaries.len() - 1
        })
    }

    fn run(&mut self, file: usize, run: &Run) {
        let Self { binaries, functions, edges, repetitions } = self;
        let binary = &binaries[file].1;
        let Some(address) = binary.address(run.offset) else {
            let sums = functions.entry((file, At::Nameless)).or_default();
            sums.instructions += u64::from(run.instructions) * run.count;
            return;
        };
        let mut decoder = Decoder::with_ip(64, binary.bytes(address), address, DecoderOptions::NONE);
        let mut one = Instruction::default();
        for number in 0..run.instructions {
            let is_known = decoder.can_decode();
            if is_known {
                decoder.decode_out(&mut one);
            }
            // What cannot be decoded was executed nevertheless.
            let key = (file, if is_known { binary.at(one.ip()) } else { At::Nameless });
            if is_known && (one.has_rep_prefix() || one.has_repne_prefix()) && STRINGS.contains(&one.mnemonic()) {
                *repetitions += run.count;
                continue;
            }
            let sums = functions.entry(key).or_default();
            sums.instructions += run.count;
            if !is_known {
                sums.instructions += u64::from(run.instructions - number - 1) * run.count;
                break;
            }
            sums.calls += if binary.begins(key.1, one.ip()) { run.count } else { 0 };
            sums.own_addresses += if takes_own_address(&one, &binary.own_addresses) { run.count } else { 0 };
            if let Some(target) = calls(&one, &binary.own_addresses) {
                let callee = (file, binary.at(target));
                if callee != key {
                    *edges.entry([key, callee]).or_default() += run.count;
                }
            }
        }
    }

    /// The functions by name.
    fn by_name(&self) -> BTreeMap<&str, Vec<Key>> {
        let mut all: BTreeMap<&str, Vec<Key>> = BTreeMap::new();
        for &(file, at) in self.functions.keys() {
            if let At::Function(function) = at {
                all.entry(&self.binaries[file].1.functions[function].name).or_default().push((file, at));
            }
        }
        all
    }

    /// The function that a stub leads to: of the same file, or of any other that was executed.
    fn behind(&self, key: Key, by_name: &BTreeMap<&str, Vec<Key>>) -> Option<Key> {
        let At::Stub(stub) = key.1 else { return Some(key) };
        let stub = &self.binaries[key.0].1.stubs[stub];
        let mut all = by_name.get(stub.leads_to.as_deref()?)?.iter();
        // A static function of the same name is not what it leads to.
        all.find(|known| (known.0 == key.0) == stub.is_own).copied()
    }

    fn counted(&self, named: impl Fn(&Path) -> String) -> Counted {
        let paths: Vec<String> = self.binaries.iter().map(|(file, _)| named(&file.path)).collect();
        let places: BTreeMap<Key, u32> = self.functions.keys().copied().zip(0..).collect();
        let function = |(key, sums): (&Key, &Sums)| {
            let binary = &self.binaries[key.0].1;
            let (name, source, kind) = what_is(binary, key.1);
            let Sums { calls, instructions, own_addresses } = *sums;
            let code = if let At::Function(at) = key.1 { code(binary, at) } else { None };
            FunctionCount { name, file: paths[key.0].clone(), source, kind, calls, instructions, own_addresses, code }
        };
        let functions = self.functions.iter().map(function).collect();
        // Who calls by a stub calls what is behind it.
        let mut edges: BTreeMap<[u32; 2], u64> = BTreeMap::new();
        let by_name = self.by_name();
        for ([caller, callee], count) in &self.edges {
            let callee = self.behind(*callee, &by_name).and_then(|callee| places.get(&callee));
            if let Some((&caller, &callee)) = places.get(caller).zip(callee) {
                *edges.entry([caller, callee]).or_default() += count;
            }
        }
        let edges = edges.into_iter().map(|([caller, callee], count)| Edge(caller, callee, count)).collect();
        Counted { functions, edges, ..Counted::default() }
    }
}
