//! Which build system a source has, and how that builds it: by the files at its top, in an order that prefers the systems
//! that configure themselves to a bare Makefile. Nothing of the source is run here.

use crate::registry::{self, Needs};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The build directory, for systems that build out of tree.
pub(crate) const BUILD: &str = "bakeoff-build";

/// A build system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    Cargo,
    Go,
    Meson,
    CMake,
    Configure,
    Autoconf,
    Make,
    Debian,
}

/// The order in which they are looked for, each with the files that show it.
const FILES: [(System, &[&str]); 8] = [
    (System::Cargo, &["Cargo.toml"]),
    (System::Go, &["go.mod"]),
    (System::Meson, &["meson.build"]),
    (System::CMake, &["CMakeLists.txt"]),
    (System::Configure, &["configure"]),
    (System::Autoconf, &["configure.ac", "configure.in"]),
    (System::Make, &["GNUmakefile", "Makefile", "makefile"]),
    (System::Debian, &["debian/rules"]),
];

/// Folders that are looked into if the top has none of these files: Tcl and its like.
const FOLDERS: [&str; 3] = ["unix", "src", "source"];

/// A build system of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuildSystem {
    pub(crate) system: System,
    /// The file that shows it, relative to the source.
    pub(crate) file: String,
    /// Where it is built: a folder of the source, or the empty text.
    pub(crate) folder: String,
    pub(crate) facts: Facts,
    /// More words for what configures it, or else builds it.
    pub(crate) options: String,
}

/// What of the source changes how its system is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// Of Cargo and Go: which other packages it needs.
    needs: Needs,
    /// Of Go: it has C parts.
    pub(crate) has_c: bool,
    /// Of Meson: the project says which kind of build it is by default.
    has_buildtype: bool,
    /// Of configure: its file may not be run.
    needs_shell: bool,
}

/// The systems of a source, the preferred one first.
pub(crate) fn recognise(tree: &Path) -> Vec<BuildSystem> {
    let at_top = in_folder(tree, "");
    if !at_top.iter().all(|found| found.system == System::Debian) {
        return at_top;
    }
    FOLDERS.iter().flat_map(|folder| in_folder(tree, folder)).chain(at_top).collect()
}

fn in_folder(tree: &Path, folder: &str) -> Vec<BuildSystem> {
    let place = tree.join(folder);
    let found = |(system, files): &(System, &[&str])| {
        let file = files.iter().find(|file| place.join(file).is_file())?;
        let shown = Path::new(folder).join(file).display().to_string();
        let facts = Facts::of(*system, &place, file);
        Some(BuildSystem { system: *system, file: shown, folder: folder.to_owned(), facts, options: String::new() })
    };
    FILES.iter().filter_map(found).collect()
}

impl Facts {
    fn of(system: System, place: &Path, file: &str) -> Self {
        let text = || std::fs::read_to_string(place.join(file)).unwrap_or_default();
        let mode = || place.join(file).metadata().map_or(0, |about| about.permissions().mode());
        Self {
            needs: match system {
                System::Cargo => registry::cargo_needs(place),
                System::Go => registry::go_needs(place),
                _ => Needs::Nothing,
            },
            has_c: system == System::Go && registry::has_cgo(place),
            has_buildtype: system == System::Meson && text().contains("buildtype="),
            needs_shell: system == System::Configure && mode() & 0o100 == 0,
        }
    }
}

/// How a source is built that did not build in the usual way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BuildMode {
    /// One compilation at a time: its rules do not name all that they need.
    pub(crate) one_job: bool,
    /// What was built before is removed first: nothing was left to compile.
    pub(crate) clean: bool,
    pub(crate) errors: Errors,
}

/// What becomes of the rest when a part cannot be built: a manual, for which a tool is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Errors {
    /// It is not built.
    #[default]
    End,
    /// It is built, and the build has failed.
    GoOn,
    /// It is built, and that is enough: the program is there.
    Ignored,
}

impl Errors {
    /// How make is called, and what follows its words.
    fn of_make(self) -> (&'static str, &'static str) {
        match self {
            Self::End => ("", ""),
            Self::GoOn => (" -k", ""),
            Self::Ignored => (" -k", " || true   # part of the source cannot be built"),
        }
    }
}

impl BuildSystem {
    /// Whether compilers are called whose flags the levels can append to.
    pub(crate) fn calls_compilers(&self) -> bool {
        !matches!(self.system, System::Cargo | System::Go)
    }

