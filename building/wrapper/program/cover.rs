//! Covers: this program put over compilers, in a mount namespace of a build's own, so that a build that calls one by its full
//! path calls us. What is behind the covers is seen below a folder of ours, where the whole file system is mounted again.
//! A build may also empty the environment (`env -i`): what we look at there is in a file of ours, too.
//!
//! A compiler that finds its parts by the place of its own file, as clang does, would find them below that folder, and is
//! not covered: who chooses the files knows that.

use super::find::{LONGEST, file_of, joined};
use super::text::Digits;
use super::tune::List;
use super::wire::{self, UNCOVERED, VARIABLES, variable};
use super::words::Words;
use super::{mounts, sys};
use core::ffi::CStr;
use core::slice;

/// The folder that we were installed in, behind the mark by which the installer finds the place to write it.
static FOLDER: [u8; wire::FOLDER_MARK.len() + wire::LONGEST_FOLDER] = {
    let mut room = [0; wire::FOLDER_MARK.len() + wire::LONGEST_FOLDER];
    let mut nth = 0;
    while nth < wire::FOLDER_MARK.len() {
        room[nth] = wire::FOLDER_MARK[nth];
        nth += 1;
    }
    room
};

/// The program that we are, wherever it is called from.
const OURSELVES: &CStr = c"/proc/self/exe";

/// It is empty if nobody wrote it.
fn folder() -> &'static [u8] {
    // What is written there later the compiler cannot know.
    let room = &core::hint::black_box(&FOLDER)[wire::FOLDER_MARK.len()..];
    CStr::from_bytes_until_nul(room).map_or(&b""[..], CStr::to_bytes)
}

/// Covers these files, or says on standard error why not.
pub(super) fn cover(files: &Words, env: &Words) {
    if files.len() == 0 || folder().is_empty() {
        return;
    }
    if let Err(errno) = try_to_cover(files, env) {
        let words = b"bakeoff: compilers that are called by their full path are not seen: errno ";
        for piece in [&words[..], Digits::new(u64::from(errno)).bytes(), b"\n"] {
            let _ = sys::write(2, piece);
        }
    }
}

fn try_to_cover(files: &Words, env: &Words) -> sys::Result<()> {
    enter_namespace()?;
    mounts::follow_mounts()?;
    let everything = mounts::clone_tree(c"/")?;
    mounts::make_read_only(everything)?;
    let mut room = [0; LONGEST];
    mounts::place_tree(everything, joined(&[folder(), b"/", UNCOVERED.as_bytes()], &mut room))?;
    sys::close(everything);
    let _ = keep(env);
    // The link itself still leads to the mount that we were run from, which is not in our namespace any more.
    let length = sys::read_link(OURSELVES, &mut room[..LONGEST - 1])?.len();
    room[length] = 0;
    let ourselves = CStr::from_bytes_until_nul(&room).unwrap_or_default();
    for nth in 0..files.len() {
        // One that cannot be covered is called as before.
        if let Ok(ourselves) = mounts::clone_tree(ourselves) {
            let _ = mounts::place_tree(ourselves, files.get(nth));
            sys::close(ourselves);
        }
    }
    Ok(())
}

/// Writes the variables that we look at into a file next to the log, and puts it where calls look for them.
fn keep(env: &Words) -> sys::Result<()> {
    let log = env.variable(variable::LOG).ok_or(sys::EACCES)?;
    let mut room = [0; LONGEST];
    let path = joined(&[log.to_bytes(), b".", VARIABLES.as_bytes()], &mut room);
    let file = sys::create(path)?;
    for nth in (0..env.len()).filter(|&nth| is_ours(env.bytes(nth))) {
        sys::write(file, env.get(nth).to_bytes_with_nul())?;
    }
    sys::close(file);
    let kept = mounts::clone_tree(path)?;
    let placed = mounts::place_tree(kept, joined(&[folder(), b"/", VARIABLES.as_bytes()], &mut room));
    sys::close(kept);
    placed
}

fn is_ours(text: &[u8]) -> bool {
    text.starts_with(b"BAKEOFF_") || text.starts_with(b"TMPDIR=")
}

