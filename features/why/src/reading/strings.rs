//! Names and other text of a file that somebody else wrote, without trust in their lengths.

use super::error::{Broken, In as _};
use std::cell::Cell;

/// Text of somebody else's, which should be ASCII.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Takes strings out of tables. In a file that is whole few are shared; a hostile one could have a million times the
/// same, of a million bytes.
#[derive(Debug)]
pub(super) struct Strings {
    left_bytes: Cell<u64>,
}

impl Strings {
    /// For a file of this size.
    pub(super) fn of(size_bytes: u64) -> Self {
        Self { left_bytes: Cell::new(size_bytes.saturating_mul(4).saturating_add(1 << 20)) }
    }

    /// The string that begins at an offset of a table.
    pub(super) fn get<'d>(&self, table: &'d [u8], offset: u64, part: &str) -> Result<&'d [u8], Broken> {
        let rest = usize::try_from(offset).ok().and_then(|offset| table.get(offset..)).within(part)?;
        let length = memchr::memchr(0, rest).within(part)?;
        let left = self.left_bytes.get().checked_sub(length as u64 + 1);
        self.left_bytes.set(left.ok_or_else(|| Broken(format!("{part}: the strings do not fit in the file")))?);
        Ok(&rest[..length])
    }
}
