//! Pieces of sections: the next instruction of a function, a text, a constant, what is between zeros. Nothing is compared here.

use crate::nouns::{Instruction, Section};

/// The next instruction that does something, and how many bytes fill up in front of it.
pub(crate) fn next<'i, 'a>(code: &mut std::slice::Iter<'i, Instruction<'a>>) -> (usize, Option<&'i Instruction<'a>>) {
    let mut filled = 0;
    for instruction in code {
        if !instruction.fills {
            return (filled, Some(instruction));
        }
        filled += instruction.bytes.len();
    }
    (filled, None)
}

/// Bytes without the zeros around them.
pub(crate) fn without_zeros(bytes: &[u8]) -> &[u8] {
    let begin = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(begin, |last| last + 1);
    &bytes[begin..end]
}

/// The text that begins there, up to its zero.
pub(crate) fn text<'a>(section: &Section<'a>, at: u64) -> Option<&'a [u8]> {
    let (rest, unit) = (section.data.get(at as usize..)?, section.unit as usize);
    let end = rest.chunks_exact(unit).position(|letter| letter.iter().all(|byte| *byte == 0))?;
    Some(&rest[..end * unit])
}

/// The constant that this place is in, and where in it.
pub(crate) fn constant<'a>(section: &Section<'a>, at: u64) -> Option<(&'a [u8], u64)> {
    let inside = at % section.unit;
    let start = (at - inside) as usize;
    Some((section.data.get(start..start + section.unit as usize)?, inside))
}
