//! Which compiler is it? The identity of a tool: where it really is, and what it calls itself. It is part of a build's
//! name, so that a new compiler is a new build. Nothing is built here.

use crate::cache::{Cache, fresh_folder, wipe};
use crate::error::{At, Error};
use crate::sources::sha256_of;
use bakeoff_host::{Command, End, Launcher, Patience};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Level variables that name a tool with their first word, as `make`'s built-in rules read them.
const TOOL_VARIABLES: [&str; 3] = ["CC", "CXX", "LD"];

/// What this process has learned of tools: asked once, and held for as long as the process lives.
#[derive(Debug, Default)]
pub(crate) struct Toolbox(Mutex<BTreeMap<String, Option<String>>>);

/// The tools of a layer: those it lists, and those that its variables name. A path that is relative to the layer's
/// folder is none: what is there is part of the build's name anyway.
pub(crate) fn tools_of<'a>(listed: &'a [String], variables: &BTreeMap<&str, &'a str>) -> BTreeSet<&'a str> {
    let named = TOOL_VARIABLES.iter().filter_map(|name| variables.get(name)?.split_whitespace().next());
    let listed = listed.iter().map(String::as_str);
    listed.chain(named).filter(|tool| !tool.contains('/') || tool.starts_with('/')).collect()
}

/// The path and version of a tool; none if it is not there.
pub(crate) fn identity(cache: &Cache, tool: &str) -> Result<Option<String>, Error> {
    // Held while asking, so that no tool is asked twice.
    let mut known = cache.toolbox.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(identity) = known.get(tool) {
        return Ok(identity.clone());
    }
    let identity = match find(tool, &std::env::var_os("PATH").unwrap_or_default()) {
        None => None,
        Some(path) => {
            let real = fs::canonicalize(&path).at("resolve", &path)?;
            Some(format!("{} ({})", real.display(), version(cache, &path)?))
        }
    };
    known.insert(tool.to_owned(), identity.clone());
    Ok(identity)
}

/// The first executable file of that name on a search path.
pub(crate) fn find(tool: &str, search_path: &std::ffi::OsStr) -> Option<PathBuf> {
    let executable =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    std::env::split_paths(search_path).map(|folder| folder.join(tool)).find(executable)
}

/// The first line that `tool --version` prints. A tool that knows no such option is identified by its content.
fn version(cache: &Cache, tool: &Path) -> Result<String, Error> {
    let lock = cache.lock("tools", |_| {})?;
    let dir = cache.work_of("tools");
    fresh_folder(&dir)?;
    let stdout = dir.join("stdout");
    let command = Command {
        argv: vec![tool.display().to_string(), "--version".to_owned()],
        dir: dir.clone(),
        env: crate::layer::basic_environment(),
        stdout: stdout.clone(),
        stderr: dir.join("stderr"),
    };
    let ended = Launcher::start(Some(lock.as_fd()))?.execute(&command, Patience::FirstInterrupt)?;
    let printed = match ended.end {
        End::Interrupted => return Err(Error::Interrupted),
        End::Exited(0) => fs::read(&stdout).at("read", &stdout)?,
        _ => vec![],
    };
    wipe(&dir)?;
    match String::from_utf8_lossy(&printed).lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => Ok(line.to_owned()),
        None => Ok(format!("sha256 {}", sha256_of(tool)?.0)),
    }
}
