//! `bakeoff lock`: finds the hashes that the study does not give, and writes them next to it, so that everybody builds the
//! same sources. `sources.rs` fetches them.

use crate::error::{Failure, Stop};
use crate::nouns::{Chain, Source, SourceFrom};
use crate::study_file::lock::{Lock, LockState, Locked};
use crate::{BuildEvent, Building, Cache};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::study_folder::{StudyFolder, Unlocked, problems};
use bakeoff_command::{Registry, screen};
use bakeoff_model::plain::clean;
use bakeoff_model::problem::suggest;
use bakeoff_report::format;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Fetch the sources that have no hash yet, and write their hashes to study.lock
///
/// study.lock is next to study.toml; keep both under version control. A hash in study.toml takes precedence over one in
/// study.lock. If the origin of a source has changed, its old hash is ignored; run `bakeoff lock` again to replace it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The study: a folder with a study.toml, or the file itself
    study: PathBuf,
    /// Fetch all locked sources again, or only the one with this name, and show what changed
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    update: Option<Option<String>>,
    /// Only check: fetch nothing, write nothing, and exit with 1 if a source has no valid hash
    #[arg(long, conflicts_with = "update")]
    check: bool,
    /// Show no progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot write the lock file `{}`", path.display())]
struct CannotWrite {
    path: PathBuf,
    source: io::Error,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let Unlocked { folder, lock_path, lock } = StudyFolder::open_unlocked(&args.study, features)?;
    let lock = match lock {
        Some(text) => Building::parse_lock(&text).map_err(|list| problems(&lock_path, &text, list))?,
        // No lock file is one without entries.
        None => Lock::default(),
    };
    let sources = &Chain::of(&folder.study).sources;
    if let Some(Some(name)) = &args.update {
        can_be_updated(name, sources, &lock)?;
    }
    if sources.is_empty() {
        screen::out("This study has no sources.\n");
    }
    if args.check {
        return check(&folder.dir, sources, &lock);
    }
    bakeoff_host::interrupt::install()?;
    let cache = Cache::open(Cache::default_root()?)?;
    let mut code = Code::Done;
    let mut new = lock.clone();
    remove_what_does_not_count(&mut new, sources);
    write(&lock_path, &lock, &new)?;
    for source in sources {
        let before = lock.state(source);
        let update = args.update.as_ref().is_some_and(|name| name.as_ref().is_none_or(|name| *name == source.name));
        if !wanted(before, update) {
            say(&source.name, &standing(source, before));
            continue;
        }
        let report: &(dyn Fn(BuildEvent) + Sync) = if args.quiet { &|_| {} } else { &BuildEvent::tell };
        match cache.find_source(&folder.dir, source, report) {
            Ok(found) => {
                let locked = Locked { from: source.from.clone(), sha256: found.sha256, commit: found.commit };
                say(&source.name, &change(before, &locked, found.bytes));
                let old = new.clone();
                new.sources.insert(source.name.clone(), locked);
                // After each, so that an interrupt loses none.
                write(&lock_path, &old, &new)?;
            }
            Err(Stop::Error(error)) => return Err(error.into()),
            Err(Stop::Failure(Failure { why, tail, log })) => {
                code = Code::VariantFailed;
                screen::out(&format!("failed: {why}\n"));
                tail.iter().for_each(|line| screen::out(&format!("    {line}\n")));
                log.iter().for_each(|log| screen::out(&format!("    whole log: {}\n", log.display())));
            }
        }
    }
    Ok(code)
}

fn say(name: &str, words: &str) {
    screen::out(&format!("{name}: {words}\n"));
}

/// Whether a source is to be fetched.
fn wanted(state: LockState<'_>, update: bool) -> bool {
    match state {
        LockState::Unlocked | LockState::Stale(_) => true,
        LockState::Locked(_) => update,
        LockState::Pinned | LockState::Path => false,
    }
}

