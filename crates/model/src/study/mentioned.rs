//! Which variables a command or script mentions, read as text: no shell is asked, and a name in a comment counts too.

/// The variables that a shell's text mentions, as `$NAME` or inside `${…}`.
pub(crate) fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('$').map(|(at, _)| {
        let rest = &text[at + 1..];
        let name = rest.strip_prefix('{').map_or(rest, |braced| braced.trim_start_matches('#'));
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        &name[..end]
    })
}

/// Whether one of them is this variable.
pub fn mentions(text: &str, variable: &str) -> bool {
    mentioned(text).any(|name| name == variable)
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_variable_is_mentioned_by_its_whole_name() {
        for (text, expect) in [
            ("make $CC", true),
            ("make ${CC}", true),
            ("make ${CC:-gcc}", true),
            ("echo \"$CC\"", true),
            ("make $CCX", false),
            ("make CC", false),
            ("$X$CC", true),
            ("cost $", false),
        ] {
            assert_eq!(mentions(text, "CC"), expect, "{text}");
        }
    }
}
