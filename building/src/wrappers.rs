//! What stands between a layer's script and the machine: compiler wrappers first on its PATH, which write down what
//! compilers and linkers get; confinement, so that it writes nowhere but in its own folders; a cache of compilers,
//! if the study asks for one. `flags.rs` says which of the level's flags that proves; nothing is judged here.

mod call_summary;
#[cfg(test)]
mod called;
mod flags;
mod given;
mod objects;
mod profiled;
mod readable;
mod text;
mod tune;

use crate::cache::Cache;
use crate::error::{At, Error, Failure};
use crate::files::{fresh_folder, write_json, write_whole};
use crate::inputs::Node;
use crate::journal::FlagSeen;
use crate::nouns::{CompilerCache, Layer};
use crate::shell::{Environment, Shell};
use crate::spec::Spec;
use crate::tools::{TOOL_VARIABLES, configurations_of_cargo, places, program_of};
use crate::tuning::Tuning;
use crate::wrapper::{self, Call, Wrappers};
use bakeoff_model::plan::Variant;
pub use call_summary::CallSummary;
pub(crate) use call_summary::plain;
pub(crate) use objects::is_linked;
pub(crate) use profiled::{Compilation, OfGcc, Profiles};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The version of the folder of wrappers. The path of the compiler stands in what is built, so it changes only when what
/// a wrapper does.
const VERSION: &str = "3";

/// Where calls are written down, in the folder of a layer's work.
const CALLS: &str = "calls";

/// The message to a script that writes or reads elsewhere.
const ONLY_THERE: &str = "a script may write only to its own folder, $PREFIX, $HOME and $TMPDIR";
const READ_ONLY_THERE: &str = "it may read only those folders, and files of the system and its tools; list a file of \
                               the study in `files` of the [[build]], or make the folder a source of an earlier layer";

/// How a confined program says that it was refused; it speaks English to us (`LC_ALL=C`).
const REFUSED: [&str; 2] = ["Permission denied", "Invalid cross-device link"];

/// What is the same for all layers of a command.
#[derive(Debug)]
pub(crate) struct Between {
    /// Or why there are none.
    wrappers: Result<Wrappers, String>,
    /// Whether scripts can be confined; if not, why not.
    confinement: Result<u32, String>,
    /// What scripts may read besides their own folders.
    readable: BTreeSet<PathBuf>,
}

impl Between {
    /// Prepares the wrappers of the usual tools, and of those that `$CC` and its like name in any of the variants.
    pub(crate) fn prepare(cache: &Cache, layers: &[Layer], variants: &[Variant]) -> Arc<Self> {
        let specs = variants.iter().map(Spec::of);
        let values = specs.flat_map(|spec| TOOL_VARIABLES.map(|name| spec.variables.get(name)));
        let first = values.flatten().filter_map(|value| value.split_whitespace().next());
        let also: BTreeSet<String> = first.map(str::to_owned).collect();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let wrappers = Wrappers::install(&cache.paths.wrappers(VERSION), &path, &also);
        let wrappers = wrappers.map_err(|error| in_words(&error));
        let mut readable = readable::readable(&path.to_string_lossy(), layers, variants);
        readable.extend(configurations_of_cargo(cache));
        Arc::new(Self { wrappers, confinement: bakeoff_host::confinement(), readable })
    }
}

fn in_words(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {}", in_words(source)))
}

/// What stands between one layer's processes and the machine.
#[derive(Debug)]
pub(crate) struct Around {
    between: Arc<Between>,
    /// Where calls are written down.
    calls: PathBuf,
    /// Where the layer is installed, which some scripts also build in.
    prefix: PathBuf,
    /// The folders that its processes may write to.
    writable: Vec<PathBuf>,
    /// Whether compilers are covered. A cache of compilers tells them apart by their files.
    covers: bool,
    /// When that was.
    began: SystemTime,
}

impl Around {
    /// Prepares the folder `work`, which is there, and the environment of a layer's processes.
    pub(crate) fn prepare(
        between: Arc<Between>,
        compiler_cache: Option<CompilerCache>,
        cache: &Cache,
        prefix: &Path,
        work: &Path,
        env: &mut Environment,
    ) -> Result<Self, Error> {
        let calls = work.join(CALLS);
        let mut writable = vec![prefix.to_owned(), work.to_owned()];
        if let Ok(wrappers) = &between.wrappers {
            File::create(&calls).at("write", &calls)?;
            fresh_folder(&kept_in(work))?;
            env.insert(wrapper::LOG.to_owned(), calls.display().to_string());
            let usual = env.get("PATH").cloned().unwrap_or_default();
            env.insert("PATH".to_owned(), format!("{}:{usual}", wrappers.folder().display()));
            if let Some(compiler_cache) = compiler_cache {
                writable.push(cached(compiler_cache, cache, work, &usual, env)?);
            }
        }
        let covers = compiler_cache.is_none();
        Ok(Self { between, calls, prefix: prefix.to_owned(), writable, covers, began: SystemTime::now() })
    }

