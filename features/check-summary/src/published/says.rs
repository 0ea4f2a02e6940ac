//! What a claim about published figures can say. Here is no text: it is read, and made of these, elsewhere.

use super::Figure;
use serde::{Deserialize, Serialize};

/// What a claim says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// The subject is better or worse, or its values are lower or higher, perhaps by an amount.
    Differs {
        /// Which way.
        way: Way,
        /// By how much, if it says so.
        amount: Option<Amount>,
    },
    /// The two are different, whichever way.
    Different,
    /// The two are equal, or differ by at most so much in percent.
    Equal {
        /// In percent; none if the claim does not say.
        within: Option<Figure>,
    },
    /// A test did not find a difference.
    NotSignificant,
}

/// Which way the subject differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// It is better.
    Faster,
    /// It is worse.
    Slower,
    /// Its values are higher.
    More,
    /// Its values are lower.
    Less,
}

/// By how much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// `1.4%`.
    Percent(Figure),
    /// `1.5x`, `2 times`.
    Times(Figure),
    /// `3.2 s`, with the unit if there is one.
    Absolute(Figure, Option<String>),
}
