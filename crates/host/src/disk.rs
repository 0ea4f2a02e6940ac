//! How much space is left on a disk. It measures no input or output.

use std::io;
use std::path::Path;

/// Bytes that an unprivileged process can still write below `path`.
///
/// # Errors
/// The system's word, where `path` is not there or its file system does not tell.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}
