//! What the addresses in a linked file mean: a place in a function or datum, a symbol that the loader finds, or, of what has no
//! name, its content: a text up to its zero, a constant as wide as the instruction reads it, a table of jumps as the instructions
//! that it leads to. Each byte that is not a zero must be explained so, or the file is not understood.

use crate::answer::Why;
use crate::nouns::{Atom, Doubt, Kind, Relocation, Section, Symbol, Target};
use iced_x86::{Decoder, DecoderOptions, Instruction as Known, MemorySize, Mnemonic, OpKind, Register};
use object::elf;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Where the linker puts the end of what has bytes in the file.
pub(crate) const END_OF_DATA: &str = "__TMC_END__";
/// The source file of the objects that each program begins and ends with.
const CRT: &str = "crtstuff.c";
/// A relocation to an address of this file.
pub(crate) const RELATIVE: u32 = 8;
/// An instruction's distance from itself, a call by way of the linker's table, and a slot that the loader fills.
const DISTANCE: u32 = 2;
const BY_TABLE: u32 = 4;
const SLOT: u32 = 9;
/// So far from a datum an address may be in front of it.
const NEAR: u64 = 64;
/// So small a datum may only seem to be meant: it may be what is in front of the one that is.
const SMALL: u64 = 16;
/// The bytes of an address in an instruction.
const ADDRESS: usize = 4;
/// A stub of the linker's table.
const STUB: usize = 16;

/// What the loader does at an address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loaded<'a> {
    pub(crate) sort: u32,
    /// None, if it is about an address of this file.
    pub(crate) name: Option<&'a str>,
    pub(crate) addend: i64,
}

pub(crate) struct Meaning<'s, 'a> {
    pub(crate) sections: Vec<Section<'a>>,
    /// Where each section begins.
    pub(crate) starts: Vec<u64>,
    symbols: &'s [Symbol<'a>],
    loaded: BTreeMap<u64, Loaded<'a>>,
    /// Where the linker put that symbol.
    end_of_data: Option<u64>,
    accesses: Vec<Access>,
    /// Where instructions begin.
    instructions: HashSet<u64>,
    /// The functions that jump to where a register says.
    jumping: HashSet<(usize, u64)>,
    /// Where something begins, or where something refers to.
    marks: BTreeSet<u64>,
    /// Parts of sections without names that are explained.
    explained: BTreeSet<(usize, u64, u64)>,
}

/// An address in an instruction.
#[derive(Clone, Copy)]
struct Access {
    section: usize,
    /// Where its function begins.
    function: u64,
    /// Where the bytes of the address are.
    at: u64,
    /// What it comes to.
    address: u64,
    /// How many bytes there it reads or writes; none, if it takes the address, or goes there.
    width: Option<u64>,
    /// The register that it is put into, and whether the function adds an index to that.
    into: Register,
    is_indexed: bool,
}

