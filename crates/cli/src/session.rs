//! One session of a study, wherever its plan and executor come from: opens its journal, and runs what is missing.

mod racing;
mod tracing;

use crate::continued;
use crate::progress::Progress;
use crate::race::{Keep, Race};
use crate::used;
use bakeoff_command::error::CommandError;
use bakeoff_command::{Finished, Gathering, journals, screen};
use bakeoff_host::{file_time_after_unix_s, now_unix_s};
use bakeoff_journal::Journal;
use bakeoff_judge::stopping;
use bakeoff_lab::watched::Watched;
use bakeoff_lab::{Ending, Event, Executor, Standing, drive};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{
    Change, Changed, Checked, ClockSet, FeatureLine, Line, Outcome, Record, Session, StudyLine,
};
use bakeoff_model::until::Until;
use bakeoff_report::words::counted;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(crate) use racing::Raced;

pub(crate) struct OpenStudy<'a> {
    race: Race<'a>,
    journal: Journal,
    record: Record,
    /// This session as the journal is to have it, if it begins only now.
    beginning: Option<Session>,
    /// What is looked at between blocks: files that trials depend on, unless they turn out to write them.
    watched: Vec<Watched>,
    /// Where all of these are, and the folders in which we write between blocks.
    looked_at: BTreeSet<PathBuf>,
    open: BTreeSet<PathBuf>,
    /// Those that turned out so in this session.
    written: Vec<String>,
    /// Those that were changed, and how many trials do not count because of it.
    changed: Option<(Vec<String>, usize)>,
    /// The number of this session, once it has begun.
    session: Option<u32>,
    /// When the files were last looked at; what is changed from then on is a change.
    looked_unix_s: f64,
}

impl<'a> OpenStudy<'a> {
    /// Opens the journal, or begins it.
    fn open(mut race: Race<'a>) -> Result<Self, CommandError> {
        let (journal, contents) = Journal::open(&race.state.journal, &race.study)?;
        let watched = std::mem::take(&mut race.watched);
        let mut study = Self {
            race,
            journal,
            record: contents.record,
            beginning: None,
            watched: vec![],
            looked_at: BTreeSet::new(),
            open: BTreeSet::new(),
            written: vec![],
            changed: None,
            session: None,
            looked_unix_s: 0.0,
        };
        used::look_again(&study.record.study, &mut study.race.study);
        let (known, now) = (&study.record.study, &study.race.study);
        // Input of commands, and what trials were seen to use, is in no identity.
        let is_other = match known.changes(now) {
            Some(changes) => {
                changes.iter().any(|change| known.identity != now.identity || matches!(change, Change::File(_)))
            }
            None => known.identity != now.identity,
        };
        if is_other {
            let path = study.race.state.journal.display();
            let [begun, asked] = [&study.record.study, &study.race.study].map(|s| (s.until, s.looks_until));
            if begun != asked {
                let rule = |until: Until, most: Option<u32>| match (until, most) {
                    (Until::Blocks, _) => "a fixed number of blocks".to_owned(),
                    (until, Some(most)) => {
                        format!("the stopping rule `{until}` with at most {}", counted(most, "block"))
                    }
                    (until, None) => format!("the stopping rule `{until}`"),
                };
                let [begun, asked] = [begun, asked].map(|(until, most)| rule(until, most));
                let error = format!("the journal {path} has {begun}, but this command requests {asked}");
                let hint =
                    "use the rule of the journal, or name another journal; a rule must be fixed before the first block";
                return Err(CommandError::usage(error).hint(hint));
            }
            let error = format!("the journal {path} belongs to another study, or to another version of this study");
            return Err(CommandError::usage(error).hint(continued::hint(known, now)));
        }
        if contents.torn {
            screen::err(
                "note: the last command was killed while writing; Bakeoff removed the incomplete last line of \
                the journal\n",
            );
        }
        journals::tell(&study.race.state.journal, &contents.odd, "damaged trials will now run again");
        // What was measured of building stays, also where no more of it is asked for.
        let building = &mut study.race.study.building;
        *building = building.take().or_else(|| study.record.study.building.clone());
        // The trials are the same whatever is asked of them; the newest way to judge them counts.
        study.race.study.go_on_from(&study.record.study);
        continued::tell_who_joins(&study.record, &study.race.study);
        let [known, asked] = [&study.record.study, &study.race.study].map(|line| {
            let StudyLine { format, decide, building, basis, variants, shared, outputs, excluded, question, .. } = line;
            (format, decide, building, basis, variants, shared, outputs, excluded, question)
        });
        if known != asked {
            study.keep(Line::Study(Box::new(study.race.study.clone())))?;
        }
        // So does what the study now says of a failure.
        for made in study.race.made {
            let known = study.record.made.iter().find(|known| known.digest == made.digest);
            if known.zip(study.race.maker).is_some_and(|(known, maker)| maker.is_restated(known, made)) {
                study.keep(Line::Made(made.clone()))?;
            }
        }
        Ok(study.watching(watched))
    }