    /// Has the wrappers do what levels change in every call of a compiler.
    pub(crate) fn tune(&self, layer: &str, tuning: &Tuning, env: &mut Environment) {
        if let Ok(wrappers) = &self.between.wrappers
            && tuning.concerns(layer)
        {
            tune::tune(wrappers, tuning, env);
        }
    }

    /// Has the wrappers do what the source, which is in the folder `tree` now, puts before rustc: what that is.
    pub(crate) fn heed(&self, tree: &Path, env: &mut Environment) -> Option<String> {
        tune::heed_cargo(self.between.wrappers.as_ref().ok()?, tree, env)
    }

    /// Why the layer cannot be built as its levels ask for, if it cannot: nothing is built under a name that is wrong.
    pub(crate) fn cannot_tune(&self, layer: &str, tuning: &Tuning) -> Option<String> {
        let why = self.between.wrappers.as_ref().err().filter(|_| tuning.concerns(layer))?;
        let keys = "`append`, `rustflags`, `compiler` and `profile`";
        Some(format!("cannot apply {keys} without the compiler wrapper: {why}"))
    }

    /// Lines for the log: what there is of all that, and what not.
    pub(crate) fn note(&self, shell: &Shell) -> Result<(), Error> {
        match (&self.between.wrappers, &self.between.confinement) {
            (Err(why), _) => {
                shell.note(&format!("compiler calls are not logged, and the script is not confined: {why}"))
            }
            (Ok(_), Err(why)) => shell.note(&format!("not confined: {why}")),
            (Ok(_), Ok(_)) => shell.note(&format!("confined: {ONLY_THERE}")),
        }
    }

