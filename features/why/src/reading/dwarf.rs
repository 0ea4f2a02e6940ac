//! What DWARF says of where a file comes from: of each unit its version and its root's `DW_AT_producer`, and nothing
//! else. Units are looked at one by one, so that gigabytes of DWARF need no gigabytes of memory; only what is
//! compressed, or not linked yet, is held as a whole.

use super::elf::Elf;
use super::error::{Broken, In as _};
use super::strings::{Strings, text};
use crate::facts::Origin;
use gimli::{
    AttributeValue, DebugAbbrev, DebugAbbrevOffset, DebugInfo, DebugStrOffsets, DebugStrOffsetsBase, EndianSlice,
    Format, Reader as _, RunTimeEndian,
};
use object::elf;
use object::endian::Endianness;
use object::read::ReadRef;
use object::read::elf::{CompressionHeader as _, FileHeader, Rel as _, Rela as _, SectionHeader, Sym as _};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::Read as _;

/// A section that is larger, once unpacked, is not unpacked.
const UNPACKED_MAX_BYTES: u64 = 1 << 30;
/// A root is rarely larger; the first look at one takes this many bytes.
const ROOT_USUAL_BYTES: u64 = 1024;
/// What says how long a unit is takes no more.
const LENGTH_MAX_BYTES: u64 = 12;
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
            let (length, format) = contents
                .bytes(data, offset, LENGTH_MAX_BYTES)
                .and_then(|bytes| EndianSlice::new(bytes, self.endian).read_initial_length().ok())
                .within(&part)?;
            let end = offset.checked_add(format.initial_length_size().into());
            let end = end.and_then(|begin| begin.checked_add(length as u64));
            let end = end.filter(|end| *end <= contents.size_bytes()).within(&part)?;
            // Padding of nothing but zeros is no unit.
            if length > 0 {
                let size = end - offset;
                let look = |size| contents.bytes(data, offset, size).within(&part);
                let mut unit = self.unit(look(size.min(ROOT_USUAL_BYTES))?, format);
                if unit.is_err() && size > ROOT_USUAL_BYTES {
                    unit = self.unit(look(size)?, format);
                }
                let (version, producer) = unit.map_err(|Broken(what)| Broken(format!("{part}: {what}")))?;
                *origin.dwarf_units.entry(version).or_insert(0) += 1;
                if let Some(producer) = producer {
                    *origin.producers.entry(producer).or_insert(0) += 1;
                }
            }
            offset = end;
        }
        Ok(())
    }

    /// The version of a unit and the producer that its root names; `bytes` are the unit, or its beginning.
    fn unit(&self, bytes: &[u8], format: Format) -> Result<(u16, Option<String>), Broken> {
        let part = "its root";
        // gimli reads whole units and whole tables of abbreviations. It is given a unit that ends where these bytes
        // do, and a table of one.
        let mut bytes = bytes.to_vec();
        let (begin, word) = (usize::from(format.initial_length_size()), usize::from(format.word_size()));
        let length = bytes.len().checked_sub(begin).within(part)? as u64;
        let place = bytes.get_mut(begin - word..begin).within(part)?;
        match self.endian {
            RunTimeEndian::Big => place.copy_from_slice(&length.to_be_bytes()[8 - word..]),
            RunTimeEndian::Little => place.copy_from_slice(&length.to_le_bytes()[..word]),
        }
        let unit = DebugInfo::new(&bytes, self.endian).units().next().within(part)?.within(part)?;
        let root = bytes.get(unit.header_size()..).within(part)?;
        let code = EndianSlice::new(root, self.endian).read_uleb128().within(part)?;
        if code == 0 {
            return Ok((unit.version(), None));
        }
        let table = self.abbreviation(unit.debug_abbrev_offset(), code)?;
        let abbreviations = DebugAbbrev::new(&table, self.endian).abbreviations(DebugAbbrevOffset(0)).within(part)?;
        let mut entries = unit.entries_raw(&abbreviations, None).within(part)?;
        let (mut producer, mut base) = (None, None);
        for attribute in entries.read_abbreviation().within(part)?.within(part)?.attributes() {
            let attribute = entries.read_attribute(*attribute).within(part)?;
            match attribute.name() {
                gimli::DW_AT_producer => producer = Some(attribute.value()),
                gimli::DW_AT_str_offsets_base => base = attribute.offset_value(),
                _ => {}
            }
        }
        let producer = producer.map_or(Ok(None), |value| self.text(value, base, format))?;
        Ok((unit.version(), producer))
    }

    /// The bytes of one abbreviation, and the zero that ends a table.
    fn abbreviation(&self, offset: DebugAbbrevOffset, wanted: u64) -> Result<Vec<u8>, Broken> {
        let part = "its abbreviations";
        let table = self.abbreviations.get(offset.0..).within(part)?;
        let mut rest = EndianSlice::new(table, self.endian);
        loop {
            let begin = rest;
            let code = rest.read_uleb128().within(part)?;
            if code == 0 {
                return Err(Broken(format!("{part} have no entry with the number {wanted}")));
            }
            // Its tag, and whether it has children.
            rest.skip_leb128().within(part)?;
            rest.skip(1).within(part)?;
            loop {
                let (name, form) = (rest.read_uleb128().within(part)?, rest.read_uleb128().within(part)?);
                if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                    rest.skip_leb128().within(part)?;
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
        format: Format,
    ) -> Result<Option<String>, Broken> {
        let part = "its producer";
        let string = |table, offset| self.taken.get(table, offset, part).map(|bytes| Some(text(bytes)));
        match value {
            AttributeValue::String(bytes) => Ok(Some(text(bytes.slice()))),
            AttributeValue::DebugStrRef(offset) => string(&self.strings, offset.0 as u64),
            AttributeValue::DebugLineStrRef(offset) => string(&self.line_strings, offset.0 as u64),
            AttributeValue::DebugStrOffsetsIndex(index) => {
                // Behind the table's head, which takes two words.
                let base = DebugStrOffsetsBase(base.unwrap_or(2 * usize::from(format.word_size())));
                let offsets = DebugStrOffsets::from(EndianSlice::new(&self.offsets, self.endian));
                let offset = offsets.get_str_offset(format, base, index).within(part)?.0 as u64;
                string(&self.strings, offset)
            }
            _ => Ok(None),
        }
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
        return Err(Broken(format!("{part} is too large: it unpacks to {unpacked_bytes} bytes")));
    }
    let unpack = |bytes: &mut Vec<u8>| match header.ch_type(elf.endian) {
        elf::ELFCOMPRESS_ZLIB => flate2::read::ZlibDecoder::new(packed).take(unpacked_bytes).read_to_end(bytes),
        elf::ELFCOMPRESS_ZSTD => {
            zstd::stream::read::Decoder::with_buffer(packed)?.take(unpacked_bytes).read_to_end(bytes)
        }
        other => Err(std::io::Error::other(format!("unknown compression method {}", other.0))),
    };
    let mut bytes = vec![];
    unpack(&mut bytes).map_err(|error| Broken(format!("{part}: {error}")))?;
    if bytes.len() as u64 != unpacked_bytes {
        return Err(Broken(format!("{part} unpacks to {} bytes, not {unpacked_bytes}", bytes.len())));
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
