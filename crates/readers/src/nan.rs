//! JSON with numbers that JSON does not have.

use std::borrow::Cow;

/// JSON as Python writes it, in which NaN and Infinity are null: a field that nobody needs may be one.
pub(crate) fn without_nan(text: &[u8]) -> Cow<'_, [u8]> {
    const WORDS: [&[u8]; 3] = [b"NaN", b"-Infinity", b"Infinity"];
    if !WORDS.iter().any(|word| memchr::memmem::find(text, word).is_some()) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut at, mut is_string) = (Vec::with_capacity(text.len()), 0, false);
    while let Some(byte) = text.get(at) {
        let word = WORDS.iter().find(|word| !is_string && text[at..].starts_with(word));
        match (word, byte) {
            (Some(word), _) => {
                out.extend_from_slice(b"null");
                at += word.len();
                continue;
            }
            (None, b'\\') if is_string => {
                out.extend_from_slice(&text[at..text.len().min(at + 2)]);
                at += 2;
                continue;
            }
            (None, b'"') => is_string = !is_string,
            _ => {}
        }
        out.push(*byte);
        at += 1;
    }
    Cow::Owned(out)
}
