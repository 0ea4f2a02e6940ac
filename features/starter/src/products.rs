//! Which program of a build is meant: what was linked and is still there, tests and helpers last. It looks at files of a
//! tree that was built, and runs none of them.

use crate::library::{DRIVER, Library};
use bakeoff_host::executed_with;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A program that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Product {
    /// Relative to the tree.
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// It seems to be no more than a test or a helper of the build.
    pub(crate) is_aside: bool,
    /// It is called like the source.
    pub(crate) is_named: bool,
    score: i32,
    /// It is not built by the source, but uses this library, which is all that the source builds.
    pub(crate) library: Option<Library>,
}

impl Product {
    /// The program that uses a library.
    pub(crate) fn driver(library: Library) -> Self {
        Self { library: Some(library), ..Self::guessed(PathBuf::from(DRIVER)) }
    }

    /// One that is not built yet.
    pub(crate) fn guessed(path: PathBuf) -> Self {
        Self { path, bytes: 0, is_aside: false, is_named: false, score: 0, library: None }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The study's file of what it prints.
    pub(crate) fn expected(&self) -> String {
        format!("{}.expect", self.name())
    }
}

/// What a build left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Products {
    /// The best guess first.
    pub(crate) programs: Vec<Product>,
    /// Shared objects, relative to the tree.
    pub(crate) shared: Vec<PathBuf>,
}

/// Ranks what was linked in a tree; `package` is what the source is called.
pub(crate) fn ranked(tree: &Path, linked: &[PathBuf], package: &str) -> Products {
    let mut products = Products::default();
    for path in linked {
        let Some(bytes) = elf_bytes(&tree.join(path)) else { continue };
        if path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so")) {
            products.shared.push(path.clone());
            continue;
        }
        let path = shallower(tree, path, bytes);
        if products.programs.iter().all(|known| known.path != path) {
            let (score, is_aside, is_named) = score(&path, package);
            products.programs.push(Product { path, bytes, is_aside, is_named, score, library: None });
        }
    }
    products.programs.sort_by_key(|product| (std::cmp::Reverse(product.score), std::cmp::Reverse(product.bytes)));
    products
}

/// The size of an ELF file that may be run; none of any other.
fn elf_bytes(path: &Path) -> Option<u64> {
    let about = fs::metadata(path).ok().filter(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)?;
    let mut magic = [0; 4];
    File::open(path).ok()?.read_exact(&mut magic).ok()?;
    (&magic == b"\x7fELF").then_some(about.len())
}

/// The copy of a file with its name in a folder above it, or in the same folder under a plainer name, as Cargo and zstd make
/// them: the folder that was linked in may change with the flags.
fn shallower(tree: &Path, path: &Path, bytes: u64) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.rsplit_once('-').filter(|(_, hash)| hash.len() == 16).map_or(&*name, |(plain, _)| plain);
    let same = |other: &PathBuf| {
        elf_bytes(&tree.join(other)) == Some(bytes)
            && fs::read(tree.join(other)).ok().zip(fs::read(tree.join(path)).ok()).is_some_and(|(a, b)| a == b)
    };
    let above: Vec<PathBuf> = path.ancestors().skip(2).map(|folder| folder.join(plain)).collect();
    above.into_iter().rev().find(same).unwrap_or_else(|| path.to_owned())
}

