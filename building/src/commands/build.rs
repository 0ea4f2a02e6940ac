//! `bakeoff build`: makes the builds of a study that the cache does not hold. `bakeoff run` does the same first.

use crate::journal::{BuildLine, BuildOutcome};
use crate::{BuildEvent, Cache, Request, judged, trained};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::estimates::about;
use bakeoff_command::selection::{Jobs, Selection};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{Order, Registry, screen};
use bakeoff_report::format;
use std::collections::BTreeMap;

/// Build the variants of a study that are not in the cache yet
///
/// The cache is $BAKEOFF_CACHE, or $XDG_CACHE_HOME/bakeoff, or ~/.cache/bakeoff.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    jobs: Jobs,
    /// Show no progress on standard error
    #[arg(long, short)]
    quiet: bool,
    /// Show all settings that differ between builds even though no factor mentions them
    #[arg(long, short)]
    verbose: bool,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let folder = StudyFolder::open(&args.selection.study, features)?;
    let plan = args.selection.plan(&folder.study)?;
    bakeoff_host::interrupt::install()?;
    let cache = Cache::open(Cache::default_root()?)?;
    let order = folder.order(&plan, args.jobs.at_a_time(), args.quiet);
    let lines = cache.build(&order, true)?;
    if lines.is_empty() {
        screen::out("This study builds nothing.\n");
    }
    let mut code = Code::Done;
    for line in &lines {
        let variants = line.variants.join(", ");
        match &line.outcome {
            BuildOutcome::Built => {
                let how = if line.cached { "in the cache" } else { "built" };
                let prefix = cache.prefix_of(&line.digest);
                screen::out(&format!("{variants}: {how}: {}\n", prefix.display()));
                for used in line.proof.flags.iter().filter_map(trained::used) {
                    screen::out(&format!("    {used}{}\n", trained::clause(line)));
                }
                if let Some(foreseen) = &line.foreseen {
                    let text = &foreseen.text;
                    screen::out(&format!("    built, although the study expects a failure: `fails = \"{text}\"`\n"));
                }
            }
            BuildOutcome::Failed { layer, log, .. } if !line.failed_unforeseen() => {
                let said = line.failed_as_foreseen().unwrap_or_default();
                screen::out(&format!("{variants}: cannot be built, as the study expects: layer {layer}: {said}\n"));
                log.iter().for_each(|log| screen::out(&format!("    full log: {log}\n")));
            }
            BuildOutcome::Failed { layer, why, tail, log } => {
                code = Code::VariantFailed;
                screen::out(&format!("{variants}: failed in layer {layer}: {why}\n"));
                tail.iter().for_each(|line| screen::out(&format!("    {line}\n")));
                log.iter().for_each(|log| screen::out(&format!("    full log: {log}\n")));
            }
        }
    }
    // Before any trial, which is when they can still be fixed.
    let study = plan.study_line(&BTreeMap::new(), "", None);
    let doubts = judged::doubts(&study, &lines);
    screen::out(&judged::build_doubts(&doubts, screen::style().width, args.verbose));
    Ok(code)
}

impl Cache {
    /// Makes what the cache does not hold, telling on standard error what happens; if it is to `announce`, also how
    /// much there is to build, and how long it may take.
    pub(crate) fn build(&self, order: &Order<'_>, announce: bool) -> Result<Vec<BuildLine>, CommandError> {
        let report = |event| match event {
            _ if order.quiet => {}
            BuildEvent::Missing { .. } if !announce => {}
            event => event.tell(),
        };
        Ok(self.build_all(&Request::of(order), &report)?)
    }
}

impl BuildEvent {
    /// Says on standard error what happens.
    pub(crate) fn tell(self) {
        let line = match self {
            BuildEvent::Missing { layers, at_once, expected_wall_s } => {
                let time = expected_wall_s.map_or_else(|| "total time not known yet".to_owned(), about);
                format!(
                    "{layers} {} to build, {at_once} at a time: {time}",
                    if layers == 1 { "layer" } else { "layers" }
                )
            }
            BuildEvent::Damaged { variants, layer, files, more } => {
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                let (variants, files) = (some_of(&variants), files.join(", "));
                format!("damaged: {layer} for {variants} changed after the build ({files}{more}); rebuilding")
            }
            BuildEvent::Fetching { source } => format!("fetching source {source}"),
            BuildEvent::Fetched { source, bytes, checked } => {
                let accepted = if checked { ", checksum correct" } else { "" };
                format!("fetched source {source}: {}{accepted}", format::bytes(bytes as f64))
            }
            BuildEvent::Waiting { what, process: Some(process) } => format!("waiting for process {process}: {what}"),
            BuildEvent::Waiting { what, process: None } => format!("waiting: {what}"),
            BuildEvent::Started { variants, layer } => format!("building {layer} for {}", some_of(&variants)),
            BuildEvent::Finished { variants, layer, wall_s, left, left_s } => {
                let time = left_s.map_or_else(String::new, |left_s| format!(", {}", about(left_s)));
                let left = if left == 0 { String::new() } else { format!("; {left} left{time}") };
                format!("built {layer} for {} in {}{left}", some_of(&variants), format::waiting_time(wall_s))
            }
            BuildEvent::Failed { variants, layer, why } => {
                format!("failed: {layer} for {}: {why}", some_of(&variants))
            }
            BuildEvent::FailedBefore { variants, layer, log } => format!(
                "skipped: {layer} for {} has already failed, as the study expects; remove {} to retry",
                some_of(&variants),
                log.display()
            ),
            event => match event.note() {
                Some(note) => note,
                None => return,
            },
        };
        screen::err(&format!("{line}\n"));
    }
}

/// Who a layer is built for. The first layers are often everybody's: then some are named, and the others counted.
fn some_of(variants: &[String]) -> String {
    const NAMED: usize = 3;
    match variants {
        [first @ .., _] if first.len() > NAMED => {
            format!("{} and {} others", first[..NAMED].join(", "), variants.len() - NAMED)
        }
        few => few.join(", "),
    }
}
