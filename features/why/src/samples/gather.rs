//! Sampling when all is counted: the pairs that are explained run again in blocks, each side once in a block, in one order and
//! then in the other. What the journal holds already is not sampled again; where nothing may be sampled, the reason is kept
//! and nothing runs. It takes many runs, so only `explain` asks for it.

use super::probe::Sampler;
use super::{FunctionSamples, LINE, Sampled, SamplesLine};
use crate::account::result::Account;
use crate::accounts::{self, Pairs};
use crate::counting::gather::wall_s;
use crate::counting::places::Places;
use crate::gather::spec;
use crate::sampler::{self, Samples};
use crate::trace::named_by;
use crate::watcher::WATCH_TRIAL;
use bakeoff_command::{CommandError, Finished, own_command, screen};
use bakeoff_judge::judge;
use bakeoff_lab::{Diagnosed, Ending, Executor, Subject};
use bakeoff_model::plain::clean;
use bakeoff_model::record::FeatureLine;
use bakeoff_report::format::duration;
use bakeoff_report::words::counted;

/// The blocks of a workload: as many as take this many times as long as a trial, within limits.
const TRIALS: usize = 40;
const LEAST_BLOCKS: usize = 10;
const MOST_BLOCKS: usize = 20;

/// The user time between samples: there are some thousands in a trial, and they do not slow it.
const SHORTEST_S: f64 = 250e-6;
const LONGEST_S: f64 = 1e-3;
const SAMPLES: f64 = 4000.0;

/// What a run takes besides the command, about.
const START_S: f64 = 0.05;

/// Blocks that the journal lacks: the line of the last one that it has, or of the one before the first.
fn missing(study: &dyn Finished) -> Vec<SamplesLine> {
    let spec = spec(study);
    let Some(named) = spec.of.filter(|_| spec.samples) else { return vec![] };
    let (plan, record, refusal) = (study.plan(), study.record().without_building(), sampler::refusal());
    let known = SamplesLine::of(&record);
    // Those that are shown to differ, if none are named.
    let findings = named.is_empty().then(|| judge(&record));
    let against = named.first().unwrap_or(&plan.baseline().name);
    let mut all = vec![];
    for workload in plan.workloads.iter().filter(|workload| spec.count.contains(&workload.name)) {
        let length = workload.lengths.last().cloned();
        let of_it: Vec<&SamplesLine> =
            known.iter().filter(|line| line.workload == workload.name && line.length == length).collect();
        let is_held = |variant: &str| {
            of_it.iter().any(|line| match &line.missing {
                Some(_) => line.missing == refusal && line.variants.iter().any(|known| known == variant),
                None => line.block >= line.blocks && line.runs_of([against, variant]).is_some(),
            })
        };
        let pairs = Pairs { against: Some(against), variant: None, workload: Some(&workload.name) };
        let is_meant = |variant: &str| match &findings {
            Some(findings) => accounts::differs(findings, variant),
            None => named.iter().any(|name| name == variant),
        };
        let pairs = accounts::of(&record, pairs).into_iter().filter(|pair| pair.account.service.is_none());
        let pairs = pairs.filter(|pair| is_meant(&pair.variant) && differs(&pair.account) && !is_held(&pair.variant));
        let variants: Vec<String> = std::iter::once(against.clone()).chain(pairs.map(|pair| pair.variant)).collect();
        if variants.len() > 1 {
            let blocks = (TRIALS / variants.len()).clamp(LEAST_BLOCKS, MOST_BLOCKS) as u32;
            let begun = of_it.iter().filter(|line| line.variants == variants && line.missing.is_none());
            let block = begun.filter(|line| line.blocks == blocks).map(|line| line.block).max().unwrap_or(0);
            let workload = workload.name.clone();
            all.push(SamplesLine { workload, length, block, blocks, variants, ..SamplesLine::default() });
        }
    }
    all
}

/// Whether there is something to look for. Samples are of functions in files.
fn differs(account: &Account) -> bool {
    !account.is_by_names && (!account.is_nothing || account.time.is_some_and(|time| time.is_shown()))
}

/// Whether there is something to sample.
pub(crate) fn are_missing(study: &dyn Finished) -> bool {
    !missing(study).is_empty()
}

/// Samples what is missing, one block after the other.
pub(crate) fn sample(study: &mut dyn Finished, executor: &mut dyn Executor) -> Result<Ending, CommandError> {
    let all = missing(study);
    if all.is_empty() {
        return Ok(Ending::Complete);
    }
    if let Some(why) = sampler::refusal() {
        for line in all {
            keep(study, SamplesLine { missing: Some(why.clone()), ..line })?;
        }
        return Ok(Ending::Complete);
    }
    if !study.quiet() {
        let runs: usize = all.iter().map(|line| line.left() as usize * line.variants.len()).sum();
        let seconds = all.iter().map(|line| takes_s(study, line)).sum();
        let (times, number) = (duration(seconds), counted(runs as u32, "run"));
        screen::err(&format!("sampling the user time by function in {number} takes about {times}\n"));
    }
    let watcher = own_command(WATCH_TRIAL);
    let mut sampling = Sampling { sampler: Sampler::with(&watcher), known: Places::default() };
    for line in all {
        if blocks(study, line, &mut sampling, executor)? != Ending::Complete {
            return Ok(Ending::Stopped);
        }
    }
    Ok(Ending::Complete)
}

