//! Where it all comes from: all that was made for variants, every session with its machine, and single trials with
//! everything behind them. It prints what the journal says and judges nothing; what was made, its maker describes.

use crate::draw::Style;
use crate::draw::paint::{Ink, Page};
use crate::draw::text::{clean, glue};
use crate::format::{bytes, date, duration};
use crate::provenance::machine;
use crate::words::counted;
use bakeoff_model::metric::{METRICS, Measurements, Unit};
use bakeoff_model::record::{Block, MadeLine, Outcome, Record, Session, Trial, VariantLine, is_baseline_again};

/// How deep what belongs to a line is set in.
const DEEPER: usize = 2;

/// Writes what a line on something made says.
pub type Describe = fn(&MadeLine, &mut Sheet);

/// Everything that the trials of a record can be traced to: what was made first, then sessions.
pub fn provenance(record: &Record, describe: Describe, style: Style) -> String {
    let mut sheet = Sheet { page: Page::default(), columns: style.width };
    let study = &record.study;
    let planned =
        format!("study {}, plan {}, seed {}, identity {}", study.study, study.plan, study.seed, study.identity);
    sheet.line(0, Ink::Plain, &planned);
    sheet.line(0, Ink::Plain, &format!("journal created by bakeoff {}, format {}", study.bakeoff, study.format));
    if let Some(truth) = &study.simulated {
        sheet.line(0, Ink::Open, &format!("SIMULATED, not measured (planted: {truth})"));
    }
    for made in &record.made {
        sheet.page.gap();
        sheet.line(0, Ink::Heading, &format!("build of {}", made.variants.join(", ")));
        describe(made, &mut sheet);
    }
    let unbuilt: Vec<&VariantLine> = study.variants.iter().filter(|variant| variant.build.is_none()).collect();
    if !unbuilt.is_empty() {
        sheet.page.gap();
        unbuilt.iter().for_each(|variant| sheet.variant(variant));
    }
    if let Some(basis) = study.basis.as_ref().filter(|basis| !basis.seen.is_empty()) {
        sheet.page.gap();
        let files = basis.seen.len() as u32;
        let heading =
            format!("{} that trials use, found in one traced run of each variant", counted(files, "other file"));
        sheet.line(0, Ink::Heading, &heading);
        basis.seen.iter().for_each(|(path, state)| sheet.detail(Ink::Plain, &format!("{path}: {state}")));
    }
    for session in &record.sessions {
        sheet.page.gap();
        let trials = record.trials.iter().filter(|trial| trial.session == session.session).count();
        sheet.session(session, &counted(trials as u32, "trial"));
    }
    sheet.page.print(style.colour)
}

/// What is behind one trial: all of its attempts, its block, the session and machine, the variant and its build.
pub fn trace(record: &Record, attempts: &[&Trial], describe: Describe, style: Style) -> String {
    let mut sheet = Sheet { page: Page::default(), columns: style.width };
    let Some(last) = attempts.last() else { return String::new() };
    let Trial { block, workload, condition, variant, .. } = last;
    sheet.line(0, Ink::Heading, &format!("trial {workload}/{condition}/{block}/{variant}"));
    for trial in attempts {
        sheet.attempt(trial);
    }
    let same = |b: &&Block| (b.block, &b.workload, &b.condition) == (*block, workload, condition);
    if let Some(block) = record.blocks.iter().find(same) {
        sheet.page.gap();
        sheet.line(0, Ink::Heading, &format!("block {}", block.block));
        sheet.detail(Ink::Plain, &format!("order: {}", block.order.join(", ")));
        if block.padding > 0 {
            sheet.detail(Ink::Plain, &format!("environment padded with {}", counted(block.padding, "byte")));
        }
    }
    let mut sessions: Vec<u32> = attempts.iter().map(|trial| trial.session).collect();
    sessions.dedup();
    for number in sessions {
        sheet.page.gap();
        match record.sessions.iter().find(|session| session.session == number) {
            Some(session) => sheet.session(session, ""),
            None => sheet.line(0, Ink::Worse, &format!("session {number} (not described in the journal)")),
        }
    }
    // The twin runs what the baseline is.
    let behind = record.study.variants.iter().find(|known| known.name == *variant);
    let behind = if is_baseline_again(variant) { record.study.variants.first() } else { behind };
    if let Some(known) = behind {
        sheet.page.gap();
        sheet.variant(known);
        match record.made.iter().find(|made| known.build.as_ref() == Some(&made.digest)) {
            Some(made) => describe(made, &mut sheet),
            None if known.build.is_none() => sheet.detail(Ink::Plain, "this variant has no build"),
            None => sheet.detail(Ink::Worse, "the journal does not describe this build"),
        }
    }
    sheet.page.print(style.colour)
}

