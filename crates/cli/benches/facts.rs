//! The census of relocations beside readelf and objdump, on a library of some 100 MB, timed by `bakeoff compare` itself in
//! randomised blocks: `cargo bench -p bakeoff --bench facts`. One library is made here, of functions that call each
//! other through the PLT and of pointers to data; another is the largest of rustc's own, if there is one. `BLOCKS` changes
//! the number of blocks.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it ends where something is not as it should be")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Of the library that is made: they come to about 100 MB.
const FUNCTIONS: u32 = 400_000;
const POINTERS: u32 = 900_000;
/// A library is large from here on.
const LARGE_BYTES: u64 = 100_000_000;

/// A number from the environment, or the usual one.
fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Assembles and links the library; none where that cannot be done.
fn made(folder: &Path) -> Option<PathBuf> {
    let source = folder.join("large.s");
    let mut text = std::io::BufWriter::new(fs::File::create(&source).unwrap());
    writeln!(text, ".text").unwrap();
    for n in 0..FUNCTIONS {
        let (name, next) = (format!("function_number_{n}"), (n + 1) % FUNCTIONS);
        writeln!(text, ".globl {name}\n.type {name},@function\n{name}: call function_number_{next}@PLT\nret").unwrap();
    }
    writeln!(text, ".data\n.balign 8\nhere:\n.rept {POINTERS}\n.quad here\n.endr").unwrap();
    writeln!(text, ".section .note.GNU-stack,\"\",@progbits").unwrap();
    text.flush().unwrap();
    let library = folder.join("large.so");
    let linked = Command::new("gcc").args(["-shared", "-nostdlib", "-o"]).args([&library, &source]).status();
    if linked.is_ok_and(|status| status.success()) {
        return Some(library);
    }
    println!("skipped: gcc makes no shared library of x86-64 here");
    None
}

/// The largest library of rustc.
fn of_rustc() -> Option<PathBuf> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let folder = Path::new(String::from_utf8(sysroot.stdout).ok()?.trim()).join("lib");
    let files = fs::read_dir(folder).ok()?.filter_map(|entry| {
        let entry = entry.ok()?;
        Some((entry.metadata().ok()?.len(), entry.path()))
    });
    let found = files.filter(|(bytes, _)| *bytes >= LARGE_BYTES).max();
    if found.is_none() {
        println!("skipped: rustc has no library of {LARGE_BYTES} bytes");
    }
    found.map(|(_, path)| path)
}

fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    if !there {
        println!("skipped: {program} is not installed; it is in the package binutils");
    }
    there
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let blocks = setting("BLOCKS", 12);
    let bakeoff = env!("CARGO_BIN_EXE_bakeoff");
    let contestants = [
        ("readelf -rW", "readelf", "readelf -rW".to_owned()),
        ("objdump -R", "objdump", "objdump -R".to_owned()),
        ("bakeoff facts", bakeoff, format!("{bakeoff} facts --json --relocations")),
    ];
    let contestants: Vec<_> = contestants.into_iter().filter(|(_, program, _)| is_there(program)).collect();
    if contestants.len() < 2 {
        return;
    }
    for library in [made(folder.path()), of_rustc()].into_iter().flatten() {
        let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs::metadata(&library).unwrap().len();
        println!("\n== the relocations of {name}, {bytes} bytes; {blocks} blocks");
        let mut compare = Command::new(bakeoff);
        compare.args(["compare", "--blocks", &blocks.to_string(), "--seed", "178"]);
        compare.args(["--metric", "wall", "--metric", "cpu", "--metric", "maxrss"]);
        compare.args(contestants.iter().flat_map(|(title, ..)| ["--name", title]));
        compare.args(contestants.iter().map(|(_, _, command)| format!("{command} '{}'", library.display())));
        let status = compare.current_dir(folder.path()).stdin(Stdio::null()).status().unwrap();
        assert!(status.success(), "{name}: {status}");
    }
}
