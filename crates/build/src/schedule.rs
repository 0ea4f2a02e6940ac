//! All builds of a study: layer by layer, several at a time, each layer once however many builds share it. What a
//! failure means for the builds that depend on it is decided here; how a layer is built is not.

use crate::error::{Error, Failure};
use crate::inputs::{Link, Stage, chains, missing_tool, stages};
use crate::layer::{Builder, Ready};
use crate::shell::Stop;
use crate::sources::Sources;
use crate::{BuildEvent, Cache, MissingTool, Request};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::{BuildLine, BuildOutcome};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// What became of the nodes of a stage: ready, or the outcome of what failed; none if no build that can be completed
/// needs it.
type Fates = Vec<Option<Result<Ready, BuildOutcome>>>;

/// Makes all builds of a request, and returns one line for each, in the order of the first variants. At most
/// [`Request::jobs`] layers are built at a time, all of one layer before any of the next. Failed builds are not
/// remembered: the next call tries again.
///
/// # Errors
/// [`Error::Interrupted`] after an interrupt; otherwise any [`Error`]. What was finished by then is in the cache.
pub fn build_all(
    cache: &Cache,
    request: &Request<'_>,
    on_event: &(dyn Fn(BuildEvent) + Sync),
) -> Result<Vec<BuildLine>, Error> {
    let stages = stages(cache, request)?;
    let chains = chains(&stages);
    let mut needed: Vec<Vec<bool>> = stages.iter().map(|stage| vec![false; stage.nodes.len()]).collect();
    for chain in &chains {
        match missing_tool(chain) {
            Some(missing) => on_event(failed_event(chain, &missing)),
            None => chain.iter().zip(&mut needed).for_each(|(link, needed)| needed[link.place] = true),
        }
    }
    let builder = Builder {
        cache,
        sources: Sources::new(cache, request.study_dir, request.sources, on_event),
        notify: on_event,
        cpus: thread::available_parallelism().map_or(1, usize::from),
    };
    let mut fates: Vec<Fates> = vec![];
    for (number, stage) in stages.iter().enumerate() {
        let before = number.checked_sub(1).map(|n| (&stages[n], &fates[n]));
        let decide = |place: usize| match needed[number][place] {
            true => fate(&builder, stage, place, before).map(Some),
            false => Ok(None),
        };
        let decided = in_parallel(request.jobs, stage.nodes.len(), decide)?;
        fates.push(decided);
    }
    Ok(chains.iter().filter_map(|chain| line(chain, &fates)).collect())
}

fn fate(
    builder: &Builder<'_>,
    stage: &Stage<'_>,
    place: usize,
    before: Option<(&Stage<'_>, &Fates)>,
) -> Result<Result<Ready, BuildOutcome>, Error> {
    let node = &stage.nodes[place];
    let previous = match before.zip(node.parent) {
        None => None,
        Some(((stage, fates), parent)) => match &fates[parent] {
            Some(Err(outcome)) => return Ok(Err(outcome.clone())),
            _ => Some(stage.nodes[parent].digest.as_str()),
        },
    };
    let layer = &stage.inputs.layer.name;
    match builder.ready(&stage.inputs, node, previous) {
        Ok(ready) => Ok(Ok(ready)),
        Err(Stop::Error(error)) => Err(error),
        Err(Stop::Failure(failure)) => {
            let (variants, why) = (node.variants.clone(), failure.why.clone());
            (builder.notify)(BuildEvent::Failed { variants, layer: layer.clone(), why });
            Ok(Err(failure.outcome(layer)))
        }
    }
}

/// The journal's line about a build. None if the chain has no layers, and so is no build.
fn line(chain: &[Link<'_, '_>], fates: &[Fates]) -> Option<BuildLine> {
    let last = chain.last()?.node;
    let mut line = BuildLine {
        digest: last.digest.clone(),
        variants: last.variants.clone(),
        outcome: BuildOutcome::Built,
        cached: true,
        cost: Measurements::new(),
        tools: BTreeMap::new(),
        prefix_bytes: None,
        ..BuildLine::default()
    };
    if let Some(missing) = missing_tool(chain) {
        line.outcome = Failure::without_log(missing.why()).outcome(&missing.layer);
        line.cached = false;
        return Some(line);
    }
    for (link, fates) in chain.iter().zip(fates) {
        line.tools.extend(link.node.tools.clone());
        match &fates[link.place] {
            Some(Ok(ready)) => {
                add(&mut line.cost, &ready.record.cost);
                line.cached &= ready.cached;
                line.prefix_bytes = Some(ready.record.prefix_bytes);
            }
            Some(Err(outcome)) => {
                line.outcome = outcome.clone();
                line.cached = false;
                line.prefix_bytes = None;
                break;
            }
            None => {}
        }
    }
    Some(line)
}

/// Adds the cost of a layer: times add up, the peak of memory is the higher one.
fn add(cost: &mut Measurements, layer: &Measurements) {
    for name in ["wall", "user", "sys", "maxrss"] {
        let Some(&value) = layer.get(name) else { continue };
        let sum = cost.entry(name.to_owned()).or_insert(0.0);
        *sum = if name == "maxrss" { sum.max(value) } else { *sum + value };
    }
}

fn failed_event(chain: &[Link<'_, '_>], missing: &MissingTool) -> BuildEvent {
    let variants = chain.last().map(|link| link.node.variants.clone()).unwrap_or_default();
    BuildEvent::Failed { variants, layer: missing.layer.clone(), why: missing.why() }
}

/// Does the work for 0 to `count` - 1 on several threads; after an error no more work is begun,
/// but what has begun is finished.
fn in_parallel<T: Send>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let worker = || {
        let mut done = vec![];
        while !stopped.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let answer = work(number).inspect_err(|_| stopped.store(true, Ordering::Relaxed))?;
            done.push((number, answer));
        }
        Ok(done)
    };
    let finished: Vec<Result<Vec<(usize, T)>, Error>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.clamp(1, count.max(1))).map(|_| scope.spawn(worker)).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect()
    });
    let mut all = vec![];
    for done in finished {
        all.extend(done?);
    }
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, answer)| answer).collect())
}
