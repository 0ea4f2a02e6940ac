//! Claims about published figures, as people write them: `B 1.4% slower than A`, `A faster than B by 3.2 s`, `equal within
//! 0.5%`, `A = B`, `no difference`. Here they are read; whether they hold is judged elsewhere. A word that is not
//! understood is a problem, for a claim that is half understood would be judged as another.

use super::words::{Word, split_unit, words};
use super::{Figure, Summary};
use crate::problem::{Problem, Problems};
use serde::{Deserialize, Serialize};

/// What is claimed of one summary against another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// As it was written.
    pub text: String,
    /// The summary that it is about, as an index.
    pub subject: usize,
    /// The one that it is compared with.
    pub object: usize,
    /// What is said.
    pub says: Says,
}

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

const FORMS: &str = "such as `B 1.4% slower than A`, `A faster than B by 3.2 s`, `B 2x faster`, `A = B`, `equal within 0.5%`, \
                     `A differs from B`, `no difference`, `no significant difference`";

/// Words that say nothing of their own.
const FILLING: &[&str] = &[
    "is",
    "was",
    "are",
    "were",
    "be",
    "by",
    "than",
    "the",
    "a",
    "an",
    "to",
    "and",
    "within",
    "about",
    "in",
    "at",
    "with",
    "of",
    "as",
    "on",
    "average",
    "takes",
    "took",
    "between",
    "from",
    "there",
    "has",
    "have",
    "time",
    "percent",
    "±",
    "+/-",
    "significantly",
];

#[derive(Debug, Clone, PartialEq)]
enum Part<'a> {
    Name(usize),
    Percent(Figure),
    Times(Figure),
    Number(Figure, Option<String>),
    Word(String, Word<'a>),
}

impl Claim {
    /// Reads a claim about some summaries. They are named by their names, by the last part of a path, or by the letters
    /// A, B, C in their order; what is not named is the `baseline`, and the only other one.
    ///
    /// # Errors
    /// What of it is not understood, with the words that would be.
    pub fn read(text: &str, summaries: &[Summary], baseline: usize) -> Result<Self, Problems> {
        let whole = 0..text.len();
        let fail = |span, message: String, remedy: &str| {
            let problem = Problem { span, message, label: String::new(), remedy: remedy.to_owned() };
            Err(Problems::new("--claim", text, vec![problem]))
        };
        let parts = parts(text, summaries);
        let mut named: Vec<usize> = vec![];
        let mut amounts = vec![];
        let mut said = Said::default();
        for part in parts {
            match part {
                Part::Name(index) => named.push(index),
                Part::Percent(figure) => amounts.push(Amount::Percent(figure)),
                Part::Times(figure) => amounts.push(Amount::Times(figure)),
                Part::Number(figure, unit) => amounts.push(Amount::Absolute(figure, unit)),
                Part::Word(word, place) => {
                    if !said.hear(&word) {
                        let names: Vec<&str> = summaries.iter().map(|s| s.name.as_str()).collect();
                        let remedy = format!("the names are {}; claims are {FORMS}", names.join(", "));
                        return fail(place.span(), format!("`{}` is not understood", place.text), &remedy);
                    }
                }
            }
        }
        if amounts.len() > 1 {
            return fail(whole, "two amounts in one claim".to_owned(), "make two claims of it");
        }
        let (subject, object) = match (named.as_slice(), summaries.len()) {
            ([subject, object], _) if subject != object => (*subject, *object),
            ([subject], _) if *subject != baseline => (*subject, baseline),
            ([subject], 2) => (*subject, 1 - *subject),
            ([], 2) => (1 - baseline.min(1), baseline),
            (_, 0..2) => {
                return fail(whole, "there is nothing to compare with".to_owned(), "a claim needs two summaries");
            }
            _ => {
                return fail(
                    whole,
                    "which two are meant?".to_owned(),
                    "name two different ones, such as `B slower than A`",
                );
            }
        };
        let amount = amounts.pop();
        let positive = |amount: &Amount| match amount {
            Amount::Percent(figure) | Amount::Times(figure) | Amount::Absolute(figure, _) => figure.value > 0.0,
        };
        if amount.as_ref().is_some_and(|amount| !positive(amount)) {
            return fail(
                whole,
                "an amount is above 0".to_owned(),
                "say `faster` or `slower` instead of a sign, `A = B` instead of 0",
            );
        }
        match said.says(amount) {
            Ok(says) => Ok(Self { text: text.to_owned(), subject, object, says }),
            Err(message) => fail(whole, message.to_owned(), FORMS),
        }
    }
}

/// The words of a claim that matter.
#[derive(Debug, Default)]
struct Said {
    way: Option<Way>,
    equal: bool,
    different: bool,
    significant: bool,
    negated: bool,
    two_ways: bool,
}

