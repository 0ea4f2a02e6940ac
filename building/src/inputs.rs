//! What goes into a layer, and the digest that names it. It reads the study's files and those of tools;
//! it builds nothing.
//!
//! The layers of a study are one chain, and all of them install into one `$PREFIX`: layer 2 begins with what layer 1
//! installed. A digest covers the digest of the layer before it, the SHA-256 of the source, the script, the `verify`
//! lines, its patches, the study's files that it takes, its tools with the sums of their files, and *those level
//! variables that it mentions* ([`Layer::mentions`]), what its levels append to every call of a compiler, and the
//! command that makes its profile. No other level variable is passed to it either. So variants that differ in nothing a
//! layer mentions share that layer, and what a layer is not named by cannot reach it.

use crate::bolt::{self, Step};
use crate::cache::{Cache, LayerRecord};
use crate::error::Error;
use crate::files::sha256_of;
use crate::nouns::Layer;
use crate::request::Request;
use crate::spec::{NOTHING, Spec};
use crate::tools::program_of;
use crate::tuning::{Tuning, cxx_of};
use crate::{sources, tools};
use bakeoff_model::digest::Digest;
use bakeoff_model::plan::Variant;
use bakeoff_model::record;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, PoisonError};

/// The version of this scheme of naming. A change of what a build sees must change it.
const SCHEME: &str = "3";

/// A file of the study's folder, as it was when it was read for the digest.
#[derive(Clone)]
pub(crate) struct StudyFile<'a> {
    /// Its path, relative to the study's folder.
    pub(crate) name: &'a str,
    pub(crate) content: Vec<u8>,
    pub(crate) executable: bool,
}

/// A layer as some of the variants need it.
pub(crate) struct Node<'a> {
    pub(crate) layer: &'a Layer,
    /// The files of the layer.
    pub(crate) files: Arc<[StudyFile<'a>]>,
    pub(crate) digest: String,
    /// The node that it is built upon, in the stage before.
    pub(crate) parent: Option<usize>,
    /// The place of its source in the request's list.
    pub(crate) source: Option<usize>,
    /// The SHA-256 of that source.
    pub(crate) source_pin: Option<String>,
    /// The patches of its source, in the order in which they are applied.
    pub(crate) patches: Vec<StudyFile<'a>>,
    /// The level variables that it mentions.
    pub(crate) variables: BTreeMap<&'a str, &'a str>,
    /// What changes in every call of a compiler.
    pub(crate) tuning: &'a Tuning,
    /// Path and SHA-256 of its tools.
    pub(crate) tools: BTreeMap<String, String>,
    /// The first tool that it needs and that is not there.
    pub(crate) missing_tool: Option<String>,
    /// Display names of the variants that need it, in their order.
    pub(crate) variants: Vec<String>,
    /// Those of them that nothing more is built for.
    pub(crate) ends: Vec<String>,
    /// What BOLT does in it, if it is made by BOLT.
    pub(crate) bolt: Option<Step<'a>>,
}

impl Node<'_> {
    /// The command by whose profile the layer is built, if it is.
    pub(crate) fn training(&self) -> Option<&str> {
        self.tuning.training.get(&self.layer.name).map(String::as_str)
    }

    /// The record of the layer if it is finished; what is kept of it besides is there too.
    pub(crate) fn finished(&self, cache: &Cache) -> Option<LayerRecord> {
        let has_tree = !self.layer.leaves_tree() || cache.paths.tree_of(&self.digest).is_dir();
        let has_profile = self.training().is_none() || cache.paths.profile_of(&self.digest).is_dir();
        let has_links = |record: &LayerRecord| !record.has_links || cache.paths.links_of(&self.digest).is_dir();
        cache.finished(&self.digest).filter(|record| has_tree && has_profile && has_links(record))
    }

    /// Its tools as people know them, versions included. They are run; so only somebody who builds may ask.
    pub(crate) fn tools_with_versions(&self, cache: &Cache) -> Result<BTreeMap<String, String>, Error> {
        let known = |(name, identity): (&String, &String)| {
            let known = tools::identity(cache, name, true)?;
            Ok((name.clone(), known.unwrap_or_else(|| identity.clone())))
        };
        self.tools.iter().map(known).collect()
    }
}

/// One layer, and one node for every different build of it, in the order of the first variants.
pub(crate) struct Stage<'a> {
    pub(crate) layer: &'a Layer,
    pub(crate) nodes: Vec<Node<'a>>,
}

/// A node: its stage, and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodePlace {
    pub(crate) stage: usize,
    pub(crate) node: usize,
}

/// A tool that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTool {
    /// The layer that needs it.
    pub layer: String,
    /// The tool's name.
    pub tool: String,
}

