//! The real tool: the next one of a name on the search path that is neither we nor a cache of compilers. One that was
//! not asked for would make what building costs a matter of chance, and would call us again.

use super::sys;
use super::text::{Digits, Path};
use super::tool::last_part;
use super::wire;
use core::ffi::CStr;

/// As shells have it that find no PATH.
const USUAL: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// Longer paths than this there are none.
pub(super) const LONGEST: usize = 4096;

/// Files of a name on a search path.
pub(super) struct Search<'a> {
    rest: Option<&'a [u8]>,
    name: &'a [u8],
}

impl<'a> Search<'a> {
    pub(super) fn new(path: Option<&'a CStr>, name: &'a [u8]) -> Self {
        Self { rest: Some(path.map_or(USUAL, CStr::to_bytes)), name }
    }

    /// The next that may be executed.
    pub(super) fn next<'b>(&mut self, into: &'b mut [u8; LONGEST]) -> Option<&'b CStr> {
        while let Some(rest) = self.rest {
            let end = rest.iter().position(|&byte| byte == b':');
            self.rest = end.map(|end| &rest[end + 1..]);
            let folder = &rest[..end.unwrap_or(rest.len())];
            let folder: &[u8] = if folder.is_empty() { b"." } else { folder };
            let length = folder.len() + 1 + self.name.len();
            if length >= LONGEST {
                continue;
            }
            into[..folder.len()].copy_from_slice(folder);
            into[folder.len()] = b'/';
            into[folder.len() + 1..length].copy_from_slice(self.name);
            into[length] = 0;
            let found = CStr::from_bytes_until_nul(&into[..]).unwrap_or_default();
            if sys::may_execute(found) && !is_passed_over(found) {
                return Some(CStr::from_bytes_until_nul(&into[..]).unwrap_or_default());
            }
        }
        None
    }
}

/// Whether a link leads to us, or to a cache of compilers.
fn is_passed_over(path: &CStr) -> bool {
    let mut target = [0; LONGEST];
    let Ok(next) = sys::read_link(path, &mut target) else { return false };
    if last_part(next, b'/') == wire::PROGRAM.as_bytes() {
        return true;
    }
    let Ok(file) = sys::open(path, sys::O_PATH) else { return false };
    let of_file = Path::new(&[b"/proc/self/fd/", Digits::new(u64::from(file)).bytes()]);
    let is_one = sys::read_link(of_file.c_str(), &mut target).is_ok_and(|end| {
        let name = last_part(end, b'/');
        name == wire::PROGRAM.as_bytes() || name == b"ccache" || name == b"sccache"
    });
    sys::close(file);
    is_one
}