/// A page that is filled line by line.
#[derive(Debug)]
pub struct Sheet {
    page: Page,
    columns: usize,
}

impl Sheet {
    /// Adds what belongs to a heading.
    pub fn detail(&mut self, ink: Ink, text: &str) {
        self.line(DEEPER, ink, text);
    }

    /// Adds what belongs to a detail.
    pub fn detail_of_detail(&mut self, ink: Ink, text: &str) {
        self.line(2 * DEEPER, ink, text);
    }

    /// A value of a metric, in its unit.
    pub fn value(metric: &str, value: f64) -> String {
        let unit = METRICS.iter().find(|known| known.name == *metric).map(|known| known.unit);
        glue(&match unit {
            Some(Unit::Seconds) => duration(value),
            Some(Unit::Bytes) => bytes(value),
            _ => value.to_string(),
        })
    }

    fn line(&mut self, depth: usize, ink: Ink, text: &str) {
        let text = format!("{}{}", " ".repeat(depth), clean(text));
        self.page.paragraph(&text, self.columns, depth + DEEPER, ink);
    }

    fn variant(&mut self, variant: &VariantLine) {
        let levels: Vec<String> = variant.levels.iter().map(|(factor, level)| format!("{factor}={level}")).collect();
        self.line(0, Ink::Heading, &format!("variant {}", variant.name));
        self.detail(Ink::Plain, &format!("levels: {}", levels.join(" ")));
        if let Some(command) = &variant.run {
            self.detail(Ink::Plain, &format!("command: {command}"));
        }
    }

    fn session(&mut self, session: &Session, what: &str) {
        let started = date(session.started_unix_s);
        let what = if what.is_empty() { String::new() } else { format!(", {what}") };
        self.line(0, Ink::Heading, &format!("session {}, started {started}{what}", session.session));
        self.detail(Ink::Plain, &format!("machine: {}", machine(&session.place)));
    }

    fn attempt(&mut self, trial: &Trial) {
        let attempt = if trial.attempt > 0 { format!("attempt {}: ", trial.attempt + 1) } else { String::new() };
        let (outcome, ink) = match &trial.outcome {
            Outcome::Ok => ("ok".to_owned(), Ink::Plain),
            Outcome::Failed(failure) => (format!("failed: {}", crate::failure(failure)), Ink::Worse),
            Outcome::Void(why) => (format!("void: {why}"), Ink::Open),
        };
        self.detail(ink, &format!("{attempt}{outcome}"));
        let launched = format!("launched {} in session {}", date(trial.started_unix_s), trial.session);
        self.detail(Ink::Plain, &format!("{launched}, at position {} of its block", trial.position));
        self.detail(Ink::Plain, &format!("measured: {}", measured(&trial.measurements)));
        for (name, part) in &trial.parts {
            let (said, ink) = match &part.failed {
                Some(why) => (format!("failed: {why}"), Ink::Worse),
                None => (measured(&part.values), Ink::Plain),
            };
            self.detail(ink, &format!("{name}: {said}"));
        }
        for (process, output) in (1..).zip(&trial.output) {
            let of = if trial.output.len() > 1 { format!(" by process {process}") } else { String::new() };
            let digest = if output.bytes > 0 { format!(", SHA-256 {}", output.sha256) } else { String::new() };
            self.detail(Ink::Plain, &format!("printed{of}: {}{digest}", bytes(output.bytes as f64)));
        }
        if trial.leftovers > 0 {
            let left = trial.leftovers;
            self.detail(Ink::Open, &format!("processes that outlived the main one and were killed: {left}"));
        }
    }
}

/// Every measurement, as it is in the journal but for its digits.
fn measured(measurements: &Measurements) -> String {
    let each: Vec<String> = measurements.iter().map(|(name, x)| format!("{name} {}", Sheet::value(name, x))).collect();
    if each.is_empty() { "nothing".to_owned() } else { each.join(", ") }
}
