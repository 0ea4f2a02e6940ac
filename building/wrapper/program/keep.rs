//! Keeps the objects and archives of a link: compilers remove what they made for it as soon as the linker has ended, and build systems
//! clean up. Without its objects, nobody could repeat the link. Each gets a second name next to the log; nothing is copied.

use super::find::{LONGEST, joined};
use super::words::Words;
use super::{sys, wire};
use core::ffi::CStr;

/// Keeps those of these words that name an object or an archive. What cannot be kept is not.
pub(super) fn objects(words: Words, log: &CStr) {
    let (mut folder, mut path, mut name) = ([0; LONGEST], [0; LONGEST], [0; LONGEST]);
    let folder = sys::folder(&mut folder).map_or(&b""[..], |folder| folder.strip_suffix(b"\0").unwrap_or(folder));
    for nth in 1..words.len() {
        let word = words.bytes(nth);
        if word.starts_with(b"-") || !(word.ends_with(b".o") || word.ends_with(b".a")) {
            continue;
        }
        let whole = if word.starts_with(b"/") { &[word][..] } else { &[folder, b"/", word] };
        let whole = joined(whole, &mut path).to_bytes();
        let mut flat = [0; wire::LONGEST_KEPT];
        let Some(flat) = flat.get_mut(..whole.len()) else { continue };
        for (to, &from) in flat.iter_mut().zip(whole) {
            *to = if from == b'/' { wire::KEPT_SLASH } else { from };
        }
        let name = joined(&[log.to_bytes(), wire::KEPT.as_bytes(), b"/", flat], &mut name);
        // Of two objects of one name, the later one is that of the link that counts.
        if sys::link(words.get(nth), name) == Err(sys::EEXIST) {
            let _ = sys::unlink(name);
            let _ = sys::link(words.get(nth), name);
        }
    }
}
