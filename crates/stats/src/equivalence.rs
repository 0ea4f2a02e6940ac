//! The zone within which a difference does not matter, and whether an interval shows that we are in it: two one-sided
//! tests at level α are the same as asking whether the interval of confidence 1 − 2α lies inside (Schuirmann 1987).

/// All differences of at most `half_width` either way; which scale they are on is the caller's affair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zone {
    /// The largest difference, either way, that does not matter.
    pub half_width: f64,
}

impl Zone {
    /// The zone of log-ratios for a margin such as 0.01: ± ln(1 + margin). In ratios, from 1/(1 + margin) to 1 + margin.
    pub fn of_log_ratios(margin: f64) -> Self {
        Self { half_width: margin.ln_1p() }
    }

    /// True if the interval lies inside.
    pub fn contains(&self, [low, high]: [f64; 2]) -> bool {
        -self.half_width <= low && high <= self.half_width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zone_is_symmetric_in_logarithms() {
        let zone = Zone::of_log_ratios(0.01);
        assert!(zone.contains([(1.0f64 / 1.0099).ln(), 1.0099f64.ln()]));
        assert!(!zone.contains([(1.0f64 / 1.0101).ln(), 0.0]));
        assert!(!zone.contains([0.0, 1.0101f64.ln()]));
    }
}
