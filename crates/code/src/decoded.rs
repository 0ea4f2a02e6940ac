//! Machine code as it is compared: the instructions of each function, and what each refers to. An address that the assembler
//! knew has no relocation; there the instruction says what it means.

use crate::answer::Why;
use crate::nouns::{Instruction, Kind, Reference, Section, Symbol, Target};
use iced_x86::{Decoder, DecoderOptions, Instruction as Known, Mnemonic, OpKind};

/// Assemblers fill up to a multiple of 8 bytes at least; another `nop` was written by someone.
const FILLED_TO: u64 = 8;

/// An assembler's `nop` is at least that long, but for the last one of a run.
const LONG_FILL: usize = 8;

/// What may be the last instruction of a function: what is behind it is not run next.
const ENDS: [Mnemonic; 8] = [
    Mnemonic::Jmp,
    Mnemonic::Ret,
    Mnemonic::Retf,
    Mnemonic::Call,
    Mnemonic::Ud2,
    Mnemonic::Hlt,
    Mnemonic::Int3,
    Mnemonic::Int,
];

/// Decodes the functions of all sections, and marks what is referred to.
pub(crate) fn decode<'a>(sections: &mut [Section<'a>], symbols: &[Symbol<'a>]) -> Result<(), Why> {
    let mut targets = vec![];
    for number in 0..sections.len() {
        let section = &sections[number];
        if section.kind == Kind::Left {
            continue;
        }
        if section.kind != Kind::Code {
            let absolute = section.relocations.iter().filter(|one| !one.is_relative());
            for one in absolute {
                targets.push(one.target(sections, symbols, 0)?);
            }
            continue;
        }
        let mut codes = vec![];
        let mut end = 0;
        for atom in &section.atoms {
            only_fills(section.bytes(end, atom.start))?;
            end = atom.start + atom.size;
            codes.push(function(number, [atom.start, end], sections, symbols)?);
        }
        only_fills(section.bytes(end, section.size))?;
        let references = codes.iter().flatten().flat_map(|instruction| &instruction.references);
        targets.extend(references.map(|reference| reference.target));
        for (atom, code) in sections[number].atoms.iter_mut().zip(codes) {
            atom.code = code;
        }
    }
    for target in targets {
        if let Target::Place { section, at, .. } = target {
            sections[section].marks.extend(u64::try_from(at));
        }
    }
    for section in sections {
        section.marks.sort_unstable();
        section.marks.dedup();
    }
    Ok(())
}

/// Between functions there may be nothing that is run.
fn only_fills(bytes: &[u8]) -> Result<(), Why> {
    let fills = |known: Known| known.mnemonic() == Mnemonic::Nop || known.mnemonic() == Mnemonic::Int3;
    let is_empty = bytes.iter().all(|byte| *byte == 0);
    let all = || Decoder::new(64, bytes, DecoderOptions::NONE).into_iter().all(fills);
    if is_empty || all() { Ok(()) } else { Err(Why::Unnamed) }
}

fn function<'a>(
    number: usize,
    [start, end]: [u64; 2],
    sections: &[Section<'a>],
    symbols: &[Symbol<'a>],
) -> Result<Vec<Instruction<'a>>, Why> {
    let section = &sections[number];
    let bytes = section.bytes(start, end);
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    let mut code: Vec<Instruction<'a>> = vec![];
    let mut known = Known::default();
    let mut last = Mnemonic::INVALID;
    while decoder.can_decode() {
        decoder.decode_out(&mut known);
        if known.is_invalid() {
            return Err(Why::Unusual);
        }
        let (at, next) = (known.ip(), known.next_ip());
        let mut references = vec![];
        for one in section.relocations(at, next) {
            let from = (one.at - at) as usize;
            let to = from + one.length() as usize;
            if to > known.len() {
                return Err(Why::Unusual);
            }
            let fix = if one.is_relative() { (next - one.at) as i64 } else { 0 };
            let target = one.target(sections, symbols, fix)?;
            references.push(Reference { from, to, sort: Some(one.sort), target });
        }
        let branch = (known.op0_kind() == OpKind::NearBranch64).then(|| known.mnemonic());
        let fields = decoder.get_constant_offsets(&known);
        let here = |at: u64| Target::Place { section: number, at: at as i64, plus: 0 };
        let mut add = |from: usize, size: usize, target| {
            if references.iter().all(|reference| reference.from != from) {
                references.push(Reference { from, to: from + size, sort: None, target });
            }
        };
        if branch.is_some() {
            add(fields.immediate_offset(), fields.immediate_size(), here(known.near_branch_target()));
        }
        if known.is_ip_rel_memory_operand() {
            add(fields.displacement_offset(), fields.displacement_size(), here(known.ip_rel_memory_address()));
        }
        let bytes = section.bytes(at, next);
        let fills = known.mnemonic() == Mnemonic::Nop && references.is_empty();
        last = if fills { last } else { known.mnemonic() };
        code.push(Instruction { at, bytes, index: 0, fills, branch, references });
    }
    if !ENDS.contains(&last) {
        return Err(Why::Unnamed);
    }
    number_them(&mut code, end, section);
    Ok(code)
}

/// Numbers the instructions that do something.
fn number_them(code: &mut [Instruction<'_>], end: u64, section: &Section<'_>) {
    let mut next = end;
    let mut run = 0;
    for at in (0..code.len()).rev() {
        // A run of them fills if its end is aligned, and it has no more of them than an assembler needs.
        if !code[at].fills {
            (next, run) = (code[at].at, 0);
            continue;
        }
        run += 1;
        let length = (next - code[at].at) as usize;
        let alignment = section.alignment(next);
        code[at].fills = alignment >= FILLED_TO && (length as u64) < alignment && run <= length / LONG_FILL + 1;
        if !code[at].fills {
            // The ones behind it are no fill, either.
            code[at..].iter_mut().take(run).for_each(|instruction| instruction.fills = false);
            (next, run) = (code[at].at, 0);
        }
    }
    let mut index = 0;
    for instruction in code {
        instruction.index = index;
        index += usize::from(!instruction.fills);
    }
}
