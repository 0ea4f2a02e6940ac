//! What DWARF says of where a file comes from: of each unit its version and its root's `DW_AT_producer`, and nothing else.
//! Units are looked at one by one, so that gigabytes of DWARF need no gigabytes of memory; only what is compressed, or
//! not linked yet, is held as a whole.

use super::elf::Elf;
use super::error::{Broken, In as _};
use super::strings::{Strings, text};
use crate::facts::Origin;
use gimli::{AttributeValue, DebugAbbrev, DebugInfo, EndianSlice, RunTimeEndian};
use object::elf;
use object::endian::Endianness;
use object::read::ReadRef;
use object::read::elf::{CompressionHeader as _, FileHeader, Rel as _, Rela as _, SectionHeader, Sym as _};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::Read as _;

/// A section that is larger, once unpacked, is not unpacked.
const UNPACKED_MAX_BYTES: u64 = 1 << 30;
/// A root is rarely larger; the first look at one is at so many bytes.
const ROOT_USUAL_BYTES: u64 = 1024;
/// What may be looked at to find the abbreviations of all roots, for each byte of them. Compilers put the root's first.
const ABBREVIATIONS_LOOKED_AT_MAX: u64 = 64;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// A section of DWARF: where it is in the file, or what it is.
enum Contents<'d> {
    /// At this offset, of this size.
    Raw(u64, u64),
    Plain(Cow<'d, [u8]>),
}

impl Contents<'_> {
    fn size_bytes(&self) -> u64 {
        match self {
            Self::Raw(_, size) => *size,
            Self::Plain(bytes) => bytes.len() as u64,
        }
    }

    /// Bytes from an offset on: `size` of them, or as many as there are.
    fn bytes<'a, 'd: 'a, R: ReadRef<'d>>(&'a self, data: R, offset: u64, size: u64) -> Option<&'a [u8]> {
        let size = size.min(self.size_bytes().checked_sub(offset)?);
        match self {
            Self::Raw(start, _) => data.read_bytes_at(start.checked_add(offset)?, size).ok(),
            Self::Plain(bytes) => {
                let offset = usize::try_from(offset).ok()?;
                bytes.get(offset..offset.checked_add(usize::try_from(size).ok()?)?)
            }
        }
    }
}

/// Versions and producers of all units.
pub(super) fn read<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
    elf: &Elf<'d, H, R>,
    origin: &mut Origin,
) -> Result<(), Broken> {
    let one = |name: &'static str| -> Result<Cow<'d, [u8]>, Broken> {
        elf.sections_of(name).next().map_or(Ok(Cow::Borrowed(&[][..])), |section| whole(elf, section, name))
    };
    if elf.sections_of(".debug_info").next().is_none() {
        return Ok(());
    }
    let tables = Tables {
        endian: if elf.header.is_big_endian() { RunTimeEndian::Big } else { RunTimeEndian::Little },
        abbreviations: one(".debug_abbrev")?,
        strings: one(".debug_str")?,
        line_strings: one(".debug_line_str")?,
        offsets: one(".debug_str_offsets")?,
        taken: Strings::of(elf.data.len().unwrap_or(0).max(1 << 24)),
        left_bytes: Cell::new(0),
    };
    let looked_at = tables.abbreviations.len() as u64 * ABBREVIATIONS_LOOKED_AT_MAX;
    tables.left_bytes.set(looked_at.max(1 << 24));
    for section in elf.sections_of(".debug_info") {
        let compressed = section.sh_flags(elf.endian).0 & elf::SHF_COMPRESSED.0 != 0;
        let contents = match section.file_range(elf.endian) {
            Some((offset, size)) if !compressed && !elf.is_relocatable() => Contents::Raw(offset, size),
            _ => Contents::Plain(whole(elf, section, ".debug_info")?),
        };
        tables.units(elf.data, &contents, origin)?;
    }
    Ok(())
}

/// What all units share.
struct Tables<'d> {
    endian: RunTimeEndian,
    abbreviations: Cow<'d, [u8]>,
    strings: Cow<'d, [u8]>,
    line_strings: Cow<'d, [u8]>,
    offsets: Cow<'d, [u8]>,
    taken: Strings,
    left_bytes: Cell<u64>,
}

/// Where a unit's length ends, how long the unit is from there, and what stands in front of its root.
struct UnitHead {
    after_length: u64,
    length: u64,
    version: u16,
    abbreviations: u64,
    /// The place of the offset of the abbreviations, from the unit's beginning.
    at: usize,
    wide: bool,
    /// Bytes before the root, from the unit's beginning.
    size: usize,
}

