//! What of a cache may go, and making it go. A rule says how old and how large; what a study in reach needs, what a
//! process is at work on and what is young stays, whatever the rule. How a study's needs are found out is not known here.

use crate::cache::Cache;
use crate::error::{At, Error};
use crate::files::wipe;
use crate::inventory::{Inventory, Item, Kind, lock_of};
use crate::uses::Needs;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What was made or used within this time stays: somebody may be about to use it.
pub(crate) const YOUNG_S: f64 = 3600.0;

/// What is to go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rule {
    /// Whatever was last used longer ago than this, in seconds; none: age alone removes nothing.
    pub older_than_s: Option<f64>,
    /// As much as it takes, the longest unused first, until the whole cache is no larger than this, in bytes.
    pub keep_bytes: Option<u64>,
    /// What is made or used within this many seconds stays; [`YOUNG_S`].
    pub young_s: f64,
    /// The present, in seconds since 1970-01-01 UTC.
    pub now_unix_s: f64,
}

/// What is decided of one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It goes.
    Goes(Why),
    /// A study in reach needs it.
    Needed,
    /// A process is at work on it.
    Locked,
    /// It was made or used a short time ago.
    Young,
    /// The rule leaves it alone.
    Stays,
}

/// Why something goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// It is what is left of a build that failed or was killed, and nothing can use it.
    Remains,
    /// Nobody has used it for too long.
    Old,
    /// It is the longest unused, and the cache is too large.
    Size,
}

/// Decides of every thing in a cache, in the order of the inventory.
pub(crate) fn choose(inventory: &Inventory, rule: &Rule, needed: &Needs) -> Vec<Decision> {
    let needed: BTreeSet<&str> = needed.layers.iter().chain(&needed.sources).map(|d| crate::paths::short(d)).collect();
    let age_s = |item: &Item| rule.now_unix_s - item.last_used_unix_s;
    let first = |item: &Item| {
        let old = rule.older_than_s.is_some_and(|limit_s| age_s(item) > limit_s);
        // The log of a failed build is no use to a build; but its study may still be looked at.
        match &item.kind {
            _ if item.locked => Decision::Locked,
            _ if age_s(item) < rule.young_s => Decision::Young,
            Kind::Remains => Decision::Goes(Why::Remains),
            _ if needed.contains(item.name.as_str()) => Decision::Needed,
            _ if old => Decision::Goes(Why::Old),
            _ => Decision::Stays,
        }
    };
    let mut decisions: Vec<Decision> = inventory.items.iter().map(first).collect();
    let Some(keep_bytes) = rule.keep_bytes else { return decisions };
    let goes = |decision: &Decision| matches!(decision, Decision::Goes(_));
    let gone: u64 = inventory.items.iter().zip(&decisions).filter(|(_, d)| goes(d)).map(|(item, _)| item.bytes).sum();
    let mut left = inventory.total_bytes() - gone;
    let mut oldest: Vec<usize> = (0..decisions.len()).filter(|&at| decisions[at] == Decision::Stays).collect();
    oldest.sort_by(|&a, &b| inventory.items[a].last_used_unix_s.total_cmp(&inventory.items[b].last_used_unix_s));
    for at in oldest {
        if left <= keep_bytes {
            break;
        }
        left -= inventory.items[at].bytes;
        decisions[at] = Decision::Goes(Why::Size);
    }
    decisions
}

/// What became of a thing that was to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Removed {
    /// It is gone.
    Gone,
    /// Somebody took it up since it was looked at; it stays.
    InUse,
}

/// Removes one thing of the inventory. What makes it visible goes first: whatever kills us in between, nothing half is
/// ever taken for whole.
///
/// # Errors
/// Any [`Error`]; the next call removes what it leaves behind.
pub(crate) fn remove(cache: &Cache, item: &Item) -> Result<Removed, Error> {
    let path = cache.root().join("locks").join(format!("{}.lock", item.name));
    let Some(_lock) = lock_of(&path)? else { return Ok(Removed::InUse) };
    if crate::inventory::aside(cache.root()).contains(&item.name) {
        return Ok(Removed::InUse);
    }
    let mut paths = item.paths.iter();
    {
        // Who uses a thing says so under this lock before looking for it: so either we see that it is used, or it is
        // no longer seen.
        let _uses = cache.lock_uses()?;
        let used = cache
            .last_uses()?
            .iter()
            .any(|(digest, at)| crate::paths::short(digest) == item.name && *at > item.last_used_unix_s);
        let became_whole = !matches!(item.kind, Kind::Layer { .. }) && cache.finished(&item.name).is_some();
        if used || became_whole {
            return Ok(Removed::InUse);
        }
        match &item.kind {
            Kind::Layer { .. } => paths.next().map_or(Ok(()), |record| wipe(record))?,
            Kind::Source { .. } => paths.next().map_or(Ok(()), |folder| remove_at_once(cache, item, folder))?,
            Kind::Log | Kind::Remains => {}
        }
    }
    paths.try_for_each(|path| wipe(path))?;
    Ok(Removed::Gone)
}

/// Moves a source out of sight first, because a folder cannot be removed in one step.
fn remove_at_once(cache: &Cache, item: &Item, folder: &Path) -> Result<(), Error> {
    let aside = cache.paths.work_of(&item.name);
    wipe(&aside)?;
    fs::rename(folder, &aside).at("remove", folder)?;
    wipe(&aside)
}

impl Cache {
    /// Forgets who used what is no longer there; call it after things were removed.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn forget_what_is_gone(&self, needed: &Needs) -> Result<(), Error> {
        let there: BTreeSet<String> = Inventory::of(self)?.items.into_iter().map(|item| item.name).collect();
        let needs = |digest: &str| needed.layers.contains(digest) || needed.sources.contains(digest);
        self.forget_uses(|digest| needs(digest) || there.contains(crate::paths::short(digest)))
    }
}
