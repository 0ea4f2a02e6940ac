//! What a trial printed against what it should have printed.

use bakeoff_model::record::Failure;

/// The longest piece of a line that a journal keeps.
const SHOWN_CHARS: usize = 200;

/// The first line that differs, as a failure; none if the output is the expected one to the byte.
pub fn difference(expected: &[u8], printed: &[u8]) -> Option<Failure> {
    if expected == printed {
        return None;
    }
    let mut wanted = expected.split_inclusive(|&b| b == b'\n');
    let mut got = printed.split_inclusive(|&b| b == b'\n');
    let mut line = 1;
    loop {
        let (want, have) = (wanted.next(), got.next());
        if want != have {
            return Some(Failure::WrongOutput { line, expected: want.map(shown), printed: have.map(shown) });
        }
        line += 1;
    }
}

/// A line as text; a missing line feed at the end is made visible, because it may be the only difference.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let whole = text.ends_with('\n');
    let text = text.trim_end_matches('\n');
    let mut out: String = text.chars().take(SHOWN_CHARS).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    if !whole {
        out.push_str(" (no line feed)");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        let check = |expected: &str, printed: &str, expect: Option<(u64, Option<&str>, Option<&str>)>| {
            let expect = expect.map(|(line, expected, printed)| Failure::WrongOutput {
                line,
                expected: expected.map(str::to_owned),
                printed: printed.map(str::to_owned),
            });
            assert_eq!(difference(expected.as_bytes(), printed.as_bytes()), expect, "{expected:?} {printed:?}");
        };
        check("a\nb\n", "a\nb\n", None);
        check("", "", None);
        check("a\nb\n", "a\nc\n", Some((2, Some("b"), Some("c"))));
        check("a\nb\n", "a\n", Some((2, Some("b"), None)));
        check("a\n", "a\nb\n", Some((2, None, Some("b"))));
        check("", "x\n", Some((1, None, Some("x"))));
        check("a\n", "a", Some((1, Some("a"), Some("a (no line feed)"))));
    }

    #[test]
    fn a_long_line_is_shortened() {
        let Some(Failure::WrongOutput { printed: Some(printed), .. }) = difference(b"", &[b'x'; 5000]) else {
            panic!("no difference was found")
        };
        assert!(printed.chars().count() < SHOWN_CHARS + 30);
    }
}
