//! `bakeoff jobs STUDY`: the runs of a study on other machines, from whichever host sees the study. It can end their jobs, and
//! collect what they have done.

use crate::begin::{AWAY, Pointer, site};
use crate::collect::collect;
use crate::machines;
use crate::order::Order;
use crate::page::table;
use crate::run_folder::{self, RunFolder};
use crate::site::{Job, Site};
use crate::standing::{Progress, Standing, of_shards};
use bakeoff_command::state::StateFolder;
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{Code, CommandError, Registry, screen};
use bakeoff_model::plain::clean;
use bakeoff_model::study::STATE_FOLDER;
use bakeoff_report::words::counted;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Show the jobs of a study on other machines
///
/// `bakeoff run STUDY --on NAME` submits these jobs. They go on without that command.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The study: a folder that holds a study.toml, or the file itself
    #[arg(default_value = ".")]
    study: PathBuf,
    /// End all jobs of the study; blocks that are complete are kept
    #[arg(long, conflicts_with = "collect")]
    cancel: bool,
    /// Add the blocks that are complete to the study's journal
    #[arg(long)]
    collect: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let folder = StudyFolder::open(&args.study, features)?;
    let runs = runs(&folder.dir)?;
    if runs.is_empty() {
        return Err(CommandError::usage("this study has no run on other machines")
            .hint("`bakeoff run STUDY --on NAME` begins one; NAME is a section of machines.toml"));
    }
    let (mut all, mut code) = (vec![], Code::Done);
    for (id, pointer) in runs {
        let run = RunFolder::at(&pointer.dir);
        if !run.dir.join(run_folder::ORDER).exists() {
            screen::err(&format!("note: the folder of run {id}, {}, is gone\n", run.shown()));
            continue;
        }
        let order = run.order()?;
        if order.shards.is_empty() {
            continue;
        }
        if args.cancel {
            // A command that waits would submit them again.
            run_folder::write_bytes(&run.dir.join(run_folder::CANCELLED), b"")?;
        }
        // The other runs can be shown without the section of one.
        let jobs = match machines::read(&pointer.machines, &folder.dir) {
            Ok(machines) => jobs(args, &run, &id, &*site(machines, &id))?,
            Err(why) => {
                code = why.code;
                let lost = if args.cancel { "its jobs were not cancelled" } else { "its jobs are not known" };
                screen::err(&format!("note: run {id} on {}: {lost}\n{why}", clean(&pointer.machines)));
                vec![]
            }
        };
        let (standing, progress) = (of_shards(&run, &order)?, Progress::of(&run, &order));
        if args.json {
            let job = |job: &Job| json!({ "shard": job.shard, "node": job.node, "state": format!("{:?}", job.state) });
            all.push(json!({
                "run": id, "machines": pointer.machines, "folder": pointer.dir,
                "shards": shards(&run, &order, &standing, &progress), "jobs": jobs.iter().map(job).collect::<Value>(),
            }));
        } else {
            screen::out(&format!("Run {id} on {}, in {}\n", clean(&pointer.machines), run.shown()));
            screen::out(&table(&run, &order, &progress, &standing, &jobs)?);
        }
        if args.collect {
            let new: usize = collect(&run, &StateFolder::of(&folder.dir)?)?.iter().map(|one| one.new).sum();
            screen::err(&format!(
                "collected {}; `bakeoff report {}` shows them\n",
                counted(new as u32, "block"),
                clean(&args.study.display().to_string())
            ));
        }
    }
    if args.json {
        screen::json(&(Value::from(all).to_string() + "\n"));
    }
    Ok(code)
}

/// The jobs of a run, after ending them if that is wanted.
fn jobs(args: &Args, run: &RunFolder, id: &str, site: &dyn Site) -> Result<Vec<Job>, CommandError> {
    if args.cancel {
        site.cancel(run)?;
        screen::err(&format!("the jobs of run {id} were cancelled; complete blocks are kept\n"));
    }
    if let Err(why) = site.fetch(run) {
        screen::err(&format!("note: {}\n", clean(&why.0)));
    }
    // For some seconds, a scheduler still shows the jobs that it ends.
    if args.cancel {
        return Ok(vec![]);
    }
    Ok(site.jobs(run).unwrap_or_else(|why| {
        screen::err(&format!("note: cannot tell what waits and runs: {}\n", clean(&why.0)));
        vec![]
    }))
}

/// The shards of a run as JSON.
fn shards(run: &RunFolder, order: &Order, standing: &[Standing], progress: &Progress) -> Value {
    let shard = |(shard, passes): (&Standing, &BTreeSet<u32>)| {
        json!({
            "shard": shard.number, "passes": passes, "done": shard.is_done(), "attempts": run.attempts(shard.number).len(),
            "blocks": progress.blocks.get(&shard.number), "node": progress.nodes.get(&shard.number),
        })
    };
    standing.iter().zip(&order.shards).map(shard).collect()
}

/// The runs of a study. That which was begun or waited for last comes last, so that what is collected of it stays the latest.
fn runs(dir: &Path) -> Result<Vec<(String, Pointer)>, CommandError> {
    let entries = fs::read_dir(dir.join(STATE_FOLDER).join(AWAY)).into_iter().flatten().flatten();
    let mut runs = vec![];
    for path in entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "json")) {
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(pointer) = run_folder::read::<Pointer>(&path)? {
            let written = fs::metadata(&path).and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            runs.push((written, id, pointer));
        }
    }
    runs.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    Ok(runs.into_iter().map(|(_, id, pointer)| (id, pointer)).collect())
}
