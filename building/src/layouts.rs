//! Matched layouts: the programs of all variants linked again from recorded objects, with pads between them that put the
//! same object at the same random address in every variant. One seed makes one layout of all of them. Where nothing of a
//! build was recorded, it has no layouts. When layouts are made is not known here. Go's linker puts functions into a random
//! order instead, and such layouts do not match. Nor do those of programs that are compiled when they are linked: what one source
//! became is no object of its own.
//!
//! A layout of a build is its prefix, relocated to another name of equal length, with other files in the place of those
//! that were linked again.

mod pads;
mod parts;

use crate::cache::Cache;
use crate::error::{At, Error, Stop};
use crate::files::{fresh_folder, wipe};
use crate::inputs::{Link, Stage, chains};
use crate::links::go;
use crate::links::recorded::{self, Recorded, Word, plain_words};
use crate::paths::short;
use crate::proof::loaded;
use crate::relocate::{relocate, relocated_copy};
use crate::shell::Shell;
use bakeoff_model::digest::Digest;
use bakeoff_model::record::UNMATCHED;
use parts::Part;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A build, and what of it can be linked again.
#[derive(Debug)]
pub(crate) struct Build {
    /// Its digest.
    pub(crate) digest: String,
    /// The variants that run it.
    pub(crate) variants: Vec<String>,
    files: BTreeMap<String, File>,
}

/// A file of a build that can be linked again.
#[derive(Debug)]
struct File {
    recorded: Recorded,
    /// Where the copies of what it loads are.
    copies: PathBuf,
    /// The digest of the layer that made it: its name is in the file.
    layer: String,
    parts: Vec<Part>,
}

/// The builds of a study, the baseline's first.
pub(crate) fn builds(cache: &Cache, stages: &[Stage<'_>]) -> Result<Vec<Build>, Error> {
    let chains = chains(stages);
    let mut builds = chains.iter().map(|chain| build(cache, chain)).collect::<Result<Vec<_>, _>>()?;
    builds.retain(|build| !build.variants.is_empty());
    Ok(builds)
}

fn build(cache: &Cache, chain: &[Link<'_, '_>]) -> Result<Build, Error> {
    let Some(last) = chain.last() else {
        return Ok(Build { digest: String::new(), variants: vec![], files: BTreeMap::new() });
    };
    let (digest, prefix) = (last.node.digest.clone(), cache.prefix_of(&last.node.digest));
    let mut files = BTreeMap::new();
    for link in chain {
        let copies = cache.paths.links_of(&link.node.digest);
        for recorded in Recorded::all(&copies).unwrap_or_default() {
            // A later layer may have put something else there.
            let Ok(content) = fs::read(prefix.join(&recorded.file)) else { continue };
            if loaded(&content, &digest) == recorded.loaded {
                let parts = parts::of(&recorded, &copies, &link.node.digest)?;
                let layer = link.node.digest.clone();
                files.insert(recorded.file.clone(), File { recorded, copies: copies.clone(), layer, parts });
            }
        }
    }
    Ok(Build { digest, variants: last.node.ends.clone(), files })
}

/// Where a layout of a build is made.
pub(crate) struct Place<'p> {
    pub(crate) cache: &'p Cache,
    /// Its name, like that of a layer.
    pub(crate) name: &'p str,
    pub(crate) shell: &'p mut Shell,
}

