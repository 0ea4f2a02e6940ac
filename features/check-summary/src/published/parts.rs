//! A claim, taken apart: names of summaries and quantities, amounts, and words. A name is the longest that stands there.

use super::said::is_known;
use super::says::Amount;
use super::words::{Word, spelled, split_unit, words};
use super::{Figure, Summary};

/// A part of a claim.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part<'a> {
    /// All summaries that are called so.
    Name(Vec<usize>),
    /// All summaries of this quantity.
    Quantity(Vec<usize>),
    Amount(Amount),
    /// `half`: one of this many parts.
    Fraction(Figure),
    Word(String, Word<'a>),
}

/// The amounts that single words name.
const TIMES: [(&str, &str); 5] = [("twice", "2"), ("double", "2"), ("doubles", "2"), ("doubled", "2"), ("thrice", "3")];
const FRACTIONS: [(&str, &str); 4] = [("half", "2"), ("halves", "2"), ("third", "3"), ("quarter", "4")];
/// From two on.
const NUMBERS: [&str; 9] = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
/// The amount that follows is not exact.
const ABOUT: [&str; 9] = ["about", "around", "roughly", "approximately", "nearly", "almost", "some", "~", "ca."];

/// The parts of a claim.
pub(super) fn parts<'a>(text: &'a str, summaries: &[Summary]) -> Vec<Part<'a>> {
    let mut parts = vec![];
    let mut start = 0;
    let mut about = false;
    while start < text.len() {
        let rest = &text[start..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', ',', ';', ':']).len();
        if blank > 0 {
            start += blank;
            continue;
        }
        if let Some((part, length)) = name_at(rest, summaries) {
            parts.push(part);
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
        let bare = word.text.trim_end_matches(['.', '!', '?', ':']);
        if ABOUT.contains(&word.text.to_lowercase().as_str()) {
            about = true;
            continue;
        }
        if bare.is_empty() {
            continue;
        }
        let next = words(&text[start..], start, char::is_whitespace).first().copied();
        let (part, takes_next) = part(bare, word, next, &mut about);
        parts.push(part);
        if takes_next {
            start = next.map_or(start, |word| word.span().end);
        }
    }
    parts
}

/// A word, or an amount; and whether it took the next word, too.
fn part<'a>(bare: &str, word: Word<'a>, next: Option<Word<'a>>, about: &mut bool) -> (Part<'a>, bool) {
    let lower = bare.to_lowercase();
    let of = |list: &[(&str, &str)]| {
        let found = list.iter().find(|(known, _)| *known == lower)?;
        Figure::read(found.1)
    };
    let next = next.map_or("", |word| word.text.trim_end_matches(['.', ',']));
    let mut close = |figure: Figure| if std::mem::take(about) { figure.about() } else { figure };
    if let Some(figure) = of(&TIMES) {
        return (Part::Amount(Amount::Times(close(figure))), false);
    }
    if let Some(figure) = of(&FRACTIONS) {
        return (Part::Fraction(close(figure)), false);
    }
    let number = NUMBERS.iter().position(|known| *known == lower).filter(|_| next == "times");
    if let Some(figure) = number.and_then(|at| Figure::read(&(at + 2).to_string())) {
        return (Part::Amount(Amount::Times(close(figure))), true);
    }
    let without = bare.trim_start_matches(['~', '≈']);
    let (digits, stuck) = split_unit(without);
    let Some(figure) = Figure::read(digits) else { return (Part::Word(lower, word), false) };
    let figure = if without.len() < bare.len() { figure.about() } else { close(figure) };
    let unit = if stuck.is_empty() { next } else { stuck };
    let amount = match unit {
        "%" | "percent" => Amount::Percent(figure),
        "x" | "×" | "times" => Amount::Times(figure),
        unit if is_unit(unit) => Amount::Absolute(figure, Some(spelled(unit))),
        _ => return (Part::Amount(Amount::Absolute(figure, None)), false),
    };
    (Part::Amount(amount), stuck.is_empty())
}

/// A word behind a number is its unit if it means nothing else.
fn is_unit(word: &str) -> bool {
    let letters = !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || c == '/');
    letters && !is_known(&word.to_lowercase())
}

/// The name at the beginning of a text, and how long it is.
fn name_at<'a>(text: &str, summaries: &[Summary]) -> Option<(Part<'a>, usize)> {
    let stands = |name: &str| {
        // `a` is no name of A.
        let alike = |there: &str| there == name || (name.len() > 1 && there.eq_ignore_ascii_case(name));
        let same = text.get(..name.len()).is_some_and(alike);
        let next = || text[name.len()..].chars().next();
        !name.is_empty() && same && next().is_none_or(|c| c.is_whitespace() || ",;:=.!?".contains(c))
    };
    let all = |fits: &dyn Fn(&Summary) -> bool| -> Vec<usize> {
        summaries.iter().enumerate().filter(|(_, summary)| fits(summary)).map(|(at, _)| at).collect()
    };
    let last = |summary: &Summary| summary.name.rsplit('/').next().unwrap_or_default().to_owned();
    let whole = summaries.iter().map(|s| s.name.clone());
    let names = whole.chain(summaries.iter().map(last)).filter(|name| stands(name)).max_by_key(String::len);
    let labels =
        summaries.iter().filter_map(Summary::label).filter(|label| stands(label)).max_by_key(|label| label.len());
    match (names, labels) {
        (Some(name), label) if label.is_none_or(|label| label.len() <= name.len()) => {
            let same = |other: &str| other.eq_ignore_ascii_case(&name);
            // An exact name goes before one that differs in case, or ends a path.
            let exact = all(&|s| text.starts_with(&s.name) && same(&s.name));
            let found = if exact.is_empty() { all(&|s| same(&s.name) || same(&last(s))) } else { exact };
            Some((Part::Name(found), name.len()))
        }
        (_, Some(label)) => {
            let found = all(&|s| s.label().is_some_and(|other| other.eq_ignore_ascii_case(label)));
            Some((Part::Quantity(found), label.len()))
        }
        (_, None) => symbol_or_letter(summaries, &stands),
    }
}

/// `+` for what ministat's legend calls so; A, B, C for the first, second and third name.
fn symbol_or_letter<'a>(summaries: &[Summary], stands: &dyn Fn(&str) -> bool) -> Option<(Part<'a>, usize)> {
    let so_called = |fits: &dyn Fn(&Summary) -> bool| {
        let found: Vec<usize> = (0..summaries.len()).filter(|at| fits(&summaries[*at])).collect();
        (!found.is_empty()).then_some((Part::Name(found), 1))
    };
    if let Some(found) = so_called(&|s| s.symbol.as_deref().is_some_and(stands)) {
        return Some(found);
    }
    let meant = |s: &Summary| s.name.len() == 1 && s.name.chars().all(|c| c.is_ascii_uppercase());
    if summaries.iter().any(meant) {
        return None;
    }
    let mut names: Vec<&str> = vec![];
    for summary in summaries {
        if !names.contains(&summary.name.as_str()) {
            names.push(&summary.name);
        }
    }
    let letter = |at: usize| char::from(b'A' + u8::try_from(at).unwrap_or(u8::MAX - b'A')).to_string();
    let at = (0..names.len().min(26)).find(|at| stands(&letter(*at)))?;
    so_called(&|s| s.name == names[at])
}
