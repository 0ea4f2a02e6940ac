//! The script of the layer that builds a source and puts its program into `$PREFIX/bin`, and the program that is meant as long
//! as nothing is built: with a good guess the first build is that of the plain level, and not only like it.

use crate::foretold::foretold;
use crate::levels::{Level, variables};
use crate::library::Library;
use crate::products::Product;
use crate::recognise::{BuildMode, BuildSystem};
use crate::shell::{in_prefix, quoted, words};
use crate::targets::{TREE, Target};
use std::path::{Path, PathBuf};

/// How `install` says that the program is not there, or that only a folder is called so.
const MISSING: [&str; 2] = ["install: cannot stat", "install: omitting directory"];

/// How long a target of the source may take when it is run for the first time, in seconds.
const PATIENCE_S: u32 = 300;

/// The program that is measured, and what it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) product: &'a Product,
    /// Libraries of the source that are needed where it is run.
    pub(crate) libraries: &'a [String],
    /// A target that is run in the tree that was built.
    pub(crate) target: Option<&'a Target>,
}

/// The lines of the script.
pub(crate) fn lines(found: &BuildSystem, how: BuildMode, levels: &[Level], program: &Program<'_>) -> Vec<String> {
    let Program { product, libraries, target } = program;
    let variables: Vec<String> = variables(levels).iter().map(|name| format!("${name}")).collect();
    let mut lines = vec![];
    if !variables.is_empty() {
        lines.push(format!("# levels set {}", variables.join(", ")));
    }
    if let Some(target) = target {
        lines.push(format!("# built in a folder; each trial of `{}` gets a copy of it", target.command));
        lines.extend([format!("cp -a . \"$PREFIX/{TREE}\""), format!("cd \"$PREFIX/{TREE}\"")]);
    }
    let library = product.library.as_ref();
    lines.extend(library.and_then(Library::before));
    lines.extend(found.script(how));
    lines.extend(found.install().filter(|_| !libraries.is_empty() || library.is_some()));
    lines.extend((!found.folder.is_empty()).then(|| "cd ..".to_owned()));
    // This builds what it runs, so that no trial has to.
    lines.extend(target.map(|target| format!("({})", target.built(PATIENCE_S))));
    let name = product.name();
    let path = product.path.display().to_string();
    // What begins with a dash would be an option.
    let path = if path.starts_with('-') { format!("./{path}") } else { path };
    let copy = format!("install -D {} {}", quoted(&path), in_prefix(&name));
    lines.push(match (library, *libraries) {
        (Some(library), _) => Library::line(library),
        (None, []) => copy,
        (None, _) => format!("test -x {} || {copy}", in_prefix(&name)),
    });
    lines
}

/// Whether a script failed only because the program is elsewhere.
pub(crate) fn found_nothing(tail: &[String]) -> bool {
    tail.iter().any(|line| MISSING.iter().any(|start| line.starts_with(start)))
}

/// The word of a command that is the program: the first path that is not there yet, or else the first word.
fn typed(run: &str, tree: &Path) -> Option<String> {
    let words: Vec<String> = words(run).into_iter().map(|word| word.text).collect();
    let is_file = |word: &String| tree.join(word).is_file() || Path::new(word).is_file();
    words.iter().find(|word| word.starts_with("./") && !is_file(word)).or(words.first()).cloned()
}

/// The program that is probably meant: that of `--product` or of the command, as it is typed; or one that is called like
/// the source.
pub(crate) fn guess(
    found: &BuildSystem,
    tree: &Path,
    named: Option<&str>,
    run: Option<&str>,
    package: &str,
) -> Product {
    // Without a version, which has more than one number: lua5.4, but not bzip2.
    let trimmed = package.trim_end_matches(|c: char| c.is_ascii_digit() || "-._".contains(c));
    let is_version = package[trimmed.len()..].contains(['-', '.', '_']);
    let trimmed = if is_version { trimmed } else { package };
    let is_asked = named.is_some() || run.is_some();
    let word = named.map(str::to_owned).or_else(|| typed(run?, tree)).unwrap_or_else(|| trimmed.to_owned());
    let word = word.trim_matches(['"', '\'']).trim_start_matches("./");
    let is_name = !word.contains('/');
    if let Some(path) = foretold(found, tree, word)
        && is_name
        && (!is_asked || path.file_name().is_some_and(|name| name == word))
    {
        return Product::guessed(path);
    }
    let path = PathBuf::from(word);
    Product::guessed(match found.folder_of_programs() {
        Some(folder) if is_name || !path.starts_with(&folder) => folder.join(path),
        _ => path,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use crate::recognise::recognise;

    #[test]
    fn what_is_typed_says_where_the_program_will_be() {
        let check_of = |package: &str, file: &str, named: Option<&str>, run: Option<&str>, expect: &str| {
            let tree = tempfile::tempdir().unwrap();
            std::fs::create_dir(tree.path().join("unix")).unwrap();
            std::fs::write(tree.path().join(file), "").unwrap();
            std::fs::write(tree.path().join("run.sh"), "").unwrap();
            let found = recognise(tree.path()).remove(0);
            assert_eq!(guess(&found, tree.path(), named, run, package).path, Path::new(expect), "{file} {run:?}");
        };
        check_of("bzip2", "Makefile", None, None, "bzip2");
        let check = |file: &str, named: Option<&str>, run: Option<&str>, expect: &str| {
            check_of("lua5-4", file, named, run, expect);
        };
        check("Makefile", None, Some("./src/lua bench.lua"), "src/lua");
        check("Makefile", None, Some("lua bench.lua"), "lua");
        check("Makefile", None, Some("sh ./run.sh ./src/lua"), "src/lua");
        check("Makefile", None, None, "lua");
        check("Makefile", Some("src/luac"), Some("./src/lua"), "src/luac");
        check("CMakeLists.txt", None, Some("./zopfli x"), "bakeoff-build/zopfli");
        check("CMakeLists.txt", None, Some("./bakeoff-build/tools/x"), "bakeoff-build/tools/x");
        check("Cargo.toml", None, Some("./hexyl x"), "target/release/hexyl");
        check("unix/configure", None, Some("./unix/tclsh x"), "unix/tclsh");
        check("unix/configure", None, Some("./tclsh x"), "unix/tclsh");
    }

    #[test]
    fn only_what_install_says_is_a_wrong_guess() {
        let said = |line: &str| found_nothing(&["cc -c x.c".to_owned(), line.to_owned()]);
        assert!(said("install: cannot stat 'src/lua': No such file or directory"));
        assert!(said("install: omitting directory 'sed'"));
        assert!(!said("make: *** [Makefile:1: x] Error 1"));
    }
}