    /// With the files that trials run or read, as they were when the study was read.
    fn watching(mut self, files: Vec<Watched>) -> Self {
        let basis = self.race.study.basis.as_ref();
        // A file that was not there before the first session is made by trials.
        let canonical = |file: &Watched| std::fs::canonicalize(file.path()).ok();
        self.looked_at = files.iter().filter_map(canonical).collect();
        let is_input = |name: &str| basis.is_some_and(|basis| basis.files.contains_key(name));
        self.watched = files.into_iter().filter(|file| !file.may_be_written || is_input(&file.name)).collect();
        self
    }

    /// Takes the files out of what trials depend on that trials write.
    fn note_written(&mut self, written: Vec<String>) -> Result<(), CommandError> {
        self.written.extend(written.iter().cloned());
        let Some(basis) = &mut self.race.study.basis else { return Ok(()) };
        let known = written.iter().filter(|name| basis.mark_written(name)).count();
        if known == 0 {
            return Ok(());
        }
        self.keep(Line::Study(Box::new(self.race.study.clone())))
    }

    fn note_changed(&mut self, line: Changed) -> Result<(), CommandError> {
        let void =
            |record: &Record| record.trials.iter().filter(|trial| matches!(trial.outcome, Outcome::Void(_))).count();
        let (before, files) = (void(&self.record), line.files.clone());
        self.keep(Line::Changed(line))?;
        self.changed = Some((files, void(&self.record) - before));
        self.sync()
    }

    /// Trials of a session that was killed since its last look count only if nothing was touched since.
    fn void_unchecked_trials(&mut self, session: u32, files: &str) -> Result<(), CommandError> {
        if files.is_empty() {
            return Ok(());
        }
        let is_same = self.record.checked.as_ref().is_some_and(|checked| checked.files == files);
        if !self.record.unchecked().is_empty() && !is_same {
            let line = Changed { session, files: vec![], whole_session: false, from_unix_s: None };
            self.note_changed(line)?;
            let void = self.changed.take().map_or(0, |(_, void)| void);
            screen::err(&format!(
                "note: the last command was killed, and a program under test was rewritten or rebuilt after the last \
                 check, so {} must run again\n",
                counted(void as u32, "void trial")
            ));
        }
        self.keep(Line::Checked(Checked { session, files: files.to_owned() }))
    }

    fn tell_changed(&self) {
        let Some((files, void)) = &self.changed else { return };
        let shown: Vec<&str> = files.iter().take(FILES_SHOWN).map(String::as_str).collect();
        let more = files.len() - shown.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        screen::err(&format!(
            "stopped because these changed while trials ran: {}{more}. The {} since then must run again\n\
             hint: run the same command again. It rebuilds changed builds. If a system program or a file of the study \
             changed, it begins a new journal. Workloads should write only to their own folders\n",
            bakeoff_model::plain::clean(&shown.join(", ")),
            counted(*void as u32, "void trial")
        ));
    }

    /// Says which files trials wrote, once the progress is out of the way.
    fn tell_written(&self) {
        if self.written.is_empty() {
            return;
        }
        screen::err(&format!(
            "note: {} changed while trials ran. Bakeoff treats such changes as output of the trials and ignores \
             further ones. If you made a change yourself, the trials before and after it are not comparable; to start \
             over, move away the journal {}\n",
            bakeoff_model::plain::clean(&self.written.join(", ")),
            self.race.state.journal.display()
        ));
    }

    fn keep(&mut self, line: Line) -> Result<(), CommandError> {
        self.journal.append(&line)?;
        self.record.push(line);
        Ok(())
    }

