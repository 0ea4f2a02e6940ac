//! Where one output first differs from another: byte, line, and what stands there on both sides, if it is text.

use crate::expected::shown;
use bakeoff_model::record::OutputDifference;

/// How much of a line before the difference is kept, and of the line in all, in bytes.
const BEFORE: usize = 80;
const IN_ALL: usize = 200;

/// None if there is no difference. `process` is the one that printed it, from 1.
pub(crate) fn first_difference(process: u32, baseline: &[u8], printed: &[u8]) -> Option<OutputDifference> {
    let same = baseline.iter().zip(printed).take_while(|(one, other)| one == other).count();
    if same == baseline.len() && same == printed.len() {
        return None;
    }
    let before = &printed[..same];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let [one, other] = [baseline, printed].map(|output| piece(output, start, same));
    let is_text = [&one, &other].into_iter().flatten().all(|piece| is_text(piece));
    let text = |piece: Option<Vec<u8>>| piece.filter(|_| is_text).map(|piece| shown(&piece));
    Some(OutputDifference { process, byte: same as u64, line, baseline: text(one), printed: text(other) })
}

/// The line that begins at `start`, or what of a long one is around `at`; none if there is no such line.
fn piece(output: &[u8], start: usize, at: usize) -> Option<Vec<u8>> {
    let rest = output.get(start..).filter(|rest| !rest.is_empty())?;
    let end = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
    let line = &rest[..end];
    let skip = (at - start).saturating_sub(BEFORE).min(line.len());
    if skip == 0 && line.len() <= IN_ALL {
        return Some(line.to_vec());
    }
    // A character must not be cut in two.
    let is_begin = |at: &usize| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let from = (skip..line.len()).find(is_begin).unwrap_or(line.len());
    let to = (from..=(from + IN_ALL).min(line.len())).rev().find(is_begin).unwrap_or(line.len());
    let [mut kept, dots] = [vec![], "…".as_bytes().to_vec()];
    if from > 0 {
        kept.extend(&dots);
    }
    kept.extend(&line[from..to]);
    if to < line.len() {
        kept.extend(&dots);
        kept.push(b'\n');
    }
    Some(kept)
}

fn is_text(piece: &[u8]) -> bool {
    std::str::from_utf8(piece).is_ok_and(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_and_its_lines_are_told() {
        let check = |baseline: &[u8], printed: &[u8], expect: Option<(u64, u64, Option<&str>, Option<&str>)>| {
            let expect = expect.map(|(byte, line, baseline, printed)| OutputDifference {
                process: 3,
                byte,
                line,
                baseline: baseline.map(str::to_owned),
                printed: printed.map(str::to_owned),
            });
            assert_eq!(first_difference(3, baseline, printed), expect, "{baseline:?} {printed:?}");
        };
        check(b"", b"", None);
        check(b"a\nb\n", b"a\nb\n", None);
        check(b"a\nb\n", b"a\nc\n", Some((2, 2, Some("b"), Some("c"))));
        check(b"a\nbx\nc", b"a\nby\nd", Some((3, 2, Some("bx"), Some("by"))));
        check(b"a\nb\n", b"a\n", Some((2, 2, Some("b"), None)));
        check(b"a\n", b"a\nb\n", Some((2, 2, None, Some("b"))));
        check(b"", b"x\n", Some((0, 1, None, Some("x"))));
        check(b"a\n", b"a", Some((1, 1, Some("a"), Some("a (no line feed)"))));
        check(b"\xff\n", b"a\n", Some((0, 1, None, None)));
        check(b"a\n\0b", b"a\n\0c", Some((3, 2, None, None)));
        check("ä\n".as_bytes(), "ö\n".as_bytes(), Some((1, 1, Some("ä"), Some("ö"))));
    }

    #[test]
    fn of_a_long_line_the_place_is_shown() {
        for fill in ["x", "ä", "€"] {
            let text = |end: &str| format!("{}{end}{}\n", fill.repeat(5000), fill.repeat(5000)).into_bytes();
            let found = first_difference(1, &text("one"), &text("two")).unwrap();
            for (shown, word) in [(found.baseline, "one"), (found.printed, "two")] {
                let shown = shown.unwrap();
                assert!(shown.contains(word) && shown.len() < 2 * IN_ALL, "{shown}");
                assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
            }
        }
    }
}