impl Tables<'_> {
    fn units<'a, 'd: 'a, R: ReadRef<'d>>(
        &self,
        data: R,
        contents: &'a Contents<'d>,
        origin: &mut Origin,
    ) -> Result<(), Broken> {
        let mut offset = 0;
        while offset < contents.size_bytes() {
            let part = format!("the DWARF unit at {offset:#x}");
            let head = contents.bytes(data, offset, 64).and_then(|bytes| self.head(bytes)).within(&part)?;
            let end = head.after_length.checked_add(head.length).and_then(|size| offset.checked_add(size));
            let end = end.filter(|end| *end <= contents.size_bytes()).within(&part)?;
            // Padding of nothing but zeros is no unit.
            if head.length > 0 {
                let size = end - offset;
                let look = |size| contents.bytes(data, offset, size).within(&part);
                let mut producer = self.producer(look(size.min(ROOT_USUAL_BYTES))?, &head);
                if producer.is_err() && size > ROOT_USUAL_BYTES {
                    producer = self.producer(look(size)?, &head);
                }
                *origin.dwarf_units.entry(head.version).or_insert(0) += 1;
                if let Some(producer) = producer.map_err(|Broken(what)| Broken(format!("{part}: {what}")))? {
                    *origin.producers.entry(producer).or_insert(0) += 1;
                }
            }
            offset = end;
        }
        Ok(())
    }

    fn number(&self, bytes: &[u8], at: usize, size: usize) -> Option<u64> {
        let bytes = bytes.get(at..at.checked_add(size)?)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(match self.endian {
            RunTimeEndian::Big => bytes.iter().fold(0, add),
            RunTimeEndian::Little => bytes.iter().rev().fold(0, add),
        })
    }

    /// See DWARF 5, section 7.5.1.
    fn head(&self, bytes: &[u8]) -> Option<UnitHead> {
        let mut length = self.number(bytes, 0, 4)?;
        let wide = length == 0xffff_ffff;
        if wide {
            length = self.number(bytes, 4, 8)?;
        }
        let after_length = if wide { 12 } else { 4 };
        let word = if wide { 8 } else { 4 };
        if length == 0 {
            return Some(UnitHead { after_length: 4, length, version: 0, abbreviations: 0, at: 0, wide, size: 0 });
        }
        let version = self.number(bytes, after_length, 2)? as u16;
        let (at, size) = match version {
            2..=4 => (after_length + 2, after_length + 2 + word + 1),
            5 => {
                let beyond = match self.number(bytes, after_length + 2, 1)? as u8 {
                    0x04 | 0x05 => 8,
                    0x02 | 0x06 => 8 + word,
                    _ => 0,
                };
                (after_length + 4, after_length + 4 + word + beyond)
            }
            _ => return None,
        };
        let abbreviations = self.number(bytes, at, word)?;
        Some(UnitHead { after_length: after_length as u64, length, version, abbreviations, at, wide, size })
    }

    /// The producer that the root of a unit names; `bytes` are the unit, or its beginning.
    fn producer(&self, bytes: &[u8], head: &UnitHead) -> Result<Option<String>, Broken> {
        let part = "its root";
        let root = bytes.get(head.size..).within(part)?;
        let code = EndianSlice::new(root, self.endian).read_uleb128_of(part)?;
        if code == 0 {
            return Ok(None);
        }
        // gimli reads whole units and whole tables of abbreviations. It is given a unit that ends where these bytes
        // do, and a table of one.
        let mut unit = bytes.to_vec();
        let mut write = |at: usize, size: usize, value: u64| {
            let place = unit.get_mut(at..at + size)?;
            match self.endian {
                RunTimeEndian::Big => place.copy_from_slice(&value.to_be_bytes()[8 - size..]),
                RunTimeEndian::Little => place.copy_from_slice(&value.to_le_bytes()[..size]),
            }
            Some(())
        };
        let (at, word) = if head.wide { (4, 8) } else { (0, 4) };
        write(at, word, (bytes.len() as u64).saturating_sub(head.after_length)).within(part)?;
        write(head.at, word, 0).within(part)?;
        let table = self.abbreviation(head.abbreviations, code)?;
        let info = DebugInfo::new(&unit, self.endian);
        let unit = info.units().next().within(part)?.within(part)?;
        let abbreviations = unit.abbreviations(&DebugAbbrev::new(&table, self.endian)).within(part)?;
        let mut entries = unit.entries_raw(&abbreviations, None).within(part)?;
        let Some(abbreviation) = entries.read_abbreviation().within(part)? else { return Ok(None) };
        let (mut producer, mut base) = (None, None);
        for attribute in abbreviation.attributes() {
            let attribute = entries.read_attribute(*attribute).within(part)?;
            match attribute.name() {
                gimli::DW_AT_producer => producer = Some(attribute.value()),
                gimli::DW_AT_str_offsets_base => base = attribute.offset_value(),
                _ => {}
            }
        }
        producer.map_or(Ok(None), |value| self.text(value, base, head.wide))
    }

    /// The bytes of one abbreviation, and the zero that ends a table.
    fn abbreviation(&self, offset: u64, wanted: u64) -> Result<Vec<u8>, Broken> {
        let part = "its abbreviations";
        let table = usize::try_from(offset).ok().and_then(|offset| self.abbreviations.get(offset..)).within(part)?;
        let mut rest = EndianSlice::new(table, self.endian);
        loop {
            let begin = rest;
            let code = rest.read_uleb128_of(part)?;
            if code == 0 {
                return Err(Broken(format!("{part} have none with the number {wanted}")));
            }
            rest.read_uleb128_of(part)?;
            rest = EndianSlice::new(rest.slice().get(1..).within(part)?, self.endian);
            loop {
                let (name, form) = (rest.read_uleb128_of(part)?, rest.read_uleb128_of(part)?);
                if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                    rest.read_uleb128_of(part)?;
                }
                if (name, form) == (0, 0) {
                    break;
                }
            }
            let size = begin.slice().len() - rest.slice().len();
            self.left_bytes.set(self.left_bytes.get().checked_sub(size as u64).within(part)?);
            if code == wanted {
                return Ok(begin.slice()[..size].iter().copied().chain([0]).collect());
            }
        }
    }

    /// None if the text is in another file.
    fn text(
        &self,
        value: AttributeValue<Slice<'_>>,
        base: Option<usize>,
        wide: bool,
    ) -> Result<Option<String>, Broken> {
        let part = "its producer";
        let string = |table, offset| self.taken.get(table, offset, part).map(|bytes| Some(text(bytes)));
        match value {
            AttributeValue::String(bytes) => Ok(Some(text(bytes.slice()))),
            AttributeValue::DebugStrRef(offset) => string(&self.strings, offset.0 as u64),
            AttributeValue::DebugLineStrRef(offset) => string(&self.line_strings, offset.0 as u64),
            AttributeValue::DebugStrOffsetsIndex(index) => {
                let word = if wide { 8 } else { 4 };
                let at = index.0.checked_mul(word).and_then(|at| at.checked_add(base.unwrap_or(2 * word)));
                let offset = at.and_then(|at| self.number(&self.offsets, at, word)).within(part)?;
                string(&self.strings, offset)
            }
            _ => Ok(None),
        }
    }
}