/// The environment with the variables that were kept, if those are missing.
pub(super) fn completed(env: Words) -> Words {
    if env.variable(variable::LOG).is_some() || folder().is_empty() {
        return env;
    }
    with_kept(env).unwrap_or(env)
}

fn with_kept(env: Words) -> Option<Words> {
    const MOST: usize = 64 << 10;
    let mut room = [0; LONGEST];
    let file = sys::open(joined(&[folder(), b"/", VARIABLES.as_bytes()], &mut room), 0).ok()?;
    let mut first = [0; 1];
    let is_empty = sys::read(file, &mut first) != Ok(1);
    let memory = if is_empty { None } else { sys::map(MOST).ok() };
    let Some(memory) = memory else {
        sys::close(file);
        return None;
    };
    // SAFETY: the mapping is ours, of this length, and stays; zeros end the last string.
    let texts: &'static mut [u8] = unsafe { slice::from_raw_parts_mut(memory, MOST) };
    texts[0] = first[0];
    let mut filled = 1;
    while let Ok(more @ 1..) = sys::read(file, &mut texts[filled..MOST - 1]) {
        filled += more;
    }
    sys::close(file);
    let kept = || texts[..filled].split_inclusive(|&byte| byte == 0);
    let mut list = List::new(env.len() + kept().count(), 0)?;
    (0..env.len()).for_each(|nth| list.push(env.get(nth).as_ptr() as usize));
    for text in kept() {
        let name = text.split(|&byte| byte == b'=').next().unwrap_or_default();
        let is_set = |nth: usize| env.bytes(nth).strip_prefix(name).is_some_and(|rest| rest.starts_with(b"="));
        if !(0..env.len()).any(is_set) {
            list.push(text.as_ptr() as usize);
        }
    }
    Some(list.words())
}

/// Who may not make a namespace of mounts gets a namespace of users in which it may, and in which it stays who it is.
fn enter_namespace() -> sys::Result<()> {
    if mounts::unshare(mounts::CLONE_NEWNS).is_ok() {
        return Ok(());
    }
    let [user, group] = sys::effective_ids();
    mounts::unshare(mounts::CLONE_NEWUSER | mounts::CLONE_NEWNS)?;
    put(c"/proc/self/setgroups", &[b"deny"])?;
    for (map, id) in [(c"/proc/self/uid_map", user), (c"/proc/self/gid_map", group)] {
        let id = Digits::new(u64::from(id));
        put(map, &[id.bytes(), b" ", id.bytes(), b" 1"])?;
    }
    Ok(())
}

/// By one write, as the kernel wants it.
fn put(path: &CStr, pieces: &[&[u8]]) -> sys::Result<()> {
    let (mut text, mut length) = ([0; 64], 0);
    for piece in pieces {
        text[length..length + piece.len()].copy_from_slice(piece);
        length += piece.len();
    }
    let file = sys::open(path, sys::O_WRONLY)?;
    let written = sys::write(file, &text[..length]);
    sys::close(file);
    written.map(drop)
}

/// The file that we cover, if it is by such a cover that we were called.
pub(super) fn covered(into: &mut [u8; LONGEST]) -> Option<&CStr> {
    let length = sys::read_link(OURSELVES, &mut into[..LONGEST - 1]).ok()?.len();
    into[length] = 0;
    let path = CStr::from_bytes_until_nul(&into[..]).ok()?;
    (!folder().is_empty() && super::last_part(path.to_bytes(), b'/') != wire::PROGRAM.as_bytes()).then_some(path)
}

/// Where the file behind the cover of this one is, if it has one.
pub(super) fn behind<'a>(path: &CStr, into: &'a mut [u8; LONGEST]) -> Option<&'a CStr> {
    if folder().is_empty() || sys::identity(path).ok()? != sys::identity(OURSELVES).ok()? {
        return None;
    }
    // Below the folder, a link that begins with a slash leads out of it again: what counts is the file in the end.
    let mut room = [0; LONGEST];
    let end = file_of(path, &mut room);
    let is_cover = super::last_part(end, b'/') != wire::PROGRAM.as_bytes();
    is_cover.then(|| joined(&[folder(), b"/", UNCOVERED.as_bytes(), end], into))
}
