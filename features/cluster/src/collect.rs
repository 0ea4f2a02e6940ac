//! Brings the whole blocks of a run into the study's journals. It may be stopped and repeated: it appends what a
//! journal lacks. Each kind of machine has a journal, because a difference between variants may depend on it.

use crate::blocks;
use crate::run_folder::{RunFolder, shown};
use bakeoff_command::CommandError;
use bakeoff_command::state::{State, StateFolder};
use bakeoff_journal::Journal;
use bakeoff_model::digest::Digest;
use bakeoff_model::plain::clean;
use bakeoff_model::record::{Away, AwayKey, Block, Line, MadeLine, Place, Record, Session, StudyLine};
use bakeoff_model::until::Until;
use bakeoff_report::words::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// How long to wait for another command that collects.
const PATIENCE: Duration = Duration::from_secs(30);
/// Digits of the digest of a kind of machine in a journal's name.
const KIND_DIGITS: usize = 6;

/// A journal, and which machines it is of.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) journal: PathBuf,
    pub(crate) record: Record,
    /// What its machines have in common: each part with its value.
    pub(crate) kind: BTreeMap<&'static str, String>,
    /// How many blocks came in now.
    pub(crate) new: usize,
}

/// An attempt's journal.
struct Source {
    study: StudyLine,
    session: Session,
    made: Vec<MadeLine>,
    blocks: Vec<Away>,
}

/// Collects the blocks of all shards that there are; one journal for each kind of machine, the one with the most blocks first.
pub(crate) fn collect(run: &RunFolder, state: &StateFolder) -> Result<Vec<Collected>, CommandError> {
    let mut by_kind: BTreeMap<String, Vec<Source>> = BTreeMap::new();
    let order = run.order()?;
    for shard in order.numbers() {
        for attempt in run.attempts(shard) {
            let Some(record) = attempt.to_collect()? else { continue };
            let blocks = blocks::of_record(&record, shard, &attempt, None);
            let Some(session) = record.sessions.first().cloned().filter(|_| !blocks.is_empty()) else { continue };
            let source = Source { study: record.study, session, made: record.made, blocks };
            by_kind.entry(key(&source.study, &source.session.place)).or_default().push(source);
        }
        run.check(shard)?;
    }
    let mut collected = vec![];
    for (key, sources) in by_kind {
        let Some(first) = sources.first() else { continue };
        let place = state.journal(&first.study.plan, &first.study.identity);
        let stem = place.journal.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let place = state.at(&place.journal.with_file_name(format!("{stem}-{}.jsonl", &key[..KIND_DIGITS])));
        collected.push(append(&place, &sources)?);
    }
    collected.sort_by_key(|one| std::cmp::Reverse(one.record.away.len()));
    if let Some(first) = collected.first() {
        state.at(&first.journal).remember_as_latest()?;
    }
    Ok(collected)
}

/// Appends the blocks that a journal lacks.
fn append(place: &State, sources: &[Source]) -> Result<Collected, CommandError> {
    let _lock = place.lock_within(PATIENCE)?;
    let head = &sources[0].study;
    let (mut journal, contents) = Journal::open(&place.journal, head)?;
    let (mut record, mut new) = (contents.record, 0);
    let here: BTreeSet<AwayKey> = record.blocks_of_here().map(Block::key).collect();
    for source in sources {
        let lacks = |away: &&Away| match record.away.get(&away.key()) {
            None => !here.contains(&away.key()),
            Some(known) => *known != away.from && !record.run_again.contains(&(away.key(), away.from.clone())),
        };
        let missing: Vec<&Away> = source.blocks.iter().filter(lacks).collect();
        if missing.is_empty() {
            continue;
        }
        let session = record.next_session();
        let mut lines = vec![Line::Session(Session { session, ..source.session.clone() })];
        let is_new = |made: &&MadeLine| !record.made.contains(made);
        lines.extend(source.made.iter().filter(is_new).cloned().map(Line::Made));
        new += missing.len();
        lines.extend(missing.into_iter().map(|away| Line::Away(Box::new(of_session(away, session)))));
        for line in lines {
            journal.append(&line)?;
            record.push(line);
        }
    }
    journal.sync()?;
    let kind = kind(&sources[0].session.place);
    Ok(Collected { journal: place.journal.clone(), record, kind, new })
}

/// The same block, as one of another session.
fn of_session(away: &Away, session: u32) -> Away {
    let mut away = away.clone();
    away.session = session;
    away.trials.iter_mut().for_each(|trial| trial.session = session);
    away
}

