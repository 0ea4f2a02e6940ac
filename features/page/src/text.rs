//! Text of the report and of others in HTML: sentences in which claims stand out, and names that are seen as names. The template
//! escapes everything; what could steer a reader's eye (controls, directions) is made visible by `clean` before.

use bakeoff_judge::findings::Findings;
use bakeoff_model::plain::clean;
use bakeoff_report::Brief;
use bakeoff_report::draw::paint::Ink;
use maud::{Markup, html};

/// A name of others.
pub(crate) fn name(text: &str) -> Markup {
    html! { bdi.v { (clean(text)) } }
}

/// A sentence of the report, whatever names are in it; a number and its per cent stay in one line.
pub(crate) fn sentence(text: &str) -> String {
    clean(text).replace(" %", "\u{a0}%")
}

/// By which number the page calls a variant.
pub(crate) fn variant_id(findings: &Findings, variant: &str) -> Option<usize> {
    findings.variants.iter().position(|known| known.name == variant)
}

/// The class of an ink.
pub(crate) fn class_of(ink: Ink) -> &'static str {
    match ink {
        Ink::Plain => "",
        Ink::Heading => "heading",
        Ink::Aside => "quiet",
        Ink::Better => "better",
        Ink::Worse => "worse",
        Ink::Same => "same",
        Ink::Open => "open",
    }
}

/// A part of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Plain,
    Name,
    Claim(Ink),
    Aside,
}

/// The answer: names as names, claims bold and in their colour, intervals small.
pub(crate) fn answer(brief: &Brief<'_>) -> Markup {
    let mut known: Vec<(String, Part)> = vec![];
    for row in &brief.rows {
        known.push((row.name.clone(), Part::Name));
        if row.comparison.is_some() && row.claim.chars().any(|c| c.is_ascii_digit()) {
            known.push((row.claim.clone(), Part::Claim(row.ink)));
        }
        if !row.interval.is_empty() {
            known.push((["(", &row.interval, ")"].concat(), Part::Aside));
        }
    }
    // A name may be the beginning of another one.
    known.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    html! {
        @for (part, text) in parts(&brief.answer, &known) {
            @match part {
                Part::Plain => { (text) }
                Part::Name => { (name(text)) }
                Part::Claim(ink) => { b class=(class_of(ink)) { (text) } }
                Part::Aside => { small { (text) } }
            }
        }
    }
}

/// Where the known parts stand in a sentence; a part begins and ends where a word does.
fn parts<'t>(text: &'t str, known: &[(String, Part)]) -> Vec<(Part, &'t str)> {
    let is_word = |c: char| c.is_alphanumeric() || "=-_/+.".contains(c);
    let (mut parts, mut plain, mut at) = (vec![], 0, 0);
    while at < text.len() {
        let rest = &text[at..];
        let begins = !text[..at].chars().next_back().is_some_and(is_word);
        let fits = |(part, _): &&(String, Part)| {
            let after = rest.strip_prefix(part.as_str()).map(|after| after.trim_start_matches('.'));
            begins && !part.is_empty() && after.is_some_and(|after| !after.chars().next().is_some_and(is_word))
        };
        match known.iter().find(fits) {
            Some((found, part)) => {
                if plain < at {
                    parts.push((Part::Plain, &text[plain..at]));
                }
                parts.push((*part, &rest[..found.len()]));
                at += found.len();
                plain = at;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    if plain < text.len() {
        parts.push((Part::Plain, &text[plain..]));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_claims_are_found_as_whole_words() {
        let known = [
            ("O2 lto".to_owned(), Part::Name),
            ("O2".to_owned(), Part::Name),
            ("7.5 % faster".to_owned(), Part::Claim(Ink::Better)),
        ];
        let found = |text: &'static str| -> Vec<&str> {
            parts(text, &known).into_iter().filter(|(part, _)| *part != Part::Plain).map(|(_, text)| text).collect()
        };
        assert_eq!(found("O2 lto is the fastest: 7.5 % faster than O2"), ["O2 lto", "7.5 % faster", "O2"]);
        assert_eq!(found("O2x, xO2 and O2=1"), Vec::<&str>::new());
        assert_eq!(found("only O2."), ["O2"]);
        let text = "ü O2 ü";
        assert_eq!(parts(text, &known).into_iter().map(|(_, text)| text).collect::<String>(), text);
    }

    #[test]
    fn text_of_others_is_text() {
        let shown = name("<img src=x onerror=alert(1)>\u{202e}\u{1b}[2J").into_string();
        assert_eq!(shown, "<bdi class=\"v\">&lt;img src=x onerror=alert(1)&gt;??[2J</bdi>");
    }
}
