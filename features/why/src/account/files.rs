//! Which files are the system's, by their paths. A variant is explained by its own files; what the system has is matched
//! within the same library. It opens no file.

use std::collections::BTreeSet;

/// What the system's libraries are below. `$PREFIX` stands for the variant's own folder.
const SYSTEM: [&str; 4] = ["/lib", "/usr/lib", "/nix/store/", "/gnu/store/"];
/// Libraries that belong to the C library or to a compiler. Programs never absorb them, but for linking them statically.
const ALWAYS: [&str; 11] = [
    "libc",
    "libm",
    "libmvec",
    "libpthread",
    "libdl",
    "librt",
    "libstdc++",
    "libgcc_s",
    "libc++",
    "libc++abi",
    "libresolv",
];
/// Of these, parts of the C library that do no work of the program's.
const C_LIBRARY: [&str; 4] = ["libc", "libpthread", "libdl", "librt"];

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name of a library without versions: of `/lib/libc-2.31.so` and `libc.so.6`, `libc`; none unless it is one.
fn stem(path: &str) -> Option<&str> {
    let (name, _) = base(path).split_once(".so")?;
    let versioned = name.rsplit_once('-');
    let is_version = |end: &str| !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    Some(versioned.filter(|(_, end)| is_version(end)).map_or(name, |(rest, _)| rest))
}

/// Whether it is the dynamic loader. That of musl is its C library too; see [`is_musl`].
pub(super) fn is_loader(path: &str) -> bool {
    let name = base(path);
    name == "ld.so" || ["ld-linux", "ld64.so", "ld-2.", "ld-musl"].iter().any(|start| name.starts_with(start))
}

/// Whether it is musl, in whose file loader and C library are together.
pub(super) fn is_musl(path: &str) -> bool {
    base(path).starts_with("ld-musl") || base(path).starts_with("libc.musl")
}

/// Whether it is the C library, or a part of it that does no work of the program's.
pub(super) fn is_libc(path: &str) -> bool {
    is_musl(path) || (is_system(path) && stem(path).is_some_and(|stem| C_LIBRARY.contains(&stem)))
}

/// Whether it belongs to C or C++ itself.
pub(super) fn is_runtime(path: &str) -> bool {
    is_loader(path) || is_musl(path) || (is_system(path) && stem(path).is_some_and(|stem| ALWAYS.contains(&stem)))
}

fn is_system(path: &str) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Libraries whose functions are matched within them only.
pub(super) struct Scopes<'a> {
    shared: BTreeSet<&'a str>,
}

impl<'a> Scopes<'a> {
    /// Of the files of both sides. A library of the system that only one side runs may be where a function moved to.
    pub(super) fn of(sides: [&BTreeSet<&'a str>; 2]) -> Self {
        let stems = sides.map(|files| {
            let system = files.iter().filter(|path| is_system(path));
            system.filter_map(|path| stem(path)).collect::<BTreeSet<&str>>()
        });
        Self { shared: stems[0].intersection(&stems[1]).copied().collect() }
    }

    /// The library within which the functions of a file are matched; none: with all the program's files.
    pub(super) fn of_file(&self, path: &'a str) -> Option<&'a str> {
        if is_loader(path) {
            return Some("ld");
        }
        let stem = stem(path).filter(|_| is_system(path))?;
        (ALWAYS.contains(&stem) || self.shared.contains(stem)).then_some(stem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_paths() {
        assert_eq!(stem("/lib/x86_64-linux-gnu/libc.so.6"), Some("libc"));
        assert_eq!(stem("/lib/libc-2.31.so"), Some("libc"));
        assert_eq!(stem("/usr/bin/perl"), None);
        assert!(is_loader("/lib64/ld-linux-x86-64.so.2") && is_loader("/lib/ld-musl-x86_64.so.1"));
        assert!(!is_loader("$PREFIX/bin/ld"));
        assert!(is_libc("/lib/x86_64-linux-gnu/libc.so.6") && !is_libc("$PREFIX/lib/libc.so"));
        let files = BTreeSet::from(["/usr/lib/libz.so.1", "/usr/lib/libc.so.6", "$PREFIX/lib/libperl.so"]);
        let scopes = Scopes::of([&files, &BTreeSet::from(["/lib/libz.so.1.2"])]);
        assert_eq!(scopes.of_file("/lib/libz.so.1.2"), Some("libz"));
        assert_eq!(scopes.of_file("/lib/libm.so.6"), Some("libm"));
        assert_eq!(scopes.of_file("/usr/lib/libperl.so"), None);
        assert_eq!(scopes.of_file("$PREFIX/lib/libperl.so"), None);
    }
}
