//! What a claim about published figures can say, and the words for it.

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

/// Words that say something, and words between them that do not.
const SAYING: &str =
    " faster slower more higher less lower = equal equally fast differs difference no not significant ";
const FILLING: &str = " is are the by to of and from within ";
/// After these a name is what something is compared with.
const BEFORE_OBJECT: &str = " than against vs ";

/// What a word is for in a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Saying,
    Filling,
    BeforeObject,
}

/// The role of a word; none if it has none.
pub(super) fn role(word: &str) -> Option<Role> {
    let roles = [(SAYING, Role::Saying), (FILLING, Role::Filling), (BEFORE_OBJECT, Role::BeforeObject)];
    roles.into_iter().find(|(words, _)| words.contains(&format!(" {word} "))).map(|(_, role)| role)
}

impl Says {
    /// What words and an amount say together; none if that is no form of a claim.
    pub(super) fn of(words: &str, amount: Option<Amount>) -> Option<Result<Self, &'static str>> {
        let way = match words {
            "" => return Some(Err("it says neither faster nor slower, neither equal nor different")),
            "=" | "equal" | "equally fast" | "no difference" => {
                return Some(match amount {
                    None => Ok(Self::Equal { within: None }),
                    Some(Amount::Percent(figure)) => Ok(Self::Equal { within: Some(figure) }),
                    Some(_) => Err("equality is within a percentage"),
                });
            }
            "differs" if amount.is_none() => return Some(Ok(Self::Different)),
            "differs" => return Some(Err("a difference with an amount, but no way")),
            "not significant" | "no significant difference" if amount.is_none() => {
                return Some(Ok(Self::NotSignificant));
            }
            "faster" => Way::Faster,
            "slower" => Way::Slower,
            "more" | "higher" => Way::More,
            "less" | "lower" => Way::Less,
            _ => return None,
        };
        Some(match amount {
            Some(Amount::Times(figure)) if figure.value < 1.0 => Err("so much `times` is 1 or more"),
            amount => Ok(Self::Differs { way, amount }),
        })
    }
}
