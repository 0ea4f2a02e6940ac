//! The traced runs at the end of a session: which variants and workloads run once more, and what becomes of the files
//! that were seen. How one run is traced, and the rules by which a file was changed, are in [`crate::used`].

use super::{OpenStudy, interrupted};
use crate::used::{self, Files};
use bakeoff_command::error::CommandError;
use bakeoff_command::walls::usual_walls;
use bakeoff_command::{TRACE_TRIAL, own_command, screen};
use bakeoff_lab::{Ending, Executor, Subject};
use bakeoff_model::record::{Changed, Line, Outcome, Trial};
use bakeoff_model::study::STATE_FOLDER;
use std::path::{Path, PathBuf};

impl OpenStudy<'_> {
    /// Runs each variant once more under a tracer, and holds the files that it uses against the time of the trials.
    pub(super) fn trace_files(&mut self, executor: &mut dyn Executor) -> Result<Ending, CommandError> {
        let Some(apart) = self.race.trace.clone() else { return Ok(Ending::Complete) };
        let (plan, tracer) = (self.race.plan, own_command(TRACE_TRIAL));
        let (mut sights, mut failed, mut why) =
            (vec![], None, plan.boots().then(|| "trials run in a guest".to_owned()));
        let walls = usual_walls(std::slice::from_ref(&self.record));
        let workloads = plan.workloads.iter().map(|workload| workload.name.as_str());
        let subjects: Vec<_> = workloads
            .flat_map(|workload| plan.variants.iter().map(move |variant| Subject { variant: &variant.name, workload }))
            .collect();
        for (number, subject) in (1..).zip(&subjects) {
            if why.is_some() || interrupted() {
                break;
            }
            let wall_s = plan.conditions.iter().filter_map(|condition| walls.of(subject.workload, &condition.name));
            let wall_s = wall_s.fold(0.0, f64::max);
            if wall_s > used::LONGEST_S {
                why = Some(format!("a trial of {} takes longer than {} s", subject.workload, used::LONGEST_S));
                break;
            }
            if !self.race.quiet && screen::err_is_terminal() {
                screen::draw(&format!(
                    "tracing which files {} uses: run {number} of {}",
                    subject.variant,
                    subjects.len()
                ));
            }
            match used::trace(*subject, &tracer, wall_s, executor)? {
                Some(Ok(sight)) => {
                    let is_it =
                        |trial: &&Trial| (&*trial.variant, &*trial.workload) == (subject.variant, subject.workload);
                    let succeeds = self.record.trials.iter().filter(is_it).any(|trial| trial.outcome == Outcome::Ok);
                    if sight.failed && succeeds {
                        failed.get_or_insert_with(|| format!("the traced run of {} failed", subject.variant));
                    }
                    sights.push(sight);
                }
                Some(Err(refused)) => why = Some(refused),
                None => break,
            }
        }
        screen::erase();
        if let Some(why) = why.or(failed) {
            screen::err(&format!(
                "note: Bakeoff did not trace all files that the trials open ({}). Without a trace, it watches only the \
                 programs named in commands and the files that those programs load\n",
                bakeoff_model::plain::clean(&why)
            ));
        }
        // What we and our terminal write, and where we write between blocks.
        let journal = &*self.race.state.journal;
        let (lock, folder) = (journal.with_extension("lock"), journal.parent().unwrap_or(Path::new(".")));
        let printed = ["/proc/self/fd/1", "/proc/self/fd/2"].map(Path::new);
        let ours = [journal, &lock, folder, Path::new(".")].into_iter().chain(printed);
        let canonical = |path: &Path| std::fs::canonicalize(path).ok();
        let open = self.open.iter().map(PathBuf::as_path).chain(ours).filter_map(canonical).collect();
        let state = Some(folder).filter(|folder| folder.ends_with(STATE_FOLDER));
        let apart = apart.iter().map(PathBuf::as_path).chain(state).filter_map(canonical).collect();
        let files = Files { record: &self.record, apart, watched: std::mem::take(&mut self.looked_at), open };
        let found = files.judge(&sights);
        if let Some(basis) = self.race.study.basis.as_mut().filter(|_| !found.seen.is_empty()) {
            basis.seen.extend(found.seen);
            self.keep(Line::Study(Box::new(self.race.study.clone())))?;
        }
        let Some((from, files)) = found.changed else { return Ok(Ending::Complete) };
        let session = self.session.unwrap_or_default();
        self.note_changed(Changed { session, files, whole_session: false, from_unix_s: Some(from) })?;
        self.tell_changed();
        Ok(Ending::Changed)
    }
}
