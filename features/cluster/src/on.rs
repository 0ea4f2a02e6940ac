//! `bakeoff run STUDY --on NAME`: submits what is missing, waits, collects. It keeps nothing in its memory that it needs: a
//! second one, or the same one after it was killed, goes on from the files of the run and from the queue.

use crate::asking::{Asking, Seen};
use crate::begin::{self, Begun};
use crate::blocks;
use crate::collect::{Collected, collect, differ_in};
use crate::order::Deal;
use crate::run_folder::CANCELLED;
use crate::site::{Job, JobState};
use crate::standing::{Progress, Standing, of_shards};
use bakeoff_command::state::StateFolder;
use bakeoff_command::{Code, CommandError, ElsewhereOrder, Returned, screen};
use bakeoff_host::interrupt;
use bakeoff_judge::stopping;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::Record;
use bakeoff_model::until::Until;
use bakeoff_report::words::counted;
use clap::ArgMatches;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How often the files of a run are looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How often a shard is submitted that comes back without a new block.
const TRIES: u32 = 4;

/// Does what `--on` asks for.
pub(crate) fn run(matches: &ArgMatches, wanted: &ElsewhereOrder<'_>) -> Result<Option<Returned>, CommandError> {
    let Some(name) = matches.get_one::<String>("on") else { return Ok(None) };
    let plan = wanted.plan;
    begin::refuse(plan)?;
    let is_dry = matches.get_flag("dry_run");
    let begun = begin::begin(name, wanted)?;
    let state = StateFolder::of(wanted.dir)?;
    let mut waiting = Waiting {
        quiet: wanted.quiet,
        study: clean(&wanted.dir.display().to_string()),
        begun,
        plan,
        state: &state,
        asking: Asking::default(),
        asked: None,
        questions: 0,
        builds: 0,
        submitted: BTreeMap::new(),
        tries: BTreeMap::new(),
        drawn: None,
        has_noted: false,
        told: BTreeSet::new(),
        progress: Progress::default(),
    };
    if is_dry {
        waiting.deal(None)?;
        screen::out(&waiting.begun.site.scripts(&waiting.begun.run, &waiting.begun.order)?);
        return Ok(Some(Returned::default()));
    }
    interrupt::install()?;
    // It is wanted again.
    let _ = std::fs::remove_file(waiting.begun.run.dir.join(CANCELLED));
    waiting.work().map(Some)
}

struct Waiting<'a> {
    begun: Begun,
    plan: &'a Plan,
    state: &'a StateFolder,
    study: String,
    quiet: bool,
    /// When the scheduler is asked.
    asking: Asking,
    /// When it was asked last, and how often since anything was submitted.
    asked: Option<Instant>,
    questions: u32,
    /// Whether it was asked since then why jobs may have to wait.
    has_noted: bool,
    /// How often the builds were submitted.
    builds: u32,
    /// The numbers of attempts that there were when this command submitted a shard.
    submitted: BTreeMap<u32, usize>,
    /// How often, and how many blocks the shard had then.
    tries: BTreeMap<u32, (u32, usize)>,
    /// The last line that was shown, where lines stay.
    drawn: Option<String>,
    /// Reasons for waiting that were shown.
    told: BTreeSet<String>,
    /// How far the shards were when the scheduler was asked.
    progress: Progress,
}

/// Why a wait is over.
#[derive(Debug, PartialEq, Eq)]
enum Over {
    Complete,
    Interrupted,
    Cancelled,
}

