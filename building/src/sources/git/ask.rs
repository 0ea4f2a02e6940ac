//! Git as a process: with which environment it is run, so that it runs nothing else, and short questions to it
//! whose answer is what it prints.

use super::super::bring;
use crate::cache::Cache;
use crate::error::Error;
use crate::shell::{Answer, Environment, answer};
use std::path::Path;

/// In which repository Git is run, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum In {
    /// In one of the user's, or of somebody else: it is asked for names.
    Theirs,
    /// In one of ours in the work folder.
    Ours,
    /// In one of ours, to fetch from an address that the user names.
    Fetching,
    /// In one of ours, to fetch from an address that a repository names.
    FetchingSubmodule,
}

/// Variables that would make Git look at another repository than the one it is given, or at it in another way.
const REMOVED: [&str; 15] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_QUARANTINE_PATH",
    "GIT_ATTR_SOURCE",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
];

/// What no configuration of a repository can set otherwise: of its own configuration, these are the keys that make
/// commands run something, or change what they lay out.
const SETTINGS: [(&str, &str); 14] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.autocrlf", "false"),
    ("core.symlinks", "true"),
    ("core.pager", "cat"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("transfer.bundleURI", "false"),
    ("protocol.ext.allow", "never"),
];

/// The environment of a Git.
pub(super) fn environment(of: In) -> Environment {
    let mut env = bring::environment();
    REMOVED.iter().for_each(|name| drop(env.remove(*name)));
    let protocols = match of {
        In::Theirs | In::Ours => "none",
        In::Fetching => "http:https:ssh:git:file",
        // As Git has it: an address that comes from elsewhere names no file of this machine.
        In::FetchingSubmodule => "http:https:ssh:git",
    };
    let mut set = |name: &str, value: &str| drop(env.insert(name.to_owned(), value.to_owned()));
    set("GIT_ALLOW_PROTOCOL", protocols);
    set("GIT_TERMINAL_PROMPT", "0");
    set("GIT_NO_LAZY_FETCH", "1");
    set("GIT_NO_REPLACE_OBJECTS", "1");
    set("GIT_OPTIONAL_LOCKS", "0");
    set("GIT_ATTR_NOSYSTEM", "1");
    set("LC_ALL", "C");
    if of == In::Ours {
        // The user's own configuration may name filters too. Older versions know only the home folder.
        set("GIT_CONFIG_NOSYSTEM", "1");
        for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "HOME", "XDG_CONFIG_HOME"] {
            set(name, "/dev/null");
        }
        set("GIT_CONFIG_COUNT", "0");
    }
    // After what the user sets in the same way: such as whose repositories are safe.
    let given = env.get("GIT_CONFIG_COUNT").and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
    for (number, (key, value)) in (given..).zip(SETTINGS) {
        env.insert(format!("GIT_CONFIG_KEY_{number}"), key.to_owned());
        env.insert(format!("GIT_CONFIG_VALUE_{number}"), value.to_owned());
    }
    env.insert("GIT_CONFIG_COUNT".to_owned(), (given + SETTINGS.len()).to_string());
    env
}

impl Answer {
    /// The lines that Git printed.
    pub(super) fn lines(&self) -> Vec<String> {
        String::from_utf8_lossy(&self.out).lines().map(str::to_owned).collect()
    }
}

/// Asks Git something in a folder of somebody's repository.
pub(super) fn ask(cache: &Cache, folder: &Path, words: &[&str]) -> Result<Answer, Error> {
    let lock = cache.lock("git", |_| {})?;
    let argv = std::iter::once(&"git").chain(words).map(|&word| word.to_owned()).collect();
    answer(&lock, &cache.paths.work_of("git"), argv, folder, environment(In::Theirs))
}
