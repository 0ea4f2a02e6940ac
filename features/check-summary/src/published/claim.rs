//! Claims about published figures in a few fixed forms: `B 1.4% slower than A`, `A faster than B by 3.2 s`, `equal within 0.5%`,
//! `A = B`, `no difference`. Here they are read; whether they hold is judged elsewhere. What is in no such form is a problem,
//! for a claim that is half understood would be judged as another.

use super::reader::problem;
use super::words::{spelled, split_unit};
use super::{Figure, Summary};
use bakeoff_model::problem::{Problem, Problems};
use serde::{Deserialize, Serialize};
use std::ops::Range;

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

const FORMS: &str = "such as `B 1.4% slower than A`, `B ~20% faster`, `A faster than B by 3.2 s`, `B 2x slower`, `B 3% higher`, \
                     `A = B`, `equally fast`, `equal within 0.5%`, `A differs from B`, `no difference`, `no significant \
                     difference`";

/// Words that say something, and words between them that do not.
const SAYING: &str =
    " faster slower more higher less lower = equal equally fast differs difference no not significant ";
const FILLING: &str = " is are the by to of and from within ";
/// After these a name is what something is compared with.
const BEFORE_OBJECT: &str = " than against vs ";

/// The parts of a claim.
#[derive(Default)]
struct Parts {
    /// Names, each with all summaries that are called so, and whether a word such as `than` stands before it.
    named: Vec<(Vec<usize>, bool)>,
    /// Quantities, each with all summaries of it.
    quantities: Vec<Vec<usize>>,
    amount: Option<Amount>,
    /// The words that say something.
    said: Vec<String>,
}

impl Claim {
    /// Reads a claim about some summaries. They are named by their names, by the last part of a path, by ministat's symbols,
    /// or by the letters A, B, C in their order; a side that is not named is the `baseline`, or the only other one. Where there
    /// are several quantities with these names, the claim must name one.
    ///
    /// # Errors
    /// What of it is not understood, with the words that would be.
    pub fn read(text: &str, summaries: &[Summary], baseline: usize) -> Result<Self, Problems> {
        let claim = || {
            let Parts { named, quantities, amount, said } = Parts::of(text, summaries)?;
            let fail = |message: &str, remedy: &str| problem(0..text.len(), message.to_owned(), remedy);
            let (subject, object) = who(summaries, baseline, &named, &quantities, amount.as_ref())
                .map_err(|(message, remedy)| fail(message, &remedy))?;
            if amount.as_ref().is_some_and(|amount| amount.figure().value <= 0.0) {
                return Err(fail(
                    "an amount must be above 0",
                    "use `faster` or `slower` instead of a sign, and `A = B` instead of 0",
                ));
            }
            let said = said.join(" ");
            let says = says(&said, amount).map_err(|why| match why {
                Some(message) => fail(message, &format!("use a claim {FORMS}")),
                None => not_understood(0..text.len(), &said, summaries),
            })?;
            Ok(Self { text: text.to_owned(), subject, object, says })
        };
        claim().map_err(|problem| Problems::new("--claim", text, vec![problem]))
    }
}

impl Amount {
    fn of(figure: Figure, unit: &str) -> Self {
        let is_unit = !unit.is_empty() && unit.chars().all(|c| c.is_alphabetic() || c == '/');
        let is_word = [SAYING, FILLING, BEFORE_OBJECT].iter().any(|list| has(list, &unit.to_lowercase()));
        match unit {
            "%" | "percent" => Self::Percent(figure),
            "x" | "×" | "times" => Self::Times(figure),
            // A word behind a number is its unit if it means nothing else.
            unit => Self::Absolute(figure, (is_unit && !is_word).then(|| spelled(unit))),
        }
    }

    fn figure(&self) -> &Figure {
        let (Self::Percent(figure) | Self::Times(figure) | Self::Absolute(figure, _)) = self;
        figure
    }
}

