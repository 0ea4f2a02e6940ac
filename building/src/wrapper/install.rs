//! Puts the wrapper into a folder, under the names of the tools that there are. Several processes may do so at once, and
//! what one that was killed leaves behind does not matter.

use super::{tool, wire};
use crate::Error;
use bakeoff_host::are_switched_off;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// The program, compiled by `build.rs`.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/wrapper"));

/// How the names begin under which the program is written.
const ASIDE: &str = ".aside-";

/// Wrappers that are there, and stay for as long as this does.
#[derive(Debug)]
pub(crate) struct Wrappers {
    root: PathBuf,
    /// The files that a build which calls compilers by their full path would run.
    compilers: BTreeSet<PathBuf>,
    /// Locked, so that nobody who has other tools removes what we need.
    _in_use: File,
}

impl Wrappers {
    /// Makes the folder `root`, or brings it up to date: the program, and in `bin` a link for each usual tool on the
    /// search path and for each of the names in `also` that is there; a path in `also` is that of a compiler. Links to tools
    /// that are not there are removed unless somebody else uses the folder, since scripts would find these tools otherwise.
    pub(crate) fn install(root: &Path, search_path: &OsStr, also: &BTreeSet<String>) -> Result<Self, Error> {
        let tools = tools(search_path, also);
        let names: BTreeSet<OsString> = tools.iter().filter_map(|tool| tool.file_name()).map(OsStr::to_owned).collect();
        let paths = also.iter().filter(|tool| tool.starts_with('/')).map(Path::new);
        let of_languages = [crate::rustup::linkers(), crate::go::linkers(search_path)].concat();
        let all = tools.iter().chain(&of_languages).map(PathBuf::as_path).chain(paths).filter(|_| !are_switched_off());
        let compilers = all.filter_map(to_cover).collect();
        let install = || -> io::Result<File> {
            let bin = root.join("bin");
            fs::create_dir_all(&bin)?;
            let in_use = File::open(root)?;
            let alone = in_use.try_lock().is_ok();
            if !alone {
                // Waits for somebody who is alone for a moment. A file system without locks goes without.
                let _ = in_use.lock_shared();
            }
            fs::create_dir_all(root.join(wire::UNCOVERED))?;
            File::options().create(true).append(true).open(root.join(wire::VARIABLES))?;
            put_program(root)?;
            link(&root.join(wire::CONFINE), Path::new(wire::PROGRAM))?;
            link(&root.join(wire::RUSTC), Path::new(wire::PROGRAM))?;
            for name in &names {
                link(&bin.join(name), &Path::new("..").join(wire::PROGRAM))?;
            }
            if alone {
                remove_all_but(&bin, |name| names.contains(name))?;
                // What those left who were killed while they put the program there.
                remove_all_but(root, |name| !name.as_bytes().starts_with(ASIDE.as_bytes()))?;
                let _ = in_use.lock_shared();
            }
            Ok(in_use)
        };
        let in_use = install().map_err(|source| Error::Wrapper { path: root.to_owned(), source })?;
        Ok(Self { root: root.to_owned(), compilers, _in_use: in_use })
    }

    /// The folder that is put first on PATH.
    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// The program that cargo calls in place of rustc, with the path of rustc and its words.
    pub(crate) fn between_cargo_and_rustc(&self) -> PathBuf {
        self.root.join(wire::RUSTC)
    }

    /// The command that runs `command`, confined to writing below these folders and to these files, as far as they
    /// are there when it begins, and if `covered` with compilers covered. If there are `readable` folders, it may read only
    /// what is below these and those, and in the folder of the wrappers; what is in a folder may be listed everywhere. The
    /// program of `command` is looked up on the PATH that it is started with, unless it is a path.
    pub(crate) fn confined(
        &self,
        writable: &[&Path],
        readable: &[&Path],
        covered: bool,
        command: &[&str],
    ) -> Vec<String> {
        let mut words = vec![self.root.join(wire::CONFINE).display().to_string()];
        words.extend(writable.iter().map(|path| path.display().to_string()));
        if !readable.is_empty() {
            words.push(wire::READABLE.to_owned());
            words.push(self.root.display().to_string());
            words.extend(readable.iter().map(|path| path.display().to_string()));
        }
        words.push("--".to_owned());
        words.extend(self.compilers.iter().filter(|_| covered).map(|path| path.display().to_string()));
        words.push("--".to_owned());
        words.extend(command.iter().map(|&word| word.to_owned()));
        words
    }
}

/// The tools that a search path has.
fn tools(search_path: &OsStr, also: &BTreeSet<String>) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for folder in std::env::split_paths(search_path) {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_usual = tool::kind(name.as_bytes()).is_some() || tool::is_server(name.as_bytes());
            let wanted = is_usual || name.to_str().is_some_and(|name| also.contains(name));
            if wanted && is_tool(&entry.path()) {
                found.insert(entry.path());
            }
        }
    }
    found
}

/// The file that a tool is in the end, if it is a compiler that can be covered. What is called otherwise there may stand before
/// compilers, as ccache does, and clang finds its parts by the place of its own file.
fn to_cover(tool: &Path) -> Option<PathBuf> {
    let file = fs::canonicalize(tool).ok().filter(|_| tool.is_absolute())?;
    let name = file.file_name()?.as_bytes();
    let is_one = match tool::kind_of_file(file.as_os_str().as_bytes(), name) {
        Some(tool::ToolKind::Driver) => !name.windows(5).any(|part| part == b"clang"),
        // clang and Go call theirs by its full path.
        Some(tool::ToolKind::Linker | tool::ToolKind::GoLinker) => true,
        _ => false,
    };
    (is_one && is_executable(&file)).then_some(file)
}

