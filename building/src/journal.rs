//! The journal's line on a build: whether it was built, from which layers, at what cost, and what was seen of it that
//! shows whether it is what it is called. It is observed, not judged. The core keeps it as a [`MadeLine`].

use bakeoff_model::metric::Measurements;
use bakeoff_model::record::MadeLine;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What became of one build.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BuildLine {
    /// Digest of everything that went in.
    pub digest: String,
    /// Display names of the variants that run it.
    pub variants: Vec<String>,
    /// Built, or why not.
    pub outcome: BuildOutcome,
    /// True if nothing had to be done.
    pub cached: bool,
    /// Cost of building, summed over the layers, as measured when each was built. Metric names as in
    /// [`bakeoff_model::metric`]; not comparable between builds that were made at the same time.
    pub cost: Measurements,
    /// Identity of each tool: name to path and version.
    pub tools: BTreeMap<String, String>,
    /// Size of the finished prefix, in bytes.
    pub prefix_bytes: Option<u64>,
    /// Its layers, first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerLine>,
    /// SHA-256 of each source that went in, by its name in the study.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, String>,
    /// What was seen of it that shows whether it is what it is called.
    #[serde(default, skip_serializing_if = "Proof::is_empty")]
    pub proof: Proof,
    /// What the study says of its failing, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreseen: Option<Foreseen>,
}

impl BuildLine {
    /// As the journal keeps them.
    ///
    /// # Errors
    /// Passes on the serialiser's word, should a value have no form in JSON.
    pub(crate) fn made(builds: &[Self]) -> serde_json::Result<Vec<MadeLine>> {
        builds.iter().map(MadeLine::of).collect()
    }

    /// The builds of these lines.
    pub fn all(lines: &[MadeLine]) -> Vec<Self> {
        lines.iter().filter_map(|line| line.fields().ok()).collect()
    }

    /// The line of its log that the study foresaw, of a build that failed as it is meant to.
    pub fn failed_as_foreseen(&self) -> Option<&str> {
        let foreseen = self.foreseen.as_ref().filter(|_| self.outcome != BuildOutcome::Built);
        foreseen.and_then(|foreseen| foreseen.line.as_deref())
    }

    /// Whether it failed, and nobody foresaw that.
    pub fn failed_unforeseen(&self) -> bool {
        self.outcome != BuildOutcome::Built && self.failed_as_foreseen().is_none()
    }
}

/// That a build is meant to fail: then its failure is an outcome like any other, and no mishap.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Foreseen {
    /// What the log says when it does.
    pub text: String,
    /// The first line of the log that says so; none if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// One layer of a build.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LayerLine {
    /// Its name in the study.
    pub name: String,
    /// Digest of everything that went in.
    pub digest: String,
    /// True if nothing had to be done.
    pub cached: bool,
    /// Where its log is.
    pub log: Option<String>,
    /// What its script cost.
    pub cost: Measurements,
    /// What kept the output of compilers, if anything did: then its cost is not comparable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_cache: Option<String>,
    /// Calls of compilers that compiled something, apart from probes; none if calls were not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compilations: Option<u64>,
}

/// What was seen of a finished build that shows whether it is what it is called.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Proof {
    /// Digest of all that is loaded of its ELF files, the prefix's path and build identities left out; none without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binaries: Option<String>,
    /// Digest of all of its files, the prefix's path left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
    /// Sizes of the chosen files in bytes, by path below the prefix.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<String, u64>,
    /// Flags that the variant's levels declare, and how far each came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<FlagSeen>,
    /// Of what the study's commands describe, the settings in which its builds differ: name and value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub described: BTreeMap<String, String>,
    /// Of the words that say what a source file means (`-D`, `-I`, `-std`, `-f`), and of the lines of `config.h`, those that
    /// not all builds of the study have, by file. Of files that all of them compiled.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<String, BTreeSet<String>>,
    /// Object files that no call of a compiler made that was seen, by layer, where there are any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unseen: BTreeMap<String, u64>,
    /// Objects, members of archives (`libx.a(x.o)`), libraries and programs that are in the build although its scripts did
    /// not make them: they were in the source. By layer, where there are any; paths relative to the script's folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_before: BTreeMap<String, BTreeSet<String>>,
    /// Whether the link of each installed program and shared library can be repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSeen>,
}

impl Proof {
    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The link of an installed program or shared library.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LinkSeen {
    /// The file, relative to the prefix.
    pub file: String,
    /// What came of repeating it.
    pub repeated: Repeated,
}

/// What came of repeating a link, right after the build.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeated {
    /// It loads the same bytes.
    Same {
        /// How long the linker took, in seconds.
        seconds: f64,
        /// Whether the file differs in what is not loaded: it was stripped, for example.
        is_changed_later: bool,
    },
    /// No call of a linker was seen that made the file.
    #[default]
    Unseen,
    /// The link is the same, but what is loaded of the file was changed after it.
    ChangedLater,
    /// An object is no longer there.
    Gone {
        /// The first one.
        input: String,
    },
    /// Its objects hold no machine code: the link compiles.
    LinkTimeOptimised,
    /// It makes other bytes.
    Differs,
    /// The linker failed.
    Failed {
        /// How.
        why: String,
    },
    /// Where it was made, it makes the same bytes, but not from copies of what it loaded.
    NotFromCopies,
    /// Repeating the others had taken too long already.
    Untried,
}

impl Repeated {
    /// How long the link takes, in seconds, if it makes the same bytes.
    pub(crate) fn same_in_s(&self) -> Option<f64> {
        match self {
            Self::Same { seconds, .. } => Some(*seconds),
            _ => None,
        }
    }
}

/// A flag that a level declares, and how far it came.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlagSeen {
    /// The layer.
    pub layer: String,
    /// The level variable, or the level's instruction: `append` or its like, or `rustflags`.
    pub variable: String,
    /// The flag.
    pub flag: String,
    /// Compilations, or links, that had it.
    pub reached: u64,
    /// Compilations, or links, that were seen. 0: none was, so that nothing is known.
    pub of: u64,
    /// Of those that had it, how many another flag overrode that came later.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub overridden: u64,
    /// The flag that overrode it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden_by: Option<String>,
}

impl FlagSeen {
    /// Whether an instruction of the level appends it, so that it should have reached every call.
    pub fn is_appended(&self) -> bool {
        is_appending(&self.variable)
    }

    /// Whether it stands for the use of a profile.
    pub fn is_of_profile(&self) -> bool {
        self.variable == PROFILE
    }
}

/// The instruction of a level that has a profile used.
pub(crate) const PROFILE: &str = "profile";

/// Whether a key of a level appends to the words of compilers.
pub(crate) fn is_appending(key: &str) -> bool {
    key.starts_with("append") || key == "rustflags"
}

fn is_none_at_all(number: &u64) -> bool {
    *number == 0
}

/// Built, or why not.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildOutcome {
    /// The prefix is complete and verified.
    #[default]
    Built,
    /// It could not be built; the study goes on without it.
    Failed {
        /// The layer that failed.
        layer: String,
        /// Why, in one line.
        why: String,
        /// The last lines of its log.
        tail: Vec<String>,
        /// Where the whole log is.
        log: Option<String>,
    },
}
