//! What Cargo has rustc do in a project's release builds, in the words of rustc: by its manifest and its configuration, as far as
//! these are in the project. What is set by the environment, or in a folder above, is not known here.

use std::path::Path;
use toml_edit::{DocumentMut, Item};

/// A file of TOML, if it is one.
pub(crate) fn document(path: &Path) -> Option<DocumentMut> {
    std::fs::read_to_string(path).ok()?.parse().ok()
}

/// The value at the end of these keys.
fn value<'d>(document: &'d Option<DocumentMut>, keys: &[&str]) -> Option<&'d Item> {
    keys.iter().try_fold(document.as_ref()?.as_item(), |item, key| item.get(key))
}

/// The settings of the release profile, such as `opt-level=3`, and the words that the configuration adds.
pub(crate) fn own(tree: &Path) -> Vec<String> {
    let config = document(&tree.join(".cargo/config.toml")).or_else(|| document(&tree.join(".cargo/config")));
    let manifest = document(&tree.join("Cargo.toml"));
    let setting = |name: &str| {
        let keys = ["profile", "release", name];
        value(&config, &keys).or_else(|| value(&manifest, &keys)).map(text)
    };
    let mut all = vec![format!("opt-level={}", setting("opt-level").unwrap_or_else(|| "3".to_owned()))];
    all.extend(setting("codegen-units").map(|number| format!("codegen-units={number}")));
    all.extend(setting("lto").map(|kind| format!("lto={}", if kind == "true" { "fat" } else { &kind })));
    match value(&config, &["build", "rustflags"]) {
        Some(Item::Value(toml_edit::Value::Array(words))) => {
            all.extend(settings(&words.iter().filter_map(|word| word.as_str()).collect::<Vec<_>>().join(" ")));
        }
        Some(words) => all.extend(settings(&text(words))),
        None => {}
    }
    all
}

fn text(item: &Item) -> String {
    let number = || item.as_integer().map(|number| number.to_string());
    let truth = || item.as_bool().map(|truth| truth.to_string());
    item.as_str().map(str::to_owned).or_else(number).or_else(truth).unwrap_or_default()
}

/// The settings among words for rustc, those of `-C` without it.
fn settings(words: &str) -> Vec<String> {
    let words = words.split_whitespace().filter(|word| *word != "-C" && *word != "--codegen");
    words.map(|word| word.strip_prefix("-C").unwrap_or(word).to_owned()).collect()
}

/// Whether these words have rustc do nothing but what it does anyway.
pub(crate) fn are_own(words: &str, own: &[String]) -> bool {
    /// What `lto` needs from Cargo, and does not change the program.
    const NEEDED: &str = "embed-bitcode=yes";
    settings(words).iter().all(|setting| own.contains(setting) || setting == NEEDED)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_equals_the_release_profile_is_known() {
        let check = |manifest: &str, config: &str, words: &str, expect: bool| {
            let tree = tempfile::tempdir().unwrap();
            std::fs::create_dir(tree.path().join(".cargo")).unwrap();
            std::fs::write(tree.path().join("Cargo.toml"), manifest).unwrap();
            std::fs::write(tree.path().join(".cargo/config.toml"), config).unwrap();
            assert_eq!(are_own(words, &own(tree.path())), expect, "{manifest} {config} {words}");
        };
        let small = "[profile.release]\nopt-level = \"s\"\nlto = true\ncodegen-units = 1 # one\n";
        check("", "", "-C opt-level=3", true);
        check("", "", "-Copt-level=2", false);
        check(small, "", "-C opt-level=3", false);
        check(small, "", "-C opt-level=s", true);
        check(small, "[profile.release]\nopt-level = 3\n", "-C opt-level=3", true);
        check(small, "", "-C lto=fat -C embed-bitcode=yes", true);
        check(small, "", "-C lto=fat -C embed-bitcode=yes -C codegen-units=1", true);
        check("[profile.release]\nlto = \"thin\"\n", "", "-C lto=fat -C embed-bitcode=yes", false);
        check("", "[build]\nrustflags = [\"-C\", \"target-cpu=native\"]\n", "-C target-cpu=native", true);
        check("", "[build]\nrustflags = \"-Ctarget-cpu=native\"\n", "-C target-cpu=native -C opt-level=2", false);
    }
}
