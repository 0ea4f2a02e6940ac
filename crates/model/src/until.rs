//! When a study has blocks enough: a rule that is fixed before its first block, stands in its journal, and tells how
//! its numbers are to be read. The rule is applied by the analysis; here it has its name, and its limits.

use serde::{Deserialize, Serialize};
use std::fmt;

/// When a study has blocks enough.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// When it has as many as were asked for. The user may raise it later on; the report then has a caveat.
    #[default]
    Blocks,
    /// When every interval of the deciding metric reaches at most so far, as a fraction of the ratio: 0.01 is ±1 %.
    Precision(f64),
    /// When every comparison has a verdict on the deciding metric; it is looked at a few times only, fixed beforehand.
    Decided,
    /// The same, looked at after every pass, and by anyone at any time.
    Anytime,
}

/// Why a text is no rule; the remedy.
pub const REMEDY: &str = "use a precision such as `±1%`, or `decided`, `anytime` or `blocks`";

impl Until {
    /// Reads `±1%` (or `+-1%`, or `1%`), `decided`, `anytime` (or `any time`) or `blocks`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "blocks" => Some(Self::Blocks),
            "decided" => Some(Self::Decided),
            "anytime" | "any time" => Some(Self::Anytime),
            text => {
                let number =
                    text.strip_prefix('±').or_else(|| text.strip_prefix("+-")).unwrap_or(text).strip_suffix('%')?;
                let percent: f64 = number.trim().parse().ok()?;
                (percent > 0.0 && percent < 100.0).then_some(Self::Precision(percent / 100.0))
            }
        }
    }

    /// The most blocks, where none are named.
    pub fn default_blocks(self) -> u32 {
        match self {
            Self::Blocks => 12,
            Self::Decided => 40,
            Self::Precision(_) | Self::Anytime => 200,
        }
    }

    /// The fewest blocks at which the rule can stop.
    pub fn fewest_blocks(self) -> u32 {
        match self {
            Self::Blocks => 1,
            Self::Decided | Self::Anytime => 8,
            // With fewer, a spread that happens to be small ends the study too early (simulated: coverage .907 from 3 on).
            Self::Precision(_) => 10,
        }
    }

    /// Whether a study under this rule may run with this many blocks; if not, why.
    pub fn check(self, blocks: u32) -> Result<(), String> {
        let fewest = self.fewest_blocks();
        if blocks >= fewest {
            return Ok(());
        }
        Err(format!("the stopping rule `{self}` needs at least {fewest} blocks, but at most {blocks} are allowed"))
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks => f.write_str("blocks"),
            // The digits that were typed, and not those that the division left.
            Self::Precision(part) => write!(f, "±{}%", (part * 1e12).round() / 1e10),
            Self::Decided => f.write_str("decided"),
            Self::Anytime => f.write_str("anytime"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_written() {
        let check = |text: &str, expect: Option<Until>| assert_eq!(Until::parse(text), expect, "{text}");
        check("±1%", Some(Until::Precision(0.01)));
        check("+-0.5 %", Some(Until::Precision(0.005)));
        check("1%", Some(Until::Precision(0.01)));
        check("decided", Some(Until::Decided));
        check("any time", Some(Until::Anytime));
        check("blocks", Some(Until::Blocks));
        for wrong in ["", "1", "±1", "±0%", "±100%", "±-1%", "±nan%", "±%", "soon"] {
            check(wrong, None);
        }
        for rule in ["±1%", "±0.7%", "±0.1%", "±2.5%", "decided", "anytime", "blocks"] {
            assert_eq!(Until::parse(rule).map(|until| until.to_string()).as_deref(), Some(rule));
        }
    }
}
