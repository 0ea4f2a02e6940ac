//! The real tool: the next one of a name on the search path that is neither we nor a cache of compilers. One that was
//! not asked for would make what building costs a matter of chance, and would call us again.

use super::text::{Digits, Path};
use super::tool::last_part;
use super::{sys, wire};
use core::ffi::CStr;

/// As shells have it that find no PATH.
const USUAL: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// Longer paths than this there are none.
pub(super) const LONGEST: usize = 4096;

/// Files of a name on a search path.
pub(super) struct Search<'a> {
    rest: Option<&'a [u8]>,
    name: &'a [u8],
    /// Paths of compilers, with colons between them.
    within: &'a [u8],
}

impl<'a> Search<'a> {
    /// Of those, none is found that is in the list `within`: a script that stands before a compiler, and that we have
    /// run, would call us again and for ever.
    pub(super) fn new(path: Option<&'a CStr>, name: &'a [u8], within: Option<&'a CStr>) -> Self {
        let within = within.map_or(&b""[..], CStr::to_bytes);
        Self { rest: Some(path.map_or(USUAL, CStr::to_bytes)), name, within }
    }

    /// The next that may be run.
    pub(super) fn next<'b>(&mut self, into: &'b mut [u8; LONGEST]) -> Option<&'b CStr> {
        while let Some(rest) = self.rest {
            let end = rest.iter().position(|&byte| byte == b':');
            self.rest = end.map(|end| &rest[end + 1..]);
            let folder = &rest[..end.unwrap_or(rest.len())];
            let folder: &[u8] = if folder.is_empty() { b"." } else { folder };
            let found = joined(&[folder, b"/", self.name], into);
            if sys::may_execute(found) && !is_passed_over(found) && !is_within(self.within, found) {
                return Some(CStr::from_bytes_until_nul(&into[..]).unwrap_or_default());
            }
        }
        None
    }
}

/// These, one behind the other; empty if that is too long for a path.
pub(super) fn joined<'a>(pieces: &[&[u8]], into: &'a mut [u8; LONGEST]) -> &'a CStr {
    let mut length = 0;
    for piece in pieces {
        if length + piece.len() >= LONGEST {
            return c"";
        }
        into[length..length + piece.len()].copy_from_slice(piece);
        length += piece.len();
    }
    into[length] = 0;
    CStr::from_bytes_until_nul(&into[..]).unwrap_or_default()
}

/// Whether a link leads to us, or to a cache of compilers.
fn is_passed_over(path: &CStr) -> bool {
    let mut target = [0; LONGEST];
    let Ok(next) = sys::read_link(path, &mut target) else { return false };
    if last_part(next, b'/') == wire::PROGRAM.as_bytes() {
        return true;
    }
    let name = end_of(path, &mut target);
    name == wire::PROGRAM.as_bytes() || name == b"ccache" || name == b"sccache"
}

/// Whether a compiler is clang, whatever it is called.
pub(super) fn is_clang(path: &CStr) -> bool {
    let mut target = [0; LONGEST];
    [last_part(path.to_bytes(), b'/'), end_of(path, &mut target)]
        .iter()
        .any(|name| name.split(|&byte| byte == b'-').any(|part| part == b"clang" || part == b"clang++"))
}

/// Whether a path is in the list.
pub(super) fn is_within(list: &[u8], path: &CStr) -> bool {
    list.split(|&byte| byte == b':').any(|one| one == path.to_bytes())
}

/// The name of the file that a path leads to in the end.
fn end_of<'a>(path: &CStr, target: &'a mut [u8; LONGEST]) -> &'a [u8] {
    last_part(file_of(path, target), b'/')
}

/// The file that a path leads to in the end; empty if there is none.
pub(super) fn file_of<'a>(path: &CStr, target: &'a mut [u8; LONGEST]) -> &'a [u8] {
    let Ok(file) = sys::open(path, sys::O_PATH) else { return b"" };
    let of_file = Path::new(&[b"/proc/self/fd/", Digits::new(u64::from(file)).bytes()]);
    let end = sys::read_link(of_file.c_str(), target).unwrap_or_default();
    sys::close(file);
    end
}
