//! Values of options that several commands take, read from text.

/// Half-width of the zone of equivalence, as a fraction, from a percentage.
pub fn margin(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').trim().parse::<f64>().ok().filter(|p| *p > 0.0 && *p < 100.0);
    percent.map(|p| p / 100.0).ok_or_else(|| "expected a percentage above 0 and below 100, such as 1%".to_owned())
}

/// A slowdown in percent, as a fraction: 100% is twice the time.
pub fn slowdown(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').trim().parse::<f64>().ok().filter(|p| *p > 0.0 && p.is_finite());
    percent.map(|p| p / 100.0).ok_or_else(|| "expected a percentage above 0, such as 2%".to_owned())
}

/// A confidence, as a fraction.
pub fn confidence(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|c| *c > 0.5 && *c < 1.0);
    number.ok_or_else(|| "expected a number above 0.5 and below 1, such as 0.99".to_owned())
}

/// A size in bytes.
pub fn size(text: &str) -> Result<u64, String> {
    let powers = [("K", 1), ("M", 2), ("G", 3), ("T", 4)];
    let mut units: Vec<(String, f64)> = vec![("B".to_owned(), 1.0)];
    for (name, power) in powers {
        let factor = 1024_f64.powi(power);
        units.extend([name.to_owned(), format!("{name}iB")].map(|name| (name, factor)));
    }
    let units: Vec<(&str, f64)> = units.iter().map(|(name, factor)| (name.as_str(), *factor)).collect();
    let bytes = measured(text, &units).map(|bytes| bytes as u64);
    bytes.ok_or_else(|| "expected a number followed by K, M, G or T, such as 20G; K is 1024 bytes".to_owned())
}

/// A number with a unit after it.
fn measured(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    let (_, factor) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)?;
    Some(number * factor)
}

/// An age in seconds.
pub fn age(text: &str) -> Result<f64, String> {
    let units = [("min", 60.0), ("h", 3600.0), ("d", 86_400.0), ("w", 604_800.0)];
    measured(text, &units).ok_or_else(|| "expected a number followed by min, h, d or w, such as 30d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes() {
        for (text, expect) in [("30d", Some(2_592_000.0)), ("1.5 h", Some(5400.0)), ("4W", Some(2_419_200.0))] {
            assert_eq!(age(text).ok(), expect);
        }
        for (text, expect) in [("20G", 20 << 30), ("512 MiB", 512 << 20), ("0B", 0), ("1.5k", 1536)] {
            assert_eq!(size(text), Ok(expect));
        }
        for wrong in ["", "30", "d", "-1d", "30x", "NaNd", "infd", "1e400d"] {
            assert!(age(wrong).is_err() && size(wrong).is_err(), "{wrong}");
        }
    }
}
