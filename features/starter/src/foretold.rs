//! The program that a source will build, as far as its build files say so in a usual way. It is only a guess: with a good one the
//! first build is that of the plain level, and none has to be made again. Nothing is run here.

use crate::recognise::{BUILD, BuildSystem, System};
use crate::rust::document;
use crate::walk::{files, name};
use std::fs;
use std::path::{Path, PathBuf};

/// No deeper than this is looked for build files.
const DEEPEST: usize = 3;

/// The path of the program in the tree; of several the one that is called like the source, else the first one.
pub(crate) fn foretold(found: &BuildSystem, tree: &Path, package: &str) -> Option<PathBuf> {
    let top = tree.join(&found.folder);
    let all: Vec<PathBuf> = match found.system {
        System::Cargo => of_cargo(&top).into_iter().map(|name| Path::new("target/release").join(name)).collect(),
        System::CMake => in_files(&top, "CMakeLists.txt", &of_cmake, BUILD),
        System::Meson => in_files(&top, "meson.build", &of_meson, BUILD),
        System::Configure | System::Autoconf => {
            let all = in_files(&top, "Makefile.am", &of_automake, "");
            if all.is_empty() { in_files(&top, "Makefile.in", &of_automake, "") } else { all }
        }
        System::Make => {
            let files = ["GNUmakefile", "makefile", "Makefile"].map(|file| fs::read_to_string(top.join(file)));
            of_make(&files.into_iter().flatten().next().unwrap_or_default()).into_iter().map(PathBuf::from).collect()
        }
        System::Go | System::Debian => vec![],
    };
    let is_named = |path: &&PathBuf| path.file_name().is_some_and(|name| name == package);
    let first = all.iter().find(is_named).or(all.first())?;
    Some(Path::new(&found.folder).join(first))
}

/// The programs that build files of a name say in the top folder and those below, as paths below the folder `into`.
fn in_files(top: &Path, file: &str, read: &dyn Fn(&str) -> Vec<String>, into: &str) -> Vec<PathBuf> {
    let is_aside = |folder: &Path| [".", "test", "example"].iter().any(|start| name(folder).starts_with(start));
    let mut all = vec![];
    for path in files(top, DEEPEST, &is_aside).iter().filter(|path| name(path) == file) {
        let text = fs::read_to_string(top.join(path)).unwrap_or_default();
        all.extend(read(&text).into_iter().map(|name| Path::new(into).join(path.with_file_name(name))));
    }
    all
}

fn of_cargo(top: &Path) -> Vec<String> {
    let Some(manifest) = document(&top.join("Cargo.toml")) else { return vec![] };
    let programs = manifest.get("bin").and_then(|bins| bins.as_array_of_tables());
    let text = |item: Option<&toml_edit::Item>| item.and_then(|item| item.as_str()).map(str::to_owned);
    let mut all: Vec<String> = programs.into_iter().flatten().filter_map(|bin| text(bin.get("name"))).collect();
    all.extend(text(manifest.get("package").and_then(|package| package.get("name"))));
    all
}

/// The first word behind each of these beginnings; of names that are put together nothing is known.
fn behind(text: &str, beginning: &str) -> Vec<String> {
    let is_end = |c: char| c.is_whitespace() || "'\"),".contains(c);
    let words = text.match_indices(beginning).filter_map(|(at, _)| {
        let rest = text[at + beginning.len()..].trim_start_matches(|c: char| is_end(c) && c != ')' && c != ',');
        rest.split(is_end).next().filter(|word| !word.is_empty() && !word.contains(['$', '@']))
    });
    words.map(str::to_owned).collect()
}

fn of_cmake(text: &str) -> Vec<String> {
    let project = behind(text, "project(").into_iter().next().unwrap_or_default();
    behind(&text.replace("${PROJECT_NAME}", &project).replace("${CMAKE_PROJECT_NAME}", &project), "add_executable(")
}

fn of_meson(text: &str) -> Vec<String> {
    behind(text, "executable(")
}

fn of_automake(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("bin_PROGRAMS")?.trim_start().strip_prefix('='));
    let words = lines.flat_map(str::split_whitespace).map(|word| word.trim_end_matches("$(EXEEXT)"));
    words.filter(|word| !word.contains(['$', '@', '\\'])).map(str::to_owned).collect()
}

/// What `all`, or else the first rule, needs first and has a rule of its own for; variables that are set in a line are known.
fn of_make(text: &str) -> Vec<String> {
    let mut text = text.replace("\\\n", " ");
    for line in text.clone().lines().filter(|line| !line.starts_with(['\t', '#'])) {
        let Some((name, value)) = line.split_once('=') else { continue };
        let (name, value) = (name.trim_end_matches([':', '?', '+']).trim(), value.trim());
        text = text.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
    }
    let lines = text.lines().filter(|line| !line.starts_with(['\t', '#', '.']) && !line.contains('='));
    let rules: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
    let Some((target, needs)) = rules.iter().find(|(target, _)| target.trim() == "all").or(rules.first()) else {
        return vec![];
    };
    let has_rule = |name: &&str| rules.iter().any(|(targets, _)| targets.split_whitespace().any(|one| one == *name));
    let own = Some(target.trim()).filter(|target| *target != "all" && !target.contains(['%', '$', ' ']));
    let all = own.into_iter().chain(needs.split_whitespace().filter(has_rule));
    all.filter(|name| !name.contains('.')).map(str::to_owned).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use crate::recognise::recognise;

    #[test]
    fn usual_build_files_say_what_they_build() {
        let check = |files: &[(&str, &str)], expect: Option<&str>| {
            let tree = tempfile::tempdir().unwrap();
            for (file, text) in files {
                fs::create_dir_all(tree.path().join(file).parent().unwrap()).unwrap();
                fs::write(tree.path().join(file), text).unwrap();
            }
            let found = recognise(tree.path()).remove(0);
            assert_eq!(foretold(&found, tree.path(), "named").as_deref(), expect.map(Path::new), "{files:?}");
        };
        check(&[("Cargo.toml", "[package]\nname = \"x\"\n")], Some("target/release/x"));
        check(&[("Cargo.toml", "[[bin]]\nname = \"rg\"\n[package]\nname = \"ripgrep\"\n")], Some("target/release/rg"));
        let tools = ("tools/CMakeLists.txt", "add_executable(named a.c)\n");
        check(
            &[("CMakeLists.txt", "project(p C)\nadd_executable( ${PROJECT_NAME} main.c)\n")],
            Some("bakeoff-build/p"),
        );
        check(
            &[("CMakeLists.txt", "add_executable(${X} x.c)\nadd_executable(y y.c)\n"), tools],
            Some("bakeoff-build/tools/named"),
        );
        check(
            &[("meson.build", "project('x')\nsubdir('src')\n"), ("src/meson.build", "e = executable('x',\n 'a.c')\n")],
            Some("bakeoff-build/src/x"),
        );
        check(&[("configure", ""), ("src/Makefile.am", "bin_PROGRAMS = gzip zcat\n")], Some("src/gzip"));
        check(&[("configure", ""), ("Makefile.in", "bin_PROGRAMS = sed$(EXEEXT)\n")], Some("sed"));
        check(&[("Makefile", "PROG ?= p\nall: libx.a $(PROG) check\nlibx.a: x.o\n$(PROG): p.o\n")], Some("p"));
        check(&[("Makefile", "x: x.c\n\tcc -o x x.c\n")], Some("x"));
        check(&[("Makefile", "all:\n\tmake -C src\n")], None);
    }
}
