//! `bakeoff build`: makes the builds of a study that the cache does not hold. `bakeoff run` does the same first.

use super::Selection;
use crate::error::{Code, CommandError};
use crate::screen;
use crate::study_folder::StudyFolder;
use bakeoff_build::{BuildEvent, Cache, Request};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{BuildLine, BuildOutcome};
use bakeoff_report::format;

/// Build every variant of a study that is not in the cache yet
///
/// The cache is $BAKEOFF_CACHE, or $XDG_CACHE_HOME/bakeoff, or ~/.cache/bakeoff.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    jobs: Jobs,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// How many builds are made at a time.
#[derive(Debug, clap::Args)]
pub(super) struct Jobs {
    /// Builds at a time, before any trial
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: u16,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    let folder = StudyFolder::open(&args.selection.study)?;
    let plan = args.selection.plan(&folder.study)?;
    bakeoff_host::interrupt::install()?;
    let cache = Cache::open(Cache::default_root()?)?;
    let lines = build(&cache, &folder, &plan, &args.jobs, args.quiet)?;
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
            }
            BuildOutcome::Failed { layer, why, tail, log } => {
                code = Code::VariantFailed;
                screen::out(&format!("{variants}: failed in layer {layer}: {why}\n"));
                tail.iter().for_each(|line| screen::out(&format!("    {line}\n")));
                log.iter().for_each(|log| screen::out(&format!("    whole log: {log}\n")));
            }
        }
    }
    Ok(code)
}

/// Makes what the cache does not hold, telling on standard error what happens.
pub(super) fn build(
    cache: &Cache,
    folder: &StudyFolder,
    plan: &Plan,
    jobs: &Jobs,
    quiet: bool,
) -> Result<Vec<BuildLine>, CommandError> {
    let request = request(folder, plan, jobs);
    let told: &(dyn Fn(BuildEvent) + Sync) = if quiet { &|_| {} } else { &tell };
    Ok(bakeoff_build::build_all(cache, &request, told)?)
}

pub(super) fn request<'a>(folder: &'a StudyFolder, plan: &'a Plan, jobs: &Jobs) -> Request<'a> {
    Request {
        study_dir: &folder.dir,
        sources: &folder.study.sources,
        layers: &folder.study.layers,
        variants: &plan.variants,
        jobs: usize::from(jobs.jobs),
    }
}

fn tell(event: BuildEvent) {
    let line = match event {
        BuildEvent::Fetching { source } => format!("fetching source {source}"),
        BuildEvent::Fetched { source, bytes } => {
            format!("fetched source {source}: {}, checksum accepted", format::bytes(bytes as f64))
        }
        BuildEvent::Waiting { what, process: Some(process) } => format!("waiting for process {process}: {what}"),
        BuildEvent::Waiting { what, process: None } => format!("waiting: {what}"),
        BuildEvent::Started { variants, layer } => format!("building {layer} for {}", variants.join(", ")),
        BuildEvent::Finished { variants, layer, wall_s } => {
            format!("built {layer} for {} in {}", variants.join(", "), format::waiting_time(wall_s))
        }
        BuildEvent::Failed { variants, layer, why } => {
            format!("failed: {layer} for {}: {why}", variants.join(", "))
        }
        BuildEvent::Cached { .. } => return,
    };
    screen::err(&format!("{line}\n"));
}

impl From<bakeoff_build::Error> for CommandError {
    fn from(error: bakeoff_build::Error) -> Self {
        match error {
            bakeoff_build::Error::Interrupted => {
                Self::new(Code::Interrupted, error).hint("what was built is kept; execute the command again to go on")
            }
            bakeoff_build::Error::Host(_) => Self::new(Code::Internal, error),
            _ => Self::usage(error),
        }
    }
}