impl MissingTool {
    /// What is wrong, and the remedy, in words.
    pub fn why(&self) -> String {
        let tool = &self.tool;
        if let Some(package) = bolt::package_of(tool) {
            format!("needs `{tool}`, which is not on PATH; install {package}")
        } else if tool.starts_with('/') {
            format!("needs `{tool}`, which is not an executable file; install it, or correct the path in the study")
        } else {
            format!("needs `{tool}`, which is not on PATH; install it, or add its folder to PATH")
        }
    }
}

/// The stages of a request, first layer first.
pub(crate) fn stages<'a>(cache: &Cache, request: &Request<'a>) -> Result<Vec<Stage<'a>>, Error> {
    // Paths are looked at again from now on.
    cache.pins.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let once = Once::new(cache, request);
    let mut stages: Vec<Stage<'a>> = vec![];
    // For each variant, its last node: stage and place.
    let mut last: Vec<Option<(usize, usize)>> = vec![None; request.variants.len()];
    for layer in request.layers {
        let files = layer.files.iter().map(|file| read_study_file(request.study_dir, layer, file));
        let files: Arc<[StudyFile<'a>]> = files.collect::<Result<_, _>>()?;
        let mut nodes: Vec<Node<'a>> = vec![];
        let needs = |variant: &Variant| !layer.rewrites || Spec::of(variant).tuning.bolt.is_some();
        for (variant, last) in request.variants.iter().zip(&mut last).filter(|(variant, _)| needs(variant)) {
            let previous = last.map(|(stage, place)| stages[stage].nodes[place].digest.as_str());
            let mut node = once.node(layer, &files, variant, previous)?;
            let same = nodes.iter().position(|known| known.digest == node.digest);
            let place = same.unwrap_or_else(|| {
                node.parent = last.map(|(_, place)| place);
                nodes.push(node);
                nodes.len() - 1
            });
            nodes[place].variants.push(variant.name.clone());
            *last = Some((stages.len(), place));
        }
        stages.push(Stage { layer, nodes });
    }
    for (variant, (stage, place)) in request.variants.iter().zip(last).filter_map(|(v, last)| Some((v, last?))) {
        stages[stage].nodes[place].ends.push(variant.name.clone());
    }
    Ok(stages)
}

/// What is looked up once, however many variants need it.
struct Once<'r, 'a> {
    cache: &'r Cache,
    request: &'r Request<'a>,
    place: record::Place,
    /// By name, as some layer needed it.
    patches: RefCell<BTreeMap<&'a str, StudyFile<'a>>>,
}

/// One layer of a build.
pub(crate) struct Link<'s, 'a> {
    /// The place of the node in its stage.
    pub(crate) place: usize,
    pub(crate) node: &'s Node<'a>,
}

/// The builds that the stages amount to, each with its layers, first one first; in the order of the first variants,
/// those that BOLT rewrites after the others.
pub(crate) fn chains<'s, 'a>(stages: &'s [Stage<'a>]) -> Vec<Vec<Link<'s, 'a>>> {
    let places =
        stages.iter().enumerate().flat_map(|(number, stage)| (0..stage.nodes.len()).map(move |at| (number, at)));
    let ends = places.filter(|&(number, at)| !stages[number].nodes[at].ends.is_empty());
    ends.map(|(number, at)| chain(&stages[..=number], at)).collect()
}

fn chain<'s, 'a>(stages: &'s [Stage<'a>], end: usize) -> Vec<Link<'s, 'a>> {
    let mut links = vec![];
    let mut next = Some(end);
    for stage in stages.iter().rev() {
        let Some(place) = next else { break };
        let node = &stage.nodes[place];
        links.push(Link { place, node });
        next = node.parent;
    }
    links.reverse();
    links
}

/// The first tool that a build needs and that is not there.
pub(crate) fn missing_tool(chain: &[Link<'_, '_>]) -> Option<MissingTool> {
    let missing = |link: &Link<'_, '_>| Some((link.node.layer.name.clone(), link.node.missing_tool.clone()?));
    chain.iter().find_map(missing).map(|(layer, tool)| MissingTool { layer, tool })
}

/// The place in the request's list of the source that a variant's layer takes, if it takes one.
fn source_of(request: &Request<'_>, layer: &Layer, variant: &Variant) -> Result<Option<usize>, Error> {
    let Some(name) = Spec::of(variant).sources.get(&layer.name).or(layer.source.as_ref()) else { return Ok(None) };
    let unknown = || Error::UnknownSource { layer: layer.name.clone(), name: name.clone() };
    request.sources.iter().position(|source| source.name == *name).ok_or_else(unknown).map(Some)
}

