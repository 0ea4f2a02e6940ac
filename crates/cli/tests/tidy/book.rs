//! The book: every page of `docs` is a chapter, every reference is a link that leads somewhere, and each part has its limit
//! of words. It reads Markdown as far as our pages use it; it judges no sentence.

use super::{files, root, shown};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Files besides the pages of `docs` whose links are checked.
const OTHERS: &[&str] = &["README.md", "CONTRIBUTING.md"];

/// The most words of each part, written by hand. The front page and the README are tasks.
const MOST_WORDS: &[(&str, usize)] =
    &[("tasks", 16_150), ("understanding", 9_500), ("reference", 11_000), ("studies", 4_000), ("dev", 7_400)];

/// Generated pages, which no limit binds.
const GENERATED: &[&str] = &["docs/reference/commands", "docs/dev/points.md", "docs/SUMMARY.md"];

fn pages() -> Vec<PathBuf> {
    let is_page = |path: &PathBuf| {
        let name = shown(path);
        name.starts_with("docs/") || OTHERS.contains(&&*name)
    };
    files(&[".md"]).into_iter().filter(is_page).collect()
}

/// The lines of a page outside blocks of code, numbered.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// A line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Where the links of a line lead.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    let ends = line.match_indices("](").map(|(at, found)| at + found.len());
    ends.filter_map(|at| line[at..].split_once(')').map(|(target, _)| target.to_owned())).collect()
}

/// What a heading is called in an address, as mdBook and GitHub do it.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter_map(|(_, line)| line.strip_prefix('#')).map(|rest| rest.trim_start_matches('#'));
    let kept = |c: char| match c {
        ' ' => Some('-'),
        _ if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    headings.map(|heading| heading.trim().chars().filter_map(kept).collect()).collect()
}

/// Why a link leads nowhere.
fn broken(page: &Path, target: &str) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { page.to_owned() } else { page.parent().unwrap().join(path) };
    match fs::read_to_string(&file) {
        Ok(text) if anchor.is_empty() || anchors(&text).iter().any(|known| known == anchor) => None,
        Ok(_) => Some("there is no such heading"),
        Err(_) if anchor.is_empty() && file.exists() => None,
        Err(_) => Some("there is no such file"),
    }
}

#[test]
fn every_link_leads_somewhere() {
    let (mut wrong, mut links) = (vec![], 0);
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (number, line) in prose(&text) {
            for target in targets(line) {
                links += 1;
                let problem = broken(&page, &target);
                wrong.extend(problem.map(|why| format!("{}:{number}: {target}: {why}", shown(&page))));
            }
        }
    }
    println!("{links} links");
    assert!(links > 100 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A page that is named but cannot be clicked sends its reader to look for it.
#[test]
fn every_page_that_is_named_is_a_link() {
    let mut wrong = vec![];
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (number, line) in prose(&text) {
            let mut outside = line.to_owned();
            for target in targets(line) {
                outside = outside.replace(&format!("]({target})"), "");
            }
            let names = outside.split(|c: char| c.is_whitespace() || "`\"(),;".contains(c));
            let bare = names.filter(|word| word.ends_with(".md") && !word.contains("://") && *word != ".md");
            wrong.extend(bare.map(|word| format!("{}:{number}: {word} is not a link", shown(&page))));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_is_a_chapter() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut chapters: Vec<PathBuf> = summary.lines().flat_map(targets).map(|target| docs.join(target)).collect();
    // The list of commands leads to the page of each; the book has them below it.
    let mut there: Vec<PathBuf> = files(&[".md"]).into_iter().filter(|path| path.starts_with(&docs)).collect();
    there.retain(|path| *path != docs.join("SUMMARY.md"));
    chapters.sort();
    assert_eq!(chapters, there);
}

#[test]
fn each_part_of_the_book_has_its_limit_of_words() {
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    for page in pages() {
        let name = shown(&page);
        if GENERATED.iter().any(|generated| name.starts_with(generated)) {
            continue;
        }
        let part = match name.strip_prefix("docs/").and_then(|rest| rest.split_once('/')) {
            Some((part, _)) => part.to_owned(),
            None if name == "CONTRIBUTING.md" => "dev".to_owned(),
            None => "tasks".to_owned(),
        };
        let text = fs::read_to_string(&page).unwrap();
        let number = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
        *words.entry(part).or_default() += number;
    }
    println!("{words:?}");
    let over = words.iter().filter(|(part, number)| {
        let most = MOST_WORDS.iter().find(|(name, _)| name == part);
        most.is_none_or(|(_, most)| *number > most)
    });
    assert_eq!(over.collect::<Vec<_>>(), vec![]);
}
