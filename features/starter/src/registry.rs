//! How Cargo and Go build a source that needs other packages: a layer of its own loads them, once for all levels, and the
//! build takes them from there. Which system a source has is decided in [`crate::recognise`]; nothing is run here.

use crate::walk::{files, name};
use std::fs;
use std::path::Path;

/// Where the layer leaves what it has loaded. The build takes it away, so that it is no part of what is compared.
const CARGO: &str = "$PREFIX/cargo";
const GO: &str = "$PREFIX/go";

/// Which other packages a source needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Needs {
    /// None that are not part of it.
    #[default]
    Nothing,
    /// Those that its lock file or its module file says, with their hashes.
    Locked,
    /// The same, of a module with a list of vendored packages that are not there: modules are published so.
    Unvendored,
    /// The newest that fit.
    Newest,
}

/// What a source with a Cargo.toml needs, by the files at its top.
pub(crate) fn cargo_needs(place: &Path) -> Needs {
    let text = |file: &str| fs::read_to_string(place.join(file)).ok();
    let config = text(".cargo/config.toml").or_else(|| text(".cargo/config")).unwrap_or_default();
    match text("Cargo.lock") {
        _ if config.contains("replace-with") => Needs::Nothing,
        Some(lock) if lock.contains("\nsource = ") => Needs::Locked,
        Some(_) => Needs::Nothing,
        None => Needs::Newest,
    }
}

/// What a source with a go.mod needs.
pub(crate) fn go_needs(place: &Path) -> Needs {
    let requires = fs::read_to_string(place.join("go.mod")).is_ok_and(|file| file.contains("require"));
    let listed = fs::read_to_string(place.join("vendor/modules.txt"));
    let is_absent = |line: &str| {
        let package = (!line.starts_with('#') && !line.is_empty()).then(|| place.join("vendor").join(line));
        package.is_some_and(|package| !package.is_dir())
    };
    match listed {
        _ if !requires => Needs::Nothing,
        Ok(list) if list.lines().any(is_absent) => Needs::Unvendored,
        Ok(_) => Needs::Nothing,
        Err(_) => Needs::Locked,
    }
}

/// Whether a module with a go.mod has C parts of its own.
pub(crate) fn has_cgo(place: &Path) -> bool {
    let all = files(place, usize::MAX, &|folder| name(folder).starts_with(['.', '_']));
    let is_it = |line: &str| line.trim_end() == "import \"C\"";
    let has_it = |file| fs::read_to_string(place.join(file)).is_ok_and(|text| text.lines().any(is_it));
    all.iter().filter(|file| name(file).ends_with(".go")).take(MOST_FILES).any(has_it)
}

/// No more files are read.
const MOST_FILES: usize = 20_000;

/// The lines that load what Cargo needs: the archives, which Cargo unpacks again when it builds.
pub(crate) fn cargo_loads(needs: Needs) -> Option<Vec<String>> {
    let target = "--target \"$(rustc -vV | sed -n 's/^host: //p')\"";
    let (fetch, after) = match needs {
        Needs::Nothing => return None,
        Needs::Locked | Needs::Unvendored => (format!("cargo fetch --locked {target}"), None),
        Needs::Newest => (format!("cargo fetch {target}"), Some("cp Cargo.lock \"$CARGO_HOME\"")),
    };
    let mut lines = vec![format!("export CARGO_HOME=\"{CARGO}\""), fetch];
    lines.extend(after.map(str::to_owned));
    lines.push("rm -rf \"$CARGO_HOME/registry/src\" \"$CARGO_HOME/git/checkouts\"".to_owned());
    Some(lines)
}

/// The lines that build with Cargo, and leave programs in `target/release`.
pub(crate) fn cargo(needs: Needs, options: &str) -> Vec<String> {
    let home = "export CARGO_HOME=\"$HOME/cargo\"".to_owned();
    let locked = format!("cargo build --release --locked --offline{options}");
    let taken = format!("mv \"{CARGO}\" \"$CARGO_HOME\"");
    match needs {
        Needs::Nothing => vec![home, format!("cargo build --release --offline{options}")],
        Needs::Locked | Needs::Unvendored => vec![home, taken, locked],
        Needs::Newest => {
            let lock = "mv \"$CARGO_HOME/Cargo.lock\" .".to_owned();
            vec![home, taken, lock, locked]
        }
    }
}