    /// Runs what the journal lacks, and then gathers evidence. An executor is made only if something needs one.
    fn execute<'e>(
        mut self,
        executor: impl FnOnce(Vec<Watched>) -> Result<Box<dyn Executor + 'e>, CommandError>,
    ) -> Result<(Record, Ending), CommandError> {
        let plan = self.race.plan;
        let done = Standing::of(plan, &self.record);
        let is_complete =
            (done.trials_done == done.trials || stopping::enough(&self.record)) && self.record.unchecked().is_empty();
        if is_complete {
            // Fewer blocks may be asked for than by the session before: then what there is, is all that is wanted.
            let blocks = self.blocks_of_complete();
            if let Some(last) = self.record.sessions.last_mut() {
                last.blocks = blocks;
            }
            if !self.has_trials() {
                self.gather()?;
                return Ok((self.record, Ending::Complete));
            }
        }
        let mut executor = executor(std::mem::take(&mut self.watched))?;
        // It may have taken long until now: builds, and waiting for the machine.
        self.looked_unix_s = now_unix_s();
        let look = executor.look()?;
        if let Some(name) = look.changed.first() {
            let error = format!("the file {name} was changed after this command read it");
            return Err(CommandError::usage(error).hint("run the same command again"));
        }
        let executed = self.execute_all(executor.as_mut(), &look.files, is_complete);
        // Whatever ended it, what was set up is cleaned up.
        let notes = executor.end();
        let executed = executed?;
        for note in notes? {
            screen::err(&format!("note: {}\n", bakeoff_model::plain::clean(&note)));
        }
        Ok(executed)
    }

    /// The trials that are missing, and then what features gather.
    fn execute_all(
        self,
        executor: &mut dyn Executor,
        files: &str,
        is_complete: bool,
    ) -> Result<(Record, Ending), CommandError> {
        let mut study = self;
        if !is_complete {
            let ending;
            (study, ending) = study.execute_trials(executor, files)?;
            let ending = if ending == Ending::Complete { study.trace_files(executor)? } else { ending };
            if ending != Ending::Complete {
                return Ok((study.record, ending));
            }
        }
        study.gather()?;
        let ending = study.gather_by_trials(executor)?;
        Ok((study.record, ending))
    }

    fn execute_trials(mut self, executor: &mut dyn Executor, files: &str) -> Result<(Self, Ending), CommandError> {
        let plan = self.race.plan;
        let session = self.begin(self.session_of(Some(executor), plan.blocks))?;
        self.void_unchecked_trials(session, files)?;
        let before = self.record.clone();
        let mut progress = Progress::from(Standing::of(plan, &before));
        (progress.quiet, progress.at_most) = (self.race.quiet, plan.until != Until::Blocks);
        progress.guess_s = self.race.guess_s;
        let mut clock = bakeoff_host::ClockWatch::begin();
        // What is emitted goes in; whether there is enough is asked of what went in.
        let study = RefCell::new(self);
        let mut emit = |event: Event| -> Result<(), CommandError> {
            progress.hear(&event);
            let mut study = study.borrow_mut();
            if matches!(event, Event::BlockEnded)
                && let Some(by_s) = clock.set_by_s()
            {
                study.keep(Line::ClockSet(ClockSet { session, by_s }))?;
            }
            match event {
                Event::BlockBegins(block) => study.keep(Line::Block(block)),
                Event::TrialEnded(trial) => study.keep(Line::Trial(*trial)),
                Event::BootEnded(boot) => {
                    study.keep(Line::Boot(*boot))?;
                    study.sync()
                }
                Event::Stops(stopped) => {
                    study.keep(Line::Stopped(stopped))?;
                    let Standing { trials, blocks, .. } = Standing::of(plan, &study.record);
                    progress.wanted(trials, blocks);
                    Ok(())
                }
                Event::Written(files) => study.note_written(files),
                Event::Checked(files) => study.keep(Line::Checked(Checked { session, files })),
                Event::Changed { files, whole_session } => {
                    study.note_changed(Changed { session, files, whole_session, from_unix_s: None })
                }
                Event::BlockEnded => {
                    study.sync()?;
                    let (features, asked) = study.race.observers;
                    let written = asked.map(|asked| features.work_between_blocks(asked, &study.record));
                    let written = written.unwrap_or_default();
                    study.open.extend(written.iter().filter_map(|file| file.parent()).map(Path::to_owned));
                    study.open.extend(written);
                    Ok(())
                }
                Event::TrialBegins { .. } => Ok(()),
            }
        };
        let enough = || stopping::enough(&study.borrow().record);
        let ending = drive(plan, &before, session, executor, &mut emit, &interrupted, &enough);
        progress.clear();
        let mut study = study.into_inner();
        study.tell_written();
        let ending = ending?;
        if ending == Ending::Changed {
            study.tell_changed();
        }
        study.sync()?;
        Ok((study, ending))
    }

    fn gatherings(&self) -> &'a [Gathering] {
        self.race.evidence.as_ref().map_or(&[], |_| self.race.observers.0.gatherings.as_slice())
    }

    /// Whether a feature needs trials of its own.
    fn has_trials(&self) -> bool {
        self.gatherings().iter().filter_map(|one| one.trials).any(|trials| (trials.are_missing)(self))
    }

    fn gather(&mut self) -> Result<(), CommandError> {
        self.beginning = Some(self.session_of(None, self.blocks_of_complete()));
        self.gatherings().iter().try_for_each(|one| (one.gather)(self))?;
        self.sync()
    }

    fn gather_by_trials(&mut self, executor: &mut dyn Executor) -> Result<Ending, CommandError> {
        self.beginning = Some(self.session_of(Some(executor), self.blocks_of_complete()));
        let mut ending = Ending::Complete;
        for trials in self.gatherings().iter().filter_map(|one| one.trials) {
            ending = (trials.execute)(self, executor)?;
            if ending != Ending::Complete {
                break;
            }
        }
        self.sync()?;
        Ok(ending)
    }

    /// Waits until all that was kept is on the disk. A scratch journal survives our death, but not the machine's.
    fn sync(&mut self) -> Result<(), CommandError> {
        if self.race.keep != Keep::Scratch {
            self.journal.sync()?;
        }
        Ok(())
    }

    /// Blocks that are asked for of a study that is complete.
    fn blocks_of_complete(&self) -> u32 {
        let passes = self.record.blocks.iter().map(|block| block.block).max().unwrap_or(0);
        let wanted = self.race.plan.blocks.max(passes);
        self.record.sessions.last().map_or(wanted, |last| last.blocks.min(wanted))
    }

    fn session_of(&self, executor: Option<&dyn Executor>, blocks: u32) -> Session {
        let mut place = bakeoff_host::place::fingerprint();
        if let Some((node, scratch)) = &self.race.node {
            place.host.clone_from(node);
            let programs = self.race.maker.map_or(Path::new("/"), |maker| maker.root());
            place.settings = bakeoff_host::place::settings(programs, scratch);
            let enclosure = executor.and_then(|executor| executor.enclosure());
            place.settings.extend(enclosure.map(|kind| ("enclosure".to_owned(), kind.to_owned())));
        }
        Session {
            session: self.record.next_session(),
            // Stamps of files must show whether a file was changed before the trials are set up.
            started_unix_s: executor.map_or_else(now_unix_s, |_| file_time_after_unix_s(self.looked_unix_s)),
            blocks,
            place,
            memory_floor_bytes: executor.and_then(|executor| executor.memory_floor_bytes()),
            surroundings: executor.map(|executor| executor.surroundings()).unwrap_or_default(),
            unavailable: executor.map(|executor| executor.unavailable()).unwrap_or_default(),
        }
    }

    /// Writes that this session begins, and what was made for it.
    fn begin(&mut self, session: Session) -> Result<u32, CommandError> {
        let number = session.session;
        self.session = Some(number);
        self.keep(Line::Session(session))?;
        for made in self.race.made {
            if !self.record.made.contains(made) {
                self.keep(Line::Made(made.clone()))?;
            }
        }
        Ok(number)
    }
}

impl Finished for OpenStudy<'_> {
    fn plan(&self) -> &Plan {
        self.race.plan
    }

    fn record(&self) -> &Record {
        &self.record
    }

    fn section(&self, name: &str) -> Option<&Value> {
        self.race.evidence.as_ref().and_then(|wanted| wanted.sections.get(name))
    }

    fn prefix_of(&self, variant: &str) -> Option<PathBuf> {
        Some(self.race.maker?.prefix_of(self.race.evidence.as_ref()?.digests.get(variant)?))
    }

    fn quiet(&self) -> bool {
        self.race.quiet
    }

    fn is_interrupted(&self) -> bool {
        interrupted()
    }

    fn session(&mut self) -> Result<u32, CommandError> {
        match self.session {
            Some(number) => Ok(number),
            None => {
                let session = self.beginning.take();
                let session = session.unwrap_or_else(|| self.session_of(None, self.blocks_of_complete()));
                self.begin(session)
            }
        }
    }

    fn keep(&mut self, line: FeatureLine) -> Result<(), CommandError> {
        OpenStudy::keep(self, Line::Feature(line))
    }
}

const FILES_SHOWN: usize = 3;

fn interrupted() -> bool {
    bakeoff_host::interrupt::count() > 0
}
