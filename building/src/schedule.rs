//! All builds of a study: each layer as soon as the one below it is there, several at a time, each once however many
//! builds share it. What a failure means for the builds that depend on it is decided here; how a layer is built is not.
//!
//! First it is found out what has to be built: a layer that is not in the cache, and one that is but was damaged by
//! hand, if it is the last one of a build or another is to be built upon it. Nothing more is done, and nobody waited
//! for, if that is nothing.

use crate::cost::add;
use crate::error::{Error, Failure, Stop};
use crate::event::Notify;
use crate::inputs::{Link, MissingTool, Node, NodePlace, Stage, chains, missing_tool, stages};
use crate::journal::{BuildLine, BuildOutcome, LayerLine};
use crate::layer::{Builder, Ready};
use crate::nouns::Source;
use crate::on_demand::processors;
use crate::sources::Sources;
use crate::tools::program_of;
use crate::uses::Needs;
use crate::wrappers::Between;
use crate::{BuildEvent, Cache, Request, foreseen, proof, trained};
use bakeoff_model::plan::Variant;
use rayon::prelude::*;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How many damaged files an event names.
const DAMAGE_SHOWN: usize = 3;

/// What became of the nodes of a stage: ready, or the outcome of what failed; none if no build that can be completed
/// needs it, or nobody has come to it yet.
type Fates = Vec<Option<Result<Ready, BuildOutcome>>>;

impl Cache {
    /// Makes all builds of a request, and returns one line for each, in the order of the first variants. At most
    /// [`Request::jobs`] layers are built at a time, and their scripts share the processors. If anything has to be built,
    /// it waits until nobody runs trials from this cache, unless this process does ([`Cache::quiet`]). Of failed
    /// builds, those are remembered that failed as the study foresees; any other one the next call tries again.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after an interrupt; otherwise any [`Error`]. What was finished by then is in the cache.
    pub fn build_all(&self, request: &Request<'_>, on_event: Notify<'_>) -> Result<Vec<BuildLine>, Error> {
        let stages = stages(self, request)?;
        // Before anything is looked for in the cache: nothing that is noted as in use is removed from it.
        self.remember_use(request.study_dir, &Needs::of(&stages))?;
        let chains = chains(&stages);
        let mut needed: Vec<Vec<bool>> = stages.iter().map(|stage| vec![false; stage.nodes.len()]).collect();
        for chain in &chains {
            match missing_tool(chain) {
                Some(missing) => on_event(failed_event(chain, &missing)),
                None => chain.iter().zip(&mut needed).for_each(|(link, needed)| needed[link.place] = true),
            }
        }
        let mut fates = self.fates(request, &stages, &needed, on_event);
        let missing = |stage: usize| {
            let (needed, fates) = (&needed[stage], &fates[stage]);
            (0..needed.len())
                .filter(|&place| needed[place] && fates[place].is_none())
                .map(move |node| NodePlace { stage, node })
        };
        let missing: Vec<NodePlace> = (0..stages.len()).flat_map(missing).collect();
        if !missing.is_empty() {
            let what = || "builds would disturb the running trials".to_owned();
            let _leave = self.leave_to_build(|process| on_event(BuildEvent::Waiting { what: what(), process }))?;
            let builder = Builder {
                cache: self,
                sources: Sources::new(self, *request, on_event),
                notify: on_event,
                between: Between::prepare(self, request.layers, request.variants),
            };
            let usual = self.usual();
            let state = Progress { waiting: missing, at_work: vec![], fates, error: None };
            let work = Work {
                builder,
                stages: &stages,
                variants: request.variants,
                at_once: request.jobs.max(1),
                cpus: processors(),
                expected_s: request
                    .layers
                    .iter()
                    .map(|layer| usual.get(&layer.name).map(|usual| usual.wall_s).or(layer.takes_s))
                    .collect(),
                state: Mutex::new(state),
                changed: Condvar::new(),
            };
            fates = work.done()?;
        }
        let mut lines: Vec<BuildLine> = vec![];
        for chain in &chains {
            let Some(mut line) = line(self, request.sources, chain, &fates)? else { continue };
            line.foreseen = foreseen::of(&line, request.variants);
            if line.outcome == BuildOutcome::Built {
                proof::of_build(self, chain, &mut line.proof)?;
                line.proof.flags.extend(trained::marks(&line, request.variants));
            }
            lines.push(line);
        }
        proof::keep_differences(&mut lines);
        Ok(lines)
    }

