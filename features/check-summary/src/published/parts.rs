//! A claim, taken apart: names of summaries and quantities, amounts, and words. A name is the longest that stands there.

use super::says::{Amount, role};
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
    Word(String, Word<'a>),
}

/// The parts of a claim.
pub(super) fn parts<'a>(text: &'a str, summaries: &[Summary]) -> Vec<Part<'a>> {
    let mut parts = vec![];
    let mut start = 0;
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
        if rest.starts_with('=') {
            parts.push(Part::Word("=".to_owned(), Word { text: &text[start..=start], start }));
            start += 1;
            continue;
        }
        let Some(word) = words(rest, start, |c| c.is_whitespace() || ",;".contains(c)).first().copied() else { break };
        start += word.text.len();
        let bare = word.text.trim_end_matches(['.', '!', '?', ':']);
        if bare.is_empty() {
            continue;
        }
        let next = words(&text[start..], start, char::is_whitespace).first().copied();
        let (part, takes_next) = part(bare, word, next.map_or("", |word| word.text.trim_end_matches(['.', ','])));
        parts.push(part);
        if takes_next {
            start = next.map_or(start, |word| word.span().end);
        }
    }
    parts
}

/// A word, or an amount; and whether it took the next word, too.
fn part<'a>(bare: &str, word: Word<'a>, next: &str) -> (Part<'a>, bool) {
    let without = bare.trim_start_matches(['~', '≈']);
    let (digits, stuck) = split_unit(without);
    let Some(figure) = Figure::read(digits) else { return (Part::Word(bare.to_lowercase(), word), false) };
    let figure = if without.len() < bare.len() { figure.about() } else { figure };
    let amount = match if stuck.is_empty() { next } else { stuck } {
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
    letters && role(&word.to_lowercase()).is_none()
}

/// Whether a name stands at the beginning of a text, and ends there.
fn stands(text: &str, name: &str) -> bool {
    // `a` is no name of A.
    let is_alike =
        text.get(..name.len()).is_some_and(|there| there == name || (name.len() > 1 && is_same(there, name)));
    let next = || text[name.len()..].chars().next();
    !name.is_empty() && is_alike && next().is_none_or(|c| c.is_whitespace() || ",;:=.!?".contains(c))
}

fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// The summaries that fit.
fn all(summaries: &[Summary], fits: impl Fn(&Summary) -> bool) -> Vec<usize> {
    (0..summaries.len()).filter(|at| fits(&summaries[*at])).collect()
}

/// The last part of a path.
fn last(summary: &Summary) -> &str {
    summary.name.rsplit('/').next().unwrap_or_default()
}

/// The name at the beginning of a text, and how long it is.
fn name_at<'a>(text: &str, summaries: &[Summary]) -> Option<(Part<'a>, usize)> {
    let names = summaries.iter().map(|summary| summary.name.as_str()).chain(summaries.iter().map(last));
    let name = names.filter(|name| stands(text, name)).max_by_key(|name| name.len());
    let labels = summaries.iter().filter_map(Summary::label).filter(|label| stands(text, label));
    match (name, labels.max_by_key(|label| label.len())) {
        (Some(name), label) if label.is_none_or(|label| label.len() <= name.len()) => {
            // An exact name goes before one that differs in case, or ends a path.
            let exact = all(summaries, |s| text.starts_with(&s.name) && is_same(&s.name, name));
            let found = match exact.is_empty() {
                true => all(summaries, |s| is_same(&s.name, name) || is_same(last(s), name)),
                false => exact,
            };
            Some((Part::Name(found), name.len()))
        }
        (_, Some(label)) => {
            let found = all(summaries, |s| s.label().is_some_and(|other| is_same(other, label)));
            Some((Part::Quantity(found), label.len()))
        }
        (_, None) => symbol_or_letter(text, summaries),
    }
}

/// `+` for what ministat's legend calls so; A, B, C for the first, second and third name.
fn symbol_or_letter<'a>(text: &str, summaries: &[Summary]) -> Option<(Part<'a>, usize)> {
    let of_symbol = all(summaries, |s| s.symbol.as_deref().is_some_and(|symbol| stands(text, symbol)));
    if !of_symbol.is_empty() {
        return Some((Part::Name(of_symbol), 1));
    }
    let mut names: Vec<&str> = vec![];
    for Summary { name, .. } in summaries {
        if name.len() == 1 && name.chars().all(|c| c.is_ascii_uppercase()) {
            return None;
        }
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let at = (b'A'..=b'Z').take(names.len()).position(|letter| stands(text, &char::from(letter).to_string()))?;
    Some((Part::Name(all(summaries, |s| s.name == names[at])), 1))
}
