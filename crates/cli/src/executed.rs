//! What trials run, as far as it can be known before the first one: the shell, the programs that commands name, what was
//! built, and the interpreters and libraries that come with them. From all this follows what is looked at between blocks.
//! Whatever a program opens by itself is not known here, but what was built is looked at as a whole besides.

use bakeoff_command::Maker;
use bakeoff_command::study_folder::words;
use bakeoff_host::{executed_with, search_path};
use bakeoff_lab::local::{Setup, Watch};
use bakeoff_lab::watched::Watched;
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::MadeLine;
use bakeoff_model::study::{LoadOf, Ready};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What a journal that has no study calls the folder of its commands.
pub(crate) const FOLDER: &str = "the folder in which it is executed";

/// The most files that are looked at between two blocks. `cargo bench --bench looks` shows what a look costs.
const MOST_FILES: usize = 100;
/// The most names below a prefix that are searched for programs.
const MOST_NAMES: usize = 20_000;

pub(crate) struct Programs {
    /// Those that the system has, or the user: a trial on another one is not comparable.
    pub(crate) system: Vec<Watched>,
    /// Those that were built.
    pub(crate) built: Vec<Watched>,
}

/// The programs of a plan's trials; `own` are the files of the study, whose interpreters count as well.
pub(crate) fn programs<'a>(plan: &Plan, setup: &Setup, own: impl IntoIterator<Item = &'a String>) -> Programs {
    let own: Vec<PathBuf> = own.into_iter().map(|name| setup.dir.join(name)).collect();
    let mut roots = own.clone();
    let mut prefixes: Vec<(&Path, &str)> = vec![];
    for variant in &plan.variants {
        let prefix = setup.prefixes.get(&variant.name).map(PathBuf::as_path);
        if let Some(prefix) = prefix.filter(|prefix| prefixes.iter().all(|(known, _)| known != prefix)) {
            prefixes.push((prefix, &variant.name));
        }
        for command in commands(plan, variant) {
            roots.extend(words(command).filter_map(|word| program(word, prefix, setup)));
        }
    }
    // Even a command without one is started by a shell if another one needs it.
    roots.extend(on_path("sh", setup));
    let library_path = setup.environment.get("LD_LIBRARY_PATH").map(String::as_str);
    let mut found = executed_with(&roots, library_path, MOST_FILES + own.len());
    let mut others: Vec<_> = prefixes.iter().map(|(prefix, _)| programs_below(prefix).into_iter()).collect();
    // Of each build as many as of the others.
    while found.len() < MOST_FILES + own.len() {
        let round: Vec<PathBuf> = others.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            break;
        }
        found.extend(round);
    }
    let found = executed_with(&found, library_path, MOST_FILES + own.len());
    let mut programs = Programs { system: vec![], built: vec![] };
    for path in found.into_iter().filter(|path| !own.contains(path)) {
        match prefixes.iter().find_map(|(prefix, variant)| Some((path.strip_prefix(prefix).ok()?, variant))) {
            Some((below, variant)) => {
                programs.built.push(Watched::of(&format!("{} of {variant}", below.display()), &path));
            }
            None => programs.system.push(Watched::of(&path.display().to_string(), &path)),
        }
    }
    programs
}

/// The programs that reach another place: what trials run there was built, or is not of this host.
pub(crate) fn of_place(programs: Vec<PathBuf>) -> Programs {
    let system = programs.iter().map(|path| Watched::of(&path.display().to_string(), path)).collect();
    Programs { system, built: vec![] }
}

/// Whether a command's words name what it runs: one is a program, and a shell's variables or patterns decide nothing.
pub(crate) fn names_its_program(command: &str, setup: &Setup) -> bool {
    let is_open = command.contains(|c: char| "$`*?[~".contains(c))
        || words(command).any(|word| ["cd", "pushd", "eval"].contains(&word));
    !is_open && words(command).any(|word| program(word, None, setup).is_some())
}

/// Files that commands name and nobody would run: input, as a rule, if not output.
pub(crate) fn data(plan: &Plan, setup: &Setup) -> Vec<Watched> {
    let commands = plan.variants.iter().filter_map(|variant| variant.run.as_deref());
    let inputs = plan.workloads.iter().filter_map(|workload| workload.input.as_deref());
    let names: BTreeSet<&str> = commands.flat_map(words).chain(inputs).collect();
    let is_data = |name: &&str| {
        let path = setup.dir.join(name);
        let is_of_kernel = ["/proc", "/sys", "/dev"].iter().any(|folder| path.starts_with(folder));
        !is_of_kernel && path.is_file() && !is_executable(&path)
    };
    names.into_iter().filter(is_data).take(MOST_FILES).map(|name| Watched::of_study(&setup.dir, name)).collect()
}

pub(crate) fn watch<'a>(
    files: Vec<Watched>,
    setup: &Setup,
    maker: Option<&'a dyn Maker>,
    builds: &'a [MadeLine],
) -> Watch<'a> {
    let prefixes: BTreeSet<PathBuf> = setup.prefixes.values().cloned().collect();
    if prefixes.is_empty() {
        return Watch { files, ..Watch::default() };
    }
    let all = maker.map(|maker| Box::new(move || maker.changed(builds)) as Box<dyn Fn() -> Vec<String> + 'a>);
    Watch { files, prefixes: prefixes.into_iter().collect(), all }
}