/// How likely a program is the one that is meant, whether it is rather a test or a helper, and whether it is called like the
/// source.
fn score(path: &Path, package: &str) -> (i32, bool, bool) {
    const FOLDERS: [&str; 12] = [
        "test",
        "tests",
        "testing",
        "deps",
        "third_party",
        "vendor",
        "contrib",
        "examples",
        "example",
        "fuzz",
        "CMakeFiles",
        "build",
    ];
    let folders: Vec<String> = path
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_of_tests = ["test", "fuzz", "bench"].iter().any(|word| name.contains(word));
    let is_helper =
        ["mk", "gen", "conf"].iter().any(|start| name.starts_with(start)) || name.starts_with("build-script");
    // Gnulib's tests are in `gnulib-tests`.
    let is_one =
        |folder: &String| FOLDERS.contains(&folder.as_str()) || folder.contains("fuzz") || folder.ends_with("-tests");
    let is_elsewhere = folders.iter().any(is_one);
    let package = package.to_lowercase();
    let plain = package.trim_end_matches(|c: char| c.is_ascii_digit() || "-._".contains(c));
    let named = name == package || name == plain || Some(name.as_str()) == plain.strip_prefix("lib");
    let is_aside = !named && (is_of_tests || is_helper) || is_elsewhere;
    let alike = !named && !is_aside && !plain.is_empty() && (name.starts_with(plain) || plain.starts_with(&name));
    let score = i32::from(named) * 100 + i32::from(alike) * 50 - i32::from(is_aside) * 80 - folders.len() as i32;
    (score, is_aside, named)
}

/// The libraries of the tree that a program would take from the system if it were run elsewhere, by name.
pub(crate) fn own_libraries(tree: &Path, product: &Path, shared: &[PathBuf]) -> Vec<String> {
    let stem = |name: &str| name.split(".so").next().unwrap_or(name).to_owned();
    let names = |paths: &[PathBuf]| -> Vec<String> {
        let names = paths.iter().filter_map(|path| path.file_name());
        names.map(|name| stem(&name.to_string_lossy())).collect()
    };
    let own = names(shared);
    let folders: Vec<String> =
        shared.iter().filter_map(|path| tree.join(path).parent().map(|folder| folder.display().to_string())).collect();
    let needed = executed_with(&[tree.join(product)], Some(&folders.join(":")), 1000);
    let mut taken: Vec<String> =
        names(&needed[1.min(needed.len())..]).into_iter().filter(|name| own.contains(name)).collect();
    taken.sort();
    taken.dedup();
    taken
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for (file, content) in files {
            let path = tree.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("\x7fELF{content}")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        tree
    }

    fn check(package: &str, files: &[(&str, &str)], linked: &[&str], expect: &[&str]) {
        let tree = tree(files);
        let linked: Vec<PathBuf> = linked.iter().map(PathBuf::from).collect();
        let products = ranked(tree.path(), &linked, package);
        let found: Vec<String> = products.programs.iter().map(|one| one.path.display().to_string()).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn the_program_comes_before_its_tests_and_helpers() {
        let files = [("src/lua", "a"), ("src/luac", "bb"), ("tests/lua_test", "ccc"), ("src/mktab", "dddd")];
        let linked = ["src/mktab", "tests/lua_test", "src/luac", "src/lua", "gone"];
        check("lua5-4", &files, &linked, &["src/lua", "src/luac", "src/mktab", "tests/lua_test"]);
        let files = [("gnulib-tests/locale", "bb"), ("src/cmp", "a")];
        check("hello", &files, &["gnulib-tests/locale", "src/cmp"], &["src/cmp", "gnulib-tests/locale"]);
    }

    #[test]
    fn a_copy_in_a_folder_above_is_taken_for_the_one_that_was_linked() {
        let files = [("programs/obj/conf_1/zstd", "a"), ("programs/zstd", "a"), ("programs/other", "b")];
        check("libzstd", &files, &["programs/obj/conf_1/zstd"], &["programs/zstd"]);
        let files = [("target/release/deps/hexyl-0123456789abcdef", "a"), ("target/release/hexyl", "a")];
        check("hexyl", &files, &["target/release/deps/hexyl-0123456789abcdef"], &["target/release/hexyl"]);
    }

    #[test]
    fn shared_objects_are_no_programs() {
        let tree = tree(&[(".libs/libx.so.1.2", "a"), (".libs/x", "b")]);
        let products = ranked(tree.path(), &[".libs/libx.so.1.2".into(), ".libs/x".into()], "x");
        assert_eq!((products.programs.len(), products.shared.len()), (1, 1));
    }
}
