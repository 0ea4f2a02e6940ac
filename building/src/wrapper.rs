//! The compiler wrapper as its owner sees it: a tiny program that stands before compilers, linkers and archivers on the
//! PATH of build scripts. It logs their arguments, and becomes the real one. By another name it confines a script.
//! It judges no flag; it measures nothing.
//!
//! # The wrapper
//! [`Wrappers::install`] makes a folder of links, one for each usual tool that the search path really has. It is meant
//! to be put first on PATH and to stay where it is: build systems write the path of the compiler into what they install,
//! and that must work later. Called by a tool's name, the program looks for the next file of that name on PATH that is
//! neither a wrapper nor a link to ccache or sccache, and runs it with the same words and environment; only the
//! first word becomes the path that was found, by which gcc finds its parts. These variables change that:
//!
//! * [`LOG`]: a file that is there; each call appends one record to it with one write(2), which [`calls`] reads. If there is a
//!   folder of that name and [`KEPT`], it gets a second name of each object or archive that a linker takes ([`kept_name`]).
//! * [`CACHE`]: the path of a cache of compilers, which is run before compilers (`ccache /usr/bin/cc …`). Linkers,
//!   archivers and preprocessors are not cached.
//! * [`SEED`]: any text. Calls that link or archive get their objects in another order.
//! * [`APPEND`], [`APPEND_C`], [`APPEND_CXX`], [`APPEND_LINK`]: words, each on a line of its own, that compilers get behind
//!   the project's own.
//! * [`PROFILE`], [`PROFILE_CLANG`]: words, likewise, by which gcc or clang makes or uses a profile.
//! * [`CC`], [`CXX`]: the path of a compiler that is run in place of any other.
//!
//! Which objects change places says `program/shuffle.rs`: the order is the same for the same seed, wherever the objects lie. Which
//! calls get which words says `program/append.rs`, and for rustc, which cargo calls through `RUSTC_WRAPPER`
//! ([`Wrappers::between_cargo_and_rustc`]), `program/rust.rs`. A compiler that is a script may call wrappers in turn: such a
//! call gets no words and no other compiler, and runs none of those that called it. With [`CC`] and [`CXX`], `c89` and `c99`
//! become `-std=`. [`RUSTC_WRAPPER`] is the path of what is run before rustc then, as cargo would.
//!
//! # Covers and confinement
//! [`Wrappers::confined`] makes a command of another. Compilers that it calls by their full path are covered, if that is asked
//! for: the wrapper is mounted over their files (`program/cover.rs`). A call from an environment without [`LOG`] gets the
//! variables of this list that the command was started with, and `TMPDIR`. Then it gives up privileges that it does not have
//! yet and confines itself with Landlock (`program/confine.rs`): it and all that it starts may write only to what was listed, to
//! devices, and to its own standard output and error, and read likewise, if anything is listed for that; elsewhere it is refused
//! (EACCES). What cannot be done is said on standard error, and the command runs without it.
//!
//! sccache runs compilers in a server that serves all builds of the machine, confined as the first of them is. So in
//! `sccache cc …` the wrapper becomes the compiler, as if it had been called; only `sccache --version` and its like reach
//! sccache. That of [`CACHE`] is another matter: its server belongs to one layer.

#[allow(dead_code, unreachable_pub, clippy::duplicate_mod, reason = "the other side is another program")]
#[path = "../wrapper/program/append.rs"]
mod append;
mod calls;
/// What a call of a compiler does: one definition for the program and for us.
#[allow(unreachable_pub, clippy::duplicate_mod, reason = "the other side is another program")]
#[path = "../wrapper/program/driver.rs"]
mod driver;
#[allow(unreachable_pub, clippy::duplicate_mod, reason = "the other side is another program")]
#[path = "../wrapper/program/expand.rs"]
mod expand;
/// What the program does, here only to be linted and to have its parts tested.
#[cfg(any(test, clippy))]
#[allow(dead_code, unreachable_pub, unsafe_code, clippy::duplicate_mod, reason = "a program of its own")]
#[path = "../wrapper/program/mod.rs"]
mod freestanding;
mod install;
/// What a call of rustc does, likewise.
#[allow(dead_code, unreachable_pub, clippy::duplicate_mod, reason = "the other side is another program")]
#[path = "../wrapper/program/rust.rs"]
mod rust;
/// What a tool is, by its name: one definition for the program and for us.
#[allow(dead_code, unreachable_pub, clippy::duplicate_mod, reason = "the other side is another program")]
#[path = "../wrapper/program/tool.rs"]
mod tool;
#[allow(dead_code, unreachable_pub, clippy::duplicate_mod, reason = "the other side is another program")]
#[path = "../wrapper/program/wire.rs"]
mod wire;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

pub(crate) use append::is_for_linking;
pub(crate) use calls::{Call, Calls, calls};
pub(crate) use driver::{Language, Task, language_of, takes_value, task};
pub(crate) use install::Wrappers;
pub(crate) use rust::{rust_task, takes_rust_value};
pub(crate) use tool::{ToolKind, kind};
pub(crate) use wire::variable::{
    APPEND, APPEND_C, APPEND_CXX, APPEND_LINK, CACHE, CC, CXX, LOG, PROFILE, PROFILE_CLANG, RUSTC_WRAPPER, RUSTFLAGS,
    SEED,
};
pub(crate) use wire::{KEPT, PROGRAM};
/// The name under which the object of that full path is kept.
pub(crate) fn kept_name(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes().iter().map(|&byte| if byte == b'/' { wire::KEPT_SLASH } else { byte });
    OsString::from_vec(bytes.collect())
}

impl crate::Building {
    /// Whether a C compiler of that name or path is known, with its C++ compiler.
    pub fn is_c_compiler(name: &str) -> bool {
        crate::tuning::cxx_of(name).is_some()
    }

    /// Whether a tool of that name compiles or links.
    pub fn compiles_or_links(name: &[u8]) -> bool {
        matches!(kind(name), Some(ToolKind::Driver | ToolKind::Linker | ToolKind::Rust))
    }
}