impl Waiting<'_> {
    fn work(&mut self) -> Result<Returned, CommandError> {
        self.begun.site.send(&self.begun.run, &self.begun.order)?;
        loop {
            let collected = collect(&self.begun.run, self.state)?;
            if !self.deal(collected.first().map(|one| &one.record))? && self.is_done()? {
                return Ok(returned(&collected, None));
            }
            self.tell_beginning();
            let over = self.wait()?;
            screen::erase();
            match over {
                Over::Complete => {}
                Over::Interrupted => return self.interrupted(),
                Over::Cancelled => {
                    screen::err(
                        "another command cancelled the jobs; complete blocks are kept; run the same command again to resume\n",
                    );
                    return Ok(Returned { journals: vec![], ending: Some(Code::Interrupted) });
                }
            }
        }
    }

    /// Adds shards for the passes up to the next look. Returns whether there were any.
    fn deal(&mut self, record: Option<&Record>) -> Result<bool, CommandError> {
        let last = match record {
            Some(record) if self.plan.until != Until::Blocks && stopping::enough(record) => return Ok(false),
            record => next_look(self.plan, record, self.begun.nodes),
        };
        let pass_s = self.begun.pass_s;
        let deal = Deal { nodes: self.begun.nodes, passes: self.begun.site.passes_of_a_job(pass_s) };
        let is_new;
        (self.begun.order, is_new) = self.begun.run.extend_order(self.plan, last, deal)?;
        if is_new {
            self.begun.site.send(&self.begun.run, &self.begun.order)?;
        }
        Ok(is_new)
    }

    fn is_done(&self) -> Result<bool, CommandError> {
        Ok(of_shards(&self.begun.run, &self.begun.order)?.iter().all(Standing::is_done))
    }

    fn tell_beginning(&self) {
        if self.quiet {
            return;
        }
        let order = &self.begun.order;
        let passes: usize = order.shards.iter().map(BTreeSet::len).sum();
        let each = self.begun.pass_s.map(|pass_s| {
            let most = order.shards.iter().map(BTreeSet::len).max().unwrap_or(0);
            format!(" of about {}", bakeoff_report::format::duration(pass_s * most as f64))
        });
        let text = format!(
            "{}: {}; {passes} pass{} in {}{}; the run is {}\n",
            clean(&self.begun.name),
            counted(self.begun.nodes, "node"),
            if passes == 1 { "" } else { "es" },
            counted(order.shards.len() as u32, "shard"),
            each.unwrap_or_default(),
            clean(&self.begun.run.dir.display().to_string())
        );
        screen::err(&text);
    }

    /// Submits what is missing until nothing is, or until somebody interrupts.
    fn wait(&mut self) -> Result<Over, CommandError> {
        let mut jobs: Vec<Job> = vec![];
        loop {
            if interrupt::count() > 0 {
                return Ok(Over::Interrupted);
            }
            if self.begun.run.dir.join(CANCELLED).exists() {
                return Ok(Over::Cancelled);
            }
            let seen = self.look()?;
            let now = Instant::now();
            let is_due = match self.begun.site.pause(self.questions) {
                Some(pause) => self.asked.is_none_or(|asked| now.duration_since(asked) >= pause),
                None => self.asking.is_due(seen, now),
            };
            if is_due {
                self.asking.note(seen, now);
                (self.asked, self.questions) = (Some(now), self.questions + 1);
                // What cannot be asked now is asked later: nothing is gone because of that.
                let asked = self.begun.site.fetch(&self.begun.run).and_then(|()| self.begun.site.jobs(&self.begun.run));
                match asked {
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
                self.progress = Progress::of(&self.begun.run, &self.begun.order);
            }
            let standing = of_shards(&self.begun.run, &self.begun.order)?;
            if standing.iter().all(Standing::is_done) {
                // The last files of shards that are far away.
                let _ = self.begun.site.fetch(&self.begun.run);
                return Ok(Over::Complete);
            }
            self.fail_if_refused(&standing)?;
            self.draw(&crate::page::line(&self.begun, &self.progress, &standing, &jobs));
            std::thread::sleep(LOOK);
        }
    }

    fn note_submission(&mut self) {
        self.asking.note_submission(Instant::now());
        self.questions = 0;
        self.has_noted = false;
    }

    /// What the files show that the scheduler should be asked about.
    fn look(&mut self) -> Result<Seen, CommandError> {
        let (run, order) = (&self.begun.run, &self.begun.order);
        let standing = of_shards(run, order)?;
        let waits = |shard: &&Standing| {
            !shard.is_done() && self.submitted.get(&shard.number).is_none_or(|first| shard.attempts <= *first)
        };
        if !standing.iter().any(|shard| waits(&shard)) {
            self.asking.note_start();
        }
        let ended = standing.iter().filter(|shard| shard.has_ended).count();
        Ok(Seen { has_builds: !order.builds || run.builds()?.is_some(), shards: standing.len(), ended })
    }

    /// Submits what has no `done` and neither waits nor runs.
    fn heed(&mut self, jobs: &[Job]) -> Result<(), CommandError> {
        self.tell_stuck(jobs);
        // Before anything is submitted again, which would hide how it ended.
        self.fail_if_refused(&of_shards(&self.begun.run, &self.begun.order)?)?;
        let (run, order) = (&self.begun.run, &self.begun.order);
        if order.builds && run.builds()?.is_none() {
            if !jobs.iter().any(|job| job.shard.is_none()) {
                if self.builds == TRIES {
                    let error = format!("the builds ended {TRIES} times without a result");
                    let folder = clean(&run.dir.display().to_string());
                    return Err(CommandError::usage(error).hint(format!("logs are in {folder}")));
                }
                self.builds += 1;
                self.begun.site.build(run, order)?;
                self.note_submission();
            }
            return Ok(());
        }
        let known: BTreeSet<u32> = jobs.iter().filter_map(|job| job.shard).collect();
        let standing = of_shards(run, order)?;
        let missing: Vec<&Standing> =
            standing.iter().filter(|shard| !shard.is_done() && !known.contains(&shard.number)).collect();
        if missing.is_empty() {
            // Jobs that do not start may wait for nodes that take none.
            if !self.has_noted && jobs.iter().any(|job| job.state != JobState::Runs) {
                self.tell_notes();
            }
            return Ok(());
        }
        let mut is_again = false;
        for shard in &missing {
            let now = blocks::of_attempts(run, shard.number, None).len();
            let (tries, before) = self.tries.get(&shard.number).copied().unwrap_or((0, now));
            let tries = if now > before { 1 } else { tries + 1 };
            if tries > TRIES {
                let error = format!(
                    "shard {} came back {TRIES} times without a new block; its log is in {}",
                    shard.number,
                    clean(&run.shard(shard.number).display().to_string())
                );
                return Err(CommandError::usage(error).hint("the same command submits it again"));
            }
            is_again |= tries > 1;
            self.tries.insert(shard.number, (tries, now));
            self.submitted.insert(shard.number, shard.attempts);
        }
        let numbers: Vec<u32> = missing.iter().map(|shard| shard.number).collect();
        self.begun.site.submit(run, order, &numbers)?;
        self.note_submission();
        if is_again {
            self.tell_notes();
        }
        Ok(())
    }

    /// Says what is known of the nodes, once.
    fn tell_notes(&mut self) {
        self.has_noted = true;
        for note in self.begun.site.notes() {
            if self.told.insert(note.clone()) {
                screen::erase();
                screen::err(&format!("note: {}\n", clean(&note)));
            }
        }
    }

    /// Fails if building or a shard ended by itself with an error since this command submitted it: that would happen again.
    fn fail_if_refused(&self, standing: &[Standing]) -> Result<(), CommandError> {
        let run = &self.begun.run;
        if self.begun.order.builds
            && run.builds()?.is_none()
            && let Some(status) = run.build_status()?.filter(|status| self.begun.failed_before.as_ref() != Some(status))
        {
            let error = format!("the builds failed on {}: {}", clean(&status.node), status.last);
            return Err(CommandError::new(Code::VariantFailed, error)
                .hint(format!("the log is {}", clean(&run.dir.join("build.log").display().to_string()))));
        }
        let refused = standing.iter().find_map(|shard| {
            let first = *self.submitted.get(&shard.number)?;
            let status = shard.refused.as_ref().filter(|_| shard.attempts > first && !shard.is_done())?;
            Some((shard.number, status))
        });
        let Some((number, status)) = refused else { return Ok(()) };
        let error =
            format!("shard {number} ended with exit code {} on {}: {}", status.code, clean(&status.node), status.last);
        Err(CommandError::usage(error)
            .hint(format!("its log is in {}", clean(&run.shard(number).display().to_string()))))
    }

    /// Says once what waits for ever, and why.
    fn tell_stuck(&mut self, jobs: &[Job]) {
        for job in jobs {
            if let JobState::Waits { reason, remedy: Some(remedy) } = &job.state
                && self.told.insert(reason.clone())
            {
                screen::erase();
                let what =
                    job.shard.map_or_else(|| "the builds wait".to_owned(), |shard| format!("shard {shard} waits"));
                screen::err(&format!("note: {what} and will not start: {}; {remedy}\n", clean(reason)));
            }
        }
    }

    /// Shows a line in place of the one before; where lines stay, only if another shard is done.
    fn draw(&mut self, line: &str) {
        if self.quiet {
            return;
        }
        if screen::err_is_terminal() {
            screen::draw(line);
        } else if self.drawn.as_deref() != Some(line) {
            screen::err(&format!("{line}\n"));
            self.drawn = Some(line.to_owned());
        }
    }

    fn interrupted(&self) -> Result<Returned, CommandError> {
        let standing = of_shards(&self.begun.run, &self.begun.order)?;
        let left = standing.iter().filter(|shard| !shard.is_done()).count();
        let (study, name) = (&self.study, clean(&self.begun.name));
        let has_builds = !self.begun.order.builds || matches!(self.begun.run.builds(), Ok(Some(_)));
        let what = match has_builds {
            true => format!("the submitted jobs of {} continue", counted(left as u32, "unfinished shard")),
            false => "submitted builds continue, but no shard starts".to_owned(),
        };
        screen::err(&format!(
            "stopped waiting; {what}. `bakeoff run {study} --on {name}`, with the same options, waits again; `bakeoff jobs \
             {study}` shows the jobs, and has --cancel and --collect\n"
        ));
        Ok(Returned { journals: vec![], ending: Some(Code::Interrupted) })
    }
}

/// The last pass that is run before the next look.
fn next_look(plan: &Plan, record: Option<&Record>, together: u32) -> u32 {
    let complete = record.map_or(0, stopping::passes);
    stopping::next_look(plan.until, plan.blocks, complete, together)
}

/// The journals, each with what is said before its report.
pub(crate) fn returned(collected: &[Collected], ending: Option<Code>) -> Returned {
    let Some((first, others)) = collected.split_first() else { return Returned { journals: vec![], ending } };
    let mut journals = vec![(String::new(), first.journal.clone())];
    for other in others {
        let said = format!(
            "\nnote: {} blocks ran on machines of another kind, so they have a report of their own. The kinds differ in:\n{}",
            other.record.away.len(),
            differ_in(first, other).iter().map(|line| format!("    {}\n", clean(line))).collect::<String>()
        );
        journals.push((said, other.journal.clone()));
    }
    Returned { journals, ending }
}
