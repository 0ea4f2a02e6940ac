//! Response files: `@file` among the words of a link stands for the words in that file, separated by white space, with
//! quotes and backslashes as GNU tools read them. Objects are shuffled only where they are words of the call itself.

/// Cuts a response file into words, in place: each ends in NUL then. `each` is told where one begins. The last byte is
/// not part of the file.
pub fn split(content: &mut [u8], mut each: impl FnMut(usize)) {
    let end = content.len().saturating_sub(1);
    let (mut from, mut to) = (0, 0);
    loop {
        while from < end && content[from].is_ascii_whitespace() {
            from += 1;
        }
        if from == end {
            return;
        }
        let start = to;
        let mut quote = None;
        while from < end && (quote.is_some() || !content[from].is_ascii_whitespace()) {
            let byte = content[from];
            from += 1;
            match (byte, quote) {
                (b'\\', None | Some(b'"')) if from < end => {
                    content[to] = content[from];
                    (from, to) = (from + 1, to + 1);
                }
                (b'\'' | b'"', None) => quote = Some(byte),
                (byte, Some(open)) if byte == open => quote = None,
                _ => {
                    content[to] = byte;
                    to += 1;
                }
            }
        }
        // The white space after the word, or the byte that is not part of the file, has been read.
        from = (from + 1).min(end);
        content[to] = 0;
        to += 1;
        each(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_response_file() {
        let check = |text: &str, expect: &[&str]| {
            let mut content = [text.as_bytes(), b"?"].concat();
            let mut starts = vec![];
            split(&mut content, |start| starts.push(start));
            let word = |&start: &usize| {
                let word = content[start..].split(|&byte| byte == 0).next().unwrap();
                String::from_utf8(word.to_vec()).unwrap()
            };
            assert_eq!(starts.iter().map(word).collect::<Vec<_>>(), expect, "{text}");
        };
        check("", &[]);
        check(" \n", &[]);
        check("a.o b.o", &["a.o", "b.o"]);
        check("\ta.o\n'b c.o' \"d'e.o\"\\ f\n", &["a.o", "b c.o", "d'e.o f"]);
        check("'' x\\", &["", "x\\"]);
        check("\"a\\\"b\" 'c\\d'", &["a\"b", "c\\d"]);
    }
}
