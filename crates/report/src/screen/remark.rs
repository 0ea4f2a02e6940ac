//! A doubt and a fact, as data: each has an id that stays, for machines, its weight, and its text. Where it is printed, and what
//! gives way, is not decided by its letters. A section of a feature may make doubts of its own.

use crate::draw::paint::Ink;
use crate::draw::rendered::Rendered;
use serde::Serialize;

/// How much a doubt weighs: the heaviest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// The comparison may have no meaning: it stands above the rows, and its short form before the answer.
    Alarm,
    /// The claims may be wrong: look here.
    Look,
    /// They hold in part.
    Part,
}

/// A reason why a claim may be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// A stable name, such as `busy-machine`.
    pub id: String,
    /// How much it weighs.
    pub weight: Weight,
    /// A line.
    pub text: Rendered,
    /// Of an alarm, a few words before the answer, the longest first; none where the answer says it, or need not.
    pub short: Vec<Rendered>,
    /// Where there is no room for all, the least is left out last.
    pub(crate) priority: u32,
}

impl Doubt {
    /// A doubt that is no alarm.
    pub fn new(id: &str, weight: Weight, text: impl Into<Rendered>) -> Self {
        let priority = if weight == Weight::Part { 40 } else { 0 };
        Self { id: id.to_owned(), weight, text: text.into(), short: vec![], priority }
    }

    /// An alarm, with its short forms, the longest first.
    pub fn alarm<T: Into<Rendered>>(id: &str, text: impl Into<Rendered>, short: impl IntoIterator<Item = T>) -> Self {
        let short = short.into_iter().map(Into::into).collect();
        Self { short, ..Self::new(id, Weight::Alarm, text) }
    }

    pub(crate) fn line(&self) -> Rendered {
        text!["▲ ", &self.text]
    }

    pub(crate) fn ink(&self) -> Ink {
        if self.weight == Weight::Part { Ink::Open } else { Ink::Worse }
    }
}

/// Something else that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// A stable name, such as `conditions`.
    pub id: &'static str,
    /// A line.
    pub text: Rendered,
    pub(crate) ink: Ink,
    pub(crate) priority: u32,
}
