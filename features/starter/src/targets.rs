//! The benchmarks and tests that a source brings along, as far as its build system names them: what could be a workload that
//! nobody has to think out. Whether one is of any use is seen when it is tried. Nothing is run here.

use crate::products::Product;
use crate::recognise::{BUILD, BuildSystem, System};
use crate::registry::{go_needs, mode};
use crate::walk::{files, name};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the prefix in which a source is built whose targets are run: there its paths stay true.
pub(crate) const TREE: &str = "tree";

/// What a source could be measured by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Offer {
    /// A program that is a benchmark.
    Program(Product),
    /// A target of the build system.
    Target(Target),
}

/// A command that runs benchmarks or tests in the tree that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// As it is typed in its folder.
    pub(crate) command: String,
    /// The folder, relative to the top of the tree.
    folder: String,
    pub(crate) is_benchmark: bool,
    /// What builds all that it runs, if that is not done by running it once.
    builds: Option<String>,
    /// The harness whose results it prints (docs/tasks/suites.md).
    pub(crate) harness: Option<&'static str>,
}

impl Target {
    fn of(command: &str, folder: &str, is_benchmark: bool) -> Self {
        let (command, folder) = (command.to_owned(), folder.to_owned());
        Self { command, folder, is_benchmark, builds: None, harness: None }
    }

    /// As it is typed outside of a tree, with words in front.
    pub(crate) fn line(&self, tree: &str, before: &str) -> String {
        let folder = if self.folder.is_empty() { String::new() } else { format!("/{}", self.folder) };
        format!("cd \"{tree}{folder}\" && {before}{}", self.command)
    }

    /// How all that it runs is built, in a tree that is the current folder. It may take so long.
    pub(crate) fn built(&self, patience_s: u32) -> String {
        match &self.builds {
            Some(builds) => Self { command: builds.clone(), ..self.clone() }.line(".", ""),
            None => self.line(".", &format!("timeout {patience_s} ")),
        }
    }
}

impl Offer {
    /// In words.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Program(product) => format!("the benchmark {}", product.path.display()),
            Self::Target(Target { harness: Some(harness), folder, .. }) => {
                let folder = if folder.is_empty() { "." } else { folder };
                format!("the {harness} benchmark suite in {folder}")
            }
            Self::Target(target) if target.is_benchmark => format!("the benchmark `{}`", target.command),
            Self::Target(target) => format!("the test command `{}`", target.command),
        }
    }
}

/// What a source offers that was built in `tree`, benchmarks first.
pub(crate) fn offers(found: &BuildSystem, tree: &Path, programs: &[Product]) -> Vec<Offer> {
    let is_benchmark = |one: &&Product| one.name().to_lowercase().contains("bench");
    let programs = programs.iter().filter(is_benchmark).cloned().map(Offer::Program);
    programs.chain(targets(found, tree).into_iter().map(Offer::Target)).collect()
}

fn targets(found: &BuildSystem, tree: &Path) -> Vec<Target> {
    let read = |file: String| fs::read_to_string(tree.join(file)).unwrap_or_default();
    match found.system {
        System::Make | System::Configure | System::Autoconf => of_make(found, tree),
        System::CMake => {
            let has_tests = ["add_test(", "subdirs("]
                .iter()
                .any(|word| read(format!("{BUILD}/CTestTestfile.cmake")).contains(word));
            has_tests.then(|| Target::of("ctest", BUILD, false)).into_iter().collect()
        }
        System::Meson => {
            let has = |what: &str| read(format!("{BUILD}/meson-info/intro-{what}.json")).trim().len() > "[]".len();
            let benchmarks = has("benchmarks").then(|| Target::of("meson test --no-rebuild --benchmark", BUILD, true));
            benchmarks
                .into_iter()
                .chain(has("tests").then(|| Target::of("meson test --no-rebuild", BUILD, false)))
                .collect()
        }
        System::Go => of_go(tree).into_iter().collect(),
        System::Cargo | System::Debian => vec![],
    }
}

/// The first usual name of each kind that a Makefile has as a target.
fn of_make(found: &BuildSystem, tree: &Path) -> Vec<Target> {
    const NAMES: [(bool, &[&str]); 2] =
        [(true, &["bench", "benchmark", "benchmarks", "perf"]), (false, &["check", "test", "tests"])];
    // One may only include another.
    let files =
        ["GNUmakefile", "makefile", "Makefile"].map(|file| fs::read_to_string(tree.join(&found.folder).join(file)));
    let text: String = files.into_iter().flatten().collect();
    let has = |name: &&&str| text.lines().any(|line| is_rule_of(line, name));
    // Nothing configures a Makefile of one's own: what it is called with, it is called with each time.
    let options = if found.system == System::Make && !found.options.is_empty() {
        format!(" {}", found.options)
    } else {
        String::new()
    };
    let first = |(is_benchmark, names): &(bool, &[&str])| {
        let name = names.iter().find(has)?;
        Some(Target::of(&format!("make {name}{options}"), &found.folder, *is_benchmark))
    };
    NAMES.iter().filter_map(first).collect()
}

