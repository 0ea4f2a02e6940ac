//! What is built on demand, for one pass or one trial, and never becomes a part of the cache: *layouts*, each a build that
//! was relinked in a random order, and the trees in which building itself is measured. Their prefixes and trees have
//! names like those of layers, because only so can what was built be relocated to them; they have no record, and so are
//! no finished layers.
//!
//! ```text
//! aside/<name>   says that there is, or was about to be, such a prefix or tree; it is there before them, and goes last
//! ```
//!
//! A process that is killed leaves these notes, by which the next one removes the rest.

use crate::error::{At, Failure};
use crate::files::{entries, folder_bytes, wipe};
use crate::inputs::{Link, Node, Stage, chains, stages};
use crate::layer::{Builder, begin_prefix, lay_out, make, script, verify};
use crate::paths::PROFILE;
use crate::profile::Profile;
use crate::relocate::{relocated_copy, relocated_copy_of};
use crate::shell::{Environment, Shell, Stop};
use crate::site::Site;
use crate::sources::Sources;
use crate::wrapper::{LOG, SEED};
use crate::wrappers::Between;
use crate::{BuildEvent, Cache, Error, Request, tools_seen};
use bakeoff_host::lock::Lock;
use bakeoff_model::digest::Digest;
use std::fs::{self, File};
use std::path::PathBuf;

/// The name of the lock that a builder on demand holds.
const LOCK: &str = "aside";

/// A builder on demand: one process of a cache at a time.
pub(crate) struct OnDemand<'a> {
    builder: Builder<'a>,
    stages: Vec<Stage<'a>>,
    lock: Lock,
    /// The layouts that there are.
    layouts: Vec<String>,
    /// What a trial of building is under way with.
    trial: Option<Trial>,
}

/// What is built in one trial of building.
struct Trial {
    name: String,
    /// The places of its stage and node.
    stage: usize,
    site: Site,
    shell: Shell,
}

/// A command that builds, all of whose surroundings are there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Command {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Where it starts.
    pub dir: PathBuf,
    /// Its whole environment.
    pub env: Environment,
    /// Takes what it prints.
    pub log: PathBuf,
    /// It is killed if it takes longer, in seconds.
    pub timeout_s: Option<f64>,
}

/// Why something could not be built on demand.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failed {
    /// The layer.
    pub layer: String,
    /// In one line.
    pub why: String,
    /// The last lines of the log.
    pub tail: Vec<String>,
}

impl Failed {
    fn of(layer: &str, failure: Failure) -> Self {
        Self { layer: layer.to_owned(), why: failure.why, tail: failure.tail }
    }
}

/// Nobody wants to see events of fetching and waiting.
fn nobody(_: BuildEvent) {}

impl<'a> OnDemand<'a> {
    /// Removes what was left of others, and is ready to build upon the finished builds of a request. One process at a time
    /// does so in a cache, on whatever host; `waiting` gets the one that is waited for, if it is known.
    ///
    /// # Errors
    /// Any [`Error`].
    pub(crate) fn open(cache: &'a Cache, request: &Request<'a>, waiting: impl Fn(Option<u32>)) -> Result<Self, Error> {
        let lock = cache.lock(LOCK, waiting)?;
        let folder = cache.paths.aside();
        fs::create_dir_all(&folder).at("make the folder", &folder)?;
        for note in entries(&folder)? {
            remove(cache, &note.file_name().unwrap_or_default().to_string_lossy())?;
        }
        let builder = Builder {
            cache,
            sources: Sources::new(cache, (request.study_dir, request.own), request.sources, &nobody),
            notify: &nobody,
            between: Between::prepare(cache, request.layers, request.variants),
        };
        Ok(Self { builder, stages: stages(cache, request)?, lock, layouts: vec![], trial: None })
    }

