//! What the compiler wrapper gets to know of a level's `append` and `compiler`, in the environment of a layer's processes. The
//! wrapper does the rest.

use crate::shell::Environment;
use crate::tools::{compiler_of, find};
use crate::tuning::{Tuning, cxx_of};
use crate::wrapper::{APPEND, APPEND_C, APPEND_CXX, APPEND_LINK, CC, CXX, RUSTC_WRAPPER, RUSTFLAGS, Wrappers};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Adds the variables of a layer that the tuning concerns. `env` has the `PATH` on which compilers are looked up, and the
/// layer's own `HOME`.
pub(super) fn tune(wrappers: &Wrappers, tuning: &Tuning, env: &mut Environment) {
    let path = env.get("PATH").cloned().unwrap_or_default();
    let variables =
        [(APPEND, &tuning.all), (APPEND_C, &tuning.c), (APPEND_CXX, &tuning.cxx), (APPEND_LINK, &tuning.link)];
    for (variable, words) in variables.into_iter().filter(|(_, words)| !words.is_empty()) {
        env.insert(variable.to_owned(), words.join("\n"));
    }
    if let Some(compiler) = &tuning.compiler {
        let cxx = cxx_of(compiler).unwrap_or_default();
        for (variable, compiler) in [(CC, compiler), (CXX, &cxx)] {
            // A name that is not found fails in the first call, and says so; a project of C alone never calls it.
            let found = compiler_of(compiler, OsStr::new(&path));
            env.insert(variable.to_owned(), found.map_or_else(|| compiler.clone(), |path| path.display().to_string()));
        }
    }
    // Where there is a profile, crates of Rust are seen to have none.
    if !tuning.rust.is_empty() || !tuning.training.is_empty() {
        rust(wrappers, tuning, &path, env);
    }
    // A cache that the project puts before the compiler does not know of the words, and would take the objects of another
    // level for ours. The wrapper passes over sccache; where that is called by its path, it is made to compile all the same.
    let home = env.get("HOME").cloned().unwrap_or_default();
    let set = [
        ("CCACHE_DISABLE", "1".to_owned()),
        ("SCCACHE_RECACHE", "1".to_owned()),
        ("GOCACHE", format!("{home}/go-build")),
    ];
    env.extend(set.map(|(name, value)| (name.to_owned(), value)));
}

/// Has cargo call the wrapper in place of rustc. `RUSTFLAGS` would displace what the project's own configuration says. What
/// the level itself puts between the two, in a variable, comes behind the wrapper.
fn rust(wrappers: &Wrappers, tuning: &Tuning, path: &str, env: &mut Environment) {
    env.insert(RUSTFLAGS.to_owned(), tuning.rust.join("\n"));
    let between = wrappers.between_cargo_and_rustc().display().to_string();
    if let Some(first) = env.insert("RUSTC_WRAPPER".to_owned(), between).filter(|first| !first.is_empty()) {
        behind(first, path, env);
    }
}

/// Has the wrapper call that before rustc.
fn behind(first: String, path: &str, env: &mut Environment) {
    let found = if first.contains('/') { None } else { find(&first, OsStr::new(path)) };
    env.insert(RUSTC_WRAPPER.to_owned(), found.map_or(first, |path| path.display().to_string()));
}

/// Has the wrapper call what the configuration of the project in this folder puts before rustc, which our variable
/// displaces: what that is. A level's own comes before it, as cargo has it.
pub(super) fn heed_cargo(wrappers: &Wrappers, tree: &Path, env: &mut Environment) -> Option<String> {
    let is_ours = env.get("RUSTC_WRAPPER").is_some_and(|first| Path::new(first) == wrappers.between_cargo_and_rustc());
    if !is_ours || env.contains_key(RUSTC_WRAPPER) {
        return None;
    }
    let files = ["config", "config.toml"].map(|name| tree.join(".cargo").join(name));
    let text = files.iter().find_map(|path| fs::read_to_string(path).ok())?;
    let first = text.parse::<toml::Table>().ok()?.get("build")?.get("rustc-wrapper")?.as_str()?.to_owned();
    // A path that is not whole begins where the folder of the configuration is.
    let first = if first.contains('/') { tree.join(first).display().to_string() } else { first };
    let path = env.get("PATH").cloned().unwrap_or_default();
    behind(first.clone(), &path, env);
    Some(first)
}
