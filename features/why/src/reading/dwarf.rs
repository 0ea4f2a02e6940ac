//! What DWARF says of where a file comes from: of each unit its version and its root's `DW_AT_producer`, and nothing else.

use super::elf::Elf;
use super::error::{Broken, In as _};
use super::strings::{Strings, text};
use crate::facts::Origin;
use gimli::{
    AttributeValue, DebugAbbrev, DebugAbbrevOffset, DebugInfo, DebugInfoOffset, DebugStrOffsets, DebugStrOffsetsBase,
    EndianSlice, Relocate, RelocateReader, RunTimeEndian, UnitHeader,
};
use object::endian::Endianness;
use object::read::elf::{ElfFile, FileHeader};
use object::read::{CompressionFormat, Object as _, ObjectSection, ReadRef, RelocationMap, SectionIndex};
use std::borrow::Cow;
use std::io::Read as _;

/// A section that is larger, once unpacked, is not unpacked.
const UNPACKED_MAX_BYTES: u64 = 1 << 30;

/// A section's bytes, and, where the file is not linked yet, what a linker would fill in of them.
#[derive(Default)]
struct Section<'d> {
    bytes: Cow<'d, [u8]>,
    filled: Filled,
}

#[derive(Debug, Default)]
struct Filled(RelocationMap);

impl Relocate for &Filled {
    fn relocate_address(&self, offset: usize, value: u64) -> gimli::Result<u64> {
        Ok(self.0.relocate(offset as u64, value))
    }

    fn relocate_offset(&self, offset: usize, value: usize) -> gimli::Result<usize> {
        Ok(self.0.relocate(offset as u64, value as u64) as usize)
    }
}

type Reader<'a> = RelocateReader<EndianSlice<'a, RunTimeEndian>, &'a Filled>;

impl Section<'_> {
    fn reader(&self, endian: RunTimeEndian) -> Reader<'_> {
        RelocateReader::new(EndianSlice::new(&self.bytes, endian), &self.filled)
    }
}

/// Versions and producers of all units.
pub(super) fn read<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
    elf: &Elf<'d, H, R>,
    origin: &mut Origin,
) -> Result<(), Broken> {
    if elf.sections_of(".debug_info").next().is_none() {
        return Ok(());
    }
    let file = ElfFile::<H, R>::parse(elf.data).within("the sections of DWARF")?;
    let all = |name: &'static str| {
        // By our own names: each of object's would be charged as the rest of the table.
        let named = (0..).zip(elf.named()).filter(move |(_, (this, _))| *this == name.as_bytes());
        named.map(|(place, _)| {
            let section = file.section_by_index(SectionIndex(place)).within(name)?;
            let mut filled = RelocationMap::default();
            for (offset, relocation) in section.relocations().filter(|_| elf.is_relocatable()) {
                // Of others than symbol plus addend nothing is in what is read here.
                let _ = filled.add(&file, offset, relocation);
            }
            Ok(Section { bytes: unpacked(&section, name)?, filled: Filled(filled) })
        })
    };
    let one = |name| all(name).next().unwrap_or_else(|| Ok(Section::default()));
    let tables = Tables {
        endian: if elf.header.is_big_endian() { RunTimeEndian::Big } else { RunTimeEndian::Little },
        abbreviations: one(".debug_abbrev")?,
        strings: one(".debug_str")?,
        line_strings: one(".debug_line_str")?,
        offsets: one(".debug_str_offsets")?,
        taken: Strings::of(elf.data.len().unwrap_or(0).max(1 << 24)),
    };
    all(".debug_info").try_for_each(|section| tables.units(&section?, origin))
}

/// What all units share.
struct Tables<'d> {
    endian: RunTimeEndian,
    abbreviations: Section<'d>,
    strings: Section<'d>,
    line_strings: Section<'d>,
    offsets: Section<'d>,
    taken: Strings,
}