    /// Makes a layout of a variant's build: the first layer that can relink its tree does so, or else the last is
    /// built again; those after it are built upon it. Linkers get the objects in an order that `seed` says. `of` tells it
    /// from others of the same build. What came of it is the new prefix, which lasts until [`Self::clear`].
    ///
    /// # Errors
    /// [`Error::NothingPermuted`] if there was nothing whose order could be another; any other [`Error`].
    pub(crate) fn layout(&mut self, variant: &str, of: &str, seed: u32) -> Result<Result<PathBuf, Failed>, Error> {
        let Self { builder, stages, lock, layouts, .. } = self;
        let chains = chains(stages);
        let Some(chain) = chains.iter().find(|chain| is_of(chain, variant)) else {
            return Err(Error::NotBuilt { variant: variant.to_owned() });
        };
        let first = first_linked(chain);
        let (mut previous, mut permuted) = (None, 0);
        for (number, link) in chain.iter().enumerate().skip(first) {
            let name = name(&link.node.digest, &["layout", of, &seed.to_string()]);
            note(builder.cache, &name)?;
            layouts.push(name.clone());
            let kept = link.layer.relink.as_deref().filter(|_| number == first);
            let below = match number.checked_sub(1) {
                _ if number > first => previous.clone(),
                Some(below) => Some(builder.cache.prefix_of(&chain[below].node.digest)),
                None => None,
            };
            let work = Work { builder, stage: &stages[number], node: link.node, name: &name, seed, lock };
            match work.link(kept, below) {
                Ok((prefix, objects)) => {
                    permuted += objects;
                    // What is built upon it has its own copy.
                    if let Some(below) = previous.replace(prefix).filter(|_| number > first) {
                        wipe(&below)?;
                    }
                }
                Err(Stop::Failure(failure)) => return Ok(Err(Failed::of(&link.layer.name, failure))),
                Err(Stop::Error(error)) => return Err(error),
            }
        }
        match previous {
            Some(prefix) if permuted > 0 => Ok(Ok(prefix)),
            _ => {
                let layer = chain.get(first).map(|link| link.layer.name.clone()).unwrap_or_default();
                Err(Error::NothingPermuted { layer, variant: variant.to_owned() })
            }
        }
    }

    /// Removes all layouts.
    ///
    /// # Errors
    /// [`Error::File`].
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        self.layouts.drain(..).try_for_each(|name| remove(self.builder.cache, &name))
    }

    /// Makes all that a trial of building a layer for a variant needs: the tree, and in the prefix what the layer before
    /// installed. [`Self::finish`] follows.
    ///
    /// # Errors
    /// Any [`Error`].
    pub(crate) fn prepare(&mut self, layer: &str, variant: &str) -> Result<Result<Command, Failed>, Error> {
        let stage = self.stages.iter().position(|stage| stage.inputs.layer.name == layer);
        let place = stage.and_then(|stage| place_of(&self.stages[stage], variant));
        let Some((stage, place)) = stage.zip(place) else {
            return Err(Error::NotBuilt { variant: variant.to_owned() });
        };
        match self.begin_trial(stage, place) {
            Ok(trial) => {
                let layer = self.stages[stage].inputs.layer;
                let command = Command {
                    argv: trial.site.around.command(&["sh", "-e", "-c", &layer.script]),
                    dir: trial.site.tree.clone(),
                    env: trial.site.env.clone(),
                    log: trial.site.work.join("printed"),
                    timeout_s: layer.timeout_s,
                };
                self.trial = Some(trial);
                Ok(Ok(command))
            }
            Err(Stop::Failure(failure)) => Ok(Err(Failed::of(layer, failure))),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    fn begin_trial(&mut self, number: usize, place: usize) -> Result<Trial, Stop> {
        let Self { builder, stages, lock, .. } = self;
        let (stage, node) = (&stages[number], &stages[number].nodes[place]);
        let name = name(&node.digest, &["building"]);
        remove(builder.cache, &name)?;
        note(builder.cache, &name)?;
        let source = node.source.map(|index| builder.sources.obtain(index)).transpose()?;
        let (prefix, work) = (builder.cache.prefix_of(&name), builder.cache.paths.work_of(&name));
        let mut site = builder.site(&stage.inputs, node, processors(), prefix, work)?;
        let mut shell = Shell::start(lock, builder.cache.paths.log_of(&name))?;
        let below = number.checked_sub(1).zip(node.parent).map(|(below, place)| &stages[below].nodes[place].digest);
        begin_prefix(below.map(|digest| builder.cache.prefix_of(digest)).as_deref(), &site.prefix)?;
        lay_out(&mut shell, &stage.inputs, node, source.as_deref(), &mut site)?;
        Ok(Trial { name, stage: number, site, shell })
    }

    /// Checks what a trial of building installed, if its command succeeded, and removes it: the size of what was
    /// installed, in bytes.
    ///
    /// # Errors
    /// Any [`Error`].
    pub(crate) fn finish(&mut self, succeeded: bool) -> Result<Result<Option<u64>, Failed>, Error> {
        let Some(mut trial) = self.trial.take() else { return Ok(Ok(None)) };
        let layer = self.stages[trial.stage].inputs.layer;
        let checked = if succeeded { trial.check(&layer.verify).map(Some) } else { Ok(None) };
        remove(self.builder.cache, &trial.name)?;
        match checked {
            Ok(bytes) => Ok(Ok(bytes)),
            Err(Stop::Failure(failure)) => Ok(Err(Failed::of(&layer.name, failure))),
            Err(Stop::Error(error)) => Err(error),
        }
    }
}

impl Drop for OnDemand<'_> {
    /// What cannot be removed now is removed by the next one.
    fn drop(&mut self) {
        let _ = self.clear();
        if let Some(trial) = self.trial.take() {
            let _ = remove(self.builder.cache, &trial.name);
        }
    }
}

