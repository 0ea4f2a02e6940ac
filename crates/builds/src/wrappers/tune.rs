//! What the compiler wrapper gets to know of a level's `append` and `compiler`, in the environment of a layer's processes. The
//! wrapper does the rest.

use crate::shell::Environment;
use crate::tools::compiler_of;
use bakeoff_host::wrapper::{APPEND, APPEND_C, APPEND_CXX, APPEND_LINK, CC, CXX};
use bakeoff_model::study::{Tuning, cxx_of};
use std::ffi::OsStr;

/// Adds the variables of a layer that the tuning concerns. `env` has the `PATH` on which compilers are looked up, and the layer's own `HOME`.
pub(super) fn tune(tuning: &Tuning, env: &mut Environment) {
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
    // A cache that the project puts before the compiler does not know of the words, and would take the objects of another
    // level for ours. sccache cannot be switched off, but made to compile all the same.
    let home = env.get("HOME").cloned().unwrap_or_default();
    let set = [
        ("CCACHE_DISABLE", "1".to_owned()),
        ("SCCACHE_RECACHE", "1".to_owned()),
        ("GOCACHE", format!("{home}/go-build")),
    ];
    env.extend(set.map(|(name, value)| (name.to_owned(), value)));
}