fn has(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

fn not_understood(span: Range<usize>, words: &str, summaries: &[Summary]) -> Problem {
    let remedy = format!("known names: {}; use a claim {FORMS}", names(summaries));
    problem(span, format!("cannot understand `{words}`"), &remedy)
}

impl Parts {
    fn of(text: &str, summaries: &[Summary]) -> Result<Self, Problem> {
        let mut parts = Self::default();
        let mut is_object = false;
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ",;:".contains(c));
            let start = text.len() - rest.len();
            if rest.is_empty() {
                return Ok(parts);
            }
            if let Some((length, is_quantity, which)) = name_at(rest, summaries) {
                rest = &rest[length..];
                match is_quantity {
                    true => parts.quantities.push(which),
                    false => parts.named.push((which, std::mem::take(&mut is_object))),
                }
                continue;
            }
            let end = rest.find(|c: char| c.is_whitespace() || ",;".contains(c)).unwrap_or(rest.len());
            let raw = if rest.starts_with('=') { "=" } else { &rest[..end] };
            rest = &rest[raw.len()..];
            let word = raw.trim_end_matches(['.', '!', '?', ':']).to_lowercase();
            if let Some((amount, length)) = amount_at(raw, rest) {
                rest = &rest[length..];
                if parts.amount.replace(amount).is_some() {
                    return Err(problem(
                        0..text.len(),
                        "two amounts in one claim".to_owned(),
                        "split it into two claims",
                    ));
                }
            } else if has(SAYING, &word) {
                parts.said.push(word);
            } else if has(BEFORE_OBJECT, &word) {
                is_object = true;
            } else if !word.is_empty() && !has(FILLING, &word) {
                return Err(not_understood(start..start + raw.len(), raw, summaries));
            }
        }
    }
}

/// The amount that a word is, and how much of what follows is its unit.
fn amount_at(word: &str, rest: &str) -> Option<(Amount, usize)> {
    let word = word.trim_end_matches(['.', '!', '?', ':']);
    let plain = word.trim_start_matches(['~', '≈']);
    let (digits, stuck) = split_unit(plain);
    let figure = Figure::read(digits)?;
    let figure = if plain.len() < word.len() { figure.about() } else { figure };
    if !stuck.is_empty() {
        return Some((Amount::of(figure, stuck), 0));
    }
    let next = rest.split_whitespace().next().unwrap_or_default();
    let amount = Amount::of(figure, next.trim_end_matches(['.', ',']));
    let is_bare = matches!(amount, Amount::Absolute(_, None));
    let length = rest.len() - rest.trim_start().len() + next.len();
    Some((amount, if is_bare { 0 } else { length }))
}

/// The name at the beginning of a text: its length, whether it is that of a quantity, and all summaries that it means. The longest
/// counts: an exact one before one that differs in case or ends a path, then quantities, ministat's symbols and letters.
fn name_at(text: &str, summaries: &[Summary]) -> Option<(usize, bool, Vec<usize>)> {
    let mut found: Vec<((usize, u8), usize)> = vec![];
    for (at, summary) in summaries.iter().enumerate() {
        let name = summary.name.as_str();
        let exact = Some(name).filter(|name| text.starts_with(name));
        let (last, symbol) = (name.rsplit('/').next(), summary.symbol.as_deref());
        let all = [(4, exact), (3, Some(name)), (3, last), (2, summary.label()), (1, symbol)];
        let stands = |(rank, name): (u8, Option<&str>)| name.filter(|name| stands(text, name)).map(|n| (n.len(), rank));
        found.extend(all.into_iter().filter_map(stands).max().map(|key| (key, at)));
    }
    let Some(best) = found.iter().map(|(key, _)| *key).max() else { return letter_at(text, summaries) };
    let which = found.into_iter().filter(|(key, _)| *key == best).map(|(_, at)| at);
    Some((best.0, best.1 == 2, which.collect()))
}

/// A, B, C for the first, second and third name, where none is a letter.
fn letter_at(text: &str, summaries: &[Summary]) -> Option<(usize, bool, Vec<usize>)> {
    let mut names: Vec<&str> = vec![];
    for Summary { name, .. } in summaries {
        if matches!(name.as_bytes(), [b'A'..=b'Z']) {
            return None;
        }
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let (_, name) = ('A'..='Z').zip(names).find(|(letter, _)| stands(text, &letter.to_string()))?;
    Some((1, false, (0..summaries.len()).filter(|at| summaries[*at].name == name).collect()))
}

/// Whether a name stands at the beginning of a text, and ends there. `a` is no name of A.
fn stands(text: &str, name: &str) -> bool {
    let is_alike = |there: &str| there == name || (name.len() > 1 && there.eq_ignore_ascii_case(name));
    let ends = |rest: &str| rest.chars().next().is_none_or(|c| c.is_whitespace() || ",;:=.!?".contains(c));
    !name.is_empty() && text.get(..name.len()).is_some_and(is_alike) && ends(&text[name.len()..])
}

/// What words and an amount say together, or why they say nothing; none if that is no form of a claim.
fn says(words: &str, amount: Option<Amount>) -> Result<Says, Option<&'static str>> {
    let way = match words {
        "" => return Err(Some("the claim has no word such as faster, slower, equal or differs")),
        "=" | "equal" | "equally fast" | "no difference" => {
            return match amount {
                None => Ok(Says::Equal { within: None }),
                Some(Amount::Percent(figure)) => Ok(Says::Equal { within: Some(figure) }),
                Some(_) => Err(Some("equality needs a percentage, such as `equal within 0.5%`")),
            };
        }
        "differs" if amount.is_none() => return Ok(Says::Different),
        "differs" => return Err(Some("a difference with an amount needs a direction, such as faster or slower")),
        "not significant" | "no significant difference" if amount.is_none() => return Ok(Says::NotSignificant),
        "faster" => Way::Faster,
        "slower" => Way::Slower,
        "more" | "higher" => Way::More,
        "less" | "lower" => Way::Less,
        _ => return Err(None),
    };
    match amount {
        Some(Amount::Times(figure)) if figure.value < 1.0 => {
            Err(Some("a factor, such as 2 in `2x`, must be 1 or more"))
        }
        amount => Ok(Says::Differs { way, amount }),
    }
}

