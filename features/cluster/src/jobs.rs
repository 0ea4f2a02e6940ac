//! `bakeoff jobs STUDY`: the runs of a study on other machines; it can end their jobs and collect blocks.

use crate::begin::{AWAY, Pointer, site};
use crate::collect::{Collected, collect, of_another_kind};
use crate::machines;
use crate::order::Order;
use crate::page::table;
use crate::run_folder::{self, CANCELLED, ORDER, RunFolder, shown, write_bytes};
use crate::site::{CannotAsk, Job, Site};
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

struct Run {
    id: String,
    machines: String,
    folder: RunFolder,
    order: Order,
    /// When it was begun or waited for last.
    written: SystemTime,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let study = StudyFolder::open(&args.study, features)?;
    let runs = runs(&study.dir)?;
    if runs.is_empty() {
        return Err(CommandError::usage("this study has no run on other machines").hint(
            "`bakeoff run STUDY --on NAME` begins one; scripts of --dry-run that you submitted are shown once a job has begun",
        ));
    }
    let (mut all, mut code) = (vec![], Code::Done);
    for run in &runs {
        let Run { id, folder, order, .. } = run;
        // What is done has no jobs, and needs neither its section nor the scheduler.
        let is_done = of_shards(folder, order)?.iter().all(|shard| shard.is_done);
        if args.cancel {
            // A command that waits would submit them again.
            write_bytes(&folder.dir.join(CANCELLED), b"")?;
        }
        // The other runs can be shown without the section of one.
        let jobs = match machines::read(&run.machines, &study.dir) {
            _ if is_done && !args.cancel => Some(vec![]),
            Ok(machines) => jobs(args, run, &*site(machines, id))?,
            Err(why) => {
                code = why.code;
                let lost = if args.cancel { "its jobs were not cancelled" } else { "its jobs are not known" };
                screen::err(&format!("note: run {id} on {}: {lost}\n{why}", clean(&run.machines)));
                None
            }
        };
        let (standing, progress) = (of_shards(folder, order)?, Progress::of(folder, order));
        if args.json {
            all.push(json!({
                "run": id, "machines": run.machines, "folder": folder.dir,
                "shards": shards(run, &standing, &progress), "jobs": jobs,
            }));
        } else {
            screen::out(&format!("Run {id} on {}, in {}\n", clean(&run.machines), folder.shown()));
            screen::out(&table(folder, order, &progress, &standing, jobs.as_deref())?);
        }
        if args.collect {
            let collected = collect(folder, &StateFolder::of(&study.dir)?)?;
            screen::err(&said_of(&collected, &shown(&args.study)));
        }
    }
    if args.json {
        screen::json(&(Value::from(all).to_string() + "\n"));
    }
    Ok(code)
}

/// The jobs of a run, after ending them if that was requested; none if they are not known.
fn jobs(args: &Args, run: &Run, site: &dyn Site) -> Result<Option<Vec<Job>>, CommandError> {
    if args.cancel {
        site.cancel(&run.folder, &run.order)?;
        screen::err(&format!("the jobs of run {} were cancelled; complete blocks are kept\n", run.id));
    }
    if let Err(why) = site.fetch(&run.folder, &run.order) {
        screen::err(&format!("note: {}\n", clean(&why.0)));
    }
    // For some seconds, a scheduler still shows the jobs that it ends.
    if args.cancel {
        return Ok(Some(vec![]));
    }
    let tell = |why: &CannotAsk| screen::err(&format!("note: cannot tell what waits and runs: {}\n", clean(&why.0)));
    Ok(site.jobs(&run.folder, &run.order).inspect_err(tell).ok())
}

/// What to say about collected blocks: which command shows them.
fn said_of(collected: &[Collected], study: &str) -> String {
    let new: usize = collected.iter().map(|one| one.new).sum();
    let mut out = format!("collected {}; `bakeoff report {study}` shows them\n", counted(new as u32, "block"));
    collected.iter().skip(1).for_each(|other| out += &of_another_kind(&collected[0], other));
    out
}

fn shards(run: &Run, standing: &[Standing], progress: &Progress) -> Value {
    let shard = |(shard, passes): (&Standing, &BTreeSet<u32>)| {
        json!({
            "shard": shard.number, "passes": passes, "done": shard.is_done,
            "attempts": run.folder.attempts(shard.number).len(),
            "blocks": progress.blocks.get(&shard.number), "node": progress.nodes.get(&shard.number),
        })
    };
    standing.iter().zip(&run.order.shards).map(shard).collect()
}

/// The runs of a study. That which was begun or waited for last comes last, so that what is collected of it stays the latest.
fn runs(study_dir: &Path) -> Result<Vec<Run>, CommandError> {
    let entries = fs::read_dir(study_dir.join(STATE_FOLDER).join(AWAY)).into_iter().flatten().flatten();
    let mut runs = vec![];
    for path in entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "json")) {
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some(Pointer { machines, dir }) = run_folder::read(&path)? else { continue };
        let folder = RunFolder::at(&dir);
        if !dir.join(ORDER).exists() {
            screen::err(&format!("note: the folder of run {id}, {}, is gone\n", folder.shown()));
            continue;
        }
        let order = folder.order()?;
        if !order.shards.is_empty() && !folder.is_dry() {
            let written = fs::metadata(&path).and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            runs.push(Run { id, machines, folder, order, written });
        }
    }
    runs.sort_by(|one, other| (one.written, &one.id).cmp(&(other.written, &other.id)));
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::record::{Attempt, Record};
    use std::collections::BTreeMap;

    #[test]
    fn what_is_collected_names_the_journal_of_a_second_kind() {
        let of = |cpu: &str, blocks: u32| {
            let key = |pass: u32| ((pass, "w".to_owned(), "idle".to_owned()), Attempt::default());
            let mut record = Record::default();
            record.away = (0..blocks).map(key).collect();
            let kind = BTreeMap::from([("kernel", "6.1".to_owned()), ("processor", cpu.to_owned())]);
            Collected { journal: PathBuf::from(format!("/s/{cpu}.jsonl")), record, kind, new: blocks as usize }
        };
        let (one, other) = (of("zen4", 5), of("zen5", 1));
        assert_eq!(said_of(&[of("zen4", 5)], "study"), "collected 5 blocks; `bakeoff report study` shows them\n");
        let said = said_of(&[one, other], "study");
        for part in [
            "collected 6 blocks; ",
            "has 1 block of another kind of machine",
            "`bakeoff report /s/zen5.jsonl`",
            "processor: zen4 and zen5",
        ] {
            assert!(said.contains(part), "{part:?} is missing in\n{said}");
        }
    }
}