    /// What is in the cache of what is needed, and whole as far as somebody is going to use it; and what failed before,
    /// as foreseen, with all that would be built upon it.
    fn fates(
        &self,
        request: &Request<'_>,
        stages: &[Stage<'_>],
        needed: &[Vec<bool>],
        on_event: Notify<'_>,
    ) -> Vec<Fates> {
        let mut fates: Vec<Fates> = vec![];
        // The nodes of the stage before that something is to be built upon.
        let mut used: Vec<usize> = vec![];
        for (number, stage) in stages.iter().enumerate().rev() {
            let find = |(place, needed): (usize, &bool)| {
                let is_used = !stage.nodes[place].ends.is_empty() || used.contains(&place);
                needed.then(|| self.fate(request, &stage.nodes[place], is_used, on_event))?
            };
            let found: Fates = needed[number].par_iter().enumerate().map(find).collect();
            let missing =
                stage.nodes.iter().enumerate().filter(|&(place, _)| needed[number][place] && found[place].is_none());
            used = missing.filter_map(|(_, node)| node.parent).collect();
            fates.push(found);
        }
        fates.reverse();
        for number in 1..fates.len() {
            for (place, node) in stages[number].nodes.iter().enumerate() {
                let below = node.parent.and_then(|parent| fates[number - 1][parent].as_ref()?.as_ref().err().cloned());
                if let Some(outcome) = below.filter(|_| needed[number][place]) {
                    fates[number][place] = Some(Err(outcome));
                }
            }
        }
        fates
    }

    fn fate(
        &self,
        request: &Request<'_>,
        node: &Node<'_>,
        is_used: bool,
        on_event: Notify<'_>,
    ) -> Option<Result<Ready, BuildOutcome>> {
        let (variants, layer) = (node.variants.clone(), node.layer.name.clone());
        let Some(record) = node.finished(self) else {
            let outcome = foreseen::remembered(self, node, request.variants)?;
            let log = self.paths.log_of(&node.digest);
            on_event(BuildEvent::FailedBefore { variants, layer, log });
            return Some(Err(outcome));
        };
        let damage = if is_used { self.damage_of(&node.digest) } else { vec![] };
        if damage.is_empty() {
            on_event(BuildEvent::Cached { variants, layer });
            return Some(Ok(Ready { record, cached: true }));
        }
        let files = damage.iter().take(DAMAGE_SHOWN).map(ToString::to_string).collect();
        let more = damage.len().saturating_sub(DAMAGE_SHOWN);
        on_event(BuildEvent::Damaged { variants, layer, files, more });
        None
    }
}

/// The layers that are being built, and those who build them.
struct Work<'w, 'a> {
    builder: Builder<'w>,
    stages: &'w [Stage<'a>],
    variants: &'w [Variant],
    at_once: usize,
    cpus: usize,
    /// About how long the layer of each stage takes, in seconds, if it is known.
    expected_s: Vec<Option<f64>>,
    state: Mutex<Progress>,
    changed: Condvar,
}

struct Progress {
    /// Not begun yet, first layers first.
    waiting: Vec<NodePlace>,
    at_work: Vec<NodePlace>,
    fates: Vec<Fates>,
    /// Nothing is begun after it, but what has begun is finished.
    error: Option<Error>,
}

impl Work<'_, '_> {
    /// What became of everything, once all of it is built.
    fn done(self) -> Result<Vec<Fates>, Error> {
        let waiting = &self.state().waiting.clone();
        let (left_s, at_once) = (self.left_s(waiting), self.at_once.min(waiting.len()));
        (self.builder.notify)(BuildEvent::Missing { layers: waiting.len(), at_once, expected_wall_s: left_s });
        thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| self.work());
            }
        });
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.error.map_or(Ok(state.fates), Err)
    }

    fn state(&self) -> MutexGuard<'_, Progress> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds one layer after another until there is none left to begin.
    fn work(&self) {
        let _alarm = Alarm(self);
        let mut state = self.state();
        while state.error.is_none() && !state.waiting.is_empty() {
            let Some(next) = state.waiting.iter().position(|&place| self.can_begin(&state, place)) else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let place = state.waiting.remove(next);
            state.at_work.push(place);
            // Those that another thread is about to begin count, or the first one would take all processors.
            let soon = state.waiting.iter().filter(|&&place| self.can_begin(&state, place)).count();
            let jobs = (self.cpus / (state.at_work.len() + soon).min(self.at_once)).max(1);
            let parent = self.parent(place).and_then(|parent| failed(&state, parent));
            drop(state);
            let fate = parent.map_or_else(|| self.build(place, jobs), |outcome| Err(Stop::Failure(outcome)));
            state = self.state();
            state.at_work.retain(|&other| other != place);
            if let Ok(Ready { record, cached: false }) = &fate {
                self.tell_finished(&state, place, record.cost.get("wall").copied().unwrap_or_default());
            }
            match fate {
                Ok(ready) => state.fates[place.stage][place.node] = Some(Ok(ready)),
                Err(Stop::Failure(outcome)) => state.fates[place.stage][place.node] = Some(Err(outcome)),
                Err(Stop::Error(error)) => drop(state.error.get_or_insert(error)),
            }
            self.changed.notify_all();
        }
    }

    fn node(&self, place: NodePlace) -> &Node<'_> {
        &self.stages[place.stage].nodes[place.node]
    }

    fn parent(&self, place: NodePlace) -> Option<NodePlace> {
        Some(NodePlace { stage: place.stage.checked_sub(1)?, node: self.node(place).parent? })
    }

    /// Whether it is known what became of the layer below.
    fn can_begin(&self, state: &Progress, place: NodePlace) -> bool {
        self.parent(place).is_none_or(|below| state.fates[below.stage][below.node].is_some())
    }

    fn build(&self, place: NodePlace, jobs: usize) -> Result<Ready, Stop<BuildOutcome>> {
        let node = self.node(place);
        let previous = self.parent(place).map(|below| self.node(below).digest.as_str());
        let layer = &node.layer.name;
        self.builder.ready(node, previous, jobs).map_err(|stop| {
            stop.with(|failure| {
                let (variants, why) = (node.variants.clone(), failure.why.clone());
                (self.builder.notify)(BuildEvent::Failed { variants, layer: layer.clone(), why });
                let outcome = failure.outcome(layer);
                match foreseen::remember(self.builder.cache, node, &outcome, self.variants) {
                    Ok(()) => Stop::Failure(outcome),
                    Err(error) => Stop::Error(error),
                }
            })
        })
    }

    fn tell_finished(&self, state: &Progress, place: NodePlace, wall_s: f64) {
        let left: Vec<NodePlace> = state.waiting.iter().chain(&state.at_work).copied().collect();
        let node = self.node(place);
        (self.builder.notify)(BuildEvent::Finished {
            variants: node.variants.clone(),
            layer: node.layer.name.clone(),
            wall_s,
            left: left.len(),
            left_s: self.left_s(&left),
        });
    }

    /// About how long it takes to build these, in seconds: as many at once as may be, but layers of one build one after
    /// the other. None if it is not known of one of them.
    fn left_s(&self, left: &[NodePlace]) -> Option<f64> {
        let expected_s = |place: &NodePlace| self.expected_s[place.stage];
        let sum_s = left.iter().map(expected_s).sum::<Option<f64>>()?;
        let chain_s = |&place: &NodePlace| {
            let chain = std::iter::successors(Some(place), |&place| self.parent(place));
            chain.filter(|place| left.contains(place)).filter_map(|place| expected_s(&place)).sum::<f64>()
        };
        Some(left.iter().map(chain_s).fold(sum_s / self.at_once as f64, f64::max))
    }
}

