//! `bakeoff run STUDY --on NAME`: submits what is missing, waits, collects. A second one resumes from the files.

use crate::asking::Asking;
use crate::begin::{self, Begun};
use crate::blocks;
use crate::collect::{Collected, collect, of_another_kind, refuse_two_kinds};
use crate::run_folder::{BUILD_LOG, BUILD_STATUS, CANCELLED, DRY, shown, write_bytes};
use crate::site::{Job, JobState};
use crate::standing::{Progress, Standing, of_shards};
use bakeoff_command::estimates::about;
use bakeoff_command::state::StateFolder;
use bakeoff_command::{Code, CommandError, ElsewhereOrder, Returned, screen};
use bakeoff_host::interrupt;
use bakeoff_judge::stopping;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Part;
use bakeoff_model::record::Record;
use bakeoff_report::words::{counted, named};
use clap::{ArgMatches, FromArgMatches as _};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often the files of a run are looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How often a shard is submitted that comes back without a new block.
const TRIES: u32 = 4;

/// The heading of the options in the help of `run`.
const HEADING: &str = "Other machines";

// The options of `run`. A comment for the documents would become the description of that command.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run the trials on other machines: a cluster, or hosts that ssh reaches
    ///
    /// NAME is a section of machines.toml, in the study's folder or in ~/.config/bakeoff. Bakeoff submits what is missing, waits,
    /// and collects the blocks. Ctrl-C leaves the jobs; the same command waits for them again.
    #[arg(long, value_name = "NAME", help_heading = HEADING, conflicts_with_all = ["simulate", "here", "shard", "build_for"])]
    on: Option<String>,
    /// Print the scripts that --on would submit, and submit nothing
    #[arg(long, requires = "on", help_heading = HEADING)]
    dry_run: bool,
}

/// Does what `--on` asks for.
pub(crate) fn run(matches: &ArgMatches, wanted: &ElsewhereOrder<'_>) -> Result<Option<Returned>, CommandError> {
    let Ok(Options { on: Some(name), dry_run }) = Options::from_arg_matches(matches) else { return Ok(None) };
    begin::refuse(wanted.plan)?;
    let begun = begin::begin(&name, wanted)?;
    let state = StateFolder::of(wanted.dir)?;
    let mut waiting = Waiting {
        begun,
        wanted,
        state,
        asking: Asking::default(),
        has_noted: false,
        builds: 0,
        submitted: BTreeMap::new(),
        drawn: None,
        told: BTreeSet::new(),
        progress: Progress::default(),
    };
    let [dry, cancelled] = [DRY, CANCELLED].map(|name| waiting.begun.run.dir.join(name));
    if dry_run {
        if waiting.begun.order.shards.is_empty() {
            write_bytes(&dry, b"")?;
        }
        if !waiting.deal(None)? {
            waiting.begun.site.send(&waiting.begun.run, &waiting.begun.order)?;
        }
        screen::out(&waiting.begun.site.scripts(&waiting.begun.run, &waiting.begun.order)?);
        return Ok(Some(Returned::default()));
    }
    interrupt::install()?;
    // It is to run again, or for the first time.
    let _ = [dry, cancelled].map(fs::remove_file);
    waiting.work().map(Some)
}

struct Waiting<'a> {
    begun: Begun,
    wanted: &'a ElsewhereOrder<'a>,
    state: StateFolder,
    /// When it is asked what runs.
    asking: Asking,
    /// Whether it was asked since the last submission why jobs may have to wait.
    has_noted: bool,
    /// How often the builds were submitted.
    builds: u32,
    /// What this command has submitted, by shard.
    submitted: BTreeMap<u32, Submitted>,
    /// The last line that was shown, where lines stay.
    drawn: Option<String>,
    /// Notes that were shown, or what they are about.
    told: BTreeSet<String>,
    /// How far the shards were when it was asked what runs.
    progress: Progress,
}

/// A shard that this command has submitted.
struct Submitted {
    /// How often since it came back with a new block.
    tries: u32,
    /// Blocks and attempts that it had when it was submitted last.
    blocks: usize,
    attempts: usize,
}

