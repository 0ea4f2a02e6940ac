//! The arguments of tools, for people: lines that a shell would understand.

use crate::wrapper::{Call, Calls};
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The calls in the order in which they began, each after the folder it was called in if that is another one.
pub(super) fn of(calls: &Calls) -> Vec<u8> {
    let mut text = b"# Calls of compilers, linkers and archivers, in the order in which they began.\n".to_vec();
    let mut dir: Option<&Path> = None;
    for call in &calls.whole {
        if dir != Some(&call.dir) {
            text.extend(b"cd ");
            text.extend(quoted(call.dir.as_os_str()));
            text.push(b'\n');
            dir = Some(&call.dir);
        }
        line(call, &mut text);
    }
    if calls.damaged > 0 {
        let _ = writeln!(text, "# {} records are not whole", calls.damaged);
    }
    text
}

fn line(call: &Call, text: &mut Vec<u8>) {
    text.extend(words(std::iter::once(call.tool.as_os_str()).chain(call.words.iter().map(OsString::as_os_str))));
    text.push(b'\n');
    if !call.response_files.is_empty() {
        text.extend(b"# that is: ");
        text.extend(words(call.all_words().iter().map(OsString::as_os_str)));
        text.push(b'\n');
    }
    if call.shuffled > 0 {
        let _ = writeln!(text, "# shuffled {}", call.shuffled);
    }
}

fn words<'w>(words: impl Iterator<Item = &'w OsStr>) -> Vec<u8> {
    words.map(quoted).collect::<Vec<_>>().join(&b' ')
}

/// As a shell reads it; a word without anything special is left as it is.
fn quoted(word: &OsStr) -> Vec<u8> {
    let bytes = word.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_=+./,:@%^".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.to_vec();
    }
    let mut quoted = vec![b'\''];
    for &byte in bytes {
        match byte {
            b'\'' => quoted.extend(b"'\\''"),
            byte => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::called::called;
    use super::*;

    #[test]
    fn lines_are_what_a_shell_would_understand() {
        let call = |dir: &str, words: &[&str], shuffled| Call {
            words: words.iter().map(OsString::from).collect(),
            response_files: vec![Some(b"a.o 'b c.o'".to_vec())].into_iter().filter(|_| shuffled > 0).collect(),
            shuffled,
            ..called(dir, "gcc")
        };
        let whole = vec![
            call("/w", &["-c", "a b.c", "-DX='y'"], 0),
            call("/w", &["", "new\nline"], 0),
            call("/w/x", &["@list"], 2),
        ];
        let text = String::from_utf8(of(&Calls { whole, damaged: 1 })).unwrap();
        let expect = "cd /w\n/usr/bin/gcc -c 'a b.c' '-DX='\\''y'\\'''\n/usr/bin/gcc '' 'new\nline'\ncd /w/x\n\
                      /usr/bin/gcc @list\n# that is: a.o 'b c.o'\n# shuffled 2\n# 1 records are not whole\n";
        assert_eq!(text.split_once('\n').unwrap().1, expect);
    }
}
