//! Plain decimal numbers, fast: digits, perhaps a sign, perhaps a point, and few enough of them that one exact division
//! gives the nearest number. Everything else is for the standard library, whose answer is the same.

/// Powers of ten that are exact.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];
/// More digits may not fit into 64 bits.
const DIGITS_MAX: usize = 18;

/// The nearest number, where mantissa and power of ten are exact, so one rounding is enough (Clinger 1990); else none.
pub fn parse(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > DIGITS_MAX {
        return None;
    }
    let (mut mantissa, mut point) = (0u64, None);
    for (i, byte) in digits.iter().enumerate() {
        match byte.wrapping_sub(b'0') {
            digit @ 0..=9 => mantissa = mantissa * 10 + u64::from(digit),
            _ if *byte == b'.' && point.is_none() => point = Some(i),
            _ => return None,
        }
    }
    let decimals = point.map_or(0, |point| digits.len() - point - 1);
    let some = digits.len() > usize::from(point.is_some());
    if !some || mantissa > 1 << f64::MANTISSA_DIGITS {
        return None;
    }
    let size = mantissa as f64 / POWERS.get(decimals)?;
    Some(if negative { -size } else { size })
}

/// Whether a number that [`parse`] reads may have this byte.
pub fn may_have(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_reads_is_what_the_standard_library_reads() {
        let mut state = 178u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (mantissa, decimals) = (state >> (11 + state % 50), (state >> 3) % 17);
            let text = format!("{}", mantissa);
            let at = text.len().saturating_sub(decimals as usize);
            let text = format!("{}{}.{}", if state & 4 == 0 { "-" } else { "" }, &text[..at], &text[at..]);
            if let Some(value) = parse(text.as_bytes()) {
                assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            }
        }
        assert_eq!(parse(b"1012345.678"), Some(1_012_345.678));
        assert_eq!(parse(b"-0"), Some(-0.0));
        assert_eq!(parse(b".5"), Some(0.5));
        assert_eq!(parse(b"5."), Some(5.0));
        for text in ["", "-", ".", "-.", "1e5", "+1", "1.2.3", "x", "9007199254740993", "1234567890123456789"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
