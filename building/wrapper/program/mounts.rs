//! Mounts, and the namespaces in which nobody else sees them. A tree of mounts is made first, changed, and then put in its
//! place, so that nothing is left of one that could not be made.

use super::sys::{Path, Result, call, number, plain};

pub const CLONE_NEWNS: usize = 0x0002_0000;
pub const CLONE_NEWUSER: usize = 0x1000_0000;

const AT_FDCWD: usize = -100_isize as usize;
const AT_EMPTY_PATH: usize = 0x1000;
const AT_RECURSIVE: usize = 0x8000;

/// Leaves these namespaces for new ones.
pub fn unshare(namespaces: usize) -> Result<()> {
    plain(number::UNSHARE, namespaces, 0, 0).map(drop)
}

/// A file, or a folder with all that is mounted below it, as a mount that has no place yet.
pub fn clone_tree(path: Path<'_>) -> Result<u32> {
    const OPEN_TREE_CLONE_CLOEXEC: usize = 0o2_000_001;
    let arguments = [AT_FDCWD, path.as_ptr() as usize, OPEN_TREE_CLONE_CLOEXEC | AT_RECURSIVE, 0, 0, 0];
    // SAFETY: the path ends in NUL.
    unsafe { call(number::OPEN_TREE, arguments) }.map(|descriptor| descriptor as u32)
}

/// Puts such a mount in its place.
pub fn place_tree(tree: u32, path: Path<'_>) -> Result<()> {
    const MOVE_MOUNT_F_EMPTY_PATH: usize = 4;
    let arguments =
        [tree as usize, c"".as_ptr() as usize, AT_FDCWD, path.as_ptr() as usize, MOVE_MOUNT_F_EMPTY_PATH, 0];
    // SAFETY: both paths end in NUL.
    unsafe { call(number::MOVE_MOUNT, arguments) }.map(drop)
}

/// Nothing can be written through such a mount, or those below it.
pub fn make_read_only(tree: u32) -> Result<()> {
    set_mount(tree as usize, c"", AT_EMPTY_PATH, 1, 0)
}

/// What is mounted from here on in our namespace is seen nowhere else; what others mount is seen in ours.
pub fn follow_mounts() -> Result<()> {
    const MS_SLAVE: u64 = 1 << 19;
    set_mount(AT_FDCWD, c"/", 0, 0, MS_SLAVE)
}

fn set_mount(at: usize, path: Path<'_>, flags: usize, set: u64, propagation: u64) -> Result<()> {
    // struct mount_attr: what to set, what to clear, propagation, a user namespace.
    let attributes = [set, 0, propagation, 0];
    let arguments = [
        at,
        path.as_ptr() as usize,
        flags | AT_RECURSIVE,
        (&raw const attributes) as usize,
        size_of_val(&attributes),
        0,
    ];
    // SAFETY: the path ends in NUL, and the structure has the length that is said.
    unsafe { call(number::MOUNT_SETATTR, arguments) }.map(drop)
}
