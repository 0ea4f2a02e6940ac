//! What a commit holds besides files: submodules, and files with filters. It reads what Git wrote down, and runs nothing.

use crate::error::{At as _, Error};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A commit of another repository, at a path of this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Submodule {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) commit: String,
    /// Where it is had from, as `.gitmodules` says.
    pub(super) url: String,
}

/// What a commit holds besides files.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) submodules: Vec<Submodule>,
    /// How many files have each filter.
    pub(super) filters: BTreeMap<String, usize>,
}

impl Contents {
    /// Reads what was written down in a repository of ours. A commit of another repository that `.gitmodules` does not
    /// name is an empty folder, as it is in every checkout.
    pub(super) fn read(git_dir: &Path) -> Result<Self, Error> {
        let read = |name: &str| {
            let path = git_dir.join(name);
            fs::read(&path).at("read", &path)
        };
        Ok(Self { submodules: submodules(&read("entries")?, &read("modules")?), filters: filters(&read("filters")?) })
    }
}

fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// `entries` is what `git ls-tree -z` prints, `modules` what `git config -z` does.
fn submodules(entries: &[u8], modules: &[u8]) -> Vec<Submodule> {
    let mut known: BTreeMap<String, (Vec<u8>, String)> = BTreeMap::new();
    for part in parts(modules) {
        let mut halves = part.splitn(2, |byte| *byte == b'\n');
        let (Some(key), Some(value)) = (halves.next(), halves.next()) else { continue };
        let key = String::from_utf8_lossy(key);
        let Some((name, key)) = key.strip_prefix("submodule.").and_then(|rest| rest.rsplit_once('.')) else { continue };
        let module = known.entry(name.to_owned()).or_default();
        match key {
            "path" => module.0 = value.to_vec(),
            "url" => module.1 = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
    }
    let of_entry = |entry: &[u8]| {
        let (about, path) = entry.split_at(entry.iter().position(|byte| *byte == b'\t')?);
        let commit = std::str::from_utf8(about).ok()?.strip_prefix("160000 commit ")?.to_owned();
        let (name, (path, url)) = known.iter().find(|(_, (known, _))| *known == path[1..])?;
        let path = PathBuf::from(OsStr::from_bytes(path));
        Some(Submodule { name: name.clone(), path, commit, url: url.clone() })
    };
    parts(entries).filter_map(of_entry).collect()
}

/// What `git check-attr -z` prints: path, attribute and value of each file.
fn filters(printed: &[u8]) -> BTreeMap<String, usize> {
    let values: Vec<&[u8]> = printed.split(|byte| *byte == 0).skip(2).step_by(3).collect();
    let mut filters = BTreeMap::new();
    for value in values {
        let value = String::from_utf8_lossy(value).into_owned();
        if !["unspecified", "unset", "set", ""].contains(&value.as_str()) {
            *filters.entry(value).or_default() += 1;
        }
    }
    filters
}

/// The address of a submodule, which may be relative to that of the repository that it is in; none if it is not one that is
/// followed.
pub(super) fn relative_address(base: Option<&str>, url: &str) -> Option<String> {
    let is_relative = url.starts_with("./") || url.starts_with("../");
    let absolute = if is_relative {
        let mut base = base?.trim_end_matches('/').to_owned();
        let mut rest = url;
        loop {
            if let Some(more) = rest.strip_prefix("./") {
                rest = more;
            } else if let Some(more) = rest.strip_prefix("../") {
                let end = base.rfind(['/', ':'])?;
                base.truncate(if base[end..].starts_with(':') { end + 1 } else { end });
                rest = more;
            } else {
                break;
            }
        }
        if base.ends_with(':') { format!("{base}{rest}") } else { format!("{base}/{rest}") }
    } else {
        url.to_owned()
    };
    let schemes = ["http://", "https://", "ssh://", "git://", "git+ssh://", "ssh+git://"];
    // `host:path`; `x::y` is a program of the user's that fetches.
    let is_of_host = !absolute.contains("://")
        && !absolute.contains("::")
        && absolute.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'));
    let is_followed = !absolute.starts_with('-') && (is_of_host || schemes.iter().any(|s| absolute.starts_with(s)));
    is_followed.then_some(absolute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_submodules_are_relative_to_their_repository() {
        let check = |base: Option<&str>, url: &str, expect: Option<&str>| {
            assert_eq!(relative_address(base, url).as_deref(), expect, "{base:?} {url}");
        };
        check(Some("https://example.org/a/b.git"), "../c.git", Some("https://example.org/a/c.git"));
        check(Some("https://example.org/a/b.git/"), "../../c", Some("https://example.org/c"));
        check(Some("git@example.org:b.git"), "../c.git", Some("git@example.org:c.git"));
        check(Some("https://example.org/a"), "./c", Some("https://example.org/a/c"));
        check(None, "https://example.org/c", Some("https://example.org/c"));
        check(None, "../c", None);
        check(Some("/home/me/b"), "../c", None);
        for url in ["file:///etc", "/etc", "ext::sh -c true", "-ux", "-u:x", ""] {
            check(Some("https://example.org/a"), url, None);
        }
    }

    #[test]
    fn submodules_and_filters_are_read_as_git_prints_them() {
        let entries = b"100644 blob aa\ta file\x00160000 commit cc\tlib/one two\x00160000 commit dd\tnowhere\0";
        let modules = b"submodule.one.path\nlib/one two\0submodule.one.url\n../one\0submodule.x.y.url\nu\0";
        let one = Submodule {
            name: "one".to_owned(),
            path: PathBuf::from("lib/one two"),
            commit: "cc".to_owned(),
            url: "../one".to_owned(),
        };
        // The path of an entry comes behind a tab.
        assert_eq!(submodules(entries, modules), [one]);
        let printed = b"a\0filter\0lfs\0b\0filter\0unspecified\0c\0filter\0lfs\0";
        assert_eq!(filters(printed), BTreeMap::from([("lfs".to_owned(), 2)]));
    }
}
