//! What is compared: sections with the functions and data in them, and what their addresses mean.

use crate::answer::Why;
use iced_x86::Mnemonic;
use object::elf;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Relocations whose value is a distance from their place, in x86-64's ABI.
const RELATIVE: [u32; 15] = [2, 4, 9, 13, 15, 19, 20, 22, 24, 26, 28, 29, 34, 41, 42];
pub(crate) struct Object<'a> {
    pub(crate) name: &'a str,
    pub(crate) content: &'a [u8],
    pub(crate) sections: Vec<Section<'a>>,
    pub(crate) symbols: Vec<Symbol<'a>>,
    /// The functions that handle exceptions of its languages.
    pub(crate) personalities: BTreeSet<&'a str>,
    /// Why it cannot be compared with another one.
    pub(crate) problem: Option<Why>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// Not loaded, or of no effect on what is computed.
    #[default]
    Left,
    Code,
    /// Texts that a linker merges.
    Strings,
    /// Constants that a linker merges.
    Constants,
    Data,
    /// What is run or read as a whole.
    Whole,
}

#[derive(Default)]
pub(crate) struct Section<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: Kind,
    pub(crate) flags: u64,
    /// Whether it can be written only by the loader.
    pub(crate) is_sealed: bool,
    /// Whether it has no bytes in the file.
    pub(crate) is_zero: bool,
    /// The size of an element.
    pub(crate) unit: u64,
    pub(crate) align: u64,
    pub(crate) size: u64,
    pub(crate) data: &'a [u8],
    pub(crate) relocations: Vec<Relocation<'a>>,
    /// Of sections with the same signature, a linker takes the first.
    pub(crate) signature: Option<&'a str>,
    /// By their places; they do not overlap.
    pub(crate) atoms: Vec<Atom<'a>>,
    /// Where something begins, in order.
    pub(crate) marks: Vec<u64>,
    /// Places that something refers to which may mean what is behind them.
    pub(crate) doubts: Vec<Doubt>,
}

/// A function or a datum.
pub(crate) struct Atom<'a> {
    pub(crate) start: u64,
    pub(crate) size: u64,
    pub(crate) name: &'a str,
    pub(crate) sort: elf::SymbolType,
    pub(crate) code: Vec<Instruction<'a>>,
    /// What catches its exceptions.
    pub(crate) handlers: Option<Target<'a>>,
    /// Whether exceptions can pass it.
    pub(crate) is_unwound: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Undefined,
    Common,
    In(usize),
}

pub(crate) struct Symbol<'a> {
    pub(crate) name: &'a str,
    /// The source file of one that only its own object sees, where a linked file has many of them.
    pub(crate) file: &'a str,
    pub(crate) place: Place,
    pub(crate) value: u64,
    pub(crate) size: u64,
    pub(crate) sort: elf::SymbolType,
    pub(crate) bind: elf::SymbolBind,
    pub(crate) visibility: elf::SymbolVisibility,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Relocation<'a> {
    pub(crate) at: u64,
    pub(crate) sort: u32,
    pub(crate) symbol: usize,
    pub(crate) addend: i64,
    /// What it means, if that was found otherwise.
    pub(crate) known: Option<Target<'a>>,
}

/// What an address means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target<'a> {
    /// A symbol that all parts see, and a distance from it.
    Named(&'a str, i64),
    /// A place in a section of this object; of what a linker merges, a distance from it besides.
    Place { section: usize, at: i64, plus: i64 },
    /// A text or constant without a name.
    Content(&'a [u8]),
    /// A place in front of the datum that is next: its section and place, and how far it is; or one in the datum that is there: its
    /// section and place, and how far from that; or this text.
    Near { next: (usize, u64), distance: u64, in_datum: Option<(usize, u64, u64)>, text: &'a [u8] },
}

/// An address that is taken and may be in front of its datum, although it is in another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doubt {
    /// Its place in the section; less than 0, if it is in front of all of it.
    pub(crate) at: i64,
    /// Whether another datum begins there.
    pub(crate) is_start: bool,
}

impl Doubt {
    /// Whether it may be what an index of that datum is added to that does not begin at 0, but at most at a letter's number.
    pub(crate) fn may_mean(self, datum: &Atom<'_>) -> bool {
        const LARGEST: u64 = 128;
        const NEAR: u64 = 16;
        let distance = (datum.start as i64).wrapping_sub(self.at);
        let Some(distance) = u64::try_from(distance).ok().filter(|distance| *distance > 0) else { return false };
        let element = 1 << (distance | datum.size).trailing_zeros().min(5);
        distance <= if self.is_start { NEAR } else { LARGEST * element }
    }
}

impl<'a> Relocation<'a> {
    pub(crate) fn is_relative(&self) -> bool {
        RELATIVE.contains(&self.sort)
    }

    /// In bytes, by the ABI of x86-64.
    pub(crate) fn length(&self) -> u64 {
        match self.sort {
            0 | 5 | 35 => 0,
            14 | 15 => 1,
            12 | 13 => 2,
            1 | 6..=8 | 16..=18 | 24 | 25 | 27..=31 | 33 => 8,
            _ => 4,
        }
    }

    /// What it means; `fix` is added to its addend.
    pub(crate) fn target(&self, sections: &[Section<'a>], symbols: &[Symbol<'a>], fix: i64) -> Result<Target<'a>, Why> {
        if let Some(known) = self.known {
            return Ok(known);
        }
        let symbol = symbols.get(self.symbol).ok_or(Why::Unusual)?;
        let addend = self.addend.wrapping_add(fix);
        if self.symbol == 0 || symbol.is_global() {
            return Ok(Target::Named(symbol.name, addend));
        }
        let Place::In(section) = symbol.place else { return Err(Why::Unusual) };
        let is_merged = matches!(sections[section].kind, Kind::Strings | Kind::Constants);
        let value = symbol.value as i64;
        Ok(match symbol.sort == elf::STT_SECTION {
            // What a linker does with it depends on a distance that is no part of the meaning.
            true if is_merged && self.is_relative() => return Err(Why::Unusual),
            false if is_merged => Target::Place { section, at: value, plus: addend },
            _ => Target::Place { section, at: value.wrapping_add(addend), plus: 0 },
        })
    }
}