impl Waiting<'_> {
    fn work(&mut self) -> Result<Returned, CommandError> {
        let standing = self.standing()?;
        // What is done needs no machine any more.
        if standing.is_empty() || standing.iter().any(|shard| !shard.is_done) {
            let Begun { site, run, order, .. } = &self.begun;
            if !standing.is_empty() {
                // A machine that cannot be reached must not hide what others have done.
                let _ = site.fetch(run, order);
                collect(run, &self.state)?;
            }
            site.send(run, order)?;
        }
        loop {
            let collected = collect(&self.begun.run, &self.state)?;
            let ending = self.tell_failed_builds()?.then_some(Code::VariantFailed);
            self.refuse_half_done(&collected)?;
            refuse_two_kinds(&collected)?;
            let is_new = self.deal(collected.first().map(|one| &one.record))?;
            if !is_new && self.standing()?.iter().all(|shard| shard.is_done) {
                return Ok(Returned { journals: journals(&collected), ending });
            }
            self.tell_beginning();
            let stopped = self.wait()?;
            screen::erase();
            if let Some(why) = stopped {
                screen::err(&why);
                return Ok(Returned { journals: vec![], ending: Some(Code::Interrupted) });
            }
        }
    }

    fn standing(&self) -> Result<Vec<Standing>, CommandError> {
        of_shards(&self.begun.run, &self.begun.order)
    }

    /// Fails if a pass was begun here and not ended: a block of it that nodes have run whole would not count.
    fn refuse_half_done(&self, collected: &[Collected]) -> Result<(), CommandError> {
        for Collected { record, .. } in collected {
            let mut plan = self.wanted.plan.clone();
            let passes = record.blocks_of_here().map(|block| block.block).collect();
            plan.part = Some(Part { passes, ..Part::default() });
            plan.variants.retain(|variant| record.study.variants.iter().any(|known| known.name == variant.name));
            let all = bakeoff_lab::Standing::of(&plan, record);
            if all.blocks_done < all.blocks {
                return Err(CommandError::usage("a pass was begun on this machine and has not ended")
                    .hint("`bakeoff run STUDY --here` ends it; then use --on again"));
            }
        }
        Ok(())
    }

    /// Adds shards for the passes up to the next look. Returns whether there were any.
    fn deal(&mut self, record: Option<&Record>) -> Result<bool, CommandError> {
        if record.is_some_and(stopping::enough) {
            return Ok(false);
        }
        let (plan, nodes) = (self.wanted.plan, self.begun.nodes);
        let last = stopping::next_look(plan.until, plan.blocks, record.map_or(0, stopping::passes), nodes);
        let each = self.begun.site.passes_of_a_job(self.begun.pass_s);
        let is_new;
        (self.begun.order, is_new) = self.begun.run.extend_order(plan, last, nodes, each)?;
        if is_new {
            self.begun.site.send(&self.begun.run, &self.begun.order)?;
        }
        Ok(is_new)
    }

    fn tell_beginning(&self) {
        if self.wanted.quiet {
            return;
        }
        let sizes: Vec<usize> = self.begun.order.shards.iter().map(BTreeSet::len).collect();
        let (passes, most) = (sizes.iter().sum::<usize>(), sizes.iter().max().copied().unwrap_or(0));
        let each = self.begun.pass_s.map(|pass_s| format!(" of {}", about(pass_s * most as f64)));
        screen::err(&format!(
            "{}: {}; {passes} pass{} in {}{}; the run is {}\n",
            clean(&self.begun.name),
            counted(self.begun.nodes, "node"),
            if passes == 1 { "" } else { "es" },
            counted(sizes.len() as u32, "shard"),
            each.unwrap_or_default(),
            self.begun.run.shown()
        ));
    }

    /// Submits what is missing until nothing is. Returns what to say if somebody ends the waiting before.
    fn wait(&mut self) -> Result<Option<String>, CommandError> {
        let mut jobs: Vec<Job> = vec![];
        self.asking = Asking::default();
        loop {
            let mut standing = self.standing()?;
            if interrupt::count() > 0 {
                return Ok(Some(self.interrupted(&standing)));
            }
            if self.begun.run.dir.join(CANCELLED).exists() {
                let why = "another command cancelled the jobs; complete blocks are kept; run the same command again to resume\n";
                return Ok(Some(why.to_owned()));
            }
            let ended = standing.iter().filter(|shard| shard.has_ended).count() + usize::from(self.has_builds()?);
            if self.asking.is_due(self.begun.site.pause(), ended, Instant::now()) {
                self.progress = Progress::of(&self.begun.run, &self.begun.order);
                let Begun { site, run, order, .. } = &self.begun;
                // What cannot be asked now is asked later: nothing is gone because of that.
                match site.fetch(run, order).and_then(|()| site.jobs(run, order)) {
                    Ok(found) => {
                        jobs = found;
                        self.heed(&jobs)?;
                    }
                    Err(why) => {
                        // A scheduler that was restarted may have drained nodes.
                        self.has_noted = false;
                        self.draw(&format!("{}: {}", clean(&self.begun.name), clean(&why.0)));
                    }
                }
                standing = self.standing()?;
            }
            if standing.iter().all(|shard| shard.is_done) {
                // The last files of shards that are far away.
                let _ = self.begun.site.fetch(&self.begun.run, &self.begun.order);
                return Ok(None);
            }
            self.fail_if_refused(&standing)?;
            self.draw(&crate::page::line(&self.begun, &self.progress, &standing, &jobs));
            std::thread::sleep(LOOK);
        }
    }

    /// Names the variants that could not be built: they have no trials. Returns whether there are any.
    fn tell_failed_builds(&mut self) -> Result<bool, CommandError> {
        let failed = self.begun.run.builds()?.map(|built| built.failed).unwrap_or_default();
        for (variant, why) in &failed {
            self.tell(variant, &format!("{variant} cannot be built and has no trials: {why}"));
        }
        Ok(!failed.is_empty())
    }

    /// Whether the builds are there, or there are none.
    fn has_builds(&self) -> Result<bool, CommandError> {
        Ok(!self.begun.order.builds || self.begun.run.builds()?.is_some())
    }

    /// Submits what has no `done` and neither waits nor runs.
    fn heed(&mut self, jobs: &[Job]) -> Result<(), CommandError> {
        self.tell_stuck(jobs);
        let standing = self.standing()?;
        // Before anything is submitted again, which would hide how it ended.
        self.fail_if_refused(&standing)?;
        let run = &self.begun.run;
        if !self.has_builds()? {
            if jobs.iter().any(|job| job.shard.is_none()) {
                return Ok(());
            }
            if self.builds == TRIES {
                let (log, said) = run.early_log(None);
                let error = format!("the builds ended {TRIES} times without a result{said}");
                return Err(CommandError::usage(error).hint(format!("the log is {}", shown(&log))));
            }
            self.builds += 1;
            // The failure before was shown; this is another try.
            let _ = [BUILD_STATUS, BUILD_LOG].map(|name| fs::remove_file(run.dir.join(name)));
            return self.submit(None);
        }
        self.tell_failed_builds()?;
        let known: BTreeSet<u32> = jobs.iter().filter_map(|job| job.shard).collect();
        let missing: Vec<&Standing> =
            standing.iter().filter(|shard| !shard.is_done && !known.contains(&shard.number)).collect();
        if missing.is_empty() {
            // Jobs that do not start may wait for nodes that take none.
            if !self.has_noted && jobs.iter().any(|job| job.state != JobState::Running) {
                self.tell_notes();
            }
            return Ok(());
        }
        self.submit_missing(&missing)
    }

    fn submit_missing(&mut self, missing: &[&Standing]) -> Result<(), CommandError> {
        let run = &self.begun.run;
        let (mut is_again, mut resumed) = (false, vec![]);
        for Standing { number, attempts, .. } in missing {
            let blocks = blocks::of_attempts(run, *number, None).len();
            let before = self.submitted.get(number).filter(|before| before.blocks >= blocks);
            let tries = before.map_or(1, |before| before.tries + 1);
            if tries > TRIES {
                // A job that ends before its shard begins has only the scheduler's log.
                let has_begun = before.is_some_and(|before| *attempts > before.attempts);
                let (log, said) = run.early_log(Some(*number));
                let log = if has_begun { run.shard(*number) } else { log };
                let error = format!("shard {number} came back {TRIES} times without a new block{said}");
                let hint = format!("its log is in {}; the same command submits it again", shown(&log));
                return Err(CommandError::usage(error).hint(hint));
            }
            is_again |= tries > 1;
            let node = self.progress.nodes.get(number).map_or("unknown node", String::as_str);
            resumed.extend((*attempts > 0).then(|| format!("{number} ({node})")));
            self.submitted.insert(*number, Submitted { tries, blocks, attempts: *attempts });
        }
        self.submit(Some(&missing.iter().map(|shard| shard.number).collect::<Vec<_>>()))?;
        if is_again {
            self.tell_notes();
        }
        if !resumed.is_empty() {
            let note = format!("shards that stopped before their end are submitted again: {}", named(resumed));
            let attempts: Vec<_> = missing.iter().map(|shard| (shard.number, shard.attempts)).collect();
            self.tell(&format!("{attempts:?}"), &note);
        }
        Ok(())
    }

    /// Submits these shards, or the builds.
    fn submit(&mut self, shards: Option<&[u32]>) -> Result<(), CommandError> {
        self.begun.site.submit(&self.begun.run, &self.begun.order, shards)?;
        self.asking.note_submission();
        self.has_noted = false;
        Ok(())
    }

    /// Says what is known of the nodes.
    fn tell_notes(&mut self) {
        self.has_noted = true;
        if let Some(note) = self.begun.site.note() {
            self.tell(&note, &note);
        }
    }

    /// Says what waits for ever, and why.
    fn tell_stuck(&mut self, jobs: &[Job]) {
        for job in jobs {
            if let JobState::Waiting { reason, remedy: Some(remedy) } = &job.state {
                let what = job.shard.map_or("the builds wait".to_owned(), |shard| format!("shard {shard} waits"));
                self.tell(reason, &format!("{what} and will not start: {reason}; {remedy}"));
            }
        }
    }

    /// Says something, unless something was said about the same.
    fn tell(&mut self, about: &str, note: &str) {
        if self.told.insert(about.to_owned()) {
            screen::erase();
            screen::err(&format!("note: {}\n", clean(note)));
        }
    }

    /// Fails if building or a shard ended by itself with an error since this command submitted it: that would happen again.
    fn fail_if_refused(&self, standing: &[Standing]) -> Result<(), CommandError> {
        let run = &self.begun.run;
        if !self.has_builds()?
            && let Some(status) = run.build_status()?.filter(|status| self.begun.failed_before.as_ref() != Some(status))
        {
            let error = format!("the builds failed on {}: {}", clean(&status.node), status.last);
            let hint = format!("the log is {}", shown(&run.dir.join(BUILD_LOG)));
            return Err(CommandError::new(Code::VariantFailed, error).hint(hint));
        }
        for Standing { number, attempts, refused, .. } in standing {
            let is_ours = self.submitted.get(number).is_some_and(|before| *attempts > before.attempts);
            if let Some(status) = refused.as_ref().filter(|_| is_ours) {
                let (code, node) = (status.code, clean(&status.node));
                let error = format!("shard {number} ended with exit code {code} on {node}: {}", status.last);
                let hint = format!("its log is in {}", shown(&run.shard(*number)));
                return Err(CommandError::usage(error).hint(hint));
            }
        }
        Ok(())
    }

    /// Shows a line in place of the one before; where lines stay, only if it is another one.
    fn draw(&mut self, line: &str) {
        if !self.wanted.quiet && (screen::err_is_terminal() || self.drawn.as_deref() != Some(line)) {
            screen::draw(line);
            self.drawn = Some(line.to_owned());
        }
    }

    /// What to say after an interrupt.
    fn interrupted(&self, standing: &[Standing]) -> String {
        let left = standing.iter().filter(|shard| !shard.is_done).count();
        let (study, name) = (shown(self.wanted.dir), clean(&self.begun.name));
        let what = match self.has_builds().unwrap_or(false) {
            true => format!("the submitted jobs of {} continue", counted(left as u32, "unfinished shard")),
            false => "submitted builds continue, but no shard starts".to_owned(),
        };
        format!(
            "stopped waiting; {what}. `bakeoff run {study} --on {name}`, with the same options, waits again; `bakeoff jobs \
             {study}` shows the jobs, and has --cancel and --collect\n"
        )
    }
}

/// The journals, each with what is said before its report.
fn journals(collected: &[Collected]) -> Vec<(String, PathBuf)> {
    let mut journals: Vec<_> = collected.iter().map(|one| (String::new(), one.journal.clone())).collect();
    for (other, (said, _)) in collected.iter().zip(&mut journals).skip(1) {
        *said = format!("\n{}", of_another_kind(&collected[0], other));
    }
    journals
}