/// The benchmarks of the package of a Go module that has most of them.
fn of_go(tree: &Path) -> Option<Target> {
    let is_left_out = |folder: &Path| {
        let name = name(folder);
        name.starts_with(['.', '_']) || ["vendor", "testdata"].contains(&&*name) || folder.join("go.mod").exists()
    };
    let mut benchmarks: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for file in files(tree, DEEPEST, &is_left_out).iter().filter(|file| name(file).ends_with("_test.go")) {
        let text = fs::read_to_string(tree.join(file)).unwrap_or_default();
        let here = text.lines().filter(|line| line.starts_with("func Benchmark")).count();
        *benchmarks.entry(file.parent().unwrap_or(Path::new("")).to_owned()).or_default() += here;
    }
    let (folder, _) = benchmarks.into_iter().filter(|(_, n)| *n > 0).max_by_key(|(_, n)| *n)?;
    Some(Target {
        command: format!("./{GO_TEST} -test.run '^$' -test.bench . -test.benchtime 100ms"),
        folder: folder.display().to_string(),
        is_benchmark: true,
        builds: Some(format!("go test{} -c -o {GO_TEST} .", mode(go_needs(tree)))),
        harness: Some("go"),
    })
}

/// The program that runs the benchmarks of a package.
const GO_TEST: &str = "bakeoff.test";

/// No deeper than this is looked for packages.
const DEEPEST: usize = 5;

/// Whether a line of a Makefile says how a target is made.
fn is_rule_of(line: &str, name: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else { return false };
    !line.starts_with(['\t', '#']) && !rest.starts_with('=') && targets.split_whitespace().any(|target| target == name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use crate::recognise::recognise;

    fn check(files: &[(&str, &str)], expect: &[&str]) {
        let tree = tempfile::tempdir().unwrap();
        for (file, text) in files {
            fs::create_dir_all(tree.path().join(file).parent().unwrap()).unwrap();
            fs::write(tree.path().join(file), text).unwrap();
        }
        let found = recognise(tree.path()).remove(0);
        let all =
            offers(&found, tree.path(), &[Product::guessed("sum".into()), Product::guessed("t/bench_sum".into())]);
        assert_eq!(all[0].shown(), "the benchmark t/bench_sum");
        assert_eq!(all[1..].iter().map(Offer::shown).collect::<Vec<_>>(), expect, "{files:?}");
    }

    #[test]
    fn what_a_build_system_names_is_offered() {
        let makefile =
            "CHECK := test\nall: sum\n# perf: x\ntest := no\ntests check : all\n\tmake bench: no\nbenchmark:sum\n";
        check(&[("Makefile", makefile)], &["the benchmark `make benchmark`", "the test command `make check`"]);
        let both = [("GNUmakefile", "include Makefile\n"), ("Makefile", "check: sum\n")];
        check(&both, &["the test command `make check`"]);
        check(&[("Makefile", "all: sum\ntesting: sum\n")], &[]);
        check(&[("unix/configure", ""), ("unix/Makefile", "test: x\n")], &["the test command `make test`"]);
        let ctest = "bakeoff-build/CTestTestfile.cmake";
        check(&[("CMakeLists.txt", ""), (ctest, "add_test(a \"/x/a\")\n")], &["the test command `ctest`"]);
        check(&[("CMakeLists.txt", ""), (ctest, "# none\n")], &[]);
        let (tests, benchmarks) =
            ("bakeoff-build/meson-info/intro-tests.json", "bakeoff-build/meson-info/intro-benchmarks.json");
        check(
            &[("meson.build", ""), (tests, "[{}]"), (benchmarks, "[]")],
            &["the test command `meson test --no-rebuild`"],
        );
        check(&[("Cargo.toml", ""), ("Makefile", "test: x\n")], &[]);
        let one = "package a\n\nfunc BenchmarkSum(b *testing.B) {}\n";
        let two = format!("{one}func BenchmarkAll(b *testing.B) {{}}\n");
        let files = [("go.mod", ""), ("a/a_test.go", one), ("b/c/c_test.go", &two), ("vendor/x/x_test.go", &two)];
        check(&files, &["the go benchmark suite in b/c"]);
        check(&[("go.mod", ""), ("a/other_test.go", one)], &["the go benchmark suite in a"]);
    }

    #[test]
    fn a_target_is_executed_in_its_folder() {
        let target = |folder: &str| Target::of("make check", folder, false);
        assert_eq!(target("").line("$TMPDIR/tree", ""), "cd \"$TMPDIR/tree\" && make check");
        assert_eq!(target("unix").line(".", "nice "), "cd \"./unix\" && nice make check");
        assert_eq!(target("").built(9), "cd \".\" && timeout 9 make check");
        let go = Target { builds: Some("go test -c".to_owned()), ..target("a") };
        assert_eq!(go.built(9), "cd \"./a\" && go test -c");
    }
}
