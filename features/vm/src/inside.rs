//! `bakeoff agent`: executes an order at the place that it is at, and writes what came of it. An executor of a feature brought
//! it there; it is not for people.

use crate::agent::{Order, Said, Speaker, serve};
use bakeoff_command::Registry;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_host::disk::read_file;
use bakeoff_host::{abilities, guest, place};
use bakeoff_lab::Executor as _;
use bakeoff_lab::local::{Local, Setup};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{TWIN, Unavailable};
use std::fs::OpenOptions;
use std::path::PathBuf;
use std::time::Duration;

/// Execute what an order asks for, at another place; not for people
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The order; the study's folder is next to it
    #[arg(long, value_name = "FILE")]
    order: PathBuf,
    /// Where the lines are written
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

/// The command's name.
pub(crate) const AGENT: &str = "agent";
/// An order is a few kilobytes.
const ORDER_BYTES: u64 = 64 << 20;
/// What a kernel that samples at each tick cannot tell apart.
const SAMPLED: [&str; 4] = ["user", "sys", "cgroup_user", "cgroup_sys"];

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let fail =
        |what: &str, error: &dyn std::fmt::Display| CommandError::text(Code::Internal, format!("{what}: {error}\n"));
    let bytes = read_file(&args.order, ORDER_BYTES).map_err(|error| fail("the order", &error))?;
    let order: Order = serde_json::from_slice(&bytes).map_err(|error| fail("the order", &error))?;
    let to = OpenOptions::new().write(true).open(&args.to).map_err(|error| fail("where to write", &error))?;
    let mut speaker = Speaker::new(to);
    let served = at_work(args, &order, features, &mut speaker);
    if let Err(error) = &served {
        let _ = speaker.say(Said::Error(error.render().trim_end().to_owned()));
    }
    let to = speaker.end().map_err(|error| fail("writing", &error))?;
    // What is written to a terminal is not yet out; a file has no such thing.
    let _ = guest::drain(&to);
    served.map(|()| Code::Done)
}

fn at_work(
    args: &Args,
    order: &Order,
    features: &Registry,
    speaker: &mut Speaker<std::fs::File>,
) -> Result<(), CommandError> {
    let study = args.order.parent().map(|folder| folder.join("study")).unwrap_or_default();
    let folder = StudyFolder::open(&study, features)?;
    let mut plan = Plan::of(&folder.study, &order.plan)?;
    for workload in &mut plan.workloads {
        workload.timeout_s = workload.timeout_s.or(Some(order.most_s));
    }
    let only = if order.variant == TWIN { &plan.baseline().name } else { &order.variant };
    let setup = Setup {
        only: Some(only.clone()),
        scratch: std::env::temp_dir().join("bakeoff"),
        expected: folder.expected()?,
        dir: folder.dir,
        harnesses: features.harnesses.first().copied(),
        fresh_home: true,
        environment: ["PATH", "LC_ALL"]
            .map(|name| (name.to_owned(), std::env::var(name).unwrap_or_else(|_| "C".to_owned())))
            .into(),
        ..Setup::default()
    };
    let mut local = Local::new(&plan, setup, None)?;
    std::thread::sleep(Duration::from_secs_f64(order.settle_s.max(0.0)));
    let sampled = abilities::splits_cpu_time() != Some(true);
    let unavailable = sampled.then(|| Unavailable {
        metrics: SAMPLED.map(str::to_owned).into(),
        why: "the kernel samples them at each timer tick".to_owned(),
    });
    let served = serve(order, &mut local, place::fingerprint(), unavailable.as_slice(), speaker);
    // The machine is thrown away: a cleanup that fails in it harms nobody.
    local.end()?;
    Ok(served?)
}