fn read_study_file<'a>(study_dir: &Path, layer: &Layer, name: &'a str) -> Result<StudyFile<'a>, Error> {
    let refuse = |why: String| Error::StudyFile { layer: layer.name.clone(), file: name.to_owned(), why };
    let unreadable = |e: std::io::Error| refuse(format!("cannot be read from the study's folder: {e}"));
    let home = fs::canonicalize(study_dir).map_err(unreadable)?;
    let path = fs::canonicalize(home.join(name)).map_err(unreadable)?;
    if !path.starts_with(&home) || Path::new(name).is_absolute() || name.split('/').any(|part| part == "..") {
        return Err(refuse(
            "is not in the study's folder; copy it there, and give its path relative to that folder".to_owned(),
        ));
    }
    let meta = fs::metadata(&path).map_err(unreadable)?;
    if !meta.is_file() {
        return Err(refuse("is not a regular file; list individual files instead".to_owned()));
    }
    let content = bakeoff_host::disk::read_file(&path, u64::MAX).map_err(unreadable)?;
    Ok(StudyFile { name, content, executable: meta.permissions().mode() & 0o111 != 0 })
}

/// What a layer runs.
fn commands(digest: &mut Digest, layer: &Layer) {
    digest.field("script", layer.script.as_bytes());
    // Its tree is kept then; and trials that relink it are comparable only if they do so by the same script.
    if let Some(relink) = &layer.relink {
        digest.field("relink", relink.as_bytes());
    }
    for line in &layer.verify {
        digest.field("verify", line.as_bytes());
    }
    for line in &layer.describe {
        digest.field("describe", line.as_bytes());
    }
}

/// Whether the build may be one for this processor.
fn says_native(layer: &Layer, variables: &BTreeMap<&str, &str>, tuning: &Tuning) -> bool {
    let appended = tuning.words().into_iter().flat_map(|(_, words)| words).map(String::as_str);
    let mut texts = variables.values().copied().chain(appended).chain([layer.script.as_str()]);
    texts.any(|text| text.contains("native"))
}

impl<'r, 'a> Once<'r, 'a> {
    fn new(cache: &'r Cache, request: &'r Request<'a>) -> Self {
        // Headers and libraries come with the system; its name and release stand for them.
        let place = bakeoff_host::place::fingerprint();
        Self { cache, request, place, patches: RefCell::default() }
    }

    /// The node of one variant; who else needs it, and its place in the chain, is not known yet.
    fn node(
        &self,
        layer: &'a Layer,
        files: &Arc<[StudyFile<'a>]>,
        variant: &'a Variant,
        previous: Option<&str>,
    ) -> Result<Node<'a>, Error> {
        let source = source_of(self.request, layer, variant)?;
        let spec = Spec::of(variant);
        let patches = layer.patches.iter().chain(spec.patches.get(&layer.name).into_iter().flatten());
        let patches: Vec<StudyFile<'a>> = patches.map(|file| self.patch(layer, file)).collect::<Result<_, _>>()?;
        let mentions = |name: &str| layer.mentions(name) || spec.tuning.mentions(&layer.name, name);
        let mentioned = spec.variables.iter().filter(|(name, _)| mentions(name));
        let variables: BTreeMap<&str, &str> = mentioned.map(|(name, value)| (name.as_str(), value.as_str())).collect();

        let patch = (!patches.is_empty()).then_some("patch");
        let compiler_cache = layer.compiler_cache.map(program_of);
        let tuning = if layer.compiles_nothing { &NOTHING.tuning } else { &spec.tuning };
        let bolt = spec.tuning.bolt.as_ref().filter(|_| layer.rewrites);
        let bolt = bolt.map(|bolt| Step::new(bolt, previous.unwrap_or_default()));
        let added = patch.into_iter().chain(compiler_cache).chain(tuning.compiler.as_deref());
        let added = added.chain(bolt.iter().flat_map(|step| step.tools.iter().map(String::as_str)));
        let (tools, missing_tool) =
            self.identified(tools::tools_of(&layer.tools, &variables).into_iter().chain(added))?;

        let mut digest = Digest::of("layer");
        digest.field("scheme", SCHEME.as_bytes()).field("machine", std::env::consts::ARCH.as_bytes());
        digest.field("system", self.place.os.as_bytes());
        if says_native(layer, &variables, tuning) {
            digest.field("processor", self.place.cpu.as_bytes());
        }
        digest.field("previous", previous.unwrap_or_default().as_bytes());
        let source_pin = source.map(|at| self.pin(at)).transpose()?;
        if let Some((source, pin)) = source.zip(source_pin.as_ref()) {
            digest.field("source", pin.as_bytes());
            if !self.request.sources[source].unpack {
                digest.field("unpack", b"no");
            }
        }
        patches.iter().for_each(|patch| _ = digest.field("patch", &patch.content));
        commands(&mut digest, layer);
        for file in &**files {
            digest.field("file", file.name.as_bytes()).field("content", &file.content);
            digest.field("executable", &[u8::from(file.executable)]);
        }
        for (name, value) in &variables {
            digest.field("variable", name.as_bytes()).field("value", value.as_bytes());
        }
        self.tuned(&mut digest, layer, tuning)?;
        bolt.iter().for_each(|bolt| bolt.name(&mut digest));
        for (name, identity) in &tools {
            digest.field("tool", name.as_bytes()).field("identity", identity.as_bytes());
        }
        // It changes paths in what is built, and what it cost means something else.
        if let Some(compiler_cache) = compiler_cache {
            digest.field("compiler cache", compiler_cache.as_bytes());
        }
        // What was seen of them is part of the record.
        for name in &layer.flags {
            digest.field("flags", name.as_bytes());
        }
        if let Some(tool) = &missing_tool {
            digest.field("missing tool", tool.as_bytes());
        }
        Ok(Node {
            layer,
            files: Arc::clone(files),
            digest: digest.hex(),
            parent: None,
            source,
            source_pin,
            patches,
            variables,
            tuning,
            tools,
            missing_tool,
            variants: vec![],
            ends: vec![],
            bolt,
        })
    }