/// LEB128 numbers, of which only the length matters where they are signed.
trait Leb {
    fn read_uleb128_of(&mut self, part: &str) -> Result<u64, Broken>;
}

impl Leb for Slice<'_> {
    fn read_uleb128_of(&mut self, part: &str) -> Result<u64, Broken> {
        let end = self.slice().iter().position(|byte| byte & 0x80 == 0).filter(|end| *end < 10).within(part)?;
        let (number, rest) = self.slice().split_at(end + 1);
        let value = number.iter().rev().fold(0u64, |sum, byte| sum << 7 | u64::from(byte & 0x7f));
        *self = EndianSlice::new(rest, gimli::Reader::endian(self));
        Ok(value)
    }
}

/// A section's bytes, unpacked if they are packed.
pub(super) fn plain<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
    elf: &Elf<'d, H, R>,
    section: &'d H::SectionHeader,
    name: &str,
) -> Result<Cow<'d, [u8]>, Broken> {
    let part = format!("section {name}");
    let Some((header, offset, size)) = section.compression(elf.endian, elf.data).within(&part)? else {
        return section.data(elf.endian, elf.data).within(&part).map(Cow::Borrowed);
    };
    let packed = elf.data.read_bytes_at(offset, size).ok().within(&part)?;
    let unpacked_bytes: u64 = header.ch_size(elf.endian).into();
    if unpacked_bytes > UNPACKED_MAX_BYTES {
        return Err(Broken(format!("{part} has {unpacked_bytes} bytes when it is unpacked")));
    }
    let unpack = |bytes: &mut Vec<u8>| match header.ch_type(elf.endian) {
        elf::ELFCOMPRESS_ZLIB => flate2::read::ZlibDecoder::new(packed).take(unpacked_bytes).read_to_end(bytes),
        elf::ELFCOMPRESS_ZSTD => {
            zstd::stream::read::Decoder::with_buffer(packed)?.take(unpacked_bytes).read_to_end(bytes)
        }
        other => Err(std::io::Error::other(format!("packed in the unknown way {}", other.0))),
    };
    let mut bytes = vec![];
    unpack(&mut bytes).map_err(|error| Broken(format!("{part}: {error}")))?;
    if bytes.len() as u64 != unpacked_bytes {
        return Err(Broken(format!("{part} has {} bytes when it is unpacked, not {unpacked_bytes}", bytes.len())));
    }
    Ok(Cow::Owned(bytes))
}