fn can_be_updated(name: &str, sources: &[Source], lock: &Lock) -> Result<(), CommandError> {
    let Some(source) = sources.iter().find(|source| source.name == name) else {
        let hint = suggest(name, sources.iter().map(|source| source.name.as_str()));
        return Err(CommandError::usage(format!("the study has no source `{name}`")).hint(hint));
    };
    let (why, hint) = match lock.state(source) {
        LockState::Pinned => ("its hash is in study.toml", "change or remove `sha256` in study.toml"),
        LockState::Path => (
            "it is a path or a working tree, and Bakeoff always uses its current contents",
            "there is nothing to update",
        ),
        LockState::Locked(_) | LockState::Stale(_) | LockState::Unlocked => return Ok(()),
    };
    Err(CommandError::usage(format!("source `{name}` is not in study.lock because {why}")).hint(hint))
}

/// How a source stands that is not fetched.
fn standing(source: &Source, state: LockState<'_>) -> String {
    match state {
        LockState::Pinned => "pinned in study.toml".to_owned(),
        LockState::Path => {
            let what = if source.from.repository().is_some() { "a working tree" } else { "a path" };
            format!("{what}, never locked, because Bakeoff reads it each time")
        }
        LockState::Locked(locked) => format!("already locked: {}", identity(locked)),
        LockState::Stale(locked) => {
            format!("not locked: hash {} belongs to an earlier origin", locked.sha256)
        }
        LockState::Unlocked => "not locked".to_owned(),
    }
}

/// What changed for a source that was fetched.
fn change(before: LockState<'_>, now: &Locked, bytes: u64) -> String {
    let size = format::bytes(bytes as f64);
    match before {
        LockState::Locked(old) | LockState::Stale(old) if old.sha256 == now.sha256 => {
            format!("unchanged: {}, {size}", identity(now))
        }
        LockState::Locked(old) => format!("changed: {} → {}, {size}", identity(old), identity(now)),
        LockState::Stale(old) => {
            format!("locked again, because its origin changed: {} → {}, {size}", identity(old), identity(now))
        }
        LockState::Pinned | LockState::Path | LockState::Unlocked => format!("locked now: {}, {size}", identity(now)),
    }
}

fn identity(locked: &Locked) -> String {
    let commit = locked.commit.as_ref().map(|commit| format!(" (commit {commit})"));
    format!("{}{}", locked.sha256, commit.unwrap_or_default())
}

fn check(dir: &Path, sources: &[Source], lock: &Lock) -> Result<Code, CommandError> {
    let mut code = Code::Done;
    for source in sources {
        let state = lock.state(source);
        let moved = match state {
            LockState::Locked(Locked { commit: Some(commit), .. }) => moved(dir, source, commit)?,
            _ => String::new(),
        };
        say(&source.name, &format!("{}{moved}", standing(source, state)));
        if matches!(state, LockState::Unlocked | LockState::Stale(_)) {
            code = Code::GateFailed;
        }
    }
    Ok(code)
}

/// Where the revision is another commit by now. It stays locked: that is what a lock is for. Nothing is fetched to see
/// it.
fn moved(dir: &Path, source: &Source, commit: &str) -> Result<String, CommandError> {
    let SourceFrom::Git { revision, .. } = &source.from else { return Ok(String::new()) };
    let now = Cache::open(Cache::default_root()?)?.commit_now(dir, source)?;
    Ok(match now.filter(|now| now != commit) {
        Some(now) => {
            let (name, revision) = (clean(&source.name), clean(revision));
            format!("; `{revision}` is now commit {now} (use --update={name} to lock it)")
        }
        None => String::new(),
    })
}

/// Entries of sources that the study no longer has, or whose hash it now says itself.
fn remove_what_does_not_count(lock: &mut Lock, sources: &[Source]) {
    let known = lock.clone();
    lock.sources.retain(|name, _| {
        let source = sources.iter().find(|source| source.name == *name);
        let why = match source.map(|source| known.state(source)) {
            None => "the study no longer has this source",
            Some(LockState::Pinned) => "its hash is in study.toml",
            Some(LockState::Path) => "it is a path",
            Some(_) => return true,
        };
        say(name, &format!("removed from study.lock because {why}"));
        false
    });
}

/// Writes the file whole or not at all, and only if it says something new.
fn write(path: &Path, old: &Lock, new: &Lock) -> Result<(), CommandError> {
    if old == new {
        return Ok(());
    }
    let aside = path.with_extension("lock.aside");
    let written = fs::write(&aside, new.render()).and_then(|()| fs::rename(&aside, path));
    written.map_err(|source| CommandError::usage(CannotWrite { path: path.to_owned(), source }))
}
