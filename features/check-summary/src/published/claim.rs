//! Claims about published figures in a few fixed forms: `B 1.4% slower than A`, `A faster than B by 3.2 s`, `equal within 0.5%`,
//! `A = B`, `no difference`. Here they are read; whether they hold is judged elsewhere. What is in no such form is a problem,
//! for a claim that is half understood would be judged as another.

use super::Summary;
use super::parts::{Part, parts};
use super::says::{Role, role};
use bakeoff_model::problem::{Problem, Problems};
use serde::{Deserialize, Serialize};

pub use super::says::{Amount, Says, Way};

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

const FORMS: &str = "such as `B 1.4% slower than A`, `B ~20% faster`, `A faster than B by 3.2 s`, `B 2x slower`, `B 3% higher`, \
                     `A = B`, `equally fast`, `equal within 0.5%`, `A differs from B`, `no difference`, `no significant \
                     difference`";

/// Names in a claim, each with all summaries that are called so, and whether a word such as `than` stands before it.
type Named = Vec<(Vec<usize>, bool)>;
/// The two that are meant, or a message and a remedy.
type Two = Result<(usize, usize), (&'static str, String)>;

impl Claim {
    /// Reads a claim about some summaries. They are named by their names, by the last part of a path, by ministat's symbols,
    /// or by the letters A, B, C in their order; a side that is not named is the `baseline`, or the only other one. Where there
    /// are several quantities with these names, the claim must name one.
    ///
    /// # Errors
    /// What of it is not understood, with the words that would be.
    pub fn read(text: &str, summaries: &[Summary], baseline: usize) -> Result<Self, Problems> {
        let whole = 0..text.len();
        let fail = |span, message: String, remedy: &str| {
            let problem = Problem { span, message, label: String::new(), remedy: remedy.to_owned() };
            Err(Problems::new("--claim", text, vec![problem]))
        };
        let mut named: Named = vec![];
        let mut quantities: Vec<Vec<usize>> = vec![];
        let mut amounts = vec![];
        let mut said = vec![];
        let mut is_object = false;
        let not_understood = |span, words: &str| {
            let remedy = format!("the names are {}; claims are {FORMS}", names(summaries));
            fail(span, format!("`{words}` is not understood"), &remedy)
        };
        for part in parts(text, summaries) {
            match part {
                Part::Name(so_called) => named.push((so_called, std::mem::take(&mut is_object))),
                Part::Quantity(of_it) => quantities.push(of_it),
                Part::Amount(amount) => amounts.push(amount),
                Part::Word(word, place) => match role(&word) {
                    Some(Role::BeforeObject) => is_object = true,
                    Some(Role::Saying) => said.push(word),
                    Some(Role::Filling) => {}
                    None => return not_understood(place.span(), place.text),
                },
            }
        }
        if amounts.len() > 1 {
            return fail(whole, "two amounts in one claim".to_owned(), "make two claims of it");
        }
        let amount = amounts.pop();
        let (subject, object) = match who(summaries, baseline, &named, &quantities, amount.as_ref()) {
            Ok(pair) => pair,
            Err((message, remedy)) => return fail(whole, message.to_owned(), &remedy),
        };
        let positive = |amount: &Amount| match amount {
            Amount::Percent(figure) | Amount::Times(figure) | Amount::Absolute(figure, _) => figure.value > 0.0,
        };
        if amount.as_ref().is_some_and(|amount| !positive(amount)) {
            let remedy = "say `faster` or `slower` instead of a sign, `A = B` instead of 0";
            return fail(whole, "an amount is above 0".to_owned(), remedy);
        }
        match Says::of(&said.join(" "), amount) {
            Some(Ok(says)) => Ok(Self { text: text.to_owned(), subject, object, says }),
            Some(Err(message)) => fail(whole, message.to_owned(), &format!("claims are {FORMS}")),
            None => not_understood(whole, &said.join(" ")),
        }
    }
}

fn names(summaries: &[Summary]) -> String {
    let mut names: Vec<&str> = summaries.iter().map(|summary| summary.name.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names.join(", ")
}

/// Which two are meant, or why that is not clear and what to do.
fn who(summaries: &[Summary], baseline: usize, named: &Named, of: &[Vec<usize>], amount: Option<&Amount>) -> Two {
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
            let remedy = "name two different ones of one quantity, such as `B slower than A`; the names are";
            Err(("which two are meant?", format!("{remedy} {}", names(summaries))))
        }
        (several, _) => {
            let names: Vec<&str> = several.iter().filter_map(|(one, _)| summaries[*one].label()).collect();
            let remedy =
                format!("name one, such as `{}: …`; there are {}", names.first().unwrap_or(&""), names.join(", "));
            Err(("which quantity is meant?", remedy))
        }
    }
}

/// Subject and object among summaries of one quantity; none if that is not clear.
fn pair(family: &[usize], baseline: usize, named: &Named) -> Option<(usize, usize)> {
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
