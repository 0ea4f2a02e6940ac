//! A program or library as far as counting needs it: which function is at an address, which of its code are stubs, and the
//! bytes of its code. Of a stripped file the symbols may be in a file of its own, which is found by the build ID.

use super::dump::Mapped;
use super::plt::{OwnAddresses, Stub, stubs};
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _, SymbolKind, SymbolSection, elf};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Where distributions put symbols that they have taken out of files, by build ID.
const DEBUG: &str = "/usr/lib/debug/.build-id";

/// A symbol that has no size reaches at most this far.
const SIZELESS: u64 = 4096;

/// What is known of a file.
#[derive(Debug, Default)]
pub(super) struct Binary {
    /// Loaded parts that can be executed: offset in the file, address, length.
    segments: Vec<[u64; 3]>,
    /// Code, by address.
    code: Vec<(u64, Vec<u8>)>,
    pub(super) functions: Vec<Function>,
    pub(super) stubs: Vec<Stub>,
    pub(super) own_addresses: OwnAddresses,
    /// Where it always lies; empty if it may be moved.
    pub(super) fixed: Range<u64>,
}

/// A function by its symbol, or by what is said of its frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Empty if no symbol is there.
    pub(super) name: String,
    /// The source file, of a static function.
    pub(super) source: Option<String>,
}

/// What is at an address: a place in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
    Function(usize),
    Stub(usize),
    Nameless,
}

impl Binary {
    /// Reads a file; nothing is known of one that is not of this machine, or that was replaced since it was executed.
    pub(super) fn read(file: &Mapped) -> Self {
        let is_it = fs::metadata(&file.path).is_ok_and(|found| found.is_file() && found.ino() == file.inode);
        let content = if is_it { fs::read(&file.path).unwrap_or_default() } else { vec![] };
        let Ok(file) = ElfFile64::parse(&*content) else { return Self::default() };
        if file.architecture() != object::Architecture::X86_64 {
            return Self::default();
        }
        // Not by sections: a program may have none.
        let code = || file.segments().filter(|part| is_executable(part.flags()));
        let segments = code().map(|part| [part.file_range().0, part.address(), part.file_range().1]).collect();
        let code = code().filter_map(|part| Some((part.address(), part.data().ok()?.to_vec()))).collect();
        let (stubs, own_addresses) = stubs(&file);
        let functions = match symbols_elsewhere(&file).and_then(|path| fs::read(path).ok()) {
            Some(debug) => ElfFile64::parse(&*debug).map(|debug| functions(&debug)).unwrap_or_default(),
            None => vec![],
        };
        let functions = if functions.is_empty() { functions_of(&file) } else { functions };
        let functions = with_nameless(functions, &frames(&file));
        let is_fixed = file.kind() == object::ObjectKind::Executable;
        let all = file.segments().map(|part| part.address()..part.address().saturating_add(part.size()));
        let fixed = all.filter(|_| is_fixed).reduce(|one, other| one.start.min(other.start)..one.end.max(other.end));
        Self { segments, code, functions, stubs, own_addresses, fixed: fixed.unwrap_or_default() }
    }

    /// The address that a place in the file is loaded at, relative to the file.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        let is_in = |[start, _, length]: &&[u64; 3]| (*start..start.saturating_add(*length)).contains(&offset);
        let part = self.segments.iter().find(is_in)?;
        (offset - part[0]).checked_add(part[1])
    }

    /// The bytes from an address on, to the end of what is loaded with them.
    pub(super) fn bytes(&self, address: u64) -> &[u8] {
        let part = self
            .code
            .iter()
            .find(|(start, bytes)| (*start..start.saturating_add(bytes.len() as u64)).contains(&address));
        part.map_or(&[], |(start, bytes)| &bytes[(address - start) as usize..])
    }

    pub(super) fn at(&self, address: u64) -> At {
        let stub = self.stubs.partition_point(|stub| stub.start <= address).checked_sub(1);
        if let Some(stub) = stub.filter(|&stub| address < self.stubs[stub].end) {
            return At::Stub(stub);
        }
        let function = self.functions.partition_point(|function| function.start <= address).checked_sub(1);
        match function.filter(|&function| address < self.functions[function].end) {
            Some(function) => At::Function(function),
            None => At::Nameless,
        }
    }

    /// Whether what is at an address begins there.
    pub(super) fn begins(&self, what: At, address: u64) -> bool {
        match what {
            At::Function(function) => self.functions[function].start == address,
            At::Stub(stub) => self.stubs[stub].start == address,
            At::Nameless => false,
        }
    }
}

fn is_executable(flags: object::SegmentFlags) -> bool {
    matches!(flags, object::SegmentFlags::Elf { p_flags, .. } if p_flags.0 & elf::PF_X.0 != 0)
}

