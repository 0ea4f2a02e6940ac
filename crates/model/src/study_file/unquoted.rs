//! What TOML cannot read because it lacks quotes: most often the name of a Git commit, as level or value.

/// The remedy for what lacks quotes in the line at this place: the name of a level, a text behind `=`, or more than a name.
pub(super) fn unquoted(text: &str, at: usize) -> Option<String> {
    let before = text.get(..at)?;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next()?;
    let (key, _) = line.split_once('=')?;
    let key = key.trim();
    if key.contains(' ') && key.chars().all(|c| fits(c) || c == ' ') {
        let word: Vec<&str> = key.split([' ', '-']).filter(|part| !part.is_empty()).collect();
        return Some(format!("write the name as one word: `{} = …`", word.join("-")));
    }
    if key.contains(|c: char| "/~^@+".contains(c)) && key.chars().all(fits) {
        return Some(format!("write the name in quotes: `\"{key}\" = …`"));
    }
    // A number or a word of TOML needs none, so that something else is wrong with it.
    let is_text = |text: &&str| {
        text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| fits(c) || c == ' ' || c == '=')
    };
    let values = line.split(" = ").skip(1).map(|rest| rest.split([',', '}', '#']).next().unwrap_or_default().trim());
    let value = values.filter(is_text).find(|word| !["true", "false", "inf", "nan"].contains(word))?;
    Some(format!("write strings in quotes: `\"{value}\"`"))
}

/// Whether a character may stand in a name of a level or of a commit.
fn fits(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-+./~^@".contains(c)
}
