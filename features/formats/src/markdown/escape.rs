//! Text of others in Markdown. Every sign that means something in Markdown, in HTML or to a forge that shows it is written as a
//! character reference, which CommonMark never takes for structure (section 2.5); and what a forge makes links and messages of
//! afterwards is parted by an empty comment. What is written here is seen as it was given.

use bakeoff_model::plain::clean;
use bakeoff_report::draw::rendered::{Rendered, Role, Writer};
use bakeoff_report::draw::text::unglue;
use std::collections::BTreeSet;

/// What stands between two signs that would mean something together.
const APART: &str = "<!-- -->";

/// Signs that mean something anywhere in a line: in CommonMark, in its tables, and to forges, which know formulas too.
const SIGNS: &str = "&<>\\`*_[]|~#@$!{}^";

/// The letters of a text, for Markdown.
struct Letters(String);

impl Writer for Letters {
    fn part(&mut self, _: Role, text: &str) {
        self.0 += text;
    }
}

fn letters(text: &Rendered) -> String {
    let mut letters = Letters(String::new());
    text.write_to(&mut letters);
    letters.0
}

/// A text in one line.
pub(super) fn line(text: &Rendered) -> String {
    inline(&unglue(&letters(text)))
}

/// A text that is a name, as code.
pub(super) fn code(text: &Rendered) -> String {
    name(&letters(text))
}

/// A sentence with names in it, in one line.
pub(super) fn inline(text: &str) -> String {
    let text = clean(text);
    let chars: Vec<char> = text.trim().chars().collect();
    let plain = plain_brackets(&chars);
    let mut out = String::new();
    for (at, &c) in chars.iter().enumerate() {
        let (before, after) = (&chars[..at], &chars[at + 1..]);
        if !plain.contains(&at) && is_structure(before, c, after) {
            out.push_str(&reference(c));
        } else {
            out.push(c);
        }
        if leads_somewhere(before, c, after) {
            out.push_str(APART);
        }
    }
    out
}

/// Whether a forge would make a link of a sign and what is next to it. Mentions, numbers of issues and the like, and addresses are
/// found in the text that is seen.
fn leads_somewhere(before: &[char], c: char, after: &[char]) -> bool {
    let ends = |word: &str| {
        let start = before.len().checked_sub(word.len());
        start.is_some_and(|start| before[start..].iter().collect::<String>().eq_ignore_ascii_case(word))
    };
    match c {
        '@' | '#' | '!' | '$' | '%' | '&' | '~' => after.first().is_some_and(|next| next.is_alphanumeric()),
        ':' => after.starts_with(&['/', '/']) || ends("mailto") || ends("xmpp"),
        '.' => ends("www"),
        '-' => ends("GH") && after.first().is_some_and(char::is_ascii_digit),
        _ => false,
    }
}

/// Whether a sign would mean something where it stands.
fn is_structure(before: &[char], c: char, after: &[char]) -> bool {
    let next = after.first();
    let is_in_a_word = before.last().is_some_and(|c| c.is_alphanumeric()) && next.is_some_and(|c| c.is_alphanumeric());
    match c {
        // Only at the beginning of a line: lists, titles, definitions.
        '+' | '-' | '=' | ':' => before.is_empty(),
        c if c.is_ascii_digit() => before.is_empty() && begins_a_list(after),
        // The end of a sentence stays as it is, and so does a name of one word.
        '!' => next == Some(&'['),
        '_' => !is_in_a_word,
        c => is_sign(c),
    }
}

/// Whether what follows a digit at the beginning of a line makes it the number of an item.
fn begins_a_list(after: &[char]) -> bool {
    let rest = &after[after.iter().take_while(|c| c.is_ascii_digit()).count()..];
    matches!(rest, ['.' | ')'] | ['.' | ')', ' ', ..])
}

/// Where brackets stand that are only brackets, such as those of an interval: not at the beginning, where they would be a task or
/// a definition, nothing special inside, and nothing behind that would make a link of them.
fn plain_brackets(chars: &[char]) -> BTreeSet<usize> {
    let mut plain = BTreeSet::new();
    for (open, _) in chars.iter().enumerate().filter(|(at, c)| *at > 0 && **c == '[') {
        let is_inside = |c: &&char| c.is_ascii_alphanumeric() || " .,%+−…-".contains(**c);
        let close = open + 1 + chars[open + 1..].iter().take_while(is_inside).count();
        let ends = chars.get(close) == Some(&']') && close > open + 1;
        let leads = chars.get(close + 1).is_some_and(|c| matches!(c, '(' | '[' | ':'));
        let is_image = matches!(chars[open - 1], '!' | ']');
        if ends && !leads && !is_image {
            plain.extend([open, close]);
        }
    }
    plain
}

/// A name, as code.
fn name(text: &str) -> String {
    let text = clean(text);
    let chars: Vec<char> = text.trim().chars().collect();
    let mut out = String::new();
    for (at, &c) in chars.iter().enumerate() {
        out += &if is_sign(c) || c == ':' { reference(c) } else { c.to_string() };
        if leads_somewhere(&chars[..at], c, &chars[at + 1..]) {
            out.push_str(APART);
        }
    }
    if out.is_empty() { "–".to_owned() } else { format!("<code>{out}</code>") }
}

/// Lines as they are, in a block that they cannot end.
pub(super) fn block(text: &str) -> String {
    let text: Vec<String> = text.split('\n').map(clean).collect();
    let text = text.join("\n");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}sh\n{text}\n{fence}\n")
}

fn is_sign(c: char) -> bool {
    SIGNS.contains(c)
}

fn reference(c: char) -> String {
    format!("&#{};", u32::from(c))
}