/// Every command that a trial of a variant has a part in, and the values of its variables.
fn commands<'a>(plan: &'a Plan, variant: &'a Variant) -> Vec<&'a str> {
    let mut commands: Vec<&str> = variant.run.iter().map(String::as_str).collect();
    commands.extend(variant.around.named().into_iter().filter_map(|(_, command)| command));
    for workload in &plan.workloads {
        commands.push(&workload.run);
        commands.extend(workload.oracle.as_deref());
        commands.extend(workload.around.named().into_iter().filter_map(|(_, command)| command));
    }
    for service in &plan.services {
        commands.push(&service.run);
        if let Ready::Command(command) = &service.ready {
            commands.push(command);
        }
    }
    for condition in &plan.conditions {
        if let Some(LoadOf::Command(command)) = condition.load.as_ref().map(|load| &load.of) {
            commands.push(command);
        }
        commands.extend(condition.environment.values().map(String::as_str));
    }
    commands.extend(variant.run_variables.values().map(String::as_str));
    commands
}

/// The program that a word of a command names, if it does.
fn program(word: &str, prefix: Option<&Path>, setup: &Setup) -> Option<PathBuf> {
    let path = match ["$PREFIX/", "${PREFIX}/"].iter().find_map(|begin| word.strip_prefix(begin)) {
        Some(below) => prefix?.join(below),
        None if word.contains('/') => setup.dir_of(prefix).join(word.trim_start_matches("./")),
        None => on_path(word, setup)?,
    };
    is_executable(&path).then_some(path)
}

fn on_path(name: &str, setup: &Setup) -> Option<PathBuf> {
    search_path::find(name, setup.environment.get("PATH")?, &setup.dir)
}

/// Libraries need not be executable, but are preloaded by their paths.
fn is_executable(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_library = name.ends_with(".so") || name.contains(".so.");
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && (is_library || meta.permissions().mode() & 0o111 != 0))
}

/// Executable files and shared objects below a prefix: those in folders called bin first.
fn programs_below(prefix: &Path) -> Vec<PathBuf> {
    let mut left = vec![prefix.to_owned()];
    let (mut found, mut seen) = (vec![], 0);
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            let (path, kind) = (entry.path(), entry.file_type());
            if kind.as_ref().is_ok_and(|kind| kind.is_dir()) {
                left.push(path);
            } else if kind.is_ok_and(|kind| kind.is_file()) && is_executable(&path) {
                found.push(path);
            }
        }
        if seen > MOST_NAMES {
            break;
        }
    }
    let is_in_bin = |path: &PathBuf| path.parent().is_some_and(|folder| folder.ends_with("bin"));
    found.sort_by_key(|path| (!is_in_bin(path), path.clone()));
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use bakeoff_model::study::{Condition, Workload};
    use std::fs;

    fn executable(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn programs_are_found_whoever_names_them() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["bin/tool", "a/bin/p", "a/lib/p/helper", "b/bin/p", "preload.so", "mine", "other"] {
            executable(&at(name));
        }
        fs::write(at("data"), "1").unwrap();
        let variant = |name: &str| Variant {
            name: name.to_owned(),
            run_variables: [("LD_PRELOAD".to_owned(), at("preload.so").display().to_string())].into(),
            ..Variant::default()
        };
        let run = "tool data; \"$PREFIX/bin/p\" <data | ./mine /proc/self/stat";
        let plan = Plan {
            variants: vec![variant("a"), variant("b")],
            workloads: vec![Workload { run: run.to_owned(), ..Workload::default() }],
            conditions: vec![Condition::default()],
            ..Plan::default()
        };
        let path = format!("{}:/usr/bin:/bin", at("bin").display());
        let setup = Setup {
            dir: dir.path().to_owned(),
            environment: [("PATH".to_owned(), path)].into(),
            prefixes: ["a", "b"].map(|name| (name.to_owned(), at(name))).into(),
            ..Setup::default()
        };
        let names = |files: &[Watched]| files.iter().map(|file| file.name.clone()).collect::<BTreeSet<_>>();
        let found = programs(&plan, &setup, []);
        let built = ["bin/p of a", "lib/p/helper of a", "bin/p of b"].map(str::to_owned);
        assert_eq!(names(&found.built), built.into());
        let system = names(&found.system);
        for name in ["bin/tool", "preload.so", "mine"] {
            assert!(system.contains(&at(name).display().to_string()), "{name}: {system:?}");
        }
        assert!(system.iter().any(|name| name.contains("/libc.so")), "{system:?}");
        assert!(!system.iter().any(|name| name.ends_with("/other") || name.ends_with("/data")), "{system:?}");
        let found = programs(&plan, &setup, [&"mine".to_owned()]);
        assert!(!names(&found.system).contains(&at("mine").display().to_string()), "it is the study's");
    }
}
