//! Text of somebody else's on its way to a terminal: what a terminal would obey, or would not show as it stands, becomes a
//! question mark. It changes no other character and knows nothing of what the text says.

use std::borrow::Cow;

/// What begins a control sequence (ECMA-48).
const ESCAPE: char = '\u{1b}';

/// One line, at any length: what a terminal would obey becomes `?`, tabs and line ends become spaces.
pub fn clean(text: &str) -> String {
    let one = |c: char| match c {
        '\t' | '\n' => ' ',
        c if is_harmful(c) => '?',
        c => c,
    };
    text.chars().map(one).collect()
}

/// A text of several lines: only tabs and line ends stay; if it is `styled`, also colours and weights (SGR of ECMA-48).
pub fn harmless(text: &str, styled: bool) -> Cow<'_, str> {
    let stays = |c: char| matches!(c, '\t' | '\n') || !is_harmful(c);
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = style_at(rest).filter(|_| styled);
        match style {
            Some(style) => out.push_str(style),
            None => out.push(if stays(c) { c } else { '?' }),
        }
        rest = &rest[style.map_or(c.len_utf8(), str::len)..];
    }
    Cow::Owned(out)
}

/// The same characters in a text of JSON, where they can only stand in strings, as escapes: so it says what it said.
pub fn escaped(json: &str) -> Cow<'_, str> {
    // Between strings there are line ends.
    let stays = |c: char| (c.is_ascii() && c != '\u{7f}') || !is_harmful(c);
    if json.chars().all(stays) {
        return Cow::Borrowed(json);
    }
    let one = |c: char| match stays(c) {
        true => c.to_string(),
        false => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    Cow::Owned(json.chars().map(one).collect())
}

/// The sequence that changes colour or weight, if the text begins with one.
fn style_at(text: &str) -> Option<&str> {
    let codes = text.strip_prefix(ESCAPE)?.strip_prefix('[')?;
    let length = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    codes[length..].starts_with('m').then(|| &text[..text.len() - codes.len() + length + 1])
}

/// Control characters; those that make others appear elsewhere than where they stand (Unicode Standard Annex 9, explicit
/// directional formatting); those that take no room, so that two names could look the same (Default_Ignorable_Code_Point of the
/// Unicode Character Database, tags and fillers among them; not variation selectors, which belong to what they follow); and
/// noncharacters, which no XML document may have.
fn is_harmful(c: char) -> bool {
    let is_noncharacter = matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe;
    c.is_control()
        || is_noncharacter
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_and_not_obeyed() {
        let check = |text: &str, plain: &str, styled: &str| {
            assert_eq!(harmless(text, false), plain, "{text:?}");
            assert_eq!(harmless(text, true), styled, "{text:?}");
        };
        check("plain ü\n\tn = 3 ≥ 2 “x”", "plain ü\n\tn = 3 ≥ 2 “x”", "plain ü\n\tn = 3 ≥ 2 “x”");
        check("\u{1b}[31;1mred\u{1b}[0m", "?[31;1mred?[0m", "\u{1b}[31;1mred\u{1b}[0m");
        check("\u{1b}[2Jgone\r", "?[2Jgone?", "?[2Jgone?");
        check("\u{1b}]0;title\u{7}", "?]0;title?", "?]0;title?");
        check("\u{9b}31m\u{202e}x\u{200b}y\u{feff}\u{1b}", "?31m?x?y??", "?31m?x?y??");
        check("\u{1b}[31", "?[31", "?[31");
        check("\u{1b}[3\u{1b}[1mx", "?[3?[1mx", "?[3\u{1b}[1mx");
        assert_eq!(clean("a\tb\nc\u{1b}[1m"), "a b c?[1m");
        check("a\u{e0041}\u{e007f}b\u{fffe}\u{1ffff}\u{fdd0}", "a??b???", "a??b???");
        check(
            "\u{2064}\u{206a}\u{3164}\u{61c}\u{34f}é e\u{301} 👍\u{fe0f}",
            "?????é e\u{301} 👍\u{fe0f}",
            "?????é e\u{301} 👍\u{fe0f}",
        );
    }

    #[test]
    fn json_says_what_it_said() {
        for text in ["plain", "ü “x”", "\u{9b}\u{202e}\u{200b}\u{7f}", "a\tb\u{1b}"] {
            let json = serde_json::to_string(text).unwrap();
            let escaped = escaped(&json);
            assert!(escaped.chars().all(|c| c.is_ascii() || !is_harmful(c)), "{escaped}");
            assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }
}
