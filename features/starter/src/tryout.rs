//! Whether a benchmark or a test target of the source is of use as a workload: it is run twice on the plain build, as a
//! trial would. It must succeed, end soon, run something that was built, compile nothing, because a trial would measure the
//! compiler then, and leave alone what all trials share. What is offered is known elsewhere.

use crate::fault::Fault;
use crate::stage::Stage;
use crate::targets::TREE;
use crate::walk;
use crate::workload::Workload;
use bakeoff_building::Building;
use bakeoff_command::CommandError;
use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Runs the candidate twice; `Err` says why it is unusable, in words that follow its name.
///
/// # Errors
/// Those of the launcher, and of files.
pub(crate) fn twice(workload: &Workload, dir: &Path, prefix: &Path, most_s: f64) -> Result<(), Fault> {
    let mut stage = Stage::new(dir, prefix)?;
    stage.most_s = most_s;
    let watch = tempfile::tempdir().map_err(CommandError::usage)?;
    let called = watch.path().join("called");
    stage.before = Some(shims(watch.path(), &called).map_err(CommandError::usage)?);
    let tree = prefix.join(TREE);
    let before = files(&tree);
    for _ in 0..2 {
        let home = stage.prepared(workload).map_err(|fault| fault.after("cannot be prepared: "))?;
        let copy = home.path().join(TREE);
        let programs = forget_use(&[&tree, &copy]);
        let ended =
            stage.execute(&workload.run, home.path()).map_err(|fault| fault.after("is not a usable workload: "))?;
        if workload.harness.is_some() && !String::from_utf8_lossy(&ended.stdout).contains("enchmark") {
            return Err(Fault::Useless("prints no benchmark result".to_owned()));
        }
        let compilers = fs::read_to_string(&called).unwrap_or_default();
        if let Some(compiler) = compilers.lines().next() {
            let why = format!("calls a compiler ({compiler}), so trials would measure the compiler too");
            return Err(Fault::Useless(why));
        }
        // Before anything is looked at, which would be use.
        let is_idle = programs.is_some_and(|programs| !programs.iter().any(|path| is_used(path)));
        let after = files(&copy);
        let is_new =
            |(path, seen): &(&PathBuf, &FileState)| seen.is_built && before.get(*path).is_none_or(|old| old != *seen);
        if let Some((path, _)) = after.iter().find(is_new) {
            let why = format!("builds {}, so trials would measure the compiler too", path.display());
            return Err(Fault::Useless(why));
        }
        let now = files(&tree);
        if let Some(path) = differing(&before, &now) {
            let why = format!("writes to the build folder that all trials share: {}", path.display());
            return Err(Fault::Useless(why));
        }
        if is_idle {
            return Err(Fault::Useless("does not run any of the built programs".to_owned()));
        }
    }
    Ok(())
}

/// What is known of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    modified: Option<SystemTime>,
    /// It is an object, a library or a program, as compilers and their like make them.
    is_built: bool,
}

/// All files below a folder, by their paths in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, FileState> {
    let state = |path: &Path| {
        let about = path.symlink_metadata().ok().filter(fs::Metadata::is_file)?;
        Some(FileState { bytes: about.len(), modified: about.modified().ok(), is_built: is_built(path) })
    };
    let all = walk::files(folder, usize::MAX, &|_| false).into_iter();
    all.filter_map(|path| state(&folder.join(&path)).map(|state| (path, state))).collect()
}

fn is_built(path: &Path) -> bool {
    let mut start = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    start[..read].starts_with(b"\x7fELF") || &start == b"!<arch>\n"
}

fn differing<'a>(
    before: &'a BTreeMap<PathBuf, FileState>,
    after: &'a BTreeMap<PathBuf, FileState>,
) -> Option<&'a PathBuf> {
    let changed = after.iter().find(|(path, seen)| before.get(*path) != Some(seen));
    changed.or_else(|| before.iter().find(|(path, _)| !after.contains_key(*path))).map(|(path, _)| path)
}

/// When a program was used last that nobody has used yet.
const NEVER: SystemTime = SystemTime::UNIX_EPOCH;

