//! LLVM's BOLT, as far as it concerns the name of a build: what a level says, which tools do it, with which words. BOLT takes a
//! program that was linked already, and puts its code into another order, by its own profile. That is a layer above all
//! others, so BOLT begins with the plain build of the factor: one link, which keeps the relocations for it.

use bakeoff_model::digest::Digest;
use std::ffi::OsStr;

/// The key of a level.
pub(crate) const KEY: &str = "bolt";

/// The name of the layer that BOLT makes.
pub(crate) const LAYER: &str = "bolt";

/// The tool, without the version that Debian packages put behind its name.
const TOOL: &str = "llvm-bolt";

/// What all levels of the factor link with. BOLT can move functions only if the linker keeps the relocations, and no linker does so
/// with `-s`: the last such word wins, and debugging information would not be true of the rewritten program anyway.
pub(crate) const LINKED_WITH: [&str; 2] = ["-Wl,--emit-relocs", "-Wl,--strip-debug"];

/// What BOLT's README recommends for any program, in LLVM 22: it puts blocks that follow each other next to each other, functions
/// that call each other likewise, and apart from both what was never run. Left out is `-dyno-stats`, which only prints.
pub(crate) const WORDS: [&str; 5] =
    ["-reorder-blocks=ext-tsp", "-reorder-functions=cdsort", "-split-functions", "-split-all-cold", "-split-eh"];

/// The instruction `bolt` of a level.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Bolt {
    /// The command that runs what was built.
    pub(crate) training: String,
    /// Files of the prefix that are rewritten: patterns with `*`.
    pub(crate) files: Vec<String>,
}

/// The instruction as a layer is made by it.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) bolt: &'a Bolt,
    /// BOLT, and what adds up the profiles of several processes.
    pub(crate) tools: [String; 2],
    /// The digest of the layer before.
    pub(crate) previous: String,
}

impl<'a> Step<'a> {
    /// With the newest tools that are installed.
    pub(crate) fn new(bolt: &'a Bolt, previous: &str) -> Self {
        let version = newest(&std::env::var_os("PATH").unwrap_or_default());
        let tools = [TOOL, "merge-fdata"].map(|tool| format!("{tool}{version}"));
        Self { bolt, tools, previous: previous.to_owned() }
    }

    /// Adds to the layer's name what no other layer has; the tools are named as all tools are.
    pub(crate) fn name(&self, digest: &mut Digest) {
        digest.field(KEY, self.bolt.training.as_bytes());
        self.bolt.files.iter().for_each(|file| _ = digest.field("rewritten", file.as_bytes()));
        WORDS.iter().for_each(|word| _ = digest.field("word of BOLT", word.as_bytes()));
    }
}

/// What stands behind the names of the newest tools on a search path: `-22`, or nothing.
fn newest(search_path: &OsStr) -> String {
    let folders = std::env::split_paths(search_path).filter_map(|folder| folder.read_dir().ok());
    let names = folders.flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let versions = names.filter_map(|name| name.strip_prefix(TOOL)?.strip_prefix('-')?.parse::<u32>().ok());
    versions.max().map_or_else(String::new, |version| format!("-{version}"))
}

/// Where one of the tools is had from, if the tool is one of them.
pub(crate) fn package_of(tool: &str) -> Option<String> {
    let version = ["llvm-bolt", "merge-fdata"].iter().find_map(|name| tool.strip_prefix(name))?;
    let version = if version.is_empty() { "-22" } else { version };
    Some(format!("LLVM's BOLT (Debian packages bolt{version} and libbolt{version}-dev)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_newest_of_several_tools_is_taken() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let path = std::env::join_paths(folders.iter().map(|folder| folder.path())).unwrap();
        assert_eq!(newest(&path), "");
        for (folder, name) in [(0, "llvm-bolt"), (0, "llvm-bolt-9"), (1, "llvm-bolt-22"), (1, "llvm-bolt-heatmap-23")] {
            fs::write(folders[folder].path().join(name), "").unwrap();
        }
        assert_eq!(newest(&path), "-22");
    }
}
