//! What is built on demand, for one pass or one trial, and never becomes a part of the cache: *layouts*, each a build that
//! was relinked in a random order, and the trees in which building itself is measured. Their prefixes and trees have
//! names like those of layers, because only so can what was built be relocated to them; they have no record, and so are
//! no finished layers. A process that is killed leaves notes of them, by which the next one removes the rest.

use crate::error::{At, Failure, Stop};
use crate::files::{entries, folder_bytes, fresh_folder, wipe};
use crate::inputs::{Node, Stage, chains, stages};
use crate::layer::{Builder, begin_prefix, lay_out, make, script, verify};
use crate::layouts;
use crate::nouns::Layer;
use crate::paths::{PROFILE, aside_lock, host, host_of};
use crate::profile::Profile;
use crate::relocate::{relocated_copy, relocated_copy_of};
use crate::shell::Shell;
use crate::site::Site;
use crate::sources::Sources;
use crate::wrapper::{LOG, SEED, calls};
use crate::wrappers::Between;
use crate::{BuildEvent, Cache, Error, Request};
use bakeoff_host::Command;
use bakeoff_host::lock::Lock;
use bakeoff_lab::on_demand::{Layout, Prepared};
use bakeoff_model::digest::Digest;
use bakeoff_model::record;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;

/// A builder on demand: one process of a cache at a time on each host.
pub(crate) struct OnDemand<'a> {
    builder: Builder<'a>,
    stages: Vec<Stage<'a>>,
    lock: Lock,
    /// The layouts that there are.
    layouts: Vec<String>,
    /// What can be linked again with pads, once that was asked for.
    builds: Option<Vec<layouts::Build>>,
    /// Those of the present pass that match, by name.
    matched: BTreeMap<String, Layout>,
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

/// Nobody wants to see events of fetching and waiting.
fn nobody(_: BuildEvent) {}

impl<'a> OnDemand<'a> {
    /// Removes what was left of others, and is ready to build upon the finished builds of a request. One process at a time
    /// does so in a cache on this host; `waiting` gets the one that is waited for, if it is known.
    pub(crate) fn open(cache: &'a Cache, request: &Request<'a>, waiting: impl Fn(Option<u32>)) -> Result<Self, Error> {
        let lock = cache.lock(&aside_lock(&host()), waiting)?;
        let folder = cache.paths.aside();
        fs::create_dir_all(&folder).at("create the folder", &folder)?;
        for note in entries(&folder)?.into_iter().filter(|note| host_of(note) == host()) {
            remove(cache, &note.file_name().unwrap_or_default().to_string_lossy())?;
        }
        let builder = Builder {
            cache,
            sources: Sources::new(cache, *request, &nobody),
            notify: &nobody,
            between: Between::prepare(cache, request.layers, request.variants),
        };
        Ok(Self {
            builder,
            stages: stages(cache, request)?,
            lock,
            layouts: vec![],
            builds: None,
            matched: BTreeMap::new(),
            trial: None,
        })
    }

    /// Makes a layout of a variant's build: the first layer that can relink its tree does so, or else the last is
    /// built again; those after it are built upon it. Linkers get the objects in an order that `seed` says. `of` tells it
    /// from others of the same build. What came of it is the new prefix, which lasts until [`Self::clear`]. An error is
    /// also that there was nothing whose order could be another.
    pub(crate) fn layout(&mut self, variant: &str, of: &str, seed: u32) -> Result<PathBuf, Stop<record::Failure>> {
        let Self { builder, stages, lock, layouts, .. } = self;
        let chains = chains(stages);
        let chain = chains.iter().find(|chain| chain.last().is_some_and(|link| has(&link.node.ends, variant)));
        let chain = chain.ok_or_else(|| Error::NotBuilt { variant: variant.to_owned() })?;
        let first = first_linked(chain.iter().map(|link| link.node.layer));
        let (mut previous, mut permuted): (Option<PathBuf>, u64) = (None, 0);
        for (number, link) in chain.iter().enumerate().skip(first) {
            let name = name(&link.node.digest, &["layout", of, &seed.to_string()]);
            note(builder.cache, &name)?;
            layouts.push(name.clone());
            let kept = link.node.layer.relink.as_deref().filter(|_| number == first);
            let built = || Some(builder.cache.prefix_of(&chain[number.checked_sub(1)?].node.digest));
            let below = previous.clone().or_else(built);
            let work = Work { builder, node: link.node, name: &name, seed, lock };
            let linked = work.link(kept, below).map_err(|stop| builder.explain_full_disk(stop, &name));
            let (prefix, objects) = linked.map_err(|stop| failed("layout", &link.node.layer.name, stop))?;
            permuted += objects;
            // What is built upon it has its own copy.
            if let Some(below) = previous.replace(prefix) {
                wipe(&below)?;
            }
        }
        previous.filter(|_| permuted > 0).ok_or_else(|| {
            let layer = chain.get(first).map(|link| link.node.layer.name.clone()).unwrap_or_default();
            Error::NothingPermuted { layer, variant: variant.to_owned() }.into()
        })
    }