    /// The tools whose versions the build depends on.
    pub(crate) fn tools(&self) -> Vec<&'static str> {
        match self.system {
            System::Cargo => vec!["cargo", "rustc", "cc", "ld"],
            System::Go if self.facts.has_c => vec!["go", "cc", "ld"],
            System::Go => vec!["go"],
            System::Meson => vec!["cc", "ld", "meson", "ninja"],
            System::CMake => vec!["cc", "ld", "make", "cmake"],
            System::Autoconf => vec!["cc", "ld", "make", "autoreconf"],
            System::Configure | System::Make | System::Debian => vec!["cc", "ld", "make"],
        }
    }

    /// The lines that build it, and leave the result in the script's folder.
    pub(crate) fn script(&self, how: BuildMode) -> Vec<String> {
        let mut lines = vec![];
        if !self.folder.is_empty() {
            lines.push(format!("cd {}", self.folder));
        }
        let options = if self.options.is_empty() { String::new() } else { format!(" {}", self.options) };
        let jobs = if how.one_job { "" } else { " -j\"$JOBS\"" };
        let shell = if self.facts.needs_shell { "sh " } else { "" };
        let (autoreconf, clean) = ("autoreconf -fi".to_owned(), "make clean".to_owned());
        let configure = format!("{shell}./configure --prefix=\"$PREFIX\"{options}");
        let (goes_on, end) = how.errors.of_make();
        let make = format!("make{goes_on}{jobs}");
        let rest = match self.system {
            System::Cargo => registry::cargo(self.facts.needs, &options),
            System::Go => registry::go(self.facts.needs, BUILD, &options),
            System::Meson => {
                let kind = if self.facts.has_buildtype { "" } else { " --buildtype=release" };
                vec![
                    format!("meson setup {BUILD} --prefix=\"$PREFIX\" --libdir=lib{kind}{options}"),
                    format!("ninja -C {BUILD}{jobs}"),
                ]
            }
            System::CMake => vec![
                format!("cmake -S . -B {BUILD} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=\"$PREFIX\" \\"),
                format!("  -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_RPATH=\"$PREFIX/lib\"{options}"),
                format!("cmake --build {BUILD}{jobs}{}{goes_on}{end}", if goes_on.is_empty() { "" } else { " --" }),
            ],
            System::Configure => vec![configure, make + end],
            System::Autoconf => vec![autoreconf, configure, make + end],
            System::Make if how.clean => vec![clean, make + &options + end],
            System::Make => vec![make + &options + end],
            System::Debian => {
                let jobs = if how.one_job { "1" } else { "$JOBS" };
                vec![format!("DEB_BUILD_OPTIONS=\"nocheck parallel={jobs}\" make -f debian/rules build{options}")]
            }
        };
        lines.extend(rest);
        lines
    }

    /// The folder that its programs are in, if it is not where they are typed.
    pub(crate) fn folder_of_programs(&self) -> Option<PathBuf> {
        let folder = match self.system {
            System::Cargo => "target/release",
            System::Go | System::Meson | System::CMake => BUILD,
            _ => "",
        };
        Some(Path::new(&self.folder).join(folder)).filter(|folder| !folder.as_os_str().is_empty())
    }

    /// The lines of a layer below the build that loads the packages it needs, which are the same for all levels.
    pub(crate) fn loads(&self) -> Option<Vec<String>> {
        match self.system {
            System::Cargo => registry::cargo_loads(self.facts.needs),
            System::Go => registry::go_loads(self.facts.needs),
            _ => None,
        }
    }

    /// The line that installs what was built into `$PREFIX`, if the system has one.
    pub(crate) fn install(&self) -> Option<String> {
        match self.system {
            System::Meson => Some(format!("meson install -C {BUILD} --no-rebuild")),
            System::CMake => Some(format!("cmake --install {BUILD}")),
            System::Configure | System::Autoconf => Some("make install".to_owned()),
            System::Make => Some("make install PREFIX=\"$PREFIX\" prefix=\"$PREFIX\"".to_owned()),
            System::Cargo | System::Go | System::Debian => None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use std::fs;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for file in files {
            let path = tree.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        tree
    }

    #[test]
    fn systems_that_configure_come_before_a_makefile() {
        let check = |files: &[&str], expect: &[System]| {
            let tree = tree(files);
            let found: Vec<System> = recognise(tree.path()).iter().map(|found| found.system).collect();
            assert_eq!(found, expect, "{files:?}");
        };
        check(&[], &[]);
        check(&["Makefile", "debian/rules"], &[System::Make, System::Debian]);
        check(&["GNUmakefile", "configure", "configure.ac"], &[System::Configure, System::Autoconf, System::Make]);
        check(&["Makefile", "CMakeLists.txt", "meson.build"], &[System::Meson, System::CMake, System::Make]);
        check(&["Makefile", "Cargo.toml"], &[System::Cargo, System::Make]);
        check(&["unix/configure", "debian/rules"], &[System::Configure, System::Debian]);
        check(&["debian/rules"], &[System::Debian]);
    }

    #[test]
    fn scripts_depend_on_what_is_there() {
        let lines = |files: &[&str], how: BuildMode| recognise(tree(files).path())[0].script(how).join("\n");
        assert_eq!(lines(&["Makefile"], BuildMode::default()), "make -j\"$JOBS\"");
        let usual = BuildMode::default();
        assert_eq!(lines(&["Makefile"], BuildMode { one_job: true, clean: true, ..usual }), "make clean\nmake");
        assert_eq!(lines(&["Makefile"], BuildMode { one_job: true, errors: Errors::GoOn, ..usual }), "make -k");
        let ignored = BuildMode { errors: Errors::Ignored, ..usual };
        assert!(lines(&["configure"], ignored).contains("\nmake -k -j\"$JOBS\" || true"));
        assert!(lines(&["CMakeLists.txt"], ignored).contains(" -j\"$JOBS\" -- -k || true"));
        assert!(lines(&["unix/configure"], usual).starts_with("cd unix\nsh ./configure --prefix=\"$PREFIX\"\n"));
        assert!(lines(&["configure.ac"], usual).starts_with("autoreconf -fi\n./configure"));
        assert!(lines(&["meson.build"], usual).contains("--buildtype=release"));
    }
}
