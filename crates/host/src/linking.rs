//! What an ELF file tells the dynamic loader: which libraries it cannot be run without, and where they are looked for
//! (gABI chapter 5). It is read from the segments, as the loader does. Files are hostile: of one that is broken nothing is
//! known, and no more is read of any than its headers, its dynamic segment and some names.

use object::elf::{self, FileHeader32, FileHeader64};
use object::endian::Endianness;
use object::read::elf::{Dyn as _, FileHeader, ProgramHeader as _};
use object::read::{ReadCache, ReadRef};
use std::fs::File;
use std::path::Path;

/// More libraries than anything needs.
const NEEDED_MAX: usize = 1 << 12;
/// Longer than any path, in bytes.
const NAME_MAX: u64 = 1 << 12;
/// More entries than any dynamic segment has, in bytes.
const DYNAMIC_MAX: u64 = 1 << 20;

/// What the file tells the loader.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Linking {
    /// The loader that the kernel starts first.
    pub(crate) interpreter: Option<String>,
    /// The libraries, in this order.
    pub(crate) needed: Vec<String>,
    /// Where they are before `LD_LIBRARY_PATH`.
    pub(crate) rpath: Option<String>,
    /// Where they are after `LD_LIBRARY_PATH`.
    pub(crate) runpath: Option<String>,
}

/// Of one ELF file; none of any other file, or one that cannot be read.
pub(crate) fn linking_of(path: &Path) -> Option<Linking> {
    // A pipe would make us wait for its writer.
    path.metadata().ok().filter(|about| about.is_file())?;
    let cache = ReadCache::new(File::open(path).ok()?);
    let ident = (&cache).read_bytes_at(0, 16).ok()?;
    if !ident.starts_with(b"\x7fELF") {
        return None;
    }
    match ident[4] {
        1 => read::<FileHeader32<Endianness>, _>(&cache),
        2 => read::<FileHeader64<Endianness>, _>(&cache),
        _ => None,
    }
}

fn read<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(data: R) -> Option<Linking> {
    let header = H::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    let of_type =
        |kind| segments.iter().find(|segment| segment.p_type(endian) == kind && segment.p_filesz(endian).into() > 0);
    let interpreter = of_type(elf::PT_INTERP).and_then(|segment| name_at(data, Some(segment.p_offset(endian).into())));
    let linking = Linking { interpreter, ..Linking::default() };
    let Some(dynamic) = of_type(elf::PT_DYNAMIC) else { return Some(linking) };
    if dynamic.p_filesz(endian).into() > DYNAMIC_MAX {
        return None;
    }
    let entries = dynamic.dynamic(endian, data).ok()??;
    let entries = entries.iter().map(|entry| (entry.tag(endian), entry.val(endian)));
    let entries: Vec<_> = entries.take_while(|(tag, _)| *tag != elf::DT_NULL).collect();
    let value = |wanted| entries.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value);
    let strings = value(elf::DT_STRTAB)?;
    // Addresses are those of memory; the segment that is loaded there says where it lies in the file.
    let offset = segments.iter().find_map(|segment| {
        let (address, size, offset): (u64, u64, u64) =
            (segment.p_vaddr(endian).into(), segment.p_filesz(endian).into(), segment.p_offset(endian).into());
        let within =
            strings.checked_sub(address).filter(|within| segment.p_type(endian) == elf::PT_LOAD && *within < size)?;
        offset.checked_add(within)
    })?;
    let needed = entries.iter().filter(|(tag, _)| *tag == elf::DT_NEEDED).take(NEEDED_MAX);
    Some(Linking {
        needed: needed.filter_map(|(_, at)| name_at(data, offset.checked_add(*at))).collect(),
        rpath: value(elf::DT_RPATH).and_then(|at| name_at(data, offset.checked_add(at))),
        runpath: value(elf::DT_RUNPATH).and_then(|at| name_at(data, offset.checked_add(at))),
        ..linking
    })
}

fn name_at<'d>(data: impl ReadRef<'d>, offset: Option<u64>) -> Option<String> {
    let offset = offset?;
    let name = data.read_bytes_at_until(offset..offset.checked_add(NAME_MAX)?, 0).ok()?;
    Some(String::from_utf8_lossy(name).into_owned())
}
