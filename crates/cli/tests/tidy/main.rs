//! The map, held: which crate may use which, how long a file may be, what the pure crates must not do, and the words
//! that are not used. It reads this repository as text; it does not judge style, which rustfmt and clippy do.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

mod book;
mod called;
mod ceilings;
mod circles;
mod of_building;
mod points;
mod shapes;

use circles::{Crate, in_circles};
use std::fs;
use std::path::{Path, PathBuf};

/// Every edge of the core that there is; `docs/dev/architecture.md` draws them.
const EDGES: &[(&str, &[&str])] = &[
    ("code", &[]),
    ("model", &[]),
    ("host", &["model"]),
    ("lab", &["host", "model"]),
    ("journal", &["model"]),
    ("stats", &[]),
    ("searching", &["model", "stats"]),
    ("readers", &["model"]),
    ("judge", &["model", "readers", "stats"]),
    ("report", &["judge", "model", "readers", "stats"]),
    ("command", &["host", "journal", "judge", "lab", "model", "report"]),
    ("testkit", &["judge", "lab", "model", "report"]),
];
/// What the place where variants are built may use.
const BUILDING: &[&str] = &["code", "command", "host", "journal", "judge", "lab", "model", "report"];
/// What nothing may use but tests.
const ONLY_FOR_TESTS: &str = "testkit";
/// Crates that touch nothing of the world.
const PURE: &[&str] = &["code", "model", "stats", "searching", "readers", "judge", "report"];
const MOST_LINES: usize = 500;
/// What others may see of building.
const MOST_PUBLIC: usize = 19;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Files of the repository with one of these endings, without what is built, fetched or hidden.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let mut found = vec![];
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// The names of the folders in a wing.
fn wing(name: &str) -> Vec<String> {
    let folders = fs::read_dir(root().join(name)).unwrap();
    let mut names: Vec<String> =
        folders.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Our crates that one of ours uses.
fn used_by(folder: &Path) -> Vec<String> {
    let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
    let used = manifest["dependencies"].as_table().unwrap().keys();
    used.filter_map(|dependency| dependency.strip_prefix("bakeoff-")).map(str::to_owned).collect()
}

#[test]
fn a_crate_uses_only_what_stands_below_it() {
    let (core, features) = (wing("crates"), wing("features"));
    for name in core.iter().filter(|name| *name != "cli") {
        let allowed = EDGES.iter().find(|(krate, _)| krate == name).map(|(_, allowed)| *allowed);
        let allowed = allowed.unwrap_or_else(|| panic!("the map does not know the crate {name}"));
        for used in used_by(&root().join("crates").join(name)) {
            assert!(allowed.contains(&used.as_str()), "{name} must not use {used}");
        }
    }
    assert_eq!(core.len(), EDGES.len() + 1, "{core:?}");
    for used in used_by(&root().join("building")) {
        assert!(BUILDING.contains(&used.as_str()), "building must not use {used}");
    }
    for name in &features {
        for used in used_by(&root().join("features").join(name)) {
            let is_below = used == "building" || core.contains(&used);
            assert!(used != "cli" && used != ONLY_FOR_TESTS && is_below, "{name} must not use {used}");
        }
        assert!(root().join("features").join(name).join("README.md").is_file(), "{name} does not say what it is for");
    }
    let by_cli = used_by(&root().join("crates/cli"));
    assert!(features.iter().all(|feature| by_cli.contains(feature)), "a feature is in no program: {features:?}");
    assert!(!by_cli.iter().any(|used| used == ONLY_FOR_TESTS));
}

/// The files with which the crates of a folder begin: the library, and each bench.
fn roots(folder: &Path) -> Vec<PathBuf> {
    let benches = fs::read_dir(folder.join("benches")).into_iter().flatten().map(|entry| entry.unwrap().path());
    let benches = benches.map(|path| if path.is_dir() { path.join("main.rs") } else { path });
    std::iter::once(folder.join("src/lib.rs")).chain(benches).collect()
}

/// Who reads a file needs to know those below it, and no others.
#[test]
fn no_crate_has_a_circle_among_its_files() {
    let mut wrong = vec![];
    let crates =
        ["crates", "features"].map(|name| wing(name).into_iter().map(move |krate| root().join(name).join(krate)));
    for krate in crates.into_iter().flatten().chain([root().join("building")]).flat_map(|folder| roots(&folder)) {
        let arrows = Crate::read(&krate).arrows();
        let circles = in_circles(&arrows).into_iter();
        wrong.extend(circles.map(|(from, to, what)| format!("{} -> {}: {what}", shown(from), shown(to))));
    }
    assert!(wrong.is_empty(), "these arrows are part of circles:\n{}", wrong.join("\n"));
}

/// Whatever races goes one way: what it does once is written once.
#[test]
fn a_race_is_run_in_one_place() {
    for call in ["Journal::open(", "state.lock()", "alone(quiet)?", "maker.hold(", "OpenStudy::open("] {
        let sources = files(&[".rs"]).into_iter().filter(|path| shown(path).contains("/src/"));
        let sources = sources
            .filter(|path| ["cli", "command"].iter().any(|krate| shown(path).starts_with(&format!("crates/{krate}/"))));
        let calls: usize = sources.map(|path| fs::read_to_string(path).unwrap().matches(call).count()).sum();
        assert_eq!(calls, 1, "calls of {call} in crates/cli and crates/command");
    }
}

#[test]
fn the_pure_crates_are_banned_from_the_world() {
    for krate in PURE {
        let text = fs::read_to_string(root().join("crates").join(krate).join("clippy.toml")).unwrap();
        for ban in ["std::process::Command::new", "std::fs::File::open", "std::time::Instant::now"] {
            assert!(text.contains(ban), "crates/{krate}/clippy.toml does not ban {ban}");
        }
    }
}

#[test]
fn only_host_and_the_program_of_the_wrapper_may_be_unsafe() {
    let word = concat!("un", "safe");
    // The program that stands before compilers has no C library; its owner's side only lets it be linted.
    let may = ["crates/host", "building/wrapper", "building/src/wrapper.rs"].map(|folder| root().join(folder));
    for path in files(&[".rs"]).iter().filter(|path| !may.iter().any(|folder| path.starts_with(folder))) {
        let text = fs::read_to_string(path).unwrap();
        for opening in [" {", " fn", " impl", "_code"] {
            assert!(!text.contains(&format!("{word}{opening}")), "{} has {word}{opening}", shown(path));
        }
    }
}

/// Whoever uses building needs to know no more of it than this.
#[test]
fn building_has_a_narrow_front() {
    let file = syn::parse_file(&fs::read_to_string(root().join("building/src/lib.rs")).unwrap()).unwrap();
    fn names(tree: &syn::UseTree) -> usize {
        match tree {
            syn::UseTree::Path(path) => names(&path.tree),
            syn::UseTree::Group(group) => group.items.iter().map(names).sum(),
            syn::UseTree::Glob(_) => usize::MAX / 2,
            syn::UseTree::Name(_) | syn::UseTree::Rename(_) => 1,
        }
    }
    let public = |item: &syn::Item| match item {
        syn::Item::Use(syn::ItemUse { vis: syn::Visibility::Public(_), tree, .. }) => names(tree),
        syn::Item::Struct(syn::ItemStruct { vis: syn::Visibility::Public(_), .. })
        | syn::Item::Enum(syn::ItemEnum { vis: syn::Visibility::Public(_), .. })
        | syn::Item::Trait(syn::ItemTrait { vis: syn::Visibility::Public(_), .. })
        | syn::Item::Fn(syn::ItemFn { vis: syn::Visibility::Public(_), .. })
        | syn::Item::Mod(syn::ItemMod { vis: syn::Visibility::Public(_), .. }) => 1,
        _ => 0,
    };
    let items: usize = file.items.iter().map(public).sum();
    assert!(items <= MOST_PUBLIC, "building has {items} public items; {MOST_PUBLIC} are allowed");
}

#[test]
fn no_file_is_long() {
    for path in files(&[".rs", ".sh", ".pl", ".java", ".py", ".toml", "Makefile"]) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines; {MOST_LINES} are allowed", shown(&path));
    }
}

