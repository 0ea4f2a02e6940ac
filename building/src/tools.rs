//! Which compiler is it? The identity of a tool: where it really is, and the SHA-256 of its file. It is part of a build's
//! name, so that a new compiler is a new build. To know it nothing is run: a study may name any file as its compiler,
//! and to look at a study must be safe. Only where something is built a tool is asked for its version, for people.
//!
//! To read its file and to ask it takes longer than all else that has to be known of a study whose builds are all there.
//! So the cache folder keeps both in `tools.json`, with what stat(2) says of the file: as long as that is the same, neither
//! is done again.

use crate::cache::Cache;
use crate::error::{At, Error};
use crate::files::{read_json, sha256_of, write_json};
use crate::learned::{ToolFile, ToolFiles};
use crate::nouns::CompilerCache;
use crate::rustup;
use crate::shell::{answer, basic_environment};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// Level variables that name a tool with their first word, as `make`'s built-in rules read them.
pub(crate) const TOOL_VARIABLES: [&str; 3] = ["CC", "CXX", "LD"];

/// Programs that stand before a compiler, by name: as the word before it, or as what a link of its name leads to.
const IN_FRONT: [&str; 3] = ["ccache", "sccache", "distcc"];

/// The tools of a layer: those it lists, and those that its variables name; of a compiler that something like ccache
/// stands before, both. A path that is relative to the layer's folder is none: such files are part of the build's
/// name anyway.
pub(crate) fn tools_of<'a>(listed: &'a [String], variables: &BTreeMap<&str, &'a str>) -> BTreeSet<&'a str> {
    let words = |value: &'a str| {
        let mut words = value.split_whitespace();
        let first = words.next();
        let second = first.filter(|word| is_in_front(Path::new(word))).and_then(|_| words.next());
        first.into_iter().chain(second)
    };
    let named = TOOL_VARIABLES.iter().filter_map(|name| variables.get(name)).flat_map(|value| words(value));
    let listed = listed.iter().map(String::as_str);
    listed.chain(named).filter(|tool| !tool.contains('/') || tool.starts_with('/')).collect()
}

fn is_in_front(tool: &Path) -> bool {
    tool.file_name().is_some_and(|name| IN_FRONT.iter().any(|known| name == *known))
}

/// The real path and SHA-256 of a tool; none if it is not there. If it is `asked`, it is run, and the version that it says
/// it has is among them.
pub(crate) fn identity(cache: &Cache, tool: &str, asked: bool) -> Result<Option<String>, Error> {
    // Held while asking, so that no tool is asked twice.
    let mut learned = cache.toolbox.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (tool.to_owned(), asked);
    if let Some(text) = learned.by_name.get(&key) {
        return Ok(text.clone());
    }
    let text = look(cache, &mut learned.kept, tool, asked, &std::env::var_os("PATH").unwrap_or_default())?;
    learned.by_name.insert(key, text.clone());
    Ok(text)
}

fn look(
    cache: &Cache,
    kept: &mut Option<ToolFiles>,
    tool: &str,
    asked: bool,
    search_path: &OsStr,
) -> Result<Option<String>, Error> {
    let mut found = places(tool, search_path);
    let Some(path) = found.next() else { return Ok(None) };
    let identity = of_file(cache, kept, &path, asked)?;
    let real = fs::canonicalize(&path).at("resolve", &path)?;
    if !is_in_front(&real) || is_in_front(&path) {
        return Ok(Some(identity));
    }
    // A link of the compiler's name to ccache: the compiler is the next one of that name that is none.
    let compiler = found.find(|path| fs::canonicalize(path).is_ok_and(|real| !is_in_front(&real)));
    let Some(compiler) = compiler else { return Ok(Some(identity)) };
    Ok(Some(format!("{identity} before {}", of_file(cache, kept, &compiler, asked)?)))
}

