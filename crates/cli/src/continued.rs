//! Which journal a study continues. If it begins a new one although its plan has another, it names the changes since.

use crate::used;
use bakeoff_command::changes::in_words;
use bakeoff_command::screen;
use bakeoff_command::state::{State, StateFolder};
use bakeoff_model::digest::Digest;
use bakeoff_model::record::{Record, StudyLine};
use std::path::{Path, PathBuf};

/// Returns the journal for a study as it is now: `rest_of`, if that is of the same study; that of its identity; or the latest
/// one that depends on the same, although trials wrote a file or a build failed; or that of `older`, as versions before named
/// it; or a new one.
pub(crate) fn choose(folder: &StateFolder, study: &mut StudyLine, older: &str, rest_of: Option<&Path>) -> State {
    let mut named = folder.journal(&study.plan, &study.identity);
    let mut known = of_plan(folder, &study.plan, study.simulated.as_deref());
    let mut changes = |record: &Record| {
        used::look_again(&record.study, study);
        record.study.changes(study)
    };
    let is_same: Vec<_> = known.iter().map(|(_, record)| changes(record).map(|changes| changes.is_empty())).collect();
    let at_name = known.iter().position(|(path, _)| *path == named.journal);
    let is_rest = |(path, _): &(PathBuf, Record)| Some(path.as_path()) == rest_of;
    if let Some(at) = known.iter().position(is_rest).filter(|at| is_same[*at] == Some(true)) {
        return folder.at(&known.swap_remove(at).0);
    }
    // What trials were seen to use is in no identity.
    if named.journal.exists() && at_name.is_none_or(|at| is_same[at] != Some(false)) {
        return named;
    }
    if let Some(at) = is_same.iter().position(|is_same| *is_same == Some(true)) {
        return folder.at(&known.swap_remove(at).0);
    }
    if let Some(at) = at_name {
        used::look_again(&known[at].1.study, study);
        study.identity = another_identity(study);
        named = folder.journal(&study.plan, &study.identity);
    }
    let before = folder.journal(&study.plan, older);
    if before.journal.exists() && at_name.is_none() {
        older.clone_into(&mut study.identity);
        return before;
    }
    // One without trials has nothing to be sorry for.
    if let Some((path, record)) = known.iter().find(|(_, record)| !record.trials.is_empty()) {
        screen::err(&note(path, record, study));
    }
    named
}

/// The identity of a study whose files are other ones than those that trials of its usual journal were seen to use.
fn another_identity(study: &StudyLine) -> String {
    let mut identity = Digest::of("files that are used");
    identity.field("study", study.identity.as_bytes());
    for (path, state) in study.basis.iter().flat_map(|basis| &basis.seen) {
        identity.field(path, state.as_bytes());
    }
    identity.hex()
}

/// The journals of this plan, simulated in the same way if at all: the latest first, then by their last run.
pub(crate) fn of_plan(folder: &StateFolder, plan: &str, simulated: Option<&str>) -> Vec<(PathBuf, Record)> {
    let read = |path: PathBuf| bakeoff_journal::read(&path).ok().map(|contents| (path, contents.record));
    let mut known: Vec<_> = folder.journals().into_iter().filter_map(read).collect();
    known.retain(|(_, r)| r.study.plan == plan && r.study.simulated.as_deref() == simulated);
    let latest = folder.latest();
    let rank = |(path, record): &(PathBuf, Record)| {
        let last_unix_s = record.sessions.last().map_or(0.0, |session| session.started_unix_s);
        if latest.as_ref() == Some(path) { f64::INFINITY } else { last_unix_s }
    };
    known.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
    known
}

fn note(path: &Path, record: &Record, now: &StudyLine) -> String {
    let executed = record.without_building();
    let done = executed.trials.iter().filter(|trial| trial.is_final()).count() as u64;
    let blocks = record.sessions.last().map_or(0, |session| u64::from(session.blocks));
    // Every pass has the same trials.
    let in_a_pass: usize = executed.blocks.iter().filter(|block| block.block == 1).map(|block| block.order.len()).sum();
    let all = (blocks * in_a_pass as u64).max(done);
    let name = bakeoff_model::plain::clean(&path.file_name().unwrap_or_default().to_string_lossy());
    let mut text = format!(
        "note: starting a new journal. The latest journal of this plan, {name}, has {done} of {all} trials. Bakeoff \
         keeps it but cannot resume it, because the following changed:\n"
    );
    let mut now = now.clone();
    used::look_again(&record.study, &mut now);
    match record.study.changes(&now) {
        Some(changes) => text.push_str(&in_words(&changes)),
        None => text.push_str(
            "    something in the study, such as its files, its builds or the setting `output` (the version of Bakeoff \
             that began the journal recorded no details)\n",
        ),
    }
    text.push_str(
        "hint: to resume that journal, undo these changes, or omit the options that make them, and run the same \
         command again\n",
    );
    text
}

/// Why a journal that the user named cannot go on, if the reason is known.
pub(crate) fn hint(known: &StudyLine, now: &StudyLine) -> String {
    let changes = known.changes(now).filter(|changes| !changes.is_empty());
    changes.map_or_else(
        || "name another journal".to_owned(),
        |changes| format!("name another journal; this one differs in:\n{}", in_words(&changes).trim_end()),
    )
}

/// Says that a variant joins a study that has begun without it.
pub(crate) fn tell_who_joins(known: &Record, now: &StudyLine) {
    let is_new = |name: &str| !known.study.variants.iter().any(|variant| variant.name == name);
    let joins: Vec<&str> = now.variants.iter().map(|v| v.name.as_str()).filter(|name| is_new(name)).collect();
    if joins.is_empty() || known.blocks.is_empty() {
        return;
    }
    let they = if joins.len() == 1 { "it" } else { "them" };
    screen::err(&format!(
        "note: {} could not be built before but can be now. Only blocks that have not begun include {they}; use \
         --blocks to add more\n",
        bakeoff_model::plain::clean(&joins.join(", "))
    ));
}
