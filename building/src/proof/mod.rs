//! Evidence that a finished layer is what its name says: digests of what was installed, and
//! what the study's commands describe. It is written down, beside the layer's record, before the layer is made
//! visible. Nothing here is compared with what the study says: that is the business of the `analysis` crate.

mod binaries;
mod describe;
mod neutral;

use crate::cache::Cache;
use crate::error::{Error, Stop};
use crate::files::{read_json, write_json};
use crate::inputs::Link;
use crate::journal::{BuildLine, BuildOutcome, LinkSeen, Proof};
use crate::nouns::Layer;
use crate::paths::short;
use crate::shell::Shell;
use crate::site::Site;
use crate::wrappers::Compiled;
use crate::{Building, Wanted};
use neutral::Neutral;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// What was seen of one layer. A file of its own, because descriptions are long and records are read often.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct LayerProof {
    /// As [`Proof::binaries`].
    binaries: Option<String>,
    /// As [`Proof::files`].
    files: Option<String>,
    /// Every setting that the layer's commands describe.
    described: BTreeMap<String, String>,
    /// What was given to each source file that it compiled.
    #[serde(default)]
    words: BTreeMap<String, BTreeSet<String>>,
    /// As [`Proof::unseen`].
    #[serde(default)]
    unseen: u64,
    /// As [`Proof::left_before`].
    #[serde(default)]
    left_before: BTreeSet<String>,
    /// As [`Proof::links`].
    #[serde(default)]
    links: Vec<LinkSeen>,
}

/// Looks at a prefix that is complete and verified, and keeps what it sees. The layer's `describe` commands are
/// run like its `verify` lines.
pub(crate) fn observe(
    shell: &mut Shell,
    cache: &Cache,
    layer: &Layer,
    digest: &str,
    site: &Site,
    links: Vec<LinkSeen>,
) -> Result<(), Stop> {
    let neutral = Neutral::of(short(digest));
    let described = describe::settings(shell, &layer.describe, site, &neutral)?;
    let (binaries, files) = binaries::digests(&site.prefix, &neutral)?;
    let Compiled { given, unseen, left_before } = site.around.compiled(&site.work)?;
    let of_file = |words: BTreeSet<String>| words.iter().map(|word| neutral.text(word)).collect();
    let words = given.into_iter().map(|(file, words)| (file, of_file(words))).collect();
    let seen = LayerProof { binaries, files, described, words, unseen, left_before, links };
    Ok(write_json(&cache.paths.proof_of(digest), &seen)?)
}

/// The digest of what is loaded of an ELF file, of the layer of this digest.
pub(crate) fn loaded(content: &[u8], digest: &str) -> String {
    binaries::loaded(content, &Neutral::of(short(digest)))
}

/// The bytes without the digits of that layer's name.
pub(crate) fn without_digits<'b>(content: &'b [u8], digest: &str) -> Cow<'b, [u8]> {
    Neutral::of(short(digest)).bytes(content)
}

/// Adds what is known of a build. A file that is gone or torn says nothing, and so no more is known than if nobody had
/// looked.
pub(crate) fn of_build(cache: &Cache, chain: &[Link<'_, '_>], proof: &mut Proof) -> Result<(), Error> {
    let Some(last) = chain.last() else { return Ok(()) };
    for link in chain {
        let seen: LayerProof = read_json(&cache.paths.proof_of(&link.node.digest)).unwrap_or_default();
        (proof.binaries, proof.files) = (seen.binaries, seen.files);
        proof.described.extend(seen.described);
        proof.words.extend(seen.words);
        proof.links.extend(seen.links);
        if seen.unseen > 0 {
            proof.unseen.insert(link.node.layer.name.clone(), seen.unseen);
        }
        if !seen.left_before.is_empty() {
            proof.left_before.insert(link.node.layer.name.clone(), seen.left_before);
        }
    }
    // From the file system each time, so a study may choose other files without building anything again.
    let patterns: Vec<&str> = chain.iter().flat_map(|link| &link.node.layer.sizes).map(String::as_str).collect();
    let files = Building::files_meant(&cache.prefix_of(&last.node.digest), &patterns)?;
    proof.sizes = files.into_iter().map(|(path, about)| (path, about.len())).collect();
    Ok(())
}

impl Cache {
    /// The seconds that each link of a finished build takes that can be repeated.
    pub(crate) fn links_of(&self, build: &Wanted) -> Vec<f64> {
        let seen = build.layers.iter().filter_map(|layer| read_json::<LayerProof>(&self.paths.proof_of(&layer.digest)));
        seen.flat_map(|seen| seen.links).filter_map(|link| link.repeated.same_in_s()).collect()
    }

    /// The names of what is not the same in two finished builds: what is only in one of them, and files that differ in what
    /// counts. None, if some file may not be read.
    pub(crate) fn differences(&self, [one, other]: [&str; 2]) -> Result<Option<Vec<PathBuf>>, Error> {
        let files = |digest: &str| binaries::by_name(&self.prefix_of(digest), &Neutral::of(short(digest)));
        let (Some(one), Some(other)) = (files(one)?, files(other)?) else { return Ok(None) };
        let differs = |name: &&Vec<u8>| one.get(*name) != other.get(*name);
        let names: BTreeSet<&Vec<u8>> = one.keys().chain(other.keys()).filter(differs).collect();
        Ok(Some(names.into_iter().map(|name| PathBuf::from(OsStr::from_bytes(name))).collect()))
    }
}

/// Keeps of every description the settings in which the finished builds differ, and of every source file that all of them
/// compiled the words.
pub(crate) fn keep_differences(lines: &mut [BuildLine]) {
    let mut finished: Vec<&mut BuildLine> =
        lines.iter_mut().filter(|line| line.outcome == BuildOutcome::Built).collect();
    let Some(first) = finished.first().map(|line| line.proof.described.clone()) else { return };
    let same =
        |name: &String, value: &String| finished.iter().all(|line| line.proof.described.get(name) == Some(value));
    let common: Vec<String> =
        first.iter().filter(|(name, value)| same(name, value)).map(|(name, _)| name.clone()).collect();
    for line in &mut finished {
        common.iter().for_each(|name| drop(line.proof.described.remove(name)));
    }
    keep_differing_words(&mut finished);
}

/// Of more source files than this whose words differ, the rest is left out.
const MOST_FILES: usize = 400;

fn keep_differing_words(finished: &mut [&mut BuildLine]) {
    let Some(first) = finished.first().map(|line| line.proof.words.clone()) else { return };
    let mut kept = BTreeSet::new();
    for (file, words) in first {
        let others: Vec<&BTreeSet<String>> = finished.iter().filter_map(|line| line.proof.words.get(&file)).collect();
        let is_same = others.iter().all(|other| **other == words);
        if others.len() < finished.len() || is_same || kept.len() == MOST_FILES {
            continue;
        }
        let is_common = |word: &&String| others.iter().all(|other| other.contains(*word));
        let common: Vec<String> = words.iter().filter(is_common).cloned().collect();
        for line in finished.iter_mut() {
            let words = line.proof.words.entry(file.clone()).or_default();
            words.retain(|word| !common.contains(word));
        }
        kept.insert(file);
    }
    for line in finished {
        line.proof.words.retain(|file, words| kept.contains(file) && !words.is_empty());
    }
}