#[test]
fn every_file_opens_with_what_it_is() {
    for path in files(&[".rs"]) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{} does not open with a `//!` paragraph", shown(&path));
    }
}

#[test]
fn paths_in_the_documents_exist() {
    let mut seen = 0;
    for document in files(&[".md"]) {
        let text = fs::read_to_string(&document).unwrap();
        for path in text.split('`').filter(|word| {
            ["crates/", "features/", "building/"].iter().any(|wing| word.starts_with(wing))
                && !word.contains(['<', '*'])
        }) {
            assert!(root().join(path).exists(), "{} names {path}, which is not there", shown(&document));
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} paths were found");
}

/// Each method of `docs/reference/statistics.md` names tests in its last column; they must be there.
#[test]
fn tests_in_the_statistics_exist() {
    let sources: String = files(&[".rs"]).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let text = fs::read_to_string(root().join("docs/reference/statistics.md")).unwrap();
    let mut seen = 0;
    for row in text.lines().filter(|line| line.starts_with("| ") && line.ends_with('|')) {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        for name in last.split('`').skip(1).step_by(2) {
            let there = sources.contains(&format!("fn {name}(")) || sources.contains(&format!("\"{name}\""));
            assert!(there, "docs/reference/statistics.md names the test {name}, which is not there");
            seen += 1;
        }
    }
    assert!(seen > 80, "only {seen} names were found");
}

/// A script that several studies need is one file, and each has a link to it: a copy would go ways of its own.
#[test]
fn studies_share_a_script_by_links() {
    let found = files(&["fetch-debian.sh"]);
    let one = root().join("studies/fetch-debian.sh");
    assert!(found.len() > 2 && found.contains(&one), "{found:?}");
    for path in found.iter().filter(|path| **path != one) {
        let leads_to = fs::read_link(path).unwrap_or_default();
        assert_eq!(leads_to, Path::new("../fetch-debian.sh"), "{} is not a link to it", shown(path));
    }
}

/// Everything that people read is plain English: none of these turns of phrase stands in the source, the documents, the
/// help or the studies.
#[test]
fn what_people_read_is_plain_english() {
    let never =
        ["is told", "are told", "be told", "was told", "were told", "of itself", "so many", "whoever", "anew", "mend"];
    let mut found = vec![];
    for path in files(&[".rs", ".md", ".toml"]) {
        let name = shown(&path);
        let is_read = ["/src/", "docs/", "README", "studies/"].iter().any(|part| name.contains(part));
        if !is_read {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let words = line.to_lowercase();
            let words: Vec<&str> =
                words.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
            let line_of_words = format!(" {} ", words.join(" "));
            if let Some(phrase) = never.iter().find(|phrase| line_of_words.contains(&format!(" {phrase} "))) {
                found.push(format!("{name}:{number}: {phrase:?} in: {line}"));
            }
        }
    }
    assert!(found.is_empty(), "in other words, please:\n{}", found.join("\n"));
}

/// Words that the glossary replaces. Code of others keeps its own: `Result`, `config.sh`, `cargo bench`.
#[test]
fn words_that_are_not_used_are_not_used() {
    let never = ["experiment", "experiments", "iteration", "iterations", "rounds"];
    let not_as_noun = ["round", "config"];
    let articles = ["a", "an", "the", "each", "every", "this", "that", "per", "one", "our", "its", "no"];
    let mut wrong = vec![];
    for path in files(&[".rs", ".md"]) {
        // The glossary names the banned words, and so does this file.
        if path.ends_with("tests/tidy/main.rs") || path.ends_with("docs/understanding/terms.md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            // Only as a type of `host`, whose fields have its name: how the copies of a load are started again.
            let line = line.replace("pub rounds:", "").replace(".rounds", "").replace(" rounds:", "");
            let words: Vec<&str> = line.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| !w.is_empty()).collect();
            let noun = |at: usize| articles.contains(&words[at - 1]) && not_as_noun.contains(&words[at]);
            if words.iter().any(|word| never.contains(word)) || (1..words.len()).any(noun) {
                wrong.push(format!("{}:{number}: {line}", shown(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "docs/understanding/terms.md has other words for these:\n{}", wrong.join("\n"));
}

/// A kind without a sentence would be printed by its name, which no compiler sees: sentences are looked for by group.
#[test]
fn every_doubt_has_a_sentence() {
    let declared = fs::read_to_string(root().join("crates/judge/src/findings/caveat.rs")).unwrap();
    let (_, kinds) = declared.split_once("pub enum Caveat {").unwrap();
    let variants = kinds.lines().take_while(|line| *line != "}").filter_map(|line| line.strip_prefix("    "));
    let variants = variants.filter(|line| line.starts_with(char::is_uppercase));
    let names: Vec<&str> = variants.map(|line| line.split(|c: char| !c.is_alphanumeric()).next().unwrap()).collect();
    assert!(names.len() > 40, "{} kinds of doubts", names.len());
    let sentences: String = files(&[".rs"])
        .iter()
        .filter(|path| shown(path).starts_with("crates/report/src/caveats/"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let has_sentence = |name: &str| sentences.contains(&format!("Caveat::{name}"));
    let without: Vec<&str> = names.into_iter().filter(|name| !has_sentence(name)).collect();
    assert!(without.is_empty(), "no sentence in crates/report/src/caveats: {without:?}");
}