impl<'s, 'a> Meaning<'s, 'a> {
    pub(crate) fn of(
        sections: Vec<Section<'a>>,
        starts: Vec<u64>,
        symbols: &'s [Symbol<'a>],
        loaded: BTreeMap<u64, Loaded<'a>>,
        end_of_data: Option<u64>,
    ) -> Self {
        Self {
            sections,
            starts,
            symbols,
            loaded,
            end_of_data,
            accesses: vec![],
            instructions: HashSet::new(),
            jumping: HashSet::new(),
            marks: BTreeSet::new(),
            explained: BTreeSet::new(),
        }
    }

    /// Gives all sections relocations that say what is meant.
    pub(crate) fn find(&mut self) -> Result<(), Why> {
        self.read_code()?;
        self.marks.extend(self.accesses.iter().map(|access| access.address));
        self.marks.extend(self.loaded.values().filter(|one| one.name.is_none()).map(|one| one.addend as u64));
        self.marks.extend(self.symbols.iter().filter_map(|one| Some(self.starts[one.section()?] + one.value)));
        self.tables()?;
        let mut found: Vec<(usize, Relocation<'a>)> = vec![];
        for access in std::mem::take(&mut self.accesses) {
            let (sort, target) = self.meant(&access)?;
            let near = if access.is_indexed { self.near(access.address) } else { None };
            let target = match (near, target) {
                // A gap looks like a text without letters.
                (Some(Target::Near { next, distance, .. }), Target::Content(text)) if text != [0] => {
                    Target::Near { next, distance, in_datum: None, text }
                }
                (near, target) => near.unwrap_or(target),
            };
            found.push((access.section, known(access.at, sort, target)));
        }
        self.data(&mut found)?;
        for (section, relocation) in found {
            self.sections[section].relocations.push(relocation);
        }
        for section in &mut self.sections {
            section.relocations.sort_by_key(|one| one.at);
        }
        Ok(())
    }

    /// Finds the addresses in instructions.
    fn read_code(&mut self) -> Result<(), Why> {
        for number in 0..self.sections.len() {
            let section = &self.sections[number];
            let functions = section.atoms.iter().filter(|_| section.kind == Kind::Code);
            for (start, end) in functions.map(|atom| (atom.start, atom.start + atom.size)).collect::<Vec<_>>() {
                self.read_function(number, start, end)?;
            }
        }
        Ok(())
    }

    fn read_function(&mut self, number: usize, function: u64, end: u64) -> Result<(), Why> {
        let (section, start) = (&self.sections[number], self.starts[number]);
        let bytes = section.bytes(function, end);
        let mut decoder = Decoder::with_ip(64, bytes, start + function, DecoderOptions::NONE);
        let mut known = Known::default();
        let first = self.accesses.len();
        let mut indexed: HashSet<Register> = HashSet::new();
        while decoder.can_decode() {
            decoder.decode_out(&mut known);
            self.instructions.insert(known.ip());
            let fields = decoder.get_constant_offsets(&known);
            let (goes_to, is_branch) = (known.near_branch_target(), known.op0_kind() == OpKind::NearBranch64);
            let found = if known.is_ip_rel_memory_operand() {
                let (from, size) = (fields.displacement_offset(), fields.displacement_size());
                Some((from, size, known.ip_rel_memory_address(), width(&known)?))
            } else if is_branch && !(start..start + section.size).contains(&goes_to) {
                // Inside a section, the instruction says it itself.
                Some((fields.immediate_offset(), fields.immediate_size(), goes_to, None))
            } else {
                None
            };
            if let Some((from, size, address, width)) = found {
                if size != ADDRESS {
                    return Err(Why::Unusual);
                }
                let (at, into) = (known.ip() - start + from as u64, known.op0_register());
                self.accesses.push(Access { section: number, function, at, address, width, into, is_indexed: false });
            } else {
                let both = [known.memory_base(), known.memory_index()];
                indexed.extend(both.into_iter().filter(|_| !both.contains(&Register::None)));
            }
            if known.mnemonic() == Mnemonic::Jmp && known.op0_kind() == OpKind::Register {
                self.jumping.insert((number, function));
            }
        }
        for access in self.accesses.iter_mut().skip(first).filter(|access| access.width.is_none()) {
            access.is_indexed = indexed.contains(&access.into);
        }
        Ok(())
    }

    /// The section that has that address.
    fn section(&self, address: u64) -> Option<usize> {
        (0..self.sections.len()).find(|number| {
            let section = &self.sections[*number];
            let is_there = section.flags & elf::SHF_TLS.0 == 0 && self.starts[*number] <= address;
            is_there && address - self.starts[*number] < section.size
        })
    }

    /// Makes tables of jumps data, with their functions' names: what they lead to is an instruction of the function.
    fn tables(&mut self) -> Result<(), Why> {
        let mut tables: BTreeMap<u64, (usize, Atom<'a>, Vec<Relocation<'a>>)> = BTreeMap::new();
        let taken = self.accesses.iter().filter(|access| access.width.is_none() && access.address % 4 == 0);
        for access in taken.filter(|access| self.jumping.contains(&(access.section, access.function))) {
            let Some(number) = self.section(access.address).filter(|number| self.is_constant(*number)) else {
                continue;
            };
            let (section, start) = (&self.sections[number], access.address - self.starts[number]);
            if section.around(start).is_some() {
                continue;
            }
            let next = self.marks.range(access.address + 1..).next();
            let end = next.map_or(section.size, |next| (next - self.starts[number]).min(section.size));
            let mut relocations = vec![];
            for at in (start..end.saturating_sub(3)).step_by(4) {
                let entry = section.bytes(at, at + 4);
                let distance = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
                let Some(target) = self.led_to(access, access.address.wrapping_add_signed(distance.into())) else {
                    break;
                };
                relocations.push(known(at, DISTANCE, target));
            }
            let name = self.sections[access.section].atom(access.function).map_or("", |atom| atom.name);
            if tables.get(&access.address).is_some_and(|(_, known, _)| stem(known.name) != stem(name)) {
                return Err(Why::Unusual);
            }
            if !relocations.is_empty() && !tables.contains_key(&access.address) {
                let table = datum(name, start, 4 * relocations.len() as u64);
                tables.insert(access.address, (number, table, relocations));
            }
        }
        for (_, (number, table, relocations)) in tables {
            self.sections[number].atoms.push(table);
            self.sections[number].relocations.extend(relocations);
        }
        self.sections.iter_mut().for_each(|section| section.atoms.sort_by_key(|atom| atom.start));
        Ok(())
    }

    /// What an entry of a table of jumps leads to: the function's own instructions, or those of its part that is rarely run.
    fn led_to(&self, access: &Access, address: u64) -> Option<Target<'a>> {
        let number = self.section(address).filter(|number| self.sections[*number].kind == Kind::Code)?;
        let (section, at) = (&self.sections[number], address - self.starts[number]);
        let here = self.sections[access.section].atom(access.function)?;
        let is_own = |atom: &&Atom<'_>| stem(atom.name) == stem(here.name);
        let inside = section.around(at).filter(|_| self.instructions.contains(&address)).filter(is_own);
        inside.or(section.before(at).filter(is_own))?;
        Some(Target::Place { section: number, at: at as i64, plus: 0 })
    }

    fn is_constant(&self, number: usize) -> bool {
        self.sections[number].name == ".rodata"
    }

    /// What an address in an instruction means.
    fn meant(&mut self, access: &Access) -> Result<(u32, Target<'a>), Why> {
        let is_end = access.width.is_none() && self.end_of_data == Some(access.address);
        let mut crt = self.symbols.iter().filter(|one| one.file == CRT && one.section() == Some(access.section));
        if is_end && crt.any(|one| one.value == access.function) {
            return Ok((DISTANCE, Target::Named(END_OF_DATA, 0)));
        }
        let number = self.section(access.address).ok_or(Why::Unusual)?;
        match (self.sections[number].name, access.width) {
            (".plt" | ".plt.sec" | ".plt.got", None) => {
                let at = access.address - self.starts[number];
                let end = (at + STUB as u64).min(self.sections[number].size);
                let bytes = self.sections[number].bytes(at, end);
                let jump = Decoder::with_ip(64, bytes, access.address, DecoderOptions::NONE)
                    .into_iter()
                    .find(|known| known.mnemonic() != Mnemonic::Endbr64);
                let jump = jump.filter(|known| known.mnemonic() == Mnemonic::Jmp && known.is_ip_rel_memory_operand());
                let slot = jump.ok_or(Why::Unusual)?.ip_rel_memory_address();
                Ok((BY_TABLE, self.slot(slot)?))
            }
            (".got" | ".got.plt", Some(8)) => Ok((SLOT, self.slot(access.address)?)),
            _ => Ok((DISTANCE, self.place(access.address, access.width)?)),
        }
    }

    /// What the loader puts into a slot.
    fn slot(&mut self, address: u64) -> Result<Target<'a>, Why> {
        let loaded = *self.loaded.get(&address).ok_or(Why::Unusual)?;
        self.filled(loaded)
    }

    fn filled(&mut self, loaded: Loaded<'a>) -> Result<Target<'a>, Why> {
        match loaded.name {
            Some(name) => Ok(Target::Named(name, loaded.addend)),
            None if loaded.sort == RELATIVE => self.place(loaded.addend as u64, None),
            // The place among the data of threads, which are equal.
            None => Ok(Target::Named("", loaded.addend)),
        }
    }

    fn place(&mut self, address: u64, width: Option<u64>) -> Result<Target<'a>, Why> {
        let number = self.section(address).ok_or(Why::Unusual)?;
        let at = address - self.starts[number];
        let place = Target::Place { section: number, at: at as i64, plus: 0 };
        if width.is_none() {
            self.doubt(number, at);
        }
        let section = &self.sections[number];
        match section.kind {
            Kind::Code | Kind::Whole => return Ok(place),
            Kind::Data if section.around(at).is_some() => return Ok(place),
            Kind::Data if self.is_constant(number) => {}
            // Between two data, it can only be in front of the second one.
            Kind::Data if width.is_none() => return self.near(address).ok_or(Why::Unusual),
            _ => return Err(Why::Unusual),
        }
        let next = section.atoms.partition_point(|atom| atom.start <= at);
        let limit = section.atoms.get(next).map_or(section.size, |atom| atom.start);
        let end = match width {
            Some(width) => at + width,
            None => {
                let next =
                    self.marks.range(address + 1..).next().map_or(limit, |next| (next - address + at).min(limit));
                // Another text may be the end of this one; and a text may have zeros in it.
                let zero = section.bytes(at, limit).iter().position(|byte| *byte == 0).ok_or(Why::Unusual)? as u64;
                let last =
                    section.bytes(at, next).iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 2);
                at + last.min(limit - at).max(zero + 1)
            }
        };
        if end > limit {
            return Err(Why::Unusual);
        }
        let content = Target::Content(section.bytes(at, end));
        self.explained.insert((number, at, end));
        Ok(content)
    }

    /// An address to which an index is added, or in a gap, may be in front of its datum, where that index does not begin at 0.
    fn near(&self, address: u64) -> Option<Target<'a>> {
        let is_start = |number: usize| self.sections[number].atom(address - self.starts[number]).is_some();
        let here = self.section(address).filter(|number| self.sections[*number].kind != Kind::Code);
        if here.is_none_or(|number| is_start(number) || self.begins_text(number, address - self.starts[number])) {
            return None;
        }
        let data = self.sections.iter().enumerate().filter(|(_, section)| section.kind == Kind::Data);
        let next = data.filter_map(|(number, section)| {
            let before = section.atoms.partition_point(|atom| self.starts[number] + atom.start <= address);
            section.atoms.get(before).map(|atom| (self.starts[number] + atom.start, number, atom.start))
        });
        let (start, section, at) = next.min()?;
        let distance = start - address;
        let in_datum = here.and_then(|number| {
            let at = address - self.starts[number];
            self.sections[number].around(at).map(|atom| (number, atom.start, at - atom.start))
        });
        (distance <= NEAR).then_some(Target::Near { next: (section, at), distance, in_datum, text: &[] })
    }

    /// Whether a text begins there, as far as bytes can say it.
    fn begins_text(&self, number: usize, at: u64) -> bool {
        let section = &self.sections[number];
        let begins = at == 0 || section.bytes(at - 1, at) == [0] || section.before(at).is_some();
        self.is_constant(number) && section.around(at).is_none() && begins && section.bytes(at, at + 1) != [0]
    }

    /// Remembers an address that is taken and may be in front of its datum, although it is in another one.
    fn doubt(&mut self, number: usize, at: u64) {
        let section = &self.sections[number];
        let is_clear = match section.around(at) {
            _ if section.kind == Kind::Code => true,
            Some(atom) => atom.start == at && (atom.size > SMALL || atom.name == "__dso_handle"),
            None => self.begins_text(number, at),
        };
        let (is_start, address) = (section.atom(at).is_some(), self.starts[number] + at);
        let all = self.sections.iter_mut().zip(&self.starts);
        for (section, start) in all.filter(|(section, _)| !is_clear && section.kind == Kind::Data) {
            section.doubts.push(Doubt { at: address.wrapping_sub(*start) as i64, is_start });
        }
    }

    /// Finds what the loader does to data.
    fn data(&mut self, found: &mut Vec<(usize, Relocation<'a>)>) -> Result<(), Why> {
        for (address, loaded) in self.loaded.clone() {
            let number = self.section(address).ok_or(Why::Unusual)?;
            match self.sections[number].kind {
                // Slots are looked at where they are used.
                Kind::Left => continue,
                Kind::Code => return Err(Why::Unusual),
                _ => {}
            }
            let at = address - self.starts[number];
            found.push((number, known(at, loaded.sort, self.filled(loaded)?)));
        }
        let first = self.sections.len() - 1;
        for mut one in std::mem::take(&mut self.sections[first].relocations) {
            one.known = Some(self.place(one.addend as u64, None)?);
            found.push((first, one));
        }
        Ok(())
    }

    /// Whether all that is not zero, and all that the loader changes, has a name or was read as what it is. Returns the texts that
    /// nothing refers to: code may have the letters of a text as numbers, and the text is still there.
    pub(crate) fn left_texts(&self) -> Result<Vec<&'a [u8]>, Why> {
        let mut texts = vec![];
        for (number, section) in self.sections.iter().enumerate().filter(|(_, section)| section.kind == Kind::Data) {
            let atoms = section.atoms.iter().map(|atom| (atom.start, atom.start + atom.size));
            let others = self.explained.range((number, 0, 0)..(number + 1, 0, 0)).map(|(_, from, to)| (*from, *to));
            let mut all: Vec<(u64, u64)> = atoms.chain(others).chain([(section.size, section.size)]).collect();
            all.sort_unstable();
            let mut end = 0;
            for (from, to) in all {
                let left = section.bytes(end, from.max(end));
                let is_text =
                    |text: &&[u8]| text.iter().all(|byte| (b' '..=b'~').contains(byte) || (7..14).contains(byte));
                let all: Vec<&[u8]> = left.split(|byte| *byte == 0).filter(|text| !text.is_empty()).collect();
                let is_ended =
                    left.last().is_none_or(|last| *last == 0) && (all.is_empty() || self.is_constant(number));
                if !is_ended || !all.iter().all(is_text) || !section.relocations(end, from.max(end)).is_empty() {
                    return Err(Why::Unnamed);
                }
                texts.extend(all);
                end = end.max(to);
            }
        }
        texts.sort_unstable();
        Ok(texts)
    }
}

