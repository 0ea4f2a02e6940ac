//! What a build is made of: sources, and the layers that are built of them, as the study file says. Where they lie and
//! whether they can be built is not known here.

use bakeoff_model::study::{Recipe, Study, mentions};
use std::any::Any;
use std::collections::BTreeMap;

/// The place where variants are built.
#[derive(Debug)]
pub struct Building;

/// What a study builds: layers, of sources.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chain {
    /// Inputs of builds, pinned by their SHA-256.
    pub sources: Vec<Source>,
    /// The layers, in their order; all of them install into one prefix.
    pub layers: Vec<Layer>,
}

impl Chain {
    /// What a study builds.
    pub fn of(study: &Study) -> &Self {
        Self::of_recipe(study.recipe.as_deref())
    }

    pub(crate) fn of_recipe(recipe: Option<&dyn Recipe>) -> &Self {
        static NOTHING: Chain = Chain { sources: vec![], layers: vec![] };
        recipe.and_then(|recipe| (recipe as &dyn Any).downcast_ref()).unwrap_or(&NOTHING)
    }
}

/// An input of a build.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its name in the study file.
    pub name: String,
    /// Where it is had from.
    pub from: SourceFrom,
    /// It is accepted if this is the SHA-256 (64 lower-case hexadecimal digits) of its file, or of its folder's tree.
    /// None: the lock file says it, or nobody yet.
    pub sha256: Option<String>,
    /// Whether an archive is unpacked; otherwise it is copied as it is.
    pub unpack: bool,
    /// About how much is fetched, in bytes, as the author saw it; for estimates.
    pub disk_bytes: Option<u64>,
}

/// The revision that means the files of a repository as they are now.
pub(crate) const WORKTREE: &str = "worktree";

/// Where a source is had from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceFrom {
    /// A shell command that leaves a file, or a folder's content, in the folder `$DOWNLOAD`.
    Fetch(String),
    /// A file or folder of this machine, relative to the study's folder. It counts as it is now.
    Path(String),
    /// A file that is loaded from this address.
    Url(String),
    /// What a Git repository holds at a revision.
    Git {
        /// The repository, as `git fetch` understands it.
        url: String,
        /// A commit, tag or branch, or whatever else `git rev-parse` understands.
        revision: String,
    },
    /// The files of a Git repository of this machine as they are now, but for those that it ignores: the revision
    /// [`WORKTREE`]. The path is relative to the study's folder.
    Worktree(String),
}

/// One cached build step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layer {
    /// Its name in the study file.
    pub name: String,
    /// The source that is unpacked into the script's folder, if any.
    pub source: Option<String>,
    /// A `sh -e` script that installs into `$PREFIX`.
    pub script: String,
    /// Shell commands that must exit 0 afterwards: did every level take effect?
    pub verify: Vec<String>,
    /// Files of the study's folder that the script needs; copied beside the source.
    pub files: Vec<String>,
    /// Programs whose path and version are part of the build's name.
    pub tools: Vec<String>,
    /// About how long it takes, in seconds, as the author saw it; for estimates before anything was timed here.
    pub takes_s: Option<f64>,
    /// About how much disk one finished build of it takes, in bytes, as the author saw it; for estimates before any was built here.
    pub disk_bytes: Option<u64>,
    /// Files of the study's folder that are applied with `patch` to the source of every variant, in this order; those
    /// of levels follow.
    pub patches: Vec<String>,
    /// Names of level variables whose words are flags that must reach the compiler or linker, beside the usual ones
    /// (`CFLAGS` and its like).
    pub flags: Vec<String>,
    /// Shell commands that describe what was built, a line `NAME=VALUE` or `NAME: VALUE` for each of its settings.
    pub describe: Vec<String>,
    /// What a factor implies among what is described, by the factor's name: patterns with `*`.
    pub implied: BTreeMap<String, Vec<String>>,
    /// Files of the prefix whose size is reported: patterns with `*`.
    pub sizes: Vec<String>,
    /// A `sh -e` script that relinks the kept tree of the layer, and installs it; for `vary = ["link-order"]`.
    pub relink: Option<String>,
    /// What keeps the output of compilers; what building costs is not comparable then.
    pub compiler_cache: Option<CompilerCache>,
    /// It compiles nothing: what levels change in calls of compilers does not concern it, and one build serves all of them.
    pub compiles_nothing: bool,
    /// A script that takes longer is killed, in seconds.
    pub timeout_s: Option<f64>,
    /// The tree that it is built in stays, for a command that looks into it. The study file does not say so, and the name of
    /// the build does not depend on it.
    pub keeps_tree: bool,
    /// It has no script: BOLT rewrites what the layers before it installed, for the variants whose levels say `bolt`. The
    /// builds of the others end before it.
    pub rewrites: bool,
}

/// What keeps the output of compilers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompilerCache {
    /// ccache.
    Ccache,
    /// sccache.
    Sccache,
}

impl Layer {
    /// Whether the tree that it is built in stays.
    pub(crate) fn leaves_tree(&self) -> bool {
        self.relink.is_some() || self.keeps_tree
    }

    /// Whether the script or a verify, describe or relink line mentions the variable, as `$NAME` or inside `${…}`. Only the variables that
    /// a layer mentions are part of its name, so that an unrelated level rebuilds nothing. A file listed in `files`
    /// sees only the variables that the script hands to it by mentioning them.
    pub fn mentions(&self, variable: &str) -> bool {
        let texts = std::iter::once(&self.script).chain(&self.verify).chain(&self.describe).chain(&self.relink);
        texts.into_iter().any(|text| mentions(text, variable))
    }
}

impl SourceFrom {
    /// What a Git repository holds at a revision, which may be [`WORKTREE`].
    pub fn git(url: &str, revision: &str) -> Self {
        match revision {
            WORKTREE => Self::Worktree(url.to_owned()),
            _ => Self::Git { url: url.to_owned(), revision: revision.to_owned() },
        }
    }

    /// The repository, if it is one.
    pub fn repository(&self) -> Option<&str> {
        match self {
            Self::Git { url, .. } | Self::Worktree(url) => Some(url),
            _ => None,
        }
    }

    /// Whether it counts as it is now, and is never locked.
    pub fn is_as_it_is_now(&self) -> bool {
        matches!(self, Self::Path(_) | Self::Worktree(_))
    }
}
