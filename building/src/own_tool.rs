//! Programs that Bakeoff brings as text and compiles on this machine when they are first needed. Each is built like a layer
//! of a study: confined, logged, and kept under a digest of its text, its script and its tools. No study has it among its
//! builds, so it is never exported.

use crate::error::{At, Error};
use crate::files::write_whole;
use crate::journal::BuildLine;
use crate::nouns::Layer;
use crate::{BuildEvent, Cache, Request};
use bakeoff_model::plan::{BASELINE, Variant};
use std::fs;
use std::sync::atomic::Ordering;

/// Such a program.
#[derive(Debug, Clone, Copy)]
pub struct OwnTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its files, by name.
    pub files: &'a [(&'a str, &'a str)],
    /// The `sh -e` script that installs it into `$PREFIX`.
    pub script: &'a str,
    /// The programs that the script needs.
    pub tools: &'a [&'a str],
}

impl Cache {
    /// Builds the tool if the cache does not have it. It takes no leave to build: who needs a tool holds the machine for
    /// its trials.
    ///
    /// # Errors
    /// If the cache cannot be used. That the script failed is an outcome of the build.
    pub fn own_tool(&self, tool: &OwnTool<'_>) -> Result<Option<BuildLine>, Error> {
        let folder = self.paths.own_tool(tool.name);
        fs::create_dir_all(&folder).at("create the folder", &folder)?;
        for (name, text) in tool.files {
            write_whole(&folder.join(name), text.as_bytes())?;
        }
        let texts = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let layers = [Layer {
            name: tool.name.to_owned(),
            script: tool.script.to_owned(),
            files: tool.files.iter().map(|(name, _)| (*name).to_owned()).collect(),
            tools: texts(tool.tools),
            ..Layer::default()
        }];
        let variants = [Variant { name: BASELINE.to_owned(), ..Variant::default() }];
        let request = Request { layers: &layers, variants: &variants, ..Request::nothing(&folder) };
        let was_quiet = self.quiet.swap(true, Ordering::SeqCst);
        let lines = self.build_all(&request, &|_: BuildEvent| {});
        self.quiet.store(was_quiet, Ordering::SeqCst);
        Ok(lines?.into_iter().next())
    }
}