    /// Makes the layout of a seed of a variant's build, which matches that of the other variants: its prefix and a digest of
    /// what was linked. They last until [`Self::clear`].
    pub(crate) fn matched(&mut self, variant: &str, seed: u32) -> Result<Layout, Stop<record::Failure>> {
        let Self { builder, stages, lock, layouts, builds, matched, .. } = self;
        let builds = match builds {
            Some(builds) => builds,
            none => {
                let builds = layouts::builds(builder.cache, stages)?;
                check_links(builder.cache, &builds, lock)?;
                none.insert(builds)
            }
        };
        let number = builds.iter().position(|build| has(&build.variants, variant));
        let number = number.ok_or_else(|| Error::NotBuilt { variant: variant.to_owned() })?;
        let name = name(&builds[number].digest, &["matched", &seed.to_string()]);
        if let Some(made) = matched.get(&name) {
            return Ok(made.clone());
        }
        note(builder.cache, &name)?;
        layouts.push(name.clone());
        let made = || -> Result<Layout, Stop> {
            let cache = builder.cache;
            cache.wipe_layer(&name)?;
            fresh_folder(&cache.paths.work_of(&name))?;
            let mut shell = Shell::start(lock, cache.paths.log_of(&name))?;
            let mut place = layouts::Place { cache, name: &name, shell: &mut shell };
            let (prefix, digest) = layouts::make(&mut place, builds, number, seed)?;
            Ok(Layout { prefix, digest: Some(digest) })
        };
        let made = made().map_err(|stop| builder.explain_full_disk(stop, &name));
        let made = made.map_err(|stop| part_failed("layout".to_owned(), stop))?;
        matched.insert(name, made.clone());
        Ok(made)
    }

    /// Removes all layouts.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        self.matched.clear();
        self.layouts.drain(..).try_for_each(|name| remove(self.builder.cache, &name))
    }

    /// Makes all that a trial of building a layer for a variant needs: the tree, and in the prefix what the layer before
    /// installed. [`Self::finish`] follows.
    pub(crate) fn prepare(&mut self, layer: &str, variant: &str) -> Result<Prepared, Stop<record::Failure>> {
        let stage = self.stages.iter().position(|stage| stage.layer.name == layer);
        let nodes = stage.map_or(&[][..], |stage| &self.stages[stage].nodes);
        let place = stage.zip(nodes.iter().position(|node| has(&node.variants, variant)));
        let (stage, node) = place.ok_or_else(|| Error::NotBuilt { variant: variant.to_owned() })?;
        let trial = self.begin_trial(stage, node).map_err(|stop| failed("tree", layer, stop))?;
        let layer = self.stages[stage].layer;
        let log = trial.site.work.join("printed");
        let command = Command {
            argv: trial.site.around.command(&["sh", "-e", "-c", &layer.script]),
            dir: trial.site.tree.clone(),
            env: trial.site.env.clone(),
            stdin: None,
            stdout: log.clone(),
            stderr: log,
        };
        self.trial = Some(trial);
        Ok(Prepared { command, timeout_s: layer.timeout_s })
    }

    fn begin_trial(&mut self, number: usize, place: usize) -> Result<Trial, Stop> {
        let Self { builder, stages, lock, .. } = self;
        let node = &stages[number].nodes[place];
        let name = name(&node.digest, &["building"]);
        remove(builder.cache, &name)?;
        note(builder.cache, &name)?;
        let source = node.source.map(|index| builder.sources.obtain(index)).transpose()?;
        let mut site = builder.site(node, processors(), &name)?;
        let mut shell = Shell::start(lock, builder.cache.paths.log_of(&name))?;
        let below = number.checked_sub(1).zip(node.parent).map(|(below, place)| &stages[below].nodes[place].digest);
        begin_prefix(below.map(|digest| builder.cache.prefix_of(digest)).as_deref(), &site.prefix)?;
        lay_out(&mut shell, node, source.as_deref(), &mut site)?;
        Ok(Trial { name, stage: number, site, shell })
    }

    /// Checks what a trial of building installed, if its command succeeded, and removes it: the size of what was
    /// installed, in bytes.
    pub(crate) fn finish(&mut self, succeeded: bool) -> Result<Option<u64>, Stop<record::Failure>> {
        let Some(mut trial) = self.trial.take() else { return Ok(None) };
        let layer = self.stages[trial.stage].layer;
        let checked = succeeded.then(|| trial.check(&layer.verify)).transpose();
        remove(self.builder.cache, &trial.name)?;
        checked.map_err(|stop| failed("installed files", &layer.name, stop))
    }
}

