//! What the wrapper that stands before linkers and archivers wrote down: here only how many objects it put into another
//! order.

use crate::error::{At, Error};
use crate::wrapper::calls;
use std::fs;
use std::path::Path;

/// How many objects were put into another order, in all calls together. A call with one object has no order.
pub(crate) fn permuted(log: &Path) -> Result<u64, Error> {
    let calls = calls(&fs::read(log).at("read", log)?);
    Ok(calls.whole.iter().map(|call| u64::from(call.shuffled)).filter(|objects| *objects > 1).sum())
}
