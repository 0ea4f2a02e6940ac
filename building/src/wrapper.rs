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
//! * [`LOG`]: a file that is there; each call appends one record to it with one write(2), which [`calls`] reads.
//! * [`CACHE`]: the path of a cache of compilers, which is run before compilers (`ccache /usr/bin/cc …`). Linkers,
//!   archivers and preprocessors are not cached.
//! * [`SEED`]: any text. Calls that link or archive get their objects in another order.
//! * [`APPEND`], [`APPEND_C`], [`APPEND_CXX`], [`APPEND_LINK`]: words, each on a line of its own, that compilers get behind
//!   the project's own.
//! * [`PROFILE`], [`PROFILE_CLANG`]: words, likewise, by which gcc or clang makes or uses a profile.
//! * [`CC`], [`CXX`]: the path of a compiler that is run in place of any other.
//!
//! # Link order
//! With [`SEED`], the words of a call that end in `.o`, `.obj` or `.lo` change places among themselves, and nothing else
//! does. The order is that of a hash of the seed and each object's base name, ties in the order in which they came: it is
//! the same for the same seed, wherever the objects lie, and shuffling it again changes nothing. So compiler drivers,
//! the linkers that these call, and archivers may all shuffle: what counts is the same order. It concerns
//!
//! * linkers (`ld`, `ld.bfd`, `ld.gold`, `ld.lld`, `ld.mold`), also with `-r`;
//! * drivers where they link: not with `-c`, `-S`, `-E`, `-M`, `-x` and the like;
//! * `ar` where it only puts members at the end (`r`, `q` without `a`, `b`, `i`).
//!
//! What keeps its place: libraries and options; the values of options (`-o x.o`); start files (`crt1.o`, `crti.o`,
//! `crtbegin*.o`, `crtend*.o`, `crtn.o` and their like) and whatever stands before the first or after the last of these;
//! what is between `--start-lib` and `--end-lib`; objects that lie directly in `$TMPDIR` (else `/tmp`), because drivers
//! draw the names of those by lot, which is why a link of *source files* in one call is not shuffled; everything where
//! files have a format of their own (`-b`, `--format`). Response files (`@file`) are read and become words. A record's
//! [`Call::shuffled`] is the number of objects that took part, whether or not they moved.
//!
//! # Words behind the project's own
//! A call that compiles or links gets the words of [`APPEND`], if it compiles C or C++ those of that language, and if it
//! links those of [`APPEND_LINK`]; before `--` if it has that. Response files are read to find out what it does. It does
//! not get
//!
//! * any word if it only asks or preprocesses (`--version`, `-print-*`, `-E`, `-M`, `-v` without a file);
//! * what only linking has a use for (`-Wl,…`, `-l…`, `-s`) if it does not link;
//! * as a probe of configure and its like, anything but `-O`, `-m` and `-f`, and neither `-fprofile-*` nor `-fsanitize`.
//!
//! What compiles code or links, and is no probe, gets those of [`PROFILE`], or of [`PROFILE_CLANG`] if the compiler is clang.
//! Clang also gets `-Qunused-arguments` then. With [`CC`] and [`CXX`], `c89` and `c99` become `-std=`. A compiler that is a
//! script may call wrappers in turn: such a call gets no words and no other compiler, and runs none of those that
//! called it.
//!
//! # rustc
//! Cargo runs what `RUSTC_WRAPPER` names in place of rustc, which is the first word then: [`Wrappers::between_cargo_and_rustc`].
//! A call that compiles gets the words of [`RUSTFLAGS`] behind its own, unless it makes a build script or a procedural
//! macro; a probe gets what changes the code. A call of `rustc` itself is treated alike. [`RUSTC_WRAPPER`] is the path of
//! what is run before rustc then, as cargo would.
//!
//! # Covers
//! In a command of [`Wrappers::confined`], compilers that a build calls by their full path are covered, if that is asked for: the
//! wrapper is mounted over their files, in a mount namespace (and where it takes one, a user namespace) of the command's own.
//! Such a call is one of the name by which the file was called. The whole file system without covers is mounted read-only in
//! a folder of the wrapper, which runs the real compiler there. A call from an environment without [`LOG`] gets the
//! variables of this list that the command was started with, and `TMPDIR`. Of the compilers on the search path, clang is
//! not covered, since it would find its own parts in that folder; nor is what is no compiler by the name of its file.
//! Where covers cannot be made, the command says so on standard error and runs without them.
//!
//! # sccache
//! Runs compilers in a server that serves all builds of the machine, confined as the first of them is. So in
//! `sccache cc …` the wrapper becomes the compiler, as if it had been called; only `sccache --version` and its like reach
//! sccache. That of [`CACHE`] is another matter: its server belongs to one layer.
//!
//! # Confinement
//! [`Wrappers::confined`] makes a command of another: it gives up privileges that it does not have yet, confines itself
//! with Landlock, and becomes that other. Then it and all that it starts may write only below the folders that were
//! listed, to the files that were listed, to devices, and to its own standard output and error; elsewhere it is refused
//! (EACCES). With [`Wrappers::confined_reading`] the same holds for reading, and so for running: only there, and below the
//! folders that were listed for it. Listing folders, networks, and the modes, owners and times of files are not restricted.
//! Where [`bakeoff_host::confinement`] says why it cannot be, the command runs as it is.

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

pub(crate) use append::is_for_linking;
pub(crate) use calls::{Call, Calls, calls};
pub(crate) use driver::{Language, Task, language_of, takes_value, task};
pub(crate) use install::Wrappers;
pub(crate) use rust::{rust_task, takes_rust_value};
pub(crate) use tool::{Kind, kind};
pub(crate) use wire::PROGRAM;
pub(crate) use wire::variable::{
    APPEND, APPEND_C, APPEND_CXX, APPEND_LINK, CACHE, CC, CXX, LOG, PROFILE, PROFILE_CLANG, RUSTC_WRAPPER, RUSTFLAGS,
    SEED,
};

impl crate::Building {
    /// Whether a tool of that name compiles or links.
    pub fn compiles_or_links(name: &[u8]) -> bool {
        matches!(kind(name), Some(Kind::Driver | Kind::Linker | Kind::Rust))
    }
}
