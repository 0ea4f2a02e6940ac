//! Units as people and programs write them, and what becomes of them: a base unit and the number that turns the one
//! into the other. SI prefixes are powers of a thousand, for bytes too; KiB, MiB and GiB are powers of 1024.

use super::Unit;

/// Every unit that is known, in the order in which errors list them; those of bytes also with `/s`.
const KNOWN: &[(&str, Unit, f64)] = &[
    ("s", Unit::Seconds, 1.0),
    ("ms", Unit::Seconds, 1e-3),
    ("us", Unit::Seconds, 1e-6),
    ("µs", Unit::Seconds, 1e-6),
    // The Greek letter, which looks the same as the sign of the line above.
    ("μs", Unit::Seconds, 1e-6),
    ("ns", Unit::Seconds, 1e-9),
    ("min", Unit::Seconds, 60.0),
    ("h", Unit::Seconds, 3600.0),
    ("B", Unit::Bytes, 1.0),
    ("kB", Unit::Bytes, 1e3),
    ("KB", Unit::Bytes, 1e3),
    ("MB", Unit::Bytes, 1e6),
    ("GB", Unit::Bytes, 1e9),
    ("KiB", Unit::Bytes, 1024.0),
    ("MiB", Unit::Bytes, 1_048_576.0),
    ("GiB", Unit::Bytes, 1_073_741_824.0),
    ("1", Unit::Count, 1.0),
    ("%", Unit::Count, 0.01),
    ("/s", Unit::PerSecond, 1.0),
    ("1/s", Unit::PerSecond, 1.0),
    ("ops/s", Unit::PerSecond, 1.0),
    ("/min", Unit::PerSecond, 1.0 / 60.0),
    ("/h", Unit::PerSecond, 1.0 / 3600.0),
];

impl Unit {
    /// The base unit of a unit, and what a number in that unit is multiplied with to be in the base unit: `ms` gives
    /// seconds and 0.001. None if the unit is not known; [`Unit::KNOWN`] are.
    pub fn of(text: &str) -> Option<(Self, f64)> {
        let known = |text: &str| KNOWN.iter().find(|(name, ..)| *name == text).map(|(_, unit, scale)| (*unit, *scale));
        let per_second = |bytes| match known(bytes)? {
            (Self::Bytes, scale) => Some((Self::PerSecond, scale)),
            _ => None,
        };
        known(text.trim()).or_else(|| text.trim().strip_suffix("/s").and_then(per_second))
    }

    /// The units that [`Unit::of`] knows, for remedies.
    pub const KNOWN: &str = "s, ms, us, ns, min, h; B, kB, MB, GB, KiB, MiB, GiB; 1, %; /s, /min, /h, ops/s, B/s, kB/s, \
                             MB/s, GB/s, KiB/s, MiB/s, GiB/s";

    /// How it is called in a sentence.
    pub fn word(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
            Self::Count => "a count",
            Self::PerSecond => "a number per second",
            Self::GuestInstructions => "billions of guest instructions",
        }
    }
}