/// How many bytes an instruction reads or writes; none, if it takes an address.
fn width(known: &Known) -> Result<Option<u64>, Why> {
    use MemorySize as Of;
    if known.mnemonic() == Mnemonic::Lea {
        return Ok(None);
    }
    Ok(Some(match known.memory_size() {
        Of::UInt8 | Of::Int8 => 1,
        Of::UInt16 | Of::Int16 => 2,
        Of::UInt32 | Of::Int32 | Of::Float32 => 4,
        Of::UInt64 | Of::Int64 | Of::Float64 | Of::QwordOffset => 8,
        Of::Packed64_Int32 | Of::Packed64_Float32 | Of::Packed64_UInt8 | Of::Packed64_UInt16 => 8,
        Of::Packed64_Int8 | Of::Packed64_Int16 | Of::Packed64_UInt32 => 8,
        Of::Float80 => 10,
        Of::UInt128 | Of::Int128 | Of::Packed128_Float32 | Of::Packed128_Float64 => 16,
        Of::Packed128_UInt8 | Of::Packed128_UInt16 | Of::Packed128_UInt32 | Of::Packed128_UInt64 => 16,
        Of::Packed128_Int8 | Of::Packed128_Int16 | Of::Packed128_Int32 | Of::Packed128_Int64 => 16,
        _ => return Err(Why::Unusual),
    }))
}

/// The name of a function without what is added for a part of it.
fn stem(name: &str) -> &str {
    name.strip_suffix(".cold").unwrap_or(name)
}

fn datum(name: &str, start: u64, size: u64) -> Atom<'_> {
    Atom { start, size, name, sort: elf::STT_NOTYPE, code: vec![], handlers: None, is_unwound: false }
}

fn known(at: u64, sort: u32, target: Target<'_>) -> Relocation<'_> {
    Relocation { at, sort, symbol: 0, addend: 0, known: Some(target) }
}
