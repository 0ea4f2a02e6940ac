//! Go as far as it is found on the search path: where its linker is. It runs nothing, and finds no Go that another one downloads.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

/// The linkers that `go build` calls by their full path, of each `go` on a search path.
pub(crate) fn linkers(search_path: &OsStr) -> Vec<PathBuf> {
    let folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
    // A link leads to the folder that it belongs to.
    let programs = folders.filter_map(|folder| fs::canonicalize(folder.join("go")).ok());
    let tools = programs.filter_map(|go| Some(go.parent()?.parent()?.join("pkg/tool")));
    let targets = tools.flat_map(|tools| fs::read_dir(tools).into_iter().flatten().flatten());
    targets.map(|target| target.path().join("link")).filter(|linker| linker.is_file()).collect()
}