/// The file with the symbols that were taken out of this one.
fn symbols_elsewhere(file: &ElfFile64<'_>) -> Option<PathBuf> {
    if file.symbols().next().is_some() {
        return None;
    }
    let id: Vec<String> = file.build_id().ok()??.iter().map(|byte| format!("{byte:02x}")).collect();
    let (first, rest) = id.split_first()?;
    Some(Path::new(DEBUG).join(first).join(format!("{}.debug", rest.concat())))
}

/// The functions of a file; those that others may call, if it has no other symbols.
fn functions_of(file: &ElfFile64<'_>) -> Vec<Function> {
    let all = functions(file);
    if all.is_empty() { in_order(file.dynamic_symbols().filter_map(|symbol| named(&symbol, None))) } else { all }
}

/// Where code begins that can be unwound, in order: the table in front of the frames, as Linux Standard Base has it. Functions of
/// stripped programs are there, too.
fn frames(file: &ElfFile64<'_>) -> Vec<u64> {
    /// Its version, and encodings of its parts: a number of four bytes relative to here, a number of four bytes, and one
    /// relative to the table.
    const USUAL: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    let Some(section) = file.section_by_name(".eh_frame_hdr") else { return vec![] };
    let data = section.data().unwrap_or_default();
    if data.get(..4) != Some(&USUAL) {
        return vec![];
    }
    let word = |at: usize| data.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_le_bytes);
    let count = word(8).and_then(|count| usize::try_from(count).ok()).unwrap_or(0).min(data.len());
    let starts = (0..count).map_while(|number| word(12 + 8 * number));
    let mut starts: Vec<u64> = starts.map(|start| section.address().wrapping_add_signed(start.into())).collect();
    starts.sort_unstable();
    starts
}

/// Adds what begins between functions, up to the next one.
fn with_nameless(functions: Vec<Function>, starts: &[u64]) -> Vec<Function> {
    let is_free = |start: &u64| {
        let before = functions.partition_point(|function| function.start <= *start).checked_sub(1);
        before.is_none_or(|before| functions[before].end <= *start)
    };
    let nameless = starts.iter().copied().filter(is_free);
    let mut all: Vec<Function> =
        nameless.map(|start| Function { start, end: u64::MAX, name: String::new(), source: None }).collect();
    all.extend(functions);
    all.sort_by_key(|function| function.start);
    for at in 1..all.len() {
        let next = all[at].start;
        all[at - 1].end = all[at - 1].end.min(next);
    }
    all
}

fn functions(file: &ElfFile64<'_>) -> Vec<Function> {
    let mut source = None;
    in_order(file.symbols().filter_map(|symbol| {
        if symbol.kind() == SymbolKind::File {
            source = symbol.name().ok().filter(|name| !name.is_empty()).map(str::to_owned);
        }
        named(&symbol, source.as_ref().filter(|_| symbol.is_local()))
    }))
}

/// The function of a symbol, and whether its name is the one to use if there are several.
type Candidate = (Function, [bool; 2]);

fn named<'d>(symbol: &impl object::ObjectSymbol<'d>, source: Option<&String>) -> Option<Candidate> {
    let is_code = match symbol.flags() {
        object::SymbolFlags::Elf { st_info, .. } => {
            let sort = elf::SymbolInfo(st_info.0).st_type();
            [elf::STT_FUNC, elf::STT_GNU_IFUNC].contains(&sort)
                || sort == elf::STT_NOTYPE && matches!(symbol.section(), SymbolSection::Section(_))
        }
        _ => false,
    };
    let name = symbol.name().ok().filter(|name| is_code && !name.is_empty() && symbol.is_definition())?;
    // Versions are no part of a name.
    let name = name.split('@').next().unwrap_or(name).to_owned();
    let (start, size) = (symbol.address(), symbol.size());
    let order = [symbol.kind() != SymbolKind::Text, symbol.is_local()];
    Some((Function { start, end: start.saturating_add(size), name, source: source.cloned() }, order))
}

/// One function for each address, without overlaps.
fn in_order(all: impl Iterator<Item = Candidate>) -> Vec<Function> {
    let mut by_start: BTreeMap<u64, Candidate> = BTreeMap::new();
    let key = |(function, order): &Candidate| {
        let name = &function.name;
        let underscores = name.bytes().take_while(|byte| *byte == b'_').count();
        (*order, underscores, name.len(), name.clone())
    };
    for mut candidate in all {
        if let Some(known) = by_start.get_mut(&candidate.0.start) {
            let end = known.0.end.max(candidate.0.end);
            if key(&candidate) < key(known) {
                *known = candidate.clone();
            }
            known.0.end = end;
            continue;
        }
        let start = candidate.0.start;
        candidate.0.source = candidate.0.source.filter(|_| candidate.1[1]);
        by_start.insert(start, candidate);
    }
    let mut functions: Vec<Function> = by_start.into_values().map(|(function, _)| function).collect();
    for at in 0..functions.len() {
        let next = functions.get(at + 1).map_or(u64::MAX, |next| next.start);
        let function = &mut functions[at];
        let end = if function.end == function.start { function.start.saturating_add(SIZELESS) } else { function.end };
        function.end = end.min(next);
    }
    functions
}
