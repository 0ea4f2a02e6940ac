//! What the wrapper that stands before linkers and archivers wrote down: here only how many objects it put into another
//! order.

use crate::error::{At, Error};
use std::fs;
use std::path::Path;

/// The first thing of every record; see the wrapper's own definition.
const MAGIC: &[u8] = b"\0\x01bkcall";
/// Where the number stands, counted from there, in the machine's order of bytes.
const SHUFFLED_AT: usize = 32;

/// How many objects were put into another order, in all calls together. A call with one object has no order.
pub(crate) fn permuted(log: &Path) -> Result<u64, Error> {
    let bytes = fs::read(log).at("read", log)?;
    let number = |at: usize| {
        let number = bytes.get(at + SHUFFLED_AT..at + SHUFFLED_AT + 4)?;
        Some(u32::from_ne_bytes(number.try_into().ok()?))
    };
    let counts = memchr::memmem::find_iter(&bytes, MAGIC).filter_map(number);
    Ok(counts.filter(|count| *count > 1).map(u64::from).sum())
}