/// Lets the others go when one who builds panics: they might wait for what it was building.
struct Alarm<'s, 'w, 'a>(&'s Work<'w, 'a>);

impl Drop for Alarm<'_, '_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.state().waiting.clear();
            self.0.changed.notify_all();
        }
    }
}

/// Why what is built upon this layer cannot be.
fn failed(state: &Progress, place: NodePlace) -> Option<BuildOutcome> {
    state.fates[place.stage][place.node].as_ref()?.as_ref().err().cloned()
}

/// The journal's line about a build. None if the chain has no layers, and so is no build.
fn line(
    cache: &Cache,
    sources: &[Source],
    chain: &[Link<'_, '_>],
    fates: &[Fates],
) -> Result<Option<BuildLine>, Error> {
    let Some(Link { node: last, .. }) = chain.last() else { return Ok(None) };
    let mut line =
        BuildLine { digest: last.digest.clone(), variants: last.ends.clone(), cached: true, ..BuildLine::default() };
    let pinned = |link: &Link<'_, '_>| Some((sources[link.node.source?].name.clone(), link.node.source_pin.clone()?));
    line.sources = chain.iter().filter_map(pinned).collect();
    if let Some(missing) = missing_tool(chain) {
        line.outcome = Failure::without_log(missing.why()).outcome(&missing.layer);
        line.cached = false;
        return Ok(Some(line));
    }
    for (link, fates) in chain.iter().zip(fates) {
        line.tools.extend(link.node.tools_with_versions(cache)?);
        let mut layer = LayerLine {
            name: link.node.layer.name.clone(),
            digest: link.node.digest.clone(),
            log: Some(cache.paths.log_of(&link.node.digest).display().to_string()),
            compiler_cache: link.node.layer.compiler_cache.map(|cache| program_of(cache).to_owned()),
            ..LayerLine::default()
        };
        match &fates[link.place] {
            Some(Ok(ready)) => {
                add(&mut line.cost, &ready.record.cost);
                line.cached &= ready.cached;
                line.prefix_bytes = Some(ready.record.prefix_bytes);
                line.proof.flags.extend(ready.record.flags.iter().cloned());
                layer.compilations = ready.record.compilations;
                (layer.cached, layer.cost) = (ready.cached, ready.record.cost.clone());
                line.layers.push(layer);
            }
            Some(Err(outcome)) => {
                line.outcome = outcome.clone();
                line.cached = false;
                line.prefix_bytes = None;
                line.layers.push(layer);
                break;
            }
            None => {}
        }
    }
    Ok(Some(line))
}

fn failed_event(chain: &[Link<'_, '_>], missing: &MissingTool) -> BuildEvent {
    let variants = chain.last().map(|link| link.node.ends.clone()).unwrap_or_default();
    BuildEvent::Failed { variants, layer: missing.layer.clone(), why: missing.why() }
}