/// Has all that is built below these folders look as if nobody had used it ever; which files. None where the file system does not
/// write down when a file is used.
fn forget_use(folders: &[&Path]) -> Option<Vec<PathBuf>> {
    let all =
        folders.iter().flat_map(|folder| files(folder).into_iter().map(move |file| (folder.join(file.0), file.1)));
    let built: Vec<PathBuf> = all.filter(|(_, state)| state.is_built).map(|(path, _)| path).collect();
    let forget = |path: &PathBuf| File::open(path)?.set_times(FileTimes::new().set_accessed(NEVER));
    let first = built.first()?;
    let is_written_down = forget(first).is_ok() && fs::read(first).is_ok() && is_used(first);
    (is_written_down && built.iter().all(|path| forget(path).is_ok())).then_some(built)
}

fn is_used(path: &Path) -> bool {
    path.metadata().and_then(|about| about.accessed()).is_ok_and(|at| at != NEVER)
}

/// A folder with a script for each compiler on the search path: it writes its name into the file `called`, and is that compiler.
fn shims(folder: &Path, called: &Path) -> io::Result<PathBuf> {
    let shims = folder.join("bin");
    fs::create_dir(&shims)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    for place in std::env::split_paths(&path) {
        for entry in place.read_dir().into_iter().flatten().flatten() {
            let (name, shim) = (entry.file_name(), shims.join(entry.file_name()));
            if is_compiler(&name.to_string_lossy()) && !shim.exists() {
                let text = format!(
                    "#!/bin/sh\necho '{}' >> '{}'\nexec '{}' \"$@\"\n",
                    name.display(),
                    called.display(),
                    entry.path().display()
                );
                fs::write(&shim, text)?;
                fs::set_permissions(&shim, fs::Permissions::from_mode(0o755))?;
            }
        }
    }
    Ok(shims)
}

/// Whether a program is called as compilers and linkers are: `cc`, `gcc-12`, `x86_64-linux-gnu-g++`.
fn is_compiler(name: &str) -> bool {
    const OTHERS: [&str; 5] = ["cargo", "go", "gold", "gfortran", "tcc"];
    Building::compiles_or_links(name.as_bytes()) || OTHERS.contains(&name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_their_names() {
        for name in ["cc", "gcc-12", "x86_64-linux-gnu-g++", "x86_64-linux-gnu-gcc-12", "clang++-14", "rustc", "ld"] {
            assert!(is_compiler(name), "{name}");
        }
        for name in ["ccache", "gcov", "make", "clang-format", "mygcc", "ldd", "sh"] {
            assert!(!is_compiler(name), "{name}");
        }
    }

    /// A prefix with a tree, and what this command comes to in a copy of it.
    fn check(run: &str, expect: Result<(), &str>) {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join(TREE);
        fs::create_dir(&tree).unwrap();
        fs::copy("/bin/true", tree.join("prog")).unwrap();
        fs::write(tree.join("input"), "").unwrap();
        let run = format!("cd \"$TMPDIR/{TREE}\" && {run}");
        let workload =
            Workload { run, prepare: Some("cp -a \"$PREFIX/tree\" \"$TMPDIR\"".to_owned()), ..Workload::default() };
        let came = twice(&workload, folder.path(), folder.path(), 60.0).map_err(|fault| fault.useless().unwrap());
        match (&came, expect) {
            (Ok(()), Ok(())) => {}
            (Err(why), Err(expect)) => assert!(why.contains(expect), "{why}"),
            _ => panic!("{}: {came:?}", workload.run),
        }
    }

    #[test]
    fn what_compiles_or_spoils_what_is_shared_is_no_workload() {
        check("./prog && echo yes > log", Ok(()));
        check("\"$PREFIX/tree/prog\"", Ok(()));
        check("./prog; false", Err("is not a usable workload: it exited with 1"));
        check("./prog; cc --version > /dev/null 2>&1 || :", Err("calls a compiler (cc)"));
        check("./prog; cp prog new", Err("builds new"));
        check("./prog; touch \"$PREFIX/tree/log\"", Err("that all trials share: log"));
        check("./prog; rm -f \"$PREFIX/tree/input\"", Err("that all trials share: input"));
    }

    #[test]
    fn what_executes_nothing_that_was_built_is_no_workload() {
        let folder = tempfile::tempdir().unwrap();
        fs::copy("/bin/true", folder.path().join("prog")).unwrap();
        if forget_use(&[folder.path()]).is_none() {
            println!("skipped: the file system does not write down when a file is used");
            return;
        }
        check("echo nothing", Err("does not run any of the built programs"));
    }
}