/// Whether it can be run and is no wrapper.
fn is_tool(path: &Path) -> bool {
    is_executable(path) && fs::canonicalize(path).is_ok_and(|real| real.file_name() != Some(OsStr::new(wire::PROGRAM)))
}

fn remove_all_but(folder: &Path, stays: impl Fn(&OsStr) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !stays(&entry.file_name()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Makes a link, if it is not there.
fn link(path: &Path, target: &Path) -> io::Result<()> {
    if fs::read_link(path).is_ok_and(|there| there == target) {
        return Ok(());
    }
    // Not ours, or of another layout.
    if path.symlink_metadata().is_ok() {
        fs::remove_file(path)?;
    }
    match symlink(target, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// The program, in which the folder is written where it has room for that; in too long a path, nothing is covered.
fn program(root: &Path) -> Vec<u8> {
    let mut program = PROGRAM.to_owned();
    let folder = fs::canonicalize(root).unwrap_or_default();
    let folder = folder.as_os_str().as_bytes();
    let mark = program.windows(wire::FOLDER_MARK.len()).position(|bytes| bytes == wire::FOLDER_MARK);
    if let Some(start) = mark.map(|at| at + wire::FOLDER_MARK.len()).filter(|_| folder.len() < wire::LONGEST_FOLDER) {
        program[start..start + folder.len()].copy_from_slice(folder);
    }
    program
}

/// Puts the program there, unless it is.
fn put_program(root: &Path) -> io::Result<()> {
    let path = root.join(wire::PROGRAM);
    let program = program(root);
    if fs::read(&path).is_ok_and(|there| there == program) && is_executable(&path) {
        return Ok(());
    }
    let aside = aside_of(&path);
    let put = || -> io::Result<()> {
        File::options().write(true).create_new(true).mode(0o755).open(&aside)?.write_all(&program)?;
        try_program(&aside)?;
        fs::rename(&aside, &path)
    };
    put().inspect_err(|_| drop(fs::remove_file(&aside)))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// A name beside it that nobody else draws.
fn aside_of(path: &Path) -> PathBuf {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let nth = DRAWN.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!("{ASIDE}{}-{:x}-{nth}", std::process::id(), bakeoff_host::now_unix_s().to_bits()))
}

/// Runs it once. A process that another thread of ours has just started may hold the file open for writing until it
/// runs its program; that ends by itself, and afterwards nobody does.
fn try_program(path: &Path) -> io::Result<()> {
    let spawn = || {
        let mut command = Command::new(path);
        std::os::unix::process::CommandExt::arg0(&mut command, wire::PROGRAM);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()
    };
    for _ in 0..1000 {
        match spawn() {
            Err(busy) if busy.kind() == io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            other => return other.map(drop),
        }
    }
    spawn().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(wrappers: &Wrappers) -> Vec<String> {
        let entries = fs::read_dir(wrappers.folder()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn executable(path: &Path) {
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn only_tools_that_are_there_are_wrapped() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        for folder in [&one, &other] {
            fs::create_dir(folder).unwrap();
        }
        for name in
            ["gcc", "gcc-12", "ld", "ld.so", "gcc-nm", "x86_64-linux-gnu-gcc-ar-12", "tcc", "clang-tidy", "sccache"]
        {
            executable(&one.join(name));
        }
        fs::write(one.join("cc"), "not executable").unwrap();
        executable(&other.join("clang++"));
        let root = folder.path().join("root");
        let also = BTreeSet::from(["tcc".to_owned(), "icx".to_owned()]);
        let wrappers = Wrappers::install(&root, one.as_os_str(), &also).unwrap();
        assert_eq!(names(&wrappers), ["gcc", "gcc-12", "ld", "sccache", "tcc", "x86_64-linux-gnu-gcc-ar-12"]);

        // Others who have other tools leave ours alone for as long as we need them, and bring their own.
        let path = std::env::join_paths([wrappers.folder(), other]).unwrap();
        let others = Wrappers::install(&root, &path, &BTreeSet::new()).unwrap();
        assert_eq!(names(&others).len(), 7);
        drop((wrappers, others));
        // A process that another test has just started may hold the lock until it runs its program.
        let alone = |_| names(&Wrappers::install(&root, &path, &BTreeSet::new()).unwrap()) == ["clang++"];
        assert!((0..10_000).any(alone));
    }

    #[test]
    fn many_at_once_and_debris() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::write(root.join(wire::PROGRAM), &PROGRAM[..100]).unwrap();
        fs::write(root.join("bin/gcc"), "what is this").unwrap();
        fs::write(root.join(".aside-of-somebody-who-was-killed"), "").unwrap();
        let tools = folder.path().join("tools");
        fs::create_dir(&tools).unwrap();
        executable(&tools.join("gcc"));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let wrappers = Wrappers::install(&root, tools.as_os_str(), &BTreeSet::new()).unwrap();
                    let status = Command::new(wrappers.folder().join("gcc")).env("PATH", &tools).status().unwrap();
                    assert!(status.success());
                });
            }
        });
        let left: BTreeSet<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(
            left,
            ["bin", wire::CONFINE, wire::PROGRAM, wire::RUSTC, wire::UNCOVERED, wire::VARIABLES]
                .map(OsString::from)
                .into()
        );
    }

    #[test]
    fn a_folder_that_cannot_be_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let error = Wrappers::install(&folder.path().join("file/root"), OsStr::new(""), &BTreeSet::new()).unwrap_err();
        assert!(matches!(error, Error::Wrapper { .. }), "{error}");
    }
}
