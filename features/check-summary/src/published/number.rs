//! A printed number: its text, its value, and how far its last digit reaches. A printed 4.213 can stand for anything
//! from 4.2125 to 4.2135.

use bakeoff_model::range::is_usable;
use serde::{Deserialize, Serialize};

/// What adding up and printing may have cost, in any program, as a part of the value.
const ARITHMETIC: f64 = 1e-13;

/// One printed number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// As it was printed.
    pub text: String,
    /// What it says.
    pub value: f64,
    /// It can stand for anything up to this far from what it says.
    pub half_width: f64,
}

impl Figure {
    /// Reads a number as its digits are shown. None unless it is sign, digits, perhaps a point with digits, perhaps a
    /// power of ten, and neither too large nor too small ([`is_usable`]).
    pub fn read(text: &str) -> Option<Self> {
        let (mantissa, power) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let digits = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if !(all_digits(whole) && all_digits(fraction)) || whole.len() + fraction.len() == 0 {
            return None;
        }
        let value = text.parse::<f64>().ok().filter(|x| is_usable(*x))?;
        let last = power.saturating_sub(i32::try_from(fraction.len()).ok()?);
        Some(Self::new(text, value, last))
    }

    /// The same number, if this many significant digits were printed and zeros at the end left out.
    #[must_use]
    pub fn with_significant(&self, digits: i32) -> Self {
        if self.value == 0.0 {
            return Self { half_width: 0.0, ..self.clone() };
        }
        Self::new(&self.text, self.value, self.value.abs().log10().floor() as i32 - digits + 1)
    }

    /// A number that follows from others, known to half a width; its last digits are within that.
    pub(super) fn computed(value: f64, half_width: f64) -> Self {
        let decimals = if half_width > 0.0 { (-half_width.log10().floor()).clamp(0.0, 12.0) } else { 3.0 };
        let text = format!("{value:.*}", decimals as usize);
        let half_width = half_width + ARITHMETIC * value.abs();
        Self { text, value, half_width }
    }

    /// The same number, where it is said to be about that: a unit of its last digit either way, or a tenth of it.
    pub(super) fn about(self) -> Self {
        let half_width = (2.0 * self.half_width).max(0.1 * self.value.abs());
        Self { text: format!("~{}", self.text), half_width, ..self }
    }

    /// `last` is the power of ten of the last digit.
    fn new(text: &str, value: f64, last: i32) -> Self {
        let half = 0.5 * 10f64.powi(last);
        Self { text: text.to_owned(), value, half_width: half * (1.0 + 1e-9) + ARITHMETIC * value.abs() }
    }

    /// From the least to the greatest value that it can stand for.
    pub fn range(&self) -> [f64; 2] {
        [self.value - self.half_width, self.value + self.half_width]
    }

    /// Number of digits from the first that is not 0.
    pub(crate) fn significant(&self) -> usize {
        let mantissa = self.text.split(['e', 'E']).next().unwrap_or_default();
        mantissa.chars().filter(char::is_ascii_digit).skip_while(|c| *c == '0').count()
    }
}
