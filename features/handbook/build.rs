//! Writes the list of the files of all studies, with their contents, for `src/studies.rs`. Hidden files are left out:
//! journals of the checkout are among them. Links become the files that they lead to, so each study can stand alone.
#![allow(clippy::unwrap_used, reason = "a failed build is the only answer here")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

fn main() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies").canonicalize().unwrap();
    let mut list = "&[\n".to_owned();
    for study in sorted(&studies).into_iter().filter(|study| study.is_dir()) {
        println!("cargo::rerun-if-changed={}", study.display());
        write_files(&study, &studies, &mut list);
    }
    list.push(']');
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    fs::write(out.join("studies.rs"), list).unwrap();
}

fn write_files(folder: &Path, studies: &Path, list: &mut String) {
    for path in sorted(folder) {
        if path.is_dir() {
            write_files(&path, studies, list);
        } else {
            let name = path.strip_prefix(studies).unwrap();
            let is_executable = fs::metadata(&path).unwrap().permissions().mode() & 0o100 != 0;
            writeln!(
                list,
                "File {{ path: {name:?}, is_executable: {is_executable}, content: include_bytes!({path:?}) }},"
            )
            .unwrap();
        }
    }
}

/// The entries that are not hidden, by name: the same files make the same program.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.')).collect();
    paths.sort();
    paths
}
