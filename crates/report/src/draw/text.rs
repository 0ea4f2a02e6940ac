//! Text on a screen: how wide it is, where it may break, and what of somebody else's text may be shown at all.

pub use bakeoff_model::plain::clean;
use unicode_width::UnicodeWidthStr;

/// Stands between the words of a number and its unit while text may still be broken; printed as a space.
const NO_BREAK: char = '\u{a0}';

/// Number of columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Text that is never broken: its spaces do not count as such until it is printed.
pub fn glue(text: &str) -> String {
    text.replace(' ', &NO_BREAK.to_string())
}

/// Undoes [`glue`].
pub fn unglue(text: &str) -> String {
    text.replace(NO_BREAK, " ")
}

/// Breaks a paragraph between words into lines of at most `columns`; further lines begin with `indent` spaces.
pub fn wrap(paragraph: &str, columns: usize, indent: usize) -> Vec<String> {
    let mut lines = vec![];
    let mut line: String = paragraph.chars().take_while(|c| *c == ' ').collect();
    for word in paragraph.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let begun = !line.trim_start().is_empty();
        if begun && width(&line) + 1 + width(word) > columns {
            lines.push(unglue(&line));
            line = " ".repeat(indent);
        } else if begun {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(unglue(&line));
    lines
}

/// One line of somebody else's output: control characters become `?`, tabs spaces, and what exceeds `columns` `…`.
pub fn foreign(line: &str, columns: usize) -> String {
    let clean = clean(line);
    if width(&clean) <= columns {
        return clean;
    }
    beginning(clean.chars(), columns.saturating_sub(1)) + "…"
}

/// As many characters as there is room for.
fn beginning(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut taken = String::new();
    for c in chars {
        if width(&taken) + width(c.encode_utf8(&mut [0; 4])) > room {
            break;
        }
        taken.push(c);
    }
    taken
}

/// A name in at most `columns`: a longer one loses its middle, where names of variants are most alike.
pub fn middle(name: &str, columns: usize) -> String {
    if width(name) <= columns {
        return name.to_owned();
    }
    let room = columns.saturating_sub(1);
    let head = beginning(name.chars(), room - room / 2);
    let tail: String = beginning(name.chars().rev(), room / 2).chars().rev().collect();
    format!("{head}…{tail}")
}

/// One line of somebody else's output, harmless to a terminal, in as many parts as fit into `columns` each: broken after
/// a space where there is one in the second half, and anywhere else.
pub fn broken(line: &str, columns: usize) -> Vec<String> {
    let mut parts = vec![];
    let mut part = String::new();
    for c in clean(line).chars() {
        if !part.is_empty() && width(&part) + width(c.encode_utf8(&mut [0; 4])) > columns.max(1) {
            let at = part.rfind(' ').map(|at| at + 1).filter(|at| 2 * at > part.len());
            let rest = at.map_or_else(String::new, |at| part.split_off(at));
            parts.push(std::mem::replace(&mut part, rest));
        }
        part.push(c);
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_break_between_words_only() {
        let check = |text: &str, columns, indent, expect: &[&str]| assert_eq!(wrap(text, columns, indent), expect);
        check("", 10, 0, &[""]);
        check("one two three", 7, 0, &["one two", "three"]);
        check("one two three", 7, 2, &["one two", "  three"]);
        check("  one two three", 9, 4, &["  one two", "    three"]);
        check("unbreakable is whole", 4, 0, &["unbreakable", "is", "whole"]);
        check(&format!("about {} more", glue("16.1 %")), 10, 0, &["about", "16.1 %", "more"]);
        check("größer als 漢字 ist", 10, 0, &["größer als", "漢字 ist"]);
    }

    #[test]
    fn long_names_lose_their_middle() {
        let check = |name: &str, columns, expect: &str| assert_eq!(middle(name, columns), expect);
        check("libperl=shared", 14, "libperl=shared");
        check("libperl=shared+bsymbolic", 12, "libper…bolic");
        check("漢字漢字", 5, "漢…字");
        check("ab", 1, "…");
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        let check = |text: &str, columns, expect: &str| assert_eq!(foreign(text, columns), expect);
        check("\u{1b}[2Jgone\r", 20, "?[2Jgone?");
        check("a\tb", 20, "a b");
        check("\u{202e}desrever\u{9b}31m", 20, "?desrever?31m");
        check("0123456789", 5, "0123…");
        check("漢字漢字", 5, "漢字…");
    }
}