    /// The identities of tools, and the first that is not there.
    fn identified<'t>(
        &self,
        names: impl Iterator<Item = &'t str>,
    ) -> Result<(BTreeMap<String, String>, Option<String>), Error> {
        let (mut tools, mut missing) = (BTreeMap::new(), None);
        for tool in names {
            match tools::identity(self.cache, tool, false)? {
                Some(identity) => drop(tools.insert(tool.to_owned(), identity)),
                None => missing = missing.or(Some(tool.to_owned())),
            }
        }
        Ok((tools, missing))
    }

    /// What changes in every call of a compiler. Where nothing does, a digest is what it always was.
    fn tuned(&self, digest: &mut Digest, layer: &Layer, tuning: &Tuning) -> Result<(), Error> {
        if layer.script.contains("cargo") {
            for file in tools::configurations_of_cargo(self.cache) {
                digest.field("cargo's configuration", sha256_of(&file)?.0.as_bytes());
            }
        }
        if let Some(command) = tuning.training.get(&layer.name) {
            digest.field("profile", command.as_bytes());
        }
        for (key, words) in tuning.words() {
            for word in words {
                digest.field(key, word.as_bytes());
            }
        }
        // The compiler is one of the tools. A project may need none for C++, so that this one need not be there.
        if let Some(compiler) = &tuning.compiler {
            let cxx = cxx_of(compiler).unwrap_or_default();
            let identity = tools::identity(self.cache, &cxx, false)?;
            digest.field("compiler", compiler.as_bytes());
            digest.field("compiler of C++", identity.unwrap_or_default().as_bytes());
        }
        Ok(())
    }

    fn patch(&self, layer: &Layer, name: &'a str) -> Result<StudyFile<'a>, Error> {
        if let Some(patch) = self.patches.borrow().get(name) {
            return Ok(patch.clone());
        }
        let patch = read_study_file(self.request.study_dir, layer, name)?;
        check_patch(&patch.content).map_err(|why| Error::StudyFile {
            layer: layer.name.clone(),
            file: name.to_owned(),
            why,
        })?;
        self.patches.borrow_mut().insert(name, patch.clone());
        Ok(patch)
    }

    fn pin(&self, source: usize) -> Result<String, Error> {
        sources::pin(self.cache, self.request, &self.request.sources[source])
    }
}

/// Whether a file can be a patch: it holds at least one hunk of a unified diff, or what git says of a file that is only
/// renamed, copied, made or removed. If not, why not.
fn check_patch(content: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(content);
    let git = ["rename from ", "copy from ", "new file mode ", "deleted file mode ", "old mode "];
    let means_something =
        |line: &str| line.starts_with("@@ -") || git.iter().any(|beginning| line.starts_with(beginning));
    if text.lines().any(means_something) {
        return Ok(());
    }
    let what = if text.trim().is_empty() { "is empty" } else { "is not a patch" };
    Err(format!("{what}; create a unified diff with `diff -Naur OLD NEW` or `git diff`"))
}

#[cfg(test)]
mod tests {
    use super::check_patch;

    #[test]
    fn what_is_no_patch_is_told_from_one() {
        let check = |content: &str, expect: Option<&str>| {
            let why = check_patch(content.as_bytes()).err();
            assert_eq!(why.as_deref().map(|why| why.split(';').next().unwrap()), expect, "{content}");
        };
        check("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", None);
        check("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", None);
        check(" \n", Some("is empty"));
        check("1c\nb\n.\n", Some("is not a patch"));
        check("*** a/x\n--- b/x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n", Some("is not a patch"));
    }
}
