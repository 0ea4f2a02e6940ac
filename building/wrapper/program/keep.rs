//! Keeps the objects and archives of a link: compilers remove what they made for it as soon as the linker has ended, and build systems
//! clean up. Without its objects, nobody could repeat the link. Each gets a second name next to the log; nothing is copied.

use super::find::{LONGEST, joined};
use super::words::Words;
use super::{sys, wire};
use core::ffi::CStr;
use core::slice;

/// No more of a list of archives is read.
const MOST_OF_LIST: usize = 4 << 20;

/// Keeps those of these words that name an object or an archive. Go's linker has one archive, the last word, and a list of
/// others. What cannot be kept is not.
pub(super) fn objects(words: Words, log: &CStr, is_go: bool) {
    let mut folder = [0; LONGEST];
    let folder = sys::folder(&mut folder).map_or(&b""[..], |folder| folder.strip_suffix(b"\0").unwrap_or(folder));
    for nth in 1..words.len() {
        let word = words.bytes(nth);
        let is_list = is_go && words.bytes(nth - 1) == b"-importcfg";
        let is_object = word.ends_with(b".o") || word.ends_with(b".a") || is_go && nth + 1 == words.len();
        if !word.starts_with(b"-") && (is_object || is_list) {
            keep(words.get(nth), folder, log);
        }
        if is_list {
            listed(words.get(nth), folder, log);
        }
    }
}

/// Keeps the archives of such a list, each in a line `packagefile NAME=PATH`.
fn listed(list: &CStr, folder: &[u8], log: &CStr) {
    let (Ok(file), Ok(memory)) = (sys::open(list, 0), sys::map(MOST_OF_LIST)) else { return };
    // SAFETY: the mapping is ours and of this length.
    let text = unsafe { slice::from_raw_parts_mut(memory, MOST_OF_LIST) };
    let mut filled = 0;
    while let Ok(more @ 1..) = sys::read(file, &mut text[filled..]) {
        filled += more;
    }
    sys::close(file);
    for line in text[..filled].split_inclusive_mut(|&byte| byte == b'\n') {
        let Some(end) = line.last_mut().filter(|end| **end == b'\n') else { continue };
        *end = 0;
        let is_equal = |byte: &u8| *byte == b'=';
        if let Some(at) = line.iter().position(is_equal).filter(|_| line.starts_with(b"packagefile ")) {
            keep(CStr::from_bytes_with_nul(&line[at + 1..]).unwrap_or_default(), folder, log);
        }
    }
}

fn keep(file: &CStr, folder: &[u8], log: &CStr) {
    let (mut path, mut name) = ([0; LONGEST], [0; LONGEST]);
    let bytes = file.to_bytes();
    let whole = if bytes.starts_with(b"/") { &[bytes][..] } else { &[folder, b"/", bytes] };
    let whole = joined(whole, &mut path).to_bytes();
    let mut flat = [0; wire::LONGEST_KEPT];
    let Some(flat) = flat.get_mut(..whole.len()) else { return };
    for (to, &from) in flat.iter_mut().zip(whole) {
        *to = if from == b'/' { wire::KEPT_SLASH } else { from };
    }
    let name = joined(&[log.to_bytes(), wire::KEPT.as_bytes(), b"/", flat], &mut name);
    // Of two objects of one name, the later one is that of the link that counts.
    if sys::link(file, name) == Err(sys::EEXIST) {
        let _ = sys::unlink(name);
        let _ = sys::link(file, name);
    }
}
