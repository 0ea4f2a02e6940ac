//! What a trial printed against what it should have printed.

use bakeoff_model::record::Failure;
use std::collections::BTreeMap;

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

/// The same of several processes that divide the work: each line that is expected must have been printed by one of them,
/// in any order, and no other line. The report shows the first expected line that nobody printed, and of those that
/// nobody expected the one that begins most like it.
pub fn difference_of_all(expected: &[u8], printed: &[Vec<u8>]) -> Option<Failure> {
    let mut surplus: BTreeMap<&[u8], i64> = BTreeMap::new();
    let got = || printed.iter().flat_map(|output| output.split_inclusive(|&b| b == b'\n'));
    got().for_each(|line| *surplus.entry(line).or_default() += 1);
    let mut missing = None;
    let mut line = 1;
    for want in expected.split_inclusive(|&b| b == b'\n') {
        let left = surplus.entry(want).or_default();
        *left -= 1;
        if *left < 0 && missing.is_none() {
            missing = Some((line, want));
        }
        line += 1;
    }
    let unexpected: Vec<&[u8]> = got().filter(|line| surplus.get(line).is_some_and(|&left| left > 0)).collect();
    let Some((line, want)) = missing else {
        return Some(Failure::WrongOutput { line, expected: None, printed: Some(shown(unexpected.first()?)) });
    };
    let alike = |have: &[u8]| have.iter().zip(want).take_while(|(a, b)| a == b).count();
    // Of several the last is the greatest to `max_by_key`, hence backwards.
    let have = unexpected.into_iter().rev().max_by_key(|have| alike(have));
    Some(Failure::WrongOutput { line, expected: Some(shown(want)), printed: have.map(shown) })
}

/// A line as text; a missing line feed at the end is made visible, because it may be the only difference.
pub(crate) fn shown(line: &[u8]) -> String {
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
    fn lines_of_several_processes_may_come_in_any_order() {
        let check = |expected: &str, printed: &[&str], expect: Option<(u64, Option<&str>, Option<&str>)>| {
            let outputs: Vec<Vec<u8>> = printed.iter().map(|output| output.as_bytes().to_vec()).collect();
            let expect = expect.map(|(line, expected, printed)| Failure::WrongOutput {
                line,
                expected: expected.map(str::to_owned),
                printed: printed.map(str::to_owned),
            });
            assert_eq!(difference_of_all(expected.as_bytes(), &outputs), expect, "{expected:?} {printed:?}");
        };
        check("a 1\nb 2\nc 3\n", &["a 1\nc 3\n", "b 2\n"], None);
        check("a\na\nb\n", &["a\n", "b\na\n"], None);
        check("a\n", &["", "a\n"], None);
        check("", &["", ""], None);
        // The line that is most like the missing one, from any process.
        check("a 1\nb 2\n", &["b 9\n", "a 1\n"], Some((2, Some("b 2"), Some("b 9"))));
        check("a 1\nb 2\n", &["b 9\n", "a 9\n"], Some((1, Some("a 1"), Some("a 9"))));
        check("a 12\n", &["x\na 13\n", "a 14\n"], Some((1, Some("a 12"), Some("a 13"))));
        check("a\nb\n", &["a\n", ""], Some((2, Some("b"), None)));
        // The work was done twice, or more than once.
        check("a\nb\n", &["a\nb\n", "a\nb\n"], Some((3, None, Some("a"))));
        check("a\na\n", &["a\n", ""], Some((2, Some("a"), None)));
        check("a\n", &["a", ""], Some((1, Some("a"), Some("a (no line feed)"))));
    }

    #[test]
    fn a_long_line_is_shortened() {
        let Some(Failure::WrongOutput { printed: Some(printed), .. }) = difference(b"", &[b'x'; 5000]) else {
            panic!("no difference was found")
        };
        assert!(printed.chars().count() < SHOWN_CHARS + 30);
    }
}