impl Said {
    /// False if the word is not known.
    fn hear(&mut self, word: &str) -> bool {
        let way = match word {
            "faster" | "quicker" | "better" => Some(Way::Faster),
            "slower" | "longer" | "worse" => Some(Way::Slower),
            "more" | "higher" | "larger" => Some(Way::More),
            "less" | "lower" | "smaller" => Some(Way::Less),
            _ => None,
        };
        self.two_ways |= way.is_some() && self.way.is_some();
        self.way = way.or(self.way);
        match word {
            "equal" | "equals" | "equivalent" | "same" | "identical" | "=" | "==" | "≈" | "fast" => self.equal = true,
            "difference" | "differences" | "different" | "differ" | "differs" => self.different = true,
            "!=" | "≠" => self.different = true,
            "significant" => self.significant = true,
            "not" | "no" | "isn't" | "without" => self.negated = !self.negated,
            "significantly" => self.significant = true,
            _ => return way.is_some() || FILLING.contains(&word),
        }
        true
    }

    fn says(&self, amount: Option<Amount>) -> Result<Says, &'static str> {
        let of_difference = self.different || (self.significant && self.way.is_none());
        match (self.way, self.equal, of_difference) {
            _ if self.two_ways => Err("it says two ways at once"),
            (Some(_), false, false) if self.negated => {
                Err("what is denied here? `not slower` is judged by neither form")
            }
            (Some(way), false, false) => match amount {
                Some(Amount::Times(figure)) if figure.value < 1.0 => Err("so many times is 1 or more"),
                amount => Ok(Says::Differs { way, amount }),
            },
            (None, true, false) if self.negated => Ok(Says::Different),
            (None, true, false) => within(amount),
            (None, false, true) if self.negated && self.significant => Ok(Says::NotSignificant),
            (None, false, true) if self.negated => within(amount),
            (None, false, true) if amount.is_none() => Ok(Says::Different),
            (None, false, true) => Err("a difference with an amount, but no way"),
            (None, false, false) => Err("it says neither faster nor slower, neither equal nor different"),
            _ => Err("it says several things at once"),
        }
    }
}

fn within(amount: Option<Amount>) -> Result<Says, &'static str> {
    match amount {
        None => Ok(Says::Equal { within: None }),
        Some(Amount::Percent(figure)) => Ok(Says::Equal { within: Some(figure) }),
        Some(_) => Err("equality is within a percentage"),
    }
}

/// The parts of a claim; a name is the longest that stands there.
fn parts<'a>(text: &'a str, summaries: &[Summary]) -> Vec<Part<'a>> {
    let mut parts = vec![];
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', ',', ';']).len();
        if blank > 0 {
            start += blank;
            continue;
        }
        if let Some((index, length)) = name_at(rest, summaries) {
            parts.push(Part::Name(index));
            start += length;
            continue;
        }
        if let Some(sign) = ["!=", "==", "="].into_iter().find(|sign| rest.starts_with(sign)) {
            parts.push(Part::Word(sign.to_owned(), Word { text: &text[start..start + sign.len()], start }));
            start += sign.len();
            continue;
        }
        let Some(word) = words(rest, start, |c| c.is_whitespace() || ",;".contains(c)).first().copied() else { break };
        start += word.text.len();
        let bare = word.text.trim_end_matches(['.', '!', '?']);
        if bare.is_empty() {
            continue;
        }
        let (digits, stuck) = split_unit(bare);
        let Some(figure) = Figure::read(digits) else {
            parts.push(Part::Word(bare.to_lowercase(), word));
            continue;
        };
        let next = words(&text[start..], start, char::is_whitespace).first().copied();
        let unit = if stuck.is_empty() { next.map_or("", |w| w.text.trim_end_matches(['.', ','])) } else { stuck };
        let part = match unit {
            "%" | "percent" => Part::Percent(figure),
            "x" | "×" | "times" => Part::Times(figure),
            unit if is_unit(unit) => Part::Number(figure, Some(unit.to_owned())),
            _ => {
                parts.push(Part::Number(figure, None));
                continue;
            }
        };
        parts.push(part);
        if stuck.is_empty() {
            start = next.map_or(start, |word| word.span().end);
        }
    }
    parts
}

/// A word behind a number is its unit if it means nothing else.
fn is_unit(word: &str) -> bool {
    let letters = !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || c == '/');
    letters && !FILLING.contains(&word.to_lowercase().as_str()) && !Said::default().hear(&word.to_lowercase())
}

/// The summary that is named at the beginning of a text, and how long its name is.
fn name_at(text: &str, summaries: &[Summary]) -> Option<(usize, usize)> {
    let ends_there = |name: &str| {
        let next = text[name.len()..].chars().next();
        next.is_none_or(|c| c.is_whitespace() || ",;:=.!?".contains(c))
    };
    let stands = |name: &str| !name.is_empty() && text.starts_with(name) && ends_there(name);
    let full = summaries.iter().enumerate().map(|(i, s)| (i, s.name.as_str()));
    let file = summaries.iter().enumerate().map(|(i, s)| (i, s.name.rsplit('/').next().unwrap_or_default()));
    let named = full.chain(file).filter(|(_, name)| stands(name)).max_by_key(|(_, name)| name.len());
    named.map(|(index, name)| (index, name.len())).or_else(|| {
        let letter = (0..summaries.len().min(26)).find(|i| stands(&char::from(b'A' + *i as u8).to_string()))?;
        let meant = |s: &Summary| s.name.len() == 1 && s.name.chars().all(|c| c.is_ascii_uppercase());
        (!summaries.iter().any(meant)).then_some((letter, 1))
    })
}