    /// The command as it is run: confined, where that is possible.
    pub(crate) fn command(&self, argv: &[&str]) -> Vec<String> {
        match (&self.between.wrappers, &self.between.confinement) {
            (Ok(wrappers), Ok(_)) => {
                let writable: Vec<&Path> = self.writable.iter().map(PathBuf::as_path).collect();
                let readable: Vec<&Path> = self.between.readable.iter().map(PathBuf::as_path).collect();
                wrappers.confined(&writable, &readable, self.covers, argv)
            }
            _ => argv.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    /// Whether a script may read what is at a path outside of its folder.
    pub(crate) fn may_read(&self, path: &Path) -> bool {
        self.between.readable.iter().chain(&self.writable).any(|folder| path.starts_with(folder))
    }

    /// Adds to a script's failure that it was confined, if that can be the reason.
    pub(crate) fn explain(&self, mut failure: Failure) -> Failure {
        let confined = self.between.wrappers.is_ok() && self.between.confinement.is_ok();
        let refused = |line: &String| REFUSED.iter().any(|words| line.contains(words));
        if confined && failure.tail.iter().any(refused) {
            failure.why = format!("{}; {ONLY_THERE}; {READ_ONLY_THERE}", failure.why);
        }
        failure
    }

    /// What its script has compiled so far, with the profiles that a training left, and how many crates of Rust, which
    /// have none.
    pub(crate) fn compilations(&self, work: &Path, profiles: &Profiles) -> Result<(Vec<Compilation>, usize), Error> {
        let calls = self.calls()?;
        Ok((profiled::compilations(&calls, &work.join("tmp"), profiles), flags::crates_of_rust(&calls)))
    }

    /// The clang that was called to make or use a profile in that folder, if any was.
    pub(crate) fn clang(&self, profile: &Path) -> Result<Option<PathBuf>, Error> {
        Ok(profiled::clang(&self.calls()?, profile))
    }

    /// The calls that were seen; none where calls are not seen at all.
    pub(crate) fn calls_if_seen(&self) -> Result<Option<Vec<Call>>, Error> {
        self.between.wrappers.is_ok().then(|| self.calls()).transpose()
    }

    /// The calls that were seen.
    fn calls(&self) -> Result<Vec<Call>, Error> {
        let bytes = fs::read(&self.calls).at("read", &self.calls)?;
        Ok(wrapper::calls(&bytes).whole)
    }

    /// The file in which calls are written down.
    pub(crate) fn log(&self) -> &Path {
        &self.calls
    }

    /// Forgets the calls that were seen.
    pub(crate) fn forget_calls(&self) -> Result<(), Error> {
        File::create(&self.calls).at("write", &self.calls).map(drop)
    }

    /// How far the flags of the layer's levels came, in what its script has called so far, and how many calls compiled
    /// something. All calls, for people, and what they made are written next to the log.
    pub(crate) fn flags_seen(
        &self,
        cache: &Cache,
        node: &Node<'_>,
        work: &Path,
    ) -> Result<(Vec<FlagSeen>, Option<u64>), Error> {
        let bytes = if self.between.wrappers.is_ok() { fs::read(&self.calls).at("read", &self.calls)? } else { vec![] };
        let calls = wrapper::calls(&bytes);
        write_whole(&cache.paths.calls_of(&node.digest), &text::of(&calls))?;
        let temporary = &work.join("tmp");
        let made = call_summary::summary(&calls.whole, &work.join("tree"), temporary);
        write_json(&cache.paths.made_of(&node.digest), &made)?;
        let mut declared = flags::declared(node.layer, &node.variables);
        declared.extend(flags::appended(node.tuning));
        let (mut flags, compilations) = flags::seen(&node.layer.name, &declared, &calls.whole, temporary);
        flags.extend(flags::of_rust(&node.layer.name, &node.tuning.rust, &calls.whole));
        Ok((flags, self.between.wrappers.is_ok().then_some(compilations)))
    }

    /// Where most of these calls were made: in the script's folder, or below the prefix.
    fn built_in(&self, calls: &[wrapper::Call], work: &Path) -> PathBuf {
        let tree = work.join("tree");
        let below = |folder: &Path| calls.iter().filter(|call| call.dir.starts_with(folder)).count();
        if below(&self.prefix) > below(&tree) { self.prefix.clone() } else { tree }
    }

    /// What its script compiled; nothing where calls are not seen at all.
    pub(crate) fn compiled(&self, work: &Path) -> Result<Compiled, Error> {
        if self.between.wrappers.is_err() {
            return Ok(Compiled::default());
        }
        let calls = self.calls()?;
        let tree = self.built_in(&calls, work);
        Ok(Compiled {
            given: given::given(&calls, &tree, &work.join("tmp")),
            unseen: objects::unseen(&calls, &tree, self.began),
            left_before: objects::left_before(&calls, [&work.join("tree"), &self.prefix], self.began),
        })
    }
}

/// The folder of what links took from the folder of temporary files.
pub(crate) fn kept_in(work: &Path) -> PathBuf {
    work.join(format!("{CALLS}{}", wrapper::KEPT))
}

/// What a layer's script compiled.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    /// What was given to each source file.
    pub(crate) given: BTreeMap<String, BTreeSet<String>>,
    /// How many objects come of calls that were not seen.
    pub(crate) unseen: u64,
    /// What was linked, or installed, and had been there before.
    pub(crate) left_before: BTreeSet<String>,
}

/// Puts a cache of compilers before them; the folder that it keeps things in. What lies below the folders that layers are
/// built in is found again in another of them, so that a layer of another name still has use of it.
fn cached(
    compiler_cache: CompilerCache,
    cache: &Cache,
    work: &Path,
    path: &str,
    env: &mut Environment,
) -> Result<PathBuf, Error> {
    let name = program_of(compiler_cache);
    let folder = cache.paths.compiler_cache(name);
    fs::create_dir_all(&folder).at("create the folder", &folder)?;
    let program = places(name, OsStr::new(path)).next();
    // It is a tool of the layer, so that it was there a moment ago; without it compilers are run as they are.
    let program = program.map_or_else(|| name.to_owned(), |program| program.display().to_string());
    let shown = folder.display().to_string();
    let mut set = |variable: &str, value: String| drop(env.insert(variable.to_owned(), value));
    set(wrapper::CACHE, program);
    match compiler_cache {
        CompilerCache::Ccache => {
            set("CCACHE_DIR", shown);
            set("CCACHE_BASEDIR", work.display().to_string());
            set("CCACHE_NOHASHDIR", "1".to_owned());
        }
        CompilerCache::Sccache => {
            set("SCCACHE_DIR", shown);
            // Its server ends with the layer, so that no other layer may depend on it.
            set("SCCACHE_SERVER_UDS", work.join("sccache").display().to_string());
            // Old versions know no such sockets, and have one port for all of the machine.
            if let Ok(free) = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()) {
                set("SCCACHE_SERVER_PORT", free.port().to_string());
            }
            set("SCCACHE_IGNORE_SERVER_IO_ERROR", "1".to_owned());
        }
    }
    Ok(folder)
}
