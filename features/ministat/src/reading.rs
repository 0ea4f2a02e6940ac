//! Columns of numbers as ministat reads them: every rule of `fgets`, `strtok` and `strtod` that can be seen in its
//! output. What it skips without a word, we skip here; [`bakeoff_readers::columns`] is how Bakeoff reads.

use bakeoff_model::decimal;
use bakeoff_readers::lines;
use std::io::BufRead;

/// The most that ministat takes for a line; the rest of a longer one is the next line.
const LINE_MAX: usize = 8191;

/// Text where a number should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalid {
    /// Its line, from 1.
    pub line: u64,
}

/// The numbers of one column (from 1), between delimiters of which several in a row count as one. Lines that have no
/// such column, or a `#` at the beginning of a word up to it, are skipped. A failing reader is taken for the end.
///
/// # Errors
/// [`Invalid`] at the first word that is not a number.
pub fn read(reader: &mut dyn BufRead, column: usize, delimiters: &[u8]) -> Result<Vec<f64>, Invalid> {
    let mut values = vec![];
    let mut number = 0;
    let whole_lines = column == 1 && !delimiters.iter().any(|byte| decimal::may_have(*byte));
    let read = lines::each(reader, LINE_MAX, |line| {
        number += 1;
        // Most lines are a number and nothing else.
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(value) = Some(bare).filter(|_| whole_lines).and_then(decimal::parse) {
            values.push(value);
            return Ok(());
        }
        let end = line.iter().position(|b| *b == 0).unwrap_or(line.len());
        let line = &line[..end];
        let end = line.iter().rposition(|b| !is_space(*b)).map_or(0, |last| last + 1);
        let mut words = line[..end].split(|b| delimiters.contains(b)).filter(|word| !word.is_empty());
        for _ in 1..column {
            if words.next().is_none_or(|word| word[0] == b'#') {
                return Ok(());
            }
        }
        match words.next() {
            None => Ok(()),
            Some(word) if word[0] == b'#' => Ok(()),
            Some(word) => match strtod(word) {
                Some(value) => {
                    values.push(value);
                    Ok(())
                }
                None => Err(Invalid { line: number }),
            },
        }
    });
    match read {
        Err(lines::Stop::Taker(invalid)) => Err(invalid),
        Ok(()) | Err(lines::Stop::Read(_)) => Ok(values),
    }
}

/// C's `isspace` in the locale C.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// C's `strtod`, for a word that is a number as a whole: blanks before it, decimal or hexadecimal, `inf`, `nan`.
pub(crate) fn strtod(word: &[u8]) -> Option<f64> {
    if let Some(value) = decimal::parse(word) {
        return Some(value);
    }
    let word = &word[word.iter().position(|b| !is_space(*b))?..];
    let (negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let size = match digits {
        [b'0'..=b'9' | b'.', ..] => match digits {
            [b'0', b'x' | b'X', hexadecimal @ ..] => hexadecimal_number(hexadecimal)?,
            _ => std::str::from_utf8(digits).ok()?.parse().ok()?,
        },
        _ if [&b"inf"[..], b"infinity"].iter().any(|name| digits.eq_ignore_ascii_case(name)) => f64::INFINITY,
        _ if is_nan(digits) => f64::NAN,
        _ => return None,
    };
    Some(if negative { -size } else { size })
}

/// `nan`, or with an own name in parentheses.
fn is_nan(word: &[u8]) -> bool {
    let Some((name, rest)) = word.split_at_checked(3) else { return false };
    let named = |rest: &[u8]| match rest {
        [b'(', name @ .., b')'] => name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_'),
        rest => rest.is_empty(),
    };
    name.eq_ignore_ascii_case(b"nan") && named(rest)
}

/// Digits of a hexadecimal number, perhaps with a point, perhaps with a binary exponent.
fn hexadecimal_number(digits: &[u8]) -> Option<f64> {
    let (mut mantissa, mut exponent, mut seen, mut point) = (0u64, 0i64, false, false);
    let mut rest = digits;
    while let [byte, after @ ..] = rest {
        match (char::from(*byte).to_digit(16), byte) {
            (Some(digit), _) => {
                seen = true;
                if mantissa < 1 << 59 {
                    mantissa = mantissa << 4 | u64::from(digit);
                    exponent -= if point { 4 } else { 0 };
                } else {
                    // Too far behind to count, but for rounding.
                    mantissa |= u64::from(digit != 0);
                    exponent += if point { 0 } else { 4 };
                }
            }
            (None, b'.') if !point => point = true,
            _ => break,
        }
        rest = after;
    }
    if let [b'p' | b'P', power @ ..] = rest {
        let text = std::str::from_utf8(power).ok()?;
        let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
        if bare.is_empty() || !bare.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let size: i64 = bare.parse().unwrap_or(1 << 40);
        exponent += if text.starts_with('-') { -size } else { size };
    } else if !rest.is_empty() {
        return None;
    }
    // In steps, so that no factor leaves the range before the product does.
    let mut value = mantissa as f64;
    while exponent != 0 && value != 0.0 && value.is_finite() {
        let step = exponent.clamp(-1000, 1000);
        value *= 2f64.powi(step as i32);
        exponent -= step;
    }
    seen.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_as_strtod_takes_them() {
        let check = |word: &str, expect: Option<f64>| {
            let same = match (strtod(word.as_bytes()), expect) {
                (Some(a), Some(b)) => a.to_bits() == b.to_bits(),
                (a, b) => a.is_none() && b.is_none(),
            };
            assert!(same, "{word:?}");
        };
        for (word, value) in [("1", 1.0), ("-0", -0.0), ("+1.5e3", 1500.0), (".5", 0.5), ("5.", 5.0), (" \t7", 7.0)] {
            check(word, Some(value));
        }
        for (word, value) in [("0x10", 16.0), ("0X.8p1", 1.0), ("-0x1p-1074", -5e-324), ("0x1p99999", f64::INFINITY)] {
            check(word, Some(value));
        }
        for (word, value) in [("INF", f64::INFINITY), ("-infinity", f64::NEG_INFINITY), ("1e999", f64::INFINITY)] {
            check(word, Some(value));
        }
        assert!(strtod(b"nan(0x_1)").is_some_and(f64::is_nan));
        assert!(strtod(b"-NaN").is_some_and(f64::is_sign_negative));
        for word in ["", " ", "x", "1x", "1e", "1e+", "--1", "+-1", ".", "0x", "0xp1", "0x1p", "infin", "nan(", "1 "] {
            check(word, None);
        }
    }

    #[test]
    fn lines_as_ministat_reads_them() {
        let check = |text: &str, column, delimiters: &str, expect: Result<&[f64], u64>| {
            let read = read(&mut text.as_bytes(), column, delimiters.as_bytes());
            let expect = expect.map(<[f64]>::to_vec).map_err(|line| Invalid { line });
            assert_eq!(read, expect, "{text:?}");
        };
        check("1 \n2\r\n 3\n\n#x\n4 # 5\n", 1, " \t", Ok(&[1.0, 2.0, 3.0, 4.0]));
        check("1 2\n3\n4 # 5\n6 # \n", 2, " \t", Ok(&[2.0]));
        check("1,2\n, ,3\n", 2, ",", Ok(&[2.0, 3.0]));
        check("1\nx\n", 1, " ", Err(2));
        check("1\0x\n2", 1, " ", Ok(&[1.0, 2.0]));
        let long = format!("{}5\n", " ".repeat(LINE_MAX));
        check(&long, 1, " ", Ok(&[5.0]));
        check(&format!("{}5\nx", " ".repeat(LINE_MAX)), 1, " ", Err(3));
    }
}