impl Trial {
    fn check(&mut self, lines: &[String]) -> Result<u64, Stop> {
        let Self { site, shell, .. } = self;
        if !site.prefix.is_dir() || entries(&site.prefix)?.is_empty() {
            return Err(shell.failure("the script installed nothing into $PREFIX".to_owned(), &site.work)?.into());
        }
        verify(shell, lines, site)?;
        Ok(folder_bytes(&site.prefix)?)
    }
}

/// One layer that is relinked, or built again.
struct Work<'w, 'a> {
    builder: &'w Builder<'a>,
    stage: &'w Stage<'a>,
    node: &'w Node<'a>,
    name: &'w str,
    seed: u32,
    lock: &'w Lock,
}

impl Work<'_, '_> {
    /// Its new prefix, and how many objects were put into another order. `relink` is the script that relinks the kept tree; without
    /// it the script is run upon `below`, the prefix of the layer before.
    fn link(&self, relink: Option<&str>, below: Option<PathBuf>) -> Result<(PathBuf, u64), Stop> {
        let Self { builder, stage, node, name, lock, .. } = self;
        let cache = builder.cache;
        let mut site =
            builder.site(&stage.inputs, node, processors(), cache.prefix_of(name), cache.paths.work_of(name))?;
        let log = site.around.log().to_owned();
        File::create(&log).at("write", &log)?;
        site.env.insert(SEED.to_owned(), self.seed.to_string());
        site.env.insert(LOG.to_owned(), log.display().to_string());
        let mut shell = Shell::start(lock, cache.paths.log_of(name))?;
        shell.timeout_s = stage.inputs.layer.timeout_s;
        shell.note(&format!("layout of layer {}, seed {}", stage.inputs.layer.name, self.seed))?;
        let kept = cache.paths.work_of(&node.digest);
        let profile = node.training(stage.inputs.layer).map(|_| -> Result<_, Error> {
            relocated_copy_of(&kept, &site.work, PROFILE.as_ref())?;
            Ok(Profile::again(&mut site))
        });
        let profile = profile.transpose()?;
        match relink {
            Some(relink) => {
                relocated_copy(&cache.prefix_of(&node.digest), &site.prefix)?;
                relocated_copy_of(&kept, &site.work, "tree".as_ref())?;
                script(&mut shell, relink, &site)?;
            }
            None => {
                let source = node.source.map(|index| builder.sources.obtain(index)).transpose()?;
                begin_prefix(below.as_deref(), &site.prefix)?;
                lay_out(&mut shell, &stage.inputs, node, source.as_deref(), &mut site)?;
                make(&mut shell, cache, stage.inputs.layer, node, &site, below.as_deref())?;
                if let Some(profile) = profile {
                    let of_build = cache.finished(&node.digest).map(|record| record.flags).unwrap_or_default();
                    profile.found(&mut shell, &stage.inputs.layer.name, &site, &of_build)?;
                }
            }
        }
        verify(&mut shell, &stage.inputs.layer.verify, &site)?;
        let permuted = tools_seen::permuted(&log)?;
        wipe(&site.work)?;
        Ok((site.prefix, permuted))
    }
}

/// Nothing else is at work beside it.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The place in a chain of the first layer that can relink its tree, or else of the last that links.
fn first_linked(chain: &[Link<'_, '_>]) -> usize {
    let first = chain.iter().position(|link| link.layer.relink.is_some());
    first.or_else(|| chain.iter().rposition(|link| !link.layer.rewrites)).unwrap_or_default()
}

fn is_of(chain: &[Link<'_, '_>], variant: &str) -> bool {
    chain.last().is_some_and(|link| link.node.ends.iter().any(|name| name == variant))
}

fn place_of(stage: &Stage<'_>, variant: &str) -> Option<usize> {
    stage.nodes.iter().position(|node| node.variants.iter().any(|name| name == variant))
}

/// A name like that of a layer.
fn name(digest: &str, what: &[&str]) -> String {
    let mut name = Digest::of("aside");
    name.field("layer", digest.as_bytes());
    what.iter().for_each(|word| _ = name.field("what", word.as_bytes()));
    name.hex()[..32].to_owned()
}

/// Says that there is about to be something of that name.
fn note(cache: &Cache, name: &str) -> Result<(), Error> {
    let path = cache.paths.aside().join(name);
    fs::write(&path, "").at("write", &path)
}

/// Removes all that there is of a name, and then what says so.
fn remove(cache: &Cache, name: &str) -> Result<(), Error> {
    cache.wipe_layer(name)?;
    let log = cache.paths.log_of(name);
    wipe(&log.with_extension("output"))?;
    wipe(&log)?;
    wipe(&cache.paths.aside().join(name))
}
