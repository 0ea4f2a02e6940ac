//! What scripts of layers may read besides their own folders: the system, whose name and release stand for it in a build's
//! name, and the folders of tools. What lies anywhere else gets into a build only as a source or a file of the study, which
//! its name covers. Nothing is confined here.

use crate::nouns::Layer;
use crate::spec::Spec;
use bakeoff_model::plan::Variant;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where systems keep what they install, and what the kernel shows.
const SYSTEM: &str = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /dev /proc /sys /run /boot /nix /gnu /snap /sw /var/lib \
                      /var/cache /var/db /var/run";

/// Variables that name a folder of tools.
const HOMES: [&str; 4] = ["RUSTUP_HOME", "GOROOT", "JAVA_HOME", "CONDA_PREFIX"];
/// Where such a folder usually is, below the home folder.
const BELOW_HOME: [&str; 3] = [".rustup", "sdk", ".local/share/uv"];

/// All of these folders that there are: of the system, and of the tools that the search path, the layers and the levels name.
pub(super) fn readable(search_path: &str, layers: &[Layer], variants: &[Variant]) -> BTreeSet<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    let named = HOMES.iter().filter_map(std::env::var_os).map(PathBuf::from);
    let usual = home.iter().flat_map(|home| BELOW_HOME.map(|folder| home.join(folder)));
    let mut all: BTreeSet<PathBuf> = SYSTEM.split_whitespace().map(PathBuf::from).chain(named).chain(usual).collect();
    let mut add = |program: &Path| {
        for program in [Some(program.to_owned()), program.canonicalize().ok()].into_iter().flatten() {
            all.extend(around(&program, home.as_deref()));
        }
    };
    for folder in std::env::split_paths(search_path).filter(|folder| folder.is_absolute()) {
        add(&folder.join("tool"));
        // A folder of links, as ~/.local/bin may be. Those of the system lead into the system.
        let is_of_system = SYSTEM.split_whitespace().any(|system| folder.starts_with(system));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten().filter(|_| !is_of_system);
        entries.map(|entry| entry.path()).filter(|path| path.is_symlink()).for_each(|path| add(&path));
    }
    let specs = || variants.iter().map(Spec::of);
    let values = specs().flat_map(|spec| spec.variables.values().map(String::as_str));
    let compilers = specs().filter_map(|spec| spec.tuning.compiler.as_deref());
    let tools = layers.iter().flat_map(|layer| layer.tools.iter().map(String::as_str));
    for word in values.chain(compilers).chain(tools).filter_map(|text| text.split_whitespace().next()) {
        let path = Path::new(word);
        if path.is_absolute() && path.is_file() {
            add(path);
        }
    }
    all.into_iter().filter(|path| path.exists()).collect()
}

/// The folder that a program was installed into: that of its `bin`, unless that is a home folder or the whole machine.
fn around(program: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let folder = program.parent()?;
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let is_bin = folder.file_name().is_some_and(|name| name == "bin" || name == "sbin");
    let above = folder.parent().filter(|above| is_bin && above.parent().is_some() && Some(*above) != home);
    Some(above.unwrap_or(&folder).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_read_what_it_was_installed_with() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let check = |program: &str, expect: &str| {
            let program = home.join(program);
            fs::create_dir_all(program.parent().unwrap()).unwrap();
            assert_eq!(around(&program, Some(&home)).unwrap(), home.join(expect), "{program:?}");
        };
        check("gcc-14/bin/gcc", "gcc-14");
        check("bin/tool", "bin");
        check("scripts/tool", "scripts");
        assert_eq!(around(Path::new("/bin-of-nobody/x"), None).unwrap(), Path::new("/bin-of-nobody"));
    }
}
