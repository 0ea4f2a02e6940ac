//! A library without a program: what a program that uses it is linked with, and the skeleton of such a program, which
//! is built on top of every level's library. What it shall call only the user knows.

use crate::rust::document;
use crate::walk::{files, name};
use std::collections::BTreeSet;
use std::path::Path;

/// A library that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Library {
    /// As linkers call its parts: `fmt` is libfmt.a.
    names: Vec<String>,
    is_cxx: bool,
    /// Some of its headers, as they are included.
    headers: Vec<String>,
    /// It is a crate, and its name in Rust.
    krate: Option<String>,
}

/// What the program is called.
pub(crate) const DRIVER: &str = "driver";

/// No deeper than this, and not in folders called so, is looked for files.
const DEEPEST: usize = 5;
const ELSEWHERE: [&str; 5] = ["test", "tests", "third_party", "CMakeFiles", ".git"];

impl Library {
    /// The library in a tree that was built; none if there is none.
    pub(crate) fn of(tree: &Path) -> Option<Self> {
        let files = files(tree, DEEPEST, &|folder| ELSEWHERE.contains(&&*name(folder)));
        let (mut names, mut headers, mut of_cxx, mut of_c) = (BTreeSet::new(), BTreeSet::new(), 0, 0);
        for file in &files {
            let name = name(file);
            let stem = name.strip_prefix("lib");
            let stem = stem.and_then(|stem| stem.strip_suffix(".a").or_else(|| stem.strip_suffix(".so")));
            names.extend(stem.map(str::to_owned));
            let ending = file.extension().unwrap_or_default().to_string_lossy();
            of_c += u32::from(ending == "c");
            of_cxx += u32::from(["cc", "cpp", "cxx", "hpp"].contains(&&*ending));
            let header = file.strip_prefix("include").ok().filter(|_| ["h", "hpp"].contains(&&*ending));
            headers.extend(header.map(|path| path.display().to_string()));
        }
        let [names, headers] = [names, headers].map(|all| all.into_iter().collect());
        let library = Self { names, is_cxx: of_cxx > of_c, headers, krate: None };
        (!library.names.is_empty()).then_some(library)
    }

    /// The library of the package at the top of a source that Cargo builds; none if there is none that a program can
    /// use.
    pub(crate) fn of_crate(tree: &Path) -> Option<Self> {
        let manifest = document(&tree.join("Cargo.toml"))?;
        let text = |section: &str, key: &str| manifest.get(section)?.get(key)?.as_str().map(str::to_owned);
        let is = |key: &str| manifest.get("lib").and_then(|lib| lib.get(key)?.as_bool()).unwrap_or(false);
        let place = text("lib", "path").unwrap_or_else(|| "src/lib.rs".to_owned());
        let package = text("package", "name").filter(|_| tree.join(place).is_file() && !is("proc-macro"))?;
        let krate = Some(text("lib", "name").unwrap_or(package).replace('-', "_"));
        Some(Self { names: vec![], is_cxx: false, headers: vec![], krate })
    }

    /// The line before the build by which Cargo builds the program, too.
    pub(crate) fn before(&self) -> Option<String> {
        let lines = format!("\\n[[bin]]\\nname = \"{DRIVER}\"\\npath = \"{}\"\\n", self.file());
        self.krate.is_some().then(|| format!("printf '{lines}' >> Cargo.toml"))
    }

    /// The file of the program.
    pub(crate) fn file(&self) -> String {
        if self.krate.is_some() {
            return format!("{DRIVER}.rs");
        }
        format!("{DRIVER}.{}", if self.is_cxx { "cc" } else { "c" })
    }

    /// The line that builds the program after the library was installed. Its parts may need one another.
    pub(crate) fn line(&self) -> String {
        if self.krate.is_some() {
            return format!("install -D target/release/{DRIVER} \"$PREFIX/bin/{DRIVER}\"");
        }
        let compiler = if self.is_cxx { "c++" } else { "cc" };
        let names: Vec<String> = self.names.iter().map(|name| format!("-l{name}")).collect();
        format!(
            "mkdir -p \"$PREFIX/bin\" && {compiler} -O2 -I\"$PREFIX/include\" -o \"$PREFIX/bin/{DRIVER}\" {} \
             -L\"$PREFIX/lib\" -Wl,-rpath,\"$PREFIX/lib\" -Wl,--start-group {} -Wl,--end-group -lm",
            self.file(),
            names.join(" ")
        )
    }

    /// A program that does nothing yet.
    pub(crate) fn skeleton(&self) -> String {
        const WHAT: &str = "// Call the code that you want to measure here, often enough to take a second or two. \
            Print a result that must be\n// the same for all levels.\n";
        if let Some(krate) = &self.krate {
            return format!(
                "{WHAT}// use {krate}::…;\n\nfn main() {{\n    for _ in 0..1 {{\n        // …\n    }}\n    \
                 println!(\"done\");\n}}\n"
            );
        }
        let include = |header: &String| format!("// #include <{header}>\n");
        let headers: String = self.headers.iter().take(20).map(include).collect();
        format!(
            "{WHAT}{headers}#include <stdio.h>\n\nint main(void) {{\n  \
             for (int i = 0; i < 1; i++) {{\n    // …\n  }}\n  printf(\"done\\n\");\n  return 0;\n}}\n"
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use std::fs;

    fn library(files: &[&str]) -> Option<Library> {
        let tree = tempfile::tempdir().unwrap();
        for file in files {
            fs::create_dir_all(tree.path().join(file).parent().unwrap()).unwrap();
            fs::write(tree.path().join(file), "").unwrap();
        }
        Library::of(tree.path())
    }

    #[test]
    fn a_driver_is_linked_with_what_was_built() {
        assert_eq!(library(&["a.c", "tests/libtest.a"]), None);
        let fmt = library(&["bakeoff-build/libfmt.a", "src/format.cc", "src/os.cc", "include/fmt/core.h"]).unwrap();
        assert_eq!((fmt.file().as_str(), fmt.names.join(" ").as_str()), ("driver.cc", "fmt"));
        assert!(fmt.line().contains("c++ -O2") && fmt.line().contains("-lfmt") && fmt.line().contains("driver.cc"));
        assert!(fmt.skeleton().contains("// #include <fmt/core.h>"));
        let two = library(&["x.c", "libb.so", "liba.a", "liba.so"]).unwrap();
        assert!(two.line().contains("cc -O2") && two.line().contains("-la -lb") && two.file() == "driver.c");
    }
}