/// The configurations that Cargo reads in the folders above a build, such as that of the home folder, as far as they are there.
pub(crate) fn configurations_of_cargo(cache: &Cache) -> Vec<PathBuf> {
    let all = cache
        .root()
        .ancestors()
        .flat_map(|above| ["config.toml", "config"].map(|file| above.join(".cargo").join(file)));
    all.filter(|file| file.is_file()).collect()
}

/// The program that keeps the output of compilers.
pub(crate) fn program_of(compiler_cache: CompilerCache) -> &'static str {
    match compiler_cache {
        CompilerCache::Ccache => "ccache",
        CompilerCache::Sccache => "sccache",
    }
}

/// The first executable file of that name on a search path.
pub(crate) fn find(tool: &str, search_path: &OsStr) -> Option<PathBuf> {
    places(tool, search_path).next()
}

/// The compiler of that name on a search path: neither a wrapper nor something that stands before compilers.
pub(crate) fn compiler_of(tool: &str, search_path: &OsStr) -> Option<PathBuf> {
    let is_wrapper = |real: &Path| real.file_name() == Some(OsStr::new(crate::wrapper::PROGRAM));
    let is_one = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|real| !is_in_front(&real) && !is_wrapper(&real));
    places(tool, search_path).find(is_one)
}

/// The executable files of that name on a search path, in its order.
pub(crate) fn places<'a>(tool: &'a str, search_path: &'a OsStr) -> impl Iterator<Item = PathBuf> + 'a {
    let executable =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    std::env::split_paths(search_path).map(move |folder| folder.join(tool)).filter(executable)
}

/// The identity of the tool at a path: the kept one if its file is still the same, else the tool is read, and asked.
fn of_file(cache: &Cache, kept: &mut Option<ToolFiles>, path: &Path, asked: bool) -> Result<String, Error> {
    let real = fs::canonicalize(path).at("resolve", path)?;
    let real = rustup::behind(path, &real).unwrap_or(real);
    let stat = stat(&real)?;
    let key = path.display().to_string();
    let file = cache.paths.tools();
    let same = |known: &&ToolFile| known.real == real && known.stat == stat;
    let enough = |known: &&ToolFile| same(known) && (!asked || known.version.is_some());
    if let Some(known) = kept.get_or_insert_with(|| read_json(&file).unwrap_or_default()).get(&key).filter(enough) {
        return Ok(known.text(asked));
    }
    let lock = cache.lock("tools", |_| {})?;
    // Another process may have asked meanwhile, and what it has learned of others must not be lost.
    let mut all: ToolFiles = read_json(&file).unwrap_or_default();
    let text = match all.get(&key).filter(enough) {
        Some(known) => known.text(asked),
        None => {
            let known = all.get(&key).filter(same).map(|known| known.sha256.clone());
            let sha256 = known.map_or_else(|| Ok(sha256_of(&real)?.0), Ok::<_, Error>)?;
            let version = (asked).then(|| version(cache, &lock, path)).transpose()?;
            let known = ToolFile { real, stat, sha256, version };
            let text = known.text(asked);
            all.insert(key, known);
            write_json(&file, &all)?;
            text
        }
    };
    *kept = Some(all);
    Ok(text)
}

fn stat(path: &Path) -> Result<String, Error> {
    let m = fs::metadata(path).at("inspect", path)?;
    let times = format!("{}.{:09} {}.{:09}", m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec());
    Ok(format!("{} {} {} {times}", m.dev(), m.ino(), m.size()))
}

