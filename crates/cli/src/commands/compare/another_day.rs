//! `compare --save` and `--against`: a comparison that is kept for another day, and one of another day in today's blocks. What
//! of it is still the same by its digests races again; of the rest only the numbers are there, which the report shows.

use super::parameters::COMMAND;
use super::variants::{is_saved, saved_name};
use crate::{executed, used};
use bakeoff_command::error::CommandError;
use bakeoff_command::saved::Saved;
use bakeoff_command::study_folder::words;
use bakeoff_command::{Registry, journals, screen};
use bakeoff_judge::Question;
use bakeoff_judge::findings::Findings;
use bakeoff_judge::not_paired::{NotPaired, Reason};
use bakeoff_lab::Ending;
use bakeoff_lab::local::{Setup, absent};
use bakeoff_lab::watched::Watched;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{Basis, Record, StudyLine, VARIANT_KEY, VariantLine};
use bakeoff_model::study::Levels;
use std::collections::BTreeMap;
use std::path::Path;

/// Comparisons of other days
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Another day")]
pub(super) struct AnotherDay {
    /// Save the finished comparison under this name, for --against; `bakeoff saved` lists the saved names
    ///
    /// Comparisons of commits (--git) cannot be saved.
    #[arg(long, value_name = "NAME")]
    save: Option<String>,
    /// With --save: replace the comparison saved under that name
    #[arg(long, requires = "save")]
    replace: bool,
    /// Compare with a saved comparison: run its commands again in today's blocks if their files are unchanged
    ///
    /// The saved comparison's first command is the baseline. For commands that cannot run again, the report shows the
    /// saved numbers next to today's, without a verdict.
    // `against` is an option of `report`, which is something else.
    #[arg(long = "against", id = "saved", value_name = "NAME",
          conflicts_with_all = ["parameter_scan", "parameter_list"])]
    against: Option<String>,
}

impl AnotherDay {
    pub(super) fn is_asked(&self) -> bool {
        self.save.is_some() || self.against.is_some()
    }

    /// Whether the comparison can be saved, and the one to compare with; before anything is executed.
    pub(super) fn open(&self, features: &Registry) -> Result<Option<Earlier>, CommandError> {
        if let Some(name) = &self.save {
            Saved::of_user()?.check(name, self.replace)?;
        }
        self.against.as_ref().map(|name| Earlier::read(name, features)).transpose()
    }

    pub(super) fn save(&self, journal: &Path, ending: Ending, quiet: bool) -> Result<(), CommandError> {
        let Some(name) = &self.save else { return Ok(()) };
        if ending != Ending::Complete {
            screen::err("note: nothing was saved, because the comparison is incomplete\n");
            return Ok(());
        }
        let got = Saved::of_user()?.save(name, journal, self.replace)?;
        if !quiet || got != *name {
            screen::err(&format!("saved as {0}; use --against {0} to compare with it\n", clean(&got)));
        }
        Ok(())
    }
}

/// A comparison of another day.
pub(super) struct Earlier {
    name: String,
    record: Record,
    /// The names that its variants have today which race again.
    again: Vec<String>,
    /// Why the others do not.
    reasons: Vec<Reason>,
    /// Options that are other ones today.
    options: Vec<String>,
}

impl Earlier {
    fn read(name: &str, features: &Registry) -> Result<Self, CommandError> {
        let journal = Saved::of_user()?.journal(name)?;
        let record = journals::read(&journal, features)?;
        Ok(Self { name: name.to_owned(), record, again: vec![], reasons: vec![], options: vec![] })
    }

    /// Adds what races again to today's plan; its baseline becomes today's, unless another one was asked for.
    pub(super) fn join(&mut self, plan: &mut Plan, setup: &Setup, basis: &Basis, leads: bool) {
        let own: Vec<VariantLine> = self
            .record
            .study
            .variants
            .iter()
            .filter(|line| !is_saved(&line.name, line.run.as_deref()))
            .cloned()
            .collect();
        let then = self.record.study.basis.clone().unwrap_or_default();
        self.options = other_options(&then, basis);
        let mut at = plan.variants.len();
        for (number, line) in own.iter().enumerate() {
            let name = saved_name(&self.name, (own.len() > 1).then_some(&line.name), &plan.variants);
            let variant = Variant {
                name: name.clone(),
                levels: Levels::from([(COMMAND.to_owned(), name.clone())]),
                run: line.run.clone(),
                ..Variant::default()
            };
            if let Err(why) = is_same(line, plan, &variant, setup, &then, basis) {
                self.reasons.push(Reason { variant: line.name.clone(), why });
                continue;
            }
            if number == 0 && leads {
                at = 0;
            }
            plan.variants.insert(at, variant);
            at += 1;
            self.again.push(name);
        }
        plan.decide.baseline = plan.variants[0].levels.clone();
    }