impl SamplesLine {
    fn left(&self) -> u32 {
        self.blocks - self.block
    }
}

fn takes_s(study: &dyn Finished, line: &SamplesLine) -> f64 {
    let run_s = |variant: &String| wall_s(study.record(), variant, &line.workload) + START_S;
    f64::from(line.left()) * line.variants.iter().map(run_s).sum::<f64>()
}

fn keep(study: &mut dyn Finished, line: SamplesLine) -> Result<(), CommandError> {
    let line = SamplesLine { session: study.session()?, ..line };
    study.keep(FeatureLine::new(LINE, &line)?)
}

/// All blocks that are left of a workload. A block is kept when it is whole.
fn blocks(
    study: &mut dyn Finished,
    line: SamplesLine,
    sampling: &mut Sampling<'_>,
    executor: &mut dyn Executor,
) -> Result<Ending, CommandError> {
    let trial_s = wall_s(study.record(), &line.variants[0], &line.workload);
    for block in line.block + 1..=line.blocks {
        if study.is_interrupted() {
            return Ok(Ending::Stopped);
        }
        if !study.quiet() {
            let what = clean(&line.workload);
            screen::draw(&format!("sampling user time: {what}, block {block} of {}", line.blocks));
        }
        sampling.sampler.period_ns = period_ns(trial_s, block);
        let runs = one_block(&line, block, sampling, executor);
        if !study.quiet() {
            screen::erase();
        }
        let line = SamplesLine { block, ..line.clone() };
        match runs? {
            None => return Ok(Ending::Stopped),
            Some(Ok(runs)) => keep(study, SamplesLine { runs, ..line })?,
            Some(Err(why)) => {
                keep(study, SamplesLine { missing: Some(why), ..line })?;
                break;
            }
        }
    }
    Ok(Ending::Complete)
}

/// The same for both sides of a block, and another one in each block, so that it does not beat with the program.
fn period_ns(trial_s: f64, block: u32) -> u64 {
    /// Of the golden ratio: its multiples never crowd.
    const STEP: f64 = 0.618_033_988_749_895;
    /// The longest is so much longer than the shortest.
    const SPREAD: f64 = 0.3;
    let seconds = (trial_s / SAMPLES).clamp(SHORTEST_S, LONGEST_S);
    (1e9 * seconds * (1.0 + SPREAD * (f64::from(block) * STEP).fract())) as u64
}

/// What was sampled of each variant, or why one could not be; none if it was interrupted.
type Runs = Option<Result<Vec<Sampled>, String>>;

/// Every second block runs in the other order, so that what drifts favours none.
fn one_block(
    line: &SamplesLine,
    block: u32,
    sampling: &mut Sampling<'_>,
    executor: &mut dyn Executor,
) -> Result<Runs, CommandError> {
    let mut order: Vec<usize> = (0..line.variants.len()).collect();
    if block.is_multiple_of(2) {
        order.reverse();
    }
    let mut runs = vec![Sampled::default(); line.variants.len()];
    for place in order {
        let subject = Subject { variant: &line.variants[place], workload: &line.workload };
        match executor.diagnose(subject, &mut sampling.sampler)? {
            None => return Ok(None),
            Some(Diagnosed::Missing { why }) => return Ok(Some(Err(why))),
            Some(Diagnosed::Failed(failure) | Diagnosed::Executed { failure: Some(failure), .. }) => {
                let why = bakeoff_report::failure(&failure);
                return Ok(Some(Err(format!("the workload fails while it is sampled: {why}"))));
            }
            Some(Diagnosed::Executed { failure: None, .. }) => {
                let seen = std::mem::take(&mut sampling.sampler.seen);
                runs[place] = sampling.by_function(seen);
            }
        }
    }
    Ok(Some(Ok(runs)))
}

/// What samples, and the files that it has met.
struct Sampling<'t> {
    sampler: Sampler<'t>,
    known: Places,
}

impl Sampling<'_> {
    fn by_function(&mut self, samples: Samples) -> Sampled {
        let mut functions: Vec<FunctionSamples> = vec![];
        for file in samples.files {
            let name = named_by(&file.path.to_string_lossy(), &self.sampler.folders);
            let (known, first) = (self.known.file(file.path, file.inode), functions.len());
            for [place, samples] in file.places {
                let (function, source, kind) = known.function(place);
                let is_same =
                    |one: &&mut FunctionSamples| (&one.name, &one.source, one.kind) == (&function, &source, kind);
                match functions[first..].iter_mut().find(is_same) {
                    Some(one) => one.samples += samples,
                    None => {
                        functions.push(FunctionSamples { name: function, file: name.clone(), source, kind, samples })
                    }
                }
            }
        }
        let Samples { period_ns, unnamed, lost, .. } = samples;
        Sampled { period_ns, functions, unnamed, lost }
    }
}
