//! Whether two commits give the same program: a judgement on the names of those files that differ in their finished trees.
//! Nothing is read or run here.

use crate::wrappers::plain;
use std::path::Path;

/// Endings of files that people read.
const READ_BY_PEOPLE: [&str; 10] =
    ["md", "markdown", "rst", "adoc", "asciidoc", "pod", "texi", "texinfo", "license", "po"];
/// How the names of such files begin, in any case.
const NAMES: [&str; 15] = [
    "readme",
    "changelog",
    "changes",
    "news",
    "authors",
    "contributors",
    "contributing",
    "copying",
    "license",
    "licence",
    "maintainers",
    "security",
    "code_of_conduct",
    "history",
    "todo",
];
/// Folders, and files, at the top of a tree that are for people, for Git or for a forge.
const AT_THE_TOP: [&str; 14] = [
    "doc",
    "docs",
    ".github",
    ".gitlab",
    ".circleci",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".gitignore",
    ".gitattributes",
    ".gitmodules",
    ".mailmap",
    ".editorconfig",
    ".clang-format",
    "rustfmt.toml",
];
/// Endings of files that are compiled, or say how. Where a build leaves the same of them, they made no difference.
const COMPILED: [&str; 28] = [
    "c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "inl", "s", "asm", "rs", "go", "zig", "f", "f90", "d", "java",
    "kt", "swift", "hs", "ml", "mli", "cs", "mk", "cmake", "am", "ac",
];
/// Names of files that say how.
const HOW_TO_BUILD: [&str; 5] = ["makefile", "gnumakefile", "cmakelists.txt", "meson.build", "configure"];

/// What the trees of two commits are run for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use<'a> {
    /// The command.
    pub(super) command: &'a str,
    /// The folder below the top in which it is run.
    pub(super) inner: &'a Path,
    /// Whether the trees were built.
    pub(super) is_built: bool,
}

impl Use<'_> {
    /// Whether a difference in this file is one that the command does not meet: the file is for people, or was compiled to
    /// the same, and no word of the command names it or a folder that it is in.
    pub(super) fn does_not_meet(&self, file: &Path) -> bool {
        (is_read_by_people(file) || self.is_built && is_compiled(file)) && !self.names(file)
    }

    fn names(&self, file: &Path) -> bool {
        bakeoff_command::study_folder::words(self.command)
            .filter(|word| word.contains('/') || word.contains('.') || file.ends_with(word))
            .any(|word| file.starts_with(plain(&self.inner.join(word))))
    }
}

fn lower(name: Option<&std::ffi::OsStr>) -> String {
    name.map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn is_read_by_people(file: &Path) -> bool {
    let (name, ending) = (lower(file.file_name()), lower(file.extension()));
    let top = lower(file.iter().next());
    let is_named = |known: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest == ".txt");
    READ_BY_PEOPLE.contains(&ending.as_str()) || AT_THE_TOP.contains(&top.as_str()) || NAMES.iter().any(|n| is_named(n))
}

fn is_compiled(file: &Path) -> bool {
    let (name, ending) = (lower(file.file_name()), lower(file.extension()));
    // What configure makes a file of, with an `in` behind its name.
    let made = || file.file_stem().is_some_and(|stem| is_compiled(Path::new(stem)));
    COMPILED.contains(&ending.as_str()) || HOW_TO_BUILD.contains(&name.as_str()) || ending == "in" && made()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, inner: &str, is_built: bool, file: &str, expect: bool) {
        let seen = Use { command, inner: Path::new(inner), is_built }.does_not_meet(Path::new(file));
        assert_eq!(seen, expect, "{command} in {inner:?}: {file}");
    }

    #[test]
    fn files_for_people_make_no_difference() {
        for file in
            ["README.md", "README", "readme.txt", "docs/guide.html", "src/notes.rst", "LICENSE", ".github/ci.yml"]
        {
            check("./prog input", "", false, file, true);
        }
        for file in ["prog", "input", "data.txt", "readme.py", "lib/docs.py", "Makefile", "src/main.c", "config.toml"] {
            check("./prog input", "", false, file, false);
        }
    }

    #[test]
    fn sources_make_no_difference_where_they_were_compiled_to_the_same() {
        for file in ["src/main.c", "Makefile", "lib.rs", "inc/x.HPP"] {
            check("./prog input", "", true, file, true);
            check("./prog input", "", false, file, false);
        }
        for file in ["main.o", "prog", "table.json", "run.py"] {
            check("./prog input", "", true, file, false);
        }
    }

    #[test]
    fn what_the_command_names_makes_a_difference() {
        for (command, inner, file) in [
            ("./render README.md", "", "README.md"),
            ("./render ./docs", "", "docs/a.md"),
            ("./render docs/", "", "docs/a.md"),
            ("./render README", "", "README"),
            ("./lint .", "", "src/main.c"),
            ("./lint .", "src", "src/main.c"),
            ("./lint ../docs", "src", "docs/a.md"),
            ("./lint --file=docs/a.md", "", "docs/a.md"),
        ] {
            check(command, inner, true, file, false);
        }
        check("./lint .", "src", true, "docs/a.md", true);
        check("./lint docs.c", "", true, "docs/a.md", true);
        check("/bin/lint /docs", "", true, "docs/a.md", true);
    }
}