/// Like [`plain`], and where the file is not linked yet, with what the linker would fill in of offsets.
fn whole<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
    elf: &Elf<'d, H, R>,
    section: &'d H::SectionHeader,
    name: &str,
) -> Result<Cow<'d, [u8]>, Broken> {
    let mut bytes = plain(elf, section, name)?;
    if !elf.is_relocatable() {
        return Ok(bytes);
    }
    let (endian, data) = (elf.endian, elf.data);
    let part = format!("the relocations of {name}");
    for table in elf.sections {
        let applies = elf.sections.get(table.sh_info(endian) as usize).is_some_and(|this| std::ptr::eq(this, section));
        if !applies || !matches!(table.sh_type(endian), elf::SHT_RELA | elf::SHT_REL) {
            continue;
        }
        let symbols = elf.sections.get(table.sh_link(endian) as usize).within(&part)?;
        let symbols: &[H::Sym] = symbols.data_as_array(endian, data).within(&part)?;
        let value =
            |index: u32| symbols.get(index as usize).map_or(0, |symbol| Into::<u64>::into(symbol.st_value(endian)));
        let bytes = bytes.to_mut();
        if let Some((entries, _)) = table.rela(endian, data).within(&part)? {
            let is_mips64el = elf.header.is_mips64el(endian);
            for entry in entries {
                let Some(size) = width(elf.machine(), entry.r_type(endian, is_mips64el)) else { continue };
                let addend: i64 = entry.r_addend(endian).into();
                let filled = value(entry.r_sym(endian, is_mips64el)).wrapping_add_signed(addend);
                put(bytes, entry.r_offset(endian).into(), size, endian, |_| filled).within(&part)?;
            }
        } else if let Some((entries, _)) = table.rel(endian, data).within(&part)? {
            for entry in entries {
                let Some(size) = width(elf.machine(), entry.r_type(endian)) else { continue };
                let symbol = value(entry.r_sym(endian));
                put(bytes, entry.r_offset(endian).into(), size, endian, |old| old.wrapping_add(symbol))
                    .within(&part)?;
            }
        }
    }
    Ok(bytes)
}

/// Bytes of a relocation that is symbol plus addend, and nothing else.
fn width(machine: elf::Machine, kind: elf::RelocationType) -> Option<usize> {
    let (four, eight) = match machine {
        elf::EM_X86_64 => (elf::R_X86_64_32, Some(elf::R_X86_64_64)),
        elf::EM_386 => (elf::R_386_32, None),
        elf::EM_AARCH64 => (elf::R_AARCH64_ABS32, Some(elf::R_AARCH64_ABS64)),
        elf::EM_ARM => (elf::R_ARM_ABS32, None),
        elf::EM_RISCV => (elf::R_RISCV_32, Some(elf::R_RISCV_64)),
        elf::EM_PPC64 => (elf::R_PPC64_ADDR32, Some(elf::R_PPC64_ADDR64)),
        elf::EM_PPC => (elf::R_PPC_ADDR32, None),
        elf::EM_S390 => (elf::R_390_32, Some(elf::R_390_64)),
        _ => return None,
    };
    if kind == four { Some(4) } else { (Some(kind) == eight).then_some(8) }
}

/// Puts a number of `size` bytes in place of the old one.
fn put(bytes: &mut [u8], offset: u64, size: usize, endian: Endianness, new: impl Fn(u64) -> u64) -> Option<()> {
    let offset = usize::try_from(offset).ok()?;
    let place = bytes.get_mut(offset..offset.checked_add(size)?)?;
    let mut wide = [0; 8];
    match endian {
        Endianness::Little => {
            wide[..size].copy_from_slice(place);
            place.copy_from_slice(&new(u64::from_le_bytes(wide)).to_le_bytes()[..size]);
        }
        Endianness::Big => {
            wide[8 - size..].copy_from_slice(place);
            place.copy_from_slice(&new(u64::from_be_bytes(wide)).to_be_bytes()[8 - size..]);
        }
    }
    Some(())
}
