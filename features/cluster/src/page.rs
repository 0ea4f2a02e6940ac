//! A run on other machines, for people: a line while it goes on, and a table of its shards.

use crate::begin::Begun;
use crate::order::Order;
use crate::run_folder::{RunFolder, Status};
use crate::site::{Job, JobState};
use crate::standing::{Progress, Standing};
use bakeoff_command::CommandError;
use bakeoff_command::estimates::about;
use bakeoff_model::plain::clean;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const NAMED: usize = 4;

/// One line about a run that goes on.
pub(crate) fn line(begun: &Begun, progress: &Progress, standing: &[Standing], jobs: &[Job]) -> String {
    let order = &begun.order;
    let name = clean(&begun.name);
    if order.builds && matches!(begun.run.builds(), Ok(None)) {
        return match jobs.iter().find(|job| job.shard.is_none()).map(|job| &job.state) {
            Some(JobState::Running) => format!("{name}: building"),
            Some(JobState::Waiting { reason, .. }) => format!("{name}: the builds wait ({})", clean(reason)),
            None => format!("{name}: the builds are being submitted"),
        };
    }
    let all: usize = order.shards.iter().map(BTreeSet::len).sum();
    let done = standing.iter().filter(|shard| shard.is_done).count();
    let is_open = |job: &&Job| standing.iter().any(|shard| Some(shard.number) == job.shard && !shard.is_done);
    let running = jobs.iter().filter(is_open).filter(|job| job.state == JobState::Running).count();
    let waiting: Vec<&str> = jobs.iter().filter(|job| job.shard.is_some()).filter_map(reason).collect();
    let mut line = format!("{name}: shards {done} of {} done, {running} running", standing.len());
    if let Some(reason) = waiting.first() {
        let _ = write!(line, ", {} waiting ({})", waiting.len(), clean(reason));
    }
    let _ = write!(line, "   {}/{all} passes", progress.passes().min(all));
    let left = longest(order, progress, standing);
    if let Some(pass_s) = begun.pass_s.filter(|_| left > 0) {
        let _ = write!(line, "   {}", about(pass_s * left as f64));
    }
    line
}

fn reason(job: &Job) -> Option<&str> {
    match &job.state {
        JobState::Waiting { reason, .. } if reason == "None" => Some("to start"),
        JobState::Waiting { reason, .. } => Some(reason),
        JobState::Running => None,
    }
}

/// The most passes that one shard still has to run.
fn longest(order: &Order, progress: &Progress, standing: &[Standing]) -> usize {
    let left = |(shard, passes): (&Standing, &BTreeSet<u32>)| match shard.is_done {
        true => 0,
        false => passes.len().saturating_sub(progress.passes_of(shard.number)),
    };
    standing.iter().zip(&order.shards).map(left).max().unwrap_or(0)
}

/// A table of the shards, and of the builds until they are there. There are no jobs if nobody could say which wait and run.
pub(crate) fn table(
    run: &RunFolder,
    order: &Order,
    progress: &Progress,
    standing: &[Standing],
    jobs: Option<&[Job]>,
) -> Result<String, CommandError> {
    let (jobs, is_known) = (jobs.unwrap_or_default(), jobs.is_some());
    let row = |name: &str, passes: &str, node: Option<&str>, state: &str| {
        format!("{name:<6} {passes:<18} {:<12} {state}\n", clean(node.unwrap_or("–")))
    };
    let mut out = row("shard", "passes", Some("node"), "state");
    if order.builds && run.builds()?.is_none() {
        let job = jobs.iter().find(|job| job.shard.is_none());
        let failed = run.build_status()?;
        let node = job.and_then(|job| job.node.as_deref()).or(failed.as_ref().map(|status| &*status.node));
        out += &row("builds", "", node, &state(job, failed.as_ref(), None, is_known));
    }
    for (shard, passes) in standing.iter().zip(&order.shards) {
        let job = jobs.iter().find(|job| job.shard == Some(shard.number));
        let known = progress.nodes.get(&shard.number);
        let node = job.and_then(|job| job.node.as_ref()).or(known).map(String::as_str);
        let kept = format!("{} of {} passes", progress.passes_of(shard.number), passes.len());
        let kept = (shard.attempts > 0 || job.is_some()).then_some(&*kept);
        let state = if shard.is_done { "done".to_owned() } else { state(job, shard.refused.as_ref(), kept, is_known) };
        out += &row(&shard.number.to_string(), &named(passes), node, &state);
    }
    Ok(out)
}

/// What a job does, or how its last one ended.
fn state(job: Option<&Job>, refused: Option<&Status>, kept: Option<&str>, is_known: bool) -> String {
    let Some(job) = job else {
        return match (refused, kept) {
            (Some(status), _) => format!("ended with exit code {}: {}", status.code, status.last),
            (None, _) if !is_known => "not known".to_owned(),
            (None, Some(kept)) => format!("not running, {kept} are kept"),
            (None, None) => "not running".to_owned(),
        };
    };
    match &job.state {
        JobState::Running => {
            format!("running, {}since {}", kept.map_or_else(String::new, |kept| format!("{kept}, ")), clean(&job.since))
        }
        JobState::Waiting { reason, remedy: None } => format!("waits: {}", clean(reason)),
        JobState::Waiting { reason, remedy: Some(remedy) } => {
            format!("waits and will not start: {}; {remedy}", clean(reason))
        }
    }
}

/// The first passes of a shard, and whether there are more.
fn named(passes: &BTreeSet<u32>) -> String {
    let mut names: Vec<String> = passes.iter().take(NAMED).map(u32::to_string).collect();
    if passes.len() > NAMED {
        names.push("…".to_owned());
    }
    names.join(" ")
}