impl Symbol<'_> {
    pub(crate) fn section(&self) -> Option<usize> {
        if let Place::In(section) = self.place { Some(section) } else { None }
    }

    pub(crate) fn is_global(&self) -> bool {
        self.bind != elf::STB_LOCAL
    }

    pub(crate) fn is_named_thing(&self) -> bool {
        [elf::STT_FUNC, elf::STT_OBJECT, elf::STT_TLS, elf::STT_GNU_IFUNC].contains(&self.sort)
    }
}

impl<'a> Section<'a> {
    /// The atom that begins there.
    pub(crate) fn atom(&self, start: u64) -> Option<&Atom<'a>> {
        self.atoms.binary_search_by_key(&start, |atom| atom.start).ok().map(|found| &self.atoms[found])
    }

    /// The atom that this place is in.
    pub(crate) fn around(&self, at: u64) -> Option<&Atom<'a>> {
        let before = self.atoms.partition_point(|atom| atom.start <= at).checked_sub(1)?;
        Some(&self.atoms[before]).filter(|atom| at < atom.start + atom.size.max(1))
    }

    /// The atom that ends there.
    pub(crate) fn before(&self, end: u64) -> Option<&Atom<'a>> {
        self.atoms.binary_search_by_key(&end, |atom| atom.start + atom.size).ok().map(|found| &self.atoms[found])
    }

    /// Where a datum ends that begins there: without a name, where the next thing begins that something refers to.
    pub(crate) fn end(&self, start: u64) -> u64 {
        if let Some(atom) = self.atom(start) {
            return start + atom.size;
        }
        let next = self.marks.partition_point(|mark| *mark <= start);
        self.marks.get(next).copied().unwrap_or(self.size).min(self.size)
    }

    /// The alignment of what begins there, as far as it is known.
    pub(crate) fn alignment(&self, at: u64) -> u64 {
        if at == 0 { self.align } else { self.align.min(1 << at.trailing_zeros()) }
    }

    /// The relocations from one place to another.
    pub(crate) fn relocations(&self, from: u64, to: u64) -> &[Relocation<'a>] {
        let place = |limit: u64| self.relocations.partition_point(|one| one.at < limit);
        &self.relocations[place(from)..place(to).max(place(from))]
    }

    /// The bytes there, with those that mean an address as zeros.
    pub(crate) fn plain(&self, from: u64, to: u64) -> Cow<'a, [u8]> {
        let (bytes, relocations) = (self.bytes(from, to), self.relocations(from, to));
        if bytes.is_empty() || relocations.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut bytes = bytes.to_vec();
        for one in relocations {
            let at = (one.at - from) as usize;
            let end = (at + one.length() as usize).min(bytes.len());
            bytes[at..end].fill(0);
        }
        Cow::Owned(bytes)
    }

    /// The bytes there; none where it has none in the file.
    pub(crate) fn bytes(&self, from: u64, to: u64) -> &'a [u8] {
        self.data.get(from as usize..to as usize).unwrap_or_default()
    }
}

pub(crate) struct Instruction<'a> {
    pub(crate) at: u64,
    pub(crate) bytes: &'a [u8],
    /// How many instructions of the function are before it.
    pub(crate) index: usize,
    /// Whether it only fills up, so that the next one is aligned.
    pub(crate) fills: bool,
    /// What kind of branch it is, if its target is in it: how far it is decides how long it is.
    pub(crate) branch: Option<Mnemonic>,
    pub(crate) references: Vec<Reference<'a>>,
}

/// Bytes of an instruction that mean an address.
pub(crate) struct Reference<'a> {
    /// Where they are in the instruction.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The relocation's kind.
    pub(crate) sort: Option<u32>,
    pub(crate) target: Target<'a>,
}

/// Bytes in front of a branch that change it.
const PREFIXES: [u8; 8] = [0xf2, 0xf3, 0x2e, 0x3e, 0x66, 0x64, 0x65, 0x67];

impl Instruction<'_> {
    pub(crate) fn prefixes(&self) -> &[u8] {
        let end = self.bytes.iter().position(|byte| !PREFIXES.contains(byte)).unwrap_or(self.bytes.len());
        &self.bytes[..end]
    }

    /// Its bytes, with those that mean an address as zeros.
    pub(crate) fn rest(&self) -> Vec<u8> {
        let mut bytes = self.bytes.to_vec();
        self.references.iter().for_each(|one| bytes[one.from..one.to].fill(0));
        bytes
    }
}

impl Atom<'_> {
    /// How many instructions are before the one that begins there.
    pub(crate) fn instruction(&self, at: u64) -> Option<usize> {
        if at == self.start + self.size {
            return Some(usize::MAX);
        }
        let found = self.code.binary_search_by_key(&at, |instruction| instruction.at).ok()?;
        Some(self.code[found].index)
    }
}