/// The first line that `tool --version` prints; empty for a tool that knows no such option.
fn version(cache: &Cache, lock: &bakeoff_host::lock::Lock, tool: &Path) -> Result<String, Error> {
    let dir = cache.paths.work_of("tools");
    let argv = vec![tool.display().to_string(), "--version".to_owned()];
    let printed = answer(lock, &dir, argv, &dir, basic_environment())?;
    let printed = String::from_utf8_lossy(&printed.out);
    let line = printed.lines().map(str::trim).find(|line| !line.is_empty());
    Ok(line.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(path: &Path, script: &str) {
        fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What a process that has just started learns of a tool.
    fn asked(root: &Path, name: &str, search_path: &Path) -> Option<String> {
        let cache = Cache::open(root.to_owned()).unwrap();
        look(&cache, &mut None, name, true, search_path.as_os_str()).unwrap()
    }

    #[test]
    fn to_know_a_tool_is_not_to_execute_it() {
        let folder = tempfile::tempdir().unwrap();
        let (root, cc, done) = (folder.path().join("cache"), folder.path().join("cc"), folder.path().join("done"));
        tool(&cc, &format!("echo x >> '{}'; echo fake 1", done.display()));
        let cache = Cache::open(root.clone()).unwrap();
        let looked_at = || look(&cache, &mut None, "cc", false, folder.path().as_os_str()).unwrap().unwrap();
        let identity = looked_at();
        assert!(!done.exists() && !identity.contains("fake 1"), "{identity}");
        let known = asked(&root, "cc", folder.path()).unwrap();
        assert!(done.exists() && known.contains("cc (fake 1, sha256 "), "{known}");
        assert_eq!(looked_at(), identity, "the name of a build does not depend on whether it was asked");
        tool(&cc, &format!("echo y >> '{}'; echo fake 1", done.display()));
        assert_ne!(looked_at(), identity);
    }

    #[test]
    fn a_tool_is_asked_once_and_again_when_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (root, cc, asking) =
            (folder.path().join("cache"), folder.path().join("fake-cc"), folder.path().join("asked"));
        let script = |version: &str| format!("echo x >> '{}'; echo 'fake {version}'; echo more", asking.display());
        let times = || fs::read_to_string(&asking).unwrap().lines().count();
        tool(&cc, &script("1"));
        let first = asked(&root, "fake-cc", folder.path()).unwrap();
        assert!(first.contains("fake-cc (fake 1, sha256 ") && first.contains(cc.parent().unwrap().to_str().unwrap()));
        assert_eq!(asked(&root, "fake-cc", folder.path()).unwrap(), first);
        assert_eq!(times(), 1);

        // It says the same, and has the same size; but it is another file.
        fs::remove_file(&cc).unwrap();
        tool(&cc, &script("1").replace("more", "MORE"));
        let second = asked(&root, "fake-cc", folder.path()).unwrap();
        assert!(second.contains("fake 1") && second != first);
        assert_eq!(times(), 2);
        // The new one is only touched: it is asked, and says the same.
        fs::File::options().append(true).open(&cc).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(asked(&root, "fake-cc", folder.path()).unwrap(), second);
        assert_eq!(times(), 3);
        assert_eq!(asked(&root, "absent", folder.path()), None);
        // The kept copy only saves time.
        fs::write(root.join("tools.json"), "{").unwrap();
        assert_eq!(asked(&root, "fake-cc", folder.path()).unwrap(), second);
    }

    #[test]
    fn the_compiler_behind_a_ccache_counts() {
        let folder = tempfile::tempdir().unwrap();
        let [front, behind, cache] = ["front", "behind", "cache"].map(|name| folder.path().join(name));
        fs::create_dir(&front).unwrap();
        fs::create_dir(&behind).unwrap();
        tool(&front.join("ccache"), "echo cache 4");
        std::os::unix::fs::symlink("ccache", front.join("cc")).unwrap();
        tool(&behind.join("cc"), "echo compiler 12");
        let path = std::env::join_paths([&front, &behind]).unwrap();
        let identity = asked(&cache, "cc", Path::new(&path)).unwrap();
        assert!(identity.contains("cache 4") && identity.contains("before") && identity.contains("compiler 12"));
        tool(&behind.join("cc"), "echo compiler 13");
        assert_ne!(asked(&cache, "cc", Path::new(&path)).unwrap(), identity);

        let variables: BTreeMap<&str, &str> = [("CC", "/opt/ccache gcc -O2"), ("CXX", "g++ -O2")].into();
        assert_eq!(tools_of(&[], &variables).into_iter().collect::<Vec<_>>(), ["/opt/ccache", "g++", "gcc"]);
    }
}