/// The lines that load the modules which Go needs: the archives, which stand in for a proxy when it builds.
pub(crate) fn go_loads(needs: Needs) -> Option<Vec<String>> {
    (needs != Needs::Nothing).then(|| {
        vec![
            format!("export GOMODCACHE=\"{GO}\" GOFLAGS=-modcacherw"),
            "go mod download".to_owned(),
            "find \"$GOMODCACHE\" -mindepth 1 -maxdepth 1 ! -name cache -exec rm -rf {} +".to_owned(),
        ]
    })
}

/// The lines that build with Go, and leave programs in the folder `into`.
pub(crate) fn go(needs: Needs, into: &str, options: &str) -> Vec<String> {
    let mut lines = vec![];
    if needs != Needs::Nothing {
        lines.push(format!("mv \"{GO}\" \"$HOME/loaded\""));
        lines.push("export GOPROXY=\"file://$HOME/loaded/cache/download\" GOSUMDB=off".to_owned());
    }
    lines.extend([format!("mkdir {into}"), format!("go build{}{options} -o {into}/ ./...", mode(needs))]);
    lines
}

/// The word by which Go takes modules from where they were loaded to.
pub(crate) fn mode(needs: Needs) -> &'static str {
    if needs == Needs::Unvendored { " -mod=readonly" } else { "" }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_from_elsewhere_is_loaded() {
        let check = |needs: fn(&Path) -> Needs, files: &[(&str, &str)], expect: Needs| {
            let tree = tempfile::tempdir().unwrap();
            for (file, text) in files {
                fs::create_dir_all(tree.path().join(file).parent().unwrap()).unwrap();
                fs::write(tree.path().join(file), text).unwrap();
            }
            assert_eq!(needs(tree.path()), expect, "{files:?}");
        };
        let registry = "[[package]]\nname = \"libc\"\nsource = \"registry+x\"\n";
        check(cargo_needs, &[("Cargo.lock", registry)], Needs::Locked);
        check(cargo_needs, &[("Cargo.lock", "[[package]]\nname = \"own\"\n")], Needs::Nothing);
        check(cargo_needs, &[], Needs::Newest);
        let replaced = (".cargo/config.toml", "[source.crates-io]\nreplace-with = \"vendored-sources\"\n");
        check(cargo_needs, &[("Cargo.lock", registry), replaced], Needs::Nothing);
        check(go_needs, &[("go.mod", "module x\nrequire y v1.0.0\n")], Needs::Locked);
        check(go_needs, &[("go.mod", "module x\n")], Needs::Nothing);
        check(go_needs, &[("go.mod", "require y v1\n"), ("vendor/modules.txt", "")], Needs::Nothing);
        let listed = ("vendor/modules.txt", "# y v1\n## explicit\ny/z\n");
        check(go_needs, &[("go.mod", "require y v1\n"), listed], Needs::Unvendored);
        check(go_needs, &[("go.mod", "require y v1\n"), listed, ("vendor/y/z/z.go", "")], Needs::Nothing);
    }

    #[test]
    fn a_module_with_c_parts_is_known() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir(tree.path().join("c")).unwrap();
        fs::write(tree.path().join("main.go"), "package main\n// import \"C\"\n").unwrap();
        assert!(!has_cgo(tree.path()));
        fs::write(tree.path().join("c/sum.go"), "package c\n\n// int sum(int);\nimport \"C\"\n").unwrap();
        assert!(has_cgo(tree.path()));
    }

    #[test]
    fn what_was_loaded_is_no_part_of_the_build() {
        for needs in [Needs::Locked, Needs::Newest] {
            assert!(cargo_loads(needs).unwrap().join("\n").contains("CARGO_HOME=\"$PREFIX/cargo\""));
            assert!(cargo(needs, "").contains(&"mv \"$PREFIX/cargo\" \"$CARGO_HOME\"".to_owned()));
            assert!(go_loads(needs).is_some() && go(needs, "x", "")[0].starts_with("mv \"$PREFIX/go\""));
        }
        assert_eq!((cargo_loads(Needs::Nothing), go_loads(Needs::Nothing)), (None, None));
        assert!(!cargo(Needs::Nothing, "").concat().contains("$PREFIX"));
    }
}
