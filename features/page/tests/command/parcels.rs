//! The parcels of real studies in `docs/parcels`: small, redacted, and each gives a page. The README's chart is one of them.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown};
use std::fs;
use std::path::{Path, PathBuf};

/// A parcel travels with the repository.
const MOST_BYTES: u64 = 300_000;
/// Folders in which people work, and where a run keeps its files.
const PRIVATE: [&str; 5] = ["/home/", "/root/", "/work/", "/tmp/", "/Users/"];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn parcels() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(docs().join("parcels")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.to_str().is_some_and(|path| path.ends_with(".tar.zst")));
    found.sort();
    found
}

fn typed(sandbox: &Sandbox, words: &[&str]) -> Shown {
    Shown::of(&sandbox.command_as_typed(words).output().unwrap())
}

/// Unpacks a parcel into the sandbox, and says where.
fn import(sandbox: &Sandbox, parcel: &Path) -> String {
    let name = parcel.file_name().unwrap().to_str().unwrap().trim_end_matches(".tar.zst").to_owned();
    typed(sandbox, &["import", parcel.to_str().unwrap(), &name]).expect(0, &["imported"]);
    name
}

#[test]
fn parcels_are_small_and_redacted_and_give_a_page() {
    let sandbox = Sandbox::new("");
    let parcels = parcels();
    assert_eq!(parcels.len(), 5, "{parcels:?}");
    for parcel in parcels {
        assert!(fs::metadata(&parcel).unwrap().len() < MOST_BYTES, "{parcel:?}");
        let name = import(&sandbox, &parcel);
        let folder = sandbox.study().parent().unwrap().join(&name);
        let journals = fs::read_dir(folder.join(".bakeoff/imported")).unwrap().map(|entry| entry.unwrap().path());
        let journals: Vec<PathBuf> = journals.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
        assert_eq!(journals.len(), 1, "{name}");
        let journal = fs::read_to_string(&journals[0]).unwrap();
        for private in PRIVATE {
            let at = journal.find(private).map(|at| &journal[at.saturating_sub(80)..(at + 80).min(journal.len())]);
            assert_eq!(at, None, "{name}: {private}");
        }
        let page = typed(&sandbox, &["report", &name, "--html", "-"]);
        assert_eq!(page.code, 0, "{page:?}");
        assert!(page.out.contains("id=\"figures\"") && page.out.ends_with("</html>"), "{name}");
    }
}

#[test]
fn the_chart_of_the_readme_is_made_from_a_parcel() {
    let sandbox = Sandbox::new("");
    let name = import(&sandbox, &docs().join("parcels/perl-options.tar.zst"));
    let chart = typed(&sandbox, &["report", &name, "--style", "none", "--svg", "-"]);
    assert_eq!(chart.code, 0, "{chart:?}");
    let file = docs().join("perl-options.svg");
    if std::env::var("BAKEOFF_UPDATE").is_ok_and(|value| value == "1") {
        fs::write(&file, &chart.out).unwrap();
    }
    assert!(
        chart.out == fs::read_to_string(&file).unwrap(),
        "docs/perl-options.svg is not current; BAKEOFF_UPDATE=1 writes it"
    );
}
