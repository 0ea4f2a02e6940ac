//! Confinement: by Landlock, this process and all that it starts may write only to some files and folders, and read only
//! these and some more, if there are any. Listing folders and networks are as before, and so are modes, owners and times of
//! files, which Landlock does not know.

use super::text::Digits;
use super::words::Words;
use super::{landlock, sys, wire};

const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
/// Removing, making and, from the second version on, moving to another folder: what folders know beyond
/// [`WRITE_FILE`] and [`TRUNCATE`].
const OF_FOLDERS: u64 = 0b11_1111_1111 << 4;
const TRUNCATE: u64 = 1 << 14;

/// The first version that lets anybody move a file to another folder, which builds do.
const FIRST: usize = 2;
/// The first that knows truncation.
const TRUNCATES: usize = 3;

/// Folders of devices, and those below them in which semaphores and queues are made.
const DEVICES: [(&core::ffi::CStr, u64); 3] =
    [(c"/dev", WRITE_FILE | TRUNCATE), (c"/dev/shm", u64::MAX), (c"/dev/mqueue", u64::MAX)];

/// Confines us to these paths, or says on standard error why not. What is not there is passed over.
pub(super) fn confine(paths: &Words) {
    if let Err(errno) = try_to_confine(paths) {
        for piece in [&b"bakeoff: not confined: errno "[..], Digits::new(u64::from(errno)).bytes(), b"\n"] {
            let _ = sys::write(2, piece);
        }
    }
}

fn try_to_confine(paths: &Words) -> sys::Result<()> {
    let version = landlock::version()?;
    if version < FIRST {
        return Err(sys::EOPNOTSUPP);
    }
    let of_files = if version < TRUNCATES { WRITE_FILE } else { WRITE_FILE | TRUNCATE };
    let readable = (0..paths.len()).find(|&nth| paths.bytes(nth) == wire::READABLE.as_bytes());
    let of_files = if readable.is_some() { of_files | READ_FILE } else { of_files };
    let rules = landlock::rules(OF_FOLDERS | of_files)?;
    let allow = |path, most: u64| -> sys::Result<()> {
        let (file, rights) = match sys::open(path, sys::O_PATH | sys::O_DIRECTORY) {
            Ok(folder) => (folder, (OF_FOLDERS | of_files) & most),
            Err(_) => match sys::open(path, sys::O_PATH) {
                Ok(file) => (file, of_files & most),
                Err(_) => return Ok(()),
            },
        };
        let allowed = landlock::allow(rules, file, rights);
        sys::close(file);
        allowed
    };
    for (path, rights) in DEVICES {
        allow(path, rights)?;
    }
    for nth in 0..paths.len() {
        let is_readable = readable.is_some_and(|first| nth > first);
        allow(paths.get(nth), if is_readable { READ_FILE } else { u64::MAX })?;
    }
    for output in [1, 2] {
        // For /dev/stdout and /dev/stderr, which open what is open there anew. Pipes need no rule, and can have none.
        let _ = landlock::allow(rules, output, of_files);
    }
    sys::give_up_new_privileges()?;
    landlock::restrict(rules)?;
    sys::close(rules);
    Ok(())
}