impl Tables<'_> {
    fn units(&self, section: &Section<'_>, origin: &mut Origin) -> Result<(), Broken> {
        let (info, mut units, mut offset) = (DebugInfo::from(section.reader(self.endian)), vec![], 0);
        while offset < section.bytes.len() {
            // Padding of nothing but zeros is not a unit.
            if section.bytes[offset..].starts_with(&[0; 4]) {
                offset += 4;
                continue;
            }
            let part = format!("the DWARF unit at {offset:#x}");
            let unit = info.header_from_offset(DebugInfoOffset(offset)).within(&part)?;
            offset += unit.length_including_self();
            units.push((part, unit));
        }
        // No table reaches into the next, so each byte is read once, however many units begin a table of their own in it.
        units.sort_by_key(|(_, unit)| unit.debug_abbrev_offset().0);
        let mut ends: Vec<usize> = units.iter().map(|(_, unit)| unit.debug_abbrev_offset().0).collect();
        ends.dedup();
        ends.push(self.abbreviations.bytes.len());
        let tables = units.chunk_by(|(_, a), (_, b)| a.debug_abbrev_offset() == b.debug_abbrev_offset());
        for (units, place) in tables.zip(ends.windows(2)) {
            let table = self.abbreviations.bytes.get(place[0]..place[1]).within("a table of abbreviations")?;
            let table = DebugAbbrev::new(table, self.endian).abbreviations(DebugAbbrevOffset(0));
            let table = table.within("a table of abbreviations")?;
            for (part, unit) in units {
                let producer = self.producer(unit, &table);
                let producer = producer.map_err(|Broken(what)| Broken(format!("{part}: {what}")))?;
                *origin.dwarf_units.entry(unit.version()).or_insert(0) += 1;
                if let Some(producer) = producer {
                    *origin.producers.entry(producer).or_insert(0) += 1;
                }
            }
        }
        Ok(())
    }

    /// The producer that a unit's root names; none if the text is in another file.
    fn producer(&self, unit: &UnitHeader<Reader<'_>>, table: &gimli::Abbreviations) -> Result<Option<String>, Broken> {
        let part = "its root";
        let mut entries = unit.entries_raw(table, None).within(part)?;
        let (mut producer, mut base) = (None, None);
        let root = entries.read_abbreviation().within(part)?;
        for attribute in root.iter().flat_map(|root| root.attributes()) {
            let attribute = entries.read_attribute(*attribute).within(part)?;
            match attribute.name() {
                gimli::DW_AT_producer => producer = Some(attribute.value()),
                gimli::DW_AT_str_offsets_base => base = attribute.offset_value(),
                _ => {}
            }
        }
        let string = |table: &Section<'_>, offset: usize| {
            self.taken.get(&table.bytes, offset as u64, "its producer").map(|bytes| Some(text(bytes)))
        };
        match producer {
            Some(AttributeValue::String(name)) => Ok(Some(text(name.inner().slice()))),
            Some(AttributeValue::DebugStrRef(offset)) => string(&self.strings, offset.0),
            Some(AttributeValue::DebugLineStrRef(offset)) => string(&self.line_strings, offset.0),
            Some(AttributeValue::DebugStrOffsetsIndex(index)) => {
                // Behind the table's head, which takes two words.
                let base = DebugStrOffsetsBase(base.unwrap_or(2 * usize::from(unit.format().word_size())));
                let offsets = DebugStrOffsets::from(self.offsets.reader(self.endian));
                string(&self.strings, offsets.get_str_offset(unit.format(), base, index).within(part)?.0)
            }
            _ => Ok(None),
        }
    }
}

/// A section's bytes, unpacked if they are packed.
pub(super) fn unpacked<'d>(section: &impl ObjectSection<'d>, name: &str) -> Result<Cow<'d, [u8]>, Broken> {
    let part = format!("section {name}");
    let packed = section.compressed_data().within(&part)?;
    let size = packed.uncompressed_size;
    if packed.format == CompressionFormat::None {
        return Ok(Cow::Borrowed(packed.data));
    }
    if size > UNPACKED_MAX_BYTES {
        return Err(Broken(format!("{part} has {size} bytes when it is unpacked")));
    }
    let mut bytes = vec![];
    let unpacked = match packed.format {
        CompressionFormat::Zlib => flate2::read::ZlibDecoder::new(packed.data).take(size).read_to_end(&mut bytes),
        CompressionFormat::Zstandard => zstd::stream::read::Decoder::with_buffer(packed.data)
            .and_then(|decoder| decoder.take(size).read_to_end(&mut bytes)),
        _ => Err(std::io::Error::other("it is packed in an unknown way")),
    };
    unpacked.map_err(|error| Broken(format!("{part}: {error}")))?;
    if bytes.len() as u64 != size {
        return Err(Broken(format!("{part} has {} bytes when it is unpacked, not {size}", bytes.len())));
    }
    Ok(Cow::Owned(bytes))
}