fn names(summaries: &[Summary]) -> String {
    let mut seen = std::collections::BTreeSet::new();
    let names = summaries.iter().map(|summary| summary.name.as_str()).filter(|name| seen.insert(*name));
    names.collect::<Vec<_>>().join(", ")
}

/// Which two are meant, or why that is not clear and what to do.
fn who(
    summaries: &[Summary],
    baseline: usize,
    named: &[(Vec<usize>, bool)],
    of: &[Vec<usize>],
    amount: Option<&Amount>,
) -> Result<(usize, usize), (&'static str, String)> {
    let is_first = |at: &usize| !summaries[..*at].iter().any(|earlier| earlier.is_comparable(&summaries[*at]));
    let firsts = (0..summaries.len()).filter(is_first);
    let families: Vec<Vec<usize>> = firsts
        .map(|first| (first..summaries.len()).filter(|at| summaries[*at].is_comparable(&summaries[first])).collect())
        .collect();
    let is_meant = |family: &&Vec<usize>| of.iter().all(|of_it| of_it.contains(&family[0]));
    let found: Vec<(usize, usize)> = families
        .iter()
        .filter(is_meant)
        .filter_map(|family| pair(family, baseline_of(summaries, baseline, family[0]), named))
        .collect();
    // `B slower by 3 s` can only be meant of what is in s.
    let unit = if let Some(Amount::Absolute(_, unit)) = amount { unit.as_deref() } else { None };
    let of_unit: Vec<(usize, usize)> =
        found.iter().copied().filter(|(one, _)| unit.is_some() && summaries[*one].unit.as_deref() == unit).collect();
    match (found.as_slice(), of_unit.as_slice()) {
        ([one], _) | (_, [one]) => Ok(*one),
        ([], _) if families.iter().all(|family| family.len() < 2) => {
            let of = if summaries.len() < 2 { "" } else { " of the same quantity and unit" };
            Err(("there is nothing to compare with", format!("a claim needs two summaries{of}")))
        }
        ([], _) => {
            let remedy = "name two summaries of the same quantity, such as `B slower than A`; known names:";
            Err(("the claim does not name two summaries", format!("{remedy} {}", names(summaries))))
        }
        (several, _) => {
            let names: Vec<&str> = several.iter().filter_map(|(one, _)| summaries[*one].label()).collect();
            let remedy = format!(
                "name a quantity first, such as `{}: …`; available: {}",
                names.first().unwrap_or(&""),
                names.join(", ")
            );
            Err(("the claim could be about several quantities", remedy))
        }
    }
}

/// Subject and object among summaries of one quantity; none if that is not clear.
fn pair(family: &[usize], baseline: usize, named: &[(Vec<usize>, bool)]) -> Option<(usize, usize)> {
    let member = |so_called: &Vec<usize>| so_called.iter().copied().find(|at| family.contains(at));
    let members: Vec<(usize, bool)> =
        named.iter().map(|(so_called, is_object)| Some((member(so_called)?, *is_object))).collect::<Option<_>>()?;
    let other = |one: usize| family.iter().copied().find(|at| *at != one).filter(|_| family.len() == 2);
    match members.as_slice() {
        [(object, true), (subject, false)] if subject != object => Some((*subject, *object)),
        [(subject, _), (object, _)] if subject != object => Some((*subject, *object)),
        [(object, true)] => Some((other(*object)?, *object)),
        [(subject, false)] if *subject != baseline => Some((*subject, baseline)),
        [(subject, false)] => Some((*subject, other(*subject)?)),
        [] => Some((other(baseline)?, baseline)),
        _ => None,
    }
}

/// The summary that others of its quantity and unit are compared with: the one that is called as the baseline is, or the
/// first.
pub fn baseline_of(summaries: &[Summary], baseline: usize, member: usize) -> usize {
    let family = || (0..summaries.len()).filter(|at| summaries[*at].is_comparable(&summaries[member]));
    let so_called = |at: &usize| summaries.get(baseline).is_some_and(|wanted| wanted.name == summaries[*at].name);
    family().find(so_called).or_else(|| family().next()).unwrap_or(member)
}
