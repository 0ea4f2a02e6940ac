//! What the builds of a study are, which of them the cache holds, and what the others will cost. It builds nothing.

use crate::cache::{Cache, Usual};
use crate::error::Error;
use crate::foreseen;
use crate::inputs::{Link, MissingTool, chains, missing_tool, stages};
use crate::request::Request;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One build that a study needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Digest of everything that goes in: the digest of its last layer.
    pub digest: String,
    /// Where it is, or will be, installed.
    pub prefix: PathBuf,
    /// Display names of the variants that run it.
    pub variants: Vec<String>,
    /// Its layers, first one first.
    pub layers: Vec<WantedLayer>,
    /// The first tool that it needs and that is not there: it cannot be built.
    pub missing_tool: Option<MissingTool>,
    /// The layer that failed before, as the study foresees: it is not tried again.
    pub failed_before: Option<String>,
}

impl Wanted {
    /// The layers that are still to be built.
    pub fn missing(&self) -> impl Iterator<Item = &WantedLayer> {
        self.layers.iter().filter(|layer| self.failed_before.is_none() && !layer.cached)
    }
}

/// One layer of a build.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedLayer {
    /// Its name in the study.
    pub name: String,
    /// Digest of everything that goes in.
    pub digest: String,
    /// True if nothing has to be done.
    pub cached: bool,
    /// About how long its script takes, in seconds: of a cached one, as long as it took; else the mean of the layers of
    /// this name that the cache holds, else what the study's author says.
    pub expected_wall_s: Option<f64>,
    /// About how much of the disk it keeps, in bytes; known from where the time is known from.
    pub expected_bytes: Option<f64>,
    /// The source that it takes, if it takes one.
    pub source: Option<WantedSource>,
}

/// A source of a layer.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedSource {
    /// Its name in the study.
    pub name: String,
    /// True if the cache has it; whether it is still what was accepted is seen when it is used.
    pub cached: bool,
    /// About how much is fetched, in bytes, as the study's author says.
    pub expected_bytes: Option<u64>,
}

impl Cache {
    /// The builds that a request amounts to, in the order of the first variants, and what the cache holds of them. Nothing
    /// is started but tools, which are asked for their versions.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn survey(&self, request: &Request<'_>) -> Result<Vec<Wanted>, Error> {
        let stages = stages(self, request)?;
        let survey = Survey { cache: self, request, usual: OnceCell::new() };
        Ok(chains(&stages).iter().filter_map(|chain| survey.wanted(chain)).collect())
    }
}

/// A survey that is under way.
struct Survey<'s> {
    cache: &'s Cache,
    request: &'s Request<'s>,
    usual: OnceCell<BTreeMap<String, Usual>>,
}

impl Survey<'_> {
    /// None if the chain has no layers, and so is no build.
    fn wanted(&self, chain: &[Link<'_, '_>]) -> Option<Wanted> {
        let last = chain.last()?.node;
        let variants = self.request.variants;
        let failed = chain.iter().find(|link| foreseen::remembered(self.cache, link.node, variants).is_some());
        Some(Wanted {
            digest: last.digest.clone(),
            prefix: self.cache.prefix_of(&last.digest),
            variants: last.ends.clone(),
            layers: chain.iter().map(|link| self.layer(link)).collect(),
            missing_tool: missing_tool(chain),
            failed_before: failed.map(|link| link.node.layer.name.clone()),
        })
    }

    fn layer(&self, link: &Link<'_, '_>) -> WantedLayer {
        let Link { node, .. } = link;
        let (layer, record) = (node.layer, node.finished(self.cache));
        // The records of a whole cache are read only if it has to be guessed.
        let (expected_wall_s, expected_bytes) = match &record {
            Some(record) => (record.cost.get("wall").copied(), Some(record.bytes() as f64)),
            None => match self.usual.get_or_init(|| self.cache.usual()).get(&layer.name) {
                Some(usual) => (Some(usual.wall_s), Some(usual.bytes)),
                None => (layer.takes_s, layer.disk_bytes.map(|bytes| bytes as f64)),
            },
        };
        let source = node.source.zip(node.source_pin.as_deref()).map(|(index, pin)| WantedSource {
            name: self.request.sources[index].name.clone(),
            cached: self.cache.paths.source_folder(pin).is_dir(),
            expected_bytes: self.request.sources[index].disk_bytes,
        });
        let (name, digest) = (layer.name.clone(), node.digest.clone());
        WantedLayer { name, digest, cached: record.is_some(), expected_wall_s, expected_bytes, source }
    }
}