/// What tells one kind of machine, and one version of the study, from others.
fn key(study: &StudyLine, place: &Place) -> String {
    let mut digest = Digest::of("kind of machine");
    digest.field("study", study.identity.as_bytes());
    for (name, value) in kind(place) {
        digest.field(name, value.as_bytes());
    }
    digest.hex()
}

/// What a difference between variants may depend on of a machine.
pub(crate) fn kind(place: &Place) -> BTreeMap<&'static str, String> {
    let Place { os, kernel, cpu, cpus, virtualisation, settings, .. } = place;
    let of_all = [
        ("operating system", os.clone()),
        ("kernel", kernel.clone()),
        ("processor", cpu.clone()),
        ("processors", cpus.to_string()),
        ("virtualisation", virtualisation.clone().unwrap_or_default()),
    ];
    let names = ["microcode", "governor", "turbo", "smt", "enclosure"];
    let of_kernel = names.into_iter().zip(["microcode", "governor", "turbo", "SMT", "enclosure of trials"]);
    let settings = of_kernel.map(|(name, shown)| (shown, settings.get(name).cloned().unwrap_or_default()));
    of_all.into_iter().chain(settings).collect()
}

/// Fails if machines of two kinds ran a study that is judged by its passes from the first on: each journal lacks some.
pub(crate) fn refuse_two_kinds(collected: &[Collected]) -> Result<(), CommandError> {
    let [one, other, ..] = collected else { return Ok(()) };
    let what = match (one.record.study.until, one.record.study.layouts) {
        (Until::Blocks, None) => return Ok(()),
        (Until::Blocks, Some(_)) => "`--layouts`".to_owned(),
        (until, _) => format!("the rule `{until}`"),
    };
    let differ = differ_in(one, other);
    let error =
        format!("{what} needs all passes on machines of one kind, and these are of two. They differ in:\n{differ}");
    Err(CommandError::usage(error.trim_end())
        .hint("add a section with one kind (`constraint`, `exclude`, or hosts of `ssh`) to machines.toml and use its name with --on, or run without it"))
}

/// What to say about a second journal: which command shows it, and how its machines differ.
pub(crate) fn of_another_kind(one: &Collected, other: &Collected) -> String {
    let (blocks, journal) = (counted(other.record.away.len() as u32, "block"), shown(&other.journal));
    let differ = differ_in(one, other);
    format!("note: `bakeoff report {journal}` has {blocks} of another kind of machine. They differ in:\n{differ}")
}

/// What two kinds of machines differ in, for people: a line each.
fn differ_in(one: &Collected, other: &Collected) -> String {
    let values = one.kind.iter().filter_map(|(part, value)| Some((part, value, other.kind.get(part)?)));
    let differs = |(part, value, there): (&&str, &String, &String)| {
        let shown = |value: &String| if value.is_empty() { "unknown".to_owned() } else { value.clone() };
        (value != there).then(|| format!("{part}: {} and {}", shown(value), shown(there)))
    };
    let mut all: Vec<String> = values.filter_map(differs).collect();
    if one.record.study.identity != other.record.study.identity {
        let changes = one.record.study.changes(&other.record.study).unwrap_or_default();
        all.extend(bakeoff_command::changes::in_words(&changes).lines().map(|line| line.trim().to_owned()));
    }
    all.iter().map(|line| format!("    {}\n", clean(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(until: Until, layouts: Option<u32>, cpu: &str) -> Collected {
        let mut record = Record::default();
        (record.study.until, record.study.layouts) = (until, layouts);
        let kind = BTreeMap::from([("kernel", "6.1".to_owned()), ("processor", cpu.to_owned())]);
        Collected { journal: PathBuf::new(), record, kind, new: 0 }
    }

    #[test]
    fn a_rule_and_turns_of_layouts_need_one_kind_of_machine() {
        for (until, layouts, what) in [
            (Until::Decided, None, "error: the rule `decided` needs"),
            (Until::Anytime, Some(3), "error: the rule `anytime` needs"),
            (Until::Blocks, Some(3), "error: `--layouts` needs"),
        ] {
            let both = ["a", "b"].map(|cpu| of(until, layouts, cpu));
            let why = refuse_two_kinds(&both).map_err(|error| error.render()).unwrap_err();
            let parts = [what, "They differ in:\n    processor: a and b\nhint: add a section with one kind"];
            assert!(parts.iter().all(|part| why.contains(part)), "{why}");
            assert!(refuse_two_kinds(&both[..1]).is_ok());
        }
        assert!(refuse_two_kinds(&["a", "b"].map(|cpu| of(Until::Blocks, None, cpu))).is_ok());
    }
}