/// A failure of something on demand, as the journal has it.
fn failed(what: &str, layer: &str, stop: Stop) -> Stop<record::Failure> {
    part_failed(format!("{what} of layer {layer}"), stop)
}

fn part_failed(part: String, stop: Stop) -> Stop<record::Failure> {
    stop.with(|Failure { why, tail, .. }| Stop::Failure(record::Failure::Surroundings { part, why, tail }))
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
    node: &'w Node<'a>,
    name: &'w str,
    seed: u32,
    lock: &'w Lock,
}

impl Work<'_, '_> {
    /// Its new prefix, and how many objects were put into another order. `relink` is the script that relinks the kept tree; without
    /// it the script is run upon `below`, the prefix of the layer before.
    fn link(&self, relink: Option<&str>, below: Option<PathBuf>) -> Result<(PathBuf, u64), Stop> {
        let Self { builder, node, name, lock, .. } = self;
        let cache = builder.cache;
        let mut site = builder.site(node, processors(), name)?;
        let log = site.around.log().to_owned();
        File::create(&log).at("write", &log)?;
        site.env.insert(SEED.to_owned(), self.seed.to_string());
        site.env.insert(LOG.to_owned(), log.display().to_string());
        let mut shell = Shell::start(lock, cache.paths.log_of(name))?;
        shell.timeout_s = node.layer.timeout_s;
        shell.note(&format!("layout of layer {}, seed {}", node.layer.name, self.seed))?;
        let kept = cache.paths.work_of(&node.digest);
        let profile = node.training().map(|_| -> Result<_, Error> {
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
                lay_out(&mut shell, node, source.as_deref(), &mut site)?;
                make(&mut shell, cache, node, &site, below.as_deref())?;
                if let Some(profile) = profile {
                    let of_build = cache.finished(&node.digest).map(|record| record.flags).unwrap_or_default();
                    profile.found(&mut shell, &node.layer.name, &site, &of_build)?;
                }
            }
        }
        verify(&mut shell, &node.layer.verify, &site)?;
        let calls = calls(&fs::read(&log).at("read", &log)?).whole;
        // A call with one object has no order.
        let permuted = calls.iter().map(|call| u64::from(call.shuffled)).filter(|objects| *objects > 1).sum();
        wipe(&site.work)?;
        Ok((site.prefix, permuted))
    }
}

/// How many processors there are.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The place of the first layer that can relink its tree, or else of the last that links.
pub(crate) fn first_linked<'l>(
    layers: impl DoubleEndedIterator<Item = &'l Layer> + ExactSizeIterator + Clone,
) -> usize {
    let first = layers.clone().position(|layer| layer.relink.is_some());
    first.or_else(|| layers.clone().rposition(|layer| !layer.rewrites)).unwrap_or_default()
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

/// A name like that of a layer.
fn name(digest: &str, what: &[&str]) -> String {
    let mut name = Digest::of("aside");
    // Another host may be at the same layout.
    name.field("layer", digest.as_bytes()).field("host", host().as_bytes());
    what.iter().for_each(|word| _ = name.field("what", word.as_bytes()));
    name.hex()[..32].to_owned()
}

/// Performs each link once as it was recorded: this may be another host than the one that recorded it, with another linker
/// or libraries of it.
fn check_links(cache: &Cache, builds: &[layouts::Build], lock: &Lock) -> Result<(), Stop<record::Failure>> {
    for build in builds {
        let name = name(&build.digest, &["links"]);
        note(cache, &name)?;
        fresh_folder(&cache.paths.work_of(&name))?;
        let checked = || -> Result<(), Stop> {
            let mut shell = Shell::start(lock, cache.paths.log_of(&name))?;
            layouts::check(&mut layouts::Place { cache, name: &name, shell: &mut shell }, build)
        };
        let checked = checked();
        remove(cache, &name)?;
        checked.map_err(|stop| part_failed("links".to_owned(), stop))?;
    }
    Ok(())
}

/// Says that there is about to be something of that name.
fn note(cache: &Cache, name: &str) -> Result<(), Error> {
    let path = cache.paths.aside().join(name);
    fs::write(&path, host()).at("write", &path)
}

/// Removes all that there is of a name, and then what says so.
fn remove(cache: &Cache, name: &str) -> Result<(), Error> {
    cache.wipe_layer(name)?;
    let log = cache.paths.log_of(name);
    wipe(&log.with_extension("output"))?;
    wipe(&log)?;
    wipe(&cache.paths.aside().join(name))
}
