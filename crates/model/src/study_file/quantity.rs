//! Numbers with units, as people write them: durations, sizes, rates, shares, and lists of processors. Everything that
//! a study file says in text and means as a number is read here, into base units.

use crate::metric::Unit;

/// The largest number of a processor that is believed.
const MOST_CPUS: u32 = 4096;

/// A number of 0 or more with a unit, in the base unit: `"200 ms"`, `"512 MiB"`, `"10/s"`, `"20%"`, `"3"`.
pub(super) fn quantity(text: &str) -> Option<(f64, Unit)> {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..at].parse().ok()?;
    let (unit, scale) = match text[at..].trim() {
        "" => (Unit::Count, 1.0),
        word => Unit::of(word)?,
    };
    Some((number * scale, unit))
}

/// A duration above 0, in seconds.
pub(super) fn duration_s(text: &str) -> Option<f64> {
    quantity(text).filter(|&(number, unit)| unit == Unit::Seconds && number > 0.0).map(|(number, _)| number)
}

/// A size above 0, in bytes.
pub(super) fn size_bytes(text: &str) -> Option<u64> {
    let (number, _) = quantity(text).filter(|&(number, unit)| unit == Unit::Bytes && number >= 1.0)?;
    // Above 2^53 a double is no longer exact, and no machine has as much.
    (number < 9e15).then_some(number.round() as u64)
}

/// A rate above 0, as the seconds from one to the next.
pub(super) fn pace_s(text: &str) -> Option<f64> {
    quantity(text).filter(|&(number, unit)| unit == Unit::PerSecond && number > 0.0).map(|(number, _)| 1.0 / number)
}

/// `"1%"` as 0.01; above 0 and below 100 %.
pub(super) fn percent(text: &str) -> Option<f64> {
    any_percent(text).filter(|fraction| *fraction < 1.0)
}

/// The same, of what may be as large as it likes: a slowdown.
pub(super) fn any_percent(text: &str) -> Option<f64> {
    let percent: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    (percent > 0.0 && percent.is_finite()).then_some(percent / 100.0)
}

/// Processors as taskset(1) lists them, `"0-1,3"`; in their order, each once.
pub fn cpus(text: &str) -> Option<Vec<u32>> {
    let mut cpus = vec![];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last >= MOST_CPUS {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::{cpus, duration_s, pace_s, percent, quantity, size_bytes};
    use crate::metric::Unit;

    #[test]
    fn durations_are_read_in_seconds() {
        for (text, expect) in [
            ("90 s", Some(90.0)),
            ("2min", Some(120.0)),
            ("1.5 h", Some(5400.0)),
            ("200 ms", Some(0.2)),
            ("90", None),
            ("soon", None),
            ("0 s", None),
            ("-1 s", None),
            ("1 B", None),
            ("1.2.3 s", None),
            ("3 weeks", None),
        ] {
            assert_eq!(duration_s(text), expect, "{text}");
        }
    }

    #[test]
    fn sizes_are_read_in_bytes() {
        for (text, expect) in [
            ("512 MiB", Some(512 << 20)),
            ("1.5KiB", Some(1536)),
            ("2 GB", Some(2_000_000_000)),
            ("64 B", Some(64)),
            ("0 B", None),
            ("512", None),
            ("512 M", None),
            ("99999999 GB", None),
        ] {
            assert_eq!(size_bytes(text), expect, "{text}");
        }
    }

    #[test]
    fn a_rate_is_the_time_from_one_to_the_next() {
        for (text, expect) in [
            ("10/s", Some(0.1)),
            ("10 / s", None),
            ("30/min", Some(2.0)),
            ("4 1/s", Some(0.25)),
            ("0/s", None),
            ("10", None),
            ("0.1 s", None),
        ] {
            assert_eq!(pace_s(text), expect, "{text}");
        }
    }

    #[test]
    fn a_number_without_a_unit_is_a_count() {
        for (text, expect) in [
            ("20%", Some((0.2, Unit::Count))),
            ("3", Some((3.0, Unit::Count))),
            ("", None),
            ("s", None),
            ("3 furlongs", None),
        ] {
            assert_eq!(quantity(text), expect, "{text}");
        }
    }

    #[test]
    fn processors_are_listed_as_taskset_lists_them() {
        for (text, expect) in [
            ("0", Some(vec![0])),
            ("0-1,3", Some(vec![0, 1, 3])),
            ("3, 1-2, 2", Some(vec![1, 2, 3])),
            ("1-0", None),
            ("", None),
            ("0-", None),
            ("0,,1", None),
            ("4096", None),
            ("all", None),
        ] {
            assert_eq!(cpus(text), expect, "{text}");
        }
    }

    #[test]
    fn percentages_have_their_sign() {
        for (text, expect) in [("1%", Some(0.01)), ("0.5 %", Some(0.005)), ("1", None), ("0%", None), ("100%", None)] {
            assert_eq!(percent(text), expect, "{text}");
        }
    }
}
