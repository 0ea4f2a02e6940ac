//! Words as a shell has them: what a command that was typed means by each, and how a name is written so that a shell takes it
//! as it is.

/// A piece of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// As it was typed, without the white space around it.
    pub(crate) raw: String,
    /// What a shell makes of it; what it would put in the place of variables and patterns is not known here.
    pub(crate) text: String,
    /// The white space behind it.
    pub(crate) space: String,
}

/// The words of a command.
pub(crate) fn words(command: &str) -> Vec<Word> {
    let mut words: Vec<Word> = vec![];
    let (mut quote, mut escaped, mut is_inside) = (None, false, false);
    for c in command.trim_start().chars() {
        if c.is_whitespace() && quote.is_none() && !escaped {
            is_inside = false;
            words.iter_mut().next_back().into_iter().for_each(|word| word.space.push(c));
            continue;
        }
        if !is_inside {
            words.push(Word { raw: String::new(), text: String::new(), space: String::new() });
            is_inside = true;
        }
        let Some(word) = words.last_mut() else { continue };
        word.raw.push(c);
        match (c, quote) {
            _ if escaped => (word.text.push(c), escaped = false).1,
            ('\\', None | Some('"')) => escaped = true,
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, _) => word.text.push(c),
        }
    }
    words
}

/// A text between single quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A program of the prefix.
pub(crate) fn in_prefix(program: &str) -> String {
    let is_special = |c: char| "\"$`\\".contains(c);
    let escaped: String = program.chars().flat_map(|c| is_special(c).then_some('\\').into_iter().chain([c])).collect();
    format!("\"$PREFIX/bin/{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let check = |command: &str, expect: &[&str]| {
            let all = words(command);
            assert_eq!(all.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), expect, "{command}");
            let again: String = all.iter().map(|word| format!("{}{}", word.raw, word.space)).collect();
            assert_eq!(again, command.trim_start());
        };
        check("./prog  input", &["./prog", "input"]);
        check("'./my prog' \"it's\" a\\ b", &["./my prog", "it's", "a b"]);
        check(" x\"y z\"'w' > /dev/null", &["xy zw", ">", "/dev/null"]);
        check("", &[]);
    }

    #[test]
    fn names_reach_a_program_as_they_are() {
        assert_eq!(
            (quoted("it's"), in_prefix("a\"$b")),
            ("'it'\\''s'".to_owned(), "\"$PREFIX/bin/a\\\"\\$b\"".to_owned())
        );
    }
}