/// Makes the layout of a seed of one of the builds: its prefix, and a digest of what was linked.
pub(crate) fn make(
    place: &mut Place<'_>,
    builds: &[Build],
    number: usize,
    seed: u32,
) -> Result<(PathBuf, String), Stop> {
    let (cache, build) = (place.cache, &builds[number]);
    let (prefix, work) = (cache.prefix_of(place.name), cache.paths.work_of(place.name));
    relocated_copy(&cache.prefix_of(&build.digest), &prefix)?;
    let mut digest = Digest::of("layout");
    for (name, file) in &build.files {
        let all: Vec<Option<&[Part]>> =
            builds.iter().map(|build| build.files.get(name).map(|file| file.parts.as_slice())).collect();
        let table = pads::table(&all, seed);
        let order = pads::order(&all);
        let folder = work.join("pads");
        fresh_folder(&folder)?;
        let mut words = padded(file, &order, &table[number], &folder)?;
        let into = work.join("linked");
        let dir = if file.recorded.go.is_some() { &file.copies } else { &work };
        // The linker of Go takes no seed of 0.
        words.splice(0..0, file.recorded.go.iter().map(|_| format!("{}={}", go::SEED, u64::from(seed) + 1)));
        let ended = file.recorded.link(words, [&into, Path::new("")], place.shell, dir)?;
        if let Some(why) = place.shell.complaint(&ended.end) {
            return Err(place.shell.failure(format!("the link of {name} {why}"), &work)?.into());
        }
        let mut content = fs::read(&into).at("read", &into)?;
        wipe(&into)?;
        if let Some(replaced) = &file.recorded.replaced
            && !recorded::replace(&mut content, replaced)
        {
            let why = format!("{name} was linked again, but no longer has the string '{}'", replaced[0]);
            return Err(place.shell.failure(why, &work)?.into());
        }
        file.recorded.go.iter().for_each(|go| go.finish(&mut content));
        relocate(&mut content, short(&file.layer), place.name);
        digest.field("file", name.as_bytes()).field("loaded", loaded(&content, place.name).as_bytes());
        replace(&prefix.join(name), &content)?;
    }
    wipe(&work)?;
    let is_unmatched = |file: &File| file.recorded.go.is_some() || file.recorded.optimised;
    let mark = if build.files.values().any(is_unmatched) { UNMATCHED } else { "" };
    Ok((prefix, format!("{mark}{}", &digest.hex()[..SHOWN])))
}

/// Performs the links of a build as they were recorded.
///
/// # Errors
/// One of them does not make what was installed.
pub(crate) fn check(place: &mut Place<'_>, build: &Build) -> Result<(), Stop> {
    let work = place.cache.paths.work_of(place.name);
    // What a link has compiled is not the same to the byte.
    for (name, file) in build.files.iter().filter(|(_, file)| !file.recorded.optimised) {
        let into = work.join("linked");
        let dir = if file.recorded.go.is_some() { &file.copies } else { &work };
        let words = plain_words(&file.recorded.words, &file.copies);
        let ended = file.recorded.link(words, [&into, Path::new("")], place.shell, dir)?;
        let mut content = match place.shell.complaint(&ended.end) {
            Some(why) => return Err(place.shell.failure(format!("the link of {name} {why}"), &work)?.into()),
            None => fs::read(&into).at("read", &into)?,
        };
        wipe(&into)?;
        file.recorded.replaced.iter().for_each(|replaced| _ = recorded::replace(&mut content, replaced));
        file.recorded.go.iter().for_each(|go| go.finish(&mut content));
        if loaded(&content, &file.layer) != file.recorded.loaded {
            return Err(Error::OtherLink { file: name.clone() }.into());
        }
    }
    Ok(())
}

/// How many digits of a digest the journal has.
const SHOWN: usize = 16;

/// Puts content in the place of a file, with its permissions. Not into the file, which may have other names.
fn replace(path: &Path, content: &[u8]) -> Result<(), Error> {
    let mode = fs::metadata(path).at("inspect", path)?.permissions().mode();
    wipe(path)?;
    fs::write(path, content).at("write", path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).at("set the permissions of", path)
}

/// The words of a link with a pad in front of each object and one behind the last; the objects are in that order.
fn padded(
    file: &File,
    order: &[String],
    pads: &BTreeMap<String, pads::Sizes>,
    folder: &Path,
) -> Result<Vec<String>, Error> {
    let place = |name: &str| order.iter().position(|known| known == name);
    let mut parts: Vec<&Part> = file.parts.iter().collect();
    if !parts::order_matters(&file.parts) {
        parts.sort_by_key(|part| place(&part.name));
    }
    let mut parts = parts.into_iter().enumerate();
    let first = file.parts.first();
    let count = file.parts.len();
    let pad = |name: &str, number: usize| -> Result<Word, Error> {
        let sizes = pads.get(name).copied().unwrap_or_default();
        let path = folder.join(format!("{number}.o"));
        let content = pads::object(first, sizes, number == 0);
        fs::write(&path, content).at("write", &path)?;
        Ok(Word::Text(path.display().to_string()))
    };
    let mut words = vec![];
    for word in &file.recorded.words {
        let Word::Part { .. } = word else {
            words.push(word.clone());
            continue;
        };
        let Some((number, part)) = parts.next() else { continue };
        words.push(pad(&part.name, number)?);
        words.push(Word::Part { name: part.name.clone(), copy: part.copy.clone() });
        if number + 1 == count {
            words.push(pad(pads::END, count)?);
        }
    }
    Ok(plain_words(&words, &file.copies))
}
