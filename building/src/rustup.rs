//! The programs of rustup (`cargo`, `rustc`) are links to one program, which looks for a toolchain below the user's home
//! folder. A script has another home folder, so rustup needs a variable to find its own; and the tool that a build depends
//! on is that of the toolchain. It installs nothing and runs nothing.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Names the folder of the toolchains; and one of them, if the user has chosen one by it.
const HOME: &str = "RUSTUP_HOME";
const TOOLCHAIN: &str = "RUSTUP_TOOLCHAIN";

/// What programs of rustup need in their environment; nothing where there are no toolchains.
pub(crate) fn variables() -> Vec<(String, String)> {
    let Some(home) = home() else { return vec![] };
    let chosen = std::env::var(TOOLCHAIN).ok().map(|chosen| (TOOLCHAIN.to_owned(), chosen));
    std::iter::once((HOME.to_owned(), home.display().to_string())).chain(chosen).collect()
}

/// The tool that a link to rustup runs, unless a project asks for another toolchain; none if `real`, where the link
/// leads, is not rustup.
pub(crate) fn behind(link: &Path, real: &Path) -> Option<PathBuf> {
    behind_in(&home()?, std::env::var(TOOLCHAIN).ok().as_deref(), link, real)
}

fn behind_in(home: &Path, chosen: Option<&str>, link: &Path, real: &Path) -> Option<PathBuf> {
    let name = link.file_name().filter(|name| *name != OsStr::new("rustup"))?;
    if real.file_name() != Some(OsStr::new("rustup")) {
        return None;
    }
    let toolchain = match chosen {
        Some(chosen) => chosen.to_owned(),
        None => default_toolchain(&fs::read_to_string(home.join("settings.toml")).ok()?)?.to_owned(),
    };
    let tool = home.join("toolchains").join(toolchain).join("bin").join(name);
    tool.is_file().then_some(tool)
}

/// The linkers that the toolchains bring with them: since 1.90, rustc has gcc call the one of its own toolchain.
pub(crate) fn linkers() -> Vec<PathBuf> {
    let below = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let toolchains = home().map(|home| below(home.join("toolchains"))).into_iter().flatten();
    let targets = toolchains.flat_map(|toolchain| below(toolchain.join("lib/rustlib")));
    targets.map(|target| target.join("bin/gcc-ld/ld.lld")).filter(|linker| linker.is_file()).collect()
}

fn home() -> Option<PathBuf> {
    let said = std::env::var_os(HOME).map(PathBuf::from);
    let home = said.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".rustup")))?;
    home.join("toolchains").is_dir().then_some(home)
}

fn default_toolchain(settings: &str) -> Option<&str> {
    let line = settings.lines().find_map(|line| line.trim().strip_prefix("default_toolchain"))?;
    Some(line.trim_start().strip_prefix('=')?.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_that_of_the_toolchain() {
        let home = tempfile::tempdir().unwrap();
        let bin = home.path().join("toolchains/stable-x/bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("cargo"), "").unwrap();
        fs::write(home.path().join("settings.toml"), "version = \"12\"\ndefault_toolchain = \"stable-x\"\n").unwrap();
        let check = |chosen: Option<&str>, link: &str, real: &str, expect: Option<&Path>| {
            let found = behind_in(home.path(), chosen, Path::new(link), Path::new(real));
            assert_eq!(found.as_deref(), expect, "{link} {real}");
        };
        check(None, "/bin/cargo", "/bin/rustup", Some(&bin.join("cargo")));
        check(Some("stable-x"), "/bin/cargo", "/bin/rustup", Some(&bin.join("cargo")));
        check(Some("nightly"), "/bin/cargo", "/bin/rustup", None);
        check(None, "/bin/rustc", "/bin/rustup", None);
        check(None, "/bin/rustup", "/bin/rustup", None);
        check(None, "/bin/cargo", "/usr/bin/cargo", None);
    }
}
