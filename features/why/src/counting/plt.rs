//! The stubs of a program for calls through its procedure linkage table, by name, and where code takes addresses of what the
//! same file exports: from slots of the global offset table, or as they are. Both follow from relocations and symbols.

use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, ObjectSymbolTable as _, RelocationFlags, elf};
use std::collections::{BTreeMap, BTreeSet};

/// Sections of stubs.
const PLT: [&str; 3] = [".plt", ".plt.sec", ".plt.got"];

/// An entry of these is this long, unless the section says otherwise.
const ENTRY: u64 = 16;

/// A stub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stub {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The function that it leads to; none of code that all stubs share, or if the address is computed.
    pub(super) leads_to: Option<String>,
    /// Whether the same file defines that function.
    pub(super) is_own: bool,
}

/// Where a file has the addresses of what it exports.
#[derive(Debug, Default)]
pub(super) struct OwnAddresses {
    /// Slots that hold one.
    pub(super) slots: BTreeSet<u64>,
    /// The addresses: with -Bsymbolic, a linker has code compute one where it would load it from a slot.
    pub(super) symbols: BTreeSet<u64>,
    /// What slots of the table hold that nobody else can change, like those by which Rust calls its own functions.
    pub(super) fixed: BTreeMap<u64, u64>,
}

/// The stubs of a file, in the order of their addresses, and the addresses of what it exports.
pub(super) fn stubs(file: &ElfFile64<'_>) -> (Vec<Stub>, OwnAddresses) {
    let mut slots: BTreeMap<u64, (String, bool)> = BTreeMap::new();
    let mut own = OwnAddresses::default();
    let symbols = file.dynamic_symbol_table();
    let table = file
        .section_by_name(".got")
        .map_or(0..0, |table| table.address()..table.address().saturating_add(table.size()));
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
        if r_type == elf::R_X86_64_RELATIVE && table.contains(&at) {
            own.fixed.insert(at, relocation.addend().cast_unsigned());
        }
        let is_slot = [elf::R_X86_64_JUMP_SLOT, elf::R_X86_64_GLOB_DAT].contains(&r_type);
        let object::RelocationTarget::Symbol(index) = relocation.target() else { continue };
        let symbol = symbols.and_then(|symbols| symbols.symbol_by_index(index).ok());
        let Some(symbol) = symbol.filter(|_| is_slot) else { continue };
        let is_own = symbol.is_definition();
        if is_own && r_type == elf::R_X86_64_GLOB_DAT {
            own.slots.insert(at);
        }
        slots.insert(at, (symbol.name().unwrap_or_default().to_owned(), is_own));
    }
    let exported = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    own.symbols = exported.map(|symbol| symbol.address()).collect();
    let sections = file.sections().filter(|section| section.name().is_ok_and(|name| PLT.contains(&name)));
    let mut stubs: Vec<Stub> = sections
        .flat_map(|section| {
            let entry = match section.elf_section_header().sh_entsize.get(file.endian()) {
                size @ 8..=64 => size,
                _ => ENTRY,
            };
            let content = section.data().unwrap_or_default();
            stubs_of(content, section.address(), entry, &slots)
        })
        .collect();
    stubs.sort_by_key(|stub| stub.start);
    (stubs, own)
}

fn stubs_of(content: &[u8], address: u64, entry: u64, slots: &BTreeMap<u64, (String, bool)>) -> Vec<Stub> {
    let chunks = content.chunks(entry as usize).zip(0..);
    chunks
        .map(|(bytes, number)| {
            let start = address + number * entry;
            let target = jumps_by(bytes, start).and_then(|slot| slots.get(&slot));
            Stub {
                start,
                end: start + bytes.len() as u64,
                leads_to: target.map(|(name, _)| name.clone()),
                is_own: target.is_some_and(|(_, is_own)| *is_own),
            }
        })
        .collect()
}

/// The slot by which code jumps.
fn jumps_by(bytes: &[u8], start: u64) -> Option<u64> {
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    let mut jumps = decoder.iter().filter(|one| one.mnemonic() == Mnemonic::Jmp && one.is_ip_rel_memory_operand());
    jumps.next().map(|one| one.ip_rel_memory_address())
}