    /// What is said of it before the first trial.
    pub(super) fn tell(&self) {
        for name in &self.again {
            screen::err(&format!(
                "note: {} runs again, because its files have not changed since it was \
                saved\n",
                clean(name)
            ));
        }
    }

    /// Adds the numbers that have no pair to today's findings; false if there are none, because all of it races again.
    pub(super) fn add_to(&self, today: &mut Findings, features: &Registry) -> Result<bool, CommandError> {
        if self.reasons.is_empty() {
            return Ok(false);
        }
        let question = Question { metric: Some(today.method.deciding_metric.clone()), ..Question::default() };
        let record = question.of(self.record.clone()).unwrap_or_else(|_| self.record.clone());
        let then = features.judge(&record);
        let (reasons, options) = (self.reasons.clone(), self.options.clone());
        let days = NotPaired::of(&self.name, &then, reasons, options, today, &self.again);
        today.sections.insert(bakeoff_report::SAVED.name.to_owned(), serde_json::to_value(days)?);
        Ok(true)
    }
}

/// The key of [`Plan::keys`] that a command can be another one by.
const SHELL: &str = "the shell";

/// Whether a variant executes what it did on that day; else why not, or why nobody knows.
fn is_same(
    line: &VariantLine,
    plan: &Plan,
    variant: &Variant,
    setup: &Setup,
    then: &Basis,
    now: &Basis,
) -> Result<(), String> {
    let Some(run) = line.run.as_deref().filter(|_| line.build.is_none()) else {
        return Err("it was built on that day; to build it again, use the options for builds (see --git)".to_owned());
    };
    let as_then = Variant { name: line.name.clone(), levels: line.levels.clone(), ..variant.clone() };
    let key = format!("{VARIANT_KEY}{}", line.name);
    let as_then = Plan { variants: vec![as_then], ..plan.clone() };
    if then.keys.get(&key) != as_then.keys().get(&key) {
        return Err("had commands before or after the trials that the others lacked".to_owned());
    }
    let differs = |key: &str| then.keys.get(key) != now.keys.get(key);
    if let Some(what) = [executed::FOLDER, SHELL].into_iter().find(|key| differs(key)) {
        let what = what.split(' ').nth(1).unwrap_or(what);
        return Err(format!("ran in another {what}"));
    }
    let alone = Plan { variants: vec![variant.clone()], ..plan.clone() };
    if let Some(absent) = absent(&alone, setup).first() {
        return Err(format!("`{}` {}", absent.program, absent.why));
    }
    if !executed::names_its_program(run, setup) {
        return Err("the command does not show which files it runs".to_owned());
    }
    for file in executed::programs(&alone, setup, []).system {
        match then.files.get(&file.name) {
            Some(content) if file.content() == Some(content) => {}
            Some(_) => return Err(format!("{} has changed since then", file.name)),
            None => return Err(format!("{} was not used on that day", file.name)),
        }
    }
    // What trials write is in no journal's basis.
    let other = |file: &Watched| then.files.get(&file.name).is_some_and(|old| file.content() != Some(old));
    if let Some(file) = executed::data(&alone, setup).iter().find(|file| other(file)) {
        return Err(format!("{} has changed since then", file.name));
    }
    let mut now = StudyLine { basis: Some(now.clone()), ..StudyLine::default() };
    let known = StudyLine { basis: Some(then.clone()), ..StudyLine::default() };
    used::look_again(&known, &mut now);
    let seen = now.basis.unwrap_or_default().seen;
    if let Some((path, _)) = then.seen.iter().find(|(path, state)| seen.get(*path) != Some(state)) {
        return Err(format!("{path} has changed since then"));
    }
    match words(run).find(|word| then.files.contains_key(*word) && !setup.dir.join(word).exists()) {
        Some(word) => Err(format!("{word} no longer exists")),
        None => Ok(()),
    }
}

/// Options that are other ones than on that day, in words of the command line.
fn other_options(then: &Basis, now: &Basis) -> Vec<String> {
    let keys = |basis: &Basis| -> BTreeMap<String, String> {
        let of_options = |key: &str| {
            key == executed::FOLDER || key == SHELL || key.starts_with("workloads.") || key.starts_with("conditions.")
        };
        basis
            .keys
            .iter()
            .filter(|(key, _)| of_options(key))
            .map(|(key, digest)| (key.clone(), digest.clone()))
            .collect()
    };
    let (then, now) = (keys(then), keys(now));
    let mut differs: Vec<String> = vec![];
    for key in then.keys().chain(now.keys()).filter(|key| then.get(*key) != now.get(*key)) {
        let word = match key.strip_prefix("workloads.").and_then(|key| key.split_once('.')) {
            Some((_, option)) => option,
            None if key.starts_with("conditions.") => "the condition",
            None => key,
        };
        if !differs.iter().any(|known| known == word) {
            differs.push(word.to_owned());
        }
    }
    differs
}
